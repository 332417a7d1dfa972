"""Pairs of queries with the verdict that they must get: a line of a file for each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scorekit import sql_equivalence

VERDICTS = {
    "proved": {"proved"},
    "refuted": {"refuted"},
    "unknown": {"unknown"},
    "unproved": {"refuted", "unknown"},
    "unrefuted": {"proved", "unknown"},
}


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
    for line in (Path(__file__).parent / "data" / "pairs.txt").read_text().splitlines():
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


def _decided() -> Iterator[Any]:
    """Yield pairs in a dialect: of three or more one is quick, in turn."""
    for i, pair in enumerate(pair for pair in PAIRS if pair.verdict in VERDICTS and pair.about):
        names = pair.about.split()
        for j, name in enumerate(names):
            marks = pytest.mark.slow if len(names) > 2 and i % len(names) != j else ()
            dialect = None if name == "any" else name
            yield pytest.param(pair, dialect, marks=marks, id=f"{pair.set}-{i}-{name}")


def _n_databases(pair: Pair) -> int:
    return 1 if pair.verdict.endswith("proved") else 40


@pytest.mark.parametrize(("pair", "dialect"), [*_decided()])
def test_a_pair_gets_its_verdict(pair: Pair, dialect: str | None) -> None:
    """Whichever query comes first; a proof, or that there is none, needs one database only."""
    for a, b in ((pair.first, pair.second), (pair.second, pair.first)):
        found = sql_equivalence(
            a,
            b,
            schema=pair.schema,
            dialect=dialect,
            n_databases=_n_databases(pair),
            **pair.options,
        )
        assert found.verdict in VERDICTS[pair.verdict]
        assert pair.said in "; ".join((found.reason, *found.assumptions))


def test_no_pair_is_left_out() -> None:
    """Each is asked about here, or has a word of the tests that read it."""
    words = {"equal", "different", "allowing", "apart", "differs", "shown"}
    assert {pair.verdict for pair in PAIRS} == words | set(VERDICTS)
