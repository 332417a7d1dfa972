"""Reports on generated code, from samples or columns (`code_report`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Counts, Floats
from scorekit._core.attempts import Attempts, CaseScores
from scorekit._core.checks import (
    check_choice,
    check_count,
    check_instance,
    check_items,
    check_number,
    check_records,
)
from scorekit._core.columns import as_builtins
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._core.sums import distinct, exact_mean, exact_means, exact_sum, mean_rounded_once
from scorekit._core.targets import Target, read_target, targets_by_case
from scorekit._reports.samples import Samples, from_columns, from_records
from scorekit._reports.table import CaseColumns
from scorekit._sheet.model import (
    ROWS_AT_MOST,
    Estimate,
    Fields,
    Scale,
    Sheet,
    Table,
    by_fields,
    row_of,
    sheet_of,
)
from scorekit._sheet.values import between, brief, counted, level_of
from scorekit._stats.passes import estimate_suite, estimate_task, refuse_stopped, score_each
from scorekit._stats.suites import Insufficient, Suite, nothing_of_others
from scorekit._stats.suites import unknown as unseen
from scorekit.coding import (
    DEFAULT_WEIGHTS,
    NOT_MEASURED,
    CodeSample,
    CodeWeights,
    score_columns,
)
from scorekit.errors import InputError, one_line, refuse, shortened, shown
from scorekit.intervals import (
    CaseWeights,
    Interval,
    Strata,
    interval_of_mean,
    interval_of_target,
)
from scorekit.records import (
    BUILDER,
    UNKNOWN,
    Cases,
    Ends,
    Listing,
    Record,
    Report,
    ReportScores,
    SuiteKey,
    listing,
)
from scorekit.rulers import VERSIONS, Ruler
from scorekit.sampling import PassAtK, check_k, or_unknown
from scorekit.summary import check_quantiles, describe

TOKENS = "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"
"""The counts of tokens of a sample."""

UNIT = 0.0, 1.0

QUANTILES = (0.5, 0.95)
"""Shares that cost and latency are commonly described by."""

K = TypeVar("K")
T = TypeVar("T", bound=np.generic)

OneOrMany: TypeAlias = K | Iterable[K | Iterable[K]]
"""A column, of which an entry may be a list of several attempts', or one value for all of it."""


@attrs.frozen(kw_only=True, repr=False)
class CaseStatistics(Record):
    """The attempts of one model at one case."""

    case_id: str
    model: str
    pass_at_k: tuple[PassAtK, ...] = attrs.field(converter=listing)
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

    def _sheet(self) -> Sheet:
        line = ", ".join(f"{name} {cell}" for name, cell in self._row().items() if cell)
        return Sheet("CaseStatistics", line, by_fields(self).parts)

    def _row(self) -> dict[str, object]:
        best, worst = max(self.scores), min(self.scores)
        return {
            "case": one_line(self.case_id),
            "model": one_line(self.model),
            "correct": f"{self.n_correct} of {self.n_samples}",
            "mean code score": f"{self.mean_score:.4g}",
            "scores": "" if best == worst else f"{worst:.4g} to {best:.4g}",
        }


class _Flags(Listing[CaseStatistics]):
    """Cases of which only right and wrong is known, shown without their code scores."""

    __slots__ = ()

    def _sheet(self) -> Sheet:
        return Sheet("", "", (Table(rows=_shown(self, UNMEASURED)),))

    def to_text(self, *, all: bool = False) -> str:  # noqa: A002 - as elsewhere
        del all  # it shows all cases anyway
        rows = _shown(self, UNMEASURED)
        lines = (", ".join(f"{name} {cell}" for name, cell in row.items()) for row in rows)
        return "\n".join(lines) or "none"


