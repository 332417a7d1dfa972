"""Schemas as people have them: dumps by the tools of the databases, and views in them."""

# ruff: noqa: E501 - definitions stand as the tools write them

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from outcomes import failure

from scorekit import query_audit, query_correctness, sql_equivalence
from scorekit._sql.schema.tables import SqlSchema, read_schema

PG = r"""
\restrict Ohtq29gybBvciUJvgc72s1r1Ahbp2WbpQYHSq1P5gUdW4k0LrfJcZjiQFxZlEDj
SET statement_timeout = 0;
CREATE DOMAIN public.posint AS integer CONSTRAINT posint_check CHECK ((VALUE > 0));
ALTER DOMAIN public.posint OWNER TO postgres;
CREATE TABLE public.emp (id bigint NOT NULL, name text NOT NULL, age public.posint, pay numeric(10,2));
ALTER TABLE public.emp OWNER TO postgres;
CREATE MATERIALIZED VIEW public.per_age AS SELECT emp.age, count(*) AS n FROM public.emp GROUP BY emp.age WITH NO DATA;
CREATE VIEW public.rich AS
 SELECT emp.id, emp.name FROM public.emp WHERE (emp.pay > (100)::numeric);
ALTER TABLE ONLY public.emp ADD CONSTRAINT emp_pkey PRIMARY KEY (id);
\unrestrict Ohtq29gybBvciUJvgc72s1r1Ahbp2WbpQYHSq1P5gUdW4k0LrfJcZjiQFxZlEDj
"""
MY = """
CREATE TABLE `emp` (`id` bigint(20) NOT NULL AUTO_INCREMENT, `name` text NOT NULL, `age` int, `pay` decimal(10,2) DEFAULT 0.00, PRIMARY KEY (`id`)) ENGINE=InnoDB;
DROP TABLE IF EXISTS `rich`;
/*!50001 DROP VIEW IF EXISTS `rich`*/;
/*!50001 CREATE VIEW `rich` AS SELECT
 NULL AS `id`,
 NULL AS `name` */;
/*!50001 DROP VIEW IF EXISTS `rich`*/;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `rich` AS select `emp`.`id` AS `id`,`emp`.`name` AS `name` from `emp` where `emp`.`pay` > 100 */;
"""
LITE = """
PRAGMA foreign_keys=OFF;
CREATE TABLE dept (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, note);
CREATE TABLE IF NOT EXISTS "emp" ("id" UNSIGNED BIG INT, [name] varchar(20), `dept_id` INTEGER REFERENCES dept(id), pay REAL, PRIMARY KEY(id)) WITHOUT ROWID;
CREATE TABLE t (a, b, PRIMARY KEY(a, b), FOREIGN KEY (a) REFERENCES dept);
CREATE TABLE u (id INTEGER NOT NULL, x ANY, PRIMARY KEY("id" AUTOINCREMENT)) STRICT;
CREATE TABLE sqlite_sequence(name,seq);
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','ft','ft',0,'CREATE VIRTUAL TABLE ft USING fts5(title)');
CREATE TABLE IF NOT EXISTS 'ft_data'(id INTEGER PRIMARY KEY, block BLOB);
CREATE VIEW rich AS SELECT id, name FROM emp WHERE pay > 100;
CREATE TRIGGER tr AFTER INSERT ON dept BEGIN UPDATE dept SET note = 'x;y' WHERE id = NEW.id; END;
COMMIT;
"""
DUCK = """
CREATE SEQUENCE s INCREMENT BY 1 MINVALUE 1 START 1 NO CYCLE;
CREATE TABLE emp(id BIGINT PRIMARY KEY, "name" VARCHAR, m ENUM('sad', 'ok'), pay DECIMAL(10,2) DEFAULT(0), tags INTEGER[], st STRUCT(a INTEGER, b VARCHAR), mp MAP(VARCHAR, INTEGER), up VARCHAR GENERATED ALWAYS AS(upper("name")));
CREATE MACRO addone (a) AS ((a + 1));
CREATE VIEW rich AS SELECT id, "name" FROM emp WHERE (pay > 100);
"""
TSQL = """
SET ANSI_NULLS ON
GO
CREATE TABLE [dbo].[Emp](
\t[Id] [bigint] NOT NULL,
\t[Name] [nvarchar](max) NULL,
\t[Pay] [decimal](10, 2) NULL,
\t[Total]  AS ([Pay]*(2)),
\t[Guid] [uniqueidentifier] ROWGUIDCOL  NOT NULL,
 CONSTRAINT [PK_Emp] PRIMARY KEY NONCLUSTERED ([Id] ASC)
) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]
GO
ALTER TABLE [dbo].[Emp] ADD  DEFAULT ((0)) FOR [Pay]
GO
ALTER TABLE [dbo].[Emp] ADD  CONSTRAINT [DF_g]  DEFAULT (newid()) FOR [Guid]
GO
CREATE VIEW [dbo].[Rich] AS SELECT [Id], [Name] FROM [dbo].[Emp] WHERE [Pay] > 100
GO
"""
ORACLE = """
  CREATE TABLE "HR"."EMP"
   (\t"ID" NUMBER(10,0) NOT NULL ENABLE,
\t"NAME" VARCHAR2(40 BYTE) DEFAULT 'x' NOT NULL ENABLE,
\t"PAY" NUMBER,
\t CONSTRAINT "PK" PRIMARY KEY ("ID")
  USING INDEX PCTFREE 10 INITRANS 2 MAXTRANS 255 COMPUTE STATISTICS
  STORAGE(INITIAL 65536 NEXT 1048576 FREELISTS 1 FREELIST GROUPS 1)
  TABLESPACE "USERS"  ENABLE
   ) SEGMENT CREATION IMMEDIATE
  PCTFREE 10 PCTUSED 40 NOCOMPRESS LOGGING
  TABLESPACE "USERS" ;
"""
DUMPS = [
    ("postgres", PG, "public.emp", "id name age pay"),
    ("mysql", MY, "emp", "id name age pay"),
    ("sqlite", LITE, "emp", "id name dept_id pay"),
    ("duckdb", DUCK, "emp", "id name m pay tags st mp up"),
    ("tsql", TSQL, "dbo.emp", "id name pay total guid"),
    ("oracle", ORACLE, "hr.emp", "id name pay"),
]


