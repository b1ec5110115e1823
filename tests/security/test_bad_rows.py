"""PlainBuffers that are wrong, over HTTP, wherever a request carries one (wire §2).

Keys of reads and writes, both ends of a range, rows of batches. What is damaged or of another
shape than the table refuses the request (semantics §1, §3, §4), or in a batch the row where the
service says so; nothing of it is written.

One case of a rule, in every place: `tests/unit/wire/tablestore/test_plainbuffer.py` has all cases.
"""

from collections.abc import Callable
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

Error = tuple[int, str, str]
Columns = tuple[tuple[str, KeyInput], ...]


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


def test_a_wrong_checksum_is_refused(wire: Wire, sender: Sender) -> None:
    """Of a key cell, of the row, and of another cell where there is one."""
    for place in PLACES:
        good = good_buffer(place)
        wrong = [checksum_at(good, b"\x01\x00\x00\x00k\x05\x06"), -1]
        if place in WITH_CELLS:
            wrong.append(checksum_at(good, b"changed"))
        for at in wrong:
            refused(wire, sender, place, flip(good, at), mismatch(good, at))


NO_BUFFERS: Final = {
    b"": "Cell data broken, mismatch header, actual: 0 , expect: 117.",
    HEADER: "Cell data broken, PK is empty.",
    HEADER + b"\x01\x03\x04\xff\xff\xff\xffk\x0a\x00\x09\x00": (  # a name of 4 GiB
        "Cell data broken, row is not end with checksum tag."
    ),
    b'{"k": "a"}': "Cell data broken, mismatch header, actual: 577446523 , expect: 117.",
}


def test_what_is_no_buffer_is_refused(wire: Wire, sender: Sender) -> None:
    for place in PLACES:
        for buffer, message in NO_BUFFERS.items():
            refused(wire, sender, place, buffer, invalid(message))


def test_more_than_a_row_is_refused(wire: Wire, sender: Sender) -> None:
    message = "Cell data broken, has more data in cell, but they can't be parsed."
    for place in PLACES:
        refused(wire, sender, place, good_buffer(place) + HEADER, invalid(message))


# --- keys that are not the table's (semantics §3) ------------------------------------------------

