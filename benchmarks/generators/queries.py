"""Pairs of random queries over the tables of one random schema."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from sqlglot import parse_one

from benchmarks.generators.random_sql import random_queries, random_schema
from benchmarks.generators.rewrites import rewritten

SEED: Final = 1
SCHEMA: Final = random_schema(random.Random(SEED))  # noqa: S311 - no secrets
TABLES: Final = {
    table.name: {column.name: column.kind for column in table.columns} for table in SCHEMA
}


def pairs(n: int) -> Iterator[tuple[str, str]]:
    """Draw pairs, three of five of which are two ways to write one query."""
    rng = random.Random(SEED)  # noqa: S311 - no secrets
    made = random_queries(SCHEMA, rng)
    while n:
        tree = parse_one(next(made))
        found = rewritten(tree, rng, sound=rng.random() < 0.6)
        if found is not None:
            yield tree.sql(), found[0].sql()
            n -= 1
