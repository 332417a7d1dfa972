"""promptfoo, pydantic-evals, MLflow and Langfuse: tests of prompts and of services."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import attrs

from scorekit._core.mappings import is_mapping
from scorekit._readers.content import (
    Content,
    Row,
    cause_of,
    counted_tokens,
    field,
    is_list,
    items_of,
    measured,
    names_of,
    number,
    one_of,
    text_or_none,
)
from scorekit._readers.reading import Own, Reading, at_k, mean_of_all
from scorekit.errors import InputError, refuse, shown

ERROR = 2
"""The *failureReason* of promptfoo where there was no answer to judge."""

COUNTS = {"testPassCount": "successes", "testFailCount": "failures", "testErrorCount": "errors"}
"""Counts of promptfoo by prompt, and in the statistics of the whole file."""

_GRADED = ("llm-rubric", "model-graded", "factuality", "g-eval", "answer-relevance", "context-")
"""How assertions of promptfoo begin that a model decides."""


def promptfoo(data: object, model: str | None, prompt: str | None) -> Reading:
    """Read an output file, of one prompt and of one provider or of all of them."""
    content = Content("data", data, "the mapping of an output file, with results", "promptfoo")
    held = field(data, "results")
    rows: Any = field(held, "results") if is_mapping(held) else held
    if not is_list(rows):
        content.refuse()
    given = attrs.evolve(content, name="data['results']['results']", value=rows).rows()
    for i, row in enumerate(given):
        content.key(row, "success", f"results[{i}]")
    prompts = items_of(field(held, "prompts"))
    providers = [_provider(row) for row in given]
    if model is not None and model not in providers:
        ids = {field(row, "provider", "id"): _provider(row) for row in given}
        model = one_of("model", ids.get(model, model), providers)
    texts = [_prompt(row, prompts) for row in given]
    chosen = _chosen_prompt(prompt, texts, model, providers)
    found = Reading("promptfoo", "success")
    found.harness_version = text_or_none(field(data, "metadata", "promptfooVersion"))
    found.dataset = text_or_none(field(data, "config", "description"))
    kept = [
        row
        for row, own, provider in zip(given, texts, providers, strict=True)
        if own == chosen and model in (None, provider)
    ]
    names = _case_names(kept)
    counts = dict.fromkeys(COUNTS, 0)
    for row, name in zip(kept, names, strict=True):
        failed = _has_no_answer(row)
        success = number("success", row["success"])
        error = row.get("error") or field(row, "response", "error")
        latency = measured(row.get("latencyMs"))
        found.add(
            name,
            success,
            attempt=row.get("testIdx"),
            model=_provider(row),
            unknown=cause_of(error) if failed else "",
            own=None,
            cost_usd=measured(row.get("cost")) if not failed else None,
            latency_seconds=None if latency is None or failed else latency / 1000.0,
            tokens=(
                counted_tokens(field(row, "response", "tokenUsage", "prompt")),
                counted_tokens(field(row, "response", "tokenUsage", "completion")),
            ),
        )
        which = "testErrorCount" if failed else "testPassCount" if success else "testFailCount"
        counts[which] += 1
    found.judge = _grader(kept)
    _read_counts(found, held, counts, chosen, model, is_all=len(kept) == len(given))
    return found


def _provider(row: Row) -> str:
    provider = row.get("provider")
    named = (field(provider, "label"), field(provider, "id"), provider)
    return next((one for one in named if isinstance(one, str) and one), "unnamed provider")


def _prompt(row: Row, prompts: Sequence[object]) -> tuple[str, str]:
    """Return the label of a row's prompt, and its text before variables were put in."""
    place = row.get("promptIdx")
    entry: object = (
        prompts[place]
        if isinstance(place, int) and 0 <= place < len(prompts)
        else row.get("prompt")
    )
    raw = text_or_none(field(entry, "raw")) or ""
    return text_or_none(field(entry, "label")) or raw, raw


def _chosen_prompt(
    prompt: str | None,
    texts: Sequence[tuple[str, str]],
    model: str | None,
    providers: Sequence[str],
) -> tuple[str, str]:
    own = [t for t, p in zip(texts, providers, strict=True) if model in (None, p)]
    known = dict.fromkeys(own)
    for one in known:
        if prompt is not None and prompt in one:
            return one
    label = one_of("prompt", prompt, (label or raw for label, raw in known))
    return next(one for one in known if label in one)


