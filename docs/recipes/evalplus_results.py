"""EvalPlus: from its `*_eval_results.json` to a verdict."""

from __future__ import annotations

import json
from pathlib import Path

import scorekit

DATA = Path(__file__).parent / "data"


def attempts(path: Path) -> dict[str, list[bool]]:
    """Return whether each sample of a task passed the base tests and the added ones."""
    results = json.loads(path.read_text(encoding="utf-8"))["eval"]
    return {
        task: [s["base_status"] == s["plus_status"] == "pass" for s in samples]
        for task, samples in results.items()
    }


def main() -> None:
    """Compare two models; what EvalPlus calls pass@1 is the mean of each."""
    before = attempts(DATA / "evalplus_baseline_eval_results.json")
    after = attempts(DATA / "evalplus_current_eval_results.json")
    print(scorekit.compare_reports(before, after))


if __name__ == "__main__":
    main()
