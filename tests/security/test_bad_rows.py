"""PlainBuffers that are wrong, over HTTP, wherever a request carries one (wire §2).

Keys of reads and writes, both ends of a range, rows of batches. What is damaged or of another
shape than the table refuses the request (semantics §1, §3, §4), or in a batch the row where the
service says so; nothing of it is written.
"""

from collections.abc import Callable, Sequence
from typing import Final

import pytest
from tests.support.buffers import cell, key_buffer, row_buffer, row_of_cells
from tests.support.http import Answer, Sender, Wire, assert_refused
from tests.support.requests import ANY, KEY

from widerow.model.values import KeyInput, KeyMarker
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.bodies import text

TABLE: Final = "T"
HEADER: Final = b"\x75\x00\x00\x00"
END: Final = (("k", "z"), ("n", 1))
DAY_MS: Final = 86_400_000

Error = tuple[int, str, str]
Columns = Sequence[tuple[str, KeyInput]]


def invalid(message: str) -> Error:
    return 400, "OTSParameterInvalid", message


def wrong_key(message: str) -> Error:
    return 400, "OTSInvalidPK", message


# --- where a PlainBuffer stands ------------------------------------------------------------------


def in_put(buffer: bytes) -> bytes:
    return m.PutRowRequest(table_name=TABLE, row=buffer, condition=ANY).SerializeToString()


def in_update(buffer: bytes) -> bytes:
    sent = m.UpdateRowRequest(table_name=TABLE, row_change=buffer, condition=ANY)
    return sent.SerializeToString()


def in_delete(buffer: bytes) -> bytes:
    sent = m.DeleteRowRequest(table_name=TABLE, primary_key=buffer, condition=ANY)
    return sent.SerializeToString()


def in_batch(kind: int) -> Callable[[bytes], bytes]:
    def body(buffer: bytes) -> bytes:
        row = m.RowInBatchWriteRowRequest(type=kind, row_change=buffer, condition=ANY)
        table = m.TableInBatchWriteRowRequest(table_name=TABLE, rows=[row])
        return m.BatchWriteRowRequest(tables=[table]).SerializeToString()

    return body


def in_get(buffer: bytes) -> bytes:
    sent = m.GetRowRequest(table_name=TABLE, primary_key=buffer, max_versions=1)
    return sent.SerializeToString()


def in_batch_get(buffer: bytes) -> bytes:
    table = m.TableInBatchGetRowRequest(table_name=TABLE, primary_key=[buffer], max_versions=1)
    return m.BatchGetRowRequest(tables=[table]).SerializeToString()


def in_range(start: bytes, end: bytes) -> bytes:
    return m.GetRangeRequest(
        table_name=TABLE,
        direction=0,
        max_versions=1,
        inclusive_start_primary_key=start,
        exclusive_end_primary_key=end,
    ).SerializeToString()


# The action, and the body around a buffer.
READS: Final[dict[str, tuple[str, Callable[[bytes], bytes]]]] = {
    "GetRow": ("GetRow", in_get),
    "BatchGetRow": ("BatchGetRow", in_batch_get),
}
RANGES: Final[dict[str, tuple[str, Callable[[bytes], bytes]]]] = {
    "start of GetRange": ("GetRange", lambda buffer: in_range(buffer, key_buffer(END))),
    "end of GetRange": ("GetRange", lambda buffer: in_range(key_buffer(KEY), buffer)),
}
DELETES: Final[dict[str, tuple[str, Callable[[bytes], bytes]]]] = {
    "DeleteRow": ("DeleteRow", in_delete),
    "delete in BatchWriteRow": ("BatchWriteRow", in_batch(3)),
}
PUTS: Final[dict[str, tuple[str, Callable[[bytes], bytes]]]] = {
    "PutRow": ("PutRow", in_put),
    "put in BatchWriteRow": ("BatchWriteRow", in_batch(1)),
}
UPDATES: Final[dict[str, tuple[str, Callable[[bytes], bytes]]]] = {
    "UpdateRow": ("UpdateRow", in_update),
    "update in BatchWriteRow": ("BatchWriteRow", in_batch(2)),
}
WITH_CELLS: Final = PUTS | UPDATES
WRITES: Final = WITH_CELLS | DELETES
POINTS: Final = READS | WRITES
PLACES: Final = POINTS | RANGES


