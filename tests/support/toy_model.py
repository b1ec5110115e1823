"""The smallest table model: tables of texts that expire, each under a text as its key."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.catalog.model import CatalogModel
from widerow.engine.catalog.notes import decode_note
from widerow.engine.catalog.state import Leftover
from widerow.engine.check_part import CheckPart
from widerow.engine.copying import CopyMoment, CopyRoom, ModelCopy, PlacedTables, Records
from widerow.engine.engine import Engine, OpenModel, TableModel, TableModelEntry
from widerow.engine.partitions.partitioned_tables import Bounds, PartitionKey
from widerow.engine.plan import Plan, failing, single
from widerow.engine.scan import RowAccess, ScannedRow
from widerow.engine.sweep.model import NOTHING_FREED, STAYS, Freed, SweptModel, SweptRecord
from widerow.engine.sweep.record import SweepRecord
from widerow.errors import NotFound, Rule, StoreDamaged
from widerow.keys.decode import decode_key_value
from widerow.keys.encode import after_prefix, encode_key_value
from widerow.keys.layout import CATALOG_SPACES, ROW_PREFIX_BYTES, row_prefix, statistics_prefix
from widerow.model.values import KeyType
from widerow.storage.interface import Reader, Snapshot, Transaction, Write

_ROW: Final = b"\x7f"  # and the microseconds since 1970 at which it expires, in eight bytes


@dataclass(frozen=True)
class ToyTable:
    id: int
    owner: str
    name: str
    splits: Bounds = ()
    asked: ClassVar[Bounds] = ()
    global_indexes: ClassVar[tuple[int, ...]] = ()
    reserved_units: ClassVar[tuple[int, int]] = (0, 0)

    @property
    def qualified(self) -> str:
        return f"{self.owner}/{self.name}"


class ToyModel(CatalogModel[ToyTable]):
    space, kind = CATALOG_SPACES[-1], ToyTable

    def name_of(self, table: ToyTable) -> tuple[str, str]:
        return table.owner, table.name

    def record_of(self, table: ToyTable) -> tuple[bytes, bytes]:
        key = self.space + encode_key_value(table.owner) + table.name.encode()
        return key, b"".join([table.id.to_bytes(4, "big"), *table.splits])

    def read(self, key: bytes, record: bytes) -> ToyTable | Leftover:
        if key[1:2] == b"\x00":
            return decode_note(int.from_bytes(key[2:], "big"), key, record)
        owner, end = decode_key_value(key, 1, KeyType.STRING)
        bounds = tuple(part + b"\x00\x01" for part in record[4:].split(b"\x00\x01")[:-1])
        return ToyTable(int.from_bytes(record[:4], "big"), str(owner), key[end:].decode(), bounds)

    def leftover_of(self, table: ToyTable, due_us: int) -> Leftover:
        note = self.space + b"\x00" + table.id.to_bytes(4, "big")
        prefixes = row_prefix(table.id), statistics_prefix(table.id)
        return Leftover(table.id, note, prefixes, due_us=due_us)

    def missing(self, owner: str, name: str) -> NotFound:
        return NotFound(Rule.TABLE_NOT_FOUND, instance=owner, table=name)

    def partitioned(self, table: ToyTable) -> ToyTable:
        return table

    def with_bounds(self, table: ToyTable, bounds: Bounds) -> ToyTable:
        return replace(table, splits=bounds)

    def partition_key(self, table: ToyTable) -> PartitionKey:
        return PartitionKey(table.owner, table.name, "key", "text", len, lambda key: key.hex())


def _check_row(key: bytes, record: bytes) -> None:
    if decode_key_value(key, ROW_PREFIX_BYTES, KeyType.STRING)[1] != len(key) or record[:1] != _ROW:
        raise StoreDamaged("no row of a toy table")


TOY_MODEL = ToyModel()


class Toy(TableModel[ToyTable, "ToyEngine"]):
    records: ClassVar[CatalogModel[Any]] = TOY_MODEL

    def open(self, engine: Engine) -> "ToyEngine":
        return ToyEngine(engine)

    def check_parts(self, catalog: Catalog, _: Snapshot) -> Iterator[CheckPart]:
        for table in Tables(catalog, TOY_MODEL).all():
            prefix = row_prefix(table.id)
            yield CheckPart(table.qualified, prefix, after_prefix(prefix), _check_row)


TOY = Toy()
TOY_ENTRY = TableModelEntry(ToyModel.space, lambda: TOY_MODEL, lambda: TOY)  # registers the model


class ToyEngine(OpenModel[ToyTable]):
    name, copies = "toy", True

    def __init__(self, core: Engine) -> None:
        self.core, self.tables = core, Tables(core.catalog, TOY_MODEL)
        self.sweep = ToySweep(core)

    def create(self, owner: str, name: str) -> Plan[ToyTable]:
        return Plan((self.tables.create(lambda d: ToyTable(d.number(), owner, name)),), single)

    def drop(self, table: ToyTable) -> Plan[None]:
        due_us = self.core.catalog.due_us(self.core.clock.now_us())
        return Plan((self.tables.drop(table, due_us=due_us),), failing)

    def put(self, table: ToyTable, key: str, text: str, expires_us: int = 0) -> Plan[None]:
        encoded = encode_key_value(key)
        shard, record = row_prefix(table.id) + encoded, _ROW + expires_us.to_bytes(8, "big")
        record += text.encode()

        def body(txn: Transaction) -> bool:
            self.tables.current(table, txn)
            new = txn.get(shard) is None
            txn.put(shard, record)
            return new

        def settled(new: bool) -> None:  # noqa: FBT001  # the answer of the body
            self.core.partitions.note_load(table.id, encoded, 0, 1, new, len(shard + record) * new)

        write = Write((shard,), body, settled=settled)
        write.reads = self.core.catalog.reads
        return Plan((write,), failing, again=lambda _: self.put(table, key, text, expires_us))

    def scan(self, table: ToyTable, access: RowAccess, after: bytes = b"") -> Iterator[ScannedRow]:
        prefix, low, high = row_prefix(table.id), access.low.values, access.high.values
        start, stop = (prefix + b"".join(map(encode_key_value, each)) for each in (low, high))
        start = after_prefix(start) if low and not access.low.inclusive else start
        stop = stop if high and not access.high.inclusive else after_prefix(stop)
        if after:
            start, stop = (start, after) if access.reverse else (after + b"\x00", stop)
        now_us = self.core.clock.now_us()
        for key, record in self.core.store.snapshot().scan(start, stop, reverse=access.reverse):
            if not 0 < int.from_bytes(record[1:9], "big") <= now_us:
                name = decode_key_value(key, ROW_PREFIX_BYTES, KeyType.STRING)[0]
                yield ScannedRow({"key": name, "text": record[9:].decode()}, key)

    def copied(self, moment: CopyMoment, owner: str, room: int) -> "ToyCopy":
        counted = CopyRoom(owner, room)
        found = [
            (table, counted.behind(moment.reader, row_prefix(table.id)))
            for table in TOY_MODEL.owned(moment.state, owner)
        ]
        return ToyCopy(found, counted.size)


class ToyCopy(ModelCopy):
    def __init__(self, tables: list[tuple[ToyTable, Records]], size: int) -> None:
        self.names = tuple(table.name for table, _ in tables)
        self.rows, self.size, self.numbers = sum(len(r) for _, r in tables), size, len(tables)
        self.tables = tuple(tables)

    def filled(self, number: int) -> tuple[bytes, ...]:
        return (row_prefix(number),)

    def under(self, number: Callable[[], int], _: int) -> PlacedTables:
        made = [(replace(table, id=number()), records) for table, records in self.tables]
        pairs = [
            (row_prefix(table.id) + key, record) for table, found in made for key, record in found
        ]
        return PlacedTables(tuple([(TOY_MODEL, each) for each, _ in made]), pairs, lambda: None)


class ToySweep(SweptModel[ToyTable]):
    kind = ToyTable

    def __init__(self, core: Engine) -> None:
        self._now_us = core.clock.now_us

    def ranges(self, table: ToyTable) -> tuple[tuple[bytes, bytes], ...]:
        return ((row_prefix(table.id), after_prefix(row_prefix(table.id))),)

    def due_us(self, _: ToyTable, last: SweepRecord | None) -> int:
        return 0 if last is None else last.ended_us + 60_000_000

    def examine(self, table: ToyTable, key: bytes, record: bytes, reader: Reader) -> SweptRecord:
        del table, reader
        gone = 0 < int.from_bytes(record[1:9], "big") <= self._now_us()
        return SweptRecord(shards=(key,), body=partial(self._remove, key)) if gone else STAYS

    def _remove(self, key: bytes, txn: Transaction) -> Freed:
        record = txn.get(key)
        if record is None or not 0 < int.from_bytes(record[1:9], "big") <= self._now_us():
            return NOTHING_FREED
        txn.delete(key)
        return Freed(key[ROW_PREFIX_BYTES:], rows=1, size=len(key) + len(record))
