"""Rows as records of a file, and back (docs/formats/export.md).

A record of an export has the key columns and `@cells`, which no column can be called. In CSV and
JSON, `@cells` maps each column to its versions, newest first, each `[milliseconds, value]`; in
Parquet it is a list of cells, with one of five fields for the value. A record without `@cells` is a
plain row: every field is a column, all of one version.
"""

import json
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final, NamedTuple

from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType, KeyValue, Value
from widerow.rows.plain_values import Row, VersionedValue
from widerow.written_numbers import real_number

__all__ = [
    "CELLS",
    "KINDS",
    "Reading",
    "cells_of",
    "json_cells",
    "json_value",
    "kind_of_value",
    "parquet_cell",
    "plain_cells",
    "read_key",
    "row_of_record",
]

CELLS: Final = "@cells"
"""The field that holds versioned cells."""

_BINARY: Final = "binary"
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_TRUTHS: Final = {"true": True, "false": False}
_KEY_KINDS: Final = {
    KeyType.INTEGER: "integer",
    KeyType.STRING: "string",
    KeyType.BINARY: _BINARY,
}


class Reading(NamedTuple):
    """How the records of a file become rows.

    `kinds`: for columns whose type is said, its name in `KINDS`; others have the type that the
    format gives them. `version`: of the cells of plain rows. `texts`: the format has nothing but
    texts (CSV), and an empty one is not a cell.
    """

    key: tuple[KeyColumn, ...]
    kinds: Mapping[str, str]
    version: int
    texts: bool = False


def row_of_record(fields: Mapping[str, Any], reading: Reading) -> Row:
    """The row that a record is. Raises: `ValueError`, which says what is wrong with it."""
    key = read_key(fields, reading.key)
    if CELLS in fields:
        extra = fields.keys() - {CELLS} - {name for name, _ in key}
        if extra:
            raise ValueError(f"{', '.join(sorted(extra))}: neither in the key nor in {CELLS}")
        return Row(key, tuple(cells_of(fields[CELLS])))
    return Row(key, tuple(plain_cells(fields, reading)))


def read_key(
    fields: Mapping[str, Any], columns: Iterable[KeyColumn]
) -> tuple[tuple[str, KeyValue], ...]:
    """The key of the row that a record is. Raises: `ValueError` for a value that does not do."""
    return tuple((column.name, _key_value(fields, column)) for column in columns)


def _key_value(fields: Mapping[str, Any], column: KeyColumn) -> KeyValue:
    if fields.get(column.name) is None:
        raise ValueError(f"no value of the key column {column.name}")
    value = _converted(column.name, fields[column.name], _KEY_KINDS[column.type])
    assert not isinstance(value, bool | float), "keys are of three kinds"
    return value


def plain_cells(fields: Mapping[str, Any], reading: Reading) -> Iterator[VersionedValue]:
    """The cells of a record whose fields are its columns. Raises: `ValueError`, as `read_key`."""
    names = {column.name for column in reading.key}
    for name, given in fields.items():
        if given is None or name in names:
            continue
        kind = reading.kinds.get(name)
        if kind is None:
            yield VersionedValue(name, reading.version, _natural(name, given))
        elif given or not reading.texts:
            yield VersionedValue(name, reading.version, _converted(name, given, kind))


# --- values ------------------------------------------------------------------------------------


def _natural(name: str, given: object) -> Value:
    """A value of a format that has types."""
    if isinstance(given, bool | str | bytes):
        return given
    if isinstance(given, int):
        return _bounded(name, given)
    if isinstance(given, float):
        return _finite(name, given)
    if isinstance(given, datetime | date | time):
        return given.isoformat()
    if isinstance(given, Decimal):
        return str(given)
    if isinstance(given, Mapping) and given.keys() == {_BINARY}:
        return _binary(name, given[_BINARY])
    raise ValueError(f"{name} holds {_shown(given)}, which is not a value of a column")


def _converted(name: str, given: object, kind: str) -> Value:
    """A value as the type `kind`; texts are parsed."""
    if isinstance(given, str):
        return KINDS[kind](name, given)
    value = _natural(name, given)
    if kind == "double" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind_of_value(value) != kind:
        raise ValueError(f"{name} holds {_shown(given)}, and the column is {kind}")
    return value


