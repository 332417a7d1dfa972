"""SWE-bench, Harbor (Terminal-Bench) and tau-bench: runs of agents that reached a goal or not."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import datetime
from typing import Any

import attrs

from scorekit._core.mappings import is_mapping
from scorekit._readers.content import (
    Content,
    Row,
    cause_of,
    counted_tokens,
    field,
    items_of,
    measured,
    names_of,
    number,
    one_of,
    refuse_copies,
    text_or_none,
)
from scorekit._readers.reading import MOST_NOT_RUN, Own, Reading, at_k, fmean
from scorekit.errors import InputError, refuse

_COUNTS = (
    "completed", "resolved", "unresolved", "empty_patch", "error", "infra_failure",
    "ambiguous_failure", "incomplete",
)  # fmt: skip
"""Lists of instances in a report of SWE-bench, behind each of which stands its length."""

SUCCESS = 1e-6
"""Distance from a reward of 1 within which tau-bench takes a run for a success."""

LOST = ("infrastructure_error", "context_window_exceeded")
"""How runs end that tau2-bench leaves out of its metrics."""


def swe_bench(report: object, instances: str) -> Reading:
    """Read the report of an evaluation, ``<model>.<run>.json``."""
    content = Content(
        "report", report, "the report of an evaluation, <model>.<run>.json", "swe_bench"
    )
    if not is_mapping(report) or "resolved_ids" not in report:
        if is_mapping(report) and "resolved" in report:
            raise InputError(
                f"report must be {content.wanted}, got one of an older form without "
                "'resolved_ids', which does not name all instances; evaluate with swebench 2.1"
            )
        content.refuse()
    ids = {name: [str(one) for one in items_of(report.get(f"{name}_ids"))] for name in _COUNTS}
    submitted = [str(one) for one in items_of(report.get("submitted_ids"))]
    run = {one for name in ("completed", "empty_patch", "error") for one in ids[name]}
    strangers = [one for one in submitted if one not in run]  # of another dataset
    both = set(ids["resolved"]) & {*ids["unresolved"], *ids["error"], *ids["incomplete"]}
    if both:
        refuse("resolved_ids", "instances of no other list", min(both))
    found = Reading("swe_bench", "resolved", "SWE-bench")
    infra = set(ids["infra_failure"])
    tried = sorted(run | {*ids["resolved"], *ids["unresolved"]})
    every = tried + sorted(set(ids["incomplete"]) - set(tried))
    resolved = set(ids["resolved"])
    for case_id in every if instances == "all" else tried:
        cause = "error" if case_id in infra else ""
        found.add(case_id, float(case_id in resolved), attempt=1, unknown=cause, own=0.0)
    counts: dict[str, float] = {
        f"{name}_instances": len(set(own))
        for name, own in ids.items()
        if own or name == "resolved"
    }
    counts |= {"submitted_instances": len(set(submitted) or set(tried))}
    counts |= {"total_instances": len(every), "resolved": len(resolved) / len(found.case_id)}
    found.stated = {
        name: value
        for name, value in report.items()
        if name.endswith("_instances") and isinstance(value, int)
    }
    found.names = ("resolved",)
    found.rule = lambda name, own: counts.get(name)  # noqa: ARG005 - what a rule takes
    if len(every) != len(tried):
        n, which = len(resolved), "all" if instances == "all" else "those submitted"
        found.notes.append(
            f"Resolved {n} of {len(every)} instances, and {n} of the {len(tried)} that were "
            f"submitted; here of {which}."
        )
    if strangers:
        found.notes.append(f"{len(strangers)} submitted instances are not of the dataset.")
    return found


def harbor(trials: object, job: object, metric: str | None) -> Reading:
    """Read the trials of a job, and its own result, where its numbers stand."""
    held = field(trials, "trial_results") if is_mapping(trials) else None
    if held:
        trials, job = held, trials if job is None else job
    content = Content(
        "trials", trials, "the trials of a job, rows with trial_name and verifier_result", "harbor"
    )
    given = content.rows()
    keys = [name for row in given for name in names_of(field(row, "verifier_result", "rewards"))]
    chosen = one_of("metric", metric, keys or ["reward"])
    found = Reading("harbor", chosen, text_or_none(given[0].get("source")))
    for i, row in enumerate(given):
        task = content.key(row, "task_name", f"trials[{i}]")
        trial = content.key(row, "trial_name", f"trials[{i}]")
        rewards = field(row, "verifier_result", "rewards")
        reward = number(f"trials[{i}] reward", names_of(rewards).get(chosen))
        failure = str(field(row, "exception_info", "exception_type") or "")
        cause = ""
        if reward is None:
            cause = _cause_of_trial(
                failure, str(field(row, "exception_info", "exception_message"))
            )
            reward = 0.0 if not cause else None
        found.add(
            task,
            reward,
            attempt=str(trial),
            model=text_or_none(field(row, "agent_info", "model_info", "name")),
            unknown=cause,
            own=0.0,
            cost_usd=measured(field(row, "agent_result", "cost_usd")),
            latency_seconds=_between(row.get("started_at"), row.get("finished_at")),
            tokens=(
                counted_tokens(field(row, "agent_result", "n_input_tokens")),
                counted_tokens(field(row, "agent_result", "n_output_tokens")),
            ),
        )
    found.rule = _of_harbor
    found.names = ("mean", *("pass@1", "pass@2"))
    if job is not None:
        _read_job(found, job)
    return found


def _cause_of_trial(failure: str, message: str) -> str:
    """Return why a trial has no reward; nothing where its agent ran out of its own time."""
    if failure == "AgentTimeoutError":
        return ""
    if "Timeout" in failure:
        return "time limit of the sandbox"
    return cause_of(f"{failure} {message}") if failure else "no score"


def _between(start: object, end: object) -> float | None:
    try:
        first, last = (datetime.fromisoformat(str(one)) for one in (start, end))
        return measured((last - first).total_seconds()) or None
    except (TypeError, ValueError):
        return None


def _of_harbor(name: str, own: Own) -> float | None:
    """Compute the mean, in which a trial without a reward is 0, and pass@k, where it fails."""
    if name == "mean":
        return fmean(one for scores in own.values() for one in scores)
    return at_k(name, own)


def _read_job(found: Reading, job: object) -> None:
    evals = names_of(field(job, "stats", "evals"))
    if not evals and field(job, "n_total_trials") is None:
        Content("job", job, "the result.json of the job itself", "harbor").refuse()
    if len(evals) > 1:
        found.notes.append(
            f"the job has {len(evals)} evaluations, whose numbers are not compared."
        )
    elif evals:
        (one,) = evals.values()
        for own in items_of(field(one, "metrics")):
            found.stated |= {name: v for name, v in names_of(own).items() if name == "mean"}
        found.stated |= {
            f"pass@{k}": v
            for k, v in names_of(field(one, "pass_at_k")).items()
            if str(k).isdigit()
        }
    total = field(job, "n_total_trials")
    if isinstance(total, int):
        found.n_missing = max(total - len(found.case_id), 0)


def tau_bench(data: object) -> Reading:
    """Read the runs of tau-bench, a list, or those of tau2-bench, a mapping with simulations."""
    wanted = "the runs of tau-bench, a list, or of tau2-bench, a mapping with simulations"
    content = Content("data", data, wanted, "tau_bench")
    if is_mapping(data):
        return _tau2(content, data)
    runs = content.rows()
    found = Reading("tau_bench", "reward", rule=_pass_hat, names=("pass^1", "pass^2"))
    for i, row in enumerate(runs):
        task = content.key(row, "task_id", f"data[{i}]")
        value = content.key(row, "reward", f"data[{i}]")
        reward = number(f"data[{i}]['reward']", value)
        failure = field(row, "info", "error")
        found.add(
            task,
            None if reward is None else _success(reward),
            attempt=row.get("trial"),
            unknown="" if failure is None else cause_of(failure),
            own=0.0,
        )
    if set(found.attempt) == {None}:
        refuse_copies("data", runs)
    return found


def _success(reward: float) -> float:
    return float(abs(reward - 1.0) <= SUCCESS)


_HAT = re.compile(r"pass\^([1-9]\d{0,6})")


def _pass_hat(name: str, own: Own) -> float | None:
    """Compute pass^k as tau-bench does, which takes all tasks to have as many trials."""
    found = _HAT.fullmatch(name)
    most = max(map(len, own.values()), default=0)
    if name in ("reward", "avg_reward"):
        return fmean(one for scores in own.values() for one in scores) if own else None
    if found is None or int(found[1]) > most:
        return None
    k = int(found[1])
    return fmean(math.comb(int(sum(scores)), k) / math.comb(most, k) for scores in own.values())


def _tau2(content: Content, data: Row) -> Reading:
    runs: Any = data.get("simulations") or data.get("simulation_index")
    if runs is None or "cases" in data:
        content.refuse()
    found = Reading("tau_bench", "reward", names=("pass^1", "pass^2"), rule=at_k)
    found.dataset = text_or_none(field(data, "info", "environment_info", "domain_name"))
    found.harness_version = text_or_none(field(data, "info", "git_commit"))
    model = text_or_none(field(data, "info", "agent_info", "llm"))
    held = attrs.evolve(content, name="data['simulations']", value=runs)
    for i, run in enumerate(held.rows()):
        name = f"data['simulations'][{i}]"
        info = run.get("reward_info")
        reward = number(f"{name} reward", field(info, "reward") if info else run.get("reward"))
        found.add(
            content.key(run, "task_id", name),
            None if reward is None else _success(reward),
            attempt=run["id"] if run.get("trial") is None else run["trial"],
            model=model,
            unknown="error" if run.get("termination_reason") in LOST else "",
            cost_usd=measured(run.get("agent_cost")),
            latency_seconds=measured(run.get("duration")),
        )
    n_trials = field(data, "info", "num_trials")
    tasks = [field(task, "id") for task in items_of(data.get("tasks"))]
    if isinstance(n_trials, int) and all(isinstance(one, int) for one in found.attempt):
        n_there = Counter(found.case_id)
        every = dict.fromkeys([*map(str, tasks), *found.case_id])
        if len(every) * n_trials > MOST_NOT_RUN + len(found.case_id):
            found.n_missing = len(every) * n_trials - len(found.case_id)
            return found
        for task in every:
            for trial in range(n_trials if n_there[task] < n_trials else 0):
                found.not_run(task, trial, model)
    return found
