"""Limits of reads and batches over HTTP: at the limit, and one beyond it (semantics §4.8, §5, §17).

Where two limits apply to one request, the comment says which is met first.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest
from google.protobuf.message import Message
from tests.support.answers import decode_answer_rows, decode_row
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.http import Answer
from tests.support.requests import (
    ANY,
    KEY,
    batch_get_request,
    batch_write_request,
    delete_row_request,
    get_range_request,
    get_row_request,
    put_row_request,
    update_row_request,
)

from widerow.model.values import KeyMarker
from widerow.wire.tablestore import messages as m

Ask = Callable[[str, Message], Answer]
Error = tuple[int, str, str]

VALUE_MAX: Final = 2_097_152
BATCH_MAX: Final = 4_194_304
INF_MIN: Final = b"\x09"
INF_MAX: Final = b"\x0a"


def invalid(message: str) -> Error:
    return 400, "OTSParameterInvalid", message


# --- columns_to_get: 1024 ------------------------------------------------------------------------

READS: Final[dict[str, Callable[[str], Any]]] = {
    "GetRow": get_row_request,
    "GetRange": get_range_request,
    "BatchGetRow": batch_get_request,
}


def reading(action: str, table: str) -> tuple[Message, Any]:
    """A read, and the part of it that says what is read."""
    message = READS[action](table)
    return message, message.tables[0] if action == "BatchGetRow" else message


def shown(action: str, answer: Answer) -> set[str]:
    """The columns of the one row of an answer."""
    assert answer.status == 200
    if action == "GetRow":
        data = m.GetRowResponse.FromString(answer.body).row
    elif action == "GetRange":
        data = m.GetRangeResponse.FromString(answer.body).rows
    else:
        (table,) = m.BatchGetRowResponse.FromString(answer.body).tables
        data = table.rows[0].row
    row = decode_row(data[4:])
    return set() if row is None else set(row[1])


@pytest.mark.parametrize("action", READS)
def test_a_read_names_at_most_1024_columns(ask: Ask, table: str, action: str) -> None:
    ask("PutRow", put_row_request(table))
    message, part = reading(action, table)
    part.columns_to_get.extend(["c", *(f"c{number}" for number in range(1023))])
    assert shown(action, ask(action, message)) == {"c"}
    part.columns_to_get.append("c")  # named twice, counted once
    assert shown(action, ask(action, message)) == {"c"}
    part.columns_to_get.append("another")
    text = (
        "The number of columns from the request exceeds the limit, limit count: 1024, column "
        "count: 1025."
    )
    assert ask(action, message).error == invalid(text)


@pytest.mark.parametrize("action", READS)
@pytest.mark.parametrize("name", ["a" * 255, "a" * 256, ""])
def test_names_in_reads_have_1_to_255_bytes(ask: Ask, table: str, action: str, name: str) -> None:
    parts = []
    for fill in (_columns_to_get, _filter):
        message, part = reading(action, table)
        fill(part, name)
        parts.append(message)
    for message in parts:
        answer = ask(action, message)
        if len(name) == 255:
            assert answer.status == 200
        else:
            assert answer.error == invalid(f"Invalid column name: '{name}'.")


def _columns_to_get(part: Any, name: str) -> None:  # noqa: ANN401  # any of the reads
    part.columns_to_get.append(name)


def _filter(part: Any, name: str) -> None:  # noqa: ANN401  # any of the reads
    part.filter = leaf(name).SerializeToString()


# --- versions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", READS)
@pytest.mark.parametrize("count", [1, 2**31 - 1, 0, -1])
def test_a_read_asks_for_one_version_or_more(ask: Ask, table: str, action: str, count: int) -> None:
    message, part = reading(action, table)
    part.max_versions = count
    text = f"Invalid max versions: {count} . Reason: Max versions must be positive."
    answer = ask(action, message)
    assert (answer.status == 200) if count > 0 else (answer.error == invalid(text))


@pytest.mark.parametrize("action", READS)
def test_a_read_takes_every_time_from_0_on(ask: Ask, table: str, action: str) -> None:
    """The bound of versions is for those that are written (semantics §1.5, §5.1)."""
    ask("PutRow", put_row_request(table))
    last = 2**63 - 1
    below = invalid("Timestamp must be in range [0, INT64_MAX/1000).")
    negative = invalid("Specific timestamp cannot be less than 0.")
    cases: list[tuple[dict[str, int], set[str] | Error]] = [
        ({"start_time": 0, "end_time": last}, {"c"}),  # a default of the Java SDK: new TimeRange()
        ({"start_time": last // 1000, "end_time": last}, set()),
        ({"start_time": last, "end_time": last}, set()),
        ({"specific_time": last // 1000}, set()),
        ({"specific_time": last}, set()),
        ({"specific_time": 0}, set()),
        ({"specific_time": -1}, negative),
        ({"start_time": -1, "end_time": last}, below),
        ({"start_time": 0, "end_time": -1}, below),
    ]
    for times, expected in cases:
        message, part = reading(action, table)
        part.ClearField("max_versions")
        for name, value in times.items():
            setattr(part.time_range, name, value)
        answer = ask(action, message)
        found = shown(action, answer) if isinstance(expected, set) else answer.error
        assert found == expected, times


# --- filters: 32 nodes ---------------------------------------------------------------------------


def leaf(name: str = "c", constant: bytes = b"\x03\x01\x00\x00\x00x") -> m.Filter:
    condition = m.SingleColumnValueFilter(
        comparator=2,
        column_name=name,
        column_value=constant,
        filter_if_missing=False,
        latest_version_only=True,
    )
    return m.Filter(type=1, filter=condition.SerializeToString())


def composite(combinator: int, parts: Iterable[m.Filter]) -> m.Filter:
    tree = m.CompositeColumnValueFilter(combinator=combinator, sub_filters=parts)
    return m.Filter(type=2, filter=tree.SerializeToString())


def crowd(nodes: int) -> bytes:
    """OR of leaves."""
    return composite(3, [leaf()] * (nodes - 1)).SerializeToString()


def chain(nodes: int) -> bytes:
    """NOT of NOT of ... a leaf."""
    tree = leaf()
    for _ in range(nodes - 1):
        tree = composite(1, [tree])
    return tree.SerializeToString()


COUNT: Final = invalid("The count of filter exceeds the max: 32.")


@pytest.mark.parametrize("tree", [crowd, chain])
@pytest.mark.parametrize("action", READS)
def test_filters_of_reads_have_at_most_32_nodes(
    ask: Ask, table: str, action: str, tree: Callable[[int], bytes]
) -> None:
    message, part = reading(action, table)
    part.filter = tree(32)
    assert ask(action, message).status == 200
    for nodes in (33, 1000):
        part.filter = tree(nodes)
        assert ask(action, message).error == COUNT


CONDITIONED: Final[dict[str, Callable[[str], Any]]] = {
    "PutRow": put_row_request,
    "UpdateRow": update_row_request,
    "DeleteRow": delete_row_request,
    "BatchWriteRow": batch_write_request,
}


def conditioned(action: str, table: str) -> tuple[Message, m.Condition]:
    message = CONDITIONED[action](table)
    part = message.tables[0].rows[0] if action == "BatchWriteRow" else message
    return message, part.condition


@pytest.mark.parametrize("tree", [crowd, chain])
@pytest.mark.parametrize("action", CONDITIONED)
def test_conditions_of_writes_have_at_most_32_nodes(
    ask: Ask, table: str, action: str, tree: Callable[[int], bytes]
) -> None:
    message, condition = conditioned(action, table)
    for nodes in (33, 1000):
        condition.column_condition = tree(nodes)
        assert ask(action, message).error == COUNT
    condition.column_condition = tree(32)
    # The missing column passes, and an odd number of NOTs turns that round (semantics §4.1).
    failed = b"OTSConditionCheckFail" in ask(action, message).body
    assert failed is (tree is chain)


def constant(size: int) -> bytes:
    return b"\x03" + size.to_bytes(4, "little") + b"x" * size


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("action", READS)
def test_constants_of_filters_end_at_2097152_bytes(
    ask: Ask, table: str, action: str, depth: int
) -> None:
    message, part = reading(action, table)
    for size in (VALUE_MAX, VALUE_MAX + 1):
        tree = leaf("c", constant(size))
        for _ in range(depth - 1):
            tree = composite(1, [tree])
        part.filter = tree.SerializeToString()
        answer = ask(action, message)
        text = (
            "The length of attribute column: 'c' exceeds the MaxLength:2097152 with "
            "CurrentLength:2097153."
        )
        assert (answer.status == 200) if size == VALUE_MAX else (answer.error == invalid(text))


# --- BatchGetRow: 100 rows -----------------------------------------------------------------------


@pytest.mark.parametrize("parts", [(100,), (50, 50), (1,) * 100])
def test_a_batch_reads_at_most_100_rows(ask: Ask, table: str, parts: tuple[int, ...]) -> None:
    """Of all its tables together."""
    message = m.BatchGetRowRequest()
    for rows in parts:
        keys = [key_buffer((("k", "a"), ("n", number))) for number in range(rows)]
        message.tables.add(table_name=table, primary_key=keys, max_versions=1)
    answer = m.BatchGetRowResponse.FromString(ask("BatchGetRow", message).body)
    assert [len(each.rows) for each in answer.tables] == list(parts)
    assert all(row.is_ok for each in answer.tables for row in each.rows)
    message.tables[-1].primary_key.append(key_buffer(KEY))
    error = ask("BatchGetRow", message).error
    assert error == invalid("Rows count exceeds the upper limit: 100.")


# --- BatchWriteRow: 200 rows, 4 MB ---------------------------------------------------------------


def written(ask: Ask, table: str) -> int:
    """How many rows the table has."""
    message = get_range_request(table)
    bounds = (INF_MIN, INF_MAX)
    names = ("inclusive_start_primary_key", "exclusive_end_primary_key")
    for name, bound in zip(names, bounds, strict=True):
        setattr(message, name, infinite(bound))
    return len(
        decode_answer_rows(m.GetRangeResponse.FromString(ask("GetRange", message).body).rows[4:])
    )


def infinite(bound: bytes) -> bytes:
    """A key (k, n) of infinities."""
    value = {INF_MIN: KeyMarker.INF_MIN, INF_MAX: KeyMarker.INF_MAX}[bound]
    return key_buffer((("k", value), ("n", value)))


def put_in_batch(number: int, value: bytes = b"") -> m.RowInBatchWriteRowRequest:
    row = row_buffer((("k", "a"), ("n", number)), [cell("c", value)])
    return m.RowInBatchWriteRowRequest(type=1, row_change=row, condition=ANY)


@pytest.mark.parametrize("parts", [(200,), (100, 100), (1,) * 200])
def test_a_batch_writes_at_most_200_rows(ask: Ask, table: str, parts: tuple[int, ...]) -> None:
    """Of all its tables together."""
    numbers = iter(range(200))
    message = m.BatchWriteRowRequest()
    for count in parts:
        rows = [put_in_batch(next(numbers)) for _ in range(count)]
        message.tables.add(table_name=table, rows=rows)
    message.tables[-1].rows.append(put_in_batch(200))
    error = ask("BatchWriteRow", message).error
    assert error == invalid("Rows count exceeds the upper limit: 200.")
    assert written(ask, table) == 0
    del message.tables[-1].rows[-1]
    assert ask("BatchWriteRow", message).status == 200
    assert written(ask, table) == 200


@pytest.mark.parametrize("rows", [2, 200])
def test_a_batch_writes_at_most_4194304_bytes(ask: Ask, table: str, rows: int) -> None:
    """Bytes of names and values."""
    each = BATCH_MAX // rows - len("kanc") - 8
    sizes = [each] * rows
    sizes[-1] += BATCH_MAX - rows * (BATCH_MAX // rows)
    for beyond in (1, 0):
        changes = [put_in_batch(n, bytes(size)) for n, size in enumerate(sizes[:-1])]
        changes.append(put_in_batch(rows, bytes(sizes[-1] + beyond)))
        tables = [m.TableInBatchWriteRowRequest(table_name=table, rows=changes)]
        answer = ask("BatchWriteRow", m.BatchWriteRowRequest(tables=tables))
        if beyond:
            text = (
                "The total data size of BatchWriteRow request exceeds the limit, limit size: "
                "4194304, data size: 4194305."
            )
            assert answer.error == invalid(text)
            assert written(ask, table) == 0
        else:
            (answered,) = m.BatchWriteRowResponse.FromString(answer.body).tables
            assert [row.is_ok for row in answered.rows] == [True] * rows


def test_200_rows_of_1024_cells_are_one_batch(ask: Ask, table: str) -> None:
    """Both limits at once stay below those of data and body, if names and values are short."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    cells = [cell(a + b, value=True) for a in letters for b in letters][:1024]
    changes = [
        m.RowInBatchWriteRowRequest(
            type=1, row_change=row_buffer((("k", "a"), ("n", number)), cells), condition=ANY
        )
        for number in range(200)
    ]
    tables = [m.TableInBatchWriteRowRequest(table_name=table, rows=changes)]
    answer = ask("BatchWriteRow", m.BatchWriteRowRequest(tables=tables))
    (answered,) = m.BatchWriteRowResponse.FromString(answer.body).tables
    assert [row.is_ok for row in answered.rows] == [True] * 200


