"""Messages that ask for what is not allowed, over HTTP: definitions of tables, reads, writes.

Each is a right request with one thing changed. The answer is the service's own, status, code and
text (semantics §2, §4, §5, §18); nothing is written by it.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import pytest
from google.protobuf.message import Message
from tests.support.buffers import key_buffer
from tests.support.http import Sender, Wire, assert_refused
from tests.support.requests import (
    ANY,
    KEY,
    batch_get_request,
    batch_write_request,
    bulk_export_request,
    bulk_import_request,
    create_table_request,
    delete_row_request,
    get_range_request,
    get_row_request,
    put_row_request,
    update_row_request,
    update_table_request,
)

from widerow.wire.tablestore import messages as m

TABLE: Final = "T"
NEW: Final = "New"

Error = tuple[int, str, str]
Change = Callable[[Any], object]
Case = tuple[str, Change, Error]
"""The action, what is changed in its message, and the answer."""

MESSAGES: Final[dict[str, Callable[[], Message]]] = {
    "CreateTable": lambda: create_table_request(NEW),
    "UpdateTable": lambda: update_table_request(TABLE),
    "GetRow": lambda: get_row_request(TABLE),
    "BatchGetRow": lambda: batch_get_request(TABLE),
    "GetRange": lambda: get_range_request(TABLE),
    "PutRow": lambda: put_row_request(TABLE),
    "UpdateRow": lambda: update_row_request(TABLE),
    "DeleteRow": lambda: delete_row_request(TABLE),
    "BatchWriteRow": lambda: batch_write_request(TABLE),
    "BulkImport": lambda: bulk_import_request(TABLE),
    "BulkExport": lambda: bulk_export_request(TABLE),
}


def invalid(message: str) -> Error:
    return 400, "OTSParameterInvalid", message


def unsupported(feature: str) -> Error:
    return 400, "OTSUnsupportOperation", f"Unsupported feature: {feature}."


def put(**values: object) -> Change:
    """Set fields of the message."""

    def change(message: Message) -> None:
        for name, value in values.items():
            setattr(message, name, value)

    return change


def put_in(part: str, **values: object) -> Change:
    """Set fields of a message inside the message; `part` is the way there, with dots."""

    def change(message: Any) -> None:  # noqa: ANN401  # any message of the protocol
        for name in part.split("."):
            message = getattr(message, name)
        put(**values)(message)

    return change


def leave_out(part: str) -> Change:
    """Take a field out; the last part of the way is the field."""
    *way, name = part.split(".")

    def change(message: Any) -> None:  # noqa: ANN401  # any message of the protocol
        for each in way:
            message = getattr(message, each)
        message.ClearField(name)

    return change


def keys(*types: int) -> Change:
    def change(message: m.CreateTableRequest) -> None:
        del message.table_meta.primary_key[:]
        for number, kind in enumerate(types):
            message.table_meta.primary_key.add(name=f"k{number}", type=kind)

    return change


def name_key(name: str) -> Change:
    return lambda message: setattr(message.table_meta.primary_key[1], "name", name)


def count_up(number: int, times: int = 1) -> Change:
    """Make key columns auto-increment, from `number` on."""

    def change(message: m.CreateTableRequest) -> None:
        for column in message.table_meta.primary_key[number : number + times]:
            column.option = 1

    return change


def define(*columns: tuple[str, int]) -> Change:
    def change(message: m.CreateTableRequest) -> None:
        for name, kind in columns:
            message.table_meta.defined_column.add(name=name, type=kind)

    return change


def split_at(*bounds: bytes) -> Change:
    def change(message: m.CreateTableRequest) -> None:
        for begin, end in pairwise(bounds):
            message.partitions.add(begin=begin, end=end)

    return change


def text(value: bytes) -> bytes:
    return b"\x03" + len(value).to_bytes(4, "little") + value


def repeat_key(times: int) -> Change:
    return lambda message: message.tables[0].primary_key.extend([key_buffer(KEY)] * (times - 1))


def repeat_row(times: int, row_existence: int = 0) -> Change:
    def change(message: m.BatchWriteRowRequest) -> None:
        rows = message.tables[0].rows
        rows[0].condition.row_existence = row_existence
        rows.extend([rows[0]] * (times - 1))

    return change


def in_first_row(change: Change) -> Change:
    return lambda message: change(message.tables[0].rows[0])


LOW: Final = b"\x09"  # INF_MIN
HIGH: Final = b"\x0a"  # INF_MAX
OFFSET_MAX: Final = (2**63 - 1) // 1_000_000
TIME_TO_LIVE: Final = invalid("TimeToLive cannot be 0 or less than -1.")
KEY_COUNT: Final = invalid("The number of primary key columns must be in range: [1, 4].")
OFFSET: Final = invalid("The maximum deviation must be in range [0, INT64_MAX/1000000].")
CREATE: Final[dict[str, tuple[Change, Error]]] = {
    "no key": (keys(), KEY_COUNT),
    "five keys": (keys(1, 1, 1, 1, 1), KEY_COUNT),
    "a boolean key": (keys(5), invalid("BOOLEAN is an invalid type for the primary key.")),
    "two keys of one name": (name_key("k"), invalid("Duplicated primary key name: 'k'.")),
    "no key name": (name_key("#"), invalid("Invalid column name: '#'.")),
    "a counting first key": (
        lambda message: (keys(1, 1)(message), count_up(0)(message)),
        invalid("First primary key can't be auto increment, table: New."),
    ),
    "two counting keys": (
        lambda message: (keys(2, 1, 1)(message), count_up(1, 2)(message)),
        invalid("AUTO_INCREMENT primary key count must <= 1."),
    ),
    "a counting text": (
        lambda message: (keys(2, 2)(message), count_up(1)(message)),
        invalid("AUTO_INCREMENT primary key must be integer."),
    ),
    "33 defined columns": (
        define(*((f"c{number}", 1) for number in range(33))),
        invalid("The number of defined columns must be in range: [0, 32]."),
    ),
    "a column of no type": (define(("c", 6)), invalid("Invalid column type: 6.")),
    "no time to live": (
        leave_out("table_options.time_to_live"),
        invalid("Time-to-live is missing while creating table."),
    ),
    "no max versions": (
        leave_out("table_options.max_versions"),
        invalid("MaxVersions is missing while creating table."),
    ),
    "time to live 0": (put_in("table_options", time_to_live=0), TIME_TO_LIVE),
    "time to live -2": (put_in("table_options", time_to_live=-2), TIME_TO_LIVE),
    "max versions 0": (
        put_in("table_options", max_versions=0),
        invalid("The maximum versions cannot be less than or equal to 0."),
    ),
    "offset -1": (put_in("table_options", deviation_cell_version_in_sec=-1), OFFSET),
    "offset too large": (
        put_in("table_options", deviation_cell_version_in_sec=OFFSET_MAX + 1),
        OFFSET,
    ),
    "read units -1": (
        put_in("reserved_throughput.capacity_unit", read=-1),
        invalid("The value of read capacity unit can not be less than 0."),
    ),
    "write units -1": (
        put_in("reserved_throughput.capacity_unit", write=-1),
        invalid("The value of write capacity unit can not be less than 0."),
    ),
    "no write units": (
        leave_out("reserved_throughput.capacity_unit.write"),
        invalid("Both read and write capacity unit are required to create table."),
    ),
    "eleven partitions": (
        split_at(LOW, *(text(b"%02d" % number) for number in range(10)), HIGH),
        invalid("The count of partitions cannot be greater than 10"),
    ),
    "a bound of another type": (
        split_at(LOW, b"\x00" + bytes(8), HIGH),
        invalid("The value type of partition does not match with primary key."),
    ),
    "an empty bound": (
        split_at(LOW, text(b""), HIGH),
        invalid("The value of partition range can not be empty string."),
    ),
    "a long bound": (
        split_at(LOW, text(b"x" * 65), HIGH),
        invalid("The value of partition range exceeds the MaxLength:64 with CurrentLength:65."),
    ),
    "a bound that is not a value": (
        split_at(LOW, b"\xff", HIGH),
        invalid("The value type of partition does not match with primary key."),
    ),
    "an index of no column": (
        lambda message: message.index_metas.add(name="i", index_update_mode=0, index_type=0),
        invalid("The number of primary key columns must be in range: [1, 4] in index."),
    ),
    "a table that exists": (
        put_in("table_meta", table_name=TABLE),
        (409, "OTSObjectAlreadyExist", "Requested table already exists."),
    ),
}
UPDATE: Final[dict[str, tuple[Change, Error]]] = {
    "empty options": (
        leave_out("table_options.max_versions"),
        invalid("No parameter is specified in table options."),
    ),
    "time to live 0": (put_in("table_options", time_to_live=0), TIME_TO_LIVE),
    "max versions 0": (
        put_in("table_options", max_versions=0),
        invalid("The maximum versions cannot be less than or equal to 0."),
    ),
    "offset -1": (put_in("table_options", deviation_cell_version_in_sec=-1), OFFSET),
    "units too soon": (
        put_in("reserved_throughput.capacity_unit", read=1),
        (
            403,
            "OTSTooFrequentReservedThroughputAdjustment",
            "Capacity unit adjustment is too frequent.",
        ),
    ),
    "negative units": (
        put_in("reserved_throughput.capacity_unit", read=-1, write=-1),
        invalid(
            "Invalid Capacity Unit for UpdateTable: Either read(-1) or write(-1) should be "
            "non-negative."
        ),
    ),
}
TIMES: Final[dict[str, tuple[Change, Error]]] = {
    "half a time range": (
        put_in("time_range", start_time=1),
        invalid("Start and end time must be given at the same time."),
    ),
    "a time and a range": (
        put_in("time_range", start_time=1, end_time=2, specific_time=1),
        invalid("Specific tiemstamp and time range cannot be given at the same time."),
    ),
    "a time and versions": (
        put_in("time_range", specific_time=1),
        invalid("Specific tiemstamp and max versions cannot be given at the same time."),
    ),
    "a time before 1970": (
        put_in("time_range", start_time=-1, end_time=2),
        invalid("Timestamp must be in range [0, INT64_MAX/1000)."),
    ),
}
READ: Final[dict[str, tuple[Change, Error]]] = TIMES | {
    "versions 0": (
        put(max_versions=0),
        invalid("Invalid max versions: 0 . Reason: Max versions must be positive."),
    ),
    "1025 columns": (
        lambda message: message.columns_to_get.extend(f"c{number}" for number in range(1025)),
        invalid(
            "The number of columns from the request exceeds the limit, limit count: 1024, "
            "column count: 1025."
        ),
    ),
    "no column name": (
        lambda message: message.columns_to_get.append("#"),
        invalid("Invalid column name: '#'."),
    ),
    "no filter": (put(filter=b"\xff"), invalid("Deserialize filter failed.")),
    "a filter of no type": (
        put(filter=b"\x08\x09\x12\x00"),
        invalid("Invalid type of filter: 9."),
    ),
    "a relation that is none": (
        put(filter=b"\x08\x01\x12\x01\xff"),
        invalid("Deserialize relation filter failed."),
    ),
    "a composite that is none": (
        put(filter=b"\x08\x02\x12\x01\xff"),
        invalid("Deserialize composite filter failed."),
    ),
    "a page that is none": (
        put(filter=b"\x08\x03\x12\x01\xff"),
        invalid("Deserialize column pagination filter failed."),
    ),
}
ONE_READ: Final = READ | {
    "no versions": (
        leave_out("max_versions"),
        invalid("No version condition is specified."),
    ),
    "no transaction": (put(transaction_id="guess"), invalid("TransactionID is invalid.")),
}
RANGE: Final = ONE_READ | {
    "limit 0": (put(limit=0), invalid("The limit must be greater than 0.")),
    "limit -1": (put(limit=-1), invalid("The limit must be greater than 0.")),
    "from a key to itself": (
        put(exclusive_end_primary_key=key_buffer(KEY)),
        invalid("Begin key must less than end key in FORWARD"),
    ),
    "backwards to a later key": (
        put(direction=1),
        invalid("Begin key must more than end key in BACKWARD"),
    ),
}
BATCH_GET: Final = {
    "no versions": (
        lambda message: message.tables[0].ClearField("max_versions"),
        invalid("No version condition is specified while querying row."),
    ),
    "101 rows": (repeat_key(101), invalid("Rows count exceeds the upper limit: 100.")),
}
WRITE: Final[dict[str, tuple[Change, Error]]] = {
    "no condition known": (
        put_in("condition", row_existence=9),
        invalid("Invalid row-existence expectation: 9."),
    ),
    "a condition that is not a filter": (
        put_in("condition", column_condition=b"\xff"),
        invalid("Deserialize filter failed."),
    ),
    "no return type known": (
        put_in("return_content", return_type=9),
        invalid("Invalid return type: 9."),
    ),
}
ONE_WRITE: Final = WRITE | {
    "no transaction": (put(transaction_id="guess"), invalid("TransactionID is invalid.")),
    "a condition that fails": (
        put_in("condition", row_existence=2),
        (403, "OTSConditionCheckFail", "Row exists which is expected nonexistent"),
    ),
}
BATCH_WRITE: Final = {
    name: (in_first_row(change), error) for name, (change, error) in WRITE.items()
} | {
    "no rows": (
        lambda message: message.tables[0].ClearField("rows"),
        invalid("No operation is specified for table: 'T'."),
    ),
    "201 rows": (repeat_row(201), invalid("Rows count exceeds the upper limit: 200.")),
    "a row of no type": (
        in_first_row(put(type=9)),
        invalid("The type of row in batch write operation is invalid."),
    ),
    "a row twice with an expectation": (
        repeat_row(2, row_existence=1),
        invalid("Repeated rows do not support row exist expectation check in BatchModify."),
    ),
    "no transaction": (put(transaction_id="guess"), invalid("TransactionID is invalid.")),
}
BULK_IMPORT: Final = {
    "no rows": (leave_out("rows"), invalid(f"No operation is specified for table: '{TABLE}'.")),
    "201 rows": (
        lambda message: message.rows.extend([message.rows[0]] * 200),
        invalid("Rows count exceeds the upper limit: 200."),
    ),
    "a row of no type": (
        lambda message: put(type=9)(message.rows[0]),
        invalid("The type of row in batch write operation is invalid."),
    ),
}
BULK_EXPORT: Final = {
    "a matrix of no columns": (
        leave_out("columns_to_get"),
        invalid("DBT_SIMPLE_ROW_MATRIX need at least one column to get."),
    ),
    "1025 columns": (
        lambda message: message.columns_to_get.extend([f"x{n}" for n in range(1024)]),
        invalid(
            "The number of columns from the request exceeds the limit, "
            "limit count: 1024, column count: 1025."
        ),
    ),
    "bounds of one column": (
        put(
            inclusive_start_primary_key=key_buffer(KEY[:1]),
            exclusive_end_primary_key=key_buffer((("k", "z"),)),
        ),
        (400, "OTSInvalidPK", "Validate PK size fail. Input: 1, Meta: 2."),
    ),
    "equal bounds": (
        put(exclusive_end_primary_key=key_buffer(KEY)),
        invalid("Begin key must less than end key in FORWARD"),
    ),
    "an unknown form": (put(data_block_type_hint=7), invalid("Invalid data block type: 7.")),
}
ALL: Final = {
    "CreateTable": CREATE,
    "UpdateTable": UPDATE,
    "GetRow": ONE_READ,
    "GetRange": RANGE,
    "BatchGetRow": BATCH_GET,
    "PutRow": ONE_WRITE,
    "UpdateRow": ONE_WRITE,
    "BatchWriteRow": BATCH_WRITE,
    "BulkImport": BULK_IMPORT,
    "BulkExport": BULK_EXPORT,
    "DeleteRow": ONE_WRITE,
}


@pytest.mark.parametrize(
    ("action", "name"), [(action, name) for action, cases in ALL.items() for name in cases]
)
def test_what_is_not_allowed_is_refused(wire: Wire, sender: Sender, action: str, name: str) -> None:
    change, error = ALL[action][name]
    message = MESSAGES[action]()
    change(message)
    answer = wire.ask(sender.request(action, message.SerializePartialToString()))
    assert_refused(sender, action, answer, error)


def test_a_batch_with_one_wrong_row_writes_none_of_them(wire: Wire, sender: Sender) -> None:
    """Rows that no table would take refuse the request, also those before them (semantics §3)."""
    message = batch_write_request(TABLE)
    good = message.tables[0].rows[0]
    message.tables[0].rows.add(type=1, row_change=good.row_change[:-1], condition=ANY)
    answer = wire.ask(sender.request("BatchWriteRow", message.SerializeToString()))
    assert answer.error[:2] == (400, "OTSParameterInvalid")
