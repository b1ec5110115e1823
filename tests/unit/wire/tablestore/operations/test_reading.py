"""GetRow, BatchGetRow and GetRange: what is read out of requests (semantics §5; wire §2.4)."""

from collections.abc import Callable

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st
from tests.support.changes import create
from tests.support.engines import open_tablestore

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import AnyRule, InvalidRequest, NotFound, Unsupported
from widerow.limits import INT64_MAX
from widerow.model.tablestore.filter import Comparator, Comparison, Pagination
from widerow.model.tablestore.requests import GetRange, GetRow, InTransaction
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import RangeDirection, Resume, Selection, TimeRange
from widerow.model.values import KeyMarker, KeyType
from widerow.rows.cells import encode_key_section
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.operations import reading
from widerow.wire.tablestore.operations.ranges import MatrixRange
from widerow.wire.tablestore.operations.table import OPERATIONS
from widerow.wire.tablestore.operations.tokens import encode_token
from widerow.wire.tablestore.plainbuffer import encode_primary_key

batch_get_row = OPERATIONS["BatchGetRow"]
get_range = OPERATIONS["GetRange"]
get_row = OPERATIONS["GetRow"]

KEY = bytes.fromhex("7500000001030402000000706b05090000000001000000000000000a4c09a7")
LOW = bytes.fromhex("7500000001030402000000706b0501000000090a3a097b")
HIGH = bytes.fromhex("7500000001030402000000706b05010000000a0a3309c6")
FILTER = bytes.fromhex("0801121408031201611a0900050000000000000020002801")
PAGINATION = bytes.fromhex("080312040800100a")
CROWDED = messages.Filter(  # 33 nodes
    type=2,
    filter=messages.CompositeColumnValueFilter(
        combinator=3, sub_filters=[messages.Filter.FromString(FILTER)] * 32
    ).SerializeToString(),
).SerializeToString()
TIMES = messages.TimeRange


def outside(body: bytes) -> GetRow:
    """The GetRow that a body is, which names no transaction."""
    request = get_row.decode(body)
    assert isinstance(request, GetRow)
    return request


def encoded(make: Callable[..., Message], fields: dict[str, object]) -> bytes:
    """A message's bytes; fields of None are left out, also those it requires."""
    return make(**fields).SerializePartialToString()


def row(**fields: object) -> bytes:
    sent = {"table_name": "T", "primary_key": KEY, "max_versions": 1, **fields}
    return encoded(messages.GetRowRequest, sent)


def table(**fields: object) -> bytes:
    sent = {"table_name": "T", "primary_key": [KEY], "max_versions": 1, **fields}
    make: Callable[..., messages.TableInBatchGetRowRequest] = messages.TableInBatchGetRowRequest
    return encoded(messages.BatchGetRowRequest, {"tables": [make(**sent)]})


def page(**fields: object) -> bytes:
    bounds = {"inclusive_start_primary_key": LOW, "exclusive_end_primary_key": HIGH}
    sent = {"table_name": "T", "direction": 0, "max_versions": 1, **bounds, **fields}
    return encoded(messages.GetRangeRequest, sent)


def ranged(body: bytes) -> GetRange:
    """The range that a GetRange asks for, in rows."""
    request = get_range.decode(body)
    assert isinstance(request, GetRange)
    return request


def selected(**fields: object) -> list[Selection]:
    """The selection of each of the three actions for the same fields."""
    batch = batch_get_row.decode(table(**fields))
    return [
        outside(row(**fields)).selection,
        batch.tables[0].selection,
        ranged(page(**fields)).selection,
    ]


def refused(**fields: object) -> list[AnyRule]:
    """The rule that each of the three actions says is broken."""
    rules = []
    for decode, body in (
        (get_row.decode, row(**fields)),
        (batch_get_row.decode, table(**fields)),
        (get_range.decode, page(**fields)),
    ):
        with pytest.raises(InvalidRequest) as caught:
            decode(body)
        rules.append(caught.value.rule)
    return rules


