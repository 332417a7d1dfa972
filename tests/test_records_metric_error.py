"""Exceptions and the record of a failed metric: pickling, bounds, untrusted text, logging."""

from __future__ import annotations

import json
import logging
import pickle
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorekit import records
from scorekit.errors import InputError, ScorekitError, SqlError, one_line, shortened
from scorekit.records import MetricError, metric_error

LOGGER = logging.getLogger("scorekit.trial")
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
NAIVE = NOON.replace(tzinfo=None)
ANY_TEXT = st.text(st.characters(exclude_categories=()))


def _error(error: BaseException | str = "broken", **changes: Any) -> MetricError:
    arguments: dict[str, Any] = {"origin": "output", "kind": "parse", "inputs": {"sql": "SELECT"}}
    return metric_error("table_accuracy", error=error, logger=LOGGER, **arguments | changes)


def test_sql_error_says_its_kind_and_survives_pickling() -> None:
    """Workers in other processes raise it too."""
    error = SqlError("parse", "Expecting ).\nLine 1", "SELECT (\n1" + " " * 600)
    copy = pickle.loads(pickle.dumps(error))
    for each in (error, copy):
        assert str(each) == r"parse: Expecting ).\nLine 1"
        assert (each.kind, each.message) == ("parse", r"Expecting ).\nLine 1")
        assert each.sql == "SELECT (\n1" + " " * 487 + "..."
    assert isinstance(error, ScorekitError)
    assert isinstance(error, ValueError)


@given(ANY_TEXT, st.integers(3, 40))
def test_untrusted_text_is_bounded_and_printable(text: str, limit: int) -> None:
    """A log line or a message is one line whatever a model wrote."""
    assert len(shortened(text, limit)) <= limit
    assert one_line(text, limit).isprintable()
    assert len(one_line(text, limit)) <= limit
    assert one_line(one_line(text)) == one_line(text)
    if text.isprintable() and len(text) <= limit:
        assert one_line(text, limit) == text


def test_metric_error_holds_what_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sourced from the exception: its text, its stack, and the clock that tests replace."""
    monkeypatch.setattr(records, "now", lambda: NOON)
    with pytest.raises(KeyError) as caught:
        {"orders": 1}["users\ntable"]
    inputs = {"n": 3, "sql": "a\nb"}
    record = _error(caught.value, origin="instrument", kind="judge", inputs=inputs)
    assert (record.message, record.timestamp) == (r"'users\ntable'", NOON)
    assert record.inputs == {"n": "3", "sql": "a\nb"}
    first, *_, last = record.traceback.splitlines()
    assert (first, last) == ("Traceback (most recent call last):", r"KeyError: 'users\ntable'")
    assert (record.metric, record.origin, record.kind) == ("table_accuracy", "instrument", "judge")


def test_time_and_stack_do_not_make_two_errors_differ() -> None:
    """Two runs of one evaluation compare equal."""
    one, two = _error("same"), _error(ValueError("same"))
    assert one.traceback != two.traceback
    assert (one, hash(one)) == (two, hash(two))
    assert one != _error("other")


@given(ANY_TEXT, ANY_TEXT)
def test_any_text_goes_to_json_and_back(message: str, sql: str) -> None:
    """Lone surrogates and NULs from a model must not stop a report from being written."""
    record = _error(ValueError(message), inputs={"sql": sql})
    text = json.dumps(record.to_dict(), ensure_ascii=False, allow_nan=False)
    again = MetricError.from_dict(json.loads(text.encode()))
    assert (again, again.to_dict()) == (record, record.to_dict())
    assert "\0" not in record.inputs["sql"]
    assert pickle.loads(pickle.dumps(record)) == record


def test_everything_is_bounded() -> None:
    """A megabyte of SQL and a deep stack stay out of reports."""

    def dig(depth: int) -> None:
        if not depth:
            raise ValueError("y" * 10_000)
        dig(depth - 1)

    with pytest.raises(ValueError, match="yyy") as caught:
        dig(50)
    record = _error(caught.value, inputs={"sql": "x" * 10**6, "items": list(range(10**5))})
    assert (len(record.message), len(record.traceback)) == (500, 4000)
    assert record.inputs == {"sql": "x" * 497 + "...", "items": "[0, 1, 2, 3, 4, 5, ...]"}


def test_an_exception_that_cannot_be_shown_is_recorded_all_the_same() -> None:
    """Judges and validators are other people's code."""

    class RudeError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert _error(RudeError()).message == "<exception str() failed>"
    assert _error(TimeoutError()).message == "TimeoutError"


@pytest.mark.parametrize(
    ("origin", "level"), [("output", logging.WARNING), ("instrument", logging.ERROR)]
)
def test_each_error_is_one_log_line(
    origin: str, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    """The model's own failure is a warning, a broken instrument an error."""
    _error("first\r\nsecond\x1b[0m", origin=origin)
    assert caplog.record_tuples == [
        ("scorekit.trial", level, r"table_accuracy: first\r\nsecond\x1b[0m")
    ]
    assert caplog.records[0].filename == "test_records_metric_error.py"


@pytest.mark.parametrize(("change", "message"), [
    ({"origin": "judge"}, "origin must be one of 'output', 'instrument', got 'judge'"),
    ({"timestamp": None}, "timestamp must be a datetime with a time zone, got None"),
    ({"timestamp": NAIVE}, f"timestamp must be a datetime with a time zone, got {NAIVE!r}"),
])  # fmt: skip
def test_a_record_built_by_hand_keeps_its_meaning(change: dict[str, Any], message: str) -> None:
    """Means depend on the origin, and order in time on the zone."""
    with pytest.raises(InputError) as caught:
        attrs.evolve(_error(), **change)
    assert str(caught.value) == message
