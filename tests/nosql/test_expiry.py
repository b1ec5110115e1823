"""Rows that expire (model §8)."""

import pytest

from widerow import nosql
from widerow.nosql import TimeToLive
from widerow.testing.clock import FakeClock

HOUR_MS = 3_600_000


@pytest.fixture
def table(store: nosql.TypedStore) -> nosql.TableHandle:
    """Rows live for two hours unless they say otherwise."""
    builder = nosql.TableBuilder("t").add_field("k", nosql.STRING).add_field("v", nosql.LONG)
    return store.create_table(builder.primary_key("k").ttl(TimeToLive.hours(2)).build())


def expiry(table: nosql.TableHandle) -> int:
    row = table.get({"k": "x"})
    assert row is not None
    return row.expires_ms


def test_a_new_row_gets_the_tables_time_to_live(table: nosql.TableHandle, clock: FakeClock) -> None:
    clock.advance(43 * 60)
    start = clock.now_us() // 1000 - 43 * 60_000
    assert table.put({"k": "x"}).expires_ms == start + 3 * HOUR_MS
    assert expiry(table) == start + 3 * HOUR_MS


def test_a_row_may_bring_its_own(table: nosql.TableHandle, clock: FakeClock) -> None:
    day_ms = 24 * HOUR_MS
    clock.set(17_000 * day_ms + 43 * 60_000)
    table.put({"k": "x"}, ttl=TimeToLive.days(1))
    assert expiry(table) == 17_002 * day_ms
    table.put({"k": "y"}, ttl=TimeToLive.hours(0))
    row = table.get({"k": "y"})
    assert row is not None
    assert row.expires_ms == 0


def test_an_update_keeps_the_expiry_unless_it_is_asked_to_change(
    table: nosql.TableHandle, clock: FakeClock
) -> None:
    start = clock.now_us() // 1000
    table.put({"k": "x"})
    clock.advance(3600)
    table.put({"k": "x", "v": 1}, ttl=TimeToLive.hours(9))
    assert expiry(table) == start + 2 * HOUR_MS
    table.put({"k": "x", "v": 2}, update_ttl=True)
    assert expiry(table) == start + 3 * HOUR_MS
    table.put_if_present({"k": "x"}, ttl=TimeToLive.hours(9), update_ttl=True)
    assert expiry(table) == start + 10 * HOUR_MS


def test_an_expired_row_is_not_there_for_anyone(table: nosql.TableHandle, clock: FakeClock) -> None:
    version = table.put({"k": "x", "v": 1}).version
    assert version is not None
    clock.advance(2 * 3600 - 1)
    assert table.get({"k": "x"}) is not None
    clock.advance(1)
    assert table.get({"k": "x"}) is None
    assert table.multi_get({"k": "x"}) == []
    assert list(table.table_iterator()) == []
    assert table.multi_delete({"k": "x"}) == 0
    assert not table.delete({"k": "x"})
    assert not table.put_if_present({"k": "x"})
    assert not table.put_if_version({"k": "x"}, version)
    result = table.put_if_absent({"k": "x"}, returning=nosql.ReturnRow.ALL)
    assert result
    assert result.previous is None
    assert expiry(table) == clock.now_us() // 1000 + 2 * HOUR_MS  # a new row, not an update


def test_an_altered_default_is_for_later_rows(
    store: nosql.TypedStore, table: nosql.TableHandle, clock: FakeClock
) -> None:
    start = clock.now_us() // 1000
    table.put({"k": "x"})
    store.alter_table(nosql.TableEvolver(table.definition).ttl(None).build())
    table.put({"k": "y"})
    rows = {row["k"]: row.expires_ms for row in table.table_iterator()}
    assert rows == {"x": start + 2 * HOUR_MS, "y": 0}


def test_a_parent_that_expired_does_not_show(store: nosql.TypedStore, clock: FakeClock) -> None:
    builder = nosql.TableBuilder("p").add_field("k", nosql.STRING).primary_key("k")
    parent = store.create_table(builder.ttl(TimeToLive.hours(1)).build())
    child = nosql.TableBuilder("c", parent=parent.definition).add_field("n", nosql.LONG)
    kid = store.create_table(child.primary_key("n").build())
    parent.put({"k": "x"})
    kid.put({"k": "x", "n": 1})
    clock.advance(3600)
    assert [row.table.name for row in kid.multi_get({"k": "x"}, ancestors=[parent])] == ["p.c"]


def test_the_space_of_expired_rows_is_given_back(
    store: nosql.TypedStore, table: nosql.TableHandle, clock: FakeClock
) -> None:
    table.put_many({"k": str(number)} for number in range(1200))
    table.put({"k": "kept"}, ttl=TimeToLive.days(9))
    clock.advance(3 * 3600)
    table.put({"k": "7"})
    while store.housekeep():
        pass
    form = table.form
    assert [row["k"] for row in store.engine.scan_from(form, b"", 10_000)] == ["7", "kept"]
    assert store.reclaimed.rows_removed == 1199


def test_tables_are_swept_when_a_row_may_have_expired_and_not_otherwise(
    store: nosql.TypedStore, table: nosql.TableHandle, clock: FakeClock
) -> None:
    def sweep() -> int:
        """Records looked at until there is nothing to do."""
        before = store.reclaimed.records_examined
        while store.housekeep():
            pass
        return store.reclaimed.records_examined - before

    table.put({"k": "x"}, ttl=TimeToLive.days(0))
    assert (sweep(), sweep()) == (1, 0)
    table.put({"k": "y"}, ttl=TimeToLive.hours(1))
    store.execute([table.operation().put({"k": "z"}, ttl=TimeToLive.hours(3))])
    assert sweep() == 0
    clock.advance(3600)
    assert (sweep(), sweep()) == (3, 0)
    clock.advance(3600)
    assert sweep() == 0
    clock.advance(3600)
    assert (sweep(), sweep()) == (2, 0)
    clock.advance(23 * 3600)
    assert sweep() == 0
    clock.advance(3600)
    assert (sweep(), sweep()) == (1, 0)  # once a day: rows of this table expire
    assert store.reclaimed.rows_removed == 2
