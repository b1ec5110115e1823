"""The engine's settings, and what its words mean (storage/rocksdb_engine.py)."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from rocksdict import DBRecoveryMode, Options, WriteBatch

from widerow.errors import StorageFailure, StoreDamaged, StoreFull, StoreLocked
from widerow.storage import rocksdb_engine
from widerow.storage.rocksdb_engine import open_engine, opening_failure, read_failure

CACHE: Final = 24 * 1024 * 1024
SMALL_CACHE: Final = 64 * 1024
FILTER_BITS: Final = 10  # of a key


def test_cache_keeps_its_size_when_a_store_is_opened_again(tmp_path: Path) -> None:
    # The binding gives a reopened store 8 MB unless told twice.
    for _ in range(2):
        engine = open_engine(tmp_path / "s", CACHE)
        assert engine.property_int_value("rocksdb.block-cache-capacity") == CACHE
        engine.close()


def test_settings_of_the_promise_are_on_record(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "s", CACHE)
    (recorded,) = (tmp_path / "s").glob("OPTIONS-*")
    text = recorded.read_text()
    for line in (
        "wal_recovery_mode=kTolerateCorruptedTailRecords",
        "paranoid_checks=true",
        "manual_wal_flush=false",
        "track_and_verify_wals_in_manifest=true",
        "compression=kLZ4Compression",
        "write_buffer_size=67108864",
        "filter_policy=bloomfilter",
        "block_size=16384",
    ):
        assert line in text, line
    engine.close()


def test_a_key_is_found_without_reading_the_filter_of_its_whole_file(tmp_path: Path) -> None:
    """A filter of a file that is larger than the cache would be read from the disk for each key."""
    keys = [number.to_bytes(4, "big") for number in range(100_000)]
    engine = open_engine(tmp_path / "s", SMALL_CACHE)
    for _ in range(2):  # files that overlap are merged below the first level, whose filters stay
        batch = WriteBatch(raw_mode=True)
        for key in keys:
            batch.put(key, b"value")
        engine.write(batch)
        engine.flush()
    engine.compact_range(None, None)
    asked = keys[:: len(keys) // 200]
    before = bytes_read()
    assert all(engine.get(key) == b"value" for key in asked)
    each = (bytes_read() - before) / len(asked)
    engine.close()
    assert each < len(keys) * FILTER_BITS / 8 / 2


def bytes_read() -> int:
    """Bytes that this process has read from files so far."""
    try:
        lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    except OSError:
        pytest.skip("this system does not tell what a process reads: /proc/self/io is missing")
    return int(dict(line.split(": ") for line in lines)["rchar"])


def lax_recovery(options: Options) -> None:
    options.set_wal_recovery_mode(DBRecoveryMode.skip_any_corrupted_record())


def no_checks(options: Options) -> None:
    options.set_paranoid_checks(False)


def mapped_writes(options: Options) -> None:
    options.set_allow_mmap_writes(True)


def writes_out_of_order(options: Options) -> None:
    options.set_unordered_write(True)


def pipelined_writes(options: Options) -> None:
    options.set_enable_pipelined_write(True)


@pytest.mark.parametrize(
    "spoil",
    [
        lax_recovery,
        no_checks,
        mapped_writes,
        writes_out_of_order,
        pipelined_writes,
    ],
)
def test_other_settings_are_refused(
    spoil: Callable[[Options], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = rocksdb_engine._options

    def wrong(cache_bytes: int, *, create: bool) -> Options:
        options = right(cache_bytes, create=create)
        spoil(options)
        return options

    monkeypatch.setattr(rocksdb_engine, "_options", wrong)
    with pytest.raises(StorageFailure, match="other settings"):
        open_engine(tmp_path / "s", CACHE)
    monkeypatch.undo()
    open_engine(tmp_path / "s", CACHE).close()


def test_logs_that_are_not_tracked_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rocksdb_engine, "_options", rocksdb_engine._lax_options)
    with pytest.raises(StorageFailure, match="track_and_verify_wals_in_manifest"):
        open_engine(tmp_path / "s", CACHE)


def test_writing_without_the_log_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lax:
        disable_wal = True
        no_slowdown = False

    monkeypatch.setattr(rocksdb_engine, "WriteOptions", Lax)
    with pytest.raises(StorageFailure, match="without its log"):
        rocksdb_engine.write_options()


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("IO error: lock hold by current process, acquire time 1: /d/LOCK: No locks", StoreLocked),
        ("IO error: While lock file: /d/LOCK: Resource temporarily unavailable", StoreLocked),
        ("Corruption: CURRENT file corrupted", StoreDamaged),
        ("Invalid argument: /d/CURRENT: does not exist (create_if_missing is false)", StoreDamaged),
        ("IO error: No such file or directory: While opening: /d/MANIFEST-000001", StoreDamaged),
        ("IO error: No space left on device: While appending to file: /d/1.sst", StoreFull),
        ("IO error: Permission denied: While opening: /d/LOG", StorageFailure),
    ],
)
def test_opening_failures_say_what_kind_they_are(reason: str, kind: type[StorageFailure]) -> None:
    failure = opening_failure(Path("/d"), reason)
    assert type(failure) is kind
    assert "/d" in str(failure)


def test_reading_failures_tell_damage_from_the_rest() -> None:
    assert type(read_failure("Corruption: block checksum mismatch")) is StoreDamaged
    assert type(read_failure("IO error: While pread: Input/output error")) is StorageFailure
