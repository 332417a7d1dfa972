"""Many models at once: published tables, errors, laws, and scipy as the oracle."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals
from scipy import optimize, stats

from scorekit import (
    CodeReport,
    CodeSample,
    ModelComparison,
    SqlCase,
    SqlReport,
    bradley_terry,
    code_report,
    code_report_from_columns,
    compare_models,
    paired_difference,
    ranking,
    score_sql_cases,
)
from scorekit.errors import InputError
from scorekit.intervals import unseen_interval

NEITHER = "scores must be a mapping from model to its scores by task, or reports of several models"


def by_model(table: Any) -> dict[str, dict[int, Any]]:
    """Return columns of scores as `compare_models` takes them."""
    return {
        f"m{j}": dict(enumerate(column)) for j, column in enumerate(np.array(table).T.tolist())
    }


TABLES = st.integers(2, 5).flatmap(
    lambda m: st.lists(st.lists(st.integers(0, 4), min_size=m, max_size=m), min_size=2, max_size=9)
)


@given(TABLES)
def test_all_signs_are_counted(table: list[list[int]]) -> None:
    """Oracle: enumeration of signs, and the definition of max-t; of each pair alone
    `paired_difference`, whose test of signs is exact too.
    """
    array = np.array(table, dtype=np.float64)
    result = compare_models(by_model(array))
    deltas = {
        (pair.first, pair.second): array[:, int(pair.first[1:])] - array[:, int(pair.second[1:])]
        for pair in result.pairs
    }

    def size(values: Any) -> float:
        scale = math.sqrt(np.sum(values**2))
        return abs(float(values.sum())) / scale if scale else 0.0

    seen = [size(values) for values in deltas.values()]
    signs = np.array(list(itertools.product([1, -1], repeat=len(array))))
    flipped = np.array([[size(s * values) for values in deltas.values()] for s in signs[:512]])
    tops = flipped.max(axis=1)
    for i, pair in enumerate(result.pairs):
        largest = float(np.mean(tops >= seen[i] - 1e-9))
        assert pair.adjusted_p_value == pytest.approx(largest)
        alone = paired_difference([0.0] * len(array), deltas[pair.first, pair.second])
        assert (pair.delta, pair.p_value) == pytest.approx((alone.delta, alone.sign_flip_p_value))
        assert (pair.interval is None) == (alone.interval is None)


def _is_one_story(result: ModelComparison) -> None:
    """The first line, ranks, verdicts and intervals say the same."""
    assert list(result.best) == [name for name, rank in result.ranks.items() if rank.low == 1.0]
    assert result.best[0] == next(iter(result.means))
    is_shown = result.ranks[result.best[0]].high == 1.0
    assert is_shown == (len(result.best) == 1)
    line = str(result).splitlines()[0]
    assert ("not told apart" in line) == (not is_shown)
    for pair in result.pairs:
        assert pair.delta >= 0
        assert (pair.verdict == "better") == (pair.adjusted_p_value <= 0.05)
        if pair.interval is not None:
            assert (pair.verdict == "better") == (pair.interval.low > 0)
    if not is_shown and result.n_more_tasks is not None:
        assert result.n_more_tasks > 0
        assert f"about {result.n_more_tasks} more task" in str(result)


@given(TABLES, st.permutations(range(5)))
def test_laws(table: list[list[int]], order: list[int]) -> None:
    """Ranks follow from the verdicts; the order of the models does not matter, nor the unit."""
    scores = by_model(table)
    result = compare_models(scores)
    m = len(scores)
    for name, rank in result.ranks.items():
        better = sum(pair.second == name and pair.verdict == "better" for pair in result.pairs)
        worse = sum(pair.first == name and pair.verdict == "better" for pair in result.pairs)
        assert (rank.low, rank.high) == (1 + better, m - worse)
    assert list(result.means.values()) == sorted(result.means.values(), reverse=True)
    _is_one_story(result)
    names = [f"m{j}" for j in order if f"m{j}" in scores]
    moved = {name: {t: 8 * x - 4 for t, x in scores[name].items()} for name in names}
    other = compare_models(moved)
    assert other.ranks == result.ranks
    assert set(other.best) == set(result.best)


def test_drawn_signs_agree_with_all_of_them() -> None:
    """Twelve tasks are enumerated; drawing signs comes to the same, and a seed repeats it."""
    rng = np.random.default_rng(3)
    table = rng.normal(0, 1, (12, 4)) + np.array([0, 0.2, 0.6, 1.5])
    exact = compare_models(by_model(table))
    drawn = compare_models(by_model(table), n_resamples=1000, seed=1)
    again = compare_models(by_model(table), n_resamples=1000, seed=1)
    assert drawn == again
    assert drawn.pairs != exact.pairs  # of the 2,048 ways no more than 1,000 were asked for
    for one, other in zip(exact.pairs, drawn.pairs, strict=True):
        assert one.adjusted_p_value == pytest.approx(other.adjusted_p_value, abs=0.06)


def test_many_tasks_are_drawn_as_normal() -> None:
    """The same signs one by one, or their sums."""
    rng = np.random.default_rng(4)
    table = rng.random((4000, 3)) < np.array([0.5, 0.52, 0.55])
    as_normal = compare_models(by_model(table))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "MANY", math.inf)
        by_sign = compare_models(by_model(table))
    assert by_sign != as_normal
    for one, other in zip(by_sign.pairs, as_normal.pairs, strict=True):
        assert one.adjusted_p_value == pytest.approx(other.adjusted_p_value, abs=0.02)
        assert one.verdict == other.verdict
    assert as_normal.pairs[1].verdict == "better"


def test_ties_and_twins() -> None:
    """Models that are the same share all their ranks, wherever they stand."""
    tasks = range(12)
    good, bad = dict.fromkeys(tasks, 1.0), dict.fromkeys(tasks, 0.5)
    result = compare_models({"a": bad, "b": good, "c": good})
    assert result.best == ("b", "c")
    ranks = {name: ends(rank) for name, rank in result.ranks.items()}
    assert ranks == {"b": (1, 2), "c": (1, 2), "a": (3, 3)}
    twins = result.pairs[0]
    assert (twins.delta, twins.p_value, twins.verdict) == (0.0, 1.0, "inconclusive")
    assert [pair.interval for pair in result.pairs] == [None] * 3
    assert compare_models({"a": good, "b": good}).best == ("a", "b")


def test_few_tasks_show_nothing() -> None:
    """With five tasks no two-sided sign test reaches 5 %; a single one bounds nothing."""
    five, six = (
        compare_models({"a": dict.fromkeys(range(n), 1), "b": dict.fromkeys(range(n), 0)})
        for n in (5, 6)
    )
    assert (five.best, six.best) == (("a", "b"), ("a",))  # 2/32 and 2/64
    assert five.pairs[0].p_value == 2 / 2**5
    graded = compare_models({"a": {1: 0.5, 2: 0.7}, "b": {1: 0.1, 2: 0.2}}).pairs[0]
    low, high = ends(graded.interval)
    assert (low < -0.1, high > 1.0) == (True, True)
    assert compare_models({"a": {1: 1}, "b": {1: 0}}).pairs[0].interval is None


def test_attempts_count_as_their_mean_and_tasks_once() -> None:
    """Any sequence of attempts; tasks that a model lacks stay out."""
    first: Any = {"a": [1, 0, 1, 1], "b": np.array([0.0, 0.5]), "c": (True, False), "d": 1}
    second: dict[str, Any] = {"d": 0, "c": [0.25], "b": False, "a": 0.5, "e": 1}
    with pytest.raises(InputError, match=r"^bounds must be the lowest and the highest score poss"):
        compare_models({"x": first, "y": second})
    result = compare_models({"x": first, "y": second}, bounds=(0, 1))
    assert result.means == {"x": pytest.approx(0.625), "y": pytest.approx(0.1875)}
    assert (result.n_tasks, result.n_left_out) == (4, 1)
    assert result.n_tasks_by_model == {"x": 4, "y": 5}
    alone = compare_models({"x": first, "y": second, "T6": {"a": 1, "b": 0}}, bounds=(0, 1))
    few = "over 2 tasks, 3 left out (T6 has 2 of 5: compare the others without it))"
    assert str(alone).splitlines()[0].endswith(few)
    one = compare_models({"x": {"a": 1}, "y": {"a": 0}})
    assert str(one).startswith("best: x or y; not told apart (95 %, 2 models over 1 task)")
    lists = {t: [1, 0] for t in "abcdefgh"}
    mixed = compare_models({"x": lists, "y": dict.fromkeys("abcdefgh", (True, 0.0))})
    assert mixed.means == {"x": 0.5, "y": 0.5}
    words = "best: x or y; not told apart (95 %, 2 models over 4 tasks, 1 left out (x has 4 of 5))"
    assert str(result).splitlines()[0] == words
    assert str(result.pairs[0]).startswith("x - y: inconclusive, +0.4 [")


@refusals("""
{"a": {1: 1}} -> InputError: scores must be a mapping of at least two models, got 1
{"a": {1: 1}, "b": {2: 1}}
    -> InputError: scores must be a mapping of models that share a task, got {'a': ['1'], 'b':
    ['2']}
{"a": {}, "b": {}}
    -> InputError: scores must be those of at least two models with a known outcome, got []
{"a": {"t": math.inf}, "b": {"t": 1}}
    -> InputError: scores['a']['t'] must be a number in [-1e+100, 1e+100], got inf
{"a": {"t": [0, 1e101]}, "b": {"t": 1}}
    -> InputError: scores['a']['t'][1] must be a number in [-1e+100, 1e+100], got 1e+101
{"a": {"t": [None, math.nan]}, "b": {"t": 1}}
    -> InputError: scores must be those of at least two models with a known outcome, got ['b']
{"a": {"t": []}, "b": {"t": 1}}
    -> InputError: scores['a']['t'] must be a non-empty sequence of scores, got ()
{"a": {"t": "1"}, "b": {"t": 1}}
    -> TypeError: scores['a']['t'] must be a score in [-1e+100, 1e+100], True, False, or a
    sequence of them, got '1'
{"a": [1, 2], "b": {"t": 1}}
    -> TypeError: scores['a'] must be a mapping from task to score, a Series, or a report,
    got [1, 2]
