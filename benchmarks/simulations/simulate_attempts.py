"""
How often verdicts err where scores are not as simple as tests suppose.

- A margin is looked at while tasks come from easy to hard.
- Ties of a preference count as half a win each.
- Groups of equal scores, and equal models with unequal attempts, are compared.

    python -m benchmarks.simulations.simulate_attempts [--full]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import scorekit
from benchmarks.machine import alone

SEED = 20261123
ALPHA = 0.05

Array = NDArray[Any]


def sorted_margin(rng: np.random.Generator, repetitions: int) -> None:
    """Print how often a margin of .1 is claimed early of a run that loses .15 in its hard half."""
    print("\n| cases | claimed at some look, random order | sorted, before | sorted, now |")
    print("|---|---|---|---|")
    for n in (200, 400):
        rates = np.sort(rng.random((repetitions, n)), axis=1)[:, ::-1]
        lower = rates - np.where(np.arange(n) >= n // 2, 0.3 * np.minimum(1.0, rates * 4), 0.0)
        deltas = rng.binomial(5, np.clip(lower, 0, 1)) / 5 - rng.binomial(5, rates) / 5
        claims = np.zeros(3)
        for row in deltas:
            mixed = rng.permutation(row)
            claims += [early(mixed), early(row), late(row)]
        cells = " | ".join(f"{one:.3f}" for one in claims / repetitions)
        true = float((np.clip(lower, 0, 1) - rates).mean())
        print(f"| {n} (true change {true:+.3f}) | {cells} |", flush=True)


def early(row: Array) -> bool:
    """Return whether a margin is held at one of ten looks."""
    from scorekit._stats.betting import betting_interval

    looks = np.linspace(len(row) // 10, len(row), 10).astype(int)
    return any(betting_interval(row[:n], 0.95)[0] > -0.1 for n in looks)


def late(row: Array) -> bool:
    """Return whether it is held once all cases are there."""
    from scorekit._stats.betting import betting_interval

    return betting_interval(row, 0.95)[0] > -0.1


def ties(rng: np.random.Generator, repetitions: int) -> None:
    """Print what a strength of 1 reads where ties count half, and where they are left out."""
    print("\n| ties | half a win each | left out, and coverage |\n|---|---|---|")
    for share in (0.1, 0.4):
        won = (1 - share) / (1 + math.exp(-1.0))
        wins = rng.multinomial(400, [won, 1 - share - won, share], size=repetitions)
        half = np.log((wins[:, 0] + wins[:, 2] / 2) / (wins[:, 1] + wins[:, 2] / 2))
        found = [
            scorekit.bradley_terry({("a", "b"): a, ("b", "a"): b}) for a, b, _ in wins.tolist()
        ]
        read = [2 * one.strengths["a"] for one in found]
        held = [one.intervals["a"].low <= 0.5 <= one.intervals["a"].high for one in found]
        print(f"| {share:.0%} | {half.mean():.2f} | {np.mean(read):.2f}, {np.mean(held):.3f} |")


def equal_groups(rng: np.random.Generator, repetitions: int) -> None:
    """Print how often equal groups differ by Welch's test, and by the interval within bounds."""
    print("\n| scores | groups | Welch, p < .05 | within bounds, p < .05 |\n|---|---|---|---|")
    draws: dict[str, Callable[[tuple[int, int]], Array]] = {
        "95 % at 1, the others 0": lambda shape: (rng.random(shape) < 0.95).astype(float),
        "N(.9, .02), 3 % zeros": lambda shape: np.where(
            rng.random(shape) < 0.03, 0.0, np.clip(rng.normal(0.9, 0.02, shape), 0, 1)
        ),
        "uniform": rng.random,
    }
    for name, draw in draws.items():
        for sizes in ((10, 10), (20, 20), (10, 50), (100, 100)):
            old, new = (draw((repetitions, n)) for n in sizes)
            found = np.zeros(2)
            for one, other in zip(old, new, strict=True):
                plain = scorekit.unpaired_difference(one, other).p_value
                inside = scorekit.unpaired_difference(one, other, bounds=(0, 1)).p_value
                found += [p is not None and p < ALPHA for p in (plain, inside)]
            cells = " | ".join(f"{one:.3f}" for one in found / repetitions)
            print(f"| {name} | {sizes[0]}, {sizes[1]} | {cells} |", flush=True)


def equal_models(rng: np.random.Generator, repetitions: int) -> None:
    """Print how often equal models with unequal attempts get a false verdict."""
    print("\n| attempts | rates | tasks | signs flipped | within bounds |\n|---|---|---|---|---|")
    for attempts in ((1, 10), (1, 10, 10), (5, 5)):
        for rate, n in ((0.95, 30), (0.98, 20), (0.7, 50)):
            found = np.zeros(2)
            for _ in range(repetitions):
                means = [rng.binomial(k, rate, n) / k for k in attempts]
                plain = {f"{i}": dict(enumerate(own.tolist())) for i, own in enumerate(means)}
                runs = {
                    f"{i}": {j: [x] * k for j, x in enumerate(own.tolist())}
                    for i, (own, k) in enumerate(zip(means, attempts, strict=True))
                }
                both = (
                    scorekit.compare_models(plain, n_resamples=1000),
                    scorekit.compare_models(runs, bounds=(0, 1), n_resamples=1000),
                )
                found += [any(p.verdict == "better" for p in one.pairs) for one in both]
            cells = " | ".join(f"{one:.3f}" for one in found / repetitions)
            print(f"| {', '.join(map(str, attempts))} | {rate} | {n} | {cells} |", flush=True)


def main(*, full: bool = False) -> None:
    """Print the Markdown tables."""
    repetitions = 4000 if full else 40
    print(f"{repetitions} repetitions, seed {SEED}, confidence level 0.95")
    slow = repetitions // 2
    for part, n in (
        (sorted_margin, slow),
        (ties, slow),
        (equal_groups, slow),
        (equal_models, slow),
    ):
        part(np.random.default_rng(SEED), n)


if __name__ == "__main__":
    alone(main)
