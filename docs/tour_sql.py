"""
The half of `tour.py` about generated SQL.

An invented model answered twenty questions to a shop, before and after a change of its prompt
(`tour_queries.toml`).  A validator that sqlite3 provides says what it thinks of every answer.
"""

from __future__ import annotations

import sqlite3
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from tour_text import blocks, ends, hanging, indented, percent, say, table

import scorekit

HERE = Path(__file__).resolve().parent

METRICS = ("query_correctness", "table_accuracy", "safety_validation", "validation_accuracy")

FUNCTIONS = {"avg", "count", "date", "like", "max", "min", "round", "sum"}
"""What the validator lets a query call."""

PRIVATE = {("customers", "email")}
"""What it lets nobody read."""

Side = Literal["before", "after"]


class Answer(NamedTuple):
    """What the model answered, and what ought to come of it."""

    sql: str
    confidence: str
    should_pass: bool = True
    expected_safe: bool = True


class Question(NamedTuple):
    """A question, its accepted queries, and the answers to two versions of the prompt."""

    name: str
    text: str
    expected: tuple[str, ...]
    before: Answer
    after: Answer


class Verdict(NamedTuple):
    """What the validator says of a query."""

    is_valid: bool
    safety_valid: bool
    errors: tuple[str, ...] = ()


class Evaluation(NamedTuple):
    """What the sections of the report look at."""

    questions: list[Question]
    cases: list[scorekit.SqlCase]
    before: scorekit.SqlReport
    after: scorekit.SqlReport
    judged: bool


# --- Validate and score ---------------------------------------------------------------------


def read_questions() -> tuple[list[Question], str]:
    """Return the questions and the schema they are about."""
    data = tomllib.loads((HERE / "tour_queries.toml").read_text(encoding="utf-8"))
    questions: list[Question] = []
    for entry in data["questions"]:
        expected = entry["expected"]
        before = Answer(**entry["before"])
        questions.append(
            Question(
                name=entry["name"],
                text=entry["question"],
                expected=(expected,) if isinstance(expected, str) else tuple(expected),
                before=before,
                after=Answer(**entry["after"]) if "after" in entry else before,
            )
        )
    return questions, data["schema"]


@contextmanager
def validator(schema: str) -> Iterator[Callable[[str], Verdict]]:
    """
    Yield a validator of single queries that only read.

    It asks an empty database in memory for the plan of the query, without running it.
    """
    denied: list[int] = []

    def authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
        allowed = {
            sqlite3.SQLITE_SELECT: True,
            sqlite3.SQLITE_RECURSIVE: True,
            sqlite3.SQLITE_READ: (first, second) not in PRIVATE,
            sqlite3.SQLITE_FUNCTION: second in FUNCTIONS,
        }
        if allowed.get(action, False):
            return sqlite3.SQLITE_OK
        denied.append(action)
        return sqlite3.SQLITE_DENY

    def validate(query: str) -> Verdict:
        denied.clear()
        try:
            database.execute(f"EXPLAIN {query}").close()
        except (sqlite3.ProgrammingError, sqlite3.Warning) as error:  # a second statement
            return Verdict(is_valid=False, safety_valid=False, errors=(str(error),))
        except sqlite3.Error as error:
            return Verdict(is_valid=False, safety_valid=not denied, errors=(str(error),))
        return Verdict(is_valid=True, safety_valid=True)

    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(schema)
        database.set_authorizer(authorize)
        yield validate


def evaluate(judge: scorekit.Judge | None = None) -> Evaluation:
    """Show every answer to the validator, then score all of them."""
    questions, schema = read_questions()
    with validator(schema) as validate:

        def cases(side: Side) -> list[scorekit.SqlCase]:
            return [make_case(question, side, validate, schema) for question in questions]

        before, after = cases("before"), cases("after")
    if judge is not None:
        judge = scorekit.CachedJudge(judge)  # many an answer is the same before and after
    return Evaluation(
        questions,
        before,
        scorekit.score_sql_cases(before, judge=judge),
        scorekit.score_sql_cases(after, judge=judge),
        judged=judge is not None,
    )


