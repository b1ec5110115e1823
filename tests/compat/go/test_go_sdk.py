"""Every action through the vendor's Go SDK, against `widerow serve`.

Each test judges one scenario of the program beside it. The SDK reads a number of fields unseen
(protos §0 rule 6): one that an answer left out would be a nil dereference, and fails the scenario.
"""

from collections.abc import Callable
from typing import Any

import pytest
from tests.compat.changes import INDEXES, check_transactions
from tests.compat.sdk_facts import (
    ABSENT,
    CONDITIONS,
    MADE_KEYS,
    MISTAKES,
    NO_TABLE,
    UPDATED_ROW,
    WIDE_ROW,
    invalid,
    refused,
)

# The first test waits for the build, on a fresh machine for the download of the SDK too.
pytestmark = pytest.mark.timeout(600)

Go = Callable[[str], dict[str, Any]]

KEY = [["pk", 2, False], ["n", 1, False]]  # 1 INTEGER, 2 STRING, 3 BINARY; auto-increment
NOT_ENCRYPTED = [False, "SSE_KMS_SERVICE", "", ""]


ROW_ABSENT_ROW = {
    "ok": False,
    "code": "OTSConditionCheckFail",
    "message": ABSENT,
}


def written(**returned: list[Any]) -> dict[str, Any]:
    return {"ok": True, "key": [], "cells": [], "units": [0, 1]} | returned


def read(key: list[Any], *cells: list[Any]) -> dict[str, Any]:
    return {"ok": True, "key": key, "cells": [*cells], "units": [1, 0]}


def failed(code: str, message: str) -> dict[str, Any]:
    return {"ok": False, "code": code, "message": message}


def row(pk: str, n: int, value: object) -> list[Any]:
    return [[["pk", pk], ["n", n]], [["c", value]]]


# --- tables (semantics §2) -------------------------------------------------------------------


def test_a_table_is_described_as_it_was_created(go: Go) -> None:
    described = {
        "name": "tables_all",
        "key": [["s", 2, False], ["i", 1, False], ["b", 3, False], ["seq", 1, True]],
        "defined": [["di", 1], ["dd", 2], ["db", 3], ["ds", 4], ["dx", 5]],
        "options": [86400, 3, 3600],
        "allow update": False,
        "full row": False,
        "throughput": [2, 1],
        "stream": {"hours": 24, "columns": ["di", "ds"], "has id": True, "recent": True},
        "indexes": 0,
        "encryption": [True, "SSE_BYOK", "key-1", "acs:ram::1:role/kms"],
    }
    assert go("tables")["described"] == described


def test_a_table_of_defaults_has_every_field_that_the_sdk_reads_unseen(go: Go) -> None:
    assert go("tables")["plain"] == {
        "name": "tables_plain",
        "key": KEY,
        "defined": [],
        "options": [-1, 1, 86400],
        "allow update": True,
        "full row": False,
        "throughput": [0, 0],
        "stream": "off",
        "indexes": 0,
        "encryption": NOT_ENCRYPTED,
    }


def test_tables_are_listed_and_deleted(go: Go) -> None:
    facts = go("tables")
    assert facts["listed"] == ["tables_all", "tables_plain"]
    assert facts["deleted"] == 36  # the length of a request id
    assert facts["gone"] == NO_TABLE


def test_updates_answer_the_options_and_the_stream(go: Go) -> None:
    facts = go("update table")
    assert facts["options"] == [172800, 5, 7200]
    assert facts["options stream"] is False
    assert facts["throughput"] == [0, 0]
    assert facts["stream"] == {"hours": 48, "columns": None, "has id": True, "recent": True}
    assert facts["stopped"] == "off"
    assert facts["described"]["options"] == [172800, 5, 7200]
    assert facts["described"]["stream"] == "off"


def test_throughput_does_not_change_twice_in_two_minutes(go: Go) -> None:
    assert go("update table")["throughput change"] == refused(
        403,
        "OTSTooFrequentReservedThroughputAdjustment",
        "Capacity unit adjustment is too frequent.",
    )


