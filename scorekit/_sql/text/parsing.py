"""The one place that parses SQL: text of any origin in, statements or a `SqlError` out."""

from __future__ import annotations

import difflib
import logging
import re
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from itertools import zip_longest
from typing import Final, NamedTuple, TypeAlias

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.expressions.dml import DML

from scorekit._core.checks import check_text
from scorekit._sql.databases.functions import VERSIONS, database_of
from scorekit._sql.text.gate import Verdict, fault_in, refused_everywhere, verdict
from scorekit._sql.text.grammar.databases import SQL_WORDS
from scorekit._sql.text.nesting import MAX_NESTING, nesting
from scorekit.errors import SqlError, refuse


class Script(NamedTuple):
    """Statements that query, change or define data, and the dialect that they were read as."""

    statements: tuple[exp.Expr, ...]
    dialect: str
    """Name of the dialect, empty for the default one."""
    whole: bool = True
    """Whether the parser looked into every statement, bodies and settings included."""
    unread: tuple[str, ...] = ()
    """Statements that could not be read, each on one line."""
    words: Sequence[Token] = ()
    """The words of the text."""
    text: str = ""
    """The text that was read: without fences, thoughts and prose around it."""


MAX_CHARS: Final = 200_000
"""Longest text that is parsed."""

MAX_WORDS: Final = 2_000
"""Words of the longest query whose meaning is looked into: each costs about 50 us in a dialect."""

RETRIES: Final = (
    "tsql",
    "mysql",
    "bigquery",
    "hive",
    "clickhouse",
    "duckdb",
    "snowflake",
    "oracle",
)
"""Dialects tried in turn on what the default one cannot parse, where none was named."""

RETRIED_CHARS: Final = 20_000
"""Longest text that is tried in them, or whose meaning is looked into: more takes seconds."""

_SHORT_CHARS: Final = 4_000
"""Longest text that is tried in each of them."""

# The parser tries the readings of some constructs one after the other, which takes 2**n steps for
# n joins without a condition: these allow 12.  An honest query makes at most 1 node of a token.
_NODES, _NODES_PER_TOKEN = 5_000, 2
_NODES_MESSAGE = "Maximum number of AST nodes"

# What sqlglot says of itself rather than of the SQL.
_INCOMPLETE = re.compile(r"Required keyword: '\w+' missing for <class '[\w.]*?(\w+)'>")
_TOKEN = re.compile(
    r" but got <Token token_type: \S+, text: (?:SENTINEL|(.*?)), line: .*>", re.DOTALL
)


def check_dialect(dialect: object) -> str | None:
    """Return sqlglot's name of a dialect; refuses one that it does not know."""
    if dialect is None:
        return None
    name = check_text("dialect", dialect).lower()
    name = _ALIASES.get(name, name)
    known = _known_dialects()
    if name not in known:
        near = difflib.get_close_matches(name[:100], known)
        hint = f"near ones: {', '.join(near)}" if near else ", ".join(known)
        refuse("dialect", f"a dialect that sqlglot knows ({hint})", dialect)
    return name


_ALIASES = {
    "mariadb": "mysql",
    "mssql": "tsql",
    "postgresql": "postgres",
    "sqlite3": "sqlite",
    "sqlserver": "tsql",
}
"""Dialects by the names that drivers and SQLAlchemy give them."""


@cache
def _known_dialects() -> tuple[str, ...]:
    return tuple(sorted(filter(None, Dialect.classes)))


def parse(sql: object, dialect: object = None) -> Script:
    """
    Parse a script of any origin; comments, empty statements and what only sets things up go.

    Args:
        sql: The text, plain or in Markdown fences.
        dialect: A dialect of sqlglot; None for the default one and, where that cannot parse a
            text of up to `RETRIED_CHARS`, the others in `RETRIES`.

    Returns:
        The statements that query, change or define data; none where others only set things up.

    Raises:
        InputError: If *dialect* is unknown.
        SqlError: If there is no statement at all, or a limit is exceeded.
        TypeError: If *sql* is not a string.
    """
    text = check_text("sql", sql, empty=True)
    named = check_dialect(dialect)
    if not text.strip():
        raise SqlError("empty", "there is no SQL to parse", text)
    if len(text) > MAX_CHARS:
        raise SqlError("too_long", f"{len(text)} characters are more than {MAX_CHARS}", text)
    kept = _scripts.get()
    found = None if kept is None else kept.get((text, named))
    if found is None:
        found = _parsed(text, named)
        if kept is not None:
            kept[text, named] = found
    if isinstance(found, Script):
        return found
    kind, message = found
    raise SqlError(kind, message, text)


