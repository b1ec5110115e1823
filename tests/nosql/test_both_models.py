"""One store holds tables of both data models, and everything treats them alike."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner
from tablestore import OTSClient, Row
from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow import nosql
from widerow.cli.main import app
from widerow.engine.check import check_store
from widerow.engine.partitions.rules import Reason
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import SPACE_CATALOG, SPACE_STATISTICS, SPACE_TYPED_CATALOG
from widerow.model.values import KeyType
from widerow.server.settings import SettingsInvalid
from widerow.storage.interface import Store as Bytes
from widerow.storage.opener import open_store
from widerow.testing import WiderowServer
from widerow.testing.clock import FakeClock, FakeEntropy

LIMITS = nosql.Thresholds(split_units=20.0, hot_seconds=5.0)
ROWS, SECONDS, RATE = 200, 25, 60


def fill(store: Bytes, clock: FakeClock) -> None:
    """The same load on a table of either model, until both have split."""
    with nosql.TypedStore(store, clock, FakeEntropy(), thresholds=LIMITS) as typed:
        engine = typed._whole.operations(TABLESTORE)
        engine.core.run(engine.create_table("shop", create("orders", {"k": KeyType.STRING})))
        typed.create_namespace("shop")
        for namespace in ("shop", ""):
            builder = nosql.TableBuilder("users", namespace=namespace)
            builder.add_field("k", nosql.STRING).add_field("v", nosql.STRING)
            typed.create_table(builder.primary_key("k").build())
        table = typed.table("shop:users")
        typed.table("users").put({"k": "other"})
        for second in range(SECONDS):
            for number in range(second * RATE, (second + 1) * RATE):
                key = f"k{number % ROWS:04}"
                engine.core.run(
                    engine.rows.write_row("shop", put("orders", {"k": key}, {"v": "x" * 100}))
                )
                table.put({"k": key, "v": "x" * 100})
            clock.advance(1)
            while typed.housekeep():
                pass


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with such a store, which nobody holds."""
    path = tmp_path_factory.mktemp("both") / "data"
    fill(open_store(str(path)), FakeClock())
    return path


@pytest.fixture(scope="module")
def server(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WiderowServer]:
    """A server that serves a copy of it."""
    folder = tmp_path_factory.mktemp("served")
    done("backup", str(folder / "b"), "--path", str(filled))
    done("restore", str(folder / "b"), "--path", str(folder / "data"))
    with WiderowServer(folder / "data", instance="shop") as running:
        yield running


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "160"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def done(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shown(*arguments, "--json"))
    return found


# --- a store that nobody holds -------------------------------------------------------------------


def test_both_have_split_and_carry_the_same_counts(filled: Path) -> None:
    place = ("--path", str(filled))
    flat = done("partitions", "orders", "--instance", "shop", *place)
    typed = done("partitions", "shop:users", *place)
    assert (flat["name"], typed["name"]) == ("shop/orders", "shop:users")
    assert (typed["instance"], typed["table"]) == ("shop", "users")
    assert flat["key"] == typed["key"] == {"name": "k", "type": "STRING"}
    for found in (flat, typed):
        assert len(found["partitions"]) > 1
        assert found["rows"] == ROWS
        assert found["consumed"]["write"] == SECONDS * RATE
        assert all(each["start"].startswith("k") for each in found["partitions"][1:])
    assert flat.keys() == typed.keys()
    assert flat["partitions"][0].keys() == typed["partitions"][0].keys()
    history = [json.loads(shown("partitions", name, *place, "--history")) for name in NAMES]
    assert all(len(each["history"]) == 2 for each in history)


NAMES = ("shop:users", "SHOP:Users")


def test_a_name_without_a_namespace_is_the_default_one(filled: Path) -> None:
    for name in ("users", "sysdefault:users", ":users"):
        found = done("partitions", name, "--path", str(filled))
        assert (found["name"], found["instance"], found["rows"]) == ("users", "sysdefault", 1)
    text = shown("partitions", "users", "--path", str(filled))
    assert "users: 1 partition" in text
    for name in ("nothing", "shop:nothing", "nothing:users", "users.child"):
        with pytest.raises(SettingsInvalid, match="there is no table"):
            shown("partitions", name, "--path", str(filled))


