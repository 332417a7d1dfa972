"""Hypothesis strategies for the fields of records."""

from __future__ import annotations

from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import attrs

from scorekit._strategies.queries import st

T = TypeVar("T")

UNIT = st.floats(0, 1)
AMOUNTS = st.floats(0, 1e6)
COUNTS = st.integers(0, 50)
TEXTS = st.text(max_size=20)
_OF_TYPE: dict[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: COUNTS,
    float: AMOUNTS,
    str: TEXTS,
    type(None): st.none(),
}


def of_type(hint: Any) -> st.SearchStrategy[Any]:
    if hint in _OF_TYPE:
        return _OF_TYPE[hint]
    if get_origin(hint) is Literal:
        return st.sampled_from(get_args(hint))
    if get_origin(hint) is tuple:
        return st.tuples(*map(of_type, get_args(hint)))
    return st.one_of([of_type(one) for one in get_args(hint)])


def records(kind: type[T], **given: st.SearchStrategy[Any]) -> st.SearchStrategy[T]:
    """Draw records whose fields have any value of their type, except those *given*."""
    hints = get_type_hints(kind)
    names = [field.name for field in attrs.fields(kind) if field.name not in given]  # type: ignore[arg-type]
    return st.builds(kind, **given, **{name: of_type(hints[name]) for name in names})
