"""Both runs -> the part of them that was measured alike, and what the ruler changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Literal, NamedTuple, TypeAlias

import attrs
import numpy as np

from scorekit._comparison.alike import KEPT_SHARE, WAYS, Difference, Rulers, named_ruler
from scorekit._comparison.pairs import Runs
from scorekit._core.arrays import Floats
from scorekit._core.checks import check_choice, is_ordered
from scorekit._core.mappings import FrozenMapping
from scorekit._sheet.values import counted
from scorekit._stats.sides import Side, read_sides
from scorekit._stats.split import FEWEST_ANCHORS, Split, split_change
from scorekit.errors import InputError, refuse, shown
from scorekit.intervals import interval_around
from scorekit.records import Ends, SuiteKey
from scorekit.rulers import (
    ALSO,
    CONCERNS,
    EVERY,
    MOST_NAMED,
    NONE,
    VERSION,
    WORDS,
    Ruler,
    RulerChange,
    RulerEffect,
)

Attempt: TypeAlias = tuple[float, float]
"""The lowest and the highest score that an attempt may have."""

EXPECTED = "expected"
JUDGED = "query_correctness"
SIDES = ("baseline", "current")
UNMEASURED: Attempt = (0.0, 1.0)
"""What an attempt may score that was not measured with the ruler of the other run."""


class Measured(NamedTuple):
    """Both runs as far as they were measured alike, and what else is known of their rulers."""

    runs: Runs
    change: RulerChange | None
    parts: Mapping[SuiteKey, Parts]
    """By suite, the changes of which some cases tell both parts."""
    unmeasured: frozenset[SuiteKey] = frozenset()
    """Suites of which no case was measured alike."""


class _Row(NamedTuple):
    """The change of a case, and the system's part of it where that is known."""

    whole: float
    system: float
    is_anchor: bool
    is_rest: bool
    now: float


class Parts(NamedTuple):
    """The change of each case of a suite, and the system's part of it where it is known."""

    whole: Floats
    system: Floats
    anchors: np.ndarray
    rest: np.ndarray
    now: float
    """Mean score of the current run, over all these cases."""

    @classmethod
    def of(cls, rows: Sequence[_Row]) -> Parts:
        """Take the cases of a suite."""
        whole, system, anchors, rest, now = zip(*rows, strict=True)
        return cls(
            np.array(whole), np.array(system), np.array(anchors), np.array(rest), fmean(now)
        )

    @property
    def are_needed(self) -> bool:
        """Whether some cases do not tell the system's part themselves."""
        return bool(self.rest.any())

    def split(self, error: float) -> Split:
        """Split the mean change, each part tested at *error* on either side."""
        return split_change(self.whole, self.system, self.anchors, self.rest, error)


def measured_alike(
    runs: Runs, *, ruler: object, rulers: object = None, rescored: object = None
) -> Measured:
    """Keep of both runs what was measured alike; see `compare_reports` for the arguments."""
    check_choice("ruler", ruler, WAYS)
    runs = _with_rulers(runs, rulers)
    old, new = runs.before.ruler, runs.after.ruler
    anchored = None if rescored is None else _anchored(runs, rescored)
    if not (isinstance(old, Ruler) and isinstance(new, Ruler)):
        if anchored is not None:
            domain = "None where rulers= says of neither run what it was measured with"
            refuse("rescored", domain, rescored)
        return Measured(runs, None, {})
    found = _Found(runs, old, new, anchored)
    change = found.change(ignored=ruler == "ignore")
    if found.differences and ruler == "refuse":
        domain = "current must be measured with the ruler of baseline where ruler='refuse'"
        raise InputError(f"{domain}, got {change.said}")
    if ruler == "ignore":
        return Measured(found.runs(drop=False), change, {})
    return Measured(found.runs(drop=True), change, found.parts, frozenset(found.unmeasured))


def effect_of(parts: Parts, split: Split, level: float, method: str) -> RulerEffect:
    """Return the ruler's part of the change of a suite."""
    delta, change = split.ruler
    verdict: Literal["stricter", "more lenient", "no change detected"] = "no change detected"
    if change.high < 0.0 or change.low > 0.0:
        verdict = "stricter" if change.high < 0.0 else "more lenient"
    return RulerEffect(
        verdict=verdict,
        delta=delta,
        interval=interval_around(delta, (change.low, change.high), level, method),
        n_anchors=int(parts.anchors.sum()),
    )


