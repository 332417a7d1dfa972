"""What scorekit raises: one family under `ScorekitError`, each also the builtin it resembles."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
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
    An argument has a value that is not allowed.

    The message reads ``<name> must be <domain>, got <value>``.  An argument of the wrong type
    raises the builtin `TypeError` with a message of the same form.
    """


class SqlError(ScorekitError, ValueError):
    """
    A text could not be read as SQL.

    The *kind* is ``empty``, ``too_long``, ``too_deep``, ``parse``, ``unsupported`` or
    ``not_sql``; *sql* is the text, cut to 500 characters.

    Examples:
        >>> raise SqlError("parse", "Expecting ). Line 1, column 9.", "SELECT (1")
        Traceback (most recent call last):
        ...
        scorekit.errors.SqlError: parse: Expecting ). Line 1, column 9.
    """

    def __init__(self, kind: str, message: str, sql: str) -> None:
        self.kind = kind
        self.message: str = one_line(message)
        self.sql: str = shortened(sql)
        super().__init__(kind, self.message, self.sql)  # all of args, so that it pickles

    def __str__(self) -> str:
        """Return the kind and the message on one line, without the SQL."""
        return f"{self.kind}: {self.message}"


class JudgeError(ScorekitError):
    """
    A judge could not give a verdict; *kind* says what kind of failure it was.

    What a judge raises inside `query_correctness` becomes a result with a `MetricError`; tokens
    that were paid for all the same are kept in *usage* and *cost_usd*.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        usage: Mapping[str, int] | None = None,
        cost_usd: float | None = None,
    ) -> None:
        self.kind = kind
        self.message = message
        self.usage = usage
        self.cost_usd = cost_usd
        super().__init__(kind, message, usage, cost_usd)  # all of args, so that it pickles

    def __str__(self) -> str:
        """Return the kind and the message."""
        return f"{self.kind}: {self.message}"


class ItemError(ScorekitError):
    """
    A function raised on one of many items: on number *index*, counted from 0.

    What it raised is the ``__cause__``.  Raised by `map_scores` only.
    """

    def __init__(self, index: int, message: str) -> None:
        self.index = index
        self.message = message
        super().__init__(index, message)  # all of args, so that it pickles

    def __str__(self) -> str:
        """Return which item it was and what was raised."""
        return f"items[{self.index}] failed: {self.message}"


class WorkerError(ScorekitError):
    """
    An executor lost work: a worker died, or the work was canceled from outside.

    Raised by `map_scores` only, from what the executor said.
    """


class MissingExtraError(ScorekitError, ImportError):
    """
    A function needs the packages of an extra that is not installed.

    The message names the command that installs them: the packages themselves, so that it works
    wherever scorekit came from.
    """

    def __init__(self, extra: str, package: str) -> None:
        self.extra = extra
        self.package = package
        super().__init__(extra, package)  # all of args, so that it pickles

    def __str__(self) -> str:
        """Return what is missing and the command that installs it."""
        packages = " ".join(map(repr, self._packages()))
        why = f"which is what scorekit[{self.extra}] brings"
        return f"{self.package} is not installed; run: pip install {packages} ({why})"

    def _packages(self) -> list[str]:
        from importlib.metadata import PackageNotFoundError, requires

        try:
            needed = [one.partition(";") for one in requires("scorekit") or ()]
        except PackageNotFoundError:  # the folder lies in the path
            needed = []
        extra = re.compile(rf"extra == ['\"]{self.extra}['\"]")
        return [name.strip() for name, _, when in needed if extra.search(when)] or [self.package]


class RegressionError(ScorekitError):
    """
    The current run is worse than the baseline: see `Comparison.raise_for_regressions`.

    Raised by `Comparison.raise_for_regressions` only; the message lists what got worse.
    """


class CannotSeeError(ScorekitError):
    """
    No outcome of such a comparison could be significant, so that it would pass whatever happened.

    It is no regression: there are too few cases, attempts or repeats. Raised by
    `Comparison.raise_for_regressions` only; the message says what to add.
    """


def shown(value: object) -> str:
    """Return *value* as a message shows it: its repr on one line, cut when long."""
    try:
        is_frame = hasattr(value, "columns") and hasattr(value, "shape")
        text = f"a {type(value).__name__}" if is_frame else _shorten.repr(value)
    except Exception:  # noqa: BLE001 - a message about one mistake must not raise another
        text = f"<{type(value).__name__} that cannot be shown>"
    return one_line(" ".join(text.split("\n")))


def refuse(name: str, domain: str, value: object, error: type[Exception] = InputError) -> NoReturn:
    """Raise *error* with the message form that all of scorekit uses."""
    raise error(f"{name} must be {domain}, got {shown(value)}")
