"""The life of a search index through the SDK: freshness, kills, restarts (search §1.3, §11.7)."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tablestore import (
    CapacityUnit,
    ColumnReturnType,
    ColumnsToGet,
    FieldSchema,
    FieldType,
    MatchAllQuery,
    OTSClient,
    ReservedThroughput,
    Row,
    SearchIndexMeta,
    SearchQuery,
    TableMeta,
    TableOptions,
    TermQuery,
)
from tests.support.forked import ForkedServer

NONE = ReservedThroughput(CapacityUnit(0, 0))
ROUNDS = 40
FIELDS = [FieldSchema("k", FieldType.KEYWORD), FieldSchema("n", FieldType.LONG)]


def client(server: ForkedServer) -> OTSClient:
    return OTSClient(server.endpoint, "widerow", "widerow", "test")


def make(ots: OTSClient) -> None:
    ots.create_table(TableMeta("t", [("id", "INTEGER")]), TableOptions(), NONE)
    ots.create_search_index("t", "x", SearchIndexMeta(FIELDS))


def put(ots: OTSClient, number: int, word: str) -> None:
    ots.put_row("t", Row([("id", number)], [("k", word), ("n", number)]))


def find(ots: OTSClient, query: Any) -> tuple[int, list[Any]]:  # noqa: ANN401  # the SDK's
    asked = SearchQuery(query, limit=1000, get_total_count=True)
    answer = ots.search("t", "x", asked, ColumnsToGet(return_type=ColumnReturnType.ALL))
    return answer.total_count, answer.rows


@pytest.mark.timeout(120)
def test_what_was_written_is_found_by_another_connection(tmp_path: Path) -> None:
    """search §11.7: from two connections, never misses."""
    with ForkedServer("--path", str(tmp_path / "data")) as server:
        one, other = client(server), client(server)
        make(one)
        missed: list[int] = []

        def write_and_look(writer: OTSClient, reader: OTSClient, first: int) -> None:
            for number in range(first, first + ROUNDS):
                put(writer, number, f"word{number}")
                if find(reader, TermQuery("k", f"word{number}"))[0] != 1:
                    missed.append(number)

        beside = threading.Thread(target=write_and_look, args=(other, one, 1000))
        beside.start()
        write_and_look(one, other, 0)
        beside.join()
        assert missed == []
        assert find(one, MatchAllQuery())[0] == 2 * ROUNDS


@pytest.mark.timeout(120)
def test_an_index_outlives_a_kill_and_a_stop(tmp_path: Path) -> None:
    """search §11.7, crash: the same answers as those of the table."""
    with ForkedServer("--path", str(tmp_path / "data")) as server:
        ots = client(server)
        make(ots)
        for number in range(ROUNDS):
            put(ots, number, "first")
        assert find(ots, MatchAllQuery())[0] == ROUNDS  # opened, so that there is what to write
        server.stop()
        server.start()
        assert (tmp_path / "data" / "search").is_dir()
        ots = client(server)
        put(ots, 0, "second")
        ots.delete_row("t", [("id", 1)], None)
        server.kill()
        server.start()
        ots = client(server)
        assert find(ots, MatchAllQuery())[0] == ROUNDS - 1
        assert [row[0][0][1] for row in find(ots, TermQuery("k", "second"))[1]] == [0]
        assert find(ots, TermQuery("n", 1))[0] == 0
