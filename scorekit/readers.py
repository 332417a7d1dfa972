"""
Read what evaluation harnesses write, and reproduce the numbers that they state.

There is one function for each harness.  It takes what was parsed (``json.load(file)``, a list of
rows, ``read_eval_log(path)``, the text of an XML file), opens no file, and returns a `HarnessRun`.
It is loaded when it is first used, and not by ``import scorekit``.

Examples:
    >>> import scorekit
    >>> rows = [{"task_id": f"HumanEval/{i}", "result": "", "passed": i < 3} for i in range(4)]
    >>> run = scorekit.readers.human_eval(rows, published={"pass@1": 0.75})
    >>> run.published
    {'pass@1': (0.75, 0.75)}
    >>> run.scores()["HumanEval/3"]
    [0.0]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, TypeAlias

import attrs

from scorekit._core.checks import (
    check_choice,
    check_flag,
    check_number,
    check_text,
)
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._readers import (
    agent_benchmarks,
    code_benchmarks,
    every_eval,
    helm_stats,
    inspect_logs,
    junit_xml,
    lm_eval_samples,
    own_rows,
    services,
)
from scorekit._readers.reading import NOT_RUN, Reading, agree, compared, fmean
from scorekit._readers.scales import errors_as_failures, scale_of, shares
from scorekit._sheet.model import Sheet, Table
from scorekit._sheet.values import between, counted, estimate, level_of, number
from scorekit._stats.suites import Insufficient
from scorekit.errors import InputError, one_line, refuse
from scorekit.intervals import mean_interval
from scorekit.records import BUILDER, UNKNOWN, Ends, Report, ReportScores, SuiteKey
from scorekit.reports import CodeReport, code_report_from_columns
from scorekit.rulers import EVERY, HARNESS, Ruler

Errors: TypeAlias = Literal["unknown", "failed"]
Published: TypeAlias = Mapping[str, float] | None

COLUMNS = (
    "case_id", "model", "attempt", "score", "unknown", "cost_usd", "latency_seconds",
    "input_tokens", "output_tokens",
)  # fmt: skip
"""What is kept of each attempt."""


def _columns(value: Any, path: str) -> FrozenMapping[str, tuple[Any, ...]]:
    if not is_mapping(value) or set(value) != set(COLUMNS):
        refuse(path, f"a mapping with the keys {', '.join(COLUMNS)}", value)
    return FrozenMapping({name: tuple(value[name]) for name in COLUMNS})


@attrs.frozen(kw_only=True, repr=False)
class HarnessRun(Report):
    """
    A run as its harness wrote it: what a reader of `scorekit.readers` returns.

    `scorekit.compare_reports` and `scorekit.compare_models` take it as it is.
    """

    kind: ClassVar[str] = "CodeReport"

    harness: str
    metric: str
    """What the harness calls the score that was read."""
    model: str | None
    """The model; None where the content names none or several."""
    models: tuple[str, ...]
    """All models, in order of appearance."""
    published: FrozenMapping[str, tuple[float, float]]
    """Each number that the harness states of this run, and ours, computed by its own rule.

    Empty if it states none; see *unchecked*. Where the two differ the reader raised an error,
    unless it was called with ``check=False``."""
    n_unknown: FrozenMapping[str, int]
    """Attempts with a missing outcome by cause, such as ``"error"``, ``"rate limit"``,
    ``"skipped"`` and ``"not run"``."""
    dataset: str | None = None
    """Name of the dataset or the task, where the content has one."""
    dataset_version: str | None = None
    harness_version: str | None = None
    judge: str | None = None
    """The model that graded, where one did and the content says so."""
    scale: tuple[float, float] = (0.0, 1.0)
    """The least and the highest score. `scores` gives each as a share of it."""
    errors: str = "unknown"
    """Whether attempts without an outcome are ``"unknown"`` or count as ``"failed"``."""
    unchecked: tuple[str, ...] = ()
    """Names of numbers that the harness states and this reader does not compute."""
    notes: tuple[str, ...] = ()
    """What else there is to say of the content."""
    attempts: FrozenMapping[str, tuple[Any, ...]] = attrs.field(
        metadata={BUILDER: _columns}, repr=False
    )
    """The attempts, column by column; `columns` gives them for a data frame."""

    @property
    def is_checked(self) -> bool:
        """Whether the harness states a number of this run, and each is reproduced."""
        return bool(self.published) and not self.disagreements

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Names of the numbers that are not reproduced, which only ``check=False`` lets pass."""
        return tuple(
            name
            for name, (stated, ours) in self.published.items()
            if not agree(stated, ours, is_typed=True)
        )

    @property
    def ruler(self) -> Ruler:
        """What the run was measured with, as far as the content and the arguments say."""
        about = {"dataset": self.dataset, "judge": self.judge}
        versions = {"dataset": self.dataset_version, HARNESS: self.harness_version}
        missing = [name for name, value in about.items() if value is None]
        missing += ["version of dataset"] if self.dataset_version is None else []
        low, high = self.scale
        settings = {
            "metric": self.metric,
            "errors": self.errors,
            "scale": f"{low:g} to {high:g}",
            **{name: value for name, value in about.items() if value is not None},
        }
        return Ruler(
            settings=FrozenMapping({EVERY: FrozenMapping(settings)}),
            versions=FrozenMapping({n: one for n, one in versions.items() if one is not None}),
            unknown=tuple(missing),
        )

    def scores(self, model: str | None = None) -> dict[str, list[float | None]]:
        """
        Return the scores of the attempts at each case, as shares of the scale.

        Args:
            model: Whose scores; None if there is one model.

        Returns:
            The scores in ``[0, 1]`` by case, in the order of the content; None where the outcome
            is unknown.

        Raises:
            InputError: If there are several models and none of them is named.
        """
        if model is None and len(self.models) > 1:
            refuse("model", f"one of {', '.join(map(repr, self.models))}", model)
        if model is not None:
            check_choice("model", model, self.models)
        found: dict[str, list[float | None]] = {}
        columns = (self.attempts[name] for name in ("case_id", "model", "score"))
        for case_id, own, score in zip(*columns, strict=True):
            if model is None or own == model:
                found.setdefault(case_id, []).append(score)
        return found

    def report(
        self,
        *,
        k: int | Iterable[int] = 1,
        insufficient: Insufficient = "raise",
        threshold: float | None = None,
    ) -> CodeReport:
        """
        Return a report with pass@k, and with costs, seconds and tokens where they were measured.

        Args:
            k: Attempts allowed for pass@k, or several such numbers.
            insufficient: What to do about a case with fewer than *k* attempts, as in
                `scorekit.pass_at_k`.
            threshold: The least score that passes, in ``(0, 1]``; None where all scores are 0 or
                1.

        Raises:
            InputError: If a score lies between 0 and 1 and there is no *threshold*; as
                `scorekit.code_report_from_columns`.
        """
        values = self.attempts["score"]
        graded = next((one for one in values if one not in (None, 0.0, 1.0)), None)
        if threshold is None:
            if graded is not None:
                domain = f"the least score that passes, as {graded:.4g} is graded"
                refuse("threshold", domain, None)
            least = 1.0
        else:
            least = check_number("threshold", threshold, 0.0, 1.0, open_low=True)
        measured: dict[str, Any] = {
            name: list(self.attempts[name])
            for name in ("cost_usd", "latency_seconds", "input_tokens", "output_tokens")
            if any(one is not None for one in self.attempts[name])
        }
        report = code_report_from_columns(
            case_id=list(self.attempts["case_id"]),
            model=[self.harness if one is None else one for one in self.attempts["model"]],
            passed=[None if one is None else one >= least for one in values],
            k=k,
            insufficient=insufficient,
            **measured,
        )
        about = {} if graded is None else {"threshold": f"{least:g}"}
        return attrs.evolve(report, ruler=_beside(self.ruler, report.ruler or Ruler(), about))

    def columns(self) -> dict[str, list[Any]]:
        """Return a column for each of what is known of the attempts, ready for a data frame."""
        return {name: list(values) for name, values in self.attempts.items()}

    def scores_by_case(self) -> ReportScores:
        """Return what `scorekit.compare_reports` compares."""
        values = self.attempts["score"]
        if all(one in (None, 0.0, 1.0) for one in values):
            read = self.report().scores_by_case()
        else:
            read = ReportScores({})
        suites, failing, ends = dict(read.suites), dict(read.failing), dict(read.ends)
        for model in self.models or (None,):
            suite: SuiteKey = self.metric, model or self.harness
            known: dict[str, tuple[float, ...]] = {}
            own_ends: dict[str, Ends] = {}
            for case_id, scores in self.scores(model).items():
                found = tuple(one for one in scores if one is not None)
                if found:
                    known[case_id] = found
                if len(found) < len(scores):
                    n_lost = len(scores) - len(found)
                    own_ends[case_id] = (*found, *(0.0,) * n_lost), (*found, *(1.0,) * n_lost)
                if not found:
                    failing[suite, case_id] = UNKNOWN
            if known:
                suites[suite] = known
            if own_ends:
                ends[suite] = own_ends
        return ReportScores(
            suites,
            failing,
            only_flags=read.only_flags,
            ruler=read.ruler or self.ruler,
            ends=ends,
            is_judged=self.judge is not None,
            own_metric=self.metric,
        )

    def _sheet(self) -> Sheet:
        notes = [self._checked(), *self._lost(), *map(one_line, self.notes)]
        if self.scale != (0.0, 1.0):
            notes.append(f"Scores are shares of the scale {self.scale[0]:g} to {self.scale[1]:g}.")
        about = {
            "dataset": self.dataset,
            "version": self.dataset_version,
            "harness": self.harness_version,
            "judge": self.judge,
        }
        rows = [{name: value for name, value in about.items() if value is not None}]
        return Sheet(
            "HarnessRun",
            self._line(),
            (*notes, Table(rows=rows if rows[0] else [], place="detail", title="About the run")),
        )

    def _line(self) -> str:
        found: dict[tuple[str | None, str], list[float | None]] = {}
        names = zip(self.attempts["model"], self.attempts["case_id"], strict=True)
        for name, score in zip(names, self.attempts["score"], strict=True):
            found.setdefault(name, []).append(score)
        known = [[one for one in scores if one is not None] for scores in found.values()]
        means = [fmean(scores) for scores in known if scores]
        n_attempts = len(self.attempts["case_id"])
        counts = f"{counted(len(found), 'case')}, {counted(n_attempts, 'attempt')}"
        whose = f" of {one_line(self.model)}" if self.model is not None else ""
        whose = f" of {len(self.models)} models" if len(self.models) > 1 else whose
        head = f"{self.harness} {one_line(self.metric)}{whose}"
        if not means:
            return f"{head}: unknown ({counts})"
        mean, limits = fmean(means), ""
        if len(means) < len(known) or any(None in scores for scores in found.values()):
            low, high = (
                fmean(fmean(end if one is None else one for one in own) for own in found.values())
                for end in (0.0, 1.0)
            )
            limits = f" of known outcomes, {between(low, high)} whichever way the others went"
        if len(means) == 1 or len(self.models) > 1:
            return f"{head}: mean {number(mean)}{limits} ({counts})"
        interval = mean_interval(means, bounds=(0.0, 1.0))
        level = level_of(interval)
        return f"{head}: mean {estimate(mean, interval)}{limits} ({level}, {counts})"

    def _checked(self) -> str:
        wrong = self.disagreements
        right = ", ".join(
            f"{name} = {number(stated)}"
            for name, (stated, _) in self.published.items()
            if name not in wrong
        )
        other = ", ".join(
            f"{name} = {number(self.published[name][0])} (ours: {number(self.published[name][1])})"
            for name in wrong
        )
        parts = [
            *([f"Not reproduced: {other}."] if other else []),
            *([f"As the harness states: {right}."] if right else []),
            *([f"Not computed here: {', '.join(self.unchecked)}."] if self.unchecked else []),
        ]
        return one_line(" ".join(parts)) or "Not checked: the content states no number."

    def _lost(self) -> list[str]:
        n_lost = sum(self.n_unknown.values())
        if not n_lost:
            return []
        causes = ", ".join(f"{cause} {n}" for cause, n in self.n_unknown.items())
        return [f"Unknown outcomes: {n_lost} ({causes})."]


