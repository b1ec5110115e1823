"""Checks of delivery tasks, and their changes of a table's definition."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from widerow.engine.tablestore.delivery.names import check_bucket, check_prefix, check_task_name
from widerow.engine.tablestore.tunnels.opening import with_stream_for
from widerow.errors import Conflict, InvalidRequest, NotFound
from widerow.limits import (
    DELIVERY_COLUMNS_MAX,
    DELIVERY_TASKS_PER_TABLE_MAX,
    DELIVERY_TEXT_BYTES_MAX,
    NAME_BYTES_MAX,
)
from widerow.model.tablestore.delivery import (
    CreateDelivery,
    DeliveryColumn,
    DeliveryConfig,
    DeliveryTask,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.tunnels import Tunnel, TunnelConfig

__all__ = ["check_create_delivery", "task_named", "with_delivery", "without_delivery"]


def check_create_delivery(request: CreateDelivery) -> None:
    """Check what does not depend on the table of a task. Raises `InvalidRequest`."""
    check_task_name(request.name)
    config = request.config
    check_bucket(config.bucket)
    check_prefix(config.prefix)
    check_prefix(config.dirty_prefix)
    _check_texts(config)
    _check_columns(config.columns)


def _check_texts(config: DeliveryConfig) -> None:
    for field in ("endpoint", "role"):
        if len(getattr(config, field).encode()) > DELIVERY_TEXT_BYTES_MAX:
            raise InvalidRequest(
                TablestoreRule.DELIVERY_TEXT, field=field, limit=DELIVERY_TEXT_BYTES_MAX
            )
    event = config.event_column
    if event is not None and not _is_name(event.name):
        raise InvalidRequest(TablestoreRule.DELIVERY_EVENT_TIME)


def _check_columns(columns: tuple[DeliveryColumn, ...]) -> None:
    if not 1 <= len(columns) <= DELIVERY_COLUMNS_MAX:
        raise InvalidRequest(
            TablestoreRule.DELIVERY_COLUMN_COUNT, count=len(columns), limit=DELIVERY_COLUMNS_MAX
        )
    for column in columns:
        for name in (column.name, column.shown):
            if not _is_name(name):
                raise InvalidRequest(TablestoreRule.DELIVERY_COLUMN_NAME, name=name)
    name, times = Counter(column.shown for column in columns).most_common(1)[0]
    if times > 1:
        raise InvalidRequest(TablestoreRule.DELIVERY_COLUMN_DUPLICATE, name=name)


def _is_name(name: str) -> bool:
    return 1 <= len(name.encode()) <= NAME_BYTES_MAX


def with_delivery(
    table: Table, request: CreateDelivery, number: Callable[[], int], tunnel_id: str, now_us: int
) -> tuple[Table, Tunnel]:
    """The table with one more task, and the task's tunnel. A stream is switched on as needed.

    `number` gives a number that was never used.

    Raises: `Conflict(DELIVERY_EXISTS)`, `InvalidRequest(DELIVERY_COUNT)`.
    """
    if any(each.name == request.name for each in table.deliveries):
        raise Conflict(TablestoreRule.DELIVERY_EXISTS, name=request.name)
    if len(table.deliveries) >= DELIVERY_TASKS_PER_TABLE_MAX:
        raise InvalidRequest(TablestoreRule.DELIVERY_COUNT, limit=DELIVERY_TASKS_PER_TABLE_MAX)
    kind = request.type.tunnel_kind
    table = with_stream_for(table, kind, number, now_us)
    tunnel = Tunnel(tunnel_id, number(), request.name, kind, TunnelConfig(), now_us)
    task = DeliveryTask(request.name, request.type, request.config, tunnel)
    tasks = sorted((*table.deliveries, task), key=lambda each: each.name)
    return replace(table, deliveries=tuple(tasks)), tunnel


def without_delivery(table: Table, task: DeliveryTask) -> Table:
    """The table without `task`. Raises `NotFound(DELIVERY_NOT_FOUND)` where it has no such task."""
    kept = tuple(each for each in table.deliveries if each.tunnel.number != task.tunnel.number)
    if len(kept) == len(table.deliveries):
        raise NotFound(TablestoreRule.DELIVERY_NOT_FOUND)
    return replace(table, deliveries=kept)


def task_named(table: Table, name: str) -> DeliveryTask:
    """The task of that name. Raises `NotFound(DELIVERY_NOT_FOUND)`."""
    for task in table.deliveries:
        if task.name == name:
            return task
    raise NotFound(TablestoreRule.DELIVERY_NOT_FOUND)
