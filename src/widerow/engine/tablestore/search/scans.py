"""Parallel scans: sessions, and the results that they hold (search §7).

A session holds a moment of its index, so all its pages are of that moment. The documents that match
a query are found once in a session, and their keys are given out page by page, in their order. A
scan without a session gets one of its own, which its token names.

Ids and tokens say all that another server needs (`scan_places.py`). A server that does not hold a
session, because another one began it or it is started anew, goes on at a moment of its own: since
every server gives keys in order from the token's on, a row that stays as it is comes once, and one
that is written meanwhile comes as at some moment of the scan, once or not at all.
"""

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final, final

from widerow.clock import Clock, Entropy
from widerow.engine.tablestore.search.scan_places import (
    NAME_BYTES,
    ScanPart,
    ScanSession,
    SessionHead,
    read_session,
    read_token,
)
from widerow.errors import Exhausted, InvalidRequest
from widerow.limits import (
    SEARCH_ALIVE_SECONDS,
    SEARCH_ALIVE_SECONDS_MAX,
    SEARCH_POINT_BYTES,
    SEARCH_SCAN_ROWS_MAX,
    SEARCH_SESSION_ID_SECONDS,
    SEARCH_SESSION_QUERIES_MAX,
    SEARCH_SESSIONS_MAX,
    SEARCH_SPLIT_ROWS,
    SEARCH_SPLITS_MAX,
)
from widerow.model.search.query import MATCH_ALL, Query
from widerow.model.search.requests import IndexSplits, ParallelScan
from widerow.model.search.schema import SearchIndex
from widerow.model.tablestore.rules import TablestoreRule

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from widerow.search.interface import DocumentSet, IndexView

    Found = tuple[DocumentSet, NDArray[np.uint32]]  # and the numbers of documents, by their keys

__all__ = ["Scans"]

_SECOND_US: Final = 1_000_000
_SECOND_NS: Final = 1_000_000_000
_SAMPLED: Final = 2000  # documents for each split, of which its bounds are made: 2 % exact


@final
class _Session:
    """A moment of an index, and the results found in it. `until_ns`: its end, unless it is used."""

    def __init__(self, view: "IndexView") -> None:
        self.until_ns = 0
        self._view = view
        self._found: dict[Query, Found] = {}

    def select(self, query: Query) -> "Found":
        """The documents of a query, found and sorted by their keys once."""
        found = self._found.get(query)
        if found is None:
            if len(self._found) >= SEARCH_SESSION_QUERIES_MAX:
                raise Exhausted(TablestoreRule.SEARCH_SESSION_COUNT, limit=SEARCH_SESSIONS_MAX)
            found = self._found[query] = _sorted(self._view.select(query, scored=False))
        return found


