"""Whether two queries mean the same: a proof and a counterexample, each within its time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, Literal, TypeVar

import attrs

from scorekit._core.clock import OutOfTimeError, limited
from scorekit._core.text import ORDINALS
from scorekit._sql.databases.kinds import UNCASED
from scorekit._sql.meaning.names import fold_names
from scorekit._sql.meaning.operands import drops_texts
from scorekit._sql.meaning.question import Question, Same
from scorekit._sql.prove.clauses import differing
from scorekit._sql.prove.search import IGNORED, UNORDERED, Proof, Unproved, Within, search
from scorekit._sql.refute.duck import DUCKDB, is_installed, refute_in_duckdb, why_not
from scorekit._sql.refute.engine import AnyEngine, Engine, engine_name, refute_by
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.reading import Pair, Texts, read_pair, read_texts
from scorekit._sql.refute.search import Difference, NoDifference
from scorekit._sql.refute.sqlite import refute
from scorekit._sql.schema.tables import Schema, SqlSchema, read_schema
from scorekit._sql.text.parsing import is_long, text_around
from scorekit.errors import MissingExtraError, one_line, refuse

CASED: Final = "texts that differ in case only are different values"
"""What a set of texts rests on where a collation may be blind to case."""

NO_NULL_KEYS: Final = "primary keys hold no NULL, which SQLite allows in all but INTEGER ones"
"""What a proof rests on where it needs such a key."""

N_RUN_IF_PROVED: Final = 3
"""Databases on which an engine runs queries that are proved equal, to see that it does."""

PROOF_SHARE: Final = 0.6
"""The share of the time that the search for a proof may take."""

WOULD_HELP: Final = 'engine="duckdb" may run them'

TOO_DEEP: Final = "the queries are nested too deeply"


NOT_COMPARED: Final = (UNORDERED, IGNORED)
"""What a proof rests on that leaves out an ORDER BY."""

_TEXT_SHOWN = 60
_T = TypeVar("_T")


def check_engine(engine: AnyEngine | None) -> str | None:
    """Return the name of an engine; refuse what is none."""
    what = "a function of statements and a query, or 'duckdb'"
    if isinstance(engine, str):
        if engine != "duckdb":
            refuse("engine", what, engine)
        if not is_installed():
            raise MissingExtraError("duckdb", "duckdb")
    elif engine is not None and not callable(engine):
        refuse("engine", what, engine, TypeError)
    return engine_name(engine)


@attrs.frozen(kw_only=True)
class Evidence:
    """What is found of two queries, and what that rests on; fields as those of the result."""

    verdict: Literal["proved", "refuted", "unknown"]
    reason: str
    difference: Difference | None = None
    assumptions: tuple[str, ...] = ()
    proof: tuple[str, ...] = ()
    includes: Literal["a", "b"] | None = None
    engine: str | None = None
    raises: Literal["a", "b"] | None = None
    timed_out: bool = False
    differs_in: tuple[str, ...] = ()


def find_evidence(
    texts: tuple[str, str],
    *,
    schema: Schema | None,
    dialect: str | None,
    options: Any,
    is_alike: Same | None,
    engine: AnyEngine | None,
    n_databases: int,
    seed: int,
    seconds: float,
) -> Evidence:
    """
    Look for a proof and a counterexample of a pair.

    Args:
        texts: The two queries.
        schema: The tables, as the caller gives them.
        dialect: The dialect of both.
        options: `SqlOptions` of which each is given, but for keys.
        is_alike: Whether two results that differ are the same all the same, by another rule.
        engine: Runs the queries instead of SQLite; DuckDB behind it.
        n_databases: Databases that are tried.
        seed: What their rows depend on.
        seconds: The CPU time after which the search is ended.

    Returns:
        What is found, and what that rests on.

    Raises:
        InputError: If the schema or its keys are refused.
        TypeError: If one of them has the wrong type.
    """
    known = read_schema(schema, options.keys, dialect)
    question = Question(
        schema=known,
        dialect=dialect,
        texts=texts,
        semantics=options.semantics,
        column_order=options.column_order,
        row_order=options.row_order,
        tolerance=options.tolerance,
        rule=options.rule,
        is_alike=is_alike,
        locate=options.locate,
        n_databases=n_databases,
        seed=seed,
        seconds=seconds,
    )
    unread = (*(() if known is None else known.unread), *_left_out(question))
    schema_read_again = partial(read_schema, schema, options.keys)
    own, ready = (None, True) if isinstance(engine, str) else (engine, False)
    looked_for = _Search(question, own, ready, schema_read_again)
    with limited(seconds):
        return looked_for.result(unread)


@attrs.define
class _Search:
    """A proof and a counterexample of one pair, each within its time."""

    question: Question
    engine: Engine | None
    ready: bool
    """Whether DuckDB runs what is undecided otherwise."""
    read_again: Callable[..., SqlSchema | None]
    """Reads the schema for SQLite, whose keys may hold NULL or not."""
    is_late: bool = False
    """Whether the clock has ended a part of the search."""

    def result(self, unread: tuple[str, ...]) -> Evidence:
        """Return what is found."""
        known, named = self.question.schema, self.question.dialect
        try:
            read, refused = _texts(self.question, lenient=self.has_engine)
        except (UnfaithfulError, RecursionError, OutOfTimeError) as error:
            return self.unread(error)
        unread, pair = (*unread, *read.assumptions), read.neutral
        if pair.first == pair.second:
            return _identical(read.refusals, tuple(_left_out(self.question)))
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
        if ran is not None:
            return self.unproved(ran, engine_name(self.engine), proof, read, unread)
        return self.unproved(*self.tried(read, refused), proof, read, unread)

    def unread(self, error: UnfaithfulError | RecursionError | OutOfTimeError) -> Evidence:
        """Say why the queries could not be read."""
        is_late = isinstance(error, OutOfTimeError)
        reason = TOO_DEEP if isinstance(error, RecursionError) else one_line(str(error))
        if is_late:
            reason = f"the queries were not read; {self.question.out_of_time}"
        return Evidence(verdict="unknown", reason=reason, timed_out=is_late)

    @property
    def has_engine(self) -> bool:
        """Whether an engine may have what no table knows."""
        return self.engine is not None or (self.ready and self.question.dialect == DUCKDB)

    def tried(self, read: Texts, refused: str) -> tuple[Difference | NoDifference, str | None]:
        """
        Return how SQLite, or else DuckDB, tells the queries apart, and the name of the latter.

        Where DuckDB is not asked and may run what SQLite does not, the reason says so.
        """
        found: Difference | NoDifference = NoDifference(refused)
        if not refused:
            found = self.within(1.0, lambda: refute(read.pairs(), self.question)) or self.late
        if isinstance(found, Difference):
            return found, None
        if self.ready:
            work = partial(refute_in_duckdb, read.neutral, self.question)
            ran = self.within(1.0, work) or self.late
            helps = isinstance(ran, Difference) or (ran.n_compared and not found.n_compared)
            return (ran, DUCKDB) if helps else (found, None)
        may_run = not found.n_compared and self.question.dialect and not self.is_late
        if may_run and not why_not(read.neutral[:2], self.question.dialect):
            found = found._replace(reason=f"{found.reason}; {WOULD_HELP}")
        return found, None

    def unproved(
        self,
        found: Difference | NoDifference,
        by: str | None,
        proof: Unproved,
        read: Texts,
        unread: tuple[str, ...],
    ) -> Evidence:
        """Return what is found where there is no proof."""
        question, rule = self.question, self.question.rule
        if not isinstance(found, Difference):
            how = "" if rule == "scorekit" else f", by the rule {rule!r}"
            reason = (*read.refusals, found.reason + how)[0]
            unknown = _unknown(found, proof, reason, unread, by)
            late = f"; {question.out_of_time}" * self.is_late
            return attrs.evolve(unknown, reason=unknown.reason + late, timed_out=self.is_late)
        if found.order_only and not question.same_rows(*found.results):
            why = f"the same results in another order, by the rule {rule!r}"
            return Evidence(verdict="unknown", reason=why, assumptions=unread, engine=by)
        differs_in: tuple[str, ...] = ()
        if question.locate and not read.refusals:
            first, second = read.neutral[:2]
            prove = partial(search, second=second, question=question)
            differs_in = self.within(1.0, lambda: differing(first, second, prove)) or ()
        return Evidence(
            verdict="refuted",
            reason=one_line(_refuted(found)),
            difference=found,
            assumptions=(*found.assumptions, *unread, *read.refusals),
            engine=by,
            differs_in=differs_in,
        )

    def run(self, pair: Pair, *, is_proved: bool) -> Difference | NoDifference | None:
        """Return how the caller's engine tells the queries apart, if there is one."""
        if self.engine is None:
            return None
        n = self.question.n_databases
        question = attrs.evolve(
            self.question, n_databases=min(n, N_RUN_IF_PROVED if is_proved else n)
        )
        ran = self.within(1.0, partial(refute_by, self.engine, pair, question))
        return ran or self.late

    @property
    def late(self) -> NoDifference:
        """What is known of a search that the clock ended."""
        return NoDifference("no difference was found in time")

    def within(self, share: float, work: Callable[[], _T]) -> _T | None:
        """Return what *work* returns, None if it takes more than its share of the time."""
        try:
            with limited(share * self.question.seconds):
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


