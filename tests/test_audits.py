"""Tests for `query_audit`: each finding is run again, by SQLite itself, on the database shown."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import asyncio
import sqlite3
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from outcomes import failure, present
from refusals import Refusal, refusals

from scorekit import (
    QueryAudit,
    SqlCase,
    SqlOptions,
    SqlReport,
    ascore_sql_case,
    query_audit,
    query_correctness,
    score_sql_case,
    score_sql_cases,
)
from scorekit.audits import NOTHING, AuditFinding
from scorekit.equivalence import Counterexample
from scorekit.strategies import sql_queries

SCHEMA = """
CREATE TABLE patient (id INTEGER PRIMARY KEY, name TEXT, born DATE, weight INTEGER);
CREATE TABLE visit (
    vid INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patient (id), day TEXT, code TEXT,
    fee INTEGER, room INTEGER NOT NULL
);
CREATE TABLE room (rid INTEGER PRIMARY KEY, beds INTEGER NOT NULL, name TEXT NOT NULL UNIQUE);
"""


def audited(sql: str, **options: Any) -> QueryAudit:
    """Audit a query of these tables, as SQLite's."""
    return query_audit(sql, **{"schema": SCHEMA, "dialect": "sqlite"} | options)


def only(sql: str, **options: Any) -> AuditFinding:
    """Return the only finding."""
    (finding,) = audited(sql, **options).findings
    return finding


def results(sql: str, example: Counterexample) -> set[tuple[Any, ...]]:
    """Return what SQLite returns of a database, its rows stored in any order."""
    found: set[tuple[Any, ...]] = set()
    orders = [list(permutations(table.rows)) for table in example.tables]
    for rows in product(*orders):
        connection = sqlite3.connect(":memory:")
        connection.executescript(SCHEMA.replace("NOT NULL", ""))
        connection.execute("PRAGMA foreign_keys = off")
        for table, own in zip(example.tables, rows, strict=True):
            for row in own:
                connection.execute(
                    f"INSERT INTO {table.table} ({', '.join(table.columns)})"
                    f" VALUES ({', '.join(row)})"
                )
        found.add(tuple(sorted(connection.execute(sql).fetchall(), key=repr)))
        connection.close()
    return found


def shown(rows: tuple[tuple[str, ...], ...]) -> tuple[Any, ...]:
    """Return a result as SQLite reads its literals."""
    connection = sqlite3.connect(":memory:")
    read = [connection.execute(f"SELECT {', '.join(row)}").fetchone() for row in rows]
    return tuple(sorted(read, key=repr))


JOINED = "FROM patient p JOIN visit v ON v.patient_id = p.id"
WRONG = [
    # kind, clause, a query, and the same as it is most often meant
    ("not_in_null", "WHERE", "SELECT name FROM patient WHERE id NOT IN (SELECT patient_id FROM visit)", "SELECT name FROM patient WHERE id NOT IN (SELECT patient_id FROM visit WHERE patient_id IS NOT NULL)"),
    ("not_in_null", "WHERE", "SELECT name FROM patient WHERE id NOT IN (SELECT patient_id FROM visit UNION SELECT fee FROM visit)", "SELECT name FROM patient WHERE id NOT IN (SELECT patient_id FROM visit WHERE patient_id IS NOT NULL UNION SELECT fee FROM visit WHERE fee IS NOT NULL)"),
    ("not_in_null", "WHERE", "SELECT name FROM patient WHERE weight NOT IN (SELECT MAX(fee) FROM visit GROUP BY room)", "SELECT name FROM patient WHERE weight NOT IN (SELECT MAX(fee) FROM visit GROUP BY room HAVING MAX(fee) IS NOT NULL)"),
    ("fan_out", "SELECT", f"SELECT AVG(p.weight) {JOINED} WHERE v.fee > 10", "SELECT AVG(weight) FROM patient WHERE id IN (SELECT patient_id FROM visit WHERE fee > 10)"),
    ("fan_out", "SELECT", f"SELECT COUNT(p.id) {JOINED} WHERE v.fee > 10", "SELECT COUNT(*) FROM patient WHERE id IN (SELECT patient_id FROM visit WHERE fee > 10)"),
    ("fan_out", "SELECT", f"SELECT 100.0 * SUM(p.weight > 80) / COUNT(p.id) {JOINED} WHERE v.fee = 10", "SELECT 100.0 * SUM(weight > 80) / COUNT(*) FROM patient WHERE id IN (SELECT patient_id FROM visit WHERE fee = 10)"),
    ("fan_out", "SELECT", f"SELECT p.born, SUM(p.weight) {JOINED} GROUP BY p.born", "SELECT born, SUM(weight) FROM patient WHERE id IN (SELECT patient_id FROM visit) GROUP BY born"),
    ("fan_out", "SELECT", f"SELECT COUNT(*), SUM(p.weight) {JOINED}", f"SELECT COUNT(*), (SELECT SUM(weight) FROM patient WHERE id IN (SELECT patient_id FROM visit)) {JOINED}"),
    ("text_compared", "WHERE", "SELECT vid FROM visit WHERE code > 10", "SELECT vid FROM visit WHERE CAST(code AS REAL) > 10"),
    ("text_compared", "WHERE", "SELECT vid FROM visit WHERE code BETWEEN '5' AND '90'", "SELECT vid FROM visit WHERE CAST(code AS REAL) BETWEEN 5 AND 90"),
    ("text_compared", "WHERE", "SELECT id FROM patient WHERE strftime('%Y', born) = 2014", "SELECT id FROM patient WHERE strftime('%Y', born) = '2014'"),
    ("integer_division", "SELECT", "SELECT COUNT(name) / COUNT(*) FROM patient", "SELECT COUNT(name) * 1.0 / COUNT(*) FROM patient"),
    ("integer_division", "WHERE", "SELECT id FROM patient WHERE weight / 7 > 3", "SELECT id FROM patient WHERE weight / 7.0 > 3"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "clause", "sql", "meant"), WRONG)
