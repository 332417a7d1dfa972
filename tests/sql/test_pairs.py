"""Pairs of queries with the verdict that they must get: a line of a file for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.generators.stored_pairs import PAIRS, Pair
from scorekit import sql_equivalence

VERDICTS = {
    "proved": {"proved"},
    "refuted": {"refuted"},
    "unknown": {"unknown"},
    "unproved": {"refuted", "unknown"},
    "unrefuted": {"proved", "unknown"},
}


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
