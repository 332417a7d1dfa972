"""What the tables of functions say, against the databases that are at hand."""

from __future__ import annotations

import sqlite3

import pytest
import sqlglot
from sqlglot import exp

from scorekit._sql.databases.functions import (
    CALLS,
    FUNCTIONS,
    MANY,
    VERSIONS,
    Function,
    arities,
    arity,
    meanings,
    since,
)


def test_a_name_has_one_meaning_in_a_dialect() -> None:
    """No two rows describe one function of one dialect."""
    pairs = [(row.name, dialect) for row in FUNCTIONS for dialect in row.dialects.split()]
    assert len(pairs) == len(set(pairs))
    assert {dialect for _, dialect in pairs} == set(VERSIONS)


@pytest.mark.parametrize(("arguments", "expected"), [
    ("", (0, 0)),
    ("text", (1, 1)),
    ("text integer [integer]", (2, 3)),
    ("[time] [text] ...", (0, MANY)),
    ("any any ...", (2, MANY)),
])  # fmt: skip
def test_arity(arguments: str, expected: tuple[int, int]) -> None:
    """Brackets mark what may be left out, and dots repetitions."""
    assert arity(arguments) == expected


def test_arities_of_rows_and_names() -> None:
    """The number of arguments comes from the rows and from the lists of names."""
    assert arities("postgres")["substr"] == (2, 3)
    assert arities("sqlite")["min"] == (1, MANY)
    assert arities("mysql")["if"] == (3, 3)
    assert "iif" not in arities("duckdb")
    assert meanings("mysql")["ltrim"].arguments == "text"
    assert since("sqlite")["concat"] == "SQLite 3.44"


def _shown(row: Function) -> str:
    return f"{row.name} of {row.dialects}"


@pytest.mark.parametrize("row", [row for row in FUNCTIONS if callable(row.compute)], ids=_shown)
def test_what_is_computed_is_found_in_a_tree(row: Function) -> None:
    """A call has the class that sqlglot has for it, which `CALLS` names, or none."""
    for dialect in row.dialects.split():
        for n in range(arity(row.arguments)[0], min(arity(row.arguments)[1], 4) + 1):
            text = f"SELECT {row.name}({', '.join('x' * n)})"
            (call,) = sqlglot.parse_one(text, dialect=dialect).expressions
            kind = type(call).__name__.lower()
            is_found = isinstance(call, exp.Anonymous | exp.Trim) or kind in CALLS
            assert is_found, f"add {kind!r} to CALLS of scorekit/_sql/databases/functions.py"


WORDED = {
    "json_array", "json_arrayagg", "json_exists", "json_objectagg", "json_query", "json_scalar",
    "json_serialize", "json_table", "json_value", "system_user",
}  # fmt: skip
"""Functions that are written with words between the arguments, or without brackets."""


def test_what_is_new_is_known() -> None:
    """Each function that came with a version is one that its dialect has."""
    for dialect in VERSIONS:
        assert set(since(dialect)) <= set(arities(dialect)) | WORDED


def test_sqlite_has_what_is_listed() -> None:
    """Python's own SQLite has each listed function, but for what came later."""
    connection = sqlite3.connect(":memory:")
    own = {str(row[0]) for row in connection.execute("PRAGMA function_list")}
    own |= {str(row[0]) for row in connection.execute("PRAGMA module_list")}
    assert not set(arities("sqlite")) - set(since("sqlite")) - own


def test_duckdb_has_what_is_listed() -> None:
    """DuckDB has each listed function, but for those that its grammar makes."""
    duckdb = pytest.importorskip("duckdb")
    rows = duckdb.connect().sql("SELECT function_name FROM duckdb_functions()").fetchall()
    grammar = {"coalesce", "grouping", "grouping_id", "ifnull", "percentile_cont"}
    grammar |= {"percentile_disc", "date"}
    assert not set(arities("duckdb")) - {str(row[0]).lower() for row in rows} - grammar
