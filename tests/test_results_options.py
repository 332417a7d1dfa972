"""One set of options for every function that compares SQL: the same words at every door."""

from __future__ import annotations

import asyncio
import inspect
import sqlite3
import subprocess
import sys
from collections import defaultdict
from contextlib import closing
from typing import Any, get_args

import attrs
import pytest
from outcomes import present
from public_register import CALLS
from test_public_grammar import call

import scorekit
from scorekit import (
    InputError,
    SqlCase,
    SqlOptions,
    SqlReport,
    judge_from_function,
    query_correctness,
    result_accuracy,
    score_sql_case,
    score_sql_cases,
    sql_equivalence,
)
from scorekit.results import OptionFields, Rule

T = {"t": {"a": "int", "b": "int"}}
FIELDS = attrs.fields_dict(SqlOptions)
SIGNATURES = {
    name: inspect.signature(getattr(scorekit, name)).parameters
    for name in scorekit.__all__
    if inspect.isfunction(getattr(scorekit, name))
}
DOORS = sorted(
    name
    for name, parameters in SIGNATURES.items()
    if {"expected", "expected_rows", "case", "cases", "b"} & {*parameters}
    and {*parameters} & {"evidence", "ordered", "n_databases"}
)
GIVEN: dict[str, Any] = {
    "rule": "bird",
    "row_order": "ignored",
    "semantics": "set",
    "column_order": "ignored",
    "tolerance": 0.5,
    "keys": {"t": "a"},
    "locate": True,
    "contested": "refuted",
    "audit": True,
    "functions": "built_in",
}


def test_the_fields_are_listed_once_for_people_and_once_for_type_checkers() -> None:
    """And both lists agree."""
    assert list(FIELDS) == list(OptionFields.__annotations__) == list(GIVEN)


def test_every_door_takes_each_option_in_the_same_words() -> None:
    """The union of the signatures is that of each; no function has an option of its own."""
    assert len(DOORS) == 9
    for name in DOORS:
        own = {one: SIGNATURES[name][one] for one in [*FIELDS, "options"]}
        assert {str(one) for one in own.values()} == {
            str(SIGNATURES["sql_equivalence"][one]) for one in own
        }
    elsewhere = {
        (name, option)
        for name, parameters in SIGNATURES.items()
        for option in {*FIELDS} & {*parameters}
        if name not in DOORS
    }
    assert elsewhere == {("sql_cases_from_columns", "keys"), ("query_audit", "functions")}
    assert {"options", "keys"} <= {*attrs.fields_dict(SqlCase)}


TWO_MEANINGS = {
    "attempts": "how many there are in a plan, how they depend in a comparison",
    "bounds": "a scale of 0 and 1 by default, or none that is known",
    "clusters": "a mapping where cases are known by name",
    "correct": "whether, or which answer",
    "k": "without a default where it lies beyond the samples",
    "n_correct": "of one task too, or of suites alone",
    "n_samples": "of one task too, or of suites alone",
    "order": "of calls in an answer, or of labels by confidence",
    "price": "what must be known, or may be: a function that is free has none",
    "quantiles": "none by default where values are all that is described",
    "ruler": "what a tier was measured with, or what to do where that differs",
    "safety_valid": "what is scored, or one stage of it",
    "scale": "of grades, or of ratings",
    "threshold": "of a case's fall, or the one of review that is drawn",
    "timeout_seconds": "of a judgement, or of a search for a counterexample",
    "weights": "of disagreements, of parts of a score, of groups",
}
"""Options that two functions spell differently, and why."""