# --- whole requests --------------------------------------------------------------------------


def test_get_row_of_the_vector() -> None:
    # wire §2.4, complete request bodies
    body = bytes.fromhex(
        "0a0154121f7500000001030402000000706b05090000000001000000000000000a4c09a71a0263312801"
    )
    request = outside(body)
    assert request.table == "T"
    assert request.key.columns == (("pk", 1),)
    assert request.selection == Selection(columns=frozenset({"c1"}), max_versions=1)


def test_get_range_of_the_vector() -> None:
    # wire §2.4, complete request bodies
    body = bytes.fromhex(
        "0a015410002801300a3a177500000001030402000000706b0501000000090a3a097b"
        "42177500000001030402000000706b05010000000a0a3309c6"
    )
    request = ranged(body)
    assert request.table == "T"
    assert request.range.start.columns == (("pk", KeyMarker.INF_MIN),)
    assert request.range.end.columns == (("pk", KeyMarker.INF_MAX),)
    assert request.range.direction is RangeDirection.FORWARD
    assert request.range.limit == 10
    assert request.selection == Selection(max_versions=1)


def test_batch_get_row_keeps_tables_and_keys_in_order() -> None:
    # semantics §5.5; a table without rows, and one key twice, are fine
    items = [
        messages.TableInBatchGetRowRequest(table_name="B", primary_key=[KEY, KEY], max_versions=2),
        messages.TableInBatchGetRowRequest(table_name="A", max_versions=1),
    ]
    batch = batch_get_row.decode(messages.BatchGetRowRequest(tables=items).SerializeToString())
    assert [item.table for item in batch.tables] == ["B", "A"]
    assert [[key.columns for key in item.keys] for item in batch.tables] == [
        [(("pk", 1),), (("pk", 1),)],
        [],
    ]


def test_get_range_backward_without_a_limit() -> None:
    request = ranged(page(direction=1))
    assert request.range.direction is RangeDirection.BACKWARD
    assert request.range.limit is None


# --- versions (semantics §5.1) ---------------------------------------------------------------


def test_whole_rows_need_no_second_look() -> None:
    for selection in selected(max_versions=3):
        assert selection == Selection(max_versions=3)
        assert selection.everything


def test_a_time_range_alone_selects_all_its_versions() -> None:
    for selection in selected(max_versions=None, time_range=TIMES(start_time=5, end_time=9)):
        assert selection.time_range == TimeRange(5, 9)
        assert selection.max_versions == INT64_MAX


def test_a_time_range_and_max_versions_hold_together() -> None:
    for selection in selected(max_versions=2, time_range=TIMES(start_time=0, end_time=9)):
        assert (selection.time_range, selection.max_versions) == (TimeRange(0, 9), 2)


@given(st.integers(0, INT64_MAX))
def test_a_specific_time_is_a_range_of_one(time: int) -> None:
    request = outside(row(max_versions=None, time_range=TIMES(specific_time=time)))
    assert request.selection.time_range == TimeRange(time, time + 1)


@given(st.integers(0, INT64_MAX), st.integers(0, INT64_MAX))
def test_a_range_may_begin_and_end_at_any_time_from_0_on(one: int, other: int) -> None:
    # semantics §5.1: the bound of versions is for those that are written
    start, end = sorted((one, other))
    request = outside(row(max_versions=None, time_range=TIMES(start_time=start, end_time=end)))
    assert request.selection.time_range == TimeRange(start, end)


def test_an_empty_time_range_says_nothing() -> None:
    for selection in selected(max_versions=1, time_range=TIMES()):
        assert selection.time_range is None


@pytest.fixture
def engine() -> TablestoreEngine:
    """An engine with the table `T` of one primary key column."""
    opened = open_tablestore(open_store("memory:"), FakeClock(), FakeEntropy())
    opened.core.run(opened.create_table("i", create("T", {"pk": KeyType.INTEGER})))
    return opened


