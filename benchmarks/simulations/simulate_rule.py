"""
The one rule of `compare_reports`: false stops, sight, and that more losses never open the gate.

Unchanged and changed runs of the worlds below are drawn as numbers of passes.  What the gate says
is worked out from the same functions without the interval, which takes most of the time, and held
against `compare_reports` and `raise_for_regressions` in every hundredth comparison.

    python -m benchmarks.simulations.simulate_rule [monotone|false|sight|moving|copies|...]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import scorekit
from scorekit._core.attempts import Attempts
from scorekit._stats.changes import Units, is_at_most, surplus
from scorekit._stats.single_cases import Counting, SuitePair

SEED = 20261128
CHECKED = 100
"""One comparison of so many goes through the path of a user too."""

Array = NDArray[Any]
Rng = np.random.Generator
Runs = tuple[Array, Array, Array, Array]
"""Attempts and passes of the baseline, then of the current run."""

WORLDS: dict[str, Callable[[Rng, int], Array]] = {
    "beta": lambda rng, n: rng.beta(0.5, 0.5, n),
    "uniform": lambda rng, n: rng.random(n),
    "mid": lambda rng, n: rng.uniform(0.3, 0.8, n),
    "bimodal": lambda rng, n: rng.choice([0.98, 0.5, 0.02], n, p=[0.7, 0.15, 0.15]),
    "stable99": lambda _, n: np.full(n, 0.99),
    "stable97": lambda rng, n: rng.uniform(0.95, 1.0, n),
    "stable": lambda rng, n: np.where(rng.random(n) < 0.04, 0.5, rng.random(n) < 0.8),
    "all .9": lambda _, n: np.full(n, 0.9),
    "half": lambda rng, n: (rng.random(n) < 0.5) * 1.0,
    "flip3": lambda rng, n: np.where(rng.random(n) < 0.5, 0.985, 0.015),
    "ten of ten": lambda _, n: np.ones(n),
}


def as_mapping(sizes: Array, passes: Array) -> dict[int, list[int]]:
    """Return what a user passes."""
    return {
        i: [1] * c + [0] * (n - c)
        for i, (n, c) in enumerate(zip(sizes.tolist(), passes.tolist(), strict=True))
    }


def said(found: scorekit.Comparison, *, allow_missing: bool = False) -> str:
    """Return what the gate says: nothing, or why it stops."""
    try:
        found.raise_for_regressions(allow_missing=allow_missing)
    except scorekit.CannotSeeError:
        return "cannot see"
    except scorekit.RegressionError as error:
        return "cannot tell" if str(error).startswith("cannot tell") else "stops"
    return ""


def gate(runs: Runs, level: float) -> str:
    """Return what the gate of a user says."""
    old, new = as_mapping(*runs[:2]), as_mapping(*runs[2:])
    return said(scorekit.compare_reports(old, new, confidence_level=level))


def quick_gate(runs: Runs, level: float) -> str:
    """Return the same without an interval."""
    before, after = Attempts.of_counts(*runs[:2]), Attempts.of_counts(*runs[2:])
    error = round(1.0 - level, 12)
    units = Units(after.means - before.means)
    if units.means.size > 1 and is_at_most(units.p_of_fall(surplus(before, after)), error / 2.0):
        return "stops"
    pair = SuitePair(before, after)
    fell = np.flatnonzero(pair.are_tested & (after.means < before.means - 0.05 - 1e-9))
    if fell.size:
        counting, p_values = Counting.of([pair]), pair.p_values(fell)
        small = counting.adjusted(p_values) <= error * (1.0 + 1e-12)
        if (small & counting.are_beyond_rises(p_values)).any():
            return "cannot tell" if pair.are_in_doubt() else "stops"
    blind = not is_at_most(units.least, error / 2.0) and not pair.are_tested.any()
    return "cannot see" if blind else ""


class Tally:
    """Counts what the gate says, and checks it against the path of a user."""

    def __init__(self, level: float = 0.95) -> None:
        self.level = level
        self.found: Counter[str] = Counter()

    def add(self, runs: Runs) -> None:
        """Ask the gate once."""
        found = quick_gate(runs, self.level)
        if self.found.total() % CHECKED == 0:
            assert found == gate(runs, self.level), (found, runs)
        self.found[found] += 1

    def share(self, *words: str) -> float:
        """Return how often it said one of these."""
        return sum(self.found[word] for word in words) / self.found.total()

    def __str__(self) -> str:
        """Say how often it stops, and how often of these it cannot tell."""
        doubt = self.share("cannot tell")
        stopped = f"{self.share('stops', 'cannot tell', 'cannot see'):.3f}"
        return stopped + (f" ({doubt:.3f})" if doubt else "")


def drawn(rng: Rng, rates: Array, sizes: Array | int) -> tuple[Array, Array]:
    """Draw the passes of a run."""
    counts = np.broadcast_to(sizes, rates.shape).astype(np.int64)
    return counts, rng.binomial(counts, np.clip(rates, 0.0, 1.0)).astype(np.int64)


def moved(rng: Rng, rates: Array, spread: float, mean: float = 0.0) -> Array:
    """Move rates by random logits."""
    inside = np.clip(rates, 1e-6, 1.0 - 1e-6)
    logits = np.log(inside / (1.0 - inside)) + rng.normal(mean, spread, rates.size)
    return np.where((rates > 0) & (rates < 1), 1.0 / (1.0 + np.exp(-logits)), rates)


def false_stops(repeats: int) -> Iterator[str]:
    """Unchanged runs of independent attempts."""
    sizes = [(4, 3), (6, 3), (10, 3), (10, 5), (20, 1), (20, 3), (20, 5), (50, 1), (50, 5)]
    sizes += [(50, 10), (100, 10), (200, 5), (1000, 3)]
    kinds = ("beta", "uniform", "mid", "bimodal", "stable97", "stable", "all .9", "flip3")
    for level in (0.95, 0.9):
        worst = 0.0
        for n, k in sizes:
            row: list[str] = []
            for kind in kinds:
                rng, tally = np.random.default_rng(SEED), Tally(level)
                for _ in range(repeats if n < 500 else repeats // 4):
                    rates = WORLDS[kind](rng, n)
                    tally.add((*drawn(rng, rates, k), *drawn(rng, rates, k)))
                row.append(f"{tally.share('stops', 'cannot tell'):.3f}")
                worst = max(worst, tally.share("stops", "cannot tell"))
            yield f"false stops {level} {n}x{k}: " + ", ".join(
                f"{kind} {one}" for kind, one in zip(kinds, row, strict=True)
            )
        yield f"false stops {level}: at most {worst:.3f}"
    for old, new in ((3, 5), (5, 20), (1, 10), (20, 5)):
        for kind in ("beta", "stable97", "all .9"):
            rng, tally = np.random.default_rng(SEED), Tally()
            for _ in range(repeats):
                rates = WORLDS[kind](rng, 50)
                tally.add((*drawn(rng, rates, old), *drawn(rng, rates, new)))
            yield f"false stops, {old} against {new} attempts, 50 {kind}: {tally}"


class Loss(NamedTuple):
    """A row of the table of sight."""

    kind: str
    n: int
    sizes: tuple[int, int]
    broken: int = 0
    points: float = 0.0


BROKEN = [
    *(Loss("ten of ten", 50, (1, 1), broken=b) for b in (3, 4)),
    *(Loss(k, 10, (1, 1), broken=3) for k in ("stable", "stable97", "bimodal", "beta")),
    *(Loss(k, 50, (1, 1), broken=4) for k in ("stable", "stable97", "bimodal", "beta")),
    *(Loss(k, 164, (1, 1), broken=6) for k in ("stable", "stable97", "bimodal", "beta")),
    Loss("ten of ten", 5, (1, 1), broken=5),
    *(Loss(k, 50, (3, 3), broken=1) for k in ("stable97", "stable", "bimodal")),
    *(Loss(k, 20, (3, 3), broken=3) for k in ("stable97", "bimodal")),
    *(Loss(k, 50, (5, 5), broken=1) for k in ("beta", "bimodal", "stable97")),
    *(Loss(k, 50, (5, 5), broken=5) for k in ("beta", "mid")),
    *(Loss(k, 100, (10, 10), broken=1) for k in ("beta", "bimodal", "stable97")),
    Loss("ten of ten", 10, (4, 4), broken=2),
    *(Loss(k, 164, (5, 5), broken=1) for k in ("stable97", "bimodal")),
]
TEN = [
    Loss(kind, n, (k, k), points=0.1)
    for n, k in ((50, 1), (164, 1), (50, 3), (10, 5), (20, 5), (50, 5))
    for kind in ("beta", "bimodal", "mid", "stable97", "all .9")
] + [
    Loss(kind, 50, sizes, points=0.1)
    for sizes in ((20, 5), (3, 5), (5, 20), (1, 10))
    for kind in ("beta", "all .9")
]


def t_stops(runs: Runs) -> bool:
    """Return whether a one-sided paired t test at 0.05 stops."""
    deltas = runs[3] / runs[2] - runs[1] / runs[0]
    error = deltas.std(ddof=1) / np.sqrt(deltas.size)
    from scipy.special import stdtr

    return bool(error and stdtr(deltas.size - 1, deltas.mean() / error) <= 0.05)


def mcnemar_stops(runs: Runs) -> bool:
    """Return whether the exact one-sided test of the cases that changed their majority does."""
    from scipy.special import bdtr

    old, new = 2 * runs[1] > runs[0], 2 * runs[3] > runs[2]
    falls, rises = int((old & ~new).sum()), int((~old & new).sum())
    return falls > 0 and float(bdtr(rises, falls + rises, 0.5)) <= 0.05


def worse(rng: Rng, loss: Loss) -> Runs:
    """Draw a loss: cases of those that pass break, or all lose as many points."""
    rates = WORLDS[loss.kind](rng, loss.n)
    lower = rates.copy()
    if loss.broken:
        passing = np.flatnonzero(rates >= 0.5)
        lower[rng.permutation(passing)[: loss.broken]] = 0.0
    elif rates.mean() > 0.0:
        lower = rates * max(0.0, 1.0 - loss.points / rates.mean())
    old, new = loss.sizes
    return (*drawn(rng, rates, old), *drawn(rng, lower, new))


def sight(repeats: int) -> Iterator[str]:
    """Losses, beside a paired t test and McNemar's."""
    yield "loss: 0.95, 0.9, paired t, McNemar"
    for loss in (*BROKEN, *TEN):
        rng, tallies = np.random.default_rng(SEED), (Tally(), Tally(0.9))
        plain, exact = 0, 0
        for _ in range(repeats):
            runs = worse(rng, loss)
            for tally in tallies:
                tally.add(runs)
            plain, exact = plain + t_stops(runs), exact + mcnemar_stops(runs)
        what = f"{loss.broken} broken" if loss.broken else f"{100 * loss.points:g} points"
        sizes = "x".join(map(str, dict.fromkeys(loss.sizes)))
        yield (
            f"{what} of {loss.n} x {sizes} {loss.kind}: {tallies[0]}, {tallies[1]}, "
            f"{plain / repeats:.3f}, {exact / repeats:.3f}"
        )


