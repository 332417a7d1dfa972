"""Each figure against a stored picture, and the results that are hard to draw."""

from __future__ import annotations

import functools
import importlib
import math
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import matplotlib as mpl
import matplotlib.style
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from matplotlib.text import Annotation, Text
from outcomes import present
from refresh import STALE
from refusals import Refusal, refusals

import scorekit
from scorekit import (
    CodeSample,
    Comparison,
    MissingExtraError,
    Run,
    bradley_terry,
    calibration_error,
    code_report,
    code_report_from_columns,
    compare_models,
    compare_reports,
    confidence_calibration,
    pass_at_k,
    plot_comparison,
    plot_cost_quality,
    plot_pass_at_k,
    plot_reliability,
    plot_time_horizon,
    plots,
    tier_statistics,
    time_horizon,
)
from scorekit._plots import canvas

BASELINE = Path(__file__).parent / "data" / "plots"
TOLERANCE = 12  # root mean square of 255: other fonts pass, a missing element does not

CALIBRATION = confidence_calibration({"high": (10, 20), "medium": (8, 15), "low": (5, 10)})
KS = (1, 2, 5, 10)
CURVES = {
    "small": pass_at_k(n_samples=[20] * 12, n_correct=range(12), k=KS),
    "large $x$": pass_at_k(n_samples=[20] * 12, n_correct=range(8, 20), k=KS),
    "_hidden": pass_at_k(n_samples=[20] * 12, n_correct=[0] * 9 + [20] * 3, k=KS),
}


@functools.cache
def _comparison(n_cases: int) -> Comparison:
    before = {f"case-{i}": 0.5 for i in range(n_cases)}
    after = {f"case-{i}": min(1.0, max(0.0, 0.3 + 0.1 * (i % 6))) for i in range(n_cases)}
    return compare_reports(before, after)


def _tiers(costs: list[tuple[float, float]]) -> list[scorekit.TierStatistics]:
    return [
        tier_statistics(
            f"T{i}",
            [
                Run(
                    run_id=str(j),
                    passed=True,
                    impl_rate=rate * (1 + j / 20) / 1.2,
                    cost_usd=cost * (1 + j / 20),
                    duration_seconds=1,
                )
                for j in range(5)
            ],
            pass_weight=0,
            impl_weight=1,
        )
        for i, (cost, rate) in enumerate(costs)
    ]


def _samples(n_cases: int) -> list[CodeSample]:
    return [
        CodeSample(
            case_id=f"{i}", model=model, compiled=True, passed=1, failed=i % 3, cost_usd=cost
        )
        for model, cost in (("a", 0.01), ("b", 0.03))
        for i in range(n_cases)
    ]


def _attempts(**skill: int) -> scorekit.CodeReport:
    """Report on five attempts at each of seven tasks, one of which not all models met."""
    return code_report(
        CodeSample(case_id=f"task-{i}", model=model, compiled=True, passed=k * n >= 2 * i)
        for model, n in skill.items()
        for i in range(1, 8 + (n > 3))
        for k in range(1, 6)
    )


def _two_models() -> dict[str, scorekit.CodeReport]:
    """Return reports of ten attempts at each of twelve tasks; the second model is better."""
    return {
        name: code_report_from_columns(
            model="m",
            k=range(1, 11),
            passed={f"{i}": [1] * n + [0] * (10 - n) for i, n in enumerate(right)},
        )
        for name, right in {
            "old": (0, 1, 1, 2, 0, 3, 1, 0, 2, 4, 1, 0),
            "new": (0, 4, 2, 8, 3, 9, 1, 5, 6, 8, 2, 0),
        }.items()
    }


