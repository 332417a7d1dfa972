"""Whether an agent called the tools that it should have called: `tool_call_accuracy`."""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Final, Literal, NamedTuple, TypeGuard

import attrs

from scorekit._core.checks import check_choice, check_flag, check_items, check_text, is_flag
from scorekit._core.mappings import is_mapping
from scorekit.errors import one_line, refuse, shown
from scorekit.records import Record

MAX_DEPTH: Final = 100
"""Levels of lists and objects in the arguments of a call."""

_SHOWN = 200
_ORDERS = ("exact", "in_order", "any_order")
_GIVEN = ("arguments", "input")
"""What arguments are called by OpenAI and others, and by Anthropic."""
_ARGUMENTS = ("equal", "subset", "ignored")


@attrs.frozen(kw_only=True, repr=False)
class ToolCallAccuracy(Record):
    """
    Result of `tool_call_accuracy`: the score, partial credit, and where the calls differ.

    Each expected call is matched, or among *wrong_arguments*, or *missing*. Each generated call is
    matched, or among *wrong_arguments*, or *unexpected*. Calls are shown as text, cut.
    """

    score: float
    """1.0 if the calls are as *order* asks, else 0.0; higher is better."""
    precision: float
    """Share of the generated calls that match an expected one; 1.0 if there are none."""
    recall: float
    """Share of the expected calls that are matched; 1.0 if there are none."""
    f1: float
    """Harmonic mean of *precision* and *recall*, ``2 * n_matched / (n_generated + n_expected)``;
    1.0 if no call was made and none expected."""
    missing: tuple[str, ...]
    """Expected calls without a generated call of their name to go with them."""
    unexpected: tuple[str, ...]
    """Generated calls without an expected call of their name to go with them."""
    wrong_arguments: tuple[tuple[str, str], ...]
    """Pairs of a generated and an expected call of the same name that do not match, because of
    their arguments or, if *order* matters, their place."""
    n_matched: int
    n_generated: int
    n_expected: int

    def _line(self) -> str:
        differs = {
            "missing": len(self.missing),
            "unexpected": len(self.unexpected),
            "wrong arguments": len(self.wrong_arguments),
        }
        said = [f"{n} {what}" for what, n in differs.items() if n] or ["all calls match"]
        return f"{self.score:.4g} (F1 {self.f1:.4g}; {', '.join(said)})"


class _ComparedCall(NamedTuple):
    name: str
    key: Hashable
    """Equal for arguments that are equal as JSON."""
    items: frozenset[tuple[str, Hashable]] | None
    """Each argument; None where they are no JSON object."""
    text: str