def make_case(
    question: Question, side: Side, validate: Callable[[str], Verdict], schema: str
) -> scorekit.SqlCase:
    """Return one answer as scorekit takes it."""
    answer = question.before if side == "before" else question.after
    verdict = validate(answer.sql)
    return scorekit.SqlCase(
        case_id=question.name,
        generated=answer.sql,
        expected=question.expected,
        expected_tables=scorekit.extract_tables(question.expected[0], dialect="sqlite"),
        is_valid=verdict.is_valid,
        safety_valid=verdict.safety_valid,
        errors=verdict.errors,
        should_pass=answer.should_pass,
        expected_safe=answer.expected_safe,
        confidence=answer.confidence,
        dialect="sqlite",
        schema=schema,
        question=question.text,
    )


# --- The sections ---------------------------------------------------------------------------


def what_was_asked(evaluation: Evaluation) -> str:
    """Show every question, and what each metric says of the answer."""
    rows = [
        [
            question.name,
            question.text,
            f"{tables.score:.2f}",
            f"{mark(validation)} {said(validation)}",
            f"{mark(correctness)} {how(correctness)}",
        ]
        for question, score in zip(evaluation.questions, evaluation.before.cases, strict=True)
        if (correctness := score.query_correctness)
        and (tables := score.table_accuracy)
        and (validation := score.validation_accuracy)
    ]
    return blocks(
        say(f"""
            A third invented model translated {len(rows)} questions about a shop into SQL.  Each
            answer is compared with an expected query, and checked by a validator.  The validator
            is an empty SQLite database in memory.  It plans queries without running them, and
            rejects everything that does more than read.
        """),
        table(["", "question", "tables", "validator", "correctness"], rows, "<<><<"),
        say("""
            The columns show how well the tables match those of the expected query, from 0 to 1;
            what the validator said, and whether that was right (✓) or wrong (✗); and whether the
            query is right, with what decided it.
        """),
    )


def right_tables(evaluation: Evaluation) -> str:
    """Work through the table accuracy of one answer."""
    case = next(case for case in evaluation.cases if case.case_id == "berlin-sum")
    result = scorekit.table_accuracy(
        case.generated, case.expected_tables or (), dialect=case.dialect
    )
    shared = [name for name in result.extracted if name not in result.unexpected]
    n_all = len(shared) + len(result.missing) + len(result.unexpected)
    rows = [
        ["in both", ", ".join(shared)],
        ["missing", ", ".join(result.missing)],
        ["unexpected", ", ".join(result.unexpected)],
        ["table accuracy", f"{len(shared)} of {n_all}: {result.score:.2f}"],
    ]
    return blocks(
        say(f'Does a query use the right tables?  The model answered "{case.question}" with:'),
        indented(case.generated),
        table(["", "tables"], rows),
        say("""
            The shop has no table "sales".  Table accuracy finds that without a database.  It also
            knows that "berliners" is no table, but a name in the WITH clause.
        """),
    )