def broken(engine: TablestoreEngine, fields: dict[str, object], keys: bytes = KEY) -> list[AnyRule]:
    """The rule that each of the three actions breaks when the engine is asked.

    `keys`: the primary key of the row, and the bounds of the range.
    """
    bounds = {"inclusive_start_primary_key": keys, "exclusive_end_primary_key": keys}
    rules = []
    for action, body in (
        (get_row, row(primary_key=keys, **fields)),
        (batch_get_row, table(primary_key=[keys], **fields)),
        (get_range, page(**{**(bounds if keys is not KEY else {}), **fields})),
    ):
        with pytest.raises(InvalidRequest) as caught:
            action.call(engine, "i", action.decode(body))
        rules.append(caught.value.rule)
    return rules


@pytest.mark.parametrize("times", [None, TIMES()])
@pytest.mark.parametrize("name", ["T", "absent"])
def test_versions_or_times_are_needed(
    engine: TablestoreEngine, times: messages.TimeRange | None, name: str
) -> None:
    # semantics §5.1, §3: before the table is looked up
    rules = broken(engine, {"table_name": name, "max_versions": None, "time_range": times})
    single, batch = (
        TablestoreRule.VERSION_CONDITION_MISSING,
        TablestoreRule.VERSION_CONDITION_MISSING_IN_BATCH,
    )
    assert rules == [single, batch, single]


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"columns_to_get": ["#"]}, TablestoreRule.ATTRIBUTE_NAME),
        ({"start_column": "#"}, TablestoreRule.ATTRIBUTE_NAME),
        ({"filter": FILTER.replace(b"\x12\x01a", b"\x12\x01#")}, TablestoreRule.ATTRIBUTE_NAME),
        ({"filter": CROWDED}, TablestoreRule.FILTER_COUNT),
        ({"columns_to_get": [f"c{n}" for n in range(1025)]}, TablestoreRule.READ_COLUMN_COUNT),
        ({"table_name": "#", "columns_to_get": ["#"]}, TablestoreRule.TABLE_NAME),
    ],
)
def test_names_and_counts_come_before_missing_versions(
    engine: TablestoreEngine, fields: dict[str, object], rule: AnyRule
) -> None:
    # semantics §20: names, counts and lengths first, then the range of versions
    assert broken(engine, {"max_versions": None, **fields}) == [rule] * 3


def key_of(count: int) -> bytes:
    """A primary key of so many columns."""
    columns = [("pk" if not n else f"pk{n}", n) for n in range(count)]
    return encode_primary_key(*encode_key_section(columns))


def test_no_primary_key_has_five_columns(engine: TablestoreEngine) -> None:
    # semantics §3, §5.5: of a BatchGetRow it fails the whole request
    assert broken(engine, {}, key_of(5)) == [TablestoreRule.KEY_COLUMN_COUNT] * 3


def test_a_missing_table_comes_before_the_number_of_key_columns(engine: TablestoreEngine) -> None:
    five = key_of(5)
    bounds = {"inclusive_start_primary_key": five, "exclusive_end_primary_key": five}
    for action, body in (
        (get_row, row(table_name="absent", primary_key=five)),
        (get_range, page(table_name="absent", **bounds)),
    ):
        with pytest.raises(NotFound):
            action.call(engine, "i", action.decode(body))
    batch = batch_get_row.decode(table(table_name="absent", primary_key=[five]))
    ((outcome,),) = batch_get_row.call(engine, "i", batch).outcomes
    assert isinstance(outcome.error, NotFound)


def test_another_number_of_key_columns_concerns_its_row(engine: TablestoreEngine) -> None:
    # semantics §3: per row in BatchGetRow
    batch = batch_get_row.decode(table(primary_key=[key_of(4), KEY]))
    ((wrong, right),) = batch_get_row.call(engine, "i", batch).outcomes
    assert isinstance(wrong.error, InvalidRequest)
    assert wrong.error.rule is TablestoreRule.KEY_SIZE
    assert right.read is not None