def tool_call_accuracy(
    generated: Sequence[Any],
    expected: Sequence[Any],
    *,
    order: Literal["exact", "in_order", "any_order"] = "exact",
    arguments: Literal["equal", "subset", "ignored"] = "equal",
    include_failed: bool = True,
) -> ToolCallAccuracy:
    """
    Compare the tool calls of an agent with those that were expected.

    The score is 1 or 0; *precision*, *recall* and *f1* give partial credit.  They count matched
    calls: with ``"any_order"`` as many pairs as possible, else the longest common subsequence.

    Args:
        generated: Calls in the order in which they were made. Each is a pair
            ``(name, arguments)``, or a mapping with ``"name"`` and ``"arguments"``, or with what
            OpenAI (``"function"``) and Anthropic (``"input"``) have in their place. It may say
            with ``"failed": True``, or an ``"error"``, that the call ended in an error. Arguments
            are a mapping, JSON text of an object, or None for no arguments. Text that is no JSON
            object matches only where *arguments* are ignored.
        expected: Calls that should have been made, given in the same way.
        order: ``"exact"``: the same calls in the same order. ``"in_order"``: all expected calls
            in their order, further calls between them allowed. ``"any_order"``: all expected
            calls, further calls allowed.
        arguments: ``"equal"``: the same arguments with equal values. ``"subset"``: all expected
            arguments with equal values, further ones allowed. ``"ignored"``: only names count.
            Values are equal as JSON: 1 equals 1.0, but neither equals ``"1"`` or True.
        include_failed: Whether generated calls that failed count. If False they are left out.

    Returns:
        A frozen `ToolCallAccuracy`. Without calls on both sides it scores 1.0. Read *score*, *f1*
        and *wrong_arguments* first.

    Raises:
        InputError: If a choice is unknown, a name is empty, the arguments of an expected call are
            text that is no JSON object, or arguments are nested more than 100 levels deep.
        TypeError: If a call is neither pair nor mapping, or arguments hold what JSON has not.

    Examples:
        >>> made = [("search", {"q": "tea", "limit": 5}), ("open", {"id": 7})]
        >>> wanted = [("open", {"id": 7}), ("search", {"q": "tea"})]
        >>> tool_call_accuracy(made, wanted, order="any_order", arguments="subset").score
        1.0
        >>> result = tool_call_accuracy(made, wanted, order="any_order")
        >>> result.score, result.recall, result.wrong_arguments
        (0.0, 0.5, (('search({"q": "tea", "limit": 5})', 'search({"q": "tea"})'),))
        >>> tool_call_accuracy(made, ["open"])
        Traceback (most recent call last):
        ...
        TypeError: expected[0] must be a pair (name, arguments) or a mapping with both, got 'open'

    References:
        Google's Agent Development Kit, "Evaluate agents", tool trajectory criteria, for the three
        orders. Pydantic Evals, ``TrajectoryMatch``, for F1 over the longest common subsequence.
    """
    check_choice("order", order, _ORDERS)
    check_choice("arguments", arguments, _ARGUMENTS)
    include_failed = check_flag("include_failed", include_failed)
    made = _read_calls("generated", generated, include_failed=include_failed)
    wanted = _read_calls("expected", expected, include_failed=True)
    match = _matched_in_any_order if order == "any_order" else _matched_in_order
    mine, theirs = match(made, wanted, arguments)
    n_made, n_wanted, n_matched = len(made), len(wanted), len(mine)
    right = n_matched == n_wanted and (order != "exact" or n_made == n_wanted)
    wrong, unexpected, missing = _named_alike(
        [call for i, call in enumerate(made) if i not in mine],
        [call for i, call in enumerate(wanted) if i not in theirs],
    )
    return ToolCallAccuracy(
        score=float(right),
        precision=n_matched / n_made if n_made else 1.0,
        recall=n_matched / n_wanted if n_wanted else 1.0,
        f1=2 * n_matched / (n_made + n_wanted) if n_made + n_wanted else 1.0,
        missing=tuple(call.text for call in missing),
        unexpected=tuple(call.text for call in unexpected),
        wrong_arguments=tuple((one.text, other.text) for one, other in wrong),
        n_matched=n_matched,
        n_generated=n_made,
        n_expected=n_wanted,
    )


# Reading.


def _read_calls(side: str, calls: object, *, include_failed: bool) -> list[_ComparedCall]:
    found: list[_ComparedCall] = []
    for i, call in enumerate(check_items(side, calls, what="calls", empty=True)):
        name, arguments, failed = _parts(f"{side}[{i}]", call)
        if failed and not include_failed:
            continue
        found.append(_read_call(f"{side}[{i}]", name, arguments, lenient=side == "generated"))
    return found


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _parts(where: str, call: object) -> tuple[object, object, bool]:
    if is_mapping(call):
        inner = call.get("function")
        made: Mapping[Any, Any] = inner if is_mapping(inner) else call
        key = next((key for key in _GIVEN if key in made), None)
        if "name" in made and key is not None:
            failed = check_flag(f"{where}['failed']", call.get("failed", False))
            return made["name"], made[key], failed or bool(call.get("error"))
    if _is_list(call) and len(call) == 2:  # noqa: PLR2004 - a pair
        return call[0], call[1], False
    recipe = " (of an object: its model_dump())" if hasattr(call, "model_dump") else ""
    domain = f"a pair (name, arguments) or a mapping with both{recipe}"
    refuse(where, domain, call, TypeError)


