"""Queries that are compared by a database of your own: DuckDB, PostgreSQL, a fake warehouse."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import sqlglot

import scorekit

Rows = list[tuple[Any, ...]]

SCHEMA = {"orders": {"id": "int primary key", "customer": "varchar", "total": "decimal(8, 2)"}}
LATEST = (
    "SELECT customer, IFF(total > 10, 'large', 'small') FROM orders "
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY id DESC) = 1"
)


def in_duckdb(statements: Sequence[str], query: str) -> Rows:
    """Run the statements, then the query, in an empty database in memory."""
    with duckdb.connect() as connection:
        for statement in statements:
            connection.execute(statement)
        return connection.execute(query).fetchall()


def in_postgres(dsn: str) -> Callable[[Sequence[str], str], Rows]:
    """Return what runs queries in a schema of its own that is never committed."""
    import psycopg

    def postgres(statements: Sequence[str], query: str) -> Rows:
        with psycopg.connect(dsn, options="-c statement_timeout=5000") as connection:
            for statement in ("CREATE SCHEMA scratch", "SET search_path TO scratch", *statements):
                connection.execute(statement)
            rows: Rows = connection.execute(query).fetchall()
            connection.rollback()
            return rows

    return postgres


def fake_snowflake(statements: Sequence[str], query: str) -> Rows:
    """Stand in for a warehouse: translate its SQL, and run it in DuckDB."""
    *made, asked = (
        sqlglot.transpile(text, read="snowflake", write="duckdb")[0]
        for text in (*statements, query)
    )
    return in_duckdb(made, asked)


def main() -> None:
    """Compare pairs of queries, each in the database that it is written for."""
    engines: dict[str, Callable[[Sequence[str], str], Rows]] = {
        "duckdb": in_duckdb,
        "snowflake": fake_snowflake,
    }
    if len(sys.argv) > 1:
        engines["postgres"] = in_postgres(sys.argv[1])
    plain = "SELECT id FROM orders WHERE total > 10", "SELECT id FROM orders WHERE total >= 10"
    for dialect, engine in engines.items():
        pair = plain if dialect != "snowflake" else (LATEST, LATEST.replace("DESC", "ASC"))
        found = scorekit.sql_equivalence(*pair, schema=SCHEMA, dialect=dialect, engine=engine)
        print(dialect, found.verdict, "by", found.engine)
        if found.counterexample is not None and dialect == "snowflake":
            print(found.counterexample.to_text())


if __name__ == "__main__":
    main()
