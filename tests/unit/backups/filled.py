"""A store with tables of all models, whose content is compared with that of restored ones."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self

from tests.support.answers import decode_answer_rows
from tests.support.changes import create, delete, put, scan_all
from tests.support.engines import open_tablestore
from tests.support.watched import WATCHED, make_watched

from widerow.backups.making import back_up_records
from widerow.backups.restoring import restore_records
from widerow.engine.catalog.partitioned import CatalogPartitions
from widerow.engine.check import Finding
from widerow.engine.scan import WHOLE_TABLE
from widerow.engine.streams.log import ROW_INDEX_MAX, decode_head, encode_head
from widerow.engine.timeseries.plug import TIMESERIES
from widerow.engine.typed.index_build import begin_index
from widerow.engine.typed.plug import TYPED
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import CATALOG_SPACES, SPACE_CHANGES, SPACE_TUNNELS, TABLE_ID_KEY
from widerow.limits import (
    LEASE_SECONDS,
    TRANSACTION_SECONDS_MAX,
    TUNNEL_TIMEOUT_SECONDS_MIN,
)
from widerow.model.tablestore.requests import (
    CreateIndex,
    DropIndex,
    IndexDefinition,
    OptionsChange,
    UpdateTable,
)
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import MetaUpdateMode, TableRequest
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import TimeseriesOptions
from widerow.model.tunnels import CreateTunnel, TunnelKind
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.requests import OperationKind, WriteChoice
from widerow.model.typed.table import Index, IndexField
from widerow.model.typed.types import LONG, STRING, Identity
from widerow.model.values import KeyInput, KeyMarker, KeyType, Value
from widerow.storage.backup import Backup, read_backup
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

__all__ = ["INSTANCE", "Filled", "backed_up", "content", "restored"]

INSTANCE: Final = "i"
_DATA: Final = (SPACE_TUNNELS, *CATALOG_SPACES, *(bytes((each,)) for each in range(0x10, 0x15)))
_HEAD_BYTES: Final = 17
LATER_SECONDS: Final = 1500  # the stream keeps an hour


class Filled:
    """An engine over a store, with tables of all models; `number` decides what a change changes."""

    def __init__(self, store: Store, *, seed: int = 9) -> None:
        """An engine over the store, whose tables are made unless they are there."""
        self.store = store
        self.clock = FakeClock()
        self.tables = open_tablestore(store, self.clock, FakeEntropy(seed))
        self.core = self.tables.core
        self.typed, self.series = self.core.operations(TYPED), self.core.operations(TIMESERIES)
        if not self.tables.list_tables(INSTANCE):
            self._make()
        self.cpu = self.series.tables.find(INSTANCE, "cpu")
        (tunnel,) = self.tables.describe_table(INSTANCE, WATCHED).tunnels
        self.tunnel = tunnel.id

    @classmethod
    def of(cls, store: Store) -> Self:
        """Over a restored store, at a later time."""
        found = cls(store, seed=10)
        found.clock.advance(LATER_SECONDS)
        return found

    def _make(self) -> None:
        make_watched(self.tables, INSTANCE)
        counted = create("counted", {"k": KeyType.STRING, "n": KeyType.INTEGER})
        columns = (
            KeyColumn("k", KeyType.STRING),
            KeyColumn("n", KeyType.INTEGER, auto_increment=True),
        )
        self.run(self.tables.create_table(INSTANCE, replace(counted, key_columns=columns)))
        tunnel = CreateTunnel(WATCHED, "whole", TunnelKind.BASE_AND_STREAM)
        self.run(self.tables.tunnels.create(INSTANCE, tunnel))
        self._make_typed()
        request = TableRequest("cpu", TimeseriesOptions(-1, -1, update_attributes=True))
        self.run(self.series.create(INSTANCE, request))

    def _make_typed(self) -> None:
        users = TableBuilder("users").add_field("g", STRING).add_field("n", LONG)
        users.add_field("id", LONG, identity=Identity(cache=2)).primary_key("g", "id").shard_key(
            "g"
        )
        self.run(self.typed.create_table(users.build()))
        form = self.typed.tables.find_qualified("users")
        notes = TableBuilder("notes", parent=form.table)
        notes.add_field("at", LONG).add_field("text", STRING).primary_key("at")
        self.run(self.typed.create_table(notes.build()))
        self.run(begin_index(self.typed, form, Index("by_n", (IndexField("n"),))))

    def run(self, plan: Any) -> Any:  # noqa: ANN401  # any plan, and what it answers
        return self.core.run(plan)

    # --- changes -----------------------------------------------------------------------------

    def change(self, kind: str, number: int) -> None:
        """Make a change of a kind."""
        self.clock.advance(0.01)
        getattr(self, kind)(number)

    def row(self, number: int) -> None:
        key: dict[str, KeyInput] = {"k": f"p{number % 4}", "n": number}
        columns: dict[str, Value] = {"x": f"x{number % 3}", "c": self.clock.now_us() // 1000}
        self.run(self.tables.rows.write_row(INSTANCE, put(WATCHED, key, columns)))

    def wide(self, number: int) -> None:
        columns = {f"w{each:03}": "x" * 3000 for each in range(40)}
        self.run(
            self.tables.rows.write_row(INSTANCE, put(WATCHED, {"k": "wide", "n": number}, columns))
        )

    def no_row(self, number: int) -> None:
        key: dict[str, KeyInput] = {"k": f"p{number % 4}", "n": number}
        self.run(self.tables.rows.write_row(INSTANCE, delete(WATCHED, key)))

    def count(self, number: int) -> None:
        key: dict[str, KeyInput] = {"k": f"p{number % 2}", "n": KeyMarker.AUTO_INCREMENT}
        self.run(self.tables.rows.write_row(INSTANCE, put("counted", key, {"v": number})))

    def user(self, number: int) -> None:
        form = self.typed.tables.find_qualified("users")
        row = {"g": f"g{number % 3}", "n": number}
        self.run(self.typed.write(form, WriteChoice(OperationKind.PUT, row)))

    def note(self, number: int) -> None:
        form = self.typed.tables.find_qualified("users.notes")
        row = {"g": f"g{number % 3}", "id": 1, "at": number, "text": "t"}
        self.run(self.typed.write(form, WriteChoice(OperationKind.PUT, row)))

    def point(self, number: int) -> None:
        key = SeriesKey("cpu", f"h{number % 3}", (("os", "linux"),))
        point = Point(key, self.clock.now_us() - number, {"v": number})
        self.run(self.series.put(self.cpu, [point], MetaUpdateMode.NORMAL))

    def split(self, number: int) -> None:
        partitions = CatalogPartitions(self.core.catalog)
        table = self.tables.describe_table(INSTANCE, WATCHED)
        bound = encode_key_value(f"p{number % 4}")
        self.run_write(partitions.divide(table, lambda old: tuple(sorted({*old, bound}))))

    def run_write(self, write: Any) -> None:  # noqa: ANN401  # any write
        (outcome,) = self.store.transact_group([write])
        assert outcome.error is None

    def alter(self, number: int) -> None:
        """Change the options of a table, and let another one come or go."""
        options = OptionsChange(max_versions=1 + number)
        self.run(self.tables.update_table(INSTANCE, UpdateTable("counted", options=options)))
        if "other" in self.tables.list_tables(INSTANCE):
            self.run(self.tables.delete_table(INSTANCE, "other"))
        else:
            self.run(self.tables.create_table(INSTANCE, create("other", {"k": KeyType.STRING})))
            self.run(self.tables.rows.write_row(INSTANCE, put("other", {"k": "a"}, {"v": 1})))

    def rows_of(self, table: str, columns: tuple[str, ...]) -> list[tuple[Any, Any]]:
        """Keys and cells of a table's rows; `columns`: of the key."""
        low: dict[str, KeyInput] = dict.fromkeys(columns, KeyMarker.INF_MIN)
        high: dict[str, KeyInput] = dict.fromkeys(columns, KeyMarker.INF_MAX)
        page = self.tables.rows.get_range(INSTANCE, scan_all(table, low, high))
        assert page.next_key is None
        return [(tuple(key.values()), cells) for key, cells in decode_answer_rows(page.rows)]

    def index(self, number: int) -> None:
        """Let a local or a global index of the watched table be built, or go."""
        name, is_local = f"late{number % 2}", number % 2
        indexes = self.tables.indexes
        if any(each.name == name for each in self.tables.describe_table(INSTANCE, WATCHED).indexes):
            self.run(indexes.drop(INSTANCE, DropIndex(WATCHED, name)))
        else:
            columns = ("k", "c") if is_local else ("c",)
            asked = IndexDefinition(name, columns, ("x",), is_local, is_local)
            self.run(indexes.create(INSTANCE, CreateIndex(WATCHED, asked, include_base_data=True)))
            self.settle()

    def users(self) -> set[int]:
        """The numbers of the users that are there."""
        form = self.typed.tables.find_qualified("users")
        return {each.values["id"] for each in self.typed.scan(form, WHOLE_TABLE)}

    def consume(self, number: int) -> None:
        del number
        connect = self.tables.tunnels.connect
        self.run(connect(INSTANCE, self.tunnel, "tag", TUNNEL_TIMEOUT_SECONDS_MIN))

    def settle(self, number: int = 0) -> None:
        """Build what is to be built, and move what waits."""
        del number
        for _ in range(2):
            self.clock.advance(TRANSACTION_SECONDS_MAX + LEASE_SECONDS + 1)
            while (plan := self.core.housekeeping()) is not None:
                self.run(plan)