[1, 2] -> TypeError: scores[0] must be a Report, got 1
1 -> TypeError: {NEITHER}, got 1
{0.5: {"t": 1}, "b": {"t": 1}}
    -> TypeError: a model of scores must be a non-empty string or an integer, got 0.5
{"a": {"t": 1}, "b": {"t": 1, ("t",): 1}}
    -> TypeError: a task of scores['b'] must be a non-empty string or an integer, got ('t',)
{"a": {1: 1, "1": 0}, "b": {1: 1}}
    -> InputError: a task of scores['a'] must be unlike all others, the integer 1 like '1', got
    '1'
""")
def test_errors_of_compare_models(wrong: Refusal) -> None:
    """Each message names the place, its domain and the value it got."""
    wrong.by_value(compare_models)
    with pytest.raises(InputError, match="must be a number in"):
        compare_models({"a": {"t": 10**400}, "b": {"t": 1}})


# Preferences.

JOURNALS = ("Biometrika", "Comm Statist", "JASA", "JRSS-B")
COUNTS = (730, 498, 221, 33, 68, 17, 320, 813, 142, 284, 276, 325)
CITATIONS = dict(zip(itertools.permutations(JOURNALS, 2), COUNTS, strict=True))
"""Stigler 1994: citations between statistics journals."""


def test_published_citations() -> None:
    """Turner and Firth's BradleyTerry2: abilities relative to Biometrika's."""
    found = bradley_terry(CITATIONS).strengths
    relative = {name: strength - found["Biometrika"] for name, strength in found.items()}
    published = {"Biometrika": 0.0, "Comm Statist": -2.9491, "JASA": -0.4796, "JRSS-B": 0.2690}
    assert relative == pytest.approx(published, abs=1e-4)


def _likelihood(wins: Mapping[tuple[str, str], float], strengths: Mapping[str, float]) -> float:
    return -math.fsum(
        n * np.logaddexp(0.0, strengths[b] - strengths[a]) for (a, b), n in wins.items()
    )


@pytest.mark.sampled
@pytest.mark.parametrize(("n_old", "n_new"), [(1, 10), (10, 1)])
def test_models_with_unequal_attempts_are_bounded(n_old: int, n_new: int) -> None:
    """By Gaffke's bounds at one level for all pairs; few equal models are distinguished."""
    rng = np.random.default_rng(4)
    n_wrong = 0
    for _ in range(60):
        sides = {
            name: dict(enumerate((rng.random((20, n)) < 0.95).tolist()))
            for name, n in (("x", n_old), ("y", n_new), ("z", n_new))
        }
        result = compare_models(sides, bounds=(0, 1))
        n_wrong += any(pair.verdict == "better" for pair in result.pairs)
        for pair in result.pairs:
            deltas = np.array(
                [np.mean(sides[pair.first][i]) - np.mean(sides[pair.second][i]) for i in range(20)]
            )
            interval = unseen_interval(deltas, np.arange(20), 1 - 0.05 / 3)
            assert ends(pair.interval) == pytest.approx((interval.low, interval.high))
            assert present(pair.interval).method == "gaffke"
            assert pair.p_value <= pair.adjusted_p_value <= min(1.0, 3 * pair.p_value) + 1e-12
    assert n_wrong <= 6
    report = code_report_from_columns(
        case_id=["a"] * 6 + ["b"] * 6,
        model=["x", "y", "y", "y", "y", "y"] * 2,
        passed=[1, 0, 0, 0, 0, 0] * 2,
    )
    assert compare_models(report).pairs[0].verdict == "inconclusive"


