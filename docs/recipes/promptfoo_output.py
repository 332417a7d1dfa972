"""promptfoo: from the JSON output of an eval with two providers to a verdict."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import scorekit

DATA = Path(__file__).parent / "data"


def attempts(path: Path) -> dict[str, dict[str, list[bool]]]:
    """Return by provider and test whether each repeat passed (``eval --repeat 3 -o out.json``)."""
    found: defaultdict[str, defaultdict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for result in json.loads(path.read_text(encoding="utf-8"))["results"]["results"]:
        test = json.dumps(result["vars"])  # the repeats of a test have numbers of their own
        found[result["provider"]["label"]][test].append(result["success"])
    return {label: dict(tests) for label, tests in found.items()}


def main() -> None:
    """Compare two providers."""
    by_provider = attempts(DATA / "promptfoo_output.json")
    print(scorekit.compare_reports(by_provider["careful"], by_provider["hasty"], test="t"))


if __name__ == "__main__":
    main()