def _beside(run: Ruler, report: Ruler, about: Mapping[str, str]) -> Ruler:
    """Return what a report of a run was measured with: as the run, as the report, and *about*."""
    every = FrozenMapping({**run.settings[EVERY], **about})
    return attrs.evolve(
        run,
        settings=FrozenMapping({**report.settings, EVERY: every}),
        versions=FrozenMapping({**report.versions, **run.versions}),
    )


def _run(
    reading: Reading,
    *,
    errors: str,
    check: bool,
    published: Published,
    scale: tuple[float, float] | None = None,
) -> HarnessRun:
    """Compare the numbers of a reading, and make the record."""
    check_choice("errors", errors, ("unknown", "failed"))
    if published is not None and not is_mapping(published):
        refuse("published", "a mapping from name to number", published, TypeError)
    stated, unchecked = compared(reading, published, check=check_flag("check", check))
    low, high = scale_of(reading, scale)
    scores, causes, notes = shares(reading, low, high), reading.unknown, list(reading.notes)
    if errors == "failed":
        scores, causes, said = errors_as_failures(scores, causes)
        notes += said
    n_unknown = Counter(cause for cause in causes if cause)
    if reading.n_missing:
        n_unknown[NOT_RUN] += reading.n_missing
    models = tuple(dict.fromkeys(one for one in reading.model if one is not None))
    if models and None in reading.model:
        raise InputError("model must be known of all attempts or of none, got some without")
    columns = {name: getattr(reading, name) for name in COLUMNS}
    columns |= {"score": scores, "unknown": causes}
    return HarnessRun(
        harness=reading.harness,
        metric=reading.metric,
        model=models[0] if len(models) == 1 else None,
        models=models,
        published=FrozenMapping(stated),
        n_unknown=FrozenMapping(n_unknown),
        dataset=reading.dataset,
        dataset_version=reading.dataset_version,
        harness_version=reading.harness_version,
        judge=reading.judge,
        scale=(low, high),
        errors=errors,
        unchecked=tuple(unchecked),
        notes=tuple(notes),
        attempts=FrozenMapping({name: tuple(column) for name, column in columns.items()}),
    )