# --- GetRange: 5000 rows, 4 MB -------------------------------------------------------------------


def fill(ask: Ask, table: str, sizes: Iterable[int]) -> None:
    """Rows (a, 0), (a, 1), ... of such values."""
    rows = [put_in_batch(number, bytes(size)) for number, size in enumerate(sizes)]
    while rows:
        count = 200 if len(rows[0].row_change) < 1000 else 1
        tables = [m.TableInBatchWriteRowRequest(table_name=table, rows=rows[:count])]
        answer = ask("BatchWriteRow", m.BatchWriteRowRequest(tables=tables))
        assert b"OTS" not in answer.body
        del rows[:count]


def pages(ask: Ask, table: str, **options: int | bytes) -> list[int]:
    """How many rows each page of the whole table has."""
    backward = options.get("direction") == 1
    message = get_range_request(table)
    for name, value in options.items():
        setattr(message, name, value)
    message.inclusive_start_primary_key = infinite(INF_MAX if backward else INF_MIN)
    message.exclusive_end_primary_key = infinite(INF_MIN if backward else INF_MAX)
    found = []
    while True:
        answer = m.GetRangeResponse.FromString(ask("GetRange", message).body)
        found.append(len(decode_answer_rows(answer.rows[4:])))
        if not answer.next_start_primary_key:
            return found
        message.inclusive_start_primary_key = answer.next_start_primary_key


