"""Cases and judges for the tests of cases, of scoring and of reports."""

from __future__ import annotations

from typing import Any

from scorekit.cases import SqlCase
from scorekit.judges import Judge, JudgeRequest, judge_from_function

FULL = SqlCase(
    case_id="q1",
    generated="SELECT u.id FROM users u JOIN orders o ON o.uid = u.id",
    expected="SELECT id FROM users",
    expected_tables=["users", "orders"],
    is_valid=True,
    safety_valid=True,
    should_pass=True,
    confidence="high",
    question="Which users?",
    generated_rows=((1,), (2,)),
    expected_rows=((2,), (1,)),
)


def judge_of(score: float | Exception) -> Judge:
    """Return a judge that always says *score*, or raises it."""

    def function(_: JudgeRequest) -> float:
        if isinstance(score, Exception):
            raise score
        return score

    return judge_from_function(function, identity="test")


def case(case_id: str = "q1", **changes: Any) -> SqlCase:
    """Return a case whose query gets its tables half right."""
    fields = {"generated": "SELECT id FROM users", "expected_tables": ["users", "orders"]}
    return SqlCase(case_id=case_id, **{**fields, **changes})


SHOP = {"users": {"id": "int primary key", "age": "int"}}


UNJUDGED = {
    "same": ("SELECT id FROM users", "SELECT id FROM users"),
    "proved": ("SELECT id FROM users WHERE NOT age < 3", "SELECT id FROM users WHERE age >= 3"),
    "refuted": ("SELECT id FROM users WHERE age > 3", "SELECT id FROM users WHERE age >= 3"),
    "absent": ("SELECT id FROM people", "SELECT id FROM users"),
    "cut": ("SELECT (", "SELECT id FROM users"),
    "time": ("SELECT id, DATE('now') FROM users", "SELECT id, CURRENT_DATE FROM users"),
    "broken": ("SELECT id FROM users", "SELECT id FROM people"),
}


def unjudged(*names: str) -> list[SqlCase]:
    """Return cases for which no judge is there."""
    return [
        SqlCase(case_id=name, generated=UNJUDGED[name][0], expected=UNJUDGED[name][1], schema=SHOP)
        for name in names
    ]


TROUBLE = [
    case("fine", expected_tables=["t"]),
    case("cut", generated="SELECT (", expected_tables=["t"]),
    case("asked", generated="SELECT b FROM t", expected="SELECT a FROM t WHERE b > random()"),
    case("drop\n", is_valid=True, safety_valid=True, should_pass=False),
    case("harmless", is_valid=False, safety_valid=False, should_pass=True),
]


def undecided(n: int, **fields: Any) -> list[SqlCase]:
    """Return cases that need a judge, with all other metrics."""
    given = {"expected": "SELECT x FROM t", "expected_tables": ["t"], **fields}
    return [case(f"q{i}", generated=f"SELECT {i} FROM t", **given) for i in range(n)]


def with_rows(case_id: str = "q", **changes: Any) -> SqlCase:
    """Return a case whose rows agree, of queries that differ."""
    fields: dict[str, Any] = {
        "generated": "SELECT id FROM users",
        "expected": "SELECT id FROM users WHERE id > 0",
        "schema": {"users": {"id": "int"}},
        "generated_rows": [(1,), (2,)],
        "expected_rows": [(2,), (1,)],
    }
    return SqlCase(case_id=case_id, **{**fields, **changes})