FIGURES: dict[str, Callable[[], Axes]] = {
    "reliability": lambda: plot_reliability(CALIBRATION),
    "pass_at_k": lambda: plot_pass_at_k(CURVES),
    "pass_at_k_difference": lambda: plot_pass_at_k(_two_models()),
    "comparison": lambda: plot_comparison(_comparison(14)),
    "comparison_folded": lambda: plot_comparison(_comparison(10_000), max_cases=12),
    "cost_quality": lambda: plot_cost_quality(
        _tiers([(0.1, 0.4), (0.3, 0.35), (0.4, 0.8), (0.9, 0.82), (1.2, 0.7)])
    ),
    "cost_quality_of_models": lambda: plot_cost_quality(
        code_report(
            CodeSample(
                case_id=f"{i}", model=model, compiled=True, passed=right, failed=1, cost_usd=cost
            )
            for model, n_cases, right, cost in (
                ("small", 40, 1, 0.002),
                ("medium", 10, 2, 0.01),
                ("large", 5, 1, 0.03),
                ("largest", 3, 9, 0.04),
            )
            for i in range(n_cases)
        )
    ),
}


@functools.cache
def _models(n: int) -> scorekit.ModelComparison:
    rng = np.random.default_rng(n)
    table = rng.normal(0, 1, (30, n)) + np.arange(n) / 4
    return compare_models(
        {f"model-{j}": dict(enumerate(table[:, j].tolist())) for j in range(n)}, n_resamples=1000
    )


STRENGTHS = bradley_terry(
    {
        ("a", "b"): 14,
        ("b", "a"): 6,
        ("b", "c"): 12,
        ("c", "b"): 8,
        ("new", "a"): 5,
        ("c", "old"): 3,
    }
)
FIGURES |= {
    "models": lambda: plot_comparison(_models(7)),
    "strengths": lambda: plot_comparison(STRENGTHS),
}


def test_models_are_drawn_best_first() -> None:
    """As many as asked for; the rest is counted, and an end without bound is at the edge."""
    ax = plot_comparison(_models(7), max_cases=3)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert (len(labels), labels[-1]) == (4, "and 4 more")
    assert ax.get_title().endswith("of 7 models may be the best (filled)")
    drawn = plot_comparison(STRENGTHS)
    markers = [line.get_marker() for line in drawn.get_lines()]
    assert markers[1::2] == [">", "o", "o", "o", "<"]
    assert all(np.isfinite(line.get_xdata()).all() for line in drawn.get_lines())
    twins = compare_models({"a": {1: 1}, "b": {1: 1}})
    assert plot_comparison(twins).get_xlabel() == "Ranks it may have (95 %)"


def _rows(ax: Axes) -> list[str]:
    """Return the names of the rows, those of suites without their figures."""
    return [re.sub(r"\n[-+].*", "", label.get_text()) for label in ax.get_yticklabels()]


def _save(ax: Axes, path: Path) -> None:
    assert isinstance(ax.figure, Figure)
    ax.figure.savefig(path, dpi=60, metadata={"Software": None})


def _is_as_stored(path: Path) -> bool:
    stored = BASELINE / path.name
    return stored.exists() and not compare_images(str(stored), str(path), tol=TOLERANCE)


@pytest.mark.newest
@pytest.mark.parametrize("name", FIGURES)
def test_it_looks_as_it_did(name: str, tmp_path: Path) -> None:
    """A change of what is drawn is a change somebody looked at and stored again."""
    with mpl.rc_context():
        mpl.rcdefaults()
        _save(FIGURES[name](), tmp_path / f"{name}.png")
    assert _is_as_stored(tmp_path / f"{name}.png"), STALE


@pytest.mark.newest
def test_the_tolerance_sees_a_missing_element(tmp_path: Path) -> None:
    """A picture comparison that passes anything would hold nothing."""
    with mpl.rc_context():
        mpl.rcdefaults()
        ax = FIGURES["comparison"]()
        for line in ax.lines[:6]:
            line.remove()
        _save(ax, tmp_path / "comparison.png")
    assert not _is_as_stored(tmp_path / "comparison.png")