@pytest.mark.parametrize("versions", [0, -1])
def test_max_versions_are_positive(versions: int) -> None:
    assert refused(max_versions=versions) == [TablestoreRule.READ_MAX_VERSIONS] * 3


@pytest.mark.parametrize(
    ("times", "rule"),
    [
        (TIMES(start_time=1), TablestoreRule.TIME_RANGE_INCOMPLETE),
        (TIMES(end_time=1), TablestoreRule.TIME_RANGE_INCOMPLETE),
        (TIMES(start_time=2, end_time=1), TablestoreRule.TIME_RANGE_ORDER),
        (TIMES(start_time=-1, end_time=1), TablestoreRule.VERSION_RANGE),
        (TIMES(start_time=0, end_time=-1), TablestoreRule.VERSION_RANGE),
        (TIMES(start_time=0, end_time=1, specific_time=0), TablestoreRule.TIME_SPECIFIC_AND_RANGE),
        (TIMES(start_time=0, specific_time=0), TablestoreRule.TIME_SPECIFIC_AND_RANGE),
        (TIMES(specific_time=-1), TablestoreRule.TIME_SPECIFIC_NEGATIVE),
    ],
)
def test_times_that_make_no_sense(times: messages.TimeRange, rule: AnyRule) -> None:
    assert refused(max_versions=None, time_range=times) == [rule] * 3


def test_a_specific_time_excludes_max_versions() -> None:
    rules = refused(max_versions=1, time_range=TIMES(specific_time=5))
    assert rules == [TablestoreRule.TIME_SPECIFIC_AND_VERSIONS] * 3


@pytest.mark.parametrize("name", ["", "0", "T#", "中文", "a" * 256])
def test_wrong_table_names_come_before_wrong_versions(name: str) -> None:
    # semantics §1.4
    assert refused(table_name=name, max_versions=-1) == [TablestoreRule.TABLE_NAME] * 3


@pytest.mark.parametrize("name", ["", "0", "T#", "中文", "a" * 256])
def test_wrong_table_names_come_before_missing_versions(
    engine: TablestoreEngine, name: str
) -> None:
    # semantics §1.4
    assert (
        broken(engine, {"table_name": name, "max_versions": None})
        == [TablestoreRule.TABLE_NAME] * 3
    )


# --- columns and filters (semantics §5.2, §5.3) ----------------------------------------------


def test_columns_count_once() -> None:
    for selection in selected(columns_to_get=["b", "a", "b"]):
        assert selection.columns == {"a", "b"}
        assert not selection.everything


def test_column_bounds() -> None:
    for selection in selected(start_column="a", end_column="c"):
        assert (selection.start_column, selection.end_column) == ("a", "c")
    for selection in selected(start_column="", end_column=""):
        assert (selection.start_column, selection.end_column) == (None, None)


def test_filters() -> None:
    for selection in selected(filter=FILTER):
        assert selection.filter == Comparison("a", Comparator.GREATER_THAN, 5)
        assert selection.pagination is None
    for selection in selected(filter=PAGINATION):
        assert selection.filter is None
        assert selection.pagination == Pagination(0, 10)


def test_filters_that_are_none() -> None:
    for _ in range(2):  # what was refused once is refused again
        assert refused(filter=b"\xff") == [TablestoreRule.FILTER_DECODE] * 3


def compared(**changes: object) -> bytes:
    """`FILTER` with changes of its comparison."""
    changed = messages.Filter.FromString(FILTER)
    leaf = messages.SingleColumnValueFilter.FromString(changed.filter)
    leaf.MergeFrom(messages.SingleColumnValueFilter(**changes))  # type: ignore[arg-type]  # fields
    changed.filter = leaf.SerializeToString()
    return changed.SerializeToString()


