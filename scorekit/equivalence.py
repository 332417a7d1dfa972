"""Whether two queries mean the same, decided by evidence alone: `sql_equivalence`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, Literal, TypeVar, Unpack

import attrs

from scorekit._core.checks import check_count, check_number, check_text
from scorekit._core.clock import OutOfTimeError, limited
from scorekit._sheet.model import Fields, Part, Sheet, Table
from scorekit._sql.databases.kinds import UNCASED
from scorekit._sql.meaning.operands import drops_texts
from scorekit._sql.meaning.question import Question, Same
from scorekit._sql.meaning.rows import (
    ResultRow,
    Rows,
    same_bag,
    same_in_some_column_order,
    same_set,
)
from scorekit._sql.prove.clauses import differing
from scorekit._sql.prove.search import IGNORED, UNORDERED, Proof, Unproved, Within, search
from scorekit._sql.refute.engine import Engine, Raised, engine_name, refute_by
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.reading import (
    ORDINALS,
    Pair,
    Texts,
    fold_names,
    read_pair,
    read_texts,
)
from scorekit._sql.refute.search import Difference, NoDifference, refute
from scorekit._sql.schema.tables import Schema, SqlSchema, read_schema
from scorekit._sql.text.parsing import check_dialect, is_long, text_around
from scorekit.errors import InputError, one_line, refuse
from scorekit.records import Record, listing
from scorekit.results import OptionFields, Rule, SqlOptions, result_accuracy, takes_options

MAX_DATABASES: Final = 10_000
"""Most databases that `sql_equivalence` tries."""

CASED: Final = "texts that differ in case only are different values"
"""What a set of texts rests on where a collation may be blind to case."""

NO_NULL_KEYS: Final = "primary keys hold no NULL, which SQLite allows in all but INTEGER ones"
"""What a proof rests on where it needs such a key."""

N_RUN_IF_PROVED: Final = 3
"""Databases on which an engine runs queries that are proved equal, to see that it does."""

PROOF_SHARE: Final = 0.6
"""The share of the time that the search for a proof may take."""

WHOLE_EFFORT_SECONDS: Final = 5.0
"""The time limit from which on no step fewer is taken."""

TOO_DEEP: Final = "the queries are nested too deeply"

NO_TABLE: Final = "the schema defines no table"

NOT_COMPARED: Final = (UNORDERED, IGNORED)
"""What a proof rests on that leaves out an ORDER BY."""

_ROWS_SHOWN = 12
_CELL_SHOWN = 60
_BACKSLASH: Final = chr(92)
_T = TypeVar("_T")


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
        listed.append(f"and {len(rows) - len(listed)} more")
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
    """The caller's engine that ran the queries, by name; None where SQLite did, or nobody."""
    raises: Literal["a", "b"] | None = None
    """The query that *engine* does not run, while it runs the other one."""
    timed_out: bool = False
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
    engine: Engine | None = None,
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
        schema: The tables, as CREATE TABLE statements, a dump, or a mapping from table to column
            to type. In a mapping, constraints may follow the type (``NOT NULL``, ``PRIMARY KEY``,
            ``UNIQUE``, ``REFERENCES t(c)``, ``CHECK (...)``). Without a schema, or with text that
            defines no table, the tables are inferred from the queries if these are clear, and
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
            the query. Its time limit is the caller's.
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
    same = _same(given.semantics, given.column_order, given.tolerance)
    count = check_count("n_databases", n_databases, 1, MAX_DATABASES)
    number = check_count("seed", seed)
    seconds = check_number("timeout_seconds", timeout_seconds, 0.0, open_ends=True)
    check_engine(engine)
    known = read_schema(schema, given.keys, named)
    unread = known.unread if known is not None else ()
    if isinstance(schema, str) and (known is None or not known.given):
        unread = (*unread, NO_TABLE)
    unread = (*unread, *_left_out(texts, named))
    question = Question(
        schema=known,
        dialect=named,
        semantics=given.semantics,
        column_order=given.column_order,
        row_order=given.row_order,
        tolerance=given.tolerance,
        same=_same_by_rule(same, given.rule),
        n_databases=count,
        seed=number,
        effort=min(1.0, seconds / WHOLE_EFFORT_SECONDS),
    )
    schema_read_again = partial(read_schema, schema, given.keys)
    looked_for = _Search(texts, question, engine, given, seconds, schema_read_again)
    with limited(seconds):
        return looked_for.result(unread)


