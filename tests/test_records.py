"""Record, FrozenMapping: round trips, strict JSON, readable refusals, notebook tables."""

from __future__ import annotations

import json
import math
import pickle
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refusals

from scorekit import Interval, Record, code_report_from_columns, compare_reports
from scorekit._core.mappings import FrozenMapping
from scorekit.records import SCREEN


@attrs.frozen(kw_only=True)
class Part(Record):
    """A nested record."""

    label: str
    value: float = 0.0


@attrs.frozen(kw_only=True)
class Whole(Record):
    """Every kind of field that a result may have."""

    score: float | None
    part: Part | None = None
    parts: tuple[Part, ...] = ()
    counts: FrozenMapping[str, int] = attrs.field(factory=FrozenMapping)
    flag: bool = False


FLOATS = st.floats(allow_nan=False)
PARTS = st.builds(Part, label=st.text(), value=FLOATS)
WHOLES = st.builds(
    Whole,
    score=st.none() | FLOATS,
    part=st.none() | PARTS,
    parts=st.lists(PARTS).map(tuple),
    counts=st.dictionaries(st.text(), st.integers()).map(FrozenMapping),
    flag=st.booleans(),
)


@given(WHOLES)
def test_round_trip_through_strict_json(whole: Whole) -> None:
    """Nothing is lost on the way to a file and back, infinities included."""
    text = json.dumps(whole.to_dict(), allow_nan=False)
    assert Whole.from_dict(json.loads(text)) == whole
    assert pickle.loads(pickle.dumps(whole)) == whole
    assert hash(whole) == hash(Whole.from_dict(whole.to_dict()))


def test_infinity_and_nan_have_names_in_json() -> None:
    """Strict JSON has no number for them."""
    assert Part(label="", value=-math.inf).to_dict()["value"] == "-inf"
    assert math.isnan(Part.from_dict({"label": "", "value": "nan"}).value)


@refusals("""
{} -> InputError: Whole must have the key 'score', got []
{"score": 1, "x": 2}
    -> InputError: Whole must be a mapping with no keys but score, part, parts, counts, flag,
    got 'x'
{"score": "high"} -> InputError: Whole.score must be a number, got 'high'
{"score": 1, "part": {"label": 3}} -> InputError: Whole.part.label must be a string, got 3
{"score": 1, "parts": [{"label": "a"}, 7]}
    -> InputError: Whole.parts[1] must be a mapping, got 7
{"score": 1, "parts": {}} -> InputError: Whole.parts must be a list, got {}
{"score": 1, "counts": {"a": True}}
    -> InputError: Whole.counts['a'] must be an integer, got True
{"score": 1, "counts": []} -> InputError: Whole.counts must be a mapping, got []
""")
def test_what_does_not_fit_is_named_by_its_path(wrong: Refusal) -> None:
    """A damaged file says where it is damaged."""
    wrong.by_value(Whole.from_dict)


def test_frozen_mapping_behaves_as_a_value() -> None:
    """Order is kept, equality and hash ignore it, nothing can be assigned."""
    one, two = FrozenMapping({"a": 1, "b": 2}), FrozenMapping({"b": 2, "a": 1})
    assert (one, hash(one)) == (two, hash(two))
    assert (list(one), repr(one)) == (["a", "b"], "{'a': 1, 'b': 2}")
    with pytest.raises(TypeError):
        one["c"] = 3  # type: ignore[index]


def test_html_escapes_rounds_and_folds() -> None:
    """Names from an evaluation are untrusted text, and long tables stay out of the way."""
    parts = tuple(Part(label=f"<b>{i}</b>", value=1 / 3) for i in range(25))
    page = Whole(score=2 / 3, parts=parts, counts=FrozenMapping({"<i>": 1}))._repr_html_()
    assert not any(markup in page for markup in ("<b>24", "<i>"))
    for shown in ("&lt;b&gt;24&lt;/b&gt;", "<td>0.6667</td>", "<summary>15 more</summary>"):
        assert shown in page


def test_a_notebook_gets_no_more_than_it_can_show() -> None:
    """A report of a hundred thousand cases would freeze it; what is left out is counted."""
    parts = tuple(Part(label=f"part {i}.") for i in range(1234))
    page = Whole(score=None, parts=parts)._repr_html_()
    assert "part 1000." not in page
    more = ("<summary>1224 more</summary>", "</table>and 234 not shown</details>")
    assert all(shown in page for shown in ("part 999.", *more))


