"""Score answers by rubrics, criteria that give or take points: `rubric_score`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import attrs
import numpy as np

from scorekit._core.checks import (
    check_flag,
    check_items,
    check_number,
    check_same_length,
    is_missing,
    is_ordered,
)
from scorekit._core.columns import as_builtins, check_clusters
from scorekit._core.sums import exact_mean
from scorekit._sheet.values import between, estimate
from scorekit.errors import refuse
from scorekit.intervals import Interval, interval_of_mean
from scorekit.records import Record

MAX_POINTS = 1e100
"""Largest number of points: sums of such ones stay finite."""


@attrs.frozen(kw_only=True, repr=False)
class RubricScore(Record):
    """Result of `rubric_score`: the mean over examples, then the score of each."""

    score: float | None
    """Mean of *scores*, cut to ``[0, 1]``; higher is better. None if no example was fully
    judged."""
    scores: tuple[float | None, ...]
    """For each example the points that it earned over its positive points, at most 1 and below 0
    where it lost more than it earned. None if a criterion was not judged, or none gives points."""
    interval: Interval
    """Interval of the mean behind *score*, within ``[0, 1]``. It allows for examples with the
    lowest score that the rubrics allow, even if none was seen."""
    bounds: tuple[float, float]
    """The lowest and the highest *score*, whatever the judgements that are missing say."""
    lowest: float
    """The lowest score of an example that one of the rubrics allows, 0 without negative points."""
    n_unjudged: int
    """Examples left out of *score* because a criterion was not judged."""
    n_without_points: int
    """Examples left out because no criterion of theirs has positive points."""

    def _line(self) -> str:
        n = sum(score is not None for score in self.scores)
        examples = f"{n} example{'s' * (n != 1)}"
        score = "no score" if self.score is None else estimate(self.score, self.interval)
        text = f"{score} ({examples}"
        if self.n_unjudged:
            (low, high), missing = self.bounds, f"{self.n_unjudged} of {n + self.n_unjudged}"
            text = f"{between(low, high)} ({missing} not fully judged"
            text += "" if self.score is None else f"; {score} over the other {examples}"
        if self.n_without_points:
            text += f"; {self.n_without_points} without positive points left out"
        return f"{text})"


class _Example(NamedTuple):
    score: float | None
    low: float
    high: float
    lowest: float


def rubric_score(
    points: Iterable[Any],
    met: Iterable[Any],
    *,
    clusters: Iterable[Hashable] | None = None,
    confidence_level: float = 0.95,
) -> RubricScore:
    """
    Score answers by weighted criteria, some of which may take points away.

    An example scores ``sum(points of the criteria met) / sum(positive points)``.  It is not cut:
    an answer that meets a criterion of negative points may score below 0.  Only the mean over
    examples is cut to ``[0, 1]``, as HealthBench does.  Cutting each example, or counting negative
    points in the denominator, gives other numbers.

    Args:
        points: Points of each criterion of one example, negative for what an answer should not
            do; or a sequence of these for several examples.
        met: For each criterion whether it is met (True or False, 1 or 0), in the same shape; None
            for a criterion that nobody judged.
        clusters: A label for each example, equal where examples belong together.
        confidence_level: Level of the interval, in (0, 1).

    Returns:
        A frozen `RubricScore`. An example with a criterion that nobody judged stays out of *score*
        and counts in *bounds*. Read *score* with its *interval*, *bounds* and *n_unjudged* first.

    Raises:
        InputError: If no example has positive points, the shapes differ, or a number is not
            finite.
        TypeError: If a value of *points* is not a number, or an entry of *met* none of the above.

    Examples:
        >>> result = rubric_score([[5, 3, -4], [10, -5]], [[True, False, False], [False, True]])
        >>> result.scores, result.score
        ((0.625, -0.5), 0.0625)
        >>> print(rubric_score([5, 3, -4], [True, None, False]))
        between 0.62 and 1 (1 of 1 not fully judged)
        >>> rubric_score([-4], [True])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: points must be positive for some criterion, got [-4]

    References:
        Arora et al., "HealthBench: Evaluating Large Language Models Towards Improved Human
        Health", arXiv:2505.08775, section 3.
    """
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    rubrics = check_items("points", as_builtins(points), what="points or of rubrics")
    answers = check_items("met", as_builtins(met), what="judgements")
    several = any(map(is_ordered, (*rubrics, *answers)))
    if several:
        check_same_length("met", len(answers), "points", len(rubrics))
        pairs = [
            _example(f"points[{i}]", f"met[{i}]", rubric, answer)
            for i, (rubric, answer) in enumerate(zip(rubrics, answers, strict=True))
        ]
    else:
        pairs = [_example("points", "met", rubrics, answers)]
    codes = check_clusters(clusters, len(pairs), "points", points)
    counted = [i for i, example in enumerate(pairs) if example is not None]
    known = [i for i in counted if (example := pairs[i]) and example.score is not None]
    found = [example for example in pairs if example is not None]
    if not found:
        refuse("points", "positive for some criterion", points)
    lowest = min(example.lowest for example in found)
    scores = np.array([pairs[i].score for i in known], np.float64)  # type: ignore[union-attr]
    low, high = lowest, 1.0
    if known:
        groups = None if clusters is None else codes[known]
        ends = interval_of_mean(
            scores, groups, (min(lowest, 0.0), 1.0), confidence_level=confidence_level
        )
        low, high = ends.low, ends.high
    return RubricScore(
        score=_cut(exact_mean(scores)) if known else None,
        scores=tuple(None if example is None else example.score for example in pairs),
        interval=Interval(
            low=_cut(low), high=_cut(high), confidence_level=confidence_level, method="bounded"
        ),
        bounds=(
            _cut(exact_mean(np.array([example.low for example in found]))),
            _cut(exact_mean(np.array([example.high for example in found]))),
        ),
        lowest=lowest,
        n_unjudged=len(found) - len(known),
        n_without_points=len(pairs) - len(found),
    )


def _cut(mean: float) -> float:
    return min(max(mean, 0.0), 1.0)


def _example(given: str, judged: str, points: Any, met: Any) -> _Example | None:
    """Score one example; None if no criterion of it has positive points."""
    rubric = check_items(given, as_builtins(points), what="points")
    answers = check_items(judged, as_builtins(met), what="judgements")
    check_same_length(judged, len(answers), given, len(rubric))
    worth = [
        check_number(f"{given}[{j}]", one, -MAX_POINTS, MAX_POINTS) for j, one in enumerate(rubric)
    ]
    flags = [
        None if is_missing(one) else check_flag(f"{judged}[{j}]", one)
        for j, one in enumerate(answers)
    ]
    best = math.fsum(one for one in worth if one > 0.0)
    if not best:
        return None
    earned = math.fsum(one for one, flag in zip(worth, flags, strict=True) if flag)
    unknown = [one for one, flag in zip(worth, flags, strict=True) if flag is None]
    lowest = math.fsum(min(one, 0.0) for one in worth) / best
    if math.isinf(lowest):
        refuse(given, "positive points that are not so small beside the negative ones", points)
    return _Example(
        score=None if unknown else earned / best,
        low=(earned + math.fsum(min(one, 0.0) for one in unknown)) / best,
        high=(earned + math.fsum(max(one, 0.0) for one in unknown)) / best,
        lowest=lowest,
    )
