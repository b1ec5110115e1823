"""What the flags of commands on rows ask for: a client, what is read, and conditions of writes."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from widerow.cli.command import Given
from widerow.cli.connection import endpoint_of
from widerow.cli.flags import listed
from widerow.cli.tablestore.conditions import encode_filter, parse_condition
from widerow.cli.tablestore.keys import column_kinds
from widerow.cli.tablestore.times import parse_time_range
from widerow.cli.tablestore.words import WordInvalid
from widerow.client.connection import FIRST_PATIENCE_SECONDS, Client
from widerow.client.reading import ReadOptions
from widerow.client.tables import TableFacts
from widerow.client.writing import WriteIf
from widerow.limits import INT32_MAX
from widerow.model.tablestore.condition import RowExpectation
from widerow.model.tablestore.filter import columns_of
from widerow.rows.plain_values import Row

__all__ = [
    "only_columns",
    "open_client",
    "read_file",
    "read_options",
    "versions_asked",
    "write_condition",
]

"""Flags by their names."""

_ALL_VERSIONS: Final = INT32_MAX


def open_client(given: Given) -> Client:
    """A client of the server that the flags name; it does not wait long for an answer."""
    return Client(endpoint_of(given), patience=FIRST_PATIENCE_SECONDS)


def read_file(name: str) -> bytes:
    """The bytes of a file, for `@FILE`; `-` is standard input. Raises: `WordInvalid`."""
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise WordInvalid(f"@{name} cannot be read: {error.strerror or error}") from error


def read_options(given: Given, table: TableFacts) -> ReadOptions:
    """What `--columns --where --max-versions --time-range` ask for. Raises: `WordInvalid`.

    The server evaluates a filter on the columns that are read, so those that it names are read too
    (semantics §5.3), and so is a key column: without it rows that have none of the columns would be
    left out.
    """
    columns = listed(given.get("columns"))
    encoded = b""
    if where := given.get("where"):
        tree = parse_condition(where, column_kinds(table))
        encoded = encode_filter(tree)
        columns += sorted(columns_of(tree) - set(columns)) if columns else []
    if columns:
        columns.append(table.key[0].name)
    times = parse_time_range(given["time_range"]) if given.get("time_range") else None
    return ReadOptions(
        tuple(dict.fromkeys(columns)), versions_asked(given.get("max_versions")), times, encoded
    )


def versions_asked(text: str | None) -> int:
    """The number of versions that `--max-versions` means; 1 without it. Raises: `WordInvalid`."""
    if text is None:
        return 1
    if text.lower() == "all":
        return _ALL_VERSIONS
    if text.isascii() and text.isdigit() and 0 < int(text[:11]) <= _ALL_VERSIONS:
        return int(text)
    raise WordInvalid(f"--max-versions {text}: write a number from 1 on, or all")


def only_columns(rows: Sequence[Row], wanted: Sequence[str]) -> list[Row]:
    """The rows with the columns that were asked for alone; all if none were."""
    if not wanted:
        return list(rows)
    kept = frozenset(wanted)
    return [Row(row.key, tuple(each for each in row.cells if each.column in kept)) for row in rows]


def write_condition(given: Given, table: TableFacts) -> WriteIf:
    """What `--if --if-exists --if-not-exists` ask for. Raises: `WordInvalid`."""
    if given["if_exists"] and given["if_not_exists"]:
        raise WordInvalid("give --if-exists or --if-not-exists, not both")
    expected = RowExpectation.IGNORE
    if given["if_exists"]:
        expected = RowExpectation.EXPECT_EXIST
    elif given["if_not_exists"]:
        expected = RowExpectation.EXPECT_NOT_EXIST
    encoded = (
        encode_filter(parse_condition(given["if_"], column_kinds(table))) if given["if_"] else b""
    )
    return WriteIf(expected, encoded)
