"""
How often a walk through the library goes from one file to another, and over how many of them.

A move is a call, or a return from one, that ends in another file of the package than it began in.
Each walk is taken twice, and counted the second time, so that nothing is counted that is loaded.
The file runs by itself, too, so that an older version can be measured:

    python benchmarks/timings/file_moves.py [ROOT_OF_A_CHECKOUT]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
SCHEMA = "CREATE TABLE users (id INT PRIMARY KEY, age INT NOT NULL, city TEXT)"
PROVED = (
    "SELECT city, COUNT(*) FROM users WHERE NOT age <= 30 GROUP BY city ORDER BY city",
    "SELECT u.city, COUNT(u.id) FROM users u WHERE 30 < u.age GROUP BY 1 ORDER BY u.city",
)
REFUTED = (PROVED[0], PROVED[1].replace("<", "<="))


class Walk(NamedTuple):
    """What was counted."""

    calls: int
    files: int
    moves: int


def walked(walk: Callable[[], Any], package: Path) -> Walk:
    """Take a walk twice, and count calls, files and moves of the second time."""
    walk()
    inside = f"{package}/"
    files: set[str] = set()
    calls = moves = 0
    stack: list[str] = []

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls, moves
        file = frame.f_code.co_filename
        if not file.startswith(inside) or event not in ("call", "return"):
            return
        if event == "call":
            calls += 1
            files.add(file)
            moves += bool(stack) and stack[-1] != file
            stack.append(file)
        elif stack:
            own = stack.pop()
            moves += bool(stack) and stack[-1] != own

    sys.setprofile(count)
    try:
        walk()
    finally:
        sys.setprofile(None)
    return Walk(calls, len(files), moves)


def walks(scorekit: Any) -> dict[str, Callable[[], Any]]:
    """Return the five walks of the map, the first of them in three parts."""
    options = {"schema": SCHEMA, "dialect": "postgres"}

    def case(pair: tuple[str, str]) -> Any:
        return scorekit.SqlCase(case_id="a", generated=pair[0], expected=pair[1], **options)

    report = scorekit.score_sql_cases([case(PROVED)])
    outcomes = [{f"t{i}": [i % 3 > 0, i % 4 > 0] for i in range(n)} for n in (12, 12)]
    comparison = scorekit.compare_reports(*outcomes)
    runs = [
        scorekit.Run(run_id=f"{i}", passed=i < 8, impl_rate=0.9, cost_usd=0.5, duration_seconds=60)
        for i in range(10)
    ]
    judge = scorekit.CachedJudge(scorekit.judge_from_function(lambda _: 1.0, identity="one"))
    request = scorekit.JudgeRequest(generated=PROVED[0], expected=REFUTED[1])
    found = {
        "a SQL text to a score, proved": lambda: scorekit.score_sql_case(case(PROVED)),
        "the same, refuted": lambda: scorekit.score_sql_case(case(REFUTED)),
        "a report of one SQL case to print": lambda: str(report),
        "two lists of booleans to a verdict": lambda: scorekit.compare_reports(*outcomes),
        "the verdict to print": lambda: str(comparison),
        "ten runs to a tier": lambda: scorekit.tier_statistics("T1", runs),
        "a judgement from the cache": lambda: judge.judge(request),
    }
    try:
        from scorekit import readers
    except ImportError:  # of a version that had none
        return found
    sample = {"base_status": "pass", "plus_status": "fail"}
    results = {"eval": {f"t{i}": [sample] for i in range(9)}}
    found["a file of a harness to a report"] = lambda: readers.evalplus(results).report()
    return found


def main(root: Path = ROOT) -> None:
    """Print one Markdown table."""
    sys.path.insert(0, str(root))
    import scorekit

    print("| walk | calls | files | moves |\n|---|---|---|---|")
    for name, walk in walks(scorekit).items():
        print(f"| {name} | {' | '.join(map(str, walked(walk, root / 'scorekit')))} |")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
