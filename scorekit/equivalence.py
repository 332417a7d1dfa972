"""Whether two queries mean the same, decided by evidence alone: `sql_equivalence`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, Unpack

import attrs

from scorekit._core.checks import check_count, check_number, check_text
from scorekit._core.rows import ResultRow, Rows
from scorekit._core.text import ORDINALS, and_more
from scorekit._sheet.model import Fields, Part, Sheet, Table
from scorekit._sql.door import (
    AnyEngine,
    Difference,
    Schema,
    check_dialect,
    check_engine,
    find_evidence,
)
from scorekit.errors import InputError, one_line
from scorekit.records import RARE, Record, listing
from scorekit.results import OptionFields, Rule, SqlOptions, result_accuracy, takes_options

MAX_DATABASES: Final = 10_000
"""Most databases that `sql_equivalence` tries."""

_ROWS_SHOWN = 12
_CELL_SHOWN = 60
_BACKSLASH: Final = chr(92)


@attrs.frozen(kw_only=True, repr=False)
class TableRows(Record):
    """A small table, written out."""

    table: str
    columns: tuple[str, ...]
    """The columns that the queries use."""
    rows: tuple[tuple[str, ...], ...]
    """Cells as SQL literals such as ``'text'``, ``1`` and ``NULL``; ``E'a\\nb'`` has two lines."""

    def _line(self) -> str:
        return f"{_head(self)}: {_listed(self.rows)}"


@attrs.frozen(kw_only=True, repr=False)
class Counterexample(Record):
    """A small database on which two queries have different results."""

    tables: tuple[TableRows, ...] = attrs.field(converter=listing)
    rows_of_a: tuple[tuple[str, ...], ...]
    """What the first query returns, cells as SQL literals."""
    rows_of_b: tuple[tuple[str, ...], ...]
    """What the second query returns."""
    order_only: bool = False
    """Whether the same rows come, in an order that cannot be both queries'."""
    statements: tuple[str, ...] = attrs.field(default=(), repr=False)
    """What makes the database, in the dialect of the queries."""

    def to_sql(self, *, data_only: bool = False) -> str:
        """
        Return statements that make the database, to run both queries anywhere.

        They have all columns and rows that the schema demands, rows after those that they point
        to; with *data_only* the rows alone, to be loaded into tables that are there.
        """
        kept = [one for one in self.statements if not (data_only and one.startswith("CREATE "))]
        return "".join(f"{statement};\n" for statement in kept)

    def to_text(
        self,
        *,
        all: bool = False,  # noqa: A002 - as elsewhere
        names: tuple[str, str] = ORDINALS,
    ) -> str:
        """Return the tables and what queries of these *names* return, one a line, cut or *all*."""
        most = None if all else _ROWS_SHOWN
        tables = tables_of(self, names, most)
        return "\n".join(line for table in tables for line in table.lines or ())

    def _sheet(self) -> Sheet:
        return Sheet("Counterexample", "", tables_of(self, ORDINALS))


def is_empty(example: Counterexample | None) -> bool:
    """Say whether there is a database that shows it, without a row."""
    return example is not None and not any(one.rows for one in example.tables)


def returned_by(example: Counterexample) -> tuple[str, str]:
    """Say what each of the two queries returns."""
    return _listed(example.rows_of_a), _listed(example.rows_of_b)


def tables_of(
    example: Counterexample, names: tuple[str, str], most: int | None = _ROWS_SHOWN
) -> list[Table]:
    """Return the tables of an example, and what the queries of these *names* return."""
    order = " in this order" if example.order_only else ""
    first, second = (f"The {name} query returns{order}" for name in names)
    return tables_under(example, (first, second), most)


def tables_under(
    example: Counterexample, titles: tuple[str, str], most: int | None = _ROWS_SHOWN
) -> list[Table]:
    """Return the tables of an example, and its two results under these *titles*."""
    found = [
        (one.table, one.columns, one.rows, f"{_head(one)}: {_listed(one.rows, most)}")
        for one in example.tables
    ]
    for title, rows in zip(titles, (example.rows_of_a, example.rows_of_b), strict=True):
        columns = tuple(f"column {i + 1}" for i in range(len(rows[0]) if rows else 0))
        found.append((title, columns, rows, f"{title}: {_listed(rows, most)}"))
    return [
        Table(
            rows=[dict(zip(columns, row, strict=True)) for row in rows],
            title=title if rows else f"{title}: no rows",
            lines=(line,),
        )
        for title, columns, rows, line in found
    ]


def _head(table: TableRows) -> str:
    return f"{table.table}({', '.join(table.columns)})"


def _listed(rows: tuple[tuple[str, ...], ...], most: int | None = _ROWS_SHOWN) -> str:
    listed = [f"({', '.join(row)})" for row in rows[:most]]
    if len(rows) > len(listed):
        listed.append(and_more(len(rows) - len(listed)))
    return ", ".join(listed) or "no rows"


