"""What Hypothesis loads as it starts: how it finds the strategy of each public type."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from typing import Any

_package = sys.modules["scorekit"].__dict__
_known: set[type] = set()


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

    topics = [name for name in sys.modules if re.fullmatch(r"scorekit\.[a-z]+", name)]
    for topic in topics:
        for name, found in list(vars(sys.modules[topic]).items()):
            is_own = inspect.isclass(found) and found.__module__ == topic
            if is_own and not name.startswith("_") and found not in _known:
                _known.add(found)
                if not issubclass(found, BaseException):
                    st.register_type_strategy(found, _strategy)


def _strategy(kind: type[Any]) -> Any:
    """Return the strategy of a type that Hypothesis is asked for; only now are they loaded."""
    return import_module("scorekit.strategies").for_type(kind)
