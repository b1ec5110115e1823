"""What a worker delivers, when, where to, and what it does about failures (change §D3)."""

import errno
import os
from pathlib import Path

import pytest
from tests.support.changes import Columns, delete, delete_all, increment, put, put_cells, update
from tests.support.engines import open_tablestore
from tests.unit.server.delivery.world import CONFIG, WAIT, World, parquet

from widerow.engine.plan import Plan, failing
from widerow.engine.tablestore.delivery.service import DeliveryPhase
from widerow.engine.tunnels.pages import TunnelPage
from widerow.engine.tunnels.service import ChannelCall
from widerow.engine.tunnels.state import ChannelPosition
from widerow.keys.encode import encode_key_value
from widerow.limits import DELIVERY_RETRY_SECONDS
from widerow.model.tablestore.delivery import (
    DeliveryColumn,
    DeliveryType,
    EventColumn,
    EventTimeFormat,
    ParquetType,
)
from widerow.server.delivery import task as task_module
from widerow.server.delivery import worker as worker_module
from widerow.server.delivery.files import Disk
from widerow.testing.clock import FakeEntropy


class SpoiledDisk(Disk):
    """A disk that is full while `full` is set, and remembers what was asked of it."""

    def __init__(self) -> None:
        self.full = False
        self.asked: list[str] = []

    def sync(self, file: int) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.asked.append("sync")
        super().sync(file)

    def rename(self, before: str, after: str, directory: int) -> None:
        self.asked.append("rename")
        super().rename(before, after, directory)


@pytest.fixture
def disk() -> SpoiledDisk:
    return SpoiledDisk()


@pytest.fixture
def world(tmp_path: Path, disk: SpoiledDisk) -> World:
    return World(tmp_path, disk)


def test_rows_as_they_are_and_then_changes(world: World) -> None:
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.write(put("t", {"k": "b"}, {"n": 2}))
    world.create()
    assert world.describe().phase is DeliveryPhase.INIT
    world.work()
    assert world.rows() == [{"k": "a", "number": 1}, {"k": "b", "number": 2}]
    assert world.describe().phase is DeliveryPhase.INCR
    world.write(update("t", {"k": "a"}, put_cells({"n": 3})))
    world.write(update("t", {"k": "a"}, put_cells({"other": 3})))
    world.write(update("t", {"k": "a"}, [increment("n", 4)]))
    world.write(update("t", {"k": "b"}, [delete_all("n")]))
    world.write(delete("t", {"k": "b"}))
    world.deliver()
    assert world.rows()[2:] == [
        {"k": "a", "number": 3},
        {"k": "a", "number": None},
        {"k": "a", "number": 7},
    ]
    number = world.engine.deliveries.all()[0].task.tunnel.number
    assert world.files() == [
        f"bucket/out/task_{number}-0_out__1.parquet",
        f"bucket/out/task_{number}-1_out__1.parquet",
    ]


def test_a_task_of_rows_ends_with_them(world: World) -> None:
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.create(DeliveryType.BASE)
    world.deliver()
    world.write(put("t", {"k": "b"}, {"n": 2}))
    world.deliver()
    assert world.rows() == [{"k": "a", "number": 1}]
    assert world.describe().phase is DeliveryPhase.FULL


def test_a_task_of_changes_begins_with_its_creation(world: World) -> None:
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.clock.advance(1)
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "b"}, {"n": 2}))
    world.deliver()
    assert world.rows() == [{"k": "b", "number": 2}]
    assert world.describe().phase is DeliveryPhase.INCR


def test_what_was_synced_is_told_in_microseconds_of_the_tunnel(world: World) -> None:
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "b"}, {"n": 2}))
    world.deliver()
    assert world.describe().synced_us == world.clock.now_us()


def test_rows_wait_two_minutes_for_company(world: World) -> None:
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.work()
    world.clock.advance(WAIT - 1)
    world.write(put("t", {"k": "b"}, {"n": 2}))
    world.work()
    assert world.files() == []
    world.clock.advance(1)
    world.work()
    assert len(world.files()) == 1
    assert len(world.rows()) == 2


