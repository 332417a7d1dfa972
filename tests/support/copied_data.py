"""Statistics of several copies of the same data, with the group of each or as if all were new."""

from __future__ import annotations

import attrs
import numpy as np

import scorekit
from scorekit import Run

RNG = np.random.default_rng(8)
N = 30
FLAGS: list[bool] = (RNG.random(N) < 0.7).tolist()
OTHERS: list[bool] = (RNG.random(N) < 0.5).tolist()
SCORES: list[float] = RNG.random(N).round(3).tolist()
COUNTS: list[int] = RNG.integers(1, 5, N).tolist()
LEVELS: list[str] = RNG.choice(["high", "medium", "low"], N).tolist()
MINUTES: list[float] = np.exp2(RNG.uniform(0, 9, N)).tolist()
SOLVED: list[bool] = (np.log2(MINUTES) + RNG.normal(0, 3, N) < 5).tolist()
VERDICTS = [scorekit.safety_validation(safety_valid=not flag, should_pass=False) for flag in FLAGS]


def suite(times: int, groups: list[int] | None) -> object:
    """Return what a report of SQL cases estimates."""
    valid = [not caught for caught in OTHERS * times]
    cases = scorekit.sql_cases_from_columns(
        case_id=range(N * times) if groups is None else groups,
        generated=["SELECT a FROM t" if right else "SELECT b FROM t" for right in FLAGS * times],
        expected=["SELECT a FROM t"] * N * times,
        schema="CREATE TABLE t (a INT, b INT)",
        should_pass=[False] * N * times,
        is_valid=valid,
        safety_valid=valid,
        confidence=LEVELS * times,
    )
    report = scorekit.score_sql_cases(cases, metrics=["query_correctness", "safety_validation"])
    return report.intervals, report.safety, report.calibration


def runs(times: int, groups: list[int] | None) -> tuple[Run, ...]:
    """Return runs whose tasks are the groups."""
    tasks = range(N * times) if groups is None else groups
    return scorekit.runs_from_columns(
        run_id=range(N * times),
        passed=FLAGS * times,
        impl_rate=SCORES * times,
        cost_usd=[0.5 + rate for rate in SCORES * times],
        duration_seconds=[9.0 + rate for rate in SCORES * times],
        task_id=tasks,
    )


def code(times: int, groups: list[int] | None) -> object:
    """Return the models of a report of code."""
    ids = range(N * times) if groups is None else groups
    return scorekit.code_report_from_columns(case_id=ids, model="m", passed=FLAGS * times).models


def compared(times: int, groups: list[int] | None) -> object:
    """Return the interval of a comparison with the reversed scores."""
    sides = (
        {f"{i}": one for i, one in enumerate(side * times)} for side in (SCORES, SCORES[::-1])
    )
    clusters = None if groups is None else {f"{i}": one for i, one in enumerate(groups)}
    return scorekit.compare_reports(*sides, clusters=clusters).suite.interval


def tiers(times: int, groups: list[int] | None) -> object:
    """Return the comparison of two tiers, of which the second fails more."""
    first = runs(times, groups)
    worse = [attrs.evolve(run, passed=run.passed and i % N > 4) for i, run in enumerate(first)]
    both = [scorekit.tier_statistics(f"T{i}", own) for i, own in enumerate((first, worse))]
    return [scorekit.cross_tier(both)]
