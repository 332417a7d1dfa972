"""What moved: the record of one case's change, and how changes and verdicts are written down."""

from __future__ import annotations

import html
import re

import attrs

from scorekit._records import Record
from scorekit._verdict import MarginVerdict, SuiteVerdict
from scorekit.errors import one_line

MAX_ROWS = 20
"""Changes of each kind that a text rendering lists before it only counts them."""


@attrs.frozen(kw_only=True)
class CaseChange(Record):
    """One case in both reports, or in one of them (the other side is None)."""

    case_id: str
    model: str | None
    """The model, None where the two sides hold different ones or none is known."""
    metric: str
    baseline: float | None
    """Mean score over the attempts, in ``[0, 1]``."""
    current: float | None
    """Mean score over the attempts, in ``[0, 1]``."""
    delta: float | None
    """``current - baseline``; negative is worse."""
    p_value: float | None
    """
    Fisher's exact test of this case's attempts, one-sided in the direction of the change.

    None where a side is missing, or an attempt not scored 0 or 1.  It only describes: by chance
    alone up to ten in a hundred unchanged cases fall below .05, five in either direction.  The
    suite verdict decides.
    """


def as_text(title: str, changes: tuple[CaseChange, ...]) -> list[str]:
    """Return the lines of plain text for one list of changes."""
    width = max((len(_label(change)) for change in changes[:MAX_ROWS]), default=0)
    lines = [f"{title}: {len(changes)}"]
    lines += [f"  {_label(change):<{width}}  {_shift(change)}" for change in changes[:MAX_ROWS]]
    if len(changes) > MAX_ROWS:
        lines.append(f"  and {len(changes) - MAX_ROWS} more")
    return lines


def as_markdown(title: str, changes: tuple[CaseChange, ...]) -> list[str]:
    """Return the lines of Markdown for one list of changes."""
    lines = ["", f"**{title}: {len(changes)}**"]
    if changes:
        lines += ["", "| case | metric | baseline | current | change |"]
        lines.append("|---|---|---:|---:|---:|")
    lines += [
        f"| {escaped(_label(change))} | {escaped(change.metric)} | "
        f"{_number(change.baseline)} | {_number(change.current)} | "
        f"{_number(change.delta, sign='+')} |"
        for change in changes[:MAX_ROWS]
    ]
    if len(changes) > MAX_ROWS:
        lines += ["", f"and {len(changes) - MAX_ROWS} more"]
    return lines


def listed(what: str, changes: tuple[CaseChange, ...]) -> str:
    """Name the first changes in one sentence."""
    names = ", ".join(_label(change) for change in changes[:5])
    more = f" and {len(changes) - 5} more" if len(changes) > 5 else ""  # noqa: PLR2004 - as above
    return f"{len(changes)} {what}: {names}{more}"


def suite_line(suite: SuiteVerdict) -> str:
    """Return a suite's change, interval, test and p values."""
    level = f"{100 * suite.interval.confidence:g} %"
    low, high = suite.interval.low, suite.interval.high
    cases = f"{suite.n_cases} case{'s' * (suite.n_cases > 1)}"
    if suite.n_groups is not None:
        cases += f" in {suite.n_groups} group{'s' * (suite.n_groups > 1)}"
    p_value = f"p = {suite.p_value:.2g}"
    if suite.adjusted_p_value != suite.p_value:
        p_value += f", adjusted {suite.adjusted_p_value:.2g}"
    return (
        f"{suite.delta:+.3f} [{low:+.3f}, {high:+.3f}] ({level}, {suite.test}, {p_value}, {cases})"
    )


def notes(suite: SuiteVerdict) -> list[str]:
    """Return what else there is to say of a suite: what would have been seen, the margin."""
    effect = suite.minimum_detectable_effect
    if effect is None:
        single = "case" if suite.n_groups is None else "group"
        found = [f"one {single} cannot show how large a change would have been seen"]
    elif effect > 1:
        found = ["not even a change from 0 to 1 would have been seen four times in five"]
    else:
        found = [f"a change of {effect:.3f} would have been seen four times in five"]
    if suite.within_margin is not None:
        found.append(margin_line(suite.within_margin))
    return found


def margin_line(verdict: MarginVerdict) -> str:
    """Return what is known about the margin, and from which interval."""
    low, high = verdict.interval.low, verdict.interval.high
    return f"margin {verdict.margin:g}: {verdict.verdict} [{low:+.3f}, {high:+.3f}]"


def escaped(text: str) -> str:
    """Return *text* such that Markdown shows it as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]()#+!|~-])", r"\\\1", html.escape(one_line(text), quote=False))


def _label(change: CaseChange) -> str:
    parts = [change.case_id]
    if change.model is not None:
        parts.append(change.model)
    return one_line(" / ".join(parts))


def _number(value: float | None, sign: str = "") -> str:
    return "-" if value is None else f"{value:{sign}.3f}"


def _shift(change: CaseChange) -> str:
    text = f"{one_line(change.metric)} {_number(change.baseline)} -> {_number(change.current)}"
    return text if change.delta is None else f"{text} ({change.delta:+.3f})"
