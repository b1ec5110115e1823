"""What the server of a crash run loads before its first line (it stands on its PYTHONPATH).

The product knows nothing of it; only the environment that such a run makes brings it in.

CRASH_VARIANT   a defect that the run must catch
    sync-off             the log is not synced
    reply-before-sync    the sync is made up to 50 ms later, by another thread
    reply-before-write   the write is made later, by another thread
    sync-error-ignored   a sync that failed is taken for one that did not
    full-ignored         a full disk is not noticed, and a write that it failed is taken for made
CRASH_POINT     POINT:N, the process kills itself when it comes to that point for the n-th time
    open, write-before, sync-before, sync-after, reply-before, catalog-before, flush, compaction
CRASH_MEMTABLE_KB   memtables so small that flushes and compactions go on all the time
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Final

from rocksdict import Options, Rdict, WriteBatch, WriteOptions

from widerow.commit.committer import Committer
from widerow.storage import rocksdb, rocksdb_engine
from widerow.storage.interface import Write
from widerow.storage.rocksdb import RocksDBStore, Steps

_LATE_SECONDS: Final = 0.05
_POLL_SECONDS: Final = 0.0005
_PLENTY_BYTES: Final = 1 << 40


class _Later:
    """Does something once, some time after it was asked to for the first time."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def ask(self, what: Callable[[], None]) -> None:
        if not self._asked.is_set():
            self._asked.set()
            threading.Thread(target=self._run, args=(what,), daemon=True).start()

    def _run(self, what: Callable[[], None]) -> None:
        time.sleep(_LATE_SECONDS)
        self._asked.clear()
        what()


def _variant(name: str, real: Steps) -> Steps:
    later = _Later()

    def write(engine: Rdict, batch: WriteBatch, options: WriteOptions) -> None:
        _Later().ask(lambda: real.write(engine, batch, options))

    def careless(engine: Rdict) -> None:
        with suppress(Exception):
            real.sync(engine)

    def careless_write(engine: Rdict, batch: WriteBatch, options: WriteOptions) -> None:
        with suppress(Exception):
            real.write(engine, batch, options)

    variants = {
        "": real,
        "sync-off": replace(real, sync=lambda _: None),
        "reply-before-sync": replace(
            real, sync=lambda engine: later.ask(lambda: real.sync(engine))
        ),
        "reply-before-write": replace(real, write=write),
        "sync-error-ignored": replace(real, sync=careless),
        "full-ignored": replace(
            real, write=careless_write, sync=careless, free_bytes=lambda _: _PLENTY_BYTES
        ),
    }
    return variants[name]


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _Point:
    """Kills the process at the n-th visit."""

    def __init__(self, text: str) -> None:
        self.name, _, number = text.partition(":")
        self.visits = count(1)
        self.last = int(number or 0)

    def visit(self, name: str) -> None:
        if name == self.name and next(self.visits) == self.last:
            _kill()


def _pointed(point: _Point, real: Steps) -> Steps:
    def write(engine: Rdict, batch: WriteBatch, options: WriteOptions) -> None:
        point.visit("write-before")
        real.write(engine, batch, options)

    def sync(engine: Rdict) -> None:
        point.visit("sync-before")
        real.sync(engine)
        point.visit("sync-after")

    return replace(real, write=write, sync=sync)


def _watch(point: _Point) -> None:
    """Wrap what is not a step: opening, answering, and what the engine does by itself."""
    open_engine = rocksdb_engine.open_engine

    def opening(directory: Path, cache_bytes: int, *, lax: bool) -> Rdict:
        engine = open_engine(directory, cache_bytes, lax=lax)
        point.visit("open")
        if point.name in {"flush", "compaction"}:
            threading.Thread(target=_wait_for, args=(engine, point), daemon=True).start()
        return engine

    vars(rocksdb)["open_engine"] = opening
    _visit_before(point, "_tell", lambda _: "reply-before")
    _visit_before(point, "_transact", lambda writes: "catalog-before" if _alone(writes) else "")


def _alone(writes: Sequence[Write[object]]) -> bool:
    return bool(writes) and writes[0].alone


def _visit_before(point: _Point, name: str, place: Callable[[Any], str]) -> None:
    """Come to a point before a method of the committer runs; `place` names it."""
    method = getattr(Committer, name)

    def wrapped(committer: Committer, first: object, *rest: object) -> object:
        point.visit(place(first))
        return method(committer, first, *rest)

    setattr(Committer, name, wrapped)


def _wait_for(engine: Rdict, point: _Point) -> None:
    name = {"flush": "rocksdb.num-running-flushes", "compaction": "rocksdb.num-running-compactions"}
    while True:
        if engine.property_int_value(name[point.name]):
            point.visit(point.name)
        time.sleep(_POLL_SECONDS)


def _small_memtables(size: int) -> None:
    right = vars(rocksdb_engine)["_options"]

    def small(cache_bytes: int, *, create: bool) -> Options:
        options: Options = right(cache_bytes, create=create)
        options.set_write_buffer_size(size)
        return options

    vars(rocksdb_engine)["_options"] = small


def _install() -> None:
    settings = RocksDBStore.__init__.__kwdefaults__
    assert settings is not None
    steps = _variant(os.environ.get("CRASH_VARIANT", ""), settings["steps"])
    point = _Point(os.environ.get("CRASH_POINT", ""))
    if point.name:
        steps = _pointed(point, steps)
        _watch(point)
    settings["steps"] = steps
    memtable = int(os.environ.get("CRASH_MEMTABLE_KB", "0"))
    if memtable:
        _small_memtables(memtable * 1024)


_install()
