"""Clients of a real server that record their requests, the answers, and the times of both.

The server is `widerow serve` with a directory, reached over HTTP. With faults it is killed and
started again, and stopped with SIGSTOP for longer than its clients wait, so that requests are
answered late or never, and are carried out after their clients gave them up.

A store that is shared may have several servers: each client keeps to one server, but for
transactions, whose requests go to any; and all clients write the same rows.
"""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random  # noqa: TID251  # seeded: what is asked must repeat
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple, Self

from google.protobuf.message import Message
from tests.support.calls import (
    BatchRequest,
    CallRequest,
    HistoryRow,
    RowAnswer,
    Way,
    batch_of,
    create_request,
    draw_way,
    request_of,
    start,
)
from tests.support.forked import ForkedServer
from tests.support.histories import CallKind, ClientCall, State, draw
from tests.support.http import Answer, Sender, Wire

from widerow.testing.process import ServeFailed
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["LONG_PAUSE_SECONDS", "NOTHING_DONE", "Recorder", "Recording", "ServerFaults"]

PATIENCE_SECONDS: Final = 0.5  # of a client; pauses are longer
PAUSE_SECONDS: Final = 0.7
LONG_PAUSE_SECONDS: Final = 30.0  # longer than any lease of a server
_CREATE_SECONDS_MAX: Final = 30.0  # for the table; over a cluster it takes some
_RETRY_SECONDS: Final = 0.02  # until the next attempt to reach a server that is starting
BETWEEN_FAULTS: Final = (0.1, 0.6)  # seconds
_REFUSED_SECONDS: Final = 0.05  # until a client that was refused asks again
_CLIENTS_MAX: Final = 8  # above, the search may not end

_FALSE: Final = "OTSConditionCheckFail"
NOTHING_DONE: Final = frozenset(
    ("OTSServerBusy", "OTSObjectNotExist", "OTSRowOperationConflict", "OTSSessionNotExist")
)
"""Codes of errors after which it is known that nothing was written."""
_ENDED: Final = "OTSSessionNotExist"
_DONE: Final = 200


class ServerFaults(NamedTuple):
    """The faults of the servers while clients send requests.

    `pauses`: how long one may last, in seconds; one of the values is drawn each time. `between`:
    the least and the most seconds until the next fault. `disturb`: another fault, which comes as
    often as kills and pauses do.
    """

    pauses: tuple[float, ...] = (PAUSE_SECONDS,)
    between: tuple[float, float] = BETWEEN_FAULTS
    disturb: Callable[[], object] | None = None


@dataclass
class Recording:
    """The operations on each row, and the faults during them."""

    rows: dict[int, list[ClientCall]] = field(default_factory=dict)
    ways: Counter[Way] = field(default_factory=Counter)
    kills: int = 0
    pauses: int = 0
    long_pauses: int = 0  # pauses that last far longer than clients wait
    disturbances: int = 0

    def facts(self) -> dict[str, int]:
        """The counts of operations, unknown outcomes and faults."""
        operations = [each for history in self.rows.values() for each in history]
        return {
            "operations": len(operations),
            "indeterminate": sum(not each.known for each in operations),
            **{f"by {way.value}": self.ways[way] for way in Way},
            "kills": self.kills,
            "pauses": self.pauses,
            "long pauses": self.long_pauses,
            "disturbances": self.disturbances,
        }


