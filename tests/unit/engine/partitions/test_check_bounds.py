"""The walk of a store finds partitions that do not cover every key once (catalog.md)."""

from dataclasses import replace

import pytest
from tests.support.changes import create
from tests.support.engines import open_tablestore

from widerow.engine.check import check_store
from widerow.engine.tablestore.table_record import encode_table
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import catalog_key, catalog_prefix, statistics_key, statistics_prefix
from widerow.model.values import KeyType
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

ONE, TWO = encode_key_value("one"), encode_key_value("two")


def problems(
    splits: tuple[bytes, ...] = (), asked: tuple[bytes, ...] = (), statistics: bytes | None = None
) -> list[str]:
    """What is found in a store whose only table says this of itself."""
    with open_store("memory:") as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        engine.core.run(engine.create_table("i", create("t", {"k": KeyType.STRING})))
        table = replace(engine.describe_table("i", "t"), splits=splits, asked=asked)
        key = catalog_key("i", "t")
        store.transact((catalog_prefix("i"),), lambda txn: txn.put(key, encode_table(table)))
        if statistics is not None:
            prefix, found = statistics_prefix(table.id), statistics
            store.transact((prefix,), lambda txn: txn.put(statistics_key(table.id), found))
        return [each.problem for each in check_store(store)]


def test_bounds_in_order_are_clean() -> None:
    assert problems() == []
    assert problems((ONE, TWO), (TWO,)) == []


@pytest.mark.parametrize(
    ("splits", "asked", "problem"),
    [
        ((TWO, ONE), (), "a partition's bound is out of order"),
        ((ONE, ONE), (), "a partition's bound is out of order"),
        ((ONE + b"x",), (), "a partition's bound is out of order"),
        ((b"one",), (), "a partition's bound is not a key"),
        ((ONE,), (TWO,), "a bound that CreateTable asked for is gone"),
    ],
)
def test_bounds_that_must_not_be(
    splits: tuple[bytes, ...], asked: tuple[bytes, ...], problem: str
) -> None:
    found = problems(splits, asked)
    assert len(found) == 1
    assert found[0].startswith(problem)


def test_statistics_that_cannot_be_read() -> None:
    assert problems(statistics=b"{}")[0].startswith("a statistics record is not readable")


def test_statistics_of_a_table_that_is_not_there() -> None:
    with open_store("memory:") as store:
        open_tablestore(store, FakeClock(), FakeEntropy())
        store.transact((statistics_prefix(9),), lambda txn: txn.put(statistics_key(9), b"{}"))
        found = [each.problem for each in check_store(store)]
    assert found == ["statistics of a table that the catalogue does not know"]
