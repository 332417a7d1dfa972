"""
How often `raise_for_regressions` stops by chance, what it finds, and whether stated power is had.

Outcomes are drawn for whole tables at once, and the default gate is worked out for all of them in
a few numpy operations; every run first holds that against `compare_reports` on some of them.

- Nothing changed: both runs draw from the same rates.  Beside the default stand the gate at every
  fallen case, ``on="cases"``, and a fixed threshold of two points of the mean.
- One case of 100 falls from always to never; a loss of 10 points in all.
- Power: a report states its minimum detectable effect; other runs with that effect say how often
  it is found, where every case moves a little and where a few fall wholly.

    python -m benchmarks.simulate_gate [--full]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

import scorekit
from benchmarks.machine import alone
from scorekit._stats.dependence import FAR, FEW_MIXED, LIMIT
from scorekit._stats.exact_tests import fall_p_value

SEED = 20261122
ALPHA = 0.05
THRESHOLD = 0.05
POINTS = 0.02
N_TESTS = 4
PART = 250_000
"""Attempts drawn at once."""

Array = NDArray[Any]
Rates = Callable[[np.random.Generator, tuple[int, int]], Array]

RATES: dict[str, Rates] = {
    "Beta(.5, .5)": lambda rng, shape: rng.beta(0.5, 0.5, shape),
    "uniform": lambda rng, shape: rng.random(shape),
    "all .5": lambda _, shape: np.full(shape, 0.5),
    "90 % at .99": lambda rng, shape: np.where(rng.random(shape) < 0.9, 0.99, rng.random(shape)),
}


class Run(NamedTuple):
    """Many runs at once: how many attempts at each case had each outcome, the best one last."""

    counts: Array
    """Of shape (repetitions, cases, outcomes): wrong and right, or tests passed of four."""

    @property
    def n_right(self) -> Array:
        """Return the attempts that were right."""
        return np.asarray(self.counts[..., -1])

    @property
    def means(self) -> Array:
        """Return the mean score of each case: right or wrong, or the code score."""
        n = self.counts.shape[-1] - 1
        share = self.counts @ np.arange(n + 1) / (n * self.counts.sum(axis=-1))
        return np.asarray(share if n == 1 else 0.5 + 0.5 * share)

    def scores(self, i: int, j: int) -> tuple[float, ...]:
        """Return the scores of the attempts at one case."""
        n = self.counts.shape[-1] - 1
        values = [k / n if n == 1 else 0.5 + 0.5 * k / n for k in range(n + 1)]
        return tuple(np.repeat(values, self.counts[i, j]).tolist())


def draw(rng: np.random.Generator, rates: Array, n_attempts: int, *, graded: bool) -> Run:
    """Draw attempts; where *graded* a wrong one passes none to three of four tests."""
    n_right = rng.binomial(n_attempts, rates)
    if not graded:
        return Run(np.stack([n_attempts - n_right, n_right], axis=-1))
    wrong = rng.multinomial(n_attempts - n_right, np.full(N_TESTS, 1 / N_TESTS))
    return Run(np.concatenate([wrong, n_right[..., np.newaxis]], axis=-1))


def by_attempts(old: Array, new: Array, k: int) -> tuple[Array, Array]:
    """Return Cochran-Mantel-Haenszel's two-sided p value of each repetition, and the direction."""
    passes, total = old + new, 2 * k
    change = (new - old).sum(axis=-1) / 2
    variance = (k * k * passes * (total - passes) / (total * total * (total - 1))).sum(axis=-1)
    statistic = np.abs(change) / np.sqrt(np.where(variance > 0, variance, 1.0))
    return special.erfc(statistic / math.sqrt(2)), change


def by_cases(old: Array, new: Array, n_groups: int | None = None) -> tuple[Array, Array]:
    """Return the paired t test's two-sided p value, over groups of equal size where given."""
    deltas = new - old
    if n_groups is not None:
        deltas = deltas.reshape(len(deltas), n_groups, -1).mean(axis=-1)
    n = deltas.shape[-1]
    spread = deltas.std(axis=-1, ddof=1) / math.sqrt(n)
    mean = deltas.mean(axis=-1)
    p_values = 2 * special.stdtr(n - 1, -np.abs(mean) / np.where(spread > 1e-12, spread, 1.0))
    return np.where(spread > 1e-12, p_values, 1.0), mean