def content(store: Store) -> dict[bytes, bytes]:
    """Every record of tables and the catalogue, without what is about moving and removing."""
    return dict(_content(store))


def _content(store: Store) -> Iterator[tuple[bytes, bytes]]:
    for key, value in store.snapshot().scan(b"", b"\xff" * 8):
        if key[:1] == SPACE_CHANGES and len(key) == _HEAD_BYTES:
            head = decode_head(value)
            if head.last.row_index != ROW_INDEX_MAX:  # else it has had no record
                yield key, encode_head(head._replace(moved=(), sealed=False))
        elif key[:1] in CATALOG_SPACES and value:
            record = json.loads(value)
            if "prefixes" not in record:  # of a drop note, which goes with what it is about
                yield key, _definition(record)
        elif key[:1] in _DATA or key == TABLE_ID_KEY:
            yield key, value


def _definition(record: dict[str, Any]) -> bytes:
    """Without how often it was changed, what is left to do, and when a shard's end was noticed."""
    record.pop("revision", None)
    record.pop("untrimmed", None)
    for shard in record.get("stream", [[]] * 6)[5]:
        shard[4] = bool(shard[4])
    return json.dumps(record).encode()


def backed_up(store: Store, target: Path) -> Backup:
    """A backup of the store in `target`; nothing waits in it."""
    return back_up_records(
        store, target, "the store", created="2026-01-01", version="1", rest=lambda _: None
    )


def restored(store: Store, source: Path) -> list[Finding]:
    """What is wrong with `store` after the backup in `source` was restored into it."""
    clock = FakeClock()
    clock.advance(LATER_SECONDS)
    return restore_records(store, source, read_backup(source), clock, FakeEntropy(8))