def test_the_same_filter_says_the_same_again() -> None:
    long = b"\x03" + (2000).to_bytes(4, "little") + b"v" * 2000
    for changes, wanted in (
        ({"column_name": "b"}, Comparison("b", Comparator.GREATER_THAN, 5)),
        ({"comparator": 1}, Comparison("a", Comparator.EQUAL, 5)),
        ({"column_value": long}, Comparison("a", Comparator.GREATER_THAN, "v" * 2000)),
    ):
        for selection in selected(filter=compared(**changes)) * 2:
            assert selection.filter == wanted


def test_filters_that_are_remembered_are_bounded() -> None:
    """Few, short ones, and none that holds a compiled pattern of up to 1 MB."""
    rule = messages.ValueTransferRule(regex="(v.*)")
    pattern = compared(value_trans_rule=rule, column_value=b"\x03\x01\x00\x00\x00v")
    long = compared(column_name="n" * reading._KEPT_FILTER_BYTES_MAX)
    for data in (pattern, long):
        selected(filter=data)
        assert data not in reading._FILTERS
    short = [compared(column_name=f"n{at}") for at in range(reading._KEPT_FILTERS_MAX + 9)]
    for data in short:
        outside(row(filter=data))
        assert data in reading._FILTERS
        assert len(reading._FILTERS) <= reading._KEPT_FILTERS_MAX


# --- keys, batches, pages --------------------------------------------------------------------


def test_keys_that_are_none() -> None:
    for body in (row(primary_key=b""), row(primary_key=KEY[:-1])):
        with pytest.raises(InvalidRequest) as caught:
            outside(body)
        assert caught.value.rule is TablestoreRule.ROW_ENCODING
    with pytest.raises(InvalidRequest):
        batch_get_row.decode(table(primary_key=[KEY, b"\x75"]))
    with pytest.raises(InvalidRequest):
        get_range.decode(page(exclusive_end_primary_key=b""))


def test_keys_keep_the_form_they_came_in() -> None:
    request = outside(row())
    section, crc = encode_key_section([("pk", 1)])
    assert request == GetRow("T", PrimaryKey((("pk", 1),), section, crc), Selection(max_versions=1))
    assert encode_primary_key(request.key.encoded, request.key.crc) == KEY


OTHER_FIELDS = (
    {"columns_to_get": ["a"]},
    {"time_range": TIMES(start_time=1, end_time=2)},
    {"cache_blocks": False},
    {"filter": FILTER},
    {"start_column": "a"},
    {"end_column": "a"},
    {"token": encode_token(Resume("c", 1))},
)


@pytest.mark.parametrize("name", ["T", "é", "t" * 127, "t" * 128, "t" * 126 + "é", "t" * 255])
@pytest.mark.parametrize("value", ["v", "v" * 90, "v" * 120])
@pytest.mark.parametrize("versions", [1, 127, 128, 2**31 - 1])
def test_a_read_of_whole_rows_is_told_by_its_length(name: str, value: str, versions: int) -> None:
    section, crc = encode_key_section([("pk", value)])
    key = encode_primary_key(section, crc)
    fields = {"table_name": name, "primary_key": key, "max_versions": versions}
    request = outside(row(**fields))
    assert (request.table, request.key.columns) == (name, (("pk", value),))
    assert request.selection == Selection(max_versions=versions)
    assert request.resume is None
    # And whatever else is sent is read, however little it makes the message longer.
    batch = batch_get_row.decode(table(**{**fields, "primary_key": [key]}))
    assert batch.tables[0].selection == request.selection
    for other in OTHER_FIELDS:
        sent = messages.GetRowRequest.FromString(row(**fields, **other))
        asked = outside(row(**fields, **other))
        assert asked.selection == reading.selection(sent)
        assert asked.resume == (Resume("c", 1) if "token" in other else None)
    inside = get_row.decode(row(**fields, transaction_id=""))
    assert inside == InTransaction("", request)


def test_a_batch_names_a_table() -> None:
    with pytest.raises(InvalidRequest) as caught:
        batch_get_row.decode(b"")
    assert caught.value.rule is TablestoreRule.BATCH_GET_EMPTY


