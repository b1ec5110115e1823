"""What reads of typed tables cost on a database across a network (docs/operating/cluster.md)."""

import pytest

from widerow.engine.engine import Engine
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.requests import OperationKind, WriteChoice
from widerow.model.typed.types import LONG
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.testing.remote import MemoryDriver, RemoteSpace, remote_store


def test_a_row_is_one_round_trip_and_takes_no_view(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1))
    engine = Engine(remote_store(driver), FakeClock(), FakeEntropy())
    builder = TableBuilder("t").add_field("id", LONG).primary_key("id")
    made = engine.run(engine.typed.create_table(builder.build()))
    form = engine.typed.tables.find_qualified(made.qualified)
    engine.run(engine.typed.write(form, WriteChoice(OperationKind.PUT, {"id": 1})))
    monkeypatch.setattr(engine.store, "snapshot", None)  # whoever takes a view fails
    before = driver.statistics()["round_trips"]
    assert engine.typed.get(form, {"id": 1}) is not None
    assert driver.statistics()["round_trips"] == before + 1