def is_it_right(evaluation: Evaluation) -> str:
    """Say what decides correctness, and list what nothing decides yet."""
    results = {
        case.case_id: result
        for case in evaluation.before.cases
        if (result := case.query_correctness)
    }
    groups: dict[str, list[scorekit.QueryCorrectness]] = {}
    for result in results.values():
        groups.setdefault(how(result), []).append(result)
    rows = [
        [
            name,
            str(len(group)),
            "-" if mark(group[0]) == "?" else f"{sum(r.score for r in group) / len(group):.2f}",
        ]
        for name, group in sorted(groups.items(), key=lambda item: len(item[1]))
    ]
    undecided = [name for name, result in results.items() if mark(result) == "?"]
    shown = next(case for case in evaluation.cases if case.case_id == "mean-price")
    evidence = results[shown.case_id].equivalence
    if evidence is None or evidence.counterexample is None:
        raise RuntimeError("the data have no query that differs")
    parts = [
        say("""
            Does a query answer the question?  It is right if it has the same text as an expected
            query, or can be proved equivalent.  It is wrong if it is not SQL or no query, or
            names a table or column that does not exist.  If there are several expected queries,
            the best score counts:
        """),
        table(["decided by", "queries", "mean score"], rows, "<>>"),
        say(f"""
            A query is refuted, and wrong, if its result differs on a small database.  A judge, if
            there is one, sees that database and may call the query partly right.  For example,
            "{shown.question}" (the model's query comes first):
        """),
        indented(evidence.counterexample.to_text()),
    ]
    if undecided:
        why = "The judge failed on" if evaluation.judged else "A judge would be asked about"
        parts.append(
            say(f"""
                {why} {len(undecided)} of {len(results)}: {", ".join(undecided)}.  Without an
                answer they stay out of the mean, and are counted separately: that the judge gave
                none is not the model's fault.
            """)
        )
    return blocks(*parts)


def does_the_validator_work(evaluation: Evaluation) -> str:
    """Count the validator's verdicts, and name those that were wrong."""
    report = evaluation.before
    safety = report.safety
    if safety is None or safety.recall is None or safety.recall_interval is None:
        raise RuntimeError("the data have no unsafe query")
    rows = [
        ["safe", str(safety.n_true_negatives), str(safety.n_false_positives)],
        ["unsafe", str(safety.n_false_negatives), str(safety.n_true_positives)],
    ]
    missed = [case for case in evaluation.cases if case.case_id in safety.missed]
    rejections = [
        [case.case_id, shortened(result.errors[0]), str(result.error_category)]
        for case in report.cases
        if (result := case.validation_accuracy) and result.needs_investigation
    ]
    return blocks(
        say("Does the validator stop unsafe queries, and only these?"),
        table(["", "passed", "blocked"], rows, "<>>"),
        say(f"""
            It stopped {safety.n_true_positives} of {safety.n_true_positives + len(missed)} unsafe
            queries, a recall of {safety.recall:.2f} {ends(safety.recall_interval)}.  It missed
            {" and ".join(case.case_id for case in missed)}, which only reads but never ends:
        """),
        *(indented(case.generated) for case in missed),
        say(f"""
            A validator also rejects queries for other reasons, such as an unknown column.  Of the
            rejected queries, {len(rejections)} should have passed.  These are the messages, and
            the categories that scorekit gives them:
        """),
        table(["query", "message", "category"], rejections),
        say("""
            In the first two the SQL is right, but other text around it was not removed before the
            check.  The third calls a harmless function that is not on the validator's list.
        """),
    )


def is_it_sure(evaluation: Evaluation) -> str:
    """Compare stated confidence with correctness."""
    calibration = evaluation.before.calibration
    if calibration is None:
        raise RuntimeError("the data have no query that is decided")
    rows = [
        [
            level.level,
            percent(level.nominal),
            str(level.n_cases),
            "-"
            if level.accuracy is None or level.interval is None
            else f"{level.accuracy:.2f} {ends(level.interval)}",
        ]
        for level in calibration.levels
    ]
    if calibration.score is None:
        outcome = f"No score: {'; '.join(calibration.warnings)}."
    else:
        outcome = f"Score {calibration.score:.2f}: {calibration.interpretation}."
        outcome += "".join(f"  {warning}." for warning in calibration.warnings)
    return blocks(
        say(f"""
            With each answer the model stated its confidence.  Is it right as often as it says?
            Of {len(evaluation.cases)} answers, {calibration.n_cases} have been decided:
        """),
        table(["confidence", "stands for", "decided", "right"], rows, "<>><"),
        say(f"{outcome}  The intervals are wide because there are so few cases."),
    )