def test_a_page_of_a_range_has_at_most_5000_rows(ask: Ask, table: str) -> None:
    """Scanned: rows that a filter drops count, and a page that ends the range has no next key."""
    fill(ask, table, [0] * 5000)
    for direction in (0, 1):
        assert pages(ask, table, direction=direction) == [5000]
        assert pages(ask, table, direction=direction, limit=4999) == [4999, 1]
        assert pages(ask, table, direction=direction, limit=5001) == [5000]
    ask("PutRow", put_bytes(table, "b", 1))  # one more
    for direction in (0, 1):
        assert pages(ask, table, direction=direction) == [5000, 1]
        assert pages(ask, table, direction=direction, limit=2**31 - 1) == [5000, 1]
    nothing = leaf("c", b"\x00" + bytes(8)).SerializeToString()  # of another type: never holds
    assert pages(ask, table, filter=nothing) == [0, 0]


def put_bytes(table: str, key: str, number: int, size: int = 0) -> m.PutRowRequest:
    row = row_buffer((("k", key), ("n", number)), [cell("c", bytes(size))])
    return m.PutRowRequest(table_name=table, row=row, condition=ANY)


@pytest.mark.parametrize("limit", [0, -1, 1])
def test_a_range_asks_for_one_row_or_more(ask: Ask, table: str, limit: int) -> None:
    message = get_range_request(table)
    message.limit = limit
    answer = ask("GetRange", message)
    text = "The limit must be greater than 0."
    assert (answer.status == 200) if limit > 0 else (answer.error == invalid(text))


