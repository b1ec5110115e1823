"""Batches through the SDK (semantics §4.8, §5.5, §19 rows 5, 7 and 8b)."""

from collections.abc import Iterable

import pytest
from tablestore import (
    INF_MIN,
    PK_AUTO_INCR,
    BatchGetRowRequest,
    BatchGetRowResponse,
    BatchWriteRowRequest,
    BatchWriteRowResponse,
    CapacityUnit,
    ComparatorType,
    Condition,
    DeleteRowItem,
    OTSClient,
    OTSServiceError,
    PutRowItem,
    ReservedThroughput,
    ReturnType,
    Row,
    RowExistenceExpectation,
    RowItem,
    SingleColumnCondition,
    TableInBatchGetRowItem,
    TableInBatchWriteRowItem,
    TableMeta,
    TableOptions,
    UpdateRowItem,
)

Key = list[tuple[str, object]]
IGNORE = Condition(RowExistenceExpectation.IGNORE)
EXPECT_EXIST = Condition(RowExistenceExpectation.EXPECT_EXIST)


def create(ots: OTSClient, name: str, *more: tuple[object, ...]) -> None:
    meta = TableMeta(name, [("pk", "STRING"), *more])
    ots.create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(0, 0)))


@pytest.fixture
def tables(ots: OTSClient) -> OTSClient:
    """A client of an instance with the tables `t` and `u`."""
    create(ots, "t")
    create(ots, "u")
    return ots


def pk(value: object) -> Key:
    return [("pk", value)]


def put(value: object, **columns: object) -> PutRowItem:
    return PutRowItem(Row(pk(value), list(columns.items())), IGNORE)


def update(value: object, condition: Condition = IGNORE, **changes: object) -> UpdateRowItem:
    return UpdateRowItem(Row(pk(value), changes), condition)


def write(ots: OTSClient, **items: list[RowItem]) -> BatchWriteRowResponse:
    request = BatchWriteRowRequest()
    for table, rows in items.items():
        request.add(TableInBatchWriteRowItem(table, rows))
    return ots.batch_write_row(request)


def read(
    ots: OTSClient, table: str, values: Iterable[object], **options: object
) -> BatchGetRowResponse:
    request = BatchGetRowRequest()
    keys = [pk(value) for value in values]
    request.add(TableInBatchGetRowItem(table, keys, **({"max_version": 1} | options)))
    return ots.batch_get_row(request)


def rows(ots: OTSClient, table: str, values: Iterable[object]) -> list[dict[str, object] | None]:
    result = read(ots, table, values).get_result_by_table(table)
    assert all(item.is_ok for item in result)
    return [
        None if item.row is None else {name: value for name, value, _ in item.row.attribute_columns}
        for item in result
    ]


def refusal(caught: pytest.ExceptionInfo[OTSServiceError]) -> tuple[int, str, str]:
    error = caught.value
    return error.get_http_status(), error.get_error_code(), error.get_error_message()


def test_puts_updates_and_deletes_of_two_tables_go_together(tables: OTSClient) -> None:
    write(tables, t=[put("changed", a=1, b=2), put("deleted", a=1)])
    response = write(
        tables,
        t=[
            put("new", a=1),
            update("changed", PUT=[("a", 3)], DELETE_ALL=["b"], INCREMENT=[("n", 4)]),
            DeleteRowItem(Row(pk("deleted")), EXPECT_EXIST),
        ],
        u=[put("new", z="u")],
    )
    assert response.is_all_succeed()
    assert [len(each) for each in (response.get_put()[0], response.get_update()[0])] == [2, 1]
    expected = [{"a": 1}, {"a": 3, "n": 4}, None]
    assert rows(tables, "t", ["new", "changed", "deleted"]) == expected
    assert rows(tables, "u", ["new", "absent"]) == [{"z": "u"}, None]


def test_a_failed_row_does_not_stop_the_others(tables: OTSClient) -> None:
    response = write(
        tables,
        t=[
            PutRowItem(Row(pk("none"), [("a", 1)]), EXPECT_EXIST),
            put("stays", a=1),
            update("nothing", EXPECT_EXIST, PUT=[("a", 1)]),
            DeleteRowItem(Row(pk("nobody")), EXPECT_EXIST),
        ],
    )
    assert not response.is_all_succeed()
    for failed in (response.get_put()[1], response.get_update()[1], response.get_delete()[1]):
        assert len(failed) == 1
        assert failed[0].error_code == "OTSConditionCheckFail"
        assert failed[0].error_message == "Row does not exist which is expected existent"
    assert rows(tables, "t", ["stays", "none", "nothing"]) == [{"a": 1}, None, None]


def test_keys_are_held_against_the_schema_row_by_row(tables: OTSClient) -> None:
    response = write(tables, t=[put("good", a=1), put(7, a=1)])
    assert [item.is_ok for item in response.get_put_by_table("t")] == [True, False]
    failed = response.get_put_by_table("t")[1]
    message = "Validate PK type fail. Input: VT_INTEGER, Meta: VT_STRING."
    assert (failed.error_code, failed.error_message) == ("OTSInvalidPK", message)
    result = read(tables, "t", ["good", 7]).get_result_by_table("t")
    assert [item.is_ok for item in result] == [True, False]
    assert (result[1].error_code, result[1].error_message) == ("OTSInvalidPK", message)


