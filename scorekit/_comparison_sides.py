"""The two sides of a comparison: whatever run they come as, scores by metric, case and model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from scorekit._checks import check_flag, check_items, check_number, is_flag, is_ordered
from scorekit._code_statistics import CodeReport
from scorekit._records import is_mapping
from scorekit._sql_case import failed
from scorekit.cases import SqlReport
from scorekit.errors import refuse, shown

Comparable = CodeReport | SqlReport | Mapping[str, float | Iterable[float]]


Suite = tuple[str, str | None]
"""A metric, and the model whose scores it holds; None where none is known."""

Cases = dict[str, tuple[float, ...]]
"""The scores of the attempts at each case."""


class Side(NamedTuple):
    """One run: the scores of each suite, and what only an instrument's failure is known of."""

    suites: dict[Suite, Cases]
    failing: frozenset[tuple[Suite, str]]

    @property
    def models(self) -> set[str | None]:
        """Return the models in it."""
        return {model for _, model in self.suites}

    def keyed(self, *, by_case: bool) -> dict[Suite, Cases]:
        """Return the scores, without their model where cases alone are to be paired."""
        if not by_case:
            return self.suites
        return {(metric, None): cases for (metric, _), cases in self.suites.items()}

    def name(self, default: str) -> str:
        """Return the model, or *default* where there is not exactly one."""
        names = [model for model in self.models if model is not None]
        return names[0] if len(names) == 1 else default


def kind(run: object) -> str:
    """Return the word that says what kind of run *run* is."""
    return type(run).__name__ if isinstance(run, CodeReport | SqlReport) else "mapping"


def read(name: str, run: object) -> Side:
    """Read a report or a mapping; refuse anything else, and a run without cases."""
    failing: frozenset[tuple[Suite, str]] = frozenset()
    suites: dict[Suite, Cases] = {}
    if isinstance(run, CodeReport):
        by_model: defaultdict[str, Cases] = defaultdict(dict)
        for c in run.cases:
            by_model[c.model][c.case_id] = c.scores
        suites = {("code_score", model): cases for model, cases in by_model.items()}
    elif isinstance(run, SqlReport):
        suites, failing = _sql_suites(run)
    elif is_mapping(run):
        cases = {_case_id(name, c): _scores(name, c, value) for c, value in run.items()}
        suites = {("score", None): cases} if cases else {}
    else:
        refuse(name, "a CodeReport, a SqlReport or a mapping from case to score", run, TypeError)
    if not suites and not failing:
        refuse(name, "a run with at least one case", {})
    return Side(suites, failing)


def _sql_suites(report: SqlReport) -> tuple[dict[Suite, Cases], frozenset[tuple[Suite, str]]]:
    """Return the scores by metric and case, and what has only placeholders for scores."""
    suites: dict[Suite, Cases] = {}
    failing: set[tuple[Suite, str]] = set()
    for case in report.cases:
        for metric, result in case.metrics().items():
            suite, case_id = (metric, None), case.case_id
            if failed(result):
                failing.add((suite, case_id))
            else:
                cases = suites.setdefault(suite, {})
                cases[case_id] = (*cases.get(case_id, ()), result.score)
    return suites, frozenset(
        (suite, case_id) for suite, case_id in failing if case_id not in suites.get(suite, ())
    )


def _case_id(name: str, case: object) -> str:
    if not isinstance(case, str):
        refuse(f"a case of {name}", "a string", case, TypeError)
    return case


def _scores(side: str, case: str, value: object) -> tuple[float, ...]:
    if type(value) is float and 0.0 <= value <= 1.0:
        return (value,)
    name = f"{side}[{shown(case)}]"
    if is_ordered(value) or isinstance(value, str):
        items = check_items(name, value, what="scores")
        return tuple(_score(f"{name}[{i}]", item) for i, item in enumerate(items))
    return (_score(name, value),)


def _score(name: str, value: object) -> float:
    return (
        float(check_flag(name, value)) if is_flag(value) else check_number(name, value, 0.0, 1.0)
    )
