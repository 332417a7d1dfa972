"""Reports on generated code, from samples, columns or parts (`code_report`)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from statistics import fmean
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.checks import (
    check_bounded_count,
    check_choice,
    check_count,
    check_instance,
    check_items,
    check_number,
    check_records,
    check_same_length,
    check_text,
)
from scorekit._core.columns import (
    check_same_order,
    check_text_column,
    split_missing,
)
from scorekit._stats.parts import PartTally
from scorekit._stats.passes import estimate_suite, estimate_task
from scorekit._stats.suites import Insufficient, Suite
from scorekit.coding import (
    DEFAULT_WEIGHTS,
    MEASUREMENTS,
    NOT_MEASURED,
    CodeSample,
    CodeWeights,
    Kind,
    score_columns,
)
from scorekit.errors import InputError, one_line, refuse, shortened, shown
from scorekit.intervals import Interval, interval_of_mean
from scorekit.records import Cases, FrozenMapping, Record, Report, ReportScores
from scorekit.sampling import PassAtK
from scorekit.summary import check_quantiles, describe

Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

QUANTILES = (0.5, 0.95)
"""Shares that cost and latency are commonly described by."""

K = TypeVar("K")
T = TypeVar("T", bound=np.generic)


class Samples(NamedTuple):
    """Samples as columns, their cases numbered in order of appearance."""

    keys: tuple[tuple[str, str], ...]
    """Case and model of each task."""
    task: Counts
    """The task that each sample is an attempt at, as its place in *keys*."""
    compiled: NDArray[np.bool_]
    passed: Counts
    failed: Counts
    warnings: Counts
    cost_usd: Floats
    """NaN where it was not measured, like the next."""
    latency_seconds: Floats
    input_tokens: Counts
    """-1 where it was not measured, like the next."""
    output_tokens: Counts

    @property
    def correct(self) -> NDArray[np.bool_]:
        """What `scorekit.CodeSample.correct` says of each."""
        correct: NDArray[np.bool_] = self.compiled & (self.passed > 0) & (self.failed == 0)
        return correct

    @property
    def size(self) -> int:
        """How many there are."""
        return self.task.size

    def join(self, later: Samples) -> Samples:
        """Put a later part behind this one."""
        place = {key: i for i, key in enumerate(self.keys)}
        moved = np.array([place.setdefault(key, len(place)) for key in later.keys], dtype=np.int64)
        columns = zip((self.task, *self[2:]), (moved[later.task], *later[2:]), strict=True)
        return Samples._make((tuple(place), *map(np.concatenate, columns)))


def from_records(samples: object, *, empty: bool = False) -> Samples:
    """Make columns of `CodeSample` items."""
    items = check_records("samples", samples, CodeSample, empty=empty)

    columns: dict[str, Any] = {}
    for name, kind in MEASUREMENTS.items():
        values: list[Any] = list(map(attrgetter(name), items))
        if kind.optional:
            values = [kind.missing if value is None else value for value in values]
        columns[name] = np.array(values, dtype=kind.dtype)
    keys, task = numbered(list(map(attrgetter("case_id", "model"), items)))
    return Samples(keys=keys, task=task, **columns)


def from_columns(columns: dict[str, Any]) -> Samples:
    """Check columns under the names of a sample's fields; all but the first two may be None."""
    case_ids = check_text_column("case_id", columns["case_id"])
    n_samples = len(case_ids)
    for name, values in columns.items():
        check_same_order("case_id", columns["case_id"], name, values)
    model = columns["model"]
    if isinstance(model, str):
        models = [check_text("model", model)] * n_samples
    else:
        models = _as_long("model", check_text_column("model", model), n_samples)

    def column(name: str, kind: Kind) -> NDArray[Any]:
        values = columns[name]
        if values is None and kind.missing is not None:
            return np.full(n_samples, kind.missing, dtype=kind.dtype)
        if not kind.optional:
            return np.asarray(_as_long(name, kind.check_column(name, values), n_samples))
        values, missing = split_missing(name, values)
        known = np.array(_as_long(name, kind.check_column(name, values), n_samples))
        known[missing] = kind.missing
        return known

    keys, task = numbered(list(zip(case_ids, models, strict=True)))
    made: dict[str, Any] = {name: column(name, kind) for name, kind in MEASUREMENTS.items()}
    return Samples(keys=keys, task=task, **made)