@attrs.frozen(eq=False, repr=False)
class CaseTable(CaseColumns[CaseStatistics]):
    """The cases of a report."""

    record: ClassVar[Callable[..., CaseStatistics]] = CaseStatistics

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle columns and this class, of which a later version can make the same."""
        first = (self.case_ids, self.models, self.model_of, self.estimates, self.estimates_of)
        scores = (self.attempts.scores, self.attempts.sizes)
        return _restored, (*first, self.mean_scores, *scores, self.n_correct)


def _restored(*columns: Any) -> CaseTable:
    a, b, c, d, e, means, scores, sizes, n_correct = columns
    return CaseTable(a, b, c, d, e, means, Attempts(scores, sizes), n_correct)


@attrs.frozen(kw_only=True, repr=False)
class ModelStatistics(Record):
    """
    One model over all its cases.

    Each case weighs the same however many attempts it had, or as *target* says.
    """

    model: str
    pass_at_k: tuple[PassAtK, ...] = attrs.field(converter=listing)
    """One for each *k* of the report, over the cases."""
    compilation_rate: float = attrs.field(eq=or_unknown)
    """Mean over cases of the share of attempts that compiled, in ``[0, 1]``; NaN, as the next two
    and each pass@k, where no outcome is known."""
    test_pass_rate: float = attrs.field(eq=or_unknown)
    """Mean over cases of the mean share of tests passed; an attempt without tests counts 0."""
    mean_score: float = attrs.field(eq=or_unknown)
    """Mean over cases of the mean code score, in ``[0, 1]``."""
    total_cost_usd: float | None
    """Sum over the attempts whose cost was measured."""
    mean_cost_usd: float | None
    """Mean over the attempts whose cost was measured, for models with unequal numbers of them."""
    mean_latency_seconds: float | None
    """Mean over the attempts whose latency was measured."""
    total_input_tokens: int | None
    total_output_tokens: int | None
    total_cache_read_tokens: int | None = None
    total_cache_write_tokens: int | None = None
    n_samples: int
    n_cases: int
    intervals: FrozenMapping[str, Interval]
    """Intervals of the means ``"code_score"``, ``"compilation_rate"``, ``"test_pass_rate"``,
    and of ``"cost_usd"`` and ``"latency_seconds"`` where they were measured.  A case counts as one
    observation."""
    quantiles: FrozenMapping[str, FrozenMapping[float, float]] = attrs.field(
        factory=FrozenMapping[str, FrozenMapping[float, float]]
    )
    """Quantiles over the attempts, by share, of ``"cost_usd"``, ``"latency_seconds"`` and each
    kind of tokens, such as ``"input_tokens"``, where they were measured."""
    target: str | None = None
    """What the rates and pass@k are of where cases do not all weigh the same: ``"weighted mean"``
    or, for instance, ``"mean of 5 strata"``. Costs, seconds and tokens are of all attempts."""
    only_flags: bool = False
    """As in `CodeReport`: the scores beside pass@k say nothing else then, and are not shown."""
    n_unknown: int = 0
    """Attempts with a missing outcome, beside the *n_samples*."""
    unknown_bounds: FrozenMapping[str, tuple[float, float]] = attrs.field(
        factory=FrozenMapping[str, tuple[float, float]]
    )
    """The least and the highest value of ``"pass@1"`` and the like, ``"code_score"`` and
    ``"test_pass_rate"``, with all unknown outcomes failed and passed, and the pass@k of a case
    with fewer than *k* attempts 0 and 1; empty where all is known. Cases of which nothing is known
    count here, and as tasks given."""
    n_measured: FrozenMapping[str, int] = attrs.field(factory=FrozenMapping[str, int])
    """Attempts of which ``"cost_usd"`` and ``"latency_seconds"`` were measured."""

    def _sheet(self) -> Sheet:
        fields = by_fields(self._measured, self._unsaid).parts
        return Sheet("ModelStatistics", self._in_words(), fields)

    def _in_words(self) -> str:
        """Return the model on one line, which is too long for a cell."""
        scores = [f"{name} = {brief(cell)}" for name, cell in self._estimates()]
        if not self.only_flags:
            bounds = self._bounds("code_score")
            scores.append(f"mean code score {self.mean_score:.4g}" + (bounds and f" ({bounds})"))
        each = [
            f"{mean:.4g} {unit}" + (note and f" ({note})") for unit, mean, note in self._means()
        ]
        scores += [f"{' and '.join(each)} an attempt"] if each else []
        counts = f"{counted(self.n_samples, 'attempt')} at {counted(self.n_cases, 'case')}"
        counts += ", for this case only" if self.n_cases == 1 else ""
        counts += f", {self.target}" if self.target else ""
        counts += f"; {self.n_unknown} more of unknown outcome" if self.n_unknown else ""
        level = level_of(self.pass_at_k[0].interval)
        return f"{one_line(self.model)}: {', '.join(scores)} ({level}, {counts})"

    def _row(self) -> dict[str, object]:
        row: dict[str, object] = {"model": one_line(self.model, MAX_NAME)}
        (name, first), *others = self._estimates()
        row |= {name: first, " ": Scale.of(self.pass_at_k[0].score, self.pass_at_k[0].interval)}
        row |= dict(others)
        if not self.only_flags:
            interval = self.intervals.get("code_score")
            bounds = self._bounds("code_score", interval)
            row["code score"] = Estimate(self.mean_score, interval, note=bounds)
            row |= {"compiled": self.compilation_rate, "tests passed": self.test_pass_rate}
            if bounds:
                rate, bounds = self.test_pass_rate, self._bounds("test_pass_rate")
                row["tests passed"] = Estimate(rate, note=bounds)
        for unit, mean, note in self._means():
            name = {"USD": "USD an attempt"}.get(unit, unit)
            row[name] = Estimate(mean, note=note) if note else mean
        return row | {
            "cases": self.n_cases,
            "attempts": self.n_samples,
            **({"unknown": self.n_unknown} if self.n_unknown else {}),
        }

    def _estimates(self) -> Iterator[tuple[str, Estimate]]:
        """Yield each pass@k by name, with the tasks that it stands on and its bounds."""
        for one in self.pass_at_k:
            name = one.notation.format(k=one.k)
            note = ", ".join(filter(None, (one.left_out, self._bounds(name, one.interval))))
            yield name, Estimate(one.score, one.interval, note=note)

    def _bounds(self, name: str, beside: Interval | None = None) -> str:
        low, high = self.unknown_bounds.get(name, (0.0, 0.0))
        if beside is not None and beside.high - beside.low == 1.0:  # which supports no digits
            beside = None
        return "" if low == high else between(low, high, beside=beside)

    def _means(self) -> list[tuple[str, float, str]]:
        """Return the unit of each mean of amounts, the mean, and of how many if not of all."""
        means = {"cost_usd": self.mean_cost_usd, "latency_seconds": self.mean_latency_seconds}
        n_all = self.n_samples + self.n_unknown
        left_out = {
            name: f"{n} of {n_all} measured" * (n < n_all) for name, n in self.n_measured.items()
        }
        units = zip(("USD", "seconds"), means.items(), strict=True)
        return [(u, mean, left_out.get(name, "")) for u, (name, mean) in units if mean is not None]

    @property
    def _measured(self) -> ModelStatistics:
        """The same, of flags without the intervals of their scores."""
        if not self.only_flags:
            return self
        known = self.intervals.items()
        kept = {name: one for name, one in known if name in ("cost_usd", "latency_seconds")}
        return attrs.evolve(self, intervals=FrozenMapping(kept))

    @property
    def _unsaid(self) -> tuple[str, ...]:
        unsaid = ("only_flags",) if self.quantiles else ("only_flags", "quantiles")
        scores = ("mean_score", "compilation_rate", "test_pass_rate")
        return (*unsaid, *scores) if self.only_flags else unsaid


def _as_table(cases: Iterable[CaseStatistics]) -> Sequence[CaseStatistics]:
    return CaseTable.of(cases)


@attrs.frozen(kw_only=True, repr=False)
class CodeReport(Report):
    """Result of `code_report`: statistics per model and per case, in order of appearance."""

    version: ClassVar[int] = 2

    models: tuple[ModelStatistics, ...] = attrs.field(converter=listing)
    cases: Sequence[CaseStatistics] = attrs.field(
        converter=_as_table, metadata={BUILDER: CaseTable.from_dict}
    )
    """Behaves like a tuple. It is stored as columns, so that a million cases need little
    memory."""
    only_flags: bool = False
    """Whether each attempt is just right or wrong, so that the code score says nothing else."""
    unknown: FrozenMapping[str, FrozenMapping[str, tuple[tuple[float, float], ...]]] = attrs.field(
        factory=FrozenMapping[str, FrozenMapping[str, tuple[tuple[float, float], ...]]]
    )
    """Attempts with a missing outcome, by model and case, with the code score that each has if
    it failed and if it passed."""
    ruler: Ruler | None = None
    """What all this was measured with; None in a report that was made before there were rulers."""

    def _sheet(self) -> Sheet:
        lines = [sheet_of(one).headline for one in self.models]
        n_wrong = int((self._table.n_correct < self._table.attempts.sizes).sum())
        cases = self.cases[:ROWS_AT_MOST]
        flags = UNMEASURED if self.only_flags else ()
        return Sheet(
            f"CodeReport of {len(self.models)} model{'s' * (len(self.models) > 1)}",
            lines[0] if len(lines) == 1 else self._best(),
            (
                Table(
                    rows=[row_of(one) for one in self.models],
                    lines=lines if len(lines) > 1 else (),
                ),
                *self._notes(),
                Table(
                    rows=_shown(self._failures(SHOWN), flags),
                    title=f"Worst of {n_wrong} cases with a wrong attempt",
                    n_rows=min(n_wrong, SHOWN),
                    place="page",
                ),
                *(
                    attrs.evolve(part, title=f"All numbers of {one_line(one.model)}", folded=True)
                    for one in self.models[:MAX_MODELS]
                    for part in sheet_of(one).parts
                    if isinstance(part, Fields)
                ),
                Table(
                    rows=_shown(cases, flags),
                    title="All cases",
                    n_rows=len(self.cases),
                    place="folded",
                ),
            ),
        )

    def _notes(self) -> Iterator[str]:
        """Say what bounds are, and which pass@k models have at different tasks."""
        table, n_models = self._table, len(self.models)
        if any(one.unknown_bounds for one in self.models):
            ks = {own.k for one in self.models for own in one.pass_at_k if own.left_out}
            yield BOUNDS + SHORT * (max(ks, default=1) > 1)
        if n_models > 1 and (target := self.models[0].target):
            yield f"rates and pass@k: {target}; comparisons weigh all cases the same"
        for own in zip(*(one.pass_at_k for one in self.models), strict=True):
            if n_models > 1 and any(one.left_out and one.score == one.score for one in own):
                k = own[0].k
                rows: list[int] = np.flatnonzero(table.attempts.sizes >= k).tolist()
                n_models_of = Counter(table.case_ids[row] for row in rows)
                n_common = list(n_models_of.values()).count(n_models)
                if n_common < len(n_models_of):
                    yield DIFFERENT_TASKS.format(k=k, common=counted(n_common, "task"))

    def _best(self) -> str:
        """Say of several models what `compare_models` does."""
        from scorekit.ranking import compare_models

        head = f"{len(self.models)} models"
        if self.models[0].target:
            return f"{head}, {self.models[0].target}"
        if len(self.cases) > COMPARED:
            return f"{head}; compare_models() says which may be the best"
        level = self.models[0].pass_at_k[0].interval.confidence_level
        try:
            return sheet_of(compare_models(self, confidence_level=level)).headline
        except InputError:  # no task that all of them have
            return f"{head} without a task in common"

    def failures(self) -> tuple[CaseStatistics, ...]:
        """
        Return the cases with a wrong attempt, the smallest share of correct ones first.

        Of equal shares the lower mean code score comes first.  ``print`` shows a line for each,
        a notebook a table.

        Examples:
            >>> report = code_report(
            ...     CodeSample(case_id=case, model="a", compiled=True, passed=n, failed=2 - n)
            ...     for case, n in [("sort", 1), ("parse", 2), ("walk", 0), ("walk", 2)]
            ... )
            >>> [case.case_id for case in report.failures()]
            ['sort', 'walk']
            >>> print(report.failures()[0])
            case sort, model a, correct 0 of 1, mean code score 0.75
        """
        return self._failures()

    def _failures(self, most: int | None = None) -> Listing[CaseStatistics]:
        table = self._table
        n, right = table.attempts.sizes, table.n_correct
        wrong = np.flatnonzero(right < n)
        order: list[int] = np.lexsort((table.mean_scores[wrong], right[wrong] / n[wrong])).tolist()
        kind = _Flags if self.only_flags else Listing[CaseStatistics]
        return kind(table[int(wrong[i])] for i in order[:most])

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
        return CodeReport(
            models=models,
            cases=self._table.of_model(name),
            only_flags=self.only_flags,
            unknown=FrozenMapping({m: cases for m, cases in self.unknown.items() if m == name}),
            ruler=self.ruler,
        )

    @property
    def _table(self) -> CaseTable:
        return cast("CaseTable", self.cases)

    def scores_by_case(self) -> ReportScores:
        """Return each attempt as right or wrong under ``"pass@1"``, and its ``"code_score"``."""
        table = self._table
        tables = [table] if len(table.models) == 1 <= len(table) else table.by_model()
        right: dict[SuiteKey, Cases] = {
            ("pass@1", one.models[0]): CaseScores(
                one.case_ids, Attempts.of_counts(one.attempts.sizes, one.n_correct)
            )
            for one in tables
        }
        graded: dict[SuiteKey, Cases] = {
            ("code_score", one.models[0]): CaseScores(one.case_ids, one.attempts) for one in tables
        }
        suites = {**right, **graded}
        ends: dict[SuiteKey, dict[str, Ends]] = {}
        failing: dict[tuple[SuiteKey, str], str] = {}
        attempts = (
            (model, case_id, scores)
            for model, cases in self.unknown.items()
            for case_id, scores in cases.items()
        )
        for model, case_id, scores in attempts:
            flags = ((0.0, 1.0),) * len(scores)
            for metric, own in (("pass@1", flags), ("code_score", scores)):
                low, high = zip(*own, strict=True)
                suite = metric, model
                known = suites.get(suite, {}).get(case_id, ())
                ends.setdefault(suite, {})[case_id] = (*known, *low), (*known, *high)
                if not known:
                    failing[suite, case_id] = UNKNOWN
        ruler = Ruler(unknown=("weights", "versions")) if self.ruler is None else self.ruler
        return ReportScores(suites, failing, only_flags=self.only_flags, ends=ends, ruler=ruler)

    def to_rows(self) -> list[dict[str, Any]]:
        """
        Return one flat dict per case and model, ready for a data frame.

        Without *mean_score* where attempts are just right or wrong.
        """
        return [
            {
                "case_id": case_id,
                "model": model,
                "n_samples": n_samples,
                "n_correct": n_correct,
                **({} if self.only_flags else {"mean_score": mean_score}),
                **{f"pass_at_{result.k}": result.score for result in estimates},
            }
            for case_id, model, estimates, mean_score, n_samples, n_correct in self._table.rows()
        ]


BOUNDS = "between: all missing outcomes failed, and all passed"
SHORT = ", with pass@k 0 and 1 at tasks with fewer than k attempts"
"""What the bounds of a rate are, and what those of pass@k are besides."""

DIFFERENT_TASKS = (
    "pass@{k} stands on different tasks for each model, {common} with {k} attempts of all; "
    "compare it in a report of such tasks"
)

SHOWN = 5
"""Cases that the page of a report shows before it folds the rest."""

MAX_MODELS = 20
"""Models of which a page has all numbers."""

COMPARED = 100_000
"""Cases of several models up to which printing a report compares them."""

UNMEASURED = ("mean code score", "scores")
"""Fields that mean nothing for cases whose attempts are just right or wrong."""

MAX_NAME = 60
"""Characters of a model's name in a table."""


