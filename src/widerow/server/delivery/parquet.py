"""Writes rows as Parquet, by pyarrow, an extra that is imported with the first file."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import IO, Any, Final

from widerow.engine.tablestore.delivery.values import DeliveredRow
from widerow.model.tablestore.delivery import DeliveryColumn, ParquetType
from widerow.server.delivery.files import DeliveryFailed

__all__ = ["write_parquet"]

_ROWS: Final = 8192  # converted to columns at a time


def write_parquet(
    stream: IO[bytes],
    columns: Sequence[DeliveryColumn],
    rows: Sequence[DeliveredRow],
    turn: AbstractContextManager[object],
) -> None:
    """Write a whole file: the columns in their order, every value in PLAIN encoding.

    `turn` is held while values are converted, but not while they are written. Raises:
    `DeliveryFailed` without pyarrow.
    """
    arrow, parquet = _libraries()
    types = {
        ParquetType.BOOL: arrow.bool_(),
        ParquetType.INT64: arrow.int64(),
        ParquetType.UTF8: arrow.string(),
        ParquetType.DOUBLE: arrow.float64(),
    }
    schema = arrow.schema([(column.shown, types[column.type]) for column in columns])
    with parquet.ParquetWriter(stream, schema, use_dictionary=False) as writer:
        for first in range(0, len(rows), _ROWS):
            part = rows[first : first + _ROWS]
            with turn:
                arrays = [
                    arrow.array([row.values[place] for row in part], field.type)
                    for place, field in enumerate(schema)
                ]
                table = arrow.Table.from_arrays(arrays, schema=schema)
            writer.write_table(table)


def _libraries() -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # noqa: PLC0415  # an extra
        from pyarrow import parquet  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise DeliveryFailed(
            "pyarrow is not installed on the server: pip install pyarrow"
        ) from error
    return pa, parquet
