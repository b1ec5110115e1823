"""`widerow advise keys --table` and `widerow simulate --table`, by what a server recorded."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.changes import create
from tests.support.engines import open_tablestore

from widerow.cli import advise, partitions, simulate
from widerow.cli.main import app
from widerow.engine.partitions.document import partitions_document
from widerow.errors import WiderowError
from widerow.keydesign.sketch import mixed
from widerow.keys.encode import encode_key_value
from widerow.model.values import KeyType, KeyValue
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.testing.server import WiderowServer

SECONDS = 300
RATE = 40


def recorded(kind: KeyType, key: Callable[[int], KeyValue]) -> dict[str, Any]:
    """What a server tells of a table with five minutes of load at 4000 units a second."""
    clock = FakeClock()
    with open_store("memory:") as store:
        engine = open_tablestore(store, clock, FakeEntropy())
        engine.core.run(engine.create_table("i", create("t", {"k": kind})))
        table = engine.describe_table("i", "t")
        for second in range(SECONDS):
            for number in range(second * RATE, (second + 1) * RATE):
                noted = encode_key_value(key(number))
                engine.core.partitions.note_load(table.id, noted, 0, 4000 // RATE, 1, 100)
            clock.advance(1)
            while (plan := engine.core.partitions.step()) is not None:
                engine.core.run(plan)
        return partitions_document(
            engine.core.partitions, engine.describe_table("i", "t"), history=True
        )


@pytest.fixture(scope="module")
def even() -> dict[str, Any]:
    return recorded(KeyType.STRING, lambda number: f"c{mixed(number) % 900:03}")


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "120"})
    if isinstance(done.exception, WiderowError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def tell(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], list[tuple[str, bool]]]:
    """Answer in place of a server; what was asked for is written down."""

    def use(document: dict[str, Any]) -> list[tuple[str, bool]]:
        asked: list[tuple[str, bool]] = []

        def fetch(table: str, flags: Mapping[str, Any]) -> dict[str, Any]:
            asked.append((table, flags["history"]))
            plain: dict[str, Any] = json.loads(json.dumps(document))  # as it comes over a wire
            return plain

        monkeypatch.setattr(advise, "fetch", fetch)
        monkeypatch.setattr(simulate, "fetch", fetch)
        return asked

    return use


Tell = Callable[[dict[str, Any]], list[tuple[str, bool]]]


def test_a_key_with_even_load_is_good(even: dict[str, Any], tell: Tell) -> None:
    asked = tell(even)
    found = json.loads(run("advise", "keys", "--table", "t", "--instance", "i", "--json"))
    assert asked == [("t", True)]
    assert found["verdict"] == "good"
    assert found["table"] == "i/t"
    assert found["units"] == pytest.approx(4000 * SECONDS, rel=0.05)
    shown = run("advise", "keys", "--table", "t", "--instance", "i")
    assert shown.startswith("k of i/t is good\n")


def test_a_growing_key_is_bad(tell: Tell) -> None:
    tell(recorded(KeyType.INTEGER, lambda number: number))
    shown = run("advise", "keys", "--table", "t", "--instance", "i")
    assert "k of i/t is bad" in shown
    assert "keys-grow" in shown


@pytest.mark.parametrize("kind", KeyType)
def test_what_was_recorded_is_replayed_under_its_keys_names(kind: KeyType, tell: Tell) -> None:
    keys: dict[KeyType, Callable[[int], KeyValue]] = {
        KeyType.INTEGER: lambda number: mixed(number) % 900,
        KeyType.STRING: lambda number: f"c{mixed(number) % 900:03}",
        KeyType.BINARY: lambda number: (mixed(number) % 900).to_bytes(2, "big"),
    }
    tell(recorded(kind, keys[kind]))
    document = json.loads(run("simulate", "--nodes", "4", "--table", "t", "--json"))
    assert document["title"] == "k as the partition key"
    assert document["replayed"].startswith("load recorded on i/t in 5 minutes")
    units = sum(step["units_per_second"] for step in document["steps"]) / len(document["steps"])
    assert units == pytest.approx(4000, rel=0.1)
    split = next(each for each in document["decisions"] if each["what"] == "split")
    named = {KeyType.INTEGER: " at ", KeyType.STRING: " at c", KeyType.BINARY: " at 0"}
    assert named[kind] in split["words"]


@pytest.mark.parametrize(
    "words",
    [
        ("partitions", "t", "--json"),
        ("advise", "keys", "--table", "t", "--json"),
        ("simulate", "--nodes", "2", "--table", "t", "--json"),
    ],
)
def test_the_variables_name_the_server(
    even: dict[str, Any], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """docs/operating/partitions.md: the same variables as for export and import."""
    asked: list[tuple[str, str, str, str, str]] = []

    def ask(table: str, flags: Mapping[str, Any]) -> dict[str, Any]:
        names = ("endpoint", "instance", "access_key_id", "access_key_secret")
        asked.append((table, *(flags[name] for name in names)))
        plain: dict[str, Any] = json.loads(json.dumps(even))
        return plain

    monkeypatch.setattr(partitions, "_ask", ask)
    monkeypatch.setenv("WIDEROW_ENDPOINT", "http://db:1")
    monkeypatch.setenv("WIDEROW_INSTANCE", "shop")
    monkeypatch.setenv("WIDEROW_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("WIDEROW_ACCESS_KEY_SECRET", "secret")
    run(*words)
    run(*words, "--endpoint", "http://other:2")
    assert asked == [
        ("t", "http://db:1", "shop", "id", "secret"),
        ("t", "http://other:2", "shop", "id", "secret"),
    ]


def test_a_new_table_has_nothing_to_say(widerow_server: WiderowServer) -> None:
    """Asked over HTTP, of a server that was just started."""
    client = widerow_server.client()
    _make(client)
    where = ("--endpoint", widerow_server.endpoint, "--instance", widerow_server.instance)
    found = json.loads(run("advise", "keys", "--table", "t", *where, "--json"))
    assert found["verdict"] == "unclear"
    with pytest.raises(WiderowError, match="no load was recorded"):
        run("simulate", "--nodes", "2", "--table", "t", *where)


def _make(client: Any) -> None:  # noqa: ANN401  # the vendor's SDK has no types
    from tablestore import CapacityUnit, ReservedThroughput, TableMeta, TableOptions  # noqa: PLC0415  # slow

    units = ReservedThroughput(CapacityUnit(0, 0))
    client.create_table(TableMeta("t", [("k", "STRING")]), TableOptions(), units)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--nodes", "2"), "one of them"),
        (("--nodes", "2", "--table", "t", "--input", "x.csv"), "one of them"),
        (("--nodes", "2", "--input", "x.csv"), "name the column"),
    ],
)
def test_a_replay_has_one_subject(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(WiderowError, match=words):
        run("simulate", *arguments)
