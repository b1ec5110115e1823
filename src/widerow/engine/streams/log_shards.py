"""The shards of a stream, which follow the partitions of its table (change §C1.3)."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import final

from widerow.model.streams import LogShard, Stream

__all__ = ["OpenShards", "divided", "first_shards", "new_stream"]


def first_shards(splits: Sequence[bytes]) -> tuple[LogShard, ...]:
    """The shards of a new stream: one for each partition."""
    return tuple([LogShard(number, start) for number, start in enumerate((b"", *splits))])


def new_stream(table: str, hours: int, splits: Sequence[bytes], number: int, now_us: int) -> Stream:
    """A stream of a table of this name that begins now, without records (change §C1.1)."""
    return Stream(f"{table}_{now_us:016}", hours, now_us, (), number, first_shards(splits))


@final
class OpenShards:
    """The open shards of a stream, in order of keys, for finding one."""

    __slots__ = ("_shards", "_starts")

    def __init__(self, stream: Stream) -> None:
        """Linear in the number of shards, so made once for a definition."""
        self._shards = _opened(stream)
        self._starts = [each.start for each in self._shards]

    def at(self, partition_key: bytes) -> LogShard:
        """The open shard for changes under an encoded partition key. Logarithmic.

        More bytes may follow the partition key.
        """
        return self._shards[bisect_right(self._starts, partition_key) - 1]

    def stop_of(self, shard: LogShard) -> bytes | None:
        """The encoded partition key at which the next open shard begins; None for the last."""
        place = bisect_right(self._starts, shard.start)
        return self._starts[place] if place < len(self._starts) else None


def divided(stream: Stream, before: Sequence[bytes], after: Sequence[bytes]) -> Stream:
    """The stream when its table's partitions meet at `after` instead of at `before`.

    A partition that stays keeps its shard. Every other one closes, and each new partition has a
    shard that goes on from those that it overlaps: one after a split, two after a merge.
    """
    opened = dict(zip(_ranges(before), _opened(stream), strict=True))
    new = list(_ranges(after))
    closed = {opened[each].number for each in opened.keys() - set(new)}
    shards = [
        replace(each, is_open=each.is_open and each.number not in closed) for each in stream.shards
    ]
    number = max([each.number for each in shards], default=-1)
    for wanted in new:
        if wanted not in opened:
            number += 1
            parents = [opened[each].number for each in opened if _overlap(each, wanted)]
            shards.append(LogShard(number, wanted[0], tuple(sorted(parents))))
    return replace(stream, shards=tuple(shards))


_Range = tuple[bytes, bytes | None]


def _ranges(splits: Sequence[bytes]) -> Iterator[_Range]:
    starts = (b"", *splits)
    stops: tuple[bytes | None, ...] = (*splits, None)
    yield from zip(starts, stops, strict=True)


def _opened(stream: Stream) -> list[LogShard]:
    return sorted([each for each in stream.shards if each.is_open], key=_start_of)


def _overlap(one: _Range, other: _Range) -> bool:
    (first, stop), (start, end) = one, other
    return (end is None or first < end) and (stop is None or start < stop)


def _start_of(shard: LogShard) -> bytes:
    return shard.start
