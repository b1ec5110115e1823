"""The table of errors: one row for each rule, and for each kind of failure of the store.

The page *Errors* of the site is made from it (`tools/errors_page.py`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from widerow.errors import (
    AnyRule,
    OutcomeUnknown,
    Rule,
    StorageFailure,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreLocked,
    StorePoisoned,
)
from widerow.model.streams import StreamRule
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.tunnels import TunnelRule
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.errors.delivery import DELIVERY_ERRORS
from widerow.wire.tablestore.errors.indexes import INDEX_ERRORS
from widerow.wire.tablestore.errors.requests import REQUEST_ERRORS
from widerow.wire.tablestore.errors.row import Foreign
from widerow.wire.tablestore.errors.search import SEARCH_ERRORS
from widerow.wire.tablestore.errors.sql import SQL_ERRORS
from widerow.wire.tablestore.errors.streams import STREAM_ERRORS
from widerow.wire.tablestore.errors.timeseries import TIMESERIES_ERRORS
from widerow.wire.tablestore.errors.transactions import TRANSACTION_ERRORS
from widerow.wire.tablestore.errors.tunnels import TUNNEL_ERRORS

__all__ = ["FAILURES", "FOREIGN", "UNEXPECTED", "FailureAnswer"]

_ROWS: Final = (
    *(REQUEST_ERRORS, INDEX_ERRORS, STREAM_ERRORS, TRANSACTION_ERRORS, TUNNEL_ERRORS),
    *(DELIVERY_ERRORS, SEARCH_ERRORS, SQL_ERRORS, TIMESERIES_ERRORS),
)
_FOUND: Final = {rule: row for rows in _ROWS for rule, row in rows.items()}

FOREIGN: Final[Mapping[AnyRule, Foreign]] = MappingProxyType(
    {
        rule: _FOUND[rule]
        for rule in (*Rule, *StreamRule, *TunnelRule, *TablestoreRule, *TimeseriesRule)
    }
)
"""Every rule: those of all models first, each in the order of its enumeration."""


class FailureAnswer(NamedTuple):
    """What a failure of ours looks like, and its hint."""

    foreign: Foreign
    hint: str


_UNAVAILABLE: Final = "Server is not available."
_BUSY: Final = "Server is busy."

FAILURES: Final[Mapping[type[StorageFailure], FailureAnswer]] = MappingProxyType(
    {
        StorePoisoned: FailureAnswer(
            c.SERVER_UNAVAILABLE(_UNAVAILABLE, "a sync or commit failed"),
            "A write to the disk failed, so no more are taken. Look at the disk and the server's "
            "log, then start the server again.",
        ),
        OutcomeUnknown: FailureAnswer(
            c.SERVER_UNAVAILABLE(_UNAVAILABLE, "it is not known what a commit did"),
            "It is not known whether the write happened: read the rows before writing them again.",
        ),
        StoreFull: FailureAnswer(
            c.SERVER_BUSY(_BUSY, "the disk is full"),
            "The disk is full: make room. Reads go on, and writes do within seconds of it.",
        ),
        StoreBusy: FailureAnswer(
            c.SERVER_BUSY(_BUSY, "the store asks for a pause"),
            "The store is catching up with its writes; try again in a moment.",
        ),
        StoreLocked: FailureAnswer(
            c.SERVER_UNAVAILABLE(_UNAVAILABLE, "another process holds the store"),
            "Another process holds the store's directory; stop it.",
        ),
        StoreDamaged: FailureAnswer(
            c.SERVER_UNAVAILABLE(_UNAVAILABLE, "stored bytes contradict themselves"),
            "Stored bytes are damaged: run widerow doctor, and restore a backup if it says so.",
        ),
        StorageFailure: FailureAnswer(
            c.SERVER_UNAVAILABLE(_UNAVAILABLE, "the store failed in another way"),
            "The store failed; the server's log says how.",
        ),
    }
)
"""Failures of the store. A kind that is not listed counts as the nearest above it that is."""

UNEXPECTED: Final = FailureAnswer(
    c.INTERNAL_SERVER_ERROR("Internal server error.", "a defect of widerow"),
    "This is a defect of widerow; please report what the server's log says under the request id.",
)
