"""SWE-bench: from the reports of two agents to a verdict."""

from __future__ import annotations

import json
from pathlib import Path

import scorekit

DATA = Path(__file__).parent / "data"


def resolved(path: Path) -> scorekit.CodeReport:
    """Report whether each instance was resolved; those that the environment broke are unknown."""
    report = json.loads(path.read_text(encoding="utf-8"))
    ids = sorted({*report["submitted_ids"], *report["incomplete_ids"]})  # all of the benchmark
    broken = report.get("infra_failure_ids", [])
    passed = [None if one in broken else one in report["resolved_ids"] for one in ids]
    return scorekit.code_report_from_columns(
        case_id=ids, model="agent", compiled=True, passed=passed
    )


def main() -> None:
    """Compare two agents on the same instances."""
    before = resolved(DATA / "swebench_baseline-agent.demo.json")
    after = resolved(DATA / "swebench_new-agent.demo.json")
    print(scorekit.compare_reports(before, after))


if __name__ == "__main__":
    main()
