"""The tour: what it prints, what came of each answer, and what its runner survives."""

from __future__ import annotations

import os
import select
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import refresh
import tour_code
import tour_sql
import tour_text
import tour_worker
from outcomes import present

import scorekit

pytestmark = pytest.mark.slow
DOCS = Path(__file__).resolve().parents[2] / "docs"

# By task, the solutions that are not right: what comes of them and how many tests they pass.
# Found by reading them against the tests, one by one.
NOT_RIGHT = {
    "roman": {"no_forty": ("wrong", 6), "fenced": ("no build", 0)},
    "brackets": {"counter": ("wrong", 5), "no_leftover": ("wrong", 6), "pop_empty": ("wrong", 5),
        "replaces": ("slow", 2)},
    "runs": {"drops_last": ("wrong", 1), "counted": ("wrong", 5), "first_letter": ("wrong", 5)},
    "intervals": {"touching": ("wrong", 5), "unsorted": ("wrong", 5), "last_end": ("wrong", 5),
        "no_colon": ("no build", 0)},
    "edits": {"recursive": ("slow", 5), "hamming": ("wrong", 4), "no_replace": ("wrong", 5)},
    "leap": {"by_four": ("wrong", 4), "asks": ("crash", 0)},
    "stairs": {"recursive": ("slow", 5), "binet": ("wrong", 5), "zero": ("wrong", 5)},
    "words": {"most_common": ("wrong", 5), "split": ("wrong", 5)},
    "primes": {"strict": ("wrong", 6), "no_rest": ("wrong", 2), "trial": ("slow", 6)},
    "anagrams": {"unsorted": ("wrong", 3), "set_key": ("wrong", 4), "permutations": ("slow", 5),
        "truncated": ("no build", 0)},
    "flatten": {"one_level": ("wrong", 4), "shared": ("wrong", 2), "strings": ("wrong", 5),
        "falsy": ("wrong", 5)},
    "bowling": {"no_bonus": ("wrong", 3), "past_end": ("wrong", 5), "one_bonus": ("wrong", 5),
        "quits": ("crash", 0)},
}  # fmt: skip

WARNINGS = {
    ("brackets", "guarded"): 1,  # bare except
    ("runs", "one_line"): 1,  # a line of more than 99 characters
    ("words", "imports"): 2,  # string and defaultdict
    ("flatten", "shared"): 1,  # mutable default
}

SAMPLES_BY_KIND = {
    "swift-1": {"right": 24, "wrong": 27, "slow": 6, "crash": 1, "no build": 2},
    "careful-2": {"right": 44, "wrong": 9, "slow": 4, "crash": 2, "no build": 1},
}


# By question, what SQLite says of the first answer and the verdict in a word, found by reading
# answers, schema and rules; the rest is accepted.
REJECTED = {
    "cheap": ('near "```sql\nSELECT name FROM products WHERE price < 20;\n```": syntax error',
        True),
    "basket": ('near "Here": syntax error', True),
    "waiting": ("not authorized to use function: julianday", False),
    "berlin-sum": ("no such table: sales", True),
    "top-three": ("no such column: o.product_id", True),
    "regulars": ("incomplete input", True),
    "lost": ('near "I": syntax error', True),
    "address": ("access to customers.email is prohibited", False),
    "archive": ("You can only execute one statement at a time.", False),
    "increase": ("not authorized", False),
}  # fmt: skip

SAME_TEXT = {"berliners", "range", "unshipped", "latest"}
NOT_SQL = {"regulars", "lost"}
UNKNOWN_NAMES = {"berlin-sum", "top-three"}
PROVED = {"revenue", "cheap", "basket", "unsold"}
CHANGES = {"increase", "archive"}  # an UPDATE; a DROP TABLE behind the query
REFUTED = {"waiting", "loyalty", "cancelled", "mean-price", "address"}

# Tables in both queries and in either, where these differ.
TABLES = {
    "loyalty": 1 / 2,  # orders; customers too
    "berlin-sum": 2 / 5,  # customers, orders; sales instead of products and order_items
    "top-three": 1 / 3,  # products; orders instead of order_items
    "regulars": 0.0,
    "lost": 0.0,
}


