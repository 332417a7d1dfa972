"""Every public statistic with an interval takes groups: copies of the data must not narrow it."""

from __future__ import annotations

import inspect
import logging
import typing
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
import pytest
from copied_data import FLAGS, LEVELS, RNG, SCORES, VERDICTS, N
from outcomes import ends
from public_register import GROUPED, INDEPENDENT

import scorekit
from scorekit import Interval
from scorekit._core.mappings import FrozenMapping


def intervals_in(value: object) -> Iterator[Interval]:
    """Yield the intervals of a result, but those of single bins, cases and repeats."""
    if isinstance(value, Interval):
        yield value
    elif isinstance(value, dict | FrozenMapping):
        for one in value.values():
            yield from intervals_in(one)
    elif isinstance(value, scorekit.Record):
        for field in attrs.fields(type(value)):
            if field.name not in ("cases", "bins", "equal_mass_bins", "options"):
                yield from intervals_in(getattr(value, field.name))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from intervals_in(one)


def _has_interval(kind: Any, seen: tuple[Any, ...] = ()) -> bool:
    if kind is Interval:
        return True
    if isinstance(kind, type) and attrs.has(kind):
        names = {field.name for field in attrs.fields(attrs.resolve_types(kind))}
        inner = [field.type for field in attrs.fields(kind) if kind not in seen]
        return bool(names & {"p_value", "stderr"}) or any(
            _has_interval(one, (*seen, kind)) for one in inner
        )
    return any(_has_interval(one, seen) for one in typing.get_args(kind))


def statistics() -> set[str]:
    """Return the public functions whose result has an interval, a p value or an error."""
    names = (name for name in scorekit.__all__ if inspect.isfunction(getattr(scorekit, name)))
    return {
        name
        for name in names
        if _has_interval(typing.get_type_hints(getattr(scorekit, name)).get("return"))
    }


def test_every_statistic_takes_groups_or_says_why_not() -> None:
    """A new one is in neither list."""
    assert statistics() == GROUPED.keys() | INDEPENDENT


