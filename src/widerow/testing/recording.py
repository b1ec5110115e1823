"""Clients of a real server that write down what they asked, when, and what they were answered.

The server is `widerow serve` with a directory, reached over HTTP. With faults it is killed and
started again, and stopped with SIGSTOP for longer than its clients wait, so that requests are
answered late or never and are carried out after everyone has given them up.

Over a store that several servers share there may be more than one: each client keeps to one of
them, and all write the same rows.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random  # noqa: TID251  # seeded: what is asked must repeat
from tempfile import TemporaryDirectory
from typing import Final, Self

from widerow.model.filter import Comparator
from widerow.model.row import CellOperation, ReturnType
from widerow.rows.cells import encode_variant
from widerow.testing.answers import decode_row, plain
from widerow.testing.buffers import cell, key_buffer, row_buffer
from widerow.testing.histories import CallKind, ClientCall, State, draw
from widerow.testing.http import Answer, Sender, Wire
from widerow.testing.process import WiderowProcess
from widerow.testing.requests import ANY
from widerow.wire.tablestore import messages as m

__all__ = ["Recorder", "Recording"]

_TABLE: Final = "history"
_COLUMN: Final = "v"
_WAIT_SECONDS: Final = 0.5  # a client's patience; pauses are longer
_PAUSE_SECONDS: Final = 0.7
_RETRY_SECONDS: Final = 0.02  # until the next attempt to reach a server that is starting
_BETWEEN_FAULTS: Final = (0.1, 0.6)  # seconds
_ROW_HEADER_BYTES: Final = 4
_CLIENTS_MAX: Final = 8  # above, the search may not end

_FALSE: Final = "OTSConditionCheckFail"
_NOTHING_DONE: Final = frozenset(("OTSServerBusy", "OTSObjectNotExist"))


@dataclass
class Recording:
    """The operations on each row, and what was done to the server meanwhile."""

    rows: dict[int, list[ClientCall]] = field(default_factory=dict)
    kills: int = 0
    pauses: int = 0
    disturbances: int = 0

    def facts(self) -> dict[str, int]:
        """How much there is of everything."""
        operations = [each for history in self.rows.values() for each in history]
        return {
            "operations": len(operations),
            "indeterminate": sum(not each.known for each in operations),
            "kills": self.kills,
            "pauses": self.pauses,
            "disturbances": self.disturbances,
        }


class Recorder:
    """A server with a directory of its own, from the top of a `with` block to its end."""

    def __init__(
        self,
        clients: int,
        rows: int,
        *,
        faults: bool = False,
        shared: tuple[str, int] | None = None,
        disturb: Callable[[], object] | None = None,
    ) -> None:
        """Start nothing yet. Raises: `ValueError` for more clients than can be checked.

        `shared`: the URL of a store, and how many servers serve it. `disturb`: another fault, which
        comes as often as the others.
        """
        if not 1 <= clients <= _CLIENTS_MAX:
            raise ValueError(f"1 to {_CLIENTS_MAX} clients can be checked, not {clients}")
        self._clients = clients
        self._rows = rows
        self._faults = faults
        self._disturb = disturb
        self._place = TemporaryDirectory(prefix="widerow-histories-")
        flags, count = ("--path", str(Path(self._place.name) / "data")), 1
        if shared is not None:
            flags, count = ("--store", shared[0]), shared[1]
        self._processes = [WiderowProcess(*flags) for _ in range(count)]

    def __enter__(self) -> Self:
        """Start the server and make the table."""
        for process in self._processes:
            process.start()
        self._endpoints = [process.endpoint for process in self._processes]
        keys = [m.PrimaryKeySchema(name="k", type=2), m.PrimaryKeySchema(name="n", type=1)]
        request = m.CreateTableRequest(
            table_meta=m.TableMeta(table_name=_TABLE, primary_key=keys),
            reserved_throughput=m.ReservedThroughput(capacity_unit=m.CapacityUnit(read=0, write=0)),
            table_options=m.TableOptions(time_to_live=-1, max_versions=1),
        )
        with Wire(self._endpoints[0]) as wire:
            answer = wire.ask(Sender().request("CreateTable", request.SerializeToString()))
        assert answer.status == 200, answer
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server and forget its data."""
        for process in self._processes:
            process.stop()
        self._place.cleanup()

    def record(self, seed: int, operations: int) -> Recording:
        """One history of each row, rows that nobody used before; `operations` in all."""
        recording = Recording()
        over = threading.Event()
        writers = [
            _Client(partial(self._where, number), seed, number, self._rows)
            for number in range(self._clients)
        ]
        with ThreadPoolExecutor(self._clients + 1) as pool:
            ends = [pool.submit(each.work, operations // self._clients) for each in writers]
            trouble = pool.submit(self._trouble, seed, recording, over) if self._faults else None
            try:
                for end in ends:
                    end.result()
            finally:
                over.set()
            if trouble is not None:
                trouble.result()
        for each in writers:
            for row, operation in each.written:
                recording.rows.setdefault(row, []).append(operation)
        return recording

    def _where(self, client: int) -> str:
        return self._endpoints[client % len(self._endpoints)]

    def _trouble(self, seed: int, recording: Recording, over: threading.Event) -> None:
        """Kill and pause until it is over; leave a server that runs."""
        random = Random(seed)  # noqa: S311  # no secret
        while not over.wait(random.uniform(*_BETWEEN_FAULTS)):
            number = random.randrange(len(self._processes))
            process, kind = self._processes[number], random.random()
            if self._disturb is not None and kind < 1 / 3:
                recording.disturbances += 1
                self._disturb()
            elif kind < 2 / 3:
                recording.kills += 1
                process.kill()
                process.start()
                self._endpoints[number] = process.endpoint
            else:
                recording.pauses += 1
                os.kill(process.pid, signal.SIGSTOP)
                time.sleep(_PAUSE_SECONDS)
                os.kill(process.pid, signal.SIGCONT)


class _Client:
    """One of those who ask; one request at a time."""

    def __init__(self, where: Callable[[], str], seed: int, number: int, rows: int) -> None:
        self.written: list[tuple[int, ClientCall]] = []
        self._where = where
        self._random = Random(f"{seed} {number}")  # noqa: S311  # no secret
        self._partition = f"{seed}"
        self._number = number
        self._rows = rows
        self._seen: dict[int, State] = {}
        self._wire: Wire | None = None
        self._sender = Sender()

    def work(self, operations: int) -> None:
        """Ask so many times."""
        for turn in range(operations):
            row = self._random.randrange(self._rows)
            # Values differ between clients: each has numbers of its own.
            number = 1 + self._number + turn * _CLIENTS_MAX
            self._ask(row, draw(self._random, number, self._seen.get(row)))
        self._hang_up()

    def _ask(self, row: int, asked: ClientCall) -> None:
        action, body = _request((("k", self._partition), ("n", row)), asked)
        request = self._sender.request(action, body)
        wire = self._connected()
        called = time.monotonic_ns()
        try:
            answer = wire.ask(request)
        except OSError:  # which a time-out is too
            self._hang_up()
            self._write(row, asked._replace(called=called))
            return
        operation = asked._replace(called=called, returned=time.monotonic_ns())
        if answer.status == 200:
            operation = operation._replace(answer=_read_answer(asked.kind, answer))
            if isinstance(operation.answer, int) and asked.kind is not CallKind.SWAP:
                self._seen[row] = operation.answer
        elif answer.error[1] == _FALSE:
            operation = operation._replace(answer=False)
        elif answer.error[1] in _NOTHING_DONE:
            return
        else:
            operation = operation._replace(returned=None)
        self._write(row, operation)

    def _write(self, row: int, operation: ClientCall) -> None:
        # A read whose answer never came says nothing.
        if operation.known or operation.kind is not CallKind.GET:
            self.written.append((row, operation))

    def _connected(self) -> Wire:
        """A connection; waits for a server that is starting."""
        while self._wire is None:
            with suppress(OSError):
                self._wire = Wire(self._where(), _WAIT_SECONDS)
                return self._wire
            time.sleep(_RETRY_SECONDS)
        return self._wire

    def _hang_up(self) -> None:
        if self._wire is not None:
            self._wire.__exit__()
            self._wire = None


def _request(key: tuple[tuple[str, str], tuple[str, int]], asked: ClientCall) -> tuple[str, bytes]:
    """The action that does what is asked for, and its body."""
    match asked.kind:
        case CallKind.GET:
            get = m.GetRowRequest(table_name=_TABLE, primary_key=key_buffer(key), max_versions=1)
            return "GetRow", get.SerializeToString()
        case CallKind.PUT | CallKind.SWAP:
            row = row_buffer(key, [cell(_COLUMN, asked.value)])
            condition = ANY if asked.kind is CallKind.PUT else _expecting(asked.expected)
            put = m.PutRowRequest(table_name=_TABLE, row=row, condition=condition)
            return "PutRow", put.SerializeToString()
        case CallKind.DELETE:
            gone = row_buffer(key, marker=True)
            delete = m.DeleteRowRequest(table_name=_TABLE, primary_key=gone, condition=ANY)
            return "DeleteRow", delete.SerializeToString()
        case CallKind.INCREMENT:
            counted = cell(_COLUMN, asked.value, operation=CellOperation.INCREMENT.value)
            returned = m.ReturnContent(
                return_type=ReturnType.AFTER_MODIFY.value, return_column_names=[_COLUMN]
            )
            update = m.UpdateRowRequest(
                table_name=_TABLE,
                row_change=row_buffer(key, [counted]),
                condition=ANY,
                return_content=returned,
            )
            return "UpdateRow", update.SerializeToString()


def _expecting(value: int) -> m.Condition:
    """That the column holds `value`."""
    single = m.SingleColumnValueFilter(
        comparator=Comparator.EQUAL.value,
        column_name=_COLUMN,
        column_value=encode_variant(value),
        filter_if_missing=True,
        latest_version_only=True,
    )
    tree = m.Filter(type=1, filter=single.SerializeToString())
    return m.Condition(row_existence=0, column_condition=tree.SerializeToString())


def _read_answer(kind: CallKind, answer: Answer) -> int | bool | None:
    """What a success says of the row."""
    if kind is CallKind.SWAP:
        return True
    if kind is CallKind.GET:
        row = m.GetRowResponse.FromString(answer.body).row
    elif kind is CallKind.INCREMENT:
        row = m.UpdateRowResponse.FromString(answer.body).row
    else:
        return None
    columns = plain(decode_row(row[_ROW_HEADER_BYTES:]))
    value = None if columns is None else columns.get(_COLUMN)
    assert value is None or isinstance(value, int)
    return value
