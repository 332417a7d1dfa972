"""
How often a gate stops an unchanged run, and how often it stops a loss, beside simpler gates.

Everything goes through `compare_reports` and `raise_for_regressions` as a user calls them.  The
other gates of a table are worked out here, each on one side at 5 %:

- *t*: a paired t test of the case means.
- *McNemar*: the exact test of the cases whose majority of attempts changed.
- *2 points*: the mean fell by more than two points, a fixed threshold as in many CI jobs.
- *Fisher*: some case has a p value below 0.05 by Fisher's exact test, without a correction.
- *holdline*: the gate of holdline 0.2.1, a two-sided exact McNemar test of the cases of which all
  attempts passed (our version of its formula, held against the package where it is installed).
- *evalgate*: the gate of evalgate-cli 0.2.0, a two-sided z test of the two shares of attempts that
  passed (likewise).

    python -m benchmarks.simulations.simulate_gate [--full]
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

import scorekit
from benchmarks.machine import alone

SEED = 20261201
ALPHA = 0.05
POINTS = 0.02

Array = NDArray[Any]
Rng = np.random.Generator
Pair = tuple[Any, Any]
Runs = dict[str, list[float]]


def bimodal(rng: Rng, n: int) -> Array:
    """Draw rates of cases that mostly pass, mostly fail, or flip."""
    return rng.choice([0.02, 0.5, 0.98], n, p=[0.15, 0.15, 0.7])


RATES: dict[str, Callable[[Rng, int], Array]] = {
    "Beta(.5, .5)": lambda rng, n: rng.beta(0.5, 0.5, n),
    "uniform": lambda rng, n: rng.random(n),
    "bimodal": bimodal,
    "all .99": lambda _, n: np.full(n, 0.99),
    "all .9": lambda _, n: np.full(n, 0.9),
    ".3 to .8": lambda rng, n: rng.uniform(0.3, 0.8, n),
    "stable": lambda rng, n: np.where(rng.random(n) < 0.04, 0.5, rng.random(n) < 0.85),
    "ten of ten": lambda _, n: np.ones(n),
}


def run(rng: Rng, rates: Array, sizes: int | Array) -> dict[str, list[float]]:
    """Draw attempts at each case."""
    counts = np.broadcast_to(sizes, rates.shape)
    scores = (rng.random(int(counts.sum())) < np.repeat(rates, counts)).astype(float)
    parts = np.split(scores, np.cumsum(counts)[:-1])
    return {f"{i}": part.tolist() for i, part in enumerate(parts)}


def copied(rng: Rng, rates: Array, k: int, share: float) -> dict[str, list[float]]:
    """Draw attempts that are copies of one answer at a share of the cases, always the same."""
    one = np.arange(rates.size) < share * rates.size
    first = rng.random(rates.size) < rates
    scores = np.where(
        one[:, np.newaxis],
        first[:, np.newaxis],
        rng.random((rates.size, k)) < rates[:, np.newaxis],
    )
    return {f"{i}": row for i, row in enumerate(scores.astype(float).tolist())}


def related(rng: Rng, rates: Array, k: int, correlation: float) -> dict[str, list[float]]:
    """Draw attempts of which each two at a case have this correlation."""
    size = 1.0 / correlation - 1.0
    inside = np.clip(rates, 1e-6, 1.0 - 1e-6) * size
    return run(rng, rng.beta(inside, size - inside), k)


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


def lossy(rng: Rng, rates: Array, k: int) -> scorekit.CodeReport:
    """Draw a report in which a tenth of the outcomes is unknown."""
    right = (rng.random((rates.size, k)) < rates[:, np.newaxis]).astype(int).tolist()
    passed = {
        f"{i}": [None if rng.random() < 0.1 else one for one in row] for i, row in enumerate(right)
    }
    return scorekit.code_report_from_columns(model="m", passed=passed)


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


def gate(pair: Pair, options: dict[str, Any], **choices: Any) -> str:
    """Return what the gate says: nothing, or why it stops."""
    found = scorekit.compare_reports(*pair, **options)
    try:
        found.raise_for_regressions(**choices)
    except scorekit.RegressionError as error:
        return "cannot tell" if str(error).startswith("cannot tell") else "stops"
    except scorekit.CannotSeeError:
        return "cannot see"
    return ""


@lru_cache(maxsize=10_000)
def fisher(n_old: int, c_old: int, n_new: int, c_new: int) -> float:
    """Return the one-sided p value of a fall."""
    return float(stats.hypergeom.cdf(c_new, n_old + n_new, c_old + c_new, n_new))


NAMES = ("t", "McNemar", "2 points", "Fisher", "holdline", "evalgate")


def holdline(before: Runs, after: Runs) -> bool:
    """Return whether holdline's gate stops."""
    every = [(all(x), all(y)) for x, y in zip(before.values(), after.values(), strict=True)]
    falls, rises = every.count((True, False)), every.count((False, True))
    p_value = min(1.0, 2.0 * float(stats.binom.cdf(rises, falls + rises, 0.5)))
    return falls > rises and p_value < ALPHA


