"""DuckDB as an engine that stands ready, for what SQLite does not run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from threading import Timer
from types import TracebackType
from typing import Any, Final, Self

import attrs
from sqlglot import exp

from scorekit._sql.meaning.question import Question
from scorekit._sql.refute.engine import refute_by
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.inference import TablesRead
from scorekit._sql.refute.reading import Pair, read_pair
from scorekit._sql.refute.sandbox import MAX_RESULT_ROWS
from scorekit._sql.refute.search import Difference, NoDifference

DUCKDB: Final = "duckdb"
"""The name of the engine, of its package, of its extra and of its dialect."""

QUERY_SECONDS: Final = 2.0
"""The time after which a query is ended: what hangs decides nothing."""

_CONFIG: Final = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "threads": "1",
    "memory_limit": "256MB",
}

SHARED_WITH: Final = frozenset({"postgres", "redshift", "snowflake", "bigquery"})
"""Dialects of which DuckDB runs what `_SHARED` lists as they do."""

_SHARED: Final[frozenset[type[exp.Expr]]] = frozenset(
    {
        # queries
        exp.Select, exp.From, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit,
        exp.Offset, exp.Fetch, exp.Join, exp.Table, exp.TableAlias, exp.Subquery, exp.With,
        exp.CTE, exp.Union, exp.Except, exp.Intersect, exp.Distinct, exp.Lateral, exp.Values,
        exp.Tuple, exp.Paren, exp.GroupingSets, exp.Rollup, exp.Cube,
        # names and literals
        exp.Alias, exp.Column, exp.Identifier, exp.Star, exp.Literal, exp.Null, exp.Boolean,
        # conditions
        exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is,
        exp.In, exp.Between, exp.Exists, exp.Any, exp.All, exp.Like, exp.Escape, exp.NullSafeEQ,
        exp.NullSafeNEQ,
        # values
        exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Count,
        exp.Sum, exp.Min, exp.Max, exp.Filter, exp.Window, exp.WindowSpec, exp.Rank,
        exp.DenseRank, exp.Abs, exp.Length,
    }
)  # fmt: skip
"""What means the same in DuckDB, whatever numbers, days and plain texts it is given."""

_ORDERING: Final = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.Ordered, exp.Min, exp.Max)
_KINDS: Final = frozenset({"integer", "natural", "number", "text", "boolean", "time"})


class InDuckDB:
    """Runs statements, then a query, in an empty database that reaches nothing outside."""

    def __init__(self) -> None:
        import duckdb

        self._connection: Any = duckdb.connect(":memory:", config=dict(_CONFIG))

    def __enter__(self) -> Self:
        """Return the engine itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the database."""
        self._connection.close()

    def __call__(self, statements: Sequence[str], query: str) -> Iterable[Sequence[object]]:
        """Return the rows of a query; what the statements made is gone afterwards."""
        connection = self._connection
        late = Timer(QUERY_SECONDS, connection.interrupt)
        late.start()
        connection.execute("BEGIN")
        try:
            for statement in statements:
                connection.execute(statement)
            rows: list[Sequence[object]] = connection.execute(query).fetchmany(MAX_RESULT_ROWS + 1)
            return rows
        finally:
            late.cancel()
            connection.execute("ROLLBACK")


def is_installed() -> bool:
    """Say whether the package is there."""
    return find_spec(DUCKDB) is not None


def why_not(trees: Sequence[exp.Expr], dialect: str | None) -> str:
    """Return what DuckDB may take otherwise than a dialect; nothing if it runs the queries."""
    if dialect == DUCKDB:
        return ""
    if dialect not in SHARED_WITH:
        return f"DuckDB does not stand for {dialect or 'all of several databases'}"
    for tree in trees:
        for node in tree.walk():
            if type(node) not in _SHARED or _is_placed(node):
                return f"{node.key.upper()} may be another thing in DuckDB"
    return ""


def _is_placed(node: exp.Expr) -> bool:
    """Say whether rows that tie decide what a window shows."""
    spec = node.args.get("spec") if isinstance(node, exp.Window) else None
    return spec is not None and str(spec.args.get("kind")).upper() != "RANGE"


def refute_in_duckdb(pair: Pair, question: Question) -> Difference | NoDifference:
    """
    Look for a small database on which DuckDB returns different rows of two queries.

    What it finds holds in the dialect of the queries: they have nothing that may mean another
    thing there, and rows whose order hangs on a collation are not tried.
    """
    dialect = question.dialect
    trees = pair.first, pair.second
    why = why_not(trees, dialect)
    if why:
        return NoDifference(why)
    try:
        texts = trees[0].sql(DUCKDB, comments=False), trees[1].sql(DUCKDB, comments=False)
        translated = read_pair(texts, DUCKDB)
    except (UnfaithfulError, ValueError, RecursionError) as error:
        return NoDifference(f"DuckDB cannot run it: {error}")
    asked = attrs.evolve(question, dialect=DUCKDB, texts=texts)
    check = None if dialect == DUCKDB else partial(_check_shared, trees)
    with InDuckDB() as engine:
        found = refute_by(engine, translated, asked, shown_in=dialect, check=check)
    return found._replace(raises=None) if isinstance(found, NoDifference) else found


def _check_shared(trees: Sequence[exp.Expr], known: TablesRead) -> None:
    """
    Refuse tables of which a query may be another one in DuckDB.

    Raises:
        UnfaithfulError: If a column holds what the two compare otherwise.
    """
    ordered = {
        column.name.lower()
        for tree in trees
        for node in tree.find_all(*_ORDERING)
        for column in node.find_all(exp.Column)
    }
    placed = any(
        isinstance(one.this, exp.Literal) for tree in trees for one in tree.find_all(exp.Ordered)
    )
    for columns in known.tables.values():
        for column in columns:
            if column.name not in known.used:
                continue
            if column.kind not in _KINDS or column.limits.padded or column.limits.form:
                raise UnfaithfulError(f"DuckDB may compare {column.name} otherwise")
            if column.kind == "text" and (placed or column.name in ordered):
                raise UnfaithfulError(f"the order of {column.name} hangs on a collation")
