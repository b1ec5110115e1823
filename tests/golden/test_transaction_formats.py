"""Records of local transactions are what docs/formats/keys.md says, with vectors of the page."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.changes import primary_key, put_cells

from widerow.engine.tablestore.shard_locks import ShardLock, decode_lock, encode_lock
from widerow.engine.tablestore.transactions.request_records import (
    MadeWrite,
    decode_request,
    encode_request,
)
from widerow.engine.tablestore.writes import RowWrite
from widerow.errors import StoreDamaged
from widerow.model.tablestore.condition import UNCONDITIONAL
from widerow.model.tablestore.row import Modification, RowChange
from widerow.model.tablestore.schema import (
    KeyColumn,
    Table,
    TableOptions,
    Throughput,
    ThroughputState,
)
from widerow.model.values import KeyType

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats" / "keys.md"
SECTION = (
    PAGE.read_text(encoding="utf-8").partition("\n## Local transactions")[2].partition("\n## ")[0]
)
LOCK, REQUEST = [
    bytes.fromhex(code)
    for code in re.findall(r"^\| [a-z].*\| `([0-9a-f]+)` \|$", SECTION, re.MULTILINE)
]
SHARD = b"\x10\x00\x00\x00\x07a\x00\x01"


def table() -> Table:
    columns = KeyColumn("k", KeyType.STRING), KeyColumn("n", KeyType.INTEGER)
    throughput = ThroughputState(Throughput(0, 0), 0)
    return Table(
        id=7,
        instance="i",
        name="t",
        key_columns=columns,
        defined_columns=(),
        options=TableOptions(-1, 1, 86400),
        throughput=throughput,
        created_us=0,
    )


def made() -> MadeWrite:
    key = primary_key({"k": "a", "n": 1})
    change = RowChange("t", Modification.PUT, key, tuple(put_cells({"c": 5})), UNCONDITIONAL)
    stored = SHARD + b"\x80\x00\x00\x00\x00\x00\x00\x01"
    return MadeWrite(RowWrite(table(), change, stored, ("a", 1), 1_500_000_000_000), 0)


def test_a_lock() -> None:
    lock = ShardLock(b"12345678", 1_500_000_060_000_000, 1)
    assert encode_lock(lock).hex() == LOCK.hex()
    assert decode_lock(LOCK) == lock


def test_a_request() -> None:
    write = made()
    assert encode_request(SHARD, [write]).hex() == REQUEST.hex()
    [(found, read_units)] = decode_request(table(), SHARD, REQUEST)
    assert read_units == 0
    assert found.change == write.write.change
    assert (found.key, found.values, found.now_ms) == (
        write.write.key,
        write.write.values,
        write.write.now_ms,
    )
    assert found.table.options == TableOptions(-1, 1, 86400)


def test_options_of_then_are_those_of_the_write() -> None:
    later = replace(table(), options=TableOptions(3600, 5, 10, allow_update=False))
    [(found, _)] = decode_request(later, SHARD, REQUEST)
    assert found.table.options == TableOptions(-1, 1, 86400)


@pytest.mark.parametrize("spoiled", [LOCK[:-1], LOCK + b"\x00", b"\x02" + LOCK[1:], b""])
def test_what_is_no_lock_is_damage(spoiled: bytes) -> None:
    with pytest.raises(StoreDamaged):
        decode_lock(spoiled)


def test_what_is_no_request_is_damage() -> None:
    """Cut anywhere, longer, of another version, or with a kind that is none."""
    spoiled = [REQUEST[:length] for length in range(len(REQUEST))]
    spoiled += [REQUEST + b"\x00", b"\x02" + REQUEST[1:], REQUEST[:5] + b"\x09" + REQUEST[6:]]
    for record in spoiled:
        with pytest.raises(StoreDamaged):
            decode_request(table(), SHARD, record)
