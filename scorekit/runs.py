"""Score repeated agent runs: alone, by tier, and across tiers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from statistics import pvariance
from typing import Any, Literal, NamedTuple, Required, TypedDict, Unpack, get_args, overload

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._comparison.alike import KEPT_SHARE, WAYS, Difference, Rulers, named_ruler
from scorekit._core.checks import (
    check_choice,
    check_count,
    check_flag,
    check_instance,
    check_number,
    check_records,
    check_same_length,
    check_text,
    is_flag,
    is_missing,
    store,
)
from scorekit._core.columns import (
    NOBODY_KNOWS,
    as_builtins,
    as_long,
    check_count_column,
    check_flag_column,
    check_id,
    check_number_column,
    check_same_order,
    column,
    name_of,
    names_of,
    numbered_ids,
    split_missing,
)
from scorekit._core.mappings import FrozenMapping
from scorekit._core.sums import mean_rounded_once
from scorekit._core.text import as_decimal
from scorekit._sheet.model import Estimate, Fields, Scale, Sheet, Table, row_of
from scorekit._sheet.values import counted, estimate, level_of
from scorekit._stats.ratios import ratio_ends, shared_error
from scorekit.costs import (
    NO_LIMIT,
    Priced,
    check_cost_bounds,
    counted_runs,
    pass_cost_interval,
    per_pass,
    times_baseline,
    usd,
)
from scorekit.errors import InputError, one_line, refuse, shown
from scorekit.intervals import Interval, Weighting, group_means, interval_around, interval_of_mean
from scorekit.prices import ModelPrice, token_cost
from scorekit.records import Record, Report, ReportScores, TableRecord, listing
from scorekit.rulers import EVERY, JUDGE, NONE, VERSIONS, Ruler, RulerChange
from scorekit.summary import (
    LetterGrade,
    Statistics,
    check_quantiles,
    describe,
    letter_grade,
)

BY_BONUS = 1.5
"""Largest *impl_rate* that may have come about by a bonus."""

MAX_NAME = 32
"""Characters of a tier's name in a table."""

SCORE, PRICE = "composite_score", "cost_of_pass"
"""What tiers are compared by."""

MADE_OF: Mapping[str, tuple[str, ...]] = {
    "pass_rate": ("pass_rate",),
    "impl_rate": ("impl_rate",),
    "cost_usd": ("cost_usd",),
    SCORE: ("pass_rate", "impl_rate", SCORE),
    PRICE: ("cost_usd", "pass_rate", PRICE),
}
"""The measures of a tier, and those whose ruler is also theirs."""

WEIGHTS = "weights"
"""What a tier says itself that its composite score was measured with."""

AVERAGED = ("pass_rate", "impl_rate", "cost_usd", "composite_score")
"""What *means* of a tier has."""


@attrs.frozen(kw_only=True)
class Run(Record):
    """
    One run of an agent: whether it passed, how well it did, what it took.

    Raises:
        InputError: If *run_id* or *task_id* is empty, *impl_rate* lies outside [0, 1], or the
            cost or the duration is negative or not finite.
        TypeError: If a field has the wrong type.

    Examples:
        >>> run = Run(
        ...     run_id="T1/01/1", passed=True, impl_rate=0.85, cost_usd=0.5, duration_seconds=71.4
        ... )
        >>> score_run(run).composite_score
        0.925
        >>> Run(run_id="T1/01/1", passed=True, impl_rate=1.5, cost_usd=0.5, duration_seconds=9)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: impl_rate of run 'T1/01/1' must be a number in [0, 1] (above 1 by bonus or rounding: min(impl_rate, 1)), got 1.5
    """  # noqa: E501 - a message is one line

    run_id: str = attrs.field(converter=name_of)
    """Name of the run, unique in its tier; an integer becomes text."""
    passed: bool
    impl_rate: float
    """The judge's weighted score in ``[0, 1]``; where there is none, pass *passed* again."""
    cost_usd: float | None = None
    """None where it was not measured, as the next."""
    duration_seconds: float | None = None
    task_id: str | None = attrs.field(default=None, converter=attrs.converters.optional(name_of))
    """Task of the run, if tasks were run several times. Equal names are the same task, in other
    tiers too: number the tasks of a tier ``"T1/00"`` unless ``"00"`` is one task everywhere."""

    def __attrs_post_init__(self) -> None:
        """Check every field and store it as the builtin it is annotated with."""
        store(self, "run_id", check_id("run_id", self.run_id))
        whose = f" of run {shown(self.run_id)}"
        if self.task_id is not None:
            store(self, "task_id", check_id(f"task_id{whose}", self.task_id))
        store(self, "passed", _check_passed(f"passed{whose}", self.passed))
        store(self, "impl_rate", _check_rate(f"impl_rate{whose}", self.impl_rate))
        for name in ("cost_usd", "duration_seconds"):
            value = getattr(self, name)
            value = None if is_missing(value) else check_number(f"{name}{whose}", value, 0.0)
            store(self, name, value)


def _check_passed(name: str, value: object) -> bool:
    """Return an outcome; of one that is missing say what to do."""
    if is_missing(value):
        kind = TypeError if value is None else InputError
        refuse(name, f"True or False ({NOBODY_KNOWS})", value, kind)
    return check_flag(name, value)


def _check_rate(name: str, value: Any) -> float:
    """Return a judge's score as a float; of one that is missing or too large say what to do."""
    rate = float(value) if is_flag(value) else value
    if is_missing(rate):
        remedy = "not judged: pass passed instead, or leave the run out"
        kind = TypeError if value is None else InputError
        refuse(name, f"a number in [0, 1] ({remedy})", value, kind)
    if 1.0 < check_number(name, rate) <= BY_BONUS:
        remedy = "above 1 by bonus or rounding: min(impl_rate, 1)"
        refuse(name, f"a number in [0, 1] ({remedy})", value)
    return check_number(name, rate, 0.0, 1.0)


class _Measured(TypedDict, total=False):
    """What a table of runs may hold, for signatures."""

    cost_usd: Iterable[float | None] | float | None
    duration_seconds: Iterable[float | None] | float | None
    task_id: Iterable[str | int] | None
    input_tokens: Iterable[int | None] | None
    output_tokens: Iterable[int | None] | None
    cache_read_tokens: Iterable[int | None] | None
    cache_write_tokens: Iterable[int | None] | None
    price: ModelPrice | Iterable[ModelPrice] | None


class _Outcomes(_Measured):
    """What every table of runs holds."""

    run_id: Required[Iterable[str | int]]
    passed: Required[Iterable[bool] | bool]
    impl_rate: Required[Iterable[float] | float]


@overload
def runs_from_columns(*, tier: None = None, **columns: Unpack[_Outcomes]) -> tuple[Run, ...]: ...


@overload
def runs_from_columns(
    *, tier: Iterable[str | int], **columns: Unpack[_Outcomes]
) -> FrozenMapping[str, tuple[Run, ...]]: ...


