"""PutRow, UpdateRow, DeleteRow, BatchWriteRow: what is read out of requests (semantics §4)."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import AnyRule, InvalidRequest
from widerow.limits import BATCH_WRITE_BYTES_MAX
from widerow.model.tablestore.condition import UNCONDITIONAL, Condition, RowExpectation
from widerow.model.tablestore.filter import Comparator, Comparison
from widerow.model.tablestore.requests import BatchWrite, InTransaction
from widerow.model.tablestore.row import (
    CellOperation,
    Modification,
    ReturnContent,
    ReturnType,
    RowChange,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyMarker, Value
from widerow.rows.cells import body_value, cell_body, encode_key_section, seal
from widerow.rows.checksum import crc8_byte
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.operations import batches
from widerow.wire.tablestore.operations.table import OPERATIONS

batch_write_row = OPERATIONS["BatchWriteRow"]
delete_row = OPERATIONS["DeleteRow"]
put_row = OPERATIONS["PutRow"]
update_row = OPERATIONS["UpdateRow"]

PUT = bytes.fromhex(
    "7500000001030402000000706b05090000000001000000000000000a4c"
    "020304010000006305060000000301000000760ade0910"
)
INCREMENT = bytes.fromhex(
    "7500000001030402000000706b05090000000001000000000000000a4c"
    "0203040100000063050900000000010000000000000006040a780976"
)
DELETE = bytes.fromhex("7500000001030402000000706b05090000000001000000000000000a4c0809a0")
FILTER = bytes.fromhex("0801121408031201611a0900050000000000000020002801")
PAGINATION = bytes.fromhex("080312040800100a")

IGNORE = messages.Condition(row_existence=0)


R = TypeVar("R")


def outside(decode: Callable[[bytes], R | InTransaction[R]], body: bytes) -> R:
    """What a body asks for that names no transaction."""
    request = decode(body)
    assert not isinstance(request, InTransaction)
    return request


class Action(NamedTuple):
    """A write of a single row: its decoder, a request's class and field, a row, what it makes."""

    decode_any: Callable[[bytes], RowChange | InTransaction[RowChange]]
    make: Callable[..., Message]
    field: str
    row: bytes
    modification: Modification

    def decode(self, body: bytes) -> RowChange:
        """What a body asks for that names no transaction."""
        change = self.decode_any(body)
        assert not isinstance(change, InTransaction)
        return change

    def body(self, **fields: object) -> bytes:
        """A request's bytes; fields of None are left out, also those it requires."""
        sent = {"table_name": "T", "condition": IGNORE, self.field: self.row, **fields}
        return self.make(**sent).SerializePartialToString()


ACTIONS = [
    Action(put_row.decode, messages.PutRowRequest, "row", PUT, Modification.PUT),
    Action(
        update_row.decode, messages.UpdateRowRequest, "row_change", INCREMENT, Modification.UPDATE
    ),
    Action(
        delete_row.decode, messages.DeleteRowRequest, "primary_key", DELETE, Modification.DELETE
    ),
]
EACH_ACTION = pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a.modification.name)
put_body = ACTIONS[0].body


BATCH: Callable[..., Message] = messages.BatchWriteRowRequest
BATCH_TABLE: Callable[..., Message] = messages.TableInBatchWriteRowRequest
BATCH_ROW: Callable[..., Message] = messages.RowInBatchWriteRowRequest


def batch_body(*rows: dict[str, object], **fields: object) -> bytes:
    item = BATCH_TABLE(table_name="T", rows=[BATCH_ROW(**row) for row in rows])
    return BATCH(tables=[item], **fields).SerializePartialToString()


def encoded_row(key: int, cells: dict[str, Value], version: int | None = None) -> bytes:
    """A PlainBuffer row of puts, each of the version given or without one."""
    section, crc = encode_key_section([("pk", key)])
    parts = [b"\x75\x00\x00\x00", section, b"\x02"]
    for name, value in cells.items():
        body, body_crc = cell_body(name, value)
        cell = b"%b\x0a%c" % (body, body_crc)
        if version is not None:
            cell = seal(body, body_crc, version)
        parts.append(cell)
        crc = crc8_byte(cell[-1], crc)
    return b"".join(parts) + b"\x09%c" % crc8_byte(0, crc)


# --- single rows -----------------------------------------------------------------------------


