"""From a store's URL to an open store.

Drivers are imported when their scheme is asked for: a server in memory does not load RocksDB.
"""

from pathlib import Path
from typing import Final

from widerow.storage.interface import Store

__all__ = ["CACHE_BYTES_DEFAULT", "open_store"]

CACHE_BYTES_DEFAULT: Final = 32 * 1024 * 1024  # fills as blocks are read; a small server stays so

_KNOWN: Final = "memory:, rocksdb:DIRECTORY, or the path of a directory"


def open_store(url: str, *, cache_bytes: int = CACHE_BYTES_DEFAULT) -> Store:
    """Open what `url` names: `memory:`, `rocksdb:DIR`, `rocksdb:///abs/dir`, or a bare path.

    A directory is created if it does not exist. `cache_bytes` bounds the block cache of a store on
    disk and means nothing to one in memory. Paths are taken as they are; nothing is unescaped.

    Raises: `ValueError` for a URL that names no known kind of store, and what the drivers raise:
    `StoreLocked`, `StoreDamaged`, `StoreFull`, or `StorageFailure` for a directory of another kind.
    """
    scheme, colon, rest = url.partition(":")
    if not colon or "/" in scheme or "." in scheme:
        scheme, rest = "rocksdb", url
    if scheme == "memory":
        return _open_memory(url, rest)
    if scheme == "rocksdb":
        return _open_rocksdb(url, rest, cache_bytes)
    raise ValueError(f"unknown kind of store {url!r}; known are {_KNOWN}")


def _open_memory(url: str, rest: str) -> Store:
    if rest:
        raise ValueError(f"a store in memory has no name: write memory: instead of {url!r}")
    from widerow.storage.memory import MemoryStore  # noqa: PLC0415  # only where it is asked for

    return MemoryStore()


def _open_rocksdb(url: str, rest: str, cache_bytes: int) -> Store:
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host:
            raise ValueError(f"{url!r} names a host; write rocksdb:///{path} for a local directory")
        rest = slash + path
    if not rest or rest == "/":
        raise ValueError(f"{url!r} names no directory; known are {_KNOWN}")
    from widerow.storage.rocksdb import RocksDBStore  # noqa: PLC0415  # only where it is asked for

    return RocksDBStore(Path(rest), cache_bytes=cache_bytes)
