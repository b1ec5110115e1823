"""The delivery tasks of all tables, as operations call them (change §D3).

A task stands in the record of its table, with a tunnel that no client sees. The writer of the files
(`server/delivery`) consumes that tunnel as a client would, and notes here why it cannot write.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

from widerow.clock import Clock, Entropy
from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.plan import Plan, single
from widerow.engine.tablestore.delivery.task_definitions import (
    check_create_delivery,
    task_named,
    with_delivery,
    without_delivery,
)
from widerow.engine.tablestore.static import check_table_name
from widerow.engine.tunnels.records import (
    DeliveryTrouble,
    read_state,
    trouble_in,
    write_trouble,
)
from widerow.engine.tunnels.service import Tunnels
from widerow.engine.tunnels.state import TunnelState, base_is_done
from widerow.engine.tunnels.tunnel_definitions import new_tunnel_id
from widerow.errors import InvalidRequest, NotFound, Unsupported
from widerow.keys.layout import tunnel_prefix
from widerow.model.tablestore.delivery import CreateDelivery, DeliveryTask, DeliveryType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.tunnels import Tunnel, TunnelName
from widerow.storage.interface import Store, Transaction, Write

__all__ = ["Deliveries", "DeliveryPhase", "DeliveryShown", "FoundTask", "delivery_tunnels"]


def delivery_tunnels(table: Table) -> Sequence[Tunnel]:
    """The tunnels that a table's tasks consume."""
    return [task.tunnel for task in table.deliveries]


class DeliveryPhase(Enum):
    """How far a task is. Values are the protocol's numbers.

    INIT: it has not begun. FULL: it delivers the rows that are there, or has delivered them and
    delivers no changes. INCR: it delivers changes.
    """

    INIT = 0
    FULL = 1
    INCR = 2


class DeliveryShown(NamedTuple):
    """A task with its state. `synced_us`: up to when changes are delivered, of the slowest channel.

    `trouble`: why its files cannot be written, or None.
    """

    task: DeliveryTask
    phase: DeliveryPhase
    synced_us: int
    trouble: DeliveryTrouble | None


class FoundTask(NamedTuple):
    """A task and its table."""

    table: Table
    task: DeliveryTask

    @property
    def prefix(self) -> bytes:
        """The shard of the task's state."""
        return tunnel_prefix(self.table.id, self.task.tunnel.number)


class Deliveries:
    """The delivery tasks of a store. Any thread may call.

    `tunnels`: those of the tasks, by their ids.
    """

    def __init__(
        self,
        tables: Tables[Table],
        given: tuple[Store, Clock, Entropy],
        tunnels: Tunnels[Table],
        refusal: Callable[[], TablestoreRule | None],
    ) -> None:
        """`refusal`: the rule by which new tasks are refused now, or None."""
        self.tunnels = tunnels
        self._tables = tables
        self._catalog = tables.catalog
        self._store, self._clock, self._entropy = given
        self._refusal = refusal

    def create(self, instance: str, request: CreateDelivery) -> Plan[str]:
        """CreateDeliveryTask. A table without a stream gets one where the task needs one.

        The answer is the id of the task's tunnel.
        """
        refusal = self._refusal()
        if refusal is not None:
            raise Unsupported(refusal)
        check_create_delivery(request)
        table = self._table(instance, request.table)
        if table.index_of:
            raise InvalidRequest(TablestoreRule.INDEX_IS_NO_TABLE, table=table.name)
        tunnel_id = new_tunnel_id(table.id, self._entropy)
        now_us = self._clock.now_us()

        def make(current: Table, draft: Draft) -> tuple[Table, Tunnel]:
            return with_delivery(current, request, draft.number, tunnel_id, now_us)

        return self.tunnels.creating(table, make)

    def delete(self, instance: str, table: str, name: str) -> Plan[None]:
        """DeleteDeliveryTask: the task ends at once; its files stay."""
        found = self._named(instance, table, name)
        due_us = self._catalog.due_us(self._clock.now_us())
        write = self._tables.change(
            found.table, lambda current: without_delivery(current, found.task), due_us=due_us
        )
        return Plan((write,), single).answering(lambda _: None)

    def list_tasks(self, instance: str, table: str) -> list[FoundTask]:
        """ListDeliveryTask: the tasks of a table, sorted by name."""
        found = self._table(instance, table)
        return [FoundTask(found, task) for task in found.deliveries]

    def describe(self, instance: str, table: str, name: str) -> DeliveryShown:
        """DescribeDeliveryTask."""
        found = self._named(instance, table, name)
        shown = self.tunnels.describe(instance, TunnelName("", "", found.task.tunnel.id))
        return DeliveryShown(
            found.task,
            _phase(found.task.type, shown.state),
            shown.consumed_us,
            trouble_in(self._store.snapshot(), found.prefix),
        )

    # --- for whoever writes the files ----------------------------------------------------------

    def all(self) -> list[FoundTask]:
        """Every task of the store."""
        return [FoundTask(table, task) for table in self._tables.all() for task in table.deliveries]

    def note(self, found: FoundTask, trouble: DeliveryTrouble | None) -> Plan[None]:
        """The plan that stores why a task's files cannot be written; None: they can.

        Its body raises `NotFound` where the task is gone.
        """
        planned = self._catalog.planned()

        def body(txn: Transaction) -> None:
            table = self._tables.current(found.table, txn, planned)
            if found.task.tunnel.number not in {each.tunnel.number for each in table.deliveries}:
                raise NotFound(TablestoreRule.DELIVERY_NOT_FOUND)
            write_trouble(txn, found.prefix, trouble)

        write = Write((found.prefix,), body, reads=self._catalog.reads)
        return Plan((write,), single, again=lambda _: self.note(found, trouble))

    def trouble(self, found: FoundTask) -> DeliveryTrouble | None:
        """Why a task's files cannot be written; None: nothing is known to be wrong."""
        return trouble_in(self._store.snapshot(), found.prefix)

    def row_channels(self, found: FoundTask) -> list[str]:
        """The ids of a task's channels of rows, sorted; they never change."""
        state = read_state(self._store.snapshot(), found.prefix)
        channels = () if state is None else state.channels.values()
        return sorted(each.id for each in channels if not each.shard)

    # --- which task ----------------------------------------------------------------------------

    def _table(self, instance: str, name: str) -> Table:
        check_table_name(name)
        return self._tables.find(instance, name)

    def _named(self, instance: str, table: str, name: str) -> FoundTask:
        found = self._table(instance, table)
        return FoundTask(found, task_named(found, name))


def _phase(kind: DeliveryType, state: TunnelState | None) -> DeliveryPhase:
    if state is None or not any(each.version or each.number for each in state.channels.values()):
        return DeliveryPhase.INIT
    if kind is DeliveryType.BASE or not base_is_done(state):
        return DeliveryPhase.FULL
    return DeliveryPhase.INCR
