"""Records that the engine would read for ever are damage (docs/internals/evidence.md).

The kinds 5 to 8 and 11 are those of logs written over older ones, which a store never has.
"""

from functools import partial
from pathlib import Path

import pytest
from fastcrc.crc32 import iscsi

from widerow.errors import StoreDamaged
from widerow.storage.directory import Acceptance
from widerow.storage.framing import check_framing, mend_framing
from widerow.storage.interface import Transaction
from widerow.storage.opener import open_store

BLOCK = 32 * 1024
SHARD = b"\x10"


def record(content: bytes, kind: int = 1) -> bytes:
    crc = iscsi(bytes((kind,)) + content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return (
        masked.to_bytes(4, "little") + len(content).to_bytes(2, "little") + bytes((kind,)) + content
    )


def kind_at(log: Path, at: int, kind: int) -> None:
    data = bytearray(log.read_bytes())
    data[at + 6] = kind
    log.write_bytes(data)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of two blocks, with a trailer too short for a record between them."""
    first = record(b"a" * 100) + record(b"b" * (BLOCK - 107 - 7 - 3))
    file = tmp_path / "000004.log"
    file.write_bytes(first + bytes(3) + record(b"c") + record(b"d"))
    return file


def test_a_sound_log_is_sound(log: Path) -> None:
    check_framing(log.parent)
    before = log.read_bytes()
    mend_framing(log.parent)
    assert log.read_bytes() == before


@pytest.mark.parametrize("at", [0, 107, BLOCK, BLOCK + 8])
@pytest.mark.parametrize("kind", [5, 6, 7, 8, 11])
def test_kinds_that_are_never_written_are_damage(log: Path, at: int, kind: int) -> None:
    kind_at(log, at, kind)
    with pytest.raises(StoreDamaged, match=rf"000004.log is damaged at byte {at + 6}"):
        check_framing(log.parent)
    mend_framing(log.parent)
    assert log.read_bytes()[at + 6] == 0xFF
    check_framing(log.parent)


@pytest.mark.parametrize("kind", [0, 2, 3, 4, 9, 10, 12, 129, 255])
def test_other_kinds_are_for_the_engine_to_judge(log: Path, kind: int) -> None:
    kind_at(log, 0, kind)
    check_framing(log.parent)


@pytest.mark.parametrize("at", [0, 107])
def test_a_hole_in_a_log_that_has_a_successor_is_damage(log: Path, at: int) -> None:
    """An older log was synced whole; the newest may have a hole in what no sync covered."""
    data = bytearray(log.read_bytes())
    data[at : at + 50] = bytes(50)
    log.write_bytes(data)
    check_framing(log.parent)
    (log.parent / "000007.log").write_bytes(record(b"e"))
    with pytest.raises(StoreDamaged, match=rf"000004.log is damaged at byte {at + 6}"):
        check_framing(log.parent)


def test_room_at_the_end_of_an_older_log_is_no_damage(log: Path) -> None:
    log.write_bytes(log.read_bytes() + bytes(500))
    (log.parent / "000007.log").write_bytes(record(b"e"))
    check_framing(log.parent)


def test_what_the_engine_does_not_come_to_does_not_matter(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[20] ^= 1  # the first record: the engine ends there, or goes on with the next block
    log.write_bytes(data)
    kind_at(log, 107, 5)
    kind_at(log, BLOCK, 6)
    check_framing(log.parent)
    mend_framing(log.parent)
    assert (log.read_bytes()[107 + 6], log.read_bytes()[BLOCK + 6]) == (5, 0xFF)


@pytest.mark.parametrize("tail", [b"", bytes(9), b"\x01\x02\x03", record(b"torn")[:-2]])
def test_tails_that_a_loss_of_power_leaves_are_sound(log: Path, tail: bytes) -> None:
    log.write_bytes(log.read_bytes() + tail)
    check_framing(log.parent)


def test_an_empty_log_is_sound(tmp_path: Path) -> None:
    (tmp_path / "000004.log").write_bytes(b"")
    check_framing(tmp_path)


def _put(txn: Transaction, key: bytes) -> None:
    txn.put(key, b"v" * 100)


@pytest.mark.parametrize("pattern", ["MANIFEST-*", "*.log"])
def test_such_a_store_is_refused_and_what_is_left_can_be_served(
    tmp_path: Path, pattern: str
) -> None:
    place = tmp_path / "store"
    with open_store(f"rocksdb:{place}") as store:
        for number in range(3):
            store.transact((SHARD,), partial(_put, key=SHARD + bytes((number,))))
        copy = tmp_path / "copy"
        copy.mkdir()
        for file in place.iterdir():
            if file.is_file():
                (copy / file.name).write_bytes(file.read_bytes())
    (file,) = copy.glob(pattern)
    second = 7 + int.from_bytes(file.read_bytes()[4:6], "little")
    kind_at(file, second, 5)
    with pytest.raises(StoreDamaged, match="no record of such a kind"):
        open_store(f"rocksdb:{copy}")
    if pattern == "*.log":
        with open_store(f"rocksdb:{copy}", acceptance=Acceptance.DAMAGED) as left:
            assert left.snapshot().get(SHARD + b"\x00") is not None
