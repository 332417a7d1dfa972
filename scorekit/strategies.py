"""
Hypothesis strategies for everything that scorekit takes, and for whole reports.

With the ``testing`` extra installed, ``st.from_type(scorekit.CodeSample)`` works too: Hypothesis
finds the strategy of each of these types by itself. A result is drawn by calling the metric on
what was drawn, as in ``st.builds(code_score, ...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from operator import add
from typing import Any
from uuid import UUID

import attrs

import scorekit
from scorekit._core.mappings import FrozenMapping
from scorekit._core.near import missing_name
from scorekit._strategies.fields import AMOUNTS, COUNTS, TEXTS, UNIT, records
from scorekit._strategies.queries import SHOP, Schema, sql_queries, sql_schemas, st
from scorekit.calibration import DEFAULT_NOMINAL
from scorekit.errors import InputError, shown
from scorekit.records import Record

__all__ = [
    "SHOP",
    "code_reports",
    "code_samples",
    "code_weights",
    "comparisons",
    "confidence_outcomes",
    "judge_requests",
    "judges",
    "rubrics",
    "run_lists",
    "runs",
    "sample_counts",
    "sql_cases",
    "sql_options",
    "sql_queries",
    "sql_reports",
    "sql_schemas",
    "suite_counts",
    "tool_calls",
    "verdicts",
]

_NO_TASK = st.none()
_NAMES = st.text(min_size=1, max_size=12)
_FLAGS = st.none() | st.booleans()
_JUDGED = st.sampled_from([0.0, 0.5, 1.0])


@st.composite
def sample_counts(draw: st.DrawFn, *, max_samples: int = 20) -> dict[str, int]:
    """
    Draw the counts of one task, as keyword arguments of `scorekit.pass_at_k`.

    Args:
        draw: Given by Hypothesis.
        max_samples: Most samples (count, at least 1).
    """
    n = draw(st.integers(1, max_samples))
    return {"n_samples": n, "n_correct": draw(st.integers(0, n)), "k": draw(st.integers(1, n))}


@st.composite
def suite_counts(draw: st.DrawFn, *, max_tasks: int = 10, max_samples: int = 20) -> dict[str, Any]:
    """
    Draw the counts of a suite: columns *n_samples* and *n_correct*, and a *k* that no task lacks.

    Args:
        draw: Given by Hypothesis.
        max_tasks: Most tasks (count, at least 1).
        max_samples: Most samples of a task (count, at least 1).
    """
    tasks = draw(st.lists(sample_counts(max_samples=max_samples), min_size=1, max_size=max_tasks))
    return {
        "n_samples": [task["n_samples"] for task in tasks],
        "n_correct": [task["n_correct"] for task in tasks],
        "k": min(task["k"] for task in tasks),
    }


def code_samples(
    *, case_ids: Sequence[str] | None = None, models: Sequence[str] | None = None
) -> st.SearchStrategy[scorekit.CodeSample]:
    """
    Draw outcomes of generated code: correct, failed, not compiled, unknown; each a quarter.

    Args:
        case_ids: Ids to draw from; None draws any.
        models: Names to draw from; None draws any.
    """
    names = {
        "case_id": _NAMES if case_ids is None else st.sampled_from(case_ids),
        "model": _NAMES if models is None else st.sampled_from(models),
    }
    compiled, none, unknown = st.just(True), st.just(0), st.none()  # noqa: FBT003
    outcomes: Any = [
        {"compiled": compiled, "passed": COUNTS.map(lambda n: n + 1), "failed": none},
        {"compiled": compiled, "passed": COUNTS},
        {"compiled": st.just(False), "passed": COUNTS},  # noqa: FBT003
        {"compiled": compiled | unknown, "passed": unknown, "failed": none},
    ]
    return st.one_of([records(scorekit.CodeSample, **names, **one) for one in outcomes])


def code_weights() -> st.SearchStrategy[scorekit.CodeWeights]:
    """Draw weights of the three components of `scorekit.code_score`, never all 0."""
    weights = st.tuples(*[st.integers(0, 10) | st.floats(0, 10)] * 3).filter(any)
    return weights.map(lambda w: scorekit.CodeWeights(compilation=w[0], tests=w[1], clippy=w[2]))


def runs(
    *,
    run_ids: st.SearchStrategy[str] = _NAMES,
    task_ids: st.SearchStrategy[str | None] = _NO_TASK,
) -> st.SearchStrategy[scorekit.Run]:
    """
    Draw single runs of an agent.

    Args:
        run_ids: What their ids are drawn from.
        task_ids: What the ids of their tasks are drawn from.
    """
    return records(scorekit.Run, run_id=run_ids, task_id=task_ids, impl_rate=UNIT)


def run_lists(*, max_runs: int = 10) -> st.SearchStrategy[list[scorekit.Run]]:
    """
    Draw the runs of one tier: at least one, no id twice, each with a task or none with one.

    Args:
        max_runs: Most runs (count, at least 1).
    """
    return st.sampled_from([_NO_TASK, st.sampled_from(["a", "b", "c"])]).flatmap(
        lambda task_ids: st.lists(
            runs(task_ids=task_ids),
            min_size=1,
            max_size=max_runs,
            unique_by=lambda run: run.run_id,
        )
    )


def confidence_outcomes(
    *, levels: Sequence[str] = tuple(DEFAULT_NOMINAL), max_cases: int = 60
) -> st.SearchStrategy[tuple[list[str], list[bool]]]:
    """
    Draw what `scorekit.confidence_calibration` takes: levels, and whether each case was correct.

    Args:
        levels: Levels that can be stated.
        max_cases: Most cases (count, at least 1).
    """
    cases = st.tuples(st.sampled_from(levels), st.booleans())
    return st.lists(cases, min_size=1, max_size=max_cases).map(
        lambda some: ([level for level, _ in some], [correct for _, correct in some])
    )


def sql_cases(*, schema: Schema = SHOP) -> st.SearchStrategy[scorekit.SqlCase]:
    """
    Draw SQL cases that have the inputs of some metrics and lack those of others.

    Most queries are valid over *schema*; some are any text, and some those that are expected.

    Args:
        schema: Table -> column -> type.
    """
    queries = sql_queries(schema, max_depth=1)
    cells = st.none() | st.integers(0, 2) | st.text(max_size=3) | st.dates() | st.just(nan)
    rows = st.lists(st.tuples(st.integers(0, 1), cells), max_size=2)

    def cases(results: st.SearchStrategy[Any]) -> st.SearchStrategy[scorekit.SqlCase]:
        return records(
            scorekit.SqlCase,
            case_id=_NAMES,
            generated=queries | queries | st.text(max_size=30),
            expected=st.none() | queries | st.lists(queries, min_size=1, max_size=2),
            expected_tables=st.none() | st.lists(st.sampled_from(list(schema)), max_size=3),
            errors=st.lists(TEXTS, max_size=2),
            confidence=st.none() | st.sampled_from(tuple(DEFAULT_NOMINAL)),
            dialect=st.none(),
            schema=st.none() | st.just(schema),
            generated_rows=st.none() | results,
            expected_rows=st.none() | results,
            also_accepted_rows=st.lists(results, max_size=1),
            tags=st.dictionaries(st.sampled_from(["database", "difficulty"]), _NAMES),
            options=st.none() | sql_options(schema=schema),
            keys=st.none(),
        )

    drawn = cases(rows) | cases(st.fixed_dictionaries({"a": rows, "b": rows}))
    return st.builds(_expecting_itself, drawn, st.sampled_from([False, False, False, True]))


def _expecting_itself(case: scorekit.SqlCase, does: bool) -> scorekit.SqlCase:  # noqa: FBT001
    return attrs.evolve(case, expected=case.generated) if does and case.generated else case


def sql_options(*, schema: Schema = SHOP) -> st.SearchStrategy[scorekit.SqlOptions]:
    """
    Draw options of SQL functions, few or many of them given.

    Args:
        schema: Table -> column -> type, of which some first columns are keys.
    """
    first = {table: next(iter(columns)) for table, columns in schema.items()}
    common: dict[str, Any] = {
        "tolerance": st.none() | UNIT,
        "keys": st.none() | st.just(first),
    }
    unordered = st.none() | st.sampled_from(["auto", "ignored"])
    bags = st.none() | st.just("bag")
    rules = st.none() | st.sampled_from(["scorekit", "spider", "bird", "column-f1"])
    return records(scorekit.SqlOptions, row_order=unordered, **common) | records(
        scorekit.SqlOptions, semantics=bags, rule=rules, **common
    )


def judge_requests() -> st.SearchStrategy[scorekit.JudgeRequest]:
    """Draw what a judge is asked."""
    queries = sql_queries(max_depth=1)
    return records(scorekit.JudgeRequest, generated=queries, expected=queries)


def verdicts() -> st.SearchStrategy[scorekit.Verdict]:
    """Draw what a judge answers."""
    tokens = st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), COUNTS)
    usage = st.none() | tokens.map(FrozenMapping)
    return records(scorekit.Verdict, score=_JUDGED, usage=usage, votes=st.just(()))


def judges() -> st.SearchStrategy[scorekit.Judge]:
    """
    Draw judges that need no model, each with an identity of its own.

    Most give one verdict to whatever they are asked.  Some fail: they raise, time out, or answer
    what is no verdict, which is a failure of the judge wherever they are used.
    """
    raised = st.builds(
        scorekit.JudgeError,
        st.sampled_from(["overloaded", "refusal", "rate limit"]),
        st.text(max_size=20),
    )
    others = st.builds(RuntimeError, st.text(max_size=20)) | st.builds(TimeoutError)
    nonsense = st.sampled_from([0.7, "equivalent", None, float("nan")])
    answers = verdicts() | verdicts() | (raised | others | nonsense)
    return st.builds(_judge, answers, st.uuids())


def _judge(answer: object, name: UUID) -> scorekit.Judge:
    def judge(_: scorekit.JudgeRequest) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return scorekit.judge_from_function(
        judge,
        identity=f"always {shown(answer)} ({name})",
        transient=(),  # a judge that fails always does so at once
    )


def tool_calls() -> st.SearchStrategy[list[tuple[str, dict[str, Any]]]]:
    """Draw calls of few tools with few arguments, as `scorekit.tool_call_accuracy` takes them."""
    values = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([1.0, "1", nan])
    arguments = st.dictionaries(st.sampled_from("pq"), values | st.lists(values, max_size=2))
    return st.lists(st.tuples(st.sampled_from(["search", "open"]), arguments), max_size=6)


def rubrics() -> st.SearchStrategy[tuple[list[list[int]], list[list[bool | None]]]]:
    """Draw points and judgements of examples, as `scorekit.rubric_score` takes them."""
    criteria = st.lists(st.tuples(st.integers(-10, 10), _FLAGS), max_size=4)
    example = st.tuples(st.tuples(st.integers(1, 10), _FLAGS), criteria).map(
        lambda p: [p[0], *p[1]]
    )
    return st.lists(example, min_size=1, max_size=6).map(
        lambda some: ([[p for p, _ in one] for one in some], [[m for _, m in one] for one in some])
    )


def code_reports(
    *, max_cases: int = 4, max_models: int = 2, max_samples: int = 12
) -> st.SearchStrategy[scorekit.CodeReport]:
    """
    Draw results of `scorekit.code_report` at pass@1 and pass@2.

    Args:
        max_cases: Most cases (count, at least 1).
        max_models: Most models (count, at least 1).
        max_samples: Most samples in all (count, at least 1).
    """
    names = st.tuples(
        st.lists(_NAMES, min_size=1, max_size=max_cases),
        st.lists(_NAMES, min_size=1, max_size=max_models),
    )
    samples = names.flatmap(
        lambda pair: st.lists(
            code_samples(case_ids=pair[0], models=pair[1]), min_size=1, max_size=max_samples
        )
    )
    return samples.map(lambda some: scorekit.code_report(some, k=(1, 2), insufficient="nan"))


def sql_reports(*, max_cases: int = 4) -> st.SearchStrategy[scorekit.SqlReport]:
    """
    Draw results of `scorekit.score_sql_cases`.

    Args:
        max_cases: Most cases (count, at least 1).
    """
    cases = st.lists(
        sql_cases(), min_size=1, max_size=max_cases, unique_by=lambda case: case.case_id
    )
    models = st.none() | _NAMES
    return st.builds(scorekit.score_sql_cases, cases, judge=st.none() | judges(), model=models)


def comparisons() -> st.SearchStrategy[scorekit.Comparison]:
    """
    Draw results of `scorekit.compare_reports`: of columns, and of reports whose judges fail.

    Columns have unknown outcomes, and cases that only one side has.
    """
    return _comparisons_of_columns() | _comparisons_of_reports()


@st.composite
def _comparisons_of_columns(draw: st.DrawFn) -> scorekit.Comparison:
    known = st.lists(st.booleans(), min_size=1, max_size=4)
    unknown = st.lists(st.none(), max_size=2)
    attempts = UNIT | known | st.builds(add, known, unknown)
    cases = draw(st.lists(_NAMES, min_size=1, max_size=8, unique=True))
    n_before = draw(st.integers(1, len(cases)))
    before = {case: draw(attempts) for case in cases[:n_before]}
    after = {case: draw(attempts) for case in cases[draw(st.integers(0, n_before - 1)) :]}
    threshold, anytime = draw(st.floats(0, 0.5)), draw(st.booleans())
    return scorekit.compare_reports(before, after, threshold=threshold, anytime=anytime)


@st.composite
def _comparisons_of_reports(draw: st.DrawFn) -> scorekit.Comparison:
    """Metrics that fail on one side only are among them."""
    names = draw(st.lists(_NAMES, min_size=1, max_size=4, unique=True))
    cases = [
        scorekit.SqlCase(
            case_id=name, generated=draw(sql_queries(max_depth=1)), expected="SELECT 1"
        )
        for name in names
    ]
    before, after = (
        scorekit.score_sql_cases(cases, judge=draw(judges()), evidence="judge") for _ in range(2)
    )
    return scorekit.compare_reports(before, after, threshold=draw(st.floats(0, 0.5)))


_MAKERS: dict[Any, Callable[[], st.SearchStrategy[Any]]] = {
    scorekit.CodeReport: code_reports,
    scorekit.CodeSample: code_samples,
    scorekit.CodeWeights: code_weights,
    scorekit.Comparison: comparisons,
    scorekit.Judge: judges,
    scorekit.JudgeRequest: judge_requests,
    scorekit.ModelPrice: lambda: st.builds(
        scorekit.ModelPrice, input_usd_per_million=AMOUNTS, output_usd_per_million=AMOUNTS
    ),
    scorekit.Run: runs,
    scorekit.SqlCase: sql_cases,
    scorekit.SqlOptions: sql_options,
    scorekit.SqlReport: sql_reports,
    scorekit.Verdict: verdicts,
}


def for_type(kind: Any) -> Any:
    """Return what Hypothesis draws values of *kind* from; NotImplemented leaves it to itself."""
    if kind in _MAKERS:
        return _MAKERS[kind]()
    if issubclass(kind, Record):
        raise InputError(
            f"{kind.__name__} has no strategy: draw what it is made of, and call the metric "
            "(st.builds(function, ...))"
        )
    return NotImplemented


def __getattr__(name: str) -> object:
    raise AttributeError(missing_name(name, __all__, __name__), name=name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
