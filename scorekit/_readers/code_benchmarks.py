"""HumanEval, EvalPlus, BigCodeBench and LiveCodeBench: samples that passed their tests or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from scorekit._core.mappings import is_mapping
from scorekit._readers.content import (
    Content,
    field,
    is_list,
    items_of,
    names_of,
    number,
    refuse_copies,
    text_or_none,
)
from scorekit._readers.reading import Own, Reading, at_k, fmean
from scorekit.errors import InputError, refuse, shown

PASS_AT = ("pass@1", "pass@10")
TIMED_OUT = "timed out"

PASSED, FAILED = ("pass", "success"), ("fail", "timeout", "failed", "timed out")
"""Statuses of samples, those of EvalPlus before 0.3 last."""


def human_eval(rows: object) -> Reading:
    """Read the rows of ``*_results.jsonl``."""
    content = Content("rows", rows, "the rows of a *_results.jsonl", "human_eval")
    given = content.rows()
    refuse_copies("rows", given)
    found = Reading("human_eval", "passed", "HumanEval", rule=at_k, names=PASS_AT)
    n_timed_out = 0
    for i, row in enumerate(given):
        case_id = content.key(row, "task_id", f"rows[{i}]")
        passed = content.key(row, "passed", f"rows[{i}]")
        found.add(case_id, _flag(f"rows[{i}]['passed']", passed))
        n_timed_out += row.get("result") == TIMED_OUT
    if not all(case_id.startswith("HumanEval/") for case_id in found.case_id):
        found.dataset = None
    if n_timed_out:
        found.notes.append(f"{n_timed_out} timed out, which human_eval counts as failures")
    return found


def _flag(name: str, value: object) -> float | None:
    known = number(name, value)
    if known not in (None, 0.0, 1.0):
        refuse(name, "True or False", value)
    return known


def _tasks(content: Content) -> Mapping[str, Any]:
    tasks = field(content.value, "eval")
    if not is_mapping(tasks) or "task" in tasks:
        content.refuse()
    if not tasks:
        refuse(content.name, f"{content.wanted} with at least one task", tasks)
    return tasks


def evalplus(data: object, tests: str) -> Reading:
    """Read ``*_eval_results.json``, with the tests of the benchmark and those that were added."""
    content = Content(
        "data", data, "the mapping of an *_eval_results.json of EvalPlus", "evalplus"
    )
    tasks = _tasks(content)
    samples = {task: _plus_samples(content, task, own) for task, own in tasks.items()}
    every = [one for own in samples.values() for one in own]
    without = sum(plus is None for _, plus in every)
    if without not in (0, len(every)) and tests == "plus":
        raise InputError(
            f"data must have a plus_status for all samples or for none, got {without} of "
            f"{len(every)} without one; tests='base' reads the tests that all have"
        )
    is_base = tests == "base" or without == len(every)
    found = Reading(
        "evalplus", "base tests" if is_base else "base and added tests", rule=at_k, names=PASS_AT
    )
    found.dataset = next(iter(tasks)).partition("/")[0] + ("" if is_base else "+")
    found.dataset_version = text_or_none(field(data, "hash"))
    if without and tests == "plus":
        found.notes.append("only the tests of the benchmark were run (--base-only)")
    for task, own in samples.items():
        for i, (base, plus) in enumerate(own):
            passed = base in PASSED and (is_base or plus in PASSED)
            found.add(task, float(passed), attempt=i)
    return found


def _plus_samples(content: Content, task: str, own: object) -> list[tuple[str, str | None]]:
    """Return both statuses of each sample of a task, also as versions before 0.3 wrote them."""
    name = f"data['eval'][{shown(task)}]"
    if is_mapping(own) and is_list(own.get("base")):  # [status, details] of each
        base, plus = (items_of(own.get(kind)) for kind in ("base", "plus"))
        if plus and len(plus) != len(base):
            refuse(name, f"as many entries of 'plus' as of 'base', {len(base)}", len(plus))
        pairs = [
            tuple(one[0] if is_list(one) and one else one for one in pair)
            for pair in zip(base, plus or [None] * len(base), strict=True)
        ]
    else:
        pairs = [
            tuple(content.key(row, f"{kind}_status", f"{name}[{i}]") for kind in ("base", "plus"))
            for i, row in enumerate(attrs.evolve(content, name=name, value=own).rows())
        ]
    return [
        (_status(f"{name}[{i}]", base), None if more is None else _status(f"{name}[{i}]", more))
        for i, (base, more) in enumerate(pairs)
    ]


def _status(name: str, value: object) -> str:
    if not isinstance(value, str) or value not in (*PASSED, *FAILED):
        domain = f"a sample whose status is one of {', '.join(map(repr, (*PASSED, *FAILED)))}"
        refuse(name, domain, value)
    return value


def bigcodebench(data: object, pass_at_k: object) -> Reading:
    """Read ``*_eval_results.json``, and ``*_pass_at_k.json``, where the numbers stand."""
    content = Content(
        "data", data, "the mapping of an *_eval_results.json of BigCodeBench", "bigcodebench"
    )
    found = Reading("bigcodebench", "passed", "BigCodeBench", rule=at_k, names=PASS_AT)
    for task, own in _tasks(content).items():
        name = f"data['eval'][{shown(task)}]"
        for i, row in enumerate(attrs.evolve(content, name=name, value=own).rows()):
            status = content.key(row, "status", f"{name}[{i}]")
            found.add(task, float(_status(f"{name}[{i}]", status) in PASSED), attempt=i)
    if pass_at_k is not None:
        if not is_mapping(pass_at_k) or not any(
            str(name).startswith("pass@") for name in pass_at_k
        ):
            wanted = "the mapping of a *_pass_at_k.json"
            Content("pass_at_k", pass_at_k, wanted, "bigcodebench").refuse()
        found.stated = {
            name: value for name, value in pass_at_k.items() if str(name).startswith("pass@")
        }
        found.dataset_version = text_or_none(pass_at_k.get("subset"))
        found.model = [text_or_none(pass_at_k.get("model"))] * len(found.case_id)
    return found


def livecodebench(rows: object, metrics: object) -> Reading:
    """Read ``*_eval_all.json``, in which each question states its pass@1."""
    content = Content("rows", rows, "the rows of an *_eval_all.json", "livecodebench")
    given = content.rows()
    refuse_copies("rows", given)
    found = Reading("livecodebench", "passed", "LiveCodeBench", names=PASS_AT)
    stated: list[float] = []
    seen: set[str] = set()
    for i, row in enumerate(given):
        name = f"rows[{i}]"
        question = str(content.key(row, "question_id", name))
        test = text_or_none(row.get("test_id"))
        case_id = question if test is None else f"{question}/{test}"
        graded = content.key(row, "graded_list", name)
        if case_id in seen:
            refuse(f"{name}['question_id']", "unlike that of all other rows", question)
        if not is_list(graded) or not graded:
            refuse(f"{name}['graded_list']", "a list of True and False", graded)
        seen.add(case_id)
        values = [_flag(f"{name}['graded_list'][{j}]", one) for j, one in enumerate(graded)]
        for j, value in enumerate(values):
            found.add(case_id, value, attempt=j)
        share = number(f"{name}['pass@1']", row.get("pass@1"))
        if share is not None:
            stated.append(share)
    if len(stated) == len(given):
        found.stated["pass@1"] = fmean(stated)
    first = metrics[0] if is_list(metrics) and metrics else metrics
    if first is not None:
        if not any(str(name).startswith("pass@") for name in names_of(first)):
            Content("metrics", metrics, "what stands in *_eval.json", "livecodebench").refuse()
        found.stated |= {
            name: one for name, one in names_of(first).items() if str(name).startswith("pass@")
        }
    found.rule = lambda name, own: _each(name, own, stated) if stated else at_k(name, own)
    return found


def _each(name: str, own: Own, stated: list[float]) -> float | None:
    """Compute pass@k; of pass@1, which each question states, every single one must agree."""
    if name == "pass@1" and len(own) == len(stated):
        for (case_id, scores), share in zip(own.items(), stated, strict=True):
            if abs(fmean(scores) - share) > 1e-9:  # noqa: PLR2004
                refuse(
                    f"pass@1 of case {shown(case_id)}", f"the mean of graded_list, {share}", scores
                )
    return at_k(name, own)
