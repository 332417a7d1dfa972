"""Whoever calls scorekit by a wrong name reads the right one: of parameters, attributes, names."""

from __future__ import annotations

import asyncio
import inspect
import pickle
import re
from typing import Any

import attrs
import pytest
from record_types import RECORDS
from refusals import Refusal, refusals

import scorekit
from scorekit import strategies
from scorekit._core import near

PUBLIC = {name: getattr(scorekit, name) for name in scorekit.__all__}
CALLABLE = [
    name
    for name, value in PUBLIC.items()
    if inspect.isfunction(value)
    or (
        inspect.isclass(value) and (attrs.has(value) or name.endswith("Judge") > (name == "Judge"))
    )
]
FUNCTIONS = [name for name in CALLABLE if inspect.isfunction(PUBLIC[name])]
PARAMETERS = [
    (name, parameter)
    for name in CALLABLE
    for parameter in inspect.signature(PUBLIC[name]).parameters
]


def _refused(call: Any, **named: Any) -> str:
    async def awaited() -> None:
        answer = call(**named)
        if inspect.iscoroutine(answer):
            await answer

    with pytest.raises(TypeError) as caught:
        asyncio.run(awaited())
    return str(caught.value)


@pytest.mark.parametrize("name", CALLABLE)
def test_an_unknown_keyword_is_answered(name: str) -> None:
    """At each door, with what it has where nothing is near."""
    said = _refused(PUBLIC[name], qqqq=1)
    parameters = ", ".join(inspect.signature(PUBLIC[name]).parameters) or "none"
    head = f"{name}() got an unexpected keyword argument 'qqqq' (here "
    assert said == f"{head}{parameters})"


@pytest.mark.parametrize(("name", "parameter"), [one for one in PARAMETERS if len(one[1]) > 2])
def test_a_misspelled_parameter_is_named(name: str, parameter: str) -> None:
    """With two letters in each other's place."""
    swapped = parameter[:-2] + parameter[-1] + parameter[-2]
    parameters = inspect.signature(PUBLIC[name]).parameters
    if swapped in parameters:
        swapped = parameter + "_"
    said = re.search(r" \(here ([^()]+)\)$", _refused(PUBLIC[name], **{swapped: 1}))
    assert said
    assert parameter in re.split(r" or |, ", said[1])


def test_the_words_are_of_use() -> None:
    """Each stands for a parameter, an attribute or a name that there is; no word twice in one."""
    parameters = {parameter for _, parameter in PARAMETERS}
    attributes = {one for cls in RECORDS.values() for one in dir(cls)}
    attributes |= {one for name in CALLABLE for one in dir(PUBLIC[name])} | {"plot"}
    known = {
        "WORDS": parameters,
        "ATTRIBUTES": attributes,
        "NAMES": {*scorekit.__all__, *strategies.__all__},
    }
    for table, names in known.items():
        meant = {one for text in getattr(near, table).values() for one in text.split()}
        assert meant - names == set(), table
    assert {name for name, _ in near.ELSEWHERE} <= set(CALLABLE)
    assert {word for _, word in near.NOTES.items() if not word} == set()
    assert {getattr(scorekit, name) for name in near.PLOTS.values()}


