"""Every action through the vendor's Java SDK, against `widerow serve`.

Each test judges one scenario of the program beside it, for each of the clients that ran it: this
SDK checks the signature of every answer, on request also its digest, and can compress its requests
and sign with V4 (wire §1.4, §1.5, §1.8).
"""

from collections.abc import Callable
from typing import Any

import pytest
from tests.compat.changes import INDEXES, check_transactions
from tests.compat.consumers import check_tunnels_are_described
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

Java = Callable[[str], dict[str, Any]]

KEY = [["pk", "STRING", False], ["n", "INTEGER", False]]  # whether auto-increment
ROW_ABSENT_ROW = {"code": "OTSConditionCheckFail", "message": ABSENT}


def written(row: object = None) -> dict[str, Any]:
    return {"row": row, "units": [0, 1]}


def read(row: object) -> dict[str, Any]:
    return {"row": row, "units": [1, 0]}


def row(pk: str, n: int, *cells: list[Any]) -> list[Any]:
    return [[["pk", pk], ["n", n]], [*cells]]


# --- tables (semantics §2) -------------------------------------------------------------------


def test_a_table_is_described_as_it_was_created(java: Java) -> None:
    assert java("tables")["described"] == {
        "name": "tables_all",
        "key": [
            ["s", "STRING", False],
            ["i", "INTEGER", False],
            ["b", "BINARY", False],
            ["seq", "INTEGER", True],
        ],
        "defined": [
            ["di", "INTEGER"],
            ["dd", "DOUBLE"],
            ["db", "BOOLEAN"],
            ["ds", "STRING"],
            ["dx", "BINARY"],
        ],
        "options": [86400, 3, 3600],
        "allow update": False,
        "full row": False,
        "throughput": [2, 1],
        "stream": {"hours": 24, "columns": ["di", "ds"], "has id": True, "recent": True},
        "indexes": 0,
        "splits": 0,
        "encryption": ["SSE_BYOK", "key-1", "acs:ram::1:role/kms"],
        "created now": True,
    }


def test_a_table_of_defaults_is_described(java: Java) -> None:
    assert java("tables")["plain"] == {
        "name": "tables_plain",
        "key": KEY,
        "defined": [],
        "options": [-1, 1, 86400],
        "allow update": True,
        "full row": False,
        "throughput": [0, 0],
        "stream": "off",
        "indexes": 0,
        "splits": 0,
        "encryption": "off",
        "created now": True,
    }


def test_tables_are_listed_and_deleted(java: Java) -> None:
    facts = java("tables")
    assert facts["listed"] == ["tables_all", "tables_plain"]
    assert facts["deleted"] == 36  # the length of a request id
    assert facts["gone"] == NO_TABLE


def test_updates_answer_the_options_and_the_stream(java: Java) -> None:
    facts = java("update table")
    streaming = {"hours": 48, "has id": True, "recent": True}
    assert facts["options"] == [172800, 5, 7200]
    assert facts["throughput"] == [0, 0]
    assert facts["stream"] == {**streaming, "columns": []}
    assert facts["widened"] == {**streaming, "columns": ["a", "b"]}
    assert facts["stopped"] == "off"
    assert facts["described"]["options"] == [172800, 5, 7200]
    assert facts["described"]["stream"] == "off"


def test_throughput_does_not_change_twice_in_two_minutes(java: Java) -> None:
    assert java("update table")["throughput change"] == refused(
        403,
        "OTSTooFrequentReservedThroughputAdjustment",
        "Capacity unit adjustment is too frequent.",
    )


def test_defined_columns_come_and_go(java: Java) -> None:
    assert java("defined columns") == {
        "added": [["age", "INTEGER"], ["city", "STRING"]],
        "twice": invalid("Duplicated defined column name: 'age'."),
        "removed": [["city", "STRING"]],
        "absent": invalid("Column does not exist:age."),
    }


# --- rows (semantics §4, §5) -----------------------------------------------------------------


def test_every_type_of_value_comes_back_as_it_was_written(java: Java) -> None:
    facts = java("values")
    assert facts["row"] == row(
        "värde 值",
        1,
        ["bytes", {"binary": "00ff10"}],
        ["double", {"double": 2.5}],
        ["empty", ""],
        ["least", -(2**63)],
        ["most", 2**63 - 1],
        ["no", False],
        ["text", "héllo 世界"],
        ["yes", True],
    )
    assert facts["dated now"]
    assert facts["put units"] == [0, 1]
    assert facts["get units"] == [1, 0]
    assert facts["request id"] == 36


