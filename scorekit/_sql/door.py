"""
The door of the wing: all that the rest of the library may use of it.

Each name is loaded from its room when it is first used, so that who looks for tables loads no
prover.  A contract of `lint-imports` holds that nothing else is imported from outside.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scorekit._sql.audit import Kind as Kind
    from scorekit._sql.audit import audit as audit
    from scorekit._sql.evidence import NOT_COMPARED as NOT_COMPARED
    from scorekit._sql.evidence import check_engine as check_engine
    from scorekit._sql.evidence import find_evidence as find_evidence
    from scorekit._sql.faults import Faults as Faults
    from scorekit._sql.meaning.columns import ColumnReader as ColumnReader
    from scorekit._sql.refute.engine import AnyEngine as AnyEngine
    from scorekit._sql.refute.search import Difference as Difference
    from scorekit._sql.schema.tables import Keys as Keys
    from scorekit._sql.schema.tables import Schema as Schema
    from scorekit._sql.schema.tables import checked_schema as checked_schema
    from scorekit._sql.schema.tables import frozen_keys as frozen_keys
    from scorekit._sql.schema.tables import schema_text as schema_text
    from scorekit._sql.text.base_tables import read_tables as read_tables
    from scorekit._sql.text.messages import diagnose as diagnose
    from scorekit._sql.text.names import match_names as match_names
    from scorekit._sql.text.parsing import check_dialect as check_dialect
    from scorekit._sql.text.parsing import is_sorted as is_sorted
    from scorekit._sql.text.parsing import parsed_once as parsed_once

HOMES: Final = {
    "audit": ("Kind", "audit"),
    "evidence": ("NOT_COMPARED", "check_engine", "find_evidence"),
    "faults": ("Faults",),
    "meaning.columns": ("ColumnReader",),
    "refute.engine": ("AnyEngine",),
    "refute.search": ("Difference",),
    "schema.tables": (*("Keys", "Schema", "checked_schema", "frozen_keys", "schema_text"),),
    "text.base_tables": ("read_tables",),
    "text.messages": ("diagnose",),
    "text.names": ("match_names",),
    "text.parsing": ("check_dialect", "is_sorted", "parsed_once"),
}
"""The names of the door, by the module of the wing that defines them."""

_HOME: Final = {name: home for home, names in HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    value = globals()[name] = getattr(import_module(f"scorekit._sql.{_HOME[name]}"), name)
    return value