@given(st.lists(st.integers(1, 30), min_size=12, max_size=12))
def test_strengths_are_those_of_maximum_likelihood(counts: list[int]) -> None:
    """Oracle: a general optimizer and its curvature, of four models."""
    pairs = list(itertools.permutations("abcd", 2))
    wins = dict(zip(pairs, counts, strict=True))
    result = bradley_terry(wins)
    assert math.fsum(result.strengths.values()) == pytest.approx(0.0, abs=1e-9)

    def loss(free: Any) -> float:
        return -_likelihood(wins, dict(zip("abcd", [*free, -np.sum(free)], strict=True)))

    best = optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-6})
    found = [result.strengths[name] for name in "abc"]
    assert found == pytest.approx(best.x.tolist(), abs=1e-4)
    assert -loss(found) >= -best.fun - 1e-9


@pytest.mark.parametrize(("won", "lost"), [(30, 10), (10, 10), (10**9, 10**9)])
def test_intervals_of_two_models_are_those_of_log_odds(won: int, lost: int) -> None:
    """Exact: half the log odds, whose variance is a quarter of 1 / wins + 1 / losses."""
    result = bradley_terry({("a", "b"): won, ("b", "a"): lost})
    reach = stats.norm.ppf(0.975) * math.sqrt(1 / won + 1 / lost) / 2
    middle = math.log(won / lost) / 2
    assert result.strengths["a"] == pytest.approx(middle)
    assert ends(result.intervals["a"]) == pytest.approx((middle - reach, middle + reach))
    assert (result.unbounded, result.n_comparisons) == ((), won + lost)


