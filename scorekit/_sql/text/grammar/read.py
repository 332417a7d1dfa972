"""A text read in the grammar of one database."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import Token

from scorekit._sql.text.grammar.queries import Queries
from scorekit._sql.text.grammar.words import Reading, RefusedError, UnsureError, Word, words_of


def read_grammar(tokens: Sequence[Token], dialect: str) -> Reading:
    """Read a text of PostgreSQL, MySQL or DuckDB, given its tokens."""
    reader = Queries(words_of(tokens), dialect)
    refused: Word | None = None
    why = ""
    try:
        reader.script()
    except RefusedError as error:
        refused, why = error.word, error.why
    except UnsureError as error:
        reader.doubt(error.word)
    except RecursionError:
        reader.doubt(reader.words[0])
    return Reading(refused, reader.unsure, why, reader.other)