def _as_long(name: str, values: Any, n_samples: int) -> Any:
    check_same_length(name, len(values), "case_id", n_samples)
    return values


def numbered(keys: list[K]) -> tuple[tuple[K, ...], Counts]:
    """Number keys in order of appearance; return each once, and the number of each."""
    distinct = dict.fromkeys(keys)
    if len(distinct) == len(keys):
        return tuple(keys), np.arange(len(keys))
    place = {key: i for i, key in enumerate(distinct)}
    return tuple(place), np.array(list(map(place.__getitem__, keys)), dtype=np.int64)


@attrs.frozen(kw_only=True)
class CaseStatistics(Record):
    """The attempts of one model at one case."""

    case_id: str
    model: str
    pass_at_k: tuple[PassAtK, ...]
    """One for each *k* of the report; under ``"drop"`` only those the case has attempts for."""
    mean_score: float
    """Mean code score over the attempts, in ``[0, 1]``."""
    scores: tuple[float, ...]
    """Code score of each attempt, in input order."""
    n_samples: int
    n_correct: int
    """Attempts that were correct; see `scorekit.CodeSample.correct`."""

    def __attrs_post_init__(self) -> None:
        """Refuse statistics that contradict themselves."""
        check_count("n_samples", self.n_samples, 1)
        check_count("n_correct", self.n_correct, 0, self.n_samples, high_name="n_samples")
        if len(self.scores) != self.n_samples:
            refuse("scores", f"{self.n_samples} numbers", self.scores)
        for score in self.scores:
            if not 0.0 <= score <= 1.0:
                refuse("scores", "numbers in [0, 1]", self.scores)


@attrs.frozen(kw_only=True)
class ModelStatistics(Record):
    """One model over all its cases; each case weighs the same however many attempts it had."""

    model: str
    pass_at_k: tuple[PassAtK, ...]
    """One for each *k* of the report, over the cases."""
    compilation_rate: float
    """Mean over cases of the share of attempts that compiled, in ``[0, 1]``."""
    test_pass_rate: float
    """Mean over cases of the mean share of tests passed; an attempt without tests counts 0."""
    mean_score: float
    """Mean over cases of the mean code score, in ``[0, 1]``."""
    total_cost_usd: float | None
    """Sum over the attempts whose cost was measured."""
    mean_cost_usd: float | None
    """Mean over the attempts whose cost was measured, for models with unequal numbers of them."""
    mean_latency_seconds: float | None
    """Mean over the attempts whose latency was measured."""
    total_input_tokens: int | None
    total_output_tokens: int | None
    n_samples: int
    n_cases: int
    intervals: FrozenMapping[str, Interval]
    """Intervals of the means ``"code_score"``, ``"compilation_rate"``, ``"test_pass_rate"``,
    and of ``"cost_usd"`` and ``"latency_seconds"`` where they were measured.  A case counts as one
    observation."""
    quantiles: FrozenMapping[str, FrozenMapping[float, float]] = attrs.field(
        factory=FrozenMapping[str, FrozenMapping[float, float]]
    )
    """Quantiles over the attempts, by share, of ``"cost_usd"``, ``"latency_seconds"``,
    ``"input_tokens"`` and ``"output_tokens"`` where they were measured."""


