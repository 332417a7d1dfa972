"""Score generated code from what a build and a test run reported: `code_score`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.checks import (
    MAX_COUNT,
    check_bounded_count,
    check_flag,
    check_instance,
    check_number,
    check_same_length,
    is_flag,
    is_ordered,
    store,
)
from scorekit._core.columns import (
    as_long,
    check_count_column,
    check_flag_column,
    check_id,
    check_number_column,
    check_outcome_columns,
    check_same_order,
    column,
    name_of,
)
from scorekit._core.text import as_decimal
from scorekit._sheet.values import counted
from scorekit.errors import refuse
from scorekit.records import Record

WARNINGS_TO_ZERO = 10
"""Lint warnings at which the lint component reaches 0: a tenth is lost for each one."""


@attrs.frozen(kw_only=True)
class CodeWeights(Record):
    """
    How much compiling, passing tests and a clean lint count; only their proportions matter.

    Raises:
        InputError: If a weight is negative or not finite, or all three are 0.
        TypeError: If a weight is not a number.

    Examples:
        >>> CodeWeights(compilation=0, tests=3, clippy=1)
        CodeWeights(compilation=0, tests=3, clippy=1)
    """

    compilation: float = 0.4
    """Weight of compiling at all."""
    tests: float = 0.5
    """Weight of the share of tests passed."""
    clippy: float = 0.1
    """Weight of the lint component; forgetest named it after Rust's linter."""

    def __attrs_post_init__(self) -> None:
        """Check each weight, and that all can be divided by their sum."""
        for name in ("compilation", "tests", "clippy"):
            weight = getattr(self, name)
            checked = check_number(name, weight, 0.0)
            if type(weight) is not int:  # which is as good, and shorter to read
                store(self, name, checked)
        weights = (self.compilation, self.tests, self.clippy)
        if not 0.0 < sum(weights) < math.inf:
            refuse("weights", "numbers with a positive, finite sum", weights)

    @property
    def shares(self) -> str:
        """The proportions in words, the same for all weights that mean the same."""
        weights = {name: as_decimal(getattr(self, name)) for name in attrs.fields_dict(type(self))}
        total = sum(weights.values())
        return ", ".join(f"{name} {float(one / total):g}" for name, one in weights.items())


DEFAULT_WEIGHTS = CodeWeights()
"""The proportions 0.4, 0.5 and 0.1 of forgetest."""


@attrs.frozen(kw_only=True, repr=False)
class CodeScore(Record):
    """Result of `code_score`: the score, its three components, then what they came from."""

    score: float
    """Weighted mean of the components in ``[0, 1]``, 0 if nothing compiled; higher is better."""
    compilation: float
    """1.0 if the code compiled, else 0.0."""
    tests: float
    """Share of tests passed in ``[0, 1]``, 0.0 with no tests."""
    clippy: float
    """Lint component in ``[0, 1]``: 1 without warnings, a tenth less for each."""
    compiled: bool
    passed: int
    failed: int
    warnings: int
    weights: CodeWeights

    def _line(self) -> str:
        n = self.passed + self.failed
        tests = f"{self.passed} of {counted(n, 'test')} passed" if n else "no tests"
        compiled = "compiled" if self.compiled else "did not compile"
        return f"{self.score:.4g} ({compiled}, {tests}, {counted(self.warnings, 'warning')})"


def code_score(
    *,
    compiled: bool,
    passed: int = 0,
    failed: int = 0,
    warnings: int = 0,
    weights: CodeWeights = DEFAULT_WEIGHTS,
) -> CodeScore:
    """
    Score one piece of generated code by compilation, tests and lint warnings.

    ``0.4 + 0.5 * passed / (passed + failed) + 0.1 * max(0, 1 - warnings / 10)``, with the weights
    divided by their sum; 0.0 if the code does not compile, and no credit for tests that do not
    exist. Weights count as they are written in decimal, and the result is rounded once. Formula
    and weights are forgetest's.

    Args:
        compiled: Whether the code compiled.
        passed: Tests passed, a count of at most 2**53, or whether all tests passed. True stands
            for one test passed, and False for one failed if *failed* is 0.
        failed: Tests failed (count, at most 2**53).
        warnings: Lint warnings (count, at most 2**53).
        weights: Proportions of the three components.

    Returns:
        A frozen `CodeScore`; a perfect sample scores exactly 1.0. Read *score*, *compiled* and
        *failed* first.

    Raises:
        InputError: If a count is negative or above 2**53, or tests failed where all passed.
        TypeError: If *compiled* is not a boolean or a count is not an integer.

    Examples:
        >>> result = code_score(compiled=True, passed=3, failed=1, warnings=2)
        >>> result.score, result.tests, result.clippy
        (0.855, 0.75, 0.8)
        >>> code_score(compiled=True, passed=-1)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: passed must be an integer >= 0, got -1
    """
    compiled = check_flag("compiled", compiled)
    passed, failed = _outcome(passed, check_bounded_count("failed", failed))
    warnings = check_bounded_count("warnings", warnings)
    check_instance("weights", weights, CodeWeights)
    n_tests, n_clean = max(passed + failed, 1), max(0, WARNINGS_TO_ZERO - warnings)
    return CodeScore(
        score=_weigh(passed, n_tests, n_clean, _shares(weights)) if compiled else 0.0,
        compilation=float(compiled),
        tests=passed / n_tests,
        clippy=n_clean / WARNINGS_TO_ZERO,
        compiled=compiled,
        passed=passed,
        failed=failed,
        warnings=warnings,
        weights=weights,
    )


