"""Scores that stand in a data frame, as the mapping from case to score that they are."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias

from scorekit._core.checks import check_same_length, is_ordered
from scorekit._core.columns import as_builtins
from scorekit.errors import refuse

TWO = 2
"""Columns of a table of cases and scores."""


class HasIndex(Protocol):
    """A Series."""

    @property
    def index(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...


class HasColumns(Protocol):
    """A frame."""

    @property
    def columns(self) -> Any: ...
    @property
    def shape(self) -> Any: ...


class HasGroups(Protocol):
    """What a frame is grouped into."""

    @property
    def ngroups(self) -> int: ...


ScoreTable: TypeAlias = HasIndex | HasColumns | HasGroups
"""Scores by case, as type checkers see those of pandas and polars."""


class _SuiteColumns(NamedTuple):
    cases: Any
    scores: Any


def scores_by_case(name: str, run: object) -> Any:
    """
    Return the scores of a Series, of a frame of two columns, or of groups, by case; others as is.

    The cases are the index, the first column, or what was grouped by. Of a case that comes several
    times these are the attempts, and an entry may be a list of them.
    """
    found = _columns_of(name, run)
    if found is None:
        return run
    cases, scores = list(as_builtins(found.cases)), list(as_builtins(found.scores))
    check_same_length(f"the scores of {name}", len(scores), f"the cases of {name}", len(cases))
    by_case = dict(zip(cases, scores, strict=True))
    if len(by_case) == len(cases):
        return by_case
    attempts: dict[Any, list[Any]] = {}
    for case, score in zip(cases, scores, strict=True):
        own = attempts.setdefault(case, [])
        own.extend(as_builtins(score)) if is_ordered(score) else own.append(score)
    return attempts


def _columns_of(name: str, run: Any) -> _SuiteColumns | None:
    if type(run).__name__ == "SeriesGroupBy":  # of pandas
        groups = [(case, own.tolist()) for case, own in run]
        return _SuiteColumns([case for case, _ in groups], [own for _, own in groups])
    index: Any = getattr(run, "index", None)
    if hasattr(index, "nlevels") and getattr(run, "ndim", 0) == 1:
        if index.nlevels > 1:
            domain = "a Series whose index is the case (one level: droplevel() leaves others out)"
            refuse(name, domain, list(index.names), TypeError)
        if type(index).__name__ == "RangeIndex" and index.name is None:
            domain = "a Series whose index is the case (set_index), or a frame of case and score"
            refuse(name, domain, f"a Series with the index 0 to {len(index) - 1}", TypeError)
        return _SuiteColumns(index, run)
    if hasattr(run, "columns") and hasattr(run, "shape"):
        names = list(as_builtins(run.columns))
        if len(names) != TWO:
            domain = (
                "a frame of two columns, case and score (of one with both versions: "
                "compare_from_columns(case_id=, version=, score=, baseline=))"
            )
            refuse(name, domain, names, TypeError)
        return _SuiteColumns(*(run[one] for one in names))
    if hasattr(run, "to_frame") and hasattr(run, "dtype"):
        domain = "a frame of two columns, case and score: a Series of polars has no index"
        refuse(name, domain, run, TypeError)
    return None
