"""What each reader fills: attempts as columns, and the numbers that the harness states."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

import attrs

from scorekit._core.columns import check_id
from scorekit.errors import InputError, refuse, shown

Own: TypeAlias = Mapping[str, Sequence[float]]
"""The scores of each case as the harness counts them, those left out that it leaves out."""

_AT_K = re.compile(r"pass([@^])([1-9]\d{0,6})")

NOT_RUN = "not run"
"""The cause of an attempt that the harness states and the content does not have."""


MOST_NOT_RUN = 1_000_000
"""Attempts that are stated up to which those that are not there are named by their cases."""


def no_rule(name: str, own: Own) -> float | None:
    """Know no number of the harness."""
    del name, own
    return None


@attrs.define
class Reading:
    """The attempts of a run, column by column, and what else the content says of it."""

    harness: str
    metric: str = ""
    dataset: str | None = None
    dataset_version: str | None = None
    harness_version: str | None = None
    judge: str | None = None
    scale: tuple[float, float] | None = None
    """The scale that the content itself states."""
    stated: dict[str, float] = attrs.field(factory=dict[str, float])
    """What the harness states of this run."""
    rule: Callable[[str, Own], float | None] = no_rule
    """Compute a number of the harness by its name, None for a name that it does not know."""
    names: Sequence[str] = ()
    """Names of numbers that *rule* knows, for messages, beside those of *stated*."""
    notes: list[str] = attrs.field(factory=list[str])
    n_missing: int = 0
    """Attempts that are stated and not in the content, of which no case is known."""

    case_id: list[str] = attrs.field(factory=list[str])
    attempt: list[str | int | None] = attrs.field(factory=list[str | int | None])
    model: list[str | None] = attrs.field(factory=list[str | None])
    score: list[float | None] = attrs.field(factory=list[float | None])
    unknown: list[str] = attrs.field(factory=list[str])
    """Why an outcome is unknown; empty where it is known."""
    own: list[float | None] = attrs.field(factory=list[float | None])
    """The score that the harness counts, None where it leaves the attempt out."""
    cost_usd: list[float | None] = attrs.field(factory=list[float | None])
    latency_seconds: list[float | None] = attrs.field(factory=list[float | None])
    input_tokens: list[int | None] = attrs.field(factory=list[int | None])
    output_tokens: list[int | None] = attrs.field(factory=list[int | None])
    _kinds: dict[str, type] = attrs.field(factory=dict[str, type])
    _seen: set[tuple[object, ...]] = attrs.field(factory=set[tuple[object, ...]])

    def add(
        self,
        case_id: object,
        score: float | None,
        *,
        attempt: object = None,
        model: str | None = None,
        unknown: str = "",
        own: float | None = None,
        cost_usd: float | None = None,
        latency_seconds: float | None = None,
        tokens: tuple[int | None, int | None] = (None, None),
    ) -> None:
        """Add an attempt; one whose number its case has already is refused."""
        kind = type(case_id)
        if not isinstance(case_id, str) or not case_id:
            case_id = check_id(f"case_id[{len(self.case_id)}]", case_id)
        if self._kinds.setdefault(case_id, kind) is not kind:
            refuse(f"case_id[{len(self.case_id)}]", "unlike all others, 1 like '1'", case_id)
        if attempt is not None:
            if not isinstance(attempt, str | int):  # a reader takes what the content has there
                refuse(f"attempt of case {shown(case_id)}", "a text or an integer", attempt)
            key = case_id, model, attempt
            if key in self._seen:
                whose = "" if model is None else f" of model {shown(model)}"
                raise InputError(
                    f"attempt of case {shown(case_id)}{whose} must come once, got "
                    f"{shown(attempt)} twice"
                )
            self._seen.add(key)
        if score is None and not unknown:
            unknown = "no score"
        self.case_id.append(case_id)
        self.attempt.append(attempt)
        self.model.append(model)
        self.score.append(None if unknown else score)
        self.unknown.append(unknown)
        self.own.append(own if unknown else score)
        self.cost_usd.append(cost_usd)
        self.latency_seconds.append(latency_seconds)
        self.input_tokens.append(tokens[0])
        self.output_tokens.append(tokens[1])

    def not_run(self, case_id: object, attempt: str | int | None, model: str | None) -> None:
        """Add an attempt that is stated and not there, unless it is."""
        if (str(case_id), model, attempt) not in self._seen:
            self.add(case_id, None, attempt=attempt, model=model, unknown=NOT_RUN)

    def own_cases(self) -> dict[str, list[float]]:
        """Return the scores of each case as the harness counts them."""
        found: dict[str, list[float]] = {}
        for case_id, value in zip(self.case_id, self.own, strict=True):
            if value is not None:
                found.setdefault(case_id, []).append(value)
        return found


def fmean(values: Iterable[float]) -> float:
    """Return the mean of numbers, their sum rounded once."""
    known = list(values)
    return math.fsum(known) / len(known)


def at_k(name: str, own: Own) -> float | None:
    """Compute ``pass@k`` or ``pass^k``, the mean over cases; None where a case has too few."""
    found = _AT_K.fullmatch(name)
    if found is None or not own:
        return None
    k = int(found[2])
    if any(len(scores) < k or not {0.0, 1.0}.issuperset(scores) for scores in own.values()):
        return None
    counts = [(len(scores), int(sum(scores))) for scores in own.values()]
    if found[1] == "^":
        return fmean(math.comb(c, k) / math.comb(n, k) for n, c in counts)
    return fmean(1.0 - math.comb(n - c, k) / math.comb(n, k) for n, c in counts)


def mean_of_all(own: Own) -> float | None:
    """Return the mean over attempts; None where there are none."""
    values = [value for scores in own.values() for value in scores]
    return fmean(values) if values else None


def mean_of_cases(own: Own) -> float | None:
    """Return the mean over cases of the means over their attempts; None where there are none."""
    return fmean(fmean(scores) for scores in own.values()) if own else None


AGREE = 1e-9
"""Relative distance within which two numbers that were computed apart are one."""

EXACT_DECIMALS = 3
"""Decimals of a number in a file from which on it may be one that was rounded."""


def is_finite(value: object) -> TypeGuard[float]:
    """Tell numbers that a float can be; no flags."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def agree(stated: float, ours: float, *, is_typed: bool) -> bool:
    """
    Tell whether our number is the one that is stated, to the decimals that it has.

    A short number in a file is exact, as 0.5 is; one that a user typed is rounded where he
    stopped.
    """
    if math.isclose(stated, ours, rel_tol=AGREE, abs_tol=AGREE):
        return True
    decimals = len(repr(float(stated)).partition(".")[2]) if "e" not in repr(float(stated)) else 17
    if isinstance(stated, int) or not (is_typed or decimals >= EXACT_DECIMALS):
        return False
    return abs(stated - ours) <= 0.5 * 10.0**-decimals + AGREE


