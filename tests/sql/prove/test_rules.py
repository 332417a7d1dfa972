"""Each rule of the prover by itself: trees on which it fires mean the same before and after."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.oracles.rule_meaning import QUERIES, faults_of, sites
from scorekit._sql.prove.rule import Rule
from scorekit._sql.prove.rules import parts
from scorekit._sql.prove.rules.order import RULES


@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_keeps_the_meaning_of_what_it_fires_on(rule: Rule, quick: bool) -> None:  # noqa: FBT001
    """Oracle: the interpreter, on databases that obey exactly what the rule rests on."""
    assert next(faults_of(rule, sites(rule, quick=quick)), None) is None


def test_every_rule_has_a_place_and_samples() -> None:
    """Whoever writes a rule is told what is still to be done."""
    room = Path(parts.__file__).parent
    files = [import_module(f"{parts.__package__}.{path.stem}") for path in room.glob("[!_]*.py")]
    written = {one.name for file in files for one in vars(file).values() if isinstance(one, Rule)}
    assert written == {one.name for one in RULES}, "list it in RULES of prove/rules/order.py"
    assert written == {name for name, _ in QUERIES}, "add queries for it to tests/data/rules.txt"


def test_each_rule_says_why_it_is_sound() -> None:
    """In a sentence; and no two have one name."""
    assert len({one.name for one in RULES}) == len(RULES)
    assert all(len(one.why) > len("It is so.") and one.why.endswith(".") for one in RULES)
    assert {kind for _, kind in QUERIES} == {"fires", "near", "same", "apart"}