def test_what_differs_from_its_meaning_is_shown(
    kind: str, clause: str, sql: str, meant: str
) -> None:
    """SQLite itself returns both results on the database; the query that is meant has none."""
    finding = only(sql)
    assert (finding.kind, finding.clause) == (kind, clause)
    assert finding.database is not None
    assert results(sql, finding.database) == {shown(finding.database.rows_of_a)}
    assert results(meant, finding.database) == {shown(finding.database.rows_of_b)}
    assert audited(meant).findings == ()


CHOICES = [
    ("ties_at_limit", "LIMIT", "SELECT name FROM patient ORDER BY weight DESC LIMIT 1"),
    ("ties_at_limit", "LIMIT", "SELECT name FROM patient LIMIT 2"),
    ("ties_at_limit", "LIMIT", "SELECT beds FROM room WHERE beds > (SELECT weight FROM patient ORDER BY born DESC LIMIT 1)"),
    ("reading_order", "SELECT", "SELECT name, COUNT(*) FROM patient GROUP BY weight"),
    ("reading_order", "SELECT", "SELECT name, MAX(weight) FROM patient"),
    ("reading_order", "SELECT", "SELECT GROUP_CONCAT(name) FROM patient"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "clause", "sql"), CHOICES)
def test_a_choice_of_results_is_shown(kind: str, clause: str, sql: str) -> None:
    """SQLite returns both, as the rows are stored in one order or in another."""
    finding = only(sql)
    assert (finding.kind, finding.clause) == (kind, clause)
    example = present(finding.database)
    both = {shown(example.rows_of_a), shown(example.rows_of_b)}
    assert len(both) == 2
    assert both <= results(sql, example)


@pytest.mark.parametrize(("sql", "clause", "sentence"), [
    ("SELECT id FROM patient WHERE weight > 9 AND weight < 4", "WHERE", "no row meets all of weight > 9 AND weight < 4"),
    ("SELECT id FROM patient WHERE weight BETWEEN 9 AND 4", "WHERE", "weight BETWEEN 9 AND 4 is never true"),
    ("SELECT id FROM patient WHERE id IS NULL", "WHERE", "id IS NULL is never true"),
    ("SELECT rid FROM room WHERE beds IS NOT NULL", "WHERE", "NOT beds IS NULL is always true"),
    ("SELECT id FROM patient WHERE \"nam\" = 'x'", "WHERE", "\"nam\" = 'x' is never true"),
    (f"SELECT v.vid {JOINED} AND p.id IS NULL", "FROM", "p.id IS NULL is never true"),
])  # fmt: skip
def test_a_constant_condition_is_found(sql: str, clause: str, sentence: str) -> None:
    """By proof: no database shows what is so on all of them."""
    finding = only(sql)
    assert (finding.kind, finding.clause) == ("constant_condition", clause)
    assert (finding.sentence, finding.database) == (sentence, None)
    rests = ("patient.id is never NULL (key)",)
    assert (finding.assumptions == rests) is sentence.endswith("id IS NULL is never true")