def test_few_wide_records_stand_side_by_side() -> None:
    """A row of a dozen fields leaves the page; so does a row that holds a table."""
    wide = attrs.make_class(
        "Wide", {f"f{i}": attrs.field(default=i, type=int) for i in range(9)}, bases=(Record,)
    )
    beside = attrs.make_class("Two", {"parts": attrs.field(type=tuple)}, bases=(Record,))
    page = beside(parts=(wide(), wide(f0=7)))._repr_html_()
    assert "<tr><th>f0</th><td>0</td><td>7</td></tr><tr><th>f1</th>" in page
    assert "<tr><td>0</td><td>1</td>" in beside(parts=(wide(),) * 8)._repr_html_()
    within = Whole(score=1, part=None, parts=(Part(label="a"),))
    assert "<tr><th>part</th><td>None</td></tr>" in beside(parts=(within,))._repr_html_()


@attrs.frozen(kw_only=True)
class Series(Record):
    """Numbers, and records that have a text of their own."""

    numbers: tuple[float, ...] = ()
    intervals: tuple[Interval, ...] = ()
    part: Part | None = None


def test_cells_are_short() -> None:
    """Many numbers are cut, large ones written out, small nested records take one row."""
    interval = Interval(low=0, high=1, confidence_level=0.5, method="none")
    page = Series(
        numbers=(12345.678, 1e15, 0.123456, *range(20)),
        intervals=(interval, interval),
        part=Part(label="a"),
    )._repr_html_()
    assert "<td>12346, 1e+15, 0.1235, 0, 1, " in page
    assert ", 6, and 13 more</td>" in page
    assert "<td>[0,&nbsp;1]<br>[0,&nbsp;1]</td>" in page
    one_row = "<tr><th>label</th><th>value</th></tr><tr><td>a</td><td>0</td></tr>"
    assert f"<td><table>{one_row}</table></td>" in page
    assert Series()._repr_html_().count("<td>none</td>") == 2
    assert "<td>none</td>" in Whole(score=1)._repr_html_()


def test_long_text_stays_on_the_page() -> None:
    """SQL and tracebacks keep their lines and fold; what has no spaces may break anyway."""

    def cell(text: str) -> str:
        return Part(label=text)._repr_html_().split("<th>label</th><td>")[1].split("</td>")[0]

    assert cell("") == ""
    assert cell("SELECT 1\n  FROM a<b") == (
        '<div align="left" style="min-width: 14em"><pre style="white-space: pre-wrap; '
        'word-break: normal; overflow-wrap: break-word; margin: 0; background: none">'
        "SELECT 1\n  FROM a&lt;b</pre></div>"
    )
    long = cell("\n".join(map(str, range(13))))
    assert "9</pre><details><summary>3 more</summary><pre style=" in long
    assert ">10\n11\n12</pre></details>" in long
    assert cell("&" * 40 + "x") == "&amp;" * 40 + "<wbr>x"
    assert cell("right\u202eleft\0") == "right\\u202eleft\\x00"
    assert cell("\n".join(map(str, range(1234)))).endswith(
        "999</pre>and 234 not shown</details></div>"
    )
    assert len(cell(("x" * 10_000 + "\n") * 2000)) < 1_200_000


def test_a_record_prints_a_line_for_each_field() -> None:
    """Numbers are rounded, empty fields left out, long ones cut; a text of its own comes first."""
    interval = Interval(low=0, high=2 / 3, confidence_level=0.5, method="none")
    series = Series(
        numbers=(2 / 3, *range(20)), intervals=(interval,) * 7, part=Part(label="a\nb")
    )
    assert str(series).splitlines() == [
        "Series",
        "  numbers: 0.6667, 0, 1, 2, 3, 4, 5, 6, 7, 8, and 11 more",
        f"  intervals: {', '.join(['[0, 0.67]'] * 7)}",
        "  part: Part",
        "    label: a",
        "      b",
        "    value: 0",
    ]
    assert str(Series()) == "Series"
    parts = tuple(Part(label=f"{i}\n" * 9) for i in range(2))
    text = str(Whole(score=0.5, parts=parts, counts=FrozenMapping({"a\n": 1})))
    assert text.splitlines()[:4] == ["Whole", "  score: 0.5", "  parts: label 0", "    0"]
    assert "and 13 more lines" in text
    assert "\n  counts:\n    a\\n: 1\n" in text
    made = attrs.make_class("Rows", {"rows": attrs.field(type=tuple)}, bases=(Record,))
    assert str(made(rows=((1, 0.5), (2, "x")))).endswith("rows: (1, 0.5), (2, x)")
    page = made(rows=((1, "'a'"), (2, "NULL")))._repr_html_()
    assert "<td>(1, &#x27;a&#x27;)<br>(2, NULL)</td>" in page
    assert str(FrozenMapping({"a": interval})) == "a: [0, 0.67]"
    assert str(FrozenMapping({"a": 1})) == "{'a': 1}"