@EACH_ACTION
@pytest.mark.parametrize("name", ["T", "é", "t" * 128])
def test_whatever_a_write_says_besides_is_read(action: Action, name: str) -> None:
    """A write that says nothing more is told by its length; anything more makes it longer."""
    plain = action.decode(action.body(table_name=name))
    assert (plain.table, plain.condition) == (name, UNCONDITIONAL)
    assert plain.returns == ReturnContent()
    expecting = messages.Condition(row_existence=1)
    assert action.decode(action.body(table_name=name, condition=expecting)).condition == Condition(
        RowExpectation.EXPECT_EXIST
    )
    returned = messages.ReturnContent(return_type=1)
    asked = action.decode(action.body(table_name=name, return_content=returned))
    assert asked.returns == ReturnContent(ReturnType.PRIMARY_KEY)
    empty = messages.ReturnContent()
    assert action.decode(action.body(table_name=name, return_content=empty)) == plain
    inside = action.decode_any(action.body(table_name=name, transaction_id=""))
    assert inside == InTransaction("", plain)


@EACH_ACTION
def test_four_bytes_that_are_no_condition_are_refused(action: Action) -> None:
    without = action.body(condition=None)
    for other in (b"\x1a\x00\x22\x00", b"\x1a\x02\x12\x00", b"\x22\x00\x22\x00"):
        with pytest.raises(InvalidRequest) as caught:
            action.decode(without + other)
        assert caught.value.rule is TablestoreRule.BODY_UNREADABLE


def test_put_row_of_the_vector() -> None:
    # wire §2.4, complete request bodies
    change = outside(
        put_row.decode,
        bytes.fromhex(
            "0a015412347500000001030402000000706b05090000000001000000000000000a4c"
            "020304010000006305060000000301000000760ade09101a020800"
        ),
    )
    assert (change.table, change.modification) == ("T", Modification.PUT)
    assert change.key.columns == (("pk", 1),)
    (cell,) = change.cells
    assert (cell.operation, cell.name, body_value(cell.body)) == (CellOperation.PUT, "c", "v")
    assert change.condition == UNCONDITIONAL
    assert change.returns == ReturnContent()


@EACH_ACTION
def test_every_action_makes_its_own_modification(action: Action) -> None:
    change = action.decode(action.body())
    assert (change.table, change.modification) == ("T", action.modification)
    assert change.key.columns == (("pk", 1),)
    assert len(change.cells) == (action.modification is not Modification.DELETE)


@EACH_ACTION
@pytest.mark.parametrize("expectation", RowExpectation)
def test_conditions(action: Action, expectation: RowExpectation) -> None:
    # semantics §4.1
    sent = messages.Condition(row_existence=expectation.value)
    change = action.decode(action.body(condition=sent))
    assert change.condition == Condition(expectation, None)
    sent = messages.Condition(row_existence=expectation.value, column_condition=FILTER)
    change = action.decode(action.body(condition=sent))
    above_five = Comparison("a", Comparator.GREATER_THAN, 5)
    assert change.condition == Condition(expectation, above_five)


@pytest.mark.parametrize(
    ("condition", "rule"),
    [
        (messages.Condition(row_existence=3), TablestoreRule.ROW_EXPECTATION),
        (messages.Condition(row_existence=-1), TablestoreRule.ROW_EXPECTATION),
        (messages.Condition(row_existence=0, column_condition=b"?"), TablestoreRule.FILTER_DECODE),
        (
            messages.Condition(row_existence=0, column_condition=PAGINATION),
            TablestoreRule.FILTER_PAGINATION_PLACE,
        ),
        (messages.Condition(), TablestoreRule.BODY_UNREADABLE),
        (None, TablestoreRule.BODY_UNREADABLE),
    ],
)
def test_conditions_that_are_none(condition: messages.Condition | None, rule: AnyRule) -> None:
    with pytest.raises(InvalidRequest) as caught:
        outside(put_row.decode, put_body(condition=condition))
    assert caught.value.rule is rule


@pytest.mark.parametrize("kind", ReturnType)
def test_return_contents(kind: ReturnType) -> None:
    # semantics §4.5
    sent = messages.ReturnContent(return_type=kind.value)
    assert outside(put_row.decode, put_body(return_content=sent)).returns == ReturnContent(kind)
    sent = messages.ReturnContent(return_type=kind.value, return_column_names=["a", "b"])
    returns = outside(put_row.decode, put_body(return_content=sent)).returns
    assert returns == ReturnContent(kind, ("a", "b"))


