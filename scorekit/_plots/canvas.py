"""Axes of one look: where a figure is drawn, its colors, and the texts around it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from textwrap import wrap
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from scorekit._core.checks import check_instance, check_number
from scorekit._sheet.values import level_of
from scorekit.errors import TEXT_LIMIT, MissingExtraError, one_line
from scorekit.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414 - plots takes it from here
    from matplotlib.figure import Figure

    AnyAxes = Axes
else:
    try:
        from matplotlib.axes import Axes
        from matplotlib.figure import Figure

        AnyAxes = Axes
    except ImportError:  # which is said when something is to be drawn
        Axes, AnyAxes, Figure = None, object, object

DENSITY = 2
"""Dots of a picture in a notebook for each of a screen of old."""

WIDTH = 6.4
"""Inches that a figure is wide unless the caller says otherwise, as matplotlib's own are."""

NARROW = 5.0
"""Inches below which a figure is for a column of a paper, and its text smaller."""

ROW = 0.2
"""Inches that a row of a figure takes."""

MAX_LABEL = 32
"""Characters of a name that a figure shows."""

SHORTEST_LINE = 12
"""Characters at which a title is broken no further."""

MARKERS = "osD^vPX*"
"""Distinguished without color, with the dashes below."""

DASHES: tuple[Any, ...] = ("-", "--", "-.", ":")
"""Not as many as there are colors, so that twenty curves differ in one of both."""

SHADES = ("#2b7bba", "#c8640a", "#7b55b0", "#0f8578", "#b0417a")
"""To be seen on white and on black; no two are red and green."""

BETTER, WORSE = SHADES[:2]

FRONTIER = "#808b8d"


class ShownFigure(Figure):
    """A figure that a notebook shows, whatever its kernel has been set up for."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture, and the size that it has on a page."""
        from io import BytesIO

        page = BytesIO()
        dots = DENSITY * self.get_dpi()
        untyped(self).savefig(page, format="png", dpi=dots)
        width, height = (round(inches * self.get_dpi()) for inches in self.get_size_inches())
        return page.getvalue(), {"width": width, "height": height}


class ShownAxes(AnyAxes):
    """Axes of such a figure, which they show."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return what the figure shows."""
        shown: tuple[bytes, dict[str, int]] = untyped(self).figure._repr_png_()
        return shown


def axes_for(ax: Axes | None, width: float, *, n_rows: float | None = None) -> Axes:
    """Return *ax*, or the axes of a new figure that no list of open figures holds."""
    kind: Any = Axes
    if kind is None:
        raise MissingExtraError("plot", "matplotlib")
    width = check_number("width_inches", width, 1.0, 40.0)
    if ax is not None:
        return check_instance("ax", ax, Axes)
    height = min(4.2, 0.85 * width) if n_rows is None else 1.5 + ROW * n_rows
    own = ShownFigure(figsize=(width, height), layout="constrained").add_subplot(
        axes_class=ShownAxes
    )
    untyped(own).spines[["top", "right"]].set_visible(False)
    return own


def mark_scale(axes: Any) -> None:
    """Let the axis of a score end where scores do: what lies beyond is room for names."""
    axes.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.spines["left"].set_bounds(0.0, 1.0)


def font_size(axes: Any) -> float:
    """Return the size of the text that is no title, in points."""
    return 8.5 if axes.figure.get_figwidth() >= NARROW else 7.0


def text_color(axes: Any) -> Any:
    """Return what the caller's style writes with: black, but on a dark page."""
    return axes.xaxis.label.get_color()


