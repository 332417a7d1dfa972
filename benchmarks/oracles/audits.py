"""
What `query_audit` finds in the expected queries of published pairs, and the time it takes.

    python -m benchmarks.oracles.audits FILE... [--out findings.jsonl]

FILEs have the forms with expected queries that `benchmarks.oracles.corpora` reads.
Each is audited once.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from scorekit import query_audit


def references(path: Path) -> Iterator[tuple[str, str, Any, str]]:
    """Yield the expected queries of a file, each with its set, its database and its dialect."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        of = path.name.partition("_")[0]
        schemas = json.loads((path.parent / f"{of}_schemas.json").read_text(encoding="utf-8"))
        for line in map(json.loads, text.splitlines()):
            yield of, line["expected"], schemas[line["db"]], "sqlite"
        return
    whole = json.loads(text)
    for pair in whole["pairs"]:
        dialect = "postgres" if pair["set"].endswith("_pg") else "sqlite"
        yield pair["set"], pair["expected"], whole["schemas"][pair["schema"]], dialect


def definitions(schema: str | dict[str, Any]) -> str:
    """Return the CREATE TABLE statements of a database that is described in either way."""
    if isinstance(schema, str):
        return schema
    parts: list[str] = []
    for name, table in schema.items():
        columns = table.get("columns", table)
        items = [f'"{column}" {kind}' for column, kind in columns.items()]
        if table.get("key") and "columns" in table:
            items.append(f"PRIMARY KEY ({', '.join(map(_quoted, table['key']))})")
        for column, other, target in table.get("foreign_keys", ()) if "columns" in table else ():
            if target:
                items.append(f'FOREIGN KEY ("{column}") REFERENCES "{other}" ("{target}")')
        parts.append(f'CREATE TABLE "{name}" ({", ".join(items)});')
    return "\n".join(parts)


def _quoted(name: str) -> str:
    return f'"{name}"'


def main() -> None:
    """Print, for each set, how many queries have findings of each kind."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    print(machine())
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    undecided: dict[str, Counter[str]] = defaultdict(Counter)
    seconds: list[float] = []
    lines: list[str] = []
    seen: set[tuple[str, str, str]] = set()
    for of, sql, described, dialect in (one for path in options.files for one in references(path)):
        schema = definitions(described)
        if (of, sql, schema) in seen:
            continue
        seen.add((of, sql, schema))
        start = time.process_time()
        audit = query_audit(sql, schema=schema, dialect=dialect)
        seconds.append(time.process_time() - start)
        counts[of].update({str(one.kind) for one in audit.findings} or {"none"})
        undecided[of].update(tuple(audit.undecided))
        lines.append(json.dumps({"set": of, "sql": sql, "audit": audit.to_dict()}))
    for name, found in counts.items():
        n = sum(json.loads(line)["set"] == name for line in lines)
        noted = ", ".join(f"{kind} {found[kind]}" for kind in sorted(found))
        print(f"{name}: {n} queries: {noted}; undecided: {dict(undecided[name])}")
    seconds.sort()
    n = len(seconds)
    print(
        f"CPU: {sum(seconds):.1f} s for {n}, {1000 * sum(seconds) / n:.1f} s for 1,000; "
        f"median {1000 * seconds[n // 2]:.1f} ms, largest {seconds[-1]:.2f} s"
    )
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
