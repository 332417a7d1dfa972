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
from scorekit._core.mappings import FrozenMapping
from scorekit._sheet import html, latex, markdown, rows, text
from scorekit._sheet.model import Block, Estimate, Fields, Scale, Section, Sheet, Table
from scorekit._sheet.values import estimate
from scorekit.records import TableRecord

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
        "",
        "% - a note",
    ]
    assert latex.escaped("a\\b~^<>|`'{$#} -- -1") == (
        r"a\textbackslash{}b\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}"
        r"\textbar{}\textasciigrave{}\textquotesingle{}\{\$\#\} -{}- $-$1"
    )


def test_rows() -> None:
    """Numbers as they are, an interval as two columns, the level not in their names."""
    first, second = FOUND.to_rows()
    assert [*first] == ["name", "score", "score_low", "score_high", "cost", "nothing"]
    assert [*first.values()] == ["x_1 & 50 %", 0.5, 0.25, 0.75, 12345.6, None]
    assert [*second.items()] == [*zip(first, ("[b]", None, None, None, -0.5, ""), strict=True)]
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
    table = Table(rows=[{"a": "b c"}, {"a": "d\ne"}])
    page = html.render(Sheet("t", "fell: \u05d0\u05d1 \u05d2 1 -0.3", (table,)))
    assert "fell: <bdi>\u05d0\u05d1 \u05d2</bdi> 1 -0.3" in page  # or the number changed sides
    assert ("nowrap" in page, page.count("<pre")) == (True, 2)


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
    sheet = Sheet("t", "", (empty,))
    assert text.render(sheet) == "t\nCases: 0"
    assert markdown.render(sheet) == "### t\n\n**Cases: 0**"
    assert latex.render(sheet) == ""
    assert "<b>Cases: 0</b>" in html.render(sheet)
    folded = attrs.evolve(empty, place="folded")
    assert "Cases" not in html.render(Sheet("t", "", (folded, Section("s", ()))))


def test_long_tables_are_cut_and_counted() -> None:
    """A text has as many rows as the table says, a page a thousand."""
    table = Table(rows=[{"n": i} for i in range(30)], n_rows=5000, most=3, title="Many")
    sheet = Sheet("t", "", (table,))
    assert text.render(sheet).splitlines()[-1] == "  and 4997 more"
    four = Sheet("t", "", (attrs.evolve(table, rows=table.rows[:4], n_rows=4),))
    assert text.render(four).splitlines()[-1] == "  3"  # it takes the room of its count
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
    several = Sheet("t", "", (Table(rows=[cells], lines=("a line",)), Block("b", "x\n" * 15)))
    more = "    and 2 more: to_text(all=True) has them"
    assert text.render(several).splitlines()[1::14] == ["a line", more]
    assert text.render(several, everything=True).count("x") == 15


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
        assert not {"__str__", "_repr_html_"} & set(vars(record))


def test_a_record_in_a_cell_is_one_line_of_its_fields() -> None:
    """Markdown and a notebook's table show a nested record without escaped line breaks."""
    wanted = "compilation 0.4, tests 0.5, clippy 0.1"
    page = markdown.render(Sheet("Score", "", [Fields(record=scorekit.code_score(compiled=True))]))
    assert f"| weights | {wanted} |" in page
    assert "\\n" not in page


@pytest.mark.parametrize(("value", "low", "high", "text"), [
    (0.73, 0.5716, 0.8456, "0.73 [0.57, 0.85]"),
    (1.491, 0.7843, 3.691, "1.5 [0.8, 3.7]"),
    (0.0425, -2.174e-11, 0.08496, "0.043 [0, 0.085]"),
    (0.0, 0.0, 0.7935, "0 [0, 0.79]"),
    (0.15, 0.0004, 0.31, "0.15 [0.0004, 0.31]"),
    (12345.6, 10000.4, 20000.0, "12346 [10000, 20000]"),
    (2.5, 0.27, math.inf, "2.5 [0.27, inf]"),
    (0.5, 0.5, 0.5, "0.5 [0.5, 0.5]"),
])  # fmt: skip
def test_decimals_that_an_interval_supports(
    value: float, low: float, high: float, text: str
) -> None:
    """Two digits of its width; noise is 0, and no end moves to the other side of 0."""
    interval = Interval(low=low, high=high, confidence_level=0.95, method="x")
    assert estimate(value, interval) == text
    assert str(interval) == text.partition(" ")[2]


def test_a_comparison_without_a_significant_drop_is_short() -> None:
    """Five lines at most, the decision first; all is there where it is asked for."""
    rows = [
        {f"c{i}": [(i * j + side * (i % 2)) % 3 > 0 for j in range(5)] for i in range(40)}
        for side in (0, 1)
    ]
    result = scorekit.compare_reports(*rows, margin=0.05, floor=0.1)
    lines = str(result).splitlines()
    assert lines[0].startswith(result.suite.verdict)
    assert len(lines) <= 5
    assert len(result.to_text(all=True).splitlines()) > 14


def test_a_repr_fits_on_a_line_and_an_input_can_be_pasted() -> None:
    """Of a result the first fields that say something, of an input all."""
    result = scorekit.compare_reports({"a": [1] * 9}, {"a": [0] * 9})
    assert len(repr(result)) <= 100
    assert repr(result).startswith(
        "Comparison(suite=<inconclusive, -1.000 [-1.000, +1.000]>, regressions=<1>"
    )
    run = scorekit.Run(run_id=1, passed=True, impl_rate=0.5, task_id="x" * 200)
    assert eval(repr(run), {"Run": scorekit.Run}) == run  # noqa: S307 - that is the point
