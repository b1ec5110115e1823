"""The core of the table store: what all table models share, and the models that are open.

The core has the store, the catalogue, the servers of a shared store, partitions, the sweep and
housekeeping. What can be done with tables and rows are operations of a table model, which is a
plug: a `TableModel` is a value without state, an `OpenModel` is the model over one open store, with
its operations and with what the core asks of it, so that nothing in the core knows a model by name.
`table_models.py` lists the models that there are.

Reads answer at once from the published view. Writes answer a `Plan`: the caller commits its writes
(in one group with others', or alone through `run`) and reads the answer with `finish`. Every method
raises the errors of `widerow.errors` for requests that break a rule, and leaves nothing behind.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from mypy_extensions import mypyc_attr

from widerow.clock import Clock, Entropy
from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.catalog.model import CatalogModel, CatalogModels, Numbered
from widerow.engine.catalog.partitioned import CatalogPartitions
from widerow.engine.check_part import CheckPart
from widerow.engine.chores import ChoreLine, ChoreTurns
from widerow.engine.copying import CopyMoment, ModelCopy
from widerow.engine.ends import end_of, outcomes_of
from widerow.engine.entry_pace import EntryPace
from widerow.engine.lag import Lag
from widerow.engine.lease import Lease
from widerow.engine.nodes.document import nodes_document
from widerow.engine.nodes.nodes import LoadOfAll, Nodes
from widerow.engine.partitions.balance import Partitions
from widerow.engine.partitions.document import partitions_document
from widerow.engine.partitions.partitioned_tables import Partitioned
from widerow.engine.partitions.places import places_of
from widerow.engine.partitions.throttle import Throttle
from widerow.engine.plan import Plan
from widerow.engine.scan import ColumnPage, RowAccess, ScannedRow, columns_of_rows
from widerow.engine.settings import ENGINE_DEFAULTS, EngineSettings
from widerow.engine.sweep.model import SweptModel
from widerow.engine.sweep.sweep import Sweep
from widerow.errors import NotFound, Rule
from widerow.keys.layout import NODE_ID_BYTES
from widerow.storage.interface import Snapshot, Store

__all__ = [
    "Chore",
    "Engine",
    "OpenModel",
    "TableListing",
    "TableModel",
    "TableModelEntry",
    "catalog_models",
]

T = TypeVar("T", bound=Numbered)
R = TypeVar("R")
O = TypeVar("O", bound="OpenModel[Any]")  # noqa: E741  # operations of a table model
O_co = TypeVar("O_co", bound="OpenModel[Any]", covariant=True)
Chore = Callable[[], Plan[None] | None]
"""A kind of work of housekeeping: the next small step, or None where there is none now."""


class TableListing(NamedTuple):
    """A table as people see it. `owner`: its instance or namespace.

    `address`: the name by which `Engine.find_partitioned` finds it.
    """

    owner: str
    name: str
    address: str


@mypyc_attr(allow_interpreted_subclasses=True)
class OpenModel(ABC, Generic[T]):
    """A table model over one open store. Any thread may call, except where a method says more."""

    name: ClassVar[str]
    """The name of the model, in addresses of pages."""

    index_word: ClassVar[str] = "index"
    """What people call an index of `index_lags`."""

    tables: Tables[T]
    """The tables of the model in the catalogue."""

    sweep: SweptModel[T]
    """What the sweep needs to know of the model."""

    chores: Mapping[ChoreLine, Sequence[Chore]] = MappingProxyType({})
    """Work of housekeeping beside the sweep; a line of chores is for one caller at a time."""

    copies: ClassVar[bool] = False
    """Whether tables can be copied and put back (`copied`)."""

    @abstractmethod
    def scan(self, table: T, access: RowAccess, after: bytes = b"") -> Iterator[ScannedRow]:
        """The live rows that an access reaches, in its order, as they are when they are read.

        `after`: the `position` of a row that an earlier scan of this access gave; the scan goes on
        behind it, whether or not the row is there still. Memory: one page of rows. Raises
        `NotFound` for an index that the table does not have, `InvalidRequest` for bounds that do
        not fit the columns.
        """

    def scan_columns(
        self, table: T, access: RowAccess, names: Sequence[str], first: int
    ) -> Iterator[ColumnPage]:
        """Some columns of the rows that `scan` gives, for queries over many rows.

        `first`: how many rows the first page has at most; each further one has four times as many,
        up to a bound, so that who needs few rows reads few. Raises as `scan`. A model that reads
        columns without making rows has its own.
        """
        return columns_of_rows(self.scan(table, access), names, first)

    def find_partitioned(self, owner: str, address: str) -> Partitioned | None:
        """The table of that address as partitions see it; None where no table has the address.

        None also for addresses that are of another model's form.
        """
        found = self.tables.get(owner, address)
        return None if found is None else self.tables.model.partitioned(found)

    def listed(self) -> Iterable[TableListing]:
        """Every table that people see by itself, without indexes. Cost: the catalogue's size."""
        for table in self.tables.all():
            owner, name = self.tables.model.name_of(table)
            yield TableListing(owner, name, name)

    def pass_time(self) -> None:
        """End what has run out, such as transactions. Cheap: called before each step."""

    def pause(self, seconds: float, line: ChoreLine) -> float:
        """Seconds until a chore of the line may have work that a client waits for, at most so many.

        `seconds`: the answer where nobody waits.
        """
        del line
        return seconds

    def index_lags(self) -> list[Lag]:
        """How far indexes that are written behind their rows are behind them. Any thread calls."""
        return []

    def tables_behind(self) -> Iterable[int]:
        """Tables whose indexes are further behind than writers let them be. Any thread calls.

        By the numbers under which their intents stand.
        """
        return ()

    def log_lags(self) -> list[Lag]:
        """How far logs that are written behind their rows are behind them. Any thread calls."""
        return []

    def copied(self, moment: CopyMoment, owner: str, room: int) -> ModelCopy | None:
        """What an owner's tables hold, at most `room` bytes; None: the model copies none.

        Raises `CopyRefused`.
        """
        del moment, owner, room
        return None


