"""The rows of a source as the advisor needs them: key columns, time, size."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from widerow.keydesign.key import PartKind, PartValue
from widerow.row_files.source import KIND_ROWS, FileInvalid, Progress, Source
from widerow.row_files.values import is_integer, seconds

__all__ = ["Access", "accesses", "key_values", "kinds"]


class Access(NamedTuple):
    """One row for the advisor: its key columns, when it was written, and its size."""

    values: tuple[PartValue, ...]
    time: float
    size: int


def kinds(source: Source, columns: Sequence[str], texts: Sequence[str] = ()) -> dict[str, PartKind]:
    """The type of each column from the first 10,000 rows; columns of `texts` are always texts.

    A column of CSV holds integers if every value is written as an integer: 007 is a text. Raises:
    `FileInvalid` for a value that cannot be part of a key, and for a source without rows.
    """
    found = dict.fromkeys(columns, PartKind.INTEGER)
    found.update(dict.fromkeys(texts, PartKind.TEXT))
    seen = 0
    for record in source.records(columns):
        seen += 1
        for column in columns:
            value = record.fields[column]
            is_text = not is_integer(value) or (source.typed and isinstance(value, str))
            if is_text:
                found[column] = PartKind.TEXT
        if seen == KIND_ROWS:
            break
    if not seen:
        raise FileInvalid(f"{source.name} has no rows")
    return {column: found[column] for column in columns}


def accesses(
    source: Source,
    columns: Mapping[str, PartKind],
    time: str | None = None,
    progress: Progress | None = None,
) -> Iterator[Access]:
    """The rows of a source with their key columns as values of these kinds.

    Without a time column, the row's number is used. Raises: `FileInvalid`.
    """
    wanted = [*columns, *([time] if time else [])]
    for number, record in enumerate(source.records(wanted, progress)):
        fields = record.fields
        try:
            values = key_values(fields, columns)
            moment = seconds(time, fields[time]) if time else float(number)
        except ValueError as error:
            raise FileInvalid(f"{source.name}, {source.place} {record.place}: {error}") from error
        yield Access(values, moment, record.size)


def key_values(
    fields: Mapping[str, object], columns: Mapping[str, PartKind]
) -> tuple[PartValue, ...]:
    """Some columns of a row as values of their kinds.

    Raises: `ValueError` for a value of another kind, or a missing value.
    """
    return tuple(
        _integer(name, fields.get(name))
        if kind is PartKind.INTEGER
        else _text(name, fields.get(name))
        for name, kind in columns.items()
    )


def _integer(column: str, value: object) -> int:
    if isinstance(value, int | str) and is_integer(value):
        return int(value)
    raise ValueError(
        f"{column} holds {value!r}, and the rows before it hold integers; "
        f"--text {column} makes it a text"
    )


def _text(column: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    what = "nothing" if value is None else repr(value)
    raise ValueError(f"{column} holds {what}; key columns hold integers and texts")