def _identical(refusals: tuple[str, ...], left_out: tuple[str, ...]) -> Evidence:
    if refusals:
        return Evidence(verdict="unknown", reason=one_line(refusals[0]))
    return Evidence(
        verdict="proved",
        reason="the queries are identical",
        proof=("identical text",),
        assumptions=left_out,
    )


def _unknown(
    found: NoDifference,
    proof: Unproved,
    reason: str,
    unread: tuple[str, ...],
    engine: str | None,
) -> Evidence:
    ended = "; the search for a proof ended after too many steps" * proof.exhausted
    return Evidence(
        verdict="unknown",
        reason=one_line(reason) + ended,
        assumptions=unread,
        engine=engine,
        raises=found.raises,
    )


def _left_out(question: Question) -> Iterator[str]:
    """Yield what stands around the SQL of each text and is not read."""
    for text, which in zip(question.texts, ORDINALS, strict=True):
        around = text_around(text, question.dialect)
        if around:
            yield f"of the {which} text this is left out: {one_line(around, _TEXT_SHOWN)}"


def _texts(question: Question, *, lenient: bool) -> tuple[Texts, str]:
    """Read two queries; what their dialect may not have an engine may, so that is only said."""
    texts, schema, dialect = question.texts, question.schema, question.dialect
    try:
        return read_texts(texts, schema, dialect), ""
    except UnfaithfulError as error:
        if not lenient or any(map(is_long, texts)):
            raise
        pair = read_pair(texts, dialect, schema)
        folded = fold_names(pair[:2], schema, dialect)
        return Texts(lambda: {pair.dialect: pair}, (), pair, folded), str(error)


def _is_cased(pair: Pair, schema: SqlSchema | None, dialect: str | None) -> bool:
    """Say whether a set of texts hangs on a collation that may be blind to case."""
    uncased = dialect is None or dialect in UNCASED
    return uncased and drops_texts(pair.first, pair.second, dialect, schema)


def _agreed(proof: Proof | Within, unread: tuple[str, ...], cased: tuple[str, ...]) -> Evidence:
    if isinstance(proof, Within):
        return _within(proof, unread)
    return _proved(proof, (*unread, *cased))


def _proved(proof: Proof, unread: tuple[str, ...]) -> Evidence:
    order = ", with its columns in another order" if proof.reordered else ""
    order += "".join(f"; {one}" for one in proof.assumptions if one in NOT_COMPARED)
    return Evidence(
        verdict="proved",
        reason=f"both queries have the same tables, conditions and columns{order}",
        assumptions=(*proof.assumptions, *unread),
        proof=proof.steps,
    )


def _within(found: Within, unread: tuple[str, ...]) -> Evidence:
    """Say that one query leaves more ties at its LIMIT than the other one does."""
    wide = 0 if found.flipped else 1
    return Evidence(
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
