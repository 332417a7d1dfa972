"""SQL cases, and all metrics of each side by side."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

import attrs

from scorekit._core.checks import (
    check_choice,
    check_flag,
    check_generated,
    check_items,
    check_number,
    check_same_length,
    check_text,
    is_missing,
    is_ordered,
    store,
)
from scorekit._core.columns import (
    as_builtins,
    check_attempts,
    check_id,
    check_same_order,
    name_of,
    names_of,
)
from scorekit._core.mappings import FrozenMapping, frozen_mappings, is_mapping
from scorekit._sheet.model import Block, Fields, Part, Section, Sheet, Table
from scorekit._sheet.values import brief, counted, entries
from scorekit._sql.door import (
    NOT_COMPARED,
    Keys,
    check_dialect,
    checked_schema,
    frozen_keys,
)
from scorekit.audits import QueryAudit, notes_of, sections_of
from scorekit.calibration import DEFAULT_NOMINAL, check_level
from scorekit.columns import ColumnAccuracy
from scorekit.correctness import QUERY_ROLES, Evidence, QueryCorrectness, accepted_queries
from scorekit.equivalence import Counterexample, SqlEquivalence, tables_of
from scorekit.errors import one_line, refuse, shown
from scorekit.records import MetricResult, Record
from scorekit.results import (
    ResultAccuracy,
    Results,
    SqlOptions,
    StoredRows,
    by_database,
    check_databases,
    stored_results,
)
from scorekit.rulers import ANSWERS
from scorekit.tables import TableAccuracy
from scorekit.validation import SafetyValidation, ValidationAccuracy

_MOVED = {
    "SqlReport": "sqlreports",
    "_Failures": "sqlreports",  # which `SqlReport.failures` returns
    "ascore_sql_case": "scoring",
    "ascore_sql_cases": "scoring",
    "score_sql_case": "scoring",
    "score_sql_cases": "scoring",
}
"""The modules of names that stood here: stored pickles refer to them as ``scorekit.cases``."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _MOVED:
            return getattr(import_module(f"scorekit.{_MOVED[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _texts(value: object) -> Any:
    return tuple(value) if is_ordered(value) else value


def _shown_rows(rows: Any) -> str:
    """Say how many there are: millions would fill the screen."""
    if rows is None:
        return "None"
    return f"<{', '.join(f'{len(own)} rows' for own in by_database(rows).values())}>"


def _generated_rows(value: object) -> Any:
    return stored_results("generated_rows", value)


def _expected_rows(value: object) -> Any:
    return stored_results("expected_rows", value)


def _also_accepted_rows(value: object) -> Any:
    items = check_items("also_accepted_rows", value, what="results", empty=True)
    return tuple(stored_results(f"also_accepted_rows[{i}]", rows) for i, rows in enumerate(items))


def _frozen_tags(value: object) -> FrozenMapping[str, str]:
    """Return tags as text, integers among them too."""
    if value is None:
        return FrozenMapping()
    if not is_mapping(value):
        refuse("tags", "a mapping of text to text", value, TypeError)
    return FrozenMapping(
        {
            check_text("name of a tag", name): check_id(f"tags[{shown(name)}]", text)
            for name, text in value.items()
        }
    )


_VERDICTS = (
    "is_valid",
    "safety_valid",
    "syntax_valid",
    "schema_valid",
    "should_pass",
    "expected_safe",
)


@attrs.frozen(kw_only=True)
class SqlCase(Record):
    """
    One generated query and what is known about it; a metric without its inputs is skipped.

    Raises:
        InputError: If *case_id* is empty, *dialect* or *confidence* unknown, or *schema* text that
            defines no table, such as the path of a file.
        TypeError: If a field has the wrong type.

    Examples:
        >>> case = SqlCase(
        ...     case_id="q1", generated="SELECT id FROM users", expected_tables=["users"]
        ... )
        >>> case.expected_tables
        ('users',)
        >>> SqlCase(case_id="q1", generated=None)
        Traceback (most recent call last):
        ...
        TypeError: generated must be a string ('' scores 0: a model without an answer), got None
    """

    case_id: str = attrs.field(converter=name_of)
    """Its name; an integer becomes text."""
    generated: str
    expected: str | tuple[str, ...] | None = attrs.field(default=None, converter=_texts)
    """The reference query, or several accepted ones."""
    expected_tables: tuple[str, ...] | None = attrs.field(default=None, converter=_texts)
    """The right tables; where they are None and *metrics* names ``"table_accuracy"``, those of
    *expected*."""
    is_valid: bool | None = None
    """Whether the validator accepted the query."""
    safety_valid: bool | None = None
    """Whether the validator called it safe."""
    syntax_valid: bool | None = None
    """Whether the validator found its syntax right."""
    schema_valid: bool | None = None
    """Whether the validator found its tables and columns in the schema."""
    should_pass: bool | None = None
    """Whether the validator should accept it."""
    expected_safe: bool | None = None
    """Whether it is safe, where that differs from *should_pass*."""
    errors: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    """The validator's messages."""
    confidence: str | None = None
    """Confidence that the model stated, high, medium or low."""
    dialect: str | None = None
    schema: str | FrozenMapping[str, FrozenMapping[str, str]] | None = attrs.field(
        default=None, converter=frozen_mappings
    )
    """The tables, as text or as table -> column -> type."""
    question: str | None = None
    generated_rows: StoredRows | FrozenMapping[str, StoredRows] | None = attrs.field(
        default=None, converter=_generated_rows, repr=_shown_rows
    )
    """What the generated query returned, or what on each of several databases; None where it
    failed.  Cells that JSON has no form for are kept as a pair of their kind and their text."""
    expected_rows: StoredRows | FrozenMapping[str, StoredRows] | None = attrs.field(
        default=None, converter=_expected_rows, repr=_shown_rows
    )
    """What the expected query returned there."""
    also_accepted_rows: tuple[StoredRows | FrozenMapping[str, StoredRows], ...] = attrs.field(
        default=(), converter=_also_accepted_rows, repr=lambda results: f"<{len(results)} results>"
    )
    """Further right results, beside the expected one."""
    tags: FrozenMapping[str, str] = attrs.field(default=FrozenMapping(), converter=_frozen_tags)
    """What kind of case it is, such as its database and its difficulty, for `SqlReport.by`."""
    options: SqlOptions | None = None
    """Options of this case; what they give goes before those of the run."""
    keys: FrozenMapping[str, tuple[tuple[str, ...], ...]] | None = attrs.field(
        default=None, converter=frozen_keys
    )
    """Keys of the tables, as in `SqlOptions`."""

    def __attrs_post_init__(self) -> None:
        """Check every field under its own name; store it as the builtin of its annotation."""
        store(self, "case_id", check_id("case_id", self.case_id))
        check_generated("generated", self.generated)
        for name in _VERDICTS:
            if getattr(self, name) is not None:
                store(self, name, check_flag(name, getattr(self, name)))
        if self.expected is not None:
            accepted_queries(self.expected)
        if self.expected_tables is not None:
            _check_texts("expected_tables", self.expected_tables)
        _check_texts("errors", self.errors, empty=True)
        if self.confidence is not None:
            check_level("confidence", self.confidence, tuple(DEFAULT_NOMINAL))
        store(self, "dialect", check_dialect(self.dialect))
        store(self, "schema", checked_schema(self.schema, self.dialect))
        if self.question is not None:
            check_text("question", self.question, empty=True)
        SqlOptions.of(self.options, {"keys": self.keys})
        if self.generated_rows is not None and self.expected_rows is not None:
            own = by_database(self.generated_rows)
            check_databases(own, by_database(self.expected_rows))
            for i, rows in enumerate(self.also_accepted_rows):
                check_databases(own, by_database(rows), f"also_accepted_rows[{i}]")


def _check_texts(name: str, texts: object, *, empty: bool = False) -> None:
    for i, text in enumerate(check_items(name, texts, what="strings", empty=True)):
        check_text(f"{name}[{i}]", text, empty=empty)


METRICS = (
    "query_correctness",
    "table_accuracy",
    "column_accuracy",
    "safety_validation",
    "validation_accuracy",
    "result_accuracy",
)
"""The metrics of a case, in the order of reports; records have a field for each."""

ORDER_LEFT_OUT = "an ORDER BY was not compared"
"""Remark on rows whose order a query asks for, and that were compared in any order."""

MAX_LINES = 4
"""Lines that a case has below its scores."""

MAX_CHARS = 150
"""Characters of a query, or of a database, that a line of a case shows."""


@attrs.frozen(kw_only=True, repr=False)
class SqlCaseScore(Record):
    """Result of `score_sql_case`; a metric without its inputs is None."""

    case_id: str
    query_correctness: QueryCorrectness | None
    table_accuracy: TableAccuracy | None
    column_accuracy: ColumnAccuracy | None
    safety_validation: SafetyValidation | None
    validation_accuracy: ValidationAccuracy | None
    result_accuracy: ResultAccuracy | None = None
    """Execution accuracy, from the rows of the case."""
    duration_seconds: float = attrs.field(eq=False)
    n_failed: int
    """Metrics whose instrument failed, so that their 0.0 does not describe the model."""
    confidence: str | None = None
    """The model's stated confidence, from the case."""
    generated: str
    """The query that was scored."""
    expected: str | tuple[str, ...] | None = None
    """What it was compared with."""
    attempt: int = 0
    """Which of the cases of this id in the report it is, from 0."""
    input_digests: FrozenMapping[str, str]
    """Digest of each input of the case; what equal inputs gave can be taken over."""
    tags: FrozenMapping[str, str] = attrs.field(factory=FrozenMapping[str, str])
    """What kind of case it is."""
    audits: tuple[QueryAudit, ...] = ()
    """What is wrong with the expected queries, each in turn, where *audit* asked for it."""

    @property
    def accepted(self) -> tuple[str, ...]:
        """The queries that are right, where they are known."""
        own = self.expected
        return (own,) if isinstance(own, str) else own or ()

    def metrics(self) -> dict[str, Any]:
        """Return the results there are, by metric."""
        results = {name: getattr(self, name) for name in METRICS}
        return {name: result for name, result in results.items() if result is not None}

    @property
    def answer(self) -> str:
        """What the system gave; equal answers are measured alike by one ruler."""
        digests = self.input_digests
        if ANSWERS.isdisjoint(digests):  # as with most: a report can have many
            return self.generated
        others = (f"{n} {digests[n]}" for n in sorted(ANSWERS.intersection(digests)))
        return "\n".join([*others, self.generated])

    @property
    def is_broken(self) -> bool:
        """Whether the generated SQL does not run, so that nothing else decides its correctness."""
        error = None if self.query_correctness is None else self.query_correctness.error
        return error is not None and error.origin == "output"

    @property
    def right_by_accident(self) -> bool:
        """Whether the rows agree, though on another database the queries differ."""
        rows, correctness = self.result_accuracy, self.query_correctness
        return (
            rows is not None
            and rows.score == 1.0
            and correctness is not None
            and correctness.equivalence is not None
            and correctness.equivalence.verdict == "refuted"
        )

    @property
    def order_left_out(self) -> bool:
        """Whether a right score leaves out an ORDER BY, by *row_order* of `SqlOptions`."""
        rows, known = self.result_accuracy, self._evidence
        return (rows is not None and rows.reason.endswith(ORDER_LEFT_OUT)) or (
            known is not None and any(one in NOT_COMPARED for one in known.assumptions)
        )

    def _sheet(self, *, without: Container[tuple[str, str]] = ()) -> Sheet:
        """Return the scores, the SQL, and why it is not right but for some reasons."""
        reasons = self.reasons()
        results = self.metrics()
        why = {m: reason for m, reason in reasons.items() if (m, reason) not in without}
        parts: list[Part] = [
            Table(rows=(), lines=self._brief(why), place="brief"),
            Block("generated", self.generated, in_full=True),
            *(Block("expected", query, in_full=True) for query in self.accepted),
            Table(
                rows=[
                    {"metric": name, "score": result, "why": reasons.get(name)}
                    for name, result in results.items()
                ],
                place="page",
            ),
            *(Block(metric, reason, in_full=True) for metric, reason in why.items()),
        ]
        if (example := self._counterexample) is not None:
            parts.append(Section("counterexample", tables_of(example, QUERY_ROLES), in_full=True))
        parts += [part for audit in self.audits for part in sections_of(audit, in_full=True)]
        parts.append(Fields(record=self, title="All fields", folded=True))
        scores = ", ".join(f"{name} {brief(result)}" for name, result in results.items())
        return Sheet(f"Case {self._name}", f"{self._name}: {scores}", parts)

    def _brief(self, why: Mapping[str, str]) -> list[str]:
        """Return a few lines: the SQL, a reason, and what shows it; the rest is counted."""
        named: dict[str, list[str]] = {}
        for metric in sorted(
            why, key=lambda m: m != "result_accuracy" or not self.right_by_accident
        ):
            named.setdefault(why[metric].replace("generated: ", "", 1), []).append(metric)
        reasons = [f"{', '.join(own)}: {reason}" for reason, own in named.items()]
        head = [f"generated: {_joined(self.generated)}"] if self.generated else []
        head += [f"expected: {_joined(query)}" for query in self.accepted[:1]]
        last: list[str] = []
        if (example := self._counterexample) is not None:
            tables = chain(*(table.lines or () for table in tables_of(example, QUERY_ROLES)[:-2]))
            last = [f"counterexample: {one_line('; '.join(tables), MAX_CHARS)}"]
        most = MAX_LINES - len(head) - len(last)
        lines = [f"  {line}" for line in (*head, *reasons[:most], *last)]
        more = {
            "more reference": len(self.accepted[1:]),
            "more reason": len(reasons[most:]),
            "audit finding": sum(len(audit.findings) for audit in self.audits),
        }
        if lines and any(more.values()):
            counts = ", ".join(counted(n, what) for what, n in more.items() if n)
            lines[-1] += f" (to_text(all=True) has {counts})"
        return lines

    @property
    def findings(self) -> tuple[str, ...]:
        """The kinds of what is wrong with the expected queries, each once."""
        return tuple(dict.fromkeys(one.kind for audit in self.audits for one in audit.findings))

    @property
    def audit_notes(self) -> tuple[str, ...]:
        """What could not be looked for in the expected queries, and what audits rest on."""
        return tuple(dict.fromkeys(note for audit in self.audits for note in notes_of(audit)))

    @property
    def counterexample(self) -> str:
        """The database on which the queries differ, as text; empty where none is known."""
        example = self._counterexample
        return "" if example is None else example.to_text(names=QUERY_ROLES)

    @property
    def _counterexample(self) -> Counterexample | None:
        return None if self._evidence is None else self._evidence.counterexample

    @property
    def differs_in(self) -> tuple[str, ...]:
        """The clauses that are wrong in a query, where evidence shows them."""
        return () if self._evidence is None else self._evidence.differs_in

    @property
    def _evidence(self) -> SqlEquivalence | None:
        correctness = self.query_correctness
        return None if correctness is None else correctness.equivalence

    def reasons(self) -> dict[str, str]:
        """Return why each metric that is not fully right is not, by metric."""
        reasons = {
            name: result.why()
            for name, result in self.metrics().items()
            if result.score < 1.0 or result.error is not None
        }
        if self.right_by_accident:
            reasons["result_accuracy"] = "right by accident: the rows agree, the queries differ"
        return reasons

    @property
    def _name(self) -> str:
        return one_line(self.case_id) + (f" (attempt {self.attempt})" if self.attempt else "")

    def _row(self, *, without: Container[tuple[str, str]] = ()) -> dict[str, object]:
        """Return what a table of cases shows, without some reasons, each a metric and its text."""
        reasons = self.reasons()
        wrong = [
            f"{name} {brief(result)}" for name, result in self.metrics().items() if name in reasons
        ]
        why = [f"{m}: {reason}" for m, reason in reasons.items() if (m, reason) not in without]
        expected = self.expected or ""
        return {
            "case": self.case_id,
            "attempt": self.attempt or None,
            "wrong": "\n".join(wrong),
            "generated": self.generated,
            "expected": expected if isinstance(expected, str) else "\nor ".join(expected),
            "why": "\n".join(why + self.counterexample.splitlines()),
        }


def _joined(sql: str) -> str:
    """Return a query on one line, cut."""
    return one_line(" ".join(sql.split()), MAX_CHARS)


def references(expected: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the queries that are right, where they are known."""
    return () if expected is None else accepted_queries(expected)


def failed(result: Any) -> bool:
    """Return whether the score of a metric's result is only a placeholder."""
    return result.error is not None and result.error.origin == "instrument"


def is_unjudged(result: MetricResult | None) -> bool:
    """Return whether the judge that was asked about a refuted pair gave no verdict."""
    return isinstance(result, QueryCorrectness) and result.judge_error is not None


@attrs.frozen(kw_only=True, repr=False)
class SqlScoring(Record):
    """How cases were scored: what of the arguments of ``score_sql_cases`` a report depends on."""

    options: SqlOptions = attrs.field(factory=SqlOptions)
    metrics: tuple[str, ...] | None = attrs.field(default=None, converter=_texts)
    """The metrics that were asked for; None for all that there are inputs for."""
    evidence: Evidence = "auto"
    confidence_level: float = 0.95
    asks_safety: bool = False
    """Whether a missing *safety_valid* is a verdict that the validator failed to give, also
    where it gave others: some case has one, or *metrics* asks for it."""
    engine: str | None = None
    """The caller's engine that ran queries for evidence, by name; None for SQLite."""

    def _line(self) -> str:
        asked = "every metric with inputs" if self.metrics is None else ", ".join(self.metrics)
        usual = SqlOptions().settled
        own = [("evidence", self.evidence), *entries(self.options), ("engine", self.engine)]
        chosen = [
            f"{n} {brief(one)}" for n, one in own if one not in (None, getattr(usual, n, None))
        ]
        return ", ".join([asked, *chosen, f"{100 * self.confidence_level:.4g} %"])

    def __attrs_post_init__(self) -> None:
        """Check each argument under its name."""
        if self.metrics is not None:
            what = "metrics, such as ['query_correctness']"
            for i, name in enumerate(check_items("metrics", self.metrics, what=what)):
                check_choice(f"metrics[{i}]", name, METRICS)
        check_choice("evidence", self.evidence, ("auto", "judge"))
        level = check_number("confidence_level", self.confidence_level, 0.0, 1.0, open_ends=True)
        store(self, "confidence_level", level)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The metrics to compute."""
        return METRICS if self.metrics is None else self.metrics

    def of(self, case: SqlCase) -> SqlScoring:
        """Return how a case is scored, which may have options of its own; each is given."""
        own = SqlOptions.of(case.options, {"keys": case.keys})
        return attrs.evolve(self, options=self.options.with_own(own).settled)


_ONE_FOR_ALL = ("dialect", "schema", "options", "keys")
"""Columns that may be one value."""


def sql_cases_from_columns(
    *,
    case_id: Iterable[str | int],
    generated: Iterable[str],
    expected: Iterable[str | Iterable[str] | None] | None = None,
    expected_tables: Iterable[Iterable[str] | None] | None = None,
    is_valid: Iterable[bool | None] | None = None,
    safety_valid: Iterable[bool | None] | None = None,
    syntax_valid: Iterable[bool | None] | None = None,
    schema_valid: Iterable[bool | None] | None = None,
    should_pass: Iterable[bool | None] | None = None,
    expected_safe: Iterable[bool | None] | None = None,
    errors: Iterable[Iterable[str] | None] | None = None,
    confidence: Iterable[str | None] | None = None,
    dialect: str | Iterable[str | None] | None = None,
    schema: str
    | Mapping[str, Mapping[str, str]]
    | Iterable[str | Mapping[str, Mapping[str, str]] | None]
    | None = None,
    question: Iterable[str | None] | None = None,
    generated_rows: Iterable[Results | None] | None = None,
    expected_rows: Iterable[Results | None] | None = None,
    also_accepted_rows: Iterable[Iterable[Results] | None] | None = None,
    tags: Mapping[str, Iterable[str | int | None]]
    | Iterable[Mapping[str, str | int | None] | None]
    | None = None,
    options: SqlOptions | Iterable[SqlOptions | None] | None = None,
    keys: Keys | Iterable[Keys | None] | None = None,
    attempt: Iterable[Hashable] | None = None,
) -> tuple[SqlCase, ...]:
    """
    Make a `SqlCase` of each row of a table, for `score_sql_cases`.

    Each column is a list, or a NumPy, pandas, polars or Arrow column, of shape ``(N,)``. In all
    but the first two, a missing entry (None, NaN, ``pd.NA``) means that the value of that case is
    not known.

    Args:
        case_id: The name of each case.
        generated: The query that was generated.
        expected: The reference query, or a list of several accepted ones.
        expected_tables: Lists of the right tables.
        is_valid: Whether the validator accepted each query.
        safety_valid: Whether the validator called it safe.
        syntax_valid: Whether the validator found its syntax right.
        schema_valid: Whether the validator found its tables and columns in the schema.
        should_pass: Whether the validator ought to accept it.
        expected_safe: Whether it is safe, where that differs from *should_pass*.
        errors: Lists of the validator's messages.
        confidence: What the model stated of itself: high, medium or low. Numbers are what
            `calibration_error` takes, beside the scores of the report.
        dialect: The dialect of each query, or one for all.
        schema: The tables of each, as text or as table -> column -> type, or one of these for all.
        question: What was asked.
        generated_rows: The rows that each generated query returned, as `result_accuracy` takes
            them; an entry is missing where the query failed.
        expected_rows: The rows that each expected query returned.
        also_accepted_rows: Lists of further right results.
        tags: What kind of case each is: a mapping from the name of a tag to a column, or a column
            of mappings from tag to value.
        options: Options of each case, or one `SqlOptions` for all.
        keys: Keys of the tables of each, or one mapping for all.
        attempt: Distinguishes the attempts at a case, such as an epoch or a seed, so that a row
            which comes twice is refused; None if rows are known to differ.

    Returns:
        The cases, in the order of the rows.

    Raises:
        InputError: If the columns differ in length or are empty, two rows of a case have one
            *attempt*, or as `SqlCase`.
        TypeError: If an argument is not a column, or an entry has the wrong type for `SqlCase`.

    Examples:
        >>> cases = sql_cases_from_columns(
        ...     case_id=["q1", "q2"],
        ...     generated=["SELECT 1", "SELECT x FROM t"],
        ...     expected=["SELECT 1", None],
        ...     dialect="sqlite",
        ... )
        >>> cases[1].expected, cases[1].dialect
        (None, 'sqlite')
        >>> sql_cases_from_columns(case_id=["q1"], generated=["SELECT 1"], is_valid=["yes"])
        Traceback (most recent call last):
        ...
        TypeError: row 0: is_valid must be True or False, got 'yes'
    """
    columns = {name: values for name, values in locals().items() if values is not None}
    case_ids = names_of("case_id", case_id)
    tagged = columns.pop("tags", {})
    check_attempts(columns.pop("attempt", None), case_ids)

    def entries(name: str, values: Any) -> tuple[Any, ...]:
        if name in _ONE_FOR_ALL and (isinstance(values, str | SqlOptions) or is_mapping(values)):
            return (frozen_mappings(values) if name == "schema" else values,) * len(case_ids)
        items = check_items(name, as_builtins(values), what="entries")
        check_same_length(name, len(items), "case_id", len(case_ids))
        check_same_order("case_id", case_id, name, values)
        return items

    columns["case_id"] = case_ids  # it may have been an iterator
    given = {name: entries(name, values) for name, values in columns.items()}
    if is_mapping(tagged):
        kinds = {name: entries(f"tags[{shown(name)}]", values) for name, values in tagged.items()}
        tagged = [{name: kinds[name][i] for name in kinds} for i in range(len(case_ids))]
    given["tags"] = tuple(
        {name: value for name, value in tags.items() if not is_missing(value)}
        if is_mapping(tags)
        else tags
        for tags in entries("tags", tagged)
    )
    rows = zip(*given.values(), strict=True)
    return tuple(_case(i, dict(zip(given, row, strict=True))) for i, row in enumerate(rows))


def _case(i: int, row: dict[str, Any]) -> SqlCase:
    case: dict[str, Any] = {"case_id": None, "generated": None}  # refused unless known
    case |= {name: as_builtins(value) for name, value in row.items() if not is_missing(value)}
    try:
        return SqlCase(**case)
    except (TypeError, ValueError) as error:
        raise type(error)(f"row {i}: {error}") from None
