"""SQLite for queries that nobody trusts: reading only, bounded in steps and in memory."""

from __future__ import annotations

import sqlite3
from bisect import bisect, insort
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, localcontext
from functools import partial
from typing import Any, Final, Literal, NoReturn, Self, TypeAlias

from scorekit._core.clock import check_time
from scorekit._core.rows import ResultRow
from scorekit._sql.databases.computed import HELPERS, NoValueError
from scorekit._sql.databases.functions import FUNCTIONS as OF_DATABASES
from scorekit._sql.refute.ties import TieBreaker

Cell: TypeAlias = int | float | str | bytes | None
Database: TypeAlias = Mapping[str, Sequence[tuple[Cell, ...]]]
"""Rows by table."""

MAX_INSTRUCTIONS: Final = 100_000
"""Virtual machine instructions that one query may take on one database of a few rows."""
_STEPS_A_ROW = 200

MAX_RESULT_ROWS: Final = 2_000
"""Rows of a result that are looked at."""

# Bytes of a value: with MAX_INSTRUCTIONS it bounds memory, and the work that one step can do.
_MAX_LENGTH = 1_000
_STEPS_A_CALL = 1_000

OWN: Final = tuple(
    f"scorekit_{name}"
    for name in (
        *("divide", "ratio", "remainder", "only", "at_min", "at_max"),
        *("of_copies", "tie", "settled", "joined"),
        *("plus", "minus", "times", "quotient", "total"),
    )
)
DIVIDE, RATIO, REMAINDER, ONLY, AT_LEAST, AT_MOST, OF_COPIES, TIE, SETTLED, JOINED = OWN[:10]
PLUS, MINUS, TIMES, QUOTIENT, TOTAL = OWN[10:]
"""Arithmetic of decimals."""

# Harmless and a function of their arguments alone.  Not here: what makes long values out of short
# ones (printf, zeroblob, hex), what is random or reads the clock, and what leaves an order open.
FUNCTIONS: Final = frozenset(
    "abs avg ceil ceiling coalesce count cume_dist date datetime dense_rank first_value floor "  # noqa: SIM905
    "glob ifnull iif instr julianday lag last_value lead length like likelihood likely lower "
    "ltrim max min mod nth_value ntile nullif percent_rank rank replace round row_number rtrim "
    "sign sqrt strftime substr substring sum time total trim trunc typeof unicode unixepoch "
    "unlikely upper".split()
).union(OWN)
COMPUTED: Final = "scorekit_fn_"
"""The beginning of the names of functions of other databases, as they are computed here."""
APART: Final = "scorekit_apart"


def computed_name(compute: object, null: str = "any") -> str:
    """Return the name of a function that is computed here, and is NULL where *null* says."""
    return f"{COMPUTED}{'strict_' if null == 'any' else ''}{getattr(compute, '__name__', '')}"


_OF_OTHERS: Final = {
    computed_name(compute, null): (compute, null == "any")
    for compute, null in (
        *((row.compute, row.null) for row in OF_DATABASES),
        *((helper, "any") for helper in HELPERS),
    )
    if compute is not None and not isinstance(compute, str)
}
_NEAR = 1e-9
CLOCKS: Final = ("date", "time", "datetime", "julianday", "strftime", "unixepoch")
ZONES: Final = frozenset({"localtime", "utc"})
NOW_TEXT: Final = "2022-06-15 10:30:00"
"""The moment at which SQLite runs both queries."""
_ALLOWED: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})
_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: _MAX_LENGTH,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 300,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


class _NotRunError(Exception):
    def __init__(self, reason: str, raises: Literal["a", "b"] | None = None) -> None:
        super().__init__(reason)
        self.raises: Literal["a", "b"] | None = raises
        """The query that the caller's engine alone does not run."""


class QueryError(_NotRunError):
    """A query cannot be run at all."""


class NoResultError(_NotRunError):
    """A query has no definite result on one database, or none within the limits."""


