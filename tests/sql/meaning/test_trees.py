"""The tree of a query: what is read, what it means, and that engines mean the same."""

# ruff: noqa: E501, S311 - a case stands on one line; queries of our own

import random
import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from sqlglot import exp

from benchmarks.generators.random_sql import (
    KINDS,
    QueryMaker,
    Schema,
    Table,
    random_rows,
    random_schema,
    schema_text,
)
from benchmarks.generators.random_sql import Column as Field
from benchmarks.generators.random_sql import Source as Alias
from benchmarks.generators.stored_pairs import pairs
from benchmarks.oracles.tree_interpreter import (
    Database,
    Interpreter,
    MeaninglessError,
    Result,
    Row,
    TooManyError,
)
from scorekit import column_accuracy
from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.read import Reading, read_names, read_query
from scorekit._sql.meaning.syntax import UnreadError
from scorekit._sql.meaning.tree import (
    FALSE,
    NULL,
    TRUE,
    And,
    Column,
    Comparison,
    Derived,
    Exists,
    Function,
    IsNull,
    Literal,
    Node,
    Not,
    OpenName,
    Select,
    Source,
    conjunction,
    conjuncts,
    defined_in,
    found_in,
    free_sources,
    has_aggregate,
    integer,
    replaced,
    rewritten,
    sorted_nodes,
    walk,
)
from scorekit._sql.schema.tables import read_schema
from scorekit._sql.text.parsing import parse

TABLES = (
    Table("t", (Field("a", "int"), Field("b", "int"), Field("c", "text")), ()),
    Table("u", (Field("a", "int"), Field("d", "int"), Field("e", "text")), ()),
)
SHOP = schema_text(TABLES)


def read(text: str, dialect: str | None = "sqlite", schema: str | None = SHOP) -> Reading:
    """Read a query."""
    known = read_schema(schema, None, dialect) if schema else None
    return read_query(parse(text, dialect).statements[0], Catalog(known, dialect))


class Chooser(QueryMaker):
    """Makes queries that leave a choice: limits inside, windows over ties, orders with NULLs."""

    def query(self) -> str:
        """Make a query, perhaps in an order, of which only a part is wanted."""
        text = super().query()
        if " ORDER BY " in text.rpartition(")")[2] or self._chance(0.7):
            return text
        order = self._rng.choice((" NULLS FIRST", " DESC NULLS LAST", " DESC"))
        return f"{text} ORDER BY 1{order}{self._rng.choice(('', ' LIMIT 1', ' LIMIT 2 OFFSET 1'))}"

    def _source(self, outer: tuple[Alias, ...]) -> tuple[Alias, str]:
        if outer or self._left <= 0 or self._chance(0.85):
            return super()._source(outer)
        self._n += 1
        table, kinds = self._rng.choice(self._schema), self._kinds(2)
        own = [Alias("y", tuple((one.name, one.kind) for one in table.columns), table)]
        shown = ", ".join(f"{self._column(own, kind)} AS c{i}" for i, kind in enumerate(kinds))
        order = f"ORDER BY {self._column(own, 'int')} {self._rng.choice(('', 'DESC'))}"
        inner = f"SELECT {shown} FROM {table.name} AS y {order} LIMIT {self._rng.choice('1123')}"
        columns = tuple((f"c{i}", kind) for i, kind in enumerate(kinds))
        return Alias(f"x{self._n}", columns), f"({inner}) AS x{self._n}"

    def _window(self, sources: Sequence[Alias]) -> str:
        if self._chance(0.4):
            return super()._window(sources)
        value = self._column(sources, "int")
        name = self._rng.choice(("ROW_NUMBER()", f"LAG({value})", f"FIRST_VALUE({value})",
                                 "NTILE(2)", f"SUM({value})", "COUNT(*)"))  # fmt: skip
        frame = self._rng.choice(("", " ROWS UNBOUNDED PRECEDING",
                                  " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"))  # fmt: skip
        part = f"PARTITION BY {self._column(sources, 'text')} " * self._chance(0.5)
        order = self._column(sources, self._rng.choice(KINDS))
        return f"{name} OVER ({part}ORDER BY {order}{frame * (name[0] in 'FSC')})"


