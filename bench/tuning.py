"""What a setting of the engine is worth: `python -m bench.tuning`.

    python -m bench.tuning [--runs 5] [--rows 100000] [--compressible] [--json] [SETTING ...]

The engine alone, in this process: stores that differ in one setting each, filled with the same rows
of a kilobyte and measured in turns, so that whatever else the machine does meets all of them alike.
Figures are CPU time of the whole process for a row, the engine's own threads included, in
microseconds: the mean of the runs, because compactions come in some and not in others.

    overwrite   the row is read and written again, 80 of them to a group and its sync
    get         rows at random
    scan        a hundred rows from one at random
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random  # noqa: TID251  # a fixed seed: load is alike in every store
from typing import Final

from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rocksdict import (
    BlockBasedIndexType,
    BlockBasedOptions,
    DBCompressionType,
    Options,
    Rdict,
    WriteBatch,
)

from widerow.storage.opener import CACHE_BYTES_DEFAULT
from widerow.storage.rocksdb_engine import table_options, tune, write_options

__all__ = ["SETTINGS", "Bench", "main"]

ROW_BYTES: Final = 1150
GROUP_ROWS: Final = 80
GROUPS: Final = 1000
GETS: Final = 20_000
SCANS: Final = 200
SCANNED_ROWS: Final = 100
CASES: Final = ("overwrite", "get", "scan")
AS_SET: Final = "as widerow sets it"
_MIB: Final = 1024 * 1024
_LEVELS: Final = 7
_JOBS: Final = (
    "rocksdb.mem-table-flush-pending",
    "rocksdb.num-running-flushes",
    "rocksdb.compaction-pending",
    "rocksdb.num-running-compactions",
)


def _table(change: Callable[[BlockBasedOptions], None]) -> Callable[[Options], None]:
    def apply(options: Options) -> None:
        table = table_options(CACHE_BYTES_DEFAULT)
        change(table)
        options.set_block_based_table_factory(table)

    return apply


def _in_partitions(table: BlockBasedOptions) -> None:
    table.set_index_type(BlockBasedIndexType.two_level_index_search())
    table.set_partition_filters(True)
    table.set_metadata_block_size(4 * 1024)


def _flushed_as_it_is(options: Options) -> None:
    lz4 = DBCompressionType.lz4()
    options.set_compression_per_level([DBCompressionType.none(), *[lz4] * (_LEVELS - 1)])


def _no_memtable_filter(options: Options) -> None:
    options.set_memtable_whole_key_filtering(False)
    options.set_memtable_prefix_bloom_ratio(0.0)


SETTINGS: Final[dict[str, Callable[[Options], None]]] = {
    AS_SET: lambda _: None,
    "first level not compressed": _flushed_as_it_is,
    "nothing compressed": lambda it: it.set_compression_type(DBCompressionType.none()),
    "no memtable filter": _no_memtable_filter,
    "memtables of 32 MB": lambda it: it.set_write_buffer_size(32 * _MIB),
    "memtables of 128 MB": lambda it: it.set_write_buffer_size(128 * _MIB),
    "compaction at 8 files": lambda it: it.set_level_zero_file_num_compaction_trigger(8),
    "blocks of 4 KB": _table(lambda it: it.set_block_size(4 * 1024)),
    "blocks of 32 KB": _table(lambda it: it.set_block_size(32 * 1024)),
    "indexes in partitions": _table(_in_partitions),
    "every entry a restart": _table(lambda it: it.set_block_restart_interval(1)),
}
"""What can be compared, by what it is called; each changes options that `tune` has set."""


class Bench:
    """One store, and what was measured in it: microseconds by case."""

    def __init__(self, directory: Path, setting: str, rows: int, content: bytes) -> None:
        """A store with `rows` rows, cut out of `content`."""
        options = Options(raw_mode=True)
        tune(options, CACHE_BYTES_DEFAULT, create=True)
        SETTINGS[setting](options)
        self.figures: dict[str, list[float]] = {case: [] for case in CASES}
        self._engine = Rdict(str(directory), options, {"default": options})
        self._content = content
        self._chance = Random(1)  # noqa: S311  # load is no secret
        self._keys = [b"row %d of a table %08d" % (number % 997, number) for number in range(rows)]
        self._chance.shuffle(self._keys)
        self._write_options = write_options()
        self._write_options.no_slowdown = False  # filling waits for compactions
        for start in range(0, rows, GROUP_ROWS):
            self._write(self._keys[start : start + GROUP_ROWS])
        self._engine.flush_wal(True)  # noqa: FBT003  # the binding's own signature
        self._settle()

    def run(self) -> None:
        """Measure every case once more."""
        for case, work in zip(CASES, (self._overwrite, self._get, self._scan), strict=True):
            started = time.process_time()
            rows = work()
            self.figures[case].append((time.process_time() - started) / rows * 1e6)

    def _write(self, keys: Sequence[bytes]) -> None:
        batch = WriteBatch(raw_mode=True)
        for key in keys:
            at = self._chance.randrange(len(self._content) - ROW_BYTES)
            batch.put(key, self._content[at : at + ROW_BYTES])
        self._engine.write(batch, self._write_options)

    def _overwrite(self) -> int:
        for _ in range(GROUPS):
            keys = self._chance.choices(self._keys, k=GROUP_ROWS)
            view = self._engine.snapshot()
            for key in keys:
                view[key]
            self._write(keys)
            self._engine.flush_wal(True)  # noqa: FBT003  # the binding's own signature
        self._settle()
        return GROUPS * GROUP_ROWS

    def _settle(self) -> None:
        """Wait for what the engine does behind our back: it is paid for by who caused it."""
        while any(map(self._engine.property_int_value, _JOBS)):
            time.sleep(0.01)

    def _get(self) -> int:
        view = self._engine.snapshot()
        for key in self._chance.choices(self._keys, k=GETS):
            view[key]
        return GETS

    def _scan(self) -> int:
        found = 0
        for key in self._chance.choices(self._keys, k=SCANS):
            iterator = self._engine.iter()
            iterator.seek(key)
            for _ in range(SCANNED_ROWS):
                if not iterator.valid():
                    break
                iterator.key()
                iterator.value()
                iterator.next()
                found += 1
        return found

    def close(self) -> None:
        """Let go of the store."""
        self._engine.close()


def content_of(size: int, *, compressible: bool) -> bytes:
    """Bytes for rows; of those that can be compressed, every other 64 are zero."""
    if not compressible:
        return os.urandom(size)
    return b"".join(os.urandom(64) + bytes(64) for _ in range(size // 128))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0], epilog=f"settings: {', '.join(SETTINGS)}"
    )
    parser.add_argument("settings", nargs="*", metavar="SETTING", help="beside ours; default: all")
    parser.add_argument("--runs", type=int, default=5, help="of each store (%(default)s)")
    parser.add_argument("--rows", type=int, default=100_000, help="in each (%(default)s)")
    parser.add_argument("--compressible", action="store_true", help="rows that halve")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    if unknown := set(given.settings) - set(SETTINGS):
        parser.error(f"no such setting: {min(unknown)}; there are {', '.join(SETTINGS)}")
    if given.runs < 1 or given.rows < GROUP_ROWS:
        parser.error(f"--runs is at least 1, --rows at least {GROUP_ROWS}")
    names = [AS_SET, *(each for each in given.settings or SETTINGS if each != AS_SET)]
    content = content_of(4 * _MIB, compressible=given.compressible)
    with tempfile.TemporaryDirectory(prefix="widerow-bench-") as folder:
        measured = _measure(names, given, Path(folder), content)
    if given.json:
        json.dump(measured, sys.stdout, indent=2)
        print()
    else:
        show(measured)
    return 0


def _measure(
    names: Sequence[str], given: argparse.Namespace, folder: Path, content: bytes
) -> dict[str, dict[str, float]]:
    """The mean of each case by setting."""
    quiet = given.json or not sys.stderr.isatty()
    console = Console(stderr=True)
    benches: dict[str, Bench] = {}
    try:
        for number, name in enumerate(track(names, "Filling", console=console, disable=quiet)):
            benches[name] = Bench(folder / str(number), name, given.rows, content)
        for _ in track(range(given.runs), "Measuring", console=console, disable=quiet):
            for bench in benches.values():
                bench.run()
    finally:
        for bench in benches.values():
            bench.close()
    return {
        name: {case: round(statistics.mean(took), 2) for case, took in bench.figures.items()}
        for name, bench in benches.items()
    }


def show(measured: dict[str, dict[str, float]]) -> None:
    """A table on the terminal."""
    screen = Table("µs of CPU for a row", *CASES, box=box.SIMPLE)
    for column in screen.columns[1:]:
        column.justify = "right"
    for name, figures in measured.items():
        screen.add_row(name, *(f"{figures[case]:.2f}" for case in CASES))
    Console().print(screen)


if __name__ == "__main__":
    sys.exit(main())