def known(text: str, dialect: str | None) -> SqlSchema:
    """Return what a text says, which defines tables."""
    schema = read_schema(text, None, dialect)
    assert schema is not None
    return schema


@pytest.mark.parametrize(("dialect", "text", "table", "columns"), DUMPS)
def test_every_table_and_column_of_a_dump_is_read(
    dialect: str, text: str, table: str, columns: str
) -> None:
    """With and without its dialect, with the key, and nothing is left unread."""
    for name in (dialect, None):
        schema = known(text, name)
        assert [column.name for column in schema.tables[table]] == columns.split()
        assert schema.keys[table][0] == ("id",)
        assert (schema.unread, schema.complete) == ((), True), name


def test_sqlite_reads_its_own_definitions() -> None:
    """Oracle: the database's own account of columns and keys."""
    schema = known(LITE, "sqlite")
    with closing(sqlite3.connect(":memory:")) as connection:
        own = LITE.replace("PRAGMA foreign_keys=OFF;", "").replace("COMMIT;", "")
        statements = own.split("CREATE TABLE sqlite_sequence")[0]
        connection.executescript(statements)
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_schema WHERE sql > ''"
        ).fetchall():
            if name == "sqlite_sequence":
                continue
            rows = connection.execute("SELECT * FROM pragma_table_xinfo(?)", (name,)).fetchall()
            assert [column.name for column in schema.tables[name]] == [row[1] for row in rows]
            key = tuple(row[1] for row in sorted(rows, key=lambda row: row[5]) if row[5])
            assert schema.keys[name][0] == key
    assert {(one.table, one.columns, one.other, one.others) for one in schema.references} == {
        ("emp", ("dept_id",), "dept", ("id",)),
        ("t", ("a",), "dept", ("id",)),
    }
    assert "sqlite_sequence" not in schema.tables
    assert schema.unclear["ft"] == "it is a virtual table"


