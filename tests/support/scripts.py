"""The requests of a simulation's clients, and what the model says of their outcomes.

Three tables exist all the time: `plain` keeps two versions for ever, `brief` one for two seconds,
`watched` has indexes and a stream (`watched.py`). In `plain`, the partition `bank` holds accounts.
Atomic batches move amounts between them, so their sum never changes. All other rows are put,
updated, deleted, counted and read by every client. Other tables are created and dropped, each name
once.
"""

from dataclasses import replace
from random import Random  # noqa: TID251  # seeded: a run must repeat
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from tests.support.answers import decode_row, plain
from tests.support.changes import create, delete, delete_all, increment, put, put_cells, update
from tests.support.model import ModelRefusal, ModelRow, ModelTable
from tests.support.watched import WATCHED, Begun, WatchedTable, make_watched

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, InvalidRequest, NotFound
from widerow.model.tablestore.answers import RowWritten
from widerow.model.tablestore.condition import UNCONDITIONAL, Condition, RowExpectation
from widerow.model.tablestore.filter import Comparator, Comparison
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.tablestore.row import ReturnContent, ReturnType, RowChange
from widerow.model.values import KeyInput, KeyType

__all__ = [
    "BANK",
    "BRIEF",
    "INSTANCE",
    "PLAIN",
    "REFUSALS",
    "REFUSED",
    "Ask",
    "CommitAsk",
    "Models",
    "RowEnd",
    "Script",
    "ScriptKey",
    "TableAsk",
    "WriteAsk",
    "copied",
    "make_tables",
    "named_key",
    "new_models",
]

INSTANCE: Final = "sim"
PLAIN: Final = "plain"
BRIEF: Final = "brief"
BANK: Final = "bank"
BRIEF_SECONDS: Final = 2

_VALUE, _COUNTER = "x", "c"
_ROWS: Final = 4  # of each partition: few, so that requests are for equal rows
_RETURN_COUNTER: Final = ReturnContent(ReturnType.AFTER_MODIFY, (_COUNTER,))

_SCHEMA: Final = MappingProxyType({"k": KeyType.STRING, "n": KeyType.INTEGER})
_TABLES_MAX: Final = 4

ScriptKey = tuple[str, int]
Models = dict[str, ModelTable]


class RowEnd(NamedTuple):
    """How one row of a write ended: refused or not, and the counter it returned."""

    refused: bool
    counter: object = None


def new_models() -> Models:
    """The three tables, empty."""
    return {
        PLAIN: ModelTable(-1, 2),
        BRIEF: ModelTable(BRIEF_SECONDS, 1),
        WATCHED: WatchedTable(-1, 1),
    }


def copied(models: Models) -> Models:
    """A copy of the models that may be changed."""
    return {name: _copied(table) for name, table in models.items()}


def _copied(table: ModelTable) -> ModelTable:
    rows = {key: ModelRow(dict(row.columns), row.server) for key, row in table.rows.items()}
    if isinstance(table, WatchedTable):
        return replace(table, rows=rows, told=list(table.told))
    return replace(table, rows=rows)


def named_key(key: ScriptKey) -> dict[str, KeyInput]:
    """A key with the names of its columns."""
    return {"k": key[0], "n": key[1]}


def make_tables(engine: TablestoreEngine) -> None:
    """Create the three tables."""
    engine.core.run(engine.create_table(INSTANCE, create(PLAIN, _SCHEMA, max_versions=2)))
    brief = create(BRIEF, _SCHEMA, time_to_live=BRIEF_SECONDS)
    engine.core.run(engine.create_table(INSTANCE, brief))
    make_watched(engine, INSTANCE)


