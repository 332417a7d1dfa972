"""Scores of a harness as shares of their scale, and its errors as failures where that is asked."""

from __future__ import annotations

from collections import Counter

from scorekit._core.checks import check_items, check_number
from scorekit._readers.reading import NOT_RUN, Reading
from scorekit.errors import InputError, refuse, shown


def scale_of(reading: Reading, scale: object) -> tuple[float, float]:
    """Return the ends of the scale that is given, or else stated by the content."""
    if scale is None:
        return reading.scale or (0.0, 1.0)
    ends = check_items("scale", scale, what="the least and the highest score")
    if len(ends) != 2:  # noqa: PLR2004 - two ends
        refuse("scale", "the least and the highest score", scale)
    low, high = check_number("scale[0]", ends[0]), check_number("scale[1]", ends[1])
    if low >= high:
        refuse("scale", "two numbers, the lower one first", scale)
    return low, high


def shares(reading: Reading, low: float, high: float) -> list[float | None]:
    """Return the scores as shares of a scale; refuse one outside of it."""
    if (low, high) == (0.0, 1.0) and all(
        score is None or 0.0 <= score <= 1.0 for score in reading.score
    ):
        return reading.score
    found: list[float | None] = []
    for case_id, score in zip(reading.case_id, reading.score, strict=True):
        if score is not None and not low <= score <= high:
            raise InputError(
                f"score of case {shown(case_id)} must be in [{low:g}, {high:g}], got {score:g} "
                "(scale=(low, high))"
            )
        found.append(None if score is None else (score - low) / (high - low))
    return found


def errors_as_failures(
    scores: list[float | None], causes: list[str]
) -> tuple[list[float | None], list[str], list[str]]:
    """Return scores and causes where an error is a score of 0, and what is said of that."""
    is_error = [cause not in ("", NOT_RUN) for cause in causes]
    counts = Counter(cause for cause, one in zip(causes, is_error, strict=True) if one)
    said = ", ".join(f"{cause} {n}" for cause, n in counts.items())
    return (
        [0.0 if one else score for score, one in zip(scores, is_error, strict=True)],
        ["" if one else cause for cause, one in zip(causes, is_error, strict=True)],
        [f"Counted as failed: {said}."] if counts else [],
    )
