"""The pairs of queries that tests hold, with the verdict that each must get."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).parents[2] / "tests" / "data" / "pairs.txt"


class Pair(NamedTuple):
    """Two queries of a set, and the verdict on them, behind which stand dialects or a step."""

    set: str
    schema: Any
    options: dict[str, Any]
    verdict: str
    about: str
    first: str
    second: str
    said: str = ""
    """What the reason or an assumption says."""


def _read() -> Iterator[Pair]:
    name, schema, options = "", None, dict[str, Any]()
    for line in FILE.read_text().splitlines():
        kind, _, text = line.partition(" ")
        if kind == "=":
            name, options = text, {}
        elif kind == "schema":
            schema = json.loads(text) if text.startswith("{") else text
        elif kind == "options":
            options = json.loads(text)
        elif line and kind != "#":
            head, _, queries = line.partition(": ")
            verdict, _, about = head.partition(" ")
            yield Pair(name, schema, options, verdict, about, *queries.split(" ==> "))


PAIRS = [*_read()]


def pairs(name: str, verdict: str) -> list[tuple[str, ...]]:
    """Return the pairs of a set with a verdict, each behind what it is about if that is said."""
    found = [pair for pair in PAIRS if (pair.set, pair.verdict) == (name, verdict)]
    assert found, name
    return [tuple(filter(None, pair[4:])) for pair in found]


STEPS_SCHEMA = """
CREATE TABLE d (id INT PRIMARY KEY, name TEXT NOT NULL, size INT);
CREATE TABLE e (id INT PRIMARY KEY, d_id INT NOT NULL REFERENCES d (id),
                boss INT REFERENCES e (id), pay INT, rank INT NOT NULL);
CREATE TABLE n (a INT, b INT NOT NULL, c TEXT)
"""
NAMELESS = [pair for pair in PAIRS if pair.set == "steps" and not pair.about]
assert not NAMELESS, f"write `{NAMELESS[0].verdict} name of the step: ...` for {NAMELESS[0].first}"
EQUAL = pairs("steps", "equal")
"""What a step proves, by the name that it has in a proof."""
DIFFERENT = pairs("steps", "different")
"""Where the condition of the step beside it does not hold; some database shows it."""