def all_in_one(evaluation: Evaluation) -> str:
    """Show the statistics per metric."""
    report = evaluation.before
    rows: list[list[str]] = []
    for metric in METRICS:
        statistics: scorekit.Statistics | None = getattr(report, metric)
        left_out = sum(row[metric] is None for row in report.to_rows())
        if statistics is not None:
            numbers = (f"{statistics.mean:.3f}", f"{statistics.std_dev:.3f}")
            rows.append([metric, *numbers, str(statistics.count), str(left_out)])
    extremes = ""
    if report.n_failed and report.query_correctness_bounds is not None:
        low, high = report.query_correctness_bounds
        extremes = "  Whether these are right or wrong, the mean "
        extremes += f"correctness is {low:.3f} to {high:.3f}."
    return blocks(
        say("One call computed all of this:"),
        indented("report = scorekit.score_sql_cases(cases, judge=judge)"),
        table(["metric", "mean", "std. deviation", "scored", "left out"], rows, "<>>>>"),
        say(f"""
            A query that is not SQL is the model's failure and counts as 0.  Results that are
            missing for want of a judge are left out of the mean and counted:
            {report.n_failed} here.{extremes}
        """),
    )


def did_it_help(evaluation: Evaluation) -> str:
    """Compare the answers to the new prompt with those to the old one."""
    comparison = scorekit.compare_reports(evaluation.before, evaluation.after)
    n_changed = sum(question.before != question.after for question in evaluation.questions)
    by_verdict: dict[str, list[str]] = {}
    for metric, suite in comparison.suites.items():
        by_verdict.setdefault(suite.verdict, []).append(metric)
    if len(by_verdict) == 1:
        outcome = f"Every metric says: {next(iter(by_verdict))}."
    else:
        outcome = "  ".join(f"{', '.join(names)}: {word}." for word, names in by_verdict.items())
    if comparison.newly_failing:
        outcome += '  "Newly unscored" had a score before, and now waits for a judge.'
    worse = dict.fromkeys(change.case_id for change in comparison.regressions)
    caution = f"look at {' and '.join(worse)}, and " if worse else ""
    return blocks(
        say(f"""
            A new prompt asks for one SELECT statement and nothing else.  {n_changed} answers
            changed with it.  Are they better?
        """),
        indented(hanging(comparison.to_text())),
        say(f"""
            {outcome}  Each metric has its own verdict, because the right tables cannot make up
            for an unsafe query.  What to do: {caution}ask more than {len(evaluation.questions)}
            questions before you trust a difference of this size.
        """),
    )


Section = Callable[[Evaluation], str]

SECTIONS: tuple[tuple[str, Section], ...] = (
    ("Questions about a shop", what_was_asked),
    ("The right tables", right_tables),
    ("Is it right?", is_it_right),
    ("Does the validator do its job?", does_the_validator_work),
    ("Is the model's confidence justified?", is_it_sure),
    ("Everything in one call", all_in_one),
    ("Did the new prompt help?", did_it_help),
)


# --- Plain text -----------------------------------------------------------------------------


def mark(result: scorekit.ValidationAccuracy | scorekit.QueryCorrectness) -> str:
    """Return a sign for right, partly right, wrong or not known."""
    if result.error is not None and result.error.origin == "instrument":
        return "?"
    return {1.0: "✓", 0.5: "½"}.get(result.score, "✗")


def said(result: scorekit.ValidationAccuracy) -> str:
    """Return what the validator said, in a word."""
    return "accepted" if result.error_category is None else result.error_category.split()[0]


def how(result: scorekit.QueryCorrectness) -> str:
    """Return what decided a pair, if anything did."""
    if mark(result) == "?":
        differs = result.equivalence is not None and result.equivalence.verdict == "refuted"
        return "differs" if differs else "nobody yet"
    if result.error is not None:
        if result.error.kind == "changes_data":
            return "no query"
        return "unknown name" if result.error.kind.startswith("unknown") else "not SQL"
    return "same text" if result.method == "identical" else str(result.method)


def shortened(message: str) -> str:
    """Return a message on one line that fits a column."""
    return textwrap.shorten(message, 48, placeholder=" ...")