def evalgate(before: Runs, after: Runs) -> bool:
    """Return whether evalgate-cli's gate stops."""
    n_old, n_new = (sum(map(len, side.values())) for side in (before, after))
    c_old, c_new = (sum(map(sum, side.values())) for side in (before, after))
    pooled = (c_old + c_new) / (n_old + n_new)
    error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / n_old + 1.0 / n_new))
    change = c_new / n_new - c_old / n_old
    return change < 0.0 < error and 2.0 * float(special.ndtr(change / error)) < ALPHA


def check_gates(rng: Rng) -> None:
    """Hold what is worked out here against the packages, where they are installed."""
    pairs = [same("uniform", 20, 3).draw(rng) for _ in range(50)]
    with contextlib.suppress(ImportError):
        from evalgate.decide import decide
        from evalgate.stats import two_proportion_test

        for old, new in pairs:
            counts = [(int(sum(map(sum, one.values()))), 60) for one in (old, new)]
            found = decide(two_proportion_test(*counts[0], *counts[1]))
            assert found.is_regression == evalgate(old, new)
    with contextlib.suppress(ImportError):
        from holdline.stats import mcnemar_exact

        for old, new in pairs:
            every = [(all(x), all(y)) for x, y in zip(old.values(), new.values(), strict=True)]
            falls, rises = every.count((True, False)), every.count((False, True))
            stops = falls > rises and mcnemar_exact(falls, rises) < ALPHA
            assert stops == holdline(old, new)


def others(pair: Pair) -> list[bool]:
    """Return whether each of the gates in `NAMES` stops."""
    before, after = pair
    old, new = (np.array([math.fsum(x) / len(x) for x in side.values()]) for side in pair)
    change = new - old
    error = change.std(ddof=1) / math.sqrt(change.size)
    t = bool(error and stats.t.cdf(change.mean() / error, change.size - 1) <= ALPHA)
    falls, rises = (int(((a > 0.5) & (b <= 0.5)).sum()) for a, b in ((old, new), (new, old)))
    mcnemar = falls > 0 and stats.binom.sf(falls - 1, falls + rises, 0.5) <= ALPHA
    single = any(
        fisher(len(x), int(sum(x)), len(y), int(sum(y))) <= ALPHA
        for x, y in zip(before.values(), after.values(), strict=True)
        if sum(y) / len(y) < sum(x) / len(x)
    )
    points = bool(change.mean() < -POINTS)
    return [t, bool(mcnemar), points, single, holdline(*pair), evalgate(*pair)]


def table(title: str, cells: Iterator[Cell], repetitions: int) -> None:
    """Print the share of runs that each gate stops."""
    print(f"\n{title}\n")
    print("| runs | cases x attempts | stops | of these: cannot tell | cannot see |", end="")
    print(f" {' | '.join(NAMES)} |\n|{'---|' * (5 + len(NAMES))}")
    for cell in cells:
        rng = np.random.default_rng([SEED, *f"{cell.what}{cell.size}".encode()])
        said, rest = [], []
        for _ in range(repetitions):
            pair = cell.draw(rng)
            said.append(gate(pair, cell.options))
            if isinstance(pair[0], dict):
                rest.append(others(pair))
        shares = [
            np.mean([one in words for one in said])
            for words in (("stops", "cannot tell"), ("cannot tell",), ("cannot see",))
        ]
        simple = np.mean(rest, axis=0).tolist() if rest else ["-"] * len(NAMES)
        numbers = [f"{x:.3f}" if isinstance(x, float) else x for x in [*shares, *simple]]
        print(f"| {cell.what} | {cell.size} | {' | '.join(numbers)} |", flush=True)


