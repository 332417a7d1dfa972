"""Reports on generated code: samples -> statistics per model and per case (`code_report`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, ClassVar

import attrs

from scorekit._checks import (
    check_bounded_count,
    check_choice,
    check_count,
    check_flag,
    check_items,
    check_number,
    check_records,
    check_text,
    store,
)
from scorekit._records import Record, Report
from scorekit._suite_estimate import Insufficient
from scorekit.coding import DEFAULT_WEIGHTS, CodeWeights, code_scores
from scorekit.errors import InputError, refuse, shown
from scorekit.sampling import PassAtK, pass_at_k, pass_at_ks
from scorekit.summary import describe


@attrs.frozen(kw_only=True)
class CodeSample(Record):
    """
    One generated program and what came of it; several with one *case_id* are its attempts.

    None means not measured.

    Raises:
        InputError: If an id is empty, a number negative or not finite, or a count above 2**53.
        TypeError: If a field has the wrong type.

    Examples:
        >>> CodeSample(case_id="fizzbuzz", model="a", compiled=True, passed=3).correct
        True
        >>> CodeSample(case_id="fizzbuzz", model="a", compiled=True, passed=-3)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: passed must be an integer >= 0, got -3

    .. versionadded:: 0.1.0
    """

    case_id: str
    model: str
    compiled: bool
    passed: int = 0
    """Tests passed; this and all counts at most 2**53."""
    failed: int = 0
    """Tests failed."""
    warnings: int = 0
    """Lint warnings."""
    cost_usd: float | None = None
    latency_seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None

    def __attrs_post_init__(self) -> None:
        """Check every field under its own name; store it as the builtin of its annotation."""
        check_text("case_id", self.case_id)
        check_text("model", self.model)
        store(self, "compiled", check_flag("compiled", self.compiled))
        for name in ("passed", "failed", "warnings", "input_tokens", "output_tokens"):
            value = getattr(self, name)
            if value is not None or name in _REQUIRED:
                store(self, name, check_bounded_count(name, value))
        for name in ("cost_usd", "latency_seconds"):
            if getattr(self, name) is not None:
                store(self, name, check_number(name, getattr(self, name), 0.0))

    @property
    def correct(self) -> bool:
        """Whether it compiled, at least one test ran and none failed; warnings do not matter."""
        return bool(self.compiled and self.passed and not self.failed)


_REQUIRED = {"passed", "failed", "warnings"}


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
        check_count("n_correct", self.n_correct, 0, self.n_samples)
        if len(self.scores) != self.n_samples:
            refuse("scores", f"{self.n_samples} numbers", self.scores)
        if not all(0.0 <= score <= 1.0 for score in self.scores):
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
        seen: set[tuple[str, str]] = set()
        for i, case in enumerate(self.cases):
            key = (case.case_id, case.model)
            if key in seen:
                refuse(f"case_id and model of cases[{i}]", "unlike those of all others", key)
            seen.add(key)

    def for_model(self, name: str) -> CodeReport:
        """
        Narrow the report to one model, for instance to compare two models of one report.

        Raises:
            InputError: If the report has no such model.
        """
        models = tuple(m for m in self.models if m.model == name)
        if not models:
            names = ", ".join(repr(m.model) for m in self.models)
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


def code_report(
    samples: Iterable[CodeSample],
    *,
    ks: Sequence[int] = (1,),
    insufficient: Insufficient = "raise",
    weights: CodeWeights = DEFAULT_WEIGHTS,
    confidence: float = 0.95,
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
        confidence: Level of the intervals, in ``(0, 1)``.

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

    .. versionadded:: 0.1.0
    """
    items = check_records("samples", samples, CodeSample)
    ks = tuple(
        check_bounded_count(f"ks[{i}]", k, 1)
        for i, k in enumerate(check_items("ks", ks, what="integers"))
    )
    check_choice("insufficient", insufficient, ("raise", "nan", "drop"))
    scores = code_scores(
        compiled=[sample.compiled for sample in items],
        passed=[sample.passed for sample in items],
        failed=[sample.failed for sample in items],
        warnings=[sample.warnings for sample in items],
        weights=weights,
    ).tolist()
    attempts: dict[tuple[str, str], list[int]] = {}
    for position, sample in enumerate(items):
        attempts.setdefault((sample.case_id, sample.model), []).append(position)
    _check_attempts(attempts, ks, insufficient)

    estimate = _CaseEstimates(ks, insufficient, confidence)
    cases: list[CaseStatistics] = []
    members: dict[str, list[list[int]]] = {}
    for (case_id, model), positions in attempts.items():
        members.setdefault(model, []).append(positions)
        n_correct = sum(items[i].correct for i in positions)
        own = tuple(scores[i] for i in positions)
        cases.append(
            CaseStatistics(
                case_id=case_id,
                model=model,
                pass_at_k=estimate(len(positions), n_correct),
                mean_score=fmean(own),
                scores=own,
                n_samples=len(positions),
                n_correct=n_correct,
            )
        )
    by_model: dict[str, list[CaseStatistics]] = {model: [] for model in members}
    for case in cases:
        by_model[case.model].append(case)
    models = tuple(
        ModelStatistics(
            model=model,
            pass_at_k=pass_at_ks(
                n_samples=[case.n_samples for case in own_cases],
                n_correct=[case.n_correct for case in own_cases],
                ks=ks,
                confidence=confidence,
                insufficient=insufficient,
            ),
            mean_score=fmean([case.mean_score for case in own_cases]),
            n_cases=len(own_cases),
            **_sample_statistics([[items[i] for i in group] for group in members[model]]),
        )
        for model, own_cases in by_model.items()
    )
    return CodeReport(models=models, cases=tuple(cases))