def moving(repeats: int) -> Iterator[str]:
    """Cases that break while the others really move."""
    for kind in ("beta", "bimodal", "mid"):
        for broken in (0, 1, 3):
            row: list[str] = []
            for spread in (0.0, 0.5, 1.0, 1.5):
                rng, tally = np.random.default_rng(SEED), Tally()
                for _ in range(repeats):
                    rates = WORLDS[kind](rng, 103)
                    rates[:broken] = 0.98
                    after = moved(rng, rates, spread, 0.1 * (spread > 0))
                    after[:broken] = 0.0
                    tally.add((*drawn(rng, rates, 10), *drawn(rng, after, 10)))
                row.append(str(tally))
            yield f"103 x 10 {kind}, {broken} broken, moved by 0, .5, 1, 1.5: {', '.join(row)}"


def copied(rng: Rng, rates: Array, k: int, share: float) -> tuple[Array, Array]:
    """Draw attempts that are copies of one at the first cases."""
    sizes, passes = drawn(rng, rates, k)
    n = round(share * rates.size)
    passes[:n] = k * (rng.random(n) < rates[:n])
    return sizes, passes


def related(rng: Rng, rates: Array, k: int, correlation: float) -> tuple[Array, Array]:
    """Draw attempts of which each two at a case correlate."""
    size = 1.0 / correlation - 1.0
    inside = np.clip(rates, 1e-6, 1.0 - 1e-6) * size
    return drawn(rng, rng.beta(inside, size - inside), k)