def inspect_ai(
    log: object,
    *,
    scorer: str | None = None,
    part: str | None = None,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
    scale: tuple[float, float] | None = None,
) -> HarnessRun:
    """
    Read a log of inspect_ai: epochs are attempts, and a sample that crashed is unknown.

    Args:
        log: What ``read_eval_log(path)`` returns, or the mapping of a JSON log.
        scorer: The scorer to read; None if the log has one.
        part: The part to read where the scores are mappings or lists; None if they have one.
        errors: What attempts without an outcome are: ``"unknown"``, so that a comparison allows
            for every way they may have gone, or ``"failed"``.
        check: Whether to raise an error where a number that the harness states is not reproduced.
        published: Numbers that you saw elsewhere, by name, to be reproduced too; here
            ``"accuracy"`` or ``"mean"``. They may be rounded.
        scale: The least and the highest score where it is not 0 to 1.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: If the content is not of this harness, is cut short, or holds an attempt
            twice; if a number that is stated is not reproduced; if a score is off the scale, or
            there are several scorers and none is named.
        TypeError: If it is not parsed, or another argument has the wrong type.

    Examples:
        >>> samples = [{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}]
        >>> log = {"status": "success", "eval": {"task": "sums"}, "samples": samples}
        >>> inspect_ai(log).scores()
        {'1': [1.0]}
        >>> inspect_ai(log, scorer="exact")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: scorer must be one of 'match', got 'exact'
    """
    return _run(
        inspect_logs.inspect_ai(log, scorer, part),
        errors=errors,
        check=check,
        published=published,
        scale=scale,
    )