def random_database(schema: Schema, rng: random.Random) -> Database:
    """Make rows with NULLs and copies."""
    rows = random_rows(schema, rng, (0, 1, 2, 3, 3, 4))
    return {table.name: ([c.name for c in table.columns], rows[table.name]) for table in schema}


def filled(connection: Any, database: Database) -> Any:
    """Put rows into an engine in the place of those that are there."""
    for table, (columns, rows) in database.items():
        connection.execute(f"DELETE FROM {table}")
        for row in rows:
            places = ", ".join("?" * len(columns))
            connection.execute(f"INSERT INTO {table} VALUES ({places})", list(row))
    return connection


def agrees(rows: Sequence[Row], allowed: frozenset[Result]) -> bool:
    """Say whether rows are a result that is allowed: those that tie may come in any order."""
    for result in allowed:
        at = 0
        for group in result:
            if Counter(rows[at : at + len(group)]) != Counter(group):
                break
            at += len(group)
        else:
            if at == len(rows):
                return True
    return False


def engine(dialect: str, schema: Schema = TABLES) -> Any:
    """Return an engine with empty tables, without constraints."""
    if dialect == "sqlite":
        connection: Any = sqlite3.connect(":memory:")
    else:
        connection = pytest.importorskip("duckdb").connect(":memory:")
    for table in schema:
        columns = ", ".join(f"{column.name} {column.kind}" for column in table.columns)
        connection.execute(f"CREATE TABLE {table.name} ({columns})")
    return connection


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 8))]
)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_engines_agree_with_what_random_trees_mean(dialect: str, seed: int) -> None:
    """Each result of an engine is one that the tree allows; few queries are left out."""
    rng = random.Random(seed)
    schema = random_schema(rng)
    connection, maker = engine(dialect, schema), Chooser(schema, rng)
    n_compared = 0
    for _ in range(100):
        database, text = random_database(schema, rng), maker.query()
        try:
            reading = read(text, dialect, schema_text(schema))
            allowed = Interpreter(database, dialect).allowed(reading.query)
        except (UnreadError, TooManyError):
            continue
        rows = filled(connection, database).execute(text).fetchall()
        assert agrees([*map(tuple, rows)], allowed), (text, database, rows, allowed)
        n_compared += 1
    assert n_compared >= 85


@pytest.mark.parametrize(("dialects", "text"), [
    # an aggregate of an aggregate is over groups where it is a window function
    ("sqlite duckdb", "SELECT c, SUM(COUNT(*)) OVER () FROM t GROUP BY c"),
    ("sqlite duckdb", "SELECT c, SUM(a) - SUM(SUM(a)) OVER (PARTITION BY c) FROM t GROUP BY c, b"),
    ("sqlite duckdb", "SELECT MAX(COUNT(b) + 1) OVER (ORDER BY c) FROM t GROUP BY c"),
    ("sqlite duckdb", "SELECT SUM(COUNT(*)) OVER () FROM t"),
    # a value of any row of a group, a query for each row around it, a choice that WITH makes once
    ("sqlite", "SELECT c, a, COUNT(*) FROM t GROUP BY c HAVING b > 0"),
    ("sqlite", "SELECT COUNT(*), b FROM t"),
    ("duckdb", "SELECT x.a, y.d FROM t AS x JOIN LATERAL (SELECT d FROM u WHERE u.a = x.a) AS y ON TRUE"),
    ("sqlite duckdb", "WITH w AS (SELECT a FROM t ORDER BY b LIMIT 2) SELECT x.a FROM w AS x, w AS y WHERE x.a = y.a"),
])  # fmt: skip
def test_engines_agree_with_what_a_tree_means(dialects: str, text: str) -> None:
    """On rows with NULLs and copies."""
    for dialect in dialects.split():
        rng, connection = random.Random(5), engine(dialect)
        query = read(text, dialect).query
        for _ in range(30):
            database = random_database(TABLES, rng)
            rows = filled(connection, database).execute(text).fetchall()
            assert agrees([*map(tuple, rows)], Interpreter(database, dialect).allowed(query))


# What names mean.


def columns(node: Node) -> list[str]:
    """Return the columns in a tree of base tables, as table.column, sorted."""
    found = (c for c in found_in(node, Column) if c.source.table)
    return sorted({f"{c.source.table}.{c.name}" for c in found})