@pytest.mark.newest
def test_nothing_global_is_touched() -> None:
    """No figure is left open behind the caller's back, and no backend is chosen."""
    program = (
        "import sys, scorekit as s\n"
        "ax = s.plot_pass_at_k(s.pass_at_k(n_samples=9, n_correct=3, k=(1, 2)))\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
    given = Figure().add_subplot()
    assert plot_reliability(CALIBRATION, ax=given) is given
    assert given.spines["top"].get_visible()


def test_a_model_with_more_samples_does_not_look_dear() -> None:
    """A report's models stand at the mean cost of what was measured, not at the total."""
    many = [*_samples(1), *(one for one in _samples(9) if one.model == "a")]
    ax = plot_cost_quality(code_report(many))
    points = [line for line in ax.lines if line.get_marker() == "o"]
    costs = [np.asarray(point.get_xdata()).tolist() for point in points]
    assert costs == [[0.01], [0.03]]
    assert " ".join(ax.get_xlabel().split()) == (
        "Mean cost of an attempt in USD (95 % interval; 1 cost without an upper bound)"
    )


@pytest.mark.sampled
@pytest.mark.parametrize("n_cases", [1, 10_000])
def test_one_case_and_ten_thousand(n_cases: int, tmp_path: Path) -> None:
    """The figure of a large result is as large, and as soon made, as that of forty cases."""
    report = code_report(_samples(n_cases))
    drawn = [
        plot_comparison(_comparison(n_cases)),
        plot_comparison(compare_reports(report, report)),
        plot_pass_at_k(report),
        plot_cost_quality(report),
        plot_cost_quality(_tiers([(i * 0.01, 1 / (i + 1)) for i in range(min(n_cases, 99))])),
        plot_reliability(confidence_calibration({"high": (0, n_cases)})),
    ]
    for ax in drawn:
        assert len(ax.lines) < 200
        _save(ax, tmp_path / "figure.png")


def test_bins_of_numeric_confidences_are_drawn_where_they_lie(tmp_path: Path) -> None:
    """Each bin that holds attempts stands at its mean confidence; empty ones are left out."""
    result = calibration_error([0.1, 0.3, 0.3, 0.95], [False, False, True, True], n_bins=5)
    ax = plot_reliability(result)
    texts = [(text.xy[0], text.get_text()) for text in ax.texts if isinstance(text, Annotation)]
    assert texts == [(0.1, "n = 1"), (0.3, "n = 2"), (0.95, "n = 1")]
    assert ax.get_title() == "Calibration error of 4 attempts: 0.14 (0.21 by chance alone)"
    _save(ax, tmp_path / "bins.png")


def test_many_models_and_many_bins(tmp_path: Path) -> None:
    """A legend of all names would leave no room for the curves, nor counts for a point."""
    curve = pass_at_k(n_samples=4, n_correct=1, k=(1, 2))
    ax = plot_pass_at_k({f"model-{i}": curve for i in range(40)})
    legend: Any = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()][-1] == "model-15"
    assert legend.get_title().get_text() == "16 of 40 models"
    _save(ax, tmp_path / "models.png")
    stated = [(i + 0.5) / 50 for i in range(50)]
    assert not plot_reliability(calibration_error(stated, [True] * 50, n_bins=50)).texts


def test_folded_cases_are_counted() -> None:
    """What is not drawn is said, and the worst and the best are what is drawn."""
    comparison = _comparison(10_000)
    ax = plot_comparison(comparison, max_cases=10)
    names = _rows(ax)
    n_moved = len(comparison.regressions) + len(comparison.improvements)
    assert names[0] == "all cases (10000)"
    assert names[6] == f"and {n_moved - 10} more"
    assert len(names) == 12
    few = compare_reports(
        {f"{i}": 0.9 for i in range(30)}, {f"{i}": 0.1 if i < 29 else 1.0 for i in range(30)}
    )
    names = _rows(plot_comparison(few, max_cases=4))
    assert names == ["all cases (30)", "0", "1", "2", "and 26 more", "29"]