def test_rows_of_a_batch_are_counted_before_any_is_decoded() -> None:
    # 100 rows in all tables together; the bytes of these are not keys
    item = messages.TableInBatchGetRowRequest(table_name="T", primary_key=[b"?"] * 51)
    body = messages.BatchGetRowRequest(tables=[item, item]).SerializeToString()
    with pytest.raises(InvalidRequest) as caught:
        batch_get_row.decode(body)
    assert caught.value.rule is TablestoreRule.BATCH_GET_COUNT
    assert caught.value.details["count"] == 102
    assert len(batch_get_row.decode(table(primary_key=[KEY] * 100)).tables[0].keys) == 100


@pytest.mark.parametrize("direction", [2, -1])
def test_directions_are_two(direction: int) -> None:
    with pytest.raises(InvalidRequest) as caught:
        get_range.decode(page(direction=direction))
    assert caught.value.rule is TablestoreRule.RANGE_DIRECTION


@pytest.mark.parametrize("limit", [0, -1])
def test_limits_are_positive(limit: int) -> None:
    with pytest.raises(InvalidRequest) as caught:
        get_range.decode(page(limit=limit))
    assert caught.value.rule is TablestoreRule.RANGE_LIMIT
    with pytest.raises(InvalidRequest) as caught:
        get_range.decode(page(limit=limit, table_name="-"))
    assert caught.value.rule is TablestoreRule.TABLE_NAME


# --- continuation tokens (semantics §5.4) ----------------------------------------------------


def test_tokens_say_where_a_wide_row_goes_on() -> None:
    resume = Resume("c17", 3)
    token = encode_token(resume)
    assert outside(row(token=token)).resume == resume
    assert ranged(page(token=token)).resume == resume
    batch = batch_get_row.decode(table(primary_key=[KEY, KEY], token=[b"", token]))
    assert batch.tables[0].resumes == (None, resume)


def test_empty_tokens_are_none() -> None:
    assert outside(row(token=b"")) == outside(row())
    assert get_range.decode(page(token=b"")) == get_range.decode(page())
    assert batch_get_row.decode(table(token=[b""])).tables[0].resumes == (None,)
    assert batch_get_row.decode(table()).tables[0].resumes == ()


@pytest.mark.parametrize("token", [b"t", encode_token(Resume("c", 1))[:-1]])
def test_tokens_that_were_not_given_out(token: bytes) -> None:
    for decode, body in (
        (get_row.decode, row(token=token)),
        (batch_get_row.decode, table(token=[token])),
        (get_range.decode, page(token=token)),
    ):
        with pytest.raises(InvalidRequest) as caught:
            decode(body)
        assert caught.value.rule is TablestoreRule.READ_TOKEN


def test_tokens_of_a_batch_stand_beside_its_keys() -> None:
    token = encode_token(Resume("c", 1))
    for tokens, keys in (([token], [KEY, KEY]), ([token, token], [KEY])):
        with pytest.raises(InvalidRequest) as caught:
            batch_get_row.decode(table(primary_key=keys, token=tokens))
        assert caught.value.rule is TablestoreRule.READ_TOKEN


# --- fields that widerow cannot honour are refused, never left aside -------------------------


@pytest.mark.parametrize("transaction", ["", "x", "0005-1"])
def test_transaction_ids(transaction: str) -> None:
    """Whatever it is goes to the engine, which knows those it gave out (change §B2)."""
    assert get_row.decode(row(transaction_id=transaction)) == InTransaction(
        transaction, outside(row())
    )
    inside = get_range.decode(page(transaction_id=transaction))
    assert isinstance(inside, InTransaction)
    assert inside == (transaction, get_range.decode(page()))
    columns = {"columns_to_get": ["a"], "data_block_type_hint": 1}
    matrix = get_range.decode(page(**columns, transaction_id=transaction))
    plain = get_range.decode(page(**columns))
    assert isinstance(matrix, MatrixRange)
    assert isinstance(plain, MatrixRange)
    assert matrix[1:] == plain[1:]
    assert matrix.request == (transaction, plain.request)