def lm_eval(
    rows: object,
    *,
    results: object = None,
    metric: str | None = None,
    filter: str | None = None,  # noqa: A002 - the harness's word
    task: str | None = None,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
    scale: tuple[float, float] | None = None,
) -> HarnessRun:
    """
    Read samples of lm-evaluation-harness: the score of each document as the harness has it.

    The answers of a task with repeats are attempts where a filter kept them and the score of the
    document says which are right; otherwise a document is one attempt.

    Args:
        rows: The rows of a ``samples_*.jsonl``, or a mapping from task to its rows for a group.
        results: The mapping of the ``results_*.json``, in which the numbers stand.
        metric: The metric to read, such as ``"acc"`` or ``"exact_match,strict-match"``; None if
            there is one.
        filter: The filter to read; None if there is one.
        task: The task of the rows; None where *results* says so.
        errors: As for `inspect_ai`, like the next three.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by names such as ``"exact_match,strict-match"``.
        scale: The least and the highest score where it is not 0 to 1.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`, and if a lower value of the metric is better.
        TypeError: As `inspect_ai`.

    Examples:
        >>> rows = [
        ...     {"doc_id": i, "filter": "none", "metrics": ["acc"], "acc": float(i < 3)}
        ...     for i in range(4)
        ... ]
        >>> lm_eval(rows, published={"acc,none": 0.75}).scores()
        {'0': [1.0], '1': [1.0], '2': [1.0], '3': [0.0]}
        >>> lm_eval(rows, metric="acc_norm")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: metric must be one of 'acc', got 'acc_norm'
    """
    return _run(
        lm_eval_samples.lm_eval(rows, results, metric, filter, task),
        errors=errors,
        check=check,
        published=published,
        scale=scale,
    )


