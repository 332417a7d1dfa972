"""
Faults put into the rules of the prover, one at a time: does the test of the rule notice them?

    python -m benchmarks.rule_faults [--rule NAME] [--every 1]

The faults are made from the syntax tree of each rule and of the helpers that it calls: every `if`,
operand of `and` or `or` and filter of a comprehension is dropped, every comparison is turned, and
every question to the view, to rows or to `all` is answered yes.  The test of the rule must find a
database on which the faulty rule changes what a query means, or that it fires on more or fewer of
its own queries; a rule that raises is noticed, too.
Where a condition cannot matter to soundness, a comment on its line says why, behind ``spelling:``.
The exit status is 1 if fewer than 97 in 100 of the others are noticed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import scorekit._sql.prove.rules as right

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import test_equivalence_rules as oracle

from scorekit._sql.prove.rule import Rule

SOURCE: Final = Path(right.__file__).read_text()
LINES: Final = SOURCE.splitlines()
MARK: Final = "# spelling: "
QUESTIONS: Final = frozenset(
    {"implies", "imply_all", "never_null", "same", "none", "everything", "exactly", "exact"}
    | {"rely_on", "at_most_one", "alike", "refers", "given", "all"}
)
"""What is answered by yes or no."""
TURNED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Lt: ast.GtE, ast.GtE: ast.Lt,
    ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip
LEAST: Final = 97
"""Of 100 faults, those that must be noticed."""
SEARCHED: Final = 60
"""Rewritings of a faulty rule that are looked at, beside those that the right one makes, too."""


class Fault(NamedTuple):
    """A rule with a fault."""

    rule: str
    line: int
    what: str
    module: ast.Module

    @property
    def reason(self) -> str:
        """Why it cannot matter, if a comment says so."""
        return LINES[self.line - 1].partition(MARK)[2]

    def made(self) -> Rule:
        """Return the faulty rule."""
        names: dict[str, Any] = {"__name__": "faulty rules"}
        exec(compile(ast.fix_missing_locations(self.module), "faulty", "exec"), names)  # noqa: S102
        rules: tuple[Rule, ...] = names["RULES"]
        return next(one for one in rules if one.name == self.rule)


def _faults_in(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield what can be changed in one node of a tree, and what changes it in place."""
    yes, no = ast.Constant(value=True), ast.Constant(value=False)
    if isinstance(node, ast.If):
        yield f"if {ast.unparse(node.test)}", lambda: setattr(node, "test", no)
    elif isinstance(node, ast.IfExp):
        yield f"... if {ast.unparse(node.test)}", lambda: setattr(node, "test", yes)
    elif isinstance(node, ast.BoolOp):
        for i, value in enumerate(node.values):
            yield f"operand {ast.unparse(value)}", lambda i=i: node.values.pop(i)  # type: ignore[misc]
    elif isinstance(node, ast.comprehension):
        for i, value in enumerate(node.ifs):
            yield f"filter {ast.unparse(value)}", lambda i=i: node.ifs.pop(i)  # type: ignore[misc]
    elif isinstance(node, ast.Compare):
        turned = TURNED[type(node.ops[0])]()
        yield f"turned {ast.unparse(node)}", lambda: setattr(node, "ops", [turned, *node.ops[1:]])
    yield from _answers_in(node)


def _answers_in(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the questions in the fields of a node, and what answers them by yes."""
    yes = ast.Constant(value=True)
    for name, value in ast.iter_fields(node):
        parts = value if isinstance(value, list) else [value]
        for i, part in enumerate(parts):
            if isinstance(part, ast.Call) and _called(part) in QUESTIONS:
                new = yes if part is value else [*parts[:i], yes, *parts[i + 1 :]]
                answer = functools.partial(setattr, node, name, new)
                yield f"yes to {ast.unparse(part)}", answer


def _called(call: ast.Call) -> str:
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _own(name: str, functions: dict[str, ast.FunctionDef]) -> set[str]:
    """Return the functions of the module that one of them needs."""
    found, left = set[str](), [name]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            named = (n.id for n in ast.walk(functions[one]) if isinstance(n, ast.Name))
            left += [other for other in named if other in functions]
    return found


def faults() -> Iterator[Fault]:
    """Yield all faults; one in a helper is one of each rule that needs it."""
    tree = ast.parse(SOURCE)
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    rules = {name: getattr(right, name) for name in functions}
    for name, rule in rules.items():
        if not isinstance(rule, Rule):
            continue
        for needed in sorted(_own(name, functions)):
            place = tree.body.index(functions[needed])
            body = [*ast.walk(functions[needed])]
            for i, node in enumerate(body):
                for j, (what, _) in enumerate(_faults_in(node)):
                    faulty = copy.deepcopy(functions[needed])
                    [*_faults_in([*ast.walk(faulty)][i])][j][1]()
                    line = getattr(
                        node, "lineno", getattr(getattr(node, "target", 0), "lineno", 1)
                    )
                    whole = [*tree.body[:place], faulty, *tree.body[place + 1 :]]
                    yield Fault(rule.name, line, what, ast.Module(whole, []))


class Examined:
    """The test of one rule, and what the right rule does in it."""

    def __init__(self, name: str) -> None:
        self.rule = next(one for one in right.RULES if one.name == name)
        self.sites = oracle.sites(self.rule)
        self.right = {
            (f.before, f.after, f.rests, f.mode) for f in oracle.fired(self.rule, self.sites)
        }

    def notices(self, fault: Fault) -> bool:
        """Say whether the test fails with a fault."""
        rng = random.Random(fault.rule)  # noqa: S311 - for tests
        try:
            faulty = fault.made()
            if oracle.n_fired(faulty, self.sites) != oracle.FIRES[fault.rule]:
                return True
            found = [
                one
                for one in oracle.fired(faulty, self.sites)
                if (one.before, one.after, one.rests, one.mode) not in self.right
            ]
            rng.shuffle(found)
            return any(oracle.contradicted(one, rng) is not None for one in found[:SEARCHED])
        except Exception:  # noqa: BLE001 - a rule that raises fails its test
            return True


def main() -> int:
    """Try faults out."""
    parser = argparse.ArgumentParser(description="Faults put into the rules of the prover.")
    parser.add_argument("--rule", help="the name of the only rule to try")
    parser.add_argument("--every", type=int, default=1, help="try one in so many")
    given = parser.parse_args()
    tested: dict[str, Examined] = {}
    n_noticed, missed, excused, slowest = 0, list[Fault](), list[Fault](), 0.0
    for i, fault in enumerate(faults()):
        if given.rule not in (None, fault.rule) or i % given.every:
            continue
        if fault.rule not in tested:
            tested = {fault.rule: Examined(fault.rule)}
        if fault.reason:
            excused.append(fault)
            continue
        started = time.process_time()
        noticed = tested[fault.rule].notices(fault)
        slowest = max(slowest, time.process_time() - started)
        n_noticed += noticed
        if not noticed:
            missed.append(fault)
            print(f"not noticed: {fault.rule}, line {fault.line}: {fault.what}", flush=True)
    n = n_noticed + len(missed)
    print(f"{n_noticed} of {n} noticed, {len(excused)} excused; slowest {slowest:.1f} s of CPU")
    return int(n_noticed * 100 < LEAST * n)


if __name__ == "__main__":
    sys.exit(main())
