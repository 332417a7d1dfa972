"""BigCodeBench: from its `*_eval_results.json` to a verdict."""

from __future__ import annotations

import json
from pathlib import Path

import scorekit

DATA = Path(__file__).parent / "data"


def attempts(path: Path) -> dict[str, list[bool]]:
    """Return whether each sample of a task passed."""
    tasks = json.loads(path.read_text(encoding="utf-8"))["eval"].items()
    return {task: [s["status"] == "pass" for s in samples] for task, samples in tasks}


def main() -> None:
    """Compare two models."""
    before = attempts(DATA / "bigcodebench_baseline_eval_results.json")
    after = attempts(DATA / "bigcodebench_current_eval_results.json")
    print(scorekit.compare_reports(before, after))


if __name__ == "__main__":
    main()
