"""SWE-bench: from the reports of two agents to a verdict."""

from __future__ import annotations

import json
from pathlib import Path

import scorekit

DATA = Path(__file__).parent / "data"


def resolved(path: Path) -> dict[str, bool]:
    """Return whether each submitted instance was resolved."""
    report = json.loads(path.read_text(encoding="utf-8"))
    return {name: name in report["resolved_ids"] for name in report["submitted_ids"]}


def main() -> None:
    """Compare two agents on the same instances."""
    before = resolved(DATA / "swebench_baseline-agent.demo.json")
    after = resolved(DATA / "swebench_new-agent.demo.json")
    print(scorekit.compare_reports(before, after, test="t"))


if __name__ == "__main__":
    main()
