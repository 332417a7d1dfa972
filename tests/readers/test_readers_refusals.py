"""Wrong calls, by their messages, and content that is broken at any place."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import Refusal, refusals

from scorekit import InputError, readers

DATA = Path(__file__).parents[1] / "data" / "harnesses"


def load(name: str) -> Any:
    """Return a stored file as a user parses it."""
    text = (DATA / name).read_text(encoding="utf-8")
    if name.endswith(".xml"):
        return text
    return list(map(json.loads, text.splitlines())) if name.endswith("l") else json.loads(text)


LOG = load("inspect_epochs_old.json")
LOG_HEAD = {key: value for key, value in LOG.items() if key != "samples"}
CRASHED = load("inspect_unscored_old.json")
NAMELESS = {
    **CRASHED, "eval": {key: v for key, v in CRASHED["eval"].items() if key != "scorers"}
}  # fmt: skip
SCORERS = load("inspect_scorers_old.json")
LM = load("lm_eval_two_filters_old_samples.jsonl")
LM_RESULTS = load("lm_eval_two_filters_old_results.json")
CHOICE = load("lm_eval_choice_old_samples.jsonl")
CHOICE_RESULTS = load("lm_eval_choice_old_results.json")
ROWS = load("human_eval_old.jsonl")
TEXT = (DATA / "human_eval_old.jsonl").read_text("utf-8")
CUT = [*ROWS, TEXT[:40]]
TAU = load("tau_bench_v1.json")
TAU2 = load("tau2_old.json")
TAU2_TWICE = {**TAU2, "simulations": TAU2["simulations"] * 2}
HARBOR = load("harbor_old.jsonl")
SWE = load("swebench_new-agent.demo.json")
PROMPTS = load("promptfoo_prompts.json")
PROVIDERS = load("promptfoo_providers.json")
HELM = load("helm_hellaswag_per_instance_stats.json")
HELM_STATS = load("helm_hellaswag_stats.json")
XML = load("pytest_old.xml")
BILLION = "<!DOCTYPE x [<!ENTITY a 'lol'><!ENTITY b '&a;&a;'>]><testsuite><testcase name='&b;'/>"
PLUS = load("evalplus_old.json")
MIXED = {"eval": {"HumanEval/0": [
    {"base_status": "pass", "plus_status": "pass"}, {"base_status": "pass", "plus_status": None},
]}}  # fmt: skip
ODD = {"eval": {"HumanEval/0": [{"base_status": "error", "plus_status": "pass"}]}}
UNEVEN = {"eval": {"HumanEval/0": {"base": [["success", []]] * 2, "plus": [["failed", []]]}}}
ITEM = {"item_results": [{"item": {"input": "x"}, "evaluations": [{"name": "r", "value": 1}]}]}
GRADED = [{"id": "a", "s": 4}]


@refusals("""
inspect_ai(LM) -> InputError: log must be a log of inspect_ai: what read_eval_log(path) returns,
    or the mapping of a JSON log, got rows with doc_id, doc, target, arguments, resps,
    filtered_resps, filter, metrics, doc_hash, prompt_hash, target_hash, exact_match;
    readers.lm_eval() reads such
inspect_ai([LOG]) -> InputError: log must be a log of inspect_ai...
inspect_ai("logs/run.json") -> TypeError: log must be a log of inspect_ai: what
    read_eval_log(path) returns, or the mapping of a JSON log (read it, scorekit opens no file),
    got 'logs/run.json'
inspect_ai(LOG_HEAD) -> InputError: log must be a log with samples (header_only=False reads
    them); its results are of 24, got 'none'
inspect_ai(LOG, scorer="includes") -> InputError: scorer must be one of 'match', got 'includes'
inspect_ai(LOG, part="style") -> InputError: part must be None, as scores of 'match' are no
    mappings, got 'style'
inspect_ai(SCORERS) -> InputError: scorer must be one of 'match', 'parts', got None
inspect_ai(SCORERS, scorer="parts") -> InputError: part must be one of 'right', 'style', got None
inspect_ai(NAMELESS) -> InputError: log must have a score at one sample or more, got 16 samples
    without any, 16 with an error such as "RuntimeError('the
    sandbox did not start')"; the task names no scorer
inspect_ai(LOG, errors="fail") -> InputError: errors must be one of 'unknown', 'failed', got
    'fail'
lm_eval(LOG) -> InputError: rows must be the rows of a samples_*.jsonl, or a mapping from task to
    its rows, got a mapping with...
lm_eval(LM_RESULTS) -> InputError: rows must be the rows of a samples_*.jsonl...
lm_eval(LM, results=LM_RESULTS) -> InputError: filter must be one of 'strict-match',
    'flexible-extract', got None
lm_eval(CHOICE, results=CHOICE_RESULTS) -> InputError: metric must be one of 'acc', 'acc_norm',
    got None
