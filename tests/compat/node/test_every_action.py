"""The vendor's Node SDK against `widerow serve`: every action on tables and rows.

`every_action.js` takes the steps and prints what the SDK made of the answers; here is what holds
in them. The server is then killed and started again, and what was written is asked for once more.
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from tests.compat.conftest import STORES
from tests.support.forked import ForkedServer

pytestmark = pytest.mark.timeout(200)  # the first of them may install the SDK

SCRIPT: Final = Path(__file__).with_name("every_action.js")
SCRIPT_SECONDS_MAX: Final = 40

Steps = Mapping[str, Any]


class Outcome(NamedTuple):
    version: int  # the version that the script gave some of its cells
    written: Steps  # with the reads that came last
    killed: Steps  # the same reads after SIGKILL and a new start
    stopped: Steps  # and after SIGTERM and another


def run(node: str, endpoint: str, phase: str) -> dict[str, Any]:
    done = subprocess.run(  # noqa: S603  # our own script
        [node, str(SCRIPT), endpoint, phase],
        check=False,
        capture_output=True,
        text=True,
        timeout=SCRIPT_SECONDS_MAX,
        cwd=SCRIPT.parent,
    )
    assert done.returncode == 0, done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


@pytest.fixture(scope="module")
def outcome(node: str, store: str, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    server = ForkedServer(*STORES[store](tmp_path_factory.mktemp("node")))
    with server:
        first = run(node, server.endpoint, "write")
        server.kill()
        server.start()
        killed = run(node, server.endpoint, "read")
        assert server.stop() == 0
        server.start()
        stopped = run(node, server.endpoint, "read")
    return Outcome(first["version"], first["steps"], killed["steps"], stopped["steps"])


@pytest.fixture
def steps(outcome: Outcome) -> Steps:
    return outcome.written


def data(steps: Steps, name: str) -> Any:  # noqa: ANN401  # what the script printed
    step = steps[name]
    assert "data" in step, step
    return step["data"]


def integer(number: int) -> dict[str, str]:
    return {"int": str(number)}


def key_of(row: Mapping[str, Any]) -> tuple[str, int]:
    text, number = (column["value"] for column in row["primaryKey"])
    return text, int(number["int"])


def cells(row: Mapping[str, Any]) -> dict[str, Any]:
    return {cell["columnName"]: cell["columnValue"] for cell in row["attributes"]}


def keys(steps: Steps, name: str) -> list[tuple[str, int]]:
    return [key_of(row) for row in data(steps, name)["rows"]]


ALL_KEYS: Final = [
    ("batch", 1),
    ("batch", 2),
    ("batch", 4),
    ("changed", 1),
    ("types", 1),
    ("杭州", -1),
]


# --- tables (semantics §2) -----------------------------------------------------------------------


def test_steps_without_an_answer_of_interest_succeed(steps: Steps) -> None:
    for name in (
        "create table",
        "create counting table",
        "create doomed table",
        "delete table",
        "put row to change",
        "put row to delete",
        "delete row",
        "delete mixed row",
    ):
        assert data(steps, name)["RequestId"]


def test_tables_are_listed(steps: Steps) -> None:
    assert data(steps, "list tables")["tableNames"] == ["counted", "rows"]


def test_tables_are_described(steps: Steps) -> None:
    told = data(steps, "describe table")
    assert told["tableStatus"] == 1
    assert told["tableMeta"]["primaryKey"] == [
        {"name": "s", "type": 2},
        {"name": "n", "type": 1},
    ]
    assert told["tableOptions"] == {
        "timeToLive": -1,
        "maxVersions": 4,
        "deviationCellVersionInSec": integer(86400),
        "allowUpdate": True,
    }
    assert told["reservedThroughputDetails"]["capacityUnit"] == {"read": 0, "write": 0}


def test_updates_of_tables_are_answered_with_the_options(steps: Steps) -> None:
    assert data(steps, "update table")["tableOptions"]["maxVersions"] == 4


# --- rows (semantics §4, §5) ---------------------------------------------------------------------


def test_values_of_every_type_come_back(steps: Steps) -> None:
    row = data(steps, "get all types")["row"]
    assert key_of(row) == ("types", 1)
    assert cells(row) == {
        "empty": "",
        "large": integer(2**63 - 1),
        "no": False,
        "raw": {"bytes": "0001ff"},
        "real": 1.5,
        "small": integer(-7),
        "text": "abc",
        "yes": True,
    }


def test_texts_beyond_ascii_come_back(steps: Steps) -> None:
    row = data(steps, "get unicode")["row"]
    assert key_of(row) == ("杭州", -1)
    assert cells(row) == {"city": "杭州 🏙"}
    assert key_of(data(steps, "put unicode")["row"]) == ("杭州", -1)  # asked for its key


def test_writes_that_change_something_cost_a_unit(steps: Steps) -> None:
    assert data(steps, "put all types")["consumed"] == {"capacityUnit": {"read": 0, "write": 1}}


def test_counted_keys_are_returned_and_stored(steps: Steps) -> None:
    key = key_of(data(steps, "put counted")["row"])
    assert key[0] == "a"
    assert keys(steps, "get counted rows") == [key]


def test_updates_put_delete_and_count(steps: Steps, outcome: Outcome) -> None:
    """All cell operations, and a condition that held (semantics §4.3, §4.5)."""
    row = data(steps, "get changed row")["row"]
    found = [(cell["columnName"], cell["columnValue"]) for cell in row["attributes"]]
    assert found == [
        ("added", integer(5)),
        ("checked", True),
        ("count", integer(42)),
        ("count", integer(40)),
        ("kept", "kept"),
        ("kept", "kept again"),
    ]
    assert row["attributes"][-1]["timestamp"] == integer(outcome.version)


def test_increments_return_their_sum(steps: Steps) -> None:
    assert cells(data(steps, "update increment")["row"]) == {"count": integer(42)}


def test_one_update_does_everything(steps: Steps) -> None:
    row = data(steps, "get what was updated at once")["row"]
    assert cells(row) == {"a": "x", "b": integer(1), "f": integer(3)}


def test_rows_that_are_not_there_are_empty(steps: Steps) -> None:
    assert data(steps, "get deleted row")["row"] == {}


# --- reads in part (semantics §5.1-5.3) ----------------------------------------------------------


def test_some_columns(steps: Steps) -> None:
    row = data(steps, "get some columns")["row"]
    assert cells(row) == {"small": integer(-7), "text": "abc"}


def test_filters(steps: Steps) -> None:
    assert key_of(data(steps, "get with filter")["row"]) == ("types", 1)
    assert data(steps, "get with filter that fails")["row"] == {}
    assert list(cells(data(steps, "get first columns")["row"])) == ["large", "no", "raw"]
    assert keys(steps, "range with filter") == [("batch", 2)]


def test_versions(steps: Steps) -> None:
    assert cells(data(steps, "get one version")["row"]) == {"kept": "kept"}
    assert cells(data(steps, "get versions of a time")["row"]) == {"kept": "kept again"}


# --- ranges (semantics §5.6) ---------------------------------------------------------------------


def test_ranges_in_both_directions(steps: Steps) -> None:
    """From one infinity to the other: the SDK's buffers for these end in zeros (wire §2.3)."""
    assert keys(steps, "range forward") == ALL_KEYS
    assert keys(steps, "range backward") == ALL_KEYS[::-1]
    assert data(steps, "range forward")["nextStartPrimaryKey"] is None