def test_sums_of_groups_tie() -> None:
    """On databases in which numbers repeat."""
    year = "SUBSTR(v.day, 1, 4)"
    sql = (
        f"SELECT {year} {JOINED} WHERE p.name = 'ann' GROUP BY {year} ORDER BY SUM(v.fee) LIMIT 1"
    )
    finding = only(sql)
    assert finding.kind == "ties_at_limit"
    assert len(results(sql.replace(" LIMIT 1", ""), present(finding.database)).pop()) > 1


def test_a_star_among_groups_is_named_as_one() -> None:
    """Not by the column of an aggregate."""
    finding = only("SELECT * FROM room GROUP BY beds HAVING AVG(rid) > 1")
    why = "a column of *, which is neither grouped nor aggregated, depends on the order of reading"
    assert (finding.clause, finding.sentence) == ("SELECT", why)


def test_what_a_foreign_key_points_to_is_unique() -> None:
    """SQL demands it, though not every dump says so; without the foreign key a row may repeat."""
    sql = "SELECT COUNT(v.vid) FROM visit v JOIN unit u ON u.code = v.code WHERE u.beds > 1"
    unit = "CREATE TABLE unit (uid INTEGER PRIMARY KEY, code TEXT, beds INTEGER);"
    visit = "CREATE TABLE visit (vid INTEGER PRIMARY KEY, code TEXT REFERENCES unit (code));"
    loose = unit + visit.replace(" REFERENCES unit (code)", "")
    assert only(sql, schema=loose).kind == "fan_out"
    assert audited(sql, schema=unit + visit).findings == ()


@pytest.mark.parametrize("sql", [
    "SELECT name FROM patient ORDER BY id LIMIT 1",
    "SELECT MAX(weight) FROM patient LIMIT 1",
    "SELECT weight FROM patient ORDER BY weight LIMIT 1",
    "SELECT id, name, COUNT(*) FROM patient GROUP BY id",
    "SELECT name FROM room WHERE rid NOT IN (SELECT room FROM visit)",
    "SELECT name FROM patient WHERE NOT EXISTS (SELECT 1 FROM visit WHERE patient_id = id)",
    f"SELECT SUM(v.fee) {JOINED}",
    f"SELECT p.id, COUNT(*) {JOINED} GROUP BY p.id",
    f"SELECT COUNT(p.id) {JOINED} WHERE p.name = 'ann'",  # counts visits
    f"SELECT COUNT(DISTINCT p.id) {JOINED} WHERE v.fee > 10",
    f"SELECT MAX(p.weight) {JOINED}",
    f"SELECT SUM(CASE WHEN p.weight > 80 THEN 1 ELSE 0 END) {JOINED}",
    "SELECT vid FROM visit WHERE code > '2014'",
    "SELECT vid FROM visit WHERE day >= '2014-01-31'",
    "SELECT vid FROM visit WHERE code = '7'",
    "SELECT weight / 10 * 10 FROM patient",
    "SELECT CAST(weight / 10 AS INTEGER) FROM patient",
    "SELECT weight / 2.0 FROM patient",
    "SELECT id FROM patient WHERE 1 = 1",
    "SELECT p.id FROM patient p LEFT JOIN visit v ON v.patient_id = p.id WHERE v.vid IS NULL",
    "SELECT 1",
])  # fmt: skip
def test_what_is_right_is_not_blamed(sql: str) -> None:
    """Nor is what looks like it; and all of it could be looked into."""
    audit = audited(sql)
    assert audit.findings == ()
    assert audit.undecided == {}
    assert str(audit) == NOTHING


@pytest.mark.parametrize(("sql", "why"), [
    ("SELECT nme FROM patient", "SQLite refuses it: no such column: nme"),
    ("SELECT name FROM patients", "SQLite refuses it: no such table: patients"),
    ("SELECT id FROM patient p JOIN patient q ON p.id = q.id", "SQLite refuses it: ambiguous column name: id"),
    ("SELECT name FROM", "SQLite refuses it: incomplete input"),
    ("SELECT name FROM patient; SELECT 2", "the text holds 2 statements"),
    ("I cannot answer that.", 'SQLite refuses it: near "I": syntax error'),
    ("SELECT SUM(weight) FROM patient WHERE SUM(weight) > 3", "SQLite refuses it: misuse of aggregate: SUM()"),
])  # fmt: skip
def test_what_does_not_run_is_one_finding(sql: str, why: str) -> None:
    """In the words of the database, where it can be asked."""
    finding = only(sql)
    assert (finding.kind, finding.clause, finding.database) == ("does_not_run", "", None)
    assert finding.sentence == why