def test_return_contents_default_to_nothing() -> None:
    empty = messages.ReturnContent()
    assert outside(put_row.decode, put_body(return_content=empty)).returns == ReturnContent()


@pytest.mark.parametrize("kind", [3, -1])
def test_return_types_that_are_none(kind: int) -> None:
    with pytest.raises(InvalidRequest) as caught:
        outside(put_row.decode, put_body(return_content=messages.ReturnContent(return_type=kind)))
    assert caught.value.rule is TablestoreRule.RETURN_TYPE


@EACH_ACTION
@pytest.mark.parametrize("transaction", ["", "id"])
def test_transaction_ids(action: Action, transaction: str) -> None:
    """Whatever it is goes to the engine, which knows those it gave out (change §B2)."""
    inside = action.decode_any(action.body(transaction_id=transaction))
    assert inside == InTransaction(transaction, action.decode(action.body()))


@EACH_ACTION
def test_rows_that_are_none(action: Action) -> None:
    with pytest.raises(InvalidRequest) as caught:
        action.decode(action.body(**{action.field: action.row[:-1]}))
    assert caught.value.rule is TablestoreRule.ROW_ENCODING


def test_rows_of_another_action() -> None:
    with pytest.raises(InvalidRequest) as caught:
        outside(put_row.decode, put_body(row=DELETE))
    assert caught.value.rule is TablestoreRule.DELETE_MARKER_IN_WRITE
    with pytest.raises(InvalidRequest) as caught:
        outside(put_row.decode, put_body(row=INCREMENT))
    assert caught.value.rule is TablestoreRule.OPERATION_IN_PUT


def test_auto_increment_markers_arrive() -> None:
    # wire §2.4: gid=1, uid=AUTO_INCREMENT; name='John'
    row = bytes.fromhex(
        "750000000103040300000067696405090000000001000000000000000a2a"
        "03040300000075696405010000000b0a13"
        "020304040000006e616d65050900000003040000004a6f686e0a3e0962"
    )
    change = outside(put_row.decode, put_body(row=row))
    assert change.key.columns == (("gid", 1), ("uid", KeyMarker.AUTO_INCREMENT))


# --- batches (semantics §4.8) ----------------------------------------------------------------


def test_a_batch_keeps_its_rows_in_order() -> None:
    batch = outside(
        batch_write_row.decode,
        batch_body(
            {"type": 1, "row_change": PUT, "condition": IGNORE},
            {
                "type": 2,
                "row_change": INCREMENT,
                "condition": messages.Condition(row_existence=1, column_condition=FILTER),
                "return_content": messages.ReturnContent(return_type=2, return_column_names=["c"]),
            },
            {"type": 3, "row_change": DELETE, "condition": IGNORE},
        ),
    )
    assert not batch.atomic
    (table,) = batch.tables
    assert table.table == "T"
    assert [change.modification for change in table.changes] == list(Modification)
    assert {change.table for change in table.changes} == {"T"}
    assert table.changes[1].condition.row is RowExpectation.EXPECT_EXIST
    assert table.changes[1].returns == ReturnContent(ReturnType.AFTER_MODIFY, ("c",))


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "type": st.integers(0, 4),
                "row_change": st.sampled_from([PUT, encoded_row(7, {"a": 1, "b": "x"})]),
                "condition": st.builds(messages.Condition, row_existence=st.integers(0, 2)),
            },
            optional={
                "return_content": st.builds(messages.ReturnContent, return_type=st.integers(0, 2))
            },
        ),
        min_size=1,
        max_size=3,
    ),
    st.data(),
)
def test_a_batch_is_the_same_whichever_way_it_is_read(
    entries: list[dict[str, object]], data: st.DataObject
) -> None:
    """wire §1.7: the message, or bytes of the usual form where they stand; errors as well."""
    body = bytearray(batch_body(*entries))
    if data.draw(st.booleans()):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))

    def read(decode: Callable[[bytes], BatchWrite | InTransaction[BatchWrite]]) -> object:
        try:
            batch = outside(decode, bytes(body))
        except InvalidRequest as error:
            return error.rule, str(error)
        return batch.atomic, [
            (
                table.table,
                [
                    (
                        change.table,
                        change.modification,
                        change.key.columns,
                        change.cells,
                        change.condition,
                        change.returns,
                    )
                    for change in table.changes
                ],
            )
            for table in batch.tables
        ]

    assert read(batch_write_row.decode) == read(batches._decode_message)


