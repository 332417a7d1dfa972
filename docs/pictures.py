"""The pictures of the documentation: ``python docs/pictures.py FOLDER`` draws them all."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

import scorekit

SWIFT = [3, 2, 3, 1, 0, 4, 2, 2, 2, 3, 2, 0]  # of five attempts each, as in sure.md
CAREFUL = [5, 4, 4, 5, 4, 3, 4, 3, 5, 2, 4, 1]
TASKS = [
    "roman",
    "brackets",
    "runs",
    "intervals",
    "edits",
    "leap",
    "stairs",
    "words",
    "primes",
    "anagrams",
    "flatten",
    "bowling",
]


def _attempts(correct: list[int]) -> dict[str, list[int]]:
    return {task: [1] * c + [0] * (5 - c) for task, c in zip(TASKS, correct, strict=True)}


def _success(correct: list[int]) -> tuple[scorekit.PassAtK, ...]:
    return scorekit.pass_at_k(n_samples=[5] * 12, n_correct=correct, k=[1, 2, 3, 4, 5])


def front() -> Figure:
    """Draw two models, and then the change from one to the other."""
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    left, right = figure.subplots(ncols=2, width_ratios=(2, 3))
    scorekit.plot_pass_at_k({"swift": _success(SWIFT), "careful": _success(CAREFUL)}, ax=left)
    comparison = scorekit.compare_reports(_attempts(SWIFT), _attempts(CAREFUL))
    scorekit.plot_comparison(comparison, ax=right)
    return figure


def pass_at_k() -> Figure:
    """Draw success over the number of attempts."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    results = {"swift": _success(SWIFT), "careful": _success(CAREFUL)}
    scorekit.plot_pass_at_k(results, ax=figure.subplots())
    return figure


def comparison() -> Figure:
    """Draw the change of each task and of the suite."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    result = scorekit.compare_reports(_attempts(SWIFT), _attempts(CAREFUL))
    scorekit.plot_comparison(result, ax=figure.subplots())
    return figure


def ranks() -> Figure:
    """Draw the ranks that four models may have."""
    figure = Figure(figsize=(6, 3), layout="constrained")
    scores = {
        "careful": _attempts(CAREFUL),
        "swift": _attempts(SWIFT),
        "hasty": _attempts([max(0, c - 1) for c in SWIFT]),
        "sure": _attempts([min(5, c + i % 2) for i, c in enumerate(CAREFUL)]),
    }
    scorekit.plot_comparison(scorekit.compare_models(scores), ax=figure.subplots())
    return figure


def reliability() -> Figure:
    """Draw stated confidence against accuracy."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    counts = {"high": (52, 60), "medium": (30, 50), "low": (14, 40)}
    scorekit.plot_reliability(scorekit.confidence_calibration(counts), ax=figure.subplots())
    return figure


def cost_quality() -> Figure:
    """Draw what three tiers cost and what they give."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    tiers = [
        scorekit.tier_statistics(
            name,
            scorekit.runs_from_columns(
                run_id=range(20),
                passed=[i < passes for i in range(20)],
                impl_rate=[0.9 if i < passes else 0.4 for i in range(20)],
                cost_usd=[usd * (0.7 + 0.03 * (i * 7 % 20)) for i in range(20)],
                duration_seconds=60,
            ),
        )
        for name, passes, usd in [("T0", 9, 0.10), ("T1", 15, 0.18), ("T2", 16, 0.45)]
    ]
    scorekit.plot_cost_quality(tiers, ax=figure.subplots())
    return figure


PICTURES: tuple[Callable[[], Figure], ...] = (
    front,
    pass_at_k,
    comparison,
    ranks,
    reliability,
    cost_quality,
)


def draw(folder: Path) -> None:
    """Write all pictures to *folder*."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "scorekit"}):
        for picture in PICTURES:
            target = folder / f"{picture.__name__}.svg"
            picture().savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