def run(source: str, *tests: str, seconds: float = 600.0) -> Any:
    """Build and test a solution; the limit is generous where it is not the point."""
    return tour_code.run_solution(source, tests or ("f() == 1",), seconds=seconds)


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Run the tour as a newcomer would, but from another directory, and return its output."""
    result = subprocess.run(
        [sys.executable, str(DOCS / "tour.py")],
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={**os.environ, "PYTHONPATH": str(Path(scorekit.__file__).parent.parent)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


@pytest.fixture(scope="module")
def evaluation() -> Any:
    """Test all solutions once for the facts below."""
    return tour_code.evaluate()


# The report.


def test_sections_come_in_order(printed: str) -> None:
    """Each section is there once, numbered, and has something to say."""
    sections = (*tour_code.SECTIONS, *tour_sql.SECTIONS)
    titles = [f"\n{n}. {title}\n\n" for n, (title, _) in enumerate(sections, start=1)]
    positions = [printed.index(title) for title in titles]
    assert len(titles) == 8 + 7
    assert positions == sorted(positions)
    assert [printed.count(title) for title in titles] == [1] * 15


def test_the_page_shows_what_is_printed(printed: str) -> None:
    """But for the time that it took."""
    shown = refresh.TOUR.read_text(encoding="utf-8")
    assert refresh.without_seconds(shown) == refresh.without_seconds(printed), refresh.STALE


def test_report_fits_a_terminal(printed: str) -> None:
    """No line is wider than the report claims to be, and none ends in space."""
    lines = printed.splitlines()
    prose = [line for line in lines if tour_text.COLUMNS not in line.strip()]
    assert max(map(len, prose)) <= tour_text.WIDTH == 88
    assert max(map(len, lines)) <= 110
    assert lines == [line.rstrip() for line in lines]


@pytest.mark.parametrize("line", [
    "leap        Is it a leap year?              ✓ ✓ ✓ ✗ ✓   † ✓ ✓ ✓ †",
    "edits       Edit distance of two words      … ✗ … … ✗   ✓ ✓ ✓ … ✓",
    "anagrams    Group words that are anagrams   ✓ ✓ ✗ ✓ ✗   ✓ … ! … ✓",

    "code score                     0.657",  # .4 + .5 * 2/6 + .1 * .9
    "swift-1                   0.40 [",  # 24 of 60
    "careful-2                 0.73 [",  # 44 of 60
    "passed           20 %                 80 %",  # rounds of 3 8 4 5 4 and 10 10 8 7 9
    "cases: 2 (4 scores) fell by more than 0.05 (leap -0.200, anagrams -0.200",  # by both metrics
    "revenue      Revenue per category                 1.00   ✓ accepted   ✓ proved",
    "waiting      Days open orders have waited         1.00   ✗ safety     ✗ refuted",
    "loyalty      Number of orders per customer        0.50   ✓ accepted   ✗ refuted",
    "regulars     Customers with over ten orders       0.00   ✓ syntax     ✗ not SQL",
    "march        Orders per day in March 2025         1.00   ✗ accepted   ? nobody yet",
    "missing          order_items, products",
    "unexpected       sales",
    "table accuracy   2 of 5: 0.40",

    "products(category, price): ",
    "safe         15         1",
    "unsafe        1         3",

    "high               90 %         8   0.50 [",  # right: 4
    "Insufficient data for calibration (need ≥ 20 cases)",
    "query_correctness     0.421            0.494       19          1",  # 8 of 19
    "correctness is 0.400 to 0.450.",  # 8 and 9 of 20
    "table_accuracy        0.812",  # (15 + 1/2 + 2/5 + 1/3) / 20
    "safety_validation     0.900            0.300       20          0",  # 18 of 20
    "validation_accuracy   0.800            0.400       20          0",  # 16 of 20
    "9 answers changed",
    "cases: 2 (4 scores) fell by more than 0.05 (unshipped -1.000, latest -1.000)",
])  # fmt: skip
def test_known_lines(printed: str, line: str) -> None:
    """Facts worked out from the tasks by hand, as the report shows them."""
    assert line in printed


# The outcomes.


def test_outcome_of_every_solution(evaluation: Any) -> None:
    """Kind, tests passed and warnings are those found by reading; the rest is right."""
    seen = {(a.task.name, a.solution): a.outcome for a in evaluation.attempts}
    expected = {}
    for task in evaluation.tasks:
        for name in task.solutions:
            kind, passed = NOT_RIGHT[task.name].get(name, ("right", len(task.tests)))
            warnings = WARNINGS.get((task.name, name), 0)
            expected[task.name, name] = (kind, passed, len(task.tests) - passed, warnings)
    assert {key: outcome[:4] for key, outcome in seen.items()} == expected


def test_samples_by_kind(evaluation: Any) -> None:
    """Each model has five samples of each task, in the proportions counted by hand."""
    counts = Counter((a.model, a.outcome.kind) for a in evaluation.attempts)
    assert counts == {(m, k): n for m, kinds in SAMPLES_BY_KIND.items() for k, n in kinds.items()}
    assert Counter((a.task.name, a.model) for a in evaluation.attempts) == {
        (task.name, model): 5 for task in evaluation.tasks for model in SAMPLES_BY_KIND
    }


def test_rounds_cover_every_task_once(evaluation: Any) -> None:
    """The bar of a pass is met by the rounds that solve at least eight of the twelve tasks."""
    passed = {m: [r.passed for r in tour_code.rounds(evaluation, m)] for m in evaluation.models}
    assert passed == {
        "swift-1": [False, True, False, False, False],
        "careful-2": [True, True, True, False, True],
    }


# The answers in SQL.


def test_the_page_on_certainty_has_the_counts_of_the_tour(evaluation: Any) -> None:
    """docs/sure.md writes them out, so that it can be read without running anything."""
    page = (DOCS / "sure.md").read_text(encoding="utf-8")
    for name, model in (("swift", "swift-1"), ("careful", "careful-2")):
        counts = [case.n_correct for case in evaluation.report.cases if case.model == model]
        assert f">>> {name} = {counts}\n" in page
    right = Counter(
        attempt.task.name
        for attempt in evaluation.attempts
        if attempt.model == "careful-2" and attempt.round <= 2 and attempt.outcome.kind == "right"
    )
    assert f">>> first = {[right[task.name] for task in evaluation.tasks]}\n" in page


@pytest.fixture(scope="module")
def answers() -> tour_sql.Evaluation:
    """Score all answers once for the facts below, as one without a key would."""
    return tour_sql.evaluate()


def test_verdict_on_every_answer(answers: tour_sql.Evaluation) -> None:
    """SQLite says what reading the answers says it must: whether, why, and whether it is safe."""
    seen = {c.case_id: (c.is_valid, c.safety_valid, c.errors) for c in answers.cases}
    expected: dict[str, Any] = dict.fromkeys(seen, (True, True, ()))
    expected |= {name: (False, safe, (said,)) for name, (said, safe) in REJECTED.items()}
    assert len(seen) == 20
    assert seen == expected


def test_verdicts_by_kind(answers: tour_sql.Evaluation) -> None:
    """Nine of the ten accepted should be, three of the ten rejected should not."""
    results = [case.validation_accuracy for case in answers.before.cases]
    kinds = Counter(result.validation_type for result in results if result is not None)
    right = {"correct acceptance": 9, "correct rejection": 7}
    assert kinds == right | {"false acceptance": 1, "false rejection": 3}


def test_correctness_without_a_judge(answers: tour_sql.Evaluation) -> None:
    """The same text is right, and so is what is proved; the rest of what is decided is wrong."""
    results = {c.case_id: found for c in answers.before.cases if (found := c.query_correctness)}
    methods = {name: result.method for name, result in results.items() if result.method}
    by_method = {"identical": SAME_TEXT, "proved": PROVED, "refuted": REFUTED}
    assert methods == {name: method for method, names in by_method.items() for name in names}
    origins = {name: result.error.origin for name, result in results.items() if result.error}
    wrong = {name for name, origin in origins.items() if origin == "output"}
    assert wrong == NOT_SQL | UNKNOWN_NAMES | CHANGES
    assert Counter(origins.values()) == {"output": 6, "instrument": 1}
    assert answers.before.n_failed == 1
    assert answers.before.query_correctness_bounds == (8 / 20, 9 / 20)


def test_counterexamples_are_real(answers: tour_sql.Evaluation) -> None:
    """The shop's own database, filled with the rows shown, gives the two results."""
    _, schema = tour_sql.read_questions()
    n_run = 0
    for case, score in zip(answers.cases, answers.before.cases, strict=True):
        result = score.query_correctness
        if result is None or result.equivalence is None or not result.equivalence.counterexample:
            continue
        shown = result.equivalence.counterexample
        with closing(sqlite3.connect(":memory:")) as database:
            database.executescript(schema)
            for table in shown.tables:
                names = f"{table.table} ({', '.join(table.columns)})"
                for row in table.rows:
                    database.execute(f"INSERT INTO {names} VALUES ({', '.join(row)})")
            expected = present(case.expected)[0]
            for query, rows in ((case.generated, shown.rows_of_a), (expected, shown.rows_of_b)):
                then = query.replace("'now'", "'2022-06-15 10:30:00'")  # as its assumptions say
                counted = Counter(tuple(map(literal, row)) for row in database.execute(then))
                assert counted == Counter(rows)
        n_run += 1
    assert n_run == 5