def runs_from_columns(
    *,
    run_id: Iterable[str | int],
    passed: Iterable[bool] | bool,
    impl_rate: Iterable[float] | float,
    cost_usd: Iterable[float | None] | float | None = None,
    duration_seconds: Iterable[float | None] | float | None = None,
    task_id: Iterable[str | int] | None = None,
    tier: Iterable[str | int] | None = None,
    input_tokens: Iterable[int | None] | None = None,
    output_tokens: Iterable[int | None] | None = None,
    cache_read_tokens: Iterable[int | None] | None = None,
    cache_write_tokens: Iterable[int | None] | None = None,
    price: ModelPrice | Iterable[ModelPrice] | None = None,
) -> tuple[Run, ...] | FrozenMapping[str, tuple[Run, ...]]:
    """
    Make a `Run` of each row of a table, for `tier_statistics`.

    Each column is a list, or a NumPy, pandas, polars or Arrow column, of shape ``(N,)``.  For
    what is measured a single value fills a whole column.  Integers that name runs or tasks become
    strings.

    Args:
        run_id: A name that no other run of its tier has; the index of a data frame will do.
        passed: Whether each passed.
        impl_rate: The judge's weighted score of each, in [0, 1]; booleans count 0 and 1, so
            without a judge pass the same column as *passed*.
        cost_usd: Cost of each in USD (>= 0); None, NaN or ``pd.NA`` where it was not measured.
        duration_seconds: Time each took (>= 0), or missing likewise.
        task_id: The task of each, where tasks were run several times; None where no run names
            its task. Tiers are compared over equal names, so a name must be the same task in all
            tiers: where each tier numbers its own, put the tier in front, ``"T1/00"``.
        tier: The tier of each, to have a mapping from tier to its runs.
        input_tokens: Tokens of each, of which costs are computed instead of *cost_usd*, as by
            `token_cost`: those of its input that were neither read from nor written to a cache.
            A run of which one of these columns has a missing entry has no cost.
        output_tokens: Tokens that each received.
        cache_read_tokens: Tokens that each read from a prompt cache; None for none.
        cache_write_tokens: Tokens that each wrote to one; None for none.
        price: Of the tokens, for all runs or one for each, such as
            ``[PRICES[model] for model in table["model"]]``.

    Returns:
        The runs, in the order of the rows; with *tier* a mapping from each to its runs.

    Raises:
        InputError: If the columns differ in length or are empty, an entry is missing or out of
            range, two names differ only in that one is an integer, tokens come without *price* or
            beside *cost_usd*, or *price* has no price for tokens of a cache.
        TypeError: If an entry has the wrong type.

    Examples:
        >>> runs = runs_from_columns(
        ...     run_id=[1, 2],
        ...     passed=[True, False],
        ...     impl_rate=[0.9, 0.4],
        ...     cost_usd=0.5,
        ...     duration_seconds=[71.4, 80],
        ... )
        >>> tier_statistics("T1", runs).cost_of_pass
        1.0
        >>> price = ModelPrice(input_usd_per_million=3, output_usd_per_million=15)
        >>> by_tier = runs_from_columns(
        ...     run_id=[1, 2],
        ...     tier=["T0", "T1"],
        ...     passed=[True, False],
        ...     impl_rate=[0.9, 0.4],
        ...     input_tokens=[12_000, 20_000],
        ...     output_tokens=[800, 900],
        ...     price=price,
        ... )
        >>> [(tier, run.cost_usd) for tier, runs in by_tier.items() for run in runs]
        [('T0', 0.048), ('T1', 0.0735)]
        >>> runs_from_columns(
        ...     run_id=[1], passed=[True], impl_rate=[None], cost_usd=0.5, duration_seconds=9
        ... )
        Traceback (most recent call last):
        ...
        TypeError: impl_rate[0] must be a number in [0, 1] (not judged: pass passed instead, or leave the run out), got None
    """  # noqa: E501 - a message is one line
    ids = names_of("run_id", run_id)
    tokens = {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cache_read_tokens": cache_read_tokens,
        "cache_write_tokens": cache_write_tokens,
    }
    if price is not None or any(column is not None for column in tokens.values()):
        if cost_usd is not None:
            refuse("cost_usd", "None where tokens are given", cost_usd)
        cost_usd = _token_costs(tokens, price, run_id, len(ids))
    given = {
        "passed": passed,
        "impl_rate": impl_rate,
        "cost_usd": cost_usd,
        "duration_seconds": duration_seconds,
    }
    columns: dict[str, list[Any]] = {"run_id": ids}
    for name, values in given.items():
        check_same_order("run_id", run_id, name, values)
        long = as_long(values, len(ids))
        if name == "passed":
            checked: NDArray[Any] = check_flag_column(name, long)
        elif name == "impl_rate":
            entries = column(name, long, "numbers").tolist()
            rates = (_check_rate(f"{name}[{i}]", one) for i, one in enumerate(entries))
            checked = np.fromiter(rates, np.float64, len(entries))
        else:
            columns[name] = [None] * len(ids) if values is None else _measured(name, long)
            continue
        columns[name] = checked.tolist()
    if task_id is not None:
        check_same_order("run_id", run_id, "task_id", task_id)
        columns["task_id"] = names_of("task_id", task_id)
    for name, entries in columns.items():
        check_same_length(name, len(entries), "run_id", len(ids))
    rows = zip(*columns.values(), strict=True)
    runs = tuple(Run(**dict(zip(columns, row, strict=True))) for row in rows)
    if tier is None:
        return runs
    check_same_order("run_id", run_id, "tier", tier)
    return _by_tier(tier, runs)


def _by_tier(tier: object, runs: Sequence[Run]) -> FrozenMapping[str, tuple[Run, ...]]:
    tiers, tier_of = numbered_ids("tier", tier)
    check_same_length("tier", tier_of.size, "run_id", len(runs))
    own: dict[str, list[Run]] = {name: [] for name in tiers}
    for place, run in zip(tier_of.tolist(), runs, strict=True):
        own[tiers[place]].append(run)
    return FrozenMapping({name: tuple(found) for name, found in own.items()})


def _token_costs(
    tokens: Mapping[str, Iterable[int | None] | None],
    price: ModelPrice | Iterable[ModelPrice] | None,
    run_id: object,
    n_runs: int,
) -> list[float | None]:
    """Return what the tokens of each run cost, None where some were not counted."""
    if price is None:
        refuse("price", "a ModelPrice, or one for each run, where tokens are given", price)
    prices = (
        (price,) * n_runs
        if isinstance(price, ModelPrice)
        else check_records("price", as_builtins(price), ModelPrice)
    )
    check_same_length("price", len(prices), "run_id", n_runs)
    unknown = np.zeros(n_runs, np.bool_)
    counts: dict[str, list[int]] = {}
    for name, values in tokens.items():
        if values is None:
            if not name.startswith("cache"):
                refuse(name, "a column, as price is given", None)
            counts[name] = [0] * n_runs
            continue
        check_same_order("run_id", run_id, name, values)
        filled, missing = split_missing(name, values)
        check_same_length(name, filled.size, "run_id", n_runs)
        unknown |= missing
        counts[name] = check_count_column(name, filled).tolist()
    rows = zip(*counts.values(), prices, unknown.tolist(), strict=True)
    names = (*counts, "price")
    return [
        None if lost else token_cost(**dict(zip(names, row, strict=True))) for *row, lost in rows
    ]


def _measured(name: str, values: object) -> list[float | None]:
    """Return a column of amounts, None where one was not measured."""
    filled, missing = split_missing(name, values)
    numbers: list[float] = check_number_column(name, filled, 0.0).tolist()
    return [None if lost else one for one, lost in zip(numbers, missing, strict=True)]


