"""What runs were measured with, and what a comparison makes of two runs with two rulers."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from refusals import Refusal, refusals
from sql_suites import FULL

import scorekit
from benchmarks.simulations.simulate_rulers import WORLDS, Found, found
from scorekit import (
    CodeSample,
    CodeWeights,
    Comparison,
    RegressionError,
    Ruler,
    SqlCase,
    SqlOptions,
    SqlReport,
    code_report,
    compare_reports,
    judge_from_function,
    rescore,
    score_sql_cases,
)
from scorekit._stats.split import split_change
from scorekit.rulers import CONCERNS, NO_RULE, NO_SCORE

SCHEMA = "CREATE TABLE r (id INT PRIMARY KEY, d INT)"
ABOVE, FROM = "SELECT id FROM r WHERE d > 3", "SELECT id FROM r WHERE d >= 3"


def case(i: int, generated: str = ABOVE, **given: Any) -> SqlCase:
    """Make a case that evidence decides."""
    known: dict[str, Any] = {"expected": ABOVE, "schema": SCHEMA, "dialect": "sqlite"}
    return SqlCase(case_id=f"q{i:02}", generated=generated, **{**known, **given})


def run(n: int = 12, *, judge: Any = None, **given: Any) -> SqlReport:
    """Score the same answer to several questions."""
    options = {name: given.pop(name) for name in [*given] if name in OPTIONS}
    metrics = given.pop("metrics", ["query_correctness"])
    cases = [case(i, **given) for i in range(n)]
    return score_sql_cases(cases, judge=judge, metrics=metrics, **options)


OPTIONS = {*attrs.fields_dict(SqlOptions)} | {"evidence", "engine"}


def judge(identity: str, says: Callable[[str], float] = lambda _: 1.0) -> Any:
    """Make a judge that answers by the generated text."""
    return judge_from_function(lambda request: says(request.generated), identity=identity)


def asked(i: int, generated: str = "SELECT f(x) FROM u", **given: Any) -> SqlCase:
    """Make a case that only a judge decides."""
    return SqlCase(case_id=f"q{i:02}", generated=generated, expected="SELECT g(x) FROM u", **given)


def judged(who: Any, texts: Mapping[int, str] | None = None, n: int = 30) -> SqlReport:
    """Score cases that only a judge decides."""
    texts = texts or {}
    cases = [asked(i, texts.get(i, f"SELECT f(x, {i}) FROM u")) for i in range(n)]
    return score_sql_cases(cases, judge=who, metrics=["query_correctness"])


def changed(result: Comparison) -> list[str]:
    """Return what differs between the rulers of a comparison."""
    assert result.ruler is not None
    return list(result.ruler.differences)


def test_another_reference_is_no_worse_system() -> None:
    """The same SQL in both runs: only the references were edited, and that is said first."""
    before, now = run(), run(expected=FROM)
    result = compare_reports(before, now)
    assert result.suite.verdict != "regressed"
    assert result.suite.delta == 0.0
    assert str(result).startswith("12 references changed; ")
    result.raise_for_regressions()
    assert result.ruler is not None
    effect = result.ruler.effects["query_correctness"]
    assert (effect.verdict, effect.delta, effect.n_anchors) == ("stricter", -1.0, 12)


def test_one_ruler_says_nothing() -> None:
    """Where all was measured alike, a comparison reads as if there were no rulers."""
    result = compare_reports(run(), run(generated=FROM))
    assert changed(result) == []
    assert result.suite.verdict == "regressed"
    assert "ruler" not in str(result)


def test_ignored_and_refused() -> None:
    """Both ways out say what differs."""
    before, now = run(), run(expected=FROM)
    result = compare_reports(before, now, ruler="ignore")
    assert result.suite.verdict == "regressed"
    assert str(result).startswith("12 references changed (ignored), so this is no verdict on ")
    words = "current must be measured with the ruler of baseline where ruler='refuse', got 12 ref"
    with pytest.raises(scorekit.InputError, match=words):
        compare_reports(before, now, ruler="refuse")
    assert compare_reports(before, before, ruler="refuse").suite.delta == 0.0


def test_some_references_leave_the_others() -> None:
    """Answers that changed are compared where the reference did not."""
    answers = [ABOVE if i < 8 else FROM for i in range(20)]
    old = [case(i) for i in range(20)]
    new = [case(i, answers[i], expected=FROM if i < 4 or i > 17 else ABOVE) for i in range(20)]
    before, now = (score_sql_cases(one, metrics=["query_correctness"]) for one in (old, new))
    result = compare_reports(before, now)
    assert result.ruler is not None
    assert changed(result) == ["6 references changed"]
    # four answers did not change, two did: these alone are left out
    assert (result.ruler.n_otherwise, result.ruler.n_left, result.suite.n_cases) == (6, 18, 18)
    assert result.suite.delta == pytest.approx(-10 / 18)


def test_too_few_measured_alike_cannot_tell() -> None:
    """Fewer than half, and no anchors: the job stops, and the message says what to do."""
    before, now = run(), run(generated="SELECT id FROM r WHERE d > 4", expected=FROM)
    result = compare_reports(before, now)
    with pytest.raises(RegressionError, match=r"^cannot tell: 0 of 12 cases were measured alike"):
        result.raise_for_regressions()
    assert "no case of query_correctness was measured alike: " in str(result)
    result.raise_for_regressions(cannot_tell="pass", cannot_see="pass")


def test_another_judge_of_the_same_answers() -> None:
    """It calls every third answer wrong, and the system has not changed."""
    strict = judge("strict", lambda sql: float(int(sql.split()[2][:-1]) % 3 != 0))
    result = compare_reports(judged(judge("mild")), judged(strict))
    assert changed(result) == ["another judge: mild -> strict for all 30 cases"]
    result.raise_for_regressions()
    assert result.ruler is not None
    effect = result.ruler.effects["query_correctness"]
    assert effect.verdict == "stricter"
    assert effect.delta == pytest.approx(-1 / 3)
    assert effect.interval.low < -1 / 3 < effect.interval.high < 0.0


def test_a_judge_that_changes_its_mind() -> None:
    """The same judge on the same answers: that is the judge's change, and counted."""
    moody = iter([*[1.0] * 30, *([0.0] * 7 + [1.0] * 23)])
    who = judge("moody", lambda _: next(moody))
    result = compare_reports(judged(who), judged(who))
    assert result.ruler is not None
    assert (result.ruler.n_changed_mind, result.ruler.n_judged_twice) == (7, 30)
    assert result.suite.delta == 0.0
    assert "changed its mind about 7 of the 30 unchanged answers" in str(result)


