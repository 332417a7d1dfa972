"""Documented errors as tables of text: what is passed, an arrow, and what is raised."""

from __future__ import annotations

import builtins
import math
import re
import sys
import textwrap
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

import scorekit

COMMON = {"math": math, "np": np, "pd": pd, "Decimal": Decimal, "Fraction": Fraction}


@attrs.frozen
class Refusal:
    """A row of a table; the names in it are those of the test's own module and of scorekit."""

    text: str
    error: type[BaseException]
    message: str
    names: dict[str, Any] = attrs.field(repr=False)

    def _read(self, text: str) -> Any:
        public = {name: getattr(scorekit, name) for name in scorekit.__all__ if name in text}
        return eval(text, {**COMMON, **public, **self.names})  # noqa: S307 - rows of our own

    @property
    def value(self) -> Any:
        """What the row passes, if that is one value."""
        return self._read(self.text)

    @property
    def arguments(self) -> dict[str, Any]:
        """What the row passes by name."""
        arguments: dict[str, Any] = self._read(f"dict({self.text})")
        return arguments

    def by(self, function: Callable[..., Any], /, *given: Any, **defaults: Any) -> None:
        """Call a function with the arguments of the row over *defaults*: it must refuse them."""
        arguments = {**defaults, **self.arguments}
        self.when(lambda: function(*given, **arguments))

    def by_value(self, function: Callable[..., Any], /, **options: Any) -> None:
        """Call a function with the value of the row."""
        value = self.value
        self.when(lambda: function(value, **options))

    def by_itself(self) -> None:
        """Evaluate the row, which is a call."""
        self.when(lambda: self.value)

    def when(self, call: Callable[[], Any]) -> None:
        """Call, and compare the whole message; one that ends in dots only begins so."""
        with pytest.raises(self.error) as caught:
            call()
        begins = self.message.removesuffix("...")
        found = str(caught.value)
        assert (found[: len(begins)] if begins != self.message else found) == begins


def refusals(table: str) -> pytest.MarkDecorator:
    """Give a test the rows of a table as *wrong*; an indented line goes on with the one above.

    A name of the module in braces, as {LEVELS} in a message, stands for its text.
    """
    names = sys._getframe(1).f_globals
    rows = []
    for row in re.sub(r"\n\s+", " ", textwrap.dedent(table).strip()).splitlines():
        text, name, message = re.split(r"\s*-> (\w+): ", row, maxsplit=1)
        error = getattr(builtins, name, None) or getattr(scorekit, name)
        whole = re.sub(r"\{([A-Z][A-Z_]+)\}", lambda found: str(names[found[1]]), message)
        rows.append(pytest.param(Refusal(text, error, whole, names), id=text[:60]))
    return pytest.mark.parametrize("wrong", rows)
