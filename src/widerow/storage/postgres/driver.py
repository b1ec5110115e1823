"""The driver: views, pages and conditional commits on a pool of connections."""

from collections.abc import Callable, Sequence
from typing import Final, final

from psycopg.pq.abc import PGresult

from widerow.errors import OutcomeUnknown, StorageFailure, StoreBusy, StoreFull, ViewLost
from widerow.limits import BLOCKING_THREADS_MAX
from widerow.storage.interface import Capabilities
from widerow.storage.page import Page, PageWanted
from widerow.storage.postgres.opening import make_table
from widerow.storage.postgres.pool import Pool
from widerow.storage.postgres.session import (
    ConnectionLost,
    DatabaseSession,
    SqlCall,
    StatementFailed,
)
from widerow.storage.postgres.statements import (
    BEGIN_VIEW,
    COMMIT,
    END_VIEW,
    PAGE_DOWN,
    PAGE_UP,
    READ_MANY,
    commit_arguments,
    page_arguments,
    read_arguments,
)
from widerow.storage.remote.driver import ShardChange
from widerow.storage.remote.optimistic import OptimisticStore
from widerow.storage.server_state import ServerState
from widerow.storage.sockets import Sockets

__all__ = ["KEY_BYTES_MAX", "PostgresDriver", "PostgresView", "open_postgres"]

KEY_BYTES_MAX: Final = 2600  # an entry of an index has a third of a page: 2704 bytes with its head
_PAGE_BYTES_MAX: Final = 1024 * 1024  # of values, after which a page ends; one row may be larger
_UNIQUE_VIOLATION: Final = "23505"
_DISK_FULL: Final = "53100"
# Serialization and deadlock, limits of the server, a lock or a statement that took too long, a
# server that starts, stops or became a standby: all of it may be tried again.
_BUSY: Final = ("40", "53", "55P03", "57", "25006")


def open_postgres(url: str, requests_max: int = BLOCKING_THREADS_MAX) -> OptimisticStore:
    """The store in the database that `url` names; its table is made if it is not there.

    `requests_max`: how many requests may ask it at one time.

    Raises: `StoreBusy` where the database cannot be reached, `StorageFailure` where it does not
    sync or cannot be used for another reason.
    """
    make_table(url)
    return OptimisticStore(PostgresDriver(url, requests_max))


def _failed(error: StatementFailed) -> StorageFailure:
    if error.state == _DISK_FULL:
        return StoreFull(f"the database has no room: {error}")
    if error.state.startswith(_BUSY):
        return StoreBusy(f"the database asks to be left alone for a moment: {error}")
    return StorageFailure(f"the database refuses ({error.state}): {error}")


@final
class PostgresDriver:
    """A database, by way of its connections. Any thread."""

    capabilities = Capabilities(
        atomic_across_shards=False,
        reads_may_block=True,
        persistent=True,
        checkpoints=False,
        shared=True,
        key_bytes_max=KEY_BYTES_MAX,
        one_moment=True,  # a view is a REPEATABLE READ transaction
    )
    placement = None

    def __init__(self, url: str, requests_max: int = BLOCKING_THREADS_MAX) -> None:
        self._pool = Pool(url, requests_max)
        self._closed = False

    def view(
        self,
        *,
        patient: bool = True,  # noqa: ARG002  # a database is there as a whole, or away
    ) -> "PostgresView":
        """A view that has read nothing yet."""
        return PostgresView(self._pool, self.check_open)

    def read_many(
        self,
        keys: Sequence[bytes],
        *,
        patient: bool = True,  # noqa: ARG002  # a database is there as a whole, or away
    ) -> list[bytes | None]:
        """The values of `keys`, by one statement, which is a transaction by itself."""
        found = dict(_pairs(self._ask_once((READ_MANY, read_arguments(keys)))))
        return [found.get(key) for key in keys]

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """A page, by one statement, which is a transaction by itself."""
        wanted = PageWanted(start, stop, rows_max, reverse)
        answer = self._ask_once(_page_call(wanted, _PAGE_BYTES_MAX))
        return _page(answer, wanted, _PAGE_BYTES_MAX)

    def read_pages(self, wanted: Sequence[PageWanted]) -> list[Page]:
        """Pages, by one statement each, all sent together."""
        self.check_open()
        calls = [_page_call(each, _PAGE_BYTES_MAX) for each in wanted]
        session, answers = _first_answers(self._pool, calls)
        self._pool.give(session)
        return _paged(answers, wanted, _PAGE_BYTES_MAX)

    def _ask_once(self, call: SqlCall) -> PGresult:
        self.check_open()
        session, answers = _first_answers(self._pool, (call,))
        self._pool.give(session)
        return answers[-1]

    def loop_reads(self, sockets: Sockets) -> None:
        """None: libpq reads on threads."""

    def home(self, revision_key: bytes) -> bytes:  # noqa: ARG002  # one home for all
        """One name for all shards: the database commits any of them together."""
        return b"database"

    def server(self, key: bytes) -> str:  # noqa: ARG002  # there is one
        """Empty: one server has all keys."""
        return ""

    def try_home(self, revision_key: bytes) -> None:
        """Raise `StoreBusy` unless the database can be read: then it takes changes, too."""
        self.read_many([revision_key], patient=False)

    def commit(self, changes: Sequence[ShardChange]) -> frozenset[bytes]:
        """Make the changes by one statement, which is one transaction and one sync."""
        self.check_open()
        session = self._pool.take()
        try:
            answers = session.ask(((COMMIT, commit_arguments(changes)),))
        except ConnectionLost as error:
            self._pool.discard(session)
            raise OutcomeUnknown(f"the database did not answer a commit: {error}") from error
        except StatementFailed as error:
            self._pool.give(session)
            if error.state != _UNIQUE_VIOLATION:
                raise _failed(error) from error
            return self._others(changes)
        except BaseException:
            self._pool.discard(session)
            raise
        self._pool.give(session)
        refused = answers[-1]
        return frozenset([refused.get_value(row, 0) or b"" for row in range(refused.ntuples)])

    def _others(self, changes: Sequence[ShardChange]) -> frozenset[bytes]:
        """Revision keys whose value is not the expected one; if there is none, every key."""
        found = self.read_many([change.revision_key for change in changes])
        others = frozenset(
            change.revision_key
            for change, revision in zip(changes, found, strict=True)
            if revision != change.expected
        )
        return others or frozenset(change.revision_key for change in changes)

    def check_open(self) -> None:
        """Raise `StorageFailure` once the driver is closed."""
        if self._closed:
            raise StorageFailure("the store is closed")

    def statistics(self) -> dict[str, int]:
        """`connections` opened so far."""
        return {"connections": self._pool.opened}

    def server_states(self) -> Sequence[ServerState]:
        """None: the database is not divided."""
        return ()

    def close(self) -> None:
        """Close every connection."""
        self._closed = True
        self._pool.close()