@attrs.frozen(kw_only=True, repr=False)
class RunScore(Record):
    """Result of `score_run`."""

    run_id: str
    pass_rate: float
    """1.0 if the run passed, else 0.0."""
    impl_rate: float
    """The judge's weighted score in ``[0, 1]``."""
    cost_usd: float | None
    duration_seconds: float | None
    cost_of_pass: float | None
    """What the pass cost in USD, ``inf`` for a run that did not pass; None for a pass whose cost
    was not measured."""
    composite_score: float
    """Weighted mean of *pass_rate* and *impl_rate*, in ``[0, 1]``; higher is better."""
    grade: LetterGrade
    """Grade of the composite score."""

    def _line(self) -> str:
        cost = "" if self.cost_usd is None else f", {self.cost_usd:.4g} USD"
        return (
            f"{one_line(self.run_id)}: composite score {self.composite_score:.4g}, "
            f"{'passed' if self.pass_rate else 'failed'}{cost}, grade {self.grade}"
        )


def score_run(run: Run, *, pass_weight: float = 0.5, impl_weight: float = 0.5) -> RunScore:
    """
    Score one run: composite score, its grade, and the cost of the pass.

    Args:
        run: The run.
        pass_weight: Weight of passing (>= 0); only the proportion to *impl_weight* matters.
        impl_weight: Weight of *impl_rate* (>= 0).

    Returns:
        A frozen `RunScore`. Read *composite_score*, *grade* and *cost_of_pass* first.

    Raises:
        InputError: If a weight is negative or not finite, or both are 0.
        TypeError: If *run* is not a `Run` or a weight is not a number.

    Examples:
        >>> run = Run(
        ...     run_id="T1/01/1", passed=True, impl_rate=0.85, cost_usd=0.5, duration_seconds=71.4
        ... )
        >>> result = score_run(run)
        >>> result.composite_score, result.cost_of_pass, str(result.grade)
        (0.925, 0.5, 'B')
        >>> score_run(run, pass_weight=-1)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: pass_weight must be a finite number >= 0, got -1
    """
    check_instance("run", run, Run)
    pass_rate = float(run.passed)
    composite = _weigh(pass_rate, run.impl_rate, _pass_share(pass_weight, impl_weight))
    return RunScore(
        run_id=run.run_id,
        pass_rate=pass_rate,
        impl_rate=run.impl_rate,
        cost_usd=run.cost_usd,
        duration_seconds=run.duration_seconds,
        cost_of_pass=None
        if run.passed and run.cost_usd is None
        else per_pass([run.cost_usd or 0.0], pass_rate),
        composite_score=composite,
        grade=letter_grade(composite),
    )


def _pass_share(pass_weight: object, impl_weight: object) -> Fraction:
    weights = (
        check_number("pass_weight", pass_weight, 0.0),
        check_number("impl_weight", impl_weight, 0.0),
    )
    if not any(weights):
        refuse("pass_weight or impl_weight", "a number > 0", weights)
    first, second = map(as_decimal, weights)
    return first / (first + second)


def _weigh(pass_rate: float, impl_rate: float, pass_share: Fraction) -> float:
    return float(pass_share * as_decimal(pass_rate) + (1 - pass_share) * as_decimal(impl_rate))


@attrs.frozen(kw_only=True, repr=False)
class TierStatistics(Report):
    """Result of `tier_statistics`; `compare_reports` takes two whose runs name their tasks."""

    tier_id: str
    n_runs: int
    pass_rate: Statistics
    """Statistics of 1.0 for each run that passed and 0.0 for each that did not."""
    pass_rate_interval: Interval
    """Interval of the mean pass rate in *means*. The next three are of the same kind."""
    impl_rate: Statistics
    impl_rate_interval: Interval
    cost_usd: Statistics | None
    """Over the runs whose cost was measured, *n_costs*, as all that follows from costs; None if
    there are none."""
    cost_usd_interval: Interval | None
    duration_seconds: Statistics | None
    """Over the runs whose duration was measured, *n_durations*; None if there are none."""
    composite_score: Statistics
    composite_interval: Interval
    cost_of_pass: float | None
    """Mean cost over mean pass rate in USD, ``inf`` with no pass; lower is better. It is the total
    cost over the number of passes, if every task has equally many runs."""
    cost_of_pass_interval: Interval | None
    """None without a pass; *high* is ``inf`` if the runs set no bound."""
    n_costs: int
    """Runs whose cost was measured."""
    n_durations: int
    """Runs whose duration was measured."""
    grade: LetterGrade
    """Grade of the median composite score."""
    task_scores: FrozenMapping[str, tuple[float, ...]] | None
    """Composite score of each run by *task_id*, as `compare_reports` takes it; None where the runs
    name no task."""
    weights: Weighting = "attempts"
    """What weighs the same in *means*: each task, or each run."""
    means: FrozenMapping[str, float] = attrs.field(factory=FrozenMapping[str, float])
    """Means of ``"pass_rate"``, ``"impl_rate"``, ``"composite_score"`` and, if a cost was
    measured, ``"cost_usd"`` by *weights*. Those of the statistics are over runs."""
    task_means: FrozenMapping[str, tuple[float, float]] | None = None
    """Mean cost and pass rate of the measured runs of each task, by which costs of a pass of two
    tiers are compared; None where the runs name no task, or no cost was measured."""
    ruler: Ruler | None = None
    """What all this was measured with; None in a tier that was made before there were rulers."""

    def __attrs_post_init__(self) -> None:
        """Refuse what would mislead a comparison of tiers; means not given are those of runs."""
        check_text("tier_id", self.tier_id)
        check_count("n_runs", self.n_runs, 1)
        check_count("n_costs", self.n_costs, 0, self.n_runs, high_name="n_runs")
        if self.cost_of_pass not in (None, math.inf):
            check_number("cost_of_pass", self.cost_of_pass, 0.0)
        check_choice("weights", self.weights, get_args(Weighting))
        described = {name: getattr(self, name) for name in AVERAGED}
        of_runs = {name: one.mean for name, one in described.items() if one is not None}
        store(self, "means", FrozenMapping({**of_runs, **self.means}))

    @property
    def median_hides_split(self) -> bool:
        """
        Whether the runs fall into parts that the median composite score does not show.

        It lies outside the interval of the mean, and the mean would have another grade.
        """
        median, interval = self.composite_score.median, self.composite_interval
        outside = not interval.low <= median <= interval.high
        return outside and letter_grade(self.means["composite_score"]).letter != self.grade.letter

    def scores_by_case(self) -> ReportScores | None:
        """Return the composite scores of each task; None where the runs name no task."""
        if self.task_scores is None:
            return None
        return ReportScores(
            {(SCORE, self.tier_id): self.task_scores}, ruler=_known_ruler(self), own_metric=SCORE
        )

    def _sheet(self) -> Sheet:
        return Sheet(
            "TierStatistics",
            self._line(),
            (
                self._graded(),
                Table(rows=[self._row()], lines=()),
                Fields(record=self, title="All numbers", folded=True),
            ),
        )

    def _line(self) -> str:
        ends = self.pass_rate_interval
        return (
            f"{one_line(self.tier_id)}: pass rate {estimate(self.means['pass_rate'], ends)} "
            f"({level_of(ends)}, {_counted(self)}), {self._price()}"
        )

    def _price(self) -> str:
        if self.cost_of_pass is None:
            return "no cost measured"
        known = f" ({_priced(self)} costs measured)" if _priced(self) else ""
        if math.isinf(self.cost_of_pass):
            return f"no successful run{known}"
        return f"{usd(self.cost_of_pass, self.cost_of_pass_interval)} per successful run{known}"

    def _graded(self) -> str:
        """Say which grade the median gives, and where the mean has a lower one, both."""
        median, mean = self.composite_score.median, self.means["composite_score"]
        grades = self._grades()
        if grades == self.grade.letter:
            return f"grade {grades} by the median score {median:.4g}"
        shown_mean = estimate(mean, self.composite_interval)
        return f"grade {grades}: median score {median:.4g}, mean score {shown_mean}"

    def _grades(self) -> str:
        """Return the grade, and beside it that of the mean where it is lower."""
        letter, of_mean = self.grade.letter, letter_grade(self.means["composite_score"])
        lower = of_mean.threshold < self.grade.threshold
        return f"{letter} (median), {of_mean.letter} (mean)" if lower else letter

    def _row(self) -> dict[str, object]:
        mean, ends = self.means["composite_score"], self.composite_interval
        level = f"{100 * ends.confidence_level:g} %"
        return {
            "tier": one_line(self.tier_id, MAX_NAME),
            "grade": self._grades(),
            "median": self.composite_score.median,
            f"mean ({level})": Estimate(mean, ends),
            " ": Scale.of(mean, ends),
            "pass rate": Estimate(self.means["pass_rate"], self.pass_rate_interval),
            "USD per pass": "no cost measured"
            if self.cost_of_pass is None
            else Estimate(self.cost_of_pass, self.cost_of_pass_interval),
            "costs measured": _priced(self),
        }


