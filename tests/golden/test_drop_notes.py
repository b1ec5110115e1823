"""Drop notes and the epoch of the catalogue are what docs/formats/catalog.md says."""

import re
from pathlib import Path

import pytest
from tests.support.engines import open_tablestore

from widerow.engine.catalog.notes import decode_note, encode_note
from widerow.engine.catalog.state import Leftover
from widerow.engine.check import check_store
from widerow.errors import StoreDamaged
from widerow.keys.layout import CATALOG_EPOCH_KEY, dropped_key, table_prefixes
from widerow.model.tablestore.requests import CreateTable, OptionsChange, ThroughputChange
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy

PAGE = (Path(__file__).parents[2] / "docs" / "formats" / "catalog.md").read_text(encoding="utf-8")
NOTE = Leftover(7, b"key", (b"\x11\0\0\0\7", b"\x10\0\0\0\7", b"\x20\0\0\0\7"))
TABLE = CreateTable(
    "t", (KeyColumn("p", KeyType.STRING),), (), ThroughputChange(0, 0), OptionsChange(-1, 1)
)


def test_a_note_is_the_one_of_the_page() -> None:
    """Section Drop notes: both ways."""
    found = re.search(r"```note\n(.+)\n```", PAGE)
    assert found is not None
    record = found[1].encode()
    assert encode_note(NOTE) == record
    assert decode_note(7, b"key", record) == NOTE


def test_a_note_keeps_the_time_before_which_it_stays() -> None:
    """Section Drop notes: `due_us`."""
    waiting = NOTE._replace(due_us=5, top=3)
    assert decode_note(7, b"key", encode_note(waiting)) == waiting


@pytest.mark.parametrize("record", [b"", b"{}", b'{"format": 2}', b"[]", b'{"format": 1}'])
def test_a_note_that_is_none_is_damage(record: bytes) -> None:
    """What is not understood may stand for bytes that must not go."""
    with pytest.raises(StoreDamaged):
        decode_note(7, b"key", record)


def test_every_change_raises_the_epoch_and_the_checker_knows_it() -> None:
    """Section The epoch: a new store has none; a create and a drop count one each."""
    store = MemoryStore()
    engine = open_tablestore(store, FakeClock(), FakeEntropy(1))
    assert store.snapshot().get(CATALOG_EPOCH_KEY) is None
    engine.core.run(engine.create_table("i", TABLE))
    engine.core.run(engine.delete_table("i", "t"))
    assert store.snapshot().get(CATALOG_EPOCH_KEY) == (2).to_bytes(8, "big")
    assert check_store(store) == []


def test_a_store_without_an_epoch_and_with_an_empty_note_is_read() -> None:
    """Both sections: what an earlier version wrote; its note stands for the whole table."""
    store = MemoryStore()
    engine = open_tablestore(store, FakeClock(), FakeEntropy(1))
    engine.core.run(engine.create_table("i", TABLE))
    engine.core.run(engine.delete_table("i", "t"))
    key = dropped_key("i", 1)
    store.transact((b"\1",), lambda txn: txn.delete(CATALOG_EPOCH_KEY))
    store.transact((key,), lambda txn: txn.put(key, b""))
    again = open_tablestore(store, FakeClock(), FakeEntropy(1))
    assert again.core.catalog.leftovers() == [Leftover(1, key, table_prefixes(1))]
    again.core.run(again.create_table("i", TABLE))
    assert again.describe_table("i", "t").id == 2
    assert store.snapshot().get(CATALOG_EPOCH_KEY) == (1).to_bytes(8, "big")