@pytest.mark.parametrize(("text", "meant"), [
    ("SELECT d FROM t, u WHERE t.A = u.a", ["t.a", "u.a", "u.d"]),
    ("SELECT x.b FROM t AS x WHERE EXISTS (SELECT 1 FROM u WHERE d = b)", ["t.b", "u.d"]),
    ("SELECT * FROM t JOIN u USING (a)", ["t.a", "t.b", "t.c", "u.a", "u.d", "u.e"]),
    ("SELECT d FROM t NATURAL JOIN u", ["t.a", "u.a", "u.d"]),
    ("SELECT a FROM t FULL JOIN u USING (a)", ["t.a", "u.a"]),
    ("WITH w (z) AS (SELECT b FROM t) SELECT z FROM w", ["t.b"]),
    ("SELECT b AS z FROM t ORDER BY z", ["t.b"]),
    ("SELECT b AS z FROM t GROUP BY z HAVING z > 1", ["t.b"]),
    ("SELECT a FROM t GROUP BY 1 ORDER BY 1", ["t.a"]),
    ("SELECT main.t.a FROM main.t", ["t.a"]),
    ("SELECT v.z FROM (SELECT a AS z FROM u) AS v", ["u.a"]),
    ("WITH w AS (SELECT d FROM u) SELECT a FROM t WHERE b IN w", ["t.a", "t.b", "u.d"]),
    ("SELECT d FROM t JOIN (u JOIN t AS x ON x.b = d) ON t.a = x.a", ["t.a", "t.b", "u.d"]),
])  # fmt: skip
def test_a_name_is_the_column_that_the_engine_takes(text: str, meant: list[str]) -> None:
    """Aliases, WITH, USING, stars, outer queries and qualifiers lead to columns of base tables."""
    assert columns(read(text).query) == meant


@pytest.mark.parametrize(("text", "meant"), [
    ("SELECT y FROM t AS x (y) WHERE b > 1", ["t.a", "t.b", "t.c"]),
    ("SELECT d FROM t JOIN u JOIN t AS x ON x.b = d ON t.a = x.a", ["t.a", "t.b", "u.d"]),
])  # fmt: skip
def test_names_are_found_in_what_sqlite_does_not_take(text: str, meant: list[str]) -> None:
    """Lists of columns behind an alias, and conditions that follow several joins."""
    assert columns(read(text, "postgres").query) == meant


@pytest.mark.parametrize("dialect", ["mysql", "bigquery"])
@pytest.mark.parametrize("text", [
    "SELECT x.N FROM (SELECT a AS n FROM t) AS x",
    "SELECT x.n FROM (SELECT a AS N FROM t) AS x",
    "WITH x (N) AS (SELECT a FROM t) SELECT n FROM x",
    "SELECT t.A FROM t JOIN (SELECT A FROM t) AS x USING (A)",
    "SELECT a AS N FROM t ORDER BY n",
])  # fmt: skip
def test_the_case_of_columns_never_matters(text: str, dialect: str) -> None:
    """Also where that of tables does."""
    assert columns(read(text, dialect).query) == ["t.a"]


def test_a_double_quoted_name_that_nothing_has_is_a_text_in_sqlite() -> None:
    """SQLite reads a text; elsewhere the name is missing, and without a schema it may be both."""
    text = 'SELECT a FROM t WHERE c = "x"'
    reading = read(text)
    assert Literal("text", "x") in {*walk(reading.query)}
    assert reading.assumptions == {'"x" is no column, so that SQLite reads a text'}
    with pytest.raises(UnreadError, match="no table has a column x"):
        read(text, "postgres")
    (name,) = found_in(read(text, schema=None).query, OpenName)
    assert (name.name, name.or_text) == ("x", True)


def test_an_open_name_goes_from_the_inside_outwards() -> None:
    """Without a schema a name in a subquery may be a column of each table around it."""
    text = "SELECT t.a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE z = 1)"
    (name,) = found_in(read(text, schema=None).query, OpenName)
    assert [
        [column.source.table for column in found_in(level, Column)] for level in name.levels
    ] == [
        ["u"],
        ["t"],
    ]


