"""Any sequence of writes, faults, resets and moves of the clock, against the obvious model.

The model is a dictionary for each instance, with the moment at which each row expires. A fault is
for one instance and one table, so the model knows which request it strikes, and what is left then.
"""

import threading
from random import Random  # noqa: TID251  # seeded: a failure must repeat
from typing import Any, NamedTuple

import pytest
from tablestore import (
    INF_MAX,
    INF_MIN,
    CapacityUnit,
    Condition,
    OTSServiceError,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    TableMeta,
    TableOptions,
)
from urllib3.exceptions import ProtocolError

from widerow.testing.instance import WiderowInstance
from widerow.testing.server import WiderowServer

IGNORE = Condition(RowExistenceExpectation.IGNORE)
TABLES = ("t", "u")
LIFE_SECONDS = 1000
KINDS: tuple[dict[str, Any], ...] = (
    {"error": "OTSServerBusy"},
    {"error": "OTSTimeout", "when": "after"},
    {"drop": True},
    {"drop": True, "when": "after"},
    {"latency_ms": 1},
    {"latency_ms": 1, "when": "after"},
    {"error": "OTSInternalServerError", "latency_ms": 1},
)
Held = dict[str, dict[int, tuple[int, float]]]


class Modelled(NamedTuple):
    """An instance, what it must hold, and what its snapshot holds."""

    instance: WiderowInstance
    client: Any
    held: Held
    kept: Held

    def visible(self, now: float) -> dict[str, dict[int, int]]:
        return {
            table: {key: value for key, (value, ends) in rows.items() if now < ends}
            for table, rows in self.held.items()
        }

    def found(self) -> dict[str, dict[int, int]]:
        low, high = [("id", INF_MIN)], [("id", INF_MAX)]
        found = {}
        for table in self.client.list_table():
            _, _, rows, _ = self.client.get_range(
                table, "FORWARD", low, high, [], None, max_version=1
            )
            found[table] = {row.primary_key[0][1]: row.attribute_columns[0][1] for row in rows}
        return found


def make_tables(client: Any) -> None:  # noqa: ANN401  # the SDK has no types
    for table in TABLES:
        client.create_table(
            TableMeta(table, [("id", "INTEGER")]),
            TableOptions(time_to_live=LIFE_SECONDS),
            ReservedThroughput(CapacityUnit(0, 0)),
        )


def modelled(server: WiderowServer, name: str) -> Modelled:
    instance = WiderowInstance(server, name)
    client = instance.client()
    make_tables(client)
    instance.keep("begin")
    return Modelled(instance, client, {each: {} for each in TABLES}, {each: {} for each in TABLES})


def put(modelled: Modelled, table: str, key: int, value: int) -> bool:
    """Whether the server said that the row was written."""
    try:
        modelled.client.put_row(table, Row([("id", key)], [("v", value)]), IGNORE)
    except (OTSServiceError, ProtocolError):
        return False
    return True


NIGHTLY = [pytest.param(seed, marks=pytest.mark.night) for seed in (1, 2, 3)]


@pytest.mark.parametrize("seed", [0, *NIGHTLY])
def test_the_obvious_model(server: WiderowServer, seed: int) -> None:
    random = Random(seed)  # noqa: S311  # to repeat, not to keep a secret
    models = [modelled(server, name) for name in ("one", "two")]
    faults: dict[
        tuple[str, str], dict[str, Any]
    ] = {}  # by instance and table: strikes the next put
    for step in range(150):
        each, table = random.choice(models), random.choice(TABLES)
        now = server.clock.now_us() / 1e6
        match random.choice(("put", "put", "put", "fault", "clock", "keep", "reset", "empty")):
            case "put":
                fault = faults.pop((each.instance.name, table), {})
                failed = "error" in fault or "drop" in fault
                assert put(each, table, step % 7, step) is not failed
                if not failed or fault.get("when") == "after":
                    each.held[table][step % 7] = (step, now + LIFE_SECONDS)
            case "fault" if (each.instance.name, table) not in faults:
                kind = random.choice(KINDS)
                each.instance.faults.add(action="PutRow", table=table, count=1, **kind)
                faults[each.instance.name, table] = kind
            case "clock":
                server.clock.advance(random.randrange(1, 400))
            case "keep":
                each.instance.keep("begin")
                each.kept.update({of: dict(rows) for of, rows in each.held.items()})
            case "reset":
                each.instance.reset("begin")
                each.held.update({of: dict(rows) for of, rows in each.kept.items()})
            case "empty":
                each.instance.reset()
                assert each.found() == {}
                make_tables(each.client)
                each.held.update({of: {} for of in TABLES})
            case _:
                pass  # the table has a fault already
        for model in models:
            assert model.found() == model.visible(server.clock.now_us() / 1e6), f"step {step}"
    assert sum(fault["struck"] for fault in server.faults.all()) > 5


def test_resets_beside_writers(any_server: WiderowServer) -> None:
    """Nothing of a former table reaches the present one, and no reader sees half a reset."""
    instance = WiderowInstance(any_server, "busy")
    client = instance.client()
    make_tables(client)
    for key in range(20):
        client.put_row("t", Row([("id", key)], [("v", 0)]), IGNORE)
    instance.keep("twenty")
    over, unexpected = threading.Event(), []

    def write(number: int) -> None:
        mine = Modelled(instance, instance.client(), {}, {})
        while not over.is_set():
            try:
                mine.client.put_row("t", Row([("id", 100 + number)], [("v", 1)]), IGNORE)
                keys = mine.found()["t"].keys()
                if not keys >= set(range(20)):
                    unexpected.append(sorted(keys))
            except OTSServiceError as error:  # between two requests the table became another one
                if error.get_error_code() != "OTSObjectNotExist":
                    unexpected.append(error)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    for _ in range(40):
        instance.reset("twenty")
    over.set()
    for writer in writers:
        writer.join()
    assert unexpected == []
    instance.reset("twenty")
    assert Modelled(instance, client, {}, {}).found() == {"t": dict.fromkeys(range(20), 0), "u": {}}