@pytest.mark.parametrize(
    ("sql", "dialect", "why"),
    [
        ("SELECT name, COUNT(*) FROM patient", "postgres", "PostgreSQL refuses it: a column that"),
        ("SELECT nme FROM patient", "duckdb", "the schema has no column 'patient.nme'"),
        ("SELECT IFNULL(name, '') FROM patients", "mysql", "the schema has no table 'patients'"),
    ],
)
def test_other_databases_refuse_by_what_is_known_of_them(sql: str, dialect: str, why: str) -> None:
    """There is no such database to ask."""
    finding = only(sql, dialect=dialect)
    assert finding.kind == "does_not_run"
    assert finding.sentence.startswith(why)


@pytest.mark.parametrize(("sql", "options"), [
    ("SELECT concat(name) FROM patient", {}),  # which newer versions of SQLite have
    ("SELECT GROUP_CONCAT(name, ',' ORDER BY id) FROM patient", {}),
    ("SELECT x FROM somewhere", {"schema": None}),
    ("SELECT x FROM somewhere", {"schema": f"{SCHEMA} CREATE VIEW somewhere AS SELECT 1;"}),
    ("CREATE TABLE x (a int)", {}),
])  # fmt: skip
def test_what_is_not_known_is_no_finding(sql: str, options: dict[str, Any]) -> None:
    """A text that the parser cannot read, a function of newer versions, DDL."""
    audit = audited(sql, **options)
    assert audit.findings == ()


def test_what_is_not_looked_for_is_said() -> None:
    """By kind, with the reason; in one sentence where it is the same for all."""
    unread = audited("CREATE TABLE x (a int)")
    assert set(unread.undecided.values()) == {"the text is not a query that only reads"}
    assert str(unread) == "not looked into: the text is not a query that only reads"
    for sql, why in [
        (f"SELECT SUM(p.weight) * 1.0 / SUM(v.fee) {JOINED}",
         "SUM(p.weight) is part of groups, or of a term, with aggregates of other rows"),
        ("SELECT SUM(p.weight) FROM patient p JOIN (SELECT * FROM visit) v ON v.patient_id = p.id",
         "the rows of SUM(p.weight) come from a subquery, or depend on one"),
    ]:  # fmt: skip
        assert audited(sql).undecided == {"fan_out": why}
    part = audited("SELECT id FROM patient WHERE random() > 3 LIMIT 1")
    why = "RAND has no determined result"
    assert part.undecided == {"ties_at_limit": why, "reading_order": why}
    assert str(part).splitlines()[:2] == [NOTHING, f"not looked for: ties_at_limit; {why}"]


def test_without_a_dialect_it_is_read_as_sqlite_reads_it() -> None:
    """And that is said; nothing is refused, as the database is not known."""
    audit = query_audit("SELECT COUNT(x) / COUNT(*) FROM t", schema={"t": {"x": "int"}})
    assert [finding.kind for finding in audit.findings] == ["integer_division"]
    said = "no dialect is named, so that the query is read as SQLite reads it"
    assert audit.assumptions == (said,)
    assert query_audit("SELECT foo(x) FROM t").findings == ()


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "duckdb"])
def test_each_dialect_divides_as_it_does(dialect: str) -> None:
    """PostgreSQL drops the fraction; the others do not."""
    sql = "SELECT COUNT(name) / COUNT(*) FROM patient"
    kinds = [finding.kind for finding in audited(sql, dialect=dialect).findings]
    assert kinds == ["integer_division"] * (dialect == "postgres")


def test_a_finding_prints_its_database() -> None:
    """With the query's result, and what the other one is."""
    finding = only("SELECT name FROM patient WHERE id NOT IN (SELECT patient_id FROM visit)")
    lines = finding.to_text().splitlines()
    assert lines[0] == (
        "not_in_null in WHERE: id NOT IN (SELECT patient_id FROM visit) is true of no row once "
        "the subquery has a NULL"
    )
    assert lines[-2] == "The query returns: no rows"
    assert lines[-1].startswith("But without the NULLs of the subquery it would return: (")
    audit = audited("SELECT name FROM patient LIMIT 1")
    assert "But it may return instead: (" in audit.to_text()
    assert QueryAudit.from_dict(audit.to_dict()) == audit