def test_tables_of_one_with_are_marked_where_it_leaves_a_choice() -> None:
    """Both tables have the rows that WITH chose; where it chooses nothing there is no mark."""
    text = "WITH w AS (SELECT a FROM t ORDER BY b{}) SELECT 1 FROM w AS x, w AS y"
    marks = [{one.shared for one in found_in(read(text.format(end)).query, Derived)}
             for end in (" LIMIT 1", "")]  # fmt: skip
    assert marks == [{"w0"}, {""}]


@pytest.mark.parametrize(("dialect", "text", "reason"), [
    ("sqlite", "SELECT z FROM t", "no table has a column z"),
    ("sqlite", "SELECT t.z FROM t", "t has no column z"),
    ("sqlite", "SELECT a FROM t, u", "several tables have a column a"),
    ("sqlite", "SELECT x.a FROM t", "no table is called x"),
    ("sqlite", "SELECT other.t.a FROM main.t", "no table is called other.t"),
    ("sqlite", "SELECT 1 FROM t, u AS t", "two tables are called t"),
    ("sqlite", "SELECT 1 FROM t JOIN t AS x ON x.a = u.a JOIN u ON 1 = 1", "a join names a table that comes after it"),
    ("sqlite", "SELECT rowid FROM t", "rowid is a column that no schema names"),
    ("sqlite", "SELECT a, b AS a FROM t ORDER BY a", "two outputs are called a"),
    ("sqlite", "SELECT a FROM t GROUP BY 3", "there is no column 3"),
    ("sqlite", "SELECT a FROM t WHERE COUNT(*) > 1", "an aggregate in WHERE"),
    ("sqlite", "SELECT COUNT(*) FILTER (WHERE MAX(a) > 1) FROM t", "FILTER of what is no aggregate"),
    ("sqlite", "SELECT a, SUM(b) FROM t GROUP BY SUM(b)", "an aggregate in GROUP BY"),
    ("sqlite", "SELECT SUM(MAX(a)) FROM t", "an aggregate of another aggregate"),
    ("sqlite", "SELECT COUNT(DISTINCT a, b) FROM t", "count of several values"),
    ("sqlite", "SELECT RANK() OVER (ORDER BY RANK() OVER (ORDER BY a)) FROM t", "a window function inside another"),
    ("sqlite", "SELECT *, RANK() OVER (ORDER BY a) FROM (SELECT * FROM nope) AS x", "a star stands for columns that only a schema names"),
    ("sqlite", "SELECT t.a FROM t JOIN (u JOIN t AS x USING (a)) ON 1 = 1", "USING in a join in brackets"),
    ("sqlite", "SELECT a FROM t, (VALUES (1), (1, 2)) AS v", "rows of VALUES differ in their width"),
    ("sqlite", "SELECT a FROM t, (VALUES (1 + 1)) AS v", "VALUES that are computed"),
    ("bigquery", "SELECT *", "a star without tables"),
    ("postgres", "SELECT a FROM nope AS x (y)", "a star stands for columns that only a schema names"),
    ("sqlite", "SELECT x.p FROM (SELECT a AS p, b AS p FROM t) AS x", "x has 2 columns p"),
    ("sqlite", "SELECT * FROM nope NATURAL JOIN t", "NATURAL JOIN needs a schema"),
    ("sqlite", "SELECT d FROM t JOIN u USING (z)", "which table has the column z is not known"),
    ("sqlite", "SELECT a FROM t HAVING a > 1", "HAVING without groups"),
    ("sqlite", "SELECT a FROM t ORDER BY COUNT(*)", "an aggregate orders rows that are no groups"),
    ("sqlite", "SELECT (SELECT SUM(t.a) FROM u) FROM t", "an aggregate of an outer query"),
    ("sqlite", "SELECT (SELECT a, b FROM t)", "a subquery has more or fewer columns than it may"),
    ("sqlite", "SELECT a FROM t UNION SELECT a, d FROM u", "the arms of a set operation differ in their width"),
    ("sqlite", "SELECT a FROM t UNION SELECT a FROM u ORDER BY z", "ORDER BY of a set operation names no column of it"),
    ("sqlite", "WITH RECURSIVE w AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM w) SELECT n FROM w", "w names itself, or what is defined after it"),
    ("sqlite", "WITH w AS (SELECT 1), w AS (SELECT 2) SELECT 1", "WITH defines a name twice"),
    ("sqlite", "SELECT a IN ((SELECT a FROM u)) FROM t", "IN of a query in double brackets"),
    ("sqlite", "SELECT SUM(a) OVER (ORDER BY a GROUPS 1 PRECEDING) FROM t", "a frame of a window that is not known"),
    ("sqlite", "SELECT a FROM t WHERE RANK() OVER (ORDER BY a) = 1", "a window function in WHERE, GROUP BY or HAVING"),
    ("sqlite", "SELECT (SELECT RANK() OVER (ORDER BY t.a) FROM u) FROM t", "a window function in a subquery that names columns around it"),
    ("sqlite", "WITH v (x, y) AS (SELECT 1) SELECT 1 FROM u JOIN v ON 1 = 1", "more names than columns"),
    ("sqlite", "UPDATE t SET a = 1", "Update is no query that is known"),
    ("sqlite", "SELECT 1" + ", 1" * 6000, "the query is too large"),
    ("sqlite", "SELECT 1" + " + 1" * 2000, "the query is too deep"),
    # engines differ, or one has a meaning of its own
    ("postgres", "SELECT DISTINCT ON (a) a FROM t", "DISTINCT ON"),
    ("postgres", "SELECT * FROM t JOIN u USING (a)", "a star after USING"),
    ("postgres", "SELECT a FROM t, u RIGHT JOIN t AS x ON 1 = 1", "dialects differ in whether a comma or a join comes first"),
    ("tsql", "SELECT a FROM #t", "a temporary table"),
    ("clickhouse", "SELECT a FROM t", "queries of clickhouse are not looked into"),
    ("snowflake", "SELECT a FROM t QUALIFY a = 1", "QUALIFY without a window function"),
    ("duckdb", "SELECT a FROM t SEMI JOIN u ON 1 = 1", "a join that is not known:   SEMI"),
    ("mysql", "SELECT a FROM t GROUP BY 1.5", "a key 1.5"),
])  # fmt: skip
def test_what_is_not_certain_is_refused_with_a_reason(
    dialect: str, text: str, reason: str
) -> None:
    """A query whose meaning is open is not read."""
    with pytest.raises(UnreadError) as refused:
        read(text, dialect)
    assert str(refused.value) == reason