def set_texts(axes: Any, title: str, x_label: str, y_label: str = "") -> None:
    """Set the title, broken where it is wider than the figure, and the labels."""
    size = font_size(axes) + 1.5
    axes.set_ylabel(y_label, fontsize=size)
    axes.tick_params(labelsize=font_size(axes))
    axes.figure.draw_without_rendering()  # names of rows take room from the axes
    axes.set_title(title, fontsize=size, parse_math=False)
    axes.set_xlabel(x_label, fontsize=size)
    page, own = axes.figure.bbox, axes.get_window_extent()
    middle = (own.x0 + own.x1) / 2
    sides = 1.8 * min(middle - page.x0, page.x1 - middle)  # fonts differ with the resolution
    room = (
        0.85 * own.width if len(axes.figure.axes) > 1 else sides
    )  # beside others, not below them
    for text in (axes.title, axes.xaxis.label):
        whole = text.get_text()
        width = len(whole)
        while text.get_window_extent().width > room and width > SHORTEST_LINE:
            width -= 1
            text.set_text(wrapped(whole, width))
        n_breaks = text.get_text().count("\n")
        while width > SHORTEST_LINE and wrapped(whole, width - 1).count("\n") == n_breaks:
            width -= 1  # lines of like length
        text.set_text(wrapped(whole, width))


def wrapped(text: str, width: int) -> str:
    """Return the text in lines of at most so many characters."""
    return "\n".join(part for line in text.split("\n") for part in wrap(line, width))


def level_names(intervals: Iterable[Interval]) -> str:
    """Return the levels of intervals, most often a single one, in a word."""
    return f"{' or '.join(sorted(set(map(level_of, intervals))))} interval"


def span_of(counts: Collection[int]) -> str:
    """Return counts in a word, or from the least to the most."""
    return " to ".join(map(str, sorted({min(counts), max(counts)})))


def untyped(axes: Any) -> Any:
    """Return *axes* untyped: matplotlib's stubs leave most of its keyword arguments unknown."""
    return axes


def short_name(name: str) -> str:
    """Return a name on a line, its middle left out where it is long: long names begin alike."""
    text = one_line(name, 2 * TEXT_LIMIT)
    n_wide = sum(east_asian_width(character) in "WF" for character in text)
    if len(text) + n_wide <= MAX_LABEL:
        return text
    half = MAX_LABEL * len(text) // (len(text) + n_wide) // 2
    return f"{text[: half - 1]}\N{HORIZONTAL ELLIPSIS}{text[-half:]}"


BESIDE_AXES: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
"""Where a legend hides nothing."""


def add_legend(axes: Any, marks: Sequence[Any], names: Iterable[str], **options: Any) -> None:
    """Make a legend, in which "_a" as a label would be left out, and "$a$" be a formula."""
    legend = axes.legend(marks, ["."] * len(marks), **options)
    legend.get_title().set_fontsize(font_size(axes))
    width = MAX_LABEL if axes.figure.get_figwidth() >= NARROW else MAX_LABEL // 2
    for text, name in zip(legend.get_texts(), names, strict=False):
        text.set(text=wrapped(name, width), parse_math=False, fontsize=font_size(axes))


def draw_point(
    ax: Any,
    x: float,
    y: float,
    *,
    marker: str,
    color: str,
    x_ends: tuple[float, float] | None = None,
    y_ends: tuple[float, float] | None = None,
    filled: bool = True,
    size: float = 1.0,
    clip: bool = True,
) -> None:
    """Draw a dot with its intervals, *size* times as large as others."""
    if x_ends is not None:
        ax.plot(x_ends, [y, y], color=color, linewidth=2 * size, marker="|", zorder=2)
    if y_ends is not None:
        ax.plot([x, x], y_ends, color=color, linewidth=1.5, marker="_", zorder=2)
    inside = color if filled else ax.get_facecolor()
    ax.plot(
        x,
        y,
        marker=marker,
        markersize=6 * size,
        color=color,
        markerfacecolor=inside,
        linestyle="",
        zorder=3,
        clip_on=clip,
    )


def name_rows(axes: Any, labels: Sequence[str], heights: Sequence[float]) -> list[float]:
    """Write a name beside each row, the first on top, and return where the rows are."""
    middles = [end - height / 2 for end, height in zip(accumulate(heights), heights, strict=True)]
    axes.set_yticks(middles, labels, parse_math=False)
    axes.set_ylim(sum(heights), 0)
    return middles