def test_partial_primary_keys() -> None:
    with pytest.raises(Unsupported) as caught:
        get_range.decode(page(return_entire_primary_keys=False))
    assert caught.value.rule is TablestoreRule.FEATURE_UNSUPPORTED
    assert get_range.decode(page(return_entire_primary_keys=True)) == get_range.decode(page())


def test_hints_change_nothing() -> None:
    # The protocol lets a server answer in its own encoding whatever the hints say.
    plain = get_range.decode(page())
    hinted = page(data_block_type_hint=0, compress_type_hint=0, cache_blocks=False)
    assert get_range.decode(hinted) == plain
    assert outside(row(cache_blocks=False)) == outside(row())


# --- row matrices (wire §2.6) ----------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"columns_to_get": ["b", "a", "b", "pk"]},
        {"columns_to_get": ["pk", "a", "b"], "filter": FILTER, "start_column": "a"},
        {
            "columns_to_get": ["a", "b"],
            "max_versions": None,
            "time_range": TIMES(specific_time=5),
        },
    ],
)
def test_a_row_matrix_is_asked_for(fields: dict[str, object]) -> None:
    asked = get_range.decode(page(**fields, data_block_type_hint=1))
    plain = ranged(page(**fields))
    assert asked[:2] == MatrixRange(plain, ("pk",), ())[:2]
    assert sorted(asked.columns) == ["a", "b"]


def test_a_row_matrix_has_its_columns_in_the_order_of_the_request() -> None:
    fields = {"columns_to_get": ["b", "pk", "c", "b", "a"], "data_block_type_hint": 1}
    assert get_range.decode(page(**fields)).columns == ("b", "c", "a")


@pytest.mark.parametrize(
    "fields",
    [
        {},  # no columns to name
        {"columns_to_get": ["a"], "max_versions": 2},
        {
            "columns_to_get": ["a"],
            "max_versions": None,
            "time_range": TIMES(start_time=1, end_time=3),
        },
        {"columns_to_get": ["a"], "token": encode_token(Resume("c", 1))},
        {"columns_to_get": ["a"], "data_block_type_hint": 2},
    ],
)
def test_what_a_row_matrix_cannot_say_is_answered_in_rows(fields: dict[str, object]) -> None:
    hinted = get_range.decode(page(**{"data_block_type_hint": 1, **fields}))
    assert hinted == get_range.decode(page(**{**fields, "data_block_type_hint": None}))


# --- bodies that are not requests -------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"",
        row(primary_key=None),
        row(table_name=None),
        row(primary_key=None) + b"\x78\x00",  # as long as with an empty one
        row(table_name=None) + b"\x78\x00",
        row()[:-1],
        row() + b"\x00",
        row().replace(b"\x0a\x01T", b"\x0a\x01\xff"),
        row(columns_to_get=["c"]).replace(b"\x1a\x01c", b"\x1a\x01\xff"),
        row(start_column="c").replace(b"\x42\x01c", b"\x42\x01\xff"),
    ],
)
def test_bodies_that_are_no_get_row(body: bytes) -> None:
    with pytest.raises(InvalidRequest) as caught:
        outside(body)
    assert caught.value.rule is TablestoreRule.BODY_UNREADABLE


@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_refused(body: bytes) -> None:
    for decode in (get_row.decode, batch_get_row.decode, get_range.decode):
        try:
            decode(body)
        except InvalidRequest:
            continue


@given(st.integers(0, len(page(filter=FILTER))), st.integers(0, 255))
def test_one_damaged_byte_is_a_request_or_refused(position: int, byte: int) -> None:
    body = bytearray(page(filter=FILTER))
    body[position : position + 1] = bytes((byte,))
    try:
        get_range.decode(bytes(body))
    except (InvalidRequest, Unsupported):
        return
