"""Two texts as queries, refused where the parser gives one tree to texts of several meanings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import attrs
from sqlglot import Token, TokenType, exp

from scorekit._core.text import ORDINALS
from scorekit._sql.databases.dialects import has_all, unknown, versions
from scorekit._sql.databases.functions import VERSIONS, database_of
from scorekit._sql.meaning.catalog import Catalog, normal_name, rules_of
from scorekit._sql.meaning.names import fold_names
from scorekit._sql.meaning.operands import faults_of, misfit
from scorekit._sql.meaning.read import Reading, read_query
from scorekit._sql.meaning.syntax import RefusedError, UnreadError
from scorekit._sql.meaning.tree import Function, Node, OrderItem, rewritten
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.runnable import affinity, affinity_of
from scorekit._sql.schema.definitions import View, table_name
from scorekit._sql.schema.tables import SqlSchema
from scorekit._sql.text.dialect_neutral import EVERYWHERE, DiffersError, is_alike
from scorekit._sql.text.parsing import (
    MAX_WORDS,
    RETRIED_CHARS,
    Script,
    is_explain,
    is_long,
    is_taken_by_all,
    parse,
    refused_by_all,
)
from scorekit.errors import SqlError

_WRITING = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.DDL, exp.Into, exp.Lock)


class Pair(NamedTuple):
    """Two queries, parsed."""

    first: exp.Expr
    second: exp.Expr
    dialect: str
    """The dialect that the first was read as."""
    words: tuple[Sequence[Token], ...] = ()
    """Of each text."""


def read_pair(
    texts: tuple[str, str], dialect: str | None, schema: SqlSchema | None = None
) -> Pair:
    """
    Parse two queries, and put the query of a view of the schema where it is named.

    Raises:
        UnfaithfulError: If a text is not one query that only reads, or its tree may be that of
            another text too.
    """
    trees: list[exp.Expr] = []
    words: list[Sequence[Token]] = []
    used = ""
    for text, which in zip(texts, ORDINALS, strict=True):
        tree, script = _query_of(text, dialect, f"the {which}")
        views = _put_views(tree, schema, dialect) if schema is not None and schema.views else []
        trees.append(tree)
        words.append([*script.words, *views])
        used = used or script.dialect
    return Pair(trees[0], trees[1], used, tuple(words))


def _query_of(text: str, dialect: str | None, whose: str) -> tuple[exp.Expr, Script]:
    """Return the tree of a text that is one query, and the script that it was read from."""
    try:
        script = parse(text, dialect)
    except SqlError as error:
        raise UnfaithfulError(f"{whose} query cannot be read: {error}") from None
    if len(script.statements) != 1:
        raise UnfaithfulError(f"{whose} text is not one query")
    if is_explain(text):
        raise UnfaithfulError(f"{whose} text asks for a plan, not for rows")
    tree = script.statements[0].copy()  # which is made plainer here
    nodes = list(tree.walk()) if isinstance(tree, exp.Query) else []
    if not nodes or any(isinstance(node, _WRITING) for node in nodes):
        raise UnfaithfulError(f"{whose} text is not a query that only reads")
    _check_precedence(nodes)
    _rewrite_all(nodes, text)
    if script.dialect in VERSIONS and script.dialect != "mysql":
        _check_signs(nodes, script.words)
    if script.dialect == "sqlite":
        _restore_sqlite(nodes, script.words)
    return tree, script


_MOST_VIEWS: Final = 20
"""Views that are put into a query: each may name further ones, or itself."""


def _put_views(tree: exp.Expr, schema: SqlSchema, dialect: str | None) -> list[Token]:
    """
    Put the queries of views where they are named, and return their words.

    A name that the query itself gives is no view's.
    """
    words: list[Token] = []
    for _ in range(_MOST_VIEWS):
        named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        found = (
            (table, name)
            for table in tree.find_all(exp.Table)
            if (name := schema.find(table_name(table))) in schema.views
            and table_name(table) not in named
            and not any(table.args.get(part) for part in table.args.keys() - {*_OF_TABLES})
        )
        table, name = next(found, (None, None))
        if table is None or name is None:
            return words
        query, script = _view_query(schema.views[name], f"the view {name}'s", dialect)
        if named & {one.name.lower() for one in query.find_all(exp.Table)}:
            raise UnfaithfulError(f"a name of the query hides a table of the view {name}")
        alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
        table.replace(exp.Subquery(this=query, alias=alias, joins=table.args.get("joins")))
        words += script.words
    raise UnfaithfulError(f"more than {_MOST_VIEWS} views stand for one another")


_OF_TABLES: Final = ("this", "db", "catalog", "alias", "joins")


def _view_query(view: View, whose: str, dialect: str | None) -> tuple[exp.Query, Script]:
    query, script = _query_of(view.query, dialect, whose)
    assert isinstance(query, exp.Query)  # noqa: S101 - for the type checkers
    outputs = query.selects
    if view.columns:
        if len(outputs) != len(view.columns) or any(one.is_star for one in outputs):
            raise UnfaithfulError(f"{whose} columns are not known")
        for output, name in zip(outputs, view.columns, strict=True):
            output.replace(exp.alias_(output.unalias().copy(), name))
    return query, script


_ARRAY = re.compile(r"\bARRAY\s*\[", re.IGNORECASE)


def _rewrite_all(nodes: Sequence[exp.Expr], text: str) -> None:
    """
    Write ``= ANY`` as IN, and ``<> ALL`` as NOT IN, of a query or an array that is written out.

    The parser reads Snowflake's NOT IN as ``<> ALL``, too.
    """
    named = sum(isinstance(n, exp.Array) for n in nodes) == len(_ARRAY.findall(text))
    for node in nodes:
        if not isinstance(node, exp.EQ | exp.NEQ):
            continue
        several = node.expression
        if not isinstance(several, exp.Any if isinstance(node, exp.EQ) else exp.All):
            continue
        among = several.this.unnest() if isinstance(several.this, exp.Paren) else several.this
        if isinstance(among, exp.Query):
            among = among if isinstance(among, exp.Subquery) else exp.Subquery(this=among)
            found = exp.In(this=node.this, query=among)
        elif isinstance(among, exp.Array) and among.expressions and named:
            found = exp.In(this=node.this, expressions=among.expressions)
        else:
            continue
        node.replace(found if isinstance(node, exp.EQ) else exp.Not(this=found))


class Texts(NamedTuple):
    """How the databases read two queries that these may be of."""

    pairs: Callable[[], dict[str, Pair]]
    """By the dialects of those that take both."""
    refusals: tuple[str, ...]
    """Why others may not take one."""
    neutral: Pair
    """The pair for what holds in all of them: an order of NULLs is that of each."""
    assumptions: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    """What the queries of the neutral pair mean, where that is known by now."""


def read_texts(texts: tuple[str, str], schema: SqlSchema | None, dialect: str | None) -> Texts:
    """
    Read two queries of a dialect; of none as SQLite, DuckDB, PostgreSQL and MySQL do.

    The case of names is no difference between these.

    Raises:
        UnfaithfulError: If a database does not take a query; of several, if one cannot read it or
            reads it otherwise, or none takes both.
    """
    check_short(texts)
    if dialect is not None and dialect not in VERSIONS:
        for text, which in zip(texts, ORDINALS, strict=True):
            why = refused_by_all(text)
            if why is not None:
                raise UnfaithfulError(f"in the {which} query, {why}")
    if dialect is not None:
        pair = read_pair(texts, dialect, schema)
        notes = fold_names(pair[:2], schema, dialect)
        readings = _read_both(pair, schema, dialect)
        notes += check_known(pair, schema, dialect, readings=readings)
        return Texts(lambda: {dialect: pair}, (), pair, notes, readings)
    return _read_alike(texts, schema) or _read_everywhere(texts, schema)


def _read_both(pair: Pair, schema: SqlSchema | None, dialect: str) -> tuple[Reading, ...]:
    """Return what two queries mean, nothing where they are one or that is not known of both."""
    if _same_words(*pair.words):
        return ()
    try:
        return tuple(read_query(tree, Catalog(schema, dialect)) for tree in pair[:2])
    except UnreadError:
        return ()


def check_short(texts: Sequence[str]) -> None:
    """
    Refuse what would take long to look into.

    Raises:
        UnfaithfulError: If a text has too many words or characters.
    """
    for text, which in zip(texts, ORDINALS, strict=False):
        if is_long(text):
            raise UnfaithfulError(
                f"more than {MAX_WORDS} words or {RETRIED_CHARS} characters of the {which} query "
                "are too many to try out"
            )


def _read_everywhere(texts: tuple[str, str], schema: SqlSchema | None) -> Texts:
    pairs: dict[str, Pair] = {}
    refusals: dict[str, str] = {}
    meanings: dict[str, tuple[Node, Node] | None] = {}
    for name in VERSIONS:
        try:
            pairs[name] = read_pair(texts, name, schema)
        except UnfaithfulError as error:
            refusals[name] = str(error)
            continue
        _lower_names(pairs[name])
        meanings[name] = _meant(pairs[name], schema, name)
    if None not in meanings.values():
        for i, which in enumerate(ORDINALS):
            _check_alike({d: one[i] for d, one in meanings.items() if one}, which)
    for name, pair in pairs.items():
        try:
            check_known(pair, schema, name, reserved=False)
        except UnfaithfulError as error:
            if meanings[name] is None:
                raise  # what it would be without the fault is not known either
            refusals[name] = str(error)
    taken = {name: pair for name, pair in pairs.items() if name not in refusals}
    if not taken:
        raise UnfaithfulError(refusals["sqlite"])
    refused = tuple(dict.fromkeys(refusals.values()))
    return Texts(lambda: taken, refused, _neutral(pairs))


def _read_alike(texts: tuple[str, str], schema: SqlSchema | None) -> Texts | None:
    """Read two queries once for all databases; None where they may differ in anything."""
    if not all(map(is_alike, texts)) or not all(map(is_taken_by_all, texts)):
        return None
    try:
        pair = read_pair(texts, _PLAIN, schema)
        _lower_names(pair)
        neutral = _spelled(pair, *VERSIONS)
        readings = tuple(read_query(tree, Catalog(schema, EVERYWHERE)) for tree in neutral[:2])
        taken = (
            not _same_words(*pair.words)
            and all(map(_has_plain_signs, pair.words, pair[:2]))
            and all(map(has_all, pair.words, pair[:2]))
            and not any(True for one in readings for _ in faults_of(one, VERSIONS, schema))
        )
    except (UnfaithfulError, UnreadError, DiffersError):
        return None
    return Texts(lambda: _pairs(pair), (), neutral, readings=readings) if taken else None


_PLAIN: Final = "postgres"
"""The dialect whose parser keeps apart the most of what all read alike."""


def _has_plain_signs(words: Sequence[Token], tree: exp.Expr) -> bool:
    """Say whether each plus adds: SQLite takes a column behind another one for a value."""
    n_signs = sum(word.token_type == TokenType.PLUS for word in words)
    return not n_signs or n_signs == sum(1 for _ in tree.find_all(exp.Add))


def _pairs(pair: Pair) -> dict[str, Pair]:
    """Return the pair that all read alike as the parser has it of each."""
    return {name: _spelled(pair, name) for name in VERSIONS}


def _spelled(pair: Pair, *dialects: str) -> Pair:
    """Return a pair as the parser has it of the first dialect, with the NULLs of all."""
    orders = [rules_of(dialect).NULL_ORDERING for dialect in dialects]
    trees = [_respelled(tree, dialects[0], orders) for tree in pair[:2]]
    return Pair(trees[0], trees[1], dialects[0], pair.words)


def _respelled(tree: exp.Expr, dialect: str, orders: Sequence[str]) -> exp.Expr:
    if tree.find(exp.Ordered, exp.Join, exp.Is) is None:
        return tree
    tree = tree.copy()
    for node in list(tree.walk()):
        if isinstance(node, exp.Ordered):
            bits = [_puts_nulls_first(order, bool(node.args.get("desc"))) for order in orders]
            node.set("nulls_first", bits[0] if len(bits) == 1 else _number_of(bits))
        elif isinstance(node, exp.Join) and dialect == "sqlite":
            if not any(node.args.get(key) for key in ("kind", "side", "on")):
                node.set("kind", "CROSS")
        elif isinstance(node, exp.Is) and node.args.get("negate") and dialect != _PLAIN:
            node.set("negate", None)
            node.replace(exp.Not(this=node.copy()))
    return tree


def _puts_nulls_first(order: str, descending: bool) -> bool:  # noqa: FBT001 - of a node
    """Say where the parser puts NULLs where a text does not say."""
    return order != "nulls_are_last" and (order == "nulls_are_small") != descending


def _number_of(bits: Sequence[bool]) -> int:
    return int("".join(str(int(bit)) for bit in bits), 2)


def _lower_names(pair: Pair) -> None:
    written: dict[str, str] = {}
    for tree in pair[:2]:
        for node in tree.find_all(exp.Identifier):
            name = node.name
            own = written.setdefault(name.lower(), name)
            if not name.isascii() and _lower_in_ascii(own) != _lower_in_ascii(name):
                raise UnfaithfulError(f"databases differ in whether {own} and {name} are one name")
            node.set("this", name.lower())


def _lower_in_ascii(name: str) -> str:
    return normal_name(name, "sqlite", quoted=False)


def _meant(pair: Pair, schema: SqlSchema | None, dialect: str) -> tuple[Node, Node] | None:
    """Return what two queries mean to a dialect, None where not all of one is looked into."""
    found: list[Node] = []
    for tree, which in zip(pair[:2], ORDINALS, strict=True):
        try:
            query = read_query(tree, Catalog(schema, dialect)).query
        except RefusedError as error:
            raise UnfaithfulError(
                f"{database_of(dialect)} may refuse the {which} query: {error}"
            ) from None
        except UnreadError:
            return None
        found.append(rewritten(query, _as_anywhere))
    return found[0], found[1]


def _as_anywhere(node: Node) -> Node:
    """Leave out what databases differ in though they read the same."""
    if isinstance(node, OrderItem):
        return attrs.evolve(node, nulls_first=False)
    if isinstance(node, Function) and node.form:
        form = " ".join(one for one in node.form.split() if not one.endswith(("=True", "=False")))
        return attrs.evolve(node, form=form)
    return node


def _check_alike(meanings: Mapping[str, Node], which: str) -> None:
    """Refuse a query that databases read otherwise than one another, naming them."""
    groups: dict[Node, list[str]] = {}
    for dialect, meaning in meanings.items():
        groups.setdefault(meaning, []).append(database_of(dialect))
    if len(groups) > 1:
        *others, last = sorted(groups.values(), key=len, reverse=True)
        named = [" and ".join(group) for group in (last, [one for g in others for one in g])]
        raise UnfaithfulError(
            f"{named[0]} read{'s' if len(last) == 1 else ''} the {which} query otherwise than "
            f"{named[1]}"
        )


def _neutral(pairs: Mapping[str, Pair]) -> Pair:
    """Return a pair in whose orders NULLs come where each of the databases puts them."""
    pair = next(iter(pairs.values()))
    orders = [[list(tree.find_all(exp.Ordered)) for tree in one[:2]] for one in pairs.values()]
    if not any(orders[0]):
        return pair
    trees = [tree.copy() for tree in pair[:2]]
    for i, tree in enumerate(trees):
        for own, several in zip(
            tree.find_all(exp.Ordered), zip(*(one[i] for one in orders), strict=True), strict=True
        ):
            bits = [bool(node.args.get("nulls_first")) for node in several]
            own.set("nulls_first", _number_of(bits))
    return Pair(trees[0], trees[1], pair.dialect)


def check_known(
    pair: Pair,
    schema: SqlSchema | None,
    dialect: str | None,
    *,
    reserved: bool = True,
    readings: tuple[Reading, ...] = (),
) -> tuple[str, ...]:
    """
    Refuse queries with something that the database of a dialect may not have.

    Two queries of the same words are the same query wherever they run, if they run.

    Returns:
        What versions of the database the queries need, as assumptions; of a database that is not
        described, that it takes the queries.

    Raises:
        UnfaithfulError: If a function, a form or an operand is not known to the dialect.
    """
    if dialect is None:
        return ()
    if _same_words(*pair.words):
        fault = misfit(pair.first, dialect, schema, sure=True)
        if fault is not None:
            raise UnfaithfulError(f"{database_of(dialect)} refuses both queries: {fault}")
        return ()
    if dialect not in VERSIONS:
        described = map(database_of, VERSIONS)
        return (f"{dialect} takes both queries: known only of {', '.join(described)}",)
    for i, (own, tree, which) in enumerate(zip(pair.words, pair[:2], ORDINALS, strict=True)):
        lacking = unknown(own, tree, dialect, reserved=reserved)
        if lacking is not None:
            raise UnfaithfulError(f"in the {which} query, {lacking}")
        fault = misfit(tree, dialect, schema, reading=readings[i] if readings else None)
        if fault is not None:
            raise UnfaithfulError(f"{database_of(dialect)} may refuse the {which} query: {fault}")
    needed = (versions(*read, dialect) for read in zip(pair.words, pair[:2], strict=True))
    return tuple(sorted(set[str]().union(*needed)))


def _same_words(first: Sequence[Token], second: Sequence[Token]) -> bool:
    return len(first) == len(second) and all(
        a.token_type == b.token_type
        and (a.text == b.text or (a.token_type not in _EXACT and a.text.lower() == b.text.lower()))
        for a, b in zip(first, second, strict=True)
    )


_EXACT = (TokenType.STRING, TokenType.IDENTIFIER)
_COMPARING = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is,
    exp.Like, exp.ILike, exp.Glob, exp.In, exp.Between,
)  # fmt: skip
_BITS = (
    exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift,
)  # fmt: skip
_UNCLEAR = (
    (_COMPARING, (*_COMPARING, exp.Not, exp.Escape)),
    (_BITS, (*_BITS, exp.DPipe, exp.BitwiseNot)),
    (exp.DPipe, (*_BITS, exp.BitwiseNot)),
    ((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Pow), exp.BitwiseNot),
)
"""Operators, and those that may not stand in them without brackets."""


def _check_precedence(nodes: Sequence[exp.Expr]) -> None:
    """
    Refuse what dialects bracket otherwise, such as a comparison of a comparison.

    ``a = b LIKE c`` is ``(a = b) LIKE c`` in some dialects and ``a = (b LIKE c)`` in others, and
    the parser does not follow each.
    """
    for node in nodes:
        parts = [node.args.get(name) for name in ("this", "expression", "low", "high")]
        for outer, inside in _UNCLEAR:
            if isinstance(node, outer) and any(isinstance(part, inside) for part in parts):
                raise UnfaithfulError("brackets must say which operator comes first")


def _check_signs(nodes: Sequence[exp.Expr], words: Sequence[Token]) -> None:
    """Refuse a plus that adds nothing, which the parser drops: texts become numbers, or errors."""
    n_sums = sum(isinstance(node, exp.Add) for node in nodes)
    if sum(token.token_type == TokenType.PLUS for token in words) != n_sums:
        raise UnfaithfulError("a sign of plus that adds nothing changes types")


def _restore_sqlite(nodes: Sequence[exp.Expr], words: Sequence[Token]) -> None:
    """Restore what SQLite distinguishes and the parser does not."""
    casts = [node for node in nodes if isinstance(node, exp.Cast)]
    if casts:
        written = Counter(map(affinity, _types(words)))
        if written != Counter(map(affinity_of, casts)):
            raise UnfaithfulError("SQLite casts to types by rules of its own")
    for node in nodes:
        # a call of mod(), which takes fractions, unlike %
        if isinstance(node, exp.Mod) and "start" in node.meta:
            node.replace(exp.Anonymous(this="MOD", expressions=[node.this, node.expression]))


def _types(written: Sequence[Token]) -> Iterator[str]:
    """Yield the types that are cast to, as written."""
    depth, last = 0, ""
    casts: list[tuple[int, list[str] | None]] = []
    for token in written:
        word = "" if token.token_type == TokenType.STRING else token.text.upper()
        if word == "(":
            depth += 1
            if last == "CAST":
                casts.append((depth, None))
        elif word == ")":
            if casts and casts[-1][0] == depth:
                yield " ".join(casts.pop()[1] or ())
            depth -= 1
        elif casts and casts[-1][0] == depth:
            parts = casts[-1][1]
            if word == "AS":
                casts[-1] = depth, []
            elif parts is not None:
                parts.append(word)
        last = word
