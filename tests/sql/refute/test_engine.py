"""Tests for `sql_equivalence` and `query_correctness` with the caller's own database."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from decimal import Decimal
from functools import partial
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from outcomes import failure, present

from scorekit import (
    Counterexample,
    InputError,
    SqlCase,
    SqlEquivalence,
    SqlReport,
    query_correctness,
    score_sql_case,
    score_sql_cases,
    sql_equivalence,
)
from scorekit.strategies import sql_queries

SHOP = {
    "orders": {
        "ID": "int primary key",
        "Customer": "varchar(9)",
        "placed": "timestamp",
        "total": "decimal(10, 2)",
        "paid": "boolean",
    }
}
WIDER = "SELECT ID FROM orders WHERE total > 10", "SELECT ID FROM orders WHERE total >= 10"
SAME = "SELECT ID FROM orders WHERE total > 10", "SELECT ID FROM orders WHERE 10 < total"


def lite(statements: Sequence[str], query: str) -> list[Any]:
    """Run a query in SQLite."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        return connection.execute(query).fetchall()


def compared(pair: tuple[str, str], engine: Any = lite, **options: Any) -> SqlEquivalence:
    """Compare two queries on an engine."""
    given_: dict[str, Any] = {"schema": SHOP, "dialect": "sqlite"} | options
    return sql_equivalence(*pair, engine=engine, **given_)


def test_what_the_engine_returns_is_the_counterexample() -> None:
    """The record names the engine, and the statements show it anywhere."""
    found = compared(WIDER)
    assert (found.verdict, found.engine, found.raises) == ("refuted", "lite", None)
    example = present(found.counterexample)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(example.to_sql())
        results = [connection.execute(query).fetchall() for query in WIDER]
    shown = [
        [tuple(map(int, row)) for row in rows] for rows in (example.rows_of_a, example.rows_of_b)
    ]
    assert results == shown
    assert SqlEquivalence.from_json(found.to_json()) == found


def test_statements_are_of_the_dialect_with_names_as_the_queries_spell_them() -> None:
    """Types too; a name in quotes keeps its capital letters."""
    pair = 'SELECT "Customer" FROM Orders WHERE paid', "SELECT Customer FROM Orders"
    seen: list[Sequence[str]] = []

    def spy(statements: Sequence[str], query: str) -> list[Any]:
        seen.append(statements)
        return [] if "paid" in query else [("a",)]

    assert compared(pair, spy, dialect="snowflake").verdict == "refuted"
    made, filled = next(statements for statements in seen if len(statements) == 2)
    assert made == (
        'CREATE TABLE Orders (id INT, "Customer" VARCHAR(9), placed TIMESTAMP, '
        "total DECIMAL(18, 2), paid BOOLEAN)"
    )
    assert filled.startswith('INSERT INTO Orders (id, "Customer", placed, total, paid) VALUES (')
    assert "TRUE" in filled or "FALSE" in filled


def test_tables_with_qualifiers_go_by_their_last_name() -> None:
    """No schema need be made."""
    pair = tuple(query.replace("orders", "shop.sales.orders") for query in WIDER)
    found = compared(pair, dialect="snowflake", schema={"orders": SHOP["orders"]})  # type: ignore[arg-type]
    assert found.verdict == "refuted"


def test_a_proof_counts_if_the_engine_runs_both() -> None:
    """It is asked for a few rows; what it does not run earns nothing."""
    found = compared(SAME)
    assert (found.verdict, found.engine) == ("proved", "lite")
    broken = compared((SAME[0] + " AND foo(ID) = foo(ID)", SAME[1]))
    assert (broken.verdict, broken.raises) == ("unknown", "a")


@pytest.mark.parametrize("raises", ["a", "b"])
def test_what_one_query_alone_raises_is_about_that_query(raises: str) -> None:
    """The reason has the engine's words."""
    pair = ("SELECT foo(ID) FROM orders", "SELECT ID FROM orders")
    found = compared(pair if raises == "a" else (pair[1], pair[0]))
    which = "first" if raises == "a" else "second"
    assert (found.verdict, found.raises, found.engine) == ("unknown", raises, "lite")
    assert found.reason == (
        f"the engine does not run the {which} query: OperationalError: no such function: foo"
    )


def test_a_query_that_the_engine_refuses_is_wrong_and_such_a_reference_is_bad() -> None:
    """The first is the output's failure, the second the instrument's."""
    options: Any = {"schema": SHOP, "dialect": "snowflake", "engine": lite}
    wrong, right = "SELECT foo(ID) FROM orders", "SELECT ID FROM orders"
    error = query_correctness(wrong, right, **options).error
    assert failure(error) == "output: refused"
    said = "generated: the engine does not run the generated query: "
    assert present(error).message.startswith(said)
    error = query_correctness(right, wrong, **options).error
    assert failure(error) == "instrument: bad_reference"
    assert query_correctness(*WIDER, **options).method == "refuted"
    assert query_correctness(*SAME, **options).method == "proved"


