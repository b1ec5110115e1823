"""What the disk alone costs: appending and syncing, and reading a store without a server."""

import hashlib
import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from bench.echo import ROW_BYTES
from bench.load import Outcome
from bench.measure import Result, percentile
from bench.rows import PARTITION_ROWS, key

from widerow.keys.encode import encode_key
from widerow.keys.layout import row_prefix
from widerow.storage.interface import Store
from widerow.storage.opener import open_store

SYNC_SECONDS: Final = 1.5
SCAN_SECONDS: Final = 1.0
SCAN_START: Final = 1  # the table's number: the first one made in a store
GROUP_BYTES: Final = 64 * 1024  # about fifty such rows


def sync_results(directory: Path, seconds: float = SYNC_SECONDS) -> list[Result]:
    """Appending and syncing pieces of several sizes to a file in `directory`."""
    sizes = (("a row", ROW_BYTES), ("4 KiB", 4096), ("a group of rows", GROUP_BYTES))
    return [sync_result(directory, name, size, seconds) for name, size in sizes]


def sync_result(directory: Path, name: str, size: int, seconds: float) -> Result:
    """`appended`, as a case."""
    seen = appended(directory, size, seconds)
    return Result(
        "disk",
        f"append {name}, sync",
        1,
        1e6 / seen.p50_us,
        seen.p50_us,
        seen.p99_us,
        0.0,
        also={"bytes": float(size)},
    )


def appended(directory: Path, size: int, seconds: float) -> Outcome:
    """`fdatasync` after each append of `size` bytes to a new file, one at a time."""
    path = directory / "sync-probe"
    took: list[float] = []
    piece = os.urandom(size)
    with path.open("wb", buffering=0) as file:
        ends = time.perf_counter() + seconds
        while (started := time.perf_counter()) < ends:
            file.write(piece)
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - started) * 1e6)
    path.unlink()
    middle, slow = percentile(took, 0.5), percentile(took, 0.99)
    return Outcome(len(took), seconds, middle, slow, max(took), "")


def scan_result(directory: Path, rows: int, answer_bytes: int) -> Result:
    """Reading pages of a hundred rows from the store in `directory`, and hashing as many bytes.

    `cpu_us` is the sum for one page; `also` has the two parts. No server may have the store open.
    """
    with open_store(f"rocksdb:{directory}") as store:
        scan_us = processor_us(pages(store, rows))
    answer = os.urandom(answer_bytes)
    hash_us = processor_us(hashes(answer))
    also = {"scan_us": scan_us, "hash_us": hash_us, "answer_bytes": float(answer_bytes)}
    total = scan_us + hash_us
    name = "scan 100 rows and hash them, no server"
    return Result("disk", name, 1, 1e6 / total, total, total, total, PARTITION_ROWS, also=also)


def pages(store: Store, rows: int) -> Iterator[int]:
    """Read page after page; gives the number of rows of each."""
    table = row_prefix(SCAN_START)
    stop = row_prefix(SCAN_START + 1)
    number = 0
    while True:
        values = tuple(value for _, value in key(number))
        start = encode_key(table, values)
        found = list(islice(store.snapshot().scan(start, stop), PARTITION_ROWS))
        if len(found) < PARTITION_ROWS:
            raise ValueError("the store holds other rows than were written")
        yield len(found)
        number = (number + 7919 * PARTITION_ROWS) % rows


def hashes(data: bytes) -> Iterator[int]:
    """Hash the same bytes again and again."""
    while True:
        yield len(hashlib.md5(data, usedforsecurity=False).digest())


def processor_us(steps: Iterator[int]) -> float:
    """Microseconds of this thread's processor time that a step costs; the first is not counted."""
    next(steps)
    count, started = 0, time.thread_time()
    while time.thread_time() - started < SCAN_SECONDS:
        next(steps)
        count += 1
    return (time.thread_time() - started) / count * 1e6