def test_one_option_is_spelled_alike_wherever_it_stands() -> None:
    """In all functions but those of columns; what has two meanings is listed with its reason."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, parameters in SIGNATURES.items():
        for one in parameters.values():
            if one.kind is one.KEYWORD_ONLY and not name.endswith("_from_columns"):
                found[one.name][f"{one.default} {one.annotation}"].add(name)
    two = {name for name, spelled in found.items() if len(spelled) > 1}
    assert two == TWO_MEANINGS.keys(), {name: dict(found[name]) for name in two}


@pytest.mark.parametrize("option", GIVEN)
@pytest.mark.parametrize("name", DOORS)
def test_an_option_is_given_by_keyword_or_in_the_record(name: str, option: str) -> None:
    """Either way the same result; both ways at once it is refused by name."""
    value = GIVEN[option]
    record = SqlOptions(**{option: value})
    by_word = call(name, CALLS[name] | {option: value})
    assert call(name, CALLS[name] | {"options": record}) == by_word
    with pytest.raises(InputError, match=rf"^{option} must be given once, as {option}= or in"):
        call(name, CALLS[name] | {"options": record, option: value})
    with pytest.raises((TypeError, InputError), match=rf"^{option}\b"):
        call(name, CALLS[name] | {option: ["odd"]})
    unknown = rf"^{name}\(\) got an unexpected keyword argument 'order_of_rows' \(here .*rule, row"
    with pytest.raises(TypeError, match=unknown):
        call(name, CALLS[name] | {"order_of_rows": value})
    with pytest.raises(TypeError, match=r"^options must be a SqlOptions, got \{\}$"):
        call(name, CALLS[name] | {"options": {}})


FIRST, OTHER = "SELECT a FROM t", "SELECT DISTINCT a FROM t"
MATTERS: dict[str, tuple[str, str, Any]] = {
    "rule": (FIRST, "SELECT a FROM t ORDER BY a", "spider"),
    "row_order": (FIRST, "SELECT a FROM t ORDER BY a", "expected"),
    "semantics": (OTHER, FIRST, "set"),
    "column_order": ("SELECT b, a FROM t", "SELECT a, b FROM t", "ignored"),
    "tolerance": ("SELECT 1.0", "SELECT 1.25", 0.5),
    "keys": (OTHER, FIRST, {"t": "a"}),
    "locate": ("SELECT a FROM t WHERE a > 1", FIRST, True),
    "audit": (FIRST, "SELECT a FROM t LIMIT 1", True),
}
"""Two queries each of which the option decides something, and its value."""
ROWS_MATTER: dict[str, tuple[Any, Any, Any]] = {
    "rule": ([(1,), (1,)], [(1,)], "bird"),
    "semantics": ([(1,), (1,)], [(1,)], "set"),
    "column_order": ([(2, 1)], [(1, 2)], "ignored"),
    "tolerance": ([(1.0,)], [(1.25,)], 0.5),
}


@pytest.mark.parametrize("option", MATTERS)
@pytest.mark.parametrize("name", DOORS)
def test_no_door_drops_an_option(name: str, option: str) -> None:
    """It changes what each finds, unless its docstring says that it is for suites."""
    first, second, value = MATTERS[option]
    given: dict[str, Any] = {"generated": first, "expected": second, "schema": T}
    if name == "result_accuracy":
        if option not in ROWS_MATTER:
            return
        first, second, value = ROWS_MATTER[option]
        given = {"generated_rows": first, "expected_rows": second}
    elif name == "sql_equivalence":
        given = {"a": first, "b": second, "schema": T}
    elif "score" in name:
        case = SqlCase(case_id="q", **given)
        given = {"case": case} if name.endswith("case") else {"cases": [case]}
        if name == "rescore":
            given["report"] = scorekit.score_sql_cases([case])
        else:
            given["metrics"] = ["query_correctness"]
    found = [call(name, given), call(name, given | {option: value})]
    if "score" in name:  # whose digests differ in any case
        scores = [one if name.endswith("case") else one.cases[0] for one in found]
        found = [(one.query_correctness, one.audits) for one in scores]
    is_dropped = found[0] == found[1]
    assert is_dropped == (option == "audit" and "score" not in name)


def test_what_cannot_be_together_is_refused() -> None:
    """A set and a bag of rows have no order to expect."""
    refused: dict[str, dict[str, Any]] = {
        "semantics is 'set'": {"semantics": "set"},
        "rule is 'subset'": {"rule": "subset"},
    }
    for why, given in refused.items():
        with pytest.raises(InputError, match=rf"'auto' or 'ignored' where {why}, got 'expected'$"):
            SqlOptions(row_order="expected", **given)
    for why, given in {**refused, "row_order is 'ignored'": {"row_order": "ignored"}}.items():
        with pytest.raises(InputError, match=rf"^ordered must be False where {why}, got True$"):
            result_accuracy([], [], ordered=True, **given)
    assert SqlOptions(rule="spider", semantics="set").settled.row_order == "auto"


def test_a_record_of_another_version_is_refused_by_name() -> None:
    """Written by one that has further options."""
    newer = SqlOptions(rule="bird").to_dict() | {"engine": "duckdb"}
    named = r"^SqlOptions must be a mapping with no keys but rule, .*, got 'engine'$"
    with pytest.raises(InputError, match=named):
        SqlOptions.from_dict(newer)


# The order of rows.

PLAIN, MAX = "SELECT a FROM t", "SELECT max(a) FROM t"
UP, DOWN = f"{PLAIN} ORDER BY a", f"{PLAIN} ORDER BY a DESC"
ORDERS: tuple[Any, ...] = ("auto", "expected", "ignored")
SAID = "order is not compared, as only one query has ORDER BY"
IGNORED = "order is not compared, as row_order is 'ignored'"


@pytest.mark.parametrize(
    ("generated", "expected", "verdicts"),
    [
        (PLAIN, PLAIN + " ", ("proved", "proved", "proved")),
        (PLAIN, UP, ("proved", "refuted", "proved")),
        (UP, PLAIN, ("proved", "proved", "proved")),
        (DOWN, UP, ("refuted", "refuted", "proved")),
        (MAX, MAX + " ORDER BY 1", ("proved", "proved", "proved")),
    ],
)
def test_whose_order_counts(generated: str, expected: str, verdicts: tuple[str, ...]) -> None:
    """Of both queries, of the expected one, of none; where one is left out, the result says so."""
    for order, verdict in zip(ORDERS, verdicts, strict=True):
        options = SqlOptions(row_order=order)
        found = sql_equivalence(generated, expected, schema=T, options=options)
        assert found.verdict == verdict, order
        scored = query_correctness(generated, expected, schema=T, options=options)
        if scored.method != "identical":
            assert scored.score == float(verdict == "proved")
        both = " ORDER BY" in generated and " ORDER BY" in expected
        if verdict == "proved" and scored.method == "proved" and SAID[:21] in found.reason:
            why = IGNORED if order == "ignored" else SAID
            assert why in found.assumptions
            assert scored.reasoning.endswith(f"; {why}")
            assert order == "ignored" or not both
        if verdict == "refuted":
            example = present(found.counterexample)
            assert example.order_only
            assert sorted(example.rows_of_a) == sorted(example.rows_of_b)
            assert example.rows_of_a != example.rows_of_b


def test_a_forgotten_order_is_said_to_be_left_out() -> None:
    """Where it is not compared, and only there."""
    same = f"both queries have the same tables, conditions and columns; {SAID}"
    other = "the order of results differs on a database of 2 rows"
    found = query_correctness(PLAIN, UP, schema=T)
    assert (found.score, found.reasoning) == (1.0, same)
    found = query_correctness(PLAIN, UP, schema=T, rule="spider")
    assert (found.score, found.reasoning) == (0.0, other)
    assert query_correctness(PLAIN, UP, schema=T, rule="spider", row_order="auto").score == 1.0
    assert query_correctness(DOWN, UP, schema=T, rule="bird").score == 1.0


@pytest.mark.parametrize(
    ("generated", "expected", "options", "score", "is_left_out"),
    [
        (PLAIN, UP, {}, 1.0, True),
        (PLAIN, UP, {"rule": "spider"}, 0.0, False),
        (PLAIN, UP, {"row_order": "expected"}, 0.0, False),
        (PLAIN, UP, {"rule": "spider", "row_order": "ignored"}, 1.0, True),
        (UP, PLAIN, {"rule": "spider"}, 1.0, True),
        (DOWN, UP, {}, 0.0, False),
        (DOWN, UP, {"rule": "bird"}, 1.0, True),
        (DOWN, UP, {"semantics": "set"}, 1.0, True),
        (PLAIN, None, {"rule": "spider"}, 1.0, False),
        (PLAIN, PLAIN, {"rule": "spider"}, 1.0, False),
        (f"({DOWN})", (UP, f"({DOWN})"), {}, 0.0, False),
        (DOWN, (UP, PLAIN), {}, 1.0, True),
    ],
)
def test_the_rows_of_a_suite_are_ordered_as_its_queries_are(
    generated: str, expected: Any, options: dict[str, Any], score: float, is_left_out: Any
) -> None:
    """Oracle: `result_accuracy`, where *ordered* is passed by hand."""
    rows: dict[str, Any] = {"generated_rows": [(2,), (1,)], "expected_rows": [(1,), (2,)]}
    one = SqlCase(case_id="q", generated=generated, expected=expected, **rows)
    for case, given in ((one, options), (attrs.evolve(one, options=SqlOptions(**options)), {})):
        found = score_sql_case(case, metrics=["result_accuracy"], **given).result_accuracy
        assert found is not None
        assert found.score == score
        assert found.ordered == (score == 0.0) or not is_left_out
        assert found.reason.endswith("; an ORDER BY was not compared") == is_left_out
        by_hand = result_accuracy(*rows.values(), ordered=found.ordered, **options)
        assert (by_hand.score, by_hand.rule) == (found.score, found.rule)


def test_a_case_has_options_of_its_own() -> None:
    """They go before those of the run, the keys beside them; the report keeps those of the run."""
    first = SqlCase(case_id=1, generated=PLAIN, expected=UP, schema=T)
    cases = [
        first,
        attrs.evolve(first, case_id=2, options=SqlOptions(row_order="ignored")),
        attrs.evolve(first, case_id=3, generated=OTHER, expected=PLAIN, keys={"t": "a"}),
    ]
    report = score_sql_cases(cases, rule="spider")
    found = [case.query_correctness and case.query_correctness.score for case in report.cases]
    assert found == [0.0, 1.0, 1.0]
    assert report.scoring.options == SqlOptions(rule="spider").settled
    assert SqlReport.from_json(report.to_json()) == report
    twice = SqlOptions(keys={"t": "b"})
    with pytest.raises(InputError, match=r"^keys must be given once"):
        SqlCase(case_id=1, generated="", options=twice, keys={"t": "a"})


# Taking up a run.


def test_what_cannot_change_a_verdict_is_not_asked_again() -> None:
    """Neither *locate* nor the rule of rows; a refuted pair stays refuted, and is located."""
    asked: list[str] = []

    def function(request: Any) -> float:
        asked.append(request.generated)
        return 0.5

    judge = judge_from_function(function, identity="counts")
    wrong = "SELECT a FROM t WHERE a > 1"
    odd = "SELECT a FROM t WHERE b = (SELECT frobnicate(a) FROM t)"
    cases = [
        SqlCase(case_id=i, generated=generated, expected=PLAIN, schema=T)
        for i, generated in enumerate([wrong, odd])
    ]
    alone = score_sql_cases(cases[:1])
    both = score_sql_cases(cases, judge=judge, resume=alone)
    assert asked == [odd]
    report = score_sql_cases(cases, judge=judge, resume=both, locate=True, rule="bird")
    assert asked == [odd]
    first = present(report.cases[0].query_correctness)
    assert (first.method, report.cases[0].differs_in) == ("refuted", ("WHERE",))
    assert first.equivalence == sql_equivalence(wrong, PLAIN, schema=T, locate=True)


INTERRUPTED = """
import os, signal, threading, time
from scorekit import SqlCase, judge_from_function, score_sql_cases

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
asked, goes_on = [], threading.Event()

