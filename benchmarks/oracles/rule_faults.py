"""
Faults put into the rules of the prover, one at a time: does the test of the rule notice them?

    python -m benchmarks.oracles.rule_faults [--rule NAME] [--every 1]

The faults are made from the syntax tree of each rule and of the helpers that it calls: every `if`,
operand of `and` or `or` and filter of a comprehension is dropped, every comparison is turned, and
every question to the view, to rows or to `all` is answered yes.  What must notice a fault is the
test of that rule alone, `faults_of` in benchmarks/oracles/rule_meaning.py.

Where a condition cannot matter to soundness, a comment on its line or on the line above says why,
behind ``equivalent:``.  Its faults are tried all the same, and a comment that excuses none is
named.  The exit status is 1 if there is such a comment, if a fault takes more than 5 s, or if
fewer than 97 in 100 of the faults that no comment excuses are noticed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.oracles import rule_meaning as oracle
from scorekit._sql.prove.rule import Rule
from scorekit._sql.prove.rules import parts
from scorekit._sql.prove.rules.order import RULES

_ROOM: Final = sorted(Path(parts.__file__).parent.glob("[!_]*.py"))
FILES: Final = [path for path in _ROOM if path.stem != "order"]
LINES: Final = [line for path in FILES for line in path.read_text().splitlines()]
"""Of all files of rules, one behind the other."""
MARK: Final = "# equivalent: "
QUESTIONS: Final = frozenset(
    {"implies", "imply_all", "never_null", "same", "none", "everything", "exactly", "exact"}
    | {"rely_on", "at_most_one", "alike", "refers", "given", "all", "converts", "key"}
)
"""What is answered by yes or no."""
TURNED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Lt: ast.GtE, ast.GtE: ast.Lt,
    ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip
LEAST: Final = 97
"""Of 100 faults, those that must be noticed."""
LONGEST: Final = 5
"""Seconds of CPU that a fault may take."""


class Fault(NamedTuple):
    """A rule with a fault."""

    rule: str
    line: int
    what: str
    module: ast.Module

    @property
    def marked(self) -> int:
        """The line of a comment that says why it cannot matter, 0 if there is none."""
        for line in (self.line, self.line - 1):
            text = LINES[line - 1]
            if MARK in text and (line == self.line or text.lstrip().startswith(MARK)):
                return line
        return 0

    def made(self) -> tuple[Rule, ...]:
        """Return the rules, of which all that need what is faulty are faulty."""
        names: dict[str, Any] = {"__name__": "faulty rules"}
        exec(compile(ast.fix_missing_locations(self.module), "faulty", "exec"), names)  # noqa: S102
        rules = {one.name: one for one in names.values() if isinstance(one, Rule)}
        return tuple(rules[one.name] for one in RULES)


class Change(NamedTuple):
    """A fault that can be made in a syntax tree."""

    line: int
    what: str
    make: Callable[[], object]


def _changes(node: ast.AST) -> Iterator[Change]:
    """Yield what can be changed in one node of a tree, in place."""
    yes, no = ast.Constant(value=True), ast.Constant(value=False)
    if isinstance(node, ast.If):
        yield Change(node.lineno, f"if {_text(node.test)}", lambda: setattr(node, "test", no))
    elif isinstance(node, ast.IfExp):
        what = f"... if {_text(node.test)}"
        yield Change(node.test.lineno, what, lambda: setattr(node, "test", yes))
    elif isinstance(node, ast.BoolOp):
        for i, part in enumerate(node.values):
            drop = functools.partial(node.values.pop, i)
            yield Change(part.lineno, f"operand {_text(part)}", drop)
    elif isinstance(node, ast.comprehension):
        for i, part in enumerate(node.ifs):
            drop = functools.partial(node.ifs.pop, i)
            yield Change(part.lineno, f"filter {_text(part)}", drop)
    elif isinstance(node, ast.Compare):
        turned = [TURNED[type(node.ops[0])](), *node.ops[1:]]
        yield Change(node.lineno, f"turned {_text(node)}", lambda: setattr(node, "ops", turned))
    yield from _answers(node)


def _answers(node: ast.AST) -> Iterator[Change]:
    """Yield the questions in the fields of a node, to be answered by yes."""
    yes = ast.Constant(value=True)
    for name, value in ast.iter_fields(node):
        whole = value if isinstance(value, list) else [value]
        for i, part in enumerate(whole):
            if isinstance(part, ast.Call) and _called(part) in QUESTIONS:
                new = yes if part is value else [*whole[:i], yes, *whole[i + 1 :]]
                answer = functools.partial(setattr, node, name, new)
                yield Change(part.lineno, f"yes to {_text(part)}", answer)


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _called(call: ast.Call) -> str:
    """Return what is called; what `determined` returns is a question, and itself none."""
    func = call.func
    if isinstance(func, ast.Call):
        return "given" if _called(func) == "determined" else ""
    return getattr(func, "attr", "") or getattr(func, "id", "")


def _own(name: str, functions: dict[str, ast.FunctionDef]) -> set[str]:
    """Return the functions of the module that one of them needs."""
    found, left = set[str](), [name]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            inside = [*ast.walk(functions[one])]
            names = [n for n in inside if isinstance(n, ast.Name)]
            own = {n.id for n in names if isinstance(n.ctx, ast.Store)}
            own |= {n.arg for n in inside if isinstance(n, ast.arg)}
            own |= {n.name for n in inside if isinstance(n, ast.FunctionDef) and n.name != one}
            left += [n.id for n in names if n.id in functions and n.id not in own]
    return found


def _whole() -> list[ast.stmt]:
    """Return what the files of rules hold, as if it stood in one, with the places in `LINES`."""
    body: list[ast.stmt] = []
    n_lines = 0
    for path in FILES:
        text = path.read_text()
        tree = ast.parse(text)
        ast.increment_lineno(tree, n_lines)
        n_lines += len(text.splitlines())
        own = (parts.__package__, parts.__name__, "__future__")
        body += [n for n in tree.body if not (isinstance(n, ast.ImportFrom) and n.module in own)]
    return [*ast.parse("from __future__ import annotations").body, *body]


def _where(line: int) -> str:
    """Return the file and the line in it."""
    for path in FILES:
        n_lines = len(path.read_text().splitlines())
        if line <= n_lines:
            return f"{path.name}:{line}"
        line -= n_lines
    raise ValueError(line)


def faults(only: str | None = None) -> Iterator[Fault]:
    """Yield all faults, or those of one rule; in a helper it is one of each rule that needs it."""
    body = _whole()
    functions = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
    for rule in RULES:
        if only not in {None, rule.name}:
            continue
        for needed in sorted(_own(rule.rewrite.__name__, functions)):
            place = body.index(functions[needed])
            for i, node in enumerate(ast.walk(functions[needed])):
                for j, change in enumerate(_changes(node)):
                    faulty = copy.deepcopy(functions[needed])
                    [*_changes([*ast.walk(faulty)][i])][j].make()
                    whole = [*body[:place], faulty, *body[place + 1 :]]
                    yield Fault(rule.name, change.line, change.what, ast.Module(whole, []))


class Examined:
    """The test of one rule, and what the right rule does in it."""

    def __init__(self, name: str) -> None:
        rule = next(one for one in RULES if one.name == name)
        self.sites = oracle.sites(rule)
        self.right = frozenset(one.what for one in oracle.fired(rule, self.sites))
        wrong = next(oracle.faults_of(rule, self.sites, RULES, self.right), None)
        if wrong is not None:  # or any fault would be noticed
            raise ValueError(f"{name} fails its test as it is: {wrong}")

    def notices(self, fault: Fault) -> bool:
        """Say whether the test fails with a fault."""
        try:
            rules = fault.made()
            rule = next(one for one in rules if one.name == fault.rule)
            return any(oracle.faults_of(rule, self.sites, rules, self.right))
        except Exception:  # noqa: BLE001 - a rule that raises fails its test
            return True


def main() -> int:
    """Try faults out."""
    parser = argparse.ArgumentParser(description="Faults put into the rules of the prover.")
    parser.add_argument("--rule", help="the name of the only rule to try")
    parser.add_argument("--every", type=int, default=1, help="try one in so many")
    given = parser.parse_args()
    tested: dict[str, Examined] = {}
    n_noticed, n_missed, n_excused, slowest = 0, 0, 0, 0.0
    marks = {i for i, line in enumerate(LINES, 1) if MARK in line}
    for i, fault in enumerate(faults(given.rule)):
        if i % given.every:
            continue
        if fault.rule not in tested:
            tested = {fault.rule: Examined(fault.rule)}
        started = time.process_time()
        noticed = tested[fault.rule].notices(fault)
        slowest = max(slowest, time.process_time() - started)
        n_noticed += noticed
        if noticed:
            continue
        where = f"{fault.rule}, {_where(fault.line)}: {fault.what}"
        if fault.marked:
            n_excused += 1
            marks.discard(fault.marked)
            print(f"excused: {where}: {LINES[fault.marked - 1].partition(MARK)[2]}", flush=True)
        else:
            n_missed += 1
            print(f"not noticed: {where}", flush=True)
    n = n_noticed + n_missed + n_excused
    print(f"{n_noticed} of {n} noticed, {n_excused} excused; slowest {slowest:.1f} s of CPU")
    whole = given.rule is None and given.every == 1
    for line in sorted(marks) if whole else ():
        print(f"{_where(line)} excuses nothing: {LINES[line - 1].strip()}")
    few = n_noticed * 100 < LEAST * (n_noticed + n_missed)
    return int(few or slowest > LONGEST or (whole and bool(marks)))


if __name__ == "__main__":
    sys.exit(main())