def failing(error: Exception, times: Iterator[int], at: int, statements: Any, query: str) -> Any:
    """Raise at one call, and else run the query."""
    if next(times) == at:
        raise error
    return lite(statements, query)


@pytest.mark.parametrize("at", range(4))
def test_what_is_raised_once_is_the_instruments(at: int) -> None:
    """A connection that was lost is asked again, or another database."""
    engine = partial(failing, OSError("lost"), count(), at)
    found = compared(WIDER, engine)
    assert (found.verdict, found.engine) == ("refuted", "failing")


@pytest.mark.parametrize(("engine", "why"), [
    (lambda *_: None, "the engine must return rows of cells, not NoneType"),
    (lambda *_: "rows", "the engine must return rows of cells, not str"),
    (lambda *_: [{"id": 1}], "the engine must return rows of cells, not dict"),
    (lambda *_: [1], "the engine must return rows of cells, not int"),
    (lambda *_: [(1,), (1, 2)], "the engine returned rows of several widths"),
    (lambda *_: [(1,)] * 5000, "not determined: more than 2000 rows"),
    (lambda *_: 1 / 0, "the engine runs neither query: ZeroDivisionError: division by zero"),
])  # fmt: skip
def test_an_engine_that_does_not_work_decides_nothing(
    engine: Callable[..., Any], why: str
) -> None:
    """The reason says what it did."""
    found = compared(WIDER, engine)
    assert (found.verdict, found.reason, found.raises) == ("unknown", why, None)


def test_a_failing_engine_is_not_asked_on_and_on() -> None:
    """Three databases, two queries each."""
    calls: list[str] = []

    def broken(_: Sequence[str], query: str) -> Any:
        calls.append(query)
        raise TimeoutError("no connection within 5 s")

    assert compared(WIDER, broken).verdict == "unknown"
    assert len(calls) == 6


def test_rows_may_be_lists_of_decimals_from_a_cursor() -> None:
    """As drivers return them; a generator and a cursor are read once."""
    for kind in (list, tuple):

        def engine(statements: Any, query: str, kind: Any = kind) -> Iterator[Any]:
            for row in lite(statements, query):
                yield kind(Decimal(cell) if isinstance(cell, int) else cell for cell in row)

        assert compared(WIDER, engine).verdict == "refuted"
        assert compared(SAME, engine).verdict == "proved"


def test_fewer_columns_are_a_difference() -> None:
    """Of all that is returned."""
    found = compared(("SELECT ID FROM orders", "SELECT ID, total FROM orders"))
    assert found.verdict == "refuted"


def test_other_rows_each_time_decide_nothing() -> None:
    """A refutation never hangs on what is not determined."""
    numbers = count()
    found = compared(WIDER, lambda *_: [(next(numbers),)])
    assert found.verdict == "unknown"
    assert found.reason.endswith("query returns other rows when run again")


@pytest.mark.parametrize(("a", "b"), [
    ("SELECT ID FROM orders LIMIT 1", "SELECT MIN(ID) FROM orders HAVING COUNT(*) > 0"),
    ("SELECT Customer FROM orders ORDER BY total LIMIT 1", "SELECT Customer FROM orders ORDER BY total LIMIT 1 OFFSET 0 + 0"),
    ("SELECT ID FROM orders WHERE total = (SELECT total FROM orders ORDER BY placed LIMIT 1)", "SELECT ID FROM orders WHERE total = (SELECT MAX(total) FROM orders)"),
    ("SELECT Customer, total FROM orders GROUP BY Customer", "SELECT Customer, MAX(total) FROM orders GROUP BY Customer"),
    ("SELECT random() FROM orders", "SELECT 1 FROM orders"),
    ("SELECT ID FROM orders WHERE placed < CURRENT_DATE", "SELECT ID FROM orders"),
])  # fmt: skip
def test_what_the_tables_do_not_decide_is_not_refuted_by_that(a: str, b: str) -> None:
    """If it is refuted, then on a database where rows do not tie."""
    found = compared((a, b))
    if found.counterexample is not None:
        for turned in (False, True):
            example = found.counterexample
            rows = [_results(query, example, turned=turned) for query in (a, b)]
            assert sorted(rows[0]) != sorted(rows[1])


