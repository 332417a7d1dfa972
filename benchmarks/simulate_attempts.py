"""
How often a gate stops by chance where attempts are not as simple as tests suppose.

- Attempts of a run depend on each other: copies of one answer, correlation, a drift of the run.
- One run has more attempts at a case than the other, and a t test is asked.
- The suite is run again: repeats of either side.
- The best of several baselines is taken.
- A margin is looked at while tasks come from easy to hard.
- Ties of a preference count as half a win each.
- Groups of equal scores, and equal models with unequal attempts, are compared.

    python -m benchmarks.simulate_attempts [--full]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

import scorekit
from benchmarks.machine import alone
from benchmarks.simulate_gate import RATES, Rates, Run, judge
from scorekit._core.gaffke import unseen_p_value
from scorekit.intervals import unseen_interval

SEED = 20261123
ALPHA = 0.05
PART = 200_000
"""Cases drawn at once."""

Array = NDArray[Any]
Draw = Callable[[np.random.Generator, Array, int], Array]
"""Passes at each case, from its rates, of so many attempts."""


def independent(rng: np.random.Generator, rates: Array, k: int) -> Array:
    """Draw each attempt by itself."""
    return rng.binomial(k, rates)


def correlated(rho: float) -> Draw:
    """Draw the rate of a case anew in each run, so that its attempts correlate."""

    def draw(rng: np.random.Generator, rates: Array, k: int) -> Array:
        inside = np.clip(rates, 1e-9, 1 - 1e-9)
        size = (1 - rho) / rho
        return rng.binomial(k, rng.beta(inside * size, (1 - inside) * size))

    return draw


def copies(rng: np.random.Generator, rates: Array, k: int) -> Array:
    """Make all attempts at a case alike."""
    return k * (rng.random(rates.shape) < rates)


def drifting(logits: float) -> Draw:
    """Move all cases of a run together."""

    def draw(rng: np.random.Generator, rates: Array, k: int) -> Array:
        inside = np.clip(rates, 1e-9, 1 - 1e-9)
        moved = rng.normal(0, logits, (*rates.shape[:-1], 1))
        return rng.binomial(k, special.expit(special.logit(inside) + moved))

    return draw


def unstable(
    share: float, rate: float | None, others: str | None
) -> Callable[..., tuple[Array, Array]]:
    """Return rates of which a share are of unstable cases, and where these are."""

    def rates(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Array, Array]:
        n = round(share * shape[1]) if share < 1 else int(share)
        flaky = np.zeros(shape, np.bool_)
        flaky[:, :n] = True
        own = rng.random(shape) if rate is None else rate
        rest = np.ones(shape) if others is None else ALL_RATES[others](rng, shape)
        return np.where(flaky, own, rest), flaky

    return rates


ALL_RATES: dict[str, Rates] = {**RATES, "all .95": lambda _, shape: np.full(shape, 0.95)}
NEAR_ONE: dict[str, Rates] = {**ALL_RATES, "all .98": lambda _, shape: np.full(shape, 0.98)}


def gates(
    rng: np.random.Generator,
    repetitions: int,
    shape: tuple[int, int],
    make: Callable[[np.random.Generator, tuple[int, int], int], tuple[Array, Array]],
) -> Array:
    """Return the share of repetitions that each gate stops: independent, auto, dependent."""
    n_cases, k = shape
    counts = np.zeros(3)
    done = 0
    while done < repetitions:
        n = min(repetitions - done, max(1, PART // n_cases))
        sides = make(rng, (n, n_cases), k)
        found = judge(*(Run(np.stack([k - own, own], axis=-1)) for own in sides))
        counts += [one.sum() for one in (found.independent, found.default, found.dependent)]
        done += n
    return counts / repetitions


def dependence(rng: np.random.Generator, repetitions: int) -> None:
    """Print how often unchanged runs stop whose attempts depend on each other."""
    print('\n| attempts | rates | cases x attempts | "independent" | "auto" | "dependent" |')
    print("|---|---|---|---|---|---|")
    shapes = (20, 5), (20, 10), (40, 5), (100, 5), (100, 10), (164, 10)
    drawn: dict[str, Draw] = {
        "independent": independent,
        "correlation .1": correlated(0.1),
        "correlation .3": correlated(0.3),
        "all copies": copies,
        "drift of .2 logits": drifting(0.2),
    }
    for title, draw in drawn.items():
        for name in ("Beta(.5, .5)", "uniform", "all .95", "90 % at .99"):
            for shape in shapes:

                def pair(rng: np.random.Generator, size: tuple[int, int], k: int) -> Any:
                    rates = ALL_RATES[name](rng, size)  # noqa: B023 - used at once
                    return draw(rng, rates, k), draw(rng, rates, k)  # noqa: B023

                row(title, name, shape, gates(rng, repetitions, shape, pair))
    flaky: tuple[tuple[str, float, float | None, str | None], ...] = (
        ("copies, 10 % unstable", 0.1, 0.5, None),
        ("copies, 10 % unstable", 0.1, 0.9, None),
        ("copies, 10 % unstable", 0.1, None, None),
        ("10 % copies, the others independent", 0.1, 0.5, "90 % at .99"),
        ("10 % copies, the others independent", 0.1, None, "90 % at .99"),
        *(
            (f"{n} copied case{'s' * (n > 1)}, the others independent", n, 0.5, "90 % at .99")
            for n in range(1, 6)
        ),
    )
    for title, share, rate, others in flaky:
        for shape in shapes if share < 1 else ((100, 10),):

            def mixed(rng: np.random.Generator, size: tuple[int, int], k: int) -> Any:
                rates, same = unstable(share, rate, others)(rng, size)  # noqa: B023 - used at once
                return tuple(
                    np.where(same, copies(rng, rates, k), independent(rng, rates, k))
                    for _ in range(2)
                )

            own = "uniform" if rate is None else f"{rate}"
            row(
                title,
                f"{own}, others {others or 'always'}",
                shape,
                gates(rng, repetitions, shape, mixed),
            )


def row(title: str, name: str, shape: tuple[int, int], found: Array) -> None:
    """Print one row."""
    cells = " | ".join(f"{one:.3f}" for one in found)
    print(f"| {title} | {name} | {shape[0]} x {shape[1]} | {cells} |", flush=True)


def losses(rng: np.random.Generator, repetitions: int) -> None:
    """Print what the gates find where attempts are independent."""
    print('\n| loss | rates | cases x attempts | "independent" | "auto" | "dependent" |')
    print("|---|---|---|---|---|---|")

    def fallen(n: int) -> Callable[[Array], tuple[Array, Array]]:
        def change(rates: Array) -> tuple[Array, Array]:
            among = np.arange(rates.shape[1]) < n
            return np.where(among, 1.0, rates), np.where(among, 0.0, rates)

        return change

    def points(rates: Array) -> tuple[Array, Array]:
        return rates, np.maximum(0.0, rates - 0.1)

    def fifth(rates: Array) -> tuple[Array, Array]:
        among = np.arange(rates.shape[1]) < rates.shape[1] // 5
        return rates, np.where(among, np.maximum(0.0, rates - 0.25), rates)

    kinds = {
        "one case falls wholly": fallen(1),
        "three cases fall wholly": fallen(3),
        "10 points": points,
        "25 points in a fifth": fifth,
    }
    for title, change in kinds.items():
        for name, rates in ALL_RATES.items():
            for shape in ((20, 10), (100, 5), (100, 10)):

                def pair(rng: np.random.Generator, size: tuple[int, int], k: int) -> Any:
                    sides = change(rates(rng, size))  # noqa: B023 - used at once
                    return tuple(independent(rng, own, k) for own in sides)

                row(title, name, shape, gates(rng, repetitions, shape, pair))


def unequal(rng: np.random.Generator, repetitions: int) -> None:
    """Print how often unchanged suites regress by t and by Gaffke's bounds, and both powers."""
    print("\n| attempts | rates | cases | t: false | Gaffke: false | t: 10 points | Gaffke |")
    print("|---|---|---|---|---|---|---|")
    for n_old, n_new in ((1, 10), (10, 1), (1, 5), (3, 5), (5, 10), (5, 6), (5, 5)):
        for name in ("uniform", "all .95", "all .98", "90 % at .99"):
            for n_cases in (20, 50, 164):
                cells: list[float] = []
                for loss in (0.0, 0.1):
                    shape = repetitions, n_cases
                    rates = (
                        np.full(shape, 0.98) if name == "all .98" else ALL_RATES[name](rng, shape)
                    )
                    old = rng.binomial(n_old, rates) / n_old
                    new = rng.binomial(n_new, np.maximum(0.0, rates - loss)) / n_new
                    cells += regressed(new - old)
                t_false, g_false, t_power, g_power = cells
                text = f"{t_false:.3f} | {g_false:.3f} | {t_power:.2f} | {g_power:.2f}"
                print(f"| {n_old} v {n_new} | {name} | {n_cases} | {text} |", flush=True)