@given(sql_queries())
@settings(max_examples=15)
def test_a_query_on_which_databases_agree_has_what_it_shows(sql: str) -> None:
    """Whatever is drawn: kinds are known, and a database shows two results that differ."""
    audit = query_audit(sql, dialect="sqlite")
    assert audit == query_audit(sql, dialect="sqlite")
    for finding in audit.findings:
        if finding.database is not None:
            assert finding.database.rows_of_a != finding.database.rows_of_b


@refusals("""
    sql="" -> InputError: sql must be a non-empty string, got ''
    sql=None -> TypeError: sql must be a non-empty string, got None
    dialect="sqll" -> InputError: dialect must be a dialect that sqlglot knows ...
    schema="shop.sql" -> InputError: schema must be the text of a schema, ...
""")
def test_bad_arguments_are_refused(wrong: Refusal) -> None:
    """By name."""
    wrong.by(query_audit, sql="SELECT 1")


@pytest.mark.parametrize(
    ("expected", "why"),
    [
        ("SELECT name FROM patient; SELECT 2", "expected: the text holds 2 statements"),
        ("SELECT nme FROM patient", "expected: SQLite refuses it: no such column: nme"),
    ],
)
def test_a_bad_reference_has_a_kind_of_its_own(expected: str, why: str) -> None:
    """It is the instrument that failed, and not the model, as it is where that wrote the text."""
    right = "SELECT name FROM patient"
    error = present(query_correctness(right, expected, schema=SCHEMA, dialect="sqlite").error)
    assert (error.origin, error.kind, error.message) == ("instrument", "bad_reference", why)
    error = present(query_correctness(expected, right, schema=SCHEMA, dialect="sqlite").error)
    assert error.origin == "output"


@pytest.mark.parametrize("dialect", ["snowflake", "postgres", "mysql", None])
def test_a_reference_that_cannot_be_read_is_bad_as_an_output_is(dialect: str | None) -> None:
    """What makes an output wrong makes a reference bad and an audit `does_not_run`."""
    broken = "SELECT QUALIFY (("
    assert failure(query_correctness(broken, "SELECT 1", dialect=dialect).error) == "output: parse"
    error = query_correctness("SELECT 1", broken, dialect=dialect).error
    assert failure(error) == "instrument: bad_reference"
    assert [one.kind for one in query_audit(broken, dialect=dialect).findings] == ["does_not_run"]


RIGHT = "SELECT name FROM patient"


def _case(name: str, generated: str = RIGHT, **fields: Any) -> SqlCase:
    given: dict[str, Any] = {"schema": SCHEMA, "dialect": "sqlite"} | fields
    return SqlCase(case_id=name, generated=generated, **given)


SUITE = [
    _case("ties", expected=f"{RIGHT} LIMIT 1"),
    _case("ties", f"{RIGHT} ", expected=f"{RIGHT} LIMIT 1"),
    _case("bad", expected="SELECT nme FROM patient"),
    _case("two", expected=(RIGHT, f"{RIGHT} LIMIT 2")),
    _case("none", expected_tables=["patient"]),
    _case("views", expected=f"{RIGHT};", schema="CREATE VIEW patient AS SELECT name FROM person"),
]


def test_a_suite_has_what_is_wrong_with_its_references() -> None:
    """By case and by kind, in texts, rows and pages; nothing without being asked for it."""
    report = score_sql_cases(SUITE, audit=True)
    assert report.findings == {
        "ties_at_limit": ("ties", "two"),
        "does_not_run": ("bad",),
    }
    assert [case.findings for case in report.cases][:4] == [
        ("ties_at_limit",), ("ties_at_limit",), ("does_not_run",), ("ties_at_limit",),
    ]  # fmt: skip
    assert len(report.cases[3].audits) == 2
    assert report.cases[4].audits == ()
    assert "; 3 with findings in the reference (2 ties_at_limit, 1 does_not_run)" in str(report)
    assert [row["findings"] for row in report.to_rows()][:2] == ["ties_at_limit"] * 2
    assert "ties_at_limit in LIMIT: " in report.cases[0].to_text(all=True)
    assert SqlReport.from_json(report.to_json()) == report
    plain = score_sql_cases(SUITE)
    assert plain.findings == {}
    assert all(case.audits == () for case in plain.cases)
    assert [case.metrics() for case in plain.cases] == [case.metrics() for case in report.cases]


