"""
Faults put into the rules of the prover: does the test of a rule notice what is wrong with it?

    python -m benchmarks.rule_faults [--processes 1] [--rule NAME]

Each fault changes one place of one rule: a condition or an assumption is dropped, an operator is
turned.  A copy of the package with that fault is tested by the test of that rule alone.  The exit
status is 1 if fewer than 28 in 30 are noticed.
"""

# ruff: noqa: E501 - a fault stands on one line

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent


class Fault(NamedTuple):
    """What is changed, and the rule whose test must notice it."""

    rule: str
    module: str
    right: str
    wrong: str


FAULTS: Final = (
    Fault("EXISTS of no more than is asked", "rules", "if query.limit != 0 and not query.offset else None", "if query.limit != 0 else None"),
    Fault("EXISTS of no more than is asked", "rules", "return TRUE if query.having == TRUE else None", "return TRUE"),
    Fault("IN to EXISTS", "rules", 'if view.mode != "filter" and not (', "if False and not ("),
    Fault("test of a scalar subquery to EXISTS", "rules", "return Not(Exists(query)) if rows.never_null(query.outputs[0]) else None", "return Not(Exists(query))"),
    Fault("joins taken apart", "rules", "conjunction((*right_where, table.condition))", "table.condition"),
    Fault("derived table put in place", "rules", "if optional and not all(_null_with_its_row(output, own) for output in query.outputs):", "if False:"),
    Fault("derived table without more than it needs", "rules", "if not isinstance(inner, Select) or inner.plain or inner.distinct:", "if not isinstance(inner, Select) or inner.plain:"),
    Fault("left join to inner join", "rules", "bool(nulls) and view.rows(select.tables, conjuncts(filled)).none()", "bool(nulls)"),
    Fault("full join to outer join", "rules", "sides if kept[0] else sides[::-1]", "sides if kept[1] else sides[::-1]"),
    Fault("outer join that is not used removed", "rules", "            not repeats(select, view) or rows.at_most_one(arm)\n", "            True\n"),
    Fault("test of an outer join to EXISTS", "rules", "if not uses(bare, own) and rows.at_most_one(arm):", "if not uses(bare, own):"),
    Fault("test of an outer join to EXISTS", "rules", "column.source in own and inner.never_null(column)", "column.source in own"),
    Fault("left join that always matches to inner join", "rules", "rows, view, nullable=False)", "rows, view, nullable=True)"),
    Fault("join along a foreign key removed", "rules", "tests = [Not(IsNull(one)) for one in key.values() if not outer.never_null(one)]", "tests = []"),
    Fault("self join on a key removed", "rules", "lambda key: all(map(alike, key))", "lambda key: True"),
    Fault("self join on a key removed", "rule", "self.rely(frozenset((f\"{source.table} ({', '.join(key)}) is a key\",)))", "pass"),
    Fault("EXISTS to join", "rules", "if not repeats(select, view) or rows.at_most_one(arm):", "if True:"),
    Fault("equal columns read as one", "rules", "zip(*[one.outputs for one in arms], strict=False)", "zip(arms[0].outputs, strict=False)"),
    Fault("unused columns dropped", "rules", "if not isinstance(query, Select) or query.distinct:", "if not isinstance(query, Select):"),
    Fault("needless DISTINCT in a derived table dropped", "rules", "return not all(map(is_blind, aggregates_in(select)))", "return False"),
    Fault("condition on the keys of groups before them", "rules", "return and_where(attrs.evolve(select, having=kept), moved)", "return attrs.evolve(select, having=kept)"),
    Fault("GROUP BY to DISTINCT", "rules", "if not {*select.keys} <= {NULL, *select.outputs}:", "if not {*select.keys} & {NULL, *select.outputs}:"),
    Fault("needless DISTINCT dropped", "rules", "unique = all(map(given, select.keys))", "unique = any(map(given, select.keys))"),
    Fault("groups of one row", "rules", "if select.keys is None or not rows.determined(select.keys).everything():", "if select.keys is None:"),
    Fault("groups of one row", "rules", "return As(agg.function, this)", "return this"),
    Fault("simpler aggregate", "rules", 'agg.function == "count" and not agg.distinct and rows.never_null(this)', 'agg.function == "count" and rows.never_null(this)'),
    Fault("aggregate of aggregates is one aggregate", "rules", 'if name == "count" and select.keys is None and not some_row:', "if False:"),
    Fault("set operations in one", "rules", "(query.distinct or not arm.distinct)", "True"),
    Fault("INTERSECT or EXCEPT to EXISTS", "rules", "equal = Or((equal, And((IsNull(mine[i]), IsNull(theirs)))))", "pass"),
    Fault("dependent item of ORDER BY dropped", "rules", "given = [inner.outputs[places[j]] for j in kept]", "given = [inner.outputs[j] for j in places]"),
    Fault("double NOT dropped", "rules", '(view.mode != "value" or is_boolean(inner.operand))', "True"),
    Fault("no rows", "rules", 'integer(0) if agg.function == "count" else NULL', "NULL"),
    Fault("rows without themselves are none", "rules", "if first in others else None", "if others else None"),
    Fault("LIMIT of one row dropped", "rules", "if query.offset or query.limit == 0 or not isinstance(inner, Select):", "if query.limit == 0 or not isinstance(inner, Select):"),
    Fault("arm without rows dropped", "rules", "as_distinct(kept[0]) if query.distinct and view.repeats else kept[0]", "kept[0]"),
    Fault("UNION ALL moved outwards", "rules", 'query.operator != "union" or query.distinct or', 'query.operator != "union" or'),
)  # fmt: skip


def noticed(fault: Fault) -> bool:
    """Say whether the test of a rule fails with a fault in it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for part in ("scorekit", "tests", "pyproject.toml"):
            source = ROOT / part
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, home / part)
        path = home / "scorekit" / "_sql" / "prove" / f"{fault.module}.py"
        text = path.read_text()
        if text.count(fault.right) < 1:
            raise SystemExit(f"no such code any more: {fault.right}")
        path.write_text(text.replace(fault.right, fault.wrong))
        test = f"tests/test_equivalence_rules.py::test_a_rule_keeps_the_meaning_of_what_it_fires_on[{fault.rule}]"
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", test]
        env = {"PYTHONPATH": folder}
        ran = subprocess.run(command, cwd=home, env=env, capture_output=True, check=False)  # noqa: S603 - our own test
        if ran.returncode not in (0, 1):
            raise SystemExit(ran.stdout.decode()[-2000:])
        return ran.returncode == 1


def main() -> int:
    """Try all faults out."""
    parser = argparse.ArgumentParser(description="Faults put into the rules of the prover.")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--rule", help="the name of the only rule to try")
    given = parser.parse_args()
    faults = [fault for fault in FAULTS if given.rule in (None, fault.rule)]
    with ThreadPoolExecutor(given.processes) as pool:
        found = list(pool.map(noticed, faults))
    for fault, is_noticed in zip(faults, found, strict=True):
        if not is_noticed:
            print(f"not noticed: {fault.rule}: {fault.right}")
    print(f"{sum(found)} of {len(faults)} noticed")
    return int(sum(found) * 30 < 28 * len(faults))


if __name__ == "__main__":
    sys.exit(main())
