"""The spaces of keys in a store: which first bytes mean what (docs/formats/keys.md, "Spaces").

    01                               the store itself: format, next table id, next plan id,
                                     epoch of the catalogue, lease, run
    02 instance 00 01 table 00 01    catalogue: one record a table
    02 instance 00 01 00 02 id       tables dropped, whose rows are not all gone
    04 namespace 00 01 table 00 01   catalogue of typed tables: one record a table
    04 00 02 id                      typed tables dropped, whose rows are not all gone
    04 00 03 namespace 00 01         namespaces of typed tables
    05 id tunnel rest                who consumes a tunnel of a table, and how far
    06 rest space                    the revision of a shard, in databases across a network only
    07 00000000 01 node              a server of a store that several share
    07 00000000 02 node number       what it tells the others of the load that it has seen
    08 instance 00 01 table 00 01    catalogue of timeseries tables: one record a table
    08 00 02 id                      timeseries tables and last-point indexes dropped
    10 id partition-key rest         rows; a row above the segment bound continues under 01 name
    10 id hash n time rest           points of a series, by the hash of its key
    10 id series 00 01               what is kept of a series beside its points: its meta
    10 id key 02 id key              rows of a typed table's child, under the key of their parent
    11 id partition-key              the last auto-increment value given out there
    11 id                            the next identity value of a typed table
    12 id …                          changes of a table's rows: its stream and its journal
    13 id partition-key index rest   entries of a table's local indexes
    13 id hash n                     a series: its key, and what its points' records are read with
    13 id hash n index               its newest values, for a last-point index
    14 id …                          entries of a typed table's index
    15 id partition-key …            what is still to be done outside the shard because of a change
    16 id partition-key              the local transaction that holds the key, in shared stores only
    16 id partition-key number       what a request has written in it
    20 id 01                         what is counted of a table: sizes, capacity units
    20 id 02 time                    its load in some seconds from then on
    20 id 03                         the last pass of the sweep over it
    20 id 04                         where a database was asked to divide its rows

`id` is the number of the table or index, `tunnel` that of a tunnel, in four bytes, big-endian. A
number once used for something is never used for another thing. `node` is eleven random bytes; no
table has the number 0 before it, so nodes stand before all tables where spaces stand together.
"""

from typing import Final

from widerow.keys.encode import after_prefix, encode_key, encode_key_value
from widerow.model.values import KeyValue

__all__ = [
    "CATALOG_EPOCH_KEY",
    "CATALOG_SPACES",
    "CHILD_MARK",
    "DROPPED_MARK",
    "LEASE_KEY",
    "NAMESPACE_MARK",
    "NODE_ID_BYTES",
    "PLAN_ID_KEY",
    "PLAN_PREFIX",
    "ROW_PREFIX_BYTES",
    "RUN_KEY",
    "SPACE_CATALOG",
    "SPACE_CHANGES",
    "SPACE_INDEXES",
    "SPACE_INTENTS",
    "SPACE_LOCAL_INDEXES",
    "SPACE_NODES",
    "SPACE_REVISIONS",
    "SPACE_ROWS",
    "SPACE_SEQUENCES",
    "SPACE_STATISTICS",
    "SPACE_STORE",
    "SPACE_TIMESERIES_CATALOG",
    "SPACE_TRANSACTIONS",
    "SPACE_TUNNELS",
    "SPACE_TYPED_CATALOG",
    "STORE_FORMAT_KEY",
    "TABLE_ID_KEY",
    "catalog_key",
    "catalog_prefix",
    "change_prefix",
    "dropped_key",
    "dropped_prefix",
    "index_prefix",
    "intent_prefix",
    "load_key",
    "local_index_prefix",
    "may_begin_range",
    "namespace_key",
    "node_key",
    "node_notes_key",
    "node_notes_prefix",
    "nodes_notes_prefix",
    "nodes_prefix",
    "ranges_key",
    "revision_key",
    "revisions_beside",
    "row_prefix",
    "segment_key",
    "segment_range",
    "sequence_key",
    "sequence_prefix",
    "statistics_key",
    "statistics_prefix",
    "sweep_key",
    "table_prefixes",
    "timeseries_catalog_key",
    "timeseries_dropped_key",
    "transaction_prefix",
    "tunnel_prefix",
    "tunnels_prefix",
    "typed_catalog_key",
    "typed_dropped_key",
]