def compared(
    reading: Reading, given: Mapping[str, Any] | None, *, check: bool
) -> tuple[dict[str, tuple[float, float]], list[str]]:
    """
    Return the numbers that are stated beside ours, and the names of those that have no rule here.

    Raises:
        InputError: If two differ and *check* is True; if a number is given that has no rule.
    """
    own = reading.own_cases()
    found: dict[str, tuple[float, float]] = {}
    without: list[str] = []
    wrong: list[str] = []
    numbers = [(name, value, False) for name, value in reading.stated.items()]
    for name, value, is_typed in [*numbers, *((n, v, True) for n, v in (given or {}).items())]:
        if not is_finite(value):
            refuse(f"published[{name!r}]", "a finite number", value)
        ours = reading.rule(name, own)
        if ours is None and is_typed:
            known_names = ", ".join(map(repr, dict.fromkeys([*reading.stated, *reading.names])))
            refuse("published", f"numbers of this run by their names: {known_names}", name)
        if ours is None:
            without.append(name)
            continue
        agrees = agree(value, ours, is_typed=is_typed)
        if name not in found or not agrees:  # one that is typed stands beside that of the content
            found[name] = value, ours
        if not agrees:
            wrong.append(f"{name} must be {value!r} as stated, got {ours!r}")
    if wrong and check:
        n_lost = reading.unknown.count(NOT_RUN) + reading.n_missing
        lost = f"{n_lost} attempts that are stated are not in the content; " if n_lost else ""
        raise InputError(f"{', '.join(wrong)} ({lost}check=False reads on)")
    return found, without