def _counted(tier: TierStatistics) -> str:
    n_tasks = None if tier.task_scores is None else len(tier.task_scores)
    return counted_runs(tier.n_runs, n_tasks, weights=tier.weights)


def _priced(tier: TierStatistics) -> str:
    """Say of how many runs the cost is known, where not of all."""
    return f"{tier.n_costs} of {tier.n_runs}" if tier.n_costs < tier.n_runs else ""


def _known_ruler(tier: TierStatistics) -> Ruler:
    """Return what a tier was measured with, of one without a ruler what is not known."""
    return tier.ruler or Ruler(settings={EVERY: NONE}, unknown=("versions", WEIGHTS))


def _short(name: str) -> str:
    return one_line(name, MAX_NAME)


def tier_statistics(
    tier_id: str | int,
    runs: Iterable[Run],
    *,
    pass_weight: float = 0.5,
    impl_weight: float = 0.5,
    weights: Weighting = "groups",
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
    quantiles: Iterable[float] = (0.5, 0.95),
    seed: int = 0,
    ruler: Mapping[str, str | float | None] | Ruler | None = None,
) -> TierStatistics:
    """
    Summarize the repeated runs of one tier.

    Each measure is described over the runs. The grade is that of the *median* composite score, so
    one odd run does not decide it. Means of scores have the interval of `mean_interval` with
    bounds 0 and 1. The mean cost has that with bounds 0 and infinity. The cost of a pass is the
    mean cost divided by the mean pass rate, as in `cost_of_pass_from_columns`. Costs, and the cost
    of a pass, are over the runs whose cost was measured (*n_costs*), as if there were no others.

    If tasks were run several times, give each `Run` its *task_id*. Runs of one task resemble each
    other: *means* and intervals then count a task as one observation, so tasks that were tried
    again because they failed do not weigh more. Without it the intervals are too narrow.

    Args:
        tier_id: Name of the tier.
        runs: Its runs in any order, at least one (ten are customary), no *run_id* twice; with a
            *task_id* all or none.
        pass_weight: Weight of passing (>= 0); only the proportion to *impl_weight* matters.
        impl_weight: Weight of *impl_rate* (>= 0).
        weights: What weighs the same in *means*, intervals and the cost of a pass: with
            ``"groups"`` each task, with ``"attempts"`` each run. Ignored where runs name no
            task.
        bounds: The least and the most that a run can cost, in USD, such as ``(0, 5)``; None if
            nothing limits it.
        confidence_level: Level of the intervals in (0, 1).
        quantiles: Shares in [0, 1] at which cost and duration are described.
        seed: Of the resamples behind the intervals of costs (at most 2**32 - 1).
        ruler: What the runs were measured with, as a mapping from names to text, such as
            ``{"judge": "x", "rubric": "v2", "prices": "2026-11"}``, None where it is not known;
            tiers with other ones are not compared. A `Ruler` can say it for single measures
            (``"impl_rate"``) and tasks. The two weights are always in it.

    Returns:
        A frozen `TierStatistics`. Read *pass_rate* with its *pass_rate_interval*, *cost_of_pass*
        and *grade* first.

    Raises:
        InputError: If *tier_id* or *runs* is empty, two runs share a *run_id* (most likely one run
            counted twice), or only some runs have a *task_id*. Also if a weight is negative or not
            finite, both are 0, *weights* is unknown, a cost lies outside *bounds*,
            *confidence_level* lies outside (0, 1), a quantile lies outside [0, 1], *seed* is out
            of range, or a pass costs more than a float holds. Also if *ruler* names other weights,
            a measure that a tier does not have, or tasks where runs name none.
        TypeError: If *tier_id* is neither a string nor an integer, *runs* not a sequence of `Run`,
            or a weight, a bound, *confidence_level*, a quantile or *seed* not a number. Also if
            *ruler* is neither a mapping nor a `Ruler`, or a value in it neither text nor a number.

    Examples:
        >>> runs = [
        ...     Run(run_id=f"{i}", passed=i < 8, impl_rate=0.9, cost_usd=0.5, duration_seconds=60)
        ...     for i in range(10)
        ... ]
        >>> tier = tier_statistics("T1", runs)
        >>> tier.pass_rate.median, tier.pass_rate.mean, tier.cost_of_pass, str(tier.grade)
        (1.0, 0.8, 0.625, 'A')
        >>> tier_statistics("T1", [runs[0], runs[1], runs[0]])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: run_id of runs[2] must be unlike that of runs[0] (of a table: its index), got '0'

    References:
        Erol et al., "Cost-of-Pass: An Economic Framework for Evaluating Language Models",
        arXiv:2504.13359.
    """  # noqa: E501 - a message is one line
    tier_id = check_id("tier_id", tier_id)
    given = check_records("runs", runs, Run)
    _check_distinct("run_id", "runs", [run.run_id for run in given])
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    share, shares = _pass_share(pass_weight, impl_weight), check_quantiles(quantiles)
    limits = None if bounds is None else check_cost_bounds(bounds)
    if limits:
        for run in given:
            if run.cost_usd is None:
                continue
            check_number(f"cost_usd of run {shown(run.run_id)}", run.cost_usd, *limits)
    seed = check_count("seed", seed, 0, 2**32 - 1)
    # in one order, so that another order of the input does not move the last digit
    checked = sorted(given, key=lambda run: (run.task_id or "", run.run_id))
    tasks = _check_tasks(given)
    groups = np.array([tasks[run.task_id] for run in checked if run.task_id]) if tasks else None
    passes = np.array([run.passed for run in checked], np.float64)
    impl_rates = np.array([run.impl_rate for run in checked])
    measured_with = _ruler_of(ruler, share, given, has_tasks=bool(tasks))
    durations = [run.duration_seconds for run in checked if run.duration_seconds is not None]
    scores = [_weigh(float(run.passed), run.impl_rate, share) for run in checked]
    composite = describe(scores)

    check_choice("weights", weights, get_args(Weighting))
    columns = {
        "pass_rate": passes,
        "impl_rate": impl_rates,
        "composite_score": np.array(scores),
    }
    same: dict[str, Any] = {"confidence_level": confidence_level, "weights": weights, "seed": seed}
    around = {
        name: interval_of_mean(values, groups, (0.0, 1.0), **same)
        for name, values in columns.items()
    }
    weighed = columns
    if groups is not None and weights == "groups":
        weighed = {name: group_means(values, groups) for name, values in columns.items()}
    means = {name: mean_rounded_once(values) for name, values in weighed.items()}
    priced, mean_cost = _prices(checked, shares, limits or NO_LIMIT, **same)
    by_task: dict[str, list[float]] = {task: [] for task in tasks}
    for run, score in zip(checked, scores, strict=True):
        if run.task_id is not None:
            by_task[run.task_id].append(score)
    return TierStatistics(
        tier_id=tier_id,
        n_runs=len(checked),
        pass_rate=describe(passes),
        pass_rate_interval=around["pass_rate"],
        impl_rate=describe(impl_rates),
        impl_rate_interval=around["impl_rate"],
        n_costs=sum(run.cost_usd is not None for run in checked),
        n_durations=len(durations),
        duration_seconds=describe(durations, quantiles=shares) if durations else None,
        composite_score=composite,
        composite_interval=around["composite_score"],
        **priced,
        grade=letter_grade(composite.median),
        task_scores=(
            FrozenMapping({task: tuple(own) for task, own in by_task.items()}) if tasks else None
        ),
        weights=weights if tasks else "attempts",
        means=FrozenMapping({**means, **mean_cost}),
        ruler=measured_with,
    )


