"""
The half of `tour.py` about generated code.

Two invented models answered twelve small programming tasks, five times each (`tour_tasks.toml`).
Every answer is compiled and tested in a process of its own (`tour_worker.py`).
"""

from __future__ import annotations

import json
import math
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple

from tour_text import blocks, ends, hanging, indented, percent, say, table

import scorekit

HERE = Path(__file__).resolve().parent

WORKERS = 4
START_LIMIT_SECONDS = 60.0
CPU_LIMIT_SECONDS = 1
"""What a program may compute, the same on a busy machine as on a quiet one."""
TIME_LIMIT_SECONDS = 10.0
"""For one that sleeps, and for systems that do not count what a process computes."""
MAX_REPORT_BYTES = 64 * 2**10

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb; a real evaluation has the counts that came with the answers."""

RIGHT_FOR_A_PASS = 8
"""How many of the twelve tasks a round must solve to pass: our own bar."""

Kind = Literal["right", "wrong", "slow", "crash", "no build"]

KINDS: dict[Kind, tuple[str, str]] = {
    "right": ("✓", "every test passed"),
    "wrong": ("✗", "some test failed"),
    "slow": ("…", f"killed after {CPU_LIMIT_SECONDS} s of work"),
    "crash": ("†", "compiled, but ended before its tests"),
    "no build": ("!", "did not compile"),
}


class Task(NamedTuple):
    """A task, its tests and solutions, and by model which of these its samples were."""

    name: str
    title: str
    prompt: str
    tests: list[str]
    solutions: dict[str, str]
    samples: dict[str, list[str]]


class Outcome(NamedTuple):
    """What came of building and testing one solution."""

    kind: Kind
    passed: int
    failed: int
    warnings: int
    seconds: float


class Attempt(NamedTuple):
    """One sample: what *model* answered to *task* in one of five rounds, and what came of it."""

    task: Task
    model: str
    round: int
    solution: str
    outcome: Outcome
    cost_usd: float

    def sample(self) -> scorekit.CodeSample:
        """Return the attempt as scorekit takes it."""
        return scorekit.CodeSample(
            case_id=self.task.name,
            model=self.model,
            compiled=self.outcome.kind != "no build",
            passed=self.outcome.passed,
            failed=self.outcome.failed,
            warnings=self.outcome.warnings,
            cost_usd=self.cost_usd,
        )


class Evaluation(NamedTuple):
    """What the sections of the report look at."""

    tasks: list[Task]
    models: list[str]
    attempts: list[Attempt]
    report: scorekit.CodeReport


# --- Build and test -------------------------------------------------------------------------


def read_tasks() -> tuple[list[Task], dict[str, scorekit.ModelPrice]]:
    """Return the tasks, and by model the price of its tokens."""
    data = tomllib.loads((HERE / "tour_tasks.toml").read_text(encoding="utf-8"))
    prices = {
        model: scorekit.ModelPrice(input_usd_per_million=tokens_in, output_usd_per_million=out)
        for model, (tokens_in, out) in data["prices_usd_per_million"].items()
    }
    return [Task(**task) for task in data["tasks"]], prices


def evaluate() -> Evaluation:
    """Test every solution once, then report on every sample."""
    tasks, prices = read_tasks()
    jobs = [(task, name) for task in tasks for name in task.solutions]

    def run(job: tuple[Task, str]) -> Outcome:
        task, name = job
        return run_solution(task.solutions[name], task.tests)

    with ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(run, jobs))
    outcomes = {(task.name, name): got for (task, name), got in zip(jobs, results, strict=True)}
    attempts = [
        Attempt(
            task=task,
            model=model,
            round=number,
            solution=name,
            outcome=outcomes[task.name, name],
            cost_usd=scorekit.token_cost(
                input_tokens=math.ceil(len(task.prompt) / CHARACTERS_PER_TOKEN),
                output_tokens=math.ceil(len(task.solutions[name]) / CHARACTERS_PER_TOKEN),
                price=prices[model],
            ),
        )
        for task in tasks
        for model in prices
        for number, name in enumerate(task.samples[model], start=1)
    ]
    report = scorekit.code_report([attempt.sample() for attempt in attempts], k=(1, 3))
    return Evaluation(tasks, list(prices), attempts, report)


def run_solution(
    source: str, tests: Sequence[str], *, seconds: float = TIME_LIMIT_SECONDS
) -> Outcome:
    """Build and test *source* in a process of its own, with at most *seconds* for its tests."""
    token = secrets.token_hex(16)
    job = {"token": token, "source": source, "tests": list(tests), "limit": CPU_LIMIT_SECONDS}
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch,
        subprocess.Popen(  # noqa: S603 - our worker; what it tests goes in as data
            [sys.executable, "-I", str(HERE / "tour_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=scratch,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdin is not None  # noqa: S101 - for the type checker
        assert process.stdout is not None  # noqa: S101 - likewise
        try:
            with suppress(BrokenPipeError):  # a worker that could not start reads nothing
                process.stdin.write(json.dumps(job).encode())
                process.stdin.close()
            # A busy machine may be slow to start a process: the clock runs from the first line.
            with time_limit(process, START_LIMIT_SECONDS):
                output = process.stdout.readline(MAX_REPORT_BYTES)
            started = time.perf_counter()
            with time_limit(process, seconds) as expired:
                output += process.stdout.read(MAX_REPORT_BYTES)
            elapsed = time.perf_counter() - started
        finally:
            kill(process)

    lines = output.decode("ascii", "replace").splitlines()
    steps = [line.removeprefix(f"{token} ") for line in lines if line.startswith(f"{token} ")]
    if not steps:
        raise RuntimeError("the worker ended before it said whether the solution compiles")
    passed = steps.count("passed")
    failed = len(tests) - passed
    if steps[0] == "refused":
        return Outcome("no build", 0, failed, 0, elapsed)
    kind: Kind
    if "finished" in steps:
        kind = "wrong" if failed else "right"
    else:
        worked_too_long = sys.platform != "win32" and process.returncode == -signal.SIGXCPU
        kind = "slow" if expired.is_set() or worked_too_long else "crash"
    return Outcome(kind, passed, failed, int(steps[0].removeprefix("compiled ")), elapsed)


@contextmanager
def time_limit(
    process: subprocess.Popen[bytes], seconds: float
) -> Generator[threading.Event, None, None]:
    """Kill *process* after *seconds*, so that reading from it ends; the event tells."""
    expired = threading.Event()

    def stop() -> None:
        expired.set()
        kill(process)

    timer = threading.Timer(seconds, stop)
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()
        timer.join()


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process that was not waited for yet, and on POSIX all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


# --- Look at it from different sides --------------------------------------------------------


def rounds(evaluation: Evaluation, model: str) -> list[scorekit.Run]:
    """Return one run for each time *model* went through all tasks."""
    by_round: dict[int, list[Attempt]] = {}
    for attempt in evaluation.attempts:
        if attempt.model == model:
            by_round.setdefault(attempt.round, []).append(attempt)
    return [
        scorekit.Run(
            run_id=f"{model}/{number}",
            passed=sum(a.outcome.kind == "right" for a in own) >= RIGHT_FOR_A_PASS,
            impl_rate=fmean([a.outcome.passed / len(a.task.tests) for a in own]),
            cost_usd=math.fsum(a.cost_usd for a in own),
            duration_seconds=math.fsum(a.outcome.seconds for a in own),
        )
        for number, own in by_round.items()
    ]


def compare_models(evaluation: Evaluation) -> scorekit.Comparison:
    """Compare the second model with the first."""
    first, second = map(evaluation.report.for_model, evaluation.models)
    return scorekit.compare_reports(first, second)


# --- The sections ---------------------------------------------------------------------------


def what_was_run(evaluation: Evaluation) -> str:
    """Show what came of every sample."""
    tasks, models, attempts, _ = evaluation
    n_programs = sum(len(task.solutions) for task in tasks)
    grid = [
        [task.name, task.title]
        + [
            " ".join(
                KINDS[a.outcome.kind][0] for a in attempts if a.task is task and a.model == model
            )
            for model in models
        ]
        for task in tasks
    ]
    tally = Counter((a.model, a.outcome.kind) for a in attempts)
    legend = [
        [f"{mark} {kind}", meaning, *(str(tally[model, kind]) for model in models)]
        for kind, (mark, meaning) in KINDS.items()
    ]
    return blocks(
        say(f"""
            Two invented models solved {len(tasks)} programming tasks, five times each.  Their
            {len(attempts)} samples are {n_programs} different programs, because a model often
            repeats itself.  Each program was just compiled and tested, in a separate process with
            limits on time and memory.  Each mark stands for one sample:
        """),
        table(["task", "asks for", *models], grid),
        table(["mark", "meaning", *models], legend, "<<>>"),
    )


def one_program(evaluation: Evaluation) -> str:
    """Work through the code score of one sample."""
    attempt = next(a for a in evaluation.attempts if a.solution == "shared")
    outcome = attempt.outcome
    result = scorekit.code_score(
        compiled=True, passed=outcome.passed, failed=outcome.failed, warnings=outcome.warnings
    )
    weights = result.weights
    rows = [
        ["it compiles", f"{weights.compilation:g} x {result.compilation:.3f}"],
        [
            f"{outcome.passed} of {outcome.passed + outcome.failed} tests passed",
            f"{weights.tests:g} x {result.tests:.3f}",
        ],
        [f"{outcome.warnings} lint warning", f"{weights.clippy:g} x {result.clippy:.3f}"],
        ["code score", f"{result.score:.3f}"],
    ]
    return blocks(
        say(f"""
            How good is a program that is almost right?  This is one of {attempt.model}'s programs
            for flattening nested lists.  The first two calls succeed.  But all calls share one
            list, so the third call also returns the results of the second.
        """),
        indented(attempt.task.solutions[attempt.solution]),
        table(["part", "weight x share"], rows, "<>"),
        say("""
            The linter is part of the tour.  It warns of long lines, bare excepts, unused imports
            and mutable defaults, and here it found the mistake.
        """),
    )


def chances(evaluation: Evaluation) -> str:
    """Estimate how likely success in k tries is."""
    first, second = evaluation.report.models
    alone = next(case for case in evaluation.report.cases if case.case_id == "stairs")
    rows = [[model.model, *map(estimate, model.pass_at_k)] for model in (first, second)]
    rows.append([f"{alone.model}, {alone.case_id!r} alone", *map(estimate, alone.pass_at_k)])
    three, one = first.pass_at_k[1].score, second.pass_at_k[0].score
    return blocks(
        say("""
            Ask a model for k programs.  How likely is it that at least one of them passes all
            tests?  This is pass@k, with its 95 % interval for tasks like these.
        """),
        table(["", *(f"pass@{result.k}" for result in first.pass_at_k)], rows),
        say(f"""
            {first.model} is right {percent(first.pass_at_k[0].score)} of the time and
            {second.model} {percent(one)}, but with three attempts {first.model} reaches
            {percent(three)}.  The intervals are wide because twelve tasks are few, and one task
            is far too few.  Each interval is about one model.  To find out whether the models
            differ, compare them task by task, as section 7 does.
        """),
    )


def side_by_side(evaluation: Evaluation) -> str:
    """Show the statistics per model."""
    _, models, _, report = evaluation
    scores = [
        scorekit.describe([score for case in report.for_model(m).cases for score in case.scores])
        for m in models
    ]
    rows = [
        ["share of programs that compile", *(f"{m.compilation_rate:.3f}" for m in report.models)],
        ["share of tests passed", *(f"{m.test_pass_rate:.3f}" for m in report.models)],
        ["code score, mean", *(f"{s.mean:.3f}" for s in scores)],
        ["code score, median", *(f"{s.median:.3f}" for s in scores)],
        ["code score, standard deviation", *(f"{s.std_dev:.3f}" for s in scores)],
        ["cost of all samples", *(dollars(m.total_cost_usd) for m in report.models)],
    ]
    return blocks(
        say("What else do these samples show?"),
        table(["", *models], rows, "<>>"),
        say(f"""
            Nearly all programs compile and pass most of their tests.  The mean code scores are
            therefore much closer than the shares of right programs.  Use the code score if
            somebody corrects the programs, and pass@k if they run as they are.  (Costs use
            invented prices and {CHARACTERS_PER_TOKEN} characters per token.)
        """),
    )


def hardest_tasks(evaluation: Evaluation) -> str:
    """Show the three tasks with the fewest right answers, and what went wrong."""
    tasks, _, attempts, report = evaluation
    n_right = Counter(a.task.name for a in attempts if a.outcome.kind == "right")
    rows: list[list[str]] = []
    for task in sorted(tasks, key=lambda task: n_right[task.name])[:3]:
        for case in (case for case in report.cases if case.case_id == task.name):
            troubles = Counter(
                a.outcome.kind
                for a in attempts
                if a.task is task and a.model == case.model and a.outcome.kind != "right"
            )
            what = ", ".join(f"{n} {kind}" for kind, n in troubles.items())
            pass_at_1 = estimate(case.pass_at_k[0])
            rows.append([task.name, case.model, pass_at_1, f"{case.mean_score:.3f}", what])
    return blocks(
        say("Which tasks are hard?  These three have the fewest right answers:"),
        table(["task", "model", "pass@1", "mean score", "what went wrong"], rows, "<<<><"),
    )


def grades(evaluation: Evaluation) -> str:
    """Grade whole rounds of both models, and say what a round that passes costs."""
    models = evaluation.models
    runs = [rounds(evaluation, model) for model in models]
    tiers = [scorekit.tier_statistics(m, own) for m, own in zip(models, runs, strict=True)]
    across = scorekit.cross_tier(tiers, baseline=models[0])
    rows = [
        [f"round {number}", *(graded(scorekit.score_run(run)) for run in pair)]
        for number, pair in enumerate(zip(*runs, strict=True), start=1)
    ]
    rows += [
        ["median round", *(f"{t.composite_score.median:.3f}  {t.grade}" for t in tiers)],
        ["passed", *(f"{percent(t.pass_rate.mean)}" for t in tiers)],
        ["cost of a pass", *(dollars(t.cost_of_pass) for t in tiers)],
        ["95 % interval", *(dollar_range(t.cost_of_pass_interval) for t in tiers)],
    ]
    uplift = across.uplifts[models[1]] or 0.0
    return blocks(
        say(f"""
            How good is a whole round?  A round has every task once, like a nightly job.  In this
            tour it passes if {RIGHT_FOR_A_PASS} of the {len(evaluation.tasks)} programs are
            right.  Half of the composite score is for passing, and half is the share of tests
            passed.
        """),
        table(["", *models], rows),
        say(f"""
            The median round of {models[1]} scores {percent(abs(uplift))}
            {"higher" if uplift > 0 else "lower"}.  The cost of a pass is the total cost of all
            rounds, divided by the number that passed.  It is lowest with {across.frontier_tier}.
            If an interval has no upper end, passes may be extremely rare.
        """),
    )


def is_second_better(evaluation: Evaluation) -> str:
    """Compare the second model with the first, as one would a new run with an old one."""
    first, second = evaluation.models
    comparison = compare_models(evaluation)
    scores, right = comparison.suites["code_score"], comparison.suites["pass@1"]
    meaning = {
        "improved": "is better: the interval of the mean change lies above zero",
        "regressed": "is worse: the interval of the mean change lies below zero",
        "no change detected": "is about the same: the interval holds no loss that matters",
        "inconclusive": "may be better or worse: the interval of the mean change contains zero "
        "and a loss that matters",
    }[scores.verdict]
    try:
        comparison.raise_for_regressions(on="cases")
        gate = "let this pass"
    except scorekit.RegressionError as error:
        gate = f'stop this: "{str(error).splitlines()[0]}"'
    return blocks(
        say(f"""
            Should {second} replace {first}?  The models are compared task by task, as a new run
            is compared with an old one:
        """),
        indented(hanging(comparison.to_text())),
        say(f"""
            By code score {second} {meaning}.  By pass@1, where a sample is right or wrong, the
            change is {right.delta:+.2f} {ends(right.interval)}, {right.verdict}; the
            intervals of both metrics hold at once.  Base decisions on the suites, not on the list
            of tasks.  A CI job that allows no single task to get worse would {gate}.
        """),
    )


def what_to_do(evaluation: Evaluation) -> str:
    """Say what follows, for two ways to use the programs."""
    first, second = evaluation.models
    comparison = compare_models(evaluation)
    scores, right = comparison.suites["code_score"], comparison.suites["pass@1"]
    advice = {
        "improved": f"take {second}",
        "regressed": f"keep {first}",
        "no change detected": "take the cheaper one",
        "inconclusive": "add tasks before you decide",
    }
    worse = " and ".join(dict.fromkeys(change.case_id for change in comparison.regressions))
    caution = f"  In any case, look at the programs of {second} for {worse}." if worse else ""
    return say(f"""
        If programs run as they are, {advice[right.verdict]}.  If somebody corrects them,
        {advice[scores.verdict]}.{caution}
    """)


Section = Callable[[Evaluation], str]

SECTIONS: tuple[tuple[str, Section], ...] = (
    ("What was run", what_was_run),
    ("One program", one_program),
    ("How likely is success?", chances),
    ("The models side by side", side_by_side),
    ("The hardest tasks", hardest_tasks),
    ("Grades, and what a pass costs", grades),
    ("Is the second model better?", is_second_better),
    ("What to do with this", what_to_do),
)


# --- Plain text -----------------------------------------------------------------------------


def estimate(result: scorekit.PassAtK) -> str:
    """Return a pass@k with its interval."""
    return f"{result.score:.2f} {ends(result.interval)}"


def graded(score: scorekit.RunScore) -> str:
    """Return a run's composite score, its grade, and whether it passed."""
    return f"{score.composite_score:.3f}  {score.grade}{'  passed' if score.pass_rate else ''}"


def dollars(amount: float | None) -> str:
    """Return a small sum of money."""
    return "not measured" if amount is None else f"${amount:.4f}"


def dollar_range(interval: scorekit.Interval | None) -> str:
    """Return what an interval of costs allows."""
    if interval is None:
        return "none without a pass"
    if math.isinf(interval.high):
        return f"{dollars(interval.low)} or more"
    return f"{dollars(interval.low)} to {dollars(interval.high)}"
