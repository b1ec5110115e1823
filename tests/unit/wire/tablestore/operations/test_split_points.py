"""ComputeSplitPointsBySize and our own action about partitions (semantics §6)."""

import json

import pytest
from tablestore.protobuf import table_store_pb2 as sdk
from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import AnyRule, InvalidRequest, NotFound
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore.operations.table import OPERATIONS, OWN
from widerow.wire.tablestore.plainbuffer import decode_primary_key

action = OPERATIONS["ComputeSplitPointsBySize"]
partitions = OWN["WiderowPartitions"]
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def engine() -> TablestoreEngine:
    """A table of about four MiB, forty partition key values of 100 000 bytes."""
    opened = open_tablestore(open_store("memory:"), FakeClock(), FakeEntropy())
    key = (KeyColumn("k", KeyType.INTEGER), KeyColumn("n", KeyType.STRING))
    opened.core.run(opened.create_table("i", create("t", key)))
    opened.core.run(opened.create_table("i", create("empty", key)))
    for number in range(40):
        row = put("t", {"k": number - 20, "n": "x"}, {"v": b"\x00" * 100_000})
        opened.core.run(opened.rows.write_row("i", row))
    return opened


def ask(
    engine: TablestoreEngine,
    size: int = 1,
    unit: int | None = MIB,
    table: str = "t",
    limit: int | None = None,
) -> sdk.ComputeSplitPointsBySizeResponse:
    """What the SDK's own messages make of the answer."""
    request = sdk.ComputeSplitPointsBySizeRequest(
        table_name=table, split_size=size, split_size_unit_in_byte=unit
    )
    body = request.SerializeToString()
    if limit is not None:
        body += b"\x20" + bytes((limit,))  # field 4, which this SDK does not know
    answer = action.encode(action.call(engine, "i", action.decode(body)))
    return sdk.ComputeSplitPointsBySizeResponse.FromString(answer)


def bounds(answer: sdk.ComputeSplitPointsBySizeResponse) -> list[object]:
    keys = [decode_primary_key(point).columns for point in answer.split_points]
    assert all(
        len(columns) == 1 and columns[0][0] == "k" for columns in keys
    )  # the rest is INF_MIN
    return [columns[0][1] for columns in keys]


def test_parts_are_about_as_large_as_asked_and_begin_at_real_keys(engine: TablestoreEngine) -> None:
    answer = ask(engine)
    assert bounds(answer) == [-10, 0, 10]
    assert [column.name for column in answer.schema] == ["k", "n"]
    assert (answer.consumed.capacity_unit.read, answer.consumed.capacity_unit.write) == (4, 0)
    assert sum(location.repeat for location in answer.locations) == 4
    assert all(len(location.location) == 32 for location in answer.locations)


def test_without_writes_the_points_stay(engine: TablestoreEngine) -> None:
    # semantics §6; a table above 32 MiB, of which sizes are learnt while it is asked about
    engine.core.run(engine.create_table("i", create("large", {"k": KeyType.INTEGER})))

    def write(numbers: range) -> None:
        for number in numbers:
            row = put("large", {"k": number}, {"v": b"\x00" * 1_000_000})
            engine.core.run(engine.rows.write_row("i", row))

    def points(size: int = 4) -> list[object]:
        answer = ask(engine, size, table="large")
        return [decode_primary_key(point).columns[0][1] for point in answer.split_points]

    write(range(40))
    engine.core.partitions.absorb()
    first, other = points(), points(8)
    while engine.core.partitions.learn_sizes():
        pass
    assert (points(), points(8)) == (first, other)
    write(range(40, 60))
    assert points() == points()
    engine.core.partitions.absorb()
    while engine.core.partitions.learn_sizes():
        pass
    write(range(60, 61))  # what was learnt shows with the next write
    found = points()
    assert len(found) >= 10
    assert found != first


def test_larger_parts_are_fewer(engine: TablestoreEngine) -> None:
    assert bounds(ask(engine, 2)) == [0]
    assert bounds(ask(engine, 1, None)) == []  # 100 MB is the unit where none is named
    assert bounds(ask(engine, limit=1)) == [0]
    assert bounds(ask(engine, limit=9)) == [-10, 0, 10]


def test_an_empty_table_is_one_part(engine: TablestoreEngine) -> None:
    answer = ask(engine, table="empty")
    assert bounds(answer) == []
    assert [location.repeat for location in answer.locations] == [1]
    assert answer.consumed.capacity_unit.read == 1


@pytest.mark.parametrize(
    ("size", "unit", "rule"),
    [
        (0, MIB, TablestoreRule.SPLIT_SIZE),
        (-1, None, TablestoreRule.SPLIT_SIZE),
        (1, MIB - 1, TablestoreRule.SPLIT_SIZE_UNIT),
    ],
)
def test_sizes_that_are_refused(
    engine: TablestoreEngine, size: int, unit: int | None, rule: AnyRule
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        ask(engine, size, unit)
    assert caught.value.rule is rule


def test_a_limit_of_nothing_is_refused(engine: TablestoreEngine) -> None:
    with pytest.raises(InvalidRequest) as caught:
        ask(engine, limit=0)
    assert caught.value.rule is TablestoreRule.SPLIT_POINT_LIMIT


def test_a_table_that_is_not_there(engine: TablestoreEngine) -> None:
    with pytest.raises(NotFound):
        ask(engine, table="nothing")


def test_our_own_action_answers_json(engine: TablestoreEngine) -> None:
    request = partitions.decode(b'{"table":"t","history":true}')
    told = json.loads(partitions.encode(partitions.call(engine, "i", request)))
    assert (told["table"], told["history"]) == ("t", [])
    assert [each["start"] for each in told["partitions"]] == [None]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"table":1}', b'{"table":"t","more":1}', b'{"table":"t","history":1}']
)
def test_what_is_no_such_request_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest) as caught:
        partitions.decode(body)
    assert caught.value.rule is TablestoreRule.BODY_UNREADABLE