def test_ranges_inside_a_partition(steps: Steps) -> None:
    assert keys(steps, "range of one partition") == ALL_KEYS[:3]


def test_pages_go_on_where_the_last_one_ended(steps: Steps) -> None:
    assert keys(steps, "range page") == ALL_KEYS[:2]
    following = {"primaryKey": data(steps, "range page")["nextStartPrimaryKey"]}
    assert key_of(following) == ALL_KEYS[2]
    assert keys(steps, "range next page") == ALL_KEYS[2:4]
    assert keys(steps, "range last page backward") == ALL_KEYS[:-3:-1]


# --- batches (semantics §4.8, §5.5) --------------------------------------------------------------


def test_batches_write_row_by_row(steps: Steps) -> None:
    assert [row["isOk"] for row in data(steps, "batch write")["tables"]] == [True] * 5


def test_batches_fail_row_by_row(steps: Steps) -> None:
    good, bad = data(steps, "batch write in part")["tables"]
    assert good["isOk"]
    assert not bad["isOk"]
    assert (bad["errorCode"], bad["errorMessage"]) == (
        "OTSConditionCheckFail",
        "Row does not exist which is expected existent",
    )


def test_batches_read_row_by_row(steps: Steps) -> None:
    first, second, third = data(steps, "batch get")["tables"]
    assert [row["isOk"] for row in first] == [True, True, True]
    assert cells(first[0]) == {"a": "x"}
    assert cells(first[1]) == {"b": 2.5, "c": integer(9)}
    assert not first[2]["primaryKey"]  # it was put and deleted by one batch
    assert cells(second[0]) == {"b": 2.5}
    assert not third[0]["isOk"]
    assert third[0]["errorCode"] == "OTSObjectNotExist"