def test_syntax_that_lacks_a_part_is_refused() -> None:
    """What the parser lets pass, in ways that differ by its version, ends no run."""
    syntax = exp.Select(expressions=[exp.Sum()])
    with pytest.raises(UnreadError, match="a part is missing"):
        read_query(syntax, Catalog())
    assert not read_names(syntax, Catalog()).columns


def test_copies_of_with_end_soon() -> None:
    """A WITH that doubles thirty times is too large, whatever its text is."""
    parts = ["w0 AS (SELECT 1 AS n)"]
    parts += [f"w{i} AS (SELECT x.n FROM w{i - 1} AS x, w{i - 1} AS y)" for i in range(1, 30)]
    with pytest.raises(UnreadError, match="too large"):
        read(f"WITH {', '.join(parts)} SELECT n FROM w29")


@pytest.mark.parametrize("verdict", ["equal", "different"])
def test_spellings_of_the_same_are_one_tree(verdict: str) -> None:
    """What the grammar offers twice is one thing; no switch, operand or name is lost."""
    for dialect, first, second in pairs("trees", verdict):
        one, other = (read(text, dialect).query for text in (first, second))
        assert (one == other) is (verdict == "equal"), (dialect, first, second)


# Nodes.

X, Y = Column(Source("x", "t"), "a"), Column(Source("y", "u"), "d")


def test_nodes_compare_by_value() -> None:
    """Equal nodes hash alike and are found in sets; another field or kind makes another node."""
    again = Column(Source("x", "t"), "a")
    assert again == X
    assert len({X, again, Y, IsNull(X)}) == 3
    assert IsNull(X) != And((X,))
    assert IsNull(X) != Not(X)
    assert X.__eq__("a") is False
    assert X != "a"