def test_a_cycle_is_a_tie() -> None:
    """Each beat the next as often: nobody is stronger."""
    result = bradley_terry({("a", "b"): 5, ("b", "c"): 5, ("c", "a"): 5})
    assert result.strengths == pytest.approx({"a": 0.0, "b": 0.0, "c": 0.0}, abs=1e-12)
    assert str(result).splitlines()[2].startswith("a      +0 [")


def test_who_won_or_lost_all_is_named() -> None:
    """The strengths of the others are as if they were not there; the finite end is exact."""
    core = {("a", "b"): 12, ("b", "a"): 8}
    result = bradley_terry({**core, ("top", "a"): 7, ("b", "low"): 3, ("higher", "top"): 1})
    assert result.unbounded == ("top", "higher", "low")
    assert list(result.strengths) == ["top", "higher", "a", "b", "low"]
    alone = bradley_terry(core)
    assert result.strengths["a"] == pytest.approx(alone.strengths["a"])
    found = {name: ends(interval) for name, interval in result.intervals.items()}
    assert found["higher"] == (-math.inf, math.inf)
    assert (found["top"][1], found["low"][0]) == (math.inf, result.strengths["low"])
    assert result.strengths["low"] == -math.inf

    def drop(strength: float) -> float:
        def loss(half: float) -> float:
            strengths = {"a": half, "b": -half, "top": strength}
            return -_likelihood({**core, ("top", "a"): 7}, strengths)

        best: Any = optimize.minimize_scalar(loss)
        return float(best.fun) + _likelihood(core, alone.strengths)

    assert drop(found["top"][0]) == pytest.approx(math.log(40), rel=1e-5)


