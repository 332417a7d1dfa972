"""Figures of results: calibration, success over attempts, comparisons, cost against quality."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np

from scorekit._core.attempts import CaseScores
from scorekit._core.checks import (
    check_count,
    check_instance,
    check_items,
    check_records,
    check_text,
)
from scorekit._core.mappings import is_mapping
from scorekit._core.text import and_more
from scorekit._plots.canvas import (
    BESIDE_AXES,
    BETTER,
    DASHES,
    FRONTIER,
    MARKERS,
    MAX_LABEL,
    SHADES,
    WIDTH,
    WORSE,
    Axes,
    add_legend,
    axes_for,
    draw_point,
    level_names,
    mark_scale,
    name_rows,
    set_texts,
    short_name,
    span_of,
    text_color,
    untyped,
    wrapped,
)
from scorekit._plots.labels import BELOW, BESIDE, place_names
from scorekit._sheet.values import counted, estimate, level_of
from scorekit._stats.curves import DifferenceBand, chances_at, curve_band, difference_band
from scorekit._stats.sides import Side, SuiteScores
from scorekit.calibration import CalibrationError, ConfidenceCalibration, ReviewThreshold
from scorekit.comparison import CaseChange, Comparison
from scorekit.errors import refuse, shown
from scorekit.horizons import TimeHorizon
from scorekit.intervals import Interval
from scorekit.ranking import BradleyTerry, ModelComparison
from scorekit.reports import CodeReport, ModelStatistics
from scorekit.rulers import RulerEffect
from scorekit.runs import CrossTier, TierStatistics
from scorekit.sampling import PassAtK
from scorekit.verdicts import SuiteVerdict

_CurveSource = CodeReport | PassAtK | Iterable[PassAtK]

MAX_CASES = 20
"""Cases that a figure has a row for, so that it fits a screen and a page."""

MANY = 40
"""Points beyond which not all have a name and an interval: they would be a grey net."""

ONE_OR_NAMED = "a CodeReport, or a mapping such as {'old': report, 'new': report}"
"""What several reports come in."""

MAX_TICKS = 10
"""Numbers of attempts that each have a mark of their own."""

MAX_NAMES = 16
"""Models that the legend of `plot_pass_at_k` names: more would not fit beside each other."""

DECADE = 10.0
"""Largest amount over the smallest from which an axis is logarithmic."""

STRIP = 0.06
"""Height that the interval of a time horizon takes below the curves."""

TIMES = (
    *((n / 60, f"{n} s") for n in (1, 2, 5, 10, 30)),
    *((float(n), f"{n} min") for n in (1, 2, 5, 10, 30)),
    *((60.0 * n, f"{n} h") for n in (1, 2, 4, 10)),
    *((1440.0 * n, f"{n} day{'s' * (n > 1)}") for n in (1, 3, 10, 30, 100, 300, 1000)),
)
"""Marks of an axis of minutes."""

TIME_INCHES = 0.6
"""Width that a mark takes."""


def plot_reliability(
    result: ConfidenceCalibration | CalibrationError,
    *,
    threshold: ReviewThreshold | None = None,
    width_inches: float = WIDTH,
    ax: Axes | None = None,
) -> Axes:
    """
    Draw stated confidence against accuracy: each level or bin with its interval and count.

    On the diagonal accuracy equals confidence; an interval below it shows overconfidence.  More
    than 40 bins are drawn without their counts, and below the figure stands how many find no room.

    Args:
        result: From `confidence_calibration` or `calibration_error`,
            whose bins of equal width are drawn at their mean confidence.
        threshold: From `review_threshold`: a line where answers begin to go out unreviewed.
        width_inches: Width of a figure of its own (1 to 40). A column of a paper is 3.3 wide; text
            is smaller below 5.
        ax: Where to draw; None makes a figure of its own, of which ``ax.figure.savefig`` makes a
            file.

    Returns:
        The axes.

    Raises:
        MissingExtraError: If matplotlib is not installed.
        InputError: If *width_inches* is out of range, or *threshold* a word that *result* has no
            level of.
        TypeError: If *result* or *threshold* is none of these, or *ax* not an ``Axes``.

    Examples:
        >>> from scorekit import confidence_calibration
        >>> ax = plot_reliability(confidence_calibration({"high": (17, 20), "low": (4, 10)}))
        >>> ax.get_ylabel()
        'Accuracy (95 % interval)'
        >>> plot_reliability(0.9)
        Traceback (most recent call last):
        ...
        TypeError: result must be a ConfidenceCalibration or a CalibrationError, got 0.9
    """
    title, dots = _dots(result)
    place = None
    if threshold is not None:
        found = check_instance("threshold", threshold, ReviewThreshold)
        place = _place_of(found, result)
        title += f"\n{str(found).partition(' (')[0]}"
    own = axes_for(ax, width_inches)
    axes = untyped(own)
    if place is not None:
        axes.axvline(place, color=BETTER, linewidth=1, linestyle=":", zorder=1)
    axes.plot([0, 1], [0, 1], color=FRONTIER, linewidth=1, linestyle="--", zorder=1)
    for stated, accuracy, interval, _ in dots:
        ends = (interval.low, interval.high)
        draw_point(axes, stated, accuracy, y_ends=ends, marker=MARKERS[0], color=SHADES[0])
    axes.set_xlim(-0.06, 1.06)
    axes.set_ylim(-0.16, 1.16)  # room for what stands below an interval, or above it
    mark_scale(axes)
    level = level_names(interval for _, _, interval, _ in dots)
    x_label = "Stated confidence (accuracy it stands for)"
    set_texts(axes, title, x_label, f"Accuracy ({level})" if dots else "Accuracy")
    bars = [((x, i.low), (x, i.high)) for x, _, i, _ in dots]
    texts = [(*bar, dot[3]) for bar, dot in zip(bars, dots, strict=True)]
    place_names(own, texts if len(dots) <= MANY else [], BELOW, bars, n=len(dots), what="counts")
    return own


def plot_pass_at_k(
    results: _CurveSource | Mapping[str, _CurveSource],
    *,
    width_inches: float = WIDTH,
    ax: Axes | None = None,
) -> Axes:
    """
    Draw success over the number of attempts, with the interval as a band, a curve per model.

    The band of a model of a report holds its whole curve at once. Of two such models the
    difference is drawn as well, over the tasks that both have, with a band of its own, and the
    title says from which number of attempts on one of them is shown to be ahead. Unknown outcomes
    may have gone either way in it. A `PassAtK` has no single tasks, so each of its intervals holds
    by itself.

    Args:
        results: A result of `pass_at_k` or a `CodeReport`, or a mapping from name to either. Each
            model has a curve, and the legend names the first 16. Unknown estimates (NaN) are left
            out of a curve.
        width_inches: As in `plot_reliability`.
        ax: As in `plot_reliability`.

    Returns:
        The axes.

    Raises:
        InputError: If there are no results, or all are unknown.
        MissingExtraError: If matplotlib is not installed.
        TypeError: If an item is not a `PassAtK`, or *ax* not an ``Axes``.

    Examples:
        >>> from scorekit import pass_at_k
        >>> curve = pass_at_k(n_samples=[10, 10, 10], n_correct=[9, 4, 0], k=(1, 2, 5))
        >>> plot_pass_at_k({"model-a": curve}).get_ylabel()
        'Chance of a success (95 % interval)'
        >>> plot_pass_at_k([])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: results must be a non-empty sequence of PassAtK, got ()
    """
    curves = _by_model(results)
    tasks = _tasks_by_model(results)
    own = axes_for(ax, width_inches)
    axes = untyped(own)
    drawn = [one for curve in curves.values() for one in curve if not math.isnan(one.score)]
    ks = {one.k for one in drawn}
    if not ks:
        refuse("results", "a result with an estimate that is not NaN", results)
    lines: list[Any] = []
    names = list(map(short_name, curves))
    veil = 0.15 * min(1.0, len(SHADES) / len(curves))  # many bands would hide the curves
    for i, (name, curve) in enumerate(curves.items()):
        points = sorted((one for one in curve if not math.isnan(one.score)), key=lambda p: p.k)
        # a single number of attempts has the models side by side
        aside = 1.0 if len(ks) > 1 else 1.1 ** ((i + 0.5) / len(curves) - 0.5)
        x = [point.k * aside for point in points]
        color, dashes = SHADES[i % len(SHADES)], DASHES[i % len(DASHES)]
        lines += axes.plot(
            x,
            [point.score for point in points],
            color=color,
            marker=MARKERS[i % len(MARKERS)],
            linestyle=dashes,
            markevery=None if len(points) <= MAX_TICKS else 0.08,
        )
        lows, highs = _band(points, tasks.get(name))
        if len(points) == 1:  # a band would have no width
            axes.plot(2 * x, [*lows, *highs], color=color, linewidth=1.5, marker="_", zorder=2)
        axes.fill_between(x, lows, highs, facecolor=color, alpha=veil, linewidth=0)
        for ends in (lows, highs):  # or bands that overlap would look alike in grey
            axes.plot(x, ends, color=color, linewidth=0.7, linestyle=dashes)
    title, floor = "Success within k attempts (pass@k)", 0.0
    gap = _difference(curves, tasks) if len(curves) == len(tasks) == 2 else None  # noqa: PLR2004
    if gap is not None:
        lines += _draw_difference(axes, gap)
        first, second = names
        names.append(f"{first} - {second}")
        title += f"\n{first} against {second}, {counted(gap.n_tasks, 'task')}: {gap.verdict()}"
        floor = min(0.0, float(gap.lows.min()))
    if is_mapping(results) or isinstance(results, CodeReport):
        named = lines[:MAX_NAMES]
        head = f"{len(named)} of {len(lines)} models" if len(named) < len(lines) else None
        where = BESIDE_AXES if len(named) > len(SHADES) or len(ks) == 1 else {"loc": "best"}
        add_legend(axes, named, names, title=head, **where)
    _mark_attempts(axes, sorted(ks))
    axes.set_ylim(floor - 0.03, 1.03)
    if gap is None:
        mark_scale(axes)
    x_label = "Attempts, k"
    if short := [one for one in drawn if one.left_out]:
        used, given = {one.n_tasks_used for one in short}, {one.n_tasks for one in short}
        least = min(one.k for one in short)
        from_k = f"k >= {least}".replace(" ", "\N{NO-BREAK SPACE}")
        x_label += f" ({from_k}: {span_of(used)} of {span_of(given)} tasks)"
    level = level_names(one.interval for one in drawn)
    if len(ks) > 1 and tasks.keys() == curves.keys():
        level += " of all k at once"
    set_texts(axes, title, x_label, f"Chance of a success ({level})")
    return own


def plot_comparison(
    comparison: Comparison | ModelComparison | BradleyTerry,
    *,
    max_cases: int = MAX_CASES,
    width_inches: float = WIDTH,
    ax: Axes | None = None,
) -> Axes:
    r"""
    Draw the changes of a comparison, worst first, under those of its suites with their intervals.

    For `compare_models` draw the ranks that each model may have, filled for those that may be the
    best. For `bradley_terry` draw strengths with their intervals, and an arrow for one without
    bound.

    Regressions point left and are filled, improvements point right and are hollow.  Cases that
    are not significant by themselves are thin and grey.  A margin is a dashed line with its name.
    Where more changed than fit, the largest of each kind are drawn and the rest are counted; of
    the suites the first are drawn.

    Args:
        comparison: From `compare_reports`, `compare_models` or `bradley_terry`.
        max_cases: Most cases to draw, and most suites, or most models (count, at least 2).
        width_inches: As in `plot_reliability`.
        ax: As in `plot_reliability`.

    Returns:
        The axes.

    Raises:
        InputError: If *max_cases* is below 2.
        MissingExtraError: If matplotlib is not installed.
        TypeError: If *comparison* is none of the three, *max_cases* not an integer, or *ax* not
            an ``Axes``.

    Examples:
        >>> from scorekit import compare_reports
        >>> result = compare_reports({"sort": 1.0, "parse": 1.0}, {"sort": 0.5, "parse": 1.0})
        >>> ax = plot_comparison(result)
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['all cases (2)\n-0.2 [-0.9, +0.8]', 'sort']
        >>> plot_comparison([0.5])
        Traceback (most recent call last):
        ...
        TypeError: comparison must be a Comparison, got [0.5]
    """
    shown = check_count("max_cases", max_cases, 2)
    if isinstance(comparison, ModelComparison | BradleyTerry):
        return _plot_models(comparison, shown, width_inches, ax)
    check_instance("comparison", comparison, Comparison)
    rows = _rows(comparison, shown)
    n_suites = sum(isinstance(row, tuple) for row in rows)
    changes = (*comparison.regressions, *comparison.improvements)
    several = len({change.metric for change in changes}) > 1
    split = () if comparison.ruler is None else comparison.ruler.effects
    names = [_row_name(row, len(comparison.suites), split, several=several) for row in rows]
    heights = [1.0 + 0.8 * name.count("\n") for name in names]
    own = axes_for(ax, width_inches, n_rows=sum(heights))
    axes = untyped(own)
    middles = name_rows(axes, names, heights)
    thick = ""
    for y, row in zip(middles, rows, strict=True):
        if isinstance(row, tuple):
            ends = row[1].interval
            draw_point(
                axes,
                row[1].delta,
                y,
                x_ends=(ends.low, ends.high),
                marker="D",
                color=text_color(axes),
            )
        elif isinstance(row, CaseChange) and row.delta is not None:
            worse, color, width = row.delta < 0, FRONTIER, 1.0
            if row.is_significant:
                color, width, thick = WORSE if worse else BETTER, 3.0, "; thick: significant"
            axes.plot([0, row.delta], [y, y], color=color, linewidth=width, zorder=2)
            draw_point(axes, row.delta, y, marker="<" if worse else ">", color=color, filled=worse)
    for label in axes.get_yticklabels()[: min(n_suites, shown)]:
        label.set_fontweight("bold")
    margin = comparison.suite.margin
    if margin is not None:
        axes.axvline(-margin, color=WORSE, linewidth=1, linestyle="--", zorder=1)
    axes.axvline(0, color=FRONTIER, linewidth=1, zorder=1)
    axes.axhline(sum(heights[: min(n_suites, shown + 1)]), color=FRONTIER, linewidth=0.5)
    sides = (short_name(comparison.current_name), short_name(comparison.baseline_name))
    joint = "\n" if sum(map(len, sides)) > MAX_LABEL else " "
    verdicts = [suite.verdict for suite in comparison.suites.values()]
    counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts)]
    outcome = ", ".join(counts) if len(verdicts) > 1 else verdicts[0]
    unchanged = f"{comparison.n_unchanged} unchanged, within {comparison.threshold:g}"
    dashed = "" if margin is None else f"; dashed: margin {margin:g}"
    title = f"{sides[0]}{joint}against {sides[1]}: {outcome}"
    if comparison.ruler is not None and comparison.ruler.said:
        title += f"\n{comparison.ruler.said}"
    # suites that are named by models are of a single metric
    metrics = {change.metric for change in changes if change.model in comparison.suites}
    metrics = metrics or set(comparison.suites)
    metric = short_name(metrics.pop()) if len(metrics) == 1 else "score"
    level = level_of(comparison.suite.interval)
    set_texts(axes, title, f"Change of {metric} ({level} interval{dashed}{thick}; {unchanged})")
    return own


def _plot_models(
    models: ModelComparison | BradleyTerry, most: int, width: float, ax: Axes | None
) -> Axes:
    """Draw a line for each model, the best first."""
    if isinstance(models, BradleyTerry):
        intervals, filled = models.intervals, set(models.intervals)
        places: list[float] = list(models.strengths.values())
        title, x_label = "Strengths of the models", "Strength, log odds"
    else:
        intervals, filled = models.ranks, set(models.best)
        places = [float(i + 1) for i in range(len(intervals))]
        title = f"{len(filled)} of {len(places)} models may be the best (filled)"
        x_label = "Ranks it may have" + (
            f" in {short_name(models.metric)}" if models.metric else ""
        )
    names = list(intervals)[:most]
    ends = [end for one in intervals.values() for end in (one.low, one.high)]
    finite = [end for end in (*ends, *places) if math.isfinite(end)]
    margin = 0.05 * (max(finite) - min(finite)) or 1.0
    left, right = min(finite) - margin, max(finite) + margin
    own = axes_for(ax, width, n_rows=len(names) + 1)
    axes = untyped(own)
    labels = [short_name(name) for name in names]
    if len(places) > most:
        labels.append(and_more(len(places) - most))
    middles = name_rows(axes, labels, [1.0] * len(labels))
    for y, name, x in zip(middles, names, places, strict=False):
        one, color = intervals[name], SHADES[0]
        ends = [max(one.low, left), min(one.high, right)]
        axes.plot(ends, [y, y], color=color, linewidth=2, zorder=2)
        marker = "o" if math.isfinite(x) else ">" if x > 0 else "<"
        near = min(max(x, left), right)
        draw_point(axes, near, y, marker=marker, color=color, filled=name in filled, clip=False)
    axes.set_xlim(left, right)
    if not isinstance(models, BradleyTerry):
        axes.xaxis.get_major_locator().set_params(integer=True)
    set_texts(axes, title, f"{x_label} ({level_of(intervals[names[0]])})")
    return own


def plot_cost_quality(
    points: Iterable[TierStatistics] | CrossTier | CodeReport,
    *,
    width_inches: float = WIDTH,
    ax: Axes | None = None,
) -> Axes:
    """
    Draw cost against quality; a dashed line is the frontier: points that no other beats in both.

    For a tier these are its mean cost and mean composite score, as in *means*. For a model of a
    report they are the mean cost of an attempt and the mean code score, or pass@1 if attempts are
    only right or wrong. A model with more attempts therefore does not look more expensive. Thin
    lines are the intervals of both means, except for costs without an upper bound. Costs are means
    over what was measured, whose number stands behind a name if it is not all; the title names
    what is left out without any, and of a `CrossTier` what was measured otherwise than the
    baseline. The axis of costs is logarithmic where the largest is ten times
    the smallest, and below the figure stands how many names find no room.

    Args:
        points: Tiers, from `tier_statistics` or `cross_tier`, or a `CodeReport`.
        width_inches: As in `plot_reliability`.
        ax: As in `plot_reliability`.

    Returns:
        The axes; points on the frontier are filled, the others hollow.

    Raises:
        InputError: If there is no tier, or no model has a cost.
        MissingExtraError: If matplotlib is not installed.
        TypeError: If an item is not a `TierStatistics`, or *ax* not an ``Axes``.

    Examples:
        >>> from scorekit import Run, tier_statistics
        >>> run = Run(run_id="1", passed=True, impl_rate=0.5, cost_usd=0.2, duration_seconds=9)
        >>> plot_cost_quality([tier_statistics("T0", [run])]).get_ylabel()
        'Mean composite score (95 % interval)'
        >>> plot_cost_quality([])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: points must be a non-empty sequence of TierStatistics, got ()
    """
    places, unpriced, x_label, y_label = _places(points)
    title = _title_of_places(points, len(places), unpriced)
    own = axes_for(ax, width_inches)
    axes = untyped(own)
    frontier = _frontier([(cost, quality) for _, cost, quality, *_ in places])
    every = [cost for _, cost, *_ in places]
    least, most = min(filter(None, every), default=1.0), max(every)
    spans = most >= DECADE * least
    free = min(every) == 0.0
    right = (2.0 if spans else 1.15) * most or 1.0
    left = least / 2.0 if spans else -0.03 * right if free else 0.0
    path = sorted(frontier)
    path.append((2.0 * right, path[-1][1]))  # whatever costs more has to be above it
    axes.plot(
        *zip(*path, strict=True),
        color=FRONTIER,
        linewidth=1.5,
        linestyle="--",
        drawstyle="steps-post",
        zorder=0.9,
    )
    bars: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for _, cost, quality, costs, qualities in places:
        best = (cost, quality) in frontier
        if best or len(places) <= MANY:
            bars.append(((cost, qualities.low), (cost, qualities.high)))
            if math.isfinite(costs.high):  # else it would lie across the whole figure
                bars.append(((max(costs.low, left), quality), (costs.high, quality)))
        draw_point(axes, cost, quality, marker="o", color=SHADES[0], filled=best)
    if spans:
        # what costs nothing has no place on a logarithmic axis
        axes.set_xscale("symlog" if free else "log", **({"linthresh": least} if free else {}))
        decades = range(
            math.ceil(math.log10(least if free else left)), math.floor(math.log10(right)) + 1
        )
        axes.set_xticks([0.0] * free + [10.0**n for n in decades])
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")  # of which there would be too many
        left = -least / 4.0 if free else left
    for bar in bars:
        axes.plot(*zip(*bar, strict=True), color=SHADES[0], linewidth=1, zorder=1)
    x_label += f" ({level_names(place[3] for place in places)}"
    y_label += f" ({level_names(place[4] for place in places)})"
    if n_open := sum(math.isinf(costs.high) for *_, costs, _ in places):
        x_label += f"; {counted(n_open, 'cost')} without an upper bound"
    axes.set_xlim(left, right)
    axes.set_ylim(-0.03, 1.16)  # room for names above what always passes
    mark_scale(axes)
    set_texts(axes, title, f"{x_label})", y_label)
    named = sorted(places, key=lambda place: (place[1], place[2]) not in frontier)
    few = [place for i, place in enumerate(named) if place[1:3] in frontier or i < MANY]
    texts = [((x, y), (x, y), name) for name, x, y, *_ in few]
    for (x, y), (end, top) in pairwise(path):
        bars += ((x, y), (end, y)), ((end, y), (end, top))
    place_names(own, texts, BESIDE, bars, n=len(places), what="names")
    return own


def _title_of_places(points: object, n: int, unpriced: Sequence[str]) -> str:
    """Say how many are drawn, which are not, and which were measured otherwise."""
    is_report = isinstance(points, CodeReport)
    title = f"Cost and quality of {counted(n, 'model' if is_report else 'tier')}"
    if unpriced:
        lacking = f"no costs{' or outcomes' * is_report}: {', '.join(unpriced)}"
        title += f" of {n + len(unpriced)} ({lacking})"
    changes = points.rulers.items() if isinstance(points, CrossTier) else ()
    if otherwise := [short_name(name) for name, change in changes if change.differences]:
        title += f"; measured otherwise: {', '.join(otherwise)}"
    return title


def plot_time_horizon(
    horizons: TimeHorizon | Mapping[str, TimeHorizon],
    *,
    width_inches: float = WIDTH,
    ax: Axes | None = None,
) -> Axes:
    """
    Draw success against the length of tasks: the fitted curve, and the horizon with its interval.

    The dots are the tasks.  Tasks of one length share a dot, which grows with their number.  The
    intervals stand below the curves, a line for each result.  Where there is no horizon, the
    figure says why.

    Args:
        horizons: From `time_horizon`; or a mapping from the name of a model to its result.
        width_inches: Width of a figure of its own (1 to 40).
        ax: Where to draw; None makes a figure of its own.

    Returns:
        The axes, with time on a logarithmic scale.

    Raises:
        MissingExtraError: If matplotlib is not installed.
        InputError: If there is nothing to draw, or *width_inches* is out of range.
        TypeError: If a result is no `TimeHorizon`, or *ax* not an ``Axes``.

    Examples:
        >>> from scorekit import time_horizon
        >>> ax = plot_time_horizon(time_horizon([1, 5, 30, 120], [1, 1, 0, 0]))
        >>> ax.get_xlabel()
        'Time a human takes (95 % interval)'
        >>> plot_time_horizon({})
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: horizons must be a TimeHorizon or a non-empty mapping, got {}
    """
    named: dict[str, Any] = {"": horizons}
    if is_mapping(horizons):
        named = {check_text("horizons key", name): one for name, one in horizons.items()}
        if not named:
            refuse("horizons", "a TimeHorizon or a non-empty mapping", horizons)
    for name, one in named.items():
        check_instance(f"horizons[{name!r}]" if name else "horizons", one, TimeHorizon)
    own = axes_for(ax, width_inches)
    axes = untyped(own)
    axes.set_xscale("log")
    marks: list[Any] = []
    texts: list[str] = []
    for place, (name, one) in enumerate(named.items()):
        color, marker = SHADES[place % len(SHADES)], MARKERS[place % len(MARKERS)]
        texts.append(short_name(name))
        lengths: dict[float, list[float]] = {}
        for minutes, rate in zip(one.minutes, one.pass_rates, strict=True):
            lengths.setdefault(minutes, []).append(rate)
        marks.append(
            axes.scatter(
                list(lengths),
                [fmean(rates) for rates in lengths.values()],
                s=[12 * math.sqrt(len(rates)) for rates in lengths.values()],
                edgecolors=color,
                facecolors="none",
                marker=marker,
            )
        )
        if one.score is None:
            why = ": " * bool(name) + "; ".join(("no horizon", *one.notes))
            texts[-1] += why
            continue
        low, high = min(*one.minutes, one.score), max(*one.minutes, one.score)
        steps = [low * (high / low) ** (i / 100) for i in range(101)]
        curve = [one.success_at(minutes) for minutes in steps]
        axes.plot(steps, curve, color=color, linestyle=DASHES[place % len(DASHES)])
        draw_point(axes, one.score, one.share, marker=marker, color=color)
        ends = max(one.interval.low, low / 10), min(one.interval.high, high * 10)
        y = -STRIP * (place + 1)
        draw_point(axes, one.score, y, x_ends=ends, marker=marker, color=color)
        if ends[0] > one.interval.low:  # it goes on beyond what is drawn
            axes.plot(ends[0], y, marker="<", color=color)
        if ends[1] < one.interval.high:
            axes.plot(ends[1], y, marker=">", color=color)
    axes.set_ylim(-STRIP * (len(named) + 1), 1.05)
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
    axes.spines["left"].set_bounds(0.0, 1.0)
    if any(texts):  # a mark beside a single text would look like a task
        beside = BESIDE_AXES if len(texts) > 1 else {"handlelength": 0.0, "markerscale": 0.0}
        add_legend(axes, marks, texts, frameon=False, **beside)
    known = [one.interval for one in named.values() if one.score is not None]
    x_label = f"Time a human takes ({level_names(known)})" if known else "Time a human takes"
    set_texts(axes, "Success by the length of tasks", x_label, "Success rate")
    _set_times(axes)
    return own


def _set_times(axes: Any) -> None:
    """Mark seconds, minutes, hours and days on an axis of minutes, as many as have room."""
    low, high = axes.get_xlim()
    inside = [one for one in TIMES if low <= one[0] <= high]
    inches = axes.get_position().width * axes.figure.get_figwidth()
    step = math.ceil(len(inside) / max(1, int(inches / TIME_INCHES))) or 1
    if inside:
        axes.set_xticks([], minor=True)
        axes.set_xticks(*zip(*inside[::step], strict=True))


_Dot = tuple[float, float, Interval, str]


def _dots(result: object) -> tuple[str, list[_Dot]]:
    """Return a title, and stated confidence, accuracy, interval and text of each level or bin."""
    if isinstance(result, CalibrationError):
        attempts = counted(result.n_attempts, "attempt")
        by_chance = f"{result.chance['score']:.2f} by chance alone"
        title = f"Calibration error of {attempts}: {result.score:.2f} ({by_chance})"
        return title, [
            (part.mean_confidence, part.accuracy, part.interval, f"n = {part.n_attempts}")
            for part in result.bins
            if part.mean_confidence is not None
            and part.accuracy is not None
            and part.interval is not None
        ]
    if not isinstance(result, ConfidenceCalibration):
        refuse("result", "a ConfidenceCalibration or a CalibrationError", result, TypeError)
    dots = [
        (
            level.nominal,
            level.accuracy,
            level.interval,
            f"{short_name(level.level)}\nn = {level.n_cases}",
        )
        for level in result.levels
        if level.accuracy is not None and level.interval is not None
    ]
    score = "no score" if result.score is None else f"score {result.score:.2f}"
    return f"Calibration over {counted(result.n_cases, 'case')}: {score}", dots


def _place_of(
    threshold: ReviewThreshold, result: ConfidenceCalibration | CalibrationError
) -> float | None:
    """Return the stated confidence from which on answers go out unreviewed."""
    if not isinstance(threshold.threshold, str):
        return threshold.threshold
    levels = result.levels if isinstance(result, ConfidenceCalibration) else ()
    places = {level.level: level.nominal for level in levels}
    if threshold.threshold not in places:
        domain = f"that of a level of result, {', '.join(map(repr, places)) or 'which has none'}"
        refuse("threshold", domain, threshold.threshold)
    return places[threshold.threshold]


def _by_model(results: object) -> dict[str, tuple[PassAtK, ...]]:
    """Read a curve for each model: of a report, of several by name, or of plain results."""
    if isinstance(results, CodeReport):
        return {one.model: one.pass_at_k for one in results.models}
    if not is_mapping(results):
        return {"": _curve("results", results)}
    if not results:
        refuse("results", "a mapping of at least one model", results)
    found: dict[str, tuple[PassAtK, ...]] = {}
    for name, one in results.items():
        check_text("a model of results", name, empty=True)
        if isinstance(one, CodeReport):
            alone = len(one.models) == 1
            found |= {name if alone else f"{name} / {m}": own for m, own in _by_model(one).items()}
        else:
            found[name] = _curve(f"results[{shown(name)}]", one)
    return found


def _tasks_by_model(results: object) -> dict[str, SuiteScores]:
    """Return the outcomes at single tasks of the models that reports know them of."""
    if isinstance(results, CodeReport):
        side = Side.of(results.scores_by_case())
        return {str(m): side.scores_of((kind, m)) for kind, m in side.keys if kind == "pass@1"}
    found: dict[str, SuiteScores] = {}
    for name, one in results.items() if is_mapping(results) else ():
        if isinstance(one, CodeReport):
            alone = len(one.models) == 1
            own = _tasks_by_model(one)
            found |= {name if alone else f"{name} / {m}": tasks for m, tasks in own.items()}
    return found


def _band(points: Sequence[PassAtK], tasks: SuiteScores | None) -> tuple[list[float], list[float]]:
    """Return the ends of the intervals at all points, which hold at once if tasks are known."""
    ends = [(point.interval.low, point.interval.high) for point in points]
    if tasks is not None and len(points) > 1:
        known, level = tasks.known.attempts, points[0].interval.confidence_level
        n_right = known.totals().astype(np.int64)
        ends = curve_band(known.sizes, n_right, [point.k for point in points], level)
    return [low for low, _ in ends], [high for _, high in ends]


def _mark_attempts(axes: Any, ks: Sequence[int]) -> None:
    """Set the scale of the numbers of attempts, with a mark for each of a few."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(ks[0] / 1.1, ks[-1] * 1.1)
    if len(ks) <= MAX_TICKS:
        axes.set_xticks([], minor=True)
        axes.set_xticks(ks, list(map(str, ks)))


