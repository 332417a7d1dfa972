"""
How often verdicts err that are looked at again and again, and what looking saves.

Whole tables of growing runs are drawn at once, and the verdict at each look is worked out for all
of them in a few numpy operations; every run first holds that against `compare_reports`.

- Nothing changed: how often any look says that something did, after every case and after every
  ten, up to 300 cases.  Beside `compare_reports(anytime=True)` stand a paired t test, as without
  it, and the formula of evalsig's `sequential_gate`, held against the package where installed.
- 10 and 20 points were lost: after how many tasks a run is decided, and how many a design takes
  that looks once, with the same power.
- How often an interval misses the true change at any look.

    python -m benchmarks.simulations.simulate_anytime [--full] [--repetitions 4000]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

import scorekit
from benchmarks.machine import machine
from scorekit._stats.betting import SHARES

SEED = 20261122
NOISE = 1e-9
ALPHA = 0.05
N_CASES = 300
N_TESTS = 4
POWERS = (0.8, 0.9, 0.95)
PART = 200_000
"""Cases drawn at once."""

Array = NDArray[Any]
Rates = Callable[[np.random.Generator, tuple[int, int]], Array]
RATES: dict[str, Rates] = {
    "uniform": lambda rng, shape: rng.random(shape),
    "all .5": lambda _, shape: np.full(shape, 0.5),
    "Beta(.5, .5)": lambda rng, shape: rng.beta(0.5, 0.5, shape),
    "90 % at .99": lambda rng, shape: np.where(rng.random(shape) < 0.9, 0.99, rng.random(shape)),
}


def draw(rng: np.random.Generator, rates: Array, k: int, *, graded: bool) -> Array:
    """Return the mean score of *k* attempts; where *graded* a wrong one passes some of 4 tests."""
    right = rng.binomial(k, rates)
    if not graded:
        return np.asarray(right / k)
    part = rng.binomial((k - right) * (N_TESTS - 1), 0.5) / N_TESTS
    return np.asarray((right + part) / k)


def wealth(deltas: Array, mean: float = 0.0) -> Array:
    """Return the logarithm of the wealth of either side after each case."""
    found = np.empty((2, *deltas.shape))
    sides = [sign * (deltas - mean) / (1.0 + sign * mean) for sign in (1.0, -1.0)]
    logs = np.zeros((2, len(deltas), SHARES.size))
    for i in range(deltas.shape[1]):
        for j, gains in enumerate(sides):
            logs[j] += np.log1p(np.outer(gains[:, i], SHARES))
        found[:, :, i] = special.logsumexp(logs, axis=2) - math.log(SHARES.size)
    return found


def anytime(old: Array, new: Array, k: int) -> Array:
    """Return whether a verdict by betting is that something changed, after each case."""
    del k
    return np.asarray((wealth(new - old) >= math.log(2.0 / ALPHA)).any(axis=0))


def once(old: Array, new: Array, k: int) -> Array:
    """Return the same of a paired t test, which is meant for one look."""
    del k
    count = np.arange(1, old.shape[1] + 1)
    mean, spread = running(new - old)
    ratio = np.abs(mean) * np.sqrt(count) / np.where(spread > NOISE, spread, np.inf)
    p_values = 2 * special.stdtr(np.maximum(count - 1, 1), -ratio)
    return np.asarray(np.maximum(p_values, 2.0 ** (1 - count)) < ALPHA)


def running(deltas: Array) -> tuple[Array, Array]:
    """Return the mean and the standard deviation of the first cases, for each number of them."""
    count = np.arange(1, deltas.shape[1] + 1)
    mean = np.cumsum(deltas, axis=1) / count
    squares = np.cumsum(deltas**2, axis=1) / count - mean**2
    return mean, np.sqrt(np.maximum(squares, 0.0) * count / np.maximum(count - 1, 1))


def evalsig(old: Array, new: Array, k: int, *, rho: float = 1.0, min_n: int = 30) -> Array:
    """Return whether evalsig's two-sided gate stops, by its formula and defaults."""
    del k
    mean, spread = running(new - old)
    count = np.arange(1, old.shape[1] + 1)
    scale = count + rho**2
    reach = spread * np.sqrt(2 * scale * np.log(np.sqrt(scale) / (ALPHA * rho))) / count
    return np.asarray((np.abs(mean) > reach) & (spread > NOISE) & (count >= min_n))


Rule = Callable[[Array, Array, int], Array]
RULES: dict[str, Rule] = {"anytime": anytime, "once": once, "evalsig": evalsig}