def test_the_mirror_of_a_model_that_won_all() -> None:
    """Losing instead of winning turns every sign."""
    wins = {("a", "b"): 12, ("b", "a"): 8, ("top", "a"): 7, ("top", "b"): 2}
    one = bradley_terry(wins)
    other = bradley_terry({(b, a): n for (a, b), n in wins.items()})
    for name, interval in one.intervals.items():
        assert one.strengths[name] == pytest.approx(-other.strengths[name])
        assert interval.low == pytest.approx(-other.intervals[name].high)


def test_counts_far_apart_do_not_hang() -> None:
    """Newton's steps are halved where they go too far."""
    result = bradley_terry({("a", "b"): 1e9, ("b", "a"): 1, ("b", "c"): 1e9, ("c", "b"): 1})
    gap = result.strengths["a"] - result.strengths["b"]
    assert gap == pytest.approx(math.log(1e9), rel=1e-6)


@refusals("""
{} -> InputError: wins must be a mapping with at least one pair, got {}
[("a", "b")]
    -> TypeError: wins must be a mapping from (winner, loser) to a count, got [('a', 'b')]
{("a", "b"): 3, ("b", "c"): 1}
    -> InputError: wins must be such that two models have each beaten the other, directly or
    through others: no strength has a bound else, got {('a', 'b'): 3, ('b', 'c'): 1}
{("a", "b"): 3, ("b", "a"): 1, ("c", "d"): 1}
    -> InputError: wins must be comparisons that connect all models, got no chain of wins
    between 'c' and 'a'
{("a", "a"): 3} -> InputError: a key of wins must be a pair of two models, got ('a', 'a')
{"ab": 3} -> TypeError: a key of wins must be a pair (winner, loser), got 'ab'
{("a", 1): 3} -> TypeError: a model of wins must be a non-empty string, got 1
{("a", "b"): math.nan} -> InputError: wins[('a', 'b')] must be a number in [0, 1e+09], got nan
{("a", "b"): -1} -> InputError: wins[('a', 'b')] must be a number in [0, 1e+09], got -1
{("a", "b"): 3.5}
    -> InputError: wins[('a', 'b')] must be a whole number, ties left out, got 3.5
""")
def test_errors_of_bradley_terry(wrong: Refusal) -> None:
    """Each message names the place, its domain and the value it got."""
    wrong.by_value(bradley_terry)


def _report(**models: list[int]) -> CodeReport:
    return code_report(
        CodeSample(case_id=f"t{i}", model=model, compiled=True, passed=n, failed=2 - n)
        for model, column in models.items()
        for i, n in enumerate(column)
        for _ in range(1 + i % 2)
    )


RIGHT, WRONG, OPEN = "SELECT a FROM t", "SELECT b FROM t", "SELECT f(a) FROM t"


def _sql_report(model: str, queries: tuple[str, ...] = (RIGHT,)) -> SqlReport:
    schema = {"t": {"a": "int", "b": "int"}}
    cases = [
        SqlCase(case_id=i, generated=sql, expected=RIGHT, schema=schema)
        for i, sql in enumerate(queries)
    ]
    return score_sql_cases(cases, model=model)