def test_what_no_row_may_be_fails_the_whole_request(tables: OTSClient) -> None:
    expected = (400, "OTSParameterInvalid", "VT_INF_MIN is an invalid type for the primary key.")
    with pytest.raises(OTSServiceError) as caught:
        write(tables, t=[put("good", a=1), put(INF_MIN, a=1)])
    assert refusal(caught) == expected
    with pytest.raises(OTSServiceError) as caught:
        read(tables, "t", ["good", INF_MIN])
    assert refusal(caught) == expected
    assert rows(tables, "t", ["good"]) == [None]


def test_rows_that_repeat_are_changed_in_order(tables: OTSClient) -> None:
    write(tables, t=[put("a", c=n) for n in range(10)])
    write(tables, t=[update("b", PUT=[(f"c{n}", n)]) for n in range(3)])
    write(tables, t=[put("c", x=1), update("c", PUT=[("y", 2)])])
    write(tables, t=[put("d", x=1), DeleteRowItem(Row(pk("d")), IGNORE)])
    expected = [{"c": 9}, {"c0": 0, "c1": 1, "c2": 2}, {"x": 1, "y": 2}, None]
    assert rows(tables, "t", "abcd") == expected


def test_rows_that_repeat_carry_no_conditions(tables: OTSClient) -> None:
    with pytest.raises(OTSServiceError) as caught:
        write(tables, t=[put("a", c=1), update("a", EXPECT_EXIST, PUT=[("c", 2)])])
    message = "Repeated rows do not support row exist expectation check in BatchModify."
    assert refusal(caught) == (400, "OTSParameterInvalid", message)
    assert rows(tables, "t", ["a"]) == [None]


def test_the_number_of_rows_has_bounds(tables: OTSClient) -> None:
    assert write(tables, t=[put(f"{n}", c=n) for n in range(200)]).is_all_succeed()
    assert rows(tables, "t", [f"{n}" for n in range(100)]) == [{"c": n} for n in range(100)]
    with pytest.raises(OTSServiceError) as caught:
        write(tables, t=[put(f"{n}", c=-1) for n in range(201)])
    message = "Rows count exceeds the upper limit: 200."
    assert refusal(caught) == (400, "OTSParameterInvalid", message)
    with pytest.raises(OTSServiceError) as caught:
        read(tables, "t", [f"{n}" for n in range(101)])
    message = "Rows count exceeds the upper limit: 100."
    assert refusal(caught) == (400, "OTSParameterInvalid", message)
    assert rows(tables, "t", ["0"]) == [{"c": 0}]


def test_requests_without_rows_are_refused(tables: OTSClient) -> None:
    with pytest.raises(OTSServiceError) as caught:
        tables.batch_write_row(BatchWriteRowRequest())
    message = "No row is specified in BatchWriteRow."
    assert refusal(caught) == (400, "OTSParameterInvalid", message)
    with pytest.raises(OTSServiceError) as caught:
        tables.batch_get_row(BatchGetRowRequest())
    message = "No row specified in the request of BatchGetRow."
    assert refusal(caught) == (400, "OTSParameterInvalid", message)
    assert read(tables, "t", []).get_result_by_table("t") in (None, [])


def test_an_unknown_table_fails_its_rows_alone(tables: OTSClient) -> None:
    response = write(tables, t=[put("a", c=1)], nowhere=[put("a", c=1)])
    assert [item.is_ok for item in response.get_put_by_table("t")] == [True]
    failed = response.get_put_by_table("nowhere")[0]
    assert (failed.is_ok, failed.error_code) == (False, "OTSObjectNotExist")
    assert failed.error_message == "Requested table does not exist."


def test_reads_take_repeated_keys_filters_and_columns(tables: OTSClient) -> None:
    write(tables, t=[put("a", c=1, d=2), put("b", c=2)])
    assert rows(tables, "t", ["a", "a", "b"]) == [{"c": 1, "d": 2}] * 2 + [{"c": 2}]
    only_one = SingleColumnCondition("c", 1, ComparatorType.EQUAL)
    result = read(tables, "t", ["a", "b"], column_filter=only_one).get_result_by_table("t")
    assert [item.is_ok for item in result] == [True, True]
    assert [item.row is None for item in result] == [False, True]
    result = read(tables, "t", ["a", "b"], columns_to_get=["d"]).get_result_by_table("t")
    found = [None if item.row is None else item.row.attribute_columns for item in result]
    assert [None if cells is None else len(cells) for cells in found] == [1, None]


def test_rows_return_their_keys_when_asked(ots: OTSClient) -> None:
    create(ots, "t", ("seq", "INTEGER", PK_AUTO_INCR))
    key: Key = [("pk", "a"), ("seq", PK_AUTO_INCR)]
    items = [PutRowItem(Row(key, [("c", n)]), IGNORE, ReturnType.RT_PK) for n in range(3)]
    succeeded, failed = write(ots, t=items).get_put()
    assert not failed
    numbers = [item.row.primary_key[1][1] for item in succeeded]
    assert numbers == sorted(set(numbers))


def test_consumption_is_told_row_by_row(tables: OTSClient) -> None:
    columns = {f"c{n}": "x" * 2048 for n in range(5)}
    response = write(tables, t=[put(f"{n}", **columns) for n in range(3)])
    assert [item.consumed.write for item in response.get_put()[0]] == [3, 3, 3]
    result = read(tables, "t", "012").get_result_by_table("t")
    assert [item.consumed.read for item in result] == [3, 3, 3]
    deletes = [DeleteRowItem(Row(pk(f"{n}")), IGNORE) for n in range(3)]
    assert [item.consumed.write for item in write(tables, t=deletes).get_delete()[0]] == [1, 1, 1]