@refusals("""
    compare_reports({}, {}, alpha=0.1) -> TypeError:
        compare_reports() got an unexpected keyword argument 'alpha'
        (here confidence_level, 1 - alpha)
    compare_reports({}, {}, confidence=0.9) -> TypeError:
        compare_reports() got an unexpected keyword argument 'confidence' (here confidence_level)
    confidence_calibration(confidence=["high"], correct=[True]) -> TypeError:
        confidence_calibration() got an unexpected keyword argument 'confidence' (here levels)
    pass_at_k(n=10, c=3) -> TypeError:
        pass_at_k() got an unexpected keyword argument 'n' (here n_samples), 'c' (here n_correct)
    pass_at_k(10, 3, 1) -> TypeError:
        pass_at_k() takes arguments by name: pass_at_k(n_samples=..., n_correct=..., k=...)
    required_tasks({}, {}, effect=0.1) -> TypeError:
        required_tasks() takes arguments by name: required_tasks(effect=...,
        pilot=(baseline, current))
    ClaudeJudge().estimate_cost -> AttributeError:
        'ClaudeJudge' object has no attribute 'estimate_cost' (here report.judge_cost(judge))
    sql_equivalence("", "", "") -> TypeError:
        sql_equivalence() takes arguments by name: sql_equivalence(..., ..., schema=...)
    query_correctness(sql="", gold="") -> TypeError:
        query_correctness() got an unexpected keyword argument 'sql' (here generated),
        'gold' (here expected)
    code_score(compiled=True, passed=3, total=4) -> TypeError:
        code_score() got an unexpected keyword argument 'total' (here failed, total - passed)
    score_run(passed=True, cost=0.1) -> TypeError:
        score_run() has no 'passed', 'cost' (here score_run(run=Run(passed=..., cost_usd=...)))
    cost_of_pass(cost_usd=[0.1], passed=[True]) -> TypeError:
        cost_of_pass() has no 'passed' (here cost_of_pass_from_columns(cost_usd=..., passed=...))
    token_cost(model="x", input_tokens=1, output_tokens=1) -> TypeError:
        token_cost() got an unexpected keyword argument 'model' (here price=PRICES[model])
    Run(id="x", passed=True, impl_rate=1) -> TypeError:
        Run() got an unexpected keyword argument 'id' (here run_id)
    SqlCase(n="x") -> TypeError:
        SqlCase() got an unexpected keyword argument 'n' (here case_id, ...
    token_cost() -> TypeError: token_cost() missing 3 required keyword-only arguments: ...
    pass_at_k(n_samples=3, n_correct=1).value -> AttributeError:
        'PassAtK' object has no attribute 'value' (here score)
    pass_at_k(n_samples=3, n_correct=1).interval.lower -> AttributeError:
        'Interval' object has no attribute 'lower' (here low)
    compare_reports({1: 1}, {1: 1}).passed -> AttributeError:
        'Comparison' object has no attribute 'passed' (here has_regressions;
        passed is not has_regressions)
    compare_reports({1: 1}, {1: 1}).p_value -> AttributeError:
        'Comparison' object has no attribute 'p_value' (here suite.p_value)
    compare_reports({1: 1}, {1: 1}).suite.ci_low -> AttributeError:
        'SuiteVerdict' object has no attribute 'ci_low' (here interval.low)
    compare_reports({1: 1}, {1: 1}).plot -> AttributeError:
        'Comparison' object has no attribute 'plot' (here scorekit.plot_comparison(result))
    compare_reports({1: 1}, {1: 1}).to_dataframe -> AttributeError:
        'Comparison' object has no attribute 'to_dataframe' (here to_rows;
        pandas.DataFrame(result.to_rows()))
    pass_at_k(n_samples=3, n_correct=1).qqqq -> AttributeError:
        'PassAtK' object has no attribute 'qqqq'
    pass_at_k(n_samples=3, n_correct=1).__float__ -> AttributeError:
        'PassAtK' object has no attribute '__float__'
    VotingJudge.qqqq -> AttributeError: type object 'VotingJudge' has no attribute 'qqqq'
""")  # fmt: skip
def test_what_people_type(wrong: Refusal) -> None:
    """Parameters, arguments by position, attributes."""
    wrong.by_itself()


def test_a_word_near_two_parameters_names_both() -> None:
    """Neither is the likelier one."""
    said = _refused(scorekit.corrected_mean, judge_labelled=1)
    assert said.endswith("(here judge_labeled or judge_unlabeled)")


@pytest.mark.parametrize(
    ("module", "name", "meant"),
    [
        (scorekit, "load_report", "CodeReport.from_json(text), SqlReport.from_json(text)"),
        (scorekit, "code_report_from_dataframe", "code_report_from_columns"),
        (scorekit, "ece", "calibration_error"),
        (scorekit, "pass_at_kk", "pass_at_k or pass_hat_k or g_pass_at_k"),
        (strategies, "queries", "sql_queries"),
        (strategies, "code_sample", "code_samples"),
    ],
)
def test_names_of_modules(module: Any, name: str, meant: str) -> None:
    """In the message itself, which a notebook shows without Python's own suggestion."""
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert (
        str(caught.value) == f"module {module.__name__!r} has no attribute {name!r} (here {meant})"
    )


def test_errors_from_within_pass_through() -> None:
    """Also those of calls that scorekit makes for the caller."""
    with pytest.raises(TypeError, match=r"^n_samples must be an integer >= 1, got '3'$"):
        scorekit.pass_at_k(n_samples="3", n_correct=1)  # type: ignore[arg-type]

    def judge(_: object) -> float:
        return judge(alpha=1)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]

    asked = scorekit.judge_from_function(judge, identity="x")
    found = scorekit.query_correctness("SELECT a FROM t", "SELECT b FROM t", judge=asked)
    assert found.error is not None
    assert "unexpected keyword argument 'alpha'" in found.error.message


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_themselves(name: str) -> None:
    """They pickle, and say what they take, as if there were no door."""
    function = PUBLIC[name]
    assert pickle.loads(pickle.dumps(function)) is function
    assert inspect.signature(function) == inspect.signature(inspect.unwrap(function))
    inner = inspect.unwrap(function)
    assert inspect.iscoroutinefunction(function) == inspect.iscoroutinefunction(inner)


def test_low_and_high_of_an_interval() -> None:
    """An interval is unpacked as a pair is, and stays a record."""
    interval = scorekit.proportion_interval(3, 4)
    low, high = interval
    assert (low, high) == (interval.low, interval.high) == tuple(interval)
    assert (interval[0], interval[1], interval[-1]) == (low, high, high)
    assert attrs.evolve(interval, high=1.0).high == 1.0
