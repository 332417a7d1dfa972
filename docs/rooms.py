"""
The picture of the house, docs/pictures/rooms.svg, drawn from the imports.

Each module at the top and each private folder is a box, the rooms of SQL among them; a box stands
above all that it imports.  Lines that follow from others are left out.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "scorekit"
PICTURE = HERE / "pictures" / "rooms.svg"
WIDTH, BOX, ROW = 1080, 26, 62
LETTER, PAD, GAP = 7.4, 12, 14


def room_of(parts: tuple[str, ...]) -> str:
    """Return the box that a module stands in."""
    return "/".join(parts[:2]) if parts[0] == "_sql" else parts[0]


def imports() -> dict[str, set[str]]:
    """Return what each box imports of the others."""
    modules = {
        path.relative_to(PACKAGE).with_suffix("").parts: path for path in PACKAGE.rglob("*.py")
    }
    found = defaultdict[str, set[str]](set)
    for parts, path in modules.items():
        if parts[-1] == "__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scorekit."):
                target = tuple((node.module or "").split(".")[1:])
                inner = [(*target, name.name) for name in node.names]
                names = [one for one in inner if one in modules] or [target]
                found[room_of(parts)] |= {room_of(name) for name in names}
        found[room_of(parts)] |= set()
    return {room: others - {room} for room, others in found.items()}


def levels(graph: dict[str, set[str]]) -> dict[str, int]:
    """Return how many boxes stand below each, at most."""
    found: dict[str, int] = {}

    def level(room: str) -> int:
        if room not in found:
            found[room] = max((level(one) + 1 for one in graph[room]), default=0)
        return found[room]

    for room in graph:
        level(room)
    return found


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the imports that do not follow from others."""
    below: dict[str, set[str]] = {}

    def reach(room: str) -> set[str]:
        if room not in below:
            below[room] = graph[room].union(*(reach(one) for one in graph[room]))
        return below[room]

    return {
        room: {one for one in others if not any(one in reach(other) for other in others - {one})}
        for room, others in graph.items()
    }


def placed(level: dict[str, int], lines: dict[str, set[str]]) -> dict[str, tuple[float, float]]:
    """Return where the middle of each box stands: rows by level, each near what it imports."""
    rows = defaultdict[int, list[str]](list)
    for room in sorted(level):
        rows[level[room]].append(room)
    top, place = max(rows), dict[str, tuple[float, float]]()
    y = float(BOX)
    heights: dict[int, list[tuple[list[str], float]]] = {}
    for number in range(top, -1, -1):
        heights[number] = []
        line, width = list[str](), 0.0
        for room in rows[number]:
            if line and width + _width(room) + GAP > WIDTH - 2 * GAP:
                heights[number].append((line, y))
                line, width, y = [], 0.0, y + BOX + 8
            line.append(room)
            width += _width(room) + GAP
        heights[number].append((line, y))
        y += ROW
    for number in range(top + 1):
        for line, height in heights[number]:
            wanted = {
                room: sum(place[one][0] for one in lines[room]) / len(lines[room])
                if lines[room]
                else WIDTH / 2
                for room in line
            }
            line.sort(key=lambda room: (wanted[room], room))
            free = WIDTH - sum(map(_width, line))
            x, gap = 0.0, free / (len(line) + 1)
            for room in line:
                place[room] = (x + gap + _width(room) / 2, height)
                x += gap + _width(room)
    return place


def _width(room: str) -> float:
    return len(room) * LETTER + 2 * PAD


def drawn() -> str:
    """Return the picture as SVG."""
    graph = imports()
    lines = reduced(graph)
    place = placed(levels(graph), lines)
    height = max(y for _, y in place.values()) + BOX * 2
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
            'font-family="ui-monospace, monospace" font-size="12">'
        ),
        "<title>The rooms of scorekit: each stands above what it imports</title>",
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="white"/>',
    ]
    for room in sorted(lines):
        x, y = place[room]
        for other in sorted(lines[room]):
            u, v = place[other]
            middle = (y + v) / 2
            parts.append(
                f'<path d="M{x:.0f} {y + BOX / 2:.0f}C{x:.0f} {middle:.0f} {u:.0f} {middle:.0f} '
                f'{u:.0f} {v - BOX / 2:.0f}" fill="none" stroke="#b8c0c8"/>'
            )
    for room in sorted(place):
        x, y = place[room]
        fill = "#dbe9f6" if room.startswith("_sql") else "#eee" if room[0] == "_" else "#fdf1dc"
        parts += [
            (
                f'<rect x="{x - _width(room) / 2:.0f}" y="{y - BOX / 2:.0f}" '
                f'width="{_width(room):.0f}" height="{BOX}" rx="4" fill="{fill}" stroke="#788"/>'
            ),
            f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">{escape(room)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])