def function(request):
    asked.append(request.generated)
    if len(asked) == 20:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    if len(asked) >= 20:
        goes_on.wait(60)
    return 0.5

judge = judge_from_function(function, identity="slow")
cases = [
    SqlCase(case_id=i, generated=f"SELECT {i} FROM t", expected="SELECT a FROM t")
    for i in range(40)
]
try:
    score_sql_cases(cases, judge=judge, evidence="judge")
except KeyboardInterrupt as interrupt:
    report = interrupt.report
goes_on.set()
time.sleep(0.5)
decided = {case.generated for case in report.cases}
assert decided == set(asked[:19]), (len(decided), len(asked))
asked.clear()
whole = score_sql_cases(cases, judge=judge, evidence="judge", resume=report)
assert sorted(asked) == sorted({case.generated for case in cases} - decided)
assert whole.n_cases == 40 and whole.n_failed == 0
print("resumed")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_an_interrupted_run_gives_what_is_decided() -> None:
    """A real signal, to a process: its report is on the KeyboardInterrupt, and can be resumed."""
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False
    )
    assert run.stdout == "resumed\n", run.stderr


def test_the_single_forms_work_off_the_event_loop() -> None:
    """The loop goes on between thirty of them: none of its steps is long work of theirs."""
    steps: list[int] = []

    async def watch() -> None:
        while True:
            steps.append(1)
            await asyncio.sleep(0)

    async def main() -> None:
        watcher = asyncio.create_task(watch())
        cases = [
            SqlCase(case_id=i, generated=f"{DOWN}, {i % 2 + 1}", expected=UP, schema=T)
            for i in range(30)
        ]
        await asyncio.gather(*map(scorekit.ascore_sql_case, cases))
        watcher.cancel()

    asyncio.run(main())
    assert len(steps) > 30


