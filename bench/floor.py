"""The least that an operation can cost here: what nobody can leave out, with no database around it.

Two goals are judged beside it (`goals.py`). A PutRow on one connection cannot be quicker than an
echo that appends as many bytes to a file and syncs them. A row of a BatchWriteRow cannot be cheaper
than receiving it, the digest that the protocol asks for, and the engine's own work for it: the log,
the memtable, flushes and compactions.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from bench.disk import SCAN_START, appended, hashes, processor_us
from bench.echo import ROW_BYTES
from bench.measure import Case, Result, Settings, combine, take_turns, turns_of, warm
from bench.rows import BATCH_WRITE_ROWS
from bench.servers import Place
from bench.workloads import BATCHES, answer_bytes, echo_case, retarget
from rocksdict import Rdict, WriteBatch, WriteOptions

from widerow.keys.layout import row_prefix
from widerow.storage.opener import open_store
from widerow.storage.rocksdb_engine import open_engine, write_options

__all__ = ["ALONE", "SYNC_IN_TURNS", "engine_result", "lone_results"]

ALONE: Final = "write 200 rows, sync and hash them"
SYNC_IN_TURNS: Final = "append a row, sync, in turns with PutRow"
_SECONDS: Final = 1.0  # a turn
_ENGINE_SECONDS: Final = 4.0
_CACHE_BYTES: Final = 128 * 1024 * 1024
_SHARE_SYNC: Final = 2  # batches
_STALL_SECONDS: Final = 0.001


def lone_results(
    place: Place, case: Case, echo: Place, directory: Path, settings: Settings
) -> list[Result]:
    """A case of one connection, its echo, an echo that syncs, and a sync alone, in turns.

    `echo` has a log in `directory`. Raises: `LoadFailed`.
    """
    size = answer_bytes(place, case)
    synced = [retarget(each, size, b"/synced/") for each in case.requests[:200]]
    sides = [
        (place, case),
        (echo, echo_case(case, size)),
        (echo, Case("echo", f"echo of {case.name}, appended and synced", synced, 1)),
    ]
    seconds = min(_SECONDS, settings.seconds)
    with warm(sides, replace(settings, seconds=seconds)) as runs:
        runs.append(lambda: (appended(directory, ROW_BYTES, seconds), 0.0))
        seen = take_turns(runs, turns_of(len(runs), settings))
    cases = [*[each for _, each in sides], Case("disk", SYNC_IN_TURNS, (), 1)]
    return [combine(each, found) for each, found in zip(cases, seen, strict=True)]


def engine_result(store: Path, rows: int, directory: Path, request_bytes: int) -> Result:
    """The engine, as the server sets it up, takes the first `rows` of `store` in batches.

    `cpu_us` is this process's for one batch with its sync, the engine's threads among it, and for
    the digest of a request of `request_bytes`. No server may have `store` open.
    """
    with open_store(f"rocksdb:{store}") as whole:
        first, last = row_prefix(SCAN_START), row_prefix(SCAN_START + 1)
        pairs = list(islice(whole.snapshot().scan(first, last), rows))
    engine_us = _engine_us(directory, pairs)
    hash_us = processor_us(hashes(os.urandom(request_bytes)))
    total = engine_us + hash_us
    also = {"engine_us": engine_us, "hash_us": hash_us}
    return Result("disk", ALONE, 1, 1e6 / total, total, total, total, BATCH_WRITE_ROWS, also=also)


def _engine_us(directory: Path, pairs: Sequence[tuple[bytes, bytes]]) -> float:
    """Processor time of one batch, of as many different ones as the case beside it sends.

    All pairs were written before; two batches share a sync, as they do in the server.
    """
    size = _SHARE_SYNC * BATCH_WRITE_ROWS
    groups = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    again = groups[:: max(1, len(groups) * _SHARE_SYNC // BATCHES)]
    engine, options = open_engine(directory, _CACHE_BYTES), write_options()
    try:
        for group in groups:
            _write(engine, group, options)
        count, used, ends = 0, time.process_time(), time.perf_counter() + _ENGINE_SECONDS
        while time.perf_counter() < ends:
            _write(engine, again[count % len(again)], options)
            count += 1
        return (time.process_time() - used) / count / _SHARE_SYNC * 1e6
    finally:
        engine.close()


def _write(engine: Rdict, pairs: Sequence[tuple[bytes, bytes]], options: WriteOptions) -> None:
    """Write and sync a group; again where the engine is behind with compaction."""
    while True:
        batch = WriteBatch(raw_mode=True)
        for key, value in pairs:
            batch.put(key, value)
        try:
            engine.write(batch, options)
        except Exception as error:
            if "Write stall" not in str(error):
                raise
            time.sleep(_STALL_SECONDS)
        else:
            return engine.flush_wal(True)  # noqa: FBT003  # the binding's own; True means fdatasync