def _shown(cases: Iterable[CaseStatistics], hidden: Collection[str]) -> list[dict[str, object]]:
    return [
        {name: cell for name, cell in row_of(case).items() if name not in hidden} for case in cases
    ]


def _are_flags(samples: Samples) -> bool:
    """Say whether attempts are just right or wrong: compiled, one test at most, no warnings."""
    n_tests = samples.passed + samples.failed
    return bool((samples.compiled & (n_tests <= 1) & (samples.warnings == 0)).all())


def report_on(
    samples: Samples,
    k: object,
    insufficient: Insufficient,
    weights: CodeWeights,
    confidence_level: float,
    *,
    quantiles: Iterable[float],
    case_weights: CaseWeights | None = None,
    strata: Strata | None = None,
) -> CodeReport:
    """Return the report on samples that are checked already; check the other arguments."""
    ks = tuple(check_k(k))
    check_choice("insufficient", insufficient, ("raise", "nan", "drop"))
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    check_instance("weights", weights, CodeWeights)
    asked = check_quantiles(quantiles)
    every, unknown = samples, samples.unknown
    weighings = _weighings(every, unknown, case_weights, strata)
    if unknown.any():
        samples = samples.take(~unknown)
    outcomes = samples.compiled, samples.passed, samples.failed, samples.warnings
    scores = score_columns(*outcomes, weights=weights)
    attempts = _GroupedRows(samples.task, len(samples.case_ids))
    n_samples = attempts.sizes
    _check_attempts(samples, every, n_samples, ks, insufficient)
    n_correct = attempts.counts(samples.correct)
    for model in range(len(samples.models)) if (n_samples > 1).any() else ():
        own = samples.model_of == model
        refuse_stopped(n_samples[own], n_correct[own], "samples")
    mean_scores = attempts.means(scores)
    cases = CaseTable(
        samples.case_ids,
        samples.models,
        samples.model_of,
        *_case_estimates(n_samples, n_correct, ks, insufficient, confidence_level),
        mean_scores,
        Attempts(attempts.ordered(scores), n_samples),
        n_correct,
    )
    tasks = _GroupedRows(samples.model_of, len(samples.models))
    runs = _GroupedRows(every.model_of[every.task], len(every.models))
    shares = samples.passed / np.maximum(samples.passed + samples.failed, 1)
    by_case = {
        "code_score": tasks.parts(mean_scores),
        "compilation_rate": tasks.parts(attempts.counts(samples.compiled) / n_samples),
        "test_pass_rate": tasks.parts(attempts.means(shares)),
    }
    measured = {
        "cost_usd": runs.parts(every.cost_usd),
        "latency_seconds": runs.parts(every.latency_seconds),
    }
    tokens = {name: runs.parts(getattr(every, name)) for name in TOKENS}
    task_of = runs.parts(every.task)
    n_unknown = runs.counts(unknown)
    n_given: list[int] = np.bincount(every.model_of, minlength=len(every.models)).tolist()
    alone: dict[tuple[int, int], tuple[PassAtK, ...]] = {}

    def suite(n: Counts, c: Counts, n_given: int, own: _Weighing) -> tuple[PassAtK, ...]:
        """Return pass@k of a model; where models are many, most have one case each."""
        key = (int(n[0]), int(c[0])) if n.size else (0, 0)
        if n_given == 1 and key in alone:
            return alone[key]
        enough = [k for k in ks if (n >= k).any() or (n.size and insufficient != "drop")]
        enough = [] if own.is_lost else enough
        tried = Suite(n, confidence_level, insufficient, target=own.known)
        seen = iter(estimate_suite(tried, c, enough))
        found = [next(seen) if k in enough else unseen(n_given, 0, confidence_level) for k in ks]
        for estimate in found:
            estimate["n_tasks"] = n_given  # with those of which nothing is known
            if estimate["n_tasks_used"] == 1 < n_given:
                estimate["interval"] = nothing_of_others(confidence_level)
        made = tuple(PassAtK(k=k, **estimate) for k, estimate in zip(ks, found, strict=True))
        return alone.setdefault(key, made) if n_given == 1 else made

    columns = {
        "compilation_rate": map(_Weighing.mean, weighings, by_case["compilation_rate"]),
        "test_pass_rate": map(_Weighing.mean, weighings, by_case["test_pass_rate"]),
        "mean_score": map(_Weighing.mean, weighings, by_case["code_score"]),
        "intervals": (
            _intervals(
                {name: parts[i] for name, parts in by_case.items()},
                {name: parts[i] for name, parts in measured.items()},
                task_of[i],
                confidence_level,
                own,
            )
            for i, own in enumerate(weighings)
        ),
        "quantiles": (
            _quantiles({name: parts[i] for name, parts in (measured | tokens).items()}, asked)
            for i in range(len(samples.models))
        ),
        "total_cost_usd": map(_total_cost, measured["cost_usd"]),
        "mean_cost_usd": map(_mean_measured, measured["cost_usd"]),
        "mean_latency_seconds": map(_mean_measured, measured["latency_seconds"]),
        **{f"total_{name}": map(_total, parts) for name, parts in tokens.items()},
        "n_samples": (runs.sizes - n_unknown).tolist(),
        "n_unknown": n_unknown.tolist(),
        "n_cases": tasks.sizes.tolist(),
        "pass_at_k": map(
            suite, tasks.parts(n_samples), tasks.parts(n_correct), n_given, weighings
        ),
        "target": [one.given and one.given.words for one in weighings],
        "n_measured": (_n_measured(measured, i) for i in range(len(samples.models))),
    }
    only_flags = _are_flags(samples)
    if unknown.any() or int(n_samples.min()) < max(ks):
        columns["unknown_bounds"] = _unknown_bounds(
            every, ks, weights, weighings, only_flags=only_flags
        )
    rows = zip(samples.models, *columns.values(), strict=True)
    models = tuple(
        ModelStatistics(
            model=model, **dict(zip(columns, values, strict=True)), only_flags=only_flags
        )
        for model, *values in rows
    )
    return CodeReport(
        models=models,
        cases=cases,
        only_flags=only_flags,
        unknown=_unknown(every.take(unknown), weights),
        ruler=Ruler(
            settings=FrozenMapping({"code_score": FrozenMapping({"weights": weights.shares})}),
            versions=VERSIONS,
        ),
    )