def literal(cell: object) -> str:
    """Return a cell as SQL writes it."""
    return f"'{cell}'" if isinstance(cell, str) else "NULL" if cell is None else str(cell)


def test_tables_of_every_answer(answers: tour_sql.Evaluation) -> None:
    """Jaccard similarities counted by hand; fences, aliases and WITH do not disturb."""
    results = {case.case_id: case.table_accuracy for case in answers.before.cases}
    seen = {name: result.score for name, result in results.items() if result is not None}
    assert seen == pytest.approx({**dict.fromkeys(seen, 1.0), **TABLES})


def test_expected_queries_fit_the_schema() -> None:
    """A reference that the shop's own database refuses would be no reference."""
    questions, schema = tour_sql.read_questions()
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(schema)
        for query in (query for question in questions for query in question.expected):
            database.execute(query)


def test_answers_to_the_new_prompt_pass(answers: tour_sql.Evaluation) -> None:
    """Nine answers changed; each of these is one safe query that the validator accepts."""
    changed = [q.name for q in answers.questions if q.before != q.after]
    scores = {c.case_id: c for c in answers.after.cases}
    found = [present(scores[name].validation_accuracy).validation_type for name in changed]
    assert found == ["correct acceptance"] * 9


def test_with_a_judge_nothing_is_left_out() -> None:
    """Plugged in, a judge is asked about the six, and every section still has its say."""
    judge = scorekit.judge_from_function(lambda _: 0.5, identity="half")
    evaluation = tour_sql.evaluate(judge)
    assert evaluation.before.n_by_method == {"identical": 4, "proved": 4, "judge": 6}
    assert evaluation.before.n_failed == evaluation.after.n_failed == 0
    assert present(evaluation.before.query_correctness).mean == (8 + 6 / 2) / 20
    assert present(evaluation.before.calibration).score is not None
    text = "\n".join(section(evaluation) for _, section in tour_sql.SECTIONS)
    assert "½ judge" in text
    assert "nobody yet" not in text
    assert "newly unscored" not in text.lower()
    prose = [line for line in text.splitlines() if tour_text.COLUMNS not in line.strip()]
    assert max(map(len, prose)) <= tour_text.WIDTH


