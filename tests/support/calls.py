"""The requests of recorded clients: how to ask for one call of a history and read its answer.

One call can be requested in several ways, and a history must not depend on the way: a row is read
from its table or from one of its indexes, and changed at once or in a local transaction. Each row
has a partition key of its own, because a transaction locks every row of its partition key.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from random import Random  # noqa: TID251  # seeded: what is asked must repeat
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from tests.support.answers import decode_answer_rows, decode_row, plain
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.histories import CallKind, ClientCall
from tests.support.requests import ANY

from widerow.model.tablestore.filter import Comparator
from widerow.model.tablestore.row import CellOperation, ReturnType
from widerow.model.values import KeyInput, KeyMarker
from widerow.rows.cells import encode_variant
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.bodies import text

__all__ = [
    "HISTORY_TABLE",
    "BatchRequest",
    "CallRequest",
    "HistoryRow",
    "RowAnswer",
    "Way",
    "batch_of",
    "create_request",
    "draw_way",
    "request_of",
    "start",
]

HISTORY_TABLE: Final = "history"
_LOCAL: Final = "history_local"
_GLOBAL: Final = "history_global"
_COLUMN: Final = "v"
_ROW_HEADER_BYTES: Final = 4
_STRING, _INTEGER = 2, 1
_DEFINED_INTEGER: Final = 1


class Way(Enum):
    """How a call is made."""

    TABLE = "table"
    LOCAL = "local index"
    GLOBAL = "global index"
    TRANSACTION = "transaction"
    BATCH = "batch"


class _Ways(NamedTuple):
    """A set of ways, and how often each way is taken."""

    ways: tuple[Way, ...]
    weights: tuple[int, ...]


_READS: Final = _Ways(
    (Way.TABLE, Way.LOCAL, Way.GLOBAL, Way.TRANSACTION, Way.BATCH), (45, 20, 20, 10, 5)
)
_CHANGES: Final = _Ways((Way.TABLE, Way.TRANSACTION, Way.BATCH), (75, 15, 10))
_SHARED_READS: Final = _Ways((Way.TABLE, Way.LOCAL, Way.TRANSACTION, Way.BATCH), (50, 30, 10, 10))


class HistoryRow(NamedTuple):
    """The row of a history: each has a partition key of its own."""

    history: str
    row: int

    @property
    def key(self) -> tuple[tuple[str, KeyInput], ...]:
        """The row's primary key."""
        return ("k", f"{self.history}-{self.row}"), ("n", self.row)


class CallRequest(NamedTuple):
    """An action and its message; `read` decodes what the call is answered with from a body."""

    action: str
    message: Any
    read: Callable[[bytes], int | bool | None]


class RowAnswer(NamedTuple):
    """The answer of a batch for one row: an error code, empty for success, and the value found."""

    code: str
    value: int | bool | None


class BatchRequest(NamedTuple):
    """An action and its message; `read` decodes the answers of a body, in the calls' order."""

    action: str
    message: Any
    read: Callable[[bytes], list[RowAnswer]]


def draw_way(random: Random, kind: CallKind, *, shared: bool) -> Way:
    """A way for a call. `shared`: only ways that a store of several processes offers as well.

    The global indexes of a shared store are updated after their table.
    """
    reads = _SHARED_READS if shared else _READS
    ways, weights = reads if kind is CallKind.GET else _CHANGES
    return random.choices(ways, weights)[0]


def create_request(*, shared: bool) -> bytes:
    """The request CreateTable for a table that has what every way needs."""
    keys = [m.PrimaryKeySchema(name="k", type=_STRING), m.PrimaryKeySchema(name="n", type=_INTEGER)]
    defined = [m.DefinedColumnSchema(name=_COLUMN, type=_DEFINED_INTEGER)]
    local = m.IndexMeta(name=_LOCAL, primary_key=["k", _COLUMN], index_update_mode=1, index_type=1)
    over = m.IndexMeta(name=_GLOBAL, primary_key=["n", _COLUMN], index_update_mode=0, index_type=0)
    request = m.CreateTableRequest(
        table_meta=m.TableMeta(table_name=HISTORY_TABLE, primary_key=keys, defined_column=defined),
        reserved_throughput=m.ReservedThroughput(capacity_unit=m.CapacityUnit(read=0, write=0)),
        table_options=m.TableOptions(time_to_live=-1, max_versions=1),
        index_metas=[local] if shared else [local, over],
        enable_local_txn=True,
    )
    return request.SerializeToString()


