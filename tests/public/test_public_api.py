"""One sweep over every public name: what the style promises holds for all of them."""

from __future__ import annotations

import ast
import doctest
import inspect
import pydoc
import re
import subprocess
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import attrs
import pytest
from public_register import MADE, REGISTER, Entry, results
from public_stub import STUB, stub
from record_types import RECORDS
from refresh import STALE
from test_public_groups import statistics

import scorekit
from scorekit import SqlCaseScore, SqlReport
from scorekit._cases.metrics import OTHER_METRICS
from scorekit._core.mappings import FrozenMapping
from scorekit.cases import METRICS
from scorekit.errors import InputError
from scorekit.records import MetricResult

PUBLIC = {name: getattr(scorekit, name) for name in scorekit.__all__}
FUNCTIONS = [name for name, value in PUBLIC.items() if inspect.isfunction(value)]
CLASSES = [name for name, value in PUBLIC.items() if inspect.isclass(value)]
ROOT = Path(scorekit.__file__).parent


def test_lazy_names_and_type_checkers_agree() -> None:
    """A name is loaded lazily exactly if type checkers see it."""
    assert STUB.read_text(encoding="utf-8") == stub(), STALE
    shown = {name for name in dir(scorekit) if not name.startswith("__")}
    assert shown == {*scorekit.__all__, "readers", "strategies"}
    assert scorekit.__version__
    with pytest.raises(AttributeError, match=r"^module 'scorekit' has no attribute 'nothing'$"):
        scorekit.nothing  # type: ignore[attr-defined] # noqa: B018 # pyright: ignore[reportAttributeAccessIssue]


def test_every_public_name_is_defined_in_its_topic() -> None:
    """No private file defines a public name; a pickle refers to a public module."""
    homes = {name: inspect.unwrap(PUBLIC[name]).__module__ for name in (*FUNCTIONS, *CLASSES)}
    assert homes == {name: scorekit._HOME[name] for name in homes}
    assert [home for home in homes.values() if "._" in home] == []


def test_tests_stand_where_what_they_test_stands() -> None:
    """Those of a topic are `test_topic.py` and `test_topic_aspect.py`; a room has a folder."""
    tests = Path(__file__).parents[1]
    topics = {path.stem for path in ROOT.glob("[!_]*.py")}
    tested = {path.stem.split("_")[1] for path in tests.glob("test_*.py")}
    assert tested <= topics
    assert topics <= tested | {path.name for path in tests.iterdir()}
    rooms = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")} - {Path()}
    about_all = {Path("docs"), Path("public")}
    assert {one for one in rooms - about_all if not (ROOT / f"_{one}").is_dir()} == set()


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_documented(name: str) -> None:
    """Everything public says what it is; functions show a call and its errors."""
    doc = inspect.getdoc(PUBLIC[name])
    assert doc
    if name in FUNCTIONS:
        for section in ("Args:", "Returns:", "Raises:", "Examples:"):
            assert section in doc, section
        assert doctest.DocTestParser().get_examples(doc)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_says_which_fields_to_read_first(name: str) -> None:
    """A record has up to thirty; "Returns" ends with those that answer."""
    text = str(inspect.getdoc(PUBLIC[name])).partition("\nReturns:\n")[2].partition("\n\n")[0]
    returned = re.findall(r"\bAn? (?:frozen )?`(\w+)`", text)
    if returned and returned[0] in RECORDS:
        first = re.search(r" Read (.+) first\.$", " ".join(text.split()))
        assert first
        named = re.findall(r"\*(\w+)\*", first[1])
        assert named
        assert [one for one in named if not hasattr(RECORDS[returned[0]], one)] == []


