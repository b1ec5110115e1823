"""Rows while the part of the database that has the catalogue is away, or the catalogue has changed.

By the read lease of a node (nodes/nodes.py).
"""

import pytest
from tests.support.changes import create, get, put
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store

from widerow.errors import NotFound, StoreBusy
from widerow.keys.layout import CATALOG_EPOCH_KEY
from widerow.limits import READ_LEASE_SECONDS
from widerow.model.values import KeyType
from widerow.testing.clock import FakeClock, FakeEntropy


def test_rows_are_read_and_written_while_the_catalogue_is_away() -> None:
    """For as long as a read lease lasts; its part of a divided database is one as the others."""
    clock = FakeClock()
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1), placed=True)
    with remote_store(driver) as store:
        engine = open_tablestore(store, clock, FakeEntropy(1))
        engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
        beat = engine.core.nodes.beat()
        assert beat is not None
        engine.core.run(beat)
        engine.core.nodes.look()
        driver.away = {driver.home(CATALOG_EPOCH_KEY)}
        clock.advance(READ_LEASE_SECONDS - 1)
        engine.core.run(engine.rows.write_row("i", put("t", {"k": 1}, {"v": 1})))
        found = engine.rows.get_row("i", get("t", {"k": 1}))
        assert found.row
        planned = engine.rows.write_row("i", put("t", {"k": 2}, {"v": 1}))
        clock.advance(2)
        with pytest.raises(StoreBusy):
            engine.rows.get_row("i", get("t", {"k": 1}))
        with pytest.raises(StoreBusy):  # its body runs when the read lease is over
            engine.core.run(planned)


def test_a_row_that_was_planned_on_an_older_catalogue_is_planned_again() -> None:
    world = RemoteSpace()
    drivers = [MemoryDriver(world, FakeEntropy(number)) for number in range(2)]
    with remote_store(drivers[0]) as left, remote_store(drivers[1], 1) as right:
        one, other = (
            open_tablestore(store, FakeClock(), FakeEntropy(7)) for store in (left, right)
        )
        one.core.run(one.create_table("i", create("t", {"k": KeyType.INTEGER})))
        for engine in (one, other):
            beat = engine.core.nodes.beat()
            assert beat is not None
            engine.core.run(beat)
            engine.core.nodes.look()
        planned = other.rows.write_row("i", put("t", {"k": 1}, {"v": 1}))
        one.core.run(one.delete_table("i", "t"))
        other.core.nodes.look()
        with pytest.raises(NotFound):
            other.core.run(planned)