_Parsed: TypeAlias = Script | tuple[str, str]
"""The statements of a text, or the kind and the message of the error."""

_scripts: ContextVar[dict[tuple[str, str | None], _Parsed] | None] = ContextVar(
    "scripts", default=None
)


@contextmanager
def parsed_once() -> Generator[None]:
    """Parse no text twice in here, in one dialect; trees must stay as they are."""
    kept = _scripts.get()
    token = _scripts.set({} if kept is None else kept)
    try:
        yield
    finally:
        _scripts.reset(token)


def _parsed(text: str, named: str | None) -> _Parsed:
    prepared = _prepared(text, named)
    found = _parsed_as_it_is(prepared, named)
    if not isinstance(found, Script) and found[0] in ("parse", "not_sql"):
        plain = without_prose(prepared)
        again = found if plain == prepared else _parsed_as_it_is(plain, named)
        if isinstance(again, Script):
            return again._replace(text=plain)
    return found._replace(text=prepared) if isinstance(found, Script) else found


def _parsed_as_it_is(prepared: str, named: str | None) -> _Parsed:
    try:
        script = _parse_as(prepared, named or "")
    except SqlError as error:
        return _read_otherwise(prepared, named, error)
    refused = ""
    if named in VERSIONS and any(isinstance(tree, exp.Query) for tree in script.statements):
        refused = verdict(prepared, named, script.words).refused
        refused = refused or fault_in(script.statements, named) or ""
    return ("parse", refused) if refused else script


def _read_otherwise(  # noqa: PLR0911 - one a way
    prepared: str, named: str | None, error: SqlError
) -> _Parsed:
    """Return what becomes of a text that the parser of its dialect refuses."""
    kind, message = error.kind, error.message
    if kind == "parse" and named in VERSIONS:
        found = verdict(prepared, named)
        if found.refused:
            return kind, found.refused
        if found.whole or _fails_before(message, found):
            return UNREAD, f"{database_of(named)} may take what the parser does not: {message}"
    if kind == "parse" and named in _NO_SEMICOLONS:
        script = _Pieces(_dialect(named), named).script(prepared)
        if not script.unread and all(isinstance(t, exp.Query) for t in script.statements):
            return script._replace(words=_words(prepared, _dialect(named)))
    if named is not None or kind not in ("parse", "unsupported"):
        return kind, message
    if kind == "parse" and not _ANY_STATEMENT.search(prepared):
        return "not_sql", message
    for other in _retries(prepared) if len(prepared) <= RETRIED_CHARS else ():
        with suppress(SqlError):
            return _parse_as(prepared, other)
    if kind == "parse" and any(_may_take(prepared, one) for one in VERSIONS):
        kind = UNREAD
    return kind, message


def _may_take(prepared: str, dialect: str) -> bool:
    """Say whether a database takes the syntax of what no parser reads."""
    return verdict(prepared, dialect).whole


UNREAD: Final = "unread"
"""The kind of an error of the parser on a text that its database may take."""

UNREADABLE: Final = frozenset({UNREAD, "too_deep", "too_long"})
"""Kinds of errors that are limits of ours, and no fault of a text."""


def _fails_before(message: str, found: Verdict) -> bool:
    """
    Say whether the parser fails in front of what the reader of the grammar does not know.

    Up to there the database takes the text for sure.  Behind it the parser knows more.
    """
    place = _PLACE.search(message)
    return (
        found.doubt is not None
        and place is not None
        and (int(place[1]), int(place[2])) < found.doubt
    )