def test_only_significant_changes_are_colored() -> None:
    """A fall that chance explains is as gray and as thin as the frame."""
    before = {"fell": [1] * 10, **{f"c{i}": [1] * 9 + [0] for i in range(9)}}
    after = {**before, "fell": [0] * 10, "c0": [1] * 8 + [0] * 2}
    ax = plot_comparison(compare_reports(before, after, attempts="independent"))
    falls = {line.get_color() for line in ax.lines if line.get_marker() == "<"}
    assert falls == {canvas.WORSE, canvas.FRONTIER}
    longest = min(ax.lines, key=lambda line: float(np.min(np.asarray(line.get_xdata()))))
    assert (longest.get_color(), longest.get_linewidth()) == (canvas.WORSE, 3.0)  # also in grey
    assert "thick: significant" in " ".join(ax.get_xlabel().split())


def test_several_metrics_and_hostile_names(tmp_path: Path) -> None:
    """Names are text: no formula, no line break, no end."""
    name = "$\\frac{1}$<b>\n" + "x" * 999
    report = code_report([CodeSample(case_id=name, model=name, compiled=True, passed=1)])
    worse = code_report([CodeSample(case_id=name, model=name, compiled=False)])
    _save(plot_comparison(compare_reports(report, worse)), tmp_path / "a.png")
    _save(plot_pass_at_k(report), tmp_path / "b.png")
    case = {"generated": "SELECT 1 FROM t", "expected_tables": ["t"], "should_pass": True}
    runs = [
        scorekit.score_sql_cases(
            [scorekit.SqlCase(case_id="q", **{**case, "safety_valid": ok, "generated": sql})]  # type: ignore[arg-type]
        )
        for ok, sql in ((True, "SELECT 1 FROM t"), (False, "SELECT 1 FROM u"))
    ]
    assert set(_rows(plot_comparison(compare_reports(*runs)))) == {
        "table_accuracy, all cases (1)",
        "safety_validation, all cases (1)",
        "q / table_accuracy",
        "q / safety_validation",
    }


def test_every_suite_has_a_row_and_the_title_counts_verdicts() -> None:
    """Two models by two metrics are four suites, of which the title must not show one only."""
    sides = [
        code_report(
            CodeSample(case_id=f"{i}", model=model, compiled=True, passed=n, failed=4 - n)
            for model, column in (("a", [4] * 12), ("b", passed))
            for i, n in enumerate(column)
        )
        for passed in ([4] * 12, [0] * 12)
    ]
    comparison = compare_reports(*sides)
    suites = [f"{name}, all cases (12)" for name in comparison.suites]
    ax = plot_comparison(comparison, max_cases=4)
    assert _rows(ax)[:4] == suites
    assert " ".join(ax.get_title().split()).endswith(": 2 inconclusive, 2 regressed")
    assert _rows(plot_comparison(comparison, max_cases=2))[:3] == [*suites[:2], "and 2 more"]


def test_the_frontier_is_what_nothing_beats() -> None:
    """Of equal cost the better, of equal quality the cheaper."""
    places = [(1.0, 0.5), (1.0, 0.6), (2.0, 0.6), (3.0, 0.9), (0.5, 0.1)]
    frontier = plots._frontier(places)
    assert frontier == {
        one
        for one in places
        if not any(p != one and p[0] <= one[0] and p[1] >= one[1] for p in places)
    }


UNKNOWN = pass_at_k(n_samples=[1], n_correct=[1], k=(5,), insufficient="nan")
UNPRICED = code_report([CodeSample(case_id="a", model="m", compiled=True)])
ONE: Any = 1
TWO: Any = [UNPRICED, UNPRICED]
NO_ESTIMATE = "results must be a result with an estimate that is not NaN, got "
NO_COST = "points must be a report with a sample whose cost_usd was measured, got "


