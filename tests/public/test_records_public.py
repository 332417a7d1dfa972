"""Every public record, as real calls make it: a value that travels and can be shown."""
# mypy: disable-error-code="arg-type, list-item, call-overload, dict-item, union-attr"
# What NumPy, `decimal` and `fractions` have for numbers is taken, beyond what the hints say.

from __future__ import annotations

import copy
import json
import pickle
import pickletools
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hostile_results import REPORT, SAMPLES
from public_register import MADE
from record_types import RECORDS

import scorekit
from scorekit.records import TableRecord

TOPICS = {f"scorekit.{path.stem}" for path in Path(scorekit.__file__).parent.glob("[!_]*.py")}
IDS = [f"{type(record).__name__}-{i}" for i, record in enumerate(MADE)]


def test_none_is_forgotten() -> None:
    """Every public record is among those made here, and a NaN."""
    assert {type(record) for record in MADE} == {*RECORDS.values()}
    assert "nan" in REPORT.to_json()


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_a_copy_is_equal_and_hashes_alike(record: scorekit.Record) -> None:
    """Workers send records by pickle, files keep them as strict JSON; a NaN is no exception."""
    text, kind = json.dumps(record.to_dict(), allow_nan=False), type(record)
    copies = [
        *(pickle.loads(pickle.dumps(record)), copy.deepcopy(record)),
        *map(kind.from_dict, (json.loads(text), record.to_dict())),
        kind.from_json(record.to_json()),
    ]
    assert copies == [record] * 5
    assert {*copies, record} == {record}
    assert json.dumps(copies[2].to_dict(), allow_nan=False) == text
    data = json.loads(record.to_json(), parse_constant=pytest.fail)
    assert (data["kind"], data["version"]) == (kind.__name__, record.version)


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_a_pickle_refers_to_public_modules_only(record: scorekit.Record) -> None:
    """What is stored today must load after the machinery has moved."""
    operations = pickletools.genops(pickle.dumps(record, protocol=2))
    named = [str(value) for operation, value, _ in operations if operation.name == "GLOBAL"]
    ours = {name.split()[0] for name in named if name.startswith("scorekit")}
    assert type(record).__module__ in ours
    assert ours <= TOPICS


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        del attrs
        self.seen.add(tag)
        if tag not in ("br", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_its_table_is_whole_and_holds_no_foreign_markup(record: scorekit.Record) -> None:
    """A notebook must not run what an evaluation was named."""
    page = record._repr_html_()
    tags = _Tags()
    tags.feed(page)
    assert not tags.open
    tables = {"table", "caption", "tr", "th", "td", "details", "summary"}
    assert tags.seen <= {*tables, "div", "b", "pre", "br", "wbr", "svg", "line", "circle"}


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_it_prints_for_people(record: scorekit.Record) -> None:
    """Short lines, none of them a raw `repr` of a record."""
    assert max(map(len, str(record).splitlines())) < 1200
    assert not any(f"{name}(" in str(record) for name in ("Interval", "Statistics", "MetricError"))


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_its_markdown_holds_no_foreign_markup(record: scorekit.Record) -> None:
    """Tables keep their columns, whatever a case or a model is called."""
    text = record.to_markdown()
    assert text.startswith("### ")
    assert "<script" not in re.sub("(?s)^(```+)$.*?^\\1$", "", text, flags=re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        bars = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
        assert len(bars) == 1
    assert text.isprintable() or all(line.isprintable() for line in text.splitlines())


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_its_tables_are_latex(record: scorekit.Record) -> None:
    """One cell for each column, everything that LaTeX reads as its own escaped."""
    if not isinstance(record, TableRecord):
        assert not hasattr(record, "to_latex")
        return
    text = record.to_latex()
    json.dumps(record.to_rows(), default=str)
    for kinds, body in re.findall(
        r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.DOTALL
    ):
        rows = [line for line in body.splitlines() if line.endswith(r" \\")]
        plain = [line for line in rows if not line.startswith(r"\multicolumn")]
        assert {len(re.findall(r"(?<!\\)&", row)) for row in plain} == {len(kinds) - 1}
        for row in rows:
            assert not re.search(r"(?<!\\)[%#_]", row)
            assert row.count("{") - 2 * row.count(r"\{") == row.count("}") - 2 * row.count(r"\}")


LONG = "name" * 2_500
HEBREW = "\u05e9\u05dc\u05d5\u05dd"
AWKWARD = {
    "long": LONG,
    "right to left": HEBREW,
    "lines": "a\nb\r\nc",
    "latex": r"50 % \alpha_{1} & ~x^2 #1 $",
}


@pytest.mark.parametrize("name", AWKWARD.values(), ids=AWKWARD)
def test_awkward_names_break_no_rendering(name: str) -> None:
    """Ten thousand characters, another direction, line breaks, the markup of LaTeX."""
    scores = {"a": 1.0, name: 0.0, name + "2": 0.5}
    report = scorekit.code_report_from_columns(
        model=name, passed={name: [True, False], "b": [True, True]}, cost_usd=0.5
    )
    run = scorekit.Run(run_id="r", passed=True, impl_rate=1, cost_usd=2, duration_seconds=0)
    for record in (
        scorekit.compare_reports(
            {"b": [1, 0] * 5, name: [1] * 10}, {"b": [1, 0] * 5, name: [0] * 10}
        ),
        report,
        scorekit.compare_models({name: scores, "b": scores}),
        scorekit.cross_tier([scorekit.tier_statistics(name, [run])], baseline=name),
        scorekit.bradley_terry({(name, "b"): 2, ("b", name): 1}),
    ):
        texts = (str(record), record.to_markdown(), record.to_latex())
        for text in texts:
            assert max(map(len, text.splitlines())) < 2_500
            assert all(line.isprintable() for line in text.splitlines())
        shown = name.splitlines()[0][:20]
        assert all(shown in text for text in texts) or "%" in name
        tags = _Tags()
        tags.feed(record._repr_html_())
        assert not tags.open
        assert type(record).from_json(record.to_json()) == record
        for row in record.to_latex().splitlines():
            if row.endswith(r" \\"):
                assert not re.search(r"(?<!\\)[%#_$](?!-\$|\d)", row.replace("$-$", "-"))


def test_several_results_are_a_table_in_a_notebook() -> None:
    """A list, or a mapping, of results is no wall of `repr`, and is a tuple all the same."""
    several = scorekit.g_pass_at_k(n_samples=[4, 4], n_correct=[3, 2], k=2, tau=[0.5, 1.0])
    model = scorekit.code_report(SAMPLES[:6], k=(1, 2), insufficient="nan").models[0]
    for found in (several, model.pass_at_k):
        page = found._repr_html_()
        assert page.count("<tr>") == 1 + len(found)
        assert ">score</th>" in page
        assert found == tuple(found)
        assert str(found).count("\n") == len(found) - 1
        assert pickle.loads(pickle.dumps(found)) == found
    assert "[0," in str(model.intervals._repr_html_()) or "<td>" in str(
        model.intervals._repr_html_()
    )
    assert model.quantiles._repr_html_() is None


def test_a_single_result_says_why() -> None:
    """A score below 1 comes with its reason, whatever the metric."""
    schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)"
    wrong = scorekit.query_correctness(
        "SELECT COUNT(n) FROM t", "SELECT COUNT(*) FROM t", schema=schema
    )
    for result, text in (
        (wrong, "0 (refuted): generated returns (0), expected (1)"),
        (scorekit.table_accuracy("SELECT 1 FROM t", ["u"]), "0: missing u; unexpected t"),
        (scorekit.result_accuracy([(1,)], [(2,)]), "0: "),
        (scorekit.safety_validation(safety_valid=True, should_pass=False), "0: false negative"),
        (scorekit.validation_accuracy(is_valid=False, should_pass=True, errors=[]), "0: "),
        (scorekit.table_accuracy("SELECT (", ["u"]), "0 (output: parse): Incomplete Paren"),
    ):
        assert str(result).startswith(text)
        assert str(result) == str(result).rstrip(": ")
    assert str(scorekit.table_accuracy("SELECT 1 FROM t", ["t"])) == "1"


def test_no_model_is_crowned_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of several models says what `compare_models` says."""
    close = scorekit.code_report_from_columns(
        case_id=[*range(40), *range(40)],
        model=["a"] * 40 + ["b"] * 40,
        passed=[True] * 20 + [False] * 20 + [True] * 21 + [False] * 19,
    )
    first = "best in pass@1: b or a; not told apart (95 %, 2 models over 40 tasks)"
    assert str(close).splitlines()[0] == first
    assert str(scorekit.compare_models(close)).splitlines()[0] == first
    assert first in close._repr_html_()
    apart = scorekit.code_report_from_columns(
        case_id=["x", "y"], model=["a", "b"], passed=[True, False]
    )
    assert str(apart).startswith("2 models without a task in common\n")
    monkeypatch.setattr("scorekit.reports.COMPARED", 79)  # a million cases are left to the caller
    head = "2 models; compare_models() says which may be the best"
    assert str(close).splitlines()[0] == head