def _read_call(where: str, name: object, arguments: Any, *, lenient: bool) -> _ComparedCall:
    checked = check_text(f"{where} name", name)
    given = f"{where} arguments"
    if isinstance(arguments, str):
        value: object = None
        with suppress(ValueError, RecursionError):
            value = json.loads(arguments) if arguments.strip() else {}
        if not is_mapping(value) or _depth_of(value) > MAX_DEPTH:
            if not lenient:
                refuse(given, "a mapping or JSON text of an object", arguments)
            text = one_line(f"{checked}({arguments})", _SHOWN)
            return _ComparedCall(checked, ("unreadable", arguments), None, text)
        arguments = value
    elif arguments is None:
        arguments = {}
    if not is_mapping(arguments):
        refuse(given, "a mapping or JSON text of an object", arguments, TypeError)
    items = frozenset(
        (_checked_key(given, key), _key(f"{given}[{key!r}]", value, 1))
        for key, value in arguments.items()
    )
    try:
        written = json.dumps(arguments, default=_written, ensure_ascii=False)
    except (ValueError, OverflowError):  # an integer too long to write out
        written = shown(arguments)
    return _ComparedCall(checked, items, items, one_line(f"{checked}({written})", _SHOWN))


def _depth_of(value: object) -> int:
    """Return how deep lists and objects are nested; what `json.loads` took is not endless."""
    depth = 0
    level: list[Any] = [value]
    while level and depth <= MAX_DEPTH:
        depth += 1
        inner: list[Any] = [v.values() if is_mapping(v) else v for v in level]
        level = [one for some in inner for one in some if isinstance(one, dict | list)]
    return depth


def _checked_key(where: str, key: object) -> str:
    if not isinstance(key, str):
        refuse(where, "a mapping whose keys are strings", key, TypeError)
    return key


def _key(where: str, value: Any, depth: int) -> Hashable:
    """Return what is equal for values that are equal as JSON: of the same type, and alike."""
    if depth > MAX_DEPTH:
        refuse(where, f"nested at most {MAX_DEPTH} levels deep", "deeper")
    if value is None or isinstance(value, str):
        return value
    if is_flag(value):
        return ("boolean", bool(value))
    if isinstance(value, Decimal) and value.is_finite() and value != value.to_integral_value():
        value = float(value)  # as the same digits in JSON are
    if isinstance(value, Real | Decimal):
        is_nan = value.is_nan() if isinstance(value, Decimal) else value != value  # noqa: PLR0124
        return (
            "number",
            "nan" if is_nan else int(value) if isinstance(value, Integral) else value,
        )
    if is_mapping(value):
        pairs = (
            (_checked_key(where, key), _key(where, one, depth + 1)) for key, one in value.items()
        )
        return ("object", frozenset(pairs))
    if _is_list(value):
        return ("array", tuple(_key(where, one, depth + 1) for one in value))
    refuse(where, "a JSON value", value, TypeError)


def _written(value: Any) -> Any:
    """Return numbers and mappings of other kinds as `json.dumps` takes them."""
    return dict(value) if is_mapping(value) else float(value)


# Matching. Calls of one kind are matched alike, so that thousands of the same cost little.


def _kinds(calls: Sequence[_ComparedCall], arguments: str) -> list[Hashable]:
    """Return for each call what distinguishes it from others that match differently."""
    return [call.name if arguments == "ignored" else (call.name, call.key) for call in calls]


class _Fitting(NamedTuple):
    """Calls by their kinds, and which generated kind is what which expected one asks for."""

    kinds: list[Hashable]
    """Of each generated call."""
    made_at: dict[Hashable, list[int]]
    wanted_at: dict[Hashable, list[int]]
    fits: dict[Hashable, list[Hashable]]

    @classmethod
    def of(
        cls, made: Sequence[_ComparedCall], wanted: Sequence[_ComparedCall], arguments: str
    ) -> _Fitting:
        kinds = _kinds(made, arguments)
        made_at, wanted_at = _places(kinds), _places(_kinds(wanted, arguments))
        fits = {kind: [kind] if kind in wanted_at else [] for kind in made_at}
        if arguments == "subset":
            rare = Counter(
                (wanted[at[0]].name, item)
                for at in wanted_at.values()
                for item in wanted[at[0]].items or ()
            )
            by_item: dict[Hashable, list[Hashable]] = defaultdict(list)
            for kind, at in wanted_at.items():
                call = wanted[at[0]]  # the item that the fewest others ask for finds it
                items = ((call.name, item) for item in call.items or ())
                by_item[min(items, key=rare.__getitem__, default=call.name)].append(kind)
            for kind, at in made_at.items():
                call = made[at[0]]
                if call.items is not None:
                    looked = (call.name, *((call.name, item) for item in call.items))
                    near = (other for item in looked for other in by_item.get(item, ()))
                    fits[kind] = [
                        k for k in near if call.items >= (wanted[wanted_at[k][0]].items or set())
                    ]
        return cls(kinds, made_at, wanted_at, fits)