class WriteAsk(NamedTuple):
    """A write: one change or a batch of changes."""

    table: str
    changes: tuple[tuple[ScriptKey, RowChange], ...]
    batch: bool = False
    atomic: bool = False

    def plan(self, engine: TablestoreEngine) -> Plan[Any]:
        """The engine's plan for the write."""
        if not self.batch:
            return engine.rows.write_row(INSTANCE, self.changes[0][1])
        changes = tuple(change for _, change in self.changes)
        request = BatchWrite((TableWrite(self.table, changes),), self.atomic)
        return engine.rows.batch_write_row(INSTANCE, request)

    def apply(self, models: Models, now_ms: int, *, locked: bool = False) -> list[RowEnd]:
        """Make the changes in the models; how each row must end.

        `locked`: a transaction holds its key.
        """
        table = models.get(self.table)
        if table is None or locked:
            return [RowEnd(refused=True)] * len(self.changes)
        former = _copied(table) if self.atomic else table
        ends = [_apply(table, key, change, now_ms) for key, change in self.changes]
        if self.atomic and any(end.refused for end in ends):
            models[self.table] = former
            return [RowEnd(refused=True)] * len(ends)
        return ends

    def ends(self, answer: Any) -> list[RowEnd]:  # noqa: ANN401  # what the plan's `finish` gave
        """How each row ended, from the engine's answer."""
        if answer is REFUSED:
            return [RowEnd(refused=True)] * len(self.changes)
        if isinstance(answer, RowWritten):
            return [_end(answer)]
        return [_end(outcome.written) for outcome in answer[0]]

    def __str__(self) -> str:
        """For traces."""
        rows = " ".join(
            f"{change.modification.name}{key}{_cells(change)}"
            f"{change.condition if change.condition is not UNCONDITIONAL else ''}"
            for key, change in self.changes
        )
        return f"{self.table} {'atomic ' * self.atomic}{rows}"


class TableAsk(NamedTuple):
    """The creation or the drop of a table."""

    table: str
    drop: bool

    @property
    def changes(self) -> tuple[tuple[ScriptKey, RowChange], ...]:
        """Empty: the request changes no row."""
        return ()

    @property
    def atomic(self) -> bool:
        """False: the request is not a batch."""
        return False

    def plan(self, engine: TablestoreEngine) -> Plan[Any]:
        """The engine's plan for the creation or drop."""
        if self.drop:
            return engine.delete_table(INSTANCE, self.table)
        return engine.create_table(INSTANCE, create(self.table, _SCHEMA))

    def apply(self, models: Models, _: int, *, locked: bool = False) -> list[RowEnd]:  # noqa: ARG002  # no row of it is
        """Make it in the models; as one row, whether it must be refused."""
        if self.drop == (self.table not in models):
            return [RowEnd(refused=True)]
        if self.drop:
            del models[self.table]
        else:
            models[self.table] = ModelTable(-1, 1)
        return [RowEnd(refused=False)]

    def ends(self, answer: object) -> list[RowEnd]:
        """One end that was not refused: the answer is empty for both requests."""
        return [RowEnd(refused=answer is REFUSED)]

    def __str__(self) -> str:
        """For traces."""
        return f"{'DROP' if self.drop else 'CREATE'} {self.table}"


class CommitAsk(NamedTuple):
    """The commit of a local transaction."""

    begun: Begun

    @property
    def table(self) -> str:
        """The table of every local transaction of a simulation."""
        return WATCHED

    @property
    def changes(self) -> tuple[tuple[ScriptKey, RowChange], ...]:
        """The changes inside the transaction so far."""
        return tuple(self.begun.changes)

    @property
    def atomic(self) -> bool:
        """False: a commit is not a batch."""
        return False

    def plan(self, engine: TablestoreEngine) -> Plan[Any]:
        """The engine's plan for the commit."""
        return engine.transactions.commit(INSTANCE, self.begun.identity)

    def apply(self, models: Models, _: int, *, locked: bool = False) -> list[RowEnd]:
        """Make the transaction's changes in the models; as one row, whether it must be refused.

        `locked`: an earlier commit that failed for lack of room still holds the transaction.
        """
        if self.begun.over or locked:
            return [RowEnd(refused=True)]
        table = models[WATCHED]
        assert isinstance(table, WatchedTable)
        self.begun.commit_to(table)
        return [RowEnd(refused=False)]

    def ends(self, answer: object) -> list[RowEnd]:
        """One end that was not refused."""
        return [RowEnd(refused=answer is REFUSED)]

    def __str__(self) -> str:
        """For traces."""
        return f"COMMIT {self.begun.partition} of {len(self.begun.changes)}"


Ask = WriteAsk | TableAsk | CommitAsk


def _cells(change: RowChange) -> str:
    return " ".join(f"{cell.operation.name} {cell.name} {cell.body!r}" for cell in change.cells)


def _end(written: RowWritten | None) -> RowEnd:
    if written is None:
        return RowEnd(refused=True)
    columns = plain(decode_row(written.row)) or {}
    return RowEnd(refused=False, counter=columns.get(_COUNTER))


def _apply(table: ModelTable, key: ScriptKey, change: RowChange, now_ms: int) -> RowEnd:
    try:
        table.change(key, change, now_ms)
    except ModelRefusal:
        return RowEnd(refused=True)
    if change.returns.type is not ReturnType.AFTER_MODIFY:
        return RowEnd(refused=False)
    column = table.rows[key].columns[_COUNTER]
    return RowEnd(refused=False, counter=column[max(column)])


