"""Statements of SQL, read by recursive descent (ddl §2)."""

import re
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.lexis import TextPlace, Word
from widerow.wire.nosql.sql.parse_expressions import parse_expression, parse_path, parse_sum
from widerow.wire.nosql.sql.parse_types import parse_type
from widerow.wire.nosql.sql.statement_rules import StatementRule
from widerow.wire.nosql.sql.words import WordCursor

__all__ = ["parse_statement", "writes_rows"]

_Declared = tuple[tuple[str, syntax.TypeNode, TextPlace], ...]
_CLAUSES: Final = ("WHERE", "GROUP", "ORDER", "LIMIT", "OFFSET", "LEFT", "NESTED")
_DEFINITIONS: Final = frozenset(
    (
        *("CREATE", "ALTER", "DROP", "SHOW", "DESCRIBE", "DESC", "GRANT", "REVOKE"),
        *("IMPORT", "EXPORT"),
    )
)


def parse_statement(text: str) -> syntax.NosqlStatement:
    """The statement of a text. Raises `InvalidRequest`; cost: linear in the text."""
    words, declared = _begun(text)
    word = words.next
    if word.kind == "name" and word.text.upper() in _DEFINITIONS:
        raise InvalidRequest(StatementRule.STATEMENT_OF_TABLES)
    read = _STATEMENTS.get(word.text.upper()) if word.kind == "name" else None
    if read is None:
        raise InvalidRequest(StatementRule.STATEMENT, **_beginning(words))
    statement: syntax.NosqlStatement = read(words, declared)
    if words.next.kind != "end":
        raise words.unexpected("<EOF>")
    return statement


def _beginning(words: WordCursor) -> dict[str, str | int]:
    """What a text begins with instead of a statement; one word too many where one follows it."""
    word, following = words.next, words.ahead(1)
    begins = following.kind == "name" and following.text.upper() in _STATEMENTS
    return {
        "fault": "extraneous" if begins and word.kind != "end" else "mismatched",
        "word": word.text[:100],
        "line": word.place.line,
        "column": word.place.column,
    }


def writes_rows(text: str) -> bool:
    """Whether a text begins as a statement that writes does; the rest is not read.

    Raises `InvalidRequest`; cost: linear in the text.
    """
    word = _begun(text)[0].next
    return word.kind == "name" and word.text.upper() in _WRITING


_WRITING: Final = frozenset(("INSERT", "UPSERT", "UPDATE", "DELETE"))


def _begun(text: str) -> tuple[WordCursor, _Declared]:
    """The words of a statement behind its declarations, and these."""
    words = WordCursor(text)
    declared = _declarations(words)
    words.parameters = len(declared)  # `?` are counted behind declared variables
    return words, declared


def _declarations(words: WordCursor) -> _Declared:
    found: list[tuple[str, syntax.TypeNode, TextPlace]] = []
    if not words.takes("DECLARE"):
        return ()
    while words.next.kind == "variable":
        word = words.take()
        kind = parse_type(words)
        words.need_sign(";")
        if any(name == word.text for name, _, _ in found):
            raise InvalidRequest(StatementRule.DECLARED_TWICE, name=word.text, **_at(word.place))
        found.append((word.text, kind, word.place))
    if not found:
        raise words.unexpected("a variable")
    return tuple(found)


def _at(place: TextPlace) -> dict[str, int]:
    return {"line": place.line, "column": place.column}


# --- SELECT --------------------------------------------------------------------------------------