def test_children_are_rebuilt_as_they_were() -> None:
    """Each node of a query with all kinds of clauses comes back from its own children."""
    query = read(
        "SELECT DISTINCT t.a, COUNT(*), RANK() OVER (PARTITION BY t.a ORDER BY COUNT(*) DESC) "
        "FROM t LEFT JOIN u ON t.a = u.a WHERE t.b IN (SELECT d FROM u) OR t.c LIKE 'a%' "
        "GROUP BY t.a HAVING MAX(CASE WHEN t.b > 1 THEN 1 END) = 1 ORDER BY 2 LIMIT 3 OFFSET 1"
    ).query
    assert query.size == len([*walk(query)])
    for node in walk(query):
        assert node.with_children(node.children) == node
    assert rewritten(query, lambda node: node) is query


def test_replacing_goes_from_the_outside_inwards() -> None:
    """The outermost part that is named is replaced, and what is put in is not looked into."""
    both = And((IsNull(X), Comparison("=", X, Y)))
    assert replaced(both, {IsNull(X): TRUE, X: Y}) == And((TRUE, Comparison("=", Y, Y)))
    assert replaced(both, {X: IsNull(X)}).parts[0] == IsNull(IsNull(X))
    assert replaced(both, {NULL: TRUE}) is both
    assert rewritten(both, lambda n: NULL if n == X else n).parts[0] == IsNull(NULL)


def test_nodes_of_all_kinds_have_an_order() -> None:
    """Sorting neither hangs on where nodes stood nor on what they hold."""
    nodes = [*{*walk(read("SELECT a, SUM(b) FROM t WHERE c LIKE 'x' GROUP BY a LIMIT 2").query)}]
    nodes += [integer(2), NULL, FALSE, Select(()), Select((), keys=(X,)), Function("abs", (X,))]
    assert sorted_nodes(nodes) == sorted_nodes(reversed(nodes))


def test_sources_say_what_a_query_defines_and_what_it_refers_to() -> None:
    """A correlated query has free sources; the whole has none."""
    query = read("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)").query
    (exists,) = found_in(query, Exists)
    assert [{s.table for s in found(exists)} for found in (defined_in, free_sources)] == [
        {"u"},
        {"t"},
    ]
    assert free_sources(query) == frozenset()


def test_conditions_are_joined_and_taken_apart() -> None:
    """AND is flat, and TRUE is the conjunction of nothing."""
    one, other = IsNull(X), IsNull(Y)
    assert conjunction([]) == TRUE
    assert conjunction([TRUE, one]) == one
    assert conjuncts(conjunction([And((one, other)), TRUE, one])) == (one, other, one)


def test_an_aggregate_belongs_to_the_block_it_stands_in() -> None:
    """An aggregate in a subquery is none of the expression around it."""
    query = read("SELECT (SELECT MAX(d) FROM u), MAX(a) FROM t").query
    assert isinstance(query, Select)
    assert list(map(has_aggregate, query.outputs)) == [False, True]


def test_a_plain_block_gives_one_row_for_each_of_its_tables() -> None:
    """DISTINCT, keys and aggregates each make it another thing."""
    texts = ["a FROM t", "DISTINCT a FROM t", "a FROM t GROUP BY a", "MAX(a) FROM t"]
    blocks = [read(f"SELECT {text}").query for text in texts]
    assert [isinstance(one, Select) and one.plain for one in blocks] == [True, False, False, False]


# What is known of columns.

KEYED = """
CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, r real, c varchar(9), d date, b boolean);
CREATE TABLE k (x int, y int, z text, PRIMARY KEY (x, y));
"""


def known(text: str, dialect: str | None = "postgres") -> tuple[Catalog, tuple[Any, ...]]:
    """Return what is known, and the outputs of a query."""
    catalog = Catalog(read_schema(KEYED, None, dialect), dialect)
    query = read_query(parse(text, dialect).statements[0], catalog).query
    return catalog, query.outputs