def _outcome(passed: Any, failed: int) -> tuple[int, int]:
    """Return the tests passed and failed, where a flag for the first says all or none."""
    domain = "True or False, or a count of tests"
    if isinstance(passed, str):
        refuse("passed", domain, passed, TypeError)
    if type(passed) is not int and is_ordered(passed):
        refuse("passed", f"{domain} (of a column: code_scores_from_columns)", passed, TypeError)
    if not is_flag(passed):
        return check_bounded_count("passed", passed), failed
    if passed and failed:
        refuse("failed", "0 where passed is True", failed)
    return int(passed), failed if passed else max(failed, 1)


def code_scores_from_columns(
    *,
    compiled: Iterable[bool] | bool,
    passed: Iterable[int] | None = None,
    failed: Iterable[int] | int | None = None,
    warnings: Iterable[int] | int | None = None,
    weights: CodeWeights = DEFAULT_WEIGHTS,
) -> NDArray[np.float64]:
    """
    Score a column of samples; entry *i* is the score `code_score` gives to row *i*.

    Args:
        compiled: Whether each sample compiled, shape ``(N,)``: a list, or a NumPy, pandas, polars
            or Arrow column.  Here and below a single value fills a whole column.
        passed: Whether all tests passed, True or False, 1 or 0; or tests passed, beside *failed*;
            shape ``(N,)``. None is 0 throughout.
        failed: Tests failed, shape ``(N,)``; 0 where no attempt has a failed test.
        warnings: Lint warnings, shape ``(N,)``; None is 0 throughout.
        weights: Proportions of the three components.

    Returns:
        The scores in ``[0, 1]``, float64, shape ``(N,)``.

    Raises:
        InputError: If columns differ in length or are empty, or a count is negative or above
            2**53.
        TypeError: If an entry is not a boolean, or not an integer.

    Examples:
        >>> scores = code_scores_from_columns(compiled=[True, True], passed=[2, 1], failed=[0, 1])
        >>> scores.tolist()
        [1.0, 0.75]
        >>> code_scores_from_columns(compiled=[True, True], passed=[1])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: passed and compiled must be equally long, got 1 and 2
    """
    check_instance("weights", weights, CodeWeights)
    given = {"compiled": compiled, "passed": passed, "failed": failed, "warnings": warnings}
    name = "compiled" if not is_flag(compiled) or passed is None else "passed"
    first = column(name, given[name], "booleans")
    columns: dict[str, Any] = {name: first}
    for other, values in given.items():
        if other != name:
            check_same_order(name, given[name], other, values)
            columns[other] = as_long(0 if values is None else values, first.size)
    without = failed is None and passed is not None
    flags = check_flag_column("compiled", columns["compiled"])
    n_passed, n_failed = check_outcome_columns(
        columns["passed"], None if without else columns["failed"], "compiled", flags.size
    )
    n_warnings = check_count_column("warnings", columns["warnings"])
    check_same_length("warnings", n_warnings.size, "compiled", flags.size)
    return score_columns(flags, n_passed, n_failed, n_warnings, weights=weights)


def score_columns(
    flags: NDArray[np.bool_],
    n_passed: NDArray[np.int64],
    n_failed: NDArray[np.int64],
    n_warnings: NDArray[np.int64],
    *,
    weights: CodeWeights,
) -> NDArray[np.float64]:
    """Return what `code_scores_from_columns` does, of columns that are checked."""
    shares = _shares(weights)
    n_tests = np.maximum(n_passed + n_failed, 1)
    n_clean = np.maximum(WARNINGS_TO_ZERO - n_warnings, 0)
    if (
        sum(shares) * WARNINGS_TO_ZERO * int(n_tests.max(initial=1)) <= MAX_COUNT
    ):  # no float is inexact
        scores = _weigh(n_passed, n_tests, n_clean, shares)
    else:
        rows = zip(n_passed.tolist(), n_tests.tolist(), n_clean.tolist(), strict=True)
        weighed = cache(partial(_weigh, shares=shares))
        scores = np.array([weighed(*row) for row in rows])
    return np.where(flags, scores, 0.0)


