"""Reports on generated code, from samples, columns or parts (`code_report`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from scorekit._checks import check_instance
from scorekit._code_statistics import CodeReport, report_on
from scorekit._samples import CodeSample, Samples, from_columns, from_records, join
from scorekit._suite_estimate import Insufficient
from scorekit.coding import DEFAULT_WEIGHTS, CodeWeights
from scorekit.errors import refuse


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
    return report_on(from_records(samples), ks, insufficient, weights, confidence)


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
    confidence: float = 0.95,
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
        confidence: As for `code_report`.

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

    .. versionadded:: 0.1.0
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
    return report_on(samples, ks, insufficient, weights, confidence)


class CodeTally:
    """
    Collect samples in pieces, to report on them as if they had come at once.

    A tally keeps the outcomes as columns, some 70 bytes a sample.  Workers can fill one each and
    send it back: a tally pickles.  Merged in the order of the pieces it gives the very report that
    `code_report` gives on all samples, also where the attempts at a case are in several pieces; in
    another order cases, models and scores come in that order, and a suite's pass@k may differ in
    the last digit.

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

    .. versionadded:: 0.1.0
    """

    __slots__ = ("_stack",)

    def __init__(self) -> None:
        # Parts of falling length, each at least twice the next: many small pieces stay cheap.
        self._stack: tuple[Samples, ...] = ()

    def add(self, samples: Iterable[CodeSample]) -> None:
        """
        Add a piece, which may be empty; a piece with a stranger in it changes nothing.

        Args:
            samples: As for `code_report`.

        Raises:
            TypeError: If an item is not a `CodeSample`.
        """
        self._push(from_records(samples, empty=True))

    def merge(self, other: CodeTally) -> CodeTally:
        """
        Return a new tally of the samples of both, those of *other* last; neither changes.

        Args:
            other: The tally to merge with.

        Raises:
            TypeError: If *other* is not a `CodeTally`.
        """
        check_instance("other", other, CodeTally)
        merged = CodeTally()
        merged._stack = self._stack
        for part in other._stack:
            merged._push(part)
        return merged

    def result(
        self,
        *,
        ks: Sequence[int] = (1,),
        insufficient: Insufficient = "raise",
        weights: CodeWeights = DEFAULT_WEIGHTS,
        confidence: float = 0.95,
    ) -> CodeReport:
        """
        Report on everything added so far.

        Args:
            ks: As for `code_report`.
            insufficient: As for `code_report`.
            weights: As for `code_report`.
            confidence: As for `code_report`.

        Raises:
            InputError: If nothing was added, and as `code_report`.
        """
        if not self._stack:
            refuse("samples", "a non-empty sequence of CodeSample", ())
        self._stack = (reduce(join, self._stack),)
        return report_on(self._stack[0], ks, insufficient, weights, confidence)

    def _push(self, part: Samples) -> None:
        stack = self._stack
        while stack and stack[-1].task.size < 2 * part.task.size:
            part, stack = join(stack[-1], part), stack[:-1]
        if part.task.size:
            self._stack = (*stack, part)