def test_the_newest_versions_are_kept(java: Java) -> None:
    assert java("values")["versions"] == [["c", 4, 4], ["c", 3, 3], ["c", 2, 2]]


def test_a_row_without_attributes_is_its_binary_key(java: Java) -> None:
    assert java("values")["only the key"] == [[["b", {"binary": "0001ff"}]], []]


def test_reads_select_columns_versions_and_times(java: Java) -> None:
    assert java("selections") == {
        "columns": [["b", "b new", 2], ["d", "d new", 2]],
        "column range": [["b", "b new", 2], ["c", "c new", 2]],
        "two versions": [["a", "a new", 2], ["a", "a old", 1]],
        "times": [["a", "a old", 1]],
        "all times": [["a", "a new", 2]],
        "one time": [["a", "a new", 2]],
        "no such column": None,
        "missing row": None,
        "missing units": [1, 0],
    }


def test_a_wide_row_is_read_whole_by_names_and_by_pages(java: Java) -> None:
    assert java("wide row") == WIDE_ROW


def test_a_row_larger_than_an_answer_arrives_whole(java: Java) -> None:
    whole = [[f"c{each}", each, 2**20] for each in range(6)]
    assert java("heavy row") == {"alone": whole, "in a batch": whole}


def test_an_update_puts_deletes_and_increments(java: Java) -> None:
    assert java("update row") == UPDATED_ROW


def test_a_deleted_row_is_gone_and_deleting_none_is_fine(java: Java) -> None:
    assert java("delete row") == {"units": [0, 1], "left": None}


def test_conditions_that_fail_change_nothing(java: Java) -> None:
    assert java("conditions") == CONDITIONS


def test_the_server_makes_increasing_keys(java: Java) -> None:
    assert java("auto-increment") == MADE_KEYS


# --- batches (semantics §4.8, §5.5) ----------------------------------------------------------


def test_a_batch_reads_rows_of_two_tables(java: Java) -> None:
    assert java("batch get") == {
        "rows": [
            read(row("a", 1, ["c", "first"])),
            read(row("a", 2, ["c", "second"])),
            read(None),
            {"code": "OTSInvalidPK", "message": "Validate PK size fail. Input: 1, Meta: 2."},
        ],
        "others": [read([[["b", {"binary": "07"}]], [["c", "third"]]])],
        "failed rows": 1,
    }


def test_a_batch_writes_around_the_rows_that_fail(java: Java) -> None:
    assert java("batch write") == {
        "rows": [
            written(row("put", 1)),
            ROW_ABSENT_ROW,
            written(row("update", 1, ["count", 42])) | {"units": [1, 1]},
            written(),
            {"code": "OTSInvalidPK", "message": "Validate PK name fail. Input: m, Meta: n."},
        ],
        "none": [{"code": "OTSObjectNotExist", "message": "Requested table does not exist."}],
        "failed rows": 3,
        "after": [[["c", "put"]], None, [["count", 42]], None],
    }


def test_an_atomic_batch_writes_all_or_nothing(java: Java) -> None:
    apart = {
        "code": "OTSDataOutOfRange",
        "message": "Data out of scope of atomic. Atomic PartKey:b. Data PartKey:c",
    }
    assert java("atomic batch") == {
        "both": [written(), written()],
        "failed": [ROW_ABSENT_ROW, ROW_ABSENT_ROW],
        "apart": [apart, apart],
        "after": [[["c", "1"]], [["c", "2"]], None, None],
    }


# --- local transactions (change §B4) -----------------------------------------------------------


def test_a_transaction_is_seen_inside_and_after_its_commit(java: Java) -> None:
    """The update is part of a batch (change §B1)."""
    check_transactions(java("transactions"))


# --- secondary indexes (change §A) -------------------------------------------------------------


@pytest.mark.parametrize("check", INDEXES, ids=lambda check: check.__name__)
def test_indexes_are_made_read_and_dropped(java: Java, check: Callable[[Any], None]) -> None:
    check(java("indexes"))


# --- bulk requests (change §D1, §D2) -----------------------------------------------------------

KEY_BYTES = len("pk") + len("a") + len("n") + 8


def bytes_written(count: int) -> list[int]:
    """Of units and bytes, read and written; bulk requests cost no units."""
    return [0, 0, 0, count]


