"""Exact tests of 2 x 2 tables: `mcnemar_test`, and Fisher's over the attempts at one case."""

from __future__ import annotations

import math
from functools import lru_cache

import attrs
import numpy as np

from scorekit._checks import check_bounded_count
from scorekit._records import Record

EXACT_ATTEMPTS = 100
"""Attempts at a case up to which Fisher's p value is correctly rounded."""


@attrs.frozen(kw_only=True)
class McNemarTest(Record):
    """Result of `mcnemar_test`: the p values, and the counts they came from; both by ``str()``."""

    p_value: float
    """Two-sided and exact; it keeps its level for certain, and is cautious for that."""
    mid_p_value: float
    """Two-sided, what was observed counted half; nearer its level, at most *p_value*."""
    corrected_p_value: float | None
    """Two-sided, of chi-squared with continuity correction; None where nothing changed side."""
    regression_p_value: float
    """One-sided and exact, the chance of so many falls or more were both sides alike."""
    n_pass_to_fail: int
    n_fail_to_pass: int

    def __str__(self) -> str:
        """Return the counts and two p values on one line, rounded for display."""
        return (
            f"{self.n_pass_to_fail} fell, {self.n_fail_to_pass} rose "
            f"(mid-p = {self.mid_p_value:.2g}, exact p = {self.p_value:.2g})"
        )


def mcnemar_test(*, n_pass_to_fail: int, n_fail_to_pass: int) -> McNemarTest:
    """
    Say whether two runs differ, from no more than how many tasks changed side.

    For two runs or models that tried each task once.  Tasks that both solved, or neither, say
    nothing about which is better; were the two alike, each of the *n* other tasks would fall or
    rise with chance 1/2, so that the number that fell is binomial, ``B(n, 1/2)``.  The chi-squared
    with continuity correction is ``(|b - c| - 1)^2 / (b + c)`` for *b* falls and *c* rises.

    Where the outcomes themselves are at hand, `compare_reports` says more: its
    Cochran-Mantel-Haenszel test takes several attempts at a task and is, for a single one,
    McNemar's chi-squared without correction, ``(b - c)^2 / (b + c)``.  Take this function where
    only the counts are known or published, or where so few tasks changed side (fewer than 25,
    say) that a normal approximation is in doubt.  The mid-p value is the one to read by default;
    *p_value* where the level must be kept for certain; the corrected one, which is cautious
    without need, to check it against one that was published.

    Args:
        n_pass_to_fail: Tasks that the first run solved and the second did not, *b* (count, at
            most 2**53).
        n_fail_to_pass: Tasks that the second run solved and the first did not, *c* (count, at
            most 2**53).

    Returns:
        A frozen `McNemarTest`.

    Raises:
        InputError: If a count is out of range.
        TypeError: If a count is not an integer.

    Examples:
        >>> result = mcnemar_test(n_pass_to_fail=12, n_fail_to_pass=3)
        >>> round(result.p_value, 4), round(result.mid_p_value, 4)
        (0.0352, 0.0213)
        >>> mcnemar_test(n_pass_to_fail=12, n_fail_to_pass=-3)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_fail_to_pass must be an integer >= 0, got -3

    References:
        Fagerland, Lydersen and Laake, "The McNemar test for binary matched-pairs data: mid-p and
        asymptotic are better than exact conditional", BMC Medical Research Methodology 13:91,
        2013.

    .. versionadded:: 0.1.0
    """
    falls = check_bounded_count("n_pass_to_fail", n_pass_to_fail)
    rises = check_bounded_count("n_fail_to_pass", n_fail_to_pass)
    many, few = max(falls, rises), min(falls, rises)
    tail = _at_least(many, few)
    beyond = _at_least(many + 1, few - 1) if few else 0.0
    p_value = min(1.0, 2.0 * tail)
    corrected = None
    if many:
        corrected = math.erfc(abs(many - few - 1) / math.sqrt(2 * (many + few)))
    return McNemarTest(
        p_value=p_value,
        mid_p_value=min(p_value, tail + beyond),
        corrected_p_value=corrected,
        regression_p_value=_at_least(falls, rises),
        n_pass_to_fail=falls,
        n_fail_to_pass=rises,
    )


def _at_least(n_heads: int, n_tails: int) -> float:
    """Return the chance that so many tosses of a coin show *n_heads* or more."""
    if not n_heads:
        return 1.0
    from scipy.special import betainc

    return float(betainc(n_heads, n_tails + 1.0, 0.5))


def change_p_value(before: tuple[float, ...], after: tuple[float, ...]) -> float | None:
    """
    Return the p value of one case's change, one-sided in the direction in which it went.

    Fisher's exact test over the attempts; None where one of them is not scored 0 or 1.
    """
    if not {*before, *after} <= {0.0, 1.0}:
        return None
    old, new = (len(before), int(sum(before))), (len(after), int(sum(after)))
    worse = new[1] * old[0] < old[1] * new[0]
    return drop_p_value(*old, *new) if worse else drop_p_value(*new, *old)


@lru_cache(maxsize=4096)
def drop_p_value(n_first: int, c_first: int, n_second: int, c_second: int) -> float:
    """
    Return the chance of so few successes in the second of two groups, or fewer, were they alike.

    One-sided Fisher: given all successes, those in the second group are hypergeometric.  Where
    integers would grow long their weights come from each other by ratios, in logarithms, and not
    from factorials, whose logarithms would lose digits.
    """
    passes, total = c_first + c_second, n_first + n_second
    low, high = max(0, passes - n_first), min(passes, n_second)
    if total <= EXACT_ATTEMPTS:
        ways = (
            math.comb(passes, i) * math.comb(total - passes, n_second - i)
            for i in range(low, c_second + 1)
        )
        return sum(ways) / math.comb(total, n_second)
    i = np.arange(low + 1.0, high + 1.0)
    ratios = (passes - i + 1) * (n_second - i + 1) / (i * (n_first - passes + i))
    logs = np.concatenate(([0.0], np.log(ratios).cumsum()))
    weights = np.exp(logs - logs.max())
    return float(weights[: c_second - low + 1].sum() / weights.sum())