def test_defined_columns_come_and_go(go: Go) -> None:
    assert go("defined columns") == {
        "added": [["age", 1], ["city", 4]],
        "twice": invalid("Duplicated defined column name: 'age'."),
        "removed": [["city", 4]],
        "absent": invalid("Column does not exist:age."),
    }


def test_split_points_are_keys_and_parts_have_places(go: Go) -> None:
    # semantics §6: 40 rows of 100 kB are about four parts of a mebibyte
    facts = go("split points")
    assert facts["bounds"] == ["k10", "k20", "k30"]
    assert (facts["columns"], facts["places"], facts["halves"]) == (2, 1, 2)
    assert facts["none"] == invalid("The split_size should be greater than 0.")
    assert facts["missing"] == NO_TABLE


# --- rows (semantics §4, §5) -----------------------------------------------------------------


def test_every_type_of_value_comes_back_as_it_was_written(go: Go) -> None:
    facts = go("values")
    assert facts["key"] == [["pk", "värde 值"], ["n", 1]]
    assert facts["cells"] == [
        ["bytes", {"binary": "00ff10"}],
        ["double", {"double": 2.5}],
        ["empty", ""],
        ["least", -(2**63)],
        ["most", 2**63 - 1],
        ["no", False],
        ["text", "héllo 世界"],
        ["yes", True],
    ]
    assert facts["dated now"]
    assert facts["put units"] == [0, 1]
    assert facts["get units"] == [1, 0]
    assert facts["request id"] == 36


def test_the_newest_versions_are_kept(go: Go) -> None:
    assert go("values")["versions"] == [["c", 4, 4], ["c", 3, 3], ["c", 2, 2]]


def test_a_row_without_attributes_is_its_binary_key(go: Go) -> None:
    assert go("values")["only the key"] == [[["b", {"binary": "0001ff"}]], []]


def test_reads_select_columns_versions_and_times(go: Go) -> None:
    assert go("selections") == {
        "columns": [["b", "b new", 2], ["d", "d new", 2]],
        "column range": [["b", "b new", 2], ["c", "c new", 2]],
        "two versions": [["a", "a new", 2], ["a", "a old", 1]],
        "times": [["a", "a old", 1]],
        "one time": [["a", "a new", 2]],
        "no such column": [],
        "missing row": {"key": [], "cells": [], "units": [1, 0]},
    }


def test_a_wide_row_is_read_whole_by_names_and_by_pages(go: Go) -> None:
    assert go("wide row") == WIDE_ROW


def test_an_update_puts_deletes_and_increments(go: Go) -> None:
    assert go("update row") == UPDATED_ROW


def test_a_deleted_row_is_gone_and_deleting_none_is_fine(go: Go) -> None:
    assert go("delete row") == {"units": [0, 1], "left": []}


def test_conditions_that_fail_change_nothing(go: Go) -> None:
    assert go("conditions") == CONDITIONS


def test_the_server_makes_increasing_keys(go: Go) -> None:
    assert go("auto-increment") == MADE_KEYS


# --- batches (semantics §4.8, §5.5) ----------------------------------------------------------


def test_a_batch_reads_rows_of_two_tables(go: Go) -> None:
    facts = go("batch get")
    assert facts["tables"] == 2
    assert facts["rows"] == [
        read([["pk", "a"], ["n", 1]], ["c", "first"]),
        read([["pk", "a"], ["n", 2]], ["c", "second"]),
        read([]),
        failed("OTSInvalidPK", "Validate PK size fail. Input: 1, Meta: 2."),
    ]
    assert facts["others"] == [read([["b", {"binary": "07"}]], ["c", "third"])]