def least_table(k: int) -> tuple[Array, Array]:
    """Return Fisher's p value by passes before and after, and the least by all passes."""
    falls = np.array(
        [
            [
                fall_p_value((1.0,) * a + (0.0,) * (k - a), (1.0,) * b + (0.0,) * (k - b))
                for b in range(k + 1)
            ]
            for a in range(k + 1)
        ]
    )
    least = np.array(
        [
            min(falls[a, m - a] for a in range(max(0, m - k), min(k, m) + 1))
            for m in range(2 * k + 1)
        ]
    )
    return falls, least


def graded_p_values(before: Run, after: Run, k: int) -> tuple[Array, Array]:
    """Return p values by permutation, of cases that fell by far, and the least possible ones."""
    old, new = before.means, after.means
    pooled = before.counts + after.counts
    values = np.arange(pooled.shape[-1]) / (pooled.shape[-1] - 1) / 2
    mean = pooled @ values / (2 * k)
    variance = (pooled @ values**2 / (2 * k) - mean**2) * 2 * k / (2 * k - 1)
    error = np.sqrt(variance * 2 / k)
    far = old - new > np.maximum(1.4 * error, THRESHOLD + 1e-9)  # others are above any level
    p_values = np.ones(old.shape)
    for i, j in np.argwhere(far):
        p_values[i, j] = fall_p_value(before.scores(i, j), after.scores(i, j))
    # so many attempts as there are of one run, the worst first; ties with the last can be swapped
    before_it = pooled.cumsum(axis=-1) - pooled
    taken = np.clip(k - before_it, 0, pooled)
    edge = (before_it < k).sum(axis=-1, keepdims=True) - 1
    tied, inside = (np.take_along_axis(x, edge, -1)[..., 0] for x in (pooled, taken))
    return p_values, special.comb(tied, inside) / special.comb(2 * k, k)


