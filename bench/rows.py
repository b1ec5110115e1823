"""The rows that are measured, and signed requests about them.

A row is ten columns of a hundred bytes under a key of a STRING and an INTEGER, a hundred rows to
each partition key. Values are random letters from a fixed seed: they do not compress away, and
every run has the same. Cells are encoded once; a request made of them costs microseconds, so that
millions of rows can be sent by a program that shares the machine with what it measures.
"""

import random  # noqa: TID251  # fixed seeds are the point: every run asks the same
import string
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.http import Sender
from tests.support.requests import ANY, create_table_request

from widerow.wire.tablestore import messages as m

TABLE: Final = "measured"
VERSIONED: Final = "versioned"  # keeps several versions of each column
VERSIONS: Final = 3
COLUMNS: Final = 10
VALUE_BYTES: Final = 100
PARTITION_ROWS: Final = 100
BATCH_WRITE_ROWS: Final = 200
BATCH_GET_ROWS: Final = 100
VARIANTS: Final = 64  # different sets of values; blocks of a store hold fewer rows than that
SEED: Final = 20_240
SENDER: Final = Sender()

Key = tuple[tuple[str, str], tuple[str, int]]


def key(number: int) -> Key:
    """The key of a row; neighbours in number are neighbours in order."""
    return ("k", f"user{number // PARTITION_ROWS:010}"), ("n", number % PARTITION_ROWS)


def source(seed: int = SEED) -> random.Random:
    """Numbers that look random and are the same in every run."""
    return random.Random(seed)  # noqa: S311  # no secret is made of them


@cache
def texts() -> tuple[tuple[str, ...], ...]:
    """The values of every variant of a row."""
    letters = string.ascii_letters + string.digits
    numbers = source()
    return tuple(
        tuple("".join(numbers.choices(letters, k=VALUE_BYTES)) for _ in range(COLUMNS))
        for _ in range(VARIANTS)
    )


@cache
def cells(variant: int, version: int | None = None) -> tuple[bytes, ...]:
    """The encoded columns of one variant; `version` in milliseconds, the server's if None."""
    values = texts()[variant % VARIANTS]
    return tuple(cell(f"field{at}", text, version=version) for at, text in enumerate(values))


def row(number: int, variant: int = 0) -> bytes:
    """A row with all its columns."""
    return row_buffer(key(number), cells((number + variant) % VARIANTS))


def put(number: int, variant: int = 1, table: str = TABLE) -> bytes:
    """PutRow, signed."""
    body = m.PutRowRequest(table_name=table, row=row(number, variant), condition=ANY)
    return SENDER.request("PutRow", body.SerializeToString())


def update(number: int, cells_to_put: Iterable[bytes] | None = None, table: str = TABLE) -> bytes:
    """UpdateRow of one column of a row, or of these cells, signed."""
    chosen = cells(number + 1)[:1] if cells_to_put is None else cells_to_put
    change = row_buffer(key(number), chosen)
    body = m.UpdateRowRequest(table_name=table, row_change=change, condition=ANY)
    return SENDER.request("UpdateRow", body.SerializeToString())


def get(
    number: int, *, columns: Sequence[str] = (), sieve: bytes | None = None, table: str = TABLE
) -> bytes:
    """GetRow of one version, signed; `sieve` is a filter's message."""
    body = m.GetRowRequest(
        table_name=table,
        primary_key=key_buffer(key(number)),
        columns_to_get=columns,
        max_versions=1,
        filter=sieve,
    )
    return SENDER.request("GetRow", body.SerializeToString())


def page(number: int, limit: int = PARTITION_ROWS) -> bytes:
    """GetRange of `limit` rows from a row on, signed."""
    body = m.GetRangeRequest(
        table_name=TABLE,
        direction=0,
        max_versions=1,
        limit=limit,
        inclusive_start_primary_key=key_buffer(key(number)),
        exclusive_end_primary_key=key_buffer((("k", "v"), ("n", 0))),
    )
    return SENDER.request("GetRange", body.SerializeToString())


def batch_write(numbers: Iterable[int], variant: int = 0, table: str = TABLE) -> bytes:
    """BatchWriteRow that puts these rows, signed."""
    rows = [
        m.RowInBatchWriteRowRequest(type=1, row_change=row(number, variant), condition=ANY)
        for number in numbers
    ]
    written = m.TableInBatchWriteRowRequest(table_name=table, rows=rows)
    body = m.BatchWriteRowRequest(tables=[written])
    return SENDER.request("BatchWriteRow", body.SerializeToString())


def batch_delete(numbers: Iterable[int], table: str = TABLE) -> bytes:
    """BatchWriteRow that deletes these rows, signed."""
    rows = [
        m.RowInBatchWriteRowRequest(
            type=3, row_change=row_buffer(key(number), marker=True), condition=ANY
        )
        for number in numbers
    ]
    written = m.TableInBatchWriteRowRequest(table_name=table, rows=rows)
    body = m.BatchWriteRowRequest(tables=[written])
    return SENDER.request("BatchWriteRow", body.SerializeToString())


def batch_get(numbers: Iterable[int]) -> bytes:
    """BatchGetRow of these rows, signed."""
    keys = [key_buffer(key(number)) for number in numbers]
    table = m.TableInBatchGetRowRequest(table_name=TABLE, primary_key=keys, max_versions=1)
    return SENDER.request("BatchGetRow", m.BatchGetRowRequest(tables=[table]).SerializeToString())


def table(name: str = TABLE) -> bytes:
    """CreateTable, signed."""
    body = create_table_request(name)
    body.table_options.max_versions = VERSIONS if name == VERSIONED else 1
    return SENDER.request("CreateTable", body.SerializeToString())


def column_filter(column: str, value: bytes) -> bytes:
    """A filter that keeps rows whose `column` is at least `value`, given as variant bytes."""
    comparison = m.SingleColumnValueFilter(
        comparator=4,
        column_name=column,
        column_value=value,
        filter_if_missing=True,
        latest_version_only=True,
    )
    return m.Filter(type=1, filter=comparison.SerializeToString()).SerializeToString()