lm_eval(CHOICE, metric="f1") -> InputError: metric must be one of 'acc', 'acc_norm', got 'f1'
lm_eval(LM, results=CHOICE_RESULTS, filter="strict-match") -> InputError: results must be those
    of the rows, with 'exact_match,strict-match' of a task 'sums_choice', got [...
lm_eval(LM[:10], results=LM_RESULTS, filter="strict-match") -> InputError:
    exact_match,strict-match must be 0.25 as stated, got...
human_eval(TEXT) -> TypeError: rows must be the rows of a *_results.jsonl (parse it:
    [json.loads(line) for line in text.splitlines()]), got...
human_eval(CUT) -> InputError: rows[24] must be a mapping, as each row is, of a text:
    json.loads(line), got '{"task_id": "HumanEval/0", "completion":'
human_eval([]) -> InputError: rows must be the rows of a *_results.jsonl, at least one, got []
human_eval([*ROWS, *ROWS]) -> InputError: rows must hold each attempt once, got 24 rows twice in
    the same order: the file was appended
human_eval([{"task_id": 1, "passed": True}, {"task_id": "1", "passed": True}]) -> InputError:
    case_id[1] must be unlike all others, 1 like '1', got '1'
human_eval([{"task_id": "a", "passed": "True"}]) -> InputError: rows[0]['passed'] must be a
    number, a flag or None, got 'True'
human_eval([{"task_id": "a"}]) -> InputError: rows[0] must have the key 'passed', got task_id
human_eval(ROWS, published={"pass@1": 0.6}) -> InputError: pass@1 must be 0.6 as stated, got
    0.7916666666666666 (check=False reads on)
human_eval(ROWS, published={"accuracy": 0.5}) -> InputError: published must be numbers of this
    run by their names: 'pass@1', 'pass@10', got 'accuracy'
human_eval(ROWS, published=0.5) -> TypeError: published must be a mapping from name to number,
    got 0.5
human_eval(ROWS, published={"pass@1": math.nan}) -> InputError: published['pass@1'] must be a
    finite number, got nan
evalplus(ROWS) -> InputError: data must be the mapping of an *_eval_results.json of EvalPlus, got
    rows with task_id, completion, result, passed; readers.human_eval() reads such
evalplus(MIXED) -> InputError: data must have a plus_status for all samples or for none, got 1 of
    2 without one; tests='base' reads the tests that all have
evalplus(ODD) -> InputError: data['eval']['HumanEval/0'][0] must be a sample whose status is one
    of 'pass', 'success', 'fail', 'timeout', 'failed', 'timed out', got 'error'
evalplus(UNEVEN) -> InputError: data['eval']['HumanEval/0'] must be as many entries of 'plus' as
    of 'base', 2, got 1
bigcodebench(PLUS) -> InputError: data must be the mapping of an *_eval_results.json of
    BigCodeBench, got a mapping with date, hash, eval; readers.evalplus() reads such
swe_bench({}) -> InputError: report must be the report of an evaluation, <model>.<run>.json, got
    an empty mapping
swe_bench({"resolved": ["a"]}) -> InputError: report must be the report of an evaluation,
    <model>.<run>.json, got one of an older form without 'resolved_ids', which does not name all
    instances; evaluate with swebench 2.1
swe_bench(SWE, instances="half") -> InputError: instances must be one of 'all', 'submitted', got
    'half'
tau_bench([*TAU, *TAU]) -> InputError: attempt of case '0' must come once, got 0 twice
tau_bench(TAU2_TWICE) -> InputError: attempt of case...
harbor([*HARBOR, *HARBOR]) -> InputError: attempt of case...
promptfoo(PROMPTS) -> InputError: prompt must be one of 'Say {{q}}', 'Say {{q}} carefully', got
    None
promptfoo(PROVIDERS, model="gpt-4") -> InputError: model must be one of 'hasty', 'careful', got
    'gpt-4'
helm(HELM) -> InputError: metric must be one of 'num_prompt_tokens', 'num_output_tokens',
    'inference_runtime', 'exact_match', 'quasi_exact_match', got None
helm(HELM, metric="exact_match", split="test") -> InputError: split must be one of 'valid', got
    'test'
every_eval_ever(HELM) -> InputError: rows must be the instances of an evaluation, rows with
    sample_id and evaluation, got rows with instance_id, train_trial_index, stats;
    readers.helm() reads such
mlflow(ROWS) -> InputError: rows must be the rows of result_df, with a column NAME/value, got
    rows with task_id, completion, result, passed; readers.human_eval() reads such
pydantic_evals(PROVIDERS) -> InputError: report must be a report of pydantic-evals, with cases
    and failures, got a mapping with evalId, results, config, shareableUrl, metadata, vars,
    runtimeOptions; readers.promptfoo() reads such
langfuse(ITEM) -> InputError: item_results[0] must have an id of its own, item['id'] or
    item['metadata']['id'], as trace ids differ from run to run; got {'input': 'x'}
junit(XML[:1500]) -> InputError: xml must be whole, got...
junit(BILLION) -> InputError: xml must be the text of an XML file that pytest --junitxml wrote,
    got one with a document type, which none of them has
junit("<html><body>Not found</body></html>") -> InputError: xml must be the text of an XML file
    that pytest --junitxml wrote, with at least one test, got...
junit(XML, case="suite") -> InputError: case must be a property of a test, of case, got 'suite'
json_lines(GRADED, case_id="id", score="s") -> InputError: score of case 'a' must be in [0, 1],
    got 4 (scale=(low, high))
json_lines(GRADED, case_id="task", score="s") -> InputError: rows[0] must have the key 'task',
    got id, s
json_lines([{"id": 1, "s": {"a": 1}}], case_id="id", score="s") -> InputError: rows[0]['s'] must
    be a number, a flag or None, got {'a': 1}
json_lines([{"id": 1, "s": math.inf}], case_id="id", score="s") -> InputError: rows[0]['s'] must
    be a number, a flag or None, got inf
""")
def test_a_wrong_call_says_what_was_found_and_what_to_do(wrong: Refusal) -> None:
    """By the name of the argument; another harness's file names the reader that reads it."""
    wrong.names.update(vars(readers))
    wrong.by_itself()


def test_a_number_of_the_caller_stands_beside_that_of_the_content() -> None:
    """Neither hides the other."""
    name = "exact_match,strict-match"
    options: dict[str, Any] = {"results": LM_RESULTS, "filter": "strict-match"}
    assert readers.lm_eval(LM, **options, published={name: 0.25}).published[name] == (0.25, 0.25)
    with pytest.raises(InputError, match=r"must be 0\.4 as stated, got 0\.25"):
        readers.lm_eval(LM, **options, published={name: 0.4})
    run = readers.lm_eval(LM, **options, published={name: 0.4}, check=False)
    assert (run.published[name], run.disagreements) == ((0.4, 0.25), (name,))


def test_statuses_of_older_versions_of_evalplus() -> None:
    """As `evalplus` wrote them before 0.3: entries ``[status, details]``, other words."""
    old = {"eval": {"HumanEval/0": {
        "nfiles": 2,
        "base": [["success", [True]], ["success", [True]], ["timed out", []]],
        "plus": [["success", [True]], ["failed", [False]], ["failed", []]],
    }}}  # fmt: skip
    assert readers.evalplus(old).scores() == {"HumanEval/0": [1.0, 0.0, 0.0]}
    assert readers.evalplus(old, tests="base").scores() == {"HumanEval/0": [1.0, 1.0, 0.0]}


@pytest.mark.parametrize("n", [2_000_000, 2**70])
def test_attempts_beyond_number_are_counted_and_not_named(n: int) -> None:
    """A count that no run could have costs neither time nor memory."""
    log, tau, results = map(copy.deepcopy, (LOG, TAU2, LM_RESULTS))
    log["eval"]["config"]["epochs"] = n
    tau["info"]["num_trials"] = n
    results["n-samples"]["sums_generated"]["effective"] = n
    runs = (
        (readers.inspect_ai(log, check=False), 8 * n - 24),
        (readers.tau_bench(tau, check=False), 8 * n - 16),
        (readers.lm_eval(LM, results=results, filter="strict-match", check=False), n - 16),
    )
    for run, n_lost in runs:
        assert run.n_unknown["not run"] == n_lost
        assert len(run.attempts["score"]) <= 24


CONTENTS: list[tuple[str, Any, dict[str, Any]]] = [
    ("inspect_ai", LOG, {}),
    ("lm_eval", LM, {"results": LM_RESULTS, "filter": "strict-match"}),
    ("evalplus", PLUS, {}),
    ("swe_bench", SWE, {}),
    ("harbor", HARBOR, {}),
    ("tau_bench", TAU2, {}),
    ("promptfoo", PROVIDERS, {"model": "careful"}),
    ("helm", HELM, {"metric": "exact_match", "stats": HELM_STATS}),
    ("every_eval_ever", load("every_eval_ever_old.jsonl"), {}),
    ("pydantic_evals", load("pydantic_evals_old.json"), {}),
    ("mlflow", load("mlflow_old.json"), {}),
    ("langfuse", load("langfuse_old.json"), {}),
    ("livecodebench", load("livecodebench_a.json"), {}),
]
BROKEN = st.sampled_from([
    None, True, -1, 2**70, 10**400, math.nan, math.inf, "", "True", "\ud800", [], {}, [1],
    {"a": 1},
])  # fmt: skip


@given(which=st.integers(0, len(CONTENTS) - 1), data=st.data())
@example(which=1, data=None)
def test_broken_content_is_read_or_refused(which: int, data: Any) -> None:
    """Whatever stands at any place: a run that prints, or an error of scorekit's own."""
    reader, content, arguments = CONTENTS[which]
    content = copy.deepcopy(content)
    if data is None:
        content[1].pop("target_hash")
    else:
        place, depth = content, data.draw(st.integers(1, 7))
        for step in range(depth):
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))[:5]
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if step == depth - 1 or not isinstance(place[key], dict | list):
                place[key] = data.draw(BROKEN)
                break
            place = place[key]
    try:
        run = getattr(readers, reader)(content, **arguments, check=False)
    except (InputError, TypeError) as error:
        assert " must " in str(error)  # noqa: PT017 - it may also be read
    else:
        assert str(run)
        assert run.to_json()
