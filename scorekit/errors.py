"""What scorekit raises: one family under `ScorekitError`, each also the builtin it resembles."""

from __future__ import annotations

import reprlib
from typing import NoReturn

TEXT_LIMIT = 500
"""Longest piece of untrusted text, in characters, that an error carries."""


def shortened(text: str, limit: int = TEXT_LIMIT) -> str:
    """Return *text*, its end replaced by ``...`` if it is longer than *limit* characters."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def one_line(text: str, limit: int = TEXT_LIMIT) -> str:
    """Return *text* on one line: what is not printable escaped, cut to *limit* characters."""
    text = shortened(text, limit)
    if text.isprintable():
        return text
    escaped = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shortened("".join(escaped), limit)


LONG_INT_BITS = 2000
"""Beyond it an integer is shown by its size: Python may refuse to write out its digits."""


class _Shorten(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = 80

    def repr_int(self, x: int, level: int) -> str:
        """Show a huge integer, wherever it is nested, by its number of bits."""
        bits = x.bit_length()
        return super().repr_int(x, level) if bits <= LONG_INT_BITS else f"<int of {bits} bits>"


_shorten = _Shorten()


class ScorekitError(Exception):
    """Base of every exception that scorekit raises on purpose."""


class InputError(ScorekitError, ValueError):
    """
    An argument lies outside the domain its metric documents.

    The message reads ``<name> must be <domain>, got <value>``.  An argument of the wrong type
    raises the builtin `TypeError` with a message of the same form.
    """


class RegressionError(ScorekitError):
    """
    A comparison found what its caller asked to be stopped for.

    Raised by `Comparison.raise_for_regressions` only; the message lists what got worse.
    """


def shown(value: object) -> str:
    """Return *value* as a message shows it: its repr on one line, cut when long."""
    try:
        text = _shorten.repr(value)
    except Exception:  # noqa: BLE001 - a message about one mistake must not raise another
        text = f"<{type(value).__name__} that cannot be shown>"
    return one_line(" ".join(text.split("\n")))


def refuse(name: str, domain: str, value: object, error: type[Exception] = InputError) -> NoReturn:
    """Raise *error* with the message form that all of scorekit uses."""
    raise error(f"{name} must be {domain}, got {shown(value)}")
