"""The room that shows results: one sheet, four renderings, records that join by themselves."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import attrs
import pytest

import scorekit
from scorekit import Interval, Record
from scorekit._sheet import html, latex, markdown, rows, text
from scorekit._sheet.model import Block, Estimate, Fields, Scale, Section, Sheet, Table
from scorekit.records import FrozenMapping, TableRecord

INTERVAL = Interval(low=0.25, high=0.75, confidence_level=0.95, method="by hand")


@attrs.frozen(kw_only=True)
class Found(TableRecord):
    """A record without renderings of its own."""

    score: float
    interval: Interval
    kind: str = "x_1 & 50 %"
    counts: FrozenMapping[str, int] = attrs.field(factory=FrozenMapping[str, int])

    def _sheet(self) -> Sheet:
        table = Table(
            rows=[
                {
                    "name": self.kind,
                    "score (95 %)": Estimate(self.score, self.interval),
                    " ": Scale.of(self.score, self.interval),
                    "cost": 12345.6,
                    "nothing": None,
                },
                {"name": "[b]", "score (95 %)": Estimate(None), "cost": -0.5, "nothing": ""},
            ],
            title="Two rows",
            specs={"cost": "+.1f"},
            remarks=[["said of both", "said of one"], ["said of both"]],
        )
        return Sheet(
            "Found",
            "found: something",
            (
                table,
                "- a note",
                Block("query", "SELECT 1\n```\nFROM t"),
                Section("below", (Table(rows=[{"n": 1}], lines=("one line",)),)),
                Table(rows=[{"hidden": 1}], title="Folded", place="folded"),
                Table(rows=[{"page": 1}], title="On the page", place="page"),
                Fields(record=self, title="All numbers", folded=True),
            ),
        )


TABLE = r"""
| name | score (95 %) | cost |
|---|---|---:|
| x\_1 &amp; 50 % | 0.50 \[0.25, 0.75] | +12345.6 |
| \[b] |  | -0.5 |
""".strip()

FOUND = Found(score=0.5, interval=INTERVAL)


def test_text() -> None:
    """Columns as wide as they have to be, numbers flush right, no picture, nothing folded."""
    assert str(FOUND).splitlines() == [
        "found: something",
        "Two rows",
        "  name        score (95 %)           cost",
        "  x_1 & 50 %  0.50 [0.25, 0.75]  +12345.6",
        "  [b]                                -0.5",
        "- a note",
        "  query: SELECT 1",
        "    ```",
        "    FROM t",
        "  below: one line",
    ]


def test_markdown() -> None:
    """What Markdown reads as its own is escaped; a block is fenced by more ticks than it has."""
    assert FOUND.to_markdown().split("\n\n") == [
        "### Found",
        "found: something",
        "**Two rows**",
        TABLE,
        "- said of both\n- x\\_1 &amp; 50 %: said of one",
        r"\- a note",
        "query:",
        "````\nSELECT 1\n```\nFROM t\n````",
        "**below**",
        "| n |\n|---:|\n| 1 |",
    ]


def test_latex() -> None:
    """A tabular with the rules of booktabs; a bracket that begins a row is no option."""
    assert FOUND.to_latex().splitlines() == [
        "% Two rows",
        r"\begin{tabular}{llr}",
        r"\toprule",
        r"name & score (95 \%) & cost \\",
        r"\midrule",
        r"x\_1 \& 50 \% & 0.50 [0.25, 0.75] & +12345.6 \\",
        r"{}[b] &  & $-$0.5 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert latex.escaped("a\\b~^<>|`'{$#} -- -1") == (
        r"a\textbackslash{}b\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}"
        r"\textbar{}\textasciigrave{}\textquotesingle{}\{\$\#\} -{}- $-$1"
    )


def test_rows() -> None:
    """Numbers as they are, an interval as two columns, the level not in their names."""
    assert FOUND.to_rows() == [
        {
            "name": "x_1 & 50 %",
            "score": 0.5,
            "score_low": 0.25,
            "score_high": 0.75,
            "cost": 12345.6,
            "nothing": None,
        },
        {
            "name": "[b]",
            "score": None,
            "score_low": None,
            "score_high": None,
            "cost": -0.5,
            "nothing": "",
        },
    ]
    assert rows.render(Sheet("without a table")) == []


def test_html() -> None:
    """The parts in their order, what is folded behind its title, the picture in words too."""
    page = FOUND._repr_html_()
    parts = [
        "<b>Found</b>",
        ">found: something<",
        "<b>Two rows</b>",
        ">x_1 &amp; 50 %</td>",
        'aria-label="0.5, from 0.25 to 0.75, on a scale of 0 to 1"',
        ">said of both<",
        ">x_1 &amp; 50 %: said of one<",
        ">- a note<",
        "<b>query</b>",
        "<b>below</b>",
        "<details><summary>Folded</summary>",
        "<b>On the page</b>",
        "<details><summary>All numbers</summary>",
    ]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert ">nothing</th>" not in page


def test_json_of_fields_named_as_the_head_is() -> None:
    """A field *kind* does not hide what kind of result it is."""
    data = json.loads(FOUND.to_json())
    assert (data["kind"], data["version"]) == ("Found", 1)
    assert data["kind_"] == "x_1 & 50 %"
    assert Found.from_json(FOUND.to_json()) == FOUND
    endless = attrs.evolve(FOUND, score=math.inf)
    assert Found.from_json(endless.to_json()) == endless


def test_an_empty_part_leaves_no_trace() -> None:
    """A title without a table is shown where it counts to nothing, not where it has a page."""
    empty = Table(rows=(), title="Cases: 0")
    assert text.render(Sheet("t", "", (empty,))) == "t\nCases: 0"
    assert markdown.render(Sheet("t", "", (empty,))) == "### t\n\n**Cases: 0**"
    assert latex.render(Sheet("t", "", (empty,))) == ""
    assert "<b>Cases: 0</b>" in html.render(Sheet("t", "", (empty,)))
    folded = attrs.evolve(empty, place="folded")
    assert "Cases" not in html.render(Sheet("t", "", (folded, Section("s", ()))))


def test_long_tables_are_cut_and_counted() -> None:
    """A text has as many rows as the table says, a page a thousand."""
    table = Table(rows=[{"n": i} for i in range(30)], n_rows=5000, most=3, title="Many")
    sheet = Sheet("t", "", (table,))
    assert text.render(sheet).splitlines()[-1] == "  and 4997 more"
    assert markdown.render(sheet).endswith("\n\nand 4997 more")
    assert r"\multicolumn{1}{l}{and 4997 more} \\" in latex.render(sheet)
    assert "and 4000 not shown" in html.render(sheet)


def test_a_picture_of_what_is_known() -> None:
    """A dot without an interval, and bounds without a dot."""
    cells = {"dot": Scale(0.5), "ends": Scale(None, (-1.0, 1.0), (-2.0, 2.0)), "none": Scale(None)}
    page = html.render(Sheet("t", "", (Table(rows=[cells]),)))
    assert 'aria-label="0.5, on a scale of 0 to 1"' in page
    assert 'aria-label="from -1 to 1, on a scale of -2 to 2"' in page
    assert page.count("<circle") == 1
    assert text.render(
        Sheet("t", "", (Table(rows=[cells], lines=("a line",)), Block("b", "")))
    ) == ("t\na line")


@pytest.mark.parametrize("line", ["# a", "+ a", "= a", "1. a", "2) a"])
def test_a_paragraph_is_no_heading_or_list(line: str) -> None:
    """What stands first is escaped where Markdown would read it as its own."""
    shown = markdown.render(Sheet("t", line)).split("\n\n")[1]
    assert re.sub(r"\\(?=\W)", "", shown) == line
    assert "\\" in shown


def test_markup_is_built_in_one_room() -> None:
    """No other module writes a tag, a rule of a table, or an escape."""
    package = Path(scorekit.__file__).parent
    tags, rules = r"</?(?:div|t[dhr]|table|pre|svg|details)\b", r"\\(?:begin|toprule)"
    markup = re.compile(rf"{tags}|{rules}|html\.escape")
    found = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if markup.search(path.read_text(encoding="utf-8"))
    ]
    assert {name.split("/")[0] for name in found} == {"_sheet"}


def test_no_record_renders_itself() -> None:
    """`print` and a notebook come from the sheet for every record, so no two can differ."""
    assert not {"__str__", "_repr_html_", "to_markdown"} & set(vars(Found))
    for record in Record.__subclasses__():
        assert "_repr_html_" not in vars(record)
        assert "__str__" not in vars(record)


def test_a_record_in_a_cell_is_one_line_of_its_fields() -> None:
    """Markdown and a notebook's table show a nested record without escaped line breaks."""
    wanted = "compilation 0.4, tests 0.5, clippy 0.1"
    page = markdown.render(Sheet("Score", "", [Fields(record=scorekit.code_score(compiled=True))]))
    assert f"| weights | {wanted} |" in page
    assert "\\n" not in page
