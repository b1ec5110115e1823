"""What programs in three languages must see of SQL statements, said once (sql §9, §13).

The programs for the SDKs of Node, Go and Java send the same statements and print answers in the
same form. The SDK of Node asks for date and time results as texts, the others for numbers.
"""

from collections.abc import Mapping
from typing import Any, Final

from tests.compat.changes import said

__all__ = ["STATEMENTS", "TEXTS", "TYPED", "check_times"]

Facts = Mapping[str, Any]

_NULLS: Final = [None] * 5
_TEXT: Final = "STRING"
_KEY: Final = [
    ["pk", "varchar(1024)", "NO", "PRI", None, ""],
    ["n", "bigint(20)", "NO", "PRI", None, ""],
]


def answer(columns: Mapping[str, str], *rows: list[Any], of: str = "SELECT") -> Facts:
    return {
        "statement": f"SQL_{of}",
        "columns": [[*column] for column in columns.items()],
        "rows": [*rows],
    }


def described(*rows: list[Any]) -> Facts:
    names = ("Field", "Type", "Null", "Key", "Default", "Extra")
    return answer(dict.fromkeys(names, _TEXT), *_KEY, *rows, of="DESCRIBE_TABLE")


def check_values_of_every_type_and_nulls(seen: Facts) -> None:
    """In the order of the key; no rows have their columns all the same."""
    assert seen["everything"] == answer(
        {
            "pk": _TEXT,
            "n": "INTEGER",
            "i": "INTEGER",
            "d": "DOUBLE",
            "b": "BOOLEAN",
            "s": _TEXT,
            "x": "BINARY",
        },
        ["a", 1, 7, {"double": 0.5}, True, "é 值", {"binary": "00ff"}],
        ["a", 2, -1, {"double": 2.0}, False, "other", {"binary": "01"}],
        ["b", 1, *_NULLS],
    )
    assert seen["nothing"] == answer({"i": "INTEGER", "s": _TEXT})


def check_groups_and_an_order(seen: Facts) -> None:
    """A sum is a DOUBLE; a column without a name has its text as a name (sql §3, §4)."""
    assert seen["groups"] == answer(
        {"pk": _TEXT, "number": "INTEGER", "total": "DOUBLE", "max(d)": "DOUBLE"},
        ["a", 2, {"double": 6.0}, {"double": 2.0}],
        ["b", 1, None, None],
    )
    assert seen["last"] == answer({"n": "INTEGER", "s": _TEXT}, [1, "é 值"])


def check_mapping_tables(seen: Facts) -> None:
    """Listed and described; without one, a table has its key (sql §2)."""
    [[header, _]] = seen["tables"]["columns"]
    assert header.startswith("Tables_in_compat")  # the instance; each client of Java has its own
    listed = seen["tables"]["rows"]  # those of other scenarios, too
    assert seen["tables"] == answer({header: _TEXT}, *listed, of="SHOW_TABLE")
    assert ["stated"] in listed
    assert seen["described"] == described(
        ["i", "bigint(20)", "YES", "", None, ""],
        ["d", "double", "YES", "", None, ""],
        ["b", "tinyint(1)", "YES", "", None, ""],
        ["s", "mediumtext", "YES", "", None, ""],
        ["x", "mediumblob", "YES", "", None, ""],
    )
    assert seen["without"] == [["SQL_CREATE_TABLE", 0], ["SQL_DROP_TABLE", 0]]
    assert seen["left"] == described()


def check_capacity(seen: Facts) -> None:
    """A unit of the table that was read, under its name (sql §9.5)."""
    assert seen["consumed"] == [["stated", 1, 0]]


def check_rows_that_statements_changed(seen: Facts) -> None:
    """Two were inserted; one was updated and one deleted (sql §12)."""
    columns = {"n": "INTEGER", "i": "INTEGER", "s": _TEXT}
    assert seen["changed"] == answer(columns, [1, 42, "new"])


def check_a_refusal(seen: Facts) -> None:
    """Its text is one line (sql §11)."""
    unknown = (400, "OTSParameterInvalid", "Unknown column 'nope' in 'field list'")
    assert said(seen["refused"]) == unknown


STATEMENTS: Final = (
    check_values_of_every_type_and_nulls,
    check_groups_and_an_order,
    check_mapping_tables,
    check_capacity,
    check_rows_that_statements_changed,
    check_a_refusal,
)
"""What `sql` of each program is held against, and `check_times` besides."""

TYPED: Final = {
    "DATETIME": "2022-11-16T07:52:18.995Z",
    "TIME": 125_283_000_000,
    "DATE": "2022-11-16",
}
"""An instant, nanoseconds and a day, by the getters of their types."""

TEXTS: Final = ("2022-11-16 07:52:18.995", "00:02:05.283", "2022-11-16")
"""The same as MySQL writes it."""


def check_times(seen: Facts, types: list[str], values: list[Any]) -> None:
    """Columns are named by the text of the statement (sql §4, §9.3)."""
    names = (
        "from_unixtime(1668585138.995)",
        "timediff(from_unixtime(1668585138.995),from_unixtime(1668585013.712))",
        "date(from_unixtime(1668585138.995))",
    )
    assert seen["times"] == answer(dict(zip(names, types, strict=True)), values)
