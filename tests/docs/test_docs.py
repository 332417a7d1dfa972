"""The pages under docs have one shape, and leave out no public function."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import pages
import pictures
import pytest
import refresh
import rooms
from refresh import STALE

import scorekit

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
REFERENCE = {"accuracy_intervals", "accuracy_models", "accuracy_verdicts", "api", "benchmarks"}
REFERENCE |= {"architecture", "changelog", "cite", "glossary", "index"}
NO_METRIC = REFERENCE | {"accuracy", "integrations", "migration", "quickstart", "sure", "tour"}
FUNCTIONS = {name for name in scorekit.__all__ if inspect.isfunction(getattr(scorekit, name))}


@pytest.mark.parametrize("page", sorted(PAGES.keys() - NO_METRIC))
def test_a_page_asks_shows_and_limits(page: str) -> None:
    """A question first, an example that runs, and what not to read out of it."""
    assert re.search(r"^\*.+\?\*$", PAGES[page], re.MULTILINE)
    assert "```pycon" in PAGES[page]
    limits = r"^(\*\*Limits\.\*\*|## Limits|:::\{admonition\} Limits)"
    assert re.search(limits, PAGES[page], re.MULTILINE)


def test_every_page_is_reached() -> None:
    """A page that no list of contents names would not be found."""
    contents = re.findall(r"(?ms)^```{toctree}$.*?^```$", "\n".join(PAGES.values()))
    listed = re.findall(r"(?m)^(?:.+<)?(\w+)>?$", "".join(contents))
    assert set(PAGES) - {"index"} <= set(listed)


def test_every_function_is_explained() -> None:
    """The API page says what there is, the others what it is for."""
    text = "\n".join(PAGES[page] for page in PAGES.keys() - {"api", "changelog", "functions"})
    assert {name for name in FUNCTIONS if not re.search(rf"\b{name}\b", text)} == set()


def test_the_changelog_names_every_function() -> None:
    """What is not in it did not come with the version."""
    text = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    assert {name for name in FUNCTIONS if f"`{name}()`" not in text} == set()


def test_the_citation_names_this_version() -> None:
    """Numbers depend on the version, so that is what one cites."""
    text = (DOCS.parent / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {scorekit.__version__}\n" in text


def test_the_search_knows_the_words_of_readers() -> None:
    """Each other name of a subject is an entry of the index, which the search ranks first."""
    index = DOCS / "_build" / "html" / "searchindex.js"
    if not index.exists():
        pytest.skip("the documentation is not built")
    found = json.loads(index.read_text(encoding="utf-8").partition("(")[2].rstrip(");\n"))
    pages = found["docnames"]
    for page, text in PAGES.items():
        for words in re.findall(r"^Also called: (.+)\.$", text, re.MULTILINE):
            for word in words.split(", "):
                places = found["indexentries"][word.lower()]
                assert page in {pages[number] for number, _, is_main in places if is_main}, word


def test_every_guide_says_how_else_it_is_called() -> None:
    """So that a search for a reader's own words finds it."""
    missing = {page for page in PAGES.keys() - REFERENCE if "\nAlso called: " not in PAGES[page]}
    assert missing == set()


@pytest.mark.parametrize("page", sorted(PAGES))
def test_a_page_holds_what_it_shows(page: str) -> None:
    """Read as Markdown it is whole."""
    text = PAGES[page]
    assert pages.filled(text) == text, STALE
    assert "literalinclude" not in text
    assert "_build" not in text.replace("docs/_build/html", "")