def _select(words: WordCursor, declared: _Declared) -> syntax.SelectStatement:
    words.take()
    hints = _hints(words)
    distinct = words.takes("DISTINCT")
    outputs = None if words.takes_sign("*") else _outputs(words)
    words.need("FROM")
    tables, items, nested = _from(words)
    where = parse_expression(words) if words.takes("WHERE") else None
    groups: list[syntax.SqlExpression] = []
    if words.takes("GROUP", "BY"):
        groups = _separated(words)
    order = _order(words) if words.takes("ORDER", "BY") else ()
    limit = parse_sum(words) if words.takes("LIMIT") else None
    offset = parse_sum(words) if words.takes("OFFSET") else None
    return syntax.SelectStatement(
        declared=declared,
        parameters=words.parameters,
        tables=tables,
        items=items,
        outputs=outputs,
        distinct=distinct,
        where=where,
        groups=tuple(groups),
        order=order,
        limit=limit,
        offset=offset,
        hints=hints,
        nested=nested,
    )


def _separated(words: WordCursor) -> list[syntax.SqlExpression]:
    found = [parse_expression(words)]
    while words.takes_sign(","):
        found.append(parse_expression(words))
    return found


_HINT: Final = re.compile(
    r"\s*(PREFER_INDEXES|FORCE_INDEX|PREFER_PRIMARY_INDEX|FORCE_PRIMARY_INDEX)"
    r"\s*\(\s*([\w.:]+)((?:\s+\w+)*)\s*\)\s*(?:\"[^\"]*\"|'[^']*')?",
    re.ASCII | re.IGNORECASE,
)


def _hints(words: WordCursor) -> tuple[tuple[TextPlace, str, str, tuple[str, ...]], ...]:
    if words.next.kind != "hint":
        return ()
    word = words.take()
    text = word.text[3:-2]
    at, found = 0, []
    while text[at:].strip():
        hint = _HINT.match(text, at)
        if hint is None or (hint[1].upper() == "FORCE_INDEX" and len(hint[3].split()) != 1):
            raise words.unexpected("a hint")
        found.append((word.place, hint[1].upper(), hint[2], tuple(hint[3].split())))
        at = hint.end()
    return tuple(found)


def _outputs(words: WordCursor) -> tuple[syntax.Output, ...]:
    found: list[syntax.Output] = []
    while True:
        expression = parse_expression(words)
        name = words.name() if words.takes("AS") else None
        found.append(syntax.Output(expression, name))
        if not words.takes_sign(","):
            return tuple(found)


def _order(words: WordCursor) -> tuple[syntax.Ordering, ...]:
    found: list[syntax.Ordering] = []
    while True:
        expression = parse_expression(words)
        descending = words.takes("DESC")
        if not descending:
            words.takes("ASC")
        nulls = None
        if words.takes("NULLS"):
            nulls = words.takes("FIRST")
            if not nulls:
                words.need("LAST")
        found.append(syntax.Ordering(expression, descending, nulls))
        if not words.takes_sign(","):
            return tuple(found)


_Tables = tuple[syntax.FromTable, ...]
_Items = tuple[syntax.FromItems, ...]


def _from(words: WordCursor) -> tuple[_Tables, _Items, bool]:
    if words.next.is_word("NESTED") and words.ahead(1).is_word("TABLES"):
        tables, nested = _nested(words), True
    else:
        tables, nested = [_table(words)], False
    while words.takes("LEFT", "OUTER", "JOIN"):
        table = _table(words, "left")
        words.need("ON")
        tables.append(_with_condition(table, parse_expression(words)))
    items: list[syntax.FromItems] = []
    while words.takes_sign(","):
        if words.next.is_word("UNNEST") and words.ahead(1).is_sign("("):
            words.take()
            words.take()
            while True:
                items.append(_item(words))
                if not words.takes_sign(","):
                    words.need_sign(")")
                    break
        elif not items and _is_table(words, tables):
            tables.append(_table(words, ","))
        else:
            items.append(_item(words))
    return tuple(tables), tuple(items), nested


def _is_table(words: WordCursor, tables: list[syntax.FromTable]) -> bool:
    """Whether a name is that of a table, and not the alias of one that a path begins with."""
    word = words.next
    if word.kind != "name" or words.ahead(1).is_sign("("):
        return False
    if not any(table.alias == word.text for table in tables):
        return True
    at = 1
    while words.ahead(at).is_sign(".") and words.ahead(at + 1).kind == "name":
        at += 2
    at += words.ahead(at).is_word("AS")
    return not words.ahead(at).is_sign(".", "[", "(") and words.ahead(at).kind != "variable"