def copies(repeats: int) -> Iterator[str]:
    """Unchanged runs whose attempts are copies of one, or correlate."""
    ways: dict[str, Callable[[Rng, Array, int], tuple[Array, Array]]] = {
        "all copied": lambda rng, rates, k: copied(rng, rates, k, 1.0),
        "half copied": lambda rng, rates, k: copied(rng, rates, k, 0.5),
        "a tenth copied": lambda rng, rates, k: copied(rng, rates, k, 0.1),
        "correlation .3": lambda rng, rates, k: related(rng, rates, k, 0.3),
    }
    for way, draw in ways.items():
        for kind in ("beta", "bimodal", "mid", "stable"):
            row: list[str] = []
            for n, k in ((10, 5), (20, 5), (50, 5), (100, 10)):
                rng, tally = np.random.default_rng(SEED), Tally()
                for _ in range(repeats):
                    rates = WORLDS[kind](rng, n)
                    tally.add((*draw(rng, rates, k), *draw(rng, rates, k)))
                row.append(str(tally))
            yield f"{way}, {kind}, 10x5, 20x5, 50x5, 100x10: {', '.join(row)}"


def effect(repeats: int) -> Iterator[str]:
    """How often the stated number of broken cases is found by the suite."""
    for kind in ("beta", "bimodal", "mid", "stable97", "all .9", "half", "flip3"):
        for n, k in ((10, 1), (20, 1), (50, 1), (20, 3), (50, 3), (50, 5), (200, 3)):
            rng, seen, stated = np.random.default_rng(SEED), 0, 0
            for _ in range(repeats):
                rates = WORLDS[kind](rng, n)
                old, new = drawn(rng, rates, k), drawn(rng, rates, k)
                found = scorekit.compare_reports(as_mapping(*old), as_mapping(*new)).suite
                if found.n_detectable is None:
                    continue
                stated += 1
                passing = np.flatnonzero(old[1] * 2 >= k)
                lower = rates.copy()
                lower[rng.permutation(passing)[: found.n_detectable]] = 0.0
                after = Attempts.of_counts(*drawn(rng, lower, k))
                units = Units(after.means - Attempts.of_counts(*old).means)
                seen += is_at_most(units.p_of_fall(), 0.025)
            power = f"{seen / stated:.2f}" if stated else "none"
            yield f"stated effect, {n}x{k} {kind}: found {power}, stated in {stated / repeats:.2f}"