SPACE_STORE: Final = b"\x01"
SPACE_CATALOG: Final = b"\x02"
SPACE_TYPED_CATALOG: Final = b"\x04"
SPACE_TUNNELS: Final = b"\x05"
SPACE_REVISIONS: Final = b"\x06"
SPACE_NODES: Final = b"\x07"
SPACE_TIMESERIES_CATALOG: Final = b"\x08"
CATALOG_SPACES: Final = (
    *(SPACE_CATALOG, SPACE_TYPED_CATALOG, SPACE_TIMESERIES_CATALOG),
    *(b"\x09", b"\x0a"),
)
"""The spaces of table models' catalogue records; the last two are free."""
NODE_ID_BYTES: Final = 11
SPACE_ROWS: Final = b"\x10"
ROW_PREFIX_BYTES: Final = 5  # the space and the table's number; the partition key follows
SPACE_SEQUENCES: Final = b"\x11"
SPACE_CHANGES: Final = b"\x12"
SPACE_LOCAL_INDEXES: Final = b"\x13"
SPACE_INDEXES: Final = b"\x14"
SPACE_INTENTS: Final = b"\x15"
SPACE_TRANSACTIONS: Final = b"\x16"
SPACE_STATISTICS: Final = b"\x20"

STORE_FORMAT_KEY: Final = SPACE_STORE + b"format"
TABLE_ID_KEY: Final = SPACE_STORE + b"table-id"
CATALOG_EPOCH_KEY: Final = SPACE_STORE + b"catalog-epoch"
LEASE_KEY: Final = SPACE_STORE + b"lease"
RUN_KEY: Final = SPACE_STORE + b"run"
PLAN_ID_KEY: Final = SPACE_STORE + b"plan-id"
PLAN_PREFIX: Final = SPACE_STORE + b"plan/"  # followed by the plan's number in eight bytes

_SPACES_OF_TABLES: Final = (
    SPACE_ROWS,
    SPACE_SEQUENCES,
    SPACE_CHANGES,
    SPACE_LOCAL_INDEXES,
    SPACE_INTENTS,
    SPACE_TRANSACTIONS,
    SPACE_STATISTICS,
    SPACE_TUNNELS,
)

# The shards of the spaces other than rows: the space that follows the revision's tag, and how many
# bytes after the space tag name the shard.
_SHARDS_OF_SPACES: Final = {
    SPACE_STORE: (SPACE_STORE, 0),
    **dict.fromkeys(CATALOG_SPACES, (SPACE_STORE, 0)),
    SPACE_INDEXES: (SPACE_ROWS, 4),
    SPACE_STATISTICS: (SPACE_ROWS, 4),
    SPACE_TUNNELS: (SPACE_TUNNELS, 8),
    SPACE_CHANGES: (SPACE_CHANGES, 12),
    SPACE_NODES: (SPACE_NODES, 4 + 1 + NODE_ID_BYTES),
}
_NUMBER_BYTES: Final = 4
# Behind a table's number, the last row of its statistics, which is their revision, where a database
# keeps keys without their spaces. Its tunnels and streams stand before that too, because their
# numbers begin with less than 10 until 268 million have been given out.
_LAST_OF_STATISTICS: Final = SPACE_ROWS
_NO_TABLE: Final = b"\x00\x00\x00\x00"

SEGMENT_MARK: Final = b"\x01"
SEGMENT_END: Final = b"\x02"

CHILD_MARK: Final = b"\x02"
DROPPED_MARK: Final = b"\x00\x02"
NAMESPACE_MARK: Final = b"\x00\x03"


def catalog_prefix(instance: str) -> bytes:
    """Catalogue records of one instance; the shard of its table operations."""
    return SPACE_CATALOG + encode_key_value(instance)


def catalog_key(instance: str, table: str) -> bytes:
    """The catalogue record of one table."""
    return encode_key(SPACE_CATALOG, (instance, table))


