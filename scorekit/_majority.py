"""Estimate how often the most frequent of several answers is the correct one: `majority_at_k`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import attrs
import numpy as np

from scorekit._checks import (
    check_bounded_count,
    check_count,
    check_items,
    check_same_length,
    is_ordered,
)
from scorekit._columns import as_builtins, differs_from_itself
from scorekit._pass_kernel import Floats
from scorekit._records import is_mapping
from scorekit._suite_estimate import Insufficient, SuiteEstimate, estimate_tasks
from scorekit.errors import refuse, shown
from scorekit.intervals import wilson

MOST_VOTES = 256
"""Largest *k*: the work for each task grows with its square."""

Votes = tuple[int, tuple[int, ...]]
"""How often the correct answer was given, and each other one, most frequent first."""


@attrs.frozen(kw_only=True)
class MajorityAtK(SuiteEstimate):
    """Result of `majority_at_k`: chance that *k* attempts vote for the correct answer."""

    notation = "majority@{k}"


def majority_at_k(
    answers: Iterable[Any] | Mapping[Any, int],
    *,
    correct: Any,
    k: int = 1,
    confidence: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> MajorityAtK:
    """
    Estimate the chance that the most frequent answer of *k* attempts is the correct one.

    The share of all subsets of *k* samples in which it is, exact for any number of different
    answers; of *t* answers that tie for most frequent each wins one *t*-th of the time.

    Standard errors, and the interval of a suite, are made as in `pass_at_k`, only that the error
    for exactly these tasks is the jackknife's, which overstates rather than understates.  For one
    task the interval is Wilson's with ``n / k`` trials: by Hoeffding's bound *n* samples tell no
    less than so many independent sets of *k*; it is wide where they tell more.

    Args:
        answers: The answers given at one task, any hashable values or a mapping from each to how
            often it was given; or one such sequence or mapping for each task of a suite.  An
            answer that is a sequence itself has to come as a key of a mapping.
        correct: The correct answer; for a suite one for each task.
        k: Attempts that vote (count from 1 to 256).
        confidence: As in `pass_at_k`.
        insufficient: As in `pass_at_k`.
        clusters: As in `pass_at_k`.

    Returns:
        A frozen `MajorityAtK`.

    Raises:
        InputError: If *k* or a number of answers is out of range, a task has no answer or too
            few, or *correct* and *answers* differ in length; and as `pass_at_k`.
        TypeError: If an answer is not hashable; and as `pass_at_k`.

    Examples:
        >>> result = majority_at_k(["12", "12", "7", "12", "9"], correct="12", k=3)
        >>> result.score
        0.8
        >>> majority_at_k([{"12": 3, "7": 1}, ["a", "b"]], correct=["12", "b"]).score
        0.625
        >>> majority_at_k({"12": 3, "7": -1}, correct="12")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: answers['7'] must be an integer >= 0, got -1

    References:
        Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models",
        arXiv:2203.11171.

    .. versionadded:: 0.1.0
    """
    k = check_count("k", k, 1, MOST_VOTES)
    tasks, single = _check_votes(answers, correct)

    @cache
    def chances(n_correct: int, others: tuple[int, ...]) -> tuple[float, float]:
        chance = _majority(n_correct, others, k)
        return chance, 1.0 - chance

    @cache
    def variance(n_correct: int, others: tuple[int, ...]) -> float:
        return _jackknife(n_correct, others, k)

    n = [c + sum(others) for c, others in tasks]

    return estimate_tasks(
        MajorityAtK,
        name="n_samples of answers",
        n=np.array(n),
        k=k,
        single=single,
        score_of=lambda i: chances(*tasks[i]),
        variance_of=lambda i: variance(*tasks[i]),
        ends_of=lambda i, quantile: wilson(chances(*tasks[i])[0], n[i] / k, quantile),
        method="wilson on n / k",
        confidence=confidence,
        insufficient=insufficient,
        clusters=clusters,
    )


def _check_votes(answers: Any, correct: Any) -> tuple[list[Votes], bool]:
    answers = as_builtins(answers)
    if is_mapping(answers):
        return [_count("answers", answers, "correct", correct)], True
    items = check_items("answers", answers, what="answers, or of such sequences")
    if not any(is_mapping(item) or is_ordered(item) for item in items):
        return [_count("answers", items, "correct", correct)], True
    keys = check_items("correct", as_builtins(correct), what="answers")
    check_same_length("correct", len(keys), "answers", len(items))
    return [
        _count(f"answers[{i}]", item, f"correct[{i}]", key)
        for i, (item, key) in enumerate(zip(items, keys, strict=True))
    ], False


def _count(name: str, answers: Any, correct_name: str, correct: Any) -> Votes:
    counts: Mapping[Any, int]
    if is_mapping(answers):
        counts = {
            answer: check_bounded_count(f"{name}[{shown(answer)}]", n)
            for answer, n in answers.items()
        }
    else:
        items = check_items(name, as_builtins(answers), what="answers")
        for i, answer in enumerate(items):
            _check_answer(f"{name}[{i}]", answer)
        counts = Counter(items)
    _check_answer(correct_name, correct)
    if not 0 < sum(counts.values()) <= 2**53:
        refuse(name, "between 1 and 2**53 answers", answers)
    others = (n for answer, n in counts.items() if n and answer != correct)
    return counts.get(correct, 0), tuple(sorted(others, reverse=True))


def _check_answer(name: str, answer: Any) -> None:
    try:
        hash(answer)
    except TypeError:
        refuse(name, "a hashable answer", answer, TypeError)
    if differs_from_itself(answer):
        refuse(name, "an answer that is not missing", answer)


def _ways(n: int, most: int, scale: float) -> Floats:
    """Return ``C(n, a) * scale^a`` for *a* up to *most*."""
    a = np.arange(most, dtype=np.float64)
    return np.concatenate([[1.0], np.cumprod(np.maximum(n - a, 0.0) / (a + 1.0) * scale)])


def _majority(n_correct: int, others: Sequence[int], k: int) -> float:
    """
    Return the share of subsets of *k* whose most frequent answer is the correct one.

    For each number *x* of correct answers in the subset: the ways to choose the rest with no
    answer more than *x* times, by how many others come as often.  Each answer chosen weighs
    ``k / n``, which leaves the share as it is and keeps the products within ``e^k``.
    """
    if k - sum(others) > max(others, default=0):
        return 1.0  # it wins even where all others are among the k
    n = n_correct + sum(others)
    scale = k / n
    correct = _ways(n_correct, k, scale)
    ways = [_ways(m, min(m, k), scale) for m in others]
    total = math.fsum(
        correct[x] * _rest(ways, x, k - x) for x in range(1, min(k, n_correct) + 1)
    ) / float(_ways(n, k, scale)[k])
    return min(total, 1.0)


def _rest(ways: Sequence[Floats], x: int, rest: int) -> float:
    """Return the weight of choosing *rest* of the others, none more than *x* times."""
    chosen = np.zeros((rest // x + 1, rest + 1))  # by how many tie, by how many are chosen
    chosen[0, 0] = 1.0
    for each in ways:
        more = np.zeros_like(chosen)
        for a in range(min(x, each.size, rest + 1)):
            more[:, a:] += each[a] * chosen[:, : rest + 1 - a]
        if x < each.size and x <= rest:
            more[1:, x:] += each[x] * chosen[:-1, : rest + 1 - x]
        chosen = more
    return math.fsum(chosen[:, rest] / np.arange(1.0, rest // x + 2))


def _jackknife(n_correct: int, others: Sequence[int], k: int) -> float:
    """Return the variance from leaving out one sample after another; equal ones count together."""
    n = n_correct + sum(others)
    without = [(n_correct, _majority(n_correct - 1, others, k))] if n_correct else []
    for m, times in Counter(others).items():
        i = others.index(m)
        fewer = (*others[:i], m - 1, *others[i + 1 :])
        without.append((m * times, _majority(n_correct, fewer, k)))
    mean = math.fsum(count * share for count, share in without) / n
    return (n - 1) / n * math.fsum(count * (share - mean) ** 2 for count, share in without)