def good_buffer(place: str, columns: Columns = KEY) -> bytes:
    """What stands there in a right request."""
    cells = [cell("c", "changed"), cell("d", 7)] if place in WITH_CELLS else []
    return row_buffer(columns, cells, marker=place in DELETES)


def ask(wire: Wire, sender: Sender, place: str, buffer: bytes) -> Answer:
    action, body = PLACES[place]
    return wire.ask(sender.request(action, body(buffer)))


def refused(wire: Wire, sender: Sender, place: str, buffer: bytes, error: Error) -> None:
    assert_refused(sender, PLACES[place][0], ask(wire, sender, place, buffer), error)


# --- damage (wire §2.1, §2.2) --------------------------------------------------------------------


def flip(buffer: bytes, at: int) -> bytes:
    """Another byte at `at`, negative from the end."""
    changed = bytearray(buffer)
    changed[at] ^= 0xFF
    return bytes(changed)


def checksum_at(buffer: bytes, mark: bytes) -> int:
    """Where the checksum of the cell with `mark` in it stands: behind the tag after its value."""
    return buffer.index(b"\x0a", buffer.index(mark)) + 1


def mismatch(buffer: bytes, at: int) -> Error:
    sent, right = buffer[at] ^ 0xFF, buffer[at]
    return invalid(f"Cell data broken, checksum is mismatch, {sent} :{right} :")


@pytest.mark.parametrize("place", PLACES)
def test_a_wrong_checksum_of_a_key_cell_is_refused(wire: Wire, sender: Sender, place: str) -> None:
    good = good_buffer(place)
    at = checksum_at(good, b"\x01\x00\x00\x00k\x05\x06")
    refused(wire, sender, place, flip(good, at), mismatch(good, at))


@pytest.mark.parametrize("place", WITH_CELLS)
def test_a_wrong_checksum_of_a_cell_is_refused(wire: Wire, sender: Sender, place: str) -> None:
    good = good_buffer(place)
    at = checksum_at(good, b"changed")
    refused(wire, sender, place, flip(good, at), mismatch(good, at))


@pytest.mark.parametrize("place", PLACES)
def test_a_wrong_checksum_of_the_row_is_refused(wire: Wire, sender: Sender, place: str) -> None:
    good = good_buffer(place)
    refused(wire, sender, place, flip(good, -1), mismatch(good, -1))


@pytest.mark.parametrize("place", PLACES)
def test_any_changed_byte_is_refused(wire: Wire, sender: Sender, place: str) -> None:
    good = good_buffer(place)
    for at in range(len(good)):
        answer = ask(wire, sender, place, flip(good, at))
        assert answer.error[:2] == (400, "OTSParameterInvalid"), at


@pytest.mark.parametrize("place", PLACES)
def test_a_buffer_cut_anywhere_is_refused(wire: Wire, sender: Sender, place: str) -> None:
    good = good_buffer(place)
    for length in range(len(good)):
        answer = ask(wire, sender, place, good[:length])
        assert answer.error[:2] == (400, "OTSParameterInvalid"), length


