"""
Formulas with exact values against rationals: shares of G-Pass@k, and code scores.

    python -m benchmarks.oracles.check_formulas
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import scorekit
from benchmarks.machine import alone

CLOSE = 1e-13
"""Relative error of a hypergeometric tail in floats."""


def tail(n: int, c: int, k: int, share: Fraction) -> Fraction:
    """Return the chance that so large a share of *k* of *n* samples is right."""
    least = max(1, math.ceil(share * k))
    ways = sum(math.comb(c, j) * math.comb(n - c, k - j) for j in range(least, min(c, k) + 1))
    return Fraction(ways, math.comb(n, k))


def shares() -> None:
    """Print how many shares m/k, as floats and fractions, and in two decimals, are off."""
    checked, off = {"m/k": 0, "two decimals": 0}, {"m/k": 0, "two decimals": 0}
    for k in range(1, 101):
        exact = [
            ("m/k", tau, Fraction(m, k))
            for m in range(1, k + 1)
            for tau in (m / k, Fraction(m, k))
        ]
        exact += [("two decimals", h / 100, Fraction(h, 100)) for h in range(1, 101)]
        for kind, tau, share in exact:
            c = max(1, min(100, math.ceil(share * 100)))
            wanted = float(tail(100, c, k, share))
            found = scorekit.g_pass_at_k(n_samples=100, n_correct=c, k=k, tau=tau).score
            checked[kind] += 1
            off[kind] += not math.isclose(found, wanted, rel_tol=CLOSE, abs_tol=1e-300)
    for kind, n in checked.items():
        print(f"G-Pass@k, shares {kind}, k to 100: {off[kind]} of {n} off by more than {CLOSE:g}")


def code_scores() -> None:
    """Print how many code scores are not the exact ones rounded once."""
    n, off, parts = 0, 0, [Fraction(one) for one in ("0.4", "0.5", "0.1")]
    for compiled, passed, failed, warnings in product(
        (True, False), range(20), range(20), range(13)
    ):
        lint, tests = (
            Fraction(max(0, 10 - warnings), 10),
            Fraction(passed, max(1, passed + failed)),
        )
        exact = parts[0] + parts[1] * tests + parts[2] * lint if compiled else Fraction(0)
        found = scorekit.code_score(
            compiled=compiled, passed=passed, failed=failed, warnings=warnings
        )
        n, off = n + 1, off + (found.score != float(exact))
    print(f"code scores: {off} of {n} are not the exact score rounded once")


def main(*, full: bool = False) -> None:
    """Print both."""
    del full  # they take half a minute
    shares()
    code_scores()


if __name__ == "__main__":
    alone(main)