def test_a_report_gives_its_models_and_cases() -> None:
    """As the mapping of the same scores does, by right and wrong or by code scores."""
    columns = {"a": [2, 2, 1, 0, 2, 2, 1], "b": [0, 1, 1, 0, 2, 0, 0, 1]}
    report = _report(**columns)
    right = {
        model: {f"t{i}": float(n == 2) for i, n in enumerate(column)}
        for model, column in columns.items()
    }
    assert compare_models(report) == attrs.evolve(compare_models(right), metric="pass@1")
    assert compare_models(report).n_left_out == 1
    graded = {
        one.model: {c.case_id: c.scores for c in report.cases if c.model == one.model}
        for one in report.models
    }
    found = attrs.evolve(compare_models(graded, bounds=(0, 1)), metric="code_score")
    assert compare_models(report, metric="code_score") == found


@refusals("""
compare_models(_report(a=[1, 2]))
    -> InputError: scores must be a report of at least two models (compare_reports() takes two
    reports of one each), got 'a'
compare_models(compare_reports(_report(a=[1]), _report(a=[1])))
    -> TypeError: scores must be a CodeReport or a SqlReport, got...
compare_models({"x": _report(a=[1], b=[1]), "y": _report(a=[1])})
    -> InputError: scores['x'] must be a report of one model, got 'a, b'...
compare_models([score_sql_cases([SqlCase(case_id=1, generated="")])] * 2)
    -> InputError: scores[0] must be a report that names a model of its...
compare_models(_report(a=[1], b=[1]), metric="pass@2")
    -> InputError: metric must be one of 'pass@1', 'code_score', got 'pass@2'
compare_models({"a": {1: 1}, "b": {1: 0}}, n_resamples=10)
    -> InputError: n_resamples must be an integer >= 1000, got 10
compare_models({"x": {"a": 3}, "y": {"a": 1}}, bounds=(0, 1))
    -> InputError: scores['x']['a'] must be a number in [0, 1], got 3
compare_models({"a": {"t": [-1, 2]}, "b": {"t": [0, 1]}}, bounds=(0, 1))
    -> InputError: scores['a']['t'][0] must be a number in [0, 1], got -1
compare_models({"a": {"t": [-1.0, 3.0, 0.0]}, "b": {"t": [0, 1]}}, bounds=(0, 1))
    -> InputError: scores['a']['t'][0] must be a number in [0, 1], got -1.0
_sql_report("large").for_model("small")
    -> InputError: name must be the model of this report ('large'), got...
compare_models([_sql_report("a"), _sql_report("b")], metric="pass@1")
    -> InputError: metric must be one of 'query_correctness', 'column...
""")
def test_reports_that_do_not_fit_are_refused(wrong: Refusal) -> None:
    """With what to call for them."""
    wrong.by_itself()


def test_a_notebook_shows_models_and_pairs() -> None:
    """Not the bare fields: who is the best, by how much, ranks, and what is known of each pair."""
    page = compare_models(_report(**{"<a>": [2] * 9, "b": [0] * 8 + [2]}))._repr_html_()
    head = "best in pass@1: &lt;a&gt;, +0.89 against b (95 %, 2 models over 9 tasks)<"
    words = ("[1,&nbsp;1]<", "&lt;a&gt; - b<", "better<", "+0.89&nbsp;[")
    for part in (
        head,
        *words,
        "All ranks and differences hold at once (95 %, by flipped signs), each mean by itself<",
    ):
        assert f">{part}" in page


def test_reports_of_one_model_each_are_compared() -> None:
    """Oracle: the same scores as mappings; an undecided pair is unknown, and counted."""
    large = _sql_report("large", (RIGHT, RIGHT, RIGHT, OPEN))
    small = _sql_report("small", (WRONG, RIGHT, WRONG, RIGHT))
    reports = [large, small]
    found = compare_models(reports)
    assert found.n_unknown == 1
    scores: dict[str, dict[int, float | None]] = {
        "large": {0: 1, 1: 1, 2: 1, 3: None},
        "small": {0: 0, 1: 1, 2: 0, 3: 1},
    }
    assert attrs.evolve(compare_models(scores), metric="query_correctness") == found
    assert compare_models({"large": large, "small": small}) == found
    assert compare_models(reports, metric="query_correctness") == found
    by_column = compare_models(reports, metric="column_accuracy")
    assert (by_column.n_tasks, by_column.n_unknown) == (4, 0)
    assert large.for_model("large") == large
    code = {name: _report(**{name: [1, 2]}) for name in "ab"}
    assert compare_models(code) == compare_models(_report(a=[1, 2], b=[1, 2]))


