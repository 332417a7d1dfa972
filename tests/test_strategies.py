"""The strategies draw what scorekit makes, and Hypothesis finds them by itself."""

from __future__ import annotations

import inspect
import json
import pickle
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.metadata import entry_points
from itertools import pairwise
from typing import Any

import pytest
import sqlglot
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from public_register import results
from record_types import RECORDS

import scorekit
from scorekit import InputError, Judge, MissingExtraError, Record, Tally, strategies
from scorekit.records import SCREEN

FEW = settings(
    max_examples=settings().max_examples // 8, suppress_health_check=[HealthCheck.too_slow]
)
UNSHRUNK = settings(
    max_examples=1000, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow]
)
FUNCTIONS: dict[str, Callable[..., st.SearchStrategy[Any]]] = {
    name: getattr(strategies, name) for name in strategies.__all__ if name != "SHOP"
}


def test_a_result_says_how_it_is_drawn() -> None:
    """Made from its annotations alone it would be one that no metric returns."""
    message = "PassAtK has no strategy: draw what it is made of, and call the metric"
    with pytest.raises(InputError, match=f"^{message}"):
        find(st.from_type(scorekit.PassAtK), lambda _: True)
    assert strategies.for_type(InputError) is NotImplemented


def outcome(judge: Judge, request: scorekit.JudgeRequest) -> str:
    """Return what comes of asking, as text."""
    try:
        judge.judge(request)
    except Exception as error:  # noqa: BLE001 - whatever it raises
        return str(getattr(error, "kind", type(error).__name__))
    return "Verdict"


@pytest.mark.parametrize("name", [*RECORDS, "Judge", "Tally"])
@FEW
@given(data=st.data())
def test_records_travel(name: str, data: st.DataObject) -> None:
    """Of the types that users make Hypothesis finds the strategy itself."""
    kind = RECORDS.get(name) or getattr(scorekit, name)
    value = data.draw(results(kind))
    assert isinstance(value, kind)
    if isinstance(value, Record):
        text = json.dumps(value.to_dict(), allow_nan=False)
        assert type(value).from_dict(json.loads(text)) == value
        assert pickle.loads(pickle.dumps(value)) == value
    if isinstance(value, Record) and kind.__repr__ is Record.__repr__:  # no input of users
        assert len(repr(value)) <= SCREEN
        assert str(value).splitlines()[0] != name
    if isinstance(value, Judge):
        request = data.draw(strategies.judge_requests())
        assert outcome(value, request) == outcome(value, request)
    if isinstance(value, Tally):
        assert isinstance(value.merge(value), Tally)


def test_judges_fail_in_every_way() -> None:
    """A harness meets judges that raise, time out and answer nonsense; each is one of its own."""
    request = scorekit.JudgeRequest(generated="SELECT 1", expected="SELECT 2")

    def gives(kind: str, judge: scorekit.Judge) -> bool:
        return outcome(judge, request) == kind

    wanted = {"Verdict", "overloaded", "RuntimeError", "timeout", "invalid_response"}
    for kind in wanted:
        found = find(strategies.judges(), partial(gives, kind), settings=UNSHRUNK)
        assert outcome(found, request) == kind
    pair = st.tuples(strategies.judges(), strategies.judges())
    with pytest.raises(NoSuchExample):
        find(pair, lambda two: two[0].identity == two[1].identity, settings=FEW)


def test_what_goes_wrong_is_drawn_often() -> None:
    """Else nobody's code for failed instruments and unknown outcomes is tested."""
    find(strategies.sql_reports(), lambda report: report.n_failed > 0, settings=UNSHRUNK)
    find(strategies.comparisons(), lambda one: bool(one.newly_failing), settings=UNSHRUNK)
    drawn: st.SearchStrategy[Any] = strategies.comparisons()
    find(drawn, lambda one: one.suite and one.suite.n_unknown, settings=UNSHRUNK)
    seen: list[bool | None] = []
    collect = given(strategies.code_samples())(lambda sample: seen.append(sample.correct))
    settings(max_examples=200, database=None, derandomize=True)(collect)()
    assert min(map(seen.count, (True, False, None))) > len(seen) // 8