def test_a_column_that_cannot_be_read_loses_itself_only() -> None:
    """The result says which, and what else is known of the table stays known."""
    text = "CREATE TABLE r (id int PRIMARY KEY, x frob ((( 1 ))) zap, n text NOT NULL); CREATE TABLE s (q int)"
    schema = known(text, "postgres")
    assert [(one.name, one.kind) for one in schema.tables["r"]] == [
        ("id", "integer"), ("x", "unknown"), ("n", "text"),
    ]  # fmt: skip
    assert schema.complete
    found = sql_equivalence("SELECT n FROM r", "SELECT id FROM r", schema=text, dialect="postgres")
    assert "the type of a column of r could not be read: x frob ((( 1 ))) zap" in found.assumptions


VIEWS = [(dialect, text) for dialect, text, *_ in DUMPS if "rich" in text]


@pytest.mark.parametrize(("dialect", "text"), VIEWS)
def test_a_view_of_a_dump_stands_for_its_query(dialect: str, text: str) -> None:
    """It proves and refutes; a name that is neither table nor view is still missing."""
    given: Any = {"schema": text, "dialect": dialect}
    right = "SELECT name FROM emp WHERE pay > 100"
    assert query_correctness("SELECT r.name FROM rich AS r", right, **given).score == 1.0
    wrong = query_correctness("SELECT name FROM rich", right.replace(">", "<"), **given)
    assert (wrong.score, wrong.method) == (0.0, "refuted")
    missing = query_correctness("SELECT name FROM richer", right, **given)
    assert failure(missing.error) == "output: unknown_table"


CHAIN = """CREATE TABLE a (x INT, y INT); CREATE VIEW v AS SELECT * FROM v;
CREATE VIEW w (p, q) AS SELECT x, y FROM a; CREATE VIEW w2 AS SELECT p FROM w WHERE q > 1;"""


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", "duckdb", None])
def test_views_of_views_end(dialect: str | None) -> None:
    """One of itself is undecided, a name of WITH goes first, and listed columns have their names."""
    given: Any = {"schema": CHAIN, "dialect": dialect}
    assert (
        query_correctness("SELECT p FROM w2", "SELECT x FROM a WHERE y > 1", **given).score == 1.0
    )
    own = "WITH w AS (SELECT y AS p FROM a) SELECT p FROM w"
    assert query_correctness(own, "SELECT y FROM a", **given).score == 1.0
    found = sql_equivalence("SELECT x FROM v", "SELECT x FROM a", **given)
    assert found.verdict == "unknown"
    assert "views stand for one another" in found.reason


