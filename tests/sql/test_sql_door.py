"""The wing of SQL has one door, and stands on nothing of the house but its ground."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import scorekit
from scorekit._sql import door

PACKAGE = Path(scorekit.__file__).parent
GROUND = ("scorekit._sql", "scorekit._core", "scorekit.errors")
MOST = 20
"""Names that a door may have before it is a gate."""


def imports_of(file: Path) -> Iterator[tuple[str, str]]:
    """Yield module and name of each import of the package in a file."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scorekit"):
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((a.name, "") for a in node.names if a.name.startswith("scorekit"))


WING = sorted((PACKAGE / "_sql").rglob("*.py"))
HOUSE = sorted({*PACKAGE.rglob("*.py")} - {*WING})


def names_for_checkers() -> dict[str, str]:
    """Return the names that type checkers see at the door, and where they come from."""
    seen = imports_of(Path(door.__file__))
    return {name: module.removeprefix("scorekit._sql.") for module, name in seen}


def test_the_door_has_few_names_and_all_are_used() -> None:
    """A door of many names is a wall that is missing."""
    used = {n for file in HOUSE for m, n in imports_of(file) if m == door.__name__}
    named = {name for names in door.HOMES.values() for name in names}
    assert len(named) <= MOST, f"find a name that stands for several: {sorted(named)}"
    assert used == named, f"take out of the door: {sorted(named - used)}"


def test_type_checkers_and_programs_see_the_same_door() -> None:
    """Both lists of names are one, and each name is that of its room."""
    assert names_for_checkers() == {n: home for home, names in door.HOMES.items() for n in names}
    for name, home in names_for_checkers().items():
        room = import_module(f"scorekit._sql.{home}")
        assert getattr(door, name) is getattr(room, name)


def test_the_door_has_nothing_else() -> None:
    """What is no name of the door is none of its attributes."""
    with pytest.raises(AttributeError, match="has no attribute 'parse'"):
        door.__getattr__("parse")


def test_the_wing_takes_nothing_of_the_house_but_its_ground() -> None:
    """What the wing and the house both need stands in _core."""
    taken = [
        f"{file.relative_to(PACKAGE)}: move to _core what both need of {module}"
        for file in WING
        for module, _ in imports_of(file)
        if not module.startswith(GROUND)
    ]
    assert not taken, "\n".join(taken)


def test_the_house_goes_through_the_door() -> None:
    """Nothing outside the wing imports one of its rooms."""
    private = [
        f"{file.relative_to(PACKAGE)}: import {name} from scorekit._sql.door, not from {module}"
        for file in HOUSE
        for module, name in imports_of(file)
        if module.startswith("scorekit._sql") and module != door.__name__
    ]
    assert not private, "\n".join(private)