@pytest.mark.parametrize("name", RECORDS)
def test_help_shows_every_field(name: str) -> None:
    """With the text that stands below it, which Sphinx finds in the source by itself."""
    pycode = pytest.importorskip("sphinx.pycode")
    record: Any = RECORDS[name]
    block = " ".join(str(inspect.getdoc(record)).partition("\nAttributes:\n")[2].split())
    for field in attrs.fields(record):
        base = next(base for base in record.__mro__ if field.name in base.__annotations__)
        comments = pycode.ModuleAnalyzer.for_module(base.__module__).find_attr_docs()
        text = " ".join(" ".join(comments.get((base.__name__, field.name), ())).split())
        assert re.search(rf"(^|\s){field.name} \(.+?\){': ' * bool(text)}{re.escape(text)}", block)


@pytest.mark.parametrize("name", RECORDS)
def test_help_says_where_held_records_are_described(name: str) -> None:
    """They are public, or stand in the module that is named."""
    record: Any = RECORDS[name]
    described = re.findall(r"help\(([\w.]+)\)", str(inspect.getdoc(record)).split("\n\n")[-1])
    found = {pydoc.locate(path) for path in described}
    assert None not in found
    for field in attrs.fields(record):
        named = re.findall(r"\b[A-Z]\w+", str(field.type))
        kinds = [getattr(sys.modules[record.__module__], one, None) for one in named]
        held = {kind for kind in kinds if isinstance(kind, type) and attrs.has(kind)}
        assert held - {record} <= found, field.name


def test_help_without_the_source() -> None:
    """What is installed without source files has the docstring alone."""
    printed = _printed(
        "import inspect, scorekit\n"
        "def missing(module): raise OSError\n"
        "inspect.getsource = missing\n"
        "print(scorekit.Interval.__doc__)"
    )
    assert printed.startswith("A confidence interval")
    assert "Attributes:" not in printed


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_documented_and_annotated(name: str) -> None:
    """Args lists each; hints resolve at run time. An async form has those of its twin."""
    function = PUBLIC[name]
    hints = get_type_hints(function)
    twin = PUBLIC.get(name.removeprefix("a")) if inspect.iscoroutinefunction(function) else None
    if twin is not None:
        assert inspect.signature(function) == inspect.signature(twin)
        assert f"As for `{twin.__name__}`" in str(inspect.getdoc(function))
        return
    doc = inspect.getdoc(function) or ""
    assert "return" in hints
    for parameter in inspect.signature(function).parameters:
        assert parameter in hints
        if "options" in hints and parameter in attrs.fields_dict(scorekit.SqlOptions):
            continue  # documented there
        assert re.search(rf"^    (\*\w+, )?{parameter}\b.*:", doc, re.MULTILINE), parameter