@lru_cache(maxsize=64)
def _shares(weights: CodeWeights) -> tuple[int, int, int]:
    """Return whole numbers in the proportions of the weights, as these are written in decimal."""
    exact = [as_decimal(one) for one in (weights.compilation, weights.tests, weights.clippy)]
    size = math.lcm(*(one.denominator for one in exact))
    whole = [int(one * size) for one in exact]
    a, b, c = (one // math.gcd(*whole) for one in whole)
    return a, b, c


def _weigh(passed: Any, n_tests: Any, n_clean: Any, shares: tuple[int, int, int]) -> Any:
    """Take the weighted mean of counts, or of columns of them, as one division: rounded once."""
    a, b, c = shares
    total = (a * WARNINGS_TO_ZERO + c * n_clean) * n_tests + b * WARNINGS_TO_ZERO * passed
    return total / (sum(shares) * WARNINGS_TO_ZERO * n_tests)


@attrs.frozen(kw_only=True)
class CodeSample(Record):
    """
    One generated program and its outcome; samples with one *case_id* are attempts at one task.

    None means not measured, or not known.

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
    """

    case_id: str = attrs.field(converter=name_of)
    """Its name, like that of the model; an integer becomes text."""
    model: str = attrs.field(converter=name_of)
    compiled: bool | None
    """Whether it compiled; None only where *passed* is."""
    passed: int | None = 0
    """Tests passed, or whether all tests passed. True stands for one test passed, and False for
    one failed if *failed* is 0. All counts are at most 2**53. None if missing, as after a
    crash of the sandbox."""
    failed: int = 0
    """Tests failed."""
    warnings: int = 0
    """Lint warnings."""
    cost_usd: float | None = None
    latency_seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    """Tokens read from a prompt cache, beside the *input_tokens*, as in `token_cost`."""
    cache_write_tokens: int | None = None
    """Tokens written to one."""

    def __attrs_post_init__(self) -> None:
        """Check every field under its own name; store it as the builtin of its annotation."""
        store(self, "case_id", check_id("case_id", self.case_id))
        store(self, "model", check_id("model", self.model))
        if self.passed is not None and (is_flag(self.passed) or isinstance(self.passed, str)):
            passed, failed = _outcome(self.passed, check_bounded_count("failed", self.failed))
            store(self, "passed", passed)
            store(self, "failed", failed)
        for name, kind in MEASUREMENTS.items():
            value, where = getattr(self, name), ""
            if name == "compiled" and value is None is self.passed:
                continue
            if kind.optional:
                if value is None:
                    continue
                where = ", None where not measured,"  # data frames make NaN of it
            store(self, name, kind.check(name if name == "passed" else name + where, value))
        if self.passed is None:
            if self.failed:
                refuse("failed", "0 where passed is None", self.failed)
            if self.compiled is False:  # whatever tests there were
                store(self, "passed", 0)

    @property
    def correct(self) -> bool | None:
        """
        Whether it compiled, at least one test ran and none failed; warnings do not matter.

        None if missing.
        """
        if self.passed is None:
            return None
        return bool(self.compiled and self.passed and not self.failed)


class Kind(NamedTuple):
    """How a field of `CodeSample` is checked, and kept in a column."""

    check: Callable[[str, object], Any]
    check_column: Callable[[str, Any], Any]
    dtype: type[np.generic]
    missing: Any
    """What a column holds where a sample has no value; None where each must have one."""
    optional: bool = False
    """Whether None is a value of the field: not measured."""


NOT_MEASURED = -1
"""What a column of counts holds where nothing was counted; one of floats holds NaN."""

_KINDS = {
    "bool | None": Kind(check_flag, check_flag_column, np.bool_, missing=None),
    "int": Kind(check_bounded_count, check_count_column, np.int64, missing=0),
    "float | None": Kind(
        partial(check_number, low=0.0),
        partial(check_number_column, low=0.0),
        np.float64,
        missing=math.nan,
        optional=True,
    ),
    "int | None": Kind(
        check_bounded_count, check_count_column, np.int64, missing=NOT_MEASURED, optional=True
    ),
}

MEASUREMENTS = {
    name: _KINDS[kind] for name, kind in CodeSample.__annotations__.items() if kind in _KINDS
}
"""The fields of a sample but for its two names: their annotations say all there is to know."""
