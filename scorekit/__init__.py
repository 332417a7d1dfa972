"""
Scores for what language models produce, with honest uncertainty.

Everything public is reached as ``scorekit.<name>``; a module is loaded when one of its names is
first used, so that ``import scorekit`` costs no more than attrs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOME = {
    name: module
    for module, name in re.findall(r"^from (scorekit\.\w+) import (\w+)", _STUB, re.MULTILINE)
}
"""The module of each public name; type checkers read the same list."""

_on_load: Callable[[], None] | None = None  # set where Hypothesis is loaded

__all__ = list(_HOME)  # pyright: ignore[reportUnsupportedDunderAll] - checkers read the stub


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("scorekit")
    if name == "strategies":  # not in __all__: importing * must not need Hypothesis
        return import_module(f"{__name__}.strategies")
    if name not in _HOME:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])  # "Did you mean"
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    if _on_load is not None:
        _on_load()
    return value


def __dir__() -> list[str]:
    from importlib.util import find_spec

    # help() and tab completion fetch every name, and strategies cannot be had without Hypothesis
    own = {"__version__", *(name for name in globals() if name.startswith("__"))}
    return sorted({*own, *_HOME, *(["strategies"] if find_spec("hypothesis") else [])})
