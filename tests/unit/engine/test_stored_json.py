"""Records in JSON that are not as they were written: damage, whichever of them it is."""

from collections.abc import Callable
from operator import methodcaller
from typing import Any

import pytest
from tests.support.engines import open_tablestore

from widerow.engine.catalog.notes import decode_note
from widerow.engine.lease import decode_lease
from widerow.engine.partitions.history import decode_interval
from widerow.engine.partitions.records import decode_counts
from widerow.engine.stored_json import decode_json
from widerow.engine.sweep.record import decode_sweep
from widerow.engine.tablestore.table_record import decode_table
from widerow.engine.tunnels.records import decode_channel, decode_client, decode_trouble
from widerow.engine.typed.plans import decode_plan
from widerow.engine.typed.record import decode_typed_table
from widerow.errors import StorageFailure, StoreDamaged
from widerow.keys.layout import STORE_FORMAT_KEY
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

READERS: list[Callable[[bytes], Any]] = [
    lambda data: decode_note(1, b"key", data),
    decode_lease,
    lambda data: decode_interval(1, data),
    decode_counts,
    decode_sweep,
    decode_table,
    lambda data: decode_channel("c", data),
    lambda data: decode_client("c", data),
    decode_trouble,
    decode_plan,
    decode_typed_table,
]
NAMES = ["prefixes", "top", "owner", "until_us", "seconds", "pieces", "consumed", "started_us"]


DAMAGED = [
    b"",
    b"\xff",
    b"[]",
    b"1",
    b"{}",
    b'{"format":1}',
    b'{"format":999}',
    b"[" * 100_000,
    b'{"format":' + b"[" * 100_000,
    b'{"format":1,' + b",".join(b'"%b":Infinity' % name.encode() for name in NAMES) + b"}",
    b'{"format":1,' + b",".join(b'"%b":[]' % name.encode() for name in NAMES) + b"}",
]


def test_only_what_a_newer_version_wrote_is_called_so() -> None:
    """The numbers of formats count up."""
    for number, words in (("3", "a newer version"), ("1", "unknown"), ('"3"', "unknown")):
        with pytest.raises(StoreDamaged, match=words):
            decode_json(b'{"format":%b}' % number.encode(), "a note", dict, form=2)


def test_a_store_of_a_newer_version_is_refused_as_such_and_another_as_damaged() -> None:
    for found, error, words in (
        (b"widerow 999", StorageFailure, "a newer version of widerow wrote the store"),
        (b"widerow 0", StoreDamaged, "not readable"),
        (b"elsewise 2", StoreDamaged, "not readable"),
    ):
        with open_store("memory:") as store:
            store.transact((STORE_FORMAT_KEY,), methodcaller("put", STORE_FORMAT_KEY, found))
            with pytest.raises(error, match=words) as raised:
                open_tablestore(store, FakeClock(), FakeEntropy())
        assert type(raised.value) is error


@pytest.mark.parametrize("read", READERS)
def test_what_is_not_as_it_was_written_is_damage(read: Callable[[bytes], Any]) -> None:
    for data in DAMAGED:
        with pytest.raises(StoreDamaged):
            read(data)
