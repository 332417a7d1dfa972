"""Both runs -> the suites that they share, their cases paired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple, NoReturn

import numpy as np

from scorekit._comparison.plan import label_of
from scorekit._core.attempts import CaseScores
from scorekit._core.checks import check_choice, check_items, check_text, is_ordered
from scorekit._core.columns import by_id
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._stats.missing import are_until_first_pass
from scorekit._stats.sides import (
    RIGHT_OR_WRONG,
    Paired,
    Side,
    Sides,
    paired,
    read_sides,
    without_copies,
)
from scorekit.errors import InputError, refuse, shown
from scorekit.records import Cases, SuiteKey


class Runs(NamedTuple):
    """Both runs, as they are compared."""

    old: Side
    new: Side
    before: Side
    """The baseline with its suites as they are paired, without the model where cases alone are."""
    after: Side
    by_case: bool
    """Whether each side holds one model, so that cases alone are paired."""
    n_repeats: tuple[int, int]
    n_copies: tuple[int, int]
    olds: list[Side]
    news: list[Side]

    @classmethod
    def read(cls, baseline: object, current: object, metrics: object) -> Runs:
        """Read what is compared, each repeat once."""
        olds, kind = read_sides("baseline", baseline)
        news, other = read_sides("current", current)
        if kind != other:
            refuse("current", f"a {kind} like baseline", current, TypeError)
        chosen = _chosen(metrics, olds, news)
        given = len(olds), len(news)
        olds, news = without_copies(olds, news)
        n_repeats = len(olds), len(news)
        old, new = (
            (Side.together(name, sides) if max(n_repeats) > 1 else sides[0]).only(chosen)
            for name, sides in (("baseline", olds), ("current", news))
        )
        by_case = len(old.models) == len(new.models) == 1
        before, after = old.keyed(by_case=by_case), new.keyed(by_case=by_case)
        n_copies = given[0] - n_repeats[0], given[1] - n_repeats[1]
        return cls(old, new, before, after, by_case, n_repeats, n_copies, olds, news)

    @property
    def same_models(self) -> bool:
        """Whether both sides hold the same models."""
        return self.old.models == self.new.models

    @property
    def shared_model(self) -> str | None:
        """The one model that both sides hold."""
        return next(iter(self.old.models)) if self.by_case and self.same_models else None

    @property
    def one_system(self) -> bool:
        """Whether single cases of both sides are of the same system, as far as names say."""
        return self.same_models or not self.by_case or None in self.old.models | self.new.models

    def whose(self, baseline: str, current: str) -> dict[str, Any]:
        """Return what of a comparison says whose runs these are, and what only one of them has."""
        old, new, same = self.old, self.new, self.same_models
        return {
            "baseline_name": baseline if same else old.name(baseline),
            "current_name": current if same else new.name(current),
            "n_undecided": _undecided(old, new),
            "models_only_in_baseline": () if self.by_case else _without(old.models, new.models),
            "models_only_in_current": () if self.by_case else _without(new.models, old.models),
            "metrics_only_in_baseline": tuple(m for m in old.metrics if m not in new.metrics),
        }

    def queries_of(self, case_id: str) -> dict[str, Any]:
        """Return the queries of a case, as the fields of a change, if reports have any."""
        before, after = self.old.sql.get(case_id), self.new.sql.get(case_id)
        known = after or before
        if known is None:
            return {}
        return {
            "baseline_generated": before.generated if before else (),
            "current_generated": after.generated if after else (),
            "expected": known.expected,
        }

    def pairs(self) -> list[Paired]:
        """Return the suites of which both have cases, with a score or without."""
        keys = dict.fromkeys((*self.before.suites, *self.before.ends))
        every = [paired(key, self.before, self.after) for key in keys]
        found = [pair for pair in every if pair.case_ids or pair.every_id]
        if not found:
            _refuse_strangers(self.old, self.new, by_case=self.by_case)
        return found

    def refuse_retries(self) -> None:
        """Refuse attempts that went on until the first pass: their share of passes is no rate."""
        for sides, whose in ((self.olds, "baseline"), (self.news, "current")):
            for side in sides:
                for (metric, _), cases in side.suites.items():
                    known = CaseScores.of(cases).attempts
                    if metric in ("score", "pass@1") and are_until_first_pass(known):
                        raise InputError(
                            f"{whose} must be of numbers of attempts fixed beforehand, got "
                            "attempts until the first pass: give one score a case, 1 if it passed "
                            'within so many attempts; or pass attempts="fixed" if they were'
                        )

    def groups(self, by: object) -> dict[str, str]:
        """Return the group of each case: by a tag, a mapping, or labels in the order of cases."""
        shared = {*self.old.case_ids} & {*self.new.case_ids}
        if isinstance(by, str):
            return _tagged(check_text("by", by), (*self.olds, *self.news))
        labels: Mapping[str, Any]
        if is_mapping(by):
            labels = by_id("a case of by", by)
        elif is_ordered(by):
            items, case_ids = check_items("by", by, what="labels"), self.old.case_ids
            if len(items) != len(case_ids):
                domain = f"a label for each of the {len(case_ids)} cases of the baseline"
                refuse("by", f"{domain}, in their order", len(items))
            labels = dict(zip(case_ids, items, strict=True))
        else:
            domain = "a tag of SQL cases, a mapping from case to group, or a label for each case"
            refuse("by", domain, by, TypeError)
        return {
            case: str(label_of("by", labels, case)) for case in self.old.case_ids if case in shared
        }

    def only_before(self, pairs: Iterable[Paired]) -> Iterator[tuple[tuple[SuiteKey, str], float]]:
        """Yield the cases that the current run lacks, with their mean score."""
        return _only_in(self.before.suites, self.after.suites, pairs)

    def only_after(self, pairs: Iterable[Paired]) -> Iterator[tuple[tuple[SuiteKey, str], float]]:
        """Yield the cases that the baseline lacks, with their mean score."""
        found = _only_in(self.after.suites, self.before.suites, pairs)
        return (one for one in found if one[0] not in self.before.failing)

    def missed(self) -> list[str]:
        """Return unsafe queries that are not known to be caught, whatever a verdict lacks for."""
        old, new = self.old, self.new
        caught = {
            c: False for c, was_caught in (old.unsafe or {}).items() if was_caught and c in new.sql
        }
        caught |= new.unsafe or {}
        return [case_id for case_id, is_caught in caught.items() if not is_caught]


def with_groups(pairs: Sequence[Paired], groups: Mapping[str, str]) -> dict[str, list[Paired]]:
    """Return the part of each suite that is in each group, by group."""
    found: dict[str, list[Paired]] = {}
    for label in sorted({*groups.values()}):
        inside = {case_id for case_id, own in groups.items() if own == label}
        parts = [_part(pair, inside) for pair in pairs]
        found[label] = [part for part in parts if part.case_ids or part.every_id]
    return found


def _part(pair: Paired, inside: set[str]) -> Paired:
    """Return the cases of a suite that are inside."""
    places = np.array([i for i, case in enumerate(pair.case_ids) if case in inside], np.intp)
    every = np.array([i for i, case in enumerate(pair.every_id) if case in inside], np.intp)
    ids = [pair.case_ids[i] for i in places.tolist()]
    every_id = [pair.every_id[i] for i in every.tolist()]
    ends: tuple[Sides, ...] = ()
    if pair.ends and every_id:
        ends = tuple((old.take(every), new.take(every)) for old, new in pair.ends)
    return pair._replace(
        case_ids=ids,
        before=pair.before.take(places),
        after=pair.after.take(places),
        unseen=[case for case in pair.unseen if case in inside],
        every_id=every_id,
        ends=ends,
        unknown=[case for case in pair.unknown if case in inside],
    )


def names_of(pairs: Sequence[Paired], labels: Sequence[str | None]) -> list[str]:
    """
    Name suites by their model where there are several, by their metric likewise, or by both.

    A group is named by its label, behind its suite where there are several of these.
    """
    metrics, models = (len({pair.suite[i] for pair in pairs}) > 1 for i in (0, 1))
    found: list[str] = []
    for pair, label in zip(pairs, labels, strict=True):
        name = str(pair.suite[1] if models else pair.suite[0])
        if metrics and models:
            name = f"{pair.suite[1]} / {pair.suite[0]}"
        if label is not None:
            name = f"{name} of {label}" if metrics or models or label == name else label
        found.append(name)
    return found


def _tagged(tag: str, sides: Sequence[Side]) -> dict[str, str]:
    """Return the value of a tag at each case; refuse a tag that none has, and two values."""
    found: dict[str, str | None] = {}
    for side in sides:
        for case_id, tags in side.tags.items():
            value = tags.get(tag)
            if found.setdefault(case_id, value) != value:
                domain = f"a tag with one value at case {shown(case_id)}"
                refuse("by", f"{domain}, not {shown(found[case_id])} and {shown(value)}", tag)
    if set(found.values()) <= {None}:
        known = {name for side in sides for tags in side.tags.values() for name in tags}
        domain = f"one of the tags {', '.join(map(repr, sorted(known)))}, or "
        others = "a mapping from case to group, or a label for each case"
        refuse("by", domain * bool(known) + others, tag)
    return {case: f"without {tag}" if one is None else one for case, one in found.items()}


def _refuse_strangers(old: Side, new: Side, *, by_case: bool) -> NoReturn:
    found, known = (side.case_ids for side in (new, old))
    if not by_case and new.models and not old.models & new.models:
        theirs = f"one of its models, as current.for_model({shown(min(map(str, new.models)))})"
        domain = f"a report with a model of baseline, or {theirs}"
        refuse("current", domain, sorted(map(str, new.models)))
    if not {*found}.isdisjoint(known):
        refuse(
            "current",
            f"a run with a metric of baseline ({', '.join(old.metrics)})",
            [*new.metrics],
        )
    refuse("current", f"a run with a case of baseline, such as {shown(known[0])}", found)


def _chosen(metrics: object, olds: list[Side], news: list[Side]) -> dict[str, None]:
    """Return the metrics to compare: those that are named, or all that say something else."""
    known: dict[str, None] = {}
    for side in (*olds, *news):
        known |= side.metrics
    if metrics is None:
        only_flags = all(side.only_flags for side in (*olds, *news))
        named = dict.fromkeys(side.own_metric for side in (*olds, *news))
        if "" not in named and (len(named) > 1 or not only_flags):  # two metrics, or graded ones
            return named
        return {"pass@1": None} if only_flags else known
    names = check_items("metrics", metrics, what="metrics, such as ['pass@1']")
    source = next((one for one in RIGHT_OR_WRONG if one in known), None)
    for i, name in enumerate(names):
        if check_text(f"metrics[{i}]", name) not in known and source is not None:
            for sides, whose in ((olds, "baseline"), (news, "current")):
                sides[:] = [
                    one.with_pass_at_k(f"metrics[{i}]", name, source, whose) for one in sides
                ]
        choices = tuple({**known, **olds[0].metrics})
        if name not in choices and source is not None:
            several = "'pass@k' or 'pass^k' of attempts that are right or wrong, such as 'pass@3'"
            refuse(f"metrics[{i}]", f"one of {', '.join(map(repr, choices))}, or {several}", name)
        check_choice(f"metrics[{i}]", name, choices)
    return dict.fromkeys(names)


def _undecided(old: Side, new: Side) -> FrozenMapping[str, tuple[int, int]]:
    sides = [Counter(metric for (metric, _), _ in side.failing) for side in (old, new)]
    metrics = sorted(sides[0].keys() | sides[1].keys())
    return FrozenMapping({metric: (sides[0][metric], sides[1][metric]) for metric in metrics})


def _without(models: set[str | None], others: set[str | None]) -> tuple[str, ...]:
    return tuple(sorted(model for model in models - others if model is not None))


def _only_in(
    side: dict[SuiteKey, Cases], other: dict[SuiteKey, Cases], pairs: Iterable[Paired]
) -> Iterator[tuple[tuple[SuiteKey, str], float]]:
    """Yield the cases that the other side lacks, with their mean score."""
    n_shared = {pair.suite: len(pair.case_ids) for pair in pairs}
    for suite, cases in side.items():
        if len(cases) == n_shared.get(suite, 0):
            continue
        there = other.get(suite, {})
        for case_id, scores in cases.items():
            if case_id not in there:
                yield (suite, case_id), fmean(scores)
