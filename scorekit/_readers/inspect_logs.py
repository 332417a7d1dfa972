"""Logs of inspect_ai: samples with epochs, and the scores of one or several scorers."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from scorekit._core.mappings import is_mapping
from scorekit._readers.content import (
    Content,
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
from scorekit._readers.reading import MOST_NOT_RUN, Own, Reading, fmean
from scorekit.errors import InputError, refuse, shown

WANTED = "a log of inspect_ai: what read_eval_log(path) returns, or the mapping of a JSON log"

WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""What inspect_ai takes words for; upper and lower case differ in the grades alone."""

_AT = re.compile(r"(at_least|pass_at|pass_k)_(\d+)")


def inspect_ai(log: object, scorer: str | None, part: str | None) -> Reading:
    """Read a log, of which one scorer is chosen, and one part where its scores have several."""
    task = field(log, "eval", "task")
    if task is None or field(log, "status") is None:
        Content("log", log, WANTED, "inspect_ai").refuse()
    samples = items_of(field(log, "samples"))
    if not samples:
        held = field(log, "results", "total_samples")
        stands = f"; its results are of {held}" if held else ""
        refuse("log", f"a log with samples (header_only=False reads them){stands}", "none")
    scorers = list(chain.from_iterable(names_of(field(one, "scores")) for one in samples))
    if not scorers:
        scorers = [str(field(one, "name")) for one in items_of(field(log, "eval", "scorers"))]
    if not scorers:
        errors = Counter(str(field(one, "error", "message")) for one in samples)
        errors.pop("None", None)
        why = (
            f", {errors.total()} with an error such as {shown(next(iter(errors)))}"
            if errors
            else ""
        )
        raise InputError(
            f"log must have a score at one sample or more, got {len(samples)} samples without "
            f"any{why}; the task names no scorer"
        )
    chosen = one_of("scorer", scorer, scorers)
    parts = _parts(samples, chosen)
    own_part = one_of("part", part, parts) if parts else None
    if part is not None and not parts:
        refuse("part", f"None, as scores of {chosen!r} are no mappings", part)
    found = Reading("inspect_ai", chosen if own_part is None else f"{chosen} {own_part}")
    found.dataset = text_or_none(field(log, "eval", "dataset", "name")) or str(task)
    found.dataset_version = text_or_none(field(log, "eval", "task_version"))
    found.harness_version = text_or_none(field(log, "eval", "packages", "inspect_ai"))
    found.judge = _judge(log, chosen)
    _add_samples(found, log, samples, chosen, own_part)
    status = field(log, "status")
    if status != "success":
        found.notes.append(f"The log's status is {status!r}.")
    _read_results(found, log, chosen, own_part)
    return found


def _parts(samples: Sequence[object], scorer: str) -> list[str]:
    """Return the names of the parts of scores, where these are mappings or lists."""
    found: dict[str, None] = {}
    for sample in samples:
        value = field(names_of(field(sample, "scores")).get(scorer), "value")
        if is_mapping(value):
            found |= dict.fromkeys(map(str, value))
        elif is_list(value):
            found |= dict.fromkeys(map(str, range(len(value))))
    return list(found)


def _value(score: object, part: str | None) -> Any:
    value = field(score, "value")
    if part is None:
        return value
    if is_mapping(value):
        return value.get(part)
    return value[int(part)] if is_list(value) and int(part) < len(value) else None


def to_float(name: str, value: object) -> float | None:
    """Return a score as a number, a word as what inspect_ai takes it for; None where unscored."""
    if isinstance(value, str):
        known = WORDS.get(value, WORDS.get(value.lower()))
        if known is not None:
            return known
        try:
            return number(name, float(value))
        except ValueError:
            refuse(name, f"a number or one of {', '.join(WORDS)}", value)
    return number(name, value)