def _item(words: WordCursor) -> syntax.FromItems:
    expression = parse_expression(words)
    words.takes("AS")
    word = words.next
    if word.kind != "variable":
        raise words.unexpected("VARNAME")
    words.take()
    return syntax.FromItems(expression, word.text)


def _nested(words: WordCursor) -> list[syntax.FromTable]:
    words.take()
    words.take()
    words.need_sign("(")
    tables = [_table(words)]
    for kind in ("ANCESTORS", "DESCENDANTS"):
        if words.takes(kind):
            words.need_sign("(")
            while True:
                table = _table(words, kind[:-1].lower())
                if words.takes("ON"):
                    table = _with_condition(table, parse_expression(words))
                tables.append(table)
                if not words.takes_sign(","):
                    words.need_sign(")")
                    break
    words.need_sign(")")
    return tables


def _with_condition(table: syntax.FromTable, on: syntax.SqlExpression) -> syntax.FromTable:
    return syntax.FromTable(table.place, table.name, table.alias, table.join, on)


def _table(words: WordCursor, join: str = "") -> syntax.FromTable:
    place = words.place
    name = words.name()
    if words.takes_sign(":"):
        name += f":{words.name()}"
    while words.next.is_sign(".") and words.ahead(1).kind == "name":
        words.take()
        name += f".{words.name()}"
    return syntax.FromTable(place, name, _alias(words, name.rpartition(":")[2]), join)


def _alias(words: WordCursor, name: str) -> str:
    if words.next.is_word("AS") and words.ahead(1).kind != "end":
        words.take()
        word = words.take()
        if word.kind not in ("name", "variable"):
            raise words.unexpected("an alias")
        return word.text
    word = words.next
    if word.kind == "variable":
        return words.take().text
    if word.kind == "name" and not _begins_clause(words, word):
        return words.take().text
    return name


_BEFORE_CLAUSE: Final = frozenset(
    ("SET", "ADD", "PUT", "REMOVE", "JSON", "VALUES", "RETURNING", "ON")
)


def _begins_clause(words: WordCursor, word: Word) -> bool:
    keyword = word.text.upper()
    if keyword in _CLAUSES:
        return words.ahead(1).kind != "end"
    return keyword in _BEFORE_CLAUSE or keyword in ("ANCESTORS", "DESCENDANTS")


# --- INSERT, UPDATE, DELETE ----------------------------------------------------------------------


def _insert(words: WordCursor, declared: _Declared) -> syntax.InsertStatement:
    upsert = words.take().text.upper() == "UPSERT"
    words.need("INTO")
    table = _table(words)
    columns: list[tuple[str, TextPlace]] = []
    if words.takes_sign("("):
        while True:
            place = words.place
            columns.append((words.name(), place))
            if not words.takes_sign(","):
                words.need_sign(")")
                break
    words.need("VALUES")
    words.need_sign("(")
    values: list[syntax.SqlExpression] = []
    while True:
        place = words.place
        if words.takes("DEFAULT"):
            values.append(syntax.Default(place))
        else:
            values.append(parse_expression(words))
        if not words.takes_sign(","):
            words.need_sign(")")
            break
    ttl = _ttl(words) if words.takes("SET", "TTL") else None
    return syntax.InsertStatement(
        declared=declared,
        parameters=words.parameters,
        table=table,
        columns=tuple(columns),
        values=tuple(values),
        upsert=upsert,
        ttl=ttl,
        returning=_returning(words),
    )


