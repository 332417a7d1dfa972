"""Hypothesis strategies for what the metrics take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scorekit._strategies.queries import SHOP, Schema, sql_queries, st
from scorekit.calibration import DEFAULT_NOMINAL
from scorekit.cases import SqlCase
from scorekit.coding import CodeSample, CodeWeights
from scorekit.judges import Judge, JudgeRequest, Verdict, judge_from_function
from scorekit.prices import ModelPrice
from scorekit.records import FrozenMapping
from scorekit.runs import Run

UNIT = st.floats(0, 1)
AMOUNTS = st.floats(0, 1e6)
COUNTS = st.integers(0, 50)
NAMES = st.text(min_size=1, max_size=12)
FLAGS = st.none() | st.booleans()
CONFIDENCES = st.sampled_from([0.8, 0.9, 0.95, 0.99])


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
) -> st.SearchStrategy[CodeSample]:
    """
    Draw outcomes of generated code, measured and not.

    Args:
        case_ids: Ids to draw from; None draws any.
        models: Names to draw from; None draws any.
    """
    return st.builds(
        CodeSample,
        case_id=NAMES if case_ids is None else st.sampled_from(case_ids),
        model=NAMES if models is None else st.sampled_from(models),
        compiled=st.booleans(),
        passed=COUNTS,
        failed=COUNTS,
        warnings=COUNTS,
        cost_usd=st.none() | AMOUNTS,
        latency_seconds=st.none() | AMOUNTS,
        input_tokens=st.none() | COUNTS,
        output_tokens=st.none() | COUNTS,
    )


def code_weights() -> st.SearchStrategy[CodeWeights]:
    """Draw weights of the three components of `scorekit.code_score`, never all 0."""
    weights = st.tuples(*[st.integers(0, 10) | st.floats(0, 10)] * 3).filter(any)
    return weights.map(lambda w: CodeWeights(compilation=w[0], tests=w[1], clippy=w[2]))


def runs(*, run_ids: st.SearchStrategy[str] = NAMES) -> st.SearchStrategy[Run]:
    """
    Draw single runs of an agent.

    Args:
        run_ids: What their ids are drawn from.
    """
    return st.builds(
        Run,
        run_id=run_ids,
        passed=st.booleans(),
        impl_rate=UNIT,
        cost_usd=AMOUNTS,
        duration_seconds=AMOUNTS,
    )


def run_lists(*, max_runs: int = 10) -> st.SearchStrategy[list[Run]]:
    """
    Draw the runs of one tier: at least one, no id twice.

    Args:
        max_runs: Most runs (count, at least 1).
    """
    return st.lists(runs(), min_size=1, max_size=max_runs, unique_by=lambda run: run.run_id)


def model_prices() -> st.SearchStrategy[ModelPrice]:
    """Draw prices of tokens."""
    return st.builds(ModelPrice, input_usd_per_million=AMOUNTS, output_usd_per_million=AMOUNTS)


def confidence_outcomes(
    *, levels: Sequence[str] = tuple(DEFAULT_NOMINAL), max_cases: int = 60
) -> st.SearchStrategy[tuple[list[str], list[bool]]]:
    """
    Draw what `scorekit.confidence_calibration` takes: levels, and whether each case was correct.

    Args:
        levels: Levels that can be stated.
        max_cases: Most cases (count, at least 1).
    """
    stated = st.tuples(st.sampled_from(levels), st.booleans())
    cases = st.lists(stated, min_size=1, max_size=max_cases)
    return cases.map(lambda pairs: ([level for level, _ in pairs], [ok for _, ok in pairs]))


@st.composite
def sql_cases(draw: st.DrawFn, *, schema: Schema = SHOP) -> SqlCase:
    """
    Draw SQL cases that have the inputs of some metrics and lack those of others.

    Most queries are valid over *schema*; some are any text.

    Args:
        draw: Given by Hypothesis.
        schema: Table -> column -> type.
    """
    queries = sql_queries(schema, max_depth=1)
    generated = draw(queries | queries | st.text(max_size=30))
    tables = st.lists(st.sampled_from(list(schema)), max_size=3)
    return SqlCase(
        case_id=draw(NAMES),
        generated=generated,
        expected=draw(
            st.none()
            | st.just(generated or None)
            | queries
            | st.lists(queries, min_size=1, max_size=2)
        ),
        expected_tables=draw(st.none() | tables),
        is_valid=draw(FLAGS),
        safety_valid=draw(FLAGS),
        should_pass=draw(FLAGS),
        expected_safe=draw(FLAGS),
        errors=draw(st.lists(st.text(max_size=20), max_size=2)),
        confidence=draw(st.none() | st.sampled_from(tuple(DEFAULT_NOMINAL))),
        schema=draw(st.none() | st.just(schema)),
        question=draw(st.none() | st.text(max_size=20)),
    )


def judge_requests() -> st.SearchStrategy[JudgeRequest]:
    """Draw what a judge is asked."""
    optional = st.none() | st.text(max_size=20)
    return st.builds(
        JudgeRequest,
        generated=sql_queries(max_depth=1),
        expected=sql_queries(max_depth=1),
        question=optional,
        schema=optional,
        counterexample=optional,
        trial=COUNTS,
    )


def verdicts() -> st.SearchStrategy[Verdict]:
    """Draw what a judge answers."""
    tokens = st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), COUNTS)
    return st.builds(
        Verdict,
        score=st.sampled_from([1.0, 0.5, 0.0]),
        reasoning=st.text(max_size=20),
        model=st.none() | NAMES,
        usage=st.none() | tokens.map(FrozenMapping),
        cost_usd=st.none() | AMOUNTS,
        response_id=st.none() | NAMES,
        cached=st.booleans(),
        instructions_found=st.booleans(),
    )


def judges() -> st.SearchStrategy[Judge]:
    """Draw judges that need no model: each gives one verdict to whatever it is asked."""
    return verdicts().map(_steadfast)


def _steadfast(verdict: Verdict) -> Judge:
    return judge_from_function(lambda _: verdict, identity=f"always {verdict.score}")
