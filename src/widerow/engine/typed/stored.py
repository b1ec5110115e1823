"""A row as it is read: its key and its record, decoded at the first look at a value."""

from collections.abc import Iterator, Mapping
from typing import Any

from widerow.engine.typed.form import TableForm
from widerow.errors import InvalidRequest
from widerow.model.typed.json_rows import dumps, value_to_json
from widerow.model.typed.requests import VERSION_MAGIC, Version
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import JSON
from widerow.model.typed.values import JSON_NULL, TypedValue
from widerow.rows.typed import TYPED_HEADER_BYTES, typed_times

__all__ = ["Key", "StoredRow"]

_HOUR_MS = 3_600_000


class Key(Mapping[str, TypedValue]):
    """A row's primary key: its columns in the key's order, by names in any case."""

    __slots__ = ("_form", "_values", "encoded")

    def __init__(self, form: TableForm, encoded: bytes) -> None:
        """The key whose bytes in the store are `encoded`."""
        self._form = form
        self.encoded = encoded
        self._values: tuple[TypedValue, ...] | None = None

    @property
    def table(self) -> TypedTable:
        """The table whose key it is."""
        return self._form.table

    def values_in_order(self) -> tuple[TypedValue, ...]:
        """The values in the order of the primary key."""
        if self._values is None:
            self._values = self._form.key.decode(self.encoded)
        return self._values

    def __getitem__(self, name: str) -> TypedValue:
        """The value of a key column. Raises `KeyError`."""
        try:
            position = self._form.position(name)
            return self.values_in_order()[self.table.key_positions.index(position)]
        except (InvalidRequest, ValueError) as error:
            raise KeyError(name) from error

    def __iter__(self) -> Iterator[str]:
        """The names of the key columns, in the key's order."""
        return iter(self.table.primary_key)

    def __len__(self) -> int:
        return len(self.table.primary_key)

    def __repr__(self) -> str:
        return f"Key({self.table.qualified}, {self.to_dict()!r})"

    def to_dict(self) -> dict[str, TypedValue]:
        """The columns in the key's order."""
        return dict(zip(self.table.primary_key, self.values_in_order(), strict=True))

    def to_json(self, *, pretty: bool = False) -> str:
        """The key as a JSON object."""
        types = self.table.key_types
        columns = zip(self.table.primary_key, self.values_in_order(), types, strict=True)
        return dumps(
            {name: value_to_json(value, kind) for name, value, kind in columns}, pretty=pretty
        )


class StoredRow(Mapping[str, TypedValue]):
    """A row: its columns in their declared order, by names in any case.

    The record is decoded at the first look at a column, and all columns at once.
    """

    __slots__ = ("_form", "_row", "encoded_key", "record")

    def __init__(self, form: TableForm, encoded_key: bytes, record: bytes) -> None:
        """The row whose bytes in the store are `record`, under the key `encoded_key`."""
        self._form = form
        self.encoded_key = encoded_key
        self.record = record
        self._row: list[TypedValue] | None = None

    @property
    def table(self) -> TypedTable:
        """The table that the row is of."""
        return self._form.table

    @property
    def key(self) -> Key:
        """The row's primary key."""
        return Key(self._form, self.encoded_key)

    @property
    def version(self) -> Version:
        """The version that the last write of the row made."""
        return Version(self.record[TYPED_HEADER_BYTES - 16 : TYPED_HEADER_BYTES])

    @property
    def version_bytes(self) -> bytes:
        """The version as bytes that `Version.from_bytes` takes."""
        return VERSION_MAGIC + self.record[TYPED_HEADER_BYTES - 16 : TYPED_HEADER_BYTES]

    @property
    def times_ms(self) -> tuple[int, int]:
        """`modified_ms` and `expires_ms`, read at once."""
        modified_ms, hour = typed_times(self.record)
        return modified_ms, hour * _HOUR_MS

    @property
    def modified_ms(self) -> int:
        """The time of the last write of the row, in milliseconds since 1970."""
        return self.times_ms[0]

    @property
    def expires_ms(self) -> int:
        """The time when the row expires, in milliseconds since 1970; 0: never."""
        return self.times_ms[1]

    def values_in_order(self) -> list[TypedValue]:
        """The values of all columns in their declared order. Raises `StoreDamaged`."""
        row = self._row
        if row is None:
            row = self._row = self._form.decoded(self.encoded_key, self.record)
        return row

    def __getitem__(self, name: str) -> TypedValue:
        """The value of a column, None for NULL. Raises `KeyError` if there is no such column."""
        if self._form.document >= 0 and name.lower() not in self._form.names:
            value = self.document()[name]
            return JSON_NULL if value is None else value
        try:
            return self.values_in_order()[self._form.position(name)]
        except InvalidRequest as error:
            raise KeyError(name) from error

    def document(self) -> dict[str, Any]:
        """The document of a row of a collection, without the key; {} of any other row."""
        if self._form.document < 0:
            return {}
        document: dict[str, Any] = self.values_in_order()[self._form.document] or {}
        return document

    def __iter__(self) -> Iterator[str]:
        """The names of the columns, in their declared order, and of the document's fields."""
        declared = [field.name for field in self.table.shown_fields]
        return iter([*declared, *self.document()])

    def __len__(self) -> int:
        return len(self.table.shown_fields) + len(self.document())

    def __repr__(self) -> str:
        return f"Row({self.table.qualified}, {self.to_dict()!r})"

    def to_dict(self) -> dict[str, TypedValue]:
        """The columns in their declared order."""
        names = [field.name for field in self.table.shown_fields]
        return dict(zip(names, self.values_in_order(), strict=False)) | self.document()

    def to_json(self, *, pretty: bool = False) -> str:
        """The row as a JSON object (model §5)."""
        fields = self.table.shown_fields
        columns: dict[str, Any] = {
            field.name: value_to_json(value, field.type)
            for field, value in zip(fields, self.values_in_order(), strict=False)
        }
        columns |= {name: value_to_json(value, JSON) for name, value in self.document().items()}
        return dumps(columns, pretty=pretty)