def test_what_nobody_decided_and_nobody_changed_has_not_changed() -> None:
    """20 of 60 pairs undecided and identical, 16 of the others refuted now: exactly -16 / 60."""
    cases = [case(i) for i in range(40)] + [asked(i) for i in range(40, 60)]
    now = [case(i, FROM if i < 16 else ABOVE) for i in range(40)]
    before, after = (
        score_sql_cases(one, metrics=["query_correctness"]) for one in (cases, now + cases[40:])
    )
    result = compare_reports(before, after)
    assert result.suite.delta == pytest.approx(-16 / 60, abs=1e-15)
    assert (result.suite.n_cases, result.suite.verdict) == (60, "regressed")
    assert result.suite.delta_bounds is None
    assert "20 cases undecided and the same in both runs" in str(result)


def test_anchors_tell_the_system_from_the_judge() -> None:
    """Another judge and another system: answers of before that were judged anew part the two."""
    rng = random.Random(5)  # noqa: S311 - for tests
    old = {i: f"SELECT f(x, {rng.random() < 0.8}) FROM u{i}" for i in range(60)}
    new = {i: f"SELECT f(x, {rng.random() < 0.2}, 2) FROM u{i}" for i in range(60)}
    mild = judge("mild", lambda sql: float("True" in sql))
    strict = judge("strict", lambda sql: float("True" in sql and "u1" not in sql))
    before, now = judged(mild, old, 60), judged(strict, new, 60)
    cases = [asked(i, new[i]) for i in range(60)]
    rescored = rescore(before, cases, judge=strict, n=30)
    result = compare_reports(before, now, rescored=rescored)
    assert result.ruler is not None
    assert result.ruler.is_split
    system, effect = result.suite, result.ruler.effects["query_correctness"]
    whole = compare_reports(before, now, ruler="ignore").suite.delta
    assert system.delta + effect.delta == pytest.approx(whole)
    assert (system.verdict, effect.n_anchors) == ("regressed", 30)
    assert system.current_mean - system.baseline_mean == pytest.approx(system.delta)
    assert system.interval.low < system.delta < system.interval.high < 0.0
    with pytest.raises(RegressionError, match="regressed"):
        result.raise_for_regressions()


