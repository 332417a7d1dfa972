"""The XML of a test run, as pytest writes it with ``--junitxml``."""

from __future__ import annotations

from typing import NoReturn
from xml.parsers import expat

import attrs

from scorekit._readers.content import Content, measured
from scorekit._readers.reading import Reading
from scorekit._sheet.values import counted
from scorekit.errors import InputError, refuse

WANTED = "the text of an XML file that pytest --junitxml wrote"

CASE_PROPERTIES = ("scorekit_case", "case")
"""Properties that name the case of a test, the first first."""

CHUNK = 1 << 20
"""Characters that are parsed at a time, so that a large text is not copied."""

_COUNTS = ("tests", "failures", "errors", "skipped")


@attrs.define
class _Test:
    """A test as the XML has it."""

    classname: str
    name: str
    seconds: float | None
    kinds: list[str] = attrs.field(factory=list[str])
    """The elements that say how it ended."""
    score: float | None = 1.0
    unknown: str = ""
    properties: dict[str, str] = attrs.field(factory=dict[str, str])


@attrs.define
class _ParsedXml:
    """What was found while the parser went through the text."""

    depth: int = 0
    """How many suites are open."""
    tests: list[_Test] = attrs.field(factory=list[_Test])
    stated: dict[str, int] = attrs.field(factory=dict[str, int])
    open: _Test | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take what an element opens with."""
        if tag == "testsuite":
            self.depth += 1
            for name in _COUNTS if self.depth == 1 else ():  # of suites in it this is the sum
                if attributes.get(name, "").isdigit():
                    self.stated[name] = self.stated.get(name, 0) + int(attributes[name])
        elif tag == "testcase":
            seconds = attributes.get("time", "")
            known = measured(float(seconds)) if _is_number(seconds) else None
            self.open = _Test(attributes.get("classname", ""), attributes.get("name", ""), known)
            self.tests.append(self.open)
        elif self.open is None:
            return
        elif tag == "property" and "name" in attributes:
            self.open.properties[attributes["name"]] = attributes.get("value", "")
        elif tag in ("failure", "error", "skipped"):
            self.open.kinds.append(tag)
            _end(self.open, tag, attributes.get("type", ""), attributes.get("message", ""))

    def end(self, tag: str) -> None:
        """Close a test, or a suite."""
        self.depth -= tag == "testsuite"
        if tag == "testcase":
            self.open = None


def _is_number(text: str) -> bool:
    try:
        return float(text) >= 0.0
    except ValueError:
        return False


def _end(test: _Test, tag: str, kind: str, message: str) -> None:
    """Set how a test ended: an expected failure failed, and a test that was skipped is unknown."""
    is_xfail = kind == "pytest.xfail" and not message.startswith("[NOTRUN]")
    if (tag == "failure" and "[XPASS(strict)]" not in message) or (tag == "skipped" and is_xfail):
        test.score = 0.0
    elif tag == "skipped":
        test.score, test.unknown = None, "skipped"
    elif tag == "error" and not message.startswith("failed on teardown"):
        test.score, test.unknown = None, "error"


def _refuse_types(*_: object) -> NoReturn:
    raise InputError(f"xml must be {WANTED}, got one with a document type, which none of them has")


def junit(xml: object, case: str | None) -> Reading:
    """Read the tests of an XML text, each an attempt at the case that a property names."""
    if not isinstance(xml, str | bytes) or xml.lstrip()[:1] not in ("<", b"<", "\ufeff"):
        Content("xml", xml, WANTED, "junit").refuse()
    parsed = _ParsedXml()
    parser = expat.ParserCreate()
    parser.StartElementHandler = parsed.start
    parser.EndElementHandler = parsed.end
    parser.StartDoctypeDeclHandler = _refuse_types
    text = xml.decode("utf-8", "replace") if isinstance(xml, bytes) else xml
    text = text.removeprefix("\ufeff").lstrip()
    if text.startswith("<?xml"):  # which may name an encoding that a text no longer has
        text = text[text.find("?>") + 2 :]
    try:
        for start in range(0, len(text), CHUNK):
            parser.Parse(text[start : start + CHUNK], False)  # noqa: FBT003 - it takes no name
        parser.Parse("", True)  # noqa: FBT003 - as above
    except expat.ExpatError as error:
        how = expat.ErrorString(error.code)
        raise InputError(
            f"xml must be whole, got {counted(len(parsed.tests), 'test')} and then: {how}"
        ) from None
    if not parsed.tests:
        refuse("xml", f"{WANTED}, with at least one test", xml)
    return _read(parsed, case)


def _read(parsed: _ParsedXml, case: str | None) -> Reading:
    merged = _merged(parsed.tests)
    found = Reading("pytest", "passed", names=_COUNTS)
    names = CASE_PROPERTIES if case is None else (case,)
    if case is not None and not any(case in test.properties for test in merged):
        known = sorted({name for test in merged for name in test.properties})
        refuse(
            "case", f"a property of a test, of {', '.join(known) or 'none that there is'}", case
        )
    for test in merged:
        full = f"{test.classname}::{test.name}" if test.classname else test.name
        named = next((test.properties[name] for name in names if test.properties.get(name)), full)
        found.add(
            named,
            test.score,
            attempt=full,
            model=test.properties.get("scorekit_model") or None,
            unknown=test.unknown,
            own=None,
            latency_seconds=test.seconds,
        )
    counts = {
        "tests": len(parsed.tests),
        **{
            name: sum(kind in test.kinds for test in parsed.tests)
            for name, kind in (
                ("failures", "failure"),
                ("errors", "error"),
                ("skipped", "skipped"),
            )
        },
    }
    found.stated = dict(parsed.stated)
    found.rule = lambda name, own: counts.get(name)  # noqa: ARG005 - what a rule takes
    return found


def _merged(tests: list[_Test]) -> list[_Test]:
    """
    Return each test once.

    pytest writes a test twice whose call failed and whose tear-down crashed: the second element
    has the error alone, and the outcome stays.
    """
    found: dict[tuple[str, str], _Test] = {}
    every: list[_Test] = []
    for test in tests:
        before = found.get((test.classname, test.name))
        is_teardown = test.kinds == ["error"] and not test.unknown
        if before is not None and is_teardown and before.kinds:
            before.properties.update(test.properties)
            continue
        found[test.classname, test.name] = test
        every.append(test)
    return every