class Colour(StrEnum):
    """Some words."""

    RED = "red"


@attrs.frozen(kw_only=True)
class Stamped(Record):
    """The rarer kinds of field."""

    when: datetime
    colour: Colour
    kind: Literal["a", "b"] = "a"
    widths: FrozenMapping[str, Part] = attrs.field(factory=FrozenMapping)


def test_times_and_enumerations_travel_as_text() -> None:
    """JSON has neither; both come back as what they were."""
    record = Stamped(when=datetime(2026, 1, 2, tzinfo=UTC), colour=Colour.RED)
    data = json.loads(json.dumps(record.to_dict()))
    assert data["when"] == "2026-01-02T00:00:00+00:00"
    assert Stamped.from_dict(data) == record
    assert "2026-01-02" in record._repr_html_()


@refusals("""
{"when": "noon"} -> InputError: Stamped.when must be a date and time in ISO 8601, got 'noon'
{"colour": "blue"} -> InputError: Stamped.colour must be one of 'red', got 'blue'
{"kind": "c"} -> InputError: Stamped.kind must be one of 'a', 'b', got 'c'
{"widths": {"x": {}}} -> InputError: Stamped.widths['x'] must have the key 'label', got []
""")
def test_rarer_kinds_are_checked_too(wrong: Refusal) -> None:
    """As for the common ones."""
    good = Stamped(when=datetime(2026, 1, 2, tzinfo=UTC), colour=Colour.RED).to_dict()
    wrong.when(lambda: Stamped.from_dict({**good, **wrong.value}))


@attrs.frozen(kw_only=True)
class Either(Record):
    """A field of several kinds."""

    what: int | Part | None = None


def test_a_field_of_several_kinds_takes_each() -> None:
    """What is wrong inside the right kind is named there, any other stranger at the field."""
    for what in (5, Part(label="a"), None):
        record = Either(what=what)
        assert Either.from_dict(record.to_dict()) == record


PRICES = '{"input_usd_per_million": 1, "output_usd_per_million": 1, "long_prompt_price": ' * 400
NESTED = '{"kind": "ModelPrice", "version": 1, ' + PRICES[1:] + "null" + "}" * 400


@refusals("""
Either.from_dict({"what": {"label": 3}})
    -> InputError: Either.what.label must be a string, got 3
Either.from_dict({"what": "a"}) -> InputError: Either.what must be an integer, got 'a'
Part.from_dict([]) -> TypeError: data must be a mapping, got []
Part(label=object()).to_dict() -> TypeError: a record cannot hold <object...
CodeSample.from_dict({"case_id": "a", "model": "m", "compiled": None})
    -> InputError: CodeSample: compiled must be True or False, got None...
Interval.from_json(b"{}") -> TypeError: text must be a string, got b'{}'
ModelPrice.from_json(NESTED)
    -> InputError: text must be a result that is nested less deeply, got...
""")
def test_what_is_no_record_is_refused(wrong: Refusal) -> None:
    """What JSON holds wrongly: a field that another forbids, bytes, and records within records
    beyond Python's depth; and a live object on the way out.
    """
    wrong.by_itself()


def test_the_repr_of_a_report_only_counts_its_many_cases() -> None:
    """A notebook keeps it with each cell; few are shown."""
    few, many = (
        code_report_from_columns(case_id=range(n), model="m", passed=True) for n in (2, 500)
    )
    assert ", cases=<500>, " in repr(many)
    assert len(repr(many)) <= SCREEN
    assert ", cases=<2>, " in repr(few)
    fell = compare_reports(dict.fromkeys(range(500), 1), dict.fromkeys(range(500), 0))
    assert "regressions=<500>, " in repr(fell)
    listed: Any = fell.regressions
    assert repr(fell.regressions) == "<500 CaseChange: print() shows them>"
    assert repr(fell.regressions[:0]) == "()"
    first, *_, rest = str(fell.regressions).splitlines()
    assert first.startswith("0 in score: from 1 of 1 to 0 of 1 (-1.000)")
    assert rest == "and 490 more: to_text(all=True) lists them"
    assert len(listed.to_text(all=True).splitlines()) == 500
    assert repr(few.cases[:1]).startswith("(CaseStatistics(case_id=")