def test_all_answers_rescored_are_an_ordinary_comparison() -> None:
    """Nothing is estimated where both runs are known by one ruler."""
    old = {i: f"SELECT {i % 2} FROM u" for i in range(20)}
    new = {i: f"SELECT {i % 3}, 1 FROM u" for i in range(20)}
    mild, strict = judge("mild"), judge("strict", lambda sql: float("1" in sql))
    before, now = judged(mild, old, 20), judged(strict, new, 20)
    rescored = rescore(before, [asked(i) for i in range(20)], judge=strict)
    result = compare_reports(before, now, rescored=rescored)
    plain = compare_reports(rescored, now)
    assert result.ruler is not None
    assert not result.ruler.is_split
    assert result.suite == plain.suite


def test_mappings_say_what_they_were_measured_with() -> None:
    """Any names and texts; without anchors nothing can be told."""
    before, now = dict.fromkeys(range(20), 1.0), dict.fromkeys(range(20), 0.9)
    result = compare_reports(before, now, rulers=({"rubric": "v1"}, {"rubric": "v2"}))
    assert changed(result) == ["rubric: v1 -> v2"]
    with pytest.raises(RegressionError, match="cannot tell"):
        result.raise_for_regressions()
    same = {"rubric": "v1"}
    assert changed(compare_reports(before, now, rulers=(same, same))) == []
    assert compare_reports(before, now).ruler is None
    anchors = dict.fromkeys(range(10), 0.9)
    rulers = {"rubric": "v1"}, {"rubric": "v2", "judge": "x"}
    result = compare_reports(before, now, rulers=rulers, rescored=anchors)
    assert changed(result) == [
        "rubric: v1 -> v2",
        "another judge: none -> x for all 20 cases",
    ]
    assert result.suite.delta == pytest.approx(0.0)
    assert result.suite.verdict != "regressed"


CHANGES: dict[str, dict[str, Any]] = {
    "rule": {"rule": "spider"},
    "row_order": {
        "expected": f"{ABOVE} ORDER BY id",
        "generated": f"{ABOVE} ORDER BY d",
        "row_order": "ignored",
    },
    "semantics": {"semantics": "set"},
    "column_order": {"column_order": "ignored"},
    "tolerance": {"tolerance": 0.5},
    "keys": {"keys": {"r": [("d",)]}},
    "evidence": {"evidence": "judge"},
    "contested": {"contested": "refuted"},
    "functions": {"functions": "built_in"},
    "dialect": {"dialect": "duckdb"},
    "schema": {"schema": f"{SCHEMA}; CREATE TABLE s (x INT)"},
    "expected": {"expected": FROM},
}
"""What of a run is changed, one at a time, against `run()`; *row_order* against its own."""