REFUSED: Final = object()
"""The answer of a request that was refused as a whole."""

REFUSALS: Final = (Conflict, InvalidRequest, NotFound)
"""The refusals that a write of these clients may get; any other error is a failure."""


class Script:
    """Draws the requests of clients from a seed."""

    def __init__(self, random: Random) -> None:
        """Draw from `random`."""
        self._random = random
        self._written = 0
        self._tables = 0

    def key(self, table: str) -> ScriptKey:
        """A row of a table; never an account."""
        partition = "t" if table == BRIEF else self._random.choice("ab")
        return partition, self._random.randrange(_ROWS)

    def table(self, models: Models) -> str:
        """The name of a table: `plain` and `watched` more often than others."""
        known = [PLAIN, WATCHED, *models]
        return self._random.choices(known, (4, 2, *(1 for _ in models)))[0]

    def ask(self, models: Models) -> Ask:
        """A random request. `models` are what the client may have read before."""
        kinds = (self._single, self._batch, self._transfer, self._define)
        return self._random.choices(kinds, (14, 2, 4, 1))[0](models)

    def _define(self, models: Models) -> Ask:
        """The creation of a table, or the drop of a table that a client created."""
        living = [name for name in models if name not in {PLAIN, BRIEF, WATCHED}]
        if len(living) == _TABLES_MAX or (living and self._random.random() < 0.5):
            return TableAsk(self._random.choice(living), drop=True)
        self._tables += 1
        return TableAsk(f"t{self._tables}", drop=False)

    def _single(self, models: Models) -> WriteAsk:
        table = self.table(models)
        key = self.key(table)
        return WriteAsk(
            table, ((key, self._change(table, key, self._condition(models, table, key))),)
        )

    def _batch(self, models: Models) -> WriteAsk:
        table = self.table(models)
        partition = self.key(table)[0]
        rows = self._random.sample(range(_ROWS), self._random.randint(2, _ROWS))
        changes = []
        for key in ((partition, row) for row in rows):
            condition = self._condition(models, table, key)
            changes.append((key, self._change(table, key, condition)))
        return WriteAsk(table, tuple(changes), batch=True, atomic=self._random.random() < 0.5)

    def inside(self, begun: Begun) -> WriteAsk:
        """A change inside a local transaction."""
        key = begun.partition, self._random.randrange(_ROWS)
        models: Models = {WATCHED: begun.table}
        change = self._change(WATCHED, key, self._condition(models, WATCHED, key))
        return WriteAsk(WATCHED, ((key, change),))

    def _transfer(self, _: Models) -> WriteAsk:
        """Move an amount between two accounts."""
        payer, payee = self._random.sample(range(_ROWS), 2)
        amount = self._random.randint(1, 100)
        changes = tuple(
            ((BANK, row), self._count((BANK, row), PLAIN, by, UNCONDITIONAL))
            for row, by in ((payer, -amount), (payee, amount))
        )
        return WriteAsk(PLAIN, changes, batch=True, atomic=True)

    def _condition(self, models: Models, table: str, key: ScriptKey) -> Condition:
        """No condition, one on the row, or one on the value that the models hold."""
        kind = self._random.randrange(6)
        if kind == 0:
            return Condition(self._random.choice(list(RowExpectation)))
        if kind == 1:
            row = models[table].rows.get(key, ModelRow())
            column = row.columns.get(_VALUE)
            value = column[max(column)] if column else "never written"
            return Condition(
                columns=Comparison(_VALUE, Comparator.EQUAL, value, pass_if_missing=False)
            )
        return UNCONDITIONAL

    def _change(self, table: str, key: ScriptKey, condition: Condition) -> RowChange:
        kind = self._random.randrange(8)
        if kind == 0:
            return delete(table, named_key(key), condition)
        if kind <= 2:
            return self._count(key, table, self._random.randint(1, 9), condition)
        if kind == 3:
            return update(table, named_key(key), [delete_all(_VALUE)], condition)
        self._written += 1
        columns = {_VALUE: f"{self._written}:{key[0]}{key[1]}"}
        if kind == 4:
            return update(table, named_key(key), put_cells(columns), condition)
        return put(table, named_key(key), columns, condition)

    def _count(self, key: ScriptKey, table: str, by: int, condition: Condition) -> RowChange:
        cells = [increment(_COUNTER, by)]
        return update(table, named_key(key), cells, condition, _RETURN_COUNTER)