@pytest.mark.parametrize("direction", [0, 1])
def test_a_page_of_a_range_has_at_most_4_mb(ask: Ask, table: str, direction: int) -> None:
    """Of names and values of the rows scanned: four rows of 1 MB fill a page."""
    size = 1024 * 1024 - len("kanc") - 8
    fill(ask, table, [size] * 8)
    assert pages(ask, table, direction=direction) == [4, 4]
    ask("PutRow", put_bytes(table, "a", 7, size + 1))
    ask("PutRow", put_bytes(table, "a", 0, size + 1))
    assert pages(ask, table, direction=direction) == [3, 4, 1]


# --- wide rows: 16 MB of one, 32 MB of a batch ---------------------------------------------------

NAMES: Final = [f"c{number}" for number in range(9)]


def widen(ask: Ask, table: str, names: Iterable[str]) -> None:
    """Columns of 2 MB for the row, by one request each: a request has no room for three."""
    for name in names:
        change = row_buffer(KEY, [cell(name, bytes(VALUE_MAX))])
        message = m.UpdateRowRequest(table_name=table, row_change=change, condition=ANY)
        assert ask("UpdateRow", message).status == 200


def parts(ask: Ask, table: str) -> list[list[str]]:
    """The columns of the row, answer by answer."""
    request, found = get_row_request(table), []
    while True:
        answer = m.GetRowResponse.FromString(ask("GetRow", request).body)
        row = decode_row(answer.row[4:])
        assert row is not None
        found.append(list(row[1]))
        if not answer.next_token:
            return found
        request.token = answer.next_token