OTHER_KEYS: Final[dict[Columns, str]] = {
    (("k", "a"),): "Validate PK size fail. Input: 1, Meta: 2.",
    (*KEY, ("o", 1)): "Validate PK size fail. Input: 3, Meta: 2.",
    (("n", 1), ("k", "a")): "Validate PK name fail. Input: n, Meta: k.",
    (("k", "a"), ("n", "1")): "Validate PK type fail. Input: VT_STRING, Meta: VT_INTEGER.",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_key_of_another_table_is_refused(wire: Wire, sender: Sender, place: str) -> None:
    action = PLACES[place][0]
    for columns, message in OTHER_KEYS.items():
        answer = ask(wire, sender, place, good_buffer(place, columns))
        if not action.startswith("Batch"):
            assert_refused(sender, action, answer, wrong_key(message))
            continue
        assert answer.status == 200  # in a batch the row fails and not the request
        (row,) = m.BatchWriteRowResponse.FromString(answer.body).tables[0].rows
        assert not row.is_ok
        assert (row.error.code, row.error.message) == ("OTSInvalidPK", message)


def test_a_long_key_value_is_refused(wire: Wire, sender: Sender) -> None:
    message = (
        "The length of primary key column: 'k' exceeds the MaxLength:1024 with CurrentLength:1026."
    )
    for place in PLACES:  # bytes count, not letters
        buffer = good_buffer(place, (("k", "杭" * 342), ("n", 1)))
        refused(wire, sender, place, buffer, invalid(message))


def test_a_row_is_not_at_infinity(wire: Wire, sender: Sender) -> None:
    for place in POINTS:
        for marker in (KeyMarker.INF_MIN, KeyMarker.INF_MAX):
            buffer = good_buffer(place, (("k", "a"), ("n", marker)))
            message = f"VT_{marker.value} is an invalid type for the primary key."
            refused(wire, sender, place, buffer, invalid(message))


def test_reads_want_concrete_keys(wire: Wire, sender: Sender) -> None:
    message = "PKAutoIncr can't be used for read operations."
    for place in READS | RANGES:
        buffer = good_buffer(place, (("k", "a"), ("n", KeyMarker.AUTO_INCREMENT)))
        refused(wire, sender, place, buffer, invalid(message))


def test_what_is_no_key_value_is_refused(wire: Wire, sender: Sender) -> None:
    """A double, in cells whose checksums are right."""
    keys = [cell("k", variant=b"\x01" + bytes(8)), cell("n", 1)]
    for place in PLACES:
        cells = [cell("c", "changed")] if place in WITH_CELLS else []
        buffer = row_of_cells(keys, cells, marker=place in DELETES)
        refused(wire, sender, place, buffer, invalid("double can not be used as primary key."))


# --- cells (semantics §1.3, §1.4, §4) ------------------------------------------------------------


def test_what_is_no_cell_is_refused_with_the_good_ones_before_it(
    wire: Wire, sender: Sender
) -> None:
    buffer = row_buffer(KEY, [cell("c", "changed"), cell("d", float("nan"))])
    for place in WITH_CELLS:
        refused(wire, sender, place, buffer, invalid("NaN can't be set to double value."))


def test_a_version_that_the_table_does_not_take_is_refused(wire: Wire, sender: Sender) -> None:
    """In a batch its row fails alone: only the table knows it."""
    buffer = row_buffer(KEY, [cell("c", 1, version=0)])
    message = "Invalid timestamp. Cell:c. Timestamp:0."  # the bounds behind it depend on the time
    for place in WITH_CELLS:
        answer = ask(wire, sender, place, buffer)
        if PLACES[place][0] == "BatchWriteRow":
            (row,) = m.BatchWriteRowResponse.FromString(answer.body).tables[0].rows
            assert row.error.code == "OTSParameterInvalid"
            assert text(row.error.message).startswith(message)
        else:
            assert answer.error[2].startswith(message)
            assert_refused(sender, PLACES[place][0], answer, answer.error)


def test_a_put_has_no_operations(wire: Wire, sender: Sender) -> None:
    buffer = row_buffer(KEY, [cell("c", 1, operation=4)])
    message = "OpType cannot be given for column name: c in PutRow."
    for place in PUTS:
        refused(wire, sender, place, buffer, invalid(message))


def test_what_is_no_update_is_refused(wire: Wire, sender: Sender) -> None:
    unknown = row_buffer(KEY, [cell("c", "changed"), cell("c", 1, operation=99)])
    nothing = "Attribute column is missing."
    for place in UPDATES:
        refused(wire, sender, place, unknown, invalid("Invalid op type of cell: 99."))
        refused(wire, sender, place, key_buffer(KEY), invalid(nothing))


def test_a_delete_has_no_cells(wire: Wire, sender: Sender) -> None:
    buffer = row_buffer(KEY, [cell("c", 1)], marker=True)
    message = "Invalid delete row request: unexpected cells in request"
    for place in DELETES:
        refused(wire, sender, place, buffer, invalid(message))


def test_only_a_delete_is_marked_as_one(wire: Wire, sender: Sender) -> None:
    written = row_buffer(KEY, [cell("c", 1)], marker=True)
    message = "Invalid request of put/update row: unexpected RowDeleteMarker in request."
    for place in WITH_CELLS:
        refused(wire, sender, place, written, invalid(message))
    for place in READS | RANGES:
        marked = row_buffer(KEY, marker=True)
        refused(wire, sender, place, marked, invalid("Delete marker cannot be given."))


def test_a_read_has_no_cells(wire: Wire, sender: Sender) -> None:
    message = "Attribute column cannot be given while reading data."
    for place in READS | RANGES:
        refused(wire, sender, place, row_buffer(KEY, [cell("c", 1)]), invalid(message))