def _draw_difference(axes: Any, band: DifferenceBand) -> list[Any]:
    """Draw the difference of two curves with its band, and return its line."""
    x = list(band.ks)
    if len(x) == 1:  # a band would have no width
        axes.plot(2 * x, [*band.lows, *band.highs], color=FRONTIER, marker="_", zorder=2)
    axes.fill_between(x, band.lows, band.highs, facecolor=FRONTIER, alpha=0.15, linewidth=0)
    axes.axhline(0, color=FRONTIER, linewidth=0.7, linestyle=":", zorder=1)
    mark = "." if len(x) <= MAX_TICKS else None
    lines: list[Any] = axes.plot(x, band.deltas, color=FRONTIER, linewidth=1, marker=mark)
    return lines


def _difference(
    curves: Mapping[str, Sequence[PassAtK]], tasks: Mapping[str, SuiteScores]
) -> DifferenceBand | None:
    """Return the difference of two curves over the tasks that both have, if there are some."""
    old, new = ({one.k for one in curve if not math.isnan(one.score)} for curve in curves.values())
    ks = sorted(old & new)
    if not ks:
        return None
    first, second = tasks.values()
    enough = [
        {
            case
            for case, n in zip(one.low, one.low.attempts.sizes.tolist(), strict=True)
            if n >= ks[-1]
        }
        for one in (first, second)
    ]
    common = [case for case in first.low if all(case in own for own in enough)]
    if not common:
        return None

    def gaps(one: CaseScores, other: CaseScores) -> Any:
        """Return the difference at each of the tasks, a row, and at each k."""
        return _chances(one, common, ks) - _chances(other, common, ks)

    known = least = most = gaps(first.low, second.low)
    if first.n_unknown or second.n_unknown:
        known = gaps(first.known, second.known)
        least, most = gaps(first.low, second.high), gaps(first.high, second.low)
    level = next(iter(curves.values()))[0].interval.confidence_level
    return difference_band(ks, known, least, most, level)


