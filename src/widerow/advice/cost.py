"""The capacity units of a workload by table, action and second, and its most expensive requests.

Pure. The units are taken from the answers (semantics §9): the recorded server charges what it
answers. For an answer without units, and for an error, they follow from the service's rules
(`unit_rules.py`).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import heappush, heappushpop
from typing import Any, Final, NamedTuple

from google.protobuf.message import Message

from widerow.advice.unit_rules import Units, error_units, row_bytes, unit_rules
from widerow.client.http import OK
from widerow.errors import WiderowError
from widerow.limits import ADVICE_SECONDS_COUNTED_MAX, CAPACITY_UNIT_BYTES
from widerow.proxy.claims import tables_of
from widerow.proxy.decoding import (
    answer_tree,
    inflated,
    jsonable,
    message_types,
    parse_message,
    request_tree,
    told_error,
)
from widerow.proxy.exchange import Exchange
from widerow.rows.plain_values import Row

__all__ = [
    "CostInvalid",
    "DearRequest",
    "ReserveAdvice",
    "UnitPrices",
    "WorkloadCost",
    "consumed_units",
]

_WASTE_FACTOR: Final = 4  # units read per unit returned, from which a filter keeps little
_MANY_COLUMNS: Final = 20  # of one row, in an answer to a request that names no columns
_WIDE_ROW_BYTES: Final = 4 * CAPACITY_UNIT_BYTES
_SHOWN_CHARACTERS: Final = 400  # of a request
_PRICED_UNITS: Final = 10_000  # units to which the service's prices apply
_GIGABYTE: Final = 10**9
_P99: Final = 0.99


class CostInvalid(WiderowError):
    """A workload cannot be added up; the message says why and what to do."""


class UnitPrices(NamedTuple):
    """Prices of 10 000 read units, 10 000 write units, and of a gigabyte for a month."""

    read: float | None = None
    write: float | None = None
    storage: float | None = None


class DearRequest(NamedTuple):
    """A request, its cost, and what may make it cheaper."""

    action: str
    table: str
    units: Units
    request: str
    hints: tuple[str, ...]


class ReserveAdvice(NamedTuple):
    """The units that one table consumes in a second: in the busiest one, and in 99 of 100 at most.

    `additional`: the share of all units that exceeds a reserve of the second figure.
    """

    table: str
    kind: str
    peak: int
    p99: int
    additional: float


class WorkloadCost:
    """Adds up exchanges one by one. Memory: one number for each table and second."""

    def __init__(self, dearest: int = 10) -> None:
        """An empty sum. `dearest`: how many of the most expensive requests are kept."""
        self.requests: Counter[tuple[str, str]] = Counter()
        self.units: dict[tuple[str, str], Units] = {}
        self.written_bytes = 0
        self.first_us: int | None = None
        self.last_us = 0
        self._dearest = dearest
        self._heap: list[tuple[int, int, DearRequest]] = []
        self._seconds: dict[str, dict[int, Units]] = {}
        self._counted = 0

    @property
    def seconds(self) -> int:
        """Seconds from the first request to the last, both included."""
        if self.first_us is None:
            return 0
        return self.last_us // 1_000_000 - self.first_us // 1_000_000 + 1

    def add(self, exchange: Exchange) -> None:
        """Add an exchange. Raises `CostInvalid` beyond `ADVICE_SECONDS_COUNTED_MAX` seconds."""
        action = exchange.request.action
        self.reach(exchange.at_us)
        costs = consumed_units(exchange)
        self.written_bytes += _written_bytes(exchange)
        for table, units in costs.items():
            self.requests[table, action] += 1
            self.note(table, action, units, exchange.at_us // 1_000_000)
        total = sum(units.read + units.write for units in costs.values())
        if total and (len(self._heap) < self._dearest or total > self._heap[0][0]):
            self._keep(exchange, costs, total)

    def reach(self, at_us: int) -> None:
        """Extend the workload to this time, microseconds since 1970, with or without units."""
        if self.first_us is None or at_us < self.first_us:
            self.first_us = at_us
        self.last_us = max(self.last_us, at_us)

    def note(self, table: str, action: str, units: Units, second: int) -> None:
        """Count units of a table and an action in a second since 1970."""
        key = table, action
        self.units[key] = self.units.get(key, Units(0, 0)).plus(units)
        if not (units.read or units.write):
            return
        seconds = self._seconds.setdefault(table, {})
        if second not in seconds:
            self._counted += 1
            if self._counted > ADVICE_SECONDS_COUNTED_MAX:
                raise CostInvalid(
                    f"the workload has more than {ADVICE_SECONDS_COUNTED_MAX} seconds of tables; "
                    "give one part of the recording"
                )
        seconds[second] = seconds.get(second, Units(0, 0)).plus(units)

    def total(self) -> Units:
        """All units."""
        total = Units(0, 0)
        for units in self.units.values():
            total = total.plus(units)
        return total

    def dearest(self) -> list[DearRequest]:
        """The most expensive requests, the most expensive first."""
        return [
            each for _, _, each in sorted(self._heap, reverse=True, key=lambda found: found[:2])
        ]

    def reserves(self) -> Iterator[ReserveAdvice]:
        """The reserve that each table would need; seconds without load count too."""
        for table, seconds in sorted(self._seconds.items()):
            for kind in ("read", "write"):
                loads = sorted(getattr(units, kind) for units in seconds.values())
                whole = sum(loads)
                if not whole:
                    continue
                number = max(self.seconds, len(loads))
                rank = math.ceil(_P99 * number) - 1 - (number - len(loads))
                p99 = loads[rank] if rank >= 0 else 0
                beyond = sum(max(0, load - p99) for load in loads)
                yield ReserveAdvice(table, kind, loads[-1], p99, beyond / whole)

    def prices(self, prices: UnitPrices) -> dict[str, float]:
        """The cost of the units, and of a month of the written bytes, where prices are given."""
        total = self.total()
        found = {
            "read": (prices.read, total.read / _PRICED_UNITS),
            "write": (prices.write, total.write / _PRICED_UNITS),
            "storage_month": (prices.storage, self.written_bytes / _GIGABYTE),
        }
        return {
            name: price * amount for name, (price, amount) in found.items() if price is not None
        }

    def document(self, prices: UnitPrices) -> dict[str, Any]:
        """The whole result for JSON."""
        total = self.total()
        return {
            "seconds": self.seconds,
            "read_units": total.read,
            "write_units": total.write,
            "written_bytes": self.written_bytes,
            "actions": [
                {
                    "table": table,
                    "action": action,
                    "requests": self.requests[table, action],
                    "read_units": units.read,
                    "write_units": units.write,
                }
                for (table, action), units in sorted(self.units.items())
            ],
            "reserves": [each._asdict() for each in self.reserves()],
            "dearest": [
                {
                    "action": each.action,
                    "table": each.table,
                    "read_units": each.units.read,
                    "write_units": each.units.write,
                    "request": each.request,
                    "hints": list(each.hints),
                }
                for each in self.dearest()
            ],
            "prices": self.prices(prices),
        }

    def _keep(self, exchange: Exchange, costs: dict[str, Units], total: int) -> None:
        request = exchange.request
        units = Units(0, 0)
        for each in costs.values():
            units = units.plus(each)
        shown = str(jsonable(request_tree(request.action, request.headers, request.body)))
        found = DearRequest(
            request.action,
            ", ".join(costs),
            units,
            shown[:_SHOWN_CHARACTERS],
            tuple(_hints(exchange, units)),
        )
        entry = total, -sum(self.requests.values()), found  # of equal requests, the first
        if len(self._heap) < self._dearest:
            heappush(self._heap, entry)
        else:
            heappushpop(self._heap, entry)


def consumed_units(exchange: Exchange) -> dict[str, Units]:
    """The units of one exchange by table. Linear in the answer's rows."""
    request, answer = exchange.request, exchange.answer
    types = message_types(request.action)
    asked: Any = None
    if types is not None:
        asked = parse_message(types.request, inflated(request.headers, request.body, "request"))
    tables = tables_of(asked)
    if answer.status != OK:
        units = error_units(request.action, answer.status, told_error(answer)[0])
        return dict.fromkeys(tables, units) if units.read or units.write else {}
    body = inflated(answer.headers, answer.body, "response")
    told: Any = parse_message(types.answer, body) if types is not None else None
    if told is None:
        return {}
    spent = _told_units(told, tables)
    if any(each.read or each.write for each in spent.values()):
        return spent
    return unit_rules(request.action, asked, told)