def _places(kinds: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    at: dict[Hashable, list[int]] = defaultdict(list)
    for i, kind in enumerate(kinds):
        at[kind].append(i)
    return dict(at)


def _matched_in_order(
    made: Sequence[_ComparedCall], wanted: Sequence[_ComparedCall], arguments: str
) -> tuple[set[int], set[int]]:
    """
    Return the places of a longest common subsequence in both.

    Bit-parallel: bit *j* of a row is 0 where the subsequence up to there is longer than before
    (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004).
    """
    kinds, _, wanted_at, fits = _Fitting.of(made, wanted, arguments)
    masks = {
        kind: sum(1 << j for other in near for j in wanted_at[other])
        for kind, near in fits.items()
    }
    full = (1 << len(wanted)) - 1
    row, rows = full, [full]
    for kind in kinds:
        shared = row & masks[kind]
        row = ((row + shared) | (row - shared)) & full
        rows.append(row)
    mine: set[int] = set()
    theirs: set[int] = set()
    i, j = len(made), len(wanted)
    while i and j:
        if rows[i] >> (j - 1) & 1:  # longer without this expected call
            j -= 1
        elif not rows[i - 1] >> (j - 1) & 1:  # as long without this generated one
            i -= 1
        else:
            i, j = i - 1, j - 1
            mine.add(i)
            theirs.add(j)
    return mine, theirs


def _matched_in_any_order(
    made: Sequence[_ComparedCall], wanted: Sequence[_ComparedCall], arguments: str
) -> tuple[set[int], set[int]]:
    """Return the places of as many pairs as possible: a largest flow between kinds of calls."""
    _, made_at, wanted_at, fits = _Fitting.of(made, wanted, arguments)
    free = {kind: len(at) for kind, at in made_at.items()}
    left = {kind: len(at) for kind, at in wanted_at.items()}
    flow: dict[Hashable, Counter[Hashable]] = {kind: Counter() for kind in wanted_at}
    for start in made_at:
        while free[start] and (path := _augmenting(start, fits, left, flow)):
            forth = list(zip(path[::2], path[1::2], strict=True))
            back = list(zip(path[2::2], path[1::2], strict=False))
            amount = min(free[start], left[path[-1]], *(flow[k][m] for m, k in back))
            for one, other in forth:
                flow[other][one] += amount
            for one, other in back:
                flow[other][one] -= amount
            free[start] -= amount
            left[path[-1]] -= amount
    mine = {i for kind, at in made_at.items() for i in at[: len(at) - free[kind]]}
    theirs = {i for kind, at in wanted_at.items() for i in at[: len(at) - left[kind]]}
    return mine, theirs


def _augmenting(
    start: Hashable,
    fits: Mapping[Hashable, Sequence[Hashable]],
    left: Mapping[Hashable, int],
    flow: Mapping[Hashable, Counter[Hashable]],
) -> list[Hashable]:
    """Return generated and expected kinds in turn, to one that has some left; [] if none has."""
    paths = deque([[start]])
    seen, looked = {start}, set[Hashable]()
    while paths:
        path = paths.popleft()
        for other in fits[path[-1]]:
            if other in looked:
                continue
            looked.add(other)
            if left[other]:
                return [*path, other]
            for user, amount in flow[other].items():
                if amount and user not in seen:
                    seen.add(user)
                    paths.append([*path, other, user])
    return []


def _named_alike(
    made: Sequence[_ComparedCall], wanted: Sequence[_ComparedCall]
) -> tuple[list[tuple[_ComparedCall, _ComparedCall]], list[_ComparedCall], list[_ComparedCall]]:
    """Pair calls of one name in their order; return the pairs and what is left of either."""
    waiting: dict[str, deque[_ComparedCall]] = defaultdict(deque)
    for call in made:
        waiting[call.name].append(call)
    pairs = [(waiting[c.name].popleft(), c) if waiting[c.name] else (None, c) for c in wanted]
    paired = [(one, other) for one, other in pairs if one is not None]
    used = {id(one) for one, _ in paired}
    return (
        paired,
        [call for call in made if id(call) not in used],
        [other for one, other in pairs if one is None],
    )