def test_unknown_outcomes_are_counted() -> None:
    """A report's and a mapping's; the text says that they may have gone either way."""
    rows: list[dict[str, Any]] = [
        {"case_id": f"c{i}", "model": model, "compiled": True, "passed": i % 3 > (model == "a")}
        for i in range(12)
        for model in "ab"
    ]
    known: dict[str, Any] = {name: [row[name] for row in rows * 2] for name in rows[0]}
    whole = compare_models(code_report_from_columns(**known))
    assert whole.n_unknown == 0
    assert "either way" not in str(whole)
    known["passed"][:3] = [None] * 3
    result = compare_models(code_report_from_columns(**known))
    assert (result.n_unknown, result.n_left_out) == (3, 0)
    assert ", 3 unknown outcomes)" in str(result)
    assert "differences and intervals hold whichever way unknown outcomes went" in str(result)


TERNARY = st.integers(2, 3).flatmap(
    lambda m: st.lists(
        st.lists(st.sampled_from((0, 1, None)), min_size=m, max_size=m), min_size=2, max_size=8
    )
)


@given(TERNARY)
def test_an_unknown_outcome_may_have_gone_either_way(table: list[list[int | None]]) -> None:
    """Oracle: every way in which the unknown outcomes of two models can have gone."""
    first, second = ([row[j] for row in table] for j in (0, 1))
    assume(all(any(one is not None for one in column) for column in (first, second)))
    result = compare_models({"a": dict(enumerate(first)), "b": dict(enumerate(second))})
    _is_one_story(result)
    (pair,) = result.pairs
    columns = {"a": first, "b": second}
    n_open = sum(one is None for one in first + second)
    assert result.n_unknown == n_open
    for ways in itertools.islice(itertools.product((0, 1), repeat=n_open), 64):
        rest = iter(ways)
        filled = {
            model: {i: next(rest) if one is None else one for i, one in enumerate(column)}
            for model, column in columns.items()
        }
        if len(result.best) == 1:
            found = compare_models(filled)
            assert found.best == result.best
            assert found.pairs[0].p_value <= pair.p_value + 1e-12
    worst = {
        model: {i: float(model != pair.first) if one is None else one for i, one in enumerate(own)}
        for model, own in columns.items()
    }
    if pair.verdict == "better":
        assert compare_models(worst).pairs[0].p_value == pytest.approx(pair.p_value)


def test_no_model_is_the_best_by_leaving_its_failures_out() -> None:
    """Three that are alike, of one of which no failure is known."""
    rng = np.random.default_rng(0)
    right = rng.random((200, 3)) < 0.7
    scores: dict[str, dict[int, bool | None]] = {
        name: dict(enumerate(right[:, j].tolist())) for j, name in enumerate("abc")
    }
    whole = compare_models(scores)
    assert set(whole.best) == {"a", "b", "c"}
    scores["c"] = {i: one or None for i, one in scores["c"].items()}
    result = compare_models(scores)
    assert result.means["c"] == 1.0
    assert set(result.best) == {"a", "b", "c"}
    low, high = ends(result.intervals["c"])
    assert (low, high) == (whole.intervals["c"].low, 1.0)
    assert all(ends(rank) == (1.0, 3.0) for rank in result.ranks.values())
    report = code_report_from_columns(
        case_id=[str(i) for i in range(200)] * 3,
        model=["a"] * 200 + ["b"] * 200 + ["c"] * 200,
        passed=[scores[name][i] for name in "abc" for i in range(200)],
    )
    assert "not told apart (95 %, 3 models over 200 tasks, " in str(report).splitlines()[0]


