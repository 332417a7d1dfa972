"""Names beside points: each where it hides nothing, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scorekit._plots.canvas import FRONTIER, Axes, font_size, untyped

NEAR = 10
"""Points beside its place up to which a name needs no line to it."""

BELOW = ((0, -5), (0, 5), (7, -4), (7, 4), (-7, -4), (-7, 4))
BESIDE = tuple(
    (side * x, level * y)
    for x, y in ((6, 3), (18, 14), (6, 24), (30, 34), (6, 44), (50, 54))
    for side in (1, -1)
    for level in (1, -1)
)
"""Points by which a name stands from its place: where there is room first."""


def place_names(
    ax: Axes,
    texts: Sequence[tuple[tuple[float, float], tuple[float, float], str]],
    offsets: Sequence[tuple[int, int]],
    bars: Iterable[tuple[tuple[float, float], tuple[float, float]]],
    *,
    n: int,
    what: str,
) -> None:
    """
    Write each text below its first place, or above its second, and of how many some find none.

    Not across a dot, nor a bar, with a line to its place where that is far.
    """
    axes = untyped(ax)
    x_label = axes.get_xlabel()
    axes.set_xlabel(f"{x_label}\n ")  # room for what is said below
    axes.figure.draw_without_rendering()  # or no one knows where things are
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    page, place = axes.get_window_extent(), axes.transData.transform
    taken = [Bbox([place(low), place(low)]).padded(5) for low, _, _ in texts]
    taken += [Bbox([place(low), place(high)]).padded(1) for low, high in bars]
    n_taken = len(taken)
    for low, high, text in texts:
        for x, y in offsets:
            far: dict[str, Any] = {"arrowstyle": "-", "color": FRONTIER, "shrinkB": 3}
            far |= {"linewidth": 0.6, "relpos": (float(x < 0), float(y < 0))}
            note = axes.annotate(
                text,
                high if y > 0 else low,
                xytext=(x, y),
                textcoords="offset points",
                ha="center" if not x else "left" if x > 0 else "right",
                va="bottom" if y > 0 else "top",
                fontsize=font_size(axes),
                parse_math=False,
                arrowprops=far if max(abs(x), abs(y)) > NEAR else None,
            )
            note.get_window_extent()  # which places it
            box = Text.get_window_extent(note)  # without its line
            inside = page.x0 <= box.x0 and box.x1 <= page.x1
            inside = inside and page.y0 <= box.y0 and box.y1 <= page.y1
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            note.remove()
    n_left_out = n + n_taken - len(taken)
    said = f"\n{n_left_out} of {n} {what} have no room"
    axes.set_xlabel(f"{x_label}{said * (n_left_out > 0)}")