def test_an_audit_may_be_asked_of_one_case_in_both_forms() -> None:
    """As an option, or in the record of options."""
    one = score_sql_case(SUITE[0], audit=True)
    other = asyncio.run(ascore_sql_case(SUITE[0], options=SqlOptions(audit=True)))
    assert one.audits == other.audits
    assert one.findings == ("ties_at_limit",)


def test_a_schema_of_views_costs_a_case_nothing() -> None:
    """What is read of the query alone is found all the same."""
    report = score_sql_cases(SUITE[-1:], audit=True)
    assert present(report.cases[0].query_correctness).score == 1.0
    assert report.findings == {}


SLIPS = """CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT, price TEXT, a INT, u_id INT REFERENCES u(id));
CREATE TABLE u (id INTEGER PRIMARY KEY, x INT, y TEXT NOT NULL);"""


@pytest.mark.parametrize(("sql", "kind", "sentence"), [
    ("SELECT COUNT(CASE WHEN a > 1 THEN 1 ELSE 0 END) FROM t", "counts_all",
     "COUNT(CASE WHEN a > 1 THEN 1 ELSE 0 END) counts each row: 0 is a value"),
    ("SELECT n FROM t ORDER BY price DESC, id", "text_compared",
     "price DESC takes numbers in the order of texts"),
    ("SELECT MAX(n), SUM(n) FROM t", "text_compared", "MAX(n) takes numbers in the order of texts"),
    ("SELECT id FROM t ORDER BY a, id LIMIT 1", "null_first",
     "a NULL of a comes first, and LIMIT keeps it"),
    ("SELECT t.n FROM t LEFT JOIN u ON u.id = t.u_id WHERE u.x = 1", "outer_join_undone",
     "u.x = 1 drops the rows that LEFT JOIN u keeps"),
    ("SELECT t.n FROM t LEFT JOIN u ON u.id = t.u_id WHERE t.a > 1 AND u.x < t.a",
     "outer_join_undone", "u.x < t.a drops the rows that LEFT JOIN u keeps"),
    ("SELECT t.n FROM t JOIN u ON t.a = t.id", "join_on_one_table",
     "t.a = t.id names t alone, so that nothing links u"),
])  # fmt: skip
def test_slips_are_found(sql: str, kind: str, sentence: str) -> None:
    """Each with a database, or with what it rests on."""
    findings = query_audit(sql, schema=SLIPS, dialect="sqlite").findings
    (found,) = [one for one in findings if one.kind == kind]
    assert found.sentence == sentence
    assert (found.database is None) == (kind in ("text_compared", "join_on_one_table"))


@pytest.mark.parametrize("sql", [
    "SELECT COUNT(CASE WHEN a > 1 THEN 1 END) FROM t",
    "SELECT COUNT(CASE WHEN a > 1 THEN 1 ELSE NULL END) FROM t",
    "SELECT COUNT(CASE WHEN a > 1 THEN n ELSE price END) FROM t",
    "SELECT n FROM t ORDER BY n",
    "SELECT MAX(n) FROM t",
    "SELECT id FROM t ORDER BY id LIMIT 1",
    "SELECT id FROM t ORDER BY a DESC, id LIMIT 1",
    "SELECT id FROM t ORDER BY a, id",
    "SELECT t.n FROM t LEFT JOIN u ON u.id = t.u_id AND u.x = 1",
    "SELECT t.n FROM t LEFT JOIN u ON u.id = t.u_id WHERE u.x = 1 OR u.id IS NULL",
    "SELECT t.n FROM t LEFT JOIN u ON u.id = t.u_id WHERE u.id IS NULL",
    "SELECT t.n FROM t LEFT JOIN u ON u.id = t.u_id WHERE COALESCE(u.x, 0) = 0",
    "SELECT t.n FROM t JOIN u ON t.u_id = u.id",
    "SELECT t.n FROM t JOIN u ON u.x = 1 WHERE t.u_id = u.id",
    "SELECT t.n FROM t JOIN u ON u.x = (SELECT MAX(a) FROM t)",
])  # fmt: skip
def test_what_only_looks_like_a_slip_is_none(sql: str) -> None:
    """Near misses of each."""
    kinds = {one.kind for one in query_audit(sql, schema=SLIPS, dialect="sqlite").findings}
    slips = {"counts_all", "text_compared", "null_first", "outer_join_undone", "join_on_one_table"}
    assert kinds.isdisjoint(slips)
