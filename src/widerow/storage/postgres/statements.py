"""Every statement that a connection sends once it stands, and its arguments as bytes.

**Isolation.** A commit is one statement under READ COMMITTED. It locks the revisions of its shards
in the order of their keys and sees them as they are once it has the locks; whoever changes a shard
holds the lock of its revision, so what stands in the shard cannot change any more. A revision that
is to be absent cannot be locked: it is inserted, and of two who do that one fails as a whole, with
`unique_violation`. Nothing is written unless every condition holds. SERIALIZABLE would say the same
at a higher price, because it tracks reads too, and refuses transactions for reasons of its own.

A view is a transaction under REPEATABLE READ, which reads all shards as of one moment.
"""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from widerow.storage.remote.driver import ShardChange

__all__ = [
    "BEGIN_VIEW",
    "COMMIT",
    "CREATE_TABLE",
    "END_VIEW",
    "EVERY",
    "PAGE_DOWN",
    "PAGE_UP",
    "READ_MANY",
    "SETTINGS",
    "TABLE",
    "PreparedStatement",
    "commit_arguments",
    "page_arguments",
    "read_arguments",
]

TABLE: Final = "widerow_data"
CREATE_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS widerow_data (key bytea PRIMARY KEY, value bytea NOT NULL)"
)

# Every read knows its keys or bounds, so the index is always right, even if a plan was made while
# the table was small. A setting that the database does not know is not set.
SETTINGS: Final = {
    "default_transaction_isolation": "read committed",
    "enable_bitmapscan": "off",
    "enable_seqscan": "off",
    "idle_in_transaction_session_timeout": "120s",  # a view that somebody forgot
    "jit": "off",
    "lock_timeout": "10s",
    "plan_cache_mode": "force_generic_plan",
    "statement_timeout": "20s",
}

_BYTEA: Final = 17
_BYTEAS: Final = 1001
_INT8: Final = 20


class PreparedStatement(NamedTuple):
    """A statement that a connection prepares under a name; `types`: those of its arguments."""

    name: bytes
    text: bytes
    types: tuple[int, ...] = ()


BEGIN_VIEW: Final = PreparedStatement(
    b"begin_view", b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
)
END_VIEW: Final = PreparedStatement(b"end_view", b"COMMIT")
READ_MANY: Final = PreparedStatement(
    b"read_many", b"SELECT key, value FROM widerow_data WHERE key = ANY($1)", (_BYTEAS,)
)
# $1 and $2 are the bounds, $3 the number of rows; $4 bytes of values end the page.
_PAGE_TYPES: Final = (_BYTEA, _BYTEA, _INT8, _INT8)
PAGE_UP: Final = PreparedStatement(
    b"page_up",
    b"""
SELECT key, value
FROM (
  SELECT key, value,
    sum(octet_length(value)) OVER (ORDER BY key ASC ROWS UNBOUNDED PRECEDING)
      - octet_length(value) AS before
  FROM (
    SELECT key, value FROM widerow_data WHERE key >= $1 AND key < $2 ORDER BY key ASC LIMIT $3
  ) AS few
) AS summed
WHERE before < $4
ORDER BY key ASC
""",
    _PAGE_TYPES,
)
PAGE_DOWN: Final = PreparedStatement(
    b"page_down",
    b"""
SELECT key, value
FROM (
  SELECT key, value,
    sum(octet_length(value)) OVER (ORDER BY key DESC ROWS UNBOUNDED PRECEDING)
      - octet_length(value) AS before
  FROM (
    SELECT key, value FROM widerow_data WHERE key >= $1 AND key < $2 ORDER BY key DESC LIMIT $3
  ) AS few
) AS summed
WHERE before < $4
ORDER BY key DESC
""",
    _PAGE_TYPES,
)