@pytest.mark.parametrize("name", FUNCTIONS)
def test_keyword_only_but_for_the_obvious(name: str) -> None:
    """At most two arguments go by position, and none that has a default."""
    parameters = inspect.signature(PUBLIC[name]).parameters.values()
    positional = [p for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert len(positional) <= 2
    assert all(p.default is inspect.Parameter.empty for p in positional)


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_values(name: str) -> None:
    """Frozen, slotted, keyword-only, hashable by value, holding only values."""
    record: Any = RECORDS[name]
    assert "__dict__" not in dir(record)
    assert record.__hash__ is not None
    with pytest.raises(TypeError):
        record("by position")
    hints = get_type_hints(record)
    for field in attrs.fields(record):
        assert field.kw_only
        assert _is_value(hints[field.name]), field.name


def _is_value(hint: Any) -> bool:
    origin = get_origin(hint) or hint
    if origin in (list, dict, set, Mapping):
        return False
    if origin is tuple or origin is FrozenMapping or isinstance(hint, types.UnionType):
        return all(map(_is_value, (a for a in get_args(hint) if a is not ...)))
    return True


def _camel(name: str) -> str:
    return "".join(part.title() for part in name.split("_"))


def _found(files: str, pattern: str) -> bool:
    """Say whether one of the files has a line with *pattern*."""
    texts = (p.read_text(encoding="utf-8") for p in ROOT.parent.glob(files))
    return any(re.search(pattern, text, re.MULTILINE) for text in texts)


def _is_drawn(record: Any) -> bool:
    """Say whether tests can draw records of a class."""
    try:
        return results(record) is not NotImplemented
    except InputError:
        return False


def test_no_module_has_the_name_of_what_is_in_it() -> None:
    """The module would hide its function, and every sweep would leave that out in silence."""
    topics = {path.stem for path in ROOT.glob("[!_]*.py")}
    hidden = sorted(topics & {*scorekit.__all__})
    assert not hidden, f"name the module of {', '.join(hidden)} after its topic, as coding.py is"


@pytest.mark.parametrize("room", sorted({path.parent for path in ROOT.glob("_*/**/__init__.py")}))
def test_each_room_has_a_front_page(room: Path) -> None:
    """Whoever opens a folder reads what goes in and out, and which files to read first."""
    doc = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    page = f"{room.relative_to(ROOT.parent)}/__init__.py needs a docstring"
    assert "Read `" in doc, f"{page} that says what the room is for and `Read `file.py` first`"
    named = re.findall(r"`([\w/]+\.py)`", doc)
    assert [one for one in named if not (room / one).is_file()] == [], page


@pytest.mark.parametrize(
    "name", sorted({*METRICS, *(name for name in FUNCTIONS if _camel(name) in RECORDS)})
)
def test_no_step_of_adding_a_metric_is_forgotten(name: str) -> None:
    """CONTRIBUTING tells the path; what is not done yet is in the failure's message."""
    function, record = PUBLIC.get(name), PUBLIC.get(_camel(name))
    known, entry = REGISTER.get(name, Entry()), "its entry in tests/support/public_register.py"
    done = {
        "a function that scorekit/__init__.py lists": inspect.isfunction(function),
        "a record that scorekit/__init__.py lists": inspect.isclass(record),
        "its module on a page of docs/api": _found(
            "docs/api/*.md",
            rf"{{topics}}.*\b{scorekit._HOME.get(name, '').rpartition('.')[2]}\b",
        ),
        f"{entry}: call=": known.call is not None,
        f"{entry}: made=": record in {*map(type, MADE)},
        f"{entry}: drawn=": _is_drawn(record),
        f"{entry}: groups=": name not in statistics() or known.groups is not None,
        "a page of docs/ that calls it": _found("docs/*.md", rf"\b{name}\([^)]"),
        "a row in docs/functions.md": _found("docs/functions.md", rf"^\|.*`{name}`"),
        "an entry in CHANGELOG.md": _found("CHANGELOG.md", rf"`{name}\(\)`"),
        "a file of tests": _found("tests/**/test_*.py", rf"\b{name}\("),
    }
    if name in METRICS:
        done["a field of SqlCaseScore"] = hasattr(SqlCaseScore, name)
        done["a field of SqlReport"] = hasattr(SqlReport, name)
    forgotten = [step for step, is_done in done.items() if not is_done]
    assert not forgotten, "\n- ".join([f"{name} lacks", *forgotten])


def test_no_metric_of_cases_is_outside_the_register() -> None:
    """A field without an entry in the table of scorekit/_cases/metrics.py would always be None."""
    results = {
        name
        for name, hint in get_type_hints(SqlCaseScore).items()
        if any(isinstance(it, type) and issubclass(it, MetricResult) for it in get_args(hint))
    }
    assert results == set(METRICS)
    assert ("query_correctness", *OTHER_METRICS) == METRICS


def test_columns_are_called_like_the_fields_of_a_case() -> None:
    """`sql_cases_from_columns` passes them on by name."""
    columns = inspect.signature(scorekit.sql_cases_from_columns).parameters
    fields = [field.name for field in attrs.fields(scorekit.SqlCase)]
    assert list(columns) == [*fields, "attempt"]


IMPORT = "import sys, scorekit; print(*sorted({n.partition('.')[0] for n in sys.modules}))"


def _printed(code: str) -> str:
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_import_is_light() -> None:
    """`import scorekit` brings the standard library and nothing heavier than attrs."""
    loaded = set(_printed(IMPORT).split())
    third_party = loaded - set(sys.stdlib_module_names) - {"scorekit", "attr", "attrs"}
    assert not {name for name in third_party if not name.startswith(("_", "sitecustomize"))}
