"""`widerow indexes`, of a server and of a store (docs/guide/secondary-indexes.md)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tablestore import CapacityUnit, OTSClient, ReservedThroughput, Row, TableMeta, TableOptions
from tablestore.metadata import SecondaryIndexMeta, SecondaryIndexType

from widerow.cli.asking import NoAnswer
from widerow.cli.indexes import _state
from widerow.cli.main import app
from widerow.errors import NotFound
from widerow.testing import WiderowServer

INDEXES = [
    SecondaryIndexMeta("by_state", ["state"], ["total"]),
    SecondaryIndexMeta("by_total", ["k", "total"], [], SecondaryIndexType.LOCAL_INDEX),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WiderowServer]:
    directory = tmp_path_factory.mktemp("store") / "data"
    settings = {"index_lag": 60}
    with WiderowServer(directory, instance="shop", settings=settings) as running:
        client: OTSClient = running.client()
        meta = TableMeta("orders", [("k", "STRING")], [("state", "STRING"), ("total", "INTEGER")])
        nothing = ReservedThroughput(CapacityUnit(0, 0))
        client.create_table(meta, TableOptions(), nothing, INDEXES)
        client.put_row("orders", Row([("k", "a")], [("state", "open"), ("total", 1)]))
        later = SecondaryIndexMeta("later", ["total"], [])
        client.create_secondary_index("orders", later, include_base_data=True)
        yield running


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["indexes", *arguments], env={"COLUMNS": "160"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_server_is_asked(server: WiderowServer) -> None:
    flags = ("--endpoint", server.endpoint, "--instance", "shop")
    found: dict[str, Any] = json.loads(shown("orders", *flags, "--json"))
    assert found["waiting"] == 1
    assert [(each["name"], each["type"], each["phase"]) for each in found["indexes"]] == [
        ("by_state", "global", "incremental"),
        ("by_total", "local", "incremental"),
        ("later", "global", "full"),
    ]
    assert found["indexes"][0]["defined_columns"] == ["total"]
    page = shown("orders", *flags)
    assert "orders: 3 indexes" in page
    assert "being built, 0 rows" in page
    assert "1 changes wait for global indexes" in page


def test_an_index_that_is_behind_its_table_says_by_how_much() -> None:
    row = {"phase": "incremental", "complete": True, "lag_seconds": 2.04}
    assert _state(row) == "ready, 2.0 s behind"
    assert _state({**row, "lag_seconds": 0.0}) == "ready"


def test_what_is_no_table_is_refused(server: WiderowServer) -> None:
    flags = ("--endpoint", server.endpoint, "--instance", "shop")
    with pytest.raises(NoAnswer, match="Requested table does not exist"):
        shown("nothing", *flags)
    with pytest.raises(NoAnswer, match="Not supported on index table: 'by_state'"):
        shown("by_state", *flags)


def test_a_store_is_read(tmp_path: Path) -> None:
    with WiderowServer(tmp_path / "data", instance="shop") as running:
        client = running.client()
        meta = TableMeta("t", [("k", "STRING")], [("state", "STRING"), ("total", "INTEGER")])
        client.create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(0, 0)), INDEXES)
    flags = ("--path", str(tmp_path / "data"), "--instance", "shop", "--json")
    assert [each["name"] for each in json.loads(shown("t", *flags))["indexes"]] == [
        "by_state",
        "by_total",
    ]
    with pytest.raises(Exception, match="nothing") as caught:
        shown("nothing", *flags)
    assert not isinstance(caught.value, NotFound)