class Recorder:
    """A server with a directory of its own, which runs while the `with` block does."""

    def __init__(
        self,
        clients: int,
        rows: int,
        *,
        faults: ServerFaults | None = None,
        shared: tuple[str, int] | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """Start nothing yet. Raises: `ValueError` for more clients than can be checked.

        `shared`: the URL of a store, and how many servers serve it. `patience_seconds`: how long a
        client waits for an answer; later its outcome is unknown.
        """
        if not 1 <= clients <= _CLIENTS_MAX:
            raise ValueError(f"1 to {_CLIENTS_MAX} clients can be checked, not {clients}")
        self._clients = clients
        self._rows = rows
        self._faults = faults
        self._patience = patience_seconds
        self._gave_up = False
        self._shared = shared is not None
        self._place = TemporaryDirectory(prefix="widerow-histories-")
        flags, count = ("--path", str(Path(self._place.name) / "data")), 1
        if shared is not None:
            flags, count = ("--store", shared[0]), shared[1]
        self._processes = [ForkedServer(*flags) for _ in range(count)]

    def __enter__(self) -> Self:
        """Start the server and make the table."""
        for process in self._processes:
            process.start()
        self._endpoints = [process.endpoint for process in self._processes]
        with Wire(self._endpoints[0], _CREATE_SECONDS_MAX) as wire:
            body = create_request(shared=self._shared)
            answer = wire.ask(Sender().request("CreateTable", body))
        assert answer.status == 200, answer
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server and forget its data."""
        for process in self._processes:
            process.stop()
        self._place.cleanup()

    def endpoints(self) -> list[str]:
        """The URLs of the servers; of a server that is stopped, its last URL."""
        return list(self._endpoints)

    def record(self, seed: int, operations: int) -> Recording:
        """One history for each of some fresh rows; `operations` in all."""
        recording = Recording()
        over = threading.Event()
        servers = len(self._endpoints)
        writers = [
            _Client(_Servers(self._connect, servers, self._shared), seed, number, self._rows)
            for number in range(self._clients)
        ]
        with ThreadPoolExecutor(self._clients + 1) as pool:
            ends = [pool.submit(each.work, operations // self._clients) for each in writers]
            trouble = None
            if self._faults is not None:
                trouble = pool.submit(self._trouble, self._faults, seed, recording, over)
            try:
                for end in ends:
                    end.result()
            finally:
                over.set()
                if trouble is not None:
                    trouble.result()
        for each in writers:
            recording.ways += each.ways
            for row, operation in each.written:
                recording.rows.setdefault(row, []).append(operation)
        return recording

    def _connect(self, server: int) -> Wire:
        if self._gave_up:
            raise ServeFailed("a server that was killed does not start again")
        return Wire(self._endpoints[server], self._patience)

    def _trouble(
        self, faults: ServerFaults, seed: int, recording: Recording, over: threading.Event
    ) -> None:
        """Kill and pause servers until `over` is set; leave every server running.

        Raises `ServeFailed`, and ends the clients, where a server does not start again.
        """
        random = Random(seed)  # noqa: S311  # no secret
        while not over.wait(random.uniform(*faults.between)):
            number = random.randrange(len(self._processes))
            process, kind = self._processes[number], random.random()
            if faults.disturb is not None and kind < 1 / 3:
                recording.disturbances += 1
                faults.disturb()
            elif kind < 2 / 3:
                recording.kills += 1
                process.kill()
                try:
                    process.start_again()
                except ServeFailed:
                    self._gave_up = True
                    raise
                self._endpoints[number] = process.endpoint
            else:
                recording.pauses += 1
                seconds = random.choice(faults.pauses)
                recording.long_pauses += seconds >= LONG_PAUSE_SECONDS
                os.kill(process.pid, signal.SIGSTOP)
                time.sleep(seconds)
                os.kill(process.pid, signal.SIGCONT)


class _Servers(NamedTuple):
    """The servers of a client; `connect` opens a connection to one of them, by its number."""

    connect: Callable[[int], Wire]
    number: int
    shared: bool  # their store


class _Client:
    """One client; it has one request at a time."""

    def __init__(self, servers: _Servers, seed: int, number: int, rows: int) -> None:
        self._shared = servers.shared
        self.written: list[tuple[int, ClientCall]] = []
        self.ways: Counter[Way] = Counter()
        self._servers = servers
        self._server = number % servers.number
        self._random = Random(f"{seed} {number}")  # noqa: S311  # no secret
        self._history = f"{seed}"
        self._number = number
        self._rows = rows
        self._seen: dict[int, State] = {}
        self._wire: Wire | None = None
        self._sender = Sender()
        self._left: list[str] = []  # transactions that were given up and may hold their lock

    def work(self, operations: int) -> None:
        """Make this many calls."""
        for turn in range(operations):
            row = self._random.randrange(self._rows)
            # Values differ between clients: each has numbers of its own.
            number = 1 + self._number + turn * _CLIENTS_MAX
            asked = draw(self._random, number, self._seen.get(row))
            way = draw_way(self._random, asked.kind, shared=self._shared)
            if way is Way.BATCH:
                done = self._ask_for_many(row, asked, number)
            else:
                done = self._ask(row, asked, way)
            if not done and self._shared:  # its database may be away for seconds
                time.sleep(_REFUSED_SECONDS)
        self._hang_up()

    def _ask(self, row: int, asked: ClientCall, way: Way) -> bool:
        """Make one call; whether it may have been carried out."""
        place = HistoryRow(self._history, row)
        self._connect()
        asked = asked._replace(called=time.monotonic_ns())
        call = self._in_transaction if way is Way.TRANSACTION else self._at_once
        try:
            operation = call(place, asked, way)
        except OSError:  # a timeout is one too
            self._hang_up()
            operation = asked
        self._keep(row, operation, way)
        return operation is not None

    def _ask_for_many(self, row: int, asked: ClientCall, number: int) -> bool:
        """Make the call and others, on other rows, in a batch; whether any may have been made."""
        others = [each for each in range(self._rows) if each != row]
        others = self._random.sample(others, min(len(others), self._random.randint(1, 2)))
        calls = {row: asked}
        for each in others:
            calls[each] = self._like(asked, number, self._seen.get(each))
        self._connect()
        called = time.monotonic_ns()
        calls = {each: call._replace(called=called) for each, call in calls.items()}
        request = batch_of(self._history, calls)
        ended: dict[int, ClientCall | None] = dict(calls)
        try:
            answer = self._send(request.action, request.message)
        except OSError:
            self._hang_up()
        else:
            ended = _ended_batch(calls, answer, request)
        for each, operation in ended.items():
            self._keep(each, operation, Way.BATCH)
        return any(operation is not None for operation in ended.values())

    def _like(self, asked: ClientCall, number: int, seen: State) -> ClientCall:
        """Another call for a batch: a read for a batch of reads, a change for one of changes."""
        while True:
            drawn = draw(self._random, number, seen)
            if (drawn.kind is CallKind.GET) is (asked.kind is CallKind.GET):
                return drawn

    def _keep(self, row: int, operation: ClientCall | None, way: Way) -> None:
        """Record an operation; None: it is known that it was not carried out."""
        if operation is None:
            return
        # A read without an answer says nothing about the row.
        if operation.known or operation.kind is not CallKind.GET:
            self.written.append((row, operation))
            self.ways[way] += 1
        if operation.kind is not CallKind.SWAP and isinstance(operation.answer, int):
            self._seen[row] = operation.answer

    def _at_once(self, place: HistoryRow, asked: ClientCall, way: Way) -> ClientCall | None:
        """The call in one request. None where it was not carried out."""
        return self._answered(asked, request_of(place, asked, way, None))

    def _in_transaction(self, place: HistoryRow, asked: ClientCall, way: Way) -> ClientCall | None:
        """The call as a transaction of one change. None where it was not committed."""
        begun = self._send("StartLocalTransaction", start(place))
        if begun.status != _DONE:
            return None
        name = text(m.StartLocalTransactionResponse.FromString(begun.body).transaction_id)
        self._left.append(name)
        try:
            self._go_to_any_server()
            inside = self._answered(asked, request_of(place, asked, way, name))
        except OSError:
            self._hang_up()
            return None
        if inside is None or not inside.known:
            return None
        if inside.answer is False:
            return inside  # the call only read: there is nothing to commit
        try:
            self._go_to_any_server()
        except OSError:  # nothing was asked for
            return None
        self._left.remove(name)  # from here on it may be committed at any time
        ended = self._send("CommitTransaction", m.CommitTransactionRequest(transaction_id=name))
        if ended.status == _DONE:
            return inside._replace(returned=time.monotonic_ns())
        return None if ended.error[1] in NOTHING_DONE else inside._replace(returned=None)

    def _answered(self, asked: ClientCall, request: CallRequest) -> ClientCall | None:
        """The call with its answer; None where the server says that nothing was done."""
        answer = self._send(request.action, request.message)
        if answer.status == _DONE:
            return _ended(asked, RowAnswer("", request.read(answer.body)))
        return _ended(asked, RowAnswer(answer.error[1], None))

    def _send(self, action: str, message: Message) -> Answer:
        assert self._wire is not None  # who asks has connected
        return self._wire.ask(self._sender.request(action, message.SerializeToString()))

    def _connect(self) -> None:
        """Connect if necessary, and end transactions that were given up.

        Waits for a server that starts.
        """
        while self._wire is None or self._left:
            try:
                if self._wire is None:
                    self._wire = self._servers.connect(self._server)
                for name in list(self._left):
                    abort = m.AbortTransactionRequest(transaction_id=name)
                    ended = self._send("AbortTransaction", abort)
                    if ended.status == _DONE or ended.error[1] == _ENDED:
                        self._left.remove(name)
                if self._left:  # the database may be away
                    time.sleep(_RETRY_SECONDS)
            except OSError:
                self._hang_up()
                time.sleep(_RETRY_SECONDS)

    def _go_to_any_server(self) -> None:
        """Connect to one of several servers, so that transactions go on where they did not begin.

        Raises `OSError`.
        """
        if self._servers.number > 1:
            self._hang_up()
            self._server = self._random.randrange(self._servers.number)
            self._wire = self._servers.connect(self._server)

    def _hang_up(self) -> None:
        if self._wire is not None:
            self._wire.__exit__()
            self._wire = None


def _ended(asked: ClientCall, found: RowAnswer) -> ClientCall | None:
    """The call with its answer, or the code of its error; None where nothing was done."""
    operation = asked._replace(returned=time.monotonic_ns())
    if not found.code:
        return operation._replace(answer=found.value)
    if found.code == _FALSE:
        return operation._replace(answer=False)
    return None if found.code in NOTHING_DONE else operation._replace(returned=None)


def _ended_batch(
    calls: dict[int, ClientCall], answer: Answer, request: BatchRequest
) -> dict[int, ClientCall | None]:
    """The calls of a batch with the answer of each."""
    if answer.status != _DONE:
        refused = RowAnswer(answer.error[1], None)
        return {row: _ended(call, refused) for row, call in calls.items()}
    answers = zip(calls.items(), request.read(answer.body), strict=True)
    return {row: _ended(call, found) for (row, call), found in answers}