def _sample_statistics(cases: list[list[CodeSample]]) -> dict[str, Any]:
    samples = [sample for case in cases for sample in case]
    costs = [s.cost_usd for s in samples if s.cost_usd is not None]
    latencies = [s.latency_seconds for s in samples if s.latency_seconds is not None]
    inputs = [s.input_tokens for s in samples if s.input_tokens is not None]
    outputs = [s.output_tokens for s in samples if s.output_tokens is not None]
    return {
        "compilation_rate": fmean([fmean([s.compiled for s in case]) for case in cases]),
        "test_pass_rate": fmean(
            [fmean([s.passed / max(s.passed + s.failed, 1) for s in case]) for case in cases]
        ),
        "total_cost_usd": _sum_up(costs) if costs else None,
        "mean_latency_seconds": describe(latencies).mean if latencies else None,
        "total_input_tokens": sum(inputs) if inputs else None,
        "total_output_tokens": sum(outputs) if outputs else None,
        "n_samples": len(samples),
    }


def _sum_up(costs: list[float]) -> float:
    try:
        return math.fsum(costs)
    except OverflowError:
        refuse("cost_usd of the samples", "numbers with a finite sum", costs)


def _check_attempts(
    attempts: dict[tuple[str, str], list[int]], ks: tuple[int, ...], insufficient: str
) -> None:
    """Refuse too few attempts here, where the case can be named."""
    k = max(ks)
    short = [(key, len(tries)) for key, tries in attempts.items() if len(tries) < k]
    if not short:
        return
    if insufficient == "raise":
        (case_id, model), n_samples = short[0]
        raise InputError(
            f"samples must have at least k = {k} attempts at every case, got {len(short)} of "
            f"{len(attempts)} cases with fewer (first: case {shown(case_id)} of model "
            f'{shown(model)} with {n_samples}); pass insufficient="nan" or "drop"'
        )
    if insufficient == "drop":
        longest: dict[str, int] = {}
        for (_, model), tries in attempts.items():
            longest[model] = max(longest.get(model, 0), len(tries))
        for model, n_samples in longest.items():
            if n_samples < k:
                whose = f"model {shown(model)}, whose cases have no more attempts"
                domain = f"at most {n_samples} for {whose}"
                refuse("ks", domain, k)


class _CaseEstimates:
    """pass@k of single cases, made once for each distinct (n, c): there are few."""

    def __init__(self, ks: tuple[int, ...], insufficient: Insufficient, confidence: float) -> None:
        self._ks = ks
        self._insufficient: Insufficient = insufficient
        self._confidence = confidence
        self._made: dict[tuple[int, int], tuple[PassAtK, ...]] = {}

    def __call__(self, n_samples: int, n_correct: int) -> tuple[PassAtK, ...]:
        made = self._made.get((n_samples, n_correct))
        if made is None:
            made = self._made[n_samples, n_correct] = tuple(
                pass_at_k(
                    n_samples=n_samples,
                    n_correct=n_correct,
                    k=k,
                    confidence=self._confidence,
                    insufficient=self._insufficient,
                )
                for k in self._ks
                if k <= n_samples or self._insufficient == "nan"
            )
        return made
