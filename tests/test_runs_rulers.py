"""What tiers were measured with, and what a comparison makes of tiers with two rulers."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Iterable
from fractions import Fraction
from statistics import median
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import present
from refusals import Refusal, refusals

import scorekit
from scorekit import (
    CrossTier,
    InputError,
    RegressionError,
    Ruler,
    Run,
    TierStatistics,
    compare_models,
    compare_reports,
    cross_tier,
    tier_statistics,
)

TASKS = [f"t{i:02}" for i in range(12)]
X, Y = {"judge": "x", "rubric": "v1"}, {"judge": "y", "rubric": "v1"}


def runs(seed: int = 0, *, loss: float = 0.0, tasks: Iterable[str | None] = TASKS) -> list[Run]:
    """Draw three runs of each task."""
    found: list[Run] = []
    for task in tasks:
        rng = random.Random(f"{seed} {task}")  # noqa: S311 - draws tests
        found += [
            Run(
                run_id=f"{task}/{i}",
                passed=rng.random() > 0.3 + loss,
                impl_rate=rng.randrange(101) / 100,
                cost_usd=0.5 + rng.random(),
                duration_seconds=9,
                task_id=task,
            )
            for i in range(3)
        ]
    return found


def tier(name: str, ruler: Any = None, *, seed: int = 0, **options: Any) -> TierStatistics:
    """Gather a tier."""
    own = options.pop("of", None) or runs(seed, loss=options.pop("loss", 0.0))
    return tier_statistics(name, own, ruler=ruler, **options)


def by_task(changed: Iterable[str]) -> Ruler:
    """Say which tasks had another rubric."""
    some = {*changed}
    return Ruler(cases={task: {"rubric": "v2" if task in some else "v1"} for task in TASKS})


def numbers(result: CrossTier) -> dict[str, object]:
    """Return all that was computed."""
    return {n: one for n, one in result.to_dict().items() if n not in ("tiers", "rulers")}


def test_a_tier_knows_what_it_was_measured_with() -> None:
    """Weights are in it as settled, and what the caller names; a judge who is not named is not."""
    ruler = present(tier("T0", X, pass_weight=1, impl_weight=3).ruler)
    assert ruler.of("composite_score", TASKS[0]) == {
        **X,
        "weights": "pass 0.25, impl 0.75",
        "version of metrics": "1",
    }
    assert ruler.of("cost_of_pass", TASKS[0]) == {**X, "version of metrics": "1"}
    assert ruler.unknown == ()
    assert present(tier("T0").ruler).unknown == ("judge",)
    unjudged = [attrs.evolve(run, impl_rate=float(run.passed)) for run in runs()]
    assert present(tier("T0", of=unjudged).ruler).unknown == ()
    assert present(tier("T0", {"judge": None}).ruler).unknown == ("judge",)


def test_one_ruler_says_nothing() -> None:
    """Tiers that were measured alike are compared as if there were no rulers."""
    plain = cross_tier([tier("T0"), tier("T1", seed=1)])
    same = cross_tier([tier("T0", X), tier("T1", X, seed=1)], ruler="refuse")
    assert numbers(plain) == numbers(same)
    assert str(plain) == str(same)
    assert same.rulers == {}
    scaled = tier("T1", X, seed=1, pass_weight=2, impl_weight=2)
    assert cross_tier([tier("T0", X), scaled]).rulers == {}


def test_another_judge_is_named_and_not_compared() -> None:
    """It is in none of the numbers; the other tier is compared as without it."""
    others = [tier("T0", X), tier("T2", X, seed=2)]
    result = cross_tier([*others, tier("T1", Y, seed=1)])
    alone = cross_tier(others)
    assert str(result).startswith(
        "T1 measured otherwise than T0: another judge: x -> y (not compared); mean composite score"
    )
    for name in ("uplifts", "mean_uplifts", "uplift_intervals", "cost_ratios"):
        assert getattr(result, name) == {**getattr(alone, name), "T1": None}
    for name in ("composite_variance", "cost_delta", "cost_variance", "frontier_cost_of_pass"):
        assert getattr(result, name) == getattr(alone, name)
    assert result.rulers["T1"].too_few == ("composite_score", "cost_of_pass")
    assert "no task shared" not in str(result)
    only = str(cross_tier([tier("T0", X), tier("T1", Y)]))
    assert "(not compared); no score is compared with T0\ntier" in only


def test_ignored_and_refused() -> None:
    """Both ways out say what differs."""
    tiers = [tier("T0", X), tier("T1", Y, seed=1)]
    ignored = cross_tier(tiers, ruler="ignore")
    assert numbers(ignored) == numbers(cross_tier([tier("T0", X), tier("T1", X, seed=1)]))
    assert str(ignored).startswith(
        "T1 measured otherwise than T0: another judge: x -> y (ignored)"
    )
    words = r"^tier 'T1' must be measured with the ruler of 'T0' where ruler='refuse', got another"
    with pytest.raises(InputError, match=words):
        cross_tier(tiers, ruler="refuse")


def test_rulers_act_by_measure() -> None:
    """Weights move no cost, and prices no score."""
    weighed = cross_tier([tier("T0"), tier("T1", seed=1, pass_weight=1, impl_weight=0)])
    plain = cross_tier([tier("T0"), tier("T1", seed=1)])
    assert "weights: pass 0.5, impl 0.5 -> pass 1, impl 0 (scores not compared)" in str(weighed)
    assert weighed.cost_ratios == plain.cost_ratios
    assert weighed.impl_rate_variance == plain.impl_rate_variance
    assert weighed.mean_uplifts == {"T1": None}
    old, new = (Ruler(settings={"cost_usd": {"prices": one}}) for one in ("May", "June"))
    priced = cross_tier([tier("T0", old), tier("T1", new, seed=1)])
    assert "prices: May -> June (costs not compared)" in str(priced)
    assert priced.mean_uplifts == plain.mean_uplifts
    assert priced.cost_ratios == {"T1": None}
    rated = [Ruler(settings={"impl_rate": {"rubric": one}}) for one in "ab"]
    result = cross_tier([tier("T0", rated[0]), tier("T1", rated[1], seed=1)])
    assert result.cost_ratios == plain.cost_ratios
    assert result.uplifts == {"T1": None}


@given(st.sets(st.sampled_from(TASKS)), st.integers(0, 5))
def test_tasks_that_were_measured_alike_are_compared(changed: set[str], seed: int) -> None:
    """As if there were no others; fewer than half of them cannot tell."""
    tiers = tier("T0", by_task([])), tier("T1", by_task(changed), seed=seed, loss=0.2)
    result = cross_tier(tiers)
    kept = [task for task in TASKS if task not in changed]
    if 2 * len(kept) < len(TASKS):
        assert result.mean_uplifts == result.cost_ratios == {"T1": None}
        assert result.n_common_tasks == {"T1": 0}
        return
    small = [
        tier_statistics(f"T{i}", runs(s, loss=0.2 * i, tasks=kept)) for i, s in ((0, 0), (1, seed))
    ]
    expected = cross_tier(small)
    for name in ("uplifts", "mean_uplifts", "uplift_intervals", "cost_ratios", "n_common_tasks"):
        assert getattr(result, name) == getattr(expected, name), name
    if changed:
        said = f"rubric changed at {len(changed)} of 12 tasks (compared at the {len(kept)} of 12"
        assert said in str(result)


def test_the_parts_that_are_left_by_hand() -> None:
    """Medians and means of the tasks that were measured alike, in exact arithmetic."""
    values = {"a": (1, 0.5), "b": (0, 0.4), "c": (1, 1.0), "d": (0, 0.0)}
    worse = {"a": (1, 0.4), "b": (0, 0.2), "c": (1, 0.8), "d": (1, 1.0)}

    def made(name: str, outcomes: dict[str, tuple[int, float]], rubric: str) -> TierStatistics:
        own = [
            Run(run_id=t, task_id=t, passed=bool(p), impl_rate=r) for t, (p, r) in outcomes.items()
        ]
        ruler = Ruler(cases={"d": {"rubric": rubric}})
        return tier_statistics(name, own, ruler=ruler)

    result = cross_tier([made("T0", values, "v1"), made("T1", worse, "v2")])
    scores = [
        [Fraction(p + Fraction(str(r))) / 2 for t, (p, r) in one.items() if t != "d"]
        for one in (values, worse)
    ]
    means = [sum(one) / 3 for one in scores]
    assert present(result.mean_uplifts["T1"]) == pytest.approx(float(means[1] / means[0] - 1))
    medians = [median(one) for one in scores]
    assert present(result.uplifts["T1"]) == pytest.approx(float(medians[1] / medians[0] - 1))
    assert result.n_common_tasks == {"T1": 3}
    assert result.composite_variance == 0.0  # of the baseline alone


def test_what_one_tier_does_not_say_is_not_known() -> None:
    """Nothing is named that nobody can compare, and nothing is said where neither says it."""
    result = cross_tier([tier("T0", X), tier("T1", seed=1)])
    plain = cross_tier([tier("T0"), tier("T1", seed=1)])
    assert numbers(result) == numbers(plain)
    assert str(result).endswith("not known of one tier or of several: judge, rubric")
    assert "not known" not in str(plain)
    other = [tier(f"T{i}", Ruler(versions={"harness": f"{i}"}), seed=i) for i in range(2)]
    assert "another version of the harness: 0 -> 1; taken to score alike" in str(cross_tier(other))


def test_tiers_of_before_are_read() -> None:
    """Their JSON and their pickles have no ruler; what is not known is said once."""
    now = tier("T0")
    stored = json.loads(now.to_json())
    del stored["ruler"]
    old = TierStatistics.from_dict(stored)
    assert old.ruler is None
    assert str(cross_tier([old, tier("T1")])).count("not known") == 1
    assert "not known of one tier or of several: judge, versions, weights" in str(
        cross_tier([old, tier("T1")])
    )
    result = compare_reports(old, now)
    assert "not known of one run or of both: judge, versions, weights" in str(result)
    bare = pickle.loads(pickle.dumps(now))
    object.__delattr__(bare, "ruler")  # a slot that is not filled, as in a pickle of before
    again = pickle.loads(pickle.dumps(attrs.evolve(bare)))
    assert again.ruler is None
    assert bare == old
    across = json.loads(cross_tier([now, tier("T1")]).to_json())
    del across["rulers"]
    assert CrossTier.from_dict(across).rulers == {}


def test_a_stored_tier_is_compared_with_that_of_today() -> None:
    """As two reports are: their tasks are the cases."""
    before, now = tier("T0", X), tier("T0", X, loss=0.4, seed=1)
    result, plain = (
        compare_reports(*sides)
        for sides in ((before, now), (present(before.task_scores), present(now.task_scores)))
    )
    assert [*result.suites] == ["composite_score"]
    assert (result.suite.delta, result.suite.interval) == (plain.suite.delta, plain.suite.interval)
    assert "compared with" not in str(result)
    assert str(compare_reports(before, tier("T1", X))).startswith("T1 compared with T0: ")
    judged = compare_reports(before, tier("T0", Y))
    assert str(judged).startswith("another judge: x -> y for all 12 cases; ")
    with pytest.raises(RegressionError, match=r"^cannot tell: 0 of 12 cases were measured alike"):
        judged.raise_for_regressions()
    anchored = compare_reports(before, tier("T0", Y), rescored=tier("T0", Y))
    assert present(anchored.ruler).effects["composite_score"].n_anchors == 12
    rulers = compare_reports(tier("T0"), tier("T0"), rulers=({"judge": "x"}, {"judge": "y"}))
    assert [*present(rulers.ruler).differences] == ["another judge: x -> y for all 12 cases"]
    assert compare_models({"a": before, "b": now}).n_tasks == 12


@pytest.mark.parametrize("name", ["a", "judge", "weights of tests", "row_order", "version of x"])
def test_each_name_is_compared(name: str) -> None:
    """Whatever it means elsewhere; numbers are text, and a name of one tier alone counts."""
    known = {"judge": "z", name: 1}
    others = [known | {name: "1"}, known | {name: 2}, {"judge": "z"} | {"b": 1}]
    tiers = [tier(f"T{i}", own) for i, own in enumerate([known, *others])]
    assert [*cross_tier(tiers).rulers] == ["T2", "T3"]


@refusals("""
tier("T0", 1) -> TypeError: ruler must be a mapping from names to text, or a Ruler, got 1
tier("T0", {"a": []}) -> TypeError: ruler['a'] must be text, a number, or None, got []
tier("T0", {"": "x"}) -> InputError: a name of ruler must be a non-empty string, got ''
tier("T0", {"weights": "x"})
    -> InputError: weights of ruler must be those of the call, pass 0.5, impl 0.5, got 'x'
