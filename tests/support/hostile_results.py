"""Records as awkward calls make them: names that break markup, and numbers of every library."""
# mypy: disable-error-code="arg-type, list-item, call-overload, dict-item, union-attr"
# What NumPy, `decimal` and `fractions` have for numbers is taken, beyond what the hints say.

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import scorekit

HOSTILE = '<script>"&\n\x00|`\ud800é'

SCORES = {"a": {"x": [1, 0], HOSTILE: 1}, HOSTILE: {"x": [0, 0], HOSTILE: 1}}
MODELS = scorekit.compare_models(SCORES)
PILOT = scorekit.variance_components({"a": [1, 0.5], "b": [0, 0.5], "c": [1]})
NUMBERS: Any = {"low": np.float32(0.5), "high": Decimal(1), "confidence_level": Fraction(1, 2)}
WEIGHTS = scorekit.CodeWeights(
    compilation=Decimal("0.5"), tests=Fraction(1, 4), clippy=np.float32(0.25)
)
MEASURED: Any = {"cost_usd": Decimal("0.1"), "latency_seconds": np.float32(0.5)}
MEASURED |= {"compiled": np.True_, "input_tokens": np.uint8(7)}
SAMPLES = [
    scorekit.CodeSample(
        case_id=case + HOSTILE, model=model, passed=np.int64(n), failed=i, **MEASURED
    )
    for model in ("a", HOSTILE)
    for case, n in (("sort", 2), ("parse", 0), ("merge", 1))
    for i in range(n + 1)
]
REPORT = scorekit.code_report(SAMPLES, k=(1, 2), insufficient="nan", weights=WEIGHTS)
LATER = scorekit.code_report(SAMPLES[:-3] + SAMPLES[:1], k=(1,), weights=WEIGHTS)
FAILED = scorekit.Run(run_id=HOSTILE, passed=False, impl_rate=0.25, cost_usd=1, duration_seconds=1)
PASSED = scorekit.Run(run_id="r", passed=np.True_, impl_rate=1, cost_usd=2, duration_seconds=0)
TIER_RUNS = {"T1": [PASSED], "T0": [FAILED], HOSTILE: [FAILED, PASSED]}
TIERS = [scorekit.tier_statistics(name, runs) for name, runs in TIER_RUNS.items()]

VERDICT = scorekit.Verdict(score=np.float32(0.5), reasoning=HOSTILE, cost_usd=Decimal("0.1"))
JUDGE = scorekit.judge_from_function(lambda _: VERDICT, identity=HOSTILE)
VALIDATED: Any = {"is_valid": np.True_, "safety_valid": np.False_, "should_pass": False}
VALIDATED |= {"errors": (HOSTILE,), "confidence": "low", "schema": {HOSTILE: {"a": "int"}}}
VALIDATED |= {"expected": ["SELECT 1", "SELECT 2"], "expected_tables": np.array(["t"])}
CASES = [
    scorekit.SqlCase(case_id=HOSTILE + str(i), generated=sql, question=HOSTILE, **VALIDATED)
    for i, sql in enumerate(["SELECT a FROM t", "SELECT 1;", HOSTILE])
]
SQL_REPORT = scorekit.score_sql_cases(CASES, judge=JUDGE)
REFUTED = scorekit.sql_equivalence(
    f"SELECT a FROM t WHERE a <> '{HOSTILE[:11]}'",
    "SELECT a FROM t",
    schema={"t": {"a": "text"}},
    dialect="sqlite",
)
assert REFUTED.counterexample is not None
AUDITED = scorekit.query_audit(f"SELECT a, '{HOSTILE[:11]}' FROM t GROUP BY b LIMIT 1")
UNREAD = scorekit.table_accuracy(HOSTILE, ["t"])
assert UNREAD.error is not None

RULED = scorekit.compare_reports(
    dict.fromkeys(range(8), 1),
    dict.fromkeys(range(8), 0.5),
    rulers=({HOSTILE: "a"}, {HOSTILE: "b"}),
    rescored=dict.fromkeys(range(6), 0.5),
).ruler
assert RULED is not None

CALIBRATION = scorekit.calibration_error([0.5, 0.7, 1], [True, False, np.True_])
MARGIN = scorekit.compare_reports({"a": 1, "b": 0}, {"a": 1, "b": 1}, margin=0.5).suite
