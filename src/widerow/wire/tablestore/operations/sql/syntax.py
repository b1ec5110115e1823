"""From the text of a statement to its parts: sqlglot reads MySQL's dialect, and nothing runs here.

Statements that are Tablestore's own (DROP MAPPING TABLE), and short ones (SHOW, DESCRIBE, ALTER
TABLE), are read word by word. Functions stay what was written, a name with arguments: which ones
there are, and what they do, is told in `functions`.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.mysql import MySQL
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parsers.mysql import MySQLParser

from widerow.errors import InvalidRequest, Unsupported
from widerow.limits import SQL_DEPTH_MAX, SQL_STATEMENT_BYTES_MAX, SQL_TOKENS_MAX
from widerow.model.tablestore.rules import TablestoreRule

__all__ = [
    "AlterMapping",
    "CreateMapping",
    "Delete",
    "Describe",
    "DropMapping",
    "Explain",
    "Insert",
    "Select",
    "ShowColumns",
    "ShowIndex",
    "ShowTables",
    "SqlStatement",
    "Update",
    "first_word",
    "named_databases",
    "named_tables",
    "read_statement",
    "read_type",
]

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of what is refused here anyway


@dataclass(frozen=True, slots=True)
class Select:
    """A query. `headers`: for each item of its list the text as it was written."""

    tree: exp.Select
    headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explain:
    """What the plan of a query is to be told of. `measured`: it is run, and told what it read."""

    select: Select
    measured: bool = False


@dataclass(frozen=True, slots=True)
class ShowTables:
    """The mapping tables of the instance, which `database` names unless it is empty.

    `pattern`: those whose names are like it; None: all.
    """

    database: str = ""
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class ShowIndex:
    """The indexes of a table. `database` as above."""

    table: str
    database: str = ""


@dataclass(frozen=True, slots=True)
class ShowColumns:
    """The columns of a mapping; `full`: with collation, privileges and comment."""

    table: str
    full: bool
    database: str = ""
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Describe:
    """The columns of a mapping."""

    table: str


@dataclass(frozen=True, slots=True)
class CreateMapping:
    """CREATE TABLE, as sqlglot has read it."""

    tree: exp.Create


@dataclass(frozen=True, slots=True)
class AlterMapping:
    """A column to be added, with the text of its type, or to be taken away (type None)."""

    table: str
    column: str
    type: str | None


@dataclass(frozen=True, slots=True)
class DropMapping:
    """Mappings to be removed."""

    tables: tuple[str, ...]
    if_exists: bool


@dataclass(frozen=True, slots=True)
class Insert:
    """INSERT. `variant`: REPLACE, INSERT IGNORE and the like in lower case; empty: plain."""

    tree: exp.Insert
    variant: str


@dataclass(frozen=True, slots=True)
class Update:
    """UPDATE, as sqlglot has read it."""

    tree: exp.Update


@dataclass(frozen=True, slots=True)
class Delete:
    """DELETE, as sqlglot has read it."""

    tree: exp.Delete


SqlStatement = (
    Select
    | Explain
    | ShowTables
    | ShowIndex
    | ShowColumns
    | Describe
    | CreateMapping
    | AlterMapping
    | DropMapping
    | Insert
    | Update
    | Delete
)


def _arrow(name: str) -> Callable[[Any, Any, Any], exp.Expr]:
    return lambda _parser, this, path: exp.Anonymous(this=name, expressions=[this, path])


_KEPT_PARSERS: Final = ("CAST", "CONVERT", "GROUP_CONCAT", "SUBSTRING", "TRIM")


class _Parser(MySQLParser):
    """MySQL's parser that gives a function's name and arguments as they were written."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: MySQLParser.FUNCTION_PARSERS[name] for name in _KEPT_PARSERS
    }
    NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        "CASE": MySQLParser.NO_PAREN_FUNCTION_PARSERS["CASE"]
    }
    COLUMN_OPERATORS: ClassVar[dict[Any, Any]] = {
        **MySQLParser.COLUMN_OPERATORS,
        TokenType.ARROW: _arrow("->"),
        TokenType.DARROW: _arrow("->>"),
    }