def test_differences_come_with_clusters_and_without() -> None:
    """Both kinds are drawn, and clusters of several tasks."""
    drawn: st.SearchStrategy[Any] = results(scorekit.PairedDifference)
    assert find(drawn, lambda one: one.n_groups is None, settings=UNSHRUNK).n_tasks
    clustered = find(
        drawn,
        lambda one: one.n_groups is not None and one.n_groups < one.n_tasks,
        settings=UNSHRUNK,
    )
    assert clustered.interval is None or clustered.interval.method == "clustered t"


def _is_more(weights: scorekit.CodeWeights, one: str, other: str) -> bool:
    return bool(getattr(weights, one) > getattr(weights, other))


def test_weights_are_drawn_apart() -> None:
    """Each may be larger than another one."""
    for one, other in pairwise(("compilation", "tests", "clippy", "compilation")):
        find(strategies.code_weights(), partial(_is_more, one=one, other=other))


@given(strategies.sample_counts(), strategies.suite_counts())
def test_counts_are_arguments(one: dict[str, Any], suite: dict[str, Any]) -> None:
    """They are what the metric takes, as they are drawn."""
    assert scorekit.pass_at_k(**one).n_tasks == 1
    assert scorekit.pass_at_k(**suite).n_tasks == len(suite["n_samples"])


@given(strategies.run_lists(), strategies.confidence_outcomes())
def test_columns_are_arguments(
    runs: list[scorekit.Run], columns: tuple[list[str], list[bool]]
) -> None:
    """No tier has a run twice, and both columns are equally long."""
    assert scorekit.tier_statistics("T0", runs).n_runs == len(runs)
    levels, correct = columns
    assert scorekit.confidence_calibration(levels, correct=correct).n_cases == len(levels)


def test_runs_come_with_and_without_tasks() -> None:
    """Tiers of either kind are drawn, some of several runs of a task."""
    tiers = results(scorekit.TierStatistics)
    assert find(tiers, lambda tier: tier.task_scores is None, settings=UNSHRUNK)

    def has_repeats(tier: scorekit.TierStatistics) -> bool:
        return any(len(scores) > 1 for scores in (tier.task_scores or {}).values())

    assert find(tiers, has_repeats, settings=UNSHRUNK)


SCHEMAS: st.SearchStrategy[Mapping[str, Mapping[str, str]]] = (
    st.just(strategies.SHOP)
    | strategies.sql_schemas()
    | st.just({'a "b" c': {"order": "decimal(8, 2)", "é;--": "varchar"}, "select": {"x": "INT"}})
)