def test_examples_get_the_output_of_today(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Results and errors; what is compared with options, or raises now, is left and named."""
    page = tmp_path / "page.md"
    page.write_text(
        "```pycon\n>>> 1 + 1\n3\n>>> print('a\\n\\nb')\nold\ntext\n>>> 5\n5\n"
        ">>> int('x')\nTraceback (most recent call last):\n    ...\nValueError: old\n"
        ">>> 'abc'  # doctest: +ELLIPSIS\n'x...'\n>>> raise ValueError('low')\n0\n\n```\n",
        encoding="utf-8",
    )
    assert refresh.with_outputs(page) == (
        "```pycon\n>>> 1 + 1\n2\n>>> print('a\\n\\nb')\na\n<BLANKLINE>\nb\n>>> 5\n5\n"
        ">>> int('x')\nTraceback (most recent call last):\n    ...\n"
        "ValueError: invalid literal for int() with base 10: 'x'\n"
        ">>> 'abc'  # doctest: +ELLIPSIS\n'x...'\n>>> raise ValueError('low')\n0\n\n```\n"
    )
    raises, differs = capsys.readouterr().out.splitlines()
    assert raises == f"{page}: mend `raise ValueError('low')` by hand, it raises ValueError('low')"
    assert differs.startswith(
        f"{page}: mend `'abc'  # doctest: +ELLIPSIS` by hand, it is compared"
    )


def test_code_on_a_page_is_that_of_its_file() -> None:
    """A part of a program comes with the imports that it needs, and no others."""
    page = "<!-- recipes/data_frames.py: report -->\n```python\nold\n```\n"
    imports, _, code = pages.filled(page).split("```python\n")[1].partition("\n\n\n")
    assert imports == "import pandas as pd\nimport polars as pl\n\nimport scorekit"
    program = (DOCS / "recipes" / "data_frames.py").read_text(encoding="utf-8")
    assert code.startswith("def report(frame: pd.DataFrame")
    assert code.removesuffix("```\n") in program


@pytest.mark.newest
@pytest.mark.parametrize("draw", pictures.PICTURES)
def test_a_picture_shows_what_is_drawn_today(draw: Any) -> None:
    """Texts, points and colors, whatever the version of matplotlib."""
    assert pictures.stored(draw) == pictures.drawn(draw()), STALE


def test_links_of_readme_lead_somewhere() -> None:
    """It is read in the repository: links are relative, and to files that are there."""
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)", text)
    assert len(links) >= 15
    assert [link for link in links if not (DOCS.parent / link).is_file()] == []


BANNED = {
    "told": r"\btold\b(?! apart)",
    "dear for expensive": r"\bdear(er|est)?\b",
    "worth for equal to": r"\bis worth\b(?! (it|reading|a look))",
    "reach for half-width": r"\breach of the interval\b",
    "cried wolf": r"\bcried wolf\b",
    "a pass costs": r"[\"`]a pass costs ",
    "beyond chance of a fall": r"(fell|fall|drop) (by more than chance|beyond chance)",
    "about cases like these": r"about (cases like these|these cases)",
    "newly failing": r"[Nn]ewly fails\b",
    "an instrument broke": r"instrument broke",
    "of no matter": r"[Oo]f no matter",
    "one less the": r"[Oo]ne less the",
    "going the worst way": r"going the worst way",
}
"""Words that readers stumbled over, by what was wrong with them."""


@pytest.mark.parametrize("words", BANNED)
def test_words_that_must_not_come_back(words: str) -> None:
    """Neither in what is printed nor in what is read."""
    root = DOCS.parent
    files = [*root.glob("scorekit/**/*.py"), *root.glob("*.md"), *DOCS.glob("*.md")]
    found = [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(BANNED[words], line)
    ]
    assert found == []


def test_the_map_shows_the_house() -> None:
    """Where its picture has changed, the page has to be read again."""
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.drawn(), STALE
    named = set(re.findall(r"`([\w/.]+(?:\.\w+|/))`", PAGES["architecture"])) - {"scorekit/*.py"}
    places = (DOCS.parent, DOCS.parent / "scorekit", DOCS.parent / "scorekit" / "_sql")
    there = {name for name in named if any((place / name).exists() for place in places)}
    assert named - there <= {"tool.importlinter", "scorekit.readers", "__init__.py"}
