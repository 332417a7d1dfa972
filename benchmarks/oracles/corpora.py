"""
Verdicts of `sql_equivalence` on published pairs of queries, and the time they take.

    python -m benchmarks.oracles.corpora FILE... [--mutations N] [--seed 1] [--out verdicts.jsonl]

A FILE is JSON, or JSON lines, in one of these shapes:

- ``{"schemas": {...}, "pairs": [...]}`` with pairs of ``set``, ``schema``, ``generated`` and
  ``expected``, as answers of models are published;
- ``{"schemas": {...}, "pairs": {"set": [...]}}`` with pairs of ``schema``, ``a`` and ``b``,
  equal by their authors' word (SPES, SQLSolver): read without a dialect;
- lines of ``db``, ``expected`` and, for pairs, ``generated``, beside a file of the same folder
  whose name ends in ``_schemas.json`` (Spider, BIRD).

With ``--mutations`` each expected query of the lines is paired with N changed forms of itself
that keep its tables: a comparison turned, a condition or DISTINCT dropped, a literal changed.
The verdict of each pair goes to ``--out``, so that two versions of the library can be compared.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from benchmarks.machine import machine
from scorekit import sql_equivalence


class Pair(NamedTuple):
    """Two queries of a set, what is known of their tables, and their dialect."""

    of: str
    first: str
    second: str
    schema: Any
    keys: Any
    dialect: str | None


def pairs(path: Path, n_mutations: int, seed: int) -> Iterator[Pair]:
    """Yield the pairs of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        yield from _lines(
            path, [json.loads(line) for line in text.splitlines()], n_mutations, seed
        )
        return
    whole = json.loads(text)
    schemas, given = whole["schemas"], whole["pairs"]
    if isinstance(given, dict):
        for name, several in given.items():
            for one in several:
                yield Pair(name, one["a"], one["b"], schemas[one["schema"]], None, None)
        return
    for one in given:
        dialect = "postgres" if one["set"].endswith("_pg") else "sqlite"
        schema = schemas[one["schema"]]
        yield Pair(one["set"], one["generated"], one["expected"], schema, None, dialect)


def _lines(path: Path, lines: list[dict[str, Any]], n_mutations: int, seed: int) -> Iterator[Pair]:
    name = path.name.partition("_")[0]
    schemas = json.loads((path.parent / f"{name}_schemas.json").read_text(encoding="utf-8"))
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    for line in lines:
        schema = schemas[line["db"]]
        flat, keys = described(schema)
        if "generated" in line and "expected" in line:
            yield Pair(name, line["generated"], line["expected"], flat, keys, "sqlite")
        if n_mutations and "expected" in line:
            for changed in changed_forms(line["expected"], n_mutations, rng):
                yield Pair(f"{name} mutations", changed, line["expected"], flat, keys, "sqlite")