def _ruler_of(given: object, share: Fraction, runs: Sequence[Run], *, has_tasks: bool) -> Ruler:
    """Return what a tier was measured with: as the caller says, with the weights."""
    named = Ruler() if given is None else named_ruler("ruler", given)
    for metric in named.settings:
        if metric != EVERY:
            check_choice("a measure of ruler", metric, tuple(MADE_OF))
    if not has_tasks and (own := {*named.cases, *named.judges}):
        refuse("ruler", "of no tasks, as the runs name none", min(own))
    weights = f"pass {float(share):.6g}, impl {float(1 - share):.6g}"
    for said in named.settings.values():
        if said.get(WEIGHTS, weights) != weights:
            refuse(f"{WEIGHTS} of ruler", f"those of the call, {weights}", said[WEIGHTS])
    settings = {EVERY: named.settings.get(EVERY, NONE)}
    for metric, parts in MADE_OF.items():
        own_weights = {WEIGHTS: weights} if metric == SCORE else {}
        of_parts = (named.settings.get(part, NONE) for part in parts)
        if found := dict(item for one in (*of_parts, own_weights) for item in one.items()):
            settings[metric] = FrozenMapping(found)
    is_graded = any(run.impl_rate != run.passed for run in runs)
    says_who = named.judges or any(JUDGE in one for one in settings.values())
    unknown = {*named.unknown, *([JUDGE] if is_graded and not says_who else [])}
    return attrs.evolve(
        named,
        settings=FrozenMapping(settings),
        versions=FrozenMapping({**named.versions, **VERSIONS}),
        unknown=tuple(sorted(unknown)),
    )


def _prices(
    runs: Sequence[Run], quantiles: tuple[float, ...], limits: tuple[float, float], **same: Any
) -> tuple[dict[str, Any], dict[str, float]]:
    """Return all that follows from costs, and their mean, over the runs with a measured cost."""
    known = [run for run in runs if run.cost_usd is not None]
    if not known:
        names = "cost_usd", "cost_usd_interval", "cost_of_pass", "cost_of_pass_interval"
        return dict.fromkeys(names), {}
    tasks = _check_tasks(known)
    groups = np.array([tasks[run.task_id] for run in known if run.task_id]) if tasks else None
    costs = np.array([run.cost_usd for run in known], np.float64)
    passes = np.array([run.passed for run in known], np.float64)
    around = interval_of_mean(costs, groups, limits, **same)
    priced: dict[str, Any] = {
        "cost_usd": describe(costs, quantiles=quantiles),
        "cost_usd_interval": around,
    }
    if groups is not None:
        by_task = group_means(costs, groups), group_means(passes, groups)
        both = zip(*(column.tolist() for column in by_task), strict=True)
        priced["task_means"] = FrozenMapping(dict(zip(tasks, both, strict=True)))
        if same["weights"] == "groups":
            (costs, passes), groups = by_task, None
    cost = per_pass(costs, math.fsum(passes))
    ends = pass_cost_interval(cost, costs, around, passes, groups)
    priced |= {"cost_of_pass": cost, "cost_of_pass_interval": ends}
    return priced, {"cost_usd": mean_rounded_once(costs)}


def _check_tasks(runs: Sequence[Run]) -> dict[str, int]:
    """Number the tasks of the runs; there are none where no run names its task."""
    names = sorted({run.task_id for run in runs if run.task_id is not None})
    for i, run in enumerate(runs):
        if names and run.task_id is None:
            refuse(f"task_id of runs[{i}]", "a task, as other runs name theirs", None)
    return {name: i for i, name in enumerate(names)}


def _check_distinct(field: str, name: str, ids: Sequence[str]) -> None:
    first: dict[str, int] = {}
    for i, one in enumerate(ids):
        if first.setdefault(one, i) != i:
            remedy = " (of a table: its index)" * (field == "run_id")
            refuse(f"{field} of {name}[{i}]", f"unlike that of {name}[{first[one]}]{remedy}", one)


def _uplift(score: float, baseline: float) -> float | None:
    """Return the gain over the baseline as a share of it, ``inf`` above the largest float."""
    return (score - baseline) / baseline if baseline else None


