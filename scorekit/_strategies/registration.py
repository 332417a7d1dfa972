"""What Hypothesis loads as it starts: how it finds the strategy of each public type."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from typing import Any

_package = sys.modules["scorekit"].__dict__
_known: set[str] = set()


def register() -> None:
    """
    Register the types that are loaded already, and the others once they are.

    A type can be registered only when there is one, and loading scorekit's modules would cost
    every user of Hypothesis numpy and sqlglot.
    """
    _package["_on_load"] = register_loaded
    register_loaded()


def register_loaded() -> None:
    """Register each type whose module is loaded by now."""
    from hypothesis import strategies as st

    homes: dict[str, str] = _package["_HOME"]
    for name in homes.keys() - _known:
        found = getattr(sys.modules.get(homes[name]), name, None)
        if found is not None:  # its module is loaded, to the end
            _known.add(name)
            if inspect.isclass(found) and not issubclass(found, BaseException):
                st.register_type_strategy(found, _strategy)


def _strategy(kind: type[Any]) -> Any:
    """Return the strategy of a type that Hypothesis is asked for; only now are they loaded."""
    return import_module("scorekit.strategies").for_type(kind)