@pytest.mark.parametrize("name", sorted(GROUPED))
def test_copies_narrow_nothing_where_groups_are_given(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """And without groups they do, so that the test could fail."""
    caplog.set_level(logging.CRITICAL)
    once, grouped, apart = (
        [one.high - one.low for one in intervals_in(GROUPED[name](n, groups))]
        for n, groups in ((1, None), (4, [*range(N)] * 4), (4, None))
    )
    assert len(once) == len(grouped) == len(apart) > 0
    for width, with_groups in zip(once, grouped, strict=True):
        assert with_groups >= 0.93 * width
    assert sum(apart) < 0.8 * sum(grouped)


# Groups of all shapes.

BY_CLUSTER: dict[str, Callable[[Any], Any]] = {
    "calibration_error": lambda g: scorekit.calibration_error(SCORES, FLAGS, clusters=g),
    "confidence_calibration": lambda g: scorekit.confidence_calibration(LEVELS, correct=FLAGS,
        clusters=g),
    "safety_summary": lambda g: scorekit.safety_summary(VERDICTS, clusters=g),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(BY_CLUSTER))
def test_groups_of_one_are_no_groups(name: str) -> None:
    """As many groups as attempts give the result without groups."""
    call = BY_CLUSTER[name]
    ours, plain = call(range(N)), call(None)
    for one, other in zip(intervals_in(ours), intervals_in(plain), strict=True):
        assert ends(one) == pytest.approx(ends(other), rel=0.01, abs=0.01)
    if name == "calibration_error":
        assert ours.debiased_square == pytest.approx(plain.debiased_square, abs=1e-15)
        assert ours.bins == plain.bins


@pytest.mark.parametrize("name", sorted(BY_CLUSTER))
def test_one_group_says_nothing(name: str) -> None:
    """The intervals are as wide as the scale, and nothing is called certain."""
    result = BY_CLUSTER[name]([7] * N)
    if name == "safety_summary":
        assert ends(result.recall_interval) == (0.0, 1.0)
    elif name == "confidence_calibration":
        assert (result.overconfident, result.interval.high) == (False, 1.0)
        assert all(ends(one.interval) == (0.0, 1.0) for one in result.levels)
    else:
        assert ends(result.bias_interval) == (-1.0, 1.0)
        assert (result.debiased_square, result.debiased_error) == (None, None)
        assert (result.auroc_stderr, result.auroc_interval) == (None, None)


@pytest.mark.parametrize("name", sorted(BY_CLUSTER))
@pytest.mark.parametrize(("labels", "message"), [
    ([1] * (N - 1), f"clusters must be {N} labels, one for each entry, got {N - 1}"),
    ([None] + [1] * (N - 1), r"clusters\[0\] must be a label that is not missing, got None"),
    ([float("nan")] * N, r"clusters\[0\] must be a label that is not missing, got nan"),
])  # fmt: skip
def test_labels_that_are_none(name: str, labels: list[Any], message: str) -> None:
    """Each is refused by name."""
    with pytest.raises(scorekit.InputError, match=f"^{message}$"):
        BY_CLUSTER[name](labels)


def test_five_hundred_copies_of_one_query_are_one() -> None:
    """Under one id, or one label; under other ids each of them counts."""
    caught = [VERDICTS[FLAGS.index(True)]] * 500
    apart: dict[str, Any] = {"case_ids": range(500)}
    ids, labels, other, without = (
        ends(scorekit.safety_summary(caught, **options).recall_interval)
        for options in ({"case_ids": ["q"] * 500}, apart | {"clusters": ["q"] * 500}, apart, {})
    )
    assert ids == labels == (0.0, 1.0)
    assert other == without
    assert without[0] > 0.99


def test_a_group_of_a_thousand_beside_groups_of_one() -> None:
    """It counts as one observation, of a thousand copies all the same."""
    verdicts = [*VERDICTS, *[VERDICTS[FLAGS.index(True)]] * 1000]
    labels = [*range(N), *["crowd"] * 1000]
    assert ends(scorekit.safety_summary(verdicts, clusters=labels).recall_interval)[0] < 0.3
    levels, correct = [*LEVELS, *["high"] * 1000], [*FLAGS, *[False] * 1000]
    for own in (None, labels):
        result = scorekit.confidence_calibration(levels, correct=correct, clusters=own)
        assert result.overconfident == (own is None)


@pytest.mark.parametrize("flag", [True, False])
def test_all_passed_or_all_failed(flag: bool) -> None:  # noqa: FBT001 - a parameter
    """Copies of the same outcome count once for each group, not once for each copy."""
    groups = [*range(10)] * 8
    result = scorekit.confidence_calibration(
        ["high"] * 80, correct=[flag] * 80, nominal={"high": 0.75}, clusters=groups
    )
    few = scorekit.proportion_interval(10 * flag, 10, method="clopper-pearson")
    (level,) = result.levels
    assert ends(level.interval) == pytest.approx(ends(few), abs=1e-3)
    assert result.overconfident is not flag


def test_counts_have_no_groups() -> None:
    """They are of cases that stand by themselves."""
    with pytest.raises(TypeError, match=r"^clusters must be None where levels is a mapping"):
        scorekit.confidence_calibration({"high": (1, 2)}, clusters=[1, 2])


def test_gaps_of_different_groups_alone_are_multiplied() -> None:
    """Oracle: the mean over all pairs of attempts of a bin that belong to different groups."""
    groups = RNG.integers(0, 8, N).tolist()
    found = scorekit.calibration_error(SCORES, FLAGS, clusters=groups, n_bins=3).debiased_square
    total = 0.0
    for place in range(3):
        rows = [i for i, s in enumerate(SCORES) if place / 3 < s <= (place + 1) / 3]
        mean = float(np.mean([SCORES[i] for i in rows]))
        pairs = [(i, j) for i in rows for j in rows if groups[i] != groups[j]]
        products = [(FLAGS[i] - mean) * (FLAGS[j] - mean) for i, j in pairs]
        total += len(rows) / N * float(np.mean(products))
    assert found == pytest.approx(total, abs=1e-12)


def test_a_calibrated_model_is_not_called_wrong_by_copies() -> None:
    """Simulated: 75 questions, five copies of each answer; without groups two in three are."""
    rng, reached, called = np.random.default_rng(6), 0, 0
    names, nominal = np.array(["high", "medium", "low"]), np.array([0.9, 0.7, 0.4])
    for _ in range(150):
        level = rng.integers(0, 3, 75)
        right = rng.random(75) < nominal[level]
        result = scorekit.confidence_calibration(
            np.repeat(names[level], 5).tolist(),
            correct=np.repeat(right, 5),
            clusters=np.repeat(np.arange(75), 5),
        )
        reached += result.interval is not None and result.interval.high == 1.0
        called += result.overconfident
    assert reached >= 135
    assert called <= 8