def dropped_prefix(instance: str) -> bytes:
    """Records of dropped tables; no table name sorts here, because none begins with 00 02."""
    return catalog_prefix(instance) + DROPPED_MARK


def dropped_key(instance: str, table_id: int) -> bytes:
    """The drop note of a table."""
    return dropped_prefix(instance) + table_id.to_bytes(4, "big")


def typed_catalog_key(namespace: str, table: str) -> bytes:
    """The catalogue record of one typed table, by its folded names."""
    return encode_key(SPACE_TYPED_CATALOG, (namespace, table))


def typed_dropped_key(table_id: int) -> bytes:
    """The drop note of a typed table."""
    return SPACE_TYPED_CATALOG + DROPPED_MARK + table_id.to_bytes(4, "big")


def timeseries_catalog_key(instance: str, table: str) -> bytes:
    """The catalogue record of one timeseries table."""
    return encode_key(SPACE_TIMESERIES_CATALOG, (instance, table))


def timeseries_dropped_key(number: int) -> bytes:
    """The drop note of a timeseries table or a last-point index."""
    return SPACE_TIMESERIES_CATALOG + DROPPED_MARK + number.to_bytes(4, "big")


def namespace_key(namespace: str) -> bytes:
    """The record of a namespace, by its folded name."""
    return encode_key(SPACE_TYPED_CATALOG + NAMESPACE_MARK, (namespace,))


def row_prefix(table_id: int) -> bytes:
    """All rows of a table. Followed by an encoded partition key: the shard of that value."""
    return SPACE_ROWS + table_id.to_bytes(4, "big")


def sequence_prefix(table_id: int) -> bytes:
    """Auto-increment state of a table, one record for each partition key value."""
    return SPACE_SEQUENCES + table_id.to_bytes(4, "big")


def tunnels_prefix(table_id: int) -> bytes:
    """The state of all tunnels of a table."""
    return SPACE_TUNNELS + table_id.to_bytes(4, "big")


def tunnel_prefix(table_id: int, number: int) -> bytes:
    """The state of one tunnel: a shard of its own."""
    return tunnels_prefix(table_id) + number.to_bytes(4, "big")


def nodes_prefix() -> bytes:
    """The records of the servers of a shared store."""
    return SPACE_NODES + _NO_TABLE + b"\x01"


def node_key(node_id: bytes) -> bytes:
    """The record of a server: a shard of its own."""
    return nodes_prefix() + node_id


def nodes_notes_prefix() -> bytes:
    """All messages of servers about their load."""
    return SPACE_NODES + _NO_TABLE + b"\x02"


def node_notes_prefix(node_id: bytes) -> bytes:
    """The messages of one server about its load: a shard of its own."""
    return nodes_notes_prefix() + node_id


def node_notes_key(node_id: bytes, number: int) -> bytes:
    """One message of a server about the load."""
    return node_notes_prefix(node_id) + number.to_bytes(8, "big")


def index_prefix(index_id: int) -> bytes:
    """All entries of one index of a typed table."""
    return SPACE_INDEXES + index_id.to_bytes(4, "big")


def local_index_prefix(table_id: int) -> bytes:
    """All entries of a table's local indexes, by the partition key of their rows."""
    return SPACE_LOCAL_INDEXES + table_id.to_bytes(4, "big")


def intent_prefix(table_id: int) -> bytes:
    """The intents of a table: work that a change of a row asks for outside the row's shard."""
    return SPACE_INTENTS + table_id.to_bytes(4, "big")


def transaction_prefix(table_id: int) -> bytes:
    """The local transactions of a table, by the partition key that each of them holds."""
    return SPACE_TRANSACTIONS + table_id.to_bytes(4, "big")


def change_prefix(table_id: int) -> bytes:
    """All streams of a table."""
    return SPACE_CHANGES + table_id.to_bytes(4, "big")


def table_prefixes(table_id: int) -> tuple[bytes, ...]:
    """Every prefix that holds bytes of a table."""
    number = table_id.to_bytes(4, "big")
    return tuple(space + number for space in _SPACES_OF_TABLES)


