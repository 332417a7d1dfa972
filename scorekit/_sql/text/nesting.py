"""How deep a parser would recurse into a SQL text, estimated from its tokens beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlglot import Token, TokenType
from sqlglot.dialects.dialect import Dialect

MAX_NESTING: Final = 64
"""Deepest nesting that is parsed, in half levels: 32 brackets, or NOT written 64 times.

A level takes up to 28 of Python's 1000 frames and up to 4 kB of stack where sqlglot is compiled,
which ends the process where stack runs out.  One limit for both builds gives one result.
"""

_T = TokenType
# Members of an enum are looked up slowly.
_COMMA, _DOT, _SEMICOLON, _SELECT, _END, _IS, _LESS = (
    _T.COMMA, _T.DOT, _T.SEMICOLON, _T.SELECT, _T.END, _T.IS, _T.LT,
)  # fmt: skip
_NAME_AND_DOT = 2
# The most frequent tokens that do nothing to the nesting.
_INERT = frozenset({_T.DOT, _T.STRING, _T.NUMBER, _T.EQ, _T.STAR, _T.ALIAS, _T.IDENTIFIER})

_OPENED_BY = {
    _T.R_PAREN: _T.L_PAREN,
    _T.R_BRACKET: _T.L_BRACKET,
    _T.R_BRACE: _T.L_BRACE,
    _T.END: _T.CASE,
}
_OPENS = frozenset(_OPENED_BY.values())

# After a value ON and END are keywords and minus subtracts; elsewhere they may be names, a sign.
_VALUE_ENDS = frozenset({_T.VAR, _T.NUMBER, _T.STRING, _T.NULL, _T.TRUE, _T.FALSE, *_OPENED_BY})
_NAME_ENDS = _VALUE_ENDS | {_T.IDENTIFIER}
# After these any word is a name.
_NAME_FOLLOWS = frozenset({_T.DOT, _T.ALIAS, _T.PARAMETER, _T.COLON, _T.INTERVAL})

# `STRUCT(` is read as a type and, if it is none, as a call: twice the work for each level.
_TYPE_OR_CALL = 5

_SIGNS = frozenset({_T.DASH, _T.PLUS})
# Recursion without a bracket until an operand ends,
_PREFIXES = frozenset(
    {_T.NOT, _T.TILDE, _T.PARAMETER, _T.PLACEHOLDER, _T.INTRODUCER, _T.INTERVAL, _T.ARRAY}
    | {_T.ANY, _T.SOME, _T.ALL, _T.DESC}
)
_PREFIX_WORDS = frozenset({"AT", "PRIOR"})
# or until a query ends, unless what they wait for comes.
_TAILS = frozenset(
    {_T.SELECT, _T.FROM, _T.JOIN, _T.STRAIGHT_JOIN, _T.PIPE_GT, _T.COLON_EQ}
    | {_T.SET, _T.PIVOT, _T.UNPIVOT, _T.DESCRIBE, _T.CREATE, _T.RENAME}
)
_TAIL_ENDS = frozenset({_T.ON, _T.USING, _T.GT})

# After these the next SELECT begins anew.
_SET_WORDS = frozenset({_T.UNION, _T.EXCEPT, _T.INTERSECT})
_QUANTIFIERS = frozenset({_T.ALL, _T.DISTINCT})


def nesting(tokens: Sequence[Token], dialect: Dialect) -> int:  # noqa: C901, PLR0912 - a branch per role
    """
    Return how deep the parser of *dialect* may recurse into *tokens*, in half levels.

    An open bracket or CASE counts 2, a prefix operator 1 until the next comma, an unfinished
    join or type (``JOIN`` without its ``ON``, ``<`` without its ``>``) 1 as well, and so does
    each dot of a name.  The bracket after STRUCT and the like counts 5.  Where it is unclear
    whether something ends, it does not.
    """
    operators, words, types = _vocabulary(dialect)
    deepest = around = prefixes = tails = 0
    outer: list[tuple[TokenType, int, int, int]] = []
    last = _SEMICOLON
    for token in tokens:
        kind = token.token_type
        if kind in _INERT:
            last = kind
            continue
        if kind is _COMMA:
            prefixes = 0
        elif kind in _OPENS:
            outer.append((kind, around, prefixes, tails))
            around += prefixes + tails + (_TYPE_OR_CALL if last in types else 2)
            prefixes = tails = 0
        elif kind in _OPENED_BY:
            if kind is not _END:
                _close_cases(outer)
            elif last in _NAME_FOLLOWS:
                continue
            if outer and outer[-1][0] is _OPENED_BY[kind]:
                _, around, prefixes, tails = outer.pop()
        elif kind in _SIGNS:
            prefixes += last not in _NAME_ENDS
        elif kind in _TAIL_ENDS:
            tails -= tails > 0 and last in _NAME_ENDS
        elif kind in _QUANTIFIERS and last in _SET_WORDS:
            continue
        elif kind is _SELECT and last in _SET_WORDS:
            prefixes = tails = 0
        elif kind in _TAILS or (kind is _LESS and last not in _VALUE_ENDS):
            tails += 1
        elif kind in operators or token.text.upper() in words:
            prefixes += last is not _IS  # IS NOT is one operator
        elif kind is _SEMICOLON:
            outer.clear()
            around = prefixes = tails = 0
        last = kind
        deepest = max(deepest, around + prefixes + tails)
    return max(deepest, _longest_name(tokens)) if len(tokens) > MAX_NESTING else deepest


def _longest_name(tokens: Sequence[Token]) -> int:
    """Return the dots of the longest dotted name, which takes some parsers quadratic time."""
    longest = dots = before = 0
    for i, token in enumerate(tokens):
        if token.token_type is _DOT:
            dots = dots + 1 if i - before <= _NAME_AND_DOT else 1
            longest, before = max(longest, dots), i
    return longest


def _close_cases(outer: list[tuple[TokenType, int, int, int]]) -> None:
    """Drop each CASE that a closing bracket leaves without its END."""
    while len(outer) > 1 and outer[-1][0] is _T.CASE:
        outer.pop()


@cache
def _vocabulary(
    dialect: Dialect,
) -> tuple[frozenset[TokenType], frozenset[str], frozenset[TokenType]]:
    """Return the prefix operators of *dialect*, as tokens and as words, and its struct types."""
    parser: Any = dialect.parser_class
    paths = frozenset(parser.COLUMN_OPERATORS) - {_T.DOT, _T.DCOLON}
    operators = _PREFIXES.union(parser.UNARY_PARSERS, paths) - _SIGNS
    words = _PREFIX_WORDS.union(parser.NO_PAREN_FUNCTION_PARSERS) - {"CASE"}
    return operators, words, frozenset(parser.STRUCT_TYPE_TOKENS)
