"""Items of expressions as the columns of a row store them (ddl §3: INSERT, UPDATE)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from widerow.engine.typed.form import TableForm
from widerow.model.typed.types import Field, FieldType, Kind
from widerow.model.typed.values import JsonNull
from widerow.wire.nosql.sql.casts import cast_item, sql_type
from widerow.wire.nosql.sql.key_ranges import has_plain_values, is_value_of
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.places import document
from widerow.wire.nosql.sql.scope import Compiled, SqlFrame

__all__ = ["row_values", "stored_item"]


def row_values(
    form: TableForm, made: Sequence[tuple[str, Compiled, TextPlace]]
) -> Callable[[SqlFrame], Mapping[str, Any]]:
    """The columns of a new row, of a frame: a function that raises `InvalidRequest`.

    `made`: the name of each column ("" is the rest of a document), what its value is made by, and
    the place of that in the statement.
    """
    steps = []
    for name, compiled, place in made:
        declared = form.table.field(name) if name else None
        kind = FieldType(Kind.JSON) if declared is None else declared.type
        own_name = name if declared is None else declared.name
        steps.append((own_name, declared, compiled, _storing(kind, place)))

    def values(frame: SqlFrame) -> Mapping[str, Any]:
        row: dict[str, Any] = {}
        for name, declared, compiled, store in steps:
            items = compiled.evaluate(frame)
            if declared is not None:
                row[name] = None if _is_null(items, declared) else store(items)
            elif name:
                row[name] = store(items) if items else None
            else:  # the whole document of a collection
                found = store(items) if items else {}
                row |= found if isinstance(found, dict) else {}
        return row

    return values


def _is_null(items: Sequence[Any], declared: Field) -> bool:
    """Whether a column of this type has NULL where a statement gives it these items."""
    if len(items) != 1:
        return not items
    item = items[0]
    return item is None or (isinstance(item, JsonNull) and declared.type.kind is not Kind.JSON)


def stored_item(items: Sequence[Any], kind: FieldType, place: TextPlace) -> Any:  # noqa: ANN401  # any stored value
    """What a column or member of a type stores of items. Raises `InvalidRequest`."""
    if has_plain_values(kind) and is_value_of(items, kind.kind):
        return items[0]
    return _storing(kind, place)(items)


def _storing(kind: FieldType, place: TextPlace) -> Callable[[Sequence[Any]], Any]:
    """`stored_item` of a type, for many items. A value that is of the type is stored as it is."""
    wanted, is_json, is_plain = sql_type(kind), kind.kind is Kind.JSON, has_plain_values(kind)

    def store(items: Sequence[Any]) -> Any:  # noqa: ANN401  # any stored value
        if is_plain and is_value_of(items, kind.kind):
            return items[0]
        item = items[0] if len(items) == 1 else list(items)
        found = cast_item(item, wanted, place)
        if is_json:
            return found if isinstance(found, JsonNull) else document(found)
        return _untyped(found)

    return store


def _untyped(value: Any) -> Any:  # noqa: ANN401  # any item
    """An item without what tells more than its Python type."""
    if isinstance(value, list):
        return [_untyped(each) for each in value]
    if isinstance(value, Mapping):
        return {name: _untyped(each) for name, each in value.items()}
    return value