WIDER = "SELECT a, b FROM t", "SELECT a FROM t"


@pytest.mark.parametrize("rule", get_args(Rule))
@pytest.mark.parametrize(
    "pair",
    [
        WIDER,
        WIDER[::-1],
        ("SELECT b, a FROM t", "SELECT a, b FROM t"),
        ("SELECT DISTINCT a FROM t", "SELECT a FROM t"),
        ("SELECT COALESCE(a, 0) FROM t", "SELECT a FROM t"),
        ("SELECT a FROM t WHERE a > 1", "SELECT a FROM t WHERE a >= 1"),
    ],
)
def test_nothing_is_wrong_whose_rows_are_the_same_by_the_rule(
    rule: Rule, pair: tuple[str, str]
) -> None:
    """Oracle: the rule, on the rows of the two queries in SQLite."""
    found = query_correctness(*pair, schema=T, dialect="sqlite", rule=rule)
    if found.method != "refuted":
        assert found.error is not None
        assert found.error.kind == "no_judge"
        assert f"no difference on 40 small databases, by the rule {rule!r};" in found.reasoning
        return
    example = present(present(found.equivalence).counterexample)
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(example.to_sql())
        rows = [database.execute(sql).fetchall() for sql in pair]
    assert result_accuracy(*rows, rule=rule).score < 1.0


def test_a_further_column_is_not_wrong_where_the_rule_allows_it() -> None:
    """Undecided alone, and the judge's where there is one."""
    further, other = WIDER
    found = query_correctness(further, other, schema=T, rule="spider2")
    assert (found.method, present(found.error).origin) == (None, "instrument")
    judge = judge_from_function(lambda _: 1.0, identity="agrees")
    found = query_correctness(further, other, schema=T, rule="spider2", judge=judge)
    assert (found.score, found.method, found.contested) == (1.0, "judge", False)
    found = query_correctness(other, further, schema=T, rule="spider2")
    assert (found.score, found.method) == (0.0, "refuted")
    ordered = [f"{sql} ORDER BY a" for sql in WIDER]
    found = query_correctness(ordered[0], f"{ordered[1]} DESC", schema=T, rule="spider2")
    assert (found.method, present(found.error).kind) == (None, "no_judge")
