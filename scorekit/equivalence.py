"""Stub."""

from __future__ import annotations

from typing import Literal

import attrs

from scorekit._records import Record


@attrs.frozen(kw_only=True)
class Counterexample(Record):
    """Stub."""

    tables: tuple[str, ...] = ()

    def to_text(self) -> str:
        """Return it as text."""
        return "\n".join(self.tables)


@attrs.frozen(kw_only=True)
class SqlEquivalence(Record):
    """Stub."""

    verdict: Literal["proved", "refuted", "unknown"]
    reason: str
    counterexample: Counterexample | None = None
    assumptions: tuple[str, ...] = ()


def sql_equivalence(
    a: str, b: str, *, schema: object = None, dialect: str | None = None
) -> SqlEquivalence:
    """Stub."""
    return SqlEquivalence(verdict="unknown", reason="stub")