def test_an_import_writes_around_the_rows_that_fail(java: Java) -> None:
    facts = java("bulk import")
    assert facts["first"] == [
        bytes_written(KEY_BYTES + len("cput")),
        bytes_written(KEY_BYTES + len("cupdate")),
    ]
    assert facts["second"] == [
        bytes_written(KEY_BYTES),
        [
            "OTSParameterInvalid",
            "Invalid column type for column i expect VT_INTEGER actual VT_BLOB",
        ],
        ["OTSInvalidPK", "Validate PK size fail. Input: 1, Meta: 2."],
        bytes_written(KEY_BYTES + len("i") + 8),
    ]
    assert facts["no table"] == [["OTSObjectNotExist", "Requested table does not exist."]]
    assert facts["row"] == [["c", "put", 0]]  # the version that was given
    assert facts["left"] == [row("a", 4, ["i", 4])]
    assert facts["request id"] == 36


def test_an_import_has_rows_and_not_too_many(java: Java) -> None:
    facts = java("bulk import")
    assert facts["none"] == invalid("No operation is specified for table: 'bulk_import'.")
    assert facts["too many"] == invalid("Rows count exceeds the upper limit: 200.")


def matrix(
    names: list[str], keys: int, rows: list[list[Any]], selected: int, *, whole: bool = False
) -> dict[str, Any]:
    """A matrix of rows of which three were scanned, with so many bytes in selected columns."""
    return {
        "type": "DBT_SIMPLE_ROW_MATRIX",
        "names": names,
        "key columns": keys,
        "attributes": len(names) - keys,
        "whole key": whole,
        "rows": rows,
        "next": None,
        "consumed": [0, 0, 3 * (KEY_BYTES + selected), 0],
    }


I_BYTES, X_BYTES = len("i") + 8, len("x") + len("text 0")


def test_an_export_is_the_matrix_of_the_columns_asked_for(java: Java) -> None:
    """Of the key as much as was asked for, and whether that is all of it; missing cells are null.

    A filter drops rows, and what was scanned counts.
    """
    facts = java("bulk export")
    n = range(3)
    assert facts["whole key"] == matrix(
        ["pk", "n", "i"], 2, [["a", i, i] for i in n], I_BYTES, whole=True
    )
    assert facts["other order"] == matrix(
        ["pk", "n", "x", "i"],
        2,
        [["a", i, f"text {i}", i] for i in n],
        I_BYTES + X_BYTES,
        whole=True,
    )
    assert facts["part of the key"] == matrix(
        ["n", "i", "none"], 1, [[i, i, None] for i in n], I_BYTES
    )
    assert facts["no key"] == matrix(
        ["x", "i"], 0, [[f"text {i}", i] for i in n], I_BYTES + X_BYTES
    )
    assert facts["only the key"] == matrix(["pk", "n"], 2, [["a", i] for i in n], 0, whole=True)
    assert facts["filter"] == matrix(["n", "i"], 1, [[1, 1]], I_BYTES)


def test_an_export_of_no_rows_is_a_block_that_the_sdk_reads(java: Java) -> None:
    nothing = matrix(["i"], 0, [], 0) | {"consumed": [0, 0, 0, 0]}
    assert java("bulk export")["empty"] == nothing


def test_an_export_in_plainbuffer_has_whole_keys(java: Java) -> None:
    facts = java("bulk export")
    numbers = [["i", n] for n in range(3)]
    texts = [["x", f"text {n}"] for n in range(3)]
    assert facts["plain"] == {
        "type": "DBT_PLAIN_BUFFER",
        "rows": [row("a", n, number) for n, number in enumerate(numbers)],
        "consumed": [0, 0, 3 * (KEY_BYTES + I_BYTES), 0],
    }
    everything = enumerate(zip(numbers, texts, strict=True))
    assert facts["plain, everything"] == {
        "type": "DBT_PLAIN_BUFFER",
        "rows": [row("a", n, number, text) for n, (number, text) in everything],
        "consumed": [0, 0, 3 * (KEY_BYTES + I_BYTES + X_BYTES), 0],
    }


def test_what_no_export_is(java: Java) -> None:
    facts = java("bulk export")
    text = "DBT_SIMPLE_ROW_MATRIX need at least one column to get."
    assert facts["no columns"] == invalid(text)
    assert facts["wrong way"] == invalid("Begin key must less than end key in FORWARD")
    assert facts["no table"] == NO_TABLE


def test_the_iterator_of_the_sdk_exports_more_than_a_page(java: Java) -> None:
    assert java("bulk pages") == {
        "rows": 5200,
        "sum": sum(range(5200)),
        "first page": 5000,
        "next key": [["pk", "a"], ["n", 5000]],
    }


# --- tunnels (change §C2) ----------------------------------------------------------------------


