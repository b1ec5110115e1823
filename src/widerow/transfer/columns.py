"""The types of a file's columns: those given with `--types`, those of the table, or guessed ones.

Only the types of CSV are guessed. A column of which every one of the first 10,000 values is an
integer, a number, or true or false is of that type; anything else is text. 007 and +1 are text,
because as numbers they would lose a character, and so are numbers with more digits than a double
keeps.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from widerow.client.tables import TableFacts
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.row_files.source import KIND_ROWS, FileSource, Progress, Record
from widerow.row_files.values import is_integer
from widerow.transfer.failures import TransferFailed
from widerow.transfer.layout import CELLS, KINDS, cells_of

__all__ = ["Survey", "kind_named", "kind_of_text", "kinds_of", "parse_kinds", "survey"]

_DOUBLE: Final = re.compile(r"-?(?P<digits>(?:0|[1-9][0-9]*)(?:[.][0-9]+)?)(?:[eE][+-]?[0-9]+)?")
_EXACT_DIGITS: Final = 15  # digits that a double keeps, whatever the number
_BOOLEAN: Final = re.compile(r"true|false", re.IGNORECASE)
_KEY_TYPES: Final = {
    "integer": KeyType.INTEGER,
    "string": KeyType.STRING,
    "binary": KeyType.BINARY,
}
_SHORT: Final = {
    "int": "integer",
    "float": "double",
    "bool": "boolean",
    "str": "string",
    "blob": "binary",
}
_VALUE_KINDS: Final = {int: "integer", str: "string", bytes: "binary"}


class Survey(NamedTuple):
    """The facts of a file from which a new table is made."""

    key: tuple[KeyColumn, ...]
    max_versions: int
    oldest: int | None


def kind_named(word: str) -> str | None:
    """The type that a word names, in any case, shortened or not; None for any other word."""
    kind = _SHORT.get(word.lower(), word.lower())
    return kind if kind in KINDS else None


def kind_of_text(text: str) -> str:
    """The type of a value that stands alone and whose column has none, by the rules above."""
    if is_integer(text):
        return "integer"
    if _is_double(text):
        return "double"
    return "boolean" if _BOOLEAN.fullmatch(text) else "string"


def parse_kinds(words: Sequence[str]) -> dict[str, str]:
    """`--types`: `COLUMN:TYPE` each. Raises: `TransferFailed`."""
    kinds: dict[str, str] = {}
    for word in words:
        name, _, told = word.rpartition(":")
        kind = kind_named(told)
        if not name or kind is None:
            known = ", ".join(KINDS)
            raise TransferFailed(f"--types {word}: write COLUMN:TYPE; the types are {known}")
        kinds[name] = kind
    return kinds


def kinds_of(source: FileSource, table: TableFacts, said: Mapping[str, str]) -> dict[str, str]:
    """The type of every column that needs one. Reads up to 10,000 rows of CSV.

    Raises: `TransferFailed` for types of columns that the file does not have.
    """
    first = list(islice(_readable(source), KIND_ROWS))
    names = dict.fromkeys(name for record in first for name in record.fields)
    unknown = [name for name in said if names and source.typed is False and name not in names]
    if unknown:
        raise TransferFailed(f"--types: {source.name} has no column {', '.join(unknown)}")
    key = {column.name: column.type for column in table.key}
    for name in key.keys() & said.keys():
        if _KEY_TYPES.get(said[name]) is not key[name]:
            declared = key[name].value.lower()
            raise TransferFailed(f"--types: the key column {name} of {table.name} is {declared}")
    if source.typed:
        return {name: kind for name, kind in said.items() if name not in key}
    return {
        name: said.get(name) or table.defined.get(name) or _guess(first, name)
        for name in names
        if name not in key and name != CELLS
    }


def _readable(source: FileSource) -> Iterator[Record]:
    return source.records(rejected=lambda _line, _words, _found: None)


def _guess(records: Sequence[Record], name: str) -> str:
    values = [str(record.fields[name]) for record in records if record.fields.get(name)]
    if values and all(map(is_integer, values)):
        return "integer"
    if values and all(map(_is_double, values)):
        return "double"
    return "boolean" if values and all(map(_BOOLEAN.fullmatch, values)) else "string"


def _is_double(text: str) -> bool:
    """Whether a text is a number that a double holds without losing a digit."""
    found = _DOUBLE.fullmatch(text)
    if found is None or not math.isfinite(float(text)):
        return False
    digits = found["digits"].replace(".", "").lstrip("0")
    return len(digits) <= _EXACT_DIGITS or repr(float(text)) == text


def survey(
    source: FileSource, key: Sequence[str], said: Mapping[str, str], progress: Progress
) -> Survey:
    """Read a file for the facts of a new table; `key` may be empty for an export.

    Raises: `TransferFailed` if it does not say what the key is.
    """
    first = list(islice(_readable(source), KIND_ROWS))
    if not first:
        raise TransferFailed(f"{source.name} has no rows to make a table of")
    exported = CELLS in first[0].fields
    names = list(key) or [name for name in first[0].fields if exported and name != CELLS]
    if not names:
        raise TransferFailed("--create needs the key: name its columns in order, with --key A,B")
    columns = tuple(KeyColumn(name, _key_type(source, first, name, said)) for name in names)
    most, oldest = 1, None
    if exported:
        for record in source.records(
            progress=progress, rejected=lambda _line, _words, _found: None
        ):
            most, oldest = _versions(record.fields, most, oldest)
    return Survey(columns, most, oldest)


def _key_type(
    source: FileSource, records: Sequence[Record], name: str, said: Mapping[str, str]
) -> KeyType:
    if name not in records[0].fields:
        raise TransferFailed(f"{source.name} has no column {name}")
    kind = said.get(name)
    if kind is None and source.typed:
        value: Any = records[0].fields[name]
        kind = "binary" if isinstance(value, dict) else _VALUE_KINDS.get(type(value), "other")
    kind = kind or _guess(records, name)
    if kind not in _KEY_TYPES:
        raise TransferFailed(
            f"{name} is {kind}, and keys are integer, string or binary; --types {name}:string"
        )
    return _KEY_TYPES[kind]


def _versions(
    fields: Mapping[str, object], most: int, oldest: int | None
) -> tuple[int, int | None]:
    """The most versions of a column, and the oldest of all, with those of one more row."""
    try:
        cells = list(cells_of(fields.get(CELLS)))
    except ValueError:
        return most, oldest  # such a row is rejected when it is imported
    counts: dict[str, int] = {}
    for cell in cells:
        counts[cell.column] = counts.get(cell.column, 0) + 1
        oldest = cell.version if oldest is None else min(oldest, cell.version)
    return max([most, *counts.values()]), oldest
