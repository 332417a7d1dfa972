"""Samples of lm-evaluation-harness, and the results in which its numbers stand."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from scorekit._core.columns import check_id
from scorekit._core.mappings import is_mapping
from scorekit._readers.content import (
    Content,
    Row,
    field,
    is_list,
    items_of,
    names_of,
    number,
    one_of,
    text_or_none,
    whose,
)
from scorekit._readers.reading import MOST_NOT_RUN, Own, Reading, fmean
from scorekit.errors import refuse, shown

WANTED = "the rows of a samples_*.jsonl, or a mapping from task to its rows"

_COMMON = frozenset((
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash",
))  # fmt: skip
"""What a row has beside the values of metrics."""


_HASHES = ("doc_hash", "prompt_hash", "target_hash")
"""What the hash of a task is made of, row by row."""


def lm_eval(
    rows: object,
    results: object,
    metric: str | None,
    filter_name: str | None,
    task: str | None,
) -> Reading:
    """Read the samples of a task, or of several, under one metric and one filter."""
    if is_mapping(rows) and is_mapping(rows.get("samples")):
        rows, results = rows["samples"], rows if results is None else results
    if results is not None and not is_mapping(field(results, "results")):
        Content("results", results, "the mapping of a results_*.json", "lm_eval").refuse()
    tasks = _by_task(rows)
    every = [row for own in tasks.values() for row in own]
    if metric is not None and filter_name is None and "," in metric:
        metric, _, filter_name = metric.partition(",")
    chosen = one_of("metric", metric, _metrics(every))
    filters = dict.fromkeys(str(row.get("filter", "none")) for row in every)
    chosen_filter = one_of("filter", filter_name, filters)
    found = Reading("lm_eval", chosen if chosen_filter == "none" else f"{chosen},{chosen_filter}")
    tasks = _chosen_tasks(tasks, results, f"{chosen},{chosen_filter}", task)
    _describe(found, results, tasks)
    kept = {
        name: [row for row in own if str(row.get("filter", "none")) == chosen_filter]
        for name, own in tasks.items()
    }
    for name, own in kept.items():
        if own:
            _add_rows(found, own, chosen, f"{name}/" if len(kept) > 1 else "")
    _read_results(found, results, kept, chosen, chosen_filter)
    return found


def _by_task(rows: object) -> dict[str, Sequence[Row]]:
    """Return the rows of each task, under no name where they are of one."""
    is_group = is_mapping(rows) and bool(rows) and not whose(rows)
    given: Mapping[Any, object] = rows if is_mapping(rows) and is_group else {"": rows}
    found: dict[str, Sequence[Row]] = {}
    for name, own in given.items():
        place = f"rows[{shown(name)}]" if is_group else "rows"
        content = Content(place, own, WANTED, "lm_eval")
        found[str(name)] = content.rows()
        for i, row in enumerate(found[str(name)]):
            if "doc_id" not in row:
                content.refuse()
            check_id(f"{place}[{i}]['doc_id']", row["doc_id"])
    return found


def _chosen_tasks(
    tasks: dict[str, Sequence[Row]], results: object, key: str, task: str | None
) -> dict[str, Sequence[Row]]:
    """Return the rows of the task that is chosen, or of all, by their names."""
    if "" not in tasks:
        return tasks if task is None else {task: tasks[one_of("task", task, tasks)]}
    named = task or ""
    return {_task_of(results, tasks[""], key, task) if results is not None else named: tasks[""]}


def _metrics(rows: Sequence[Row]) -> list[str]:
    """Return the metrics of rows: what they name themselves, else what not all rows have."""
    found: dict[str, None] = {}
    for row in rows:
        listed = row.get("metrics")
        named = listed if is_list(listed) else [n for n in row if n not in _COMMON]
        found |= dict.fromkeys(str(name) for name in named)
    return list(found)


def _task_of(results: object, rows: Sequence[Row], key: str, task: str | None) -> str:
    """Return the task whose rows these are: by their hash, by their number, or as named."""
    known = names_of(field(results, "results"))
    groups = {name for name, own in names_of(field(results, "group_subtasks")).items() if own}
    tasks = [name for name in known if name not in groups]
    if task is not None:
        return one_of("task", task, tasks)
    hashes = names_of(field(results, "task_hashes"))
    if hashes and all(name in row for row in rows for name in _HASHES):
        parts = (f"{row[name]}" for row in rows for name in _HASHES)
        own = sha256("".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        for name, known_hash in hashes.items():
            if own == known_hash:
                return str(name)
    having = [n for n in tasks if key in known[n] or key.partition(",")[0] in known[n]] or tasks
    n_docs = len({row["doc_id"] for row in rows})
    as_many = [n for n in having if field(results, "n-samples", n, "effective") == n_docs]
    if len(having) != 1 and len(as_many) == 1:
        return as_many[0]
    return one_of("task", None, having, " (the rows do not name theirs)")


def _describe(found: Reading, results: object, tasks: Mapping[str, object]) -> None:
    names = [name for name in tasks if name]
    if len(names) == 1:
        found.dataset = names[0]
        found.dataset_version = text_or_none(field(results, "versions", names[0]))
    elif names:
        groups = [g for g, own in names_of(field(results, "group_subtasks")).items() if own]
        found.dataset = groups[0] if len(groups) == 1 else ", ".join(names)
    found.harness_version = text_or_none(field(results, "lm_eval_version"))


def _model_of(results: object) -> str | None:
    arguments = field(results, "config", "model_args")
    if isinstance(arguments, str):
        pairs = (one.partition("=") for one in arguments.split(","))
        arguments = {name: value for name, _, value in pairs}
    named = text_or_none(field(arguments, "pretrained")) or text_or_none(field(arguments, "model"))
    return (
        text_or_none(field(results, "model_name"))
        or named
        or text_or_none(field(results, "config", "model"))
    )


def _add_rows(found: Reading, rows: Sequence[Row], metric: str, prefix: str) -> None:
    """Add the rows of a task under one filter; answers that a filter kept are attempts."""
    values = [_value(i, row, metric) for i, row in enumerate(rows)]
    answers = [_kept(row) for row in rows]
    split = all(
        len(own) > 1 and value is not None and math.isclose(fmean(own), value, abs_tol=1e-12)
        for own, value in zip(answers, values, strict=True)
    )
    if not split and any(len(own) > 1 for own in answers):
        found.notes.append(
            "The answers to a document are one attempt: its score does not say which are right."
        )
    for row, value, own in zip(rows, values, answers, strict=True):
        case_id = f"{prefix}{row['doc_id']}"
        if not split:
            found.add(case_id, value, attempt=1)
            continue
        for j, one in enumerate(own):
            found.add(case_id, one, attempt=j + 1)


def _value(i: int, row: Row, metric: str) -> float | None:
    value = row.get(metric)
    if is_list(value) or is_mapping(value):
        refuse(
            f"metric {metric!r}",
            "one with a number for each document (this one is computed over all of them)",
            value,
        )
    return number(f"rows[{i}][{metric!r}]", value)


def _kept(row: Row) -> list[float]:
    """Return whether each answer that a filter kept is the target."""
    filtered = items_of(row.get("filtered_resps"))
    own = filtered[0] if len(filtered) == 1 else None
    if not is_list(own) or not all(isinstance(one, str) for one in own):
        return []
    return [float(one == row.get("target")) for one in own]


def _read_results(
    found: Reading,
    results: object,
    tasks: Mapping[str, Sequence[Row]],
    metric: str,
    filter_name: str,
) -> None:
    """Take the numbers of these tasks, and of the groups that they make up."""
    key, old_key = f"{metric},{filter_name}", metric
    found.model = [_model_of(results)] * len(found.case_id)
    values = {
        name: [one for i, row in enumerate(own) if (one := _value(i, row, metric)) is not None]
        for name, own in tasks.items()
    }
    ours: dict[str, float | None] = {}
    for name, own in values.items():
        stated = names_of(field(results, "results", name))
        if results is not None and key not in stated and old_key not in stated:
            refuse("results", f"those of the rows, with {key!r} of a task {name!r}", list(stated))
        better = field(results, "higher_is_better", name, metric)
        if better is False:
            refuse("metric", "one of which a higher value is better", metric)
        label = f"{name}: {key}" if len(tasks) > 1 else key
        is_mean = all(
            field(one, "aggregation") in ("mean", "nanmean", None)
            for one in items_of(field(results, "configs", name, "metric_list"))
            if field(one, "metric") == metric
        )
        ours[label] = fmean(own) if own and is_mean else None
        for k in (key, old_key):
            _state(found, label, stated.get(k))
            error = f"{metric}_stderr" + k[len(metric) :]
            if is_mean and len(own) > 1:
                ours[label.replace(key, error)] = statistics.stdev(own) / math.sqrt(len(own))
                _state(found, label.replace(key, error), stated.get(error))
        _count_missing(found, results, name, tasks[name], alone=len(tasks) == 1)
    groups = names_of(field(results, "group_subtasks"))
    for group, subtasks in groups.items() if len(tasks) > 1 else ():
        stated = field(results, "groups", group) or field(results, "results", group)
        leaves = {one: values.get(one, []) for one in _leaves(results, subtasks)}
        value = names_of(stated).get(key)
        if value is not None and leaves and all(leaves.values()):
            listed = items_of(field(results, "configs", group, "aggregate_metric_list"))
            weights = [field(one, "weight_by_size") for one in listed]
            ours[f"{group}: {key}"] = _of_group(list(leaves.values()), weights, value)
            _state(found, f"{group}: {key}", value)
    found.names = tuple(ours)

    def rule(name: str, own: Own) -> float | None:
        del own  # the harness has one number for each document, whatever attempts it makes up
        return ours.get(name)

    found.rule = rule


def _state(found: Reading, label: str, value: Any) -> None:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        found.stated[label] = value


def _count_missing(
    found: Reading, results: object, task: str, rows: Sequence[Row], *, alone: bool
) -> None:
    """Add the documents that the results state and the rows do not have."""
    effective = field(results, "n-samples", task, "effective")
    if not isinstance(effective, int):
        return
    there = {row["doc_id"] for row in rows}
    n_missing = effective - len(there)
    if n_missing <= 0:
        return
    few = n_missing <= MOST_NOT_RUN
    absent = [i for i in range(effective) if i not in there] if few else []
    if len(absent) != n_missing:  # some were chosen, and nobody says which
        found.n_missing += n_missing
        return
    for i in absent:
        found.not_run(f"{i}" if alone else f"{task}/{i}", 1, _model_of(results))


def _leaves(results: object, subtasks: object) -> list[str]:
    """Return the tasks of a group, those of groups in it included."""
    groups = names_of(field(results, "group_subtasks"))
    found: list[str] = []
    for one in map(str, items_of(subtasks)):
        found += _leaves(results, groups[one]) if groups.get(one) else [one]
    return found


def _of_group(values: Sequence[Sequence[float]], weights: Sequence[object], stated: Any) -> float:
    """Return the number of a group: the mean of its tasks, or of all their documents."""
    by_size = fmean(value for own in values for value in own)
    by_task = fmean(map(fmean, values))
    if False in weights:
        return by_task
    if True in weights:
        return by_size
    # results that do not say which
    return min((by_size, by_task), key=lambda one: abs(one - float(stated)))