class Sandbox:
    """An in-memory database of a few tables; close it after use."""

    def __init__(
        self,
        tables: Mapping[str, Sequence[tuple[str, str]]],
        *,
        case_sensitive_like: bool,
        is_sqlite: bool = True,
    ) -> None:
        self.n_steps = 0
        """Instructions of all queries so far, in thousands rounded down."""
        self.now = ""
        """The moment at which queries are run, if they may ask for it."""
        self.chosen: list[str] | None = None
        """What the order of reading has decided, where it may; None where it must not."""
        self.ties = TieBreaker()
        """What orders rows that tie inside of a query."""
        self.breaks_windows = True
        """Whether that holds for windows, too."""
        self._tied: dict[tuple[Cell, ...], tuple[Cell, ...]] = {}
        self._open, self._steps, self._shared = False, 0, is_sqlite
        self._most = MAX_INSTRUCTIONS
        self._seen: dict[int, list[float]] = {}
        self._rounds = False
        """Whether this query has had a decimal of more digits than are held."""
        self._failure: NoResultError | None = None
        self._dates: sqlite3.Connection | None = None
        self._tables = {name: len(columns) for name, columns in tables.items()}
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.text_factory = _text
        self._connection.execute(f"PRAGMA case_sensitive_like = {case_sensitive_like:d}")
        self._connection.execute("PRAGMA temp_store = MEMORY")
        try:
            for name, columns in tables.items():
                parts = [f"{quoted(column)} {kind}" for column, kind in columns]
                self._connection.execute(f"CREATE TABLE {quoted(name)} ({', '.join(parts)})")
        except (sqlite3.Error, ValueError) as error:
            self._connection.close()
            raise QueryError(f"SQLite cannot make the tables: {error}") from None
        self._add_functions()
        for limit, value in _LIMITS.items():
            self._connection.setlimit(limit, value)
        self._connection.set_authorizer(self._authorize)
        self._connection.set_progress_handler(self._step, _STEPS_A_CALL)

    def __enter__(self) -> Self:
        """Return the sandbox itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the database."""
        self._connection.close()
        if self._dates is not None:
            self._dates.close()

    def load(self, database: Database) -> None:
        """Replace all rows; raises `NoResultError` where one is too long."""
        self._open = True
        self._steps = 0
        self._most = MAX_INSTRUCTIONS + _STEPS_A_ROW * sum(map(len, database.values()))
        try:
            for name in self._tables:
                self._fill(name, database.get(name, ()))
        except (sqlite3.Error, ValueError) as error:
            raise NoResultError(f"rows that SQLite does not take: {error}") from None
        finally:
            self._open = False

    def _fill(self, name: str, rows: Sequence[Sequence[Any]]) -> None:
        self._connection.execute(f"DELETE FROM {quoted(name)}")  # noqa: S608 - our names
        if rows:
            marks = ", ".join("?" * self._tables[name])
            insert = f"INSERT INTO {quoted(name)} VALUES ({marks})"  # noqa: S608 - our names
            self._connection.executemany(insert, rows)

    def width(self, query: str) -> int:
        """Return the number of columns of a query's result."""
        return len(self._execute(f"SELECT * FROM ({query}) LIMIT 0").description)  # noqa: S608

    def run(self, query: str) -> list[ResultRow]:
        """
        Return the result of a query.

        Raises:
            NoResultError: If it is cut off, or it has no definite result.
            QueryError: If SQLite refuses the query.
        """
        cursor = self._execute(query)
        try:
            rows = cursor.fetchmany(MAX_RESULT_ROWS + 1)
        except (sqlite3.Error, MemoryError, OverflowError) as error:
            raise self._reason(error) from None
        finally:
            cursor.close()
        if len(rows) > MAX_RESULT_ROWS:
            raise NoResultError(f"more than {MAX_RESULT_ROWS} rows")
        return rows

    def _execute(self, query: str) -> sqlite3.Cursor:
        check_time()
        self._steps, self._failure, self._seen, self._tied = 0, None, {}, {}
        self._rounds = False
        try:
            return self._connection.execute(query)
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, OverflowError) as error:
            raise self._reason(error) from None

    def _reason(self, error: Exception) -> Exception:
        if self._failure is not None:
            return self._failure
        message = str(error)
        if message in (
            "integer overflow",
            "string or blob too big",
            "LIKE or GLOB pattern too complex",
        ):
            return NoResultError(message)
        return QueryError(message or type(error).__name__)

    def _step(self) -> bool:
        self._steps += _STEPS_A_CALL
        self.n_steps += _STEPS_A_CALL
        if self._steps <= self._most:
            return False
        self._failure = NoResultError(f"more than {self._most} steps")
        return True

    def _authorize(
        self, action: int, first: str | None, second: str | None, *_: str | None
    ) -> int:
        if self._open or action in _ALLOWED:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            allowed = first in self._tables or not second  # rows are counted without a column
        else:
            named = (second or "").lower()
            allowed = action == sqlite3.SQLITE_FUNCTION and (
                named in FUNCTIONS or named in _OF_OTHERS or named == APART
            )
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    # What a query must not hang on, made to stop it.

    def _add_functions(self) -> None:
        for name, compute in ((DIVIDE, _divide), (RATIO, _ratio), (REMAINDER, _remainder)):
            self._connection.create_function(name, 2, self._guarded(compute), deterministic=True)
        for name, sign in ((ONLY, 0), (AT_LEAST, 1), (AT_MOST, -1)):
            bare = partial(self._choose, "a column that is neither grouped nor aggregated")
            self._connection.create_aggregate(name, 2, partial(_Only, sign, bare))
        joined: Any = partial(
            _Joined, partial(self._choose, "texts that may be joined in any order")
        )
        self._connection.create_aggregate(JOINED, 3, joined)
        copies = partial(self._choose, "DISTINCT leaves open what its rows are ordered by")
        self._connection.create_aggregate(OF_COPIES, 2, partial(_Only, 0, copies))
        self._connection.create_function(TIE, -1, self._tie)
        self._connection.create_function(SETTLED, 2, self._settled, deterministic=True)
        for name in CLOCKS:
            self._connection.create_function(name, -1, partial(self._clock, name))
        if self._shared:
            return
        self._connection.create_function(APART, 4, self._apart)
        for name in _OPERATIONS:
            call = self._guarded(partial(self._operate, name), zero=name == QUOTIENT)
            self._connection.create_function(name, 2, call)
        total: Any = partial(_Total, self._held)
        self._connection.create_window_function(TOTAL, 1, total)
        for name, (function, strict) in _OF_OTHERS.items():
            call = partial(self._of_other, function, strict)
            self._connection.create_function(name, -1, call, deterministic=True)

    def _of_other(self, compute: Callable[..., Any], strict: bool, *args: Cell) -> Cell:  # noqa: FBT001
        if strict and None in args:
            return None
        try:
            value: Cell = compute(*args)
        except (NoValueError, TypeError, ArithmeticError) as error:
            self._fail(str(error) or "a value that is not determined")
        return value

    def _apart(self, value: Cell, own: int, other: int, is_exact: int) -> Cell:
        """
        Stop where a number is compared with another, and rounding may decide which is less.

        That is so if they are nearly equal; of exact ones, equal or nearly so, only if the query
        has had some that are not.  Each side of a comparison has a number.
        """
        if isinstance(value, int | float):
            seen = self._seen.setdefault(other, [])
            if self._rounds or not is_exact:
                at = bisect(seen, value)
                for found in seen[max(0, at - 1) : at + 1]:
                    is_same = found == value and (own == other or not self._rounds)
                    if abs(found - value) <= _NEAR * max(1.0, abs(value)) and not is_same:
                        self._fail("decimals that are equal but for rounding")
            insort(self._seen.setdefault(own, []), value)
        return value

    def _operate(self, name: str, first: float, second: float) -> Cell:
        with localcontext(_DIGITS):
            exact = _OPERATIONS[name](_decimal(first), _decimal(second))
            if name == QUOTIENT:  # databases keep four decimal places of a quotient, or more
                rounds = exact != round(exact, _SURE_PLACES) or float(exact) != first / second
                self._rounds = self._rounds or rounds
                return float(exact)
            return self._held(exact, is_whole=isinstance(first, int) and isinstance(second, int))

    def _held(self, exact: Decimal, *, is_whole: bool) -> Cell:
        """Return a decimal as a fraction that is nearest to it alone, if there is one."""
        if is_whole:
            return int(exact)
        value = float(exact)
        self._rounds = self._rounds or _decimal(value) != exact
        return value

    def _clock(self, name: str, *args: Cell) -> Cell:
        """Compute a function of dates by SQLite's own, at one moment if the queries ask for it."""
        meant = tuple(self.now if isinstance(a, str) and a.lower() == "now" else a for a in args)
        if len(args) == (name == "strftime"):
            meant = (*args, self.now)
        if meant != args and not self.now:
            self._fail("the time of day is not determined")
        if any(isinstance(arg, str) and arg.lower() in ZONES for arg in meant):
            self._fail("the time of day is not determined")
        args = meant
        if self._dates is None:
            self._dates = sqlite3.connect(":memory:")
        marks = ", ".join("?" * len(args))
        cell: Cell = self._dates.execute(f"SELECT {name}({marks})", args).fetchone()[0]
        return cell

    def _choose(self, what: str) -> None:
        """Stop where rows leave a choice, unless the first that is read may decide it."""
        if self.chosen is None:
            self._fail(what)
        self.chosen.append(what)

    def _tie(self, n_kept: int, n_alike: int, *cells: Cell) -> float:
        """Return by what a row is sorted among those that tie: *n_alike* cells tell which."""
        group, row = cells[:n_alike], cells[n_alike:]
        if n_kept or (self.chosen is None and self.breaks_windows):
            return self.ties.number(max(0, n_kept), group, row)
        if self._tied.setdefault(group, row) != row:
            self._choose("ties in the order of a window")
        return 0.0

    def _settled(self, is_so: int, otherwise: str) -> int:
        if not is_so:
            self._fail(otherwise)
        return 1

    def _guarded(
        self, compute: Callable[[Any, Any], Cell], *, zero: bool = True
    ) -> Callable[[Cell, Cell], Cell]:
        """Return a function of numbers, NULL if one is, that stops at a second one of *zero*."""

        def call(first: Cell, second: Cell) -> Cell:
            if first is None or second is None:
                return None
            if isinstance(first, str | bytes) or isinstance(second, str | bytes):
                self._fail("arithmetic on text")
            if zero and not second:
                self._fail("division by zero")
            return compute(first, second)

        return call

    def _fail(self, reason: str) -> NoReturn:
        self._failure = NoResultError(reason)
        raise self._failure


