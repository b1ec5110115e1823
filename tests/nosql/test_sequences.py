"""Sequences of operations on one shard key: in order, all or none (model §7)."""

from collections.abc import Callable

import pytest

from widerow import nosql
from widerow.nosql import InvalidRequest, Operation, OperationFailed, ReturnRow

A1, A2, B1 = {"g": "a", "id": 1}, {"g": "a", "id": 2}, {"g": "b", "id": 1}


def test_results_come_in_the_order_of_the_list(
    store: nosql.TypedStore, users: nosql.TableHandle, orders: nosql.TableHandle
) -> None:
    version = users.put({**A1, "name": "old"}).version
    assert version is not None
    results = store.execute(
        [
            users.operation().put_if_version({**A1, "name": "new"}, version),
            users.operation().put_if_present(A2),
            orders.operation().put_if_absent({**A1, "no": 1}),
            orders.operation().delete({**A1, "no": 2}),
            orders.operation().put({**A2, "no": 1}, returning=ReturnRow.ALL),
        ]
    )
    assert [result.success for result in results] == [True, False, True, False, True]
    row = users.get(A1)
    assert row is not None
    assert (row["name"], row.version) == ("new", results[0].version)
    assert len(orders.multi_get({"g": "a"})) == 2


FAILING: list[tuple[str, Callable[[nosql.TableHandle, nosql.Version], Operation]]] = [
    (
        "PUT_IF_ABSENT",
        lambda t, _: t.operation(abort_if_unsuccessful=True).put_if_absent(A1),
    ),
    (
        "PUT_IF_PRESENT",
        lambda t, _: t.operation(abort_if_unsuccessful=True).put_if_present(A2),
    ),
    (
        "PUT_IF_VERSION",
        lambda t, v: t.operation(abort_if_unsuccessful=True).put_if_version(A1, v),
    ),
    ("DELETE", lambda t, _: t.operation(abort_if_unsuccessful=True).delete(A2)),
    (
        "DELETE_IF_VERSION",
        lambda t, v: t.operation(abort_if_unsuccessful=True).delete_if_version(A1, v),
    ),
]


@pytest.mark.parametrize(("kind", "make"), FAILING)
def test_an_operation_that_may_not_fail_undoes_the_sequence(
    store: nosql.TypedStore,
    users: nosql.TableHandle,
    orders: nosql.TableHandle,
    kind: str,
    make: Callable[[nosql.TableHandle, nosql.Version], Operation],
) -> None:
    stale = users.put({**A1, "name": "before"}).version
    assert stale is not None
    users.put({**A1, "name": "kept"})
    with pytest.raises(OperationFailed) as failed:
        store.execute([orders.operation().put({**A1, "no": 1}), make(users, stale)])
    assert str(failed.value) == f"Failed table operation, type: {kind}, operation index in list: 1"
    assert (failed.value.index, failed.value.kind.value) == (1, kind)
    assert not failed.value.result
    assert orders.multi_get({"g": "a"}) == []
    row = users.get(A1)
    assert row is not None
    assert row["name"] == "kept"


def test_later_operations_see_what_earlier_ones_did(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:
    """Not through the same key, which is refused, but through what a deletion leaves."""
    users.put(A1)
    results = store.execute([users.operation().delete(A1), users.operation().put_if_absent(A2)])
    assert all(results)
    assert users.get(A1) is None


def test_shard_keys_must_agree(store: nosql.TypedStore, users: nosql.TableHandle) -> None:
    with pytest.raises(InvalidRequest) as refused:
        store.execute([users.operation().put(B1), users.operation().put(A1)])
    assert str(refused.value) == (
        'Shard key: {"g":"a"} does not match the shard key of previous rows in the list: {"g":"b"}'
    )
    assert list(users.table_iterator()) == []


def test_a_key_may_stand_once(store: nosql.TypedStore, users: nosql.TableHandle) -> None:
    with pytest.raises(InvalidRequest) as refused:
        store.execute([users.operation().put(A1), users.operation().delete(A1)])
    assert str(refused.value) == 'More than one operation has the same Key: {"g":"a","id":1}'


def test_an_empty_list_is_refused(store: nosql.TypedStore) -> None:
    with pytest.raises(InvalidRequest) as refused:
        store.execute([])
    assert str(refused.value) == "operations must be non-null and non-empty"


def test_tables_that_are_not_related_are_refused(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:
    builder = nosql.TableBuilder("other").add_field("g", nosql.STRING).primary_key("g")
    other = store.create_table(builder.build())
    with pytest.raises(InvalidRequest) as refused:
        store.execute([users.operation().put(A1), other.operation().put({"g": "a"})])
    assert str(refused.value) == (
        "Operations of one sequence must be on tables of one hierarchy: other is not related to "
        "users"
    )


def test_a_checked_error_in_the_list_writes_nothing(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:
    with pytest.raises(InvalidRequest):
        store.execute([users.operation().put(A1), users.operation().put({"g": "a", "id": "x"})])
    assert list(users.table_iterator()) == []


def test_many_writes_each_for_itself(store: nosql.TypedStore, users: nosql.TableHandle) -> None:
    results = users.put_many({"g": str(i % 7), "id": i} for i in range(3000))
    assert all(results)
    assert len({result.version for result in results}) == 3000
    assert len(list(users.table_iterator())) == 3000
    mixed = store.write_many(
        [users.operation().delete({"g": "0", "id": number}) for number in (0, 1)]
    )
    assert [result.success for result in mixed] == [True, False]
