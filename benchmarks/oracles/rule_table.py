"""
What each rule of the prover decides: the proofs that are lost without it, by set of pairs.

    python -m benchmarks.oracles.rule_table FILE... [--mutations N] [--processes 1]
        [--without NAME ...]

The FILEs are those of `benchmarks.oracles.corpora`.
Each pair that is proved is tried again without one rule, as often as there are rules that fired
on it.  A rule that loses nothing may stand in for another one, so in the end all that lose
nothing are left out together.  With ``--without`` only the rules so named are left out, together.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import attrs

from benchmarks.oracles.corpora import Pair, pairs, parser_of_files
from scorekit._sql.meaning.question import Question
from scorekit._sql.meaning.tree import Node
from scorekit._sql.prove import search as searching
from scorekit._sql.prove.rewriting import Rewriting
from scorekit._sql.prove.rule import Rule, View
from scorekit._sql.prove.rules import order
from scorekit._sql.prove.rules.order import RULES
from scorekit._sql.prove.search import Proof, search
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.reading import read_pair
from scorekit._sql.schema.tables import read_schema
from scorekit.errors import InputError

PROVE: Final = Path(__file__).parents[2] / "scorekit" / "_sql" / "prove"


def is_proved(pair: Pair, without: Collection[str] = (), seen: set[str] | None = None) -> bool:
    """Say whether the rules but some prove a pair; the names of those that fire are *seen*."""
    kept: dict[str, Any] = {}
    for name in ("USUAL", "FURTHER", "LAST", "RULES"):
        rules = [rule for rule in getattr(order, name) if rule.name not in without]
        kept[name] = [watched(rule, seen) for rule in rules] if seen is not None else rules
    try:
        queries = read_pair((pair.first, pair.second), pair.dialect)
        known = read_schema(pair.schema, pair.keys, pair.dialect)
    except (UnfaithfulError, InputError):
        return False
    usual = patch.object(searching, "Rewriting", partial(Rewriting, rules=kept.pop("USUAL")))
    with usual, patch.multiple(searching, **kept):
        found = search(queries.first, queries.second, Question(known, pair.dialect))
    return isinstance(found, Proof)


def watched(rule: Rule, seen: set[str]) -> Rule:
    """Return a rule that says where it fires."""

    def rewrite(node: Node, view: View) -> Node | None:
        new = rule.rewrite(node, view)
        if new is not None and new != node:
            seen.add(rule.name)
        return new

    return attrs.evolve(rule, rewrite=rewrite)


def needed(pair: Pair) -> tuple[bool, frozenset[str], frozenset[str]]:
    """Say whether a pair is proved, by which rules that fire, and which it needs."""
    seen: set[str] = set()
    if not is_proved(pair, seen=seen):
        return False, frozenset(), frozenset()
    lost = {name for name in seen if not is_proved(pair, {name})}
    return True, frozenset(seen), frozenset(lost)


def lines(rule: Rule) -> int:
    """Return the lines of the function of a rule, without its docstring, comments and blanks."""
    module = rule.rewrite.__module__.rpartition(".")[2]
    text = (PROVE / f"{module}.py").read_text(encoding="utf-8")
    (made,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == rule.rewrite.__name__
    )
    noted = made.body[0]
    first, last = made.decorator_list[0].lineno, made.end_lineno or 0
    within = set(range(first, last + 1)) - set(range(noted.lineno, (noted.end_lineno or 0) + 1))
    rows = text.splitlines()
    return sum(bool(rows[i - 1].partition("#")[0].strip()) for i in within)


def main() -> None:
    """Print one row for each rule."""
    parser = parser_of_files(__doc__)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[])
    options = parser.parse_args()
    drawn = [
        pair for path in options.files for pair in pairs(path, options.mutations, options.seed)
    ]
    sets = list(dict.fromkeys(pair.of for pair in drawn))
    with ProcessPoolExecutor(options.processes) as pool:
        if options.without:
            missing(pool, drawn, options.without)
            return
        found = list(pool.map(needed, drawn, chunksize=20))
        lost: Counter[tuple[str, str]] = Counter()
        fired: Counter[str] = Counter()
        for pair, (_, seen, names) in zip(drawn, found, strict=True):
            fired.update(seen)
            lost.update((name, pair.of) for name in names)
        print("| rule | lines | fires on |", " | ".join(sets), "|")
        print("|---|---:|---:|" + "---:|" * len(sets))
        for rule in RULES:
            figures = [lost[rule.name, name] for name in sets]
            print(
                f"| {rule.name} | {lines(rule)} | {fired[rule.name]} |",
                *(f"{n} |" for n in figures),
            )
        proved = Counter(pair.of for pair, (is_so, *_) in zip(drawn, found, strict=True) if is_so)
        print("\nproved:", ", ".join(f"{name} {proved[name]}" for name in sets))
        idle = {rule.name for rule in RULES} - {name for name, _ in lost}
        print(f"\nwithout all {len(idle)} that lose nothing alone:")
        both = [p for p, (is_so, *_) in zip(drawn, found, strict=True) if is_so]
        missing(pool, both, idle)


def missing(pool: ProcessPoolExecutor, drawn: list[Pair], without: Collection[str]) -> None:
    """Print which pairs are not proved without some rules, though all rules prove them."""
    with_all = list(pool.map(is_proved, drawn, chunksize=20))
    with_some = list(pool.map(partial(is_proved, without=without), drawn, chunksize=20))
    gone = [p for p, a, b in zip(drawn, with_all, with_some, strict=True) if a and not b]
    print(Counter(pair.of for pair in gone))
    for pair in gone:
        print(f"- {pair.of}\n  {pair.first}\n  {pair.second}")


if __name__ == "__main__":
    main()
