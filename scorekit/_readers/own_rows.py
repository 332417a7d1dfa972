"""Rows of nobody's harness, whose keys the caller names."""

from __future__ import annotations

from typing import Any

from scorekit._readers.content import Content, Row, number, refuse_copies
from scorekit._readers.reading import Own, Reading, at_k, mean_of_all
from scorekit.errors import InputError


def json_lines(
    rows: object, case_id: str, score: str, attempt: str | None, model: str | None
) -> Reading:
    """Read rows by the names of their keys; a dot goes into a mapping in a row."""
    wanted = "rows, such as those of a file of JSON Lines"
    given = Content("rows", rows, wanted, "json_lines").rows()
    found = Reading("json_lines", score, names=("mean", "pass@1"), rule=_mean_or_at_k)
    for i, row in enumerate(given):
        named = None if model is None else _at(i, row, model)
        label = None if attempt is None else _at(i, row, attempt)
        found.add(
            _at(i, row, case_id),
            number(f"rows[{i}][{score!r}]", _at(i, row, score)),
            attempt=label if isinstance(label, str | int | None) else str(label),
            model=None if named is None else str(named),
        )
    if attempt is None:
        refuse_copies("rows", given)
    return found


def _mean_or_at_k(name: str, own: Own) -> float | None:
    return mean_of_all(own) if name == "mean" else at_k(name, own)


def _at(i: int, row: Row, key: str) -> Any:
    if key in row:
        return row[key]
    value: Any = row
    for name in key.split("."):
        if not hasattr(value, "keys") or name not in value:
            known = ", ".join(map(str, row))
            raise InputError(f"rows[{i}] must have the key {key!r}, got {known}")
        value = value[name]
    return value