@attrs.frozen(kw_only=True, repr=False)
class CrossTier(TableRecord):
    """Result of `cross_tier`."""

    baseline: str
    """Tier with which the others are compared."""
    uplifts: FrozenMapping[str, float | None]
    """Gain of each other tier over the baseline by *tier_id*, in the order given: ``(tier -
    baseline) / baseline`` of the medians of the composite scores (0.1 is ten percent more); None
    where that of the baseline is 0."""
    mean_uplifts: FrozenMapping[str, float | None]
    """Uplifts of the mean composite scores, over the tasks that both tiers have, each weighing the
    same; over all runs if they share none. None where the baseline is 0."""
    uplift_intervals: FrozenMapping[str, Interval | None]
    """Intervals of the *mean_uplifts*."""
    composite_variance: float
    """Population variance of the tiers' median composite scores; the next three likewise."""
    pass_rate_variance: float
    impl_rate_variance: float
    cost_variance: float | None
    """In USD squared; None, as the next, if a tier has no measured cost."""
    cost_delta: float | None
    """Highest median cost minus the lowest, in USD."""
    frontier_cost_of_pass: float | None
    """Lowest cost of a pass over the tiers whose costs are known in USD, ``inf`` if none of them
    passes; None if there are none."""
    frontier_tier: str | None
    """Tier with that cost, the first one given of several; None if none passes."""
    tiers: tuple[TierStatistics, ...] = attrs.field(converter=listing)
    """The tiers, as given."""
    cost_ratios: FrozenMapping[str, float | None] = attrs.field(
        factory=FrozenMapping[str, float | None]
    )
    """Cost of a pass of each other tier divided by that of the baseline, 0.5 for half of it, over
    the tasks that both tiers have, each weighing the same; over all runs if they share none. None
    where one of them has no pass or no known costs, or passes of the baseline cost nothing."""
    cost_ratio_intervals: FrozenMapping[str, Interval | None] = attrs.field(
        factory=FrozenMapping[str, Interval | None]
    )
    """Of the *cost_ratios*; a pass costs more, or less, where 1 lies outside."""
    n_common_tasks: FrozenMapping[str, int | None] = attrs.field(
        factory=FrozenMapping[str, int | None]
    )
    """Tasks that each other tier shares with the baseline, of those that were measured alike; None
    if the runs of one name none."""
    rulers: FrozenMapping[str, RulerChange] = attrs.field(factory=FrozenMapping[str, RulerChange])
    """By tier, what it was measured with otherwise than the baseline, or what is not known of one
    of both; tiers that were measured alike are not in it. What was measured otherwise is in none
    of the numbers above, unless it is ignored: such ratios and uplifts are None."""

    def _sheet(self) -> Sheet:
        tiers = {_short(tier.tier_id): tier for tier in self.tiers}
        notes = [*self._compared_over(), *self._remarks()]
        known = {name: _priced(tier) for name, tier in tiers.items()}
        if partly := [f"{name} {some}" for name, some in known.items() if some]:
            notes.append(f"runs with a measured cost: {', '.join(partly)}")
        # a table of intervals does not show how far they can be trusted
        if alone := [name for name, tier in tiers.items() if tier.task_scores is None]:
            whose = "" if len(alone) == len(tiers) else f" of {', '.join(alone)}"
            notes.append(f"runs{whose} each taken as independent")
        return Sheet(
            f"{counted(len(tiers), 'tier')}, compared with {_short(self.baseline)}",
            "; ".join([*self._measured_otherwise(), self._found()]),
            (
                *self._cheapest(),
                Table(rows=list(map(self._row_of, self.tiers))),
                *notes,
                Table(
                    rows=list(map(self._medians_of, self.tiers)),
                    title="Medians",
                    specs=UPLIFTS,
                    place="detail",
                ),
                Fields(record=self, without=("tiers",), title="All numbers", folded=True),
            ),
        )

    def _measured_otherwise(self) -> Iterator[str]:
        """Say which tiers were measured otherwise than the baseline, and what is made of that."""
        alike: dict[str, list[str]] = {}
        for name, change in self.rulers.items():
            if change.differences:
                alike.setdefault(f"{change.said} ({_made_of(change)})", []).append(_short(name))
        for text, names in alike.items():
            yield f"{', '.join(names)} measured otherwise than {_short(self.baseline)}: {text}"

    def _remarks(self) -> Iterator[str]:
        """Say what else there is to say of rulers, once."""
        changes = self.rulers.values()
        yield from dict.fromkeys(
            f"{one}; taken to score alike" for change in changes for one in change.assumed
        )
        if unknown := sorted({name for change in changes for name in change.unknown}):
            yield f"not known of one tier or of several: {', '.join(unknown)}"

    def _found(self) -> str:
        """Say which tiers differ from the baseline in their mean score, each by its interval."""
        base = _short(self.baseline)
        known = {name: ends for name, ends in self.uplift_intervals.items() if ends is not None}
        if not known:
            others = [name for name in self.uplifts if not self._is_lost(name, SCORE)]
            if self.uplifts and not others:
                return f"no score is compared with {base}"
            return f"{counted(len(self.tiers), 'tier')} compared with {base}"
        sure = level_of(next(iter(known.values())))
        found = _apart(known, 0.0) or "no difference found"
        tiers = counted(len(known), "tier")
        return f"mean composite score against {base}: {found} ({tiers}, {sure} interval of each)"

    def _cheapest(self) -> Iterator[str]:
        """Say where a pass costs least, and where more or less than at the baseline."""
        base = _short(self.baseline)
        if self.uplifts and all(self._is_lost(name, PRICE) for name in self.uplifts):
            return
        for best in self.tiers:
            if best.tier_id == self.frontier_tier and best.cost_of_pass is not None:
                cost = usd(best.cost_of_pass, best.cost_of_pass_interval)
                text = f"cost per successful run: lowest {_short(best.tier_id)}, {cost}"
                if (ratio := self.cost_ratios.get(best.tier_id)) is not None:
                    ends = self.cost_ratio_intervals.get(best.tier_id)
                    text += f", {estimate(ratio, ends)} times {base}"
                found = _apart(self.cost_ratio_intervals, 1.0)
                yield f"{text}; against {base}: {found}" if found else text

    def _compared_over(self) -> Iterator[str]:
        """Say over which tasks tiers are compared with the baseline."""
        base = _short(self.baseline)
        n_tasks = {n: one for n, one in self.n_common_tasks.items() if not self._is_lost(n, SCORE)}
        named = {_short(name): n for name, n in n_tasks.items() if n is not None}
        over = "uplifts and cost ratios over"
        if shared := [f"{name} {n}" for name, n in named.items() if n]:
            yield f"{over} tasks shared with {base}, by task_id: {', '.join(shared)}"
        if apart := [name for name, n in named.items() if not n]:
            whose = "" if len(apart) == len(self.tiers) - 1 else f" {', '.join(apart)}:"
            better = "the same tasks in all tiers would narrow their intervals"
            yield f"no task shared with {base}:{whose} {over} all runs ({better})"

    def _row_of(self, tier: TierStatistics) -> dict[str, object]:
        name = tier.tier_id
        means = "uplift of mean"
        row = {key: cell for key, cell in row_of(tier).items() if key not in ASIDE}
        if name == self.baseline:
            return {**row, means: "baseline"}
        uplift, ratio = self.mean_uplifts[name], self.cost_ratios.get(name)
        row[means] = (
            self._no_uplift(name)
            if uplift is None
            else Estimate(uplift, self.uplift_intervals[name], "+")
        )
        if ratio is not None:
            row["times baseline"] = Estimate(ratio, self.cost_ratio_intervals.get(name))
        return row

    def _medians_of(self, tier: TierStatistics) -> dict[str, object]:
        uplift = self.uplifts.get(tier.tier_id, "baseline")
        return {
            "tier": _short(tier.tier_id),
            "median": tier.composite_score.median,
            "uplift of median": self._no_uplift(tier.tier_id) if uplift is None else uplift,
        }

    def _no_uplift(self, name: str) -> str:
        """Say why a tier has none."""
        return "measured otherwise" if self._is_lost(name, SCORE) else "none"

    def _is_lost(self, name: str, metric: str) -> bool:
        """Say whether a tier is not compared, as it was measured otherwise."""
        return name in self.rulers and metric in self.rulers[name].too_few


UPLIFTS = {"uplift of median": "+.4g"}
"""How the numbers of a table of tiers are written."""

ASIDE = "median", "costs measured"
"""Columns of a tier that a comparison says elsewhere: the table would be too wide."""