@pytest.mark.parametrize("name", CHANGES)
def test_each_part_of_a_ruler_is_named(name: str) -> None:
    """A comparison says what differs, whatever it is."""
    given = CHANGES[name]
    who = judge("one")
    before = run(judge=who, **{k: v for k, v in given.items() if name == "row_order" != k})
    (said,) = changed(compare_reports(before, run(judge=who, **given)))
    assert {"expected": "reference"}.get(name, name.replace("_", " ")) in said


def test_every_option_is_part_of_a_ruler() -> None:
    """Or it changes no score: a new field of a case or an option has to be placed."""
    known = {*CONCERNS, *NO_SCORE, *NO_RULE, "case_id", "tags", "options"}
    fields = {*attrs.fields_dict(SqlCase), *attrs.fields_dict(SqlOptions)}
    assert fields - known == set(), "place it in CONCERNS of scorekit/rulers.py"
    options = {*attrs.fields_dict(SqlOptions)} - {*NO_RULE}
    assert options - CHANGES.keys() == set(), "change it in CHANGES here"


def samples() -> list[CodeSample]:
    """Make samples of which the linter has something to say."""
    return [
        CodeSample(case_id=i, model="m", compiled=True, passed=i % 2, failed=1, warnings=i % 3)
        for i in range(12)
    ]


def test_weights_move_the_code_score_alone() -> None:
    """pass@1 is compared as ever; proportions that mean the same are one ruler."""
    before = code_report(samples())
    now = code_report(samples(), weights=CodeWeights(compilation=1, tests=0, clippy=0))
    result = compare_reports(before, now)
    (said,) = changed(result)
    assert said.startswith("weights: compilation 0.4, tests 0.5, clippy 0.1 -> compilation 1")
    assert result.suites["pass@1"].delta == 0.0
    assert [*result.suites] == ["pass@1"]
    assert "no case of code_score was measured alike" in str(result)
    with pytest.raises(RegressionError, match="cannot tell: 0 of 12 cases were measured alike"):
        result.raise_for_regressions()
    alike = code_report(samples(), weights=CodeWeights(compilation=4, tests=5, clippy=1))
    assert changed(compare_reports(before, alike)) == []
    assert changed(compare_reports(before, now, metrics=["pass@1"])) == []


def test_a_report_of_before_says_what_is_not_known() -> None:
    """Its references are compared; of the judge and of versions nothing is said but that."""
    report = judged(judge("x"), n=6)
    data = json.loads(report.to_json())
    del data["versions"]
    for one in data["cases"]:
        del one["query_correctness"]["judge"]
    old = SqlReport.from_dict(data)
    result = compare_reports(old, judged(judge("y"), n=6))
    assert changed(result) == []
    assert "not known of one run or of both: judge, versions" in str(result)
    code = json.loads(code_report(samples()).to_json())
    del code["ruler"]
    unknown = compare_reports(scorekit.CodeReport.from_dict(code), code_report(samples())).ruler
    assert unknown is not None
    assert unknown.unknown == ("versions", "weights")


METRIC = ["query_correctness"]


def mixed_first() -> SqlReport:
    """Score the first of several attempts at one case."""
    cases = [asked(0, f"SELECT f(x, {i}) FROM u") for i in range(6)]
    return score_sql_cases(cases, judge=judge("x"), metrics=METRIC)


def test_plain_data_have_no_field_that_says_nothing() -> None:
    """Of thousands of pairs few take too long; what was left out is read as it was."""
    decided, open_pair = judged(judge("x"), n=1), score_sql_cases([asked(0)], metrics=METRIC)
    data, undecided = (
        one.to_dict()["cases"][0]["query_correctness"] for one in (decided, open_pair)
    )
    assert "prompt_tokens" not in data
    assert "timed_out" not in data["equivalence"]
    assert undecided["prompt_tokens"]
    for report in (decided, open_pair):
        assert SqlReport.from_json(report.to_json()) == report
    result: Any = decided.cases[0].query_correctness
    late = attrs.evolve(result.equivalence, timed_out=True)
    assert late.to_dict()["timed_out"] is True
    assert type(late).from_dict(late.to_dict()) == late