SHAPES: Final = {
    "nothing": (b"", "Cell data broken, mismatch header, actual: 0 , expect: 117."),
    "another header": (
        b"\x76\x00\x00\x00",
        "Cell data broken, mismatch header, actual: 118 , expect: 117.",
    ),
    "a header only": (HEADER, "Cell data broken, PK is empty."),
    "no key cells": (HEADER + b"\x01\x09\x00", "Cell data broken, no PK follow PKTag."),
    "another tag": (
        HEADER + b"\x02\x09\x00",
        "Cell data broken, mismatch tag, actual tag(2), expect(1).",
    ),
    "a cell without a name": (
        HEADER + b"\x01\x03\x05\x01\x00\x00\x00\x09\x0a\x00",
        "Cell data broken, attr has no name.",
    ),
    "a name of 4 GiB": (
        HEADER + b"\x01\x03\x04\xff\xff\xff\xffk\x0a\x00\x09\x00",
        "Cell data broken, row is not end with checksum tag.",
    ),
    "a value of 2 GiB": (
        HEADER + b"\x01\x03\x04\x01\x00\x00\x00k\x05\xff\xff\xff\x7f\x03\x0a\x00\x09\x00",
        "Cell data broken, row is not end with checksum tag.",
    ),
    "a JSON document": (
        b'{"k": "a"}',
        "Cell data broken, mismatch header, actual: 577446523 , expect: 117.",
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_no_buffer_is_refused(wire: Wire, sender: Sender, place: str, shape: str) -> None:
    buffer, message = SHAPES[shape]
    refused(wire, sender, place, buffer, invalid(message))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("more", [b"\x01", b"\x00\x00\x01", HEADER])
def test_more_than_a_row_is_refused(wire: Wire, sender: Sender, place: str, more: bytes) -> None:
    message = "Cell data broken, has more data in cell, but they can't be parsed."
    refused(wire, sender, place, good_buffer(place) + more, invalid(message))


# --- keys that are not the table's (semantics §3) ------------------------------------------------

OTHER_KEYS: Final[dict[str, tuple[Columns, str]]] = {
    "one column": ((("k", "a"),), "Validate PK size fail. Input: 1, Meta: 2."),
    "three columns": ((*KEY, ("o", 1)), "Validate PK size fail. Input: 3, Meta: 2."),
    "another name": (
        (("kk", "a"), ("n", 1)),
        "Validate PK name fail. Input: kk, Meta: k.",
    ),
    "another order": ((("n", 1), ("k", "a")), "Validate PK name fail. Input: n, Meta: k."),
    "an integer for a text": (
        (("k", 1), ("n", 1)),
        "Validate PK type fail. Input: VT_INTEGER, Meta: VT_STRING.",
    ),
    "a binary for a text": (
        (("k", b"a"), ("n", 1)),
        "Validate PK type fail. Input: VT_BLOB, Meta: VT_STRING.",
    ),
    "a text for an integer": (
        (("k", "a"), ("n", "1")),
        "Validate PK type fail. Input: VT_STRING, Meta: VT_INTEGER.",
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", OTHER_KEYS)
def test_a_key_of_another_table_is_refused(
    wire: Wire, sender: Sender, place: str, name: str
) -> None:
    columns, message = OTHER_KEYS[name]
    answer = ask(wire, sender, place, good_buffer(place, columns))
    action = PLACES[place][0]
    if not action.startswith("Batch"):
        assert_refused(sender, action, answer, wrong_key(message))
        return
    assert answer.status == 200  # in a batch the row fails and not the request
    (row,) = m.BatchWriteRowResponse.FromString(answer.body).tables[0].rows
    assert not row.is_ok
    assert (row.error.code, row.error.message) == ("OTSInvalidPK", message)


NO_KEYS: Final[dict[str, tuple[Columns, str]]] = {
    "a long text": (
        (("k", "x" * 1025), ("n", 1)),
        "The length of primary key column: 'k' exceeds the MaxLength:1024 with CurrentLength:1025.",
    ),
    "a text of long letters": (
        (("k", "杭" * 342), ("n", 1)),
        "The length of primary key column: 'k' exceeds the MaxLength:1024 with CurrentLength:1026.",
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NO_KEYS)
def test_what_no_table_has_as_a_key_is_refused(
    wire: Wire, sender: Sender, place: str, name: str
) -> None:
    columns, message = NO_KEYS[name]
    refused(wire, sender, place, good_buffer(place, columns), invalid(message))


@pytest.mark.parametrize("place", POINTS)
@pytest.mark.parametrize("marker", [KeyMarker.INF_MIN, KeyMarker.INF_MAX])
def test_a_row_is_not_at_infinity(
    wire: Wire, sender: Sender, place: str, marker: KeyMarker
) -> None:
    buffer = good_buffer(place, (("k", "a"), ("n", marker)))
    message = f"VT_{marker.value} is an invalid type for the primary key."
    refused(wire, sender, place, buffer, invalid(message))


@pytest.mark.parametrize("place", READS | RANGES)
def test_reads_want_concrete_keys(wire: Wire, sender: Sender, place: str) -> None:
    buffer = good_buffer(place, (("k", "a"), ("n", KeyMarker.AUTO_INCREMENT)))
    message = "PKAutoIncr can't be used for read operations."
    refused(wire, sender, place, buffer, invalid(message))


def with_key_value(place: str, variant: bytes) -> bytes:
    """A right buffer but for the bytes of the first key value; its checksums hold."""
    cells = [cell("c", "changed")] if place in WITH_CELLS else []
    keys = [cell("k", variant=variant), cell("n", 1)]
    return row_of_cells(keys, cells, marker=place in DELETES)


NO_KEY_VALUES: Final = {
    "a double": (b"\x01" + bytes(8), "double can not be used as primary key."),
    "no text": (b"\x03\x03\x00\x00\x00a\xff\xfe", "Value of column k must be UTF8 encoding."),
    "a text of another length": (
        b"\x03\x07\x00\x00\x00abc",
        "Cell data broken, wrong string format, size: 8.",
    ),
    "a long integer": (b"\x00" + bytes(9), "data format is invalid."),
    "nothing": (b"", "data format is invalid."),
    "no value": (b"\x06", "Cell data broken, PK value cannot be NULL, name: k."),
    "an unknown type": (
        b"\x63" + bytes(8),
        "Unknown or unsupported CellType in primary key: k.",
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NO_KEY_VALUES)
def test_what_is_no_key_value_is_refused(wire: Wire, sender: Sender, place: str, name: str) -> None:
    encoded, message = NO_KEY_VALUES[name]
    refused(wire, sender, place, with_key_value(place, encoded), invalid(message))


# --- cells (semantics §1.3, §1.4, §4) ------------------------------------------------------------

TIMES: Final = "Timestamp must be in range [0, INT64_MAX/1000)."
CELLS: Final[dict[str, tuple[list[bytes], str]]] = {
    "NaN": ([cell("c", float("nan"))], "NaN can't be set to double value."),
    "infinity": ([cell("c", float("-inf"))], "Infinity can't be set to double value."),
    "no name": ([cell("", 1)], "Invalid column name: ''."),
    "a name with a #": ([cell("#c", 1)], "Invalid column name: '#c'."),
    "a long name": ([cell("c" * 256, 1)], f"Invalid column name: '{'c' * 256}'."),
    "the name of a key": (
        [cell("n", 1)],
        "Duplicated attribute column name with primary key column: 'n'.",
    ),
    "a long value": (
        [cell("c", bytes(2 * 1024 * 1024 + 1))],
        (
            "The length of attribute column: 'c' exceeds the MaxLength:2097152 with "
            "CurrentLength:2097153."
        ),
    ),
    "1025 cells": (
        [cell(f"c{number}", 1) for number in range(1025)],
        "The number of attribute columns exceeds the limit, limit count: 1024, column count: 1025.",
    ),
    "a version before 1970": ([cell("c", 1, version=-1)], TIMES),
    "a version too far": ([cell("c", 1, version=(2**63 - 1) // 1000)], TIMES),
    "a version of 1970": ([cell("c", 1, version=0)], "Invalid timestamp. Cell:c. Timestamp:0."),
    "good before bad": (
        [cell("c", "changed"), cell("d", float("nan"))],
        "NaN can't be set to double value.",
    ),
}


@pytest.mark.parametrize("place", WITH_CELLS)
@pytest.mark.parametrize("name", CELLS)
def test_what_is_no_cell_is_refused(wire: Wire, sender: Sender, place: str, name: str) -> None:
    cells, message = CELLS[name]
    answer = ask(wire, sender, place, row_buffer(KEY, cells))
    action = PLACES[place][0]
    if action == "BatchWriteRow" and answer.status == 200:  # known only from the table
        assert name == "a version of 1970"
        (row,) = m.BatchWriteRowResponse.FromString(answer.body).tables[0].rows
        assert row.error.code == "OTSParameterInvalid"
        assert text(row.error.message).startswith(message)
        return
    error = invalid(message)
    if name == "a version of 1970":  # the bounds that follow depend on the time
        assert answer.error[2].startswith(message)
        error = answer.error
    assert_refused(sender, action, answer, error)


@pytest.mark.parametrize("place", PUTS)
@pytest.mark.parametrize("operation", [1, 3, 4, 99])
def test_a_put_has_no_operations(wire: Wire, sender: Sender, place: str, operation: int) -> None:
    buffer = row_buffer(KEY, [cell("c", 1, operation=operation)])
    message = "OpType cannot be given for column name: c in PutRow."
    refused(wire, sender, place, buffer, invalid(message))


ON_DELETE: Final = (
    "Column value cannot be given when type is DELETE_ONE_VERSION,DELETE_ALL_VERSION."
)
OPERATIONS: Final = {
    "unknown": (cell("c", 1, operation=99), "Invalid op type of cell: 99."),
    "delete one, no version": (
        cell("c", operation=3),
        "Timestamp must be given when type is DELETE_ONE_VERSION.",
    ),
    "delete one, a value": (cell("c", 1, operation=3, version=DAY_MS), ON_DELETE),
    "delete all, a value": (cell("c", 1, operation=1), ON_DELETE),
    "delete all, a version": (
        cell("c", operation=1, version=DAY_MS),
        "Timestamp cannot be given when type is DELETE_ALL_VERSION.",
    ),
    "put, no value": (cell("c"), "No value is given for column name."),
    "increment, no value": (cell("c", operation=4), "No value is given for column name."),
}


@pytest.mark.parametrize("place", UPDATES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_what_is_no_update_is_refused(wire: Wire, sender: Sender, place: str, name: str) -> None:
    bad, message = OPERATIONS[name]
    buffer = row_buffer(KEY, [cell("c", "changed"), bad])
    refused(wire, sender, place, buffer, invalid(message))


@pytest.mark.parametrize("place", UPDATES)
def test_an_update_of_nothing_is_refused(wire: Wire, sender: Sender, place: str) -> None:
    message = "Invalid update row request: missing cells in request"
    refused(wire, sender, place, key_buffer(KEY), invalid(message))


@pytest.mark.parametrize("place", DELETES)
def test_a_delete_has_no_cells(wire: Wire, sender: Sender, place: str) -> None:
    buffer = row_buffer(KEY, [cell("c", 1)], marker=True)
    message = "Invalid delete row request: unexpected cells in request"
    refused(wire, sender, place, buffer, invalid(message))


@pytest.mark.parametrize("place", WITH_CELLS)
def test_only_a_delete_is_marked_as_one(wire: Wire, sender: Sender, place: str) -> None:
    buffer = row_buffer(KEY, [cell("c", 1)], marker=True)
    message = "Invalid request of put/update row: unexpected RowDeleteMarker in request."
    refused(wire, sender, place, buffer, invalid(message))


@pytest.mark.parametrize("place", READS | RANGES)
def test_a_read_has_no_cells(wire: Wire, sender: Sender, place: str) -> None:
    message = "Attribute column cannot be given while reading data."
    refused(wire, sender, place, row_buffer(KEY, [cell("c", 1)]), invalid(message))


@pytest.mark.parametrize("place", READS | RANGES)
def test_a_read_is_not_marked_as_a_delete(wire: Wire, sender: Sender, place: str) -> None:
    buffer = row_buffer(KEY, marker=True)
    refused(wire, sender, place, buffer, invalid("Delete marker cannot be given."))
