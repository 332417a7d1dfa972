"""What is wrong with a reference query, before right answers are compared with it."""

from __future__ import annotations

from collections import Counter
from typing import Final, get_args

import attrs

from scorekit._core.checks import check_choice, check_text
from scorekit._core.mappings import FrozenMapping
from scorekit._sheet.model import Part, Section, Sheet, line_of
from scorekit._sql.door import (
    Difference,
    Kind,
    Schema,
    audit,
    check_dialect,
    checked_schema,
    parsed_once,
)
from scorekit.equivalence import Counterexample, counterexample_of, tables_under
from scorekit.records import Record, listing
from scorekit.results import Functions

NO_SCHEMA: Final = "no schema is given: types and keys are not known, and most faults not seen"
READ_AS_SQLITE: Final = "no dialect is named, so that the query is read as SQLite reads it"

N_DATABASES: Final = 40
"""Databases that are tried for each question; for ties as many again, in which numbers repeat."""

NOTHING: Final = f"nothing found by proofs and on {N_DATABASES} small databases"

_OTHERWISE: Final[dict[str, str]] = {
    "ties_at_limit": "it may return instead",
    "reading_order": "it may return instead, with the tables read from their ends",
    "not_in_null": "without the NULLs of the subquery it would return",
    "fan_out": "with each row counted once it would return",
    "text_compared": "with numbers compared as numbers it would return",
    "integer_division": "with the fraction kept it would return",
    "counts_all": "without ELSE it would return",
    "null_first": "without the NULLs it would return",
    "outer_join_undone": "with the condition in ON it would return",
}
"""What the second result of a finding is."""


@attrs.frozen(kw_only=True, repr=False)
class AuditFinding(Record):
    """Something that is wrong with a query."""

    kind: Kind
    clause: str
    """SELECT, FROM, WHERE, GROUP BY, HAVING, ORDER BY or LIMIT; empty where it is the whole
    text."""
    sentence: str
    database: Counterexample | None = None
    """A database that shows it.  There the query returns *rows_of_a*; its text says what
    *rows_of_b* is, such as another result that it may return."""
    assumptions: tuple[str, ...] = ()
    """What the finding rests on, in sentences."""

    def _line(self) -> str:
        return f"{self.kind}{f' in {self.clause}' if self.clause else ''}: {self.sentence}"

    def _sheet(self) -> Sheet:
        return Sheet("AuditFinding", self._line(), self._shown())

    def _shown(self) -> tuple[Part, ...]:
        if self.database is None:
            return ()
        titles = "The query returns", f"But {_OTHERWISE[self.kind]}"
        return tuple(tables_under(self.database, titles))


@attrs.frozen(kw_only=True, repr=False)
class QueryAudit(Record):
    """Result of `query_audit`."""

    findings: tuple[AuditFinding, ...] = attrs.field(converter=listing)
    """What is wrong; empty where nothing is shown to be."""
    undecided: FrozenMapping[str, str] = attrs.field(default=FrozenMapping[str, str]())
    """Kinds of findings that could not be looked for, each with the reason."""
    assumptions: tuple[str, ...] = ()
    """What all of it rests on, in sentences."""

    def _line(self) -> str:
        if self._unread:
            return f"not looked into: {self._unread}"
        kinds = Counter(finding.kind for finding in self.findings)
        return ", ".join(f"{n} {kind}" for kind, n in kinds.items()) or NOTHING

    def _sheet(self) -> Sheet:
        return Sheet("QueryAudit", self._line(), (*sections_of(self), *notes_of(self)))

    @property
    def _unread(self) -> str:
        """Why nothing could be looked for, if so."""
        reasons = {*self.undecided.values()}
        is_all = len(self.undecided) == len(get_args(Kind)) - 1  # all but whether it runs
        return reasons.pop() if is_all and len(reasons) == 1 else ""


def sections_of(audit: QueryAudit, *, in_full: bool = False) -> list[Part]:
    """Return each finding, with its database under it as a title; a text may have it in full."""
    lines = [(line_of(one), one._shown()) for one in audit.findings]  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    return [Section(line, shown, in_full) if shown or in_full else line for line, shown in lines]


def notes_of(audit: QueryAudit) -> list[str]:
    """Return what could not be looked for, but for nothing at all, and what all rests on."""
    left = () if audit._unread else audit.undecided.items()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    return [*(f"not looked for: {kind}; {why}" for kind, why in left), *audit.assumptions]


def unaudited(reason: str) -> QueryAudit:
    """Return the audit of a query that could not be looked into."""
    undecided = dict.fromkeys(get_args(Kind)[1:], reason)
    return QueryAudit(findings=(), undecided=FrozenMapping(undecided))