@pytest.mark.parametrize("bound", ["DELIVERY_BUFFER_ROWS_MAX", "DELIVERY_BUFFER_BYTES_MAX"])
def test_a_full_buffer_does_not_wait(
    world: World, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_module, bound, 3)
    world.create(DeliveryType.INC)
    for n in range(3):
        world.write(put("t", {"k": "a"}, {"n": n}))
    world.work()
    assert [row["number"] for row in world.rows()] == [0, 1, 2]


@pytest.mark.parametrize("bound", ["DELIVERY_BUFFER_ROWS_MAX", "DELIVERY_BUFFER_BYTES_MAX"])
def test_all_tasks_together_keep_the_bounds(
    world: World, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, bound, 1 if "ROWS" in bound else 600)
    for name in ("one", "two"):
        world.create(DeliveryType.INC, name=name)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.write(put("t", {"k": "b"}, {"n": 2}))
    world.work()
    waiting = [
        buffer for each in world.worker._working.values() for buffer in each.buffers.values()
    ]
    assert sum(len(each.rows) for each in waiting) <= (0 if "ROWS" in bound else 2)
    assert len(world.files()) == (2 if "ROWS" in bound else 1)


def test_each_file_is_synced_named_and_synced_again_before_the_checkpoint(
    world: World, disk: SpoiledDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    tunnels = world.engine.deliveries.tunnels
    checkpoint = tunnels.checkpoint

    def noted(*given: object) -> object:
        disk.asked.append("checkpoint")
        return checkpoint(*given)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(tunnels, "checkpoint", noted)
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.deliver()
    assert disk.asked == ["sync", "rename", "sync", "checkpoint"]


def test_a_full_disk_is_told_and_tried_again_each_minute(world: World, disk: SpoiledDisk) -> None:
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    disk.full = True
    world.deliver()
    assert world.files() == []
    trouble = world.describe().trouble
    assert trouble is not None
    assert trouble.code == 2
    assert "No space left on device" in trouble.detail
    assert "bucket/out/task_" in trouble.detail
    assert str(world.root) not in trouble.detail
    disk.full = False
    world.clock.advance(DELIVERY_RETRY_SECONDS - 1)
    world.work()
    assert world.files() == []
    world.clock.advance(1)
    world.work()
    assert world.rows() == [{"k": "a", "number": 1}]
    assert world.describe().trouble is None


def test_a_root_that_went_away_is_trouble_too(world: World) -> None:
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.root.rmdir()
    world.deliver()
    trouble = world.describe().trouble
    assert trouble is not None
    assert "No such file" in trouble.detail


def test_one_task_in_trouble_leaves_the_others_alone(world: World) -> None:
    (world.root / "other-bucket").write_text("in the way")
    world.create(DeliveryType.INC, CONFIG._replace(bucket="other-bucket"), "one")
    world.create(DeliveryType.INC, name="two")
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.deliver()
    assert world.describe("one").trouble is not None
    assert world.describe("two").trouble is None
    assert world.rows() == [{"k": "a", "number": 1}]


def test_a_task_of_many_channels_lets_others_have_their_turn(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of one channel of each task, though each has two."""
    monkeypatch.setattr("widerow.server.delivery.task.CHANNELS_AT_ONCE", 1)
    model, splits = world.engine.tables.model, (encode_key_value("m"),)
    table = world.engine.describe_table("i", "t")
    divide = world.engine.tables.change(table, lambda found: model.with_bounds(found, splits))
    world.engine.core.run(Plan((divide,), failing))
    for name in ("one", "two"):
        world.create(DeliveryType.INC, CONFIG._replace(prefix=name), name)
    for key in "az":
        world.write(put("t", {"k": key}, {"n": 1}))
    asked: list[str] = []
    tunnels = world.engine.deliveries.tunnels
    read = tunnels.read_records

    def read_records(instance: str, call: ChannelCall, position: ChannelPosition) -> TunnelPage:
        asked.append(call.tunnel)
        return read(instance, call, position)

    monkeypatch.setattr(tunnels, "read_records", read_records)
    world.move()
    for _ in range(2):
        world.worker.step()
    one, two = (task.tunnel.id for task in world.engine.describe_table("i", "t").deliveries)
    assert asked == [one, two, one, two]
    world.deliver()
    assert sorted(row["k"] for row in world.rows()) == ["a", "a", "z", "z"]


def test_after_a_restart_a_task_goes_on_behind_its_checkpoint(world: World) -> None:
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.deliver()
    world.write(put("t", {"k": "b"}, {"n": 2}))
    world.work()
    world.start()  # what waited is taken again
    world.write(put("t", {"k": "c"}, {"n": 3}))
    world.deliver()
    assert [row["k"] for row in world.rows()] == ["a", "b", "c"]
    assert [name.rpartition("__")[2] for name in world.files()] == ["1.parquet", "2.parquet"]


def test_an_orderly_end_leaves_nothing_waiting(world: World) -> None:
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.work()
    world.worker.finish()
    assert world.rows() == [{"k": "a", "number": 1}]
    world.start()
    world.deliver()
    assert len(world.files()) == 1


def test_nothing_is_written_for_changes_that_are_not_delivered(world: World) -> None:
    world.create(DeliveryType.INC)
    world.write(delete("t", {"k": "a"}))
    world.deliver()
    assert world.files() == []
    assert world.describe().synced_us == world.clock.now_us()
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.deliver()
    assert len(world.files()) == 1


@pytest.mark.parametrize("end", ["task", "table"])
def test_a_task_that_ended_writes_no_more(world: World, end: str) -> None:
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.work()
    if end == "task":
        world.engine.core.run(world.engine.deliveries.delete("i", "t", "task"))
    else:
        world.engine.core.run(world.engine.delete_table("i", "t"))
    world.deliver()
    assert world.files() == []


def test_a_task_that_ends_while_its_file_is_written_names_no_file(
    world: World, disk: SpoiledDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.work()
    sync = disk.sync

    def deleted(file: int) -> None:
        sync(file)
        monkeypatch.undo()
        world.engine.core.run(world.engine.delete_table("i", "t"))

    monkeypatch.setattr(disk, "sync", deleted)
    world.deliver()
    assert world.files() == []


def test_a_task_of_the_same_name_writes_over_no_file(world: World) -> None:
    for n in range(2):
        world.create(DeliveryType.INC)
        world.write(put("t", {"k": "a"}, {"n": n}))
        world.deliver()
        world.engine.core.run(world.engine.deliveries.delete("i", "t", "task"))
    assert len(world.files()) == 2
    assert [row["number"] for row in world.rows()] == [0, 1]


def test_variables_are_filled_with_the_time_of_the_write(world: World) -> None:
    world.create(DeliveryType.INC, CONFIG._replace(prefix="$yyyy/$MM-$dd/$HH$mm"))
    world.write(put("t", {"k": "a"}, {"n": 1}))  # 2016-07-19 16:00 UTC
    world.work()
    world.clock.advance(90)
    world.write(put("t", {"k": "b"}, {"n": 2}))
    world.deliver()
    assert sorted(name.rpartition("/")[0] for name in world.files()) == [
        "bucket/2016/07-19/1600",
        "bucket/2016/07-19/1601",
    ]


def test_a_row_of_no_known_time_is_dated_by_the_task(world: World) -> None:
    world.write(put("t", {"k": "a"}, {}))
    world.create(DeliveryType.BASE, CONFIG._replace(prefix="$yyyy"))
    world.work()
    assert [name.split("/")[1] for name in world.files()] == ["2016"]


def test_the_event_column_says_where_a_row_goes(world: World) -> None:
    event = EventColumn("at", EventTimeFormat.RFC3339)
    config = CONFIG._replace(prefix="y=$yyyy", event_column=event, dirty_prefix="bad")
    world.create(DeliveryType.INC, config)
    world.write(put("t", {"k": "a"}, {"at": "1999-12-31T23:59:59Z"}))
    world.write(put("t", {"k": "b"}, {"at": "2000-01-01T00:00:00Z"}))
    world.write(put("t", {"k": "c"}, {"at": "long ago"}))
    world.deliver()
    assert [name.split("/")[1] for name in world.files()] == ["bad", "y=1999", "y=2000"]
    assert [each["key"] for each in world.dirty()] == [{"k": "c"}]


def test_rows_of_one_file_keep_their_order_whatever_their_times(world: World) -> None:
    event = EventColumn("at", EventTimeFormat.UNIX)
    world.create(DeliveryType.INC, CONFIG._replace(prefix="$yyyy", event_column=event))
    for n, at in enumerate([120, 0, 120]):
        world.write(put("t", {"k": "a"}, {"n": n, "at": at}))
    world.deliver()
    assert [row["number"] for row in world.rows()] == [0, 1, 2]
    assert len(world.files()) == 1


@pytest.mark.parametrize("prefix", ["", "bad/$yyyy"])
def test_rows_that_do_not_fit_are_dropped_or_kept_apart(world: World, prefix: str) -> None:
    world.create(DeliveryType.INC, CONFIG._replace(dirty_prefix=prefix))
    world.write(put("t", {"k": "a"}, {"n": "text"}))
    world.write(put("t", {"k": "b"}, {"n": 2}))
    world.deliver()
    assert world.rows() == [{"k": "b", "number": 2}]
    assert [each["key"] for each in world.dirty()] == ([{"k": "a"}] if prefix else [])
    number = world.engine.deliveries.all()[0].task.tunnel.number
    kept = [name for name in world.files() if name.endswith("jsonl")]
    assert kept == ([f"bucket/bad/2016/task_{number}-0_bad_2016__1.jsonl"] if prefix else [])


def test_columns_have_the_order_names_and_types_of_the_schema(world: World) -> None:
    columns = (
        DeliveryColumn("b", "flag", ParquetType.BOOL),
        DeliveryColumn("n", "", ParquetType.INT64),
        DeliveryColumn("d", "real", ParquetType.DOUBLE),
        DeliveryColumn("k", "key", ParquetType.UTF8),
        DeliveryColumn("x", "", ParquetType.UTF8),
    )
    world.create(DeliveryType.INC, CONFIG._replace(columns=columns))
    row: Columns = {"b": True, "n": -(2**63), "d": 0.5, "x": b"binary"}
    world.write(put("t", {"k": "\u4e2d"}, row))
    world.deliver()
    path = world.root / world.files()[0]
    found = parquet.read_table(path)
    assert [(field.name, str(field.type)) for field in found.schema] == [
        ("flag", "bool"),
        ("n", "int64"),
        ("real", "double"),
        ("key", "string"),
        ("x", "string"),
    ]
    assert found.to_pylist() == [
        {"flag": True, "n": -(2**63), "real": 0.5, "key": "\u4e2d", "x": None}
    ]
    group = parquet.read_metadata(path).row_group(0)
    encodings = {each for place in range(5) for each in group.column(place).encodings}
    assert encodings <= {"PLAIN", "RLE"}  # RLE: of levels, and of booleans in newer versions


def test_the_server_that_takes_over_delivers_and_the_other_one_stops(world: World) -> None:
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.work()
    former = world.worker
    other = open_tablestore(world.store, world.clock, FakeEntropy(99))
    world.worker = world.new_worker(other)
    world.work()
    world.clock.advance(WAIT)
    former.step()  # it is due there as well
    assert world.files() == []
    world.work()
    assert world.rows() == [{"k": "a", "number": 1}]


def test_without_the_lease_nothing_is_done(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    monkeypatch.setattr(world.engine.core.lease, "held", lambda: False)
    world.deliver()
    assert world.files() == []
    assert world.describe().phase is DeliveryPhase.INIT
    monkeypatch.undo()
    world.deliver()
    assert len(world.files()) == 1


def test_rows_that_took_longer_than_changes_are_kept_end_in_trouble(world: World) -> None:
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.create()
    world.clock.advance(169 * 3600)
    world.work()
    trouble = world.describe().trouble
    assert trouble is not None
    assert "delete the tunnel and create it again" in trouble.detail


def test_without_the_library_a_task_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    world.create(DeliveryType.INC)
    world.write(put("t", {"k": "a"}, {"n": 1}))
    world.deliver()
    trouble = world.describe().trouble
    assert trouble is not None
    assert "pip install pyarrow" in trouble.detail
    assert world.files() == []
