"""What the programs for the SDKs of Go and of Java must see of rows, conditions and mistakes.

Both do the same and print it in the same form, so that what is right stands in one place.
"""

from typing import Any, Final

__all__ = [
    "ABSENT",
    "CONDITIONS",
    "MADE_KEYS",
    "MISTAKES",
    "NO_TABLE",
    "UPDATED_ROW",
    "WIDE_ROW",
    "invalid",
    "refused",
]

_FINE: Final = "no error"
ABSENT: Final = "Row does not exist which is expected existent"


def refused(status: int, code: str, message: str) -> dict[str, Any]:
    """An error, with the length of its request id."""
    return {"status": status, "code": code, "message": message, "request id": 36}


def invalid(message: str) -> dict[str, Any]:
    """The error of a request with a wrong parameter."""
    return refused(400, "OTSParameterInvalid", message)


def _wrong_key(message: str) -> dict[str, Any]:
    return refused(400, "OTSInvalidPK", message)


_FAILED: Final = refused(403, "OTSConditionCheckFail", "Condition check failed.")
_EXISTS: Final = refused(403, "OTSConditionCheckFail", "Row exists which is expected nonexistent")
NO_TABLE: Final = refused(404, "OTSObjectNotExist", "Requested table does not exist.")

UPDATED_ROW: Final = {
    "incremented": [["count", 7]],
    "incremented again": [["count", -3]],
    "units": [1, 1],
    "cells": [["kept", "kept", 1], ["one", "old", 1], ["put", "put", 5]],
    "increment of text": invalid("INCREMENT requires an integer column, column name: kept."),
}
"""Of an update: two increments, the row behind it, and an increment of text."""
CONDITIONS: Final = {
    "inserted": _FINE,
    "inserted twice": _EXISTS,
    "update of none": refused(403, "OTSConditionCheckFail", ABSENT),
    "column fails": _FAILED,
    "column holds": _FINE,
    "composite fails": _FAILED,
    "left": [["price", 20]],
}
"""Of writes on conditions, in their order."""
MADE_KEYS: Final = {
    "partition key": "a",
    "increasing": True,
    "last": [["number", 2]],
}
"""Of a table whose server makes a key column."""
WIDE_ROW: Final = {
    "columns": 2048,
    "first": "c0000",
    "last": "c2047",
    "sum": sum(range(2048)),
    "selection": 128,
    "page": [["c1500", 1500], ["c1501", 1501]],
}
"""Of a row of 2048 columns: whole, by names and by pages."""
MISTAKES: Final = [
    ("no table", NO_TABLE),
    ("short key", _wrong_key("Validate PK size fail. Input: 1, Meta: 2.")),
    ("misnamed key", _wrong_key("Validate PK name fail. Input: m, Meta: n.")),
    (
        "mistyped key",
        _wrong_key("Validate PK type fail. Input: VT_STRING, Meta: VT_INTEGER."),
    ),
    ("infinite key", invalid("VT_INF_MIN is an invalid type for the primary key.")),
    ("exists", refused(409, "OTSObjectAlreadyExist", "Requested table already exists.")),
    ("column name", invalid("Invalid column name: '#1'.")),
    (
        "not offered",
        refused(400, "OTSUnsupportOperation", "Operation not supported: GRANT statements."),
    ),
]
"""Requests with a mistake, and the answer to each."""