_NO_SEMICOLONS = ("tsql", "fabric")
"""Dialects in which a statement may end where the next begins."""


def _retries(text: str) -> tuple[str, ...]:
    """Return the dialects to try: for a long text only those whose marks it has."""
    if len(text) <= _SHORT_CHARS:
        return RETRIES
    return ("tsql",) * ("[" in text or "@" in text) + ("mysql", "bigquery") * ("`" in text)


def read(sql: str, dialect: str | None) -> Script:
    """
    Read what can be read of a script: as `parse`, but a statement that fails costs only itself.

    Bodies of procedures and blocks, and queries in SET and DECLARE, are read as statements.

    Raises:
        InputError: If *dialect* is unknown.
        SqlError: If nothing can be read, or a limit is exceeded.
    """
    error = None
    try:
        script = parse(sql, dialect)
        if script.whole:
            return script
        dialect = script.dialect
    except SqlError as caught:
        if caught.kind not in ("parse", UNREAD, "unsupported", "not_sql"):
            raise
        if caught.kind == "parse" and dialect in VERSIONS:
            named = check_dialect(dialect) or ""
            if verdict(_prepared(sql, named), named).refused:
                raise
        error = caught
    text = _prepared(sql, dialect)
    tried = (dialect,) if dialect is not None else ("", *_retries(text)[:1])
    scripts = [_Pieces(_dialect(name), name).script(text) for name in tried]
    best = min(scripts, key=lambda script: (not script.statements, len(script.unread)))
    if error is not None and not best.statements:
        raise error
    return best


_MAX_PIECES: Final = 200
"""Most pieces into which a script that does not parse as a whole is cut."""

_MAX_READ: Final = 500_000
"""Characters of pieces after which nothing more is cut: each cut reads what is left anew."""

_BLOCK_MARK = re.compile(r"(?im)\b(?:begin|end)\s+(?:try|catch)\b|^[ \t]*go[ \t]*$")
_BLOCK_WORDS = re.compile(r"(?i)(?:\b(?:begin|end|else|then|loop|if|while|return)\b|[\s;$])*")
_STARTS = re.compile(
    r"(?i)(?:select|with|insert|update|delete|merge|create|drop|alter|truncate|declare|set|if|while"
    r"|begin|end|else|exec|execute|print|return|commit|rollback)\b"
)
_DECLARED = re.compile(
    rf"(?i)\bdeclare\s+@\w+\s+(?:as\s+)?\w+(?:\s?\([\w, ]{{1,20}}\))?\s+(?={_STARTS.pattern[4:]})"
)
# What holds statements that the parser does not look into, and where the first of them begins.
_HOLDER = re.compile(
    r"(?i)(?:create|alter|begin|declare|set|if|while|do|for|loop|else|elsif|exception)\b"
)
_HELD = re.compile(
    r"(?i)(?<=[\s(;$'])(?:select|insert\s+into|update\s+\S+\s+set|delete\s+from|merge\s+into"
    r"|with\s+\S+\s+as)\b"
)
_UNLOAD = re.compile(r"(?is)unload\s*\(\s*'((?:[^']|'')*)'")
_EXCHANGE = re.compile(
    r"(?is)alter\s+table\s+(\S+)\s+(?:exchange\s+partition\b.*\bwith\s+table|append\s+from)"
    r"\s+(\S+)"
)
_PLACE = re.compile(r"Line (\d+), column (\d+)\.$")