@attrs.frozen(kw_only=True, repr=False)
class SqlEquivalence(Record):
    """Result of `sql_equivalence`."""

    verdict: Literal["proved", "refuted", "unknown"]
    reason: str
    """Why, in a few words."""
    counterexample: Counterexample | None = None
    """Where the results differ; there exactly if *verdict* is ``"refuted"``."""
    assumptions: tuple[str, ...] = ()
    """What the verdict rests on, in sentences."""
    proof: tuple[str, ...] = ()
    """Names of the steps that lead from one query to the other, in order; empty unless proved."""
    includes: Literal["a", "b"] | None = None
    """The query that is proved to allow all results of the other one, and more where rows tie at a
    LIMIT; None otherwise."""
    engine: str | None = None
    """The engine that ran the queries, by name; None where SQLite did, or nobody."""
    raises: Literal["a", "b"] | None = None
    """The query that *engine* does not run, while it runs the other one."""
    timed_out: bool = attrs.field(default=False, metadata={RARE: True})
    """Whether the clock ended the search, so that a longer *timeout_seconds* might decide."""
    differs_in: tuple[str, ...] = ()
    """The clauses of the first query which, taken from the second, make the queries provably
    equal, as in ``("WHERE",)``; empty unless *locate* asked for it and it was found."""

    @property
    def equivalent(self) -> bool | None:
        """True if proved, False if refuted, None if unknown."""
        return {"proved": True, "refuted": False}.get(self.verdict)

    def _line(self) -> str:
        where = f"; the first query differs in {', '.join(self.differs_in)}"
        return f"{self.verdict}: {self.reason}{where if self.differs_in else ''}"

    def _sheet(self) -> Sheet:
        """Show the database on which the queries differ, and what the verdict rests on."""
        parts: list[Part] = []
        if self.counterexample is not None:
            parts += tables_of(self.counterexample, ORDINALS)
        if self.proof:
            parts.append(f"steps: {', '.join(self.proof)}")
        parts += [f"assumed: {one}" for one in self.assumptions]
        fields = Fields(record=self, title="All fields", folded=True)
        return Sheet("SqlEquivalence", self._line(), (*parts, fields))


