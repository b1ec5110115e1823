"""Statements cut into words, before any grammar looks at them (ddl, introduction).

Bounds are checked here: what passes is short enough, and nested little enough, for every later step
to be cheap. Words keep the case that they were written in; their type is the word in capitals where
the grammar knows it.
"""

import re
from typing import Final, NamedTuple

from widerow.engine.typed.ddl.faults import ModelError, failed_at, fault
from widerow.engine.typed.ddl.statements import Position
from widerow.errors import InvalidRequest
from widerow.limits import DDL_CHARACTERS_MAX, DDL_DEPTH_MAX
from widerow.model.typed.rules import TypedRule

__all__ = ["Word", "cut", "quoted", "unquoted"]


class Word(NamedTuple):
    """A word: its type in the grammar, its text as written, where it begins."""

    type: str
    text: str
    position: Position


_WORDS: Final = frozenset(
    (
        *("ADD", "ALTER", "ALWAYS", "ARRAY", "AS", "BINARY", "BOOLEAN", "BY", "CACHE"),
        *("CASCADE", "COMMENT", "CREATE", "CYCLE", "DEFAULT", "DESC", "DESCRIBE", "DOUBLE"),
        *("DROP", "ENUM", "EXISTS", "FALSE", "FLOAT", "GENERATED", "IDENTITY", "IF", "INCREMENT"),
        *("INDEX", "INDEXES", "INTEGER", "JSON", "KEY", "KEYS", "LONG", "MAP", "MAXVALUE"),
        *("MINVALUE", "MODIFY", "NAMESPACE", "NAMESPACES", "NO", "NOT", "NULL", "NULLS"),
        *("NUMBER", "ON", "PER", "PRIMARY", "RECORD", "ROW", "SHARD", "SHOW", "START"),
        *("STRING", "TABLE", "TABLES", "TIMESTAMP", "TRUE", "TTL", "UNIQUE", "USING", "UUID"),
        *("VALUES", "WITH"),
    )
)
_PUNCTUATION: Final = {
    "(": "LPAR",
    ")": "RPAR",
    ",": "COMMA",
    ".": "DOT",
    ":": "COLON",
    "[": "LSQB",
    "]": "RSQB",
    "-": "MINUS",
    ";": "SEMICOLON",
}
# Every alternative begins with another character and no repetition lies in another one, so the time
# is linear in the text.
_TOKEN: Final = re.compile(
    r"""
    (?P<blank>   [ \t\r\n]+ | //[^\n]* | \#[^\n]* )
    | (?P<comment> /\* )
    | (?P<name>    [A-Za-z_][A-Za-z0-9_]* )
    | (?P<number>  (?: [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
    | (?P<text>    "(?: [^"\\] | \\. )*" | '(?: [^'\\] | \\. )*' )
    | (?P<mark>    [(),.:;\[\]-] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    **{character: character for character in "\\/\"'"},
}


def cut(statement: str) -> list[Word]:
    """The words of a statement. Cost: linear in it.

    Raises: `InvalidRequest` for one too long or nested too deep, for characters that begin no word,
    and for identifiers that begin with no letter.
    """
    if len(statement) > DDL_CHARACTERS_MAX:
        raise InvalidRequest(TypedRule.DDL_LENGTH, limit=DDL_CHARACTERS_MAX, size=len(statement))
    words: list[Word] = []
    line, line_start, at, depth = 1, 0, 0, 0
    while at < len(statement):
        position = Position(line, at - line_start)
        found = _TOKEN.match(statement, at)
        if found is None:
            raise fault(position, f"token recognition error at: '{statement[at]}'")
        kind, text = str(found.lastgroup), found.group()
        if kind == "comment":
            text = _comment(statement, at, position)
        elif kind == "mark":
            depth += {"(": 1, ")": -1}.get(text, 0)
            if depth > DDL_DEPTH_MAX:
                error = InvalidRequest(TypedRule.DDL_DEPTH, limit=DDL_DEPTH_MAX)
                raise failed_at(position, error)
        elif kind == "number":
            text += _suffix(statement, found.end(), text, position)
        if kind not in ("blank", "comment"):
            words.append(_word(kind, text, position))
        at += len(text)
        breaks = text.count("\n")
        if breaks:
            line += breaks
            line_start = at - len(text) + text.rindex("\n") + 1
    return words


def _comment(statement: str, at: int, position: Position) -> str:
    end = statement.find("*/", at + 2)
    if end < 0:
        raise fault(position, "a comment is not closed: */ is missing")
    return statement[at : end + 2]


def _suffix(statement: str, at: int, digits: str, position: Position) -> str:
    """`n` behind a number; anything else there makes an identifier that may not begin so."""
    end = at
    while end < len(statement) and (statement[end].isalnum() or statement[end] == "_"):
        end += 1
    suffix = statement[at:end]
    if suffix not in ("", "n"):
        raise _bad_identifier((digits + suffix)[:100], position)
    return suffix


def _bad_identifier(name: str, position: Position) -> ModelError:
    return failed_at(position, InvalidRequest(TypedRule.DDL_IDENTIFIER, name=name))


def _word(kind: str, text: str, position: Position) -> Word:
    if kind == "mark":
        return Word(_PUNCTUATION[text], text, position)
    if kind == "text":
        return Word("TEXT", text, position)
    if kind == "number":
        return Word("INT" if text.isdigit() else "DECIMAL", text, position)
    if text[0] == "_":
        raise _bad_identifier(text[:100], position)
    upper = text.upper()
    return Word(upper if upper in _WORDS else "NAME", text, position)


def unquoted(text: str, position: Position) -> str:
    """What a quoted text says: without its quotes, escapes resolved."""

    def resolve(found: re.Match[str]) -> str:
        if found[1] is not None:
            return chr(int(found[1], 16))
        character = _ESCAPED.get(found[2])
        if character is None:
            raise fault(position, f"unknown escape in a text: \\{found[2]}")
        return character

    resolved = _ESCAPE.sub(resolve, text[1:-1]) if "\\" in text else text[1:-1]
    try:  # two escapes may make one character above U+FFFF; a single half is none
        return resolved.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise fault(position, "half of a surrogate pair in a text") from error


def quoted(text: str) -> str:
    """The mirror of `unquoted`, in double quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(_CONTROLS.get(character, character) for character in escaped) + '"'


_CONTROLS: Final = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
