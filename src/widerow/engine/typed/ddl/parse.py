"""Statements from their text: words, then an LALR(1) grammar (grammar.lark), then values.

The parser keeps a stack of its own and makes values as it goes, so neither depth nor length of a
statement costs Python's stack. What the grammar refuses is told as the vendor's tools tell it,
with line and column (ddl §1).
"""

from collections.abc import Sequence
from functools import cache
from typing import Final, cast

from lark import Lark, Token, UnexpectedToken

from widerow.engine.typed.ddl.build import StatementBuilder
from widerow.engine.typed.ddl.faults import ModelError, failed_at, fault
from widerow.engine.typed.ddl.lexis import cut, word_position
from widerow.engine.typed.ddl.statements import Position, Statement
from widerow.errors import InvalidRequest, Unsupported
from widerow.model.typed.rules import TypedRule

__all__ = ["parse"]


def parse(statement: str) -> Statement:
    """What a statement says. Cost: linear in it.

    Raises: `InvalidRequest` with the vendor's text for what is no statement, `Unsupported` for one
    that widerow does not offer.
    """
    _refuse_statement(statement)
    words = cut(statement)
    _refuse_clauses(words)
    parser = _parser().parse_interactive("")
    made: object = None
    for index, word in enumerate([*words, _END]):
        try:
            made = parser.feed_token(word)
        except UnexpectedToken:
            raise _syntax(words, index, parser.accepts()) from None  # type: ignore[no-untyped-call]  # lark gives it no types
    return cast("Statement", made)


_END: Final = Token("$END", "")


@cache
def _parser() -> Lark:
    builder = StatementBuilder()
    return Lark.open_from_package(
        __package__, "grammar.lark", parser="lalr", lexer="basic", transformer=builder
    )


# --- what widerow does not offer -----------------------------------------------------------------

# By first words; the longest match counts.
_STATEMENTS: Final = (
    *(("SELECT",), ("INSERT",), ("UPSERT",), ("UPDATE",), ("DELETE",), ("DECLARE",)),
    *(("CREATE", "USER"), ("ALTER", "USER"), ("DROP", "USER"), ("CREATE", "ROLE")),
    *(("DROP", "ROLE"), ("GRANT",), ("REVOKE",), ("CREATE", "REGION"), ("DROP", "REGION")),
    *(("SHOW", "USER"), ("SHOW", "USERS"), ("SHOW", "ROLE"), ("SHOW", "ROLES")),
    *(("SHOW", "REGIONS"), ("SET", "LOCAL"), ("CREATE", "FULLTEXT")),
)
# Anywhere outside parentheses.
_CLAUSES: Final = (*(("IN", "REGIONS"), ("ADD", "REGIONS"), ("DROP", "REGIONS")),)


def _refuse_statement(statement: str) -> None:
    """Refuse queries before the text is cut, because they have words that definitions do not."""
    types = statement[:_LEADING_CHARACTERS].upper().split()[:4]
    leading = tuple(types[:1] + types[3:] if types[1:3] == ["AS", "JSON"] else types)
    for known in _STATEMENTS:
        if leading[: len(known)] == known:
            raise _unsupported(" ".join(known), Position())


def _refuse_clauses(words: Sequence[Token]) -> None:
    types = [word.upper() for word in words]
    depth = 0
    for index, word in enumerate(words):
        depth += {"LPAR": 1, "RPAR": -1}.get(word.type, 0)
        if types[index : index + 2] == ["AS", "MR_COUNTER"]:
            raise _unsupported("MR_COUNTER", word_position(word))
        if depth == 0 and index > 0 and types[index] in _CLAUSE_WORDS:
            for clause in _CLAUSES:
                if tuple(types[index : index + len(clause)]) == clause:
                    raise _unsupported(" ".join(clause), word_position(word))


_LEADING_CHARACTERS: Final = 1000  # of a statement that are looked at for its kind
_CLAUSE_WORDS: Final = frozenset(clause[0] for clause in _CLAUSES)