@parsed_once()
def query_audit(
    sql: str,
    *,
    schema: Schema | None = None,
    dialect: str | None = None,
    functions: Functions | None = None,
) -> QueryAudit:
    """
    Find what is wrong with a reference query: errors that punish right answers.

    A finding is always shown, by a proof or by a small database on which the query was run.
    Nothing is guessed from the question that the query is to answer.

    ======================== ====================================================================
    kind                     what is wrong
    ======================== ====================================================================
    ``does_not_run``         the database of the dialect refuses the text, the schema lacks a
                             table or column, or the text is not one statement
    ``ties_at_limit``        rows tie where LIMIT cuts, so that several results are right
    ``reading_order``        the result depends on the order in which rows are read: a column that
                             is neither grouped nor aggregated, texts that are joined in no order
    ``constant_condition``   a condition is true of no row, or of every row
    ``not_in_null``          NOT IN over a column that may be NULL, which empties the result
    ``fan_out``              an aggregate takes a row several times, as a join repeats it
    ``text_compared``        numbers are compared or sorted as texts, by which '9' is larger
                             than '10'
    ``integer_division``     a quotient of whole numbers loses its fraction
    ``counts_all``           COUNT of a CASE whose ELSE is a value counts every row
    ``null_first``           a NULL comes first in the order, and LIMIT keeps it
    ``outer_join_undone``    a condition in WHERE drops the rows that a LEFT JOIN keeps
    ``join_on_one_table``    the condition of a join names the columns of one table only
    ======================== ====================================================================

    Args:
        sql: The query.
        schema: The tables, as for `sql_equivalence`. With keys, NOT NULL and foreign keys fewer
            findings are only possible by the schema. Without it, tables are inferred from the
            query.
        dialect: SQL dialect, as sqlglot names it. Without one the query is read as SQLite reads it,
            and *assumptions* say so.
        functions: ``"built_in"`` where a function that the database of *dialect* does not have
            keeps a query from running, as in `SqlOptions`; ``"any"``, since it may be your own.

    Returns:
        A frozen `QueryAudit`. *undecided* names the kinds that could not be looked for, for
        example since the parser cannot read the text or SQLite lacks a function. Read *findings*,
        *undecided* and *assumptions* first.

    Raises:
        InputError: If *sql* is empty, *dialect* or *functions* unknown, or *schema* one that
            `sql_equivalence` refuses.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> schema = "CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, city TEXT, points INT)"
        >>> query = "SELECT name FROM team ORDER BY points DESC LIMIT 1"
        >>> audit = query_audit(query, schema=schema, dialect="sqlite")
        >>> print(audit.findings[0])
        ties_at_limit in LIMIT: rows that tie in ORDER BY points DESC leave LIMIT a choice: both results are right
        team(name, points): ('b', 3), ('a', 3)
        The query returns: ('b')
        But it may return instead: ('a')
        >>> str(query_audit(query.replace("points DESC", "id"), schema=schema, dialect="sqlite"))
        'nothing found by proofs and on 40 small databases'
        >>> query_audit("", schema=schema)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: sql must be a non-empty string, got ''

    Notes:
        Databases are made and run as by `sql_equivalence`, 40 for each question, and for ties as
        many again in which numbers repeat.  What none of them shows is not found.  A database that
        shows a finding is allowed by the schema; whether real data look like it is not known.
        A query that does not run is not looked into further.  ``text_compared`` is looked for in
        SQLite alone, as other databases convert or refuse such a comparison, and
        ``integer_division`` in SQLite and PostgreSQL, which divide whole numbers so.
    """  # noqa: E501 - a message is one line
    text, named = check_text("sql", sql), check_dialect(dialect)
    schema = checked_schema(schema, named)
    said = *(() if named else (READ_AS_SQLITE,)), *(() if schema else (NO_SCHEMA,))
    if functions is not None:
        check_choice("functions", functions, get_args(Functions))
    is_built_in = functions == "built_in"
    found = audit(text, schema, named, N_DATABASES, only_built_in=is_built_in)
    return QueryAudit(
        findings=tuple(_finding(*one) for one in found.found),
        undecided=FrozenMapping(found.undecided),
        assumptions=() if found.is_refused else (*said, *found.unread),
    )


def _finding(
    kind: Kind,
    clause: str,
    sentence: str,
    shown: Difference | None,
    assumptions: tuple[str, ...],
) -> AuditFinding:
    return AuditFinding(
        kind=kind,
        clause=clause,
        sentence=sentence,
        database=None if shown is None else counterexample_of(shown),
        assumptions=assumptions if shown is None else shown.assumptions,
    )
