"""What can be said of a pair of queries before anyone is asked; said once and remembered."""

from __future__ import annotations

import logging
from collections import OrderedDict
from contextlib import suppress
from typing import Final

from scorekit._sql_schema import Schema
from scorekit.equivalence import SqlEquivalence, sql_equivalence
from scorekit.errors import one_line

MAX_REMEMBERED: Final = 10_000
"""Pairs whose evidence is kept; the oldest goes first."""

_log = logging.getLogger(__name__)
_remembered: OrderedDict[str, SqlEquivalence] = OrderedDict()  # its single steps are atomic


def is_remembered(key: str) -> bool:
    """Tell whether there is evidence under this key, which then costs a look-up."""
    return key in _remembered


def evidence_on(
    key: str, generated: str, expected: str, dialect: str | None, schema: Schema | None
) -> SqlEquivalence:
    """Return whether the two are proved equal or refuted; never raises."""
    known = _remembered.get(key)
    if known is not None:
        return known
    try:
        known = sql_equivalence(generated, expected, dialect=dialect, schema=schema)
    except Exception as error:  # noqa: BLE001 - a schema that only a judge understands, say
        reason = one_line(f"{type(error).__name__}: {error}")
        _log.warning("no evidence: %s", reason)
        known = SqlEquivalence(verdict="unknown", reason=reason)
    remember(key, known)
    return known


def remember(key: str, found: SqlEquivalence) -> None:
    """Keep evidence under its key."""
    _remembered[key] = found
    with suppress(KeyError):  # another thread was faster
        while len(_remembered) > MAX_REMEMBERED:
            _remembered.popitem(last=False)