def test_a_batch_writes_around_the_rows_that_fail(go: Go) -> None:
    facts = go("batch write")
    assert facts["rows"] == [
        written(key=[["pk", "put"], ["n", 1]]),
        ROW_ABSENT_ROW,
        written(cells=[["count", 42]], units=[1, 1]),
        written(),
        failed("OTSInvalidPK", "Validate PK name fail. Input: m, Meta: n."),
    ]
    assert facts["none"] == [failed("OTSObjectNotExist", "Requested table does not exist.")]
    assert facts["after"] == [[["c", "put"]], [], [["count", 42]], []]


def test_an_atomic_batch_writes_all_or_nothing(go: Go) -> None:
    apart = failed(
        "OTSDataOutOfRange", "Data out of scope of atomic. Atomic PartKey:b. Data PartKey:c"
    )
    assert go("atomic batch") == {
        "both": [written(), written()],
        "failed": [ROW_ABSENT_ROW, ROW_ABSENT_ROW],
        "apart": [apart, apart],
        "after": [[["c", 1]], [["c", 2]], [], []],
    }


# --- ranges and filters (semantics §5.3, §5.6) -----------------------------------------------


def test_ranges_are_read_in_pages_both_ways(go: Go) -> None:
    rows = [row(pk, n, f"{pk}{n}") for pk in "ab" for n in range(1, 5)]
    facts = go("ranges")
    assert facts["forward"] == rows
    assert facts["page sizes"] == [3, 3, 2]
    assert facts["backward"] == rows[::-1]
    assert facts["inner"] == rows[1:5]
    assert facts["exact limit"] == [8, [8]]  # nothing follows, so no key to go on from
    assert facts["wrong way"] == invalid("Begin key must less than end key in FORWARD")


def test_rows_come_as_a_matrix_where_columns_are_named(go: Go) -> None:
    # wire §2.6
    rows = [row("a", 1, "a1"), row("a", 2, "a2")]
    assert go("ranges")["matrix"] == [True, rows]
    assert go("ranges")["no matrix"] == [False, rows]  # nothing says which columns it would have


def test_a_range_of_more_rows_than_a_page_goes_on(go: Go) -> None:
    assert go("long range") == {
        "rows": 5200,
        "first": row("a", 0, 0),
        "last": row("a", 5199, 5199),
        "sizes": [5000, 200],
    }


def test_filters_choose_rows_and_columns(go: Go) -> None:
    assert go("filters") == {
        "above": [3, 4, 5],
        "missing passes": [1, 2, 3, 4, 5],
        "missing filters": [2, 4],
        "and": [4],
        "not": [1, 2],
        "or of not": [1, 2, 5],
        "expression": [4, 5],
        "page": [["price", 20]],
        "rejected": [],
    }


# --- errors (semantics §3, §18) --------------------------------------------------------------


@pytest.mark.parametrize(("mistake", "answer"), MISTAKES)
def test_mistakes_have_the_code_and_the_text_of_the_service(
    go: Go, mistake: str, answer: dict[str, Any]
) -> None:
    assert go("errors")[mistake] == answer


# --- local transactions (change §B4) -----------------------------------------------------------


def test_a_transaction_is_seen_inside_and_after_its_commit(go: Go) -> None:
    check_transactions(go("transactions"))


# --- secondary indexes (change §A) -------------------------------------------------------------


@pytest.mark.parametrize("check", INDEXES, ids=lambda check: check.__name__)
def test_indexes_are_made_read_and_dropped(go: Go, check: Callable[[Any], None]) -> None:
    check(go("indexes"))


# --- delivery tasks (change §D3) ---------------------------------------------------------------


def test_a_delivery_task_from_its_creation_to_its_end(go: Go) -> None:
    pytest.importorskip("pyarrow", reason="pip install pyarrow")
    missing = refused(404, "OTSObjectNotExist", "Requested delivery task does not exist.")
    assert go("delivery") == {
        "twice": refused(409, "OTSObjectAlreadyExist", "Requested delivery task already exists."),
        "type": 2,
        "phase": 2,
        "error": 0,
        "prefix": "year=$yyyy",
        "event": "at",
        "columns": 2,
        "listed": [["delivery", "task", 2]],
        "deleted twice": missing,
        "described later": missing,
    }