def regressed(deltas: Array) -> tuple[float, float]:
    """Return how often a t test, and Gaffke's bounds, see a loss."""
    n = deltas.shape[1]
    stderr = deltas.std(axis=1, ddof=1) / math.sqrt(n)
    statistic = deltas.mean(axis=1) / np.where(stderr > 1e-12, stderr, np.inf)
    groups = np.arange(n)
    fell = [float(row.mean()) < 0 and unseen_p_value(row, groups) <= ALPHA for row in deltas]
    return float(np.mean(special.stdtr(n - 1, statistic) <= ALPHA / 2)), float(np.mean(fell))


def repeats(rng: np.random.Generator, repetitions: int) -> None:
    """Print how often unchanged repeats stop, and what they find, beside one report a side."""
    print("\n| attempts | cases x attempts | repeats | unchanged: verdict, gate |", end="")
    print(" 10 points: verdict, gate |")
    print("|---|---|---|---|---|")
    drawn: dict[str, Draw] = {
        "independent": independent,
        "correlation .3": correlated(0.3),
        "copies": copies,
        "drift of .2 logits": drifting(0.2),
        "one case of .5, copied": copies,
    }
    for title, draw in drawn.items():
        for n_cases, k in ((20, 5), (100, 5)):
            for n_old, n_new in ((2, 2), (3, 3), (5, 5), (8, 8), (1, 3)):
                cells: list[tuple[float, float]] = []
                for loss in (0.0, 0.1):
                    shape = repetitions, 1, n_cases
                    rates = rng.random(shape)
                    if title.startswith("one"):
                        rates = np.where(np.arange(n_cases) == 0, 0.5, 1.0) * np.ones(shape)
                    means = [
                        draw(
                            rng,
                            np.broadcast_to(np.maximum(0.0, own), (repetitions, n, n_cases)),
                            k,
                        ).mean(axis=-1)
                        / k
                        for own, n in ((rates, n_old), (rates - loss, n_new))
                    ]
                    cells.append(over_repeats(means, n_cases))
                text = " | ".join(f"{verdict:.3f}, {gate:.3f}" for verdict, gate in cells)
                print(f"| {title} | {n_cases} x {k} | {n_old} and {n_new} | {text} |", flush=True)


