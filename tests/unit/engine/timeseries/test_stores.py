"""Analytical stores, which are metadata (timeseries §11)."""

from dataclasses import replace

import pytest
from tests.unit.engine.timeseries.world import Series

from widerow.errors import InvalidRequest, NotFound
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import AnalyticalStore, SyncOption
from widerow.storage.memory import MemoryStore

MONTH = 2592000


def test_a_table_has_one_store_whose_data_are_kept_for_a_month_or_longer() -> None:
    world = Series(MemoryStore())
    world.create()
    engine, run = world.engine, world.core.run
    store = AnalyticalStore("s", MONTH)
    with pytest.raises(NotFound) as missing:
        run(engine.drop_store("me", "t", "s"))
    assert missing.value.rule is TimeseriesRule.STORE_NOT_FOUND
    run(engine.add_store("me", "t", store))
    (made,) = engine.find("me", "t").stores
    assert made == replace(store, created_us=world.clock.now_us(), with_table=False)
    for wrong, rule in (
        (AnalyticalStore("other"), TimeseriesRule.STORE_COUNT),
        (AnalyticalStore("1"), TimeseriesRule.STORE_NAME),
        (AnalyticalStore("s", MONTH - 1), TimeseriesRule.STORE_TTL),
    ):
        with pytest.raises(InvalidRequest) as refused:
            run(engine.add_store("me", "t", wrong))
        assert refused.value.rule is rule
    run(engine.change_store("me", "t", "s", -1))
    assert engine.find("me", "t").stores == (replace(made, ttl_s=-1),)
    with pytest.raises(InvalidRequest):
        engine.change_store("me", "t", "s", 0)
    world.check()
    run(engine.drop_store("me", "t", "s"))
    assert engine.find("me", "t").stores == ()


def test_a_store_of_an_older_table_catches_up_for_a_minute() -> None:
    store = AnalyticalStore("s", created_us=5_000_000, with_table=False)
    assert store.phase(5_000_000) is SyncOption.FULL
    assert store.phase(64_999_999) is SyncOption.FULL
    assert store.phase(65_000_000) is SyncOption.INCREMENTAL
    for other in (replace(store, with_table=True), replace(store, sync=SyncOption.INCREMENTAL)):
        assert other.phase(5_000_000) is SyncOption.INCREMENTAL
