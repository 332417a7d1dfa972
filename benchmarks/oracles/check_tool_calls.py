"""
Compare `tool_call_accuracy` with other libraries on random calls, and say where they differ.

Each of google-adk, pydantic-evals and agentevals is compared where it is installed:
``python -m benchmarks.oracles.check_tool_calls --n 2000``.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from importlib.util import find_spec
from typing import Any

from scorekit import tool_call_accuracy

Calls = list[tuple[str, dict[str, Any]]]
VALUES = (0, 1, 1.0, True, "1", None, [1], {"x": 1})


def random_calls(rng: random.Random, most: int = 6) -> Calls:
    """Return calls of few names and arguments, so that many of them agree."""
    return [
        (
            rng.choice("ab"),
            {key: rng.choice(VALUES) for key in rng.sample("pq", rng.randint(0, 2))},
        )
        for _ in range(rng.randint(0, most))
    ]


def adk(made: Calls, wanted: Calls, order: str, *, ignore: bool) -> bool:
    """Return what the trajectory evaluator of google-adk says."""
    from google.adk.evaluation.eval_metrics import ToolTrajectoryCriterion
    from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
    from google.genai import types

    evaluator = TrajectoryEvaluator(threshold=1.0)
    evaluator._match_type = ToolTrajectoryCriterion.MatchType[order.upper()]  # noqa: SLF001
    evaluator._ignore_args = ignore  # noqa: SLF001
    sides = [[types.FunctionCall(name=n, args=a) for n, a in side] for side in (made, wanted)]
    return bool(getattr(evaluator, f"_are_tool_calls_{order}_match")(*sides))


def pydantic(made: Calls, wanted: Calls, order: str) -> float:
    """Return the F1 of pydantic-evals, which looks at names only."""
    from pydantic_evals.evaluators import agentic

    one, other = [name for name, _ in made], [name for name, _ in wanted]
    if order == "exact":
        return float(one == other)
    if not one and not other:
        return 1.0
    if order == "any_order":
        shared = sum((Counter(one) & Counter(other)).values())
    else:
        shared = agentic._longest_common_subsequence_length(one, other)  # noqa: SLF001
    precision = shared / len(one) if one else 0.0
    recall = shared / len(other) if other else 0.0
    return float(agentic._f1(precision, recall))  # noqa: SLF001


def langchain(made: Calls, wanted: Calls, mode: str, arguments: str) -> bool:
    """Return what the trajectory match of agentevals says."""
    from agentevals.trajectory.match import create_trajectory_match_evaluator

    def messages(calls: Calls) -> list[dict[str, Any]]:
        written = [
            {"function": {"name": n, "arguments": json.dumps(a)}, "id": str(i), "type": "function"}
            for i, (n, a) in enumerate(calls)
        ]
        return [{"role": "assistant", "content": "", "tool_calls": written}]

    evaluator = create_trajectory_match_evaluator(
        trajectory_match_mode=mode, tool_args_match_mode=arguments
    )
    return bool(evaluator(outputs=messages(made), reference_outputs=messages(wanted))["score"])


def compared(rng: random.Random, n: int) -> Counter[tuple[str, str]]:
    """Count agreement and each difference over *n* random pairs."""
    counts: Counter[tuple[str, str]] = Counter()

    def note(which: str, ours: float, theirs: float, why: str) -> None:
        same = abs(ours - theirs) < 1e-12
        counts[which, "same" if same else f"{why} (ours {ours:g}, theirs {theirs:g})"] += 1

    for _ in range(n):
        made, wanted = random_calls(rng), random_calls(rng)
        if rng.random() < 0.6:
            made = rng.sample(wanted, len(wanted)) + made[: rng.randint(0, 2)]
        for order in ("exact", "in_order", "any_order"):
            if find_spec("google.adk") is not None:
                for arguments, ignore in (("equal", False), ("ignored", True)):
                    ours = tool_call_accuracy(made, wanted, order=order, arguments=arguments)  # type: ignore[arg-type]
                    theirs = adk(made, wanted, order, ignore=ignore)
                    note(f"adk {order} {arguments}", ours.score, theirs, "True equals 1 there")
            if find_spec("pydantic_evals") is not None:
                ours = tool_call_accuracy(made, wanted, order=order, arguments="ignored")
                value = ours.score if order == "exact" else ours.f1
                note(f"pydantic {order}", value, pydantic(made, wanted, order), "unexplained")
        if find_spec("agentevals") is not None:
            for arguments, name in (("equal", "exact"), ("subset", "superset")):
                ours = tool_call_accuracy(made, wanted, order="any_order", arguments=arguments)  # type: ignore[arg-type]
                theirs = langchain(made, wanted, "superset", name)
                note(
                    f"agentevals superset {arguments}",
                    ours.score,
                    theirs,
                    "first fit, or True is 1",
                )
    return counts


def main() -> None:
    """Print how often each agrees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts = compared(random.Random(arguments.seed), arguments.n)  # noqa: S311 - not for secrets
    for (which, what), count in sorted(counts.items()):
        print(f"{which:32} {count:6} {what}")


if __name__ == "__main__":
    main()
