"""
A tour of scorekit on real outcomes: run ``python docs/tour.py``.

The first half is about generated code (`tour_code.py`): two invented models, twelve small tasks,
every answer compiled and tested.  The second is about generated SQL (`tour_sql.py`): an invented
model, twenty questions to a shop, every answer shown to a validator.  scorekit says what the
outcomes mean.  It all needs no key and no network; with a key Claude judges what is undecided.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import time

import tour_code
import tour_sql
from tour_text import blocks

import scorekit


def main() -> None:
    """Print the report."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # a pipe on Windows has another one
    logging.getLogger("scorekit").addHandler(logging.NullHandler())  # the report says it, too
    print(build_report())


def build_report() -> str:
    """Run everything and return the report."""
    started = time.perf_counter()
    # Any `scorekit.Judge` will do; it decides what text alone does not.
    judge = scorekit.ClaudeJudge() if "ANTHROPIC_API_KEY" in os.environ else None
    code, sql = tour_code.evaluate(), tour_sql.evaluate(judge)
    if judge is not None:
        judge.close()
    parts = [(name, section(code)) for name, section in tour_code.SECTIONS]
    parts += [(name, section(sql)) for name, section in tour_sql.SECTIONS]
    elapsed = time.perf_counter() - started
    title = "A tour of scorekit"
    return blocks(
        f"{title}\n{'=' * len(title)}",
        *(blocks(f"{n}. {name}", text) for n, (name, text) in enumerate(parts, start=1)),
        f"The tour took {elapsed:.1f} s.  Its code is in docs/tour.py and the files beside it.",
    )


if __name__ == "__main__":
    main()