@final
class Scans:
    """The sessions of one engine. Any thread may call; one call runs at a time."""

    def __init__(self, clock: Clock, entropy: Entropy, lock: "AbstractContextManager[Any]") -> None:
        self._clock = clock
        self._entropy = entropy
        self._lock = lock
        self._sessions: dict[tuple[bytes, int], _Session] = {}  # by name and index

    def begin(self, index: SearchIndex, view: "IndexView") -> IndexSplits:
        """A new session. Raises `Exhausted` (SEARCH_SESSION_COUNT)."""
        session = self._new(index, view)
        with self._lock:
            self._held(session.head, view, SEARCH_ALIVE_SECONDS)
        return IndexSplits(session.id, session.head.splits)

    def _new(self, index: SearchIndex, view: "IndexView") -> ScanSession:
        points = _points(view)
        head = SessionHead(
            self._entropy.token_bytes(NAME_BYTES),
            index.id,
            index.created_us,
            self._clock.now_us() + SEARCH_SESSION_ID_SECONDS * _SECOND_US,
            len(points) + 1,
        )
        return ScanSession(head, points)

    def page(
        self, index: SearchIndex, request: ParallelScan, view: "Callable[[], IndexView]"
    ) -> tuple[list[bytes], bytes]:
        """Encoded primary keys of the next page, and the token of the one behind; b"": the end.

        `view` is asked where the request names no session, or one that is not held here. Raises
        `InvalidRequest` for what search §7 does not allow, `NotFound` (SEARCH_SESSION_EXPIRED),
        and what `view` and queries raise.
        """
        parts = request.max_parallel
        if parts < 1:
            raise InvalidRequest(TablestoreRule.SEARCH_SCAN_PARALLEL, splits=1, max_parallel=parts)
        if not 0 <= request.parallel_id < parts:
            raise InvalidRequest(
                TablestoreRule.SEARCH_SCAN_PARALLEL_ID,
                max_parallel=parts,
                parallel_id=request.parallel_id,
            )
        asked = SEARCH_SCAN_ROWS_MAX if request.limit is None else request.limit
        limit = max(1, min(asked, SEARCH_SCAN_ROWS_MAX))
        alive = SEARCH_ALIVE_SECONDS if request.alive_seconds is None else request.alive_seconds
        seconds = max(1, min(alive, SEARCH_ALIVE_SECONDS_MAX))
        made: IndexView | None = None
        if not request.session_id and not request.token:
            made = view()
            part = _part(self._new(index, made), request)
        else:
            part = self._named(index, request)
            made = None if self._renewed(part.head, seconds) else view()
        with self._lock:
            found, order = self._held(part.head, made, seconds).select(request.query)
        keys = _page(found, order, part, limit)
        if not keys:
            return [], b""
        return keys, part.behind(keys[-1], self._clock.now_us() + seconds * _SECOND_US)

    def _named(self, index: SearchIndex, request: ParallelScan) -> ScanPart:
        """What is left of the part that a request names by an id, a token, or both.

        With both the part is that of the id, and the token says how far it was read.
        """
        now_us = self._clock.now_us()
        behind = read_token(request.token) if request.token else None
        if behind is not None:
            behind.head.check(index, now_us)
        if not request.session_id:
            assert behind is not None, "a request without either names no part"
            _check_parts(behind.head.splits, request)
            return behind
        session = read_session(request.session_id)
        session.head.check(index, now_us)
        part = _part(session, request)
        if behind is None:
            return part
        return ScanPart(part.head, max(part.start, behind.start), part.stop)

    def _renewed(self, head: SessionHead, seconds: int) -> bool:
        """Whether a session is held here; it is for `seconds` on then."""
        now_ns = self._clock.monotonic_ns()
        with self._lock:
            session = self._sessions.get(head[:2])
            if session is None or session.until_ns <= now_ns:
                return False
            session.until_ns = max(session.until_ns, now_ns + seconds * _SECOND_NS)
            return True

    def _held(self, head: SessionHead, view: "IndexView | None", seconds: int) -> _Session:
        """The session of a name, begun with `view` if it is not held, and used for `seconds` on."""
        now_ns = self._clock.monotonic_ns()
        self._sessions = {
            name: each for name, each in self._sessions.items() if each.until_ns > now_ns
        }
        session = self._sessions.get(head[:2])
        if session is None:
            if view is None or len(self._sessions) >= SEARCH_SESSIONS_MAX:
                raise Exhausted(TablestoreRule.SEARCH_SESSION_COUNT, limit=SEARCH_SESSIONS_MAX)
            session = self._sessions[head[:2]] = _Session(view)
        session.until_ns = now_ns + seconds * _SECOND_NS
        return session


def _part(session: ScanSession, request: ParallelScan) -> ScanPart:
    _check_parts(session.head.splits, request)
    return session.part(request.parallel_id, request.max_parallel)


def _check_parts(splits: int, request: ParallelScan) -> None:
    parts = request.max_parallel
    if parts > splits:
        raise InvalidRequest(TablestoreRule.SEARCH_SCAN_PARALLEL, splits=splits, max_parallel=parts)


def _sorted(found: "DocumentSet") -> "Found":
    import numpy as np  # noqa: PLC0415  # whoever has a `DocumentSet` has loaded it

    return found, np.argsort(found.key_ranks(), kind="stable").astype(np.uint32)


def _points(view: "IndexView") -> tuple[bytes, ...]:
    """Keys, cut short, that divide the documents of an index into splits of about one size."""
    splits = min(SEARCH_SPLITS_MAX, max(1, view.rows // SEARCH_SPLIT_ROWS))
    if splits == 1:
        return ()
    import numpy as np  # noqa: PLC0415  # whoever has an `IndexView` has loaded it

    every = view.select(MATCH_ALL, scored=False)
    sample = every.take(np.unique(np.linspace(0, every.count - 1, splits * _SAMPLED, dtype=int)))
    _, order = _sorted(sample)
    places = np.arange(1, splits) * len(order) // splits
    return tuple([key[:SEARCH_POINT_BYTES] for key in sample.keys(order[places])])


def _page(
    found: "DocumentSet", order: "NDArray[np.uint32]", part: ScanPart, limit: int
) -> list[bytes]:
    """The first keys of what is left of a part, at most `limit`."""

    def key_at(place: int) -> bytes:
        return found.keys(order[place : place + 1])[0]

    places = range(len(order))
    start = bisect_left(places, part.start, key=key_at) if part.start else 0
    keys = found.keys(order[start : start + limit])
    if part.stop and keys and keys[-1] >= part.stop:
        return keys[: bisect_left(keys, part.stop)]
    return keys
