"""What programs in three languages must see of indexes, transactions and streams, said once.

The programs for the SDKs of Go, Java and Node do the same and print it in the same form, so that
what is right stands in one place.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

Facts = Mapping[str, Any]
Cells = list[list[Any]]

NO_TABLE: Final = (404, "OTSObjectNotExist", "Requested table does not exist.")
ENDED: Final = (404, "OTSSessionNotExist", "Session not exist or may be timeout.")
CONFLICT: Final = (
    409,
    "OTSRowOperationConflict",
    "Data is being modified by the other request.",
)


def said(refusal: Facts) -> tuple[int, str, str]:
    """What an error says, without the length of its request id."""
    return refusal["status"], refusal["code"], refusal["message"]


# --- indexes (change §A) ---------------------------------------------------------------------


def entry(key: Iterable[tuple[str, Any]], *cells: list[Any]) -> list[Any]:
    return [[list(column) for column in key], [*cells]]


def both_ways(*entries: list[Any]) -> list[Any]:
    """A scan forward and one backward."""
    return [[*entries], [*entries[::-1]]]


CELL_D: Final = ["d", {"double": 0.5}]
CELL_I: Final = ["i", 7]
X_A_1: Final = entry([("s", "x"), ("pk", "a"), ("n", 1)], CELL_D, CELL_I)
Y_A_1: Final = entry([("s", "y"), ("pk", "a"), ("n", 1)], CELL_D, CELL_I)
W_A_2: Final = entry([("s", "w"), ("pk", "a"), ("n", 2)], CELL_I)
A_7_1: Final = [("pk", "a"), ("i", 7), ("n", 1)]
A_7_2: Final = entry([("pk", "a"), ("i", 7), ("n", 2)], ["s", "w"])
B_9_1: Final = entry([("pk", "b"), ("i", 9), ("n", 1)])
LATER: Final = entry([("i", 9), ("pk", "b"), ("n", 1)])
WHOLE: Final = entry([("i", 7), ("pk", "a"), ("n", 1)], ["s", "y"])
MADE_WITH_THE_TABLE: Final = [
    ["indexed_by_s", ["s", "pk"], ["i", "d"], "GLOBAL", "INCR"],
    ["indexed_by_i", ["pk", "i"], ["s"], "LOCAL", "INCR"],
]


def check_indexes_are_described(seen: Facts) -> None:
    """As they were given, in the order of their creation; as tables; not listed (change §A3)."""
    assert seen["described"] == MADE_WITH_THE_TABLE
    assert seen["as table"] == [
        [["s", "STRING"], ["pk", "STRING"], ["n", "INTEGER"]],
        [["i", "INTEGER"], ["d", "DOUBLE"]],
    ]
    assert seen["listed"] == ["indexed"]
    assert seen["described later"] == [
        *MADE_WITH_THE_TABLE,
        ["indexed_later", ["i"], ["s"], "GLOBAL", "INCR"],
        ["indexed_whole", ["i"], ["s"], "GLOBAL", "INCR"],
    ]


def check_indexes_are_read(seen: Facts) -> None:
    """A row has an entry where it has every listed column (change §A4)."""
    assert seen["global"] == both_ways(W_A_2, X_A_1)
    assert seen["local"] == both_ways(entry(A_7_1, ["s", "x"]), A_7_2, B_9_1)
    assert seen["global row"] == X_A_1
    assert seen["local row"] == A_7_2
    assert seen["batch"] == [X_A_1, [[], []]]


def check_entries_follow_their_rows(seen: Facts) -> None:
    """With covered columns that an update does not name (change §A4)."""
    assert seen["moved"] == both_ways(W_A_2, Y_A_1)
    assert seen["after delete"] == [
        both_ways(Y_A_1),
        both_ways(entry(A_7_1, ["s", "y"]), B_9_1),
    ]


def check_indexes_made_later(seen: Facts) -> None:
    """Without the rows of before, one is there once it is written again (change §A6)."""
    assert seen["later"] == both_ways()
    assert seen["later, row written again"] == both_ways(LATER)
    assert seen["whole"] == both_ways(WHOLE, LATER)


def check_indexes_are_dropped(seen: Facts) -> None:
    """With DropIndex, and with their table (change §A3, §A7)."""
    no_write = (400, "OTSParameterInvalid", "Can't write index table directly.")
    assert said(seen["write"]) == no_write
    assert seen["left"] == ["indexed_by_i", "indexed_whole"]
    assert said(seen["dropped again"]) == NO_TABLE
    assert said(seen["read of the dropped"]) == NO_TABLE
    assert said(seen["gone"]) == NO_TABLE


INDEXES: Final = (
    check_indexes_are_described,
    check_indexes_are_read,
    check_entries_follow_their_rows,
    check_indexes_made_later,
    check_indexes_are_dropped,
)
"""What `indexes` of each program is held against."""


# --- local transactions (change §B) ----------------------------------------------------------


def check_transactions(seen: Facts) -> None:
    """A put, a delete and an update, each seen inside at once and by others with the commit.

    Row 1 is put, row 2 deleted, row 3 made. Others keep reading and cannot write (change §B2, §B3).
    """
    before = [[["c", "old"]], [1, 2]]
    for end in ("abort", "commit"):
        inside = [[["c", end]], [1, 3]]
        assert seen[f"{end} inside"] == inside
        assert seen[f"{end} outside"] == before
        assert [said(each) for each in seen[f"{end} others"]] == [CONFLICT, CONFLICT]
        assert seen[f"{end} after"] == (before if end == "abort" else inside)
        assert said(seen[f"{end} again"]) == ENDED
    forged = (400, "OTSParameterInvalid", "TransactionID is invalid.")
    assert said(seen["forged"]) == forged


# --- streams (change §C1) ----------------------------------------------------------------------


def change(action: str, n: int, *cells: list[Any], origin: list[list[Any]] | None = None) -> Facts:
    """A record of the row `n`. Cells are name, what became of it, value and version."""
    key = [["pk", "a"], ["n", n]]
    return {"action": action, "key": key, "cells": [*cells], "origin": origin or []}


def put(name: str, value: object, version: int | None) -> list[Any]:
    return [name, "put", value, version]


OLD: Final = put("c", "old", 1)
NEW: Final = [put("c", "new", 2), put("d", {"double": 2.5}, 2)]
LAST: Final = put("c", {"binary": "01"}, 3)


def check_streams_are_described(seen: Facts) -> None:
    """One shard without parents; hours and columns change, the id stays (change §C1.1 to §C1.3)."""
    assert seen["streams of all"] == ["streamed"]
    assert seen["stream"] == {
        "table": "streamed",
        "hours": 24,
        "active": True,
        "recent": True,
        "shards": 1,
        "parents": False,
        "more": False,
    }
    assert seen["changed"] == [True, 48]


def check_records_are_what_was_written(seen: Facts) -> None:
    """With the columns of before that were asked for; an increment is its sum (change §C1.4)."""
    assert seen["records"] == [
        change("PUT", 1, OLD, put("k", 40, 1)),
        change("PUT", 1, *NEW, put("k", 40, 2), origin=[OLD]),
        change(
            "UPDATE",
            1,
            LAST,
            ["d", "delete all", None, None],
            ["e", "delete one", None, 1],
            put("k", 42, None),
            origin=NEW,
        ),
        change("DELETE", 1, origin=[LAST]),
        change("PUT", 2, ["c", "put", True, 4]),
        change("PUT", 3, ["c", "put", True, 4]),
    ]


def check_records_ascend(seen: Facts) -> None:
    """Rows of one request share a time (change §C1.4)."""
    sequence = seen["sequence"]
    assert sequence["ascend"] == [True] * 5
    assert sequence["recent"] == [True] * 6
    assert sequence["together"][4]


def check_shards_are_read_from_where_one_likes(seen: Facts) -> None:
    """From the oldest record, from a time, from the end; one by one and at once (change §C1.5)."""
    assert seen["pages"] == [*[[1, True]] * 6, [0, False]]
    assert seen["at once"] == [6, False]
    assert seen["from a time"] == 4
    assert seen["from the end"] == [0, False, True]  # the very iterator that was sent


def check_streams_end(seen: Facts) -> None:
    """With the stream its id and its iterators are gone (change §C1.1, §C1.2)."""
    gone = (404, "OTSObjectNotExist", "Requested stream does not exist.")
    forged = (400, "OTSParameterInvalid", "Invalid shard iterator.")
    assert said(seen["forged"]) == forged
    assert seen["off"] == 0
    assert said(seen["gone"]) == gone
    assert said(seen["unreadable"]) == gone


STREAMS: Final = (
    check_streams_are_described,
    check_records_are_what_was_written,
    check_records_ascend,
    check_shards_are_read_from_where_one_likes,
    check_streams_end,
)
"""What `streams` of each program is held against."""


def check_split(seen: Facts) -> None:
    """Who reads parents before their children has every record once, in the order of each key.

    A record of a child is later than every one of its parents; a shard that was split has an end
    (change §C1.3, §C1.4, §C1.8).
    """
    last: dict[str, list[int]] = {}
    parents: set[str] = set()
    values: dict[str, list[int]] = {}
    for shard in seen["shards"]:
        order = [record[2:] for record in shard["records"]]
        assert order == sorted(order)
        assert len({*map(tuple, order)}) == len(order)
        if shard["parent"] is None:
            assert not parents, "a second root"
        else:
            parents.add(shard["parent"])
            assert shard["sibling"] is None  # nothing was merged
            assert not order or order[0][0] > last[shard["parent"]][0]
        last[shard["shard"]] = order[-1] if order else last[shard["parent"]]
        for key, value, _, _ in shard["records"]:
            values.setdefault(key, []).append(value)
    assert len(parents) >= 1
    assert {each["shard"] for each in seen["shards"] if each["ended"]} >= parents
    assert all(each == sorted(each) for each in values.values())
    assert sorted(value for each in values.values() for value in each) == [*range(seen["written"])]
    table = {row[0][0][1]: row[1][0][1] for row in seen["rows"]}
    assert {key: each[-1] for key, each in values.items()} == table
