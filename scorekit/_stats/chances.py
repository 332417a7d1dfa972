"""
The chance that *k* of *n* samples, *c* of them correct, hold a correct one, and that they do not.

The second, ``C(n - c, k) / C(n, k)``, is the *failure*; the first, its complement, the *score*.
Both keep all their digits however small they are:

- few samples in one task: exact integers, rounded once;
- small *k* in a column: a recurrence of positive terms, shared by all *k*;
- else Stirling's formula, ordered so that the factorials cancel on paper and not in floats, as a
  logarithm where the failure is near 1 and as a product of powers where it is not.

`math.lgamma` instead would be shorter, and make the standard error of pass@100 with one success in
a million samples 6 % too large: the factorials cancel, and their rounding stays.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from scorekit._core.arrays import Counts, Floats

EXACT_UP_TO = 256
"""Samples up to which one task is computed in integers: a few microseconds."""

RECURRENCE_UP_TO = 20
"""Largest *k* of the recurrence: beyond it Stirling's formula is faster."""

BLOCK = 8192
"""Tasks computed together: about what the processor's cache holds."""

_NEAR_ZERO = 0.5
"""Expected correct samples in a draw, ``c k / n``, below which the failure is above a half."""

_BEYOND_FLOATS = 750.0
"""Expected correct samples above which the failure, at most ``exp(-c k / n)``, rounds to 0."""

_DELTAS = (
    -0.9189385332046728,  # -log(2 pi) / 2: with it, and 1 for r in the base, 0! comes out as 1
    0.08106146679532726,
    0.0413406959554093,
    0.02767792568499834,
    0.020790672103765093,
    0.016644691189821193,
    0.013876128823070748,
    0.01189670994589177,
    0.010411265261972096,
    0.009255462182712733,
    0.00833056343336287,
    0.007573675487951841,
    0.00694284010720953,
    0.006408994188004207,
    0.0059513701127588475,
    0.005554733551962801,
)
"""What Stirling's formula lacks, ``log(x! / (sqrt(2 pi x) (x / e)^x))``, for x below 16."""


def one_task(n: int, c: int, k: int) -> tuple[float, float]:
    """Return score and failure for ``1 <= k <= n`` and ``0 <= c <= n <= 2**53``."""
    if c == 0:
        return 0.0, 1.0
    if n - c < k or c * k > _BEYOND_FLOATS * n:
        return 1.0, 0.0
    if n <= EXACT_UP_TO:
        draws, failures = math.comb(n, k), math.comb(n - c, k)
        return (draws - failures) / draws, failures / draws
    ((_, found),) = blocks(np.array([n]), np.array([c]), (k,))
    score, failure = found[k]
    return float(score[0]), float(failure[0])


class CountTable(NamedTuple):
    """Rows (n, c) that cover all tasks."""

    n: Counts
    c: Counts
    row_of: Counts | None
    """The row of each task; None where each task is its own row."""


def table(n: Counts, c: Counts) -> CountTable:
    """Return every c from 0 to n for each n that occurs, if that is shorter than the tasks."""
    low, high = int(n.min()), int(n.max())
    if high >= n.size // 2:
        return CountTable(n, c, None)
    present = np.array([high]) if low == high else np.flatnonzero(np.bincount(n))
    ends: Counts = np.cumsum(present + 1)
    if ends[-1] > n.size // 2:
        return CountTable(n, c, None)
    starts = ends - (present + 1)
    table_n = np.repeat(present, present + 1)
    table_c = np.arange(table_n.size) - np.repeat(starts, present + 1)
    if low == high:
        return CountTable(table_n, table_c, c)
    start_of = np.zeros(high + 1, dtype=np.int64)
    start_of[present] = starts
    return CountTable(table_n, table_c, start_of[n] + c)


def blocks(
    n: Counts, c: Counts, ks: Sequence[int]
) -> Iterator[tuple[slice, dict[int, tuple[Floats, Floats]]]]:
    """
    Yield, for one block of tasks after another, score and failure for each of *ks*.

    Where *n* is below *k* they are numbers without meaning.
    """
    few = sorted({k for k in ks if k <= RECURRENCE_UP_TO})
    many = sorted({k for k in ks if k > RECURRENCE_UP_TO})
    for start in range(0, n.size, BLOCK):
        rows = slice(start, start + BLOCK)
        block_n, block_c = np.maximum(n[rows], 1.0), c[rows].astype(np.float64)
        with np.errstate(under="ignore"):
            chances = dict(_recurrence(block_n, block_c, few))
            chances.update((k, _by_stirling(block_n, block_c, float(k))) for k in many)
        yield rows, chances