class _Found:
    """What differs between the rulers, suite by suite and case by case."""

    def __init__(self, runs: Runs, old: Ruler, new: Ruler, anchored: Side | None) -> None:
        self._runs, self._old, self._new, self._anchored = runs, old, new, anchored
        self._rulers = Rulers(old, new)
        self.differences: dict[Difference, dict[str, set[str]]] = {}
        """The cases of each difference by metric."""
        self.parts: dict[SuiteKey, Parts] = {}
        self.too_few: list[SuiteKey] = []
        self.unmeasured: list[SuiteKey] = []
        self.counts: list[tuple[int, int, int]] = []
        """Of each suite the cases, those measured otherwise, and those that are left."""
        self.judged_twice: set[str] = set()
        self.changed_mind: set[str] = set()
        self.same_undecided: set[str] = set()
        self._old_answers, self._new_answers = runs.before.answers, runs.after.answers
        old_sql, new_sql = runs.before.sql, runs.after.sql
        self._other_references = {
            case_id
            for case_id, queries in old_sql.items()
            if case_id in new_sql and queries.expected != new_sql[case_id].expected
        }
        """Cases whose reference is another text, whatever their digests say."""
        self._before = _Writing(runs.before)
        self._after = _Writing(runs.after)
        self._ignoring = _Writing(runs.before), _Writing(runs.after)
        for suite in runs.before.keys:
            if suite in runs.after.keys:
                self._compare(suite)

    def runs(self, *, drop: bool) -> Runs:
        """Return the runs as they are compared."""
        before, after = (self._before, self._after) if drop else self._ignoring
        return self._runs._replace(before=before.side, after=after.side)

    def _compare(self, suite: SuiteKey) -> None:
        """Part the cases of a suite by how they were measured."""
        first, second = (_Attempts(one, suite) for one in (self._runs.before, self._runs.after))
        case_ids = [case_id for case_id in first.case_ids if case_id in second.case_ids]
        agains: dict[str, list[Attempt] | None] = {}
        ties: dict[str, tuple[list[Attempt], list[Attempt]]] = {}
        for case_id in self._open_cases(suite[0], case_ids, first, second):
            answers = self._answers(case_id)
            differing = self._differing(suite[0], case_id, answers)
            if not (differing or answers):
                continue
            was, now = first.of(case_id), second.of(case_id)
            same = _same_answers(answers, len(was), len(now))
            if differing:
                again = agains[case_id] = self._again(suite, case_id, was, now, same)
                if again is not None:
                    self._before.put(suite, case_id, again)
            elif same:
                ties[case_id] = self._tied(suite, case_id, was, now, same)
            for one in differing:
                by_metric = self.differences.setdefault(one, {})
                by_metric.setdefault(suite[0], set()).add(case_id)
        self._part(suite, case_ids, agains)
        n_again = sum(again is not None for again in agains.values())
        rows: list[_Row] = []
        for case_id in case_ids if n_again >= FEWEST_ANCHORS else ():
            was, now = ties.get(case_id) or (first.of(case_id), second.of(case_id))
            rows += _row(was, agains.get(case_id, was), now, is_anchor=case_id in agains)
        n_rest = len(agains) - n_again
        if sum(row.is_anchor for row in rows) >= FEWEST_ANCHORS:
            self.parts[suite] = Parts.of(rows)
        elif len(case_ids) - n_rest < KEPT_SHARE * len(case_ids):
            self.too_few.append(suite)

    def _open_cases(
        self, metric: str, case_ids: list[str], first: _Attempts, second: _Attempts
    ) -> list[str]:
        """Leave out those of which nothing can be said, where that is seen at once."""
        if self._other_references or not self._rulers.are_all_alike(metric):
            return case_ids
        known = [case_id for case_id in case_ids if first.is_known_as(second, case_id)]
        if metric == JUDGED:
            self.judged_twice |= {
                case_id
                for case_id in {*self._old.judges}.intersection(self._new.judges, known)
                if (answers := self._answers(case_id)) and _same(*answers)
            }
        settled = {*known}
        return [case_id for case_id in case_ids if case_id not in settled]

    def _part(
        self, suite: SuiteKey, case_ids: Sequence[str], agains: Mapping[str, object]
    ) -> None:
        """Leave out the cases that were measured otherwise, and not anew."""
        rest = [case_id for case_id, again in agains.items() if again is None]
        n_left = len(case_ids) - len(rest)
        self.counts.append((len(case_ids), len(agains), n_left))
        for case_id in rest:
            for side in (self._before, self._after):
                side.drop(suite, case_id, as_unknown=not n_left)
        if not n_left:
            self.unmeasured.append(suite)

    def _answers(self, case_id: str) -> tuple[()] | tuple[Sequence[str], Sequence[str]]:
        """Return the answers of both runs at a case, if both hold them."""
        old, new = self._old_answers.get(case_id), self._new_answers.get(case_id)
        return () if old is None or new is None else (old, new)

    def _differing(
        self, metric: str, case_id: str, answers: Sequence[Sequence[str]]
    ) -> list[Difference]:
        """Return what a case was measured with otherwise."""
        is_other = case_id in self._other_references and metric in CONCERNS[EXPECTED]
        if self._rulers.are_alike(metric, case_id):
            return [Difference(EXPECTED)] if is_other else []
        is_answered_anew = bool(answers) and answers[0] != answers[1]
        found = self._rulers.at(metric, case_id, is_answered_anew=is_answered_anew)
        return [*dict.fromkeys([*found, Difference(EXPECTED)])] if is_other else found

    def _is_judged(self, metric: str, case_id: str) -> bool:
        """Say whether a judge decided a case in both runs."""
        return metric == JUDGED and case_id in self._old.judges and case_id in self._new.judges

    def _tied(
        self,
        suite: SuiteKey,
        case_id: str,
        was: list[Attempt],
        now: list[Attempt],
        same: Sequence[tuple[int, int]],
    ) -> tuple[list[Attempt], list[Attempt]]:
        """Return both runs such that an answer that did not change scores the same in both."""
        was, now, is_tied = [*was], [*now], False
        is_judged = self._is_judged(suite[0], case_id)
        for i, j in same:
            known = [low == high for low, high in (was[i], now[j])]
            if is_judged and all(known):
                self.judged_twice.add(case_id)
            if not any(known):
                was[i] = now[j] = (0.0, 0.0)
                self.same_undecided.add(case_id)
                is_tied = True
            elif all(known) and was[i] != now[j]:
                now[j] = was[i]
                is_tied = True
                if is_judged:
                    self.changed_mind.add(case_id)
        if is_tied:
            for before, after in ((self._before, self._after), self._ignoring):
                before.put(suite, case_id, was)
                after.put(suite, case_id, now)
        return was, now

    def _again(
        self,
        suite: SuiteKey,
        case_id: str,
        was: list[Attempt],
        now: list[Attempt],
        same: Sequence[tuple[int, int]],
    ) -> list[Attempt] | None:
        """Return the old answers at a case as today's ruler measures them, if that is known."""
        again = None if self._anchored is None else _Attempts(self._anchored, suite)
        if again is not None and case_id in again:
            found = again.of(case_id)
            if len(found) != len(was):
                name = f"rescored[{shown(case_id)}]"
                refuse(name, f"{counted(len(was), 'attempt')}, as in baseline", len(found))
            return found
        is_known = all(low == high for low, high in now)
        if same and is_known and len(same) == len(was) == len(now):
            return [now[j] for _, j in same]  # they did not change, and were measured anew
        return None

    def change(self, *, ignored: bool) -> RulerChange:
        """Return what differs, in words and numbers."""
        n_cases, n_otherwise, n_left = max(
            self.counts, key=lambda one: (one[1], one[0]), default=(0, 0, 0)
        )
        metrics = {metric for metric, _ in self._runs.before.keys}
        said: dict[str, int] = {}
        for difference, concerned in self.differences.items():
            n = max(map(len, concerned.values()))
            every = "the only case" if n_cases == 1 else f"all {n_cases} cases"
            of = every if n >= n_cases else f"{n} of {n_cases} cases"
            some = f" in {' and '.join(concerned)}" if len(concerned) < len(metrics) else ""
            said[difference.said(n, of, some)] = n
        several = {
            name: tuple(judges)
            for name, one in zip(SIDES, (self._old, self._new), strict=True)
            if len(judges := dict.fromkeys(ALSO.join(one.judges.values()).split(ALSO))) > 1
        }
        return RulerChange(
            differences=FrozenMapping(said),
            n_cases=n_cases,
            n_otherwise=n_otherwise,
            n_left=n_left,
            is_ignored=ignored,
            unknown=tuple(sorted(self._rulers.unknown)),
            assumed=self._rulers.assumed,
            several=FrozenMapping(several),
            n_judged_twice=len(self.judged_twice),
            n_changed_mind=len(self.changed_mind),
            n_same_undecided=len(self.same_undecided),
            unmeasured=tuple(dict.fromkeys(metric for metric, _ in self.unmeasured)),
            too_few=tuple(dict.fromkeys(metric for metric, _ in self.too_few)),
        )