DAYS = 20


def daily(repeats: int) -> Iterator[str]:
    """One stored baseline that is compared with an unchanged run on each of many days."""
    yield "attempts of the baseline, level, what: per day; any; worst; one broken; ten points"
    for k, level, what in (
        (5, 0.95, "alone"),
        (20, 0.95, "alone"),
        (5, 0.9975, "alone"),
        (20, 0.9975, "alone"),
        (5, 0.95, "twice"),
        (20, 0.95, "twice"),
        (5, 0.95, "the day before"),
    ):
        rng = np.random.default_rng(SEED)
        stopped = np.zeros((repeats, DAYS), np.bool_)
        found = np.zeros(2)
        for i in range(repeats):
            rates = WORLDS["beta"](rng, 50)
            baseline = drawn(rng, rates, k)

            def stops(old: tuple[Array, Array], now: Array, times: int, rng: Rng = rng) -> bool:
                runs = (drawn(rng, now, 5) for _ in range(times))
                return all(quick_gate((*old, *new), level) for new in runs)  # noqa: B023 - at once

            times = 2 if what == "twice" else 1
            before = baseline
            for day in range(DAYS):
                new = drawn(rng, rates, 5)
                stopped[i, day] = bool(quick_gate((*before, *new), level))
                if times > 1 and stopped[i, day]:
                    stopped[i, day] = stops(before, rates, 1)
                before = new if what == "the day before" else before
            broken = rates.copy()
            broken[np.argmax(baseline[1])] = 0.0
            lower = rates * (1.0 - 0.1 / rates.mean())
            found += [stops(baseline, now, times) for now in (broken, lower)]
        worst = int(stopped.sum(axis=1).max())
        shares = (stopped.mean(), stopped.any(axis=1).mean(), *(found / repeats))
        numbers = [f"{one:.3f}" for one in shares]
        yield f"{k}, {level}, {what}: {'; '.join([*numbers[:2], str(worst), *numbers[2:]])}"