def test_two_judges_in_one_run_are_named() -> None:
    """As where a report was resumed with another judge."""
    first = judged(judge("x"), n=6)
    cases = [asked(i, f"SELECT f(x, {i}) FROM u") for i in range(12)]
    both = score_sql_cases(cases, judge=judge("y"), resume=first, metrics=["query_correctness"])
    assert set(both.ruler.judges.values()) == {"x", "y"}
    assert "current has several judges: x, y" in str(compare_reports(both, both))
    one = judged(judge("x and y"), n=6)
    assert "several judges" not in str(compare_reports(one, one))
    attempts = [asked(0, f"SELECT f(x, {i}) FROM u") for i in range(12)]
    mixed = score_sql_cases(attempts, judge=judge("y"), resume=mixed_first(), metrics=METRIC)
    assert str(mixed.ruler).startswith("13 settings, 1 case with references of their own, ")
    assert "judged by x, y" in str(mixed.ruler)
    result = compare_reports(mixed_first(), mixed)
    assert changed(result) == ["another judge: x -> x and y for the only case"]


def test_what_is_not_known_of_a_mapping_is_not_compared() -> None:
    """None at a name; numbers are text."""
    before, now = dict.fromkeys(range(8), 1.0), dict.fromkeys(range(8), 0.9)
    rulers = {"judge": None, "heat": 0.5}, {"judge": "y", "heat": "0.5"}
    ruler = compare_reports(before, now, rulers=rulers).ruler
    assert ruler is not None
    assert (ruler.unknown, dict(ruler.differences)) == (("judge",), {})
    for name in (*CONCERNS, "version of metrics", "weights"):  # whatever they mean elsewhere
        other = compare_reports(before, now, rulers=({name: "1"}, {name: "2"}))
        assert changed(other) == [f"{name.replace('_', ' ')}: 1 -> 2"]


@pytest.mark.parametrize("changed_part", ["generated", "expected"])
def test_digests_that_collide_by_hand_hide_nothing(changed_part: str) -> None:
    """The text itself counts, whatever digest somebody wrote beside it."""
    given: dict[str, Any] = {changed_part: FROM}
    before, honest = run(), run(**given)
    data = json.loads(honest.to_json())
    for one, old in zip(data["cases"], json.loads(before.to_json())["cases"], strict=True):
        one["input_digests"] = old["input_digests"]
    forged, true = (
        compare_reports(before, SqlReport.from_dict(data)),
        compare_reports(before, honest),
    )
    assert (forged.suite, changed(forged)) == (true.suite, changed(true))


def test_another_meaning_of_metrics_is_named() -> None:
    """As of a report that a newer version made; a newer form of a ruler is refused."""
    data = json.loads(run(generated=FROM).to_json())
    data["versions"] = {"metrics": "2"}
    result = compare_reports(run(), SqlReport.from_dict(data))
    assert changed(result) == ["version of metrics: 1 -> 2"]
    with pytest.raises(RegressionError, match="cannot tell: 0 of 12"):
        result.raise_for_regressions()
    newer = {**run().ruler.to_dict(), "aspects": {}}
    with pytest.raises(scorekit.InputError, match=r"no keys but settings, .* got 'aspects'"):
        Ruler.from_dict(newer)


def test_other_attempts_are_no_same_answers() -> None:
    """Two of three answers are as before: what is known of one run is not known of the other."""

    def suite(n: int, who: Any) -> SqlReport:
        cases = [asked(i, f"SELECT f(x, {j}) FROM u") for j in range(n) for i in range(8)]
        return score_sql_cases(cases, judge=who, metrics=["query_correctness"])

    result = compare_reports(suite(2, judge("x")), suite(3, judge("y")))
    assert result.ruler is not None
    assert (result.ruler.n_otherwise, result.ruler.n_left) == (8, 0)
    with pytest.raises(RegressionError, match="cannot tell"):
        result.raise_for_regressions()


