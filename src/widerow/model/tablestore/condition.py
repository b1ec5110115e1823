"""Conditions of writes: does the row exist, and what do its columns say (semantics §4.1)."""

from enum import IntEnum
from typing import NamedTuple

from widerow.model.tablestore.filter import Filter

__all__ = ["UNCONDITIONAL", "Condition", "RowExpectation"]


class RowExpectation(IntEnum):
    """Whether the row must exist. The numbers are those of the wire."""

    IGNORE = 0
    EXPECT_EXIST = 1
    EXPECT_NOT_EXIST = 2


class Condition(NamedTuple):
    """Both parts must hold; `columns` is evaluated against the current row."""

    row: RowExpectation = RowExpectation.IGNORE
    columns: Filter | None = None


UNCONDITIONAL = Condition()