def _results(query: str, example: Counterexample, *, turned: bool) -> list[Any]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(example.to_sql())
        if turned:
            for table in example.tables:
                rows = connection.execute(f"SELECT * FROM {table.table}").fetchall()[::-1]
                connection.execute(f"DELETE FROM {table.table}")
                for row in rows:
                    marks = ", ".join("?" * len(row))
                    connection.execute(f"INSERT INTO {table.table} VALUES ({marks})", row)
        return connection.execute(query).fetchall()


def test_the_order_of_rows_counts_where_both_ask_for_one() -> None:
    """Unless it is ignored; ties may come in any order."""
    up, down = "SELECT ID FROM orders ORDER BY total", "SELECT ID FROM orders ORDER BY total DESC"
    found = compared((up, down))
    assert present(found.counterexample).order_only
    assert sum(len(table.rows) for table in present(found.counterexample).tables) == 2
    assert compared((up, down), row_order="ignored").verdict != "refuted"
    assert compared((up, "SELECT ID FROM orders ORDER BY total, ID")).verdict != "refuted"


def test_order_is_told_as_in_sqlite() -> None:
    """Columns may change places, and a first query without an order allows any."""
    pair = (
        "SELECT ID, total FROM orders ORDER BY 1, 2",
        "SELECT total, ID FROM orders ORDER BY 1, 2",
    )
    for engine in (lite, None):
        found = compared(pair, engine, column_order="ignored")
        assert present(found.counterexample).order_only
        loose = compared(
            ("SELECT ID FROM orders", "SELECT ID FROM orders ORDER BY 1"),
            engine,
            row_order="expected",
        )
        assert present(loose.counterexample).order_only
        assert compared((pair[0], pair[0] + " LIMIT 1000"), engine).verdict != "refuted"


def test_an_engine_that_cannot_sort_by_a_place_tells_no_order() -> None:
    """What its rows are is told all the same."""

    def plain(statements: Sequence[str], query: str) -> list[Any]:
        if ", 1" in query:
            raise ValueError("no order by places")
        return lite(statements, query)

    pair = "SELECT ID FROM orders ORDER BY total", "SELECT ID FROM orders ORDER BY total DESC"
    assert compared(pair, plain).reason.startswith("no difference on ")
    assert compared((pair[0], WIDER[0]), plain).verdict == "refuted"


def test_an_engine_is_a_function() -> None:
    """A number is none, and only one has a name."""
    known = "a function of statements and a query, or 'duckdb'"
    with pytest.raises(TypeError, match=f"^engine must be {known}, got 3$"):
        compared(WIDER, 3)
    with pytest.raises(InputError, match=f"^engine must be {known}, got 'duckdb://'$"):
        compared(WIDER, "duckdb://")


@given(sql_queries(max_depth=1), sql_queries(max_depth=1))
@settings(max_examples=15)
def test_sqlite_as_an_engine_contradicts_no_proof(a: str, b: str) -> None:
    """What is proved without it is not refuted by it, and the other way round."""
    alone = sql_equivalence(a, b, dialect="sqlite", n_databases=8)
    by_engine = sql_equivalence(a, b, dialect="sqlite", n_databases=8, engine=lite)
    assert {alone.verdict, by_engine.verdict} != {"proved", "refuted"}


def test_a_suite_runs_on_the_engine_and_names_it() -> None:
    """In all forms; what another engine found is looked for again."""
    cases = [
        SqlCase(case_id=i, generated=a, expected=b, schema=SHOP, dialect="snowflake")
        for i, (a, b) in enumerate([WIDER, SAME])
    ]
    report = score_sql_cases(cases, engine=lite)
    assert report.n_by_method == {"refuted": 1, "proved": 1}
    assert report.scoring.engine == "lite"
    found = [case.query_correctness for case in report.cases]
    assert [one.equivalence.engine for one in found if one and one.equivalence] == ["lite"] * 2
    assert SqlReport.from_json(report.to_json()) == report
    calls: list[str] = []

    def counting(statements: Sequence[str], query: str) -> list[Any]:
        calls.append(query)
        return lite(statements, query)

    assert score_sql_cases(cases, engine=lite, resume=report).n_by_method == report.n_by_method
    score_sql_cases(cases, engine=counting, resume=report)
    assert calls
    single = present(score_sql_case(cases[0], engine=lite).query_correctness)
    assert single.method == "refuted"


def test_an_engine_has_functions_that_no_table_knows_without_a_dialect_too() -> None:
    """What SQLite does not have is the engine's to run."""

    def turning(statements: Sequence[str], query: str) -> list[Any]:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.create_function("rot", 1, lambda n: None if n is None else -n)
            for statement in statements:
                connection.execute(statement)
            return connection.execute(query).fetchall()

    pair = "SELECT ROT(total) FROM orders", "SELECT total FROM orders"
    found = compared(pair, engine=turning, dialect=None)
    assert (found.verdict, found.engine) == ("refuted", "turning")