def human_eval(
    rows: object,
    *,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
) -> HarnessRun:
    """
    Read samples of human-eval: one that timed out failed, as the harness counts it.

    Args:
        rows: The rows of a ``*_results.jsonl``.
        errors: As for `inspect_ai`, like the next two.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by names such as ``"pass@1"``, as the file states none.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> rows = [{"task_id": "HumanEval/0", "result": "passed", "passed": True}]
        >>> print(human_eval(rows))
        human_eval passed: mean 1 (1 case, 1 attempt)
        Not checked: the content states no number.
        >>> human_eval([{"task_id": "HumanEval/0"}])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: rows[0] must have the key 'passed', got task_id
    """
    return _run(code_benchmarks.human_eval(rows), errors=errors, check=check, published=published)


def evalplus(
    data: object,
    *,
    tests: Literal["plus", "base"] = "plus",
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
) -> HarnessRun:
    """
    Read samples of EvalPlus: one is right if it passed the base tests and those that were added.

    Of a run with ``--base-only`` the base tests decide.

    Args:
        data: The mapping of an ``*_eval_results.json``, also of versions before 0.3.
        tests: ``"plus"`` for both kinds of tests, or ``"base"``.
        errors: As for `inspect_ai`, like the next two.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by names such as ``"pass@1"``, as the file states none.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> sample = {"base_status": "pass", "plus_status": "fail"}
        >>> data = {"hash": "84f4", "eval": {"HumanEval/0": [sample]}}
        >>> evalplus(data).scores(), evalplus(data, tests="base").scores()
        ({'HumanEval/0': [0.0]}, {'HumanEval/0': [1.0]})
        >>> evalplus(data, tests="more")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: tests must be one of 'plus', 'base', got 'more'
    """
    check_choice("tests", tests, ("plus", "base"))
    return _run(
        code_benchmarks.evalplus(data, tests), errors=errors, check=check, published=published
    )


def bigcodebench(
    data: object,
    *,
    pass_at_k: object = None,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
) -> HarnessRun:
    """
    Read samples of BigCodeBench.

    Args:
        data: The mapping of an ``*_eval_results.json``.
        pass_at_k: The mapping of the ``*_pass_at_k.json``, in which the numbers stand.
        errors: As for `inspect_ai`, like the next two.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by names such as ``"pass@1"``.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> data = {"eval": {"BigCodeBench/0": [{"status": "pass"}, {"status": "timeout"}]}}
        >>> bigcodebench(data, pass_at_k={"pass@1": 0.5}).published
        {'pass@1': (0.5, 0.5)}
        >>> bigcodebench(data, pass_at_k={"pass@1": 0.25})
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: pass@1 must be 0.25 as stated, got 0.5 (check=False reads on)
    """
    return _run(
        code_benchmarks.bigcodebench(data, pass_at_k),
        errors=errors,
        check=check,
        published=published,
    )


def livecodebench(
    rows: object,
    *,
    metrics: object = None,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
) -> HarnessRun:
    """
    Read samples of LiveCodeBench, where each question states its pass@1.

    Args:
        rows: The rows of an ``*_eval_all.json``.
        metrics: What stands in the ``*_eval.json``, where pass@k of the run stands.
        errors: As for `inspect_ai`, like the next two.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by names such as ``"pass@1"``.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> rows = [{"question_id": "abc310_c", "graded_list": [True, False], "pass@1": 0.5}]
        >>> livecodebench(rows).published
        {'pass@1': (0.5, 0.5)}
        >>> livecodebench([{"question_id": "abc310_c"}])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: rows[0] must have the key 'graded_list', got question_id
    """
    return _run(
        code_benchmarks.livecodebench(rows, metrics),
        errors=errors,
        check=check,
        published=published,
    )


