"""Parts of a backup of records: what was written comes back, and anything else is refused by name.

docs/formats/backup.md says the bytes.
"""

import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.backups.filled import Filled, backed_up, restored
from tests.unit.backups.stores import STORES

from widerow.backups.notes import BackupNotes
from widerow.backups.parts import FRAME_BYTES_MAX, PartWriter, read_part
from widerow.engine.shard_ranges import ShardRecord
from widerow.storage.backup import BackupFailed, read_backup
from widerow.storage.memory import MemoryStore

FORMAT: Final = Path(__file__).parents[3] / "docs/formats/backup.md"
RECORDS: Final = st.lists(
    st.builds(
        lambda shard, space, rest, value: ShardRecord(shard, bytes((space,)) + shard + rest, value),
        st.binary(max_size=6),
        st.integers(1, 255),
        st.binary(max_size=6),
        st.binary(max_size=300),
    )
)


def framed(frame: bytes) -> bytes:
    packed = zlib.compress(frame, level=1)  # the largest frame, at each collection of the tests
    return struct.pack(">I", len(packed)) + packed


def read(data: bytes) -> list[ShardRecord]:
    return [
        ShardRecord(piece.shard, key, value)
        for piece in read_part(BytesIO(data), "p")
        for key, value in piece.records
    ]


@given(RECORDS)
def test_what_was_written_comes_back(records: list[ShardRecord]) -> None:
    file = BytesIO()
    writer = PartWriter(file)
    for each in records:
        writer.add(each)
    told = writer.finish("p")
    assert read(file.getvalue()) == records
    assert (told.size, writer.records) == (len(file.getvalue()), len(records))


def test_the_bytes_are_those_that_the_page_says() -> None:
    page = FORMAT.read_text(encoding="utf-8")
    frame = bytes.fromhex(page.partition("```frame\n")[2].partition("```")[0])
    found = read(framed(frame))
    assert found == [
        ShardRecord(b"\x00\x00\x00\x07a\x00\x01", b"\x10\x00\x00\x00\x07a\x00\x01\x80", b"row"),
        ShardRecord(b"\x00\x00\x00\x07a\x00\x01", b"\x11\x00\x00\x00\x07a\x00\x01", b"8"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x00",
        b"\xff\xff\xff\xff",
        struct.pack(">I", FRAME_BYTES_MAX + 1) + b"x" * 100,
        b"\x00\x00\x00\x05abc",
        b"\x00\x00\x00\x03abc",
        framed(bytes(FRAME_BYTES_MAX + 1)),
        framed(b"\x10"),
    ],
    ids=["cut head", "no frame", "huge", "cut frame", "no zlib", "bomb", "cut record"],
)
def test_what_is_no_part_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(BackupFailed, match="p is no part"):
        read(data)


# --- whole backups --------------------------------------------------------------------------------


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    with STORES["memory"](tmp_path) as store:
        Filled(store).row(1)
        backed_up(store, tmp_path / "backup")
    return tmp_path / "backup"


def spoil(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize("name", ["000000.part", "000001.part"])
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: data + b"\x00",
        lambda data: data[:9] + bytes((data[9] ^ 1,)) + data[10:],
        lambda _: b"",
    ],
    ids=["cut", "longer", "one bit", "empty"],
)
def test_a_part_that_differs_in_any_byte_is_refused_by_name(
    backup: Path, name: str, change: Callable[[bytes], bytes]
) -> None:
    spoil(backup / "data" / name, change)
    target = MemoryStore()
    with pytest.raises(BackupFailed, match=f"{name} is not what was backed up"):
        restored(target, backup)


def test_a_part_that_is_missing_or_a_link_is_refused_by_name(backup: Path) -> None:
    part = backup / "data" / "000000.part"
    part.rename(backup / "moved")
    with pytest.raises(BackupFailed, match=r"cannot read 000000\.part"):
        restored(MemoryStore(), backup)
    part.symlink_to(backup / "moved")
    with pytest.raises(BackupFailed, match=r"cannot read 000000\.part"):
        restored(MemoryStore(), backup)


def test_a_changed_fact_is_refused(backup: Path) -> None:
    document = json.loads((backup / "manifest.json").read_bytes())
    document["facts"]["one_moment"] = False
    (backup / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(BackupFailed, match="is damaged"):
        read_backup(backup)


def test_an_unfinished_backup_is_none(backup: Path) -> None:
    (backup / "manifest.json").unlink()
    with pytest.raises(BackupFailed, match="not a finished backup"):
        restored(MemoryStore(), backup)


def test_a_finished_backup_is_not_overwritten(backup: Path) -> None:
    before = (backup / "manifest.json").read_bytes()
    store = MemoryStore()
    Filled(store)
    with pytest.raises(BackupFailed, match="exists; name a new"):
        backed_up(store, backup)
    assert (backup / "manifest.json").read_bytes() == before


def test_a_store_with_anything_in_it_is_refused_and_stays_as_it_is(backup: Path) -> None:
    target = MemoryStore()
    Filled(target)
    before = list(target.snapshot().scan(b"", b"\xff"))
    with pytest.raises(BackupFailed, match="the store is not empty"):
        restored(target, backup)
    assert list(target.snapshot().scan(b"", b"\xff")) == before


def test_what_is_no_store_is_not_backed_up(tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="nothing to back up"):
        backed_up(MemoryStore(), tmp_path / "b")


class ShortKeys(MemoryStore):
    """A store that holds short keys only."""

    capabilities = replace(MemoryStore.capabilities, key_bytes_max=20)


def test_keys_that_the_store_does_not_hold_are_refused_before_anything_is_written(
    backup: Path,
) -> None:
    target = ShortKeys()
    with pytest.raises(BackupFailed, match="this kind of store holds keys of 20"):
        restored(target, backup)
    assert list(target.snapshot().scan(b"", b"\xff")) == []


def test_a_second_backup_into_the_same_directory_waits_its_turn(tmp_path: Path) -> None:
    with STORES["memory"](tmp_path) as store:
        Filled(store)
        notes = BackupNotes(tmp_path / "b", "the store")
        with pytest.raises(BackupFailed, match="another backup writes into"):
            backed_up(store, tmp_path / "b")
        notes.close()
        backed_up(store, tmp_path / "b")