def _chances(scores: CaseScores, case_ids: Sequence[str], ks: Sequence[int]) -> Any:
    """Return the pass@k of each of the cases; NaN where there are too few attempts, or none."""
    rows = [i for i, case in enumerate(case_ids) if case in scores]
    own = scores.take(case_ids[i] for i in rows)
    found = np.full((len(case_ids), len(ks)), np.nan)
    if rows:
        found[rows] = chances_at(own.sizes, own.totals().astype(np.int64), ks)
    return found


def _curve(name: str, items: object) -> tuple[PassAtK, ...]:
    items = (items,) if isinstance(items, PassAtK) else items
    several = check_items(name, items, what="PassAtK")
    if any(isinstance(item, CodeReport) for item in several):
        refuse(name, ONE_OR_NAMED, items, TypeError)
    return check_records(name, several, PassAtK)


_ComparisonRow = CaseChange | int | tuple[str, SuiteVerdict | RulerEffect]


def _rows(comparison: Comparison, most: int) -> Sequence[_ComparisonRow]:
    """Return the suites, then the cases from worst to best, an int for those left out."""
    suites: list[_ComparisonRow] = []
    effects: Mapping[str, RulerEffect] = (
        {} if comparison.ruler is None else comparison.ruler.effects
    )
    for name, suite in comparison.suites.items():
        suites.append((name, suite))
        if name in effects:
            suites.append((name, effects[name]))
    if len(suites) > most:
        suites[most:] = [len(suites) - most]
    worse, better = comparison.regressions, comparison.improvements
    if len(worse) + len(better) <= most:
        return [*suites, *worse, *reversed(better)]
    n_better = min(len(better), max(most // 2, most - len(worse)))
    n_worse = most - n_better
    n_hidden = len(worse) + len(better) - most
    return [*suites, *worse[:n_worse], n_hidden, *reversed(better[:n_better])]


def _row_name(row: _ComparisonRow, n_suites: int, split: Container[str], *, several: bool) -> str:
    if isinstance(row, tuple):
        if isinstance(row[1], RulerEffect):
            name = f"the ruler's part ({counted(row[1].n_anchors, 'anchor')})"
            return f"{name}\n{wrapped(estimate(row[1].delta, row[1].interval, '+'), MAX_LABEL)}"
        n, n_unscored, n_unknown = row[1].n_cases, row[1].n_unscored, row[1].n_unknown
        known = f"{n} of {n + n_unscored}" if n_unscored else f"{n}"
        whose = "the system's part" if row[0] in split else "all cases"
        name = f"{whose} ({known}{f', {n_unknown} in part' * (n_unknown > 0)})"
        if n_suites > 1:
            joint = ",\n" if len(row[0]) + len(name) > MAX_LABEL else ", "
            name = f"{short_name(row[0])}{joint}{name}"
        # in figures: the changes of cases leave intervals no width
        change = estimate(row[1].delta, row[1].interval, "+")
        return f"{name}\n{wrapped(change, MAX_LABEL)}"
    if isinstance(row, int):
        return and_more(row)
    parts = [row.case_id, row.model, row.metric if several else None]
    return short_name(" / ".join(part for part in parts if part is not None))


_PricedPoint = tuple[str, float, float, Interval, Interval]
"""A name, its mean cost and quality, and their intervals."""


def _places(points: object) -> tuple[list[_PricedPoint], list[str], str, str]:
    """Return the places of what has costs, the names of what has none, and both labels."""
    places: list[_PricedPoint] = []
    unpriced: list[str] = []
    if not isinstance(points, CodeReport):
        tiers = points.tiers if isinstance(points, CrossTier) else points
        for tier in check_records("points", tiers, TierStatistics):
            name, costs, around = tier.tier_id, tier.cost_usd_interval, tier.composite_interval
            if costs is None:
                unpriced.append(short_name(name))
                continue
            means = tier.means["cost_usd"], tier.means["composite_score"]
            name = _known_of(name, tier.n_runs, costs=tier.n_costs)
            places.append((name, *means, costs, around))
        if not places:
            refuse("points", "a tier whose costs were measured", points)
        return places, unpriced, "Mean cost of a run in USD", "Mean composite score"
    for one in points.models:
        if one.mean_cost_usd is None or not one.n_samples:
            unpriced.append(short_name(one.model))
            continue
        n = one.n_samples + one.n_unknown
        n_costs = one.n_measured.get("cost_usd", n)
        name = _known_of(one.model, n, costs=n_costs, outcomes=one.n_samples)
        quality, around = _quality(one)
        places.append((name, one.mean_cost_usd, quality, one.intervals["cost_usd"], around))
    if not places:
        refuse("points", "a report with a sample whose cost_usd was measured", points)
    y_label = "Share of right attempts, pass@1" if points.only_flags else "Mean code score"
    return places, unpriced, "Mean cost of an attempt in USD", y_label


def _known_of(name: str, n: int, **known: int) -> str:
    """Return the name, and of how many runs cost and outcome are known if not of all."""
    less = [f"{n_known} of {n} {what}" for what, n_known in known.items() if n_known < n]
    return short_name(name) + (f" ({', '.join(less)})" if less else "")


def _quality(model: ModelStatistics) -> tuple[float, Interval]:
    """Return what the quality of a model is, and the interval that its report shows of it."""
    if not model.only_flags:
        return model.mean_score, model.intervals["code_score"]
    for one in model.pass_at_k:
        if one.k == 1:
            return one.score, one.interval
    # of flags the share of tests passed is that of right attempts
    return model.test_pass_rate, model.intervals["test_pass_rate"]


def _frontier(places: Iterable[tuple[float, float]]) -> set[tuple[float, float]]:
    """Return the places that no cheaper or equally cheap one beats in quality."""
    best = -math.inf
    frontier: set[tuple[float, float]] = set()
    for cost, quality in sorted(places, key=lambda place: (place[0], -place[1])):
        if quality > best:
            best = quality
            frontier.add((cost, quality))
    return frontier