def described(schema: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return columns by table, and keys, of a database described in either way."""
    if not all("columns" in table for table in schema.values()):
        return schema, None
    columns: dict[str, Any] = {name: dict(table["columns"]) for name, table in schema.items()}
    for name, table in schema.items():
        for column, other, target in table.get("foreign_keys", ()):
            if target:
                columns[name][column] += f' REFERENCES "{other}"("{target}")'
    keys = {name: tuple(key) for name, table in schema.items() if (key := table.get("key"))}
    return columns, keys


def changed_forms(
    text: str, n: int, rng: random.Random, *, dialect: str = "sqlite"
) -> Iterator[str]:
    """Yield changed forms of a query."""
    try:
        tree = parse_one(text, read=dialect)
    except SqlglotError:
        return
    seen = {tree.sql(dialect)}
    for _ in range(4 * n):
        if len(seen) > n:
            return
        other = tree.copy()
        changes = [change for node in list(other.walk()) for change in _changes(node)]
        if not changes:
            return
        node, new = rng.choice(changes)
        if new is None:
            parent, place = node.parent, node.arg_key
            assert parent is not None
            assert place is not None
            parent.set(place, None, node.index)
        else:
            node.replace(new)
        changed = other.sql(dialect)
        if changed not in seen:
            seen.add(changed)
            yield changed


_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.GTE, exp.GTE: exp.GT, exp.LT: exp.LTE, exp.LTE: exp.LT, exp.EQ: exp.NEQ,
    exp.And: exp.Or, exp.Or: exp.And, exp.Min: exp.Max, exp.Max: exp.Min, exp.Sum: exp.Avg,
    exp.Avg: exp.Sum,
}  # fmt: skip


def _changes(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr | None]]:
    turned = _TURNED.get(type(node))
    if turned is not None and not (isinstance(node, exp.EQ) and node.find_ancestor(exp.Join)):
        yield node, turned(**{name: _copied(value) for name, value in node.args.items()})
    if isinstance(node, exp.Ordered):
        yield node, exp.Ordered(this=node.this.copy(), desc=not node.args.get("desc"))
    if isinstance(node, exp.Distinct | exp.Where | exp.Having) and node.parent is not None:
        yield node, None
    if isinstance(node, exp.Join) and not node.side and not node.kind:
        yield (
            node,
            exp.Join(**{n: _copied(v) for n, v in node.args.items() if n != "side"}, side="LEFT"),
        )
    if isinstance(node, exp.Literal) and not node.find_ancestor(exp.Order, exp.Group):
        changed = (
            f"{node.name}x" if node.is_string else str(int(node.name) + 1) if node.is_int else ""
        )
        if changed:
            yield node, exp.Literal(this=changed, is_string=node.is_string)


def _copied(value: object) -> Any:
    return value.copy() if isinstance(value, exp.Expr) else value


def decided(pair: Pair) -> tuple[str, str, float]:
    """Return the verdict on a pair, why, and the seconds of CPU that it took."""
    started = time.process_time()
    try:
        found = sql_equivalence(
            pair.first, pair.second, schema=pair.schema, keys=pair.keys, dialect=pair.dialect
        )
        verdict, reason = str(found.verdict), found.reason
    except Exception as error:  # noqa: BLE001 - which is what to look for
        verdict, reason = "raised", repr(error)
    return verdict, reason, time.process_time() - started


def parser_of_files(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of the files that `pairs` reads, and of what it makes of them."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--mutations", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    return parser


def main() -> None:
    """Print verdicts, times and the reasons of what is unknown by set."""
    parser = parser_of_files(__doc__)
    parser.add_argument("--limit", type=int, default=None, help="pairs of each set")
    parser.add_argument("--only", default="", help="sets whose name holds this")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    print(f"{machine()}\n")
    verdicts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    spent: defaultdict[str, list[float]] = defaultdict(list)
    written: list[str] = []
    for path in options.files:
        for pair in pairs(path, options.mutations, options.seed):
            n_before = verdicts[pair.of].total() if pair.of in verdicts else 0
            if options.only not in pair.of or n_before >= (options.limit or n_before + 1):
                continue
            verdict, reason, seconds = decided(pair)
            spent[pair.of].append(seconds)
            verdicts[pair.of][verdict] += 1
            if verdict in ("unknown", "raised"):
                reasons[pair.of][f"{verdict}: {reason}"] += 1
            line = {"set": pair.of, "i": n_before, "verdict": verdict, "reason": reason}
            line |= {"first": pair.first, "second": pair.second, "seconds": round(seconds, 3)}
            written.append(json.dumps(line))
    print("| set | pairs | proved | refuted | unknown | raised | CPU a pair | slowest |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, n in verdicts.items():
        figures = " | ".join(str(n[v]) for v in ("proved", "refuted", "unknown", "raised"))
        mean, most = 1e3 * sum(spent[name]) / len(spent[name]), max(spent[name])
        print(f"| {name} | {n.total()} | {figures} | {mean:.1f} ms | {most:.2f} s |")
    for name, why in reasons.items():
        print(f"\n{name}:")
        for reason, n_of in why.most_common():
            print(f"- {n_of}: {reason}")
    if options.out:
        options.out.write_text("\n".join(written), encoding="utf-8")


if __name__ == "__main__":
    main()