class _Weighing(NamedTuple):
    """How the cases of a model weigh in its means."""

    given: Target | None
    """Of all its cases; None where they weigh the same."""
    known: Target | None
    """Of those with a known outcome."""

    @property
    def is_lost(self) -> bool:
        """Whether a stratum has no known outcome, so that the mean is unknown."""
        return self.given is not None and self.known is None

    def mean(self, values: Floats) -> float:
        """Return the mean over the cases with a known outcome; NaN where it is unknown."""
        if not values.size or self.is_lost:
            return math.nan
        return exact_mean(values) if self.known is None else self.known.mean(values)

    def bound(self, values: Floats, confidence_level: float) -> Interval:
        """Bound the mean of cases like those with a known outcome."""
        if not values.size or self.is_lost:
            return unseen(0, 0, confidence_level)["interval"]
        if self.known is None:
            return interval_of_mean(values, None, UNIT, confidence_level=confidence_level)
        return interval_of_target(values, self.known, UNIT, confidence_level=confidence_level)


def _weighings(
    samples: Samples,
    unknown: NDArray[np.bool_],
    case_weights: CaseWeights | None,
    strata: Strata | None,
) -> list[_Weighing]:
    """Return how the cases of each model weigh."""
    if case_weights is None and strata is None:
        return [_Weighing(None, None)] * len(samples.models)
    rows = _GroupedRows(samples.model_of, len(samples.models))
    ids = rows.parts(np.array(samples.case_ids, dtype=object))
    targets = [read_target(case_weights, strata, own.tolist(), own.size) for own in ids]
    if len({one and one.words for one in targets}) > 1:
        refuse("strata", "labels that cases of every model have", strata)
    kept = rows.parts(np.isin(np.arange(len(samples.case_ids)), samples.task[~unknown]))
    return [_Weighing(one, one and one.of(own)) for one, own in zip(targets, kept, strict=True)]


