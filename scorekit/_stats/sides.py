"""The scores of a run, or of its repeats, and the cases that two of them share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from scorekit._core.attempts import Attempts, CaseScores
from scorekit._core.checks import check_items, check_scores, is_missing, is_ordered
from scorekit._core.columns import by_id
from scorekit._core.frames import scores_by_case
from scorekit._core.mappings import is_mapping
from scorekit._stats.passes import score_each
from scorekit.errors import refuse, shown
from scorekit.records import UNKNOWN, Cases, Ends, Report, ReportScores, SuiteKey, together
from scorekit.rulers import Ruler

Sides: TypeAlias = tuple[Attempts, Attempts]
"""Baseline and current run."""

Reach: TypeAlias = tuple[float | None, float, float]
"""The mean score of a case, and the least and the highest it may be."""

FEW_CASES = 6
"""Cases in which repeats may differ on average such that some can be the same by chance."""

PLAIN = frozenset({bool, int, float})
"""Types of scores that need no check of their own."""

_PASS_AT_K = re.compile(r"pass([@^])([1-9]\d{0,8})")

RIGHT_OR_WRONG = "pass@1", "score"
"""Metrics whose attempts have a pass@k and a pass^k, where all of them are 0 or 1."""


class SuiteScores(NamedTuple):
    """The scores of one suite, as known and with what is unknown at either end."""

    known: CaseScores
    low: CaseScores
    """Of all outcomes, those unknown at their lowest."""
    high: CaseScores
    n_unknown: int

    @classmethod
    def of(cls, known: CaseScores, ends: Mapping[str, Ends]) -> SuiteScores:
        """Put what is unknown between its *ends*, by task."""
        if not ends:
            return cls(known, known, known, 0)
        tasks = tuple({**dict.fromkeys(known), **dict.fromkeys(ends)})
        low, high = (
            CaseScores(tasks, Attempts.of(ends[i][end] if i in ends else known[i] for i in tasks))
            for end in (0, 1)
        )
        return cls(known, low, high, low.attempts.scores.size - known.attempts.scores.size)

    def within(self, bounds: tuple[float, float]) -> SuiteScores:
        """Return the same with nothing beyond these bounds."""
        if not self.n_unknown:
            return self
        low, high = (
            CaseScores(one.case_ids, Attempts(np.clip(scores.scores, *bounds), scores.sizes))
            for one in (self.low, self.high)
            for scores in (one.attempts,)
        )
        return self._replace(low=low, high=high)


class Side(ReportScores):
    """
    One run: the scores of each suite, and the cases where a judge or validator failed.

    *ends* has the cases without a score too.
    """

    __slots__ = ()

    @classmethod
    def of(cls, scores: ReportScores) -> Side:
        """Take what is compared from a report."""
        ends = {suite: dict(cases) for suite, cases in scores.ends.items()}
        for suite, case_id in scores.failing:
            ends.setdefault(suite, {}).setdefault(case_id, ((0.0,), (1.0,)))
        return cls(*scores._replace(ends=ends))

    def reaches(self, suite: SuiteKey) -> dict[str, Reach]:
        """Return the mean score of each case, and the least and the highest it may be."""
        found: dict[str, Reach] = {}
        known = CaseScores.of(self.suites.get(suite, {}))
        for case_id, mean in zip(known.case_ids, known.attempts.means.tolist(), strict=True):
            found[case_id] = mean, mean, mean
        for case_id, (low, high) in self.ends.get(suite, {}).items():
            mean = found[case_id][0] if case_id in found else None
            found[case_id] = mean, fmean(low), fmean(high)
        return found

    @classmethod
    def together(cls, name: str, sides: Sequence[Side]) -> Side:
        """Return one run whose attempts at a case are its means in each of several repeats."""
        suites: dict[SuiteKey, Cases] = {}
        ends: dict[SuiteKey, dict[str, Ends]] = {}
        failing: dict[tuple[SuiteKey, str], str] = {}
        names = (suite for side in sides for suite in (*side.suites, *side.ends))
        for suite in dict.fromkeys(names):
            first, *others = reaches = [side.reaches(suite) for side in sides]
            for i, other in enumerate(others, start=1):
                if odd := first.keys() ^ other.keys():
                    refuse(f"{name}[{i}]", f"a run of the same cases as {name}[0]", sorted(odd))
            known: dict[str, tuple[float, ...]] = {}
            for case_id in first:
                means, lows, highs = zip(*(one[case_id] for one in reaches), strict=True)
                if lows != highs:
                    ends.setdefault(suite, {})[case_id] = lows, highs
                if None not in means:
                    known[case_id] = means
                elif means.count(None) == len(means):
                    kinds = (side.failing.get((suite, case_id)) for side in sides)
                    failing[suite, case_id] = next(filter(None, kinds))
            if known:
                suites[suite] = known
        caught = [side.unsafe for side in sides if side.unsafe is not None]
        unsafe = {
            case_id: all(one.get(case_id, True) for one in caught)
            for one in caught
            for case_id in one
        }
        flags = all(side.only_flags for side in sides)
        sql = together(item for side in sides for item in side.sql.items())
        is_judged = any(side.is_judged for side in sides)
        return cls(
            suites,
            failing,
            unsafe if caught else None,
            flags,
            ends,
            sql,
            is_judged,
            sides[0].tags,
            ruler=Ruler.together(side.ruler for side in sides),
        )

    @property
    def metrics(self) -> dict[str, None]:
        """Return the metrics in it, in order, those included that failed throughout."""
        failing = sorted({metric for (metric, _), _ in self.failing})
        return dict.fromkeys([*(metric for metric, _ in self.suites), *failing])

    @property
    def keys(self) -> dict[SuiteKey, None]:
        """Return the suites in it, in order, also those of which nothing has a score."""
        return dict.fromkeys((*self.suites, *self.ends))

    def renamed(self, names: Mapping[SuiteKey, SuiteKey]) -> Side:
        """Return the suites that have a new name, in the order of these."""
        return self._replace(
            suites={name: self.suites[key] for key, name in names.items() if key in self.suites},
            failing={(names[s], c): kind for (s, c), kind in self.failing.items() if s in names},
            ends={name: self.ends[key] for key, name in names.items() if key in self.ends},
        )

    def only(self, metrics: Iterable[str]) -> Side:
        """Return the suites of these metrics, in their order."""
        return self.renamed({key: key for name in metrics for key in self.keys if key[0] == name})

    def with_pass_at_k(self, name: str, metric: str, source: str, whose: str) -> Side:
        """Return the same with the pass@k or pass^k of each case in *source*, if so named."""
        words = _PASS_AT_K.fullmatch(metric)
        flags = {key: CaseScores.of(c) for key, c in self.suites.items() if key[0] == source}
        if words is None or not all(map(_are_flags, flags.values())):
            return self
        k, all_pass, suites, ends = int(words[2]), words[1] == "^", {**self.suites}, {**self.ends}
        for key, cases in flags.items():
            n, suite = cases.attempts.sizes, (metric, key[1])
            short = int(np.argmin(n))
            if n[short] < k:
                few = f"case {shown(cases.case_ids[short])} of {whose} has"
                first, last = f"'pass{words[1]}1'", f"'pass{words[1]}{n[short]}'"
                most = first if n[short] == 1 else f"{first} to {last}"
                owned = f"{n[short]} attempt{'' if n[short] == 1 else 's'}"
                others = f"{int((n < k).sum())} of {n.size} have fewer than {k}"
                way_out = "make both reports without the cases where either has"
                refuse(name, f"{most}, as {few} {owned} ({others}; {way_out})", metric)
            passes = cases.attempts.totals().astype(np.int64)
            scores = score_each(n, passes, k, all_pass=all_pass)
            suites[suite] = CaseScores(cases.case_ids, Attempts(scores, np.ones_like(n)))
            if reaches := self.ends.get(key):
                ends[suite] = {
                    case: _pass_ends(*own, k, all_pass=all_pass) for case, own in reaches.items()
                }
        return self._replace(suites=suites, ends=ends)

    def scores_of(self, suite: SuiteKey) -> SuiteScores:
        """Return the scores of one suite."""
        return SuiteScores.of(CaseScores.of(self.suites.get(suite, {})), self.ends.get(suite, {}))

    @property
    def models(self) -> set[str | None]:
        """Return the models in it, also one of which nothing has a score."""
        return {model for _, model in (*self.suites, *(suite for suite, _ in self.failing))}

    def keyed(self, *, by_case: bool) -> Side:
        """Return the same, without the model where cases alone are to be paired."""
        return self.renamed({key: (key[0], None) for key in self.keys}) if by_case else self

    @property
    def case_ids(self) -> list[str]:
        """Return the cases in it, each once."""
        suites = (*self.suites.values(), *self.ends.values())
        return list(dict.fromkeys(case_id for cases in suites for case_id in cases))

    def name(self, default: str) -> str:
        """Return the model, or *default* where there is not exactly one."""
        names = [model for model in self.models if model is not None]
        return names[0] if len(names) == 1 else default


def _are_flags(cases: CaseScores) -> bool:
    return bool(np.isin(cases.attempts.scores, (0.0, 1.0)).all())


def _pass_ends(low: Sequence[float], high: Sequence[float], k: int, *, all_pass: bool) -> Ends:
    """Return the least and the highest pass@k of attempts; of too few nothing is known."""
    if len(low) < k:
        return (0.0,), (1.0,)
    n, right = np.array([len(low), len(high)]), np.array([sum(low), sum(high)], np.int64)
    first, last = score_each(n, right, k, all_pass=all_pass).tolist()
    return (first,), (last,)


def without_copies(olds: list[Side], news: list[Side]) -> tuple[list[Side], list[Side]]:
    """
    Return the reports of both sides, each once.

    A report that is the same as another in every case is a copy of it, or both are of a system
    that never varies.  Where reports that are not the same differ in a few cases, others are the
    same by chance, and all are kept.
    """
    if len(olds) == len(news) == 1:
        return olds, news
    once, gaps = list[list[Side]](), list[int]()
    for sides in (olds, news):
        kept = list[tuple[Side, dict[tuple[SuiteKey, str], Reach]]]()
        for side in sides:
            scores = {(key, c): own for key in side.keys for c, own in side.reaches(key).items()}
            if all(scores != other for _, other in kept):
                gaps += [
                    sum(old.get(c) != own for c, own in scores.items()) for _, old in kept[-1:]
                ]
                kept.append((side, scores))
        once.append([side for side, _ in kept])
    return (olds, news) if gaps and fmean(gaps) < FEW_CASES else (once[0], once[1])


_KINDS = ("CodeReport", "SqlReport")
_KIND = re.compile(r'\s*\{\s*"kind":\s*"(CodeReport|SqlReport)"')


A_RUN = "a CodeReport, a SqlReport or a mapping from case to score"
"""What is compared."""


def read_sides(name: str, runs: object) -> tuple[list[Side], str]:
    """Read a report or a mapping, or several of one kind; return also the kind."""
    runs = scores_by_case(name, runs)
    if not is_ordered(runs):
        return [read_side(name, runs)], kind_of(runs)
    items = check_items(name, runs, what="reports")
    for i, item in enumerate(items):
        if kind_of(item) != kind_of(items[0]):
            refuse(f"{name}[{i}]", f"a {kind_of(items[0])} like {name}[0]", item, TypeError)
    return [read_side(f"{name}[{i}]", item) for i, item in enumerate(items)], kind_of(items[0])


def kind_of(run: object) -> str:
    return (run.kind or type(run).__name__) if isinstance(run, Report) else "mapping"


def read_side(name: str, run: object) -> Side:
    """Read a report or a mapping; refuse anything else, and a run without cases."""
    run = scores_by_case(name, run)
    scores = run.scores_by_case() if isinstance(run, Report) else None
    if is_mapping(run):
        kind = run.get("kind")
        if isinstance(kind, str) and kind in _KINDS:
            refuse(name, f"a report, as {kind}.from_json(text) returns it", run, TypeError)
        if name.endswith("]") and any(isinstance(value, str) for value in run.values()):
            domain = (
                "a mapping from case to score (of the rows of a table: code_report_from_columns)"
            )
            refuse(name, domain, run, TypeError)
        if are_several_metrics(run):
            scores = read_metrics(name, run, (0.0, 1.0))
        else:
            scores = read_mapping(name, by_id(f"a case of {name}", run), (0.0, 1.0))
    if scores is None:
        domain = A_RUN
        if hasattr(run, "task_scores"):
            domain += " (or a tier whose runs name their tasks)"
        elif isinstance(run, str | bytes):
            found = _KIND.match(run) if isinstance(run, str) else None
            domain += f" (of JSON: {found[1] if found else 'CodeReport'}.from_json)"
        refuse(name, domain, run, TypeError)
    if not scores.suites and not scores.failing:
        refuse(name, "a run with at least one case", {})
    return Side.of(scores)


SCORE: SuiteKey = "score", None
"""The suite of a mapping."""


def read_mapping(name: str, run: Mapping[str, Any], bounds: tuple[float, float]) -> ReportScores:
    """Read scores by case; of missing ones both ends are kept."""
    values = list(run.values())
    if set(map(type, values)) <= PLAIN and _are_scores(values, bounds):  # there can be many
        column = np.array(values, dtype=np.float64)
        attempts = Attempts(column, np.ones(column.size, np.int64))
        return ReportScores({SCORE: CaseScores(tuple(run), attempts)})
    known: dict[str, tuple[float, ...]] = {}
    ends: dict[str, Ends] = {}
    for case, value in run.items():
        items = list(value) if is_ordered(value) else [value]
        if set(map(type, items)) <= PLAIN and _are_scores(items, bounds):
            known[case] = tuple(map(float, items))
            continue
        unknown = list(map(is_missing, items))
        if not any(unknown):
            known[case] = _scores(name, case, value, bounds)
            continue
        low, high = (
            _scores(name, case, [end if is_missing(item) else item for item in items], bounds)
            for end in bounds
        )
        ends[case] = low, high
        if not all(unknown):
            known[case] = tuple(
                one for one, is_none in zip(low, unknown, strict=True) if not is_none
            )
    failing: dict[tuple[SuiteKey, str], str] = {
        (SCORE, case): UNKNOWN for case in ends if case not in known
    }
    return ReportScores({SCORE: known} if known else {}, failing, ends={SCORE: ends})


def are_several_metrics(run: Mapping[Any, Any]) -> bool:
    """Tell whether a mapping has scores by case of each of several metrics."""
    return any(map(is_mapping, run.values()))


def read_metrics(name: str, run: Mapping[Any, Any], bounds: tuple[float, float]) -> ReportScores:
    """Read the scores by case of each metric."""
    suites: dict[SuiteKey, Cases] = {}
    failing: dict[tuple[SuiteKey, str], str] = {}
    ends: dict[SuiteKey, Mapping[str, Ends]] = {}
    for metric, cases in by_id(f"a metric of {name}", run).items():
        own, key = f"{name}[{shown(metric)}]", (metric, None)
        if not is_mapping(cases):
            refuse(own, "a mapping from case to score, as of other metrics", cases, TypeError)
        read = read_mapping(own, by_id(f"a case of {own}", cases), bounds)
        if SCORE in read.suites:
            suites[key] = read.suites[SCORE]
        if found := read.ends.get(SCORE):
            ends[key] = found
        failing |= {(key, case): kind for (_, case), kind in read.failing.items()}
    return ReportScores(suites, failing, ends=ends)


def _are_scores(items: list[Any], bounds: tuple[float, float]) -> bool:
    """Tell whether numbers are scores; where NaN is among them, their sum is NaN."""
    low, high = bounds
    return bool(items) and low <= min(items) <= max(items) <= high and not math.isnan(sum(items))


def _scores(
    side: str, case: object, value: object, bounds: tuple[float, float]
) -> tuple[float, ...]:
    name = f"{side}[{shown(case)}]"
    if isinstance(value, str):
        domain = f"a score in [{bounds[0]:g}, {bounds[1]:g}], True, False, or a sequence of them"
        refuse(name, domain, value, TypeError)
    return check_scores(name, value, *bounds)


class Paired(NamedTuple):
    """The cases of one suite that both sides have."""

    suite: SuiteKey
    case_ids: Sequence[str]
    before: Attempts
    after: Attempts
    unseen: Sequence[str] = ()
    """Cases of the baseline that the current run does not have."""
    every_id: Sequence[str] = ()
    """Of all cases that both sides have, where outcomes of some are unknown; else none."""
    ends: tuple[Sides, ...] = ()
    """The scores of these at the worst and at the best: missing outcomes of the baseline passed
    and those of the current run failed, and the reverse."""
    unknown: Sequence[str] = ()
    """Cases that are compared by the attempts whose outcome is known."""


def paired(suite: SuiteKey, before: Side, after: Side) -> Paired:
    old, new = (CaseScores.of(side.suites.get(suite, {})) for side in (before, after))
    ends = [side.ends.get(suite, {}) for side in (before, after)]
    if old.case_ids == new.case_ids and not any(ends):  # as in two runs; nothing to look up
        return Paired(suite, old.case_ids, old.attempts, new.attempts)
    case_ids = [case_id for case_id in old if case_id in new]
    both = old.take(case_ids), new.take(case_ids)
    sides = list(zip((old, new), ends, strict=True))
    first, second = ({**dict.fromkeys(known), **dict.fromkeys(own)} for known, own in sides)
    unseen = [case_id for case_id in first if case_id not in second]
    every_id = [case_id for case_id in first if case_id in second]
    if not any(case_id in own for own in ends for case_id in every_id):
        return Paired(suite, case_ids, *both, unseen)

    def at(known: CaseScores, own: Mapping[str, Ends], end: int) -> Attempts:
        return Attempts.of(own[i][end] if i in own else known[i] for i in every_id)

    ways = tuple((at(*sides[0], 1 - end), at(*sides[1], end)) for end in (0, 1))
    unknown = [i for i in case_ids if any(i in own for own in ends)]
    return Paired(suite, case_ids, *both, unseen, every_id, ways, unknown)