def unchanged() -> Iterator[Cell]:  # noqa: C901 - a table
    """Yield unchanged runs."""
    for n in (4, 5, 6, 10, 20, 50, 164, 1000):
        for k in (1, 3, 5, 10):
            for name in ("Beta(.5, .5)", ".3 to .8", "bimodal", "all .99"):
                yield same(name, n, k)
    for n in (10, 20, 50, 164):
        for sizes in ((3, 5), (5, 3), (1, 10), (10, 1), (1, 100), (100, 1)):
            for name in ("uniform", "bimodal", "all .9", "all .99"):
                yield same(name, n, *sizes)
        for name in ("uniform", "all .9"):

            def ragged(rng: Rng, n: int = n, name: str = name) -> Pair:
                rates = RATES[name](rng, n)
                return run(rng, rates, rng.integers(1, 6, n)), run(
                    rng, rates, rng.integers(1, 6, n)
                )

            yield Cell(f"unchanged, {name}", f"{n} x 1 to 5", ragged)
    for n, k in ((10, 3), (40, 1), (50, 5), (164, 3)):
        for name in ("Beta(.5, .5)", "all .99"):

            def of_tests(rng: Rng, n: int = n, k: int = k, name: str = name) -> Pair:
                rates = RATES[name](rng, n)
                return graded(rng, rates, k), graded(rng, rates, k)

            yield Cell(f"unchanged, two metrics, {name}", f"{n} x {k}", of_tests)
    for n, k in ((20, 5), (50, 5), (100, 10)):

        def models(rng: Rng, n: int = n, k: int = k) -> Pair:
            rates = np.clip(rng.uniform(0.3, 0.7, n) + rng.normal(0, 0.2, (2, n)), 0, 1)
            return named(rng, rates[0], k, "a"), named(rng, rates[1], k, "b")

        def unknown(rng: Rng, n: int = n, k: int = k) -> Pair:
            rates = rng.random(n)
            return lossy(rng, rates, k), lossy(rng, rates, k)

        yield Cell("equal models of two names", f"{n} x {k}", models)
        yield Cell("a tenth unknown", f"{n} x {k}", unknown)
    for groups in ([4] * 10, [10] * 5, [40] + [3] * 20, [1, 2, 4, 8, 16]):
        of = np.repeat(np.arange(len(groups)), groups)
        clusters = {f"{i}": int(one) for i, one in enumerate(of)}

        def moving(rng: Rng, of: Array = of) -> Pair:
            rates = rng.uniform(0.3, 0.7, of.size)
            shift = rng.normal(0, 0.1, int(of.max()) + 1)[of]
            return run(rng, rates, 3), run(rng, np.clip(rates + shift, 0, 1), 3)

        size = f"{len(groups)} groups of {min(groups)} to {max(groups)}"
        yield Cell("clusters that move by .1", size, moving, {"clusters": clusters})
    yield from repeats(0.0)


def same(name: str, n: int, k: int, k_new: int | None = None) -> Cell:
    """Return two runs of the same rates."""

    def draw(rng: Rng) -> Pair:
        rates = RATES[name](rng, n)
        return run(rng, rates, k), run(rng, rates, k_new or k)

    size = f"{n} x {k}" if k_new is None else f"{n} x {k} against {k_new}"
    return Cell(f"unchanged, {name}", size, draw)


def repeats(loss: float) -> Iterator[Cell]:
    """Yield runs that are repeated on days that differ, also as few as cannot see."""
    what = "ten points lost" if loss else "unchanged"
    for n_old, n_new in ((3, 3), (2, 5), (5, 5), (2, 2)):
        for name in ("uniform", "bimodal"):

            def draw(rng: Rng, n_old: int = n_old, n_new: int = n_new, name: str = name) -> Pair:
                rates = RATES[name](rng, 50)
                lower = np.maximum(rates - loss, 0.0)
                return (
                    [run(rng, drifted(rng, rates), 5) for _ in range(n_old)],
                    [run(rng, drifted(rng, lower), 5) for _ in range(n_new)],
                )

            yield Cell(f"{what}, days that drift, {name}", f"{n_old} against {n_new}", draw)


def dependent() -> Iterator[Cell]:
    """Yield unchanged runs whose attempts depend on each other."""
    for n in (10, 20, 50, 100):
        for k in (5, 10):
            for name in ("Beta(.5, .5)", "bimodal", ".3 to .8", "stable"):
                for share in (1.0, 0.5, 0.1):

                    def copies(
                        rng: Rng, n: int = n, k: int = k, name: str = name, share: float = share
                    ) -> Pair:
                        rates = rng.permutation(RATES[name](rng, n))
                        return copied(rng, rates, k, share), copied(rng, rates, k, share)

                    yield Cell(f"{share:.0%} of cases copied, {name}", f"{n} x {k}", copies)

                def correlated(rng: Rng, n: int = n, k: int = k, name: str = name) -> Pair:
                    rates = RATES[name](rng, n)
                    return related(rng, rates, k, 0.3), related(rng, rates, k, 0.3)

                yield Cell(f"correlation .3, {name}", f"{n} x {k}", correlated)


