"""DESCRIBE TABLE and DESCRIBE INDEX, as tables of text or as JSON (ddl §1, model §12)."""

from collections.abc import Sequence
from typing import Any, Final

from widerow.engine.typed.ddl.faults import failed_at
from widerow.engine.typed.ddl.result import Context, StatementResult
from widerow.engine.typed.ddl.statements import (
    DescribeIndexStatement,
    DescribeTableStatement,
    Position,
)
from widerow.errors import InvalidRequest, NotFound
from widerow.model.typed.json_rows import dumps, value_to_json
from widerow.model.typed.names import same_name
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.schema_json import document_text, field_document, schema_json
from widerow.model.typed.table import Index, TypedTable
from widerow.model.typed.types import Field, FieldType, Kind

__all__ = ["run_describe_index", "run_describe_table"]


def run_describe_table(context: Context, statement: DescribeTableStatement) -> StatementResult:
    """A table, or the fields of it that are named. Raises `NotFound`, `InvalidRequest`."""
    table = context.form(statement.name).table
    if statement.fields:
        fields = [_field(table, path) for path in statement.fields]
        if statement.as_json:
            document = {"fields": [field_document(field) for field in fields]}
            return StatementResult(document_text(document))
        return StatementResult(_fields_text(table, fields))
    if statement.as_json:
        return StatementResult(schema_json(table))
    children = [
        other.table.qualified
        for other in context.tables.in_namespace(table.namespace)
        if other.table.path[:-1] == table.path
    ]
    information = _information(table, children)
    return StatementResult(f"{information}\n\n{_fields_text(table, table.shown_fields)}")


def run_describe_index(context: Context, statement: DescribeIndexStatement) -> StatementResult:
    """An index of a table. Raises `NotFound`."""
    table = context.form(statement.table).table
    index = table.index(statement.name)
    if index is None:
        told = NotFound(TypedRule.INDEX_MISSING, index=statement.name[:100], table=table.name)
        raise failed_at(Position(), told)
    text = _index_json(index) if statement.as_json else _index_text(table, index)
    return StatementResult(text)


def _field(table: TypedTable, path: str) -> Field:
    """The field that a path of names leads to; of records inside arrays and maps too."""
    fields: Sequence[Field] = table.fields
    found: Field | None = None
    for step in path.replace("[]", "").replace(".values()", "").split("."):
        found = next((field for field in fields if same_name(field.name, step)), None)
        if found is None:
            told = InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=path[:200])
            raise failed_at(Position(), told)
        kind = found.type
        while kind.element is not None:
            kind = kind.element
        fields = kind.fields
    assert found is not None
    return found


def _index_json(index: Index) -> str:
    types = [field.type.value if field.type else None for field in index.fields]
    document: dict[str, Any] = {"name": index.name, "type": "secondary"}
    if index.comment is not None:
        document["comment"] = index.comment
    document["fields"] = [field.path for field in index.fields]
    if any(types):
        document["types"] = types
    document["withNoNulls"] = not index.with_nulls
    document["withUniqueKeysPerRow"] = index.unique_keys_per_row
    return document_text(document)


# --- tables of text ------------------------------------------------------------------------------

_INFORMATION: Final = (
    *("name", "ttl", "beforeImageTTL", "owner", "jsonCollection", "sysTable", "parent"),
    *("children", "regions", "indexes", "description"),
)
_FIELDS: Final = (
    *("id", "name", "type", "nullable", "default", "shardKey", "primaryKey", "identity"),
)
_INDEX: Final = ("table", "name", "type", "multiKey", "fields", "declaredType", "description")


def _information(table: TypedTable, children: Sequence[str]) -> str:
    ttl = "" if table.ttl is None else table.ttl.text()
    indexes = ", ".join(index.name for index in table.indexes)
    comment = table.comment or ""
    documents = "Y" if table.collection else "N"
    image = "" if table.before_image is None else table.before_image.text()
    row = [table.name, ttl, image, "", documents, "N", table.parent or "", ", ".join(children)]
    row += ["", indexes, comment]
    head = list(_INFORMATION)
    if table.namespace:
        head, row = ["namespace", *head], [table.namespace, *row]
    return f" === Information ===\n{_drawn(head, [row])}"


def _fields_text(table: TypedTable, fields: Sequence[Field]) -> str:
    rows = [
        [
            str(number),
            field.name,
            _shown(field.type),
            "Y" if field.nullable else "N",
            "NULL" if field.default is None else _default(field),
            _mark(field, table.shard_key),
            _mark(field, table.primary_key),
            "Y" if field.identity is not None else "",
        ]
        for number, field in enumerate(fields, 1)
    ]
    return f" === Fields ===\n{_drawn(_FIELDS, rows)}"


def _mark(field: Field, names: Sequence[str]) -> str:
    return "Y" if any(same_name(field.name, name) for name in names) else ""


def _default(field: Field) -> str:
    value = value_to_json(field.default, field.type)
    return value if isinstance(value, str) else dumps(value)


_NAMES: Final = {Kind.JSON: "Json", Kind.FIXED_BINARY: "FixedBinary"}


def _shown(kind: FieldType) -> str:
    """A type as descriptions name it: `Integer`, `Enum(a, b)`, `Array(String)`."""
    name = _NAMES.get(kind.kind, kind.kind.value.capitalize())
    if kind.symbols:
        return f"{name}({', '.join(kind.symbols)})"
    if kind.kind is Kind.TIMESTAMP:
        return f"{name}({kind.precision})"
    if kind.kind is Kind.FIXED_BINARY:
        return f"{name}({kind.size})"
    if kind.element is not None:
        return f"{name}({_shown(kind.element)})"
    if kind.fields:
        inner = ", ".join(f"{field.name} {_shown(field.type)}" for field in kind.fields)
        return f"{name}({inner})"
    return name


def _index_text(table: TypedTable, index: Index) -> str:
    paths = ", ".join(field.path for field in index.fields)
    multikey = any(path in paths for path in ("[]", ".keys()", ".values()"))
    types = ", ".join(field.type.value if field.type else "" for field in index.fields)
    row = [table.name, index.name, "SECONDARY", "Y" if multikey else "N", paths]
    row += [types.strip(", "), index.comment or ""]
    return _drawn(_INDEX, [row])


def _drawn(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell, names in the middle, numbers to the right."""
    cells = [[cell.replace("\n", " ") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    line = " +" + "+".join("-" * (width + 2) for width in widths) + "+"
    names = zip(head, widths, strict=True)
    text = [line, _row([_centred(name, width) for name, width in names]), line]
    for row in cells:
        aligned = zip(row, widths, strict=True)
        text.append(
            _row([c.rjust(width) if c.isdigit() else c.ljust(width) for c, width in aligned])
        )
        text.append(line)
    return "\n".join(text)


def _centred(name: str, width: int) -> str:
    left = (width - len(name)) // 2
    return " " * left + name.ljust(width - left)


def _row(cells: Sequence[str]) -> str:
    return " | " + " | ".join(cells) + " |"