class _Pieces:
    """Reads a script piece by piece."""

    def __init__(self, dialect: Dialect, name: str) -> None:
        self.dialect = dialect
        self.name = name
        self.n_left = _MAX_PIECES
        self.n_characters = _MAX_READ

    @property
    def may_cut(self) -> bool:
        """Whether there are pieces and characters left."""
        return self.n_left > 0 and self.n_characters > 0

    def script(self, text: str) -> Script:
        """Return what can be read of *text*."""
        kept, unread = self.read(_DECLARED.sub(";", _BLOCK_MARK.sub(";", text)))
        return Script(
            tuple(kept),
            self.name,
            whole=False,
            unread=tuple(" ".join(part.split())[:200] for part in unread),
        )

    def read(self, text: str) -> tuple[list[exp.Expr], list[str]]:
        """Return the statements in *text*, and the pieces that are none."""
        kept: list[exp.Expr] = []
        unread: list[str] = []
        todo = [text]
        while todo:
            part = todo.pop().strip()
            if _BLOCK_WORDS.fullmatch(part):
                continue
            self.n_left -= 1
            self.n_characters -= len(part)
            try:
                trees = _trees(part, self.dialect)
            except SqlError as error:
                pieces = self.cut(part, error.message) if self.may_cut else []
                if len(pieces) > 1:
                    todo += reversed(pieces)
                else:
                    self.keep_held(part, kept, unread)
                continue
            for tree in trees:
                self.keep(tree, kept, unread)
        return kept, unread

    def cut(self, part: str, message: str) -> list[str]:
        """Cut at every semicolon; where there is none, before the statement that is in the way."""
        try:
            words = _words(part, self.dialect)
        except SqlError:
            return []
        ends = [word.start for word in words if word.token_type is TokenType.SEMICOLON]
        if ends:
            starts = [0, *(end + 1 for end in ends)]
            return [part[i:j] for i, j in zip(starts, [*ends, len(part)], strict=True)]
        place = _PLACE.search(message)
        at = place and f"{place[1]} {place[2]}"
        i = next((i for i, word in enumerate(words) if f"{word.line} {word.col}" == at), 0)
        for word in words[max(i - 1, 1) : i + 1]:  # the word before may have been read as an alias
            if (
                _STARTS.match(word.text)
                and (self.name in ("", *_NO_SEMICOLONS) or word.text.lower() != "select")
                and self.reads(part[: word.start])
            ):
                return [part[: word.start], part[word.start :]]
        return []

    def reads(self, part: str) -> bool:
        """Say whether *part* is a statement."""
        with suppress(SqlError):
            return isinstance(_trees(part, self.dialect)[0], (*_STATEMENTS, *_SETTINGS, *_BLOCKS))
        return False

    def keep(self, tree: exp.Expr | None, kept: list[exp.Expr], unread: list[str]) -> None:
        """Add a statement, or those that are in its body."""
        if tree is None or isinstance(tree, exp.Semicolon | exp.EndStatement | exp.Execute):
            return
        if isinstance(tree, exp.Command):
            self.keep_held(f"{tree.this} {tree.text('expression')}", kept, unread)
        elif isinstance(tree, _STATEMENTS) or (
            isinstance(tree, (*_SETTINGS, *_BLOCKS)) and tree.find(exp.Query, *_DATA)
        ):
            kept.append(tree)
            if isinstance(tree, exp.Create):
                for body in tree.find_all(exp.Command, exp.Heredoc, exp.Literal, exp.RawString):
                    self.keep_held(f"do {body.this} {body.text('expression')}", kept, [])
        elif not isinstance(tree, (*_SETTINGS, *_BLOCKS)):
            unread.append(tree.sql(self.dialect))

    def keep_held(self, part: str, kept: list[exp.Expr], unread: list[str]) -> None:
        """Add the statements that *part* holds."""
        unload, exchange = _UNLOAD.match(part), _EXCHANGE.match(part)
        held = _HELD.search(part, 1) if _HOLDER.match(part) else None
        if unload:
            inside = unload[1].replace("''", "'")
        elif exchange:
            inside = f"SELECT 1 FROM {exchange[1]}, {exchange[2]}"  # noqa: S608 - only parsed
        else:
            start = held.start() if held else len(part)
            inside = (
                part[start - (part[start - 1 : start] == "(") :].rstrip("$' \n") if held else ""
            )
        found, failed = self.read(inside) if self.may_cut else ([], [])
        kept += found
        unread += failed if found else [part]


