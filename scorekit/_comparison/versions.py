"""The scores of each version in a table of attempts, a row for each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Floats
from scorekit._core.attempts import Attempts, CaseScores
from scorekit._core.checks import check_choice, check_items, check_same_length
from scorekit._core.columns import (
    as_builtins,
    attempts_in,
    check_attempts,
    check_id,
    check_labels,
    check_same_order,
    check_score_column,
    column,
    numbered_ids,
    refuse_words,
    split_missing,
)
from scorekit._core.mappings import is_mapping
from scorekit.errors import refuse, shown
from scorekit.records import UNKNOWN, Cases, Ends, Report, ReportScores, SuiteKey

Places: TypeAlias = NDArray[np.intp]

SCORE = "score"
"""The metric of a table that names none."""


class Names(NamedTuple):
    """A column of names."""

    distinct: tuple[str, ...]
    of_row: NDArray[np.int64]
    """The name of each row, as its place among the distinct ones."""

    def of_rows(self) -> list[str]:
        """Return the name of each row."""
        return list(map(self.distinct.__getitem__, self.of_row.tolist()))


@attrs.frozen(kw_only=True, repr=False)
class Version(Report):
    """One version of a table."""

    scores: ReportScores

    def scores_by_case(self) -> ReportScores:
        """Return its scores."""
        return self.scores


class Attempted(NamedTuple):
    """A table of attempts, checked."""

    cases: Names
    versions: Names
    metrics: Names
    scores: Floats
    """NaN where the outcome is missing."""
    n_rows: int
    """Of the table; columns of several metrics stand one below the other."""

    def both(self, baseline: object, current: object) -> tuple[str, str]:
        """Return the names of the versions to compare."""
        versions = self.versions.distinct
        old = check_id("baseline", baseline)
        check_choice("baseline", old, versions)
        others = [one for one in versions if one != old]
        if current is None:
            if len(others) != 1:
                several = f"one of {', '.join(map(repr, others))}, as there are several"
                domain = several if others else "in the table, whose only version is baseline"
                refuse("current", domain, current)
            return old, others[0]
        new = check_id("current", current)
        check_choice("current", new, others)
        return old, new

    def of_version(self, version: str) -> Version:
        """Return the scores of one version."""
        suites: dict[SuiteKey, Cases] = {}
        ends: dict[SuiteKey, dict[str, Ends]] = {}
        failing: dict[tuple[SuiteKey, str], str] = {}
        own = self.versions.of_row == self.versions.distinct.index(version)
        for i, metric in enumerate(self.metrics.distinct):
            rows = np.flatnonzero(own & (self.metrics.of_row == i))
            rows = rows[np.argsort(self.cases.of_row[rows], kind="stable")]
            is_known = ~np.isnan(self.scores[rows])
            key = (metric, None)
            known = self._cases(rows[is_known])
            if len(known):
                suites[key] = known
            for case_id, n in self._counts(rows[~is_known]):
                scores = known.get(case_id, ())
                ends.setdefault(key, {})[case_id] = (*scores, *[0.0] * n), (*scores, *[1.0] * n)
                if not scores:
                    failing[key, case_id] = UNKNOWN
        return Version(scores=ReportScores(suites, failing, ends=ends))

    def _cases(self, rows: Places) -> CaseScores:
        cases, sizes = np.unique(self.cases.of_row[rows], return_counts=True)
        ids = tuple(map(self.cases.distinct.__getitem__, cases.tolist()))
        return CaseScores(ids, Attempts(self.scores[rows], sizes))

    def _counts(self, rows: Places) -> list[tuple[str, int]]:
        cases, sizes = np.unique(self.cases.of_row[rows], return_counts=True)
        places, counts = cases.tolist(), sizes.tolist()
        return [(self.cases.distinct[c], n) for c, n in zip(places, counts, strict=True)]

    def by_case(self, name: str, labels: Any) -> Mapping[Any, Any] | None:
        """Return a label for each case, from a mapping or from a column with one for each row."""
        if labels is None or is_mapping(labels):
            return labels
        items = check_items(name, as_builtins(_column(name, labels)), what="labels")
        codes = check_labels(name, items, self.n_rows)
        found: dict[str, tuple[int, Any]] = {}
        for i, case_id in enumerate(self.cases.of_rows()[: self.n_rows]):
            first = found.setdefault(case_id, (codes[i], items[i]))
            if first[0] != codes[i]:
                domain = f"{shown(first[1])}, as in another row of case {shown(case_id)}"
                refuse(f"{name}[{i}]", domain, items[i])
        are_names = all(isinstance(one, str | int) for one in items)
        return {case: label if are_names else code for case, (code, label) in found.items()}


def read_table(
    *,
    case_id: Iterable[str | int],
    version: Iterable[str | int],
    score: Any,
    attempt: Iterable[Hashable] | None,
    metric: Iterable[str | int] | None,
) -> Attempted:
    """Check the columns of a table; several of scores stand for several metrics."""
    cases, versions = (
        Names(*numbered_ids(name, _column(name, values)))
        for name, values in (("case_id", case_id), ("version", version))
    )
    n_rows = cases.of_row.size
    _same_rows("version", version, versions.of_row.size, case_id, cases)
    if is_mapping(score):
        if metric is not None:
            refuse("metric", "None where score is a mapping from metric to column", metric)
        if not score:
            refuse("score", "a column, or a mapping from metric to column", score)
        columns = {
            str(name): _scores(f"score[{shown(name)}]", values, case_id, cases)
            for name, values in score.items()
        }
        n = len(columns)
        metrics = Names(tuple(columns), np.repeat(np.arange(n), n_rows))
        scores = np.concatenate(list(columns.values()))
        cases, versions = (
            one._replace(of_row=np.tile(one.of_row, n)) for one in (cases, versions)
        )
    else:
        scores = _scores("score", score, case_id, cases)
        metrics = Names((SCORE,), np.zeros(scores.size, np.int64))
        if metric is not None:
            metrics = Names(*numbered_ids("metric", _column("metric", metric)))
            _same_rows("metric", metric, metrics.of_row.size, case_id, cases)
    table = Attempted(cases, versions, metrics, scores, n_rows)
    if attempt is not None:
        given = check_items("attempt", as_builtins(_column("attempt", attempt)), what="labels")
        keys = [one.of_rows() for one in (table.cases, table.versions, table.metrics)]
        check_same_length("attempt", len(given), "case_id", n_rows)
        check_attempts(given * (scores.size // n_rows), *keys)
    return table


def _column(name: str, values: Any) -> Any:
    """Return a column; say of the name of one, and of a whole table, what is asked for."""
    if isinstance(values, str):
        refuse(name, f"a sequence, such as the column table[{values!r}]", values, TypeError)
    if hasattr(values, "columns"):
        refuse(name, "a column of a table, not the table", values, TypeError)
    return values


def _same_rows(name: str, values: object, n: int, case_id: object, cases: Names) -> None:
    check_same_length(name, n, "case_id", cases.of_row.size)
    check_same_order("case_id", case_id, name, values)


def _scores(name: str, values: Any, case_id: object, cases: Names) -> Floats:
    values, sizes = attempts_in(name, _column(name, values))
    if sizes is not None:
        domain = "a score for each row (of lists of attempts: compare_reports, or explode())"
        refuse(name, domain, values, TypeError)
    array = column(name, values, "booleans or scores")
    refuse_words(name, array, "True or False, or a number in [0, 1]")
    filled, missing = split_missing(name, array)
    scores = check_score_column(name, filled).copy()
    scores[missing] = np.nan
    _same_rows(name, values, scores.size, case_id, cases)
    return scores