class _Attempts:
    """The attempts of a suite at each case, with the ends of what each may score."""

    def __init__(self, side: Side, suite: SuiteKey) -> None:
        self._known: Mapping[str, Any] = side.suites.get(suite, {})
        self._ends: Mapping[str, Ends] = side.ends.get(suite, {})
        self.case_ids = dict.fromkeys((*self._known, *self._ends))

    def __contains__(self, case_id: str) -> bool:
        return case_id in self._known or case_id in self._ends

    def is_known_as(self, other: _Attempts, case_id: str) -> bool:
        """Say whether a case has the same scores, all of them known."""
        if case_id in self._ends or case_id in other._ends:
            return False
        return bool(self._known[case_id] == other._known[case_id])

    def of(self, case_id: str) -> list[Attempt]:
        """Return the ends of each attempt."""
        if case_id in self._ends:
            return list(zip(*self._ends[case_id], strict=True))
        return [(score, score) for score in self._known[case_id]]


class _Writing:
    """A side of which some cases are written anew; what is not keeps its columns."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._suites: dict[SuiteKey, dict[str, Any]] = {}
        self._ends: dict[SuiteKey, dict[str, Ends]] = {}
        self._dropped: set[tuple[SuiteKey, str]] = set()

    def _open(self, suite: SuiteKey) -> None:
        if suite not in self._suites:
            self._suites[suite] = dict(self._side.suites.get(suite, {}))
            self._ends[suite] = dict(self._side.ends.get(suite, {}))

    def put(self, suite: SuiteKey, case_id: str, attempts: Sequence[Attempt]) -> None:
        """Set the attempts at a case."""
        self._open(suite)
        known = tuple(low for low, high in attempts if low == high)
        self._suites[suite].pop(case_id, None)
        self._ends[suite].pop(case_id, None)
        if known:
            self._suites[suite][case_id] = known
        if len(known) < len(attempts):
            low, high = zip(*attempts, strict=True)
            self._ends[suite][case_id] = low, high
        self._dropped.add((suite, case_id))

    def drop(self, suite: SuiteKey, case_id: str, *, as_unknown: bool) -> None:
        """Leave a case out; *as_unknown* where nothing else is left of the suite."""
        self.put(suite, case_id, [UNMEASURED] if as_unknown else [])

    @property
    def side(self) -> Side:
        """The side as it was written."""
        if not self._suites:
            return self._side
        return self._side._replace(
            suites={**self._side.suites, **self._suites},
            ends={**self._side.ends, **self._ends},
            failing={k: why for k, why in self._side.failing.items() if k not in self._dropped},
        )


def _same(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of answers that both runs gave, each once."""
    if len(old) == len(new) == 1:
        return [(0, 0)] if old[0] == new[0] else []
    free: dict[str, list[int]] = {}
    for j in range(len(new) - 1, -1, -1):
        free.setdefault(new[j], []).append(j)
    return [(i, free[one].pop()) for i, one in enumerate(old) if free.get(one)]


