"""Random pairs of queries: no database contradicts a proof, and no equal pair is refuted."""

from __future__ import annotations

import random

import pytest

from benchmarks.generators.random_sql import random_schema, schema_text
from benchmarks.oracles.check_proofs import Job, Pair, check, drawn, proof_of, read
from scorekit._sql.schema.tables import read_schema

SLOW = pytest.mark.slow


def job(seed: int, shape: str = "", *, equal: bool = False) -> Job:
    """Return some pairs to draw, and the databases to run them on."""
    return Job(seed, equal, n_sqlite=6, n_duckdb=2, show=False, only=shape)


# The dialect follows from the seed: all of them, and none.
@pytest.mark.parametrize(
    ("shape", "seed", "n_proved"),
    [
        ("", 12, 25), ("", 14, 12), ("", 15, 35), ("", 17, 30), ("", 19, 40), ("grouped", 0, 15),
        *(pytest.param("", seed, 10, marks=SLOW) for seed in range(20, 40)),
        *(pytest.param("correlated", seed, 10, marks=SLOW) for seed in range(6)),
        *(pytest.param("grouped", seed, 10, marks=SLOW) for seed in range(1, 6)),
    ],
)  # fmt: skip
def test_no_database_contradicts_a_proof(shape: str, seed: int, n_proved: int) -> None:
    """Oracle: SQLite and DuckDB, on rows that keep to a random schema; enough is proved."""
    pytest.importorskip("duckdb")
    found = check(job(seed, shape))
    assert found.wrong == []
    assert found.n_proved >= n_proved


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("seed", "n_proved"),
    [(14, 58), (10, 54), (15, 57), *((seed, 40) for seed in range(9))],
)
def test_two_ways_to_write_a_query_are_proved_and_never_refuted(seed: int, n_proved: int) -> None:
    """By rewrites that keep the meaning; those that are not proved are tried on databases."""
    found = check(job(seed, equal=True))
    assert found.wrong == []
    assert found.n_proved >= n_proved


def test_a_proof_does_not_hang_on_which_query_is_first() -> None:
    """It rests on the same, too."""
    rng = random.Random(5)  # noqa: S311 - nothing secret
    schema = random_schema(rng)
    known = read_schema(schema_text(schema), None, "sqlite")
    pairs = list(drawn(job(5), schema, "sqlite", rng))
    trees = read(pairs, "sqlite")
    for pair in pairs:
        turned = Pair(pair.second, pair.first, pair.rewrites)
        one, other = (proof_of(way, trees, known, "sqlite") for way in (pair, turned))
        assert (one.verdict, sorted(one.assumptions)) == (other.verdict, sorted(other.assumptions))