def _apart(intervals: Mapping[str, Interval | None], same: float) -> str:
    """Name the tiers whose interval lies above, or below, what would be the same."""
    known = {_short(name): ends for name, ends in intervals.items() if ends is not None}
    sides = {
        "higher": [name for name, ends in known.items() if ends.low > same],
        "lower": [name for name, ends in known.items() if ends.high < same],
    }
    return ", ".join(f"{side} {', '.join(names)}" for side, names in sides.items() if names)


def _made_of(change: RulerChange) -> str:
    """Say in a word what a comparison makes of what was measured otherwise."""
    if change.is_ignored:
        return "ignored"
    named = {SCORE: "scores", PRICE: "costs"}
    lost = " and ".join(named[metric] for metric in change.too_few)
    if change.n_left and change.n_otherwise:
        left = f"compared at the {change.n_left} of {change.n_cases} tasks measured alike"
        return f"{lost} not compared; others {left}" if lost else left
    return f"{lost} not compared" if len(change.too_few) < len(named) else "not compared"


def cross_tier(
    tiers: Iterable[TierStatistics],
    *,
    baseline: str | int = "T0",
    ruler: Literal["common", "refuse", "ignore"] = "common",
) -> CrossTier:
    """
    Compare tiers: uplift over a baseline, variance between tiers, and where a pass is cheapest.

    Uplifts are computed twice: from medians, as ProjectScylla does, and from means, with an
    interval. A median of passes and failures does not show a share of failures below a half.
    ``print`` shows the means, with the grade of a mean where it is lower than the median's, and
    ``to_text(all=True)`` the medians too. It names the tiers whose mean composite score, or cost
    of a pass, has an interval that excludes that of the baseline.

    Args:
        tiers: Statistics of at least one tier, no *tier_id* twice. A *task_id* that two of them
            have is taken for the same task.
        baseline: *tier_id* of the tier to measure from.
        ruler: What to do about a tier that was not measured as the baseline was, with other
            weights or another judge: its *ruler*, see `tier_statistics`. ``"common"``: compare
            what was measured alike, such as single tasks if these are half of the common ones or
            more. ``"refuse"``: raise. ``"ignore"``: compare all the same, and say so.

    Returns:
        A frozen `CrossTier`. Read *uplifts*, *uplift_intervals* and *frontier_tier* first.

    Raises:
        InputError: If *tiers* is empty, two share a *tier_id*, none has the id *baseline*, their
            intervals are of several levels, the variance of the costs is too large for a float,
            or *ruler* is ``"refuse"`` and a tier was measured otherwise.
        TypeError: If *tiers* is not a sequence of `TierStatistics` or *baseline* neither a string
            nor an integer.

    Examples:
        >>> tiers = []
        >>> for tier_id, rate in (("T0", 0.5), ("T1", 0.75)):
        ...     run = Run(
        ...         run_id="1", passed=True, impl_rate=rate, cost_usd=rate, duration_seconds=60
        ...     )
        ...     tiers.append(tier_statistics(tier_id, [run], pass_weight=0, impl_weight=1))
        >>> result = cross_tier(tiers)
        >>> result.uplifts, result.cost_delta, result.frontier_tier
        ({'T1': 0.5}, 0.25, 'T0')
        >>> cross_tier(tiers, baseline="T2")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: baseline must be one of 'T0', 'T1', got 'T2'

    Notes:
        If runs name their tasks, means and costs of a pass are compared over the tasks that both
        tiers have, and each task weighs the same, however often it was run. So a *task_id* must
        name the same task in all tiers. Tiers without a common task are compared over all their
        runs. Medians are of all runs: a tier that was given easier tasks looks better by them.

        The interval of a mean uplift is that of a ratio of two means, from the intervals of both
        and their correlation over common tasks (MOVER, on the logarithmic scale). That of a cost
        ratio over common tasks is Student's t for its logarithm, with the jackknife that leaves
        out one task at a time. Without common tasks it takes the tiers as independent (MOVER),
        which is much wider.

    References:
        Erol et al., "Cost-of-Pass: An Economic Framework for Evaluating Language Models",
        arXiv:2504.13359.
        Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and
        standard deviation", Statistical Methods in Medical Research 21(4), 2012, for MOVER.
    """
    checked = check_records("tiers", tiers, TierStatistics)
    ids = [tier.tier_id for tier in checked]
    _check_distinct("tier_id", "tiers", ids)
    baseline = check_id("baseline", baseline)
    check_choice("baseline, 'T0' unless given," if baseline == "T0" else "baseline", baseline, ids)
    levels = [tier.composite_interval.confidence_level for tier in checked]
    for i, level in enumerate(levels):
        if level != levels[0]:
            refuse(f"confidence_level of tiers[{i}]", f"that of tiers[0], {levels[0]}", level)
    check_choice("ruler", ruler, WAYS)
    base = checked[ids.index(baseline)]
    beside = [
        _Beside.of(tier, base, is_ignored=ruler == "ignore")
        for tier in checked
        if tier is not base
    ]
    for one in beside:
        if ruler == "refuse" and one.change.differences:
            domain = f"measured with the ruler of {shown(baseline)} where ruler='refuse'"
            raise InputError(f"tier {shown(one.tier_id)} must be {domain}, got {one.change.said}")
    means = {one.tier_id: one.mean_uplift() for one in beside}
    prices = {one.tier_id: one.cost_ratio() for one in beside}
    apart = {m: {one.tier_id for one in beside if m in one.otherwise} for m in MADE_OF}
    alike = {m: [tier for tier in checked if tier.tier_id not in apart[m]] for m in MADE_OF}
    costs = [tier.cost_usd.median for tier in alike["cost_usd"] if tier.cost_usd is not None]
    of_passes = {t.tier_id: t.cost_of_pass for t in alike[PRICE] if t.cost_of_pass is not None}
    lowest = min(of_passes.values(), default=None)
    cheapest = (name for name, cost in of_passes.items() if cost == lowest)
    are_known = len(costs) == len(alike["cost_usd"])
    return CrossTier(
        baseline=baseline,
        uplifts=FrozenMapping({one.tier_id: one.uplift() for one in beside}),
        mean_uplifts=FrozenMapping({name: uplift for name, (uplift, _, _) in means.items()}),
        uplift_intervals=FrozenMapping({name: ends for name, (_, ends, _) in means.items()}),
        n_common_tasks=FrozenMapping({name: n for name, (_, _, n) in means.items()}),
        composite_variance=_variance(
            "composite", [t.composite_score.median for t in alike[SCORE]]
        ),
        pass_rate_variance=_variance(
            "pass_rate", [t.pass_rate.median for t in alike["pass_rate"]]
        ),
        impl_rate_variance=_variance(
            "impl_rate", [t.impl_rate.median for t in alike["impl_rate"]]
        ),
        cost_variance=_variance("cost", costs) if are_known else None,
        cost_delta=max(costs) - min(costs) if are_known else None,
        frontier_cost_of_pass=lowest,
        frontier_tier=None if lowest == math.inf else next(cheapest, None),
        tiers=checked,
        cost_ratios=FrozenMapping({name: ratio for name, (ratio, _, _) in prices.items()}),
        cost_ratio_intervals=FrozenMapping({name: ends for name, (_, ends, _) in prices.items()}),
        rulers=FrozenMapping({one.tier_id: one.change for one in beside if one.is_said}),
    )


