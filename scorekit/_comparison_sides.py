"""The two sides of a comparison: whatever run they come as, scores by metric, case and model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from scorekit._checks import check_flag, check_items, check_number, is_flag, is_ordered
from scorekit._records import is_mapping
from scorekit._sql_case import failed
from scorekit.cases import SqlReport
from scorekit.errors import refuse, shown
from scorekit.reports import CodeReport

Comparable = CodeReport | SqlReport | Mapping[str, float | Iterable[float]]


class Key(NamedTuple):
    """What a score belongs to."""

    metric: str
    case_id: str
    model: str | None


class Side(NamedTuple):
    """One run: its scores, the models in it, and what only an instrument's failure is known of."""

    attempts: dict[Key, tuple[float, ...]]
    models: frozenset[str | None]
    failing: frozenset[Key]

    def keyed(self, *, by_case: bool) -> dict[Key, tuple[float, ...]]:
        """Return the scores, without their model where cases alone are to be paired."""
        if not by_case or None in self.models:
            return self.attempts
        return {
            Key(metric, case, None): tries for (metric, case, _), tries in self.attempts.items()
        }

    def name(self, default: str) -> str:
        """Return the model, or *default* where there is not exactly one."""
        names = [model for model in self.models if model is not None]
        return names[0] if len(names) == 1 else default


def kind(run: object) -> str:
    """Return the word that says what kind of run *run* is."""
    return type(run).__name__ if isinstance(run, CodeReport | SqlReport) else "mapping"


def read(name: str, run: object) -> Side:
    """Read a report or a mapping; refuse anything else, and a run without cases."""
    failing: frozenset[Key] = frozenset()
    if isinstance(run, CodeReport):
        attempts = {Key("code_score", c.case_id, c.model): c.scores for c in run.cases}
    elif isinstance(run, SqlReport):
        attempts, failing = _sql_attempts(run)
    elif is_mapping(run):
        attempts = {
            Key("score", _case_id(name, case), None): _scores(name, case, value)
            for case, value in run.items()
        }
    else:
        refuse(name, "a CodeReport, a SqlReport or a mapping from case to score", run, TypeError)
    if not attempts and not failing:
        refuse(name, "a run with at least one case", {})
    return Side(attempts, frozenset(key.model for key in attempts), failing)


def _sql_attempts(report: SqlReport) -> tuple[dict[Key, tuple[float, ...]], frozenset[Key]]:
    """Return the scores by metric and case, and what has only placeholders for scores."""
    attempts: dict[Key, tuple[float, ...]] = {}
    failing: set[Key] = set()
    for case in report.cases:
        for metric, result in case.metrics().items():
            key = Key(metric, case.case_id, None)
            if failed(result):
                failing.add(key)
            else:
                attempts[key] = (*attempts.get(key, ()), result.score)
    return attempts, frozenset(failing - attempts.keys())


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
