"""A table of an endpoint: its facts, its rows page by page, and making a new one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from widerow.client.connection import FIRST_PATIENCE_SECONDS, Client, Endpoint
from widerow.client.failures import Refused, RequestFailed
from widerow.client.reading import KeyRange, ReadOptions, fetch_row, scan_pages
from widerow.client.rows import decode_rows, encode_plain_key
from widerow.limits import BATCH_GET_ROWS_MAX
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyMarker, KeyType, KeyValue
from widerow.near_names import did_you_mean
from widerow.rows.plain_values import Row
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.errors.codes import OBJECT_ALREADY_EXIST, OBJECT_NOT_EXIST
from widerow.wire.tablestore.operations.bodies import text

__all__ = [
    "NoSuchTable",
    "TableFacts",
    "about_table",
    "find_table",
    "known_table",
    "list_tables",
    "make_target_table",
    "read_rows",
    "scan_table",
    "table_facts",
]

_KEY_TYPES: Final = {1: KeyType.INTEGER, 2: KeyType.STRING, 3: KeyType.BINARY}
_KEY_NUMBERS: Final = {kind: number for number, kind in _KEY_TYPES.items()}
_AUTO_INCREMENT: Final = 1
_DEFINED_TYPES: Final = {1: "integer", 2: "double", 3: "boolean", 4: "string", 7: "binary"}


class NoSuchTable(RequestFailed):
    """There is no table of this name; the message has names that are like it."""

    def __init__(self, client: Client, name: str, remedy: str = "") -> None:
        """The error; asks the endpoint for the names of its tables.

        `remedy`: what else may be done.
        """
        try:
            meant = did_you_mean(name, list_tables(client))
        except RequestFailed:  # of a key that may not list tables
            meant = ""
        advice = "; `widerow table list` shows those that are there"
        besides = f" {remedy}" if remedy else ""
        super().__init__(f"{client.no_table(name)}{f'. {meant}' if meant else advice}{besides}")


@contextmanager
def about_table(client: Client, name: str) -> Iterator[None]:
    """Requests about one table, for which the server's OTSObjectNotExist is `NoSuchTable`."""
    try:
        yield
    except Refused as error:
        if error.code == OBJECT_NOT_EXIST:
            raise NoSuchTable(client, name) from error
        raise


class TableFacts(NamedTuple):
    """The facts of DescribeTable that a client uses.

    `defined`: types of defined columns by name (integer, double, boolean, string, binary).
    `offset_seconds`: how far a version may be from the server's time. `created`: distinguishes a
    table from one of the same name that was created after it.
    """

    name: str
    key: tuple[KeyColumn, ...]
    defined: dict[str, str]
    max_versions: int
    offset_seconds: int
    created: int

    @property
    def auto_increment(self) -> str | None:
        """The key column whose values the server chooses; None where there is none."""
        return next((column.name for column in self.key if column.auto_increment), None)


def list_tables(client: Client) -> list[str]:
    """The names of all tables of the instance, in order. Raises: `RequestFailed`."""
    found = client.call("ListTable", m.ListTableRequest(), m.ListTableResponse)
    return sorted(text(name) for name in found.table_names)


def table_facts(client: Client, name: str) -> TableFacts | None:
    """The facts of a table; None if there is none of this name."""
    try:
        found = client.call(
            "DescribeTable", m.DescribeTableRequest(table_name=name), m.DescribeTableResponse
        )
    except Refused as error:
        if error.code == OBJECT_NOT_EXIST:
            return None
        raise
    meta, options = found.table_meta, found.table_options
    return TableFacts(
        name,
        tuple(
            KeyColumn(text(each.name), _KEY_TYPES[each.type], each.option == _AUTO_INCREMENT)
            for each in meta.primary_key
        ),
        {text(each.name): _DEFINED_TYPES[each.type] for each in meta.defined_column},
        options.max_versions,
        options.deviation_cell_version_in_sec,
        found.creation_time,
    )


def find_table(endpoint: Endpoint, name: str) -> TableFacts:
    """The facts of a table, as the first request of a command: it does not wait long.

    Raises: `RequestFailed`.
    """
    with Client(endpoint, patience=FIRST_PATIENCE_SECONDS) as client:
        return known_table(client, name)


def known_table(client: Client, name: str) -> TableFacts:
    """The facts of a table that must be there. Raises: `NoSuchTable`, `RequestFailed`."""
    table = table_facts(client, name)
    if table is None:
        raise NoSuchTable(client, name)
    return table


def make_target_table(
    client: Client, name: str, key: Sequence[KeyColumn], max_versions: int, offset_seconds: int
) -> None:
    """Make a table that keeps rows for ever. Raises: `Refused`."""
    columns = [m.PrimaryKeySchema(name=each.name, type=_KEY_NUMBERS[each.type]) for each in key]
    request = m.CreateTableRequest(
        table_meta=m.TableMeta(table_name=name, primary_key=columns),
        reserved_throughput=m.ReservedThroughput(capacity_unit=m.CapacityUnit(read=0, write=0)),
        table_options=m.TableOptions(
            time_to_live=-1, max_versions=max_versions, deviation_cell_version_in_sec=offset_seconds
        ),
    )
    try:
        client.call("CreateTable", request, m.CreateTableResponse)
    except Refused as error:
        # The answer to a first request was lost: the repeated one finds the table.
        if error.code != OBJECT_ALREADY_EXIST:
            raise


def scan_table(client: Client, table: TableFacts) -> Iterator[Row]:
    """Every row in the order of keys, with all versions. A row is held whole, however wide.

    Pages follow each other; a row that changes while it is read may show its old or new cells.
    """
    asked = KeyRange(
        encode_plain_key([(column.name, KeyMarker.INF_MIN) for column in table.key]),
        encode_plain_key([(column.name, KeyMarker.INF_MAX) for column in table.key]),
    )
    for page in scan_pages(client, table.name, asked, ReadOptions(max_versions=table.max_versions)):
        yield from page.rows


def read_rows(
    client: Client, table: TableFacts, keys: Sequence[tuple[tuple[str, KeyValue], ...]]
) -> list[Row | None]:
    """The rows of up to 100 keys, in their order, with all versions; None where there is none."""
    assert len(keys) <= BATCH_GET_ROWS_MAX
    wanted = m.TableInBatchGetRowRequest(
        table_name=table.name,
        primary_key=[encode_plain_key(key) for key in keys],
        max_versions=table.max_versions,
    )
    answer = client.call(
        "BatchGetRow", m.BatchGetRowRequest(tables=[wanted]), m.BatchGetRowResponse
    )
    return [
        fetch_row(client, table.name, key, ReadOptions(max_versions=table.max_versions))
        if not each.is_ok or each.next_token
        else next(iter(decode_rows(each.row)), None)
        for key, each in zip(keys, answer.tables[0].rows, strict=True)
    ]
