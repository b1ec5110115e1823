"""From a store's URL to an open store.

Drivers are imported when their scheme is asked for: a server in memory does not load RocksDB.
"""

import re
from pathlib import Path
from typing import Final

from widerow.limits import BLOCKING_THREADS_MAX
from widerow.storage.directory import Acceptance
from widerow.storage.interface import Store

__all__ = ["CACHE_BYTES_DEFAULT", "is_in_database", "open_store", "shown_url", "store_directory"]

CACHE_BYTES_DEFAULT: Final = 128 * 1024 * 1024  # fills as blocks are read; a small store stays so

_POSTGRES: Final = ("postgresql", "postgres")
_DATABASES: Final = (*_POSTGRES, "hbase")
_SCHEMES: Final = ("memory", "rocksdb", *_DATABASES)
_KNOWN: Final = (
    "memory:, rocksdb:DIRECTORY, postgresql://HOST/DATABASE, hbase://HOST:PORT/[NAMESPACE:]TABLE, "
    "or the path of a directory"
)
_USER_INFO: Final = re.compile("(?<=://)([^/]*)@")


def open_store(
    url: str,
    *,
    cache_bytes: int = CACHE_BYTES_DEFAULT,
    acceptance: Acceptance = Acceptance.WHOLE,
    requests_max: int = BLOCKING_THREADS_MAX,
) -> Store:
    """Open what `url` names: `memory:`, `rocksdb:DIR`, `rocksdb:///abs/dir`, or a bare path.

    Or `postgresql://user:password@host:port/database?option=value`, as libpq reads it, or
    `hbase://host:port,host:port/table`, where any servers of the cluster are named.

    A directory is created if it does not exist. `cache_bytes` bounds the block cache of a store on
    disk, `acceptance` says whether that may be a damaged one; neither means anything elsewhere.
    `requests_max`: how many requests may ask a database at one time; PostgreSQL is given a few
    connections more.
    Paths are taken as they are; nothing is unescaped.

    Raises: `ValueError` for a URL that names no known kind of store, and what the drivers raise:
    `StoreLocked`, `StoreDamaged`, `StoreFull`, or `StorageFailure` for a directory of another kind;
    of a database `StoreBusy` where it cannot be reached, `StorageFailure` where it cannot be used.
    """
    scheme, rest = _split(url)
    if scheme == "memory":
        return _open_memory(url, rest)
    if scheme in _POSTGRES:
        return _open_postgres(url, requests_max)
    if scheme == "hbase":
        from widerow.storage.hbase.opening import open_hbase  # noqa: PLC0415  # only when asked for

        return open_hbase(url)
    return _open_rocksdb(store_directory(url), cache_bytes, acceptance)


def store_directory(url: str) -> Path:
    """The directory that `url` names. Raises: `ValueError` where it names none."""
    scheme, rest = _split(url)
    if scheme == "memory":
        raise ValueError("a store in memory has no directory")
    if scheme in _DATABASES:
        raise ValueError("a store in a database has no directory")
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host:
            raise ValueError(f"{url!r} names a host; write rocksdb:///{path} for a local directory")
        rest = slash + path
    if not rest or rest == "/":
        raise ValueError(f"{url!r} names no directory; known are {_KNOWN}")
    return Path(rest)


def is_in_database(url: str) -> bool:
    """Whether `url` names a database across a network. Raises `ValueError` as `open_store` does."""
    return _split(url)[0] in _DATABASES


def shown_url(url: str) -> str:
    """The URL without the passwords that may be in it, for ready lines and reports."""
    if not is_in_database(url):
        return url
    place, mark, query = url.partition("?")
    shown = _USER_INFO.sub(lambda found: found[1].partition(":")[0] + "@", place)
    kept = [pair for pair in query.split("&") if not pair.partition("=")[0].endswith("password")]
    return shown + mark + "&".join(kept)


def _split(url: str) -> tuple[str, str]:
    """The scheme of a known kind of store, and what follows it."""
    scheme, colon, rest = url.partition(":")
    if not colon or "/" in scheme or "." in scheme:
        return "rocksdb", url
    if scheme not in _SCHEMES:
        raise ValueError(f"unknown kind of store {url!r}; known are {_KNOWN}")
    return scheme, rest


def _open_memory(url: str, rest: str) -> Store:
    if rest:
        raise ValueError(f"a store in memory has no name: write memory: instead of {url!r}")
    from widerow.storage.memory import MemoryStore  # noqa: PLC0415  # only where it is asked for

    return MemoryStore()


def _open_rocksdb(directory: Path, cache_bytes: int, acceptance: Acceptance) -> Store:
    from widerow.storage.rocksdb import RocksDBStore  # noqa: PLC0415  # only where it is asked for

    return RocksDBStore(directory, cache_bytes=cache_bytes, acceptance=acceptance)


def _open_postgres(url: str, requests_max: int) -> Store:
    try:
        from widerow.storage.postgres.driver import open_postgres  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise ValueError(
            "a store in PostgreSQL takes psycopg, which is not installed, or not with its library: "
            f"pip install 'psycopg[binary]' ({error})"
        ) from error
    return open_postgres(url, requests_max)