@attrs.define
class _Search:
    """A proof and a counterexample of one pair, each within its time."""

    texts: tuple[str, str]
    question: Question
    engine: Engine | None
    given: Any
    seconds: float
    read_again: Callable[..., SqlSchema | None]
    """Reads the schema for SQLite, whose keys may hold NULL or not."""
    is_late: bool = False
    """Whether the clock has ended a part of the search."""

    def result(self, unread: tuple[str, ...]) -> SqlEquivalence:
        """Return what is found."""
        known, named = self.question.schema, self.question.dialect
        try:
            read, refused = _texts(self.texts, known, named, self.engine)
        except UnfaithfulError as error:
            return SqlEquivalence(verdict="unknown", reason=one_line(str(error)))
        except RecursionError:
            return SqlEquivalence(verdict="unknown", reason=TOO_DEEP)
        unread, pair = (*unread, *read.assumptions), read.neutral
        if pair.first == pair.second:
            return _identical(read.refusals, tuple(_left_out(self.texts, named)))
        proof: Proof | Within | Unproved = Unproved(exhausted=False)
        if not (refused or read.refusals):
            prove = partial(search, pair.first, pair.second, self.question, readings=read.readings)
            proof = self.within(PROOF_SHARE, prove) or Unproved(exhausted=True)
        ran = self.run(pair, is_proved=isinstance(proof, Proof))
        if ran is not None and not (isinstance(ran, NoDifference) and ran.n_compared):
            proof = Unproved(exhausted=False)  # what an engine does not run earns no credit
        if isinstance(proof, Proof | Within):
            if named == "sqlite" and self.needs_keys(proof, pair):
                unread = (*unread, NO_NULL_KEYS)
            is_cased = self.question.semantics == "set" and _is_cased(pair, known, named)
            cased = (CASED,) if is_cased else ()
            return attrs.evolve(_agreed(proof, unread, cased), engine=engine_name(self.engine))
        found = ran or self.within(1.0, lambda: refute(read.pairs(), self.question)) or self.late
        return self.unproved(found, proof, read, unread)

    def unproved(
        self,
        found: Difference | NoDifference | Raised,
        proof: Unproved,
        read: Texts,
        unread: tuple[str, ...],
    ) -> SqlEquivalence:
        """Return what is found where there is no proof."""
        by, rule = engine_name(self.engine), self.given.rule
        if not isinstance(found, Difference):
            how = "" if rule == "scorekit" else f", by the rule {rule!r}"
            reason = (*read.refusals, found.reason + how)[0]
            unknown = _unknown(found, proof, reason, unread, by)
            late = f"; the clock ended it after {self.seconds:g} s" * self.is_late
            return attrs.evolve(unknown, reason=unknown.reason + late, timed_out=self.is_late)
        if found.order_only and not self.same(*found.results):
            why = f"the same results in another order, by the rule {rule!r}"
            return SqlEquivalence(verdict="unknown", reason=why, assumptions=unread, engine=by)
        differs_in: tuple[str, ...] = ()
        if self.given.locate and not read.refusals:
            first, second = read.neutral[:2]
            prove = partial(search, second=second, question=self.question)
            differs_in = self.within(1.0, lambda: differing(first, second, prove)) or ()
        return SqlEquivalence(
            verdict="refuted",
            reason=one_line(_refuted(found)),
            counterexample=counterexample_of(found),
            assumptions=(*found.assumptions, *unread, *read.refusals),
            engine=by,
            differs_in=differs_in,
        )

    def run(self, pair: Pair, *, is_proved: bool) -> Difference | NoDifference | Raised | None:
        """Return how the caller's engine tells the queries apart, if there is one."""
        if self.engine is None:
            return None
        n = self.question.n_databases
        question = attrs.evolve(
            self.question, n_databases=min(n, N_RUN_IF_PROVED if is_proved else n)
        )
        ran = self.within(1.0, partial(refute_by, self.engine, self.texts, pair, question))
        return ran or self.late

    @property
    def same(self) -> Same:
        """Whether two results hold the same rows, whatever the rule of a benchmark says."""
        given = self.given
        return _same(given.semantics, given.column_order, given.tolerance)

    @property
    def late(self) -> NoDifference:
        """What is known of a search that the clock ended."""
        return NoDifference("no difference was found in time")

    def within(self, share: float, work: Callable[[], _T]) -> _T | None:
        """Return what *work* returns, None if it takes more than its share of the time."""
        try:
            with limited(share * self.seconds):
                return work()
        except OutOfTimeError:
            self.is_late = True
            return None

    def needs_keys(self, proof: Proof | Within, pair: Pair) -> bool:
        """Say whether a proof would be lost if primary keys held NULL, as most may in SQLite."""
        given, loose = (self.read_again("sqlite", null_keys=n) for n in (False, True))
        if loose == given:
            return False
        again = partial(search, *pair[:2], attrs.evolve(self.question, schema=loose))
        return type(self.within(1.0, again)) is not type(proof)