def is_long(sql: str) -> bool:
    """Say whether a text has more than `MAX_WORDS`, or more than `RETRIED_CHARS`."""
    words = _WORD.finditer(sql) if MAX_WORDS < len(sql) <= RETRIED_CHARS else ()
    return len(sql) > RETRIED_CHARS or sum(1 for _ in words) > MAX_WORDS


_WORD = re.compile(r"'[^']*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|\w+|[^\s\w]", re.DOTALL)


def refused_by_all(sql: str) -> str | None:
    """Return why no database takes a text, whichever it is of; None where one may."""
    try:
        text = parse(sql).text
    except SqlError:
        text = _prepared(sql, None)
    return refused_everywhere(text)


def text_around(sql: str, dialect: str | None) -> str:
    """Return what stands around the SQL of a text and is left out; nothing for fences."""
    try:
        taken = parse(sql, dialect).text
    except SqlError:
        return ""
    before, found, after = _unfenced(sql).partition(taken)
    inside = f"{before} {after}" if found else ""
    outer = sql.replace(_unfenced(sql), " ") if _THOUGHT.search(sql) else ""
    return " ".join(f"{outer} {inside}".replace("`", " ").split())


def is_taken_by_all(sql: str) -> bool:
    """Say whether each of the databases that are described takes the whole syntax of a text."""
    return all(_may_take(sql, dialect) for dialect in VERSIONS)


def n_queries(sql: str, dialect: str | None) -> int:
    """Return how many statements *sql* has, which are all queries; 0 if one is none."""
    try:
        statements = parse(sql, dialect).statements
    except SqlError:
        return 0
    return len(statements) if all(isinstance(tree, exp.Query) for tree in statements) else 0


def is_query(sql: str, dialect: str | None) -> bool:
    """Say whether *sql* is one statement, which is a query."""
    return n_queries(sql, dialect) == 1


def is_sorted(sql: str, dialect: str | None) -> bool:
    """Say whether *sql* is one query that ends in an ORDER BY."""
    if "order" not in sql.lower() or not is_query(sql, dialect):  # to parse costs more
        return False
    (tree,) = parse(sql, dialect).statements
    while isinstance(tree, exp.Subquery) and not tree.args.get("order"):
        tree = tree.this
    return tree is not None and bool(tree.args.get("order"))


def returns_no_rows(sql: str, dialect: str | None) -> bool:
    """Say whether *sql*, which parses, has no query that returns rows, with columns."""
    is_one = ";" not in sql.rstrip("; \t\r\n")
    if is_one and _SELECTS.match(sql):  # nearly always, and to parse costs more
        return False
    return not any(
        isinstance(tree, (exp.Query, *_SUMMARIES))
        and not tree.args.get("into")
        and not (isinstance(tree, exp.Select) and not tree.expressions)
        for tree in parse(sql, dialect).statements
    )


def changes_data(sql: str, dialect: str | None) -> bool:
    """
    Say whether *sql*, which parses, changes what it has not made itself, in whatever part.

    What it makes and then asks for is its own, such as a temporary table.
    """
    if not _CHANGING.search(sql) or is_explain(sql):  # looking first costs less than to parse
        return False
    made: set[str] = set()
    asks = False
    for tree in parse(sql, dialect).statements:
        asks = asks or (isinstance(tree, exp.Query) and not tree.args.get("into"))
        for node in tree.find_all(*_CHANGES, exp.Into):
            target = node.find(exp.Table)
            name = "" if target is None else target.name.lower()
            if isinstance(node, exp.Create | exp.Into):
                made |= {name} if name else set()
            elif name not in made:
                return True
    return bool(made) and not asks


_SELECTS = re.compile(
    r"(?is)\s*select\b(?!\s*(?:;|$|(?:all|distinct|from|where|group|order|limit)\b))(?!.*\binto\b)"
)
_CHANGING = re.compile(
    r"(?i)\b(?:insert|update|delete|merge|create|drop|alter|truncate|replace|into)\b"
)


def is_explain(sql: str) -> bool:
    """Say whether *sql* asks for a plan: `parse` gives the statement that is explained."""
    return _EXPLAIN.match(_unfenced(sql)) is not None


# From text to SQL.