def test_a_backup_holds_both_and_is_restored_equal(filled: Path, tmp_path: Path) -> None:
    told = done("backup", str(tmp_path / "b"), "--path", str(filled))
    restored = done("restore", str(tmp_path / "b"), "--path", str(tmp_path / "again"))
    assert restored["clean"] is True
    assert restored["digest"] == told["digest"]
    pairs = []
    for path in (filled, tmp_path / "again"):
        with open_store(str(path)) as store:
            pairs.append(list(store.snapshot().scan(b"", b"\xff" * 8)))
            assert check_store(store) == []
    assert pairs[0] == pairs[1]
    spaces = {key[:1] for key, _ in pairs[0]}
    assert spaces >= {SPACE_CATALOG, SPACE_TYPED_CATALOG, SPACE_STATISTICS}
    with nosql.open(tmp_path / "again") as store:
        row = store.table("shop:users").get({"k": "k0007"})
        assert row is not None
        assert row["v"] == "x" * 100
        bounds = store.table("shop:users").definition.splits
        assert store._whole.operations(TABLESTORE).describe_table("shop", "orders").splits
    with nosql.open(filled) as store:
        assert store.table("shop:users").definition.splits == bounds != ()


def test_doctor_looks_at_both(filled: Path) -> None:
    assert done("doctor", "--path", str(filled))["clean"] is True


# --- a server ------------------------------------------------------------------------------------


def test_a_server_shows_both(server: WiderowServer) -> None:
    place = ("--endpoint", server.endpoint)
    flat = done("partitions", "orders", "--instance", "shop", *place)
    typed = done("partitions", "shop:users", *place)
    assert flat["rows"] == typed["rows"] == ROWS
    assert len(typed["partitions"]) > 1
    assert done("partitions", "users", *place)["name"] == "users"
    client: OTSClient = server.client()
    client.put_row("orders", Row([("k", "new")], [("v", "x")]))
    request = Request(f"{server.endpoint}/metrics")  # noqa: S310  # our own server
    request.add_header("authorization", f"Basic {b64encode(b'widerow:widerow').decode()}")
    with urlopen(request) as answer:  # noqa: S310  # our own server
        page = answer.read().decode()
    for name in ("shop/orders", "shop:users"):
        assert f'widerow_partitions{{table="{name}"}}' in page
        assert f'widerow_table_bytes{{table="{name}"}}' in page
        assert f'widerow_partition_load_ratio{{table="{name}"}}' in page
        assert f'widerow_table_units_total{{table="{name}",kind="write",part="additional"}}' in page


def test_a_server_without_such_a_table_says_so(server: WiderowServer) -> None:
    for name in ("nothing", "shop:nothing", "nothing:users", "users.child"):
        with pytest.raises(Exception, match="OTSObjectNotExist"):
            shown("partitions", name, "--endpoint", server.endpoint)


@pytest.mark.parametrize("name", ["users", "shop:users", "Shop:users", "sysdefault:users"])
def test_another_instance_does_not_show_a_typed_table(filled: Path, name: str) -> None:
    with open_store(str(filled)) as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        with pytest.raises(nosql.NotFound):
            engine.core.find_partitioned("elsewhere", name)


def test_partitions_of_both_merge_where_nobody_asks_any_more(filled: Path, tmp_path: Path) -> None:
    """Whoever holds the store; here an engine as a server has it, which is told of no load."""
    done("backup", str(tmp_path / "b"), "--path", str(filled))
    done("restore", str(tmp_path / "b"), "--path", str(tmp_path / "data"))
    clock = FakeClock()
    with open_store(str(tmp_path / "data")) as store:
        engine = open_tablestore(store, clock, FakeEntropy())
        tables = [("shop", "orders"), ("shop", "shop:users")]
        assert all(engine.core.find_partitioned(*table).splits for table in tables)
        for _ in range(4000):
            clock.advance(1)
            while (plan := engine.core.partitions.step()) is not None:
                engine.core.run(plan)
        assert not any(engine.core.find_partitioned(*table).splits for table in tables)
        assert engine.core.partitions.changes.keys() == {Reason.COLD}
        assert check_store(store) == []


def test_keys_are_counted_as_they_are_encoded(filled: Path) -> None:
    place = ("--path", str(filled))
    flat = done("partitions", "orders", "--instance", "shop", *place)["partitions"]
    typed = done("partitions", "shop:users", *place)["partitions"]
    for found in (flat[1], typed[1]):
        assert bytes.fromhex(found["start_hex"]) == encode_key_value(found["start"])