def _add_samples(
    found: Reading, log: object, samples: Sequence[object], scorer: str, part: str | None
) -> None:
    model = text_or_none(field(log, "eval", "model"))
    for i, sample in enumerate(samples):
        score = names_of(field(sample, "scores")).get(scorer)
        case_id, epoch = field(sample, "id"), field(sample, "epoch")
        value = to_float(f"samples[{i}] score by {scorer}", _value(score, part))
        error = field(sample, "error")
        cause = "" if error is None else cause_of(field(error, "message"))
        usage = names_of(field(sample, "model_usage")).get(str(model))
        seconds = field(sample, "working_time")
        found.add(
            str(case_id) if isinstance(case_id, int) else case_id,
            value,
            attempt=1 if epoch is None else epoch,
            model=model,
            unknown=cause,
            own=value,
            cost_usd=measured(field(usage, "total_cost")),
            latency_seconds=measured(
                seconds if seconds is not None else field(sample, "total_time")
            ),
            tokens=(
                counted_tokens(field(usage, "input_tokens")),
                counted_tokens(field(usage, "output_tokens")),
            ),
        )
    ids = items_of(field(log, "eval", "dataset", "sample_ids"))
    stated = field(log, "eval", "config", "epochs")
    n_epochs = stated if isinstance(stated, int) else 1
    if len(ids) * n_epochs > MOST_NOT_RUN + len(samples):
        found.n_missing = len(ids) * n_epochs - len(samples)
        return
    for case_id in ids:
        for epoch in range(1, n_epochs + 1):
            found.not_run(str(case_id), epoch, model)


def _judge(log: object, scorer: str) -> str | None:
    """Return the model that graded, where the log names one."""
    for one in items_of(field(log, "eval", "scorers")):
        if field(one, "name") == scorer:
            named = text_or_none(field(one, "options", "model"))
            if named is not None:
                return named
    grader = names_of(field(log, "eval", "model_roles")).get("grader")
    if grader is not None:
        return text_or_none(grader if isinstance(grader, str) else field(grader, "model"))
    return text_or_none(field(log, "eval", "model")) if "model_graded" in scorer else None


def _read_results(found: Reading, log: object, scorer: str, part: str | None) -> None:
    """Take what the log states of this scorer, under the reducer of its epochs."""
    entries = [
        one
        for one in items_of(field(log, "results", "scores"))
        if field(one, "scorer") in (scorer, None)
        and (field(one, "name") in (part or scorer, scorer) or field(one, "name") is None)
    ]
    if part is not None and any(field(one, "name") == part for one in entries):
        entries = [one for one in entries if field(one, "name") == part]
    elif part is not None:
        entries = []  # of all parts together
    reducers: dict[str, str] = {}
    default = next(iter(items_of(field(log, "eval", "config", "epochs_reducer"))), "mean")
    for one in entries:
        reducer = text_or_none(field(one, "reducer")) or str(default)
        for name, metric in names_of(field(one, "metrics")).items():
            value = field(metric, "value")
            if not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value):
                continue
            label = str(name) if len(entries) == 1 else f"{name}, {reducer}"
            is_plain = not names_of(field(metric, "params")).get("cluster")
            reducers[label] = reducer if is_plain else ""
            found.stated[label] = value
    found.names = ("accuracy", "mean")

    def rule(name: str, own: Own) -> float | None:
        reduce = _reducer(reducers.get(name, str(default)))
        statistic = _STATISTICS.get(name.partition(",")[0])
        if reduce is None or statistic is None or not own:
            return None
        return statistic([reduce(scores) for scores in own.values()])

    found.rule = rule


def _reducer(name: str) -> Callable[[Sequence[float]], float] | None:
    """Return how inspect_ai makes one score of those of several epochs."""
    plain: dict[str, Callable[[Sequence[float]], float]] = {
        "mean": fmean,
        "median": statistics.median,
        "mode": lambda scores: Counter(scores).most_common(1)[0][0],
        "max": max,
    }
    found = _AT.fullmatch(name)
    if found is None:
        return plain.get(name)
    kind, k = found[1], int(found[2])

    def of_k(scores: Sequence[float]) -> float:
        n, c = len(scores), sum(score >= 1.0 for score in scores)
        if kind == "at_least":
            return float(c >= k)
        if n < k:
            return math.nan
        if kind == "pass_at":
            return 1.0 - math.comb(n - c, k) / math.comb(n, k)
        return math.comb(c, k) / math.comb(n, k)

    return of_k


def _spread(values: Sequence[float]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None


def _stderr(values: Sequence[float]) -> float | None:
    spread = _spread(values)
    return None if spread is None else spread / math.sqrt(len(values))


_STATISTICS: dict[str, Callable[[Sequence[float]], float | None]] = {
    "accuracy": fmean,
    "mean": fmean,
    "std": _spread,
    "stderr": _stderr,
    "var": lambda values: statistics.variance(values) if len(values) > 1 else None,
}
"""Metrics of inspect_ai, over the scores of the samples."""