def start(place: HistoryRow) -> m.StartLocalTransactionRequest:
    """A transaction on the partition key of a row."""
    return m.StartLocalTransactionRequest(table_name=HISTORY_TABLE, key=key_buffer(place.key[:1]))


def request_of(
    place: HistoryRow, asked: ClientCall, way: Way, transaction: str | None
) -> CallRequest:
    """The request for a call, inside `transaction` if it is given."""
    if way in _INDEXES:
        return _index_read(place, *_INDEXES[way])
    request = _MADE[asked.kind](place, asked)
    if transaction is not None:
        request.message.transaction_id = transaction
    return request


def batch_of(history: str, calls: Mapping[int, ClientCall]) -> BatchRequest:
    """The request for calls on several rows: all of them read, or all of them change something."""
    asked = [(HistoryRow(history, row), call) for row, call in calls.items()]
    kinds = [call.kind for call in calls.values()]
    if kinds[0] is CallKind.GET:
        keys = [key_buffer(place.key) for place, _ in asked]
        table = m.TableInBatchGetRowRequest(
            table_name=HISTORY_TABLE, primary_key=keys, max_versions=1
        )
        message = m.BatchGetRowRequest(tables=[table])
        return BatchRequest("BatchGetRow", message, lambda body: _batch_answers(body, kinds))
    rows = [_row_of_batch(*each) for each in asked]
    changed = m.TableInBatchWriteRowRequest(table_name=HISTORY_TABLE, rows=rows)
    return BatchRequest(
        "BatchWriteRow",
        m.BatchWriteRowRequest(tables=[changed]),
        lambda body: _batch_answers(body, kinds),
    )


def _row_of_batch(place: HistoryRow, asked: ClientCall) -> m.RowInBatchWriteRowRequest:
    message = _MADE[asked.kind](place, asked).message
    number, name = _BATCHED[asked.kind]
    row = m.RowInBatchWriteRowRequest(
        type=number, row_change=getattr(message, name), condition=message.condition
    )
    if asked.kind is CallKind.INCREMENT:
        row.return_content.CopyFrom(message.return_content)
    return row


def _batch_answers(body: bytes, kinds: Sequence[CallKind]) -> list[RowAnswer]:
    # GetRow and write batches are answered in the same fields of their messages.
    (table,) = m.BatchWriteRowResponse.FromString(body).tables
    return [
        RowAnswer("", _ANSWERS[kind](row.row))
        if row.is_ok
        else RowAnswer(text(row.error.code), None)
        for kind, row in zip(kinds, table.rows, strict=True)
    ]


