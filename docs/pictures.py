"""
The pictures of the documentation, in docs/pictures.

Each file says what was drawn: texts, data and colors, without the layout that other versions of
matplotlib change.  A test compares this with what the functions draw now.
"""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

import scorekit

HERE = Path(__file__).parent
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
    """Draw the comparison of README and of the front page, legible on a narrow screen."""
    attempts: dict[str, dict[str, list[int]]] = {"v1": {}, "v2": {}}
    with (HERE / "results.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            attempts[row["version"]].setdefault(row["task"], []).append(int(row["passed"]))
    figure = Figure(figsize=(5.4, 3.4), layout="constrained")
    result = scorekit.compare_reports(attempts["v1"], attempts["v2"])
    scorekit.plot_comparison(result, ax=figure.subplots())
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


def ruler() -> Figure:
    """Draw both parts of a change, where another judge and another system came at once."""
    rng = np.random.default_rng(11)
    quality = rng.uniform(0.4, 1.0, 60)
    old, new, again = (
        dict(enumerate(np.clip(quality - less + rng.normal(0, 0.05, 60), 0, 1).round(2).tolist()))
        for less in (0.0, 0.05, 0.05)
    )
    figure = Figure(figsize=(6, 2), layout="constrained")
    rulers = {"judge": "x"}, {"judge": "y"}
    anchors = {i: again[i] for i in range(30)}
    result = scorekit.compare_reports(
        old, new, rulers=rulers, rescored=anchors, threshold=0.3, attempts="fixed"
    )
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
    ruler,
    ranks,
    reliability,
    cost_quality,
)


def drawn(figure: Figure) -> str:
    """Say what a figure shows, an element a line: texts, and points with their colors."""
    figure.draw_without_rendering()  # which places the ticks
    return "\n".join(sorted({line for axes in figure.axes for line in _elements(axes)}))


def _elements(axes: Any) -> Iterator[str]:
    for one in filter(_is_seen, axes.findobj()):
        if isinstance(one, Text) and re.search(r"[A-Za-z]", one.get_text()):  # not ticks
            yield f"text {' '.join(one.get_text().split())}"
        elif isinstance(one, Line2D) and one.get_transform() == axes.transData:
            style = one.get_color(), one.get_marker(), one.get_linestyle()
            yield f"line {_numbers(one.get_xydata())} {style[1:]} {to_hex(style[0])}"
        elif isinstance(one, Collection):
            paths = [path.vertices for path in one.get_paths()]
            points: Any = np.concatenate([*paths, one.get_offsets()]) if paths else []
            fill: Any = one.get_facecolor()
            yield f"{type(one).__name__} {_numbers(points)} {list(map(to_hex, fill))}"


def _is_seen(artist: Any) -> bool:
    return bool(artist.get_visible())


def _numbers(points: Any) -> str:
    return " ".join(f"{x:.4g},{y:.4g}" for x, y in np.asarray(points, dtype=float))


def _path(picture: Callable[[], Figure]) -> Path:
    return HERE / "pictures" / f"{picture.__name__}.svg"


def stored(picture: Callable[[], Figure]) -> str:
    """Return what the stored picture says that it shows; nothing, if there is none."""
    if not _path(picture).exists():
        return ""
    text = _path(picture).read_text(encoding="utf-8")
    said = re.search(r"(?s)<dc:description>(.*?)</dc:description>", text)
    return html.unescape(said[1]) if said else ""


def draw(picture: Callable[[], Figure]) -> Path:
    """Store a picture, and return where."""
    figure = picture()
    said = {"Date": None, "Creator": None, "Description": drawn(figure)}
    with mpl.rc_context({"svg.hashsalt": "scorekit"}):
        figure.savefig(_path(picture), metadata=said)
    return _path(picture)
