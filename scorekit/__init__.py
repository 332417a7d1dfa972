"""
Scores for what language models produce, with honest uncertainty.

Everything public is reached as ``scorekit.<name>``; a module is loaded when one of its names is
first used, so that ``import scorekit`` costs no more than attrs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scorekit._records import Record as Record
    from scorekit.coding import CodeScore as CodeScore
    from scorekit.coding import CodeWeights as CodeWeights
    from scorekit.coding import code_score as code_score
    from scorekit.coding import code_scores as code_scores
    from scorekit.errors import InputError as InputError
    from scorekit.errors import RegressionError as RegressionError
    from scorekit.errors import ScorekitError as ScorekitError

_MODULES = {
    "_records": ("Record",),
    "coding": ("CodeScore", "CodeWeights", "code_score", "code_scores"),
    "errors": ("InputError", "RegressionError", "ScorekitError"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = list(_HOME)  # pyright: ignore[reportUnsupportedDunderAll] - checkers read the imports above


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("scorekit")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