def test_tunnels_are_made_listed_described_and_deleted(
    java: Java, request: pytest.FixtureRequest
) -> None:
    facts = java("tunnels")
    client = request.node.callspec.params["java"]
    check_tunnels_are_described(facts, "tunnelled", f"compat-{client}")
    assert facts["twice"] == refused(409, "OTSTunnelExist", "Requested tunnel already exists.")
    assert facts["reversed"] == invalid("The end offset must not be less than the start offset.")
    assert facts["deleted again"] == invalid("tunnel id not exist")


def test_a_channel_is_consumed_call_by_call(java: Java) -> None:
    """As a worker does it (change §C2.4); what nobody owns is for everybody (change §0)."""
    facts = java("tunnels")
    assert facts["tagged"]
    assert facts["channel"] == [1, "OPEN"]
    assert facts["owner"]
    assert facts["records"] == [*range(5)]
    assert facts["first action"] == "PUT"
    assert facts["next token"] == "finished"
    assert facts["checkpoint"] == ["finished", 1]
    assert facts["after shutdown"] == 5


def test_what_no_client_may_do_with_a_channel(java: Java) -> None:
    facts = java("tunnels")
    assert facts["wrong number"] == refused(
        400, "OTSSequenceNumberNotMatch", "The sequence number does not match."
    )
    assert facts["stranger"] == refused(
        410, "OTSResourceGone", "The channel is consumed by another client."
    )
    assert facts["heartbeat after shutdown"] == refused(
        410, "OTSResourceGone", "Requested client does not exist."
    )


# --- ranges and filters (semantics §5.3, §5.6) -----------------------------------------------


def test_ranges_are_read_in_pages_both_ways(java: Java) -> None:
    rows = [row(pk, n, ["c", f"{pk}{n}"]) for pk in "ab" for n in range(1, 5)]
    assert java("ranges") == {
        "forward": rows,
        "page sizes": [3, 3, 2],
        "backward": rows[::-1],
        "inner": rows[1:5],
        "exact limit": [8, [8]],  # nothing follows, so no key to go on from
        "wrong way": invalid("Begin key must less than end key in FORWARD"),
    }


def test_the_iterator_of_the_sdk_reads_more_than_a_page(java: Java) -> None:
    assert java("range iterator") == {
        "rows": 5200,
        "first": row("a", 0, ["c", 0]),
        "last": row("a", 5199, ["c", 5199]),
    }


def test_split_points_are_keys_and_parts_have_places(java: Java) -> None:
    # semantics §6: 40 rows of 100 kB are about four parts of a mebibyte
    assert java("split points") == {
        "columns": 2,
        "bounds": ["least", "k10", "k20", "k30"],
        "places": 1,
        "halves": 2,
        "missing": NO_TABLE,
    }


def test_filters_choose_rows_and_columns(java: Java) -> None:
    assert java("filters") == {
        "above": [3, 4, 5],
        "missing passes": [1, 2, 3, 4, 5],
        "missing filters": [2, 4],
        "and": [4],
        "not": [1, 2],
        "or of not": [1, 2, 5],
        "expression": [4, 5],
        "page": [["price", 20]],
        "rejected": None,
    }


# --- errors (semantics §3, §18) --------------------------------------------------------------


@pytest.mark.parametrize(("mistake", "answer"), MISTAKES)
def test_mistakes_have_the_code_and_the_text_of_the_service(
    java: Java, mistake: str, answer: dict[str, Any]
) -> None:
    assert java("errors")[mistake] == answer


# --- the asynchronous client -----------------------------------------------------------------


def test_a_hundred_requests_at_once_are_answered_by_callbacks(asynchronous: Java) -> None:
    assert asynchronous("callbacks") == {
        "sum": sum(n * n for n in range(100)),
        "refused": "OTSObjectNotExist",
    }


# --- delivery tasks (change §D3) ---------------------------------------------------------------


def test_a_delivery_task_from_its_creation_to_its_end(java: Java) -> None:
    pytest.importorskip("pyarrow", reason="pip install pyarrow")
    missing = refused(404, "OTSObjectNotExist", "Requested delivery task does not exist.")
    assert java("delivery") == {
        "twice": refused(409, "OTSObjectAlreadyExist", "Requested delivery task already exists."),
        "type": "BASE_INC",
        "phase": "INCR",
        "prefix": "year=$yyyy",
        "columns": 2,
        "listed": [["delivery", "task", "BASE_INC"]],
        "deleted twice": missing,
        "described later": missing,
    }
