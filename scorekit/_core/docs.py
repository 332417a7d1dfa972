"""The docstring of a record, with the texts that stand below its fields."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import attrs


class FieldDoc:
    """A docstring and the texts of the fields, which are read from the source on demand."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, _: object, cls: type) -> str:
        """Return the docstring with a block of the fields that the source describes."""
        texts = dict(found for base in reversed(cls.__mro__) for found in _texts(base))
        wrapper = textwrap.TextWrapper(
            92, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False
        )
        lines = [
            wrapper.fill(texts[field.name]) for field in attrs.fields(cls) if field.name in texts
        ]
        text = inspect.cleandoc(self.text)
        if not lines:
            return text
        parts = sorted({f"help({path})" for path in _parts(cls, " ".join(texts.values()))})
        more = ["", wrapper.fill(f"Described by {', '.join(parts)}.").lstrip()] if parts else []
        return "\n".join([text, "", "Attributes:", *lines, *more])


def _texts(cls: type) -> Iterator[tuple[str, str]]:
    """Yield the fields that *cls* itself declares: the name, and a line with type and text."""
    written = _classes(cls.__module__).get(cls.__name__)
    for node, after in pairwise([*written.body, None] if written else ()):
        if not isinstance(node, ast.AnnAssign):
            continue
        line = f"{ast.unparse(node.target)} ({ast.unparse(node.annotation)})"
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            line += f": {' '.join(str(after.value.value).split())}"
        yield ast.unparse(node.target), line


def _parts(cls: type, text: str) -> Iterator[str]:
    """Yield where the records that fields hold are found: at the top if they are public."""
    for name in re.findall(r"\b[A-Z]\w+", text):
        found = getattr(sys.modules[cls.__module__], name, None)
        if found is not cls and isinstance(found, type) and attrs.has(found):
            public = getattr(sys.modules["scorekit"], name, None) is found
            yield f"scorekit.{name}" if public else f"{found.__module__}.{name}"


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """Return the classes of a module as they are written; none where the source is missing."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        return {}
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