def _database(schema: Mapping[str, Mapping[str, str]]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    for table, columns in schema.items():
        names = ['"' + name.replace('"', '""') + '"' for name in (table, *columns)]
        database.execute(f"CREATE TABLE {names[0]} ({', '.join(names[1:])})")
        for value in (None, 1, "a"):
            marks = ", ".join("?" for _ in columns)
            database.execute(f"INSERT INTO {names[0]} VALUES ({marks})", [value] * len(columns))
    return database


@settings(max_examples=150)
@given(data=st.data(), depth=st.integers(0, 3))
def test_queries_are_valid(data: st.DataObject, depth: int) -> None:
    """SQLite runs them, sqlglot reads them in several dialects, their tables are the schema's."""
    schema = data.draw(SCHEMAS)
    query = data.draw(strategies.sql_queries(schema, max_depth=depth))
    database = _database(schema)
    try:
        database.execute(query).fetchmany(3)
    finally:
        database.close()
    for dialect in ("sqlite", "postgres", "duckdb"):
        assert len(sqlglot.parse(query, dialect=dialect)) == 1
    if schema is strategies.SHOP:
        assert set(scorekit.extract_tables(query)) <= set(schema)


TYPED = {
    "part": {"at": "DATE", "of": "INTERVAL", "n": "UBIGINT", "is": "BOOLEAN"},
    "PART_": {"at": "TIMESTAMP", "names": "TEXT[]", "price": "decimal(9, 2)", "name": "varchar"},
    "seen": {"at": "TIMESTAMPTZ"},
}


@pytest.fixture(scope="module")
def typed() -> Iterator[Any]:
    """Return a database whose columns have the types they were declared with."""
    with pytest.importorskip("duckdb").connect() as database:
        for table, columns in TYPED.items():
            fields = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
            database.execute(f'CREATE TABLE "{table}" ({fields})')
        yield database


@settings(max_examples=150)
@given(query=strategies.sql_queries(TYPED))
def test_queries_run_where_types_are_checked(typed: Any, query: str) -> None:
    """DuckDB compares dates, booleans and arrays with their own kind only; no name is hidden."""
    typed.execute(query)


@pytest.mark.newest
def test_queries_are_varied() -> None:
    """Each kind of clause comes up; a generator that lost one would test less than it says."""
    seen: set[str] = set()
    words = "JOIN,WHERE,GROUP BY,HAVING,ORDER BY,LIMIT,UNION,WITH,IN (SELECT,LIKE,BETWEEN,DISTINCT"

    @settings(max_examples=200, database=None, derandomize=True)
    @given(strategies.sql_queries())
    def collect(query: str) -> None:
        seen.update(word for word in words.split(",") if word in query)

    collect()
    assert seen == set(words.split(","))


@pytest.mark.parametrize(
    ("schema", "depth", "error", "message"),
    [
        ({}, 1, InputError, "schema must be a mapping of at least one table, got {}"),
        ("t", 1, TypeError, "schema must be a mapping from table to columns, got 't'"),
        ({"t": {}}, 1, InputError, r"schema\['t'\] must be a mapping of at least one column, .*"),
        ({"t": "a"}, 1, TypeError, r"schema\['t'\] must be a mapping from column to type, .*"),
        ({"t": {"a": 1}}, 1, TypeError, r"schema\['t'\]\['a'\] must be a non-empty string, got 1"),
        ({"t": {"a": "INT"}}, -1, InputError, "max_depth must be an integer >= 0, got -1"),
    ],
)
def test_a_schema_that_is_none(
    schema: Any, depth: int, error: type[Exception], message: str
) -> None:
    """What is wrong with a schema is said when the strategy is made, not when it is drawn from."""
    with pytest.raises(error, match=f"^{message}$"):
        strategies.sql_queries(schema, max_depth=depth)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_documented(name: str) -> None:
    """Each strategy says what it draws, and what its arguments mean."""
    doc = inspect.getdoc(FUNCTIONS[name]) or ""
    assert doc.startswith("Draw ")
    for parameter in inspect.signature(FUNCTIONS[name]).parameters:
        assert f"    {parameter}: " in doc


def _loaded_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def test_hypothesis_stays_light() -> None:
    """Every program that loads Hypothesis runs the hook; it must not pay for numpy or sqlglot."""
    (hook,) = entry_points(group="hypothesis", name="scorekit")
    assert hook.value == "scorekit._strategies.registration:register"
    loaded = _loaded_after("import hypothesis.strategies")
    assert "scorekit._strategies.registration" in loaded
    assert not loaded & {"numpy", "scipy", "sqlglot", "scorekit.coding", "scorekit.strategies"}


@pytest.mark.parametrize("first", ["scorekit", "hypothesis"])
def test_the_order_of_imports_does_not_matter(first: str) -> None:
    """A type is registered whether it was loaded before Hypothesis or after."""
    early = "from scorekit import Run" if first == "scorekit" else ""
    loaded = _loaded_after(
        f"{early}\nimport hypothesis.strategies as st\nfrom scorekit import Run, CodeSample\n"
        "assert 'impl_rate' in repr(st.from_type(Run)) and st.from_type(CodeSample) is not None"
    )
    assert "scorekit.strategies" in loaded


def test_without_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that installs what is missing is in the message."""
    for name in ("strategies", "_strategies.queries"):
        monkeypatch.delitem(sys.modules, f"scorekit.{name}")
    monkeypatch.delattr(scorekit, "strategies")
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.setattr(scorekit, "_on_load", None)
    message = r"^hypothesis is not installed; run: pip install 'hypothesis>=\S+' \(which is"
    with pytest.raises(MissingExtraError, match=message):
        _ = scorekit.strategies
    assert "strategies" not in dir(scorekit)
    assert inspect.getmembers(scorekit)  # as help() and tab completion do