def _case_names(rows: Sequence[Row]) -> list[str]:
    """Name each test by its variables, and by what it asks for where two have the same ones."""
    names = [json.dumps(row.get("vars") or {}, ensure_ascii=False) for row in rows]
    tests = [
        json.dumps(
            [field(row, "testCase", "assert"), field(row, "testCase", "description")], default=str
        )
        for row in rows
    ]
    of_name: dict[str, dict[str, int]] = {}
    for name, test in zip(names, tests, strict=True):
        own = of_name.setdefault(name, {})
        own.setdefault(test, len(own) + 1)
    found: list[str] = []
    for row, name, test in zip(rows, names, tests, strict=True):
        place = of_name[name][test]
        title = text_or_none(field(row, "testCase", "description")) or f"test {place}"
        found.append(name if len(of_name[name]) == 1 else f"{name} [{title}]")
    return found


def _has_no_answer(row: Row) -> bool:
    reason = row.get("failureReason")
    if isinstance(reason, int):
        return reason == ERROR
    graded = field(row, "gradingResult", "componentResults")
    return not row["success"] and bool(row.get("error")) and not graded


def _grader(rows: Sequence[Row]) -> str | None:
    for row in rows:
        for one in items_of(field(row, "testCase", "assert")):
            kind = str(field(one, "type") or "").removeprefix("not-")
            if kind.startswith(_GRADED):
                named = field(one, "provider") or field(row, "testCase", "options", "provider")
                return text_or_none(field(named, "id") or named) or kind
    return None


def _read_counts(
    found: Reading,
    held: object,
    counts: dict[str, int],
    prompt: tuple[str, str],
    model: str | None,
    *,
    is_all: bool,
) -> None:
    entries = [
        one
        for one in items_of(field(held, "prompts"))
        if (text_or_none(field(one, "label")) or text_or_none(field(one, "raw"))) == prompt[0]
        and (model is None or field(one, "provider") in (model, *dict.fromkeys(found.model)))
    ]
    for name in COUNTS:
        own = [field(one, "metrics", name) for one in entries]
        if own and all(isinstance(one, int) for one in own):
            found.stated[name] = sum(own)
    stats = names_of(field(held, "stats"))
    values: dict[str, float] = dict(counts)
    if is_all:
        for name, other in COUNTS.items():
            values[other] = counts[name]
            if isinstance(stats.get(other), int):
                found.stated[other] = stats[other]
    found.names = tuple(values)
    found.rule = lambda name, own: values.get(name, at_k(name, own))


def pydantic_evals(report: object, metric: str | None) -> Reading:
    """Read a report, or what its adapter dumped."""
    wanted = "a report of pydantic-evals, with cases and failures"
    cases, failures = field(report, "cases"), field(report, "failures")
    if not is_list(cases):
        Content("report", report, wanted, "pydantic_evals").refuse()
    if not cases and not failures:
        refuse("report", f"{wanted}, at least one", "none")
    lost = items_of(failures)
    scored = [{**names_of(field(c, "assertions")), **names_of(field(c, "scores"))} for c in cases]
    broken = [
        {str(field(one, "name")): one for one in items_of(field(case, "evaluator_failures"))}
        for case in cases
    ]
    names = [name for one in scored for name in one] or [name for one in broken for name in one]
    chosen = one_of("metric", metric, names)
    found = Reading("pydantic_evals", chosen, text_or_none(field(report, "dataset_name")))
    for case, own, failed in zip(cases, scored, broken, strict=True):
        result = own.get(chosen)
        value = number(f"{chosen} of case {shown(field(case, 'name'))}", field(result, "value"))
        judge = field(result, "source", "name")
        if judge == "LLMJudge" and found.judge is None:
            named = field(result, "source", "arguments", "model")
            found.judge = text_or_none(named) or "LLMJudge"
        _add_case(
            found,
            case,
            value,
            cause_of(field(failed.get(chosen), "error_message")) if chosen in failed else "",
        )
    for failure in lost:
        _add_case(found, failure, None, cause_of(field(failure, "error_message")))
    found.rule = lambda name, own: mean_of_all(own) if name == chosen else at_k(name, own)
    found.names = (chosen, "pass@1")
    return found