@final
class PostgresView:
    """A transaction that reads as of one moment, on a connection that it holds from its first read.

    Beginning it costs no round trip of its own, and ending it is not waited for.
    """

    __slots__ = ("_check_open", "_pool", "_session")

    def __init__(self, pool: Pool, check_open: Callable[[], None]) -> None:
        """`check_open` raises once the driver is closed."""
        self._pool = pool
        self._check_open = check_open
        self._session: DatabaseSession | None = None

    def read_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order."""
        (answer,) = self._ask(((READ_MANY, read_arguments(keys)),))
        found = dict(_pairs(answer))
        return [found.get(key) for key in keys]

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """A page of at most about a megabyte."""
        return self.read_pages([PageWanted(start, stop, rows_max, reverse)], _PAGE_BYTES_MAX)[0]

    def read_pages(self, wanted: Sequence[PageWanted], bytes_max: int) -> list[Page]:
        """Pages, by one statement each, all sent together."""
        bytes_max = min(bytes_max, _PAGE_BYTES_MAX)
        answers = self._ask([_page_call(each, bytes_max) for each in wanted])
        return _paged(answers, wanted, bytes_max)

    def _ask(self, calls: Sequence[SqlCall]) -> Sequence[PGresult]:
        self._check_open()
        session = self._session
        if session is None:
            self._session, answers = _first_answers(self._pool, ((BEGIN_VIEW, ()), *calls))
            return answers[1:]
        try:
            return session.ask(calls)
        except ConnectionLost as error:
            self._session = None
            self._pool.discard(session)
            raise ViewLost(f"the view was lost with its connection: {error}") from error
        except StatementFailed as error:
            raise _failed(error) from error

    def close(self) -> None:
        """End the transaction, without waiting for it."""
        session, self._session = self._session, None
        if session is None:
            return
        try:
            session.tell(((END_VIEW, ()),))
        except ConnectionLost:
            self._pool.discard(session)
        else:
            self._pool.give(session)


def _first_answers(pool: Pool, calls: Sequence[SqlCall]) -> tuple[DatabaseSession, list[PGresult]]:
    """The answers to some calls, and the session that they were sent on.

    A connection that was lost since it was used last is replaced, once.
    """
    for attempt in (1, 2):
        session = pool.take()
        try:
            answers = session.ask(calls)
        except ConnectionLost as error:
            pool.discard(session)
            if attempt == 2:
                raise StoreBusy(f"the database did not answer a read: {error}") from error
        except StatementFailed as error:
            pool.discard(session)  # its transaction may or may not have begun, or ended
            raise _failed(error) from error
        except BaseException:
            pool.discard(session)
            raise
        else:
            return session, answers
    raise AssertionError("the second attempt returns or raises")


def _page_call(wanted: PageWanted, bytes_max: int) -> SqlCall:
    statement = PAGE_DOWN if wanted.reverse else PAGE_UP
    return statement, page_arguments(wanted.start, wanted.stop, wanted.rows_max, bytes_max)


def _paged(answers: Sequence[PGresult], wanted: Sequence[PageWanted], bytes_max: int) -> list[Page]:
    return [_page(*each, bytes_max) for each in zip(answers, wanted, strict=True)]


def _page(answer: PGresult, wanted: PageWanted, bytes_max: int) -> Page:
    """A page of at most about `bytes_max` bytes."""
    pairs = _pairs(answer)
    size = sum([len(value) for _, value in pairs])
    if len(pairs) < wanted.rows_max and size < bytes_max:
        return Page(pairs, None)
    last = pairs[-1][0]
    return Page(pairs, last if wanted.reverse else last + b"\x00")


def _pairs(result: PGresult) -> list[tuple[bytes, bytes]]:
    """The keys and values of an answer, none of which is null."""
    get = result.get_value
    return [(get(row, 0) or b"", get(row, 1) or b"") for row in range(result.ntuples)]
