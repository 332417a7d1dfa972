"""Harbor, tau2-bench, pydantic-evals, MLflow, Langfuse, Every Eval Ever: files to verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scorekit

DATA = Path(__file__).parent / "data"


def report(attempts: list[tuple[str, Any]]) -> scorekit.CodeReport:
    """Return a report of (task, outcome); None is a missing outcome."""
    tasks, passed = zip(*attempts, strict=True)
    return scorekit.code_report_from_columns(
        case_id=tasks, model="agent", compiled=True, passed=passed
    )


def harbor(path: Path) -> scorekit.CodeReport:
    """Read the trials of a job: `jq -c . jobs/NAME/*/result.json > old.jsonl`."""
    trials = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rewards = [(trial.get("verifier_result") or {}).get("rewards") for trial in trials]
    outcomes = [None if reward is None else reward["reward"] == 1 for reward in rewards]
    return report([(t["task_name"], one) for t, one in zip(trials, outcomes, strict=True)])


def tau2(path: Path) -> scorekit.CodeReport:
    """Read the results of tau2-bench, where a run that could not be judged has no reward."""
    runs = json.loads(path.read_text(encoding="utf-8"))["simulations"]
    lost = ("infrastructure_error", "context_window_exceeded")  # which its own metrics leave out
    rewards = [None if run["termination_reason"] in lost else run["reward_info"] for run in runs]
    outcomes = [None if one is None else one["reward"] == 1 for one in rewards]
    return report([(run["task_id"], one) for run, one in zip(runs, outcomes, strict=True)])


def pydantic_evals(path: Path, assertion: str = "Right") -> scorekit.CodeReport:
    """Read `EvaluationReportAdapter.dump_json(report)`; an exception is a missing outcome."""
    found = json.loads(path.read_text(encoding="utf-8"))
    checked = [(case, case["assertions"].get(assertion)) for case in found["cases"]]
    judged = [(case, one and one["value"]) for case, one in checked]
    lost = [(case, None) for case in found["failures"]]
    return report([(c["source_case_name"] or c["name"], value) for c, value in judged + lost])


def mlflow(path: Path, scorer: str = "right") -> scorekit.CodeReport:
    """Read `result.result_df[["request", "right/value"]].to_json(path, orient="records")`."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return report([(json.dumps(row["request"]), row[f"{scorer}/value"]) for row in rows])


def langfuse(path: Path, evaluator: str = "right") -> scorekit.CodeReport:
    """Read `json.dumps(langfuse.run_experiment(...), default=vars)`; unscored is missing."""
    items = json.loads(path.read_text(encoding="utf-8"))["item_results"]
    scored = [{one["name"]: one["value"] for one in item["evaluations"]} for item in items]
    ids = [one["item"]["metadata"]["id"] for one in items]
    return report([(i, scores.get(evaluator)) for i, scores in zip(ids, scored, strict=True)])


def every_eval_ever(path: Path) -> scorekit.CodeReport:
    """Read the instances of an evaluation, JSON Lines."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return report([(row["sample_id"], row["evaluation"]["is_correct"]) for row in rows])


READERS: dict[Callable[[Path], Any], str] = {
    harbor: "harbor_{}.jsonl",
    tau2: "tau2_{}.json",
    pydantic_evals: "pydantic_evals_{}.json",
    mlflow: "mlflow_{}.json",
    langfuse: "langfuse_{}.json",
    every_eval_ever: "every_eval_ever_{}.jsonl",
}


def main() -> None:
    """Compare two runs of each."""
    for read, name in READERS.items():
        before, after = (read(DATA / name.format(side)) for side in ("old", "new"))
        suite = scorekit.compare_reports(before, after).suite
        print(read.__name__, suite.verdict, f"{suite.delta:.3f}", suite.n_unknown)


if __name__ == "__main__":
    main()
