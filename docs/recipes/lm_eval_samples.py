"""lm-evaluation-harness: from the samples of a task with repeats to a verdict."""

from __future__ import annotations

import json
from pathlib import Path

import scorekit

DATA = Path(__file__).parent / "data"


def attempts(path: Path) -> dict[int, list[bool]]:
    """Return whether each answer to a document is the target (``--log_samples``)."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {
        row["doc_id"]: [answer == row["target"] for answer in row["filtered_resps"][0]]
        for row in rows
    }


def main() -> None:
    """Compare two models, on documents like these."""
    before = attempts(DATA / "lm_eval_samples_careful.jsonl")
    after = attempts(DATA / "lm_eval_samples_hasty.jsonl")
    print(scorekit.compare_reports(before, after))


if __name__ == "__main__":
    main()
