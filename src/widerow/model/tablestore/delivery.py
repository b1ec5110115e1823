"""Delivery tasks: their definition in the catalogue, and the request of a client (change §D3).

A task copies a table's rows, its changes, or first one and then the other into Parquet files. Its
definition never changes. It consumes a tunnel of its own, which no client sees.
"""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from widerow.model.tunnels import Tunnel, TunnelKind

__all__ = [
    "CreateDelivery",
    "DeliveryColumn",
    "DeliveryConfig",
    "DeliveryTask",
    "DeliveryType",
    "EventColumn",
    "EventTimeFormat",
    "ParquetType",
]


class DeliveryType(Enum):
    """What a task delivers. Values are the protocol's numbers; names are written to the catalogue.

    BASE: the rows that are there. INC: changes. BASE_INC: first rows, then changes.
    """

    BASE = 0
    INC = 1
    BASE_INC = 2

    @property
    def tunnel_kind(self) -> TunnelKind:
        """The kind of the task's tunnel."""
        return _KINDS[self]


_KINDS = {
    DeliveryType.BASE: TunnelKind.BASE,
    DeliveryType.INC: TunnelKind.STREAM,
    DeliveryType.BASE_INC: TunnelKind.BASE_AND_STREAM,
}


class ParquetType(Enum):
    """The types of delivered columns. Values are the protocol's numbers."""

    BOOL = 0
    INT64 = 1
    UTF8 = 2
    DOUBLE = 3


class EventTimeFormat(Enum):
    """The form of times in a column. Values are the protocol's numbers.

    Unix is an INTEGER, or a STRING of digits: seconds since 1970. The others are STRINGs.
    """

    RFC822 = 1
    RFC850 = 2
    RFC1123 = 3
    RFC3339 = 4
    UNIX = 5


class EventColumn(NamedTuple):
    """The column with the time of a row, and the form of its times."""

    name: str
    format: EventTimeFormat


class DeliveryColumn(NamedTuple):
    """A column of the files: the table's column, its name in the files ("": unchanged), its type.

    `encoding`: the number that was sent, or None; it is described and has no effect.
    """

    name: str
    delivered_as: str
    type: ParquetType
    encoding: int | None = None

    @property
    def shown(self) -> str:
        """The column's name in the files."""
        return self.delivered_as or self.name


class DeliveryConfig(NamedTuple):
    """The place of a task's files, and their content.

    `dirty_prefix`: the place for rows that do not fit; "": they are dropped. `endpoint`, `role`:
    described, and without effect. `event_column`: None if the time of a row is that of its write.
    """

    bucket: str
    columns: tuple[DeliveryColumn, ...]
    prefix: str = ""
    dirty_prefix: str = ""
    endpoint: str = ""
    role: str = ""
    event_column: EventColumn | None = None


@dataclass(frozen=True, slots=True)
class DeliveryTask:
    """A task of a table, as it was created. `tunnel`: the one that it consumes."""

    name: str
    type: DeliveryType
    config: DeliveryConfig
    tunnel: Tunnel


class CreateDelivery(NamedTuple):
    """The request for a new task."""

    table: str
    name: str
    type: DeliveryType
    config: DeliveryConfig
