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
