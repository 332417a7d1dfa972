"""Every Eval Ever: instances of an evaluation, and its aggregate, where the number stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from scorekit._readers.reading import Own, Reading, at_k, mean_of_all, mean_of_cases
from scorekit.errors import refuse

WANTED = "the instances of an evaluation, rows with sample_id and evaluation"


def every_eval_ever(rows: object, aggregate: object, metric: str | None) -> Reading:
    """Read the instances of one evaluation, or of one of its results where there are several."""
    content = Content("rows", rows, WANTED, "every_eval_ever")
    given = content.rows()
    for i, row in enumerate(given):
        for key in ("sample_id", "evaluation"):
            content.key(row, key, f"rows[{i}]")
    refuse_copies("rows", given)
    labels = [_label(row) for row in given]
    chosen = _chosen(given, labels, metric)
    own = [(i, row) for i, row in enumerate(given) if chosen in (_label(row), *_names(row))]
    first = own[0][1]
    found = Reading("every_eval_ever", chosen, text_or_none(first.get("evaluation_name")))
    found.harness_version = text_or_none(first.get("schema_version"))
    for i, row in own:
        evaluation = row["evaluation"]
        score = field(evaluation, "score")
        value = number(
            f"rows[{i}] score", field(evaluation, "is_correct") if score is None else score
        )
        failure = row.get("error")
        latency = measured(field(row, "performance", "latency_ms"))
        found.add(
            row["sample_id"],
            value,
            model=text_or_none(row.get("model_id")),
            unknown="" if failure is None else cause_of(failure),
            own=value,
            latency_seconds=None if latency is None else latency / 1000.0,
            tokens=(
                counted_tokens(field(row, "token_usage", "input_tokens")),
                counted_tokens(field(row, "token_usage", "output_tokens")),
            ),
        )
    found.names = ("score", "pass@1")
    found.rule = _score
    if aggregate is not None:
        _read_aggregate(found, aggregate, first)
    return found


def _score(name: str, own: Own) -> float | None:
    if not name.startswith("score"):
        return at_k(name, own)
    return mean_of_cases(own) if name == "score" else mean_of_all(own)


def _names(row: Row) -> list[str]:
    return [
        str(row[name])
        for name in ("evaluation_result_id", "evaluation_name")
        if row.get(name) is not None
    ]


def _label(row: Row) -> str:
    """Return what tells the rows of one result from those of others."""
    return next(iter(_names(row)), "score")


def _chosen(rows: Sequence[Row], labels: Sequence[str], metric: str | None) -> str:
    """Return the result that is named, by its id or by the name of its evaluation."""
    if metric is not None and metric not in labels:
        having = {_label(row) for row in rows if metric in _names(row)}
        if len(having) == 1:
            return having.pop()
    named = dict.fromkeys(str(row.get("evaluation_name")) for row in rows)
    if metric is None and len(named) == len(set(labels)) == 1:
        return labels[0]
    return one_of("metric", metric, labels)


def _read_aggregate(found: Reading, aggregate: object, first: Row) -> None:
    wanted = "the aggregate of an evaluation, a mapping with evaluation_results"
    results = items_of(field(aggregate, "evaluation_results"))
    if not results or not is_mapping(aggregate):
        Content("aggregate", aggregate, wanted, "every_eval_ever").refuse()
    theirs, ours = aggregate.get("evaluation_id"), first.get("evaluation_id")
    if None not in (theirs, ours) and theirs != ours:
        refuse("evaluation_id of aggregate", f"that of the rows, {ours!r}", theirs)
    by_id = [one for one in results if _is_result(one, first, "evaluation_result_id")]
    matching = by_id or [one for one in results if _is_result(one, first, "evaluation_name")]
    if not matching and len(results) == 1:
        matching = results
    if len(matching) != 1:
        found.notes.append(f"{len(matching)} results of the aggregate are of these rows.")
        return
    (one,) = matching
    found.dataset = text_or_none(field(one, "source_data", "dataset_name")) or found.dataset
    found.judge = _judge(one)
    config = names_of(field(one, "metric_config"))
    if config.get("lower_is_better") is True:
        refuse("metric", "one of which a higher value is better", found.metric)
    low, high = (number(f"metric_config {n}", config.get(n)) for n in ("min_score", "max_score"))
    if low is not None and high is not None and (low, high) != (0.0, 1.0) and low < high:
        known = [score for score in found.score if score is not None]
        if any(not 0.0 <= score <= 1.0 for score in known):  # else it is of the aggregate alone
            found.scale = low, high
    value: Any = number("score of the aggregate", field(one, "score_details", "score"))
    if value is not None:
        found.stated["score"] = value


def _is_result(one: object, row: Row, key: str) -> bool:
    return row.get(key) is not None and field(one, key) == row.get(key)


def _judge(one: object) -> str | None:
    judges = items_of(field(one, "metric_config", "llm_scoring", "judges"))
    named = [
        text_or_none(field(judge, "model_info", "id") or field(judge, "model_info", "name"))
        for judge in judges
    ]
    return ", ".join(filter(None, named)) or None