class _Beside(NamedTuple):
    """A tier beside the baseline, of both what was measured alike."""

    tier_id: str
    tier: TierStatistics
    base: TierStatistics
    change: RulerChange
    otherwise: frozenset[str]
    """The measures that were measured otherwise, at some tasks or at all."""

    @classmethod
    def of(cls, tier: TierStatistics, base: TierStatistics, *, is_ignored: bool) -> _Beside:
        """Find what was measured otherwise, and leave that out unless it is ignored."""
        rulers = Rulers(_known_ruler(base), _known_ruler(tier))
        whole = {metric: rulers.at(metric) for metric in MADE_OF}
        tasks = {metric: _shared_tasks(tier, base, metric) for metric in MADE_OF}
        single = {
            metric: {task: found for task in tasks[metric] if (found := rulers.at(metric, task))}
            for metric in MADE_OF
        }
        n_left = {metric: len(tasks[metric]) - len(single[metric]) for metric in MADE_OF}
        too_few = tuple(
            metric
            for metric in (SCORE, PRICE)
            if whole[metric] or n_left[metric] < KEPT_SHARE * len(tasks[metric])
        )
        change = RulerChange(
            differences=_differences(whole, single, len(tasks[SCORE])),
            n_cases=len(tasks[SCORE]),
            n_otherwise=len(tasks[SCORE] if whole[SCORE] else single[SCORE]),
            n_left=0 if SCORE in too_few else n_left[SCORE],
            is_ignored=is_ignored,
            unknown=_unknown(tier, base, rulers),
            assumed=rulers.assumed,
            too_few=() if is_ignored else too_few,
        )
        if is_ignored:
            return cls(tier.tier_id, tier, base, change, frozenset())
        lost = [{} if whole[metric] else single[metric] for metric in (SCORE, PRICE)]
        tier, base = (_without(one, *lost) for one in (tier, base))
        otherwise = frozenset(metric for metric in MADE_OF if whole[metric] or single[metric])
        return cls(tier.tier_id, tier, base, change, otherwise)

    @property
    def is_said(self) -> bool:
        """Whether there is anything to say of the rulers."""
        return bool(self.change.differences or self.change.unknown or self.change.assumed)

    def uplift(self) -> float | None:
        """Return the uplift of the medians."""
        if SCORE in self.change.too_few:
            return None
        medians = (side.composite_score.median for side in (self.tier, self.base))
        return _uplift(*medians)

    def mean_uplift(self) -> tuple[float | None, Interval | None, int | None]:
        """Return the uplift of the means, its interval, and the tasks that they are over."""
        uplift, ends, n = _mean_uplift(self.tier, self.base)
        is_lost = SCORE in self.change.too_few
        return (None, None, None if n is None else 0) if is_lost else (uplift, ends, n)

    def cost_ratio(self) -> tuple[float | None, Interval | None, int | None]:
        """Return how many times as much a pass costs, with its interval and the tasks."""
        if PRICE in self.change.too_few:
            return None, None, None
        tier, base = self.tier, self.base
        level = base.composite_interval.confidence_level
        tasks = tier.task_means, base.task_means
        return times_baseline(_price_of(tier), _price_of(base), tasks, level)


def _differences(
    whole: Mapping[str, Sequence[Difference]],
    single: Mapping[str, Mapping[str, Sequence[Difference]]],
    n_tasks: int,
) -> FrozenMapping[str, int]:
    """Return what differs in words, with the number of tasks that it concerns."""
    of_all = dict.fromkeys(one for found in whole.values() for one in found)
    said = {one.said(n_tasks, ""): n_tasks for one in of_all}
    n_at: dict[Difference, int] = {}
    for by_task in single.values():
        counts = Counter(one for found in by_task.values() for one in found)
        n_at |= {one: max(n, n_at.get(one, 0)) for one, n in counts.items() if one not in of_all}
    for one, n in n_at.items():
        of = f"{n} of {n_tasks} tasks" if n < n_tasks else f"all {counted(n, 'task')}"
        said[one.said(n, of)] = n
    return FrozenMapping(said)


def _shared_tasks(tier: TierStatistics, base: TierStatistics, metric: str) -> list[str]:
    """Return the tasks over which two tiers are compared."""
    sides: list[Mapping[str, object]] = [_by_task(tier), _by_task(base)]
    if metric == PRICE:
        sides = [tier.task_means or NONE, base.task_means or NONE]
    own, other = sides
    return [task for task in other if task in own]


def _unknown(tier: TierStatistics, base: TierStatistics, rulers: Rulers) -> tuple[str, ...]:
    """Name what one of both does not say; what neither says is the same as far as is known."""
    neither: set[str] = set()
    if tier.ruler is not None and base.ruler is not None:
        neither = {*tier.ruler.unknown} & {*base.ruler.unknown}
    return tuple(sorted(rulers.unknown - neither))


def _without(
    tier: TierStatistics, scored: Container[str], priced: Container[str]
) -> TierStatistics:
    """Return a tier without the scores and costs of some tasks."""
    scores, means = tier.task_scores, tier.task_means
    if scores is not None and any(task in scored for task in scores):
        scores = FrozenMapping({t: own for t, own in scores.items() if t not in scored})
        kept = [score for own in scores.values() for score in own]
        if kept:
            tier = attrs.evolve(tier, composite_score=describe(kept))
    if means is not None:
        means = FrozenMapping({t: own for t, own in means.items() if t not in priced})
    return attrs.evolve(tier, task_scores=scores, task_means=means)


def _mean_uplift(
    tier: TierStatistics, base: TierStatistics
) -> tuple[float | None, Interval | None, int | None]:
    """Return the uplift of the means, its interval, and the tasks that they are over."""
    means = [side.means["composite_score"] for side in (tier, base)]
    ends = [side.composite_interval for side in (tier, base)]
    own, other, together = _by_task(tier), _by_task(base), 0.0
    tasks = _shared_tasks(tier, base, SCORE)
    n = None if tier.task_scores is None or base.task_scores is None else len(tasks)
    if tasks:
        by_task = [
            np.array([describe(scores[task]).mean for task in tasks]) for scores in (own, other)
        ]
        level = ends[0].confidence_level
        means = [describe(column).mean for column in by_task]
        ends = [interval_of_mean(c, None, (0.0, 1.0), confidence_level=level) for c in by_task]
        together = shared_error(by_task[0], by_task[1], np.arange(len(tasks)))
    uplift = _uplift(means[0], means[1])
    if uplift is None:
        return None, None, n
    top, bottom = ((mean, end.low, end.high) for mean, end in zip(means, ends, strict=True))
    low, high = ratio_ends(uplift + 1.0, top, bottom, together)
    level = ends[0].confidence_level
    return uplift, interval_around(uplift, (low - 1.0, high - 1.0), level, "ratio of means"), n


def _by_task(tier: TierStatistics) -> Mapping[str, tuple[float, ...]]:
    return tier.task_scores or FrozenMapping({})


def _price_of(tier: TierStatistics) -> Priced:
    known = math.inf if tier.cost_of_pass is None else tier.cost_of_pass  # neither has a ratio
    return known, tier.cost_of_pass_interval


def _variance(name: str, medians: list[float]) -> float:
    return check_number(f"{name}_variance", pvariance(map(Fraction, medians)), 0.0)
