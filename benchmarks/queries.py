"""Pairs of random queries, drawn as for the tests of proofs, which read the same tables."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from sql_queries import KEYS, NOT_NULL, TABLES, TEXTS, pair

__all__ = ["KEYS", "NOT_NULL", "TABLES", "TEXTS", "pair", "pairs"]


def pairs(n: int) -> Iterator[tuple[str, str]]:
    """Draw pairs, three of five of which are two ways to write one query."""
    rng = random.Random(1)  # noqa: S311 - no secrets
    for _ in range(n):
        yield pair(rng, sound=rng.random() < 0.6)
