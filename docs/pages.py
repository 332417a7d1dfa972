"""
What pages show of files.

A page names a file in a comment, and the fenced block below the comment is its text, so that the
page can be read wherever it is shown.  Names after a colon choose parts of a program; the imports
that these parts need come along::

    <!-- recipes/data_frames.py: report -->
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

WIDTH = 99
HERE = Path(__file__).parent
MARK = r"(<!-- (\S+\.\w+)(?:: ([\w ]+))? -->\n```\w+\n)"
BLOCK = re.compile(MARK + r".*?^```$", re.MULTILINE | re.DOTALL)


def parts(program: str, names: set[str]) -> str:
    """Return what binds the *names* in a program, below the imports that it needs."""
    body = ast.parse(program).body
    chosen = [node for node in body if names & set(_bound(node))]
    used = {one.id for node in chosen for one in ast.walk(node) if isinstance(one, ast.Name)}
    kept = {number: "" for number, line in enumerate(program.splitlines(), 1) if not line}
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [one for one in node.names if (one.asname or one.name) in used]
            if node.names:
                kept[node.lineno] = _line(node)
        elif node in chosen:
            above = [one.lineno for one in getattr(node, "decorator_list", [])]
            first, last = min([node.lineno, *above]), node.end_lineno or node.lineno
            kept |= dict(enumerate(program.splitlines()[first - 1 : last], first))
    text = "\n".join(kept[number] for number in sorted(kept))
    return re.sub(r"\n{4,}", "\n\n\n", re.sub(r"\n{3,}(?=import |from )", "\n\n", text))


def _line(node: ast.Import | ast.ImportFrom) -> str:
    """Return an import as text, a name a line where one line is too long."""
    text = ast.unparse(node)
    if len(text) <= WIDTH:
        return text
    opening, names = text.split("import ")
    return (
        "\n    ".join([f"{opening}import (", *(f"{name}," for name in names.split(", "))]) + "\n)"
    )


def _bound(node: ast.stmt) -> list[str]:
    """Return the names that a statement binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [one.id for one in targets if isinstance(one, ast.Name)]


def filled(page: str) -> str:
    """Return the text of a page with each block as its file has it."""

    def block(found: re.Match[str]) -> str:
        opening, path, names = found.groups()
        text = (HERE / path).read_text(encoding="utf-8")
        if names:
            text = parts(text, set(names.split()))
        return f"{opening}{re.sub(r'  # (noqa|type): .*', '', text).strip()}\n```"

    return BLOCK.sub(block, page)