class _Only:
    """The one value that a column has in a group, or has where another is least."""

    def __init__(self, sign: int, fail: Callable[[], None]) -> None:
        self._sign, self._fail = sign, fail
        self._values: list[Cell] = []
        self._best: Cell = None

    def step(self, value: Cell, by: Cell = None) -> None:
        if self._sign and by is not None:
            if self._best is None or _before(by, self._best, self._sign):
                self._best, self._values = by, []
            elif by != self._best:
                return
        elif self._sign and self._best is not None:
            return
        if not self._values or (len(self._values) == 1 and self._values[0] != value):
            self._values.append(value)

    def finalize(self) -> Any:
        if len(self._values) > 1:
            self._fail()
        return self._values[0] if self._values else None


class _Total:
    """The sum of decimals."""

    def __init__(self, held: Callable[..., Cell]) -> None:
        self._held = held
        self._sum, self._n, self._is_whole = Decimal(0), 0, True

    def step(self, value: float | None) -> None:
        self._add(value, 1)

    def inverse(self, value: float | None) -> None:
        self._add(value, -1)

    def _add(self, value: float | None, sign: int) -> None:
        if value is not None:
            with localcontext(_DIGITS):
                self._sum += sign * _decimal(value)
            self._n += sign
            self._is_whole = self._is_whole and isinstance(value, int)

    def value(self) -> Any:
        return self._held(self._sum, is_whole=self._is_whole) if self._n else None

    def finalize(self) -> Any:
        return self.value()


