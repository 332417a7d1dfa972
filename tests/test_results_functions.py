"""Which functions a query may call: any, as it may be the user's, or those of its database."""

from __future__ import annotations

from typing import Any

import pytest
from outcomes import failure

from scorekit import InputError, SqlCase, query_audit, query_correctness, score_sql_cases
from scorekit._sql.databases.undescribed import has_function

SCHEMA = "CREATE TABLE r (id INT PRIMARY KEY, n VARCHAR(20))"
PLAIN = "SELECT n FROM r"

MISSING = [
    ("sqlite", "SELECT YEAR(n) FROM r", "SQLite has no function YEAR"),
    ("postgres", "SELECT SAFE_DIVIDE(id, 1) FROM r", "PostgreSQL has no function SAFE_DIVIDE"),
    ("mysql", "SELECT STRFTIME('%Y', n) FROM r", "MySQL has no function STRFTIME"),
    ("duckdb", "SELECT nosuch(id) FROM r", "DuckDB has no function NOSUCH"),
]


@pytest.mark.parametrize(("dialect", "text", "why"), MISSING)
def test_a_function_that_is_not_there_is_an_error_where_that_is_asked(
    dialect: str, text: str, why: str
) -> None:
    """Of the answer, the reference and the audit; without asking, it may be the user's."""
    given: dict[str, Any] = {"schema": SCHEMA, "dialect": dialect}
    assert failure(query_correctness(text, PLAIN, **given).error) == "instrument: no_judge"
    assert query_correctness(text, text, **given).score == 1.0
    assert query_audit(text, **given).findings == ()
    given["functions"] = "built_in"
    result = query_correctness(text, PLAIN, **given)
    assert failure(result.error) == "output: unknown_function"
    assert result.reasoning == f"generated: {why}"
    for generated in (PLAIN, text):
        error = query_correctness(generated, text, **given).error
        assert failure(error) == "instrument: bad_reference"
    (finding,) = query_audit(text, **given).findings
    assert (finding.kind, finding.sentence) == ("does_not_run", why)


@pytest.mark.parametrize(("dialect", "call"), [
    ("postgres", "PG_SLEEP(1)"),
    ("postgres", "CURRENT_SETTING('x')"),
    ("postgres", "TO_TSVECTOR(n)"),
    ("postgres", "XPATH('/a', '<a/>')"),
    ("mysql", "SLEEP(1)"),
    ("mysql", "AES_ENCRYPT(n, 'x')"),
    ("duckdb", "MD5_NUMBER(n)"),
    ("sqlite", "SOUNDEX(n)"),
])  # fmt: skip
def test_a_function_that_the_database_has_is_never_said_to_be_missing(
    dialect: str, call: str
) -> None:
    """What it returns is not known here, which is all that is said."""
    result = query_correctness(
        f"SELECT {call} FROM r", PLAIN, schema=SCHEMA, dialect=dialect, functions="built_in"
    )
    assert failure(result.error) == "instrument: no_judge"
    assert "has no function" not in result.reasoning


def test_duckdb_has_what_it_lists() -> None:
    """Oracle: the database's own list."""
    duckdb = pytest.importorskip("duckdb")
    names = (
        duckdb.connect().sql("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
    )
    plain = [name for (name,) in names if name.isidentifier() and name[0] != "_"]
    assert [name for name in plain if not has_function(name, "duckdb")] == []


def test_a_report_counts_the_pairs_that_a_function_leaves_undecided() -> None:
    """And names the option that decides them."""
    cases = [
        SqlCase(case_id=i, generated=text, expected=PLAIN, schema=SCHEMA, dialect=dialect)
        for i, (dialect, text, _) in enumerate(MISSING)
    ]
    text = score_sql_cases(cases).to_text()
    assert "undecided for a function that the database does not have: 4" in text
    assert "functions='built_in'" in text
    text = score_sql_cases(cases, functions="built_in").to_text()
    assert "undecided for a function" not in text
    assert "4 unknown_function" in text


def test_a_choice_that_is_none_is_refused() -> None:
    """At each door."""
    why = "functions must be one of 'any', 'built_in', got 'all'"
    with pytest.raises(InputError, match=f"^{why}$"):
        query_audit(PLAIN, functions="all")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match=f"^{why}$"):
        query_correctness(PLAIN, PLAIN, functions="all")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