def _unsupported(what: str, position: Position) -> ModelError:
    return failed_at(position, Unsupported(TypedRule.DDL_UNSUPPORTED, what=what))


# --- what is no statement ------------------------------------------------------------------------

_TYPES: Final = frozenset(
    (
        *("INTEGER", "LONG", "FLOAT", "DOUBLE", "NUMBER", "STRING", "BOOLEAN", "JSON", "BINARY"),
        *("TIMESTAMP", "ENUM", "ARRAY", "MAP", "RECORD"),
    )
)
_SHOWN: Final = {
    "LPAR": "'('",
    "RPAR": "')'",
    "COMMA": "','",
    "DOT": "'.'",
    "COLON": "':'",
    "LSQB": "'['",
    "RSQB": "']'",
    "MINUS": "'-'",
    "SEMICOLON": "';'",
    "NAME": "ID",
    "DECIMAL": "FLOAT",
    "TEXT": "STRING",
    "$END": "<EOF>",
}
_IDENTIFIER_HINT: Final = (
    "Table, index and unquoted field names may contain only alphanumeric values "
    'plus the character "_". '
)
_RULES: Final = {
    "CREATE TABLE": "create_table_statement",
    "ALTER TABLE": "alter_table_statement",
    "DROP TABLE": "drop_table_statement",
    "CREATE INDEX": "create_index_statement",
    "DROP INDEX": "drop_index_statement",
    "CREATE NAMESPACE": "create_namespace_statement",
    "DROP NAMESPACE": "drop_namespace_statement",
    "SHOW": "show_statement",
    "DESCRIBE": "describe_statement",
    "DESC": "describe_statement",
}


def _syntax(words: Sequence[Token], index: int, expected: set[str]) -> InvalidRequest:
    """The error, in the vendor's words, for the word at `index`, which fits no statement."""
    ended = index == len(words)
    position = _end(words) if ended else word_position(words[index])
    if [word.type for word in words[index - 3 : index + 1]] == ["PRIMARY", "KEY", "LPAR", "LPAR"]:
        return fault(position, "Missing closing ')'")
    shown = "<EOF>" if ended else words[index][:100]
    if not ended and words[index].type == "SEMICOLON" and "$END" in expected:
        place = f"at line {position.line}:{position.column}"
        text = f"extraneous input ';' expecting <EOF>, {place}\nrule stack: [parse]"
        return fault(position, f"{_IDENTIFIER_HINT}{text}")
    if expected >= _TYPES and "NAME" not in expected and not ended:
        text = f"no viable alternative at input '{words[index - 1][:100]}{shown}'"
    else:
        text = f"mismatched input '{shown}' expecting {_listed(expected)}"
    hint = "" if ended else _hint(words, index, expected)
    place = f", at line {position.line}:{position.column}"
    return fault(position, f"{hint}{text}{place}\nrule stack: [{', '.join(_stack(words))}]")


def _end(words: Sequence[Token]) -> Position:
    if not words:
        return Position()
    line, column = word_position(words[-1])
    return Position(line, column + len(words[-1]))


def _listed(expected: set[str]) -> str:
    if "NAME" in expected:  # every word may be an identifier: naming them all says nothing
        expected = {name for name in expected if name in _SHOWN}
    names = sorted(_SHOWN.get(name, name) for name in expected)
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def _hint(words: Sequence[Token], index: int, expected: set[str]) -> str:
    """The vendor's hint where the word looks like a name with a character that no name has."""
    word = words[index]
    if "NAME" in expected and word.type not in ("LPAR", "RPAR", "COMMA"):
        return _IDENTIFIER_HINT
    touches = index > 0 and _end(words[:index]) == word_position(word)
    return _IDENTIFIER_HINT if touches and word.type in ("MINUS", "DECIMAL") else ""


def _stack(words: Sequence[Token]) -> list[str]:
    leading = [word.type for word in words[:2]]
    rule = _RULES.get(" ".join(leading)) or _RULES.get(leading[0] if leading else "")
    return ["parse", "statement"] if rule is None else ["parse", "statement", rule]
