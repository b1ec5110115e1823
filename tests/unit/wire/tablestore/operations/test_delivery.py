"""The actions of delivery tasks as bytes, from a request's message to its answer's (change §D3)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from google.protobuf.message import Message
from tests.support.changes import create
from tests.support.engines import open_tablestore
from tests.unit.wire.tablestore.operations.asking import answer_of, refusal_of

from widerow.engine.check import check_store
from widerow.engine.tablestore.engine import TablestoreSettings
from widerow.engine.tablestore.table_record import decode_table, encode_table
from widerow.engine.tunnels.records import DeliveryTrouble
from widerow.engine.tunnels.service import TunnelCall
from widerow.errors import AnyRule, InvalidRequest, NotFound, WiderowError
from widerow.keys.layout import tunnels_prefix
from widerow.limits import DELIVERY_TASKS_PER_TABLE_MAX
from widerow.model.tablestore.requests import StreamChange, UpdateTable
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tunnels import TunnelRule
from widerow.model.values import KeyType
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import delivery_messages as d
from widerow.wire.tablestore import timeseries_messages as m

BASE, INC, BASE_INC = 0, 1, 2
INVALID, UNSUPPORTED = (400, "OTSParameterInvalid"), (400, "OTSUnsupportOperation")
MISSING, TAKEN = (404, "OTSObjectNotExist"), (409, "OTSObjectAlreadyExist")
M = TypeVar("M", bound=Message)


class World:
    """An instance with a table, at a server that writes files."""

    def __init__(self, refusal: AnyRule | None = None) -> None:
        self.clock, self.store = FakeClock(), MemoryStore()
        self.engine = open_tablestore(
            self.store, self.clock, FakeEntropy(), delivery_refusal=refusal
        )
        self.engine.core.run(self.engine.create_table("i", create("t", {"k": KeyType.STRING})))

    def ask(self, action: str, sent: Message, answer: Callable[[bytes], M]) -> M:
        return answer_of(self.engine, f"{action}DeliveryTask", sent, answer)

    def refused(self, action: str, sent: Message) -> tuple[int, str]:
        return refusal_of(self.engine, f"{action}DeliveryTask", sent)

    def create(self, name: str = "task", kind: int = BASE_INC) -> None:
        sent = request(taskName=name, taskType=kind)
        found = self.ask("Create", sent, d.CreateDeliveryTaskResponse.FromString)
        assert found.SerializeToString() == b""  # (change §D3)

    def describe(self, name: str = "task") -> d.DescribeDeliveryTaskResponse:
        sent = d.DescribeDeliveryTaskRequest(tableName="t", taskName=name)
        return self.ask("Describe", sent, d.DescribeDeliveryTaskResponse.FromString)

    def list(self) -> list[tuple[str | bytes, str | bytes, int]]:
        sent = d.ListDeliveryTaskRequest(tableName="t")
        found = self.ask("List", sent, d.ListDeliveryTaskResponse.FromString)
        for each in found.tasks:
            assert all(each.HasField(name) for name in ("tableName", "taskName", "taskType"))
        return [(each.tableName, each.taskName, each.taskType) for each in found.tasks]

    def delete(self, name: str = "task") -> None:
        sent = d.DeleteDeliveryTaskRequest(tableName="t", taskName=name)
        self.ask("Delete", sent, d.DeleteDeliveryTaskResponse.FromString)


def config(**changed: Any) -> d.OSSTaskConfig:  # noqa: ANN401  # fields of the message
    fields: dict[str, Any] = {
        "ossPrefix": "year=$yyyy",
        "ossBucket": "bucket",
        "schema": [d.ParquetSchema(columnName="k", type=2)],
    }
    return d.OSSTaskConfig(**fields | changed)


def request(**changed: Any) -> d.CreateDeliveryTaskRequest:  # noqa: ANN401  # fields of the message
    fields: dict[str, Any] = {"tableName": "t", "taskName": "task", "taskConfig": config()}
    return d.CreateDeliveryTaskRequest(**fields | changed)


@pytest.fixture
def world() -> World:
    return World()


def test_a_task_is_described_as_it_was_sent(world: World) -> None:
    sent = config(
        ossDirtyPrefix="bad",
        ossEndpoint="https://oss.example",
        ossStsRole="acs:ram::1:role/r",
        formatter=0,
        format=0,
        eventTimeColumn=d.EventColumn(columnName="at", timeFormat=4),
        schema=[
            d.ParquetSchema(columnName="k", ossColumnName="key", type=2, encode=0),
            d.ParquetSchema(columnName="b", type=0, encode=99),
            d.ParquetSchema(columnName="n", type=1),
            d.ParquetSchema(columnName="x", type=3),
        ],
    )
    world.ask(
        "Create", request(taskConfig=sent, taskType=INC), d.CreateDeliveryTaskResponse.FromString
    )
    found = world.describe()
    assert found.taskConfig == sent
    assert found.taskType == INC


@pytest.mark.parametrize("kind", [BASE, INC, BASE_INC])
def test_before_it_begins_a_task_is_in_phase_init_and_without_an_error(
    world: World, kind: int
) -> None:
    world.create(kind=kind)
    found = world.describe()
    assert found.HasField("taskConfig")
    assert found.HasField("taskType")
    state = found.task_sync_stat
    assert state.HasField("task_sync_phase")
    assert state.HasField("current_sync_timestamp")
    assert (state.task_sync_phase, state.current_sync_timestamp) == (0, 0)
    assert not state.HasField("error_code")  # one client has no name for 0 (change §D3)
    assert not state.HasField("detail")


def test_without_a_type_a_task_delivers_rows_and_changes(world: World) -> None:
    world.ask("Create", request(), d.CreateDeliveryTaskResponse.FromString)
    assert world.list() == [("t", "task", BASE_INC)]


def test_trouble_is_told_until_it_is_over(world: World) -> None:
    world.create()
    found = world.engine.deliveries.all()[0]
    world.engine.core.run(world.engine.deliveries.note(found, DeliveryTrouble(2, "no space")))
    state = world.describe().task_sync_stat
    assert (state.error_code, state.detail) == (2, "no space")
    check_store(world.store)
    world.engine.core.run(world.engine.deliveries.note(found, None))
    assert not world.describe().task_sync_stat.HasField("error_code")


def test_tasks_are_listed_by_their_names_and_end_at_once(world: World) -> None:
    for name in ("bbb", "aaa"):
        world.create(name, BASE)
    assert world.list() == [("t", "aaa", BASE), ("t", "bbb", BASE)]
    world.delete("aaa")
    assert world.list() == [("t", "bbb", BASE)]
    named = d.DescribeDeliveryTaskRequest(tableName="t", taskName="aaa")
    assert world.refused("Describe", named) == MISSING
    assert (
        world.refused("Delete", d.DeleteDeliveryTaskRequest(tableName="t", taskName="aaa"))
        == MISSING
    )


def test_a_name_is_taken_once(world: World) -> None:
    world.create()
    assert world.refused("Create", request()) == TAKEN


def test_tables_that_are_not_there(world: World) -> None:
    for action, sent in (
        ("Create", request(tableName="u")),
        ("Describe", d.DescribeDeliveryTaskRequest(tableName="u", taskName="task")),
        ("Delete", d.DeleteDeliveryTaskRequest(tableName="u", taskName="task")),
        ("List", d.ListDeliveryTaskRequest(tableName="u")),
    ):
        assert world.refused(action, sent) == MISSING


@pytest.mark.parametrize(
    "changed",
    [
        {"taskName": "-a-"},
        {"taskName": ""},
        {"taskType": 3},
        {"taskConfig": config(ossBucket="")},
        {"taskConfig": config(ossBucket="..")},
        {"taskConfig": config(ossPrefix="../x")},
        {"taskConfig": config(ossDirtyPrefix="a//b")},
        {"taskConfig": config(format=1)},
        {"taskConfig": config(formatter=1)},
        {"taskConfig": config(schema=[])},
        {"taskConfig": config(schema=[d.ParquetSchema(columnName="k", type=4)])},
        {"taskConfig": config(schema=[d.ParquetSchema(columnName="k")])},
        {"taskConfig": config(schema=[d.ParquetSchema(type=1)])},
        {"taskConfig": config(schema=[d.ParquetSchema(columnName="k", type=1)] * 2)},
        {"taskConfig": config(schema=[d.ParquetSchema(columnName="k" * 256, type=1)])},
        {
            "taskConfig": config(
                schema=[d.ParquetSchema(columnName=f"c{n}", type=1) for n in range(1025)]
            )
        },
        {"taskConfig": config(ossEndpoint="x" * 1025)},
        {"taskConfig": config(ossStsRole="x" * 1025)},
        {"taskConfig": config(eventTimeColumn=d.EventColumn(columnName="at", timeFormat=6))},
        {"taskConfig": config(eventTimeColumn=d.EventColumn(timeFormat=1))},
        {"taskConfig": None},
    ],
)
def test_what_no_task_can_be_is_refused(world: World, changed: dict[str, Any]) -> None:
    assert world.refused("Create", request(**changed)) == INVALID
    assert world.list() == []


def test_a_table_has_so_many_tasks(world: World) -> None:
    for number in range(DELIVERY_TASKS_PER_TABLE_MAX):
        world.create(f"t-{number}", BASE)
    assert world.refused("Create", request()) == INVALID


@pytest.mark.parametrize("rule", [TablestoreRule.DELIVERY_OFF, TablestoreRule.DELIVERY_LIBRARY])
def test_a_server_that_writes_no_files_says_so(rule: AnyRule) -> None:
    world = World(rule)
    assert world.refused("Create", request()) == UNSUPPORTED
    assert world.list() == []


def test_an_engine_takes_no_tasks_unless_somebody_writes_files() -> None:
    assert TablestoreSettings().delivery_refusal is TablestoreRule.DELIVERY_OFF


def test_no_client_sees_the_tunnel_of_a_task(world: World) -> None:
    world.create()
    tunnel = world.engine.deliveries.all()[0].task.tunnel
    assert world.engine.tunnels.list_tunnels("i", "t") == []
    with pytest.raises(NotFound) as caught:
        world.engine.tunnels.connect("i", tunnel.id, "client", 60)
    assert caught.value.rule is TunnelRule.TUNNEL_NOT_FOUND


def test_the_stream_of_a_task_is_switched_on_and_cannot_be_switched_off(world: World) -> None:
    world.create("rows", BASE)
    assert world.engine.describe_table("i", "t").stream is None
    world.create()
    assert world.engine.describe_table("i", "t").stream is not None
    off = UpdateTable("t", stream=StreamChange(enable=False))
    with pytest.raises(InvalidRequest) as caught:
        world.engine.core.run(world.engine.update_table("i", off))
    assert caught.value.rule is TablestoreRule.STREAM_HAS_TUNNELS
    world.delete()
    world.engine.core.run(world.engine.update_table("i", off))


@pytest.mark.parametrize("end", ["task", "table"])
def test_nothing_is_left_of_a_task_that_ended(world: World, end: str) -> None:
    world.create()
    found = world.engine.deliveries.all()[0]
    tunnels = world.engine.deliveries.tunnels
    client = world.engine.core.run(tunnels.connect("i", found.task.tunnel.id, "w", 60))
    world.engine.core.run(tunnels.heartbeat("i", TunnelCall(found.task.tunnel.id, client), ()))
    world.engine.core.run(world.engine.deliveries.note(found, DeliveryTrouble(2, "no space")))
    prefix = tunnels_prefix(found.table.id)
    assert list(world.store.snapshot().scan(prefix, prefix + b"\xff"))
    check_store(world.store)
    if end == "task":
        world.delete()
    else:
        world.engine.core.run(world.engine.delete_table("i", "t"))
    for _ in range(20):
        plan = world.engine.core.housekeeping()
        if plan is not None:
            world.engine.core.run(plan)
    assert not list(world.store.snapshot().scan(prefix, prefix + b"\xff"))
    check_store(world.store)
    with pytest.raises(WiderowError):
        world.engine.core.run(world.engine.deliveries.note(found, None))


def test_a_task_is_kept_with_its_table(world: World) -> None:
    world.create()
    table = world.engine.describe_table("i", "t")
    assert decode_table(encode_table(table)) == table
    assert decode_table(encode_table(replace(table, deliveries=()))).deliveries == ()
    again = open_tablestore(world.store, world.clock, FakeEntropy(1))
    assert again.describe_table("i", "t") == table


def test_a_timeseries_table_has_no_task() -> None:
    """docs/protocol/differences.md, "Timeseries tables": it has no changes to deliver."""
    world = World()
    meta = m.TimeseriesTableMeta(table_name="ts")
    made = m.CreateTimeseriesTableRequest(table_meta=meta)
    answer_of(world.engine, "CreateTimeseriesTable", made, bytes)
    assert world.refused("Create", request(tableName="ts")) == UNSUPPORTED
    assert world.refused("Create", request(tableName="absent")) == MISSING