VIEWED = """CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, pay INT);
CREATE VIEW v AS SELECT name FROM t; CREATE VIEW w (p, q) AS SELECT id, pay FROM t;
CREATE VIEW w2 AS SELECT *, p + 1 AS r FROM w; CREATE VIEW c AS SELECT name, COUNT(*) FROM t GROUP BY name;
CREATE VIEW u AS SELECT name AS n FROM t UNION SELECT pay FROM t;
CREATE VIEW j AS WITH d AS (SELECT id, pay FROM t) SELECT d.*, t.name AS called FROM d JOIN t USING (id);"""


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", "duckdb", None])
@pytest.mark.parametrize(
    ("generated", "lacking"),
    [
        ("SELECT nme FROM v", "v.nme"),
        ("SELECT x.nme FROM v AS x", "v.nme"),
        ("SELECT name FROM v WHERE pay > 3", "v.pay"),
        ("SELECT id FROM w", "w.id"),
        ("SELECT pay FROM w2", "w2.pay"),
        ("SELECT pay FROM u", "u.pay"),
        ("SELECT j.name FROM t, j", "j.name"),
        ("SELECT id FROM t WHERE pay IN (SELECT w2.name FROM w2)", "w2.name"),
    ],
)
def test_a_column_that_a_view_lacks_is_unknown(
    generated: str, lacking: str, dialect: str | None
) -> None:
    """It is as one of a table: the output's fault, a bad reference and a finding of an audit."""
    given: Any = {"schema": VIEWED, "dialect": dialect}
    wrong = query_correctness(generated, "SELECT name FROM v", **given)
    assert failure(wrong.error) == "output: unknown_column"
    assert f"'{lacking}'" in str(wrong.error)
    bad = query_correctness("SELECT name FROM v", generated, **given)
    assert failure(bad.error) == "instrument: bad_reference"
    assert query_audit(generated, **given).findings[0].kind == "does_not_run"


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_columns_of_a_view_that_is_not_read_are_not_known(dialect: str) -> None:
    """One of itself, of an unknown table, with outputs without a name, or with names of some."""
    schema = """CREATE TABLE t (id INT, name TEXT); CREATE VIEW v AS SELECT * FROM v;
    CREATE VIEW w AS SELECT * FROM elsewhere; CREATE VIEW x AS SELECT id, COUNT(*) FROM t GROUP BY id;
    CREATE VIEW y AS SELECT FROM WHERE; CREATE VIEW z (a) AS SELECT * FROM elsewhere;
    CREATE VIEW i AS SELECT '1'::int;"""
    for query in (
        "SELECT a FROM v",
        "SELECT a FROM w",
        "SELECT counted FROM x",
        "SELECT a FROM y",
        "SELECT b FROM z",
        "SELECT int4 FROM i",
    ):
        found = query_correctness(query, "SELECT id FROM t", schema=schema, dialect=dialect)
        assert failure(found.error).startswith("instrument: "), query


@pytest.mark.parametrize("dialect", ["sqlite", "mysql", "tsql"])
def test_a_view_that_lists_its_columns_lists_all_of_them(dialect: str) -> None:
    """Then they are known, though its query is of a table that is not."""
    schema = "CREATE TABLE t (id INT); CREATE VIEW z (a) AS SELECT * FROM elsewhere"
    given: Any = {"schema": schema, "dialect": dialect}
    wrong = query_correctness("SELECT b FROM z", "SELECT id FROM t", **given)
    assert failure(wrong.error) == "output: unknown_column"
    other = query_correctness("SELECT a FROM z", "SELECT id FROM t", **given)
    assert failure(other.error).startswith("instrument: ")


def test_columns_of_views_are_those_of_sqlite() -> None:
    """Oracle: what is blamed of any column of any table or view SQLite does not prepare."""
    views = ["t", "v", "w", "w2", "c", "u", "j"]
    names = ["id", "name", "pay", "p", "q", "r", "n", "called", "none"]
    n_blamed = 0
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(VIEWED)
        for view in views:
            own = [
                row[1] for row in connection.execute("SELECT * FROM pragma_table_info(?)", (view,))
            ]
            for name in names:
                query = f"SELECT {name} FROM {view}"
                found = query_correctness(
                    query, "SELECT 1 FROM t", schema=VIEWED, dialect="sqlite"
                )
                is_blamed = found.error is not None and found.error.kind == "unknown_column"
                assert is_blamed == (name not in own) or view == "c", query
                assert not (is_blamed and name in own), query
                n_blamed += is_blamed
    assert n_blamed > len(names)


def test_a_dump_of_many_tables_is_read() -> None:
    """Each statement by itself."""
    text = "\n".join(f"CREATE TABLE t{i} (id INTEGER PRIMARY KEY, n TEXT);" for i in range(300))
    assert len(known(text, "sqlite").tables) == 300