def swe_bench(
    report: object,
    *,
    instances: Literal["all", "submitted"] = "all",
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
) -> HarnessRun:
    """
    Read a report of SWE-bench: whether each instance was resolved.

    An empty patch and an error are failures, as the harness counts them; an instance whose
    environment broke (``infra_failure_ids``) is unknown.

    Args:
        report: The mapping of ``<model>.<run>.json``.
        instances: ``"all"`` of the dataset, of which those that were not submitted failed, or
            those ``"submitted"``.
        errors: As for `inspect_ai`, like the next two.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by names such as ``"resolved"``, a share, and ``"resolved_instances"``.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> report = {
        ...     "total_instances": 3,
        ...     "resolved_instances": 1,
        ...     "completed_ids": ["a-1", "a-2"],
        ...     "resolved_ids": ["a-1"],
        ...     "unresolved_ids": ["a-2"],
        ...     "incomplete_ids": ["a-3"],
        ... }
        >>> swe_bench(report).scores()
        {'a-1': [1.0], 'a-2': [0.0], 'a-3': [0.0]}
        >>> swe_bench(report, instances="submitted", published={"resolved": 0.5}).scores()
        {'a-1': [1.0], 'a-2': [0.0]}
        >>> swe_bench(report, instances="tried")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: instances must be one of 'all', 'submitted', got 'tried'
    """
    check_choice("instances", instances, ("all", "submitted"))
    return _run(
        agent_benchmarks.swe_bench(report, instances),
        errors=errors,
        check=check,
        published=published,
    )


def harbor(
    trials: object,
    *,
    job: object = None,
    metric: str | None = None,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
    scale: tuple[float, float] | None = None,
) -> HarnessRun:
    """
    Read trials of Harbor or Terminal-Bench: rewards.

    Harbor counts a trial without a reward as 0, also in pass@k. Here it is unknown, unless the
    agent ran out of its time.

    Args:
        trials: The trials of a job, a row for each ``result.json``, or a job's mapping that has
            them.
        job: The mapping of the job's own ``result.json``, in which the numbers stand.
        metric: The reward to read; None if there is one.
        errors: As for `inspect_ai`, like the next three.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by the names ``"mean"`` and ``"pass@k"``.
        scale: The least and the highest reward where it is not 0 to 1.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> trials = [
        ...     {
        ...         "task_name": "sort",
        ...         "trial_name": f"sort__{i}",
        ...         "verifier_result": {"rewards": {"reward": i}},
        ...     }
        ...     for i in (0, 1)
        ... ]
        >>> harbor(trials, published={"mean": 0.5}).scores()
        {'sort': [0.0, 1.0]}
        >>> harbor([trials[0], trials[0]])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: attempt of case 'sort' must come once, got 'sort__0' twice
    """
    return _run(
        agent_benchmarks.harbor(trials, job, metric),
        errors=errors,
        check=check,
        published=published,
        scale=scale,
    )


def tau_bench(
    data: object,
    *,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
) -> HarnessRun:
    """
    Read runs of tau-bench or tau2-bench: whether the reward is 1.

    Runs that ended by an error of the infrastructure are unknown. tau-bench counts them as
    failures in its pass^k, and tau2-bench leaves them out.

    Args:
        data: The list that tau-bench wrote, or the mapping of ``tau2 run``.
        errors: As for `inspect_ai`, like the next two.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by names such as ``"pass^4"``, as the files state none.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> runs = [{"task_id": 0, "trial": i, "reward": 1.0, "info": {}} for i in range(2)]
        >>> tau_bench(runs, published={"pass^2": 1.0}).scores()
        {'0': [1.0, 1.0]}
        >>> tau_bench([*runs, *runs])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: attempt of case '0' must come once, got 0 twice
    """
    return _run(agent_benchmarks.tau_bench(data), errors=errors, check=check, published=published)


def promptfoo(
    data: object,
    *,
    model: str | None = None,
    prompt: str | None = None,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
) -> HarnessRun:
    """
    Read an output file of promptfoo: whether each test passed, repeats as attempts.

    Where there was no answer to judge the outcome is unknown. A test is named by its variables.

    Args:
        data: The mapping of the file that ``promptfoo eval -o`` wrote.
        model: The provider to read, by its label or its id; None for all of them.
        prompt: The prompt to read, by its label or its text; None if there is one.
        errors: As for `inspect_ai`, like the next two.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by names such as ``"testPassCount"``.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> row = {"vars": {"q": "1+1"}, "provider": {"id": "p"}, "success": True, "testIdx": 0}
        >>> promptfoo({"results": {"results": [row]}}).scores()
        {'{"q": "1+1"}': [1.0]}
        >>> promptfoo({"results": {"results": [row]}}, model="q")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: model must be one of 'p', got 'q'
    """
    return _run(
        services.promptfoo(data, model, prompt), errors=errors, check=check, published=published
    )


