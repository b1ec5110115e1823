"""The pages that the port serves by GET: alive, ready, version and metrics."""

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from widerow import __version__
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.server.lags import lag_lines
from widerow.server.message import Response
from widerow.server.metrics import Metrics, family, render_metrics
from widerow.server.node_metrics import node_lines
from widerow.server.partition_metrics import partition_lines
from widerow.server.scrapes import NamesShown, ScrapeRefused, Scrapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from widerow.auth.keyring import Keyring
    from widerow.commit.committer import Committer
    from widerow.engine.engine import Engine
    from widerow.server.admission import Admission
    from widerow.storage.server_state import ServerState

__all__ = ["PAGES", "Gather", "Later", "Probes", "plain_text", "server_lines"]

_TEXT: Final = b"content-type: text/plain; charset=utf-8\r\ncache-control: no-store\r\n"
_JSON: Final = b"content-type: application/json\r\ncache-control: no-store\r\n"
_CHALLENGE: Final = b'www-authenticate: Bearer, Basic realm="widerow"\r\n'
_METRICS: Final = b"content-type: text/plain; version=0.0.4\r\ncache-control: no-store\r\n"

Later: TypeAlias = "Callable[[Callable[[Response], None]], None]"
"""Makes a page and calls a function with it, on the loop's thread."""
Gather: TypeAlias = "Callable[[NamesShown, bytes, Callable[[bytes | None], None]], None]"
"""Calls a function with the page of all processes, of which one is given; None: not to be had."""

PAGES: Final = ("/livez", "/readyz", "/version", "/metrics")


class _Asked(NamedTuple):
    """Who asks for a page: headers, the keys in force, microseconds since 1970."""

    headers: Mapping[str, str]
    keyring: "Keyring"
    now_us: int


def plain_text(status: int, words: str) -> Response:
    """A line of plain text."""
    return Response(status, _TEXT, f"{words}\n".encode())


class Probes:
    """The pages, by path. They show counts and states, never data, and need no signature.

    Names of tables and indexes, and so of instances, are shown to those who may see them.
    """

    def __init__(
        self,
        engine: "Engine",
        committer: "Committer",
        admission: "Admission",
        metrics: Metrics,
        dev_lines: "Callable[[], Iterable[str]] | None" = None,
        scrapes: Scrapes | None = None,
    ) -> None:
        """The pages show the state and the counters of these objects.

        `dev_lines`: gives the metrics of dev mode, which `/readyz` mentions, too; None without it.
        `scrapes`: how keys are given to `/metrics`.
        """
        self.gather: Gather | None = None  # where several processes serve one port
        self._scrapes = scrapes or Scrapes()
        self._dev_lines = dev_lines
        self._engine = engine
        self._committer = committer
        self._admission = admission
        self._metrics = metrics
        self._pages: dict[str, Callable[[_Asked], Response | Later]] = dict(
            zip(PAGES, (self._live, self._ready, self._version, self._count), strict=True)
        )

    def page(
        self, path: str, headers: Mapping[str, str], keyring: "Keyring", now_us: int
    ) -> "Response | Later | None":
        """The page at `path`, or what makes it later; None: there is no such page.

        `headers` may have a key of `keyring`, valid at a time in microseconds since 1970.
        """
        make = self._pages.get(path)
        return None if make is None else make(_Asked(headers, keyring, now_us))

    def _live(self, _: _Asked) -> Response:
        return plain_text(200, "alive")

    def _ready(self, _: _Asked) -> Response:
        if self._admission.stopping:
            return plain_text(503, "stopping")
        if not self._engine.store.writable:
            return plain_text(503, "the store takes no writes; see the log")
        if full := self._engine.store.full:
            return plain_text(503, f"ready to read and to delete; other writes are refused: {full}")
        if self._engine.nodes.clock_fault is not None:
            return plain_text(503, self._engine.nodes.clock_fault)
        return plain_text(200, "ready" if self._dev_lines is None else "ready, in dev mode")

    def _version(self, _: _Asked) -> Response:
        facts = {"name": "widerow", "version": __version__, "python": platform.python_version()}
        return Response(200, _JSON, json.dumps(facts).encode() + b"\n")

    def _count(self, asked: _Asked) -> "Response | Later":
        try:
            shown = self._scrapes.names_shown(*asked)
        except ScrapeRefused as error:
            return Response(401, _CHALLENGE + _TEXT, f"not shown: {error}\n".encode())
        page = self.figures(shown)
        gather = self.gather
        if gather is None:
            return Response(200, _METRICS, page)
        return lambda reply: gather(shown, page, lambda whole: reply(_gathered(whole)))

    def figures(self, shown: NamesShown) -> bytes:
        """The page of metrics of this process."""
        return render_metrics(
            self._metrics,
            self._admission,
            self._committer.waiting,
            self._engine.store.statistics(),
            asdict(self._engine.sweep.reclaimed),
            chain(
                partition_lines(self._engine, shown),
                lag_lines(self._engine, shown),
                node_lines(self._engine),
                self._search_lines(shown),
                self._transaction_lines(),
                server_lines(self._engine.store.server_states()),
                () if self._dev_lines is None else self._dev_lines(),
            ),
        )

    def _transaction_lines(self) -> "Iterable[str]":
        """The number of local transactions that are open, as far as this server knows."""
        yield from family("local_transactions", "gauge", "Open, as far as this server knows.")
        yield f"widerow_local_transactions {len(self._engine.operations(TABLESTORE).transactions)}"

    def _search_lines(self, shown: NamesShown) -> "Iterable[str]":
        """The lines of search indexes' metrics, if there are any indexes."""
        tables = self._engine.operations(TABLESTORE)
        if not tables.has_search():
            return ()
        from widerow.server.search.metrics import search_lines  # noqa: PLC0415  # imported with the first search index

        return search_lines(tables, shown)


# Families of metrics about servers of the database: names, texts, values.
_OF_SERVERS: "Final[tuple[tuple[str, str, Callable[[ServerState], float]], ...]]" = (
    ("waiting", "Calls that a server of the database has not answered.", lambda each: each.waiting),
    (
        "silent_seconds",
        "For how long it has sent nothing while a call waited.",
        lambda each: round(each.silent_seconds, 3),
    ),
    (
        "late_writes",
        "Writes of groups that have ended without them, because it is slow.",
        lambda each: each.late_writes,
    ),
)


def _gathered(whole: bytes | None) -> Response:
    if whole is None:
        return plain_text(503, "the figures of the other processes are not to be had; try again")
    return Response(200, _METRICS, whole)


def server_lines(states: "Sequence[ServerState]") -> "Iterable[str]":
    """The lines about servers of a divided database; none where the store is in no such one."""
    for name, text, value in _OF_SERVERS if states else ():
        yield from family(f"store_server_{name}", "gauge", text)
        for each in states:
            yield f'widerow_store_server_{name}{{server="{each.server}"}} {value(each)}'
