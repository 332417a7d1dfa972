"""A sample of the faults that are put into the rules of the prover."""

from __future__ import annotations

import pytest

from benchmarks.oracles.rule_faults import Examined, faults

RULES = ("EXISTS to join", "aggregate simplified")
QUESTIONS = "yes to view.", "yes to rows.", "yes to outer."


@pytest.mark.sampled
@pytest.mark.parametrize("rule", RULES)
def test_a_question_that_is_not_asked_is_noticed(rule: str) -> None:
    """Each question of these rules to the view, answered by yes, changes what a query means."""
    tested = Examined(rule)
    asked = [fault for fault in faults(rule) if fault.what.startswith(QUESTIONS)]
    assert asked
    assert [fault.what for fault in asked if not tested.notices(fault)] == []