@pytest.mark.parametrize(("text", "kinds"), [
    ("SELECT id, r, c, d, b FROM t", ["integer", "real", "text", "time", "boolean"]),
    ("SELECT 1, 'a', TRUE, NULL, 1.5", ["integer", "text", "boolean", "unknown", "number"]),
    ("SELECT COUNT(*), COUNT(c), MAX(c), SUM(r) FROM t", ["integer", "integer", "text", "real"]),
    ("SELECT id + n, id * r, id - n FROM t", ["integer", "real", "integer"]),
    ("SELECT x.id, x.m FROM (SELECT id, MAX(c) AS m FROM t GROUP BY id) AS x", ["integer", "text"]),
    ("SELECT z FROM (SELECT id AS z FROM t UNION SELECT c FROM t) AS x", ["unknown"]),
    ("SELECT z FROM (SELECT id AS z FROM t UNION SELECT n FROM t LIMIT 3) AS x", ["integer"]),
    ("SELECT c, RANK() OVER (ORDER BY id), SUM(n) OVER () FROM t", ["text", "integer", "integer"]),
])  # fmt: skip
def test_the_kind_of_a_value_follows_from_the_schema(text: str, kinds: list[str]) -> None:
    """Columns, literals and what is computed of them, through derived tables."""
    catalog, outputs = known(text)
    assert [*map(catalog.kind, outputs)] == kinds


def test_names_of_columns_are_those_of_the_schema() -> None:
    """In the case of the dialect; none where the table is not known."""
    catalog, _ = known("SELECT 1")
    assert catalog.names("T") == ("id", "n", "r", "c", "d", "b")
    assert known("SELECT 1", "snowflake")[0].names("k") == ("X", "Y", "Z")
    assert (catalog.names("nope"), Catalog().names("t")) == (None, None)


def test_a_plus_may_join_texts_where_neither_side_is_a_number() -> None:
    """One number is enough; where + is always a sum nothing is asked."""
    cases = [("tsql", "c + c"), ("tsql", "c + id"), ("tsql", "2 + c"), ("postgres", "c + c")]
    signs = [known(f"SELECT {text} FROM t", dialect)[1][0].operator for dialect, text in cases]
    assert signs == ["+?", "+", "+", "+"]


# What the interpreter says.


def test_each_choice_that_a_limit_leaves_is_allowed() -> None:
    """Of two rows that tie each may be taken; a further key leaves one."""
    rows: Database = {"t": (["a", "b", "c"], [(1, 1, "x"), (2, 1, "y"), (3, 2, "z")])}
    two = Interpreter(rows).allowed(read("SELECT a FROM t ORDER BY b LIMIT 1").query)
    one = Interpreter(rows).allowed(read("SELECT a FROM t ORDER BY b, a LIMIT 1").query)
    assert two == {(((1,),),), (((2,),),)}
    assert one == {(((1,),),)}


def test_a_with_chooses_once() -> None:
    """Both tables of one WITH have the same row; two subqueries choose each for itself."""
    rows: Database = {"t": (["a", "b", "c"], [(1, 1, "x"), (2, 1, "y")])}
    part = "SELECT a FROM t ORDER BY b LIMIT 1"
    once = read(f"WITH w AS ({part}) SELECT x.a, y.a FROM w AS x, w AS y").query
    twice = read(f"SELECT x.a, y.a FROM ({part}) AS x, ({part}) AS y").query
    counts = [len(Interpreter(rows).allowed(query)) for query in (once, twice)]
    assert counts == [2, 4]


def test_what_has_no_meaning_is_not_run() -> None:
    """A function that is not known, and too many choices, end a run."""
    rows: Database = {"t": (["a", "b", "c"], [(i, 1, "x") for i in range(20)])}
    with pytest.raises(MeaninglessError):
        Interpreter(rows).allowed(read("SELECT f(a) FROM t").query)
    with pytest.raises(TooManyError):
        Interpreter(rows).allowed(read("SELECT a FROM t ORDER BY b LIMIT 10").query)


# The other reader.


def test_the_columns_of_a_query_are_those_of_its_tree() -> None:
    """`column_accuracy` reads any statement; of a query it finds the columns of the tree."""
    maker = Chooser(TABLES, random.Random(1))
    for text in (maker.query() for _ in range(120)):
        if "WITH w" in text and "w AS x" not in text:  # a table that no one names
            continue
        result = column_accuracy(text, ["x"], schema=SHOP, dialect="sqlite")
        assert list(result.extracted) == columns(read(text).query), text