_FENCE = re.compile(r"`{3,}")
_FENCE_HEAD = re.compile(r"[ \t]*([\w+-]*+)[ \t]*(\r?\n)?")
_STATEMENT = r"(?:select|with|insert|update|delete|merge|create|replace|from|table|values)\b"
_ANY_STATEMENT = re.compile(rf"(?i)\b(?:{_STATEMENT}|(?:alter|copy|drop|describe|truncate)\b)")
# EXPLAIN and its options, up to the statement explained.
_EXPLAIN = re.compile(rf"(?i)(\A|;)\s*explain\b[^;]{{0,200}}?(?=[\s(]{_STATEMENT})")
_REPLACE = re.compile(r"(?i)(\A|;)\s*replace\s+into\b")


def _prepared(text: str, dialect: str | None) -> str:
    """Drop fences; rewrite EXPLAIN and REPLACE, and quotes, that the parser does not look into."""
    text = _unfenced(text)
    if dialect == "duckdb" and "`" in text:
        text = _TICKED.sub(lambda found: f'"{found[1]}"' if found[1] else found[0], text)
    words = text.lower()  # looking first costs a tenth of a substitution that finds nothing
    if "explain" in words:
        text = _EXPLAIN.sub(r"\1 ", text)
    if "replace" in words:
        text = _REPLACE.sub(r"\1 INSERT INTO", text)
    if dialect == "duckdb":
        text = _DESCRIBE.sub(r"\1SHOW TABLES", text)
    return text


_DESCRIBE = re.compile(r"(?i)((?:\A|;)\s*)(?:desc|describe|show)(?=\s*(?:;|\Z))")
"""What lists the tables of DuckDB, which the parser takes for the beginning of something."""


_TICKED: Final = re.compile(r"(?s)'[^']*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|`([^`\"]+)`")
"""Names in backticks, which DuckDB takes too, and what may hold one that is none."""


_THOUGHTS: Final = r"(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|analysis)"
_THOUGHT = re.compile(rf"(?is)\A\s*(?:<{_THOUGHTS}>)?.*?</{_THOUGHTS}>")
"""What a model writes before its answer; the tag that opens it may stand in the prompt."""


def _unfenced(text: str) -> str:
    text = text.lstrip("\ufeff")
    if "</" in text:
        text = _THOUGHT.sub("", text)
    if "```" in text:
        parts = _FENCE.split(text)
        if len(parts) == _ONE_FENCE and _begins(parts[0]) and not _begins(parts[1]):
            return parts[0].strip()  # the prompt opened the fence
        blocks = (_fenced_sql(block) for block in parts[1::2])
        text = "\n;\n".join(filter(None, blocks)) or text
    return text.strip()


_ONE_FENCE: Final = 2
"""Parts of a text that one fence makes."""
_BEGINS = re.compile(rf"(?is)\A(?:\s|--[^\n]*\n|/\*.*?\*/|\()*{_STATEMENT}")


def _begins(text: str) -> bool:
    """Say whether a text begins as a statement."""
    return _BEGINS.match(text) is not None


_BLANK = re.compile(r"\n[ \t\r]*\n\s*")
_FIRST_WORDS = re.compile(r"\A[^\W\d_][\w']*[,:.!?]?(?:\s|\Z)")


def without_prose(text: str) -> str:
    """Leave out paragraphs before and behind the SQL that begin with no word of SQL."""
    parts = _BLANK.split(text)
    first, end = 0, len(parts)
    while first < end and _is_prose(parts[first]):
        first += 1
    while end > first and _is_prose(parts[end - 1]):
        end -= 1
    return "\n\n".join(parts[first:end]) if first < end else text


def _is_prose(paragraph: str) -> bool:
    word = _FIRST_WORDS.match(paragraph)
    return word is not None and word[0].strip(",:.!? \r\n\t").upper() not in SQL_WORDS


def _fenced_sql(block: str) -> str:
    """Return what is in a fence, or nothing if the fence names another language."""
    head = _FENCE_HEAD.match(block)
    assert head is not None  # noqa: S101 - every part of the pattern may be empty
    language = head[1].lower()
    if "sql" in language or language in Dialect.classes:
        return block[head.end() :].strip()
    return "" if head[2] else block.strip()


