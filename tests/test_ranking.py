"""Many models at once: published tables, errors, laws, and scipy as the oracle."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals
from scipy import optimize, stats

from scorekit import (
    CodeReport,
    CodeSample,
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
    """Oracle: enumeration of signs, and the definition of max-t by steps; of each pair alone
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
    order = sorted(range(len(seen)), key=lambda i: -seen[i])
    signs = np.array(list(itertools.product([1, -1], repeat=len(array))))
    flipped = np.array([[size(s * values) for values in deltas.values()] for s in signs[:512]])
    worst = 0.0
    for step, i in enumerate(order):
        tops = flipped[:, order[step:]].max(axis=1)
        worst = max(worst, float(np.mean(tops >= seen[i] - 1e-9)))
        pair = result.pairs[i]
        assert pair.adjusted_p_value == pytest.approx(worst)
        alone = paired_difference([0.0] * len(array), deltas[pair.first, pair.second])
        assert (pair.delta, pair.p_value) == pytest.approx((alone.delta, alone.sign_flip_p_value))
        assert (pair.interval is None) == (alone.interval is None)


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
    assert next(iter(result.means)) in result.best
    for pair in result.pairs:
        assert pair.delta >= 0
        if pair.interval is not None and pair.interval.low > 1e-9:
            assert pair.verdict == "better"
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
    four, five = (
        compare_models({"a": dict.fromkeys(range(n), 1), "b": dict.fromkeys(range(n), 0)})
        for n in (4, 5)
    )
    assert (four.best, five.best) == (("a", "b"), ("a",))  # 1/16 and 1/32, one-sided
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
    assert str(one).startswith("may be the best: x, y (95 %, 2 models over 1 task)")
    lists = {t: [1, 0] for t in "abcdefgh"}
    mixed = compare_models({"x": lists, "y": dict.fromkeys("abcdefgh", (True, 0.0))})
    assert mixed.means == {"x": 0.5, "y": 0.5}
    words = "may be the best: x, y (95 %, 2 models over 4 tasks, 1 left out (x has 4 of 5))"
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
    -> TypeError: scores['a'] must be a mapping from task to score, or a report, got [1, 2]
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
    found = attrs.evolve(compare_models(graded), metric="code_score")
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
    head = "the best in pass@1: &lt;a&gt;, +0.89 against b (95 %, 2 models over 9 tasks)<"
    words = ("[1,&nbsp;1]<", "&lt;a&gt; - b<", "better<", "+0.89&nbsp;[")
    for part in (head, *words, "All ranks and differences hold at once (95 %)<"):
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
    """They do not count, and the text says where to ask what they change."""
    rows: list[dict[str, Any]] = [
        {"case_id": f"c{i}", "model": model, "compiled": True, "passed": i % 3 > (model == "a")}
        for i in range(12)
        for model in "ab"
    ]
    known: dict[str, Any] = {name: [row[name] for row in rows * 2] for name in rows[0]}
    whole = compare_models(code_report_from_columns(**known))
    assert whole.n_unknown == 0
    known["passed"][:3] = [None] * 3
    result = compare_models(code_report_from_columns(**known))
    assert result.n_unknown == 3
    assert ", 3 unknown outcomes left out)" in str(result)
    assert "compare_reports() says what holds whichever way unknown outcomes went" in str(result)


def test_tasks_and_models_are_paired_by_name() -> None:
    """An integer is its digits, as everywhere: one file may have read them as text."""
    scores = {"1": {"7": 1.0, "8": 0.5}, "2": {"7": 0.0, "8": 0.5}}
    assert compare_models({1: {7: 1.0, 8: 0.5}, "2": scores["2"]}) == compare_models(scores)


def test_a_level_near_0_has_its_narrow_interval() -> None:
    """All signs then lie beyond, more than there are."""
    pair = compare_models({"a": {"t": 1, "u": 0}, "b": {"t": 0, "u": 0}}, confidence_level=1e-320)
    low, high = ends(pair.pairs[0].interval)
    assert low <= 0.5 <= high


@given(TABLES)
def test_the_best_by_all_signs(rows: list[list[int]]) -> None:
    """Oracle: plain loops over all ways to flip the tasks, from those not shown worse on."""
    table = np.array(rows, float)
    n, m = table.shape
    result = compare_models(by_model(table))
    signs = np.array(list(itertools.product((-1, 1), repeat=n)))

    def statistic(sums: Any, i: int, j: int) -> Any:
        square = float(((table[:, i] - table[:, j]) ** 2).sum())
        return (sums[..., j] - sums[..., i]) / math.sqrt(square) if square else 0.0 * sums[..., 0]

    left = [j for j in range(m) if result.ranks[f"m{j}"].low == 1.0]
    while True:
        kept = []
        for i in left:
            others = [j for j in left if j != i]
            if not others:
                kept.append(i)
                continue
            seen = max(float(statistic(table.sum(axis=0), i, j)) for j in others)
            flipped = signs @ (table - table[:, :1])
            tops = np.max([statistic(flipped, i, j) for j in others], axis=0)
            if np.mean(tops >= seen - 1e-6) > 0.05 or seen <= 0:
                kept.append(i)
        if kept == left:
            break
        left = kept
    assert sorted(result.best) == sorted(f"m{j}" for j in left)


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


@pytest.mark.slow
def test_the_best_of_many_are_few() -> None:
    """One clear winner among thirty, and two hundred: fewer names than ranks that include 1."""
    rng = np.random.default_rng(2)
    for m in (30, 200):
        hard = rng.normal(0, 1, 150)
        scores = {
            f"m{j}": dict(enumerate((rng.random(150) < 1 / (1 + np.exp(-hard - j / m))) * 1.0))
            for j in range(m)
        }
        result = compare_models(scores, n_resamples=1000)
        many = [name for name, rank in result.ranks.items() if rank.low == 1.0]
        assert set(result.best) < set(many)
        assert result.best[0] == next(iter(result.means))


def test_ones_and_zeros_need_no_bounds() -> None:
    """Also where an outcome is missing, which makes the numbers of attempts unequal."""
    runs = {
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
