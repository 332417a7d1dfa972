"""What a message shows of a value: always one short line, whatever the value does."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from scorekit.errors import TEXT_LIMIT, InputError, MissingExtraError, one_line, refuse, shown


class Rude:
    """An object whose repr is whatever a stranger likes."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __repr__(self) -> str:
        """Answer, or raise."""
        if isinstance(self.answer, Exception):
            raise self.answer
        text: str = self.answer
        return text


HUGE = 10**5000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (HUGE, "<int of 16610 bits>"),
        (-2 * HUGE, "<int of 16611 bits>"),
        ([1, (HUGE,), {"a": HUGE}], "[1, (<int of 16610 bits>,), {'a': <int of 16610 bits>}]"),
        (10**100, "1" + 37 * "0" + "..." + 39 * "0"),
        (Rude("two\nlines"), "two lines"),
        (Rude("bell\a, colour\x1b[31m"), r"bell\x07, colour\x1b[31m"),
        ("a" * 100, "'" + 37 * "a" + "..." + 38 * "a" + "'"),
    ],
    ids=shown,  # pytest itself cannot write out the huge ones
)
def test_a_value_is_shown_on_one_short_line(value: object, text: str) -> None:
    """Python refuses the digits of huge integers; a terminal obeys control characters."""
    assert shown(value) == text


def test_huge_integers_look_alike_whatever_the_interpreter_allows() -> None:
    """The limit on digits is a setting; a message should not depend on it."""
    limit = sys.get_int_max_str_digits()
    try:
        for allowed in (0, 640):
            sys.set_int_max_str_digits(allowed)
            assert shown(HUGE) == "<int of 16610 bits>"
            assert shown(2**2000 - 1).startswith("1148130")
    finally:
        sys.set_int_max_str_digits(limit)


@pytest.mark.parametrize("answer", [RuntimeError("no"), 3, RecursionError()])
def test_a_repr_that_fails_does_not_replace_the_message(answer: object) -> None:
    """The caller must learn of the mistake, not of the object's own fault."""
    for value in (Rude(answer), [Rude(answer)]):
        with pytest.raises(InputError, match=r"^x must be a number, got .*Rude"):
            refuse("x", "a number", value)


def test_a_class_that_borrows_a_name_is_shown_too() -> None:
    """Cutting goes by the name of the class, which anyone may choose."""
    assert shown(type("list", (), {})()) == "<list that cannot be shown>"


def test_lines_are_cut_after_escaping() -> None:
    """An escape is longer than what it stands for."""
    assert one_line("\n" * TEXT_LIMIT) == r"\n" * 248 + r"\..."


def test_the_command_that_installs_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names packages, not scorekit, which may come from a folder; without metadata one."""
    assert str(MissingExtraError("plot", "matplotlib")).startswith(
        "matplotlib is not installed; run: pip install 'matplotlib>="
    )

    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.requires", missing)
    assert str(MissingExtraError("plot", "matplotlib")) == (
        "matplotlib is not installed; run: pip install 'matplotlib' "
        "(which is what scorekit[plot] brings)"
    )
