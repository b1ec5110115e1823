"""Statements cut into words by the terminals of grammar.lark (ddl, introduction).

Bounds are checked here: what passes is short enough, and nested little enough, for every later step
to be cheap. A word is a token of lark: its type in the grammar, its text as written, its place.
"""

from functools import cache
from typing import Final

from lark import Lark, Token, UnexpectedCharacters

from widerow.engine.typed.ddl.faults import failed_at, fault
from widerow.engine.typed.ddl.statements import Position
from widerow.errors import InvalidRequest
from widerow.limits import DDL_CHARACTERS_MAX, DDL_DEPTH_MAX
from widerow.model.typed.escapes import unescaped
from widerow.model.typed.rules import TypedRule

__all__ = ["cut", "quoted", "unquoted", "word_position"]


def cut(statement: str) -> list[Token]:
    """The words of a statement. Cost: linear in it.

    Raises: `InvalidRequest` for one too long or nested too deep, for characters that begin no word,
    and for identifiers that begin with no letter.
    """
    if len(statement) > DDL_CHARACTERS_MAX:
        raise InvalidRequest(TypedRule.DDL_LENGTH, limit=DDL_CHARACTERS_MAX, size=len(statement))
    words: list[Token] = []
    depth = 0
    keywords = _keywords()
    try:
        for token in _lexer().lex(statement):
            depth += {"LPAR": 1, "RPAR": -1}.get(token.type, 0)
            _check(token, depth)
            keyword = token.upper()
            words.append(token.update(type=keyword) if keyword in keywords else token)
    except UnexpectedCharacters as error:
        place = Position(error.line, error.column - 1)
        raise fault(place, f"token recognition error at: '{error.char}'") from None
    return words


@cache
def _lexer() -> Lark:
    return Lark.open_from_package(__package__, "grammar.lark", parser=None, lexer="basic")


@cache
def _keywords() -> frozenset[str]:
    """The terminals that the grammar declares: rules use them, and no pattern defines them."""
    used = {symbol.name for rule in _lexer().rules for symbol in rule.expansion if symbol.is_term}
    return frozenset(used - {terminal.name for terminal in _lexer().terminals})


def _check(token: Token, depth: int) -> None:
    """Raise `InvalidRequest` for a word that no statement has, and behind too many `(`."""
    if depth > DDL_DEPTH_MAX:
        error = InvalidRequest(TypedRule.DDL_DEPTH, limit=DDL_DEPTH_MAX)
        raise failed_at(word_position(token), error)
    if token.type == "BAD_NAME":
        error = InvalidRequest(TypedRule.DDL_IDENTIFIER, name=token[:100])
        raise failed_at(word_position(token), error)
    if token.type == "OPEN_COMMENT":
        raise fault(word_position(token), "a comment is not closed: */ is missing")


def word_position(token: Token) -> Position:
    """Where a word begins: its line from 1, its column from 0."""
    return Position(token.line or 1, (token.column or 1) - 1)


def unquoted(text: str, position: Position) -> str:
    """The text between the quotes, with its escapes resolved. Raises `InvalidRequest`."""
    try:
        return unescaped(text[1:-1])
    except ValueError as error:
        raise fault(position, str(error)) from error


def quoted(text: str) -> str:
    """A text in double quotes, with escapes, which `unquoted` reads."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(_CONTROLS.get(character, character) for character in escaped) + '"'


_CONTROLS: Final = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