def _at_end(samples: Samples, weights: CodeWeights, *, end: bool) -> tuple[Samples, Floats]:
    """Return samples whose unknown outcomes all failed, or all passed, and their code scores."""
    passed = np.where(samples.unknown, int(end), samples.passed)
    failed = np.where(samples.unknown, int(not end), samples.failed)
    compiled = samples.compiled | (samples.unknown & end)
    scores = score_columns(compiled, passed, failed, samples.warnings, weights=weights)
    return samples._replace(compiled=compiled, passed=passed, failed=failed), scores


def _unknown(
    samples: Samples, weights: CodeWeights
) -> FrozenMapping[str, FrozenMapping[str, tuple[tuple[float, float], ...]]]:
    """Return the ends of the scores of samples that are all unknown."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    tasks: list[int] = samples.task.tolist()
    lows: list[float] = _at_end(samples, weights, end=False)[1].tolist()
    highs: list[float] = _at_end(samples, weights, end=True)[1].tolist()
    for place, low, high in zip(tasks, lows, highs, strict=True):
        own = found.setdefault(samples.models[int(samples.model_of[place])], {})
        own.setdefault(samples.case_ids[place], []).append((low, high))
    return FrozenMapping(
        {
            model: FrozenMapping({case_id: tuple(pairs) for case_id, pairs in cases.items()})
            for model, cases in found.items()
        }
    )


def _unknown_bounds(
    samples: Samples,
    ks: Sequence[int],
    weights: CodeWeights,
    weighings: Sequence[_Weighing],
    *,
    only_flags: bool,
) -> list[FrozenMapping[str, tuple[float, float]]]:
    """Return the bounds of each rate of each model."""
    attempts = _GroupedRows(samples.task, len(samples.case_ids))
    tasks = _GroupedRows(samples.model_of, len(samples.models))
    n = attempts.sizes
    ends: list[dict[str, list[float]]] = []
    for end in (False, True):
        filled, scores = _at_end(samples, weights, end=end)
        shares = filled.passed / np.maximum(filled.passed + filled.failed, 1)
        right = attempts.counts(filled.correct)
        by_case = {
            f"pass@{k}": np.where(n < k, float(end), score_each(np.maximum(n, k), right, k))
            for k in ks
        }
        if not only_flags:
            by_case["code_score"] = attempts.means(scores)
            by_case["test_pass_rate"] = attempts.means(shares)
        ends.append(
            {
                name: [
                    exact_mean(own) if one.given is None else one.given.mean(own)
                    for one, own in zip(weighings, tasks.parts(values), strict=True)
                ]
                for name, values in by_case.items()
            }
        )
    lacks = (attempts.counts(samples.unknown) > 0) | (n < max(ks))
    known = tasks.counts(lacks) == 0
    return [
        FrozenMapping(
            {} if known[i] else {m: (low[i], ends[1][m][i]) for m, low in ends[0].items()}
        )
        for i in range(len(samples.models))
    ]


class _GroupedRows:
    """Rows put together by the number of their group, in their order."""

    def __init__(self, group_of: Counts, n_groups: int) -> None:
        self.sizes: Counts = np.bincount(group_of, minlength=n_groups)
        self._group_of = group_of
        in_order = bool((group_of[1:] >= group_of[:-1]).all())
        self._order = None if in_order else np.argsort(group_of, kind="stable")

    def ordered(self, values: NDArray[T]) -> NDArray[T]:
        """Return the values, those of each group together."""
        return values if self._order is None else values[self._order]

    def parts(self, values: NDArray[T]) -> list[NDArray[T]]:
        """Return the values of each group as a column."""
        return np.split(self.ordered(values), np.cumsum(self.sizes)[:-1])

    def counts(self, flags: NDArray[np.bool_]) -> Counts:
        """Return how many rows of each group are true."""
        return np.bincount(self._group_of[flags], minlength=self.sizes.size)

    def means(self, values: Floats) -> Floats:
        """Return the mean of each group, its sum rounded once."""
        return exact_means(values, self._group_of, self.sizes)


def _intervals(
    scores: dict[str, Floats],
    measured: dict[str, Floats],
    task: Counts,
    confidence_level: float,
    weighing: _Weighing,
) -> FrozenMapping[str, Interval]:
    """Return an interval for each mean of a model, of what was measured over its cases."""
    measured = {name: values for name, values in measured.items() if not np.isnan(values).all()}
    if not measured and scores["code_score"].size == 1:
        return _of_one_case(tuple(scores), confidence_level)
    intervals = {name: weighing.bound(values, confidence_level) for name, values in scores.items()}
    for name, values in measured.items():
        known = ~np.isnan(values)
        _, groups, _ = distinct(task[known])
        intervals[name] = interval_of_mean(
            values[known], groups, (0.0, math.inf), confidence_level=confidence_level
        )
    return FrozenMapping(intervals)


@lru_cache(maxsize=64)
def _of_one_case(names: tuple[str, ...], confidence_level: float) -> FrozenMapping[str, Interval]:
    """Return intervals that models with one case share: it does not describe others."""
    one = np.zeros(1)
    interval = interval_of_mean(one, None, (0.0, 1.0), confidence_level=confidence_level)
    return FrozenMapping(dict.fromkeys(names, interval))


def _total_cost(costs: Floats) -> float | None:
    measured = costs[~np.isnan(costs)]
    try:
        return exact_sum(measured) if measured.size else None
    except OverflowError:
        refuse("cost_usd of the samples", "numbers with a finite sum", measured.tolist())


def _quantiles(
    columns: dict[str, NDArray[Any]], shares: tuple[float, ...]
) -> FrozenMapping[str, FrozenMapping[float, float]]:
    found: dict[str, FrozenMapping[float, float]] = {}
    for name, values in columns.items():
        known = values[~np.isnan(values) & (values != NOT_MEASURED)]
        if known.size and shares:
            found[name] = describe(known, quantiles=shares).quantiles
    return FrozenMapping(found)


def _n_measured(columns: dict[str, list[Floats]], i: int) -> FrozenMapping[str, int]:
    known = {name: int(np.count_nonzero(~np.isnan(parts[i]))) for name, parts in columns.items()}
    return FrozenMapping({name: n for name, n in known.items() if n})


def _mean_measured(values: Floats) -> float | None:
    measured = values[~np.isnan(values)]
    return mean_rounded_once(measured) if measured.size else None


def _total(counts: Counts) -> int | None:
    measured = counts[counts != NOT_MEASURED]
    return sum(measured.tolist()) if measured.size else None


def _check_attempts(
    samples: Samples,
    every: Samples,
    n_samples: Counts,
    ks: tuple[int, ...],
    insufficient: Insufficient,
) -> None:
    """Refuse too few attempts here, where the case can be named."""
    k = max(ks)
    short = np.flatnonzero(n_samples < k)
    models = samples.models
    if short.size and insufficient == "raise":
        first, n_unknown = int(short[0]), every.task.size - samples.task.size
        counted = f"; {n_unknown} of unknown outcome are not counted" if n_unknown else ""
        raise InputError(
            f"k must be at most the attempts at every case, got {k} with fewer at {short.size} "
            f"of {n_samples.size} cases (first: case {shown(samples.case_ids[first])} of model "
            f"{shown(models[int(samples.model_of[first])])} with {n_samples[first]}{counted}); "
            'lower k or pass insufficient="nan" or "drop"'
        )


def _case_estimates(
    n_samples: Counts,
    n_correct: Counts,
    ks: tuple[int, ...],
    insufficient: Insufficient,
    confidence_level: float,
) -> tuple[tuple[tuple[PassAtK, ...], ...], Counts]:
    """Return pass@k for each distinct (n, c), of which there are few, and which each case has."""
    width = int(n_samples.max(initial=0)) + 1
    kinds, kind_of, _ = distinct(n_samples * width + n_correct)
    estimates = tuple(
        tuple(
            PassAtK(k=k, **estimate_task(n, c, k, confidence_level, insufficient))
            for k in ks
            if k <= n or insufficient == "nan"
        )
        for n, c in (divmod(kind, width) for kind in kinds.tolist())
    )
    return estimates, kind_of


def code_report(
    samples: Iterable[CodeSample],
    *,
    k: int | Iterable[int] = 1,
    insufficient: Insufficient = "raise",
    weights: CodeWeights = DEFAULT_WEIGHTS,
    case_weights: CaseWeights | None = None,
    strata: Strata | None = None,
    confidence_level: float = 0.95,
    quantiles: Iterable[float] = QUANTILES,
) -> CodeReport:
    """
    Report on samples of generated code, per model and per case.

    Scores are those of `code_score`; success is estimated by `pass_at_k` from the correct
    attempts at each case.

    Attempts with a missing outcome (``passed=None``) do not count in rates. *unknown_bounds*
    of a model are the rates with all of them failed, and with all of them passed.

    Args:
        samples: The outcomes; those with the same case and model are attempts at one task.
        k: Attempts allowed for pass@k (count, at least 1), or several such numbers.
        insufficient: What to do about a case with fewer than *k* attempts, as in `pass_at_k`.
        weights: Proportions of the code score's components.
        case_weights: How much each case weighs in rates and pass@k, a number above 0, by case or
            as a column with an entry for each sample; None where all weigh the same. Comparisons
            (`compare_reports`, `compare_models`) do not use it.
        strata: The subtask of each case, in the same form: rates and pass@k are then the means
            over these fixed subtasks, of two cases or more each, with their standard errors.
        confidence_level: Level of the intervals, in ``(0, 1)``.
        quantiles: Shares in ``[0, 1]`` at which cost, latency and tokens are described.

    Returns:
        A frozen `CodeReport`. Read *models*, `CodeReport.failures` and *cases* first.

    Raises:
        InputError: If there are no samples, no *k*, or a case has too few attempts; if a number
            is out of range, the cases were tried until their first pass, or the costs of a model
            sum to more than a float holds; if a case has no weight above 0, or no stratum, or is
            the only one of it, or both *case_weights* and *strata* are given.
        TypeError: If an item is not a `CodeSample`, or another argument has the wrong type.

    Examples:
        >>> report = code_report(
        ...     CodeSample(case_id=case, model="a", compiled=True, passed=n, failed=2 - n)
        ...     for case, n in [("sort", 2), ("sort", 1), ("parse", 2), ("parse", 2)]
        ... )
        >>> print(report)
        a: pass@1 = 0.75 [0.01, 1.00], mean code score 0.9375 (95 %, 4 attempts at 2 cases)
        >>> print(report.failures())
        case sort, model a, correct 1 of 2, mean code score 0.875, scores 0.75 to 1
        >>> code_report([], k=(1, 3))
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: samples must be a non-empty sequence of CodeSample, got ()
    """
    items = check_records("samples", samples, CodeSample)
    given = targets_by_case(
        case_weights, strata, lambda: [item.case_id for item in items], "samples"
    )
    read = from_records(items)
    return report_on(
        read, k, insufficient, weights, confidence_level, quantiles=quantiles, **given
    )


def code_report_from_columns(
    *,
    case_id: Iterable[str | int] | None = None,
    model: str | int | Iterable[str | int],
    compiled: OneOrMany[bool] | None = None,
    passed: OneOrMany[int | None] | Mapping[Any, int | Iterable[int | None] | None] | None = None,
    failed: OneOrMany[int] | None = None,
    warnings: OneOrMany[int] | None = None,
    cost_usd: OneOrMany[float | None] = None,
    latency_seconds: OneOrMany[float | None] = None,
    input_tokens: OneOrMany[int | None] = None,
    output_tokens: OneOrMany[int | None] = None,
    cache_read_tokens: OneOrMany[int | None] = None,
    cache_write_tokens: OneOrMany[int | None] = None,
    attempt: OneOrMany[Hashable] | None = None,
    k: int | Iterable[int] = 1,
    insufficient: Insufficient = "raise",
    weights: CodeWeights = DEFAULT_WEIGHTS,
    case_weights: CaseWeights | None = None,
    strata: Strata | None = None,
    confidence_level: float = 0.95,
    quantiles: Iterable[float] = QUANTILES,
) -> CodeReport:
    """
    Report on a table of samples, as `code_report` does on `CodeSample` items.

    Each column is a list, or a NumPy, pandas, polars or Arrow column, of shape ``(N,)``; for all
    but *case_id* a single value fills a whole column.  Where a row is a case with several
    attempts, its entries are lists of theirs.  Integers that name cases or models become strings.

    Args:
        case_id: The task of each sample; None where *passed* is a mapping.
        model: Who made each sample, or one name for all.
        compiled: Whether each compiled; None where *passed* says all there is to say, and
            everything counts as compiled.
        passed: Whether all tests passed, True or False, 1 or 0; or tests passed, beside *failed*.
            None and NaN where it is missing, whatever the other columns say of that attempt. Or a
            mapping from case to its attempts; None for all of it is 0 throughout.
        failed: Tests failed (counts): a column, or 0 if *passed* counts tests and none failed.
        warnings: Lint warnings (counts); None is 0 throughout.
        cost_usd: Cost of each, ``>= 0``; None and NaN are not measured, here and below.
        latency_seconds: Time each took, ``>= 0``.
        input_tokens: Tokens read (counts).
        output_tokens: Tokens written (counts).
        cache_read_tokens: Tokens read from a prompt cache, beside *input_tokens*.
        cache_write_tokens: Tokens written to one.
        attempt: Distinguishes the attempts of a model at a case, such as an epoch or a seed, so
            that a row which comes twice is refused; None if rows are known to differ.
        k: As for `code_report`.
        insufficient: As for `code_report`.
        weights: As for `code_report`.
        case_weights: As for `code_report`; a column has an entry for each of *case_id*.
        strata: As for `code_report`; a column has an entry for each of *case_id*.
        confidence_level: As for `code_report`.
        quantiles: As for `code_report`.

    Returns:
        A frozen `CodeReport`. Read *models*, `CodeReport.failures` and *cases* first.

    Raises:
        InputError: As `code_report`, and if the columns differ in length, neither *compiled* nor
            *passed* is given, two names differ only in that one is an integer, or two rows of a
            model and a case have one *attempt*.
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
        >>> report = code_report_from_columns(model="a", passed={"sort": [True, False], 7: [True]})
        >>> [(case.case_id, case.n_correct, case.n_samples) for case in report.cases]
        [('sort', 1, 2), ('7', 1, 1)]
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
            "cache_read_tokens": cache_read_tokens,
            "cache_write_tokens": cache_write_tokens,
            "attempt": attempt,
        }
    )

    def rows() -> Sequence[Any]:
        if is_mapping(passed):
            return tuple(passed)
        return check_items("case_id", as_builtins(case_id))

    given = targets_by_case(case_weights, strata, rows)
    return report_on(
        samples, k, insufficient, weights, confidence_level, quantiles=quantiles, **given
    )