def helm(
    per_instance_stats: object,
    *,
    stats: object = None,
    metric: str | None = None,
    split: str | None = None,
    perturbation: str | None = None,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
    scale: tuple[float, float] | None = None,
) -> HarnessRun:
    """
    Read a statistic of HELM for each instance; trials are attempts.

    Args:
        per_instance_stats: The rows of ``per_instance_stats.json``.
        stats: The rows of ``stats.json``, in which the number stands.
        metric: The statistic to read, such as ``"exact_match"``; None if there is one.
        split: The split to read; None if there is one.
        perturbation: The perturbation to read; None for instances as they were.
        errors: As for `inspect_ai`, like the next three.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by the name of the metric.
        scale: The least and the highest score where it is not 0 to 1.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> match = {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1}
        >>> rows = [{"instance_id": "id1", "train_trial_index": 0, "stats": [match]}]
        >>> helm(rows, published={"exact_match": 1.0}).scores()
        {'id1': [1.0]}
        >>> helm(rows, metric="f1_score")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: metric must be one of 'exact_match', got 'f1_score'
    """
    return _run(
        helm_stats.helm(per_instance_stats, stats, metric, split, perturbation),
        errors=errors,
        check=check,
        published=published,
        scale=scale,
    )


def every_eval_ever(
    rows: object,
    *,
    aggregate: object = None,
    metric: str | None = None,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
    scale: tuple[float, float] | None = None,
) -> HarnessRun:
    """
    Read instances in the form of Every Eval Ever.

    Args:
        rows: The instances of an evaluation, JSON Lines.
        aggregate: The mapping of the evaluation itself, in which the number stands.
        metric: The result to read, by its id or by the name of its evaluation; None if the rows
            are of one.
        errors: As for `inspect_ai`, like the next three.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by the name ``"score"``.
        scale: The least and the highest score where it is not 0 to 1 and *aggregate* does not
            say so.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`, and if a lower score is better.
        TypeError: As `inspect_ai`.

    Examples:
        >>> row = {"sample_id": "q1", "model_id": "m", "evaluation": {"score": 1.0}}
        >>> every_eval_ever([row], published={"score": 1.0}).scores()
        {'q1': [1.0]}
        >>> every_eval_ever([{**row, "evaluation": {"score": 4.0}}])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: score of case 'q1' must be in [0, 1], got 4 (scale=(low, high))
    """
    return _run(
        every_eval.every_eval_ever(rows, aggregate, metric),
        errors=errors,
        check=check,
        published=published,
        scale=scale,
    )


def pydantic_evals(
    report: object,
    *,
    metric: str | None = None,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
    scale: tuple[float, float] | None = None,
) -> HarnessRun:
    """
    Read a report of pydantic-evals: one assertion or score, repeats as attempts.

    Where the task or its evaluator raised an exception the outcome is unknown.

    Args:
        report: What ``dataset.evaluate_sync(...)`` returned, or the mapping that
            ``EvaluationReportAdapter.dump_json(report)`` holds.
        metric: The assertion or the score to read; None if there is one.
        errors: As for `inspect_ai`, like the next three.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by the name of the metric, as the report states none.
        scale: The least and the highest score where it is not 0 to 1.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> case = {"name": "sum-0 [1/1]", "assertions": {"Right": {"value": True}}}
        >>> pydantic_evals({"cases": [case], "failures": []}).scores()
        {'sum-0': [1.0]}
        >>> pydantic_evals({"cases": [case], "failures": []}, metric="Short")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: metric must be one of 'Right', got 'Short'
    """
    return _run(
        services.pydantic_evals(report, metric),
        errors=errors,
        check=check,
        published=published,
        scale=scale,
    )


def mlflow(
    rows: object,
    *,
    metrics: object = None,
    metric: str | None = None,
    case_id: str = "request",
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
    scale: tuple[float, float] | None = None,
) -> HarnessRun:
    """
    Read the table that ``mlflow.genai.evaluate`` returns: the values of one scorer.

    Args:
        rows: ``result.result_df``, or its rows.
        metrics: ``result.metrics``, in which the mean stands.
        metric: The scorer to read; None if there is one.
        case_id: The column that names a case.
        errors: As for `inspect_ai`, like the next three.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by names such as ``"right/mean"``.
        scale: The least and the highest score where it is not 0 to 1.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> rows = [{"request": "1 + 1", "right/value": True}]
        >>> mlflow(rows, metrics={"right/mean": 1.0}).published
        {'right/mean': (1.0, 1.0)}
        >>> mlflow(rows, case_id="question")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: rows[0] must have the key 'question', got request, right/value
    """
    check_text("case_id", case_id)
    return _run(
        services.mlflow(rows, metrics, metric, case_id),
        errors=errors,
        check=check,
        published=published,
        scale=scale,
    )