def kind_of_value(value: Value) -> str:
    """The type of a value, by its name in `KINDS`."""
    return _KIND_NAMES[type(value)]


def _integer(name: str, text: str) -> int:
    if _INTEGER.fullmatch(text) is None or len(text) > 20:
        raise ValueError(f"{name} is not an integer: {_shown(text)}")
    return _bounded(name, int(text))


def _double(name: str, text: str) -> float:
    try:
        value = real_number(text)
    except ValueError as error:
        raise ValueError(f"{name} is not a number: {_shown(text)}") from error
    return _finite(name, value)


def _boolean(name: str, text: str) -> bool:
    try:
        return _TRUTHS[text.lower()]
    except KeyError as error:
        raise ValueError(f"{name} is neither true nor false: {_shown(text)}") from error


def _string(_name: str, text: str) -> str:
    return text


def _binary(name: str, text: object) -> bytes:
    try:
        return b64decode(str(text), validate=True)
    except ValueError as error:
        raise ValueError(f"{name} is not base64: {_shown(text)}") from error


def _bounded(name: str, value: int) -> int:
    if not INT64_MIN <= value <= INT64_MAX:
        raise ValueError(f"{name} has more than 64 bits: {value}")
    return value


def _finite(name: str, value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value}, which tables do not store")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


KINDS: Final[Mapping[str, Callable[[str, str], Value]]] = {
    "integer": _integer,
    "double": _double,
    "boolean": _boolean,
    "string": _string,
    _BINARY: _binary,
}
"""Types by the names that `--types` has for them, and what parses a text as one."""

_KIND_NAMES: Final[Mapping[type, str]] = {
    int: "integer",
    float: "double",
    bool: "boolean",
    str: "string",
    bytes: _BINARY,
}


# --- versioned cells ---------------------------------------------------------------------------


def cells_of(given: object) -> Iterator[VersionedValue]:
    """The cells that `@cells` holds, in any of its forms. Raises: `ValueError`."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{CELLS} is not JSON: {error}") from error
    if isinstance(given, Mapping):
        return _mapped_cells(given)
    if isinstance(given, list):
        return map(_listed_cell, given)
    raise ValueError(f"{CELLS} holds {_shown(given)}")


def _mapped_cells(given: Mapping[str, Any]) -> Iterator[VersionedValue]:
    for name, versions in given.items():
        if not isinstance(versions, list):
            raise ValueError(f"{CELLS}: {name} has no list of versions")  # noqa: TRY004  # one kind for every row that does not do
        for each in versions:
            if not (isinstance(each, list) and len(each) == 2):
                raise ValueError(f"{CELLS}: a version of {name} is not [milliseconds, value]")
            yield VersionedValue(name, _version(name, each[0]), _natural(name, each[1]))


def _listed_cell(given: Any) -> VersionedValue:  # noqa: ANN401  # a struct of Parquet
    try:
        name, version = given["column"], given["version"]
        values = [given[kind] for kind in KINDS if given[kind] is not None]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{CELLS} lacks a field: {error}") from error
    if len(values) != 1 or not isinstance(name, str):
        raise ValueError(f"{CELLS}: a cell has {len(values)} values")
    return VersionedValue(name, _version(name, version), _natural(name, values[0]))


def _version(name: str, given: object) -> int:
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return _bounded(name, given)
    raise ValueError(f"{CELLS}: {_shown(given)} is not a version of {name}")


def json_cells(cells: Iterable[VersionedValue]) -> dict[str, list[list[Any]]]:
    """Cells as `@cells` of JSON and CSV."""
    columns: dict[str, list[list[Any]]] = {}
    for name, version, value in cells:
        columns.setdefault(name, []).append([version, json_value(value)])
    return columns


def json_value(value: Value) -> Any:  # noqa: ANN401  # whatever JSON takes
    """A value as JSON has it."""
    return {_BINARY: b64encode(value).decode()} if isinstance(value, bytes) else value


def parquet_cell(cell: VersionedValue) -> dict[str, Any]:
    """A cell as an entry of `@cells` of Parquet."""
    return {
        "column": cell.column,
        "version": cell.version,
        **dict.fromkeys(KINDS),
        kind_of_value(cell.value): cell.value,
    }