def _identical(refusals: tuple[str, ...], left_out: tuple[str, ...]) -> SqlEquivalence:
    if refusals:
        return SqlEquivalence(verdict="unknown", reason=one_line(refusals[0]))
    return SqlEquivalence(
        verdict="proved",
        reason="the queries are identical",
        proof=("identical text",),
        assumptions=left_out,
    )


def _unknown(
    found: NoDifference | Raised,
    proof: Unproved,
    reason: str,
    unread: tuple[str, ...],
    engine: str | None,
) -> SqlEquivalence:
    ended = "; the search for a proof ended after too many steps" * proof.exhausted
    return SqlEquivalence(
        verdict="unknown",
        reason=one_line(reason) + ended,
        assumptions=unread,
        engine=engine,
        raises=("a", "b")[found.query] if isinstance(found, Raised) else None,
    )


def _left_out(texts: tuple[str, str], dialect: str | None) -> Iterator[str]:
    """Yield what stands around the SQL of each text and is not read."""
    for text, which in zip(texts, ORDINALS, strict=True):
        around = text_around(text, dialect)
        if around:
            yield f"of the {which} text this is left out: {one_line(around, _CELL_SHOWN)}"


def check_engine(engine: Engine | None) -> Engine | None:
    """Return an engine, if it is one."""
    if engine is not None and not callable(engine):
        refuse("engine", "a function of statements and a query", engine, TypeError)
    return engine


def _texts(
    texts: tuple[str, str], schema: SqlSchema | None, dialect: str | None, engine: Engine | None
) -> tuple[Texts, str]:
    """Read two queries; what their dialect may not have an engine may, so that is only said."""
    try:
        return read_texts(texts, schema, dialect), ""
    except UnfaithfulError as error:
        if engine is None or any(map(is_long, texts)):
            raise
        pair = read_pair(texts, dialect)
        folded = fold_names(pair, schema, dialect)
        return Texts(lambda: {pair.dialect: pair}, (), pair, folded), str(error)


def _is_cased(pair: Pair, schema: SqlSchema | None, dialect: str | None) -> bool:
    """Say whether a set of texts hangs on a collation that may be blind to case."""
    uncased = dialect is None or dialect in UNCASED
    return uncased and drops_texts(pair.first, pair.second, dialect, schema)


def _agreed(
    proof: Proof | Within, unread: tuple[str, ...], cased: tuple[str, ...]
) -> SqlEquivalence:
    if isinstance(proof, Within):
        return _within(proof, unread)
    return _proved(proof, (*unread, *cased))


def _proved(proof: Proof, unread: tuple[str, ...]) -> SqlEquivalence:
    order = ", with its columns in another order" if proof.reordered else ""
    order += "".join(f"; {one}" for one in proof.assumptions if one in NOT_COMPARED)
    return SqlEquivalence(
        verdict="proved",
        reason=f"both queries have the same tables, conditions and columns{order}",
        assumptions=(*proof.assumptions, *unread),
        proof=proof.steps,
    )


def _within(found: Within, unread: tuple[str, ...]) -> SqlEquivalence:
    """Say that one query leaves more ties at its LIMIT than the other one does."""
    wide = 0 if found.flipped else 1
    return SqlEquivalence(
        verdict="unknown",
        reason="the same rows in the same order, but for tied rows at a LIMIT: they allow the "
        f"{ORDINALS[wide]} query results that the {ORDINALS[1 - wide]} query does not allow",
        assumptions=(*found.assumptions, *unread),
        includes="b" if wide else "a",
    )


def _refuted(found: Difference) -> str:
    """Return in words what differs."""
    n_rows = sum(len(rows) for _, rows in found.tables.values())
    what = "the order of results differs" if found.order_only else "results differ"
    return f"{what} on a database of {n_rows} row{'s' * (n_rows != 1)}"


def _same(semantics: str, column_order: str, tolerance: float) -> Callable[[Rows, Rows], bool]:
    compare = same_set if semantics == "set" else same_bag

    def same(first: Rows, second: Rows) -> bool:
        if first and second and len(first[0]) != len(second[0]):
            return False
        if column_order == "significant" or compare(first, second, tolerance):
            return compare(first, second, tolerance)
        # no difference is proved where the search for an order of columns was given up
        return same_in_some_column_order(first, second, tolerance, compare) is not False

    return same


def _same_by_rule(same: Callable[[Rows, Rows], bool], rule: Rule) -> Callable[[Rows, Rows], bool]:
    """Take for the same also what the rule of a benchmark does."""

    def either(first: Rows, second: Rows) -> bool:
        try:
            return same(first, second) or result_accuracy(first, second, rule=rule).score == 1.0
        except InputError:  # too many columns are alike to find their order
            return True

    return same if rule == "scorekit" else either


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