def _recurrence(
    n: Floats, c: Floats, ks: Sequence[int]
) -> Iterator[tuple[int, tuple[Floats, Floats]]]:
    """Draw one sample after another; *ks* ascend."""
    wrong = n - c
    score, failure = c / n, wrong / n
    drawn = 1
    for k in ks:
        for i in range(drawn, k):
            share = failure / np.maximum(n - i, 1.0)
            score = score + share * c
            failure = share * (wrong - i)  # 0 once nothing wrong is left, and 0 it stays
        drawn = k
        bounded = np.where(failure == 0.0, 1.0, np.minimum(score, 1.0))
        yield k, (bounded, failure + 0.0)  # no -0.0


def _by_stirling(n: Floats, c: Floats, k: float) -> tuple[Floats, Floats]:
    expected = c * k / n
    score = (c > 0.0).astype(np.float64)
    failure = 1.0 - score
    near_zero = (c > 0.0) & (expected < _NEAR_ZERO)
    if near_zero.any():
        log_failure = _log_failure(n[near_zero], c[near_zero], k)
        score[near_zero], failure[near_zero] = -np.expm1(log_failure), np.exp(log_failure)
    rest = (expected >= _NEAR_ZERO) & (expected <= _BEYOND_FLOATS) & (n - c >= k)
    if rest.any():
        failure[rest] = _failure(n[rest], c[rest], k)
        score[rest] = 1.0 - failure[rest]
    return score, failure


# Stirling's formula turns the failure, with r = n - c - k, into
#     ((n-c)/n)^k ((n-k)/n)^c ((n-c)(n-k)/(n r))^(r + 1/2) e^D,
# where D gathers the four deltas; the powers of e cancel.


def _log_failure(n: Floats, c: Floats, k: float) -> Floats:
    """Return the logarithm of the failure; no term is much larger than a small result."""
    r = n - c - k
    powers = k * np.log1p(-c / n) + c * np.log1p(-k / n) + (r + 0.5) * np.log1p(c / n * k / r)
    return np.asarray(powers + _gathered_deltas(n, c, k))


def _failure(n: Floats, c: Floats, k: float) -> Floats:
    """
    Return the failure as a product of powers.

    As one logarithm pass^100 of 500 correct in 1000 samples would miss the promised 1e-14, at
    1.6e-14: the smaller the chance, the larger its logarithm and the rounding of that.  A power
    with an exact exponent is off by one rounding, provided that its base is: what the base lost in
    rounding comes back in the exponential.  Fourth roots keep the partial powers in range.
    """
    r = n - c - k
    base_k, lost_k = _quotient(n - c, n)
    base_c, lost_c = _quotient(n - k, n)
    ratio, lost = _quotient(n - c, r + (r == 0.0))
    base_r = ratio * base_c
    lost_r = lost + lost_c + _product_error(ratio, base_c, base_r) / base_r
    root = base_k ** (k / 4.0) * base_c ** (c / 4.0) * base_r ** ((r + 0.5) / 4.0)
    correction = k * lost_k + c * lost_c + (r + 0.5) * lost_r + _gathered_deltas(n, c, k)
    square = root * root
    return np.asarray(square * np.exp(correction) * square)


def _quotient(top: Floats, bottom: Floats) -> tuple[Floats, Floats]:
    """Return ``top / bottom`` rounded, and the relative error of that."""
    quotient = top / bottom
    product = quotient * bottom
    return quotient, ((top - product) - _product_error(quotient, bottom, product)) / top


def _product_error(x: Floats, y: Floats, product: Floats) -> Floats:
    """Return ``x * y - product`` exactly, *product* being ``x * y`` rounded (Dekker 1971)."""
    x_high, x_low = _halves(x)
    y_high, y_low = _halves(y)
    return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def _halves(x: Floats) -> tuple[Floats, Floats]:
    """Split *x* into two parts of at most 26 bits, whose products are exact (Veltkamp 1968)."""
    shifted = 134217729.0 * x
    high = shifted - (shifted - x)
    return high, x - high


def _gathered_deltas(n: Floats, c: Floats, k: float) -> Floats:
    return np.asarray((_deltas(n - c) - _deltas(n)) + (_deltas(n - k) - _deltas(n - c - k)))


def _deltas(x: Floats) -> Floats:
    """Return the error of Stirling's formula, from 16 on by its series, to the last bit."""
    y = 1.0 / np.maximum(x, len(_DELTAS))
    z = y * y
    tail = 1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360)))
    deltas: Floats = y * (1 / 12 - z * (1 / 360 - z * tail))
    small = x < len(_DELTAS)
    if small.any():
        deltas[small] = np.array(_DELTAS)[x[small].astype(np.intp)]
    return deltas
