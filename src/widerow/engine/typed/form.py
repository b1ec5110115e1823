"""What is worked out once for a table's definition and used for every row of it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from widerow.errors import InvalidRequest
from widerow.keys.layout import ROW_PREFIX_BYTES
from widerow.keys.typed import KeyForm
from widerow.limits import TYPED_KEY_BYTES_MAX
from widerow.model.typed.coerce import COERCE
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import DOCUMENT_COLUMN, TypedTable
from widerow.model.typed.types import Field, FieldType
from widerow.model.typed.values import TypedValue
from widerow.rows.typed import ValueForm

__all__ = ["Column", "TableForm"]

_VALUE_DEPTH = 0  # key values are never nested


class Column(NamedTuple):
    """What a write needs to know of a column."""

    coerce: Callable[[Any, FieldType, str, int], TypedValue]
    type: FieldType
    name: str
    nullable: bool


def _column(field: Field) -> Column:
    return Column(COERCE[field.type.kind], field.type, field.name, field.nullable)


class TableForm:
    """A table with the forms of its keys and values. Immutable: a changed table has a new form."""

    __slots__ = (
        *("_key_columns", "_sizes", "columns", "document", "generated", "id", "key"),
        "key_positions",
        *("names", "table", "takes_text", "values"),
    )

    def __init__(self, table: TypedTable) -> None:
        self.table = table
        self.id = table.id
        self.key = KeyForm(table)
        self.values = ValueForm(table)
        # Declared and folded names alike, so that the usual spelling costs one look-up.
        self.names = {**table.positions}
        self.names |= {field.name: index for index, field in enumerate(table.fields)}
        self._key_columns = tuple(
            (table.fields[index].name, table.fields[index].type) for index in table.key_positions
        )
        self.columns = tuple(map(_column, table.fields))
        self.takes_text = [field.name in table.text_names for field in table.fields]
        self.key_positions = table.key_positions
        self.document = len(table.fields) - 1 if table.collection else -1
        if table.collection:
            del self.names[DOCUMENT_COLUMN]  # a document may have a field of that name
        made = table.generated
        self.generated = -1 if made is None else table.fields.index(made)
        self._sizes = table.key_sizes if any(table.key_sizes) else ()

    def position(self, name: str) -> int:
        """The position of a column in rows. Raises `InvalidRequest` if no column has that name."""
        position = self.names.get(name)
        if position is None:
            position = self.names.get(name.lower())
        if position is None:
            raise InvalidRequest(TypedRule.NO_FIELD, field=name[:100])
        return position

    def leading(self, given: Mapping[str, Any]) -> list[TypedValue]:
        """The values of a partial key, which is the first few key columns (model §6).

        Raises: `InvalidRequest` for a column that is no key column, a value that does not fit, NULL
        and a gap.
        """
        found = self._found(given)
        values: list[TypedValue] = []
        for index, (name, kind) in enumerate(self._key_columns):
            if name not in found:
                if len(found) > index:
                    raise InvalidRequest(TypedRule.KEY_GAP)
                break
            values.append(self.key_value(name, kind, found[name]))
        return values

    def complete(self, given: Mapping[str, Any]) -> list[TypedValue]:
        """The values of a whole key. Raises `InvalidRequest`, also for a missing column."""
        found = given if self._is_whole(given) else self._found(given)
        values: list[TypedValue] = []
        for name, kind in self._key_columns:
            if name not in found:
                raise InvalidRequest(TypedRule.KEY_MISSING, field=name)
            values.append(self.key_value(name, kind, found[name]))
        return values

    def key_value(self, name: str, kind: FieldType, value: Any) -> TypedValue:  # noqa: ANN401  # callers' values
        """A key column's value in the form of the model. Raises `InvalidRequest`."""
        if value is None:
            raise InvalidRequest(TypedRule.NOT_NULLABLE, field=name)
        return COERCE[kind.kind](value, kind, name, _VALUE_DEPTH)

    def row_key(self, values: list[TypedValue]) -> tuple[bytes, bytes]:
        """The shard and the encoded key of a row. Raises `InvalidRequest` for too long a key."""
        shard, key = self.key.encode_row(values)
        if len(key) > TYPED_KEY_BYTES_MAX + ROW_PREFIX_BYTES:
            size = len(key) - ROW_PREFIX_BYTES
            raise InvalidRequest(TypedRule.KEY_LENGTH, size=size, limit=TYPED_KEY_BYTES_MAX)
        if self._sizes:
            self._check_sizes(values)
        return shard, key

    def decoded(self, encoded_key: bytes, record: bytes) -> list[TypedValue]:
        """The values of all columns of a row in their declared order. Raises `StoreDamaged`."""
        row = self.values.empty
        self.values.unpack(int.from_bytes(record[2:4], "big"), record, row)
        for place, value in enumerate(self.key.decode(encoded_key)):
            row[self.key_positions[place]] = value
        return row

    def _is_whole(self, given: Mapping[str, Any]) -> bool:
        """Whether these are the key columns by their declared names."""
        return len(given) == len(self._key_columns) and all(
            name in given for name, _ in self._key_columns
        )

    def _found(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The given values by the declared names of their columns."""
        found: dict[str, Any] = {}
        keys = self.key_positions
        for name, value in given.items():
            position = self.position(name)
            if position not in keys:
                raise InvalidRequest(TypedRule.NO_FIELD, field=name[:100])
            found[self.table.fields[position].name] = value
        return found

    def _check_sizes(self, values: list[TypedValue]) -> None:
        columns = zip(self._key_columns, self._sizes, values, strict=True)
        for (name, _), size, value in columns:
            if size and _packed_size(value) > size:
                raise InvalidRequest(
                    TypedRule.PRIMARY_KEY_SIZE_VALUE, field=name, value=value, size=size
                )


def _packed_size(value: int) -> int:
    """Bytes of an integer in the vendor's sorted packing, which key sizes are counted in.

    One byte holds −119 to 120; what is beyond takes one byte more for each byte it needs.
    """
    if -119 <= value <= 120:
        return 1
    beyond = value - 121 if value > 120 else -120 - value
    return 1 + max(1, -(-beyond.bit_length() // 8))