def _same_answers(answers: Sequence[Sequence[str]], *n_attempts: int) -> list[tuple[int, int]]:
    """Return the places of the answers that both runs gave, where all have the metric."""
    return _same(*answers) if n_attempts == tuple(map(len, answers)) else []


def _row(
    was: Sequence[Attempt],
    again: Sequence[Attempt] | None,
    now: Sequence[Attempt],
    *,
    is_anchor: bool,
) -> list[_Row]:
    """Return the change of a case, if all of its outcomes are known."""
    whole = _delta(was, now)
    system = 0.0 if again is None else _delta(again, now)
    if whole is None or system is None:
        return []
    is_rest = again is None
    return [_Row(whole, system, is_anchor and not is_rest, is_rest, _mean(now))]


def _delta(old: Sequence[Attempt], new: Sequence[Attempt]) -> float | None:
    """Return the change of a case if all of its outcomes are known."""
    if not (old and new) or any(low != high for low, high in (*old, *new)):
        return None
    return _mean(new) - _mean(old)


def _mean(attempts: Sequence[Attempt]) -> float:
    return fmean(low for low, _ in attempts)


def _with_rulers(runs: Runs, rulers: object) -> Runs:
    """Return runs that are mappings with the rulers that the caller names."""
    if rulers is None:
        return runs
    given = [*rulers] if is_ordered(rulers) else []
    if len(given) != len(SIDES):
        domain = "two mappings from names to text, those of baseline and of current, or None"
        refuse("rulers", domain, rulers)
    sides = runs.before, runs.after
    old, new = (
        _named(f"rulers[{i}]", whose, one, side.ruler)
        for i, (whose, one, side) in enumerate(zip(SIDES, given, sides, strict=True))
    )
    return runs._replace(
        before=runs.before._replace(ruler=old), after=runs.after._replace(ruler=new)
    )