_INDEXES: Final[Mapping[Way, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {Way.LOCAL: (_LOCAL, ("k", _COLUMN, "n")), Way.GLOBAL: (_GLOBAL, ("n", _COLUMN, "k"))}
)


def _index_read(place: HistoryRow, index: str, columns: tuple[str, ...]) -> CallRequest:
    """All entries whose first column is the row's; the row's own says its value."""
    key = dict(place.key)

    def bound(marker: KeyMarker) -> bytes:
        return key_buffer(
            [(columns[0], key[columns[0]]), *((name, marker) for name in columns[1:])]
        )

    def read(body: bytes) -> int | None:
        rows = m.GetRangeResponse.FromString(body).rows
        for entry, _ in decode_answer_rows(rows[_ROW_HEADER_BYTES:]):
            if entry["k"] == key["k"]:
                value = entry[_COLUMN]
                assert isinstance(value, int)
                return value
        return None

    message = m.GetRangeRequest(
        table_name=index,
        direction=0,
        max_versions=1,
        inclusive_start_primary_key=bound(KeyMarker.INF_MIN),
        exclusive_end_primary_key=bound(KeyMarker.INF_MAX),
    )
    return CallRequest("GetRange", message, read)


def _get(place: HistoryRow, _: ClientCall) -> CallRequest:
    message = m.GetRowRequest(
        table_name=HISTORY_TABLE, primary_key=key_buffer(place.key), max_versions=1
    )
    return CallRequest(
        "GetRow", message, lambda body: _value(m.GetRowResponse.FromString(body).row)
    )


def _put(place: HistoryRow, asked: ClientCall) -> CallRequest:
    row = row_buffer(place.key, [cell(_COLUMN, asked.value)])
    message = m.PutRowRequest(table_name=HISTORY_TABLE, row=row, condition=ANY)
    return CallRequest("PutRow", message, lambda _: None)


def _swap(place: HistoryRow, asked: ClientCall) -> CallRequest:
    row = row_buffer(place.key, [cell(_COLUMN, asked.value)])
    message = m.PutRowRequest(
        table_name=HISTORY_TABLE, row=row, condition=_expecting(asked.expected)
    )
    return CallRequest("PutRow", message, lambda _: True)


def _delete(place: HistoryRow, _: ClientCall) -> CallRequest:
    gone = row_buffer(place.key, marker=True)
    message = m.DeleteRowRequest(table_name=HISTORY_TABLE, primary_key=gone, condition=ANY)
    return CallRequest("DeleteRow", message, lambda _: None)


def _increment(place: HistoryRow, asked: ClientCall) -> CallRequest:
    counted = cell(_COLUMN, asked.value, operation=CellOperation.INCREMENT.value)
    message = m.UpdateRowRequest(
        table_name=HISTORY_TABLE,
        row_change=row_buffer(place.key, [counted]),
        condition=ANY,
        return_content=m.ReturnContent(
            return_type=ReturnType.AFTER_MODIFY.value, return_column_names=[_COLUMN]
        ),
    )
    return CallRequest(
        "UpdateRow", message, lambda body: _value(m.UpdateRowResponse.FromString(body).row)
    )


_MADE: Final[Mapping[CallKind, Callable[[HistoryRow, ClientCall], CallRequest]]] = MappingProxyType(
    {
        CallKind.GET: _get,
        CallKind.PUT: _put,
        CallKind.SWAP: _swap,
        CallKind.DELETE: _delete,
        CallKind.INCREMENT: _increment,
    }
)


# The number of the change in a batch, and the field of a single request that holds the row.
_BATCHED: Final[Mapping[CallKind, tuple[int, str]]] = MappingProxyType(
    {
        CallKind.PUT: (1, "row"),
        CallKind.SWAP: (1, "row"),
        CallKind.INCREMENT: (2, "row_change"),
        CallKind.DELETE: (3, "primary_key"),
    }
)


def _expecting(value: int) -> m.Condition:
    """The condition that the column holds `value`."""
    single = m.SingleColumnValueFilter(
        comparator=Comparator.EQUAL.value,
        column_name=_COLUMN,
        column_value=encode_variant(value),
        filter_if_missing=True,
        latest_version_only=True,
    )
    tree = m.Filter(type=1, filter=single.SerializeToString())
    return m.Condition(row_existence=0, column_condition=tree.SerializeToString())


def _value(row: bytes) -> int | None:
    columns = plain(decode_row(row[_ROW_HEADER_BYTES:]))
    value = None if columns is None else columns.get(_COLUMN)
    assert value is None or isinstance(value, int)
    return value


_ANSWERS: Final[Mapping[CallKind, Callable[[bytes], int | bool | None]]] = MappingProxyType(
    {
        CallKind.GET: _value,
        CallKind.INCREMENT: _value,
        CallKind.SWAP: lambda _: True,
        CallKind.PUT: lambda _: None,
        CallKind.DELETE: lambda _: None,
    }
)
