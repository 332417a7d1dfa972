"""promptfoo: from the JSON output of an eval with two providers to a verdict."""

from __future__ import annotations

import json
from pathlib import Path

import scorekit

DATA = Path(__file__).parent / "data"


def report(path: Path) -> scorekit.CodeReport:
    """Report on every provider; a test is named by its variables."""
    results = json.loads(path.read_text(encoding="utf-8"))["results"]["results"]
    return scorekit.code_report_from_columns(
        case_id=[json.dumps(one["vars"]) for one in results],
        model=[one["provider"]["label"] for one in results],
        passed=[one["success"] for one in results],
    )


def main() -> None:
    """Compare two providers."""
    both = report(DATA / "promptfoo_output.json")
    print(scorekit.compare_reports(both.for_model("careful"), both.for_model("hasty")))


if __name__ == "__main__":
    main()
