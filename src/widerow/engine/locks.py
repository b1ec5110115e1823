"""Partition key values that one local transaction holds against every other writer (change §B3).

A lock stands in a dictionary under the shard of its key value: the number of the table and the
encoded value. Whoever writes rows asks `check_unlocked`; where nothing at all is locked that is one
look at an empty dictionary.

**Threads.** Every step is one operation of a dictionary or of a list, which Python makes as a
whole: `setdefault` decides between two that want the same lock, and of two that release it only
the one that took the single mark out of the lock removes it from the dictionary. Nobody can put
another lock there before that.
"""

from typing import final

from widerow.clock import Clock
from widerow.errors import Conflict, Rule

__all__ = ["Lock", "Locks", "check_unlocked", "is_locked", "release_lock", "take_lock"]


@final
class Lock:
    """One partition key value, held until it is released, or until a moment.

    `shard`: the prefix of the rows under that value. `until_ns`: on the clock's monotonic scale.
    """

    __slots__ = ("_marks", "shard", "until_ns")

    def __init__(self, shard: bytes, until_ns: int) -> None:
        self.shard = shard
        self.until_ns = until_ns
        self._marks = [True]

    @property
    def is_held(self) -> bool:
        """Whether nobody has released it."""
        return bool(self._marks)

    def take_mark(self) -> bool:
        """True for the first caller, who has to remove the lock; False for every other one."""
        try:
            return self._marks.pop()
        except IndexError:
            return False


Locks = dict[bytes, Lock]
"""The locks that are held, by their shards."""


def is_locked(locks: Locks, shard: bytes, clock: Clock) -> bool:
    """Whether somebody holds a shard. Releases a lock whose time is over."""
    lock = locks.get(shard)
    if lock is None:
        return False
    if clock.monotonic_ns() < lock.until_ns:
        return True
    release_lock(locks, lock)
    return False


def check_unlocked(locks: Locks, shard: bytes, clock: Clock) -> None:
    """Raise `Conflict(KEY_LOCKED)` where a transaction holds the shard."""
    if is_locked(locks, shard, clock):
        raise Conflict(Rule.KEY_LOCKED)


def take_lock(locks: Locks, lock: Lock, clock: Clock) -> None:
    """Hold the shard of `lock`. Raises `Conflict(KEY_LOCKED)` if another transaction holds it."""
    check_unlocked(locks, lock.shard, clock)
    if locks.setdefault(lock.shard, lock) is not lock:
        raise Conflict(Rule.KEY_LOCKED)


def release_lock(locks: Locks, lock: Lock) -> bool:
    """Give a lock up; whether it was held until now. Any thread, any number of times."""
    if not lock.take_mark():
        return False
    del locks[lock.shard]
    return True
