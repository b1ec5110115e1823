"""ListSearchIndex of no index, and ListTimeseriesTable: lists of what there is none of."""

import pytest
from tablestore.protobuf import search_pb2, timeseries_pb2
from tests.support.changes import create
from tests.support.engines import open_tablestore

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, NotFound
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyType
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore.errors.answers import foreign
from widerow.wire.tablestore.operations.table import OPERATIONS


@pytest.fixture
def engine() -> TablestoreEngine:
    opened = open_tablestore(open_store("memory:"), FakeClock(), FakeEntropy())
    opened.core.run(opened.create_table("i", create("t", {"k": KeyType.STRING})))
    return opened


def answered(engine: TablestoreEngine, action: str, body: bytes) -> bytes:
    entry = OPERATIONS[action]
    return entry.encode(entry.call(engine, "i", entry.decode(body)))


@pytest.mark.parametrize("table", [None, "t"])
def test_there_is_no_search_index(engine: TablestoreEngine, table: str | None) -> None:
    # search §1: without a table all of the instance
    body = search_pb2.ListSearchIndexRequest(table_name=table).SerializeToString()
    answer = search_pb2.ListSearchIndexResponse.FromString(
        answered(engine, "ListSearchIndex", body)
    )
    assert list(answer.indices) == []


def test_search_indexes_of_a_table_that_is_not_there(engine: TablestoreEngine) -> None:
    # search §1.1: OTSParameterInvalid, with a text that contains "does not exist"
    body = search_pb2.ListSearchIndexRequest(table_name="nowhere").SerializeToString()
    with pytest.raises(NotFound) as caught:
        answered(engine, "ListSearchIndex", body)
    expected = (400, "OTSParameterInvalid", "table [nowhere] does not exist")
    assert foreign(caught.value) == expected


def test_search_indexes_of_no_table_name(engine: TablestoreEngine) -> None:
    # semantics §1.4: a wrong name comes before a missing table, on every action
    with pytest.raises(InvalidRequest) as caught:
        answered(engine, "ListSearchIndex", b"\x0a\x01#")
    assert caught.value.rule is TablestoreRule.TABLE_NAME


def test_there_is_no_timeseries_table(engine: TablestoreEngine) -> None:
    # timeseries §3
    answer = timeseries_pb2.ListTimeseriesTableResponse.FromString(
        answered(engine, "ListTimeseriesTable", b"")
    )
    assert list(answer.table_metas) == []
