"""Statements of SQL cut into words (ddl, introduction): names, numbers, texts, signs, hints.

The length of a statement and the depth of brackets are bounded here, so that every later step is.
"""

import re
from typing import Final, NamedTuple

from widerow.errors import InvalidRequest
from widerow.limits import NOSQL_SQL_CHARACTERS_MAX, NOSQL_SQL_DEPTH_MAX
from widerow.model.typed.escapes import unescaped
from widerow.wire.nosql.sql.statement_rules import StatementRule

__all__ = ["END_KIND", "TextPlace", "Word", "cut_statement", "syntax_fault"]


class TextPlace(NamedTuple):
    """Where a word begins: its line from 1, its column from 0."""

    line: int = 1
    column: int = 0


class Word(NamedTuple):
    """A word. `kind`: `name`, `variable`, `number`, `text`, `sign`, `hint` or `end`."""

    kind: str
    text: str
    place: TextPlace

    def is_word(self, *keywords: str) -> bool:
        """Whether it is one of these keywords, in any case."""
        return self.kind == "name" and self.text.upper() in keywords

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of these signs."""
        return self.kind == "sign" and self.text in signs


END_KIND: Final = "end"
_WORD: Final = re.compile(
    r"""(?P<blank>[ \t\r\n\f]+|//[^\n]*|\#[^\n]*|/\*(?!\+)[\s\S]*?\*/)
    |(?P<hint>/\*\+[\s\S]*?\*/)
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?n?(?![A-Za-z_]))
    |(?P<variable>\$\$?[A-Za-z][A-Za-z0-9_]*|\$)
    |(?P<name>[A-Za-z][A-Za-z0-9_]*)
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<sign>[<>!]=(?:[aA][nN][yY]\b)?|[<>=][aA][nN][yY]\b|\|\||[-+*/()\[\]{},;:.=<>?@])""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)


def syntax_fault(place: TextPlace, text: str) -> InvalidRequest:
    """The error of a statement that cannot be read at a place."""
    return InvalidRequest(StatementRule.SYNTAX, text=text, line=place.line, column=place.column)


def cut_statement(statement: str) -> list[Word]:
    """The words of a statement, and the end. Raises `InvalidRequest`; cost: linear in it."""
    if len(statement) > NOSQL_SQL_CHARACTERS_MAX:
        raise InvalidRequest(
            StatementRule.TEXT_LENGTH, size=len(statement), limit=NOSQL_SQL_CHARACTERS_MAX
        )
    words: list[Word] = []
    at, line, begin, depth = 0, 1, 0, 0
    while at < len(statement):
        found = _WORD.match(statement, at)
        place = TextPlace(line, at - begin)
        if found is None:
            raise syntax_fault(place, f"extraneous input '{statement[at]}'")
        kind, text = found.lastgroup or "", found.group()
        if kind != "blank":
            words.append(Word(kind, _unquoted(text, place) if kind == "text" else text, place))
            depth += (text in "([{") - (text in ")]}") if kind == "sign" else 0
            if depth > NOSQL_SQL_DEPTH_MAX:
                raise syntax_fault(place, f"brackets are nested deeper than {NOSQL_SQL_DEPTH_MAX}")
        newlines = text.count("\n")
        if newlines:
            line, begin = line + newlines, at + text.rindex("\n") + 1
        at = found.end()
    words.append(Word(END_KIND, "<EOF>", TextPlace(line, at - begin)))
    return words


def _unquoted(text: str, place: TextPlace) -> str:
    try:
        return unescaped(text[1:-1])
    except ValueError as error:
        raise syntax_fault(place, str(error)) from error