def _ttl(words: WordCursor) -> syntax.TtlClause:
    place = words.place
    if words.takes("USING", "TABLE", "DEFAULT"):
        return syntax.TtlClause(place, None)
    amount = parse_sum(words)
    if words.takes("HOURS") or words.takes("HOUR"):
        return syntax.TtlClause(place, amount)
    if not words.takes("DAY"):
        words.need("DAYS")
    return syntax.TtlClause(place, amount, days=True)


def _returning(words: WordCursor) -> tuple[syntax.Output, ...] | None:
    if not words.takes("RETURNING"):
        return None
    return () if words.takes_sign("*") else _outputs(words)


def _update(words: WordCursor, declared: _Declared) -> syntax.UpdateStatement:
    words.take()
    table = _table(words)
    clauses: list[Any] = []
    ttl: syntax.TtlClause | None = None
    kind = ""
    while True:
        if words.takes("SET", "TTL"):
            ttl = _ttl(words)
        else:
            kind = _clause_kind(words) or kind
            clauses.append(_CLAUSE[kind](words) if kind else _no_clause(words))
        if not words.takes_sign(","):
            break
    words.need("WHERE")
    where = parse_expression(words)
    return syntax.UpdateStatement(
        declared=declared,
        parameters=words.parameters,
        table=table,
        clauses=tuple(clauses),
        ttl=ttl,
        where=where,
        returning=_returning(words),
    )


def _no_clause(words: WordCursor) -> Any:  # noqa: ANN401  # never returns
    raise words.unexpected("{SET, ADD, PUT, REMOVE, JSON}")


def _clause_kind(words: WordCursor) -> str:
    if words.next.is_word("JSON") and words.ahead(1).is_word("MERGE"):
        words.take()
        words.take()
        return "MERGE"
    for keyword in ("SET", "ADD", "PUT", "REMOVE"):
        if words.next.is_word(keyword) and not words.ahead(1).is_sign(".", "=", "["):
            words.take()
            return keyword
    return ""


def _set(words: WordCursor) -> syntax.SetClause:
    target = parse_path(words)
    words.need_sign("=")
    return syntax.SetClause(target, parse_expression(words))


def _add(words: WordCursor) -> syntax.AddClause:
    words.takes("INTO")
    target = parse_path(words)
    words.takes_sign("@")
    value = parse_expression(words)
    if not words.next.is_sign(",") and not words.next.is_word("WHERE"):
        return syntax.AddClause(target, value, parse_expression(words))
    if isinstance(value, syntax.FilterNode) and value.condition is None:
        # `path [7] []`: the vendor reads a position, and an empty array to add
        return syntax.AddClause(target, value.source, syntax.ArrayOf(value.place, ()))
    return syntax.AddClause(target, None, value)


def _put(words: WordCursor) -> syntax.PutClause:
    words.takes("INTO")
    target = parse_path(words)
    words.takes("FIELDS")
    return syntax.PutClause(target, parse_expression(words))


def _remove(words: WordCursor) -> syntax.RemoveClause:
    return syntax.RemoveClause(parse_path(words))


def _merge(words: WordCursor) -> syntax.MergeClause:
    target = parse_path(words)
    words.need("WITH", "PATCH")
    return syntax.MergeClause(target, parse_expression(words))


def _delete(words: WordCursor, declared: _Declared) -> syntax.DeleteStatement:
    words.take()
    words.need("FROM")
    table = _table(words)
    where = parse_expression(words) if words.takes("WHERE") else None
    return syntax.DeleteStatement(
        declared=declared,
        parameters=words.parameters,
        table=table,
        where=where,
        returning=_returning(words),
    )


_CLAUSE: Final[dict[str, Any]] = {
    "SET": _set,
    "ADD": _add,
    "PUT": _put,
    "REMOVE": _remove,
    "MERGE": _merge,
}
_STATEMENTS: Final[dict[str, Any]] = {
    "SELECT": _select,
    "INSERT": _insert,
    "UPSERT": _insert,
    "UPDATE": _update,
    "DELETE": _delete,
}