def lost() -> Iterator[Cell]:
    """Yield losses."""
    for n, k, name, n_fallen in (
        (1000, 10, "ten of ten", 1),
        (100, 10, "ten of ten", 1),
        (100, 10, "ten of ten", 3),
        (100, 10, "all .99", 1),
        (100, 10, "Beta(.5, .5)", 1),
        (100, 10, "bimodal", 1),
        (50, 5, "all .99", 1),
        (50, 5, "Beta(.5, .5)", 1),
        (6, 5, "bimodal", 1),
        (20, 10, "bimodal", 3),
        (50, 1, "ten of ten", 3),
        (50, 1, "stable", 3),
        (50, 5, "bimodal", 5),
        (100, 3, "Beta(.5, .5)", 10),
        (5, 1, "ten of ten", 5),
        (4, 1, "ten of ten", 4),
        (3, 5, "ten of ten", 3),
    ):

        def wholly(
            rng: Rng, n: int = n, k: int = k, name: str = name, n_fallen: int = n_fallen
        ) -> Pair:
            rates = RATES[name](rng, n)
            falls = np.arange(n) < n_fallen
            return run(rng, np.where(falls, 1.0, rates), k), run(rng, np.where(falls, 0, rates), k)

        yield Cell(f"{n_fallen} of {n} fall wholly, {name}", f"{n} x {k}", wholly)
    for n, sizes, name in (
        (20, (3, 5), "all .9"),
        (20, (5, 3), "all .9"),
        (164, (1, 1), ".3 to .8"),
        (164, (1, 1), "Beta(.5, .5)"),
        (50, (5, 5), ".3 to .8"),
        (50, (5, 5), "uniform"),
        (100, (10, 10), "uniform"),
        (164, (1, 100), "uniform"),
    ):

        def everywhere(
            rng: Rng, n: int = n, sizes: tuple[int, int] = sizes, name: str = name
        ) -> Pair:
            rates = RATES[name](rng, n)
            return run(rng, rates, sizes[0]), run(rng, np.maximum(rates - 0.1, 0.0), sizes[1])

        yield Cell(f"ten points everywhere, {name}", f"{n} x {sizes[0]}, {sizes[1]}", everywhere)
    yield from repeats(0.1)


def effects(repetitions: int) -> None:
    """Print how often a loss as large as the minimum detectable effect stops the gate."""
    print("\n| cases x attempts | rates | stated | a few fall: found | each moves: found |")
    print("|---|---|---|---|---|")
    designs = ((10, 5), (20, 1), (20, 5), (50, 1), (50, 5), (164, 1), (164, 5), (1000, 3))
    for n, k in designs:
        for name in ("Beta(.5, .5)", "bimodal", "uniform", "all .9", "all .99"):
            rng = np.random.default_rng([SEED, n, k, *name.encode()])
            stated: list[float] = []
            found: list[list[bool]] = [[], []]
            for _ in range(repetitions):
                rates = RATES[name](rng, n)
                pair = run(rng, rates, k), run(rng, rates, k)
                effect = scorekit.compare_reports(*pair).suite.minimum_detectable_effect
                if effect is None:
                    continue
                stated.append(effect)
                mean = float(rates.mean())
                share = min(effect / mean, 1.0)
                n_fallen = math.floor(share * n + rng.random())
                few = rates.copy()
                few[rng.permutation(n)[:n_fallen]] = 0.0
                for hits, after in zip(found, (few, rates * (1.0 - share)), strict=True):
                    losing = run(rng, rates, k), run(rng, after, k)
                    hits.append(bool(gate(losing, {})))
            if len(stated) < repetitions / 2:
                print(f"| {n} x {k} | {name} | none in most runs | | |", flush=True)
                continue
            shares = " | ".join(f"{np.mean(hits):.3f}" for hits in found)
            print(f"| {n} x {k} | {name} | {np.mean(stated):.3f} | {shares} |", flush=True)


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
    repetitions = 2000 if full else 20
    print(f"{repetitions} repetitions, seed {SEED}, confidence level 0.95")
    check_gates(np.random.default_rng(SEED))
    table("Nothing changed", unchanged(), repetitions)
    table("Attempts that depend on each other, nothing changed", dependent(), repetitions)
    table("Losses", lost(), repetitions)
    effects(repetitions)
    best_of_baselines(repetitions)


if __name__ == "__main__":
    alone(main)