@attrs.frozen(kw_only=True)
class CodeReport(Report):
    """Result of `code_report`: statistics per model and per case, in order of appearance."""

    version: ClassVar[int] = 1

    models: tuple[ModelStatistics, ...]
    cases: tuple[CaseStatistics, ...]

    def __attrs_post_init__(self) -> None:
        """Refuse a case that is there twice: a comparison would see one of the two."""
        seen: defaultdict[str, set[str]] = defaultdict(set)
        for case in self.cases:
            seen[case.model].add(case.case_id)
        if sum(map(len, seen.values())) < len(self.cases):
            keys = [(case.case_id, case.model) for case in self.cases]
            key = Counter(keys).most_common(1)[0][0]
            again = keys.index(key, keys.index(key) + 1)
            refuse(f"case_id and model of cases[{again}]", "unlike those of all others", key)

    def __str__(self) -> str:
        """Return a line for each model, numbers rounded for display."""
        return "\n".join(
            f"{one_line(one.model)}: {', '.join(map(str, one.pass_at_k))}, mean code score "
            f"{one.mean_score:.4g} ({one.n_samples} samples of {one.n_cases} cases)"
            for one in self.models
        )

    def for_model(self, name: str) -> CodeReport:
        """
        Narrow the report to one model, for instance to compare two models of one report.

        Raises:
            InputError: If the report has no such model.
        """
        models = tuple(m for m in self.models if m.model == name)
        if not models:
            names = shortened(", ".join(repr(m.model) for m in self.models))
            refuse("name", f"a model of this report ({names})", name)
        return CodeReport(models=models, cases=tuple(c for c in self.cases if c.model == name))

    def scores_by_case(self) -> ReportScores:
        """Return each attempt as right or wrong under ``"pass@1"``, and its ``"code_score"``."""
        right: defaultdict[str, Cases] = defaultdict(dict)
        scores: defaultdict[str, Cases] = defaultdict(dict)
        for c in self.cases:
            n_wrong = c.n_samples - c.n_correct
            right[c.model][c.case_id] = (1.0,) * c.n_correct + (0.0,) * n_wrong
            scores[c.model][c.case_id] = c.scores
        return ReportScores(
            {
                (metric, model): cases
                for metric, by_model in (("pass@1", right), ("code_score", scores))
                for model, cases in by_model.items()
            }
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat dict per case and model, ready for a data frame."""
        return [
            {
                "case_id": case.case_id,
                "model": case.model,
                "n_samples": case.n_samples,
                "n_correct": case.n_correct,
                "mean_score": case.mean_score,
                **{f"pass_at_{result.k}": result.score for result in case.pass_at_k},
            }
            for case in self.cases
        ]


def report_on(
    samples: Samples,
    ks: Sequence[int],
    insufficient: Insufficient,
    weights: CodeWeights,
    confidence_level: float,
    *,
    quantiles: Iterable[float],
) -> CodeReport:
    """Return the report on samples that are checked already; check the other arguments."""
    ks = tuple(
        check_bounded_count(f"ks[{i}]", k, 1)
        for i, k in enumerate(check_items("ks", ks, what="integers"))
    )
    check_choice("insufficient", insufficient, ("raise", "nan", "drop"))
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    check_instance("weights", weights, CodeWeights)
    asked = check_quantiles(quantiles)
    outcomes = samples.compiled, samples.passed, samples.failed, samples.warnings
    scores = score_columns(*outcomes, weights=weights)
    attempts = _Groups(samples.task, len(samples.keys))
    n_samples = attempts.sizes
    _check_attempts(samples.keys, n_samples, ks, insufficient)
    n_correct = attempts.counts(samples.correct)
    mean_scores = attempts.means(scores)
    cases = tuple(
        CaseStatistics(
            case_id=case_id,
            model=model,
            pass_at_k=estimates,
            mean_score=mean_score,
            scores=own_scores,
            n_samples=n,
            n_correct=c,
        )
        for (case_id, model), estimates, mean_score, own_scores, n, c in zip(
            samples.keys,
            _case_estimates(n_samples, n_correct, ks, insufficient, confidence_level),
            mean_scores.tolist(),
            attempts.split(scores),
            n_samples.tolist(),
            n_correct.tolist(),
            strict=True,
        )
    )
    model_names, model_of = numbered([model for _, model in samples.keys])
    tasks = _Groups(model_of, len(model_names))
    runs = _Groups(model_of[samples.task], len(model_names))
    shares = samples.passed / np.maximum(samples.passed + samples.failed, 1)
    by_case = {
        "code_score": tasks.parts(mean_scores),
        "compilation_rate": tasks.parts(attempts.counts(samples.compiled) / n_samples),
        "test_pass_rate": tasks.parts(attempts.means(shares)),
    }
    measured = {
        "cost_usd": runs.parts(samples.cost_usd),
        "latency_seconds": runs.parts(samples.latency_seconds),
    }
    tokens = {
        "input_tokens": runs.parts(samples.input_tokens),
        "output_tokens": runs.parts(samples.output_tokens),
    }
    task_of = runs.parts(samples.task)
    columns = {
        "compilation_rate": map(_mean, by_case["compilation_rate"]),
        "test_pass_rate": map(_mean, by_case["test_pass_rate"]),
        "mean_score": map(_mean, by_case["code_score"]),
        "intervals": (
            _intervals(
                {name: parts[i] for name, parts in by_case.items()},
                {name: parts[i] for name, parts in measured.items()},
                task_of[i],
                confidence_level,
            )
            for i in range(len(model_names))
        ),
        "quantiles": (
            _quantiles({name: parts[i] for name, parts in (measured | tokens).items()}, asked)
            for i in range(len(model_names))
        ),
        "total_cost_usd": map(_total_cost, measured["cost_usd"]),
        "mean_cost_usd": map(_mean_measured, measured["cost_usd"]),
        "mean_latency_seconds": map(_mean_measured, measured["latency_seconds"]),
        "total_input_tokens": map(_total, tokens["input_tokens"]),
        "total_output_tokens": map(_total, tokens["output_tokens"]),
        "n_samples": runs.sizes.tolist(),
        "n_cases": tasks.sizes.tolist(),
        "pass_at_k": (
            tuple(
                PassAtK(k=k, **estimate)
                for k, estimate in zip(
                    ks,
                    estimate_suite(Suite(n, confidence_level, insufficient), c, ks),
                    strict=True,
                )
            )
            for n, c in zip(tasks.parts(n_samples), tasks.parts(n_correct), strict=True)
        ),
    }
    rows = zip(model_names, *columns.values(), strict=True)
    models = tuple(
        ModelStatistics(model=model, **dict(zip(columns, values, strict=True)))
        for model, *values in rows
    )
    return CodeReport(models=models, cases=cases)


class _Groups:
    """Rows put together by the number of their group, in their order."""

    def __init__(self, group_of: Counts, n_groups: int) -> None:
        self.sizes: Counts = np.bincount(group_of, minlength=n_groups)
        self._group_of = group_of
        self._order = np.argsort(group_of, kind="stable")
        self._ends: list[int] = [0, *np.cumsum(self.sizes).tolist()]

    def parts(self, values: NDArray[T]) -> list[NDArray[T]]:
        """Return the values of each group as a column."""
        return np.split(values[self._order], self._ends[1:-1])

    def split(self, values: Floats) -> Iterator[tuple[float, ...]]:
        """Yield the values of each group."""
        ordered: tuple[float, ...] = tuple(values[self._order].tolist())
        if self.sizes.max() == 1:
            return ((value,) for value in ordered)
        return (ordered[start:end] for start, end in pairwise(self._ends))

    def counts(self, flags: NDArray[np.bool_]) -> Counts:
        """Return how many rows of each group are true."""
        return np.bincount(self._group_of[flags], minlength=self.sizes.size)

    def means(self, values: Floats) -> Floats:
        """Return the mean of each group, its sum rounded once."""
        if self.sizes.max() == 1:
            return values[self._order]
        return np.array([math.fsum(group) / len(group) for group in self.split(values)])


def _mean(values: Floats) -> float:
    return fmean(values.tolist())


def _intervals(
    scores: dict[str, Floats], measured: dict[str, Floats], task: Counts, confidence_level: float
) -> FrozenMapping[str, Interval]:
    """Return an interval for each mean of a model, of what was measured over its cases."""
    intervals = {
        name: interval_of_mean(values, None, (0.0, 1.0), confidence_level=confidence_level)
        for name, values in scores.items()
    }
    for name, values in measured.items():
        known = ~np.isnan(values)
        if known.any():
            _, groups = np.unique(task[known], return_inverse=True)
            interval = interval_of_mean(
                values[known], groups, None, confidence_level=confidence_level
            )
            intervals[name] = attrs.evolve(interval, low=max(interval.low, 0.0))
    return FrozenMapping(intervals)


def _total_cost(costs: Floats) -> float | None:
    measured: list[float] = costs[~np.isnan(costs)].tolist()
    try:
        return math.fsum(measured) if measured else None
    except OverflowError:
        refuse("cost_usd of the samples", "numbers with a finite sum", measured)


def _quantiles(
    columns: dict[str, NDArray[Any]], shares: tuple[float, ...]
) -> FrozenMapping[str, FrozenMapping[float, float]]:
    found: dict[str, FrozenMapping[float, float]] = {}
    for name, values in columns.items():
        known = values[~np.isnan(values) & (values != NOT_MEASURED)]
        if known.size and shares:
            found[name] = describe(known, quantiles=shares).quantiles
    return FrozenMapping(found)


def _mean_measured(values: Floats) -> float | None:
    measured = values[~np.isnan(values)]
    return describe(measured).mean if measured.size else None


def _total(counts: Counts) -> int | None:
    measured: list[int] = counts[counts != NOT_MEASURED].tolist()
    return sum(measured) if measured else None


def _check_attempts(
    keys: tuple[tuple[str, str], ...],
    n_samples: Counts,
    ks: tuple[int, ...],
    insufficient: Insufficient,
) -> None:
    """Refuse too few attempts here, where the case can be named."""
    k = max(ks)
    short = np.flatnonzero(n_samples < k).tolist()
    if not short:
        return
    if insufficient == "raise":
        case_id, model = keys[short[0]]
        raise InputError(
            f"samples must have at least k = {k} attempts at every case, got {len(short)} of "
            f"{len(keys)} cases with fewer (first: case {shown(case_id)} of model "
            f"{shown(model)} with {n_samples[short[0]]}); "
            'lower k or pass insufficient="nan" or "drop"'
        )
    if insufficient == "drop":
        longest: dict[str, int] = {}
        for (_, model), n in zip(keys, n_samples.tolist(), strict=True):
            longest[model] = max(longest.get(model, 0), n)
        for model, n in longest.items():
            if n < k:
                whose = f"model {shown(model)}, whose cases have no more attempts"
                refuse("ks", f"at most {n} for {whose}", k)


def _case_estimates(
    n_samples: Counts,
    n_correct: Counts,
    ks: tuple[int, ...],
    insufficient: Insufficient,
    confidence_level: float,
) -> Iterator[tuple[PassAtK, ...]]:
    """Yield pass@k of each case, made once for each distinct (n, c): there are few."""
    made = {
        (n, c): tuple(
            PassAtK(k=k, **estimate_task(n, c, k, confidence_level, insufficient))
            for k in ks
            if k <= n or insufficient == "nan"
        )
        for n, c in set(zip(n_samples.tolist(), n_correct.tolist(), strict=True))
    }
    return map(made.__getitem__, zip(n_samples.tolist(), n_correct.tolist(), strict=True))


def code_report(
    samples: Iterable[CodeSample],
    *,
    ks: Sequence[int] = (1,),
    insufficient: Insufficient = "raise",
    weights: CodeWeights = DEFAULT_WEIGHTS,
    confidence_level: float = 0.95,
    quantiles: Iterable[float] = QUANTILES,
) -> CodeReport:
    """
    Report on samples of generated code, per model and per case.

    Scores are those of `code_score`; success is estimated by `pass_at_k` from the correct
    attempts at each case.

    Args:
        samples: The outcomes; those with the same case and model are attempts at one task.
        ks: Attempts allowed, each ``>= 1``, for pass@k.
        insufficient: What a case with fewer than *k* attempts does, as in `pass_at_k`.
        weights: Proportions of the code score's components.
        confidence_level: Level of the intervals, in ``(0, 1)``.
        quantiles: Shares in ``[0, 1]`` at which cost, latency and tokens are described.

    Returns:
        A frozen `CodeReport`.

    Raises:
        InputError: If there are no samples, no *ks*, or a case has too few attempts; if a number
            is out of range, or the costs of a model sum to more than a float holds.
        TypeError: If an item is not a `CodeSample`, or another argument has the wrong type.

    Examples:
        >>> report = code_report(
        ...     CodeSample(case_id=case, model="a", compiled=True, passed=n, failed=2 - n)
        ...     for case, n in [("sort", 2), ("sort", 1), ("parse", 2), ("parse", 2)]
        ... )
        >>> report.models[0].pass_at_k[0].score, report.models[0].mean_score
        (0.75, 0.9375)
        >>> [(case.case_id, case.scores) for case in report.cases]
        [('sort', (1.0, 0.75)), ('parse', (1.0, 1.0))]
        >>> code_report([], ks=(1, 3))
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: samples must be a non-empty sequence of CodeSample, got ()
    """
    return report_on(
        from_records(samples), ks, insufficient, weights, confidence_level, quantiles=quantiles
    )


def code_report_from_columns(
    *,
    case_id: Iterable[str],
    model: str | Iterable[str],
    compiled: Iterable[bool],
    passed: Iterable[int] | None = None,
    failed: Iterable[int] | None = None,
    warnings: Iterable[int] | None = None,
    cost_usd: Iterable[float | None] | None = None,
    latency_seconds: Iterable[float | None] | None = None,
    input_tokens: Iterable[int | None] | None = None,
    output_tokens: Iterable[int | None] | None = None,
    ks: Sequence[int] = (1,),
    insufficient: Insufficient = "raise",
    weights: CodeWeights = DEFAULT_WEIGHTS,
    confidence_level: float = 0.95,
    quantiles: Iterable[float] = QUANTILES,
) -> CodeReport:
    """
    Report on a table of samples, row for row what `code_report` does with `CodeSample` items.

    Each column is a list, or a NumPy, pandas, polars or Arrow column, of shape ``(N,)``.

    Args:
        case_id: The task of each sample.
        model: Who made each sample, or one name for all.
        compiled: Whether each compiled.
        passed: Tests passed (counts, at most 2**53); None is 0 throughout.
        failed: Tests failed (counts); None is 0 throughout.
        warnings: Lint warnings (counts); None is 0 throughout.
        cost_usd: Cost of each, ``>= 0``; None and NaN are not measured, here and below.
        latency_seconds: Time each took, ``>= 0``.
        input_tokens: Tokens read (counts).
        output_tokens: Tokens written (counts).
        ks: As for `code_report`.
        insufficient: As for `code_report`.
        weights: As for `code_report`.
        confidence_level: As for `code_report`.
        quantiles: As for `code_report`.

    Returns:
        A frozen `CodeReport`.

    Raises:
        InputError: As `code_report`, and if the columns differ in length.
        TypeError: If an entry or another argument has the wrong type.

    Examples:
        >>> report = code_report_from_columns(
        ...     case_id=["sort", "sort", "parse"],
        ...     model="a",
        ...     compiled=[True, True, False],
        ...     passed=[2, 1, 0],
        ...     failed=[0, 1, 0],
        ... )
        >>> [(case.case_id, case.scores) for case in report.cases]
        [('sort', (1.0, 0.75)), ('parse', (0.0,))]
        >>> code_report_from_columns(case_id=["sort"], model="a", compiled=[True, True])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: compiled and case_id must be equally long, got 2 and 1
    """
    samples = from_columns(
        {
            "case_id": case_id,
            "model": model,
            "compiled": compiled,
            "passed": passed,
            "failed": failed,
            "warnings": warnings,
            "cost_usd": cost_usd,
            "latency_seconds": latency_seconds,
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
        }
    )
    return report_on(samples, ks, insufficient, weights, confidence_level, quantiles=quantiles)


class CodeTally(PartTally[Samples]):
    """
    Collect samples in pieces, to report on them as if they had come at once.

    A tally keeps the outcomes as columns, some 70 bytes a sample.  Workers can fill one each and
    send it back: a tally pickles.  Merged in the order of the pieces it gives the very report that
    `code_report` gives on all samples, also where the attempts at a case are in several pieces; in
    another order cases, models and scores come in that order, and a suite's pass@k and intervals
    may differ in the last digit.

    Examples:
        >>> first, second = CodeTally(), CodeTally()
        >>> first.add([CodeSample(case_id="sort", model="a", compiled=True, passed=2)])
        >>> second.add([CodeSample(case_id="sort", model="a", compiled=False)])
        >>> first.merge(second).result().cases[0].scores
        (1.0, 0.0)
        >>> CodeTally().result()
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: samples must be a non-empty sequence of CodeSample, got ()
    """

    __slots__ = ()

    def add(self, samples: Iterable[CodeSample]) -> None:
        """
        Add a piece, which may be empty; a piece with a stranger in it changes nothing.

        Args:
            samples: As for `code_report`.

        Raises:
            TypeError: If an item is not a `CodeSample`.
        """
        self._add(from_records(samples, empty=True))

    def result(
        self,
        *,
        ks: Sequence[int] = (1,),
        insufficient: Insufficient = "raise",
        weights: CodeWeights = DEFAULT_WEIGHTS,
        confidence_level: float = 0.95,
        quantiles: Iterable[float] = QUANTILES,
    ) -> CodeReport:
        """
        Report on everything added so far.

        Args:
            ks: As for `code_report`.
            insufficient: As for `code_report`.
            weights: As for `code_report`.
            confidence_level: As for `code_report`.
            quantiles: As for `code_report`.

        Raises:
            InputError: If nothing was added, and as `code_report`.
        """
        samples = self._joined()
        if samples is None:
            refuse("samples", "a non-empty sequence of CodeSample", ())
        return report_on(samples, ks, insufficient, weights, confidence_level, quantiles=quantiles)