@refusals("""
plot_pass_at_k(UNKNOWN) -> InputError: {NO_ESTIMATE}...
plot_cost_quality(UNPRICED) -> InputError: {NO_COST}...
plot_pass_at_k({}) -> InputError: results must be a mapping of at least one model...
plot_pass_at_k({"a": []}) -> InputError: results['a'] must be a non-empty seq...
plot_pass_at_k({ONE: []}) -> TypeError: a model of results must be a string, g...
plot_pass_at_k([]) -> InputError: results must be a non-empty sequence of PassAtK...
plot_pass_at_k(TWO) -> TypeError: results must be a CodeReport, or a mapping such as {'old'...
plot_cost_quality([]) -> InputError: points must be a non-empty sequence of Tier...
plot_cost_quality([ONE]) -> TypeError: points[0] must be a TierStatistics (from...
plot_reliability(ONE)
    -> TypeError: result must be a ConfidenceCalibration or a CalibrationError, got 1...
plot_comparison(ONE) -> TypeError: comparison must be a Comparison, got 1...
plot_comparison(_comparison(2), max_cases=1) -> InputError: max_cases must be an...
plot_reliability(CALIBRATION, ax=ONE) -> TypeError: ax must be an Axes, got 1...
plot_reliability(CALIBRATION, width_inches=640)
    -> InputError: width_inches must be a number in [1, 40], got 640
""")
def test_what_cannot_be_drawn(wrong: Refusal) -> None:
    """The caller hears it before a figure is made; one text says that there is nothing to draw."""
    wrong.by_itself()


def test_a_gap_in_a_curve() -> None:
    """An unknown estimate leaves its curve, not the figure."""
    known = pass_at_k(n_samples=[4], n_correct=[1], k=(1, 4, 5), insufficient="nan")
    assert math.isnan(known[2].score)
    xs: Any = plot_pass_at_k(known).lines[0].get_xdata()
    assert list(xs) == [1, 4]
    one = pass_at_k(n_samples=[4], n_correct=[1], k=1)
    left, right = plot_pass_at_k({"a": one, "b": one}).lines[:5:4]
    assert np.asarray(left.get_xdata()) < 1 < np.asarray(right.get_xdata())  # not one over another


def test_many_attempts() -> None:
    """A long curve is drawn on a logarithmic scale, with marks that matplotlib chooses."""
    ax = plot_pass_at_k(pass_at_k(n_samples=200, n_correct=9, k=range(1, 101)))
    assert ax.get_xscale() == "log"
    assert len(ax.get_xticks()) < 20


def test_reports_under_names_have_curves() -> None:
    """One of a single model goes by its name alone, others by both."""
    reports = {"old": _attempts(a=1), "new": _attempts(b=2, c=3)}
    curve = pass_at_k(n_samples=[4], n_correct=[1], k=(1, 2))
    results: Any = {**reports, "plain": curve}
    ax = plot_pass_at_k(results)
    legend: Any = ax.get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["old", "new / b", "new / c", "plain"]


def _size(ax: Axes) -> tuple[float, float]:
    assert isinstance(ax.figure, Figure)
    width, height = ax.figure.get_size_inches().tolist()
    return width, height


@pytest.mark.sampled
@pytest.mark.parametrize("name", FIGURES)
def test_it_fits_a_column_of_a_paper_and_a_dark_page(name: str, tmp_path: Path) -> None:
    """At 3.3 inches nothing is cut off, and on black nothing is drawn in black."""
    ax = FIGURES[name]()
    assert _size(ax)[1] <= 6.5
    draw = {
        "reliability": lambda: plot_reliability(CALIBRATION, width_inches=3.3),
        "pass_at_k": lambda: plot_pass_at_k(CURVES, width_inches=3.3),
        "models": lambda: plot_comparison(_models(7), width_inches=3.3),
        "comparison_folded": lambda: plot_comparison(_comparison(10_000), width_inches=3.3),
    }.get(name)
    if draw is not None:
        narrow = draw()
        assert _size(narrow)[0] == 3.3
        assert isinstance(narrow.figure, Figure)
        narrow.figure.draw_without_rendering()
        page = narrow.figure.bbox
        for text in (narrow.title, narrow.xaxis.label, narrow.yaxis.label):
            box = text.get_window_extent()
            assert not text.get_text() or (page.x0 <= box.x0 and box.x1 <= page.x1)
    with mpl.rc_context():
        mpl.rcdefaults()
        matplotlib.style.use("dark_background")
        dark = FIGURES[name]()
        _save(dark, tmp_path / "dark.png")
        for line in dark.lines:
            assert mpl.colors.to_hex(line.get_color()) != "#000000"
            if line.get_marker() != "None":
                assert mpl.colors.to_hex(line.get_markerfacecolor()) != "#ffffff" or (
                    line.get_color() == "white"
                )