def test_a_reference_that_is_gone_or_new_is_named() -> None:
    """A run without references has nothing of that metric, and the gate says so."""
    given: dict[str, Any] = {
        "metrics": ["query_correctness", "table_accuracy"],
        "expected_tables": ["r"],
    }
    having, lacking = run(**given), run(expected=None, **given)
    assert changed(compare_reports(lacking, lacking)) == []
    assert changed(compare_reports(lacking, having)) == ["12 references changed"]
    result = compare_reports(having, lacking)
    assert changed(result) == ["12 references changed"]
    with pytest.raises(RegressionError, match="query_correctness missing from the current run"):
        result.raise_for_regressions()


def test_anchors_of_which_nothing_is_known_decide_nothing() -> None:
    """No score at any of them; and too few of them leave too little."""
    before, now = dict.fromkeys(range(9), 1.0), dict.fromkeys(range(9), 0.5)
    rulers = {"rubric": "v1"}, {"rubric": "v2"}
    unknown = compare_reports(before, now, rulers=rulers, rescored=dict.fromkeys(range(9), None))
    with pytest.raises(scorekit.CannotSeeError):
        unknown.raise_for_regressions()
    few = compare_reports(before, now, rulers=rulers, rescored={0: 0.5, 1: 0.5})
    with pytest.raises(RegressionError, match="cannot tell: 2 of 9 cases were measured alike"):
        few.raise_for_regressions()


def test_anchors_that_current_lacks_are_no_anchors() -> None:
    """The cases that both runs have are compared, and what is missing stops."""
    shifted = {i: f"SELECT f(x, {i}, 2) FROM u" for i in range(12)}
    before, now = judged(judge("x"), n=14), judged(judge("y"), shifted, n=12)
    result = compare_reports(before, now, rescored=judged(judge("y"), n=14))
    assert result.ruler is not None
    assert result.ruler.effects["query_correctness"].n_anchors == 12
    with pytest.raises(RegressionError, match="2 cases missing from the current run"):
        result.raise_for_regressions()


def test_a_split_is_of_both_parts() -> None:
    """Oracle: the two parts by hand, from means over anchors and over the rest."""
    rng = np.random.default_rng(3)
    whole, system = rng.normal(size=(2, 40)) / 10
    anchors = np.arange(40) < 12
    known = np.where(anchors, system, 0.0)
    split = split_change(whole, known, anchors, ~anchors, 0.025)
    effect = (whole - system)[:12].mean()
    expected = (system[:12].sum() + (whole[12:] - effect).sum()) / 40
    assert split.system.delta == pytest.approx(expected)
    assert split.system.delta + split.ruler.delta == pytest.approx(whole.mean())


X, Y, Z = (judged(judge(name), n=8) for name in "xyz")
OTHERS = score_sql_cases([asked(0, "SELECT 1")], judge=judge("y"), metrics=["query_correctness"])
MINE, RULERS = dict.fromkeys(range(8), 1), ({"a": "1"}, {"a": "2"})


