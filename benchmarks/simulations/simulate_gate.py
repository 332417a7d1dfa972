"""
How often the gate stops an unchanged run, where this takes the whole path of a user.

Two metrics, two models, clusters, and repeats on days that drift, unchanged and with ten points
lost.  `simulate_rule` has the rest, by a shorter way.

    python -m benchmarks.simulations.simulate_gate [--full]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

import scorekit
from benchmarks.machine import alone
from benchmarks.simulations.simulate_rule import WORLDS, said

SEED = 20261201

Array = NDArray[Any]
Rng = np.random.Generator
Pair = tuple[Any, Any]


def run(rng: Rng, rates: Array, sizes: int | Array) -> dict[str, list[float]]:
    """Draw attempts at each case."""
    counts = np.broadcast_to(sizes, rates.shape)
    scores = (rng.random(int(counts.sum())) < np.repeat(rates, counts)).astype(float)
    parts = np.split(scores, np.cumsum(counts)[:-1])
    return {f"{i}": part.tolist() for i, part in enumerate(parts)}


def graded(rng: Rng, rates: Array, k: int) -> scorekit.CodeReport:
    """Draw a report of attempts that pass some of four tests."""
    passed = rng.binomial(4, rates[:, np.newaxis], (rates.size, k))
    return scorekit.code_report_from_columns(
        case_id=np.repeat(np.arange(rates.size), k).tolist(),
        model="m",
        compiled=True,
        passed=passed.ravel().tolist(),
        failed=(4 - passed).ravel().tolist(),
    )


def named(rng: Rng, rates: Array, k: int, model: str) -> scorekit.CodeReport:
    """Draw a report that names its model."""
    right = rng.random((rates.size, k)) < rates[:, np.newaxis]
    return scorekit.code_report_from_columns(
        model=model, passed={f"{i}": row for i, row in enumerate(right.astype(int).tolist())}
    )


def drifted(rng: Rng, rates: Array) -> Array:
    """Move all cases of a run together; one run in eight is a bad one."""
    inside = np.clip(rates, 1e-9, 1.0 - 1e-9)
    shift = rng.normal(0.0, 0.2) - (rng.random() < 1 / 8)
    return np.asarray(special.expit(special.logit(inside) + shift))


class Cell(NamedTuple):
    """A row of a table: what happens, and how both runs are drawn."""

    what: str
    size: str
    draw: Callable[[Rng], Pair]
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


def gate(pair: Pair, options: dict[str, Any]) -> str:
    """Return what the gate says: nothing, or why it stops."""
    return said(scorekit.compare_reports(*pair, **options))


def table(title: str, cells: Iterator[Cell], repetitions: int) -> None:
    """Print the share of runs that the gate stops."""
    print(f"\n{title}\n\n| runs | cases x attempts | stops | of these: cannot tell | cannot see |")
    print("|---|---|---|---|---|")
    for cell in cells:
        rng = np.random.default_rng([SEED, *f"{cell.what}{cell.size}".encode()])
        found = [gate(cell.draw(rng), cell.options) for _ in range(repetitions)]
        shares = [
            np.mean([one in words for one in found])
            for words in (("stops", "cannot tell"), ("cannot tell",), ("cannot see",))
        ]
        numbers = " | ".join(f"{x:.3f}" for x in shares)
        print(f"| {cell.what} | {cell.size} | {numbers} |", flush=True)


def unchanged() -> Iterator[Cell]:
    """Yield unchanged runs."""
    for n, k in ((10, 3), (40, 1), (50, 5)):
        for name in ("beta", "stable99"):

            def of_tests(rng: Rng, n: int = n, k: int = k, name: str = name) -> Pair:
                rates = WORLDS[name](rng, n)
                return graded(rng, rates, k), graded(rng, rates, k)

            yield Cell(f"unchanged, two metrics, {name}", f"{n} x {k}", of_tests)
    for n, k in ((20, 5), (50, 5), (100, 10)):

        def models(rng: Rng, n: int = n, k: int = k) -> Pair:
            rates = np.clip(rng.uniform(0.3, 0.7, n) + rng.normal(0, 0.2, (2, n)), 0, 1)
            return named(rng, rates[0], k, "a"), named(rng, rates[1], k, "b")

        yield Cell("equal models of two names", f"{n} x {k}", models)
    for groups in ([4] * 10, [10] * 5, [10] * 6, [40] + [3] * 20, [1, 2, 4, 8, 16, 16]):
        yield from clustered(groups, 0.0)


def clustered(groups: Sequence[int], loss: float) -> Iterator[Cell]:
    """Yield runs of cases in groups that move together."""
    of = np.repeat(np.arange(len(groups)), groups)
    clusters = {f"{i}": int(one) for i, one in enumerate(of)}

    def moving(rng: Rng) -> Pair:
        rates = rng.uniform(0.3, 0.7, of.size)
        shift = rng.normal(-loss, 0.1, len(groups))[of]
        return run(rng, rates, 3), run(rng, np.clip(rates + shift, 0, 1), 3)

    what = "clusters that move by .1" + (f", {100 * loss:g} points lost" if loss else "")
    size = f"{len(groups)} groups of {min(groups)} to {max(groups)}"
    yield Cell(what, size, moving, {"clusters": clusters})


def repeats(loss: float) -> Iterator[Cell]:
    """Yield runs that are repeated on days that differ, also as few as cannot see."""
    what = "ten points lost" if loss else "unchanged"
    for n_old, n_new in ((3, 3), (4, 4), (3, 5), (5, 5)):
        for name in ("uniform", "beta"):

            def draw(rng: Rng, n_old: int = n_old, n_new: int = n_new, name: str = name) -> Pair:
                rates = WORLDS[name](rng, 50)
                lower = np.maximum(rates - loss, 0.0)
                return (
                    [run(rng, drifted(rng, rates), 5) for _ in range(n_old)],
                    [run(rng, drifted(rng, lower), 5) for _ in range(n_new)],
                )

            yield Cell(f"{what}, days that drift, {name}", f"{n_old} against {n_new}", draw)


def best_of_baselines(repetitions: int) -> None:
    """Print how often an unchanged run stops against the best of several baselines."""
    print("\n| baselines | stops |\n|---|---|")
    for n in (1, 2, 5, 10, 20):
        rng = np.random.default_rng([SEED, n])
        stopped = 0
        for _ in range(repetitions):
            rates = rng.random(100)
            runs = [run(rng, rates, 5) for _ in range(n)]
            best = max(runs, key=lambda one: sum(map(sum, one.values())))
            stopped += bool(gate((best, run(rng, rates, 5)), {}))
        print(f"| {n} | {stopped / repetitions:.3f} |", flush=True)


def main(*, full: bool = False) -> None:
    """Print the Markdown tables."""
    repetitions = 2000 if full else 200
    print(f"{repetitions} repetitions, seed {SEED}, confidence level 0.95")
    table("Nothing changed", unchanged(), repetitions)
    table("Ten points lost", clustered([4] * 10, 0.1), repetitions)
    table("Repeats, nothing changed", repeats(0.0), repetitions)
    table("Repeats, ten points lost", repeats(0.1), repetitions)
    best_of_baselines(repetitions)


if __name__ == "__main__":
    alone(main)