def test_a_batch_may_be_atomic() -> None:
    row = {"type": 1, "row_change": PUT, "condition": IGNORE}
    assert outside(batch_write_row.decode, batch_body(row, is_atomic=True)).atomic


def test_a_row_of_a_batch_without_a_condition_has_none() -> None:
    # One client leaves out what its callers leave out, though its schema calls it required.
    batch = outside(batch_write_row.decode, batch_body({"type": 1, "row_change": PUT}))
    assert batch.tables[0].changes[0].condition == UNCONDITIONAL


@pytest.mark.parametrize(
    ("sent", "rule"),
    [
        (b"", TablestoreRule.BATCH_WRITE_EMPTY),
        (batch_body(), TablestoreRule.BATCH_WRITE_TABLE_EMPTY),
        (batch_body(*[{"type": 1, "row_change": b"?"}] * 201), TablestoreRule.BATCH_WRITE_COUNT),
        (batch_body({"type": 0, "row_change": PUT}), TablestoreRule.BATCH_WRITE_TYPE),
        (batch_body({"type": 4, "row_change": PUT}), TablestoreRule.BATCH_WRITE_TYPE),
        (batch_body({"type": 1, "row_change": PUT[:-1]}), TablestoreRule.ROW_ENCODING),
        (batch_body({"type": 1}), TablestoreRule.BODY_UNREADABLE),
        (batch_body({"row_change": PUT}), TablestoreRule.BODY_UNREADABLE),
    ],
)
def test_batches_that_are_refused_as_a_whole(sent: bytes, rule: AnyRule) -> None:
    with pytest.raises(InvalidRequest) as caught:
        outside(batch_write_row.decode, sent)
    assert caught.value.rule is rule


def test_a_batch_inside_a_transaction() -> None:
    row = {"type": 1, "row_change": PUT, "condition": IGNORE}
    inside = batch_write_row.decode(batch_body(row, transaction_id="id"))
    assert inside == InTransaction("id", outside(batch_write_row.decode, batch_body(row)))


def test_two_hundred_rows_are_accepted() -> None:
    sent = batch_body(*[{"type": 1, "row_change": PUT}] * 200)
    assert len(outside(batch_write_row.decode, sent).tables[0].changes) == 200


def _full(extra: int, version: int | None) -> bytes:
    """Two rows of 2 MB each, `extra` bytes past the limit; key and names count eleven bytes each.

    The cell of each names its `version`, which counts eight bytes, or leaves it to the server.
    """
    half = BATCH_WRITE_BYTES_MAX // 2 - len("pk") - 8 - len("c") - (0 if version is None else 8)
    return batch_body(
        {"type": 1, "row_change": encoded_row(1, {"c": b"x" * half}, version)},
        {"type": 1, "row_change": encoded_row(2, {"c": b"x" * (half + extra)}, version)},
    )


@pytest.mark.parametrize("version", [None, 0, 1_700_000_000_000])
def test_the_size_of_a_batch_is_that_of_its_names_values_and_versions(version: int | None) -> None:
    # The limit is on what clients can count (semantics §4.8, §9), not on the encoding around it.
    assert len(outside(batch_write_row.decode, _full(0, version)).tables[0].changes) == 2
    with pytest.raises(InvalidRequest) as caught:
        outside(batch_write_row.decode, _full(1, version))
    assert caught.value.rule is TablestoreRule.BATCH_WRITE_SIZE
    assert caught.value.details == {
        "limit": BATCH_WRITE_BYTES_MAX,
        "size": BATCH_WRITE_BYTES_MAX + 1,
    }


# --- bodies that are not requests -------------------------------------------------------------


@EACH_ACTION
def test_required_fields_are_required(action: Action) -> None:
    for field in ("table_name", action.field, "condition"):
        with pytest.raises(InvalidRequest) as caught:
            action.decode(action.body(**{field: None}))
        assert caught.value.rule is TablestoreRule.BODY_UNREADABLE


@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_refused(data: bytes) -> None:
    for decode in (put_row.decode, update_row.decode, delete_row.decode, batch_write_row.decode):
        with pytest.raises(InvalidRequest):
            decode(data)


@given(st.integers(0, len(put_body())), st.integers(0, 255))
def test_one_damaged_byte_is_a_request_or_refused(position: int, byte: int) -> None:
    damaged = bytearray(put_body())
    damaged[position : position + 1] = bytes((byte,))
    try:
        change = outside(put_row.decode, bytes(damaged))
    except InvalidRequest:
        return
    assert change.modification is Modification.PUT
