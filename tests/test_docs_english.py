"""Words that are kept out: private vocabulary, images, sentences that must be read twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAY_INSTEAD = {
    r"\btold\b": "given, known, named",
    r"\bworth\b": "equivalent to, effective number",
    r"\bdear(er|est)?\b": "expensive, cost",
    r"\bwhom\b": "who, the judge that",
    r"\bcrie[ds] wolf\b": "false alarm",
    r"\bnobody knows\b": "missing, unknown",
    r"\bcannot be told\b": "is unknown, cannot be distinguished",
    r"\b(say|tell)s? nothing of\b": "does not describe",
    r"\btells? (of|something)\b": "describes, carries information",
    r"\bhears? of\b": "receives",
    r"\bis said of\b": "applies to, remark on",
    r"\bof no matter\b": "ignored",
    r"\bone less the\b": "1 minus the",
    r"\bthose that but\b": "those that only",
    r"\bworst way\b": "if every missing outcome failed",
    r"\binstrument(s)? broke\b": "the judge or validator failed",
    r"\bhides a split\b": "hides failures",
    r"\bcompatible with these data\b": "95 % interval",
    r"\babout (these cases|cases like these)\b": "for these cases only, for similar cases",
    r"\bthan chance explains\b": "significantly",
    r"\bfell beyond chance\b": "dropped significantly",
    r"\bknows what happened\b": "you have results",
}


def _files() -> Iterator[Path]:
    for folder, kinds in (
        (".", ("*.md", "*.toml", "*.cff")),
        (".ci", ("*",)),
        ("scorekit", ("**/*.py",)),
        ("tests", ("**/*.py",)),
        ("benchmarks", ("**/*.py",)),
        ("docs", ("*.md", "*.py", "*.ipynb", "api/*.md", "recipes/*.py", "recipes/data/*.md")),
    ):
        for kind in kinds:
            yield from (ROOT / folder).glob(kind)


@pytest.mark.parametrize("phrase", SAY_INSTEAD)
def test_no_text_has_the_words(phrase: str) -> None:
    """Names of variables included; the second column says what to write."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in _files()
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(phrase, line, re.IGNORECASE)
    ]
    assert found == [], f"say instead: {SAY_INSTEAD[phrase]}"