class _Joined:
    """The texts of a group one after the other, where their order cannot matter."""

    def __init__(self, fail: Callable[[], None]) -> None:
        self._fail = fail
        self._between = ""
        self._texts: list[str] = []

    def step(self, value: Cell, between: Cell, is_distinct: int) -> None:
        if value is None or (is_distinct and str(value) in self._texts):
            return
        if isinstance(value, float) or (self._texts and str(value) != self._texts[0]):
            self._fail()
        self._between = str(between)
        self._texts.append(str(value))

    def finalize(self) -> str | None:
        return self._between.join(self._texts) if self._texts else None


def _before(first: Cell, second: Cell, sign: int) -> bool:
    a, b = ((isinstance(cell, str), cell) for cell in (first, second))
    smaller: Any = a if sign > 0 else b
    return bool(smaller < (b if sign > 0 else a))


def quoted(name: str) -> str:
    """Return a name in backticks, which SQLite never takes for a string."""
    return "`" + name.replace("`", "``") + "`"


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


_DIGITS: Final = Context(prec=60)
_SURE_PLACES: Final = 4
_OPERATIONS: Final[Mapping[str, Callable[[Decimal, Decimal], Decimal]]] = {
    PLUS: lambda left, right: left + right,
    MINUS: lambda left, right: left - right,
    TIMES: lambda left, right: left * right,
    QUOTIENT: lambda left, right: left / right,
}


def _decimal(number: float) -> Decimal:
    """Return the decimal that a number is written as."""
    return Decimal(repr(number))


def _divide(first: float, second: float) -> Cell:
    if isinstance(first, float) or isinstance(second, float):
        return first / second
    quotient = abs(first) // abs(second)
    return quotient if (first < 0) == (second < 0) else -quotient


def _ratio(first: float, second: float) -> Cell:
    return first / second


def _remainder(first: float, second: float) -> Cell:
    if isinstance(first, float) or isinstance(second, float):
        raise TypeError("a remainder of fractions")
    rest = abs(first) % abs(second)
    return rest if first >= 0 else -rest