@takes_options
def sql_equivalence(
    a: str,
    b: str,
    *,
    schema: Schema | None = None,
    dialect: str | None = None,
    n_databases: int = 40,
    seed: int = 0,
    options: SqlOptions | None = None,
    engine: AnyEngine | None = None,
    timeout_seconds: float = 5.0,
    **fields: Unpack[OptionFields],
) -> SqlEquivalence:
    """
    Decide whether two queries mean the same, by a proof or a counterexample, without a model.

    Queries are equal if they have equal results on every database that the schema and the keys
    allow.

    Args:
        a: One query.
        b: The other.
        schema: The tables, as CREATE TABLE statements, a list of these, a dump, or a mapping from
            table to column to type, also as JSON text. In a mapping, constraints may follow the
            type (``NOT NULL``, ``PRIMARY KEY``, ``UNIQUE``, ``REFERENCES t(c)``, ``CHECK (...)``).
            Without a schema, the tables are inferred from the queries if these are clear, and
            *assumptions* say so.
        dialect: SQL dialect of both, as sqlglot names it; None for queries that SQLite, DuckDB,
            PostgreSQL and MySQL read alike.
        n_databases: Databases that are tried (count, ``>= 1``).
        seed: What their contents depend on (``>= 0``).
        options: When two results are the same, and *keys*; each field of `SqlOptions` is a keyword
            too. The expected query is *b*. A counterexample whose rows are the same by the *rule*
            refutes nothing.
        engine: Runs the queries instead of SQLite: ``engine(statements, query)`` makes an empty
            database, runs the statements in it, which are in *dialect*, and returns the rows of
            the query. Its time limit is the caller's. ``"duckdb"`` is one that stands ready, with
            the package of that name: it runs what is undecided without it, where its table says
            that DuckDB means the same.
        timeout_seconds: CPU time of this thread after which the search is ended (``> 0``). It is
            the last guard: the search is limited by steps, in proportion to this for less than 5
            seconds, so that it hardly ever decides.

    Returns:
        A frozen `SqlEquivalence`. It is ``"unknown"``, with a reason, if text does not parse, does
        more than read or has more than 2,000 words, if SQLite lacks a function, or if the schema
        lacks a table or column. Read *verdict*, *counterexample* and *reason* first.

    Raises:
        InputError: If a count is out of range, an option is as `SqlOptions` refuses it or given
            twice, or *dialect* is unknown. Also if *schema* looks like a name or path, one of its
            tables has no columns, a constraint after a type is not understood, or *keys* names a
            table or column that *schema* lacks.
        TypeError: If an argument has the wrong type.
        MissingExtraError: If *engine* is ``"duckdb"`` and the package is not installed.

    Examples:
        >>> schema = {"users": {"id": "int primary key", "age": "int"}}
        >>> result = sql_equivalence(
        ...     "SELECT id FROM users WHERE NOT age = 3",
        ...     "SELECT id FROM users WHERE age <> 3 OR age IS NULL",
        ...     schema=schema,
        ... )
        >>> result.verdict
        'refuted'
        >>> print(result.counterexample.to_text())
        users(id, age): (4, NULL)
        The first query returns: no rows
        The second query returns: (4)
        >>> query = "SELECT id FROM users WHERE age > {} ORDER BY id"
        >>> sql_equivalence(query.format(3), query.format(4), locate=True).differs_in
        ('WHERE',)
        >>> sql_equivalence("SELECT 1", "SELECT 2", n_databases=0)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_databases must be an integer in [1, 10000], got 0

    Notes:
        *Equal results.* They hold the same rows equally often (*semantics* ``"bag"``) or at least
        once each (``"set"``). Columns are compared in their order, whatever their names. If both
        queries end in an ORDER BY, rows must come in that order; tied rows may come in any order.
        If one of them does, *assumptions* say that the order was not compared. With
        ``row_order="expected"`` rows must come in the order of *b*: where *a* has no ORDER BY, it
        allows any order of its rows, and the counterexample shows one that *b* does not allow.
        Whole numbers are compared exactly. Two numbers, at least one of them a fraction, are equal
        if they differ by at most *tolerance* times the larger of 1 and both. NULL equals NULL.

        *Verdict.* ``"proved"``: both queries were rewritten into the same form, by steps that keep
        the meaning. ``"refuted"``: SQLite ran both on small databases in memory, and a result
        differed. The databases consist of literals of the queries, NULLs and repeated rows.
        ``"unknown"``: anything else.

        *What refutes.* A refutation never depends on results that are not determined, such as
        random numbers. Nor does it depend on differences between SQLite and the dialect of the
        queries. If only one query asks for the time, results must differ at several moments. Where
        an order leaves ties at a LIMIT or in a window, every choice of tied rows is a result.
        Such a pair is refuted if, on some database, the queries have no result in common.
        Without a dialect it holds in each of SQLite, DuckDB, PostgreSQL and MySQL that takes both
        queries; *assumptions* say why another may not.

        *Where they differ.* With *locate*, *differs_in* of a refuted pair has the clauses of the
        first query that differ from the second one: SELECT, FROM, WHERE, GROUP BY, HAVING, ORDER
        BY, LIMIT. They are the fewest which, taken from the second query, make the two provably
        equal, and the first such in this order. At most 126 proofs are tried. There is no answer
        for set operations, or where the search for a proof ends after too many steps. DISTINCT
        belongs to SELECT, WITH to FROM and OFFSET to LIMIT.

        The same arguments give the same result: work is limited by steps. Where the clock ended
        it nevertheless, *timed_out* and *reason* say so.
    """
    texts = check_text("a", a, empty=True), check_text("b", b, empty=True)
    named = check_dialect(dialect)
    given: Any = SqlOptions.of(options, fields).settled  # each is given, but for keys
    count = check_count("n_databases", n_databases, 1, MAX_DATABASES)
    number = check_count("seed", seed)
    seconds = check_number("timeout_seconds", timeout_seconds, 0.0, open_ends=True)
    check_engine(engine)
    found = find_evidence(
        texts,
        schema=schema,
        dialect=named,
        options=given,
        is_alike=_alike_by(given.rule),
        engine=engine,
        n_databases=count,
        seed=number,
        seconds=seconds,
    )
    return SqlEquivalence(
        verdict=found.verdict,
        reason=found.reason,
        counterexample=None if found.difference is None else counterexample_of(found.difference),
        assumptions=found.assumptions,
        proof=found.proof,
        includes=found.includes,
        engine=found.engine,
        raises=found.raises,
        timed_out=found.timed_out,
        differs_in=found.differs_in,
    )


def _alike_by(rule: Rule) -> Callable[[Rows, Rows], bool] | None:
    """Return what the rule of a benchmark takes for the same result; None for our own rule."""

    def is_alike(first: Rows, second: Rows) -> bool:
        try:
            return result_accuracy(first, second, rule=rule).score == 1.0
        except InputError:  # too many columns are alike to find their order
            return True

    return None if rule == "scorekit" else is_alike


def counterexample_of(found: Difference) -> Counterexample:
    """Return a database and two results as they are shown."""
    first, second = (_literals(rows) for rows in found.results)
    return Counterexample(
        tables=tuple(
            TableRows(table=name, columns=columns, rows=_literals(rows))
            for name, (columns, rows) in found.tables.items()
        ),
        rows_of_a=first,
        rows_of_b=second,
        order_only=found.order_only,
        statements=found.statements,
    )


def _literals(rows: tuple[ResultRow, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(_written, row)) for row in rows)


def _written(cell: object) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, bytes):
        return one_line(f"x'{cell.hex()}'", _CELL_SHOWN)
    if isinstance(cell, str):
        quoted = cell.replace("'", "''")
        if not cell.isprintable():  # so that no text is written as this one
            return one_line(f"E'{quoted.replace(_BACKSLASH, _BACKSLASH * 2)}'", _CELL_SHOWN)
        return one_line(f"'{quoted}'", _CELL_SHOWN)
    return str(cell)
