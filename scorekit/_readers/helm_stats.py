"""HELM: the statistics of each instance, and those of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scorekit._core.columns import check_id
from scorekit._readers.content import (
    Content,
    Row,
    counted_tokens,
    field,
    items_of,
    measured,
    number,
    one_of,
)
from scorekit._readers.reading import Reading, fmean
from scorekit.errors import InputError, refuse, shown

WANTED = "the rows of a per_instance_stats.json"


def helm(
    per_instance_stats: object,
    stats: object,
    metric: str | None,
    split: str | None,
    perturbation: str | None,
) -> Reading:
    """Read one statistic of each instance, of one split and as it was or under a perturbation."""
    content = Content("per_instance_stats", per_instance_stats, WANTED, "helm")
    given = content.rows()
    for i, row in enumerate(given):
        place = f"per_instance_stats[{i}]"
        check_id(f"{place}['instance_id']", content.key(row, "instance_id", place))
        check_id(f"{place}['train_trial_index']", row.get("train_trial_index", 0))
    every = [(row, one) for row in given for one in items_of(row.get("stats")) if _is_named(one)]
    chosen = one_of("metric", metric, (one["name"]["name"] for _, one in every))
    own = [(row, one) for row, one in every if one["name"]["name"] == chosen]
    kinds = dict.fromkeys(_perturbed(row, one) for row, one in own)
    if perturbation is not None:
        one_of("perturbation", perturbation, filter(None, kinds))
    n_others = sum(_perturbed(row, one) != perturbation for row, one in own)
    own = [(row, one) for row, one in own if _perturbed(row, one) == perturbation]
    chosen_split = one_of("split", split, (_split_of(one) for _, one in own))
    own = [(row, one) for row, one in own if _split_of(one) == chosen_split]
    found = Reading("helm", chosen)
    if n_others:
        whose = "perturbed" if perturbation is None else "other"
        found.notes.append(
            f"{n_others} {whose} instances are left out (perturbation= names them)."
        )
    sums: dict[Any, list[tuple[float, float]]] = {}
    costs = _measured(given)
    for row, one in own:
        n, total = number("count", one.get("count")), number("sum", one.get("sum"))
        trial = row.get("train_trial_index", 0)
        value = total / n if n and total is not None else None
        if n and total is not None:
            sums.setdefault(trial, []).append((total, n))
        tokens_in, tokens_out, seconds = costs.get(
            (row["instance_id"], trial, _perturbed(row, one)), (None, None, None)
        )
        found.add(
            row["instance_id"],
            value,
            attempt=trial,
            latency_seconds=seconds,
            tokens=(tokens_in, tokens_out),
        )
    found.names = (chosen,)
    found.rule = lambda name, _: _of_trials(sums) if name == chosen else None
    if stats is not None:
        _read_stats(found, stats, chosen, chosen_split, perturbation)
    return found


def _is_named(one: object) -> bool:
    return isinstance(field(one, "name", "name"), str)


def _split_of(one: Row) -> str:
    names = [field(one, "name", name) for name in ("split", "sub_split")]
    return "/".join(str(name) for name in names if name is not None) or "all"


def _perturbed(row: Row, one: Row) -> str | None:
    """Return the name of the perturbation, None for an instance as it was."""
    known = row.get("perturbation") or field(one, "name", "perturbation")
    return None if known is None else str(field(known, "name"))


def _measured(
    rows: Sequence[Row],
) -> dict[tuple[object, ...], tuple[int | None, int | None, float | None]]:
    """Return the tokens and the seconds of each instance, from whichever row has them."""
    names = ("num_prompt_tokens", "num_output_tokens", "inference_runtime")
    found: dict[tuple[object, ...], dict[str, object]] = {}
    for row in rows:
        for one in filter(_is_named, items_of(row.get("stats"))):
            if one["name"]["name"] in names:
                key = row["instance_id"], row.get("train_trial_index", 0), _perturbed(row, one)
                found.setdefault(key, {})[one["name"]["name"]] = one.get("mean")
    return {
        key: (
            counted_tokens(own.get(names[0])),
            counted_tokens(own.get(names[1])),
            measured(own.get(names[2])),
        )
        for key, own in found.items()
    }


def _of_trials(sums: dict[Any, list[tuple[float, float]]]) -> float | None:
    """Return the mean over trials of the mean of each, as HELM merges statistics."""
    if not sums:
        return None
    return fmean(sum(s for s, _ in own) / sum(n for _, n in own) for own in sums.values())


def _read_stats(
    found: Reading, stats: object, metric: str, split: str, perturbation: str | None
) -> None:
    values: list[float] = []
    for i, one in enumerate(Content("stats", stats, "the rows of a stats.json", "helm").rows()):
        if not _is_named(one):
            raise InputError(f"stats[{i}] must have a name with a name, got {shown(one)}")
        named = field(one, "name", "perturbation")
        of = None if named is None else str(field(named, "name"))
        if (one["name"]["name"], _split_of(one), of) == (metric, split, perturbation):
            value = number(f"stats[{i}] mean", one.get("mean"))
            values += [] if value is None else [value]
    if len(set(values)) > 1:
        refuse(f"stats of {metric!r}", "one for the split", values)
    if values:
        found.stated[metric] = values[0]
