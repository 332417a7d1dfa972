"""What is asked of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from scorekit._core.arrays import Groups
from scorekit._core.checks import check_choice, check_flag, check_number
from scorekit._core.columns import by_id, numbered
from scorekit._core.mappings import is_mapping
from scorekit.errors import refuse, shown

DECIMALS = 12
"""Decimals of an error, such that 1 - 0.9 is 0.1."""

ADJUSTMENTS = ("all", "none")


class Plan(NamedTuple):
    """The options of a comparison."""

    threshold: float
    confidence_level: float
    margin: float | None
    groups: Mapping[str, Any] | None
    adjustment: str
    attempts: str
    floor: float | None
    anytime: bool
    random_order: bool
    n_repeats: tuple[int, int]

    @classmethod
    def of(cls, *, n_repeats: tuple[int, int], clusters: object, **given: Any) -> Plan:
        """Check the options, and refuse what does not go together."""
        check_choice("adjustment", given["adjustment"], ADJUSTMENTS)
        check_choice("attempts", given["attempts"], ("auto", "fixed", "independent"))
        for name in ("margin", "floor"):
            if given[name] is not None:
                given[name] = check_number(name, given[name], 0.0, 1.0, open_ends=True)
        level = check_number(
            "confidence_level", given["confidence_level"], 0.0, 1.0, open_ends=True
        )
        given["confidence_level"] = level
        given["threshold"] = check_number("threshold", given["threshold"], 0.0, 1.0)
        for name in ("anytime", "random_order"):
            given[name] = check_flag(name, given[name])
        groups = None if clusters is None else _clusters(clusters)
        plan = cls(n_repeats=n_repeats, groups=groups, **given)
        if plan.anytime and plan.groups is not None:
            refuse("clusters", "None where anytime=True", plan.groups)
        if plan.anytime and plan.repeated:
            refuse("anytime", "False with several reports of a side", plan.anytime)
        if plan.random_order and not plan.anytime:
            refuse("random_order", "False where anytime=False", plan.random_order)
        return plan

    @property
    def repeated(self) -> bool:
        """Whether a side has several reports."""
        return max(self.n_repeats) > 1

    @property
    def error(self) -> float:
        """The chance of a false alarm that there may be."""
        return max(round(1.0 - self.confidence_level, DECIMALS), 10.0**-DECIMALS)

    def groups_of(self, case_ids: Sequence[str]) -> Groups | None:
        """Return the group of each case, numbered from 0; None where cases are independent."""
        if self.groups is None:
            return None
        labels = [label_of("clusters", self.groups, case_id) for case_id in case_ids]
        return numbered(labels)[1]


def label_of(name: str, labels: Mapping[str, Any], case_id: str) -> str | int:
    """Return the label of a case; refuse a case without one."""
    if case_id not in labels:
        refuse(name, f"a mapping with a group for {shown(case_id)}", labels)
    label: Any = labels[case_id]
    if not isinstance(label, str | Integral):
        refuse(f"{name}[{shown(case_id)}]", "a string or an integer", label, TypeError)
    return label if isinstance(label, str) else int(label)


def _clusters(clusters: object) -> Mapping[str, Any]:
    if not is_mapping(clusters):
        domain = "a mapping from case to its group"
        if isinstance(clusters, str):
            rows = f'row["case_id"]: row["tag_{clusters}"] for row in report.to_rows()'
            domain += f" (by a tag of SQL cases: {{{rows}}})"
        refuse("clusters", domain, clusters, TypeError)
    return by_id("a case of clusters", clusters)
