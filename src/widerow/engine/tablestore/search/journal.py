"""Reading the journal of a table: which rows were written since (docs/formats/streams.md).

A journal is a log like that of a stream (`engine/streams/log.py`), whose records are
encoded primary keys. A reader that follows it keeps a position for each of its shards, perhaps in a
file. Shards are read in any order, because a reader looks at the rows as they are and not as they
were.

Where changes are moved into the log after their rows (`engine/streams/mover.py`), the
intents that wait are read first, and the log after them: so a change that was answered before is
found in one of the two.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, final

from widerow.engine.intents import IntentKind, intents_between
from widerow.engine.streams.intents import decode_change_intent
from widerow.engine.streams.log import (
    LOG_START,
    LogHead,
    LogPosition,
    decode_head,
    position_of,
    record_key,
    shard_prefix,
)
from widerow.errors import StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import intent_prefix
from widerow.model.streams import LogShard, Stream
from widerow.model.tablestore.schema import Table
from widerow.safepoint import safepoint
from widerow.storage.interface import Reader

__all__ = ["JournalEnds", "JournalPositions", "RowsNamed", "journal_ends", "rows_waiting"]

_LET_THROUGH: Final = 64  # records between two moments at which others may run


class JournalEnds(NamedTuple):
    """The ends of a journal at one moment, and where its records begin.

    `log`: its definition then. `heads`: by the number of the shard, of those that have any record.
    """

    log: Stream
    heads: Mapping[int, LogHead]

    def end_of(self, shard: LogShard) -> LogPosition:
        """The position after the last record of a shard."""
        head = self.heads.get(shard.number)
        return LOG_START if head is None else head.last.behind


def journal_ends(reader: Reader, table: Table, log: Stream) -> JournalEnds:
    """The ends of a journal as `reader` sees them. Cost: one read of several keys."""
    prefixes = [shard_prefix(table.id, log.number, each.number) for each in log.shards]
    found = zip(log.shards, reader.get_many(prefixes), strict=True)
    heads = {shard.number: decode_head(data) for shard, data in found if data is not None}
    return JournalEnds(log, heads)


def rows_waiting(reader: Reader, table: Table, log: Stream, until_us: int) -> list[bytes]:
    """Encoded keys of the rows whose changes are still on their way to the journal.

    Without what was asked for later than `until_us`. Linear in the changes that wait.
    """
    prefix = intent_prefix(table.id)
    waiting = intents_between(reader, prefix, after_prefix(prefix), IntentKind.CHANGE)
    found = [each for each in map(decode_change_intent, waiting) if each.log == log.number]
    return list(dict.fromkeys([each.value for each in found if each.asked_us <= until_us]))


class RowsNamed(NamedTuple):
    """Encoded keys of rows, each once, and the positions behind the records that named them."""

    keys: Sequence[bytes]
    following: "JournalPositions"


@final
class JournalPositions:
    """How far a journal was read. Immutable.

    `journal`: the number of the log. `following`: the next position in each shard of which records
    were read. `ended`: shards that were read to their end after they were closed.
    """

    __slots__ = ("ended", "following", "journal")

    def __init__(
        self,
        journal: int,
        following: Mapping[int, LogPosition],
        ended: frozenset[int] = frozenset(),
    ) -> None:
        self.journal = journal
        self.following = following
        self.ended = ended

    @classmethod
    def before_all(cls, log: Stream) -> "JournalPositions":
        """The position before the first record of a journal."""
        return cls(log.number, {})

    @classmethod
    def at(cls, ends: JournalEnds) -> "JournalPositions":
        """The position after every record of that moment."""
        shards = ends.log.shards
        return cls(ends.log.number, {each.number: ends.end_of(each) for each in shards})

    def reach(self, ends: JournalEnds) -> bool:
        """Whether the journal still has every record after these positions.

        False where records were trimmed that were not read, where a shard is gone that was not read
        to its end, and where the journal is another one or has fewer records than were read.
        """
        log = ends.log
        if self.journal != log.number:
            return False
        listed = {each.number for each in log.shards}
        if not set(self.following) - self.ended <= listed:
            return False
        for shard in log.shards:
            position = self.following.get(shard.number, LOG_START)
            head = ends.heads.get(shard.number)
            if position < (LOG_START if head is None else head.trimmed):
                return False
            if position > ends.end_of(shard):
                return False
        return True

    def is_at(self, ends: JournalEnds) -> bool:
        """Whether every record of that moment was read."""
        return not any(True for _ in self._behind(ends))

    def are(self, ends: JournalEnds) -> bool:
        """Whether exactly the records of that moment were read, and no later one."""
        log = ends.log
        return self.journal == log.number and all(
            self.following.get(each.number, LOG_START) == ends.end_of(each) for each in log.shards
        )

    def _behind(self, ends: JournalEnds) -> Iterator[tuple[LogShard, LogPosition]]:
        """Shards with unread records, and the positions in them."""
        for shard in ends.log.shards:
            position = self.following.get(shard.number, LOG_START)
            if position < ends.end_of(shard):
                yield shard, position

    def read(
        self, reader: Reader, table: Table, ends: JournalEnds, until_us: int, count: int
    ) -> RowsNamed:
        """The rows that the next records name, up to `ends` and at most `count` records.

        Records later than `until_us` are left. If the positions do not move, there was no record.
        """
        keys: dict[bytes, None] = {}
        following = dict(self.following)
        left = count
        for shard, start in self._behind(ends):
            end = min(ends.end_of(shard), LogPosition(until_us + 1, 0))
            prefix = shard_prefix(table.id, ends.log.number, shard.number)
            for key, value in reader.scan(record_key(prefix, start), record_key(prefix, end)):
                if left % _LET_THROUGH == 0:
                    safepoint()
                keys[value] = None
                following[shard.number] = position_of(key).behind
                left -= 1
                if not left:
                    return RowsNamed(list(keys), self._moved(following, ends))
            if end == ends.end_of(shard):
                following[shard.number] = end
        return RowsNamed(list(keys), self._moved(following, ends))

    def _moved(self, following: dict[int, LogPosition], ends: JournalEnds) -> "JournalPositions":
        """The positions after reading, without those of shards that left the journal."""
        listed = {each.number: each for each in ends.log.shards}
        kept = {number: each for number, each in following.items() if number in listed}
        ended = [
            number
            for number, shard in listed.items()
            if not shard.is_open and kept.get(number, LOG_START) == ends.end_of(shard)
        ]
        return JournalPositions(self.journal, kept, frozenset(ended))

    # --- as they stand in a file -------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """The positions as JSON takes them."""
        return {
            "journal": self.journal,
            "following": [[number, *each] for number, each in sorted(self.following.items())],
            "ended": sorted(self.ended),
        }

    @classmethod
    def read_document(cls, document: Mapping[str, Any]) -> "JournalPositions":
        """The positions of a document. Raises `StoreDamaged`."""
        try:
            following = {
                int(number): LogPosition(int(timestamp_us), int(index))
                for number, timestamp_us, index in document["following"]
            }
            ended = frozenset([int(each) for each in document["ended"]])
            return cls(int(document["journal"]), following, ended)
        except (LookupError, TypeError, ValueError) as error:
            raise StoreDamaged("positions in a journal are not readable") from error
