"""Two rulers -> what was measured otherwise, as far as both say it, and in what words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scorekit._core.checks import check_text, is_missing
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._sheet.values import counted
from scorekit.errors import refuse, shown
from scorekit.rulers import (
    ALSO,
    ASKED_ONLY,
    EVERY,
    HARNESS,
    JUDGE,
    NONE,
    OF_ANSWERS,
    ORDER,
    VERSION,
    WORDS,
    Ruler,
)

NOTHING = "none"
"""What stands for a setting that a run does not have."""

WAYS = ("common", "refuse", "ignore")
"""What to do about what was measured otherwise: compare the rest, raise, or go on."""

KEPT_SHARE = 0.5
"""Share of the cases that have to be measured alike, where nothing else tells the change."""

NO_CASE = ""
"""A case that no run has: what holds there concerns all cases."""


class Difference(NamedTuple):
    """What was measured otherwise."""

    name: str
    first: str = ""
    """Its value in the baseline; empty, as the next, where each case has its own."""
    second: str = ""

    def said(self, n: int, of: str, metrics: str = "") -> str:
        """Return it in words: at how many cases, *of* how many, and in which metrics."""
        plain = self.name.replace("_", " ")
        text = f"{plain}: {self.first} -> {self.second}{metrics}"
        if not (self.first or self.second):
            is_named = self.name in WORDS
            text = f"{counted(n, WORDS[self.name])} changed" if is_named else f"{plain} changed"
            text += "" if is_named else f" at {of}"
        elif self.name == JUDGE:
            text = f"another judge: {self.first} -> {self.second}{of and f' for {of}'}"
        return text.replace(ALSO, " and ")


class Rulers:
    """Those of two runs, side by side."""

    def __init__(self, old: Ruler, new: Ruler) -> None:
        self._old, self._new = old, new
        self._every = {name for one in (old, new) for name in one.settings.get(EVERY, NONE)}
        self.unknown = {*old.unknown, *new.unknown, *_said_by_one(old, new)}
        """What is not known of one of them."""
        self._shared: dict[str, bool] = {}
        """By metric, whether what concerns all cases is the same in both runs."""
        self._are_cases_alike = old.cases == new.cases and old.judges == new.judges

    @property
    def assumed(self) -> tuple[str, ...]:
        """Name a version of the harness that differs; scores are compared all the same."""
        first, second = (one.versions.get(HARNESS) for one in (self._old, self._new))
        if None in (first, second) or first == second:
            return ()
        return (f"another version of the harness: {first} -> {second}",)

    def at(
        self, metric: str, case_id: str = NO_CASE, *, is_answered_anew: bool = False
    ) -> list[Difference]:
        """Return what a case was measured with otherwise; without a case what concerns all."""
        if self.are_alike(metric, case_id):
            return []
        old, new = self._old.of(metric, case_id), self._new.of(metric, case_id)
        found: list[Difference] = []
        for name in dict.fromkeys((*old, *new)):
            first, second = old.get(name, NOTHING), new.get(name, NOTHING)
            if first == second or not self._is_known(name, old, new):
                continue
            if name in OF_ANSWERS and is_answered_anew:
                continue
            own = any(name in one.cases.get(case_id, NONE) for one in (self._old, self._new))
            if name == ORDER and name not in self._every:
                found += [Difference(name, first, second)] if own else []
            else:
                found.append(Difference(name) if own else Difference(name, first, second))
        return found

    def are_alike(self, metric: str, case_id: str) -> bool:
        """Say whether all is the same at a case, without looking at each thing."""
        if self._are_cases_alike or not self._is_shared_alike(metric):
            return self._is_shared_alike(metric)
        old, new = self._old, self._new
        are_judges_alike = old.judges.get(case_id) == new.judges.get(case_id)
        return are_judges_alike and old.cases.get(case_id) == new.cases.get(case_id)

    def are_all_alike(self, metric: str) -> bool:
        """Say whether all is the same at every case."""
        return self._are_cases_alike and self._is_shared_alike(metric)

    def _is_shared_alike(self, metric: str) -> bool:
        """Say whether what concerns all cases is the same."""
        if metric not in self._shared:
            self._shared[metric] = self._old.of(metric, NO_CASE) == self._new.of(metric, NO_CASE)
        return self._shared[metric]

    def _is_known(self, name: str, old: Mapping[str, str], new: Mapping[str, str]) -> bool:
        """Say whether both runs say it, or one says that it was not there."""
        if name in self.unknown:
            return False
        if name in self._every:  # a name of the caller's own, or of a harness
            return True
        if name.startswith(VERSION):
            return "versions" not in self.unknown and name in old and name in new
        return name not in {JUDGE, ASKED_ONLY} or (JUDGE in old and JUDGE in new)


def _said_by_one(old: Ruler, new: Ruler) -> set[str]:
    """Name what one run says of itself, as the file of a harness does, and another does not."""
    first, second = (one.settings.get(EVERY, NONE) for one in (old, new))
    return set() if first and second else {*first, *second}


def named_ruler(name: str, given: object) -> Ruler:
    """Return what a caller says that something was measured with; None: it is not known."""
    if isinstance(given, Ruler):
        return given
    if not is_mapping(given):
        refuse(name, "a mapping from names to text, or a Ruler", given, TypeError)
    texts: dict[str, str] = {}
    missing: list[str] = []
    for key, value in given.items():
        known = check_text(f"a name of {name}", key)
        if is_missing(value):
            missing.append(known)
        elif isinstance(value, str | int | float):
            texts[known] = str(value)
        else:
            refuse(f"{name}[{shown(known)}]", "text, a number, or None", value, TypeError)
    return Ruler(settings=FrozenMapping({EVERY: FrozenMapping(texts)}), unknown=tuple(missing))