# From SQL to statements.

_DATA = (
    exp.Query, DML, exp.DDL, exp.Merge, exp.MultitableInserts, exp.Values, exp.Copy, exp.Alter,
    exp.Drop,
)  # fmt: skip
_SUMMARIES = (exp.Pivot, exp.Summarize)
"""Statements of DuckDB that return rows of a table."""
_CHANGES = (DML, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.TruncateTable)
_STATEMENTS = (
    *_DATA, exp.TruncateTable, exp.Describe, exp.Show, exp.Cache, exp.Analyze, exp.Refresh,
    *_SUMMARIES,
)  # fmt: skip
_TRANSACTIONS = (exp.Transaction, exp.Commit, exp.Rollback)
_BLOCKS = (exp.Block, exp.IfBlock, exp.WhileBlock)
_SETTINGS = (exp.Set, exp.Declare, exp.Use, exp.Pragma, *_TRANSACTIONS)

_REFUSED = {
    "empty": "there is no statement",
    "unsupported": "there is no statement that the parser can look into",
    "not_sql": "there is no statement that reads, changes or defines data",
}


def _parse_as(text: str, dialect: str) -> Script:
    kept: list[exp.Expr] = []
    refused: str | None = "empty"
    whole = True
    words = _words(text, _dialect(dialect))
    for tree in _trees(text, _dialect(dialect), words):
        if isinstance(tree, _STATEMENTS):
            kept.append(tree)
            if dialect == "sqlite" and _NAME_QUOTE.search(text):
                _mark_names(tree, text)
        if isinstance(tree, (*_STATEMENTS, *_SETTINGS)):
            refused = None
        elif refused and not isinstance(tree, exp.Semicolon | None):
            refused = "unsupported" if isinstance(tree, exp.Command) else "not_sql"
        whole = whole and _is_whole(tree)
    if refused:
        raise SqlError(refused, _REFUSED[refused], text)
    return Script(tuple(kept), dialect, whole, words=words)


def _is_whole(tree: exp.Expr | None) -> bool:
    """Say whether nothing in a statement was left for later: a body, a query in SET."""
    if isinstance(tree, _STATEMENTS):
        return not (isinstance(tree, exp.Create) and tree.args.get("kind") in _WITH_BODY)
    if isinstance(tree, _SETTINGS):
        return tree.find(exp.Query) is None
    return isinstance(tree, exp.Semicolon | None)


_WITH_BODY = ("PROCEDURE", "FUNCTION", "TRIGGER")


@cache
def _dialect(name: str) -> Dialect:
    return Dialect.get_or_raise(name)


def _trees(text: str, dialect: Dialect, words: list[Token] | None = None) -> list[exp.Expr | None]:
    words = _words(text, dialect) if words is None else words
    _check_nesting(nesting(words, dialect), text)
    _check_groups(words, text)
    words = _with_one_variable(words)
    parser = dialect.parser(max_nodes=_NODES + _NODES_PER_TOKEN * len(words))
    try:
        with quiet():
            return parser.parse(words, text)
    except MemoryError:
        raise
    except RecursionError:
        raise SqlError("too_deep", "the parser ran out of stack", text) from None
    except SqlglotError as error:
        raise _refusal(error, text) from None
    except Exception as error:  # noqa: BLE001 - sqlglot raises all sorts of it on malformed input
        raise SqlError(
            "parse", f"the parser failed with {type(error).__name__}: {error}", text
        ) from None


_NAME_QUOTE = re.compile(r"[`\[]")
_ONLY_NAME: Final = "scorekit_only_name"


def _mark_names(tree: exp.Expr, text: str) -> None:
    """Mark what stands in backticks or brackets."""
    for node in tree.find_all(exp.Identifier):
        start = node.meta.get("start")
        if start is not None and _NAME_QUOTE.match(text, start):
            node.meta[_ONLY_NAME] = True