class _Sql(MySQL):
    """MySQL's dialect with that parser."""

    Parser = _Parser  # type: ignore[mutable-override]  # as sqlglot's own dialects do


_DIALECT: Final = _Sql()


def read_type(text: str) -> exp.Expr:
    """The type of a column that is added. Raises `InvalidRequest`."""
    found = _parsed(f"CREATE TABLE t (c {text})")
    columns = found.this.expressions if isinstance(found, exp.Create) else []
    if len(columns) != 1 or not isinstance(columns[0], exp.ColumnDef):
        raise _syntax(text)
    if columns[0].args.get("constraints"):
        raise _unsupported("options of a column that is added")
    kind = columns[0].args.get("kind")
    if kind is None:
        raise _syntax(text)
    return kind  # type: ignore[no-any-return]  # sqlglot keeps its parts untyped


_FIRST_WORD: Final = re.compile(r"(?:\s+|/\*.*?\*/|(?:--|#)[^\n]*(?:\n|$))*([A-Za-z]*)", re.DOTALL)


def first_word(text: str) -> str:
    """The word that a statement begins with, in capitals; empty where it has none.

    Linear in what stands before it, and found without reading the statement.
    """
    found = _FIRST_WORD.match(text)
    return found[1].upper() if found else ""


def _tokens(text: str) -> list[Token]:
    """The words of a statement. Raises `InvalidRequest`, also at its bounds."""
    if len(text) > SQL_STATEMENT_BYTES_MAX:
        raise InvalidRequest(TablestoreRule.SQL_SIZE, limit=SQL_STATEMENT_BYTES_MAX)
    try:
        tokens = list(_DIALECT.tokenize(text))
    except SqlglotError as error:
        raise _syntax(text[-40:]) from error
    if len(tokens) > SQL_TOKENS_MAX:
        raise InvalidRequest(TablestoreRule.SQL_TOKENS, limit=SQL_TOKENS_MAX)
    return tokens


def _syntax(near: str) -> InvalidRequest:
    return InvalidRequest(TablestoreRule.SQL_SYNTAX, near=" ".join(near.split())[:80])