def test_one_row_above_16_mb_comes_in_parts(ask: Ask, table: str) -> None:
    widen(ask, table, NAMES[:7])  # 14 MB
    assert parts(ask, table) == [NAMES[:7]]
    widen(ask, table, NAMES[7:])  # 18 MB
    found = parts(ask, table)
    assert len(found) == 2
    assert [name for names in found for name in names] == NAMES


def test_a_batch_holds_32_mb(ask: Ask, table: str) -> None:
    """Five times a row of 14 MB: two in whole, two in part, and one has to be asked again."""
    widen(ask, table, NAMES[:7])
    request = batch_get_request(table)
    asked = request.tables[0]
    asked.primary_key.extend([key_buffer(KEY)] * 4)
    (answered,) = m.BatchGetRowResponse.FromString(ask("BatchGetRow", request).body).tables
    assert [row.is_ok for row in answered.rows] == [True, True, True, True, False]
    found = [_names(row.row) for row in answered.rows[:4]]
    assert found[:2] == [NAMES[:7]] * 2
    assert [bool(row.next_token) for row in answered.rows] == [
        False,
        False,
        True,
        True,
        False,
    ]
    refused = answered.rows[4].error
    assert refused.code == "OTSParameterInvalid"
    assert refused.message == (
        "The total data size of BatchGetRow response exceeds the limit, limit size: 33554432."
    )

    del asked.primary_key[1:]
    asked.token.append(answered.rows[2].next_token)
    (rest,) = m.BatchGetRowResponse.FromString(ask("BatchGetRow", request).body).tables
    assert found[2] + _names(rest.rows[0].row) == NAMES[:7]
    assert not rest.rows[0].next_token


def _names(data: bytes) -> list[str]:
    row = decode_row(data[4:])
    return [] if row is None else list(row[1])