def may_be_text(column: exp.Expr) -> bool:
    """Say whether SQLite takes a name that no table has for a text, as it stands in quotes."""
    name = column.this
    return bool(name.args.get("quoted")) and _ONLY_NAME not in name.meta


def _words(text: str, dialect: Dialect) -> list[Token]:
    tokenizer = dialect.tokenizer()
    try:
        return tokenizer.tokenize(text)
    except MemoryError:
        raise
    except SqlglotError as error:
        raise _refusal(error, text) from None
    except Exception as error:  # noqa: BLE001 - sqlglot raises all sorts of it on malformed input
        raise SqlError(
            "parse", f"the tokenizer failed with {type(error).__name__}: {error}", text
        ) from None


def _with_one_variable(words: list[Token]) -> list[Token]:
    """
    Rewrite MySQL's ``INTO @a, @b``, which the parser does not take.

    One variable stays, in front of FROM: the statement still returns no rows.
    """
    kept: list[Token] = []
    start = i = 0
    while i < len(words):
        if words[i].token_type in (TokenType.SELECT, TokenType.SEMICOLON):
            start = len(kept)
        end = _end_of_variables(words, i) if words[i].token_type == TokenType.INTO else i
        last = end == len(words) or words[end].token_type == TokenType.SEMICOLON
        if end <= i + 1 or not (last or end > i + _A_VARIABLE):
            kept.append(words[i])
            i += 1
            continue
        depth, place = 0, len(kept)
        for at in range(start, len(kept)):
            kind = kept[at].token_type
            depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
            if kind == TokenType.FROM and depth == 0:
                place = at
                break
        kept[place:place] = words[i : i + _A_VARIABLE]
        i = end
    return kept


_A_VARIABLE = 3
"""Words in ``INTO @a``."""


def _end_of_variables(words: list[Token], start: int) -> int:
    """Return where the list of variables ends that begins behind an INTO."""
    end = start + 1
    while end + 1 < len(words) and words[end].token_type == TokenType.PARAMETER:
        end += 2
        if end >= len(words) or words[end].token_type != TokenType.COMMA:
            return end
        end += 1
    return start


def _check_nesting(depth: int, text: str) -> None:
    if depth > MAX_NESTING:
        levels = f"{-(-depth // 2)} levels of nesting are more than {MAX_NESTING // 2}"
        raise SqlError("too_deep", levels, text)


_AFTER_GROUPS = frozenset(
    {TokenType.HAVING, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.R_PAREN, TokenType.SEMICOLON}
)


def _check_groups(words: list[Token], text: str) -> None:
    """Refuse GROUP BY with nothing behind it, which the parser takes and no database does."""
    for token, after in zip_longest(words, words[1:]):
        if token.token_type == TokenType.GROUP_BY and (
            after is None or after.token_type in _AFTER_GROUPS
        ):
            where = f"Line {token.line}, column {token.col}"
            raise SqlError("parse", f"Incomplete Group. {where}.", text)


def _refusal(error: SqlglotError, text: str) -> SqlError:
    first = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
    message = str(first.get("description") or error)
    if message.startswith(_NODES_MESSAGE):
        return SqlError("too_deep", "nested in too many ambiguous ways", text)
    message = _INCOMPLETE.sub(r"Incomplete \1", message)
    message = _TOKEN.sub(lambda token: f" but got {token[1] or 'the end'}", message)
    if first.get("line"):
        message += f". Line {first['line']}, column {first['col']}."
    return SqlError("parse", message, text)


_parsing = threading.local()


class _WhileParsing(logging.Filter):
    """Drops what a thread logs while it parses."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether *record* is kept."""
        del record
        return not getattr(_parsing, "now", False)


@contextmanager
def quiet() -> Generator[None]:
    """Keep sqlglot from logging SQL that it cannot look into; other threads are still heard."""
    logger, silence = logging.getLogger("sqlglot"), _WhileParsing()
    logger.addFilter(silence)
    _parsing.now = True
    try:
        yield
    finally:
        _parsing.now = False
        logger.removeFilter(silence)