def monotone(repeats: int) -> Iterator[str]:
    """Worsen outcomes of jobs that stop; none may pass."""
    rng, tried, opened = np.random.default_rng(SEED), 0, 0
    kinds = list(WORLDS)
    while tried < repeats:
        n = int(rng.integers(4, 40))
        k = rng.integers(1, 11, 2) if rng.random() < 0.3 else np.full(2, rng.integers(1, 11))
        rates = WORLDS[kinds[int(rng.integers(len(kinds)))]](rng, n)
        after = moved(rng, rates, float(rng.choice([0.0, 0.5, 1.5])))
        after[: int(rng.integers(0, 5))] = 0.0
        runs: Runs = (*drawn(rng, rates, int(k[0])), *drawn(rng, after, int(k[1])))
        if rng.random() < 0.2:
            runs = (*runs[:3], runs[2] * (rng.random(n) < after))
        level = float(rng.choice([0.95, 0.9]))
        if quick_gate(runs, level) not in ("stops", "cannot tell"):
            continue
        for _ in range(12):
            passes = runs[3].copy()
            for place in rng.integers(0, n, int(rng.integers(1, 6))):
                passes[place] = rng.integers(0, passes[place] + 1)
            lower: Runs = (*runs[:3], passes)
            found = quick_gate(lower, level)
            if tried % CHECKED == 0:
                assert found == gate(lower, level), (found, lower)
            tried += 1
            opened += found not in ("stops", "cannot tell")
    yield f"of {tried} worsened jobs that stopped, {opened} pass"


def unknown_outcomes(repeats: int) -> Iterator[str]:
    """
    Validity and sight with unknown outcomes, beside two simple ways to count them.

    Hidden failures are failures of the current run that are unknown, so many that they are the
    share of all its outcomes; the baseline has no unknown outcome, or as many of any kind.
    """
    yield "stops; missing rose; with allow_missing; t at 0.05: known only, all unknown failed"
    for k in (1, 5):
        for share in (0.02, 0.05, 0.1, 0.3):
            for what in UNKNOWN:
                yield _unknown_cell(repeats, k, share, what)


UNKNOWN = (
    "alike",
    "loss of 15 points",
    "twice as many now",
    "hidden failures",
    "hidden failures, as many unknown before",
)


def _unknown_cell(repeats: int, k: int, share: float, what: str) -> str:
    rng = np.random.default_rng(SEED)
    stops = rose = allowed = known_stops = failed_stops = 0
    n = 200 if k == 1 else 60
    for _ in range(repeats):
        rates = rng.beta(2.0, 1.0, n)
        lower = rates * (1.0 - 0.15 / rates.mean()) if what.startswith("loss") else rates
        sides: list[Array] = []
        for run, (own, lost) in enumerate(((rates, share), (lower, share))):
            scores = (rng.random((n, k)) < own[:, None]).astype(float)
            chance = np.full(scores.shape, lost * (1 + (run and what.startswith("twice"))))
            if what == "hidden failures" and not run:
                chance[:] = 0.0
            if what.startswith("hidden failures") and run:
                chance = np.where(scores == 0, min(1.0, lost / (1.0 - rates.mean())), 0.0)
            sides.append(np.where(rng.random(scores.shape) < chance, np.nan, scores))
        old, new = ({i: row.tolist() for i, row in enumerate(side)} for side in sides)
        found = scorekit.compare_reports(old, new)
        stops, allowed = (
            n + (said(found, allow_missing=is_allowed) in ("stops", "cannot tell"))
            for n, is_allowed in ((stops, False), (allowed, True))
        )
        rose += found.missing == "rose"
        zeros = [np.nan_to_num(side, nan=0.0).mean(axis=1) for side in sides]
        failed_stops += _t_of(zeros[1] - zeros[0])
        means = [
            np.nansum(side, axis=1) / np.maximum((~np.isnan(side)).sum(axis=1), 1)
            for side in sides
        ]
        both = np.all([(~np.isnan(side)).any(axis=1) for side in sides], axis=0)
        known_stops += _t_of((means[1] - means[0])[both])
    shares = (one / repeats for one in (stops, rose, allowed, known_stops, failed_stops))
    return f"unknown {share:g}, {n} x {k}, {what}: " + "; ".join(f"{one:.3f}" for one in shares)


def _t_of(deltas: Array) -> bool:
    from scipy.special import stdtr

    error = deltas.std(ddof=1) / np.sqrt(deltas.size)
    return bool(error and stdtr(deltas.size - 1, deltas.mean() / error) <= 0.05)


TABLES: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {
    "monotone": (monotone, 20_000),
    "false": (false_stops, 2000),
    "sight": (sight, 400),
    "moving": (moving, 300),
    "copies": (copies, 1500),
    "effect": (effect, 200),
    "unknown": (unknown_outcomes, 300),
    "daily": (daily, 300),
}


def main() -> None:
    """Print the tables that are named, or all."""
    chosen = [one for one in sys.argv[1:] if one in TABLES] or list(TABLES)
    for name in chosen:
        table, repeats = TABLES[name]
        quick = "--quick" in sys.argv
        for line in table(max(repeats // 20, 10) if quick else repeats):
            print(line, flush=True)


if __name__ == "__main__":
    main()