tier("T0", Ruler(settings={"pass@1": {"a": "1"}}))
    -> InputError: a measure of ruler must be one of 'pass_rate', 'impl_rate', 'cost_usd',
    'composite_score', 'cost_of_pass', got 'pass@1'
tier("T0", Ruler(cases={"q": {"a": "1"}}), of=runs(tasks=[None]))
    -> InputError: ruler must be of no tasks, as the runs name none, got 'q'
cross_tier([tier("T0")], ruler="best") -> InputError: ruler must be one of 'common', 'refuse',...
compare_reports(tier("T0", of=runs(tasks=[None])), tier("T0"))
    -> TypeError: baseline must be a CodeReport, a SqlReport or a mapping from case to score (or
    a tier whose runs name their tasks), got TierStatistics(...
compare_reports(tier("T0", X), tier("T0", X), rulers=({"judge": "z"}, {}))
    -> InputError: rulers[0] must be a mapping of what baseline does not say itself, got ['judge']
compare_reports(tier("T0"), {"t00": 1})
    -> TypeError: current must be a TierStatistics like baseline, got {'t00': 1}
""")
def test_mistakes_are_named(wrong: Refusal) -> None:
    """What is wrong, what it may be, and what was given."""
    wrong.by_itself()


def test_a_ruler_of_plain_mappings_hashes() -> None:
    """It can be made by hand, without a type of our own."""
    ruler = Ruler(settings={"": {"judge": "x"}}, cases={"t": {"a": "1"}}, versions={"v": "1"})
    assert hash(ruler) == hash(Ruler.from_json(ruler.to_json()))
    assert scorekit.tier_statistics("T0", runs(), ruler=ruler).ruler != ruler
