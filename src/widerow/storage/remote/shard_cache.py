"""A cache of the shards that this process wrote last, so that writing them again reads nothing.

Every change of a shard changes its revision. So the content that this process committed with a
revision is valid while that revision stands, and a commit on condition of the revision checks that
at no cost. Bodies run on cached values, and a group is one round trip instead of two. A commit that
is refused drops the cached values, and its bodies run again on values that are read. Keys that
bodies looked at and under which nothing stood are cached as well: nearly every write looks at some.

**Other processes.** One shard that another process has changed makes the commit of a whole group
fail, so cached values must nearly always be right. A shard's values are not used before reads have
found them right `CONFIRMED_MIN` times in a row; each time they turn out wrong afterwards, four
times as many such reads are needed. Then, too, no cached value of any shard is used until reads
find `1 - WRONG_SHARE_MAX` of them right again. So one server, or several with partition key values
of their own, save the reads, and several that write the same values lose little.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, final

from widerow.storage.page import Page, PageWanted
from widerow.storage.remote.driver import ShardChange
from widerow.storage.remote.readers import FIRST_PAGE_ROWS, Missing, Pairs, WantedReads, pages

__all__ = ["CONFIRMED_MIN", "CacheReader", "ShardCache"]

CONFIRMED_MIN: Final = 2
_CONFIRMED_MAX: Final = 1024
_WRONG_FACTOR: Final = 4
_LOOKS: Final = 256  # reads that are compared before the cache is used again
WRONG_SHARE_MAX: Final = 1 / 64
# of a shard in the cache; a larger one is dropped and cached anew
_SHARD_BYTES_MAX: Final = 1024 * 1024
_BYTES_MAX: Final = 16 * 1024 * 1024  # of a generation; there are two
_NONE_ABSENT: Final[Mapping[bytes, Iterable[bytes]]] = MappingProxyType({})
_KEY_BYTES: Final = 120  # what a key costs beside its bytes and those of its value


@final
class _Shard:
    """The cached keys of one shard. `values` has its revision too, under the revision's key."""

    __slots__ = ("confirmed", "needed", "size", "values")

    def __init__(self) -> None:
        self.values: dict[bytes, bytes | None] = {}
        self.size = 0
        self.confirmed = 0  # reads in a row that found it right
        self.needed = CONFIRMED_MIN

    def forget(self) -> None:
        """Drop the cached values, and keep the count of reads that found them right."""
        self.values = {}
        self.size = 0

    def change(self, change: ShardChange) -> None:
        """Apply a change that was committed, to what is cached of the shard."""
        if self.size > _SHARD_BYTES_MAX or self.values.get(change.revision_key) != change.expected:
            self.forget()
        if change.ranges:
            self.forget()
        values = self.values
        for key, value in change.puts.items():
            self.size += len(key) + len(value) + _KEY_BYTES - len(values.get(key) or b"")
            values[key] = value
        for key in change.deletes:
            self.size += len(key) + _KEY_BYTES - len(values.get(key) or b"")
            values[key] = None
        values[change.revision_key] = change.revision

    def miss(self, keys: Iterable[bytes]) -> None:
        """Cache that nothing stands under these keys, unless the last change wrote them."""
        values = self.values
        for key in keys:
            if key not in values:
                self.size += len(key) + _KEY_BYTES
                values[key] = None


@final
class ShardCache:
    """The shards that were written last, by the keys of their revisions.

    For one group at a time, whose threads are about shards of their own.
    """

    def __init__(self) -> None:
        self._shards: dict[bytes, _Shard] = {}
        self._former: dict[bytes, _Shard] = {}  # shards that were not written lately
        self._bytes = 0
        self._in_doubt = False
        self._looks = 0
        self._wrong = 0

    def of(self, revisions: Iterable[bytes]) -> Mapping[bytes, bytes | None] | None:
        """The cached keys of some shards, with their revisions; None if one is not reliable."""
        if self._in_doubt:
            return None
        found = [self._relied_on(revision) for revision in revisions]
        if not found or None in found:
            return None
        if len(found) == 1:
            return found[0]
        return {key: value for values in found if values for key, value in values.items()}

    def _relied_on(self, revision: bytes) -> dict[bytes, bytes | None] | None:
        shard = self._shard(revision)
        if shard is None or shard.confirmed < shard.needed or revision not in shard.values:
            return None
        return shard.values

    def _shard(self, revision: bytes) -> _Shard | None:
        shard = self._shards.get(revision)
        return self._former.get(revision) if shard is None else shard

    def committed(
        self,
        changes: Sequence[ShardChange],
        absent: Mapping[bytes, Iterable[bytes]] = _NONE_ABSENT,
    ) -> None:
        """Cache what these changes wrote. Called after they were committed.

        `absent`: keys of their shards, by the keys of the revisions, under which nothing stood when
        they were read for the change. Most are looked at with every write, such as a lock.
        """
        for change in changes:
            key = change.revision_key
            shard = self._shards.get(key)
            if shard is None:
                former = self._former.pop(key, None)
                shard = self._shards[key] = _Shard() if former is None else former
                self._bytes += shard.size
            before = shard.size
            shard.change(change)
            shard.miss(absent.get(key, ()))
            self._bytes += shard.size - before + _KEY_BYTES
        if self._bytes > _BYTES_MAX:
            self._former, self._shards, self._bytes = self._shards, {}, 0

    def refused(self, revisions: Iterable[bytes], *, relied_on: bool) -> None:
        """Drop what is cached of these shards: another process has changed them, or may have.

        `relied_on`: whether the refused commit relied on the cache; the cache is then tested again
        before it is used.
        """
        for revision in revisions:
            shard = self._shard(revision)
            if shard is None:
                continue
            shard.forget()
            shard.confirmed = 0
            if relied_on:
                shard.needed = min(shard.needed * _WRONG_FACTOR, _CONFIRMED_MAX)
                self._in_doubt = True

    def read(self, revisions: Mapping[bytes, bytes | None]) -> None:
        """Compare the cached revisions with those that were just read, by their keys."""
        for key, revision in revisions.items():
            shard = self._shard(key)
            if shard is None or key not in shard.values:
                continue
            right = shard.values[key] == revision
            shard.confirmed = shard.confirmed + 1 if right else 0
            if not right:
                shard.forget()
            if self._in_doubt:
                self._look(right=right)

    def _look(self, *, right: bool) -> None:
        self._looks += 1
        self._wrong += not right
        if self._looks == _LOOKS:
            self._in_doubt = self._wrong > _LOOKS * WRONG_SHARE_MAX
            self._looks = self._wrong = 0


@final
class CacheReader:
    """A reader of cached values for the bodies of one unit. Notes every key and page asked for."""

    __slots__ = ("_asked", "_values")

    def __init__(self, values: Mapping[bytes, bytes | None], asked: WantedReads) -> None:
        """A reader of these values; what is asked for is added to `asked`."""
        self._values = values
        self._asked = asked

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        self._asked.keys.add(key)
        try:
            return self._values[key]
        except KeyError:
            raise Missing from None

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent."""
        self._asked.keys.update(keys)
        values = self._values
        if not all(key in values for key in keys):
            raise Missing
        return [values[key] for key in keys]

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Pairs:
        """Always raises `Missing` when iterated: ranges are not cached."""
        return pages(self, start, stop, reverse=reverse)

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """Note the page. Always raises `Missing`."""
        if rows_max == FIRST_PAGE_ROWS:
            self._asked.pages.add(PageWanted(start, stop, rows_max, reverse))
        raise Missing