# $1 revision keys, $2 what is expected there, $3 new revisions; $4 keys and $5 values to put, $6
# keys to delete, $7 and $8 bounds of ranges to remove. Answers the revision keys whose value is not
# the expected one.
COMMIT: Final = PreparedStatement(
    b"commit",
    b"""
WITH asked AS (
  SELECT key, expected, revision FROM unnest($1, $2, $3) AS asked (key, expected, revision)
), locked AS MATERIALIZED (
  SELECT key, value FROM widerow_data WHERE key = ANY($1) ORDER BY key FOR UPDATE
), refused AS MATERIALIZED (
  SELECT asked.key FROM asked LEFT JOIN locked ON locked.key = asked.key
  WHERE locked.value IS DISTINCT FROM asked.expected
), verdict AS MATERIALIZED (
  SELECT NOT EXISTS (SELECT FROM refused) AS holds
), removed AS (
  DELETE FROM widerow_data AS old USING unnest($7, $8) AS gone (start, stop)
  WHERE (SELECT holds FROM verdict) AND old.key >= gone.start AND old.key < gone.stop
    AND NOT EXISTS (SELECT FROM unnest($1 || $4) AS kept (key) WHERE kept.key = old.key)
    AND NOT EXISTS (SELECT FROM unnest($6) AS deleted (key) WHERE deleted.key = old.key)
), deleted AS (
  DELETE FROM widerow_data WHERE (SELECT holds FROM verdict) AND key = ANY($6)
), first AS (
  INSERT INTO widerow_data
  SELECT key, revision FROM asked
  WHERE (SELECT holds FROM verdict) AND expected IS NULL ORDER BY key
), put AS (
  INSERT INTO widerow_data
  SELECT key, value FROM (
    SELECT key, value FROM unnest($4, $5) AS given (key, value)
    UNION ALL
    SELECT key, revision FROM asked WHERE expected IS NOT NULL
  ) AS every
  WHERE (SELECT holds FROM verdict)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value
)
SELECT key FROM refused
""",
    (_BYTEAS,) * 8,
)
EVERY: Final = (BEGIN_VIEW, END_VIEW, READ_MANY, PAGE_UP, PAGE_DOWN, COMMIT)

_ARRAY: Final = struct.Struct("!iiIii")  # dimensions, nulls, element type; length, lower bound
_LENGTH: Final = struct.Struct("!i")
_NUMBER: Final = struct.Struct("!q")
_NULL: Final = _LENGTH.pack(-1)
_NOTHING: Final = struct.pack("!iiI", 0, 0, _BYTEA)


def _array(values: Sequence[bytes | None]) -> bytes:
    """An array of `bytea` in the binary form of the protocol."""
    if not values:
        return _NOTHING
    parts = [_ARRAY.pack(1, 1, _BYTEA, len(values), 1)]
    for value in values:
        if value is None:
            parts.append(_NULL)
        else:
            parts.append(_LENGTH.pack(len(value)))
            parts.append(value)
    return b"".join(parts)


def read_arguments(keys: Sequence[bytes]) -> tuple[bytes, ...]:
    """The arguments of `READ_MANY`."""
    return (_array(keys),)


def page_arguments(start: bytes, stop: bytes, rows_max: int, bytes_max: int) -> tuple[bytes, ...]:
    """The arguments of the statements that read a page."""
    return start, stop, _NUMBER.pack(rows_max), _NUMBER.pack(bytes_max)


def commit_arguments(changes: Sequence[ShardChange]) -> tuple[bytes, ...]:
    """The arguments of `COMMIT`."""
    puts = [pair for change in changes for pair in change.puts.items()]
    ranges = [bounds for change in changes for bounds in change.ranges]
    return (
        _array([change.revision_key for change in changes]),
        _array([change.expected for change in changes]),
        _array([change.revision for change in changes]),
        _array([key for key, _ in puts]),
        _array([value for _, value in puts]),
        _array([key for change in changes for key in change.deletes]),
        _array([start for start, _ in ranges]),
        _array([stop for _, stop in ranges]),
    )