# --- errors (wire §1.6): the SDK shows the status and the bytes of the body ----------------------

CONDITION: Final = (403, "OTSConditionCheckFail", "Condition check failed.")
PRESENT: Final = (403, "OTSConditionCheckFail", "Row exists which is expected nonexistent")
ABSENT: Final = (403, "OTSConditionCheckFail", "Row does not exist which is expected existent")
NOT_FOUND: Final = (404, "OTSObjectNotExist", "Requested table does not exist.")
ERRORS: Final = {
    "create table again": (409, "OTSObjectAlreadyExist", "Requested table already exists."),
    "delete table again": NOT_FOUND,
    "put where none may be": PRESENT,
    "put where one must be": ABSENT,
    "update where one must be": ABSENT,
    "update where a column is not": CONDITION,
    "delete row again": ABSENT,
    "batch write of no kind of row": (
        400,
        "OTSParameterInvalid",
        "VT_INF_MIN is an invalid type for the primary key.",
    ),
    "error: no table": NOT_FOUND,
    "error: no table name": (400, "OTSParameterInvalid", "Invalid table name: '3t'."),
    "error: no key": (400, "OTSInvalidPK", "Validate PK size fail. Input: 1, Meta: 2."),
    "error: another key": (
        400,
        "OTSInvalidPK",
        "Validate PK type fail. Input: VT_INTEGER, Meta: VT_STRING.",
    ),
    "error: another name": (400, "OTSInvalidPK", "Validate PK name fail. Input: t, Meta: s."),
    "error: infinity": (
        400,
        "OTSParameterInvalid",
        "VT_INF_MAX is an invalid type for the primary key.",
    ),
    "error: range the wrong way": (
        400,
        "OTSParameterInvalid",
        "Begin key must less than end key in FORWARD",
    ),
    "error: a time and versions": (
        400,
        "OTSParameterInvalid",
        "Specific tiemstamp and max versions cannot be given at the same time.",
    ),
    "error: old version": (400, "OTSParameterInvalid", "Invalid timestamp. Cell:a. Timestamp:1."),
    "error: an index of no column": (
        400,
        "OTSParameterInvalid",
        "Column does not exist:missing.",
    ),
    "error: wrong secret": (403, "OTSAuthFailed", "Signature mismatch."),
    "error: unknown access key": (403, "OTSAuthFailed", "The AccessKeyID does not exist."),
    "error: an action that is not served": (
        400,
        "OTSUnsupportOperation",
        "Operation not supported: GRANT statements.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_seen_by_their_code(steps: Steps, name: str) -> None:
    status, code, message = ERRORS[name]
    error = steps[name]["error"]
    assert error["code"] == status
    assert code in error["message"]
    assert message in error["message"]


def test_no_other_step_failed(steps: Steps) -> None:
    assert {name for name, step in steps.items() if "error" in step} == ERRORS.keys()


# --- after a restart -----------------------------------------------------------------------------


@pytest.mark.parametrize("after", ["killed", "stopped"])
def test_what_was_acknowledged_is_still_there(outcome: Outcome, after: str) -> None:
    again: Steps = getattr(outcome, after)
    assert len(again) == 9
    for name, step in again.items():
        expected = {**data(outcome.written, name), "RequestId": step["data"]["RequestId"]}
        assert step["data"] == expected, name
