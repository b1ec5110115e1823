"""The page of actions claims what tests showed, of each store, and all of it."""

import json
import re
from copy import deepcopy
from pathlib import Path

import pytest
from tests.compat.conftest import STORES as SERVED
from tests.compat.matrix import (
    DRIVER_OPERATIONS,
    DRIVERS,
    MATRIX,
    SDKS,
    STORES,
)
from tests.compat.page import STORE_NAMES, page, read_record
from tests.compat.recording import merged, sdk_of, store_of

from widerow.wire.nosql.dialect import NOSQL_DIALECT
from widerow.wire.tablestore.operations.table import OPERATIONS

RECORD = read_record()
CALLS = [(action, sdk) for action, calls in MATRIX.items() for sdk in calls]


def test_what_a_test_calls_was_answered_in_the_recorded_run() -> None:
    """Over each store; if not, record the tests anew."""
    called = {(store, sdk, action) for store in STORES for action, sdk in CALLS}
    answered = {
        (store, sdk, action)
        for store, sdk, action in called
        if "OK" in RECORD["answers"][store][sdk].get(action, ())
    }
    assert called - answered == set()


def test_what_was_answered_has_its_test() -> None:
    """`other` is every action that is not served."""
    answered = {
        (action, sdk)
        for store in STORES
        for sdk in SDKS
        for action in RECORD["answers"][store][sdk]
        if action in OPERATIONS
    }
    assert answered - {*CALLS} == set()


def test_every_driver_of_oracle_nosql_was_answered_over_every_store() -> None:
    """With every operation but the one that no program calls; a claim falls with its proof."""
    assert {*NOSQL_DIALECT.operations} - {*DRIVER_OPERATIONS} == {"GET_REPLICA_STATS"}
    everywhere = [", ".join(map(STORE_NAMES.__getitem__, STORES))] * len(DRIVERS)
    for operation in DRIVER_OPERATIONS:
        assert [*cells_of(operation, page(RECORD))] == everywhere, operation
    record = deepcopy(dict(RECORD))
    for driver in DRIVERS:
        record["answers"]["postgres"][driver]["nosql/GET"] = ["101"]
    assert "PostgreSQL" not in "".join(cells_of("GET", page(record)))


def test_a_driver_is_known_by_its_directory_and_its_language() -> None:
    assert sdk_of("tests/compat/nosql/test_life.py::test_it[rocksdb-node] (call)") == "nosql-node"
    assert sdk_of("tests/compat/go/test_go_sdk.py::test_it[rocksdb-a] (call)") == "go"


def cells_of(action: str, text: str) -> list[str]:
    row: str = re.findall(rf"^\| {action} \| (.*) \|$", text, re.MULTILINE)[0]
    return row.split(" | ")


def test_a_claim_falls_with_its_proof() -> None:
    """Over one store the others are named, over all of them the test counts for nothing."""
    go = SDKS.index("go")
    record = deepcopy(dict(RECORD))
    record["answers"]["hbase"]["go"]["GetRow"] = ["OTSAuthFailed"]
    cells = cells_of("GetRow", page(record))
    assert cells[go].startswith("[RocksDB, PostgreSQL](")
    for store in STORES:
        record["answers"][store]["go"]["GetRow"] = ["OTSAuthFailed"]
    cells = cells_of("GetRow", page(record))
    assert cells[go] == "no answer"
    assert [cell.startswith("[yes](") for cell in cells].count(True) == len(SDKS) - 1


def test_answers_are_merged_by_store_and_sdk(tmp_path: Path) -> None:
    notes = [
        ("rocksdb", "go", [["GetRow", "OK"], ["PutRow", "OK"]]),
        ("rocksdb", "go", [["GetRow", "OTSInvalidPK"]]),
        ("hbase", "go", [["GetRow", "OTSServerBusy"]]),
    ]
    for number, (store, sdk, answers) in enumerate(notes):
        note = {"store": store, "sdk": sdk, "answers": answers}
        (tmp_path / f"{number}.json").write_text(json.dumps(note))
    assert merged(tmp_path) == {
        "rocksdb": {"go": {"GetRow": {"OK", "OTSInvalidPK"}, "PutRow": {"OK"}}},
        "hbase": {"go": {"GetRow": {"OTSServerBusy"}}},
    }


@pytest.mark.parametrize(
    ("flags", "store"),
    [
        (("--path", "folder", "--instances", "a"), "rocksdb"),
        (("--memory",), "memory"),
        (("--store", "postgresql://host/name"), "postgres"),
        (("--delivery-root", "folder", "--store", "hbase://host:1/table"), "hbase"),
    ],
)
def test_the_store_of_a_server_is_known_by_its_flags(flags: tuple[str, ...], store: str) -> None:
    assert store_of(flags) == store


def test_programs_run_over_every_store_of_the_page() -> None:
    assert set(SERVED) == set(STORES)
