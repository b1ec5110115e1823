"""Parallel scans: sessions, and the results that they hold (search §7).

A session holds a moment of its index, so all its pages are of that moment. The documents that match
a query are found once in a session, and their keys are given out page by page. A scan without a
session gets one of its own, which its token names. Sessions end with the process.
"""

import struct
from binascii import crc32, hexlify, unhexlify
from typing import TYPE_CHECKING, Any, Final, final

from widerow.clock import Clock, Entropy
from widerow.errors import Exhausted, InvalidRequest, NotFound
from widerow.limits import (
    SEARCH_ALIVE_SECONDS,
    SEARCH_ALIVE_SECONDS_MAX,
    SEARCH_SCAN_ROWS_MAX,
    SEARCH_SESSION_QUERIES_MAX,
    SEARCH_SESSIONS_MAX,
    SEARCH_SPLIT_ROWS,
    SEARCH_SPLITS_MAX,
)
from widerow.model.search.query import Query
from widerow.model.search.requests import IndexSplits, ParallelScan
from widerow.model.tablestore.rules import TablestoreRule

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from widerow.search.interface import DocumentSet, IndexView

__all__ = ["Scans"]

_SECOND_NS: Final = 1_000_000_000
_ID_BYTES: Final = 16
_TOKEN: Final = struct.Struct(f">B{_ID_BYTES}sQI")  # form, session, documents before, checksum
_FORM: Final = 1


@final
class _Session:
    """A moment of an index, and the results found in it. `until_ns`: its end, unless it is used."""

    def __init__(self, index_id: int, view: "IndexView", until_ns: int) -> None:
        self.index_id = index_id
        self.view = view
        self.until_ns = until_ns
        self.splits = min(SEARCH_SPLITS_MAX, max(1, view.rows // SEARCH_SPLIT_ROWS))
        self._found: dict[Query, DocumentSet] = {}

    def select(self, query: Query) -> "DocumentSet":
        """The documents of a query, found once."""
        found = self._found.get(query)
        if found is None:
            if len(self._found) >= SEARCH_SESSION_QUERIES_MAX:
                raise Exhausted(TablestoreRule.SEARCH_SESSION_COUNT, limit=SEARCH_SESSIONS_MAX)
            found = self._found[query] = self.view.select(query, scored=False)
        return found


@final
class Scans:
    """The sessions of one engine. Any thread may call; one call runs at a time."""

    def __init__(self, clock: Clock, entropy: Entropy, lock: "AbstractContextManager[Any]") -> None:
        self._clock = clock
        self._entropy = entropy
        self._lock = lock
        self._sessions: dict[bytes, _Session] = {}

    def begin(self, index_id: int, view: "IndexView") -> IndexSplits:
        """A new session. Raises `Exhausted` (SEARCH_SESSION_COUNT)."""
        with self._lock:
            name, session = self._begin(index_id, view, SEARCH_ALIVE_SECONDS)
        return IndexSplits(hexlify(name).decode(), session.splits)

    def _begin(self, index_id: int, view: "IndexView", seconds: int) -> tuple[bytes, _Session]:
        now_ns = self._clock.monotonic_ns()
        self._sessions = {
            name: each for name, each in self._sessions.items() if each.until_ns > now_ns
        }
        if len(self._sessions) >= SEARCH_SESSIONS_MAX:
            raise Exhausted(TablestoreRule.SEARCH_SESSION_COUNT, limit=SEARCH_SESSIONS_MAX)
        name = self._entropy.token_bytes(_ID_BYTES)
        session = _Session(index_id, view, now_ns + seconds * _SECOND_NS)
        self._sessions[name] = session
        return name, session

    def page(
        self, index_id: int, request: ParallelScan, view: "Callable[[], IndexView]"
    ) -> tuple[list[bytes], bytes]:
        """Encoded primary keys of the next page, and the token of the one behind; b"": the end.

        `view` is asked where the request names no session. Raises `InvalidRequest` for what search
        §7 does not allow, `NotFound` (SEARCH_SESSION_EXPIRED), and what `view` and queries raise.
        """
        part, parts = request.parallel_id, request.max_parallel
        if parts < 1:
            raise InvalidRequest(TablestoreRule.SEARCH_SCAN_PARALLEL, splits=1, max_parallel=parts)
        if not 0 <= part < parts:
            raise InvalidRequest(
                TablestoreRule.SEARCH_SCAN_PARALLEL_ID, max_parallel=parts, parallel_id=part
            )
        asked = SEARCH_SCAN_ROWS_MAX if request.limit is None else request.limit
        limit = max(1, min(asked, SEARCH_SCAN_ROWS_MAX))
        alive = SEARCH_ALIVE_SECONDS if request.alive_seconds is None else request.alive_seconds
        seconds = max(1, min(alive, SEARCH_ALIVE_SECONDS_MAX))
        name, passed = _read_token(request.token) if request.token else (b"", 0)
        if request.session_id:
            name = _session_name(request.session_id)
        made = None if name else view()
        with self._lock:
            if made is not None:
                name, session = self._begin(index_id, made, seconds)
            else:
                session = self._renewed(name, index_id, seconds)
            if parts > session.splits:
                raise InvalidRequest(
                    TablestoreRule.SEARCH_SCAN_PARALLEL, splits=session.splits, max_parallel=parts
                )
            return _page(session.select(request.query), (name, passed), (part, parts), limit)

    def _renewed(self, name: bytes, index_id: int, seconds: int) -> _Session:
        now_ns = self._clock.monotonic_ns()
        session = self._sessions.get(name)
        if session is None or session.until_ns <= now_ns or session.index_id != index_id:
            raise NotFound(TablestoreRule.SEARCH_SESSION_EXPIRED)
        session.until_ns = now_ns + seconds * _SECOND_NS
        return session


def _page(
    found: "DocumentSet", place: tuple[bytes, int], part: tuple[int, int], limit: int
) -> tuple[list[bytes], bytes]:
    """A page of one of `parts` equal runs of documents. `place`: the session, documents passed."""
    import numpy as np  # noqa: PLC0415  # whoever has a `DocumentSet` has loaded it

    name, passed = place
    number, parts = part
    first, stop = found.count * number // parts, found.count * (number + 1) // parts
    start = min(first + passed, stop)
    numbers = np.arange(start, min(start + limit, stop))
    if not len(numbers):
        return [], b""
    return found.keys(numbers), _write_token(name, passed + len(numbers))


def _session_name(text: str) -> bytes:
    try:
        return unhexlify(text)
    except ValueError as error:
        raise NotFound(TablestoreRule.SEARCH_SESSION_EXPIRED) from error


def _write_token(name: bytes, passed: int) -> bytes:
    data = _TOKEN.pack(_FORM, name, passed, 0)
    return data[:-4] + crc32(data).to_bytes(4, "big")


def _read_token(token: bytes) -> tuple[bytes, int]:
    """The session, and how many documents were passed. Raises `InvalidRequest`."""
    if len(token) == _TOKEN.size:
        form, name, passed, _ = _TOKEN.unpack(token)
        if form == _FORM and _write_token(name, passed) == token:
            return name, passed
    raise InvalidRequest(TablestoreRule.SEARCH_SCAN_TOKEN)