def test_a_title_above_long_names_of_rows_is_not_clipped() -> None:
    """The names take room from the axes, over which the title stands."""
    before = {f"{i}-a-long-name-of-a-case": [1.0] for i in range(12)}
    result = compare_reports(before, dict.fromkeys(before, 0.0), margin=0.05)
    for ax in (plot_comparison(result, width_inches=width) for width in (3.3, 6.4)):
        assert isinstance(ax.figure, Figure)
        ax.figure.draw_without_rendering()
        for box in (text.get_window_extent() for text in (ax.title, ax.xaxis.label)):
            assert ax.figure.bbox.x0 <= box.x0
            assert box.x1 <= ax.figure.bbox.x1


def test_right_attempts_have_the_interval_of_their_report() -> None:
    """Not another one of the same share: the report says pass@1, and so does the figure."""
    report = code_report_from_columns(
        model="T6", passed={"sort": [True] * 3, "parse": [True, False, True]}, cost_usd=0.1
    )
    wanted = report.models[0].pass_at_k[0].interval
    drawn = [line.get_ydata() for line in plot_cost_quality(report).lines]
    assert [wanted.low, wanted.high] in [np.asarray(ends).tolist() for ends in drawn]


def test_names_do_not_collide() -> None:
    """Of points side by side each has its name where there is room, or none."""
    ax = plot_cost_quality(_tiers([(0.5 + i / 60, 0.6 + i % 3 / 60) for i in range(12)]))
    page, boxes = ax.get_window_extent(), [Text.get_window_extent(text) for text in ax.texts]
    assert len(boxes) >= 6
    assert all(page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_no_figure_needs_red_told_from_green() -> None:
    """Seen without either, what is worse and what is better differ in blue."""
    worse, better = (np.array(mpl.colors.to_rgb(c)) for c in (canvas.WORSE, canvas.BETTER))
    assert abs(worse - better)[2] > 0.4
    for shade in canvas.SHADES:
        red, green, blue = mpl.colors.to_rgb(shade)
        light = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
        assert 1.05 / (light + 0.05) > 3.0  # contrast with white
        assert (light + 0.05) / 0.05 > 3.0  # and with black


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names are there, and the command that installs it is in the message."""
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    for module in ("plots", "_plots", "_plots.canvas", "_plots.labels"):
        monkeypatch.delitem(sys.modules, f"scorekit.{module}")
    monkeypatch.setattr(scorekit, "_plots", scorekit._plots)  # the import replaces it, too
    monkeypatch.setattr(scorekit, "plots", plots)  # to be put back: the import replaces it
    without = importlib.import_module("scorekit.plots")
    message = r"^matplotlib is not installed; run: pip install 'matplotlib>=\S+' \(which is"
    with pytest.raises(MissingExtraError, match=message):
        without.plot_reliability(CALIBRATION)


def test_the_curve_of_a_time_horizon() -> None:
    """It passes through the horizon; one curve for each model that has one."""
    runs = [1, 2, 4, 8, 15, 30, 60, 120], [1, 1, 1, 0, 1, 0, 0, 0]
    result = time_horizon(*runs)
    ax = plot_time_horizon(result)
    curve = ax.lines[0]
    lengths, chances = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    assert result.score is not None
    assert np.interp(result.score, lengths, chances) == pytest.approx(0.5, abs=0.01)
    several = plot_time_horizon({"a": result, "b": time_horizon(runs[0], [True] * 8)})
    assert len(several.collections) == 2
    assert len([line for line in several.lines if len(np.asarray(line.get_xdata())) > 2]) == 1
    odd = {"_hidden": result, "$$": result}
    ax = plot_time_horizon(odd)
    assert isinstance(ax.figure, Figure)
    ax.figure.draw_without_rendering()
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [*odd]
    with pytest.raises(TypeError, match=r"^horizons must be a TimeHorizon, got 3$"):
        plot_time_horizon(3)  # type: ignore[arg-type]


def test_plots_say_what_is_unknown() -> None:
    """Cases that were not scored, attempts without an outcome or a cost."""
    old = {i: [i % 2, 1] for i in range(40)}
    new = old | {0: None, 1: None, 2: [1, None]}
    comparison = scorekit.compare_reports(old, new)
    label = plot_comparison(comparison).get_yticklabels()[0].get_text()
    assert label == "all cases (38 of 40, 1 in part)\n+0.01 [-0.08, +0.11]"
    passed: Any = {"a": [1] * 6, "b": [0] * 5, "c": [0]}
    given: dict[str, Any] = {"passed": passed, "insufficient": "drop", "k": (1, 5, 6)}
    curve = plot_pass_at_k(scorekit.code_report_from_columns(model="m", **given), width_inches=3.3)
    said = "Attempts, k (k >= 5: 1 to 2 of 3 tasks)"
    assert " ".join(curve.get_xlabel().split()) == said
    report = scorekit.code_report_from_columns(
        case_id=range(4), model="m", passed=[1, 0, None, 1], cost_usd=[1, 2, 3, None]
    )
    (name,) = plot_cost_quality(report).texts
    assert name.get_text().split() == ["m", "(3", "of", "4", "costs,", "3", "of", "4", "outcomes)"]


def test_a_curve_is_ahead_where_its_band_is_and_unknown_outcomes_count_both_ways() -> None:
    """A failure that is hidden moves nobody ahead, and tasks of one model alone do not count."""
    reports = _two_models()
    ax = plot_pass_at_k(reports)
    said = "Success within k attempts (pass@k)\nold against new, 12 tasks: behind up to k = 5"
    assert ax.get_title() == said
    assert ax.get_ylabel() == "Chance of a success (95 % interval of all k at once)"
    names = [text.get_text() for text in present(ax.get_legend()).get_texts()]
    assert names == ["old", "new", "old - new"]
    passed: Any = {
        f"{i}": [1] * n + [None if n < 3 else 0] * (10 - n)
        for i, n in enumerate((0, 1, 1, 2, 0, 3, 1, 0, 2, 4, 1, 0))
    }
    given: dict[str, Any] = {"model": "m", "k": (1, 2), "insufficient": "drop"}
    hidden = code_report_from_columns(passed=passed, **given)
    assert "not told apart" in plot_pass_at_k(reports | {"old": hidden}).get_title()
    few = code_report_from_columns(passed={"0": [1] * 10, "x": [0] * 10, "y": [1]}, **given)
    assert ", 1 task: not" in plot_pass_at_k(reports | {"old": few}).get_title()
    none = code_report_from_columns(passed={"x": [1, 0], "y": [0, 0]}, **given)
    assert "against" not in plot_pass_at_k(reports | {"old": none}).get_title()
    one = {name: code_report_from_columns(model="m", passed={"a": [1]}) for name in "ab"}
    ax = plot_pass_at_k(one)
    assert "a against b, 1 task: not told apart" in ax.get_title()
    three = reports | {"third": reports["new"]}
    assert "against" not in plot_pass_at_k(three).get_title()


def _dotted(axes: Any) -> list[float]:
    """Return where its dotted vertical lines stand."""
    return [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == ":"]


def test_a_threshold_is_drawn_where_answers_begin_to_go_out_unreviewed() -> None:
    """At its number, or at the level that its word names; below the title what passes."""
    sure, right = [0.9] * 200 + [0.5] * 200, [1] * 198 + [0] * 2 + [1, 0] * 100
    error = scorekit.calibration_error(sure, right)
    found = scorekit.review_threshold(sure, right, max_error=0.05)
    ax = plot_reliability(error, threshold=found)
    assert _dotted(ax) == [0.9]
    said = "unreviewed from 0.9 on: 50% of answers, wrong 0.01 as seen and at most 0.05"
    assert " ".join(ax.get_title().split("\n")[1:]) == said
    words = ["high"] * 200 + ["low"] * 200
    levels = confidence_calibration(words, correct=right)
    named = scorekit.review_threshold(words, right, max_error=0.05, order=["low", "high"])
    ax = plot_reliability(levels, threshold=named)
    assert _dotted(ax) == [0.9]
    none = scorekit.review_threshold(sure[:9], right[:9], max_error=0.05)
    ax = plot_reliability(error, threshold=none)
    assert _dotted(ax) == []
    assert "review all: no threshold" in ax.get_title()
    with pytest.raises(
        scorekit.InputError, match=r"^threshold must be that of a level of result, which ha"
    ):
        plot_reliability(error, threshold=named)
    with pytest.raises(TypeError, match=r"^threshold must be a ReviewThreshold, got 0.9$"):
        plot_reliability(error, threshold=0.9)  # type: ignore[arg-type]


def test_a_figure_shows_itself_in_every_kernel() -> None:
    """Also its axes, which is what the functions return; where the caller gave some, they do."""
    ax = plot_reliability(CALIBRATION, width_inches=3.3)
    shown: Any = ax
    picture, size = shown._repr_png_()
    assert shown.figure._repr_png_()[0] == picture
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(picture[i : i + 4], "big") for i in (16, 20))
    assert (width, size["width"]) == (660, 330)
    assert abs(height - 2 * size["height"]) <= 1
    assert pickle.loads(pickle.dumps(ax.figure)).axes[0].get_title() == ax.get_title()
    own = Figure().add_subplot()
    assert plot_reliability(CALIBRATION, ax=own) is own


@pytest.mark.parametrize("draw", ["reliability", "pass_at_k", "cost_quality"])
def test_axes_of_scores_end_at_1(draw: str) -> None:
    """What lies beyond is room for names; the interval is named on the axis that it is along."""
    ax = {
        "reliability": lambda: plot_reliability(CALIBRATION),
        "pass_at_k": lambda: plot_pass_at_k(CURVES),
        "cost_quality": lambda: plot_cost_quality(_tiers([(0.1, 0.5), (0.3, 1.0)])),
    }[draw]()
    assert ax.spines["left"].get_bounds() == (0.0, 1.0)
    assert (min(ax.get_yticks()), max(ax.get_yticks())) == (0.0, 1.0)
    assert "(95 % interval)" in ax.get_ylabel()


def test_tiers_compared_are_tiers() -> None:
    """`cross_tier` holds them."""
    tiers = _tiers([(0.1, 0.5), (0.3, 1.0)])
    one, other = plot_cost_quality(tiers), plot_cost_quality(scorekit.cross_tier(tiers))
    assert [text.get_text() for text in one.texts] == [text.get_text() for text in other.texts]
    assert one.get_xlabel() == other.get_xlabel() == "Mean cost of a run in USD (95 % interval)"
    assert one.get_title() == other.get_title() == "Cost and quality of 2 tiers"
    judged = [
        attrs.evolve(tier, ruler=scorekit.Ruler(settings={"": {"judge": judge}}))
        for tier, judge in zip(tiers, "xy", strict=True)
    ]
    said = plot_cost_quality(scorekit.cross_tier(judged)).get_title()
    assert said == f"Cost and quality of 2 tiers; measured otherwise: {judged[1].tier_id}"


if __name__ == "__main__":  # stores what looks different; docs/refresh.py runs it
    with tempfile.TemporaryDirectory() as folder:
        for figure, draw_it in FIGURES.items():
            drawn = Path(folder) / f"{figure}.png"
            _save(draw_it(), drawn)
            if not _is_as_stored(drawn):
                shutil.copy(drawn, BASELINE)
                print(f"tests/data/plots/{drawn.name}")  # noqa: T201 - of a script