def seem_dependent(before: Array, after: Array, values: Array) -> Array:
    """Return where attempts seem to depend on each other, as the library tells it."""
    taken, pooled = after.sum(axis=-1), before + after
    total = pooled.sum(axis=-1)
    if total.max() == 2:
        return np.zeros(len(before), np.bool_)
    off = values - (pooled @ values / total)[..., np.newaxis]
    squares, fourths = ((pooled * off**power).sum(axis=-1) for power in (2, 4))
    shares = [np.ones(total.shape)]
    for i in range(4):
        shares.append(shares[-1] * np.maximum(taken - i, 0) / np.maximum(total - i, 1))
    _, one, two, three, four = shares
    variance = squares * (one - two)
    fourth = fourths * (one - 7 * two + 12 * three - 6 * four)
    fourth += squares**2 * (3 * two - 6 * three + 3 * four)
    varies = variance > 1e-9
    safe = np.where(varies, variance, 1.0)
    z = np.where(varies, (after * off).sum(axis=-1) / np.sqrt(safe), 0.0)
    down, up = -z.min(axis=1, initial=0.0), z.max(axis=1, initial=0.0)
    far_down = (z < -FAR) & (up < down - 1e-9)[:, np.newaxis]
    far_up = (z > FAR) & (down < up - 1e-9)[:, np.newaxis]
    kept = varies & ~far_down & ~far_up
    moved = np.where(kept, z * np.sqrt(safe), 0.0).sum(axis=1)
    whole = np.where(kept, variance, 0.0).sum(axis=1)
    excess = np.where(kept, z * z, 0.0).sum(axis=1) - (kept.sum(axis=1) - 1)
    excess -= moved**2 / np.where(whole > 0, whole, 1.0)
    spread = np.where(kept, fourth / safe**2 - 1.0, 0.0).sum(axis=1)
    beyond = -special.ndtri(ALPHA / 2 / np.maximum(varies.sum(axis=1), 1))
    mixed = ((before > 0).sum(axis=-1) > 1) | ((after > 0).sum(axis=-1) > 1)
    few = mixed.sum(axis=1) < min(FEW_MIXED, (z.shape[1] + 1) // 2)
    wide = excess > 1e-9 + LIMIT * np.sqrt(np.maximum(spread, 0.0))
    return np.asarray(few | (kept.any(axis=1) & (wide | (np.minimum(down, up) > beyond))))


class Verdicts(NamedTuple):
    """What each gate says of each repetition."""

    default: Array
    independent: Array
    """With ``attempts="independent"``."""
    dependent: Array
    cases: Array
    points: Array
    by_suite: Array
    by_case: Array


def judge(before: Run, after: Run, *, n_groups: int | None = None) -> Verdicts:
    """Return where the gates stop."""
    k = int(before.counts[0, 0].sum())
    old, new = before.n_right, after.n_right
    falls, least = least_table(k)
    fell = old - new > k * (THRESHOLD + 1e-9)
    p_values, leasts = np.where(fell, falls[old, new], 1.0), least[old + new]
    tests = [by_cases(old / k, new / k, n_groups)]
    plain = tests if n_groups is not None else [by_attempts(old, new, k)]
    both = np.stack([before.counts.sum(axis=-1) - old, old], axis=-1)
    now = np.stack([after.counts.sum(axis=-1) - new, new], axis=-1)
    seem = seem_dependent(both, now, np.array([0.0, 1.0]))
    change = (new - old).mean(axis=-1) / k
    if before.counts.shape[-1] > 2:
        tests = [*tests, by_cases(before.means, after.means, n_groups)]
        plain = [*plain, tests[1]]
        values = 0.5 + 0.5 * np.arange(before.counts.shape[-1]) / (before.counts.shape[-1] - 1)
        seem |= seem_dependent(before.counts, after.counts, values)
        graded, graded_least = graded_p_values(before, after, k)
        p_values = np.concatenate([p_values, graded], axis=1)
        leasts = np.concatenate([leasts, graded_least], axis=1)
        fell |= before.means - after.means > THRESHOLD + 1e-9
        change = (after.means - before.means).mean(axis=-1)
    by_case_only, suite = (_any_regressed(found) for found in (tests, plain))
    lowest = p_values.min(axis=1)
    able = (leasts <= lowest[:, np.newaxis] * (1 + 1e-9)).sum(axis=1)
    case = lowest * able <= ALPHA / 2
    stops = np.where(seem, by_case_only, suite | case)
    found = stops, suite | case, by_case_only, fell.any(axis=-1), change < -POINTS, suite, case
    return Verdicts(*map(np.asarray, found))


def _any_regressed(tests: list[tuple[Array, Array]]) -> Array:
    """Return where a suite fell, by Holm's steps over the suites."""
    # the larger of two p values is held against the level once the smaller is below half of it
    p, sign = (np.stack(side) for side in zip(*tests, strict=True))
    order = np.argsort(p, axis=0)
    ranked, signs = (np.take_along_axis(x, order, axis=0) for x in (p, sign))
    steps = np.arange(len(tests), 0, -1)[:, np.newaxis]
    adjusted = np.maximum.accumulate(ranked * steps, axis=0)
    return np.asarray(((adjusted <= ALPHA) & (signs < 0)).any(axis=0))


def share(
    rng: np.random.Generator,
    repetitions: int,
    shape: tuple[int, int],
    rates: Rates,
    *,
    after: Callable[[Array], Array] = lambda rates: rates,
    graded: bool = False,
    n_groups: int | None = None,
) -> Array:
    """Return the share of repetitions that each gate stopped."""
    n_cases, n_attempts = shape
    size = min(repetitions, max(1, PART // (n_cases * n_attempts)))
    counts = np.zeros(len(Verdicts._fields))
    done = 0
    while done < repetitions:
        n = min(size, repetitions - done)
        own = rates(rng, (n, n_cases))
        before, now = (draw(rng, side, n_attempts, graded=graded) for side in (own, after(own)))
        counts += [one.sum() for one in judge(before, now, n_groups=n_groups)]
        done += n
    return counts / repetitions


def check(rng: np.random.Generator) -> None:
    """Hold the gate as worked out here against the library's."""
    for n_cases, k, graded, n_groups in (
        (10, 1, False, None),
        (12, 3, False, None),
        (40, 10, False, None),
        (20, 3, True, None),
        (30, 5, True, None),
        (20, 3, False, 5),
    ):
        rates = rng.random((30, n_cases))
        lower = np.where(rng.random(rates.shape) < 0.05, rates / 9, rates)
        lower[::3] = np.maximum(0, rates[::3] - 0.2)
        runs = [draw(rng, side, k, graded=graded) for side in (rates, lower)]
        found = judge(runs[0], runs[1], n_groups=n_groups)
        for i in range(len(rates)):
            sides = [report(run, i) if graded else named(run, i) for run in runs]
            clusters = n_groups and {f"{j}": j * n_groups // n_cases for j in range(n_cases)}
            usual = scorekit.compare_reports(*sides, clusters=clusters or None)
            plain = scorekit.compare_reports(
                *sides, clusters=clusters or None, attempts="independent"
            )
            held = scorekit.compare_reports(
                *sides, clusters=clusters or None, attempts="dependent"
            )
            for result, on, stops in (
                (usual, "evidence", found.default[i]),
                (plain, "evidence", found.independent[i]),
                (held, "evidence", found.dependent[i]),
                (usual, "cases", found.cases[i]),
            ):
                try:
                    result.raise_for_regressions(on=on)  # type: ignore[arg-type]
                    assert not stops, (n_cases, k, graded, i, on)
                except scorekit.RegressionError:
                    assert stops, (n_cases, k, graded, i, on)


def named(run: Run, i: int) -> dict[str, tuple[float, ...]]:
    """Return one repetition as a mapping."""
    return {f"{j}": run.scores(i, j) for j in range(run.counts.shape[1])}


def report(run: Run, i: int) -> scorekit.CodeReport:
    """Return one repetition as a report."""
    return scorekit.code_report(
        scorekit.CodeSample(
            case_id=f"{j}", model="m", compiled=True, passed=passed, failed=N_TESTS - passed
        )
        for j, counts in enumerate(run.counts[i].tolist())
        for passed, n in enumerate(counts)
        for _ in range(n)
    )


def nothing_changed(rng: np.random.Generator, repetitions: int) -> None:
    """Print how often each gate stops where nothing changed."""
    print("\n| cases x attempts | rates | default | independent | dependent |", end="")
    print(' on="cases" | 2 points |\n|---|---|---|---|---|---|---|')
    for n_cases in (10, 40, 100, 164, 1000):
        for k in (1, 3, 10):
            for name, rates in RATES.items():
                row(f"{n_cases} x {k}", name, share(rng, repetitions, (n_cases, k), rates))
    for n_cases, k in ((10, 3), (40, 1), (100, 3), (164, 10), (1000, 3)):
        for name in ("Beta(.5, .5)", "90 % at .99"):
            title = f"{n_cases} x {k}, code report"
            row(title, name, share(rng, repetitions, (n_cases, k), RATES[name], graded=True))
    for n_cases, k, n_groups in ((40, 3, 10), (100, 10, 10), (1000, 3, 20)):
        title = f"{n_cases} x {k}, {n_groups} clusters"
        found = share(rng, repetitions, (n_cases, k), RATES["Beta(.5, .5)"], n_groups=n_groups)
        row(title, "Beta(.5, .5)", found)


def row(title: str, name: str, found: Array) -> None:
    """Print one row."""
    default, independent, dependent, cases, points, *_ = found
    parts = f"{independent:.4f} | {dependent:.4f} | {cases:.3f} | {points:.3f}"
    print(f"| {title} | {name} | {default:.4f} | {parts} |", flush=True)


def something_changed(rng: np.random.Generator, repetitions: int) -> None:
    """Print how often the default gate stops where something fell."""
    print("\n| loss | attempts | rates of the others | default | independent | dependent |")
    print("|---|---|---|---|---|---|")
    for k in (3, 5, 10):
        for name, rates in RATES.items():

            def one_perfect(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
                own = rates(rng, shape)  # noqa: B023 - used at once
                own[:, 0] = 1.0
                return own

            def it_falls(own: Array) -> Array:
                return np.where(np.arange(own.shape[1]) == 0, 0.0, own)

            found = share(rng, repetitions, (100, k), one_perfect, after=it_falls)
            losses(f"one of 100 from {k}/{k} to 0/{k}", k, name, found)
    for graded in (False, True):
        for k in (1, 3, 5, 10):
            for name in ("uniform", "all .5"):
                step = 0.1 if name == "all .5" else 1 - math.sqrt(0.8)  # less what is cut at 0

                def all_fall(own: Array) -> Array:
                    return np.maximum(0.0, own - step)  # noqa: B023 - used at once

                found = share(
                    rng, repetitions, (100, k), RATES[name], after=all_fall, graded=graded
                )
                losses(f"10 points of 100{', code report' * graded}", k, name, found)


def losses(title: str, k: int, name: str, found: Array) -> None:
    """Print one row."""
    default, independent, dependent, *_ = found
    parts = f"{default:.3f} | {independent:.3f} | {dependent:.3f}"
    print(f"| {title} | {k} | {name} | {parts} |", flush=True)


def power(rng: np.random.Generator, repetitions: int) -> None:
    """Print the mean power at the stated minimum detectable effects, and the mean effect."""
    rates = (0.02, 0.05, 0.1, 0.3, 0.5, 0.9, 0.98)
    print(f"\n| cases x attempts | test | {' | '.join(map(str, rates))} |")
    print("|---|---|" + "---|" * len(rates))
    for n_cases in (20, 50, 100, 200, 1000):
        for k, test in ((1, "auto"), (5, "auto"), (5, "t")):
            cells = [powers(rng, repetitions, (n_cases, k), rate, test) for rate in rates]
            print(f"| {n_cases} x {k} | {test} | {' | '.join(cells)} |", flush=True)


def powers(
    rng: np.random.Generator, repetitions: int, design: tuple[int, int], rate: float, test: Any
) -> str:
    """Return the mean power at the effects that unchanged runs state, and the mean effect."""
    n_cases, k = design
    n_reports = min(200, repetitions)
    runs = [draw(rng, np.full((n_reports, n_cases), rate), k, graded=False) for _ in range(2)]
    asked: dict[str, Any] = {"test": test, "attempts": "independent"}
    stated = [
        scorekit.compare_reports(named(runs[0], i), named(runs[1], i), **asked).suite
        for i in range(n_reports)
    ]
    effects = np.array([s.minimum_detectable_effect or math.nan for s in stated])
    known = effects[~np.isnan(effects)]
    if not known.size:
        return "none"
    grid = np.unique(np.linspace(known.min(), known.max(), 8))
    seen: list[list[float]] = [[], []]
    for effect in grid.tolist():
        sign = -1 if rate >= 0.5 else 1
        little = np.full((repetitions, n_cases), min(max(rate + sign * effect, 0.0), 1.0))
        room = rate if rate >= 0.5 else 1 - rate
        share = effect / room
        turned = rng.random((repetitions, n_cases)) < share
        if test == "auto":  # about these very cases: as many of them as the effect says
            n_turned = np.floor(share * n_cases + rng.random((repetitions, 1)))
            turned = np.arange(n_cases) < n_turned
        wholly = np.where(turned, float(rate < 0.5), rate)
        for shape, moved in zip(seen, (little, wholly), strict=True):
            old = rng.binomial(k, np.full(moved.shape, rate))
            new = rng.binomial(k, moved)
            found = by_attempts(old, new, k) if test == "auto" else by_cases(old / k, new / k)
            shape.append(float(np.mean(found[0] < ALPHA)))
    missing = f", {np.isnan(effects).mean():.0%} none" if known.size < n_reports else ""
    both = (f"{np.interp(known, grid, shape).mean():.2f}" for shape in seen)
    return f"{', '.join(both)} ({known.mean():.3f}{missing})"


def main(*, full: bool = False) -> None:
    """Print the Markdown tables."""
    repetitions = 4000 if full else 40
    print(f"{repetitions} repetitions, seed {SEED}, confidence level 0.95")
    check(np.random.default_rng(SEED))
    for part in (nothing_changed, something_changed, power):
        part(np.random.default_rng(SEED), repetitions)


if __name__ == "__main__":
    alone(main)