def parts(
    rng: np.random.Generator,
    repetitions: int,
    n_cases: int,
    k: int,
    rates: Rates,
    *,
    loss: Callable[[Array], Array] = lambda rates: rates,
    graded: bool = False,
) -> Iterator[tuple[Array, Array]]:
    """Yield runs, before and after, some repetitions at a time."""
    size = max(1, PART // n_cases)
    for start in range(0, repetitions, size):
        own = rates(rng, (min(size, repetitions - start), n_cases))
        yield draw(rng, own, k, graded=graded), draw(rng, loss(own), k, graded=graded)


def lost(points: float, name: str) -> Callable[[Array], Array]:
    """Return what takes so much off the rates, on average over them where they are uniform."""
    step = 1.0 - math.sqrt(1.0 - 2.0 * points) if name == "uniform" else points
    return lambda rates: np.maximum(0.0, rates - step)


def check(rng: np.random.Generator) -> None:
    """Hold what is worked out here against the library, and against evalsig where installed."""
    for k, graded in ((1, False), (5, False), (1, True)):
        rates = rng.random((8, 60))
        old = draw(rng, rates, k, graded=graded)
        new = draw(rng, np.maximum(0.0, rates - 0.3), k, graded=graded)
        found = {name: rule(old, new, k) for name, rule in RULES.items()}
        for i in range(len(old)):
            for n in (2, 10, 35, 60):
                sides = [
                    {
                        str(j): [share]
                        if graded
                        else [1] * round(share * k) + [0] * round(k - share * k)
                        for j, share in enumerate(side[i, :n].tolist())
                    }
                    for side in (old, new)
                ]
                result = scorekit.compare_reports(*sides, anytime=True)
                says = result.suite.verdict in ("regressed", "improved")
                assert says == found["anytime"][i, n - 1], (k, graded, i, n)
    try:
        from evalsig import sequential_gate
    except ImportError:
        return
    deltas = rng.choice([-1.0, 0.0, 1.0], (50, 200), p=[0.35, 0.45, 0.2])
    for row, stops in zip(deltas, evalsig(np.zeros(deltas.shape), deltas, 1), strict=True):
        outcome = sequential_gate(row, alternative="two-sided")
        assert outcome.stopped == stops.any()
        assert not outcome.stopped or outcome.n_pairs == stops.argmax() + 1


def nothing_changed(rng: np.random.Generator, repetitions: int) -> None:
    """Print the share of unchanged runs of which some look says that they changed."""
    head = " | ".join(f"{name}: every case | every ten" for name in RULES)
    print(f"\n| attempts | rates | {head} |")
    print("|---|---|" + "---|" * (2 * len(RULES)))
    designs = [(k, False, name) for k in (1, 5) for name in RATES]
    for k, graded, name in [*designs, (1, True, "uniform"), (1, True, "90 % at .99")]:
        counts = np.zeros(2 * len(RULES))
        for old, new in parts(rng, repetitions, N_CASES, k, RATES[name], graded=graded):
            seen = [rule(old, new, k) for rule in RULES.values()]
            counts += [looks.any(axis=1).sum() for one in seen for looks in (one, one[:, 9::10])]
        cells = " | ".join(f"{share:.4f}" for share in counts / repetitions)
        print(f"| {k}{', graded' * graded} | {name} | {cells} |", flush=True)


def something_lost(rng: np.random.Generator, repetitions: int) -> None:
    """Print how many tasks runs take that stop once decided, and a single look of their power."""
    print("\n| lost | attempts | rates | power | at most | on average | one look | saved |")
    print("|---|---|---|---|---|---|---|---|")
    for points in (0.1, 0.2):
        for k in (1, 5):
            for name in ("uniform", "all .5"):
                most = {1: 1500, 5: 400}[k] // (1 if points == 0.1 else 4)
                ends, alone, gates = [], np.zeros(most), []
                for old, new in parts(
                    rng, repetitions, most, k, RATES[name], loss=lost(points, name)
                ):
                    ends.append(first(anytime(old, new, k)))
                    gates.append(first(evalsig(old, new, k)))
                    alone += once(old, new, k).sum(axis=0)
                stops, gate = np.concatenate(ends), np.concatenate(gates)
                for power in POWERS:
                    row(power, stops, alone / repetitions, f"{points:g} | {k} | {name}")
                row(POWERS[0], gate, alone / repetitions, f"{points:g} | {k} | {name}, evalsig")


def first(looks: Array) -> Array:
    """Return after how many cases the first look that says so comes, of looks at every case."""
    return np.where(looks.any(axis=1), looks.argmax(axis=1) + 1.0, np.inf)


def row(power: float, stops: Array, alone: Array, title: str) -> None:
    """Print one row."""
    most = float(np.quantile(stops, power, method="higher"))
    if math.isinf(most):
        print(f"| {title} | {power:g} | - | - | - | - |", flush=True)
        return
    mean = float(np.minimum(stops, most).mean())
    fixed = int(np.argmax(alone >= power)) + 1
    print(
        f"| {title} | {power:g} | {most:.0f} | {mean:.0f} | {fixed} | {1 - mean / fixed:+.0%} |",
        flush=True,
    )


def missed(rng: np.random.Generator, repetitions: int) -> None:
    """Print the share of runs whose interval misses the true change at one look or more."""
    print("\n| lost | attempts | rates | missed at any look |")
    print("|---|---|---|---|")
    for k, graded, name in ((1, False, "uniform"), (5, False, "uniform"), (1, True, "all .5")):
        loss, n_missed, seen = lost(0.1, name), 0, 0.0
        truth = -0.1 if not graded else -0.1 * (1.0 - 0.5 * (N_TESTS - 1) / N_TESTS)
        for old, new in parts(rng, repetitions, N_CASES, k, RATES[name], loss=loss, graded=graded):
            over = (wealth(new - old, truth) >= math.log(2.0 / ALPHA)).any(axis=(0, 2))
            n_missed += int(over.sum())
            seen += float((new - old).mean(axis=1).sum())
        assert abs(seen / repetitions - truth) < 0.1 / math.sqrt(repetitions)
        title = f"0.1 | {k}{', graded' * graded} | {name}"
        print(f"| {title} | {n_missed / repetitions:.4f} |", flush=True)


def main() -> None:
    """Print the Markdown tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="4000 repetitions")
    parser.add_argument("--repetitions", type=int, help="how many, by default 200")
    options = parser.parse_args()
    repetitions = options.repetitions or (4000 if options.full else 200)
    print(f"{machine()}\n\n{repetitions} repetitions, seed {SEED}, confidence level 0.95")
    check(np.random.default_rng(SEED))
    for part in (nothing_changed, something_lost, missed):
        part(np.random.default_rng(SEED), repetitions)


if __name__ == "__main__":
    main()
