"""Clients that write to a server until it is cut, each with a ledger, and one that reads along.

Requests go through the HTTP server, signed, over sockets of their own. An answer counts if it was
read before the cut began (`Mark`); what comes later may tell of a sync that raced the cut.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random  # noqa: TID251  # seeded, so that a run can be told apart
from typing import Final

from tests.support.answers import decode_answer_rows, decode_row
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.http import Answer, Sender, Wire
from tests.support.requests import ANY, create_table_request
from tools.crash.ledger import COUNTER, Change, Key, Ledger, Violation, content, stamp_of

from widerow.model.tablestore.row import CellOperation
from widerow.model.values import Value
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["TABLE", "Crew", "Mark", "ServerWrong", "Table", "probe", "read_everything", "read_one"]

TABLE: Final = "ledger"
Table = dict[Key, dict[str, tuple[int, Value]]]
"""For each row its columns, each with its newest version and value."""

_SLOTS: Final = 120  # rows of a client: few enough to be overwritten often and read quickly
_PER_PARTITION: Final = 4
_COUNTERS: Final = 12  # of these rows, the first ones, counters
# A wide row's columns, three of which are stored in segments; those of a bulk, which is a batch of
# so many bytes that it is decoded and committed on a thread of its own.
_PAGES: Final = {"wide": 260, "bulk": 80}
_BATCHES: Final = ("batch", "bulk")
_KINDS: Final = (
    *(("put",) * 8 + ("update",) * 5 + ("delete",) * 4),
    *(("increment",) * 3 + ("batch",) * 3 + ("read",) * 3 + ("wide",)),
)
_KINDS_UNTIL_CUT: Final = (*_KINDS, "bulk", "bulk")  # a counted run is to leave a small store
_HEADER_BYTES: Final = 4  # before the rows of a buffer
_BATCH_ROWS: Final = 12
_TABLES: Final = "t"
_TABLES_MAX: Final = 5
_TYPES: Final = {"put": 1, "update": 2, "increment": 2, "delete": 3}
_NOTHING_CHANGED: Final = frozenset(("OTSServerBusy", "OTSObjectNotExist"))


class ServerWrong(Exception):
    """An answer that nobody would expect, whatever was cut."""


class Mark:
    """The moment of the cut. What is read after `set` does not count as acknowledged."""

    def __init__(self, *, strict: bool) -> None:
        """`strict` where a sync may be confirmed and yet be lost: at a cut of the power.

        A process that is killed can send nothing afterwards, so there every answer counts.
        """
        self.strict = strict
        self.stopping = threading.Event()

    def set(self) -> None:
        """The cut begins."""
        self.stopping.set()

    @property
    def too_late(self) -> bool:
        """Whether an answer that was just read came after the cut."""
        return self.strict and self.stopping.is_set()


@dataclass
class Crew:
    """The clients of one run, from cut to cut.

    `persistent`: they go on after an answer that leaves a change open.
    """

    directory: Path
    seed: int
    size: int = 4
    persistent: bool = False
    ledgers: dict[str, Ledger] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    reads: int = 0
    codes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number in range(self.size):
            name = f"c{number}"
            self.ledgers[name] = Ledger(name, self.directory / f"{name}.ledger")
        self.tables = Ledger(_TABLES, self.directory / "tables.ledger")

    def work(
        self, endpoint: str, mark: Mark, cycle: int, limit: int | None = None
    ) -> Callable[[], None]:
        """Start everyone; the function that is returned waits until all have stopped.

        They stop after `mark`, where an answer is missing, or after `limit` requests.
        """
        clients = [
            _Client(ledger, Random(f"{self.seed} {cycle} {name}"), self)  # noqa: S311  # no secret
            for name, ledger in self.ledgers.items()
        ]
        pool = ThreadPoolExecutor(len(clients) + 2)
        ends = [pool.submit(each.write, endpoint, mark, limit) for each in clients]
        if limit is None:
            ends.append(pool.submit(self._look, endpoint, mark))
            ends.append(pool.submit(_Definer(self.tables, self).define, endpoint, mark))

        def wait() -> None:
            pool.shutdown()
            for end in ends:
                end.result()

        return wait

    def verify(self, endpoint: str, *, settle: bool = True) -> None:
        """Read everything and compare it with the ledgers."""
        rows, tables = read_everything(endpoint)
        self.violations += self.tables.verify(
            {_table_key(name): _shown(name) for name in tables}, settle=settle
        )
        for name, ledger in self.ledgers.items():
            own = {key: columns for key, columns in rows.items() if _owner(key) == name}
            self.violations += ledger.verify(own, settle=settle)
        for key in rows:
            if _owner(key) not in self.ledgers:
                self.violations.append(Violation("alien", key, "nobody writes such rows"))

    def close(self) -> None:
        """Close the ledgers."""
        for ledger in (*self.ledgers.values(), self.tables):
            ledger.close()

    @property
    def totals(self) -> dict[str, int]:
        """Requests acknowledged, left open and refused, by all clients."""
        ledgers = (*self.ledgers.values(), self.tables)
        return {
            "acks": sum(each.acknowledged for each in ledgers),
            "indeterminate": sum(each.indeterminate for each in ledgers),
            "refused": sum(each.refused for each in ledgers),
        }

    def settle(self, ledger: Ledger, sequence: int, changes: int, errors: Sequence[str]) -> bool:
        """Enter what an answer with these codes means for so many changes; whether to go on."""
        for code in errors:
            self.codes[code] = self.codes.get(code, 0) + 1
        if not errors:
            ledger.acknowledge(sequence)
            return True
        if set(errors) <= _NOTHING_CHANGED and len(errors) in (1, changes):
            ledger.refuse(sequence)
            return True
        ledger.leave_open(sequence)
        return self.persistent

    def _look(self, endpoint: str, mark: Mark) -> None:
        """Read rows of everyone, and remember in their ledgers what was shown."""
        chance = Random(self.seed)  # noqa: S311  # no secret
        with suppress(OSError), Wire(endpoint) as wire:
            while not mark.stopping.is_set():
                ledger = chance.choice(list(self.ledgers.values()))
                key = _key(ledger.client, chance.randrange(_COUNTERS, _SLOTS))
                _, found = read_one(wire, key)
                if found and not mark.stopping.is_set():
                    stamps = [stamp_of(ledger.client, key, *_named(each)) for each in found.items()]
                    if None in stamps:
                        self.violations.append(Violation("torn", key, f"a reader saw {stamps}"))
                    else:
                        ledger.seen(key, max(stamp for stamp in stamps if stamp is not None))
                self.reads += 1


def _named(column: tuple[str, tuple[int, Value]]) -> tuple[str, Value]:
    return column[0], column[1][1]


def _key(client: str, slot: int) -> Key:
    return f"{client}/{slot // _PER_PARTITION}", slot


def _owner(key: Key) -> str:
    return key[0].partition("/")[0]


# --- writing -------------------------------------------------------------------------------------


class _Client:
    """One client at work until the next cut."""

    def __init__(self, ledger: Ledger, chance: Random, crew: Crew) -> None:
        self._ledger = ledger
        self._chance = chance
        self._crew = crew

    def write(self, endpoint: str, mark: Mark, limit: int | None) -> None:
        """Send requests one by one until the cut, or `limit` of them."""
        try:
            with Wire(endpoint) as wire:
                count, going = 0, True
                kinds = _KINDS_UNTIL_CUT if limit is None else _KINDS
                while going and not mark.stopping.is_set() and count != limit:
                    kind = self._chance.choice(kinds)
                    going = self._read(wire) if kind == "read" else self._change(wire, mark, kind)
                    count += 1
        except OSError:
            return
        except ServerWrong as wrong:
            self._crew.violations.append(Violation("unexpected", ("", 0), str(wrong)))

    def _read(self, wire: Wire) -> bool:
        """Read one of the own rows: it must be as the ledger says, now and not only later."""
        key = _key(self._ledger.client, self._chance.randrange(_SLOTS))
        answer = _ask_row(wire, key)
        if answer.status != 200:
            code = answer.error[1]
            self._crew.codes[code] = self._crew.codes.get(code, 0) + 1
            return True
        settle = not self._crew.persistent  # what is open may still come, where nothing restarts
        violation = self._ledger.verify_row(key, _newest(answer.body), settle=settle)
        if violation is not None:
            self._crew.violations.append(violation)
        return True

    def _change(self, wire: Wire, mark: Mark, kind: str) -> bool:
        """Send a change and enter its end; False if there is no going on."""
        ledger = self._ledger
        sequence = ledger.next()
        changes = self._changes(kind)
        ledger.intend(sequence, changes)
        action, body = _request(ledger.client, sequence, changes, _PAGES.get(kind))
        try:
            answer = wire.ask(Sender().request(action, body))
        except OSError:
            ledger.leave_open(sequence)
            return False
        if mark.too_late:
            ledger.leave_open(sequence)
            return False
        return self._crew.settle(ledger, sequence, len(changes), _errors(answer, action))

    def _changes(self, kind: str) -> Sequence[Change]:
        name, chance = self._ledger.client, self._chance
        if kind == "increment":
            return [Change(kind, _key(name, chance.randrange(_COUNTERS)), (COUNTER,))]
        slots = chance.sample(range(_COUNTERS, _SLOTS), _BATCH_ROWS if kind in _BATCHES else 1)
        changes = []
        for slot in slots:
            each = chance.choice(("put", "update", "delete")) if kind in _BATCHES else kind
            columns = {"put": ("a", "b"), "wide": ("a", "b", "c"), "update": ("b",)}.get(each, ())
            changes.append(Change("put" if each == "wide" else each, _key(name, slot), columns))
        return changes


class _Definer:
    """Creates and drops tables until the next cut. A name is used once, so it says which it is."""

    def __init__(self, ledger: Ledger, crew: Crew) -> None:
        self._ledger = ledger
        self._crew = crew

    def define(self, endpoint: str, mark: Mark) -> None:
        """Send requests one by one until the cut."""
        living = [key for key in self._ledger.keys if self._ledger.columns(key) is not None]
        with suppress(OSError), Wire(endpoint) as wire:
            going = True
            while going and not mark.stopping.is_set():
                if len(living) < _TABLES_MAX:
                    sequence = self._ledger.next()
                    key = _table_key(f"{_TABLES}{sequence}")
                    living.append(key)
                    request = create_table_request(key[0]).SerializeToString()
                    change = Change("put", key, ("table",))
                    going = self._ask(wire, mark, sequence, change, request)
                else:
                    key = living.pop(0)
                    request = m.DeleteTableRequest(table_name=key[0]).SerializeToString()
                    change = Change("delete", key)
                    going = self._ask(wire, mark, self._ledger.next(), change, request)

    def _ask(self, wire: Wire, mark: Mark, sequence: int, change: Change, body: bytes) -> bool:
        action = "CreateTable" if change.kind == "put" else "DeleteTable"
        self._ledger.intend(sequence, [change])
        try:
            answer = wire.ask(Sender().request(action, body))
        except OSError:
            self._ledger.leave_open(sequence)
            return False
        if mark.too_late:
            self._ledger.leave_open(sequence)
            return False
        errors = [] if answer.status == 200 else [answer.error[1]]
        return self._crew.settle(self._ledger, sequence, 1, errors)


def _table_key(name: str) -> Key:
    return name, 0


def _shown(name: str) -> dict[str, tuple[int, Value]]:
    """A table as if it were a row: its name says which request made it."""
    sequence = int(name.removeprefix(_TABLES))
    return {"table": (0, content(_TABLES, sequence, _table_key(name), "table"))}


def _request(
    client: str, sequence: int, changes: Sequence[Change], pages: int | None = None
) -> tuple[str, bytes]:
    """The action and the body; columns of `pages`, or as the sequence number has it."""
    if pages is None:
        pages = 1 + sequence % 8
    if len(changes) > 1:
        rows = [
            m.RowInBatchWriteRowRequest(
                type=_TYPES[each.kind],
                row_change=_buffer(client, sequence, each, pages),
                condition=ANY,
            )
            for each in changes
        ]
        batch = m.TableInBatchWriteRowRequest(table_name=TABLE, rows=rows)
        return "BatchWriteRow", m.BatchWriteRowRequest(tables=[batch]).SerializeToString()
    change = changes[0]
    row = _buffer(client, sequence, change, pages)
    if change.kind == "put":
        put = m.PutRowRequest(table_name=TABLE, row=row, condition=ANY)
        return "PutRow", put.SerializeToString()
    if change.kind == "delete":
        gone = m.DeleteRowRequest(table_name=TABLE, primary_key=row, condition=ANY)
        return "DeleteRow", gone.SerializeToString()
    update = m.UpdateRowRequest(table_name=TABLE, row_change=row, condition=ANY)
    return "UpdateRow", update.SerializeToString()


def _buffer(client: str, sequence: int, change: Change, pages: int) -> bytes:
    key = _columns(change.key)
    if change.kind == "delete":
        return row_buffer(key, marker=True)
    if change.kind == "increment":
        return row_buffer(key, [cell(COUNTER, 1, operation=CellOperation.INCREMENT.value)])
    return row_buffer(
        key,
        [cell(name, content(client, sequence, change.key, name, pages)) for name in change.columns],
    )


def _columns(key: Key) -> tuple[tuple[str, str], tuple[str, int]]:
    return ("k", key[0]), ("n", key[1])


def _errors(answer: Answer, action: str) -> list[str]:
    """The codes that an answer holds, for a batch one for each row that was not written.

    Raises: `ServerWrong` for one that says that we were wrong.
    """
    if answer.status != 200:
        status, code, message = answer.error
        if status < 500:
            raise ServerWrong(f"{code}: {message}")
        return [code]
    if action != "BatchWriteRow":
        return []
    tables = m.BatchWriteRowResponse.FromString(answer.body).tables
    return [text(row.error.code) for table in tables for row in table.rows if not row.is_ok]


# --- reading -------------------------------------------------------------------------------------


def _ask_row(wire: Wire, key: Key) -> Answer:
    body = m.GetRowRequest(
        table_name=TABLE, primary_key=key_buffer(_columns(key)), max_versions=1
    ).SerializeToString()
    return wire.ask(Sender().request("GetRow", body))


def read_one(wire: Wire, key: Key) -> tuple[int, dict[str, tuple[int, Value]] | None]:
    """The status of an answer, and the row if there is one."""
    answer = _ask_row(wire, key)
    return answer.status, _newest(answer.body) if answer.status == 200 else None


def _newest(body: bytes) -> dict[str, tuple[int, Value]] | None:
    row = decode_row(m.GetRowResponse.FromString(body).row[_HEADER_BYTES:])
    return None if row is None else {name: cells[0] for name, cells in row[1].items()}


def probe(endpoint: str) -> int:
    """Write a row that no ledger knows, and delete it; the status of the answer to the former."""
    change = Change("put", ("probe", 0), ("a",))
    with Wire(endpoint) as wire:
        status = wire.ask(Sender().request(*_request("probe", 1, [change]))).status
        if status == 200:
            change = Change("delete", change.key)
            wire.ask(Sender().request(*_request("probe", 2, [change])))
    return status


def read_everything(endpoint: str) -> tuple[Table, list[str]]:
    """Every row of the table, its newest cells with their versions, and the names of other tables.

    The table is made if it is absent.

    Raises: `ServerWrong` if the server refuses to show them, or not in the order of their keys.
    """
    rows: Table = {}
    with Wire(endpoint) as wire:
        answer = wire.ask(
            Sender().request("CreateTable", create_table_request(TABLE).SerializeToString())
        )
        if answer.status != 200 and answer.error[1] != "OTSObjectAlreadyExist":
            raise ServerWrong(f"CreateTable was answered {answer.error}")
        for key, columns in _pages(wire):
            if rows and key <= next(reversed(rows)):
                raise ServerWrong(f"{key} comes after {next(reversed(rows))}")
            rows[key] = columns
        answer = wire.ask(Sender().request("ListTable"))
    names = m.ListTableResponse.FromString(answer.body).table_names
    return rows, [name for name in names if name != TABLE]


def _pages(wire: Wire) -> Iterator[tuple[Key, dict[str, tuple[int, Value]]]]:
    start = key_buffer((("k", ""), ("n", -(2**63))))
    stop = key_buffer((("k", "~"), ("n", 0)))
    while start:
        request = m.GetRangeRequest(
            table_name=TABLE,
            direction=0,
            max_versions=1,
            inclusive_start_primary_key=start,
            exclusive_end_primary_key=stop,
        )
        answer = wire.ask(Sender().request("GetRange", request.SerializeToString()))
        if answer.status != 200:
            raise ServerWrong(f"GetRange was answered {answer.error}")
        page = m.GetRangeResponse.FromString(answer.body)
        for key, cells in decode_answer_rows(page.rows[_HEADER_BYTES:]):
            name, number = key["k"], key["n"]
            assert isinstance(name, str)
            assert isinstance(number, int)
            yield (name, number), {column: each[0] for column, each in cells.items()}
        start = page.next_start_primary_key