def over_repeats(means: list[Array], n_cases: int) -> tuple[float, float]:
    """Return how often the verdict is "regressed", and how often the gate stops."""
    n_old, n_new = (own.shape[1] for own in means)
    df = n_old + n_new - 2
    squares = np.zeros(len(means[0]))
    for own in means:
        squares += ((own - own.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    spread = np.maximum(np.sqrt(squares / df), 0.5 / n_cases)
    delta = means[1].mean(axis=1) - means[0].mean(axis=1)
    p_values = special.stdtr(df, delta / (spread * math.sqrt(1 / n_old + 1 / n_new)))
    error = ALPHA if min(n_old, n_new) < 8 else ALPHA / 2
    return float(np.mean(p_values <= ALPHA / 2)), float(np.mean(p_values <= error))


def best_of_baselines(rng: np.random.Generator, repetitions: int) -> None:
    """Print how often an unchanged run regresses against the best of several."""
    print("\n| baselines | regressed |\n|---|---|")
    for n in (1, 2, 5, 10, 20):
        rates = rng.random((repetitions, 1, 100))
        old = rng.binomial(5, np.broadcast_to(rates, (repetitions, n, 100)))
        best = np.take_along_axis(old, old.sum(axis=-1).argmax(axis=1)[:, None, None], 1)[:, 0]
        new = rng.binomial(5, rates[:, 0])
        found = judge(*(Run(np.stack([5 - own, own], axis=-1)) for own in (best, new)))
        print(f"| {n} | {found.default.mean():.3f} |", flush=True)


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
    """Print how often equal models with unequal attempts are told apart."""
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
    check()
    slow = repetitions // 2
    for part, n in (
        (dependence, repetitions),
        (losses, repetitions),
        (unequal, slow),
        (repeats, repetitions),
        (best_of_baselines, repetitions),
        (sorted_margin, slow),
        (ties, slow),
        (equal_groups, slow),
        (equal_models, slow),
    ):
        part(np.random.default_rng(SEED), n)


def check() -> None:
    """Hold what is worked out here against the library."""
    rng = np.random.default_rng(SEED)
    for _ in range(20):
        outcomes = rng.random((6, 12, 4)) < rng.random((1, 12, 1))
        runs = [{f"{i}": own.tolist() for i, own in enumerate(run)} for run in outcomes]
        result = scorekit.compare_reports(runs[:3], runs[3:])
        means = outcomes.mean(axis=(1, 2)).reshape(1, 6)
        verdict, gate = over_repeats([means[:, :3], means[:, 3:]], 12)
        assert verdict == (result.suite.verdict == "regressed")
        try:
            result.raise_for_regressions()
            assert not gate
        except scorekit.RegressionError:
            assert gate
        deltas = (outcomes[1] * 1.0).mean(axis=1) - outcomes[0, :, 0]
        suite = scorekit.compare_reports(
            {f"{i}": own[:1].tolist() for i, own in enumerate(outcomes[0])}, runs[1], test="t"
        ).suite
        if suite.test == "Gaffke":
            assert unseen_interval(deltas, np.arange(12), 0.95).low == suite.interval.low


if __name__ == "__main__":
    alone(main)