def test_unknown_outcomes_of_scores_need_their_bounds() -> None:
    """Nobody knows where an unknown score ends; of outcomes everybody does."""
    scores: dict[str, Any] = {"a": {1: 0.5, 2: None}, "b": {1: 0.25, 2: 0.75}}
    message = r"^bounds must be the lowest and the highest score possible, as outcomes are unknown"
    with pytest.raises(InputError, match=message):
        compare_models(scores)
    found = compare_models(scores, bounds=(0, 1))
    assert (found.n_tasks, found.means["a"], found.n_unknown) == (2, 0.5, 1)
    attempts: dict[str, Any] = {
        "a": {i: [1, None, 1] for i in range(9)},
        "b": {i: [0, 0, 0] for i in range(9)},
    }
    found = compare_models(attempts)
    assert (found.best, found.n_unknown, found.ranks["a"].method) == (("a",), 9, "max-t")
    low, high = ends(found.intervals["a"])
    assert (low < 2 / 3 < 1.0 == high, found.means["a"]) == (True, 1.0)


def test_the_next_step_is_about_the_first_two() -> None:
    """Oracle: with so many tasks more of the same kind they are told apart."""
    rng = np.random.default_rng(8)
    table = rng.normal(0, 1, (40, 3)) + np.array([0.4, 0.2, -3.0])
    result = compare_models(by_model(table))
    more = present(result.n_more_tasks)
    assert set(result.best) == {"m0", "m1"}
    n_told = 0
    for _ in range(40):
        drawn = table[rng.integers(0, 40, 40 + more)]
        n_told += len(compare_models(by_model(drawn), n_resamples=1000).best) == 1
    assert 24 <= n_told <= 39  # of 40 at 80 % power


def test_tasks_and_models_are_paired_by_name() -> None:
    """An integer is its digits, as everywhere: one file may have read them as text."""
    scores = {"1": {"7": 1.0, "8": 0.5}, "2": {"7": 0.0, "8": 0.5}}
    assert compare_models({1: {7: 1.0, 8: 0.5}, "2": scores["2"]}) == compare_models(scores)


def test_a_level_near_0_has_its_narrow_interval() -> None:
    """All signs then lie beyond, more than there are."""
    pair = compare_models({"a": {"t": 1, "u": 0}, "b": {"t": 0, "u": 0}}, confidence_level=1e-320)
    low, high = ends(pair.pairs[0].interval)
    assert low <= 0.5 <= high


@pytest.mark.sampled
@pytest.mark.parametrize(("m", "n"), [(2, 30), (4, 40)])
def test_a_best_model_is_seldom_left_out(m: int, n: int) -> None:
    """Simulation: all are equally good, and each is left out in at most one of twenty."""
    rng, out = np.random.default_rng(6), 0
    for seed in range(150):
        hard = rng.random(n)
        scores = {f"m{j}": dict(enumerate((rng.random(n) < hard) * 1.0)) for j in range(m)}
        best = compare_models(scores, n_resamples=1000, seed=seed).best
        out += m - len(best)
    assert out / 150 / m <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / 150 / m)


def test_ones_and_zeros_need_no_bounds() -> None:
    """Also where an outcome is missing, which makes the numbers of attempts unequal."""
    runs: dict[str, Any] = {
        "x": {task: [1, None, 0] for task in "abc"},
        "y": {task: [1, 1, 1] for task in "abc"},
    }
    assert compare_models(runs) == compare_models(runs, bounds=(0, 1))
    runs["y"]["a"] = [0.5, 1, 1]
    with pytest.raises(InputError, match=r"^bounds must be the lowest and the highest score"):
        compare_models(runs)


def test_the_best_with_unequal_attempts() -> None:
    """By bounds, one-sided: of so many models each pair counts as often as there are others."""
    rng = np.random.default_rng(3)
    scores = {
        f"m{j}": {i: (rng.random(1 + 4 * j) < 0.2 + 0.3 * j).tolist() for i in range(120)}
        for j in range(3)
    }
    result = compare_models(scores, bounds=(0, 1))
    assert result.best == ("m2",)
    assert result.ranks["m2"].method == "gaffke"
    _is_one_story(result)
    del scores["m2"][7], scores["m0"][9]
    scores["m1"] |= {i: [None, *own[1:]] for i, own in scores["m1"].items() if i < 5}
    other = compare_models(scores, bounds=(0, 1))
    assert (other.n_unknown, other.n_left_out) == (5, 2)
    _is_one_story(other)