class _Words:
    """The words of a statement, read from left to right."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._position = 0

    def take(self, *words: str) -> bool:
        """Whether these words come next; they are read then."""
        end = self._position + len(words)
        found = [token.text.upper() for token in self._tokens[self._position : end]]
        if found != list(words):
            return False
        self._position = end
        return True

    def name(self) -> str:
        """The next word, which is a name. Raises `InvalidRequest` where none is left."""
        if self._position == len(self._tokens):
            raise _syntax(self._text[-40:])
        token = self._tokens[self._position]
        self._position += 1
        return token.text

    def rest(self) -> str:
        """The text that is left, which has been read then."""
        if self._position == len(self._tokens):
            return ""
        start = self._tokens[self._position].start
        self._position = len(self._tokens)
        return self._text[start:]

    def end(self) -> None:
        """Raise `InvalidRequest` where words are left."""
        if self._position < len(self._tokens):
            raise _syntax(self._text[self._tokens[self._position].start :])


def read_statement(text: str) -> SqlStatement:
    """The one statement of a text.

    Raises `InvalidRequest` for a text that is none, or several; `Unsupported` for a statement of a
    kind that the service has not.
    """
    tokens = _tokens(text)
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise _syntax("")
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise InvalidRequest(TablestoreRule.SQL_SEVERAL)
    words = _Words(text, tokens)
    reader = _READERS.get(tokens[0].text.upper())
    if reader is None:
        raise _unsupported(f"{tokens[0].text.upper()[:40]} statements")
    return reader(text[: tokens[-1].end + 1], words, tokens)


def _unsupported(what: str) -> Unsupported:
    return Unsupported(TablestoreRule.SQL_UNSUPPORTED, detail=what)


def _parsed(text: str, tokens: Sequence[Token] | None = None) -> exp.Expr:
    """The tree of a statement; `tokens`: its words, if they were read already."""
    try:
        words = _DIALECT.tokenize(text) if tokens is None else list(tokens)
        found = _DIALECT.parser().parse(words, text)[0]
    except ParseError as error:
        near = error.errors[0] if error.errors else {}
        raise _syntax(f"{near.get('highlight', '')}{near.get('end_context', '')}") from error
    except SqlglotError as error:
        raise _syntax(text) from error
    except RecursionError as error:
        raise InvalidRequest(TablestoreRule.SQL_DEPTH) from error
    if found is None:
        raise _syntax(text)
    _check_depth(found)
    return found


def _check_depth(tree: exp.Expr) -> None:
    """Raise `InvalidRequest` for a tree that is too deep; chains of AND and of OR are flat."""
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > SQL_DEPTH_MAX:
            raise InvalidRequest(TablestoreRule.SQL_DEPTH)
        for below in node.iter_expressions():
            flat = isinstance(node, exp.Connector) and type(below) is type(node)
            waiting.append((below, depth + (not flat)))


def _select(text: str, _words: _Words, tokens: Sequence[Token]) -> Select:
    tree = _parsed(text, tokens)
    if not isinstance(tree, exp.Select):
        raise _unsupported(f"{type(tree).__name__.upper()} of queries")
    if not tree.expressions:
        raise _syntax(text)
    return Select(tree, tuple(_headers(text, tokens)))


_LIST_ENDS: Final = frozenset(("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT"))
_QUALIFIERS: Final = frozenset(("ALL", "DISTINCT", "DISTINCTROW"))
_OPENING: Final = frozenset((TokenType.L_PAREN, TokenType.L_BRACKET))
_CLOSING: Final = frozenset((TokenType.R_PAREN, TokenType.R_BRACKET))


def _headers(text: str, tokens: Sequence[Token]) -> Iterator[str]:
    """The texts of the items of the list behind the first SELECT."""
    start = 1 + (len(tokens) > 1 and tokens[1].text.upper() in _QUALIFIERS)
    depth, first, last = 0, start, start
    for position in range(start, len(tokens)):
        token = tokens[position]
        if not depth and token.token_type is not TokenType.IDENTIFIER:
            if token.token_type is TokenType.COMMA:
                yield text[tokens[first].start : tokens[last].end + 1]
                first = position + 1
                continue
            if token.text.upper() in _LIST_ENDS and token.token_type is not TokenType.STRING:
                break
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        last = position
    if first < len(tokens):
        yield text[tokens[first].start : tokens[last].end + 1]


def _explain(text: str, words: _Words, tokens: Sequence[Token]) -> Explain:
    words.take("EXPLAIN")
    measured = words.take("ANALYZE")
    select = words.rest()
    first = tokens[2 if measured else 1 :]
    if not first or first[0].text.upper() != "SELECT":
        raise _unsupported("EXPLAIN of other statements than SELECT")
    statement = read_statement(select.removesuffix(";"))
    if not isinstance(statement, Select):
        raise _syntax(text)
    return Explain(statement, measured)


def _show(_text: str, words: _Words, _tokens: Sequence[Token]) -> SqlStatement:
    words.take("SHOW")
    full = words.take("FULL")
    if words.take("TABLES") and not full:
        found: ShowTables | ShowColumns | ShowIndex = ShowTables(
            _behind_from(words), _behind_like(words)
        )
    elif any(words.take(each) for each in ("COLUMNS", "FIELDS")):
        table = _behind_from(words)
        found = ShowColumns(table, full, _behind_from(words), _behind_like(words))
    elif any(words.take(each) for each in ("INDEX", "INDEXES", "KEYS")) and not full:
        table = _behind_from(words)
        found = ShowIndex(table, _behind_from(words))
    else:
        raise _unsupported("this SHOW statement")
    words.end()
    if not isinstance(found, ShowTables) and not found.table:
        raise _unsupported("SHOW without a table")
    return found


def _behind_from(words: _Words) -> str:
    """The name behind FROM or IN; empty where there is none."""
    return words.name() if words.take("FROM") or words.take("IN") else ""


def _behind_like(words: _Words) -> str | None:
    return words.name() if words.take("LIKE") else None


def _describe(_text: str, words: _Words, _tokens: Sequence[Token]) -> Describe:
    words.name()
    table = words.name()
    words.end()
    return Describe(table)


def _create(text: str, _words: _Words, tokens: Sequence[Token]) -> CreateMapping:
    if len(tokens) < 2 or tokens[1].text.upper() != "TABLE":
        raise _unsupported("CREATE of anything but TABLE")
    tree = _parsed(text)
    if not isinstance(tree, exp.Create):
        raise _syntax(text)
    return CreateMapping(tree)


def _alter(text: str, words: _Words, _tokens: Sequence[Token]) -> AlterMapping:
    if not words.take("ALTER", "TABLE"):
        raise _unsupported("ALTER of anything but TABLE")
    table = words.name()
    if words.take("ADD"):
        words.take("COLUMN")
        column = words.name()
        kind = words.rest()
        if not kind:
            raise _syntax(text[-40:])
        return AlterMapping(table, column, kind)
    if words.take("DROP"):
        words.take("COLUMN")
        column = words.name()
        words.end()
        return AlterMapping(table, column, None)
    raise _unsupported("ALTER TABLE other than ADD and DROP of a column")


def _drop(_text: str, words: _Words, _tokens: Sequence[Token]) -> DropMapping:
    if not words.take("DROP", "MAPPING", "TABLE"):
        raise _unsupported("DROP of anything but MAPPING TABLE")
    if_exists = words.take("IF", "EXISTS")
    tables = [words.name()]
    while words.take(","):
        tables.append(words.name())
    words.end()
    return DropMapping(tuple(tables), if_exists)


def _insert(text: str, _words: _Words, tokens: Sequence[Token]) -> Insert:
    if any(token.token_type is TokenType.SET for token in tokens[:4]):
        raise _unsupported("INSERT with SET")
    replaces = tokens[0].text.upper() == "REPLACE"
    tree = _parsed("INSERT" + text[tokens[0].end + 1 :] if replaces else text)
    if not isinstance(tree, exp.Insert):
        raise _syntax(text)
    if tree.args.get("conflict") is not None:
        return Insert(tree, "insert ... on duplicate key update")
    if tree.args.get("ignore"):
        return Insert(tree, "insert ignore")
    return Insert(tree, "replace" if replaces else "")


def _update(text: str, _words: _Words, _tokens: Sequence[Token]) -> Update:
    tree = _parsed(text)
    if not isinstance(tree, exp.Update):
        raise _syntax(text)
    return Update(tree)


def _delete(text: str, _words: _Words, _tokens: Sequence[Token]) -> Delete:
    tree = _parsed(text)
    if not isinstance(tree, exp.Delete):
        raise _syntax(text)
    return Delete(tree)


_Reader = Callable[[str, _Words, Sequence[Token]], SqlStatement]
_READERS: Final[dict[str, _Reader]] = {
    "SELECT": _select,
    "EXPLAIN": _explain,
    "SHOW": _show,
    "DESC": _describe,
    "DESCRIBE": _describe,
    "CREATE": _create,
    "ALTER": _alter,
    "DROP": _drop,
    "INSERT": _insert,
    "REPLACE": _insert,
    "UPDATE": _update,
    "DELETE": _delete,
}


def named_tables(statement: SqlStatement) -> frozenset[str]:
    """The tables that a statement names, as they are written."""
    match statement:
        case ShowTables():
            return frozenset()
        case ShowIndex(table) | ShowColumns(table) | Describe(table) | AlterMapping(table):
            return frozenset((table,))
        case DropMapping(tables):
            return frozenset(tables)
        case Explain(select, _):
            return named_tables(select)
        case _:
            return frozenset([each.name for each in statement.tree.find_all(exp.Table)])


def named_databases(statement: SqlStatement) -> frozenset[str]:
    """The databases that a statement names, as they are written."""
    match statement:
        case ShowTables() | ShowIndex() | ShowColumns():
            return frozenset((statement.database,)) - {""}
        case Explain(select, _):
            return named_databases(select)
        case Describe() | AlterMapping() | DropMapping():
            return frozenset()
        case _:
            return frozenset([each.db for each in statement.tree.find_all(exp.Table)]) - {""}
