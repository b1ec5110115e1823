"""Rows of one shard changed by a function, in one transaction (ddl §3: UPDATE, DELETE)."""

import pytest

from widerow import nosql
from widerow.engine.typed.change_rows import NewValues
from widerow.engine.typed.scan import MultiRowSelection, scan_rows, select_rows
from widerow.engine.typed.stored import StoredRow
from widerow.model.typed.rules import TypedRule
from widerow.nosql import InvalidRequest, TimeToLive


def test_rows_are_changed_deleted_and_left_alone_as_the_function_says(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:
    store.create_index("users", nosql.Index("by_name", (nosql.IndexField("name"),)))
    for number in range(6):
        users.put({"g": "a", "id": number, "name": f"n{number}"})
    users.put({"g": "b", "id": 0, "name": "other"})
    selection = select_rows(users.form, {"g": "a"}, None, (), ())

    def decide(row: StoredRow) -> NewValues | None:
        if row["id"] % 3 == 0:
            return NewValues(None)
        if row["id"] % 3 == 1:
            return None
        values = list(row.values_in_order())
        values[2] = "new"
        return NewValues(values, TimeToLive.days(2))

    shard = users.form.key.shard_of(selection.start)
    changed = store.commit(store.engine.change_rows(shard, [selection], decide))
    assert [(old["id"], new is None) for old, new in changed] == [
        (0, True),
        (2, False),
        (3, True),
        (5, False),
    ]
    left = [
        (row["g"], row["id"], row["name"], row.expires_ms > 0) for row in users.table_iterator()
    ]
    assert left == [
        ("a", 1, "n1", False),
        ("a", 2, "new", True),
        ("a", 4, "n4", False),
        ("a", 5, "new", True),
        ("b", 0, "other", False),
    ]
    assert [row["id"] for row in users.index_iterator("by_name", {"name": "new"})] == [2, 5]


def test_what_the_function_raises_leaves_every_row_as_it_was(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:
    for number in range(3):
        users.put({"g": "a", "id": number})
    selection = select_rows(users.form, {"g": "a"}, None, (), ())

    def decide(row: StoredRow) -> NewValues | None:
        if row["id"] == 2:
            raise InvalidRequest(TypedRule.KEY_NULL)
        return NewValues(None)

    shard = users.form.key.shard_of(selection.start)
    with pytest.raises(InvalidRequest):
        store.commit(store.engine.change_rows(shard, [selection], decide))
    assert len(list(users.table_iterator())) == 3


def test_a_range_of_one_key_is_read_without_a_scan(
    store: nosql.TypedStore, users: nosql.TableHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        users.put({"g": "a", "id": number})
    form, reader = users.form, store.engine.store.snapshot()
    monkeypatch.setattr(type(reader), "scan", None)
    for number, found in ((1, [1]), (2, [])):
        key = form.key.encode(["a", number])
        one = MultiRowSelection(form, key, key + b"\x00", 2, {form.id: form})
        for reverse in (False, True):
            rows = scan_rows(reader, one, 0, reverse=reverse)
            assert [row["id"] for row in rows] == found