def langfuse(
    result: object,
    *,
    metric: str | None = None,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
    scale: tuple[float, float] | None = None,
) -> HarnessRun:
    """
    Read an experiment of Langfuse: the values of one evaluator.

    An item needs an id of its own, because trace ids differ from run to run.

    Args:
        result: What ``langfuse.run_experiment`` returned, or the mapping that was dumped of it.
        metric: The evaluator to read; None if there is one.
        errors: As for `inspect_ai`, like the next three.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by the name ``"mean"``, as the result states none.
        scale: The least and the highest score where it is not 0 to 1.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`, and if an item has no id.
        TypeError: As `inspect_ai`.

    Examples:
        >>> item = {"item": {"id": "s"}, "evaluations": [{"name": "right", "value": 1.0}]}
        >>> langfuse({"item_results": [item]}).scores()
        {'s': [1.0]}
        >>> langfuse({"item_results": [item]}, metric="short")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: metric must be one of 'right', got 'short'
    """
    return _run(
        services.langfuse(result, metric),
        errors=errors,
        check=check,
        published=published,
        scale=scale,
    )


def junit(
    xml: object,
    *,
    case: str | None = None,
    errors: Errors = "unknown",
    check: bool = True,
    published: Published = None,
) -> HarnessRun:
    """
    Read the XML of a test run: each test is an attempt at the case that its property names.

    An expected failure failed and one that passed passed. A test that was skipped or whose set-up
    crashed is unknown; a crash of its tear-down leaves the outcome.

    Args:
        xml: The text that ``pytest --junitxml`` wrote.
        case: The property that names the case, as in ``record_property("case", name)``; None for
            ``"scorekit_case"``, then ``"case"``, then the class and the name of the test.
        errors: As for `inspect_ai`, like the next two.
        check: Whether to raise an error where a number is not reproduced.
        published: Here by the names ``"tests"``, ``"failures"``, ``"errors"`` and ``"skipped"``.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`, and if the text has a document type.
        TypeError: As `inspect_ai`.

    Examples:
        >>> xml = '<testsuite tests="1"><testcase classname="t" name="sort"/></testsuite>'
        >>> junit(xml).scores()
        {'t::sort': [1.0]}
        >>> junit(xml[:-12])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: xml must be whole, got 1 test and then: no element found
    """
    if case is not None:
        check_text("case", case)
    return _run(junit_xml.junit(xml, case), errors=errors, check=check, published=published)


def json_lines(
    rows: object,
    *,
    case_id: str,
    score: str,
    attempt: str | None = None,
    model: str | None = None,
    check: bool = True,
    published: Published = None,
    scale: tuple[float, float] | None = None,
) -> HarnessRun:
    """
    Read rows of your own, by the names of their keys; a dot goes into a mapping in a row.

    Args:
        rows: A row for each attempt.
        case_id: The key of what was asked.
        score: The key of its score: a number, True or False, or None where it is missing.
        attempt: The key that tells the attempts at a case apart, such as an epoch or a seed, so
            that a row which comes twice is refused.
        model: The key of the model.
        check: As for `inspect_ai`, like the next two.
        published: Here by the names ``"mean"`` and ``"pass@k"``.
        scale: The least and the highest score where it is not 0 to 1.

    Returns:
        A frozen `HarnessRun`. Read *published*, *n_unknown* and `HarnessRun.scores` first.

    Raises:
        InputError: As `inspect_ai`.
        TypeError: As `inspect_ai`.

    Examples:
        >>> rows = [{"id": "sort", "epoch": 1, "result": {"right": True}}]
        >>> json_lines(rows, case_id="id", score="result.right", attempt="epoch").scores()
        {'sort': [1.0]}
        >>> json_lines([{"id": "sort", "right": "True"}], case_id="id", score="right")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: rows[0]['right'] must be a number, a flag or None, got 'True'
    """
    for name, value in (("case_id", case_id), ("score", score)):
        check_text(name, value)
    for name, key in (("attempt", attempt), ("model", model)):
        if key is not None:
            check_text(name, key)
    return _run(
        own_rows.json_lines(rows, case_id, score, attempt, model),
        errors="unknown",
        check=check,
        published=published,
        scale=scale,
    )