@mypyc_attr(allow_interpreted_subclasses=True)
class TableModel(ABC, Generic[T, O_co]):
    """A table model as a plug of the engine. `records`: how its tables stand in the catalogue."""

    records: ClassVar[CatalogModel[Any]]

    @abstractmethod
    def open(self, engine: "Engine") -> O_co:
        """The model over an engine's store. Begins nothing: `Engine.operations` may drop it."""

    @abstractmethod
    def check_parts(self, catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:
        """What a walk of a store visits of the model's tables (`check.py`)."""


class TableModelEntry(NamedTuple):
    """A line of the list of models. Each function imports what it gives, when that is needed.

    `space`: what the keys of the model's records begin with.
    """

    space: bytes
    records: Callable[[], CatalogModel[Any]]
    load: Callable[[], TableModel[Any, OpenModel[Any]]]


def catalog_models(entries: Sequence[TableModelEntry]) -> CatalogModels:
    """The models of a list, as the catalogue takes them."""
    return {entry.space: entry.records for entry in entries}


class Engine:
    """One open table store. Any thread may call; planning and reading never wait for a sync."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        entropy: Entropy,
        models: Sequence[TableModelEntry],
        settings: EngineSettings = ENGINE_DEFAULTS,
    ) -> None:
        """Load the catalogue. Raises `StoreDamaged` if the store is not one of ours.

        `models`: the table models that the store may hold tables of.
        """
        self.store = store
        self.clock = clock
        self.entropy = entropy
        self.settings = settings
        self.catalog = Catalog(store, catalog_models(models))
        node_id = entropy.token_bytes(NODE_ID_BYTES) if store.capabilities.shared else b""
        self.lease = Lease(store, clock, node_id.hex())
        self.nodes = Nodes(store, self.catalog, self.lease, clock, node_id)
        self.nodes.behind = self.tables_behind
        self.entry_pace = EntryPace(clock, self.tables_behind)
        self.partitions = Partitions(
            CatalogPartitions(self.catalog), store, clock, self.lease, settings.thresholds
        )
        self.throttle = Throttle(clock) if settings.enforce_throughput else None
        if self.partitions.shared_notes is not None:
            told = self.partitions.told.append
            self.nodes.load = LoadOfAll(self.partitions.shared_notes, told, self.throttle)
        self.sweep = Sweep(self.catalog, store, clock, self.partitions.note_load)
        self._models = tuple(models)
        self._open: dict[bytes, OpenModel[Any]] = {}  # by the spaces of their records
        self._looked_after: dict[ChoreLine, set[bytes]] = {line: set() for line in ChoreLine}
        self._lines = {line: ChoreTurns() for line in ChoreLine}
        self._lines[ChoreLine.CLEANING].add((self.sweep.clear, self.sweep.step, self.nodes.clear))
        self._all_lines = ChoreTurns(*[each.step for each in self._lines.values()])

    # --- table models ------------------------------------------------------------------------

    def operations(self, model: TableModel[Any, O]) -> O:
        """The operations of a table model, which is opened when they are first asked for.

        Raises `StoreDamaged` if the model's part of the catalogue is not readable.
        """
        found: Any = self._open.get(model.records.space)
        if found is None:
            found = self._open.setdefault(
                model.records.space, model.open(self)
            )  # if another thread was first, its model stays
        return found  # type: ignore[no-any-return]  # what this model opened

    def open_models(self) -> list[OpenModel[Any]]:
        """The models in use: those that were asked for, and those that the store has tables of."""
        for entry in self._models:
            if entry.space not in self._open and self.catalog.holds(entry.space):
                self.operations(entry.load())
        return list(self._open.values())

    def find_partitioned(self, owner: str, address: str) -> Partitioned:
        """The table that partitions know by that address. Raises `NotFound`, `InvalidRequest`.

        `owner`: an instance or a namespace. Whoever may open it sees its tables and nothing else.
        """
        for model in self.open_models():
            found = model.find_partitioned(owner, address)
            if found is not None:
                return found
        raise NotFound(Rule.TABLE_NOT_FOUND, instance=owner, table=address)

    # --- committing and housekeeping ---------------------------------------------------------

    def run(self, plan: Plan[R]) -> R:
        """Commit a plan by itself and return its answer once it is durable.

        Does not wait until other servers know of a change of the catalogue, as a committer does.
        """
        answer: Any = plan
        while isinstance(answer, Plan):
            answer, error = end_of(answer, outcomes_of(answer, self.store.transact_group))
            if error is not None:
                raise error
        return answer  # type: ignore[no-any-return]  # what this plan's finish returned

    def housekeeping(self, line: ChoreLine | None = None) -> Plan[None] | None:
        """The next small step of what the engine does by itself; None when there is none now.

        `line`: a step of that line alone, for a caller of its own; None: the lines take turns, for
        one caller. Where the store is shared, taking or renewing its lease comes first; while
        another process holds the lease, only notes of this process are written.
        """
        self._look_after(line)
        if line in (None, ChoreLine.CLEANING):
            for model in self._open.values():
                model.pass_time()
            taking = self.lease.plan()
            if taking is not None:
                return taking
            if not self.lease.held():
                return self.sweep.save()
        elif not self.lease.held():
            return None
        return self._all_lines.step() if line is None else self._lines[line].step()

    def _look_after(self, line: ChoreLine | None) -> None:
        """Add the sweep and the chores of models that came into use since the last call.

        Each line adds its own chores, so that callers of different lines share nothing here.
        """
        for each in ChoreLine if line is None else (line,):
            known = self._looked_after[each]
            for model in self.open_models():
                space = model.tables.model.space
                if space not in known:
                    known.add(space)
                    self._lines[each].add(model.chores.get(each, ()))
                    if each is ChoreLine.CLEANING:
                        self.sweep.add(model.sweep)

    def pause(self, seconds: float, line: ChoreLine | None = None) -> float:
        """Seconds until `housekeeping` should be called again after it had nothing to do.

        At most `seconds`; fewer where a model may have work that a client waits for.
        """
        lines = (*ChoreLine,) if line is None else (line,)
        models = list(self._open.values())
        return min([seconds, *[model.pause(seconds, each) for model in models for each in lines]])

    def lags_by_kind(self) -> Iterator[tuple[str, Lag]]:
        """All lags that this process knows, each behind the word for what lags. As `index_lags`."""
        if not self.lease.held():
            return
        for model in list(self._open.values()):
            yield from [(model.index_word, lag) for lag in model.index_lags()]
            yield from [(lag.name, lag) for lag in model.log_lags()]

    def index_lags(self) -> list[Lag]:
        """How far indexes are behind their tables, as far as this process knows.

        None of them while another process looks after the store. Any thread may call.
        """
        held = self.lease.held()
        return [lag for model in self._open.values() for lag in model.index_lags() if held]

    def tables_behind(self) -> frozenset[int]:
        """The tables whose indexes are further behind than writers let them be, by their numbers.

        As this process sees it where it looks after the store, else as the server told that does.
        Any thread may call.
        """
        if not self.lease.held():
            return self.nodes.told_behind()
        models = list(self._open.values())
        return frozenset([number for model in models for number in model.tables_behind()])

    def log_lags(self) -> list[Lag]:
        """How far streams and other logs are behind the rows of their tables, as `index_lags`."""
        held = self.lease.held()
        return [lag for model in self._open.values() for lag in model.log_lags() if held]

    # --- descriptions ------------------------------------------------------------------------

    def describe_partitions(
        self, owner: str, address: str, *, history: bool = False
    ) -> dict[str, Any]:
        """What is known of a table's partitions (docs/operating/partitions.md).

        Raises as `find_partitioned`.
        """
        found = self.find_partitioned(owner, address)
        places = places_of(self.store, found)
        return partitions_document(self.partitions, found, places, history=history)

    def describe_nodes(self, opens: Callable[[str], bool]) -> dict[str, Any]:
        """What is known of the servers of a shared store (docs/operating/cluster.md).

        `opens`: whether who asks may see the names of an instance's or a namespace's tables.
        """
        return nodes_document(self.nodes, self.clock, opens)
