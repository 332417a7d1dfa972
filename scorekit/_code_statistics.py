"""Samples of generated code -> statistics per model and per case (`CodeReport`)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any, ClassVar, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._checks import check_bounded_count, check_choice, check_count, check_items
from scorekit._records import Record, Report
from scorekit._samples import NOT_MEASURED, Counts, Floats, Samples, numbered
from scorekit._suite_estimate import Insufficient
from scorekit.coding import CodeWeights, code_scores
from scorekit.errors import InputError, one_line, refuse, shortened, shown
from scorekit.sampling import PassAtK, pass_at_k, pass_at_ks
from scorekit.summary import describe

T = TypeVar("T", bound=np.generic)


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
    """Attempts that were correct; see `CodeSample.correct`."""

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
    confidence: float,
) -> CodeReport:
    """Return the report on samples that are checked already; the other arguments are not."""
    ks = tuple(
        check_bounded_count(f"ks[{i}]", k, 1)
        for i, k in enumerate(check_items("ks", ks, what="integers"))
    )
    check_choice("insufficient", insufficient, ("raise", "nan", "drop"))
    scores = code_scores(
        compiled=samples.compiled,
        passed=samples.passed,
        failed=samples.failed,
        warnings=samples.warnings,
        weights=weights,
    )
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
            _case_estimates(n_samples, n_correct, ks, insufficient, confidence),
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
    columns = {
        "compilation_rate": map(_mean, tasks.parts(attempts.counts(samples.compiled) / n_samples)),
        "test_pass_rate": map(_mean, tasks.parts(attempts.means(shares))),
        "mean_score": map(_mean, tasks.parts(mean_scores)),
        "total_cost_usd": map(_total_cost, runs.parts(samples.cost_usd)),
        "mean_cost_usd": map(_mean_measured, runs.parts(samples.cost_usd)),
        "mean_latency_seconds": map(_mean_measured, runs.parts(samples.latency_seconds)),
        "total_input_tokens": map(_total, runs.parts(samples.input_tokens)),
        "total_output_tokens": map(_total, runs.parts(samples.output_tokens)),
        "n_samples": runs.sizes.tolist(),
        "n_cases": tasks.sizes.tolist(),
        "pass_at_k": (
            pass_at_ks(
                n_samples=n, n_correct=c, ks=ks, confidence=confidence, insufficient=insufficient
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


def _total_cost(costs: Floats) -> float | None:
    measured: list[float] = costs[~np.isnan(costs)].tolist()
    try:
        return math.fsum(measured) if measured else None
    except OverflowError:
        refuse("cost_usd of the samples", "numbers with a finite sum", measured)


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
    confidence: float,
) -> Iterator[tuple[PassAtK, ...]]:
    """Yield pass@k of each case, made once for each distinct (n, c): there are few."""
    made = {
        (n, c): tuple(
            pass_at_k(
                n_samples=n, n_correct=c, k=k, confidence=confidence, insufficient=insufficient
            )
            for k in ks
            if k <= n or insufficient == "nan"
        )
        for n, c in set(zip(n_samples.tolist(), n_correct.tolist(), strict=True))
    }
    return map(made.__getitem__, zip(n_samples.tolist(), n_correct.tolist(), strict=True))
