"""RocksDB as the embedded driver runs it: its settings, opening it, and what its errors mean.

Every setting that differs from RocksDB 9.8's defaults is here, and so is the proof that the engine
took those on which the durability promise rests: it records what it runs with in its directory.
The one such setting that the binding has no function for, the check that no log was lost between
two openings, is read from a file in the engine's own format (`rocksdb_base/`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rocksdict import (
    AccessType,
    BlockBasedIndexType,
    BlockBasedOptions,
    Cache,
    DBCompressionType,
    DBRecoveryMode,
    Options,
    Rdict,
    WriteOptions,
)

from widerow.errors import StorageFailure, StoreDamaged, StoreFull, StoreLocked
from widerow.storage.directory import holds_store, make_directory, sync_directory
from widerow.storage.framing import check_framing, mend_framing
from widerow.storage.witness import Note, check_files, check_logs, check_sequence, read_note

__all__ = [
    "is_no_space",
    "open_engine",
    "opening_failure",
    "read_failure",
    "table_options",
    "tune",
    "write_options",
]

_MIB: Final = 1024 * 1024

# As the engine writes them into its OPTIONS file when it opens.
_PROMISED_SETTINGS: Final = {
    "manual_wal_flush": "false",
    "wal_recovery_mode": "kTolerateCorruptedTailRecords",
    "track_and_verify_wals_in_manifest": "true",
    "paranoid_checks": "true",
    "two_write_queues": "false",
    "avoid_flush_during_recovery": "false",
    "unordered_write": "false",
    "enable_pipelined_write": "false",
    "best_efforts_recovery": "false",
    "allow_mmap_writes": "false",
    "recycle_log_file_num": "0",
}


# What differs when the operator has said to go on with what is left of a damaged store.
_LAX_SETTINGS: Final = {
    "wal_recovery_mode": "kSkipAnyCorruptedRecords",
    "track_and_verify_wals_in_manifest": "false",
    "paranoid_checks": "false",
}
# What differs when the log ends in pieces of a write that was not acknowledged.
_TORN_SETTINGS: Final = {"wal_recovery_mode": "kPointInTimeRecovery"}
_BASE: Final = Path(__file__).with_name("rocksdb_base")


def open_engine(directory: Path, cache_bytes: int, *, lax: bool = False) -> Rdict:
    """Open the engine in `directory`, creating it where none is, and verify its settings.

    `lax`: skip what is damaged in the logs instead of refusing the store; what was acknowledged
    may be lost then.

    Raises: `StoreLocked`, `StoreDamaged`, `StoreFull`, `StorageFailure` (not ours, no right).
    """
    exists = holds_store(directory, lax=lax)
    note = read_note(directory) if exists and not lax else None
    if note is not None:
        check_files(directory, note)
        check_logs(directory, note)
    if exists:
        (mend_framing if lax else check_framing)(directory)
    else:
        make_directory(directory)
    options = (_lax_options if lax else _options)(cache_bytes, create=not exists)
    promised = _PROMISED_SETTINGS | (_LAX_SETTINGS if lax else {})
    try:
        engine = _open(directory, options)
    except StoreDamaged:
        options = _torn_options(cache_bytes)
        if note is None or not _reaches(directory, options, note):
            raise
        promised |= _TORN_SETTINGS
        engine = _open(directory, options)
    try:
        if not exists:
            sync_directory(directory)
        _check_settings(engine, directory, cache_bytes, promised)
        if note is not None:
            check_sequence(directory, note, engine.latest_sequence_number())
    except BaseException:
        engine.close()
        raise
    return engine


def _open(directory: Path, options: Options) -> Rdict:
    try:
        # Without the second mention of the options a reopened store gets a cache of 8 MB.
        return Rdict(str(directory), options=options, column_families={"default": options})
    except Exception as error:
        raise opening_failure(directory, str(error)) from error


def _reaches(directory: Path, options: Options, note: Note) -> bool:
    """Whether the engine, opened with these settings, would have all that was acknowledged.

    The engine is not opened.
    """
    columns = {"default": options}
    try:
        engine = Rdict(str(directory), options, columns, access_type=AccessType.read_only())
    except Exception:  # noqa: BLE001  # the binding raises nothing narrower
        return False
    try:
        return engine.latest_sequence_number() >= note.sequence
    finally:
        engine.close()


def _options(cache_bytes: int, *, create: bool) -> Options:
    """The settings on which the durability promise rests."""
    options, _ = Options.load_latest(str(_BASE))
    tune(options, cache_bytes, create=create)
    options.set_paranoid_checks(True)
    options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
    return options


def _torn_options(cache_bytes: int) -> Options:
    """Settings for a log whose end a loss of power left in pieces: reading ends where they begin.

    A write that was not synced may have grown the log without its bytes, or without some of them,
    having reached the disk. That is not damage, but the engine cannot tell it from damage; the
    witness can.
    """
    options = _options(cache_bytes, create=False)
    options.set_wal_recovery_mode(DBRecoveryMode.point_in_time())
    return options


def write_options() -> WriteOptions:
    """How a group is written: into the log, without waiting for compaction.

    The sync is a call of its own for the whole group. Raises: `StorageFailure` where the log is
    off, because that sync would then sync nothing.
    """
    options = WriteOptions()
    options.no_slowdown = True
    log_is_off: object = options.disable_wal
    if log_is_off is not False:
        raise StorageFailure("the engine would write without its log")
    return options


def _lax_options(cache_bytes: int, *, create: bool) -> Options:
    """Settings under which the engine opens what is left of a damaged store."""
    options = Options(raw_mode=True)
    tune(options, cache_bytes, create=create)
    options.set_paranoid_checks(False)
    options.set_wal_recovery_mode(DBRecoveryMode.skip_any_corrupted_record())
    return options


def tune(options: Options, cache_bytes: int, *, create: bool) -> None:
    """Set what has to do with room and speed; as in RocksDB 9.8 where nothing is said."""
    options.create_if_missing(create)
    options.set_block_based_table_factory(table_options(cache_bytes))
    options.set_compression_type(DBCompressionType.lz4())
    # Most rows that are read or written again are not in a memtable any more: its filter says so
    # in one look, its list in twenty.
    options.set_memtable_prefix_bloom_ratio(0.05)
    options.set_memtable_whole_key_filtering(True)
    options.set_level_compaction_dynamic_level_bytes(True)
    options.set_write_buffer_size(64 * _MIB)
    options.set_max_write_buffer_number(3)
    options.set_max_total_wal_size(256 * _MIB)
    options.set_bytes_per_sync(_MIB)
    options.set_max_background_jobs(2)
    options.set_max_open_files(512)  # below the usual limit of 1024 descriptors
    # Files in which half of 32768 neighbours are deletions are compacted soon, so that scans do
    # not walk over what expired.
    options.add_compact_on_deletion_collector_factory(32 * 1024, 16 * 1024, 0.5)
    options.set_keep_log_file_num(5)
    options.set_max_log_file_size(16 * _MIB)
    options.set_stats_dump_period_sec(0)


def table_options(cache_bytes: int) -> BlockBasedOptions:
    """How tables are laid out, and the cache of their blocks."""
    table = BlockBasedOptions()
    table.set_block_cache(Cache(cache_bytes))
    table.set_block_size(16 * 1024)
    table.set_bloom_filter(10, False)  # noqa: FBT003  # bits a key, one filter for a file
    # Indexes and filters are counted in the cache, so that memory stays bounded as data grows. Both
    # are in parts of 4 KiB. A file of small rows has a filter of megabytes: in one block, it would
    # be larger than one of the 64 shards of the cache, and every look at it would read the file.
    table.set_cache_index_and_filter_blocks(True)
    table.set_index_type(BlockBasedIndexType.two_level_index_search())
    table.set_partition_filters(True)
    table.set_metadata_block_size(4 * 1024)
    table.set_pin_l0_filter_and_index_blocks_in_cache(True)
    table.set_pin_top_level_index_and_filter(True)
    return table


def _check_settings(
    engine: Rdict, directory: Path, cache_bytes: int, promised: Mapping[str, str]
) -> None:
    """Raise `StorageFailure` if the engine runs with settings that were not asked for."""
    wrong = _wrong_settings(engine, directory, cache_bytes, promised)
    if wrong:
        raise StorageFailure(f"the engine runs with other settings than asked for: {wrong}")


def _wrong_settings(
    engine: Rdict, directory: Path, cache_bytes: int, promised: Mapping[str, str]
) -> dict[str, str]:
    """Settings that the engine runs with and that were not asked for."""
    recorded = max(directory.glob("OPTIONS-*[0-9]"), key=lambda path: int(path.name[8:]))
    lines = recorded.read_text(encoding="utf-8").splitlines()
    settings = dict(line.strip().split("=", 1) for line in lines if "=" in line)
    wrong = {
        name: settings.get(name, "absent")
        for name, value in promised.items()
        if settings.get(name) != value
    }
    cache = engine.property_int_value("rocksdb.block-cache-capacity")
    if cache != cache_bytes:
        wrong["block-cache-capacity"] = str(cache)
    return wrong


def opening_failure(directory: Path, reason: str) -> StorageFailure:
    """The error for what the engine said when it was to open a directory."""
    if "LOCK:" in reason:
        return StoreLocked(
            f"{directory} is in use by another process (or another store of this one); "
            "stop that one, or name another directory"
        )
    # A store that exists and of which a file is missing is as damaged as one that does not match.
    if reason.startswith(("Corruption", "Invalid argument")) or "No such file" in reason:
        return StoreDamaged(
            f"the store in {directory} is damaged and is left as it is; "
            f"restore it from a copy ({reason})"
        )
    if is_no_space(reason):
        return StoreFull(f"no room for the store in {directory}; make room ({reason})")
    if "Permission denied" in reason or "Read-only file system" in reason:
        reason += "; the directory and its files must be writable by the user who serves"
    return StorageFailure(f"cannot open the store in {directory}: {reason}")


def read_failure(reason: str) -> StorageFailure:
    """The error for what the engine said when it was to read."""
    if reason.startswith("Corruption"):
        return StoreDamaged(f"stored bytes do not match their checksum: {reason}")
    return StorageFailure(f"the store could not be read: {reason}")


def is_no_space(reason: str) -> bool:
    """Whether the engine ran out of disk."""
    return "No space left on device" in reason