def _named(name: str, whose: str, given: object, own: object) -> Ruler:
    """Return what a caller says that a run was measured with, beside what it says itself."""
    if isinstance(own, Ruler) and isinstance(given, Ruler):
        refuse(name, f"a mapping of what {whose} does not say itself", given, TypeError)
    named = named_ruler(name, given)
    if named is given or not isinstance(own, Ruler):
        return named
    texts = named.settings[EVERY]
    knows = {f"{VERSION}{one}" for one in own.versions}.union(*own.settings.values())
    if said := [one for one in texts if EVERY not in own.settings or one in knows]:
        refuse(name, f"a mapping of what {whose} does not say itself", said)
    every = FrozenMapping({**own.settings.get(EVERY, NONE), **texts})
    return attrs.evolve(
        own,
        settings=FrozenMapping({**own.settings, EVERY: every}),
        unknown=tuple(one for one in own.unknown if one not in texts),
    )


def _anchored(runs: Runs, rescored: object) -> Side:
    """Return the old answers as they were measured anew; refuse what is none of these."""
    if max(runs.n_repeats) > 1:
        refuse("rescored", "None with several reports of a side", rescored)
    (side, *others), _ = read_sides("rescored", rescored)
    if others:
        refuse("rescored", "one report, or one mapping", rescored)
    side = side.keyed(by_case=runs.by_case)
    if not side.keys.keys() & runs.before.keys:
        named = ", ".join(metric for metric, _ in runs.before.keys)
        refuse("rescored", f"a run with a metric of baseline ({named})", [m for m, _ in side.keys])
    strangers = [one for one in side.case_ids if one not in {*runs.before.case_ids}]
    if strangers:
        refuse("rescored", "a run of cases of baseline", strangers[:MOST_NAMED])
    for case_id, answers in side.answers.items():
        if sorted(answers) != sorted(runs.before.answers.get(case_id, answers)):
            refuse(f"rescored[{shown(case_id)}]", "the answers of baseline", "others")
    if odd := _odd(side, runs.after.ruler):
        refuse("rescored", "a run measured with the ruler of current", f"another {odd}")
    return side


def _odd(side: Side, now: object) -> str:
    """Name what old answers were measured with now, and the current run was not."""
    ruler = side.ruler
    if not (isinstance(ruler, Ruler) and isinstance(now, Ruler)):
        return ""
    names: dict[str, None] = {}
    for metric, _ in side.keys:
        for case_id in side.case_ids:
            ours, theirs = ruler.of(metric, case_id), now.of(metric, case_id)
            names |= {name: None for name in ours if theirs.get(name, ours[name]) != ours[name]}
    unknown = {*ruler.unknown, *now.unknown}
    return ", ".join(WORDS.get(name, name) for name in names if name not in unknown)