_REPEAT = re.compile(r" \[(\d+)/\d+\]$")


def _add_case(found: Reading, case: object, value: float | None, cause: str) -> None:
    name, source = str(field(case, "name")), field(case, "source_case_name")
    repeat = _REPEAT.search(name)
    metrics = names_of(field(case, "metrics"))
    found.add(
        source or (name[: repeat.start()] if repeat else name),
        value,
        attempt=int(repeat[1]) if repeat else 1,
        unknown=cause,
        cost_usd=measured(metrics.get("cost")),
        latency_seconds=measured(field(case, "task_duration")),
        tokens=(
            counted_tokens(metrics.get("input_tokens")),
            counted_tokens(metrics.get("output_tokens")),
        ),
    )


def mlflow(rows: object, metrics: object, metric: str | None, case_id: str) -> Reading:
    """Read the table of an evaluation, one column of scores."""
    content = Content("rows", rows, "the rows of result_df, with a column NAME/value", "mlflow")
    given = content.rows()
    names = [
        str(column).removesuffix("/value")
        for row in given
        for column in row
        if str(column).endswith("/value")
    ]
    if not names:
        attrs.evolve(content, value=given).refuse()
    chosen = one_of("metric", None if metric is None else metric.removesuffix("/value"), names)
    found = Reading("mlflow", chosen, names=(f"{chosen}/mean",))
    for i, row in enumerate(given):
        asked = content.key(row, case_id, f"rows[{i}]")
        value = row.get(f"{chosen}/value")
        if isinstance(value, str) and value.lower() in ("yes", "no"):  # of its own judges
            value = value.lower() == "yes"
        state = str(row.get("state") or "")
        found.add(
            asked if isinstance(asked, str) else json.dumps(asked, default=str),
            number(f"rows[{i}]['{chosen}/value']", value),
            attempt=text_or_none(row.get("trace_id")),
            unknown="error" if "ERROR" in state.upper() else "",
        )
    if metrics is not None:
        if not is_mapping(metrics):
            Content("metrics", metrics, "the metrics of a result, a mapping", "mlflow").refuse()
        value = metrics.get(f"{chosen}/mean")
        if isinstance(value, int | float):
            found.stated[f"{chosen}/mean"] = value
    found.rule = lambda name, own: (
        mean_of_all(own) if name == f"{chosen}/mean" else at_k(name, own)
    )
    return found


def langfuse(result: object, metric: str | None) -> Reading:
    """Read the result of an experiment, or what was dumped of it."""
    wanted = "the result of run_experiment, with item_results"
    items = field(result, "item_results")
    if not is_list(items):
        Content("result", result, wanted, "langfuse").refuse()
    if not items:
        refuse("result", f"{wanted}, at least one", items)
    names = [str(field(e, "name")) for one in items for e in items_of(field(one, "evaluations"))]
    chosen = one_of("metric", metric, names)
    found = Reading("langfuse", chosen, names=("mean",), rule=_mean_or_at_k)
    for i, one in enumerate(items):
        item = field(one, "item")
        ids = (field(item, "id"), field(item, "metadata", "id"))
        case_id = next((known for known in ids if known is not None), None)
        if case_id is None:
            raise InputError(
                f"item_results[{i}] must have an id of its own, item['id'] or "
                f"item['metadata']['id'], as trace ids differ from run to run; got {shown(item)}"
            )
        own = [e for e in items_of(field(one, "evaluations")) if field(e, "name") == chosen]
        if len(own) > 1:
            refuse(f"item_results[{i}]", f"an item with one score {chosen!r}", len(own))
        value = field(own[0], "value") if own else None
        trace = text_or_none(field(one, "trace_id"))
        found.add(
            str(case_id),
            number(f"item_results[{i}] {chosen}", value),
            attempt=None if trace is None or not trace.strip("0") else trace,
        )
    return found


def _mean_or_at_k(name: str, own: Own) -> float | None:
    return mean_of_all(own) if name == "mean" else at_k(name, own)