@pytest.mark.parametrize("query", [
    "DELETE FROM orders",
    "INSERT INTO orders VALUES (1, 1, '', '')",
    "CREATE TABLE copy AS SELECT * FROM orders",
    "DROP TABLE orders",
    "ATTACH 'other.db' AS other",
    "PRAGMA writable_schema = 1",
    "SELECT load_extension('evil')",
    "SELECT * FROM customers",
    "SELECT 1 FROM customers WHERE email LIKE 'a%'",
    "SELECT 1; SELECT 2",
    "SELECT 1; -- then\nDELETE FROM orders",
])  # fmt: skip
def test_validator_blocks(query: str) -> None:
    """Whatever writes, reads what is private, calls what is not listed or comes in twos."""
    with tour_sql.validator(tour_sql.read_questions()[1]) as validate:
        assert validate(query)[:2] == (False, False)
        assert validate("SELECT COUNT(*) FROM orders") == (True, True, ())


# The runner.


@pytest.mark.parametrize("source", [
    "while True: pass",
    "import time\ntime.sleep(600)",
    "while True: print('x' * 1000)",
    "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
])  # fmt: skip
def test_endless_import_is_killed(source: str) -> None:
    """Busy, asleep, printing for ever or catching all: the time limit ends it, and no test counts
    as passed.
    """
    assert run(source, seconds=0.2)[:3] == ("slow", 0, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce the limit")
def test_what_counts_is_work_not_waiting() -> None:
    """A loop is stopped by what it computes; who sleeps for longer than that is not."""
    assert run("while True: pass")[:3] == ("slow", 0, 1)
    asleep = "import time\ndef f():\n    time.sleep(1.1)\n    return 1"
    assert run(asleep)[:3] == ("right", 1, 0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs process groups and named pipes")
def test_whole_process_group_is_killed(tmp_path: Path) -> None:
    """A child that a solution leaves behind is gone, seen by its end of a pipe closing."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    source = f"""
import os, time
if os.fork() == 0:
    writer = os.open({str(pipe)!r}, os.O_WRONLY)
    os.write(writer, b"alive")
time.sleep(600)
"""
    alive, seconds = b"", 1.0
    try:
        while not alive:  # on a busy machine it takes the child longer to say so
            assert run(source, seconds=seconds).kind == "slow"
            alive, seconds = os.read(reader, 100), 2 * seconds
        assert alive == b"alive"
        assert select.select([reader], [], [], 30.0)[0] == [reader]
        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce the limit")
def test_memory_is_limited() -> None:
    """Asking for 80 GB fails the test that asks, and no other."""
    source = "def f(n): return len([0] * n)"
    assert run(source, "f(10**10) == 10**10", "f(1) == 1")[:3] == ("wrong", 1, 1)


FLOOD = """
import os
while True:
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"x" * 1000)
        except OSError:
            pass
"""
FAKED = r"""
import os
fake = "compiled 0\npassed\nfinished\n" + "0" * 32 + " passed\n" + "0" * 32 + " finished\n"
print(fake, flush=True)
for descriptor in range(64):
    try:
        os.write(descriptor, fake.encode())
    except OSError:
        pass
def f(): return 2
"""


@pytest.mark.parametrize(("source", "tests", "outcome"), [
    # the plain case, so that the ones below fail for the reason they name
    ("def f(): return 1", (), ("right", 1, 0, 0)),
    # a solution that hangs on its second test has passed the first
    ("def f(n):\n    while n: pass\n    return 1", ("f(0) == 1", "f(1) == 1", "f(0) == 1"),
        ("slow", 1, 2)),
    # an exit in a test is a failed test, and the tests after it still run
    ("import sys\ndef f(n):\n    if n: sys.exit(0)\n    return 1", ("f(1) == 1", "f(0) == 1"),
        ("wrong", 1, 1)),
    # it compiled, but no test could run; there is nothing to read on standard input
    ("import sys\nsys.exit(0)", (), ("crash", 0, 1)),
    ("import os\nos._exit(0)", (), ("crash", 0, 1)),
    ("raise RuntimeError", (), ("crash", 0, 1)),
    ("import a_module_that_nobody_has", (), ("crash", 0, 1)),
    ("n = int(input())", (), ("crash", 0, 1)),
    ("raise KeyboardInterrupt", (), ("crash", 0, 1)),
    # where it does not compile all tests count as failed, and nothing is run or linted
    ("def f(: return 1", (), ("no build", 0, 1, 0)),
    ("```python\ndef f(): return 1\n```", (), ("no build", 0, 1, 0)),
    ("f = '\0'", (), ("no build", 0, 1, 0)),
    ("(" * 10_000, (), ("no build", 0, 1, 0)),
    # a right solution that prints megabytes is right: its prints go nowhere
    ("def f():\n    for _ in range(10_000): print('x' * 1000)\n    return 1", (), ("right", 1, 0)),
    # demonstrations at the bottom of an answer stay quiet, as on import
    ("def f(): return 1\nif __name__ == '__main__': raise SystemExit", (), ("right", 1, 0)),
    # of the private channel a bounded number of bytes is read, well before the time limit
    (FLOOD, (), ("crash", 0, 1)),
    # lines that look like results, on any descriptor, lack the token that was never shown
    (FAKED, (), ("wrong", 0, 1)),
])  # fmt: skip
def test_what_comes_of_a_solution(
    source: str, tests: tuple[str, ...], outcome: tuple[str, ...]
) -> None:
    """Its kind, and how many tests passed and failed."""
    assert run(source, *tests)[: len(outcome)] == outcome


def test_worker_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken instrument must not pass for a bad solution."""
    monkeypatch.setattr(tour_code, "HERE", DOCS / "nowhere")
    with pytest.raises(RuntimeError, match=r"^the worker ended before .* solution compiles$"):
        run("def f(): return 1")


@pytest.mark.parametrize(("source", "expected"), [
    ("import os\nfrom re import match as m, sub\nsub", ["1: unused import os", "2: unused"]),
    ("import os.path\nos.path", []),
    ("try: pass\nexcept: pass", ["2: bare except"]),
    ("try: pass\nexcept ValueError: pass", []),
    ("def f(a, b={}, *, c=[]): pass", ["1: mutable default", "1: mutable default"]),
    ("def f(a, b=(), *, c, d=None): pass", []),
    (f"a = '{'x' * 93}'", []),
    (f"a = '{'x' * 94}'", ["1: longer than 99"]),
])  # fmt: skip
def test_lint(source: str, expected: list[str]) -> None:
    """Each rule, and what it leaves alone; 99 characters are the most a line may have."""
    for warning, start in zip(tour_worker.lint(source), expected, strict=True):
        assert warning.startswith(f"line {start}")