def _told_units(told: Any, tables: tuple[str, ...]) -> dict[str, Units]:  # noqa: ANN401  # messages have no common type
    if "tables" in told.DESCRIPTOR.fields_by_name:
        found: dict[str, Units] = {}
        for table in told.tables:
            units = _sum_of(table.rows)
            name = str(table.table_name)
            found[name] = found.get(name, Units(0, 0)).plus(units)
        return found
    if "consumed" not in told.DESCRIPTOR.fields_by_name or not tables:
        return {}
    return {tables[0]: _sum_of((told,))}


def _sum_of(messages: Iterable[Message]) -> Units:
    total = Units(0, 0)
    for message in messages:
        each: Any = message
        if each.HasField("consumed"):
            unit = each.consumed.capacity_unit
            total = total.plus(Units(max(0, unit.read), max(0, unit.write)))
    return total


def _written_bytes(exchange: Exchange) -> int:
    """Bytes of the rows that a granted write sends, as they are encoded."""
    request = exchange.request
    if exchange.answer.status != OK:
        return 0
    is_write = request.action in {"PutRow", "UpdateRow", "BatchWriteRow", "BulkImport"}
    return len(inflated(request.headers, request.body, "request")) if is_write else 0


def _hints(exchange: Exchange, units: Units) -> Iterator[str]:
    """What may make a request cheaper."""
    request = exchange.request
    asked = request_tree(request.action, request.headers, request.body)
    told = answer_tree(request.action, exchange.answer)
    if not isinstance(asked, dict) or not isinstance(told, dict):
        return
    rows = list(_rows_of(told))
    size = sum(map(row_bytes, rows))
    read = units.read * CAPACITY_UNIT_BYTES
    parts = [asked, *(each for each in asked.get("tables", ()) if isinstance(each, dict))]
    if any("filter" in part for part in parts) and read > _WASTE_FACTOR * max(
        size, CAPACITY_UNIT_BYTES
    ):
        yield (
            f"the filter kept {len(rows)} rows of {size:,} bytes, and about {read:,} bytes were "
            "read and paid for: an index or a narrower range reads less"
        )
    if not any("columns_to_get" in part for part in parts):
        columns = max((len({cell.column for cell in row.cells}) for row in rows), default=0)
        if columns >= _MANY_COLUMNS:
            yield f"columns_to_get names no column, and a row has {columns}: name those in use"
    wide = max(map(row_bytes, rows), default=0)
    if wide >= _WIDE_ROW_BYTES:
        yield (
            f"a row of {wide:,} bytes is read whole: name its columns, or move what is seldom "
            "read to a table of its own"
        )
    if units.write and units.write * CAPACITY_UNIT_BYTES >= _WIDE_ROW_BYTES and not rows:
        yield "much is written at once: an UpdateRow of the columns that change writes less"


def _rows_of(tree: Any) -> Iterator[Row]:  # noqa: ANN401  # a tree of `decoding`
    if isinstance(tree, Row):
        yield tree
    elif isinstance(tree, dict | list):
        for each in tree.values() if isinstance(tree, dict) else tree:
            yield from _rows_of(each)