@refusals("""
compare_reports(X, Y, ruler="best") -> InputError: ruler must be one of 'common', 'refu...
compare_reports(X, Y, ruler=1) -> TypeError: ruler must be one of 'common', 'refuse', 'i...
compare_reports(X, Y, rulers=({"judge": "x"}, {}))
    -> InputError: rulers[0] must be a mapping of what baseline does not say itself, got ['judge']
compare_reports(X, Y, rulers=({}, X.ruler))
    -> TypeError: rulers[1] must be a mapping of what current does not say itself, got Ruler(...
compare_reports(MINE, MINE, rulers=({},))
    -> InputError: rulers must be two mappings from names to text, those of baseline and of cu...
compare_reports(MINE, MINE, rulers=(1, {}))
    -> TypeError: rulers[0] must be a mapping from names to text, or a Ruler, got 1
compare_reports(MINE, MINE, rescored={0: 1})
    -> InputError: rescored must be None where rulers= says of neither run what it was measured...
compare_reports(MINE, MINE, rulers=RULERS, rescored={9: 1})
    -> InputError: rescored must be a run of cases of baseline, got ['9']
compare_reports(MINE, MINE, rulers=RULERS, rescored={0: [1, 1]})
    -> InputError: rescored['0'] must be 1 attempt, as in baseline, got 2
compare_reports(X, Y, rescored=Z)
    -> InputError: rescored must be a run measured with the ruler of current, got 'another judge'
compare_reports(X, Y, rescored={"q00": 1})
    -> InputError: rescored must be a run with a metric of baseline (query_correctness), got ['s...
compare_reports(MINE, MINE, rulers=({"a": {}}, {}))
    -> TypeError: rulers[0]['a'] must be text, a number, or None, got {}
compare_reports(X, Y, rescored=OTHERS)
    -> InputError: rescored['q00'] must be the answers of baseline, got 'others'
rescore(X, []) -> InputError: cases must be a non-empty sequence of SqlCase, got ()
rescore(X, [case(99)]) -> InputError: cases must be cases of report, such as 'q00', got 'q99'
rescore(X, [case(0)], n=2) -> InputError: n must be an integer in [1, 1], got 2
rescore(1, [case(0)]) -> TypeError: report must be a SqlReport (of stored JSON: ...
""")
def test_mistakes_are_named(wrong: Refusal) -> None:
    """What is wrong, what it may be, and what was given."""
    wrong.by_itself()


PAGE = Path(__file__).parents[1] / "docs" / "rulers.md"
ROWS = {
    "the judge is stricter by .03": "judge stricter by .03",
    "a loss of .05, hidden by a judge more lenient by .05": (
        "loss of .05, judge more lenient by .05"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_the_table_of_anchors_is_what_a_rerun_shows(row: str) -> None:
    """Each share at 100 anchors, within three standard errors of both simulations."""
    (line,) = (one for one in PAGE.read_text().splitlines() if one.startswith(f"| {row} |"))
    _, worse, alone, both, _, judged = (float(one) for one in line.split("|")[2:-1])
    n, rng = 120, np.random.default_rng(5)
    every = [found(WORLDS[ROWS[row]](rng, 200, 1), 100) for _ in range(n)]
    seen = np.mean(every, axis=0)
    shares = {
        "fell": worse,
        "stricter" if "stricter" in row else "lenient": judged,
        "by_anchors_alone": alone,
        "by_both_runs": both,
    }
    for name, stated in shares.items():
        share = seen[Found._fields.index(name)]
        error = math.sqrt(max(stated * (1 - stated), 0.01) * (1 / n + 1 / 1000))
        assert abs(share - stated) <= 3 * error, (name, share, stated)


def test_a_ruler_reads_well() -> None:
    """In a line, and as rows."""
    ruler = run().ruler
    assert str(ruler).startswith("13 settings, 12 cases with references of their own, no judge")
    assert Ruler.from_json(ruler.to_json()) == ruler
    assert ruler.of("query_correctness", "q00")["semantics"] == "bag"


def test_what_is_true_of_an_answer_changes_with_it() -> None:
    """Whether a query is safe is a label of that query: of another one it may be another."""
    old = [attrs.evolve(FULL, case_id=f"q{i}") for i in range(12)]
    labels: dict[str, Any] = {"should_pass": False, "expected_safe": False}
    relabeled = [attrs.evolve(one, **labels) for one in old]
    answered = [attrs.evolve(one, generated="SELECT id FROM users") for one in relabeled]
    before = score_sql_cases(old)
    assert changed(compare_reports(before, score_sql_cases(answered))) == []
    assert len(changed(compare_reports(before, score_sql_cases(relabeled)))) == 2