def statistics_prefix(table_id: int) -> bytes:
    """The statistics of a table. Losing them breaks nothing."""
    return SPACE_STATISTICS + table_id.to_bytes(4, "big")


def statistics_key(table_id: int) -> bytes:
    """The record of a table's sizes and capacity units."""
    return statistics_prefix(table_id) + b"\x01"


def load_key(table_id: int, start_s: int) -> bytes:
    """The record of a table's load from a second since 1970 on; 0 is before all records."""
    return statistics_prefix(table_id) + b"\x02" + start_s.to_bytes(8, "big")


def sweep_key(table_id: int) -> bytes:
    """The record of the sweep's last pass over a table."""
    return statistics_prefix(table_id) + b"\x03"


def ranges_key(table_id: int) -> bytes:
    """The record of where widerow asked a database to divide a table's rows."""
    return statistics_prefix(table_id) + b"\x04"


def may_begin_range(key: bytes) -> bool:
    """Whether a range of the database may begin at `key` without cutting a shard.

    `key`: the `row_prefix` of a table, alone or followed by a whole encoded partition key; False
    for any other key. A part of a partition key is not recognised here. The statistics, tunnels and
    streams of a table are among its first partition keys, where no range may begin.
    """
    behind = key[ROW_PREFIX_BYTES:]
    return (
        len(key) >= ROW_PREFIX_BYTES
        and key.startswith(SPACE_ROWS)
        and (not behind or behind > _LAST_OF_STATISTICS)
    )


def segment_key(row_key: bytes, first_column: str) -> bytes:
    """The segment of a wide row that begins at `first_column` (empty: the first segment)."""
    return row_key + SEGMENT_MARK + first_column.encode()


def segment_range(row_key: bytes) -> tuple[bytes, bytes]:
    """The bounds of all segments of a wide row."""
    return row_key + SEGMENT_MARK, row_key + SEGMENT_END


def sequence_key(table_id: int, partition_key: KeyValue) -> bytes:
    """The last auto-increment value given out under one partition key value."""
    return sequence_prefix(table_id) + encode_key_value(partition_key)


def revision_key(shard: bytes) -> bytes:
    """The key of the revision that guards a shard, of which a write names the prefix `shard`.

    Where transactions are optimistic, two writes conflict if and only if they have one revision
    key. So prefixes with keys in common must have one revision key:

        01, 02, 04, 08 …              one: a change of the catalogue names these spaces whole
        10, 11, 13, 15, 16 id key     the table and the partition key (typed tables: the shard key)
        12 id stream shard …          the shard of the stream
        05 id tunnel …                the tunnel
        07 00000000 kind node …       the node, its record or its messages
        20 id …, 14 id …, 11 id       the table or index
        10, 11, 12, 13, 15, 16, 05 id the table: writes that remove all of it

    A write must name the whole partition key, or shard key, and nothing behind it: how long it is
    cannot be seen here. Two kinds of prefixes overlap without a conflict, because nothing of theirs
    is needed any more: those of a whole table, index, stream or tunnel, under which what was
    dropped is removed, contain those of its shards. Such a removal comes when every transaction has
    ended that could have begun before the drop (`Leftover.due_us`), and what another process still
    writes there is bytes that nobody reads and that the next removal of the same note finds.

    The key lies under the shard's own bytes, so a database that stores a key without its first byte
    has both beside each other. No two shards have the same: no encoded key begins another one.
    """
    space, length = _SHARDS_OF_SPACES.get(shard[:1], (SPACE_ROWS, len(shard)))
    if space != SPACE_STORE and len(shard) <= 1 + _NUMBER_BYTES:
        space = SPACE_ROWS
    return SPACE_REVISIONS + shard[1 : 1 + length] + space


def revisions_beside(start: bytes, stop: bytes) -> tuple[bytes, bytes] | None:
    """The range of the revisions of all shards of a table, if the removed range is all its rows."""
    whole = len(start) == ROW_PREFIX_BYTES and start.startswith(SPACE_ROWS)
    if not whole or stop != after_prefix(start):
        return None
    return SPACE_REVISIONS + start[1:], SPACE_REVISIONS + stop[1:]
