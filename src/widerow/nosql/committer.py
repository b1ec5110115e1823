"""Writes of several threads in one group: whoever comes while a sync runs shares the next one."""

import threading
from collections import deque
from typing import Any, NamedTuple

from widerow.limits import GROUP_WRITES_MAX
from widerow.storage.interface import Outcome, Store, Write

__all__ = ["Committer"]


class _Waiting(NamedTuple):
    """Writes of one caller, and where their outcomes go."""

    writes: list[Write[Any]]
    outcomes: list[Outcome[Any]]
    done: threading.Event
    failure: list[BaseException]


class Committer:
    """Commits groups on the threads that ask: the first one leads, those behind it wait."""

    def __init__(self, store: Store) -> None:
        """Nothing waiting."""
        self._store = store
        self._leading = threading.Lock()
        self._waiting: deque[_Waiting] = deque()

    def commit(self, writes: list[Write[Any]]) -> list[Outcome[Any]]:
        """Commit writes, which may share a group with others', and return when they are durable.

        Raises: what the store raises for the group as a whole.
        """
        mine = _Waiting(writes, [], threading.Event(), [])
        self._waiting.append(mine)
        while not mine.done.is_set():
            with self._leading:
                if not mine.done.is_set():
                    self._lead()
        if mine.failure:
            raise mine.failure[0]
        return mine.outcomes

    def _lead(self) -> None:
        """Commit one group of what waits."""
        group = [self._waiting.popleft()]
        size = len(group[0].writes)
        while self._waiting and not _alone(group[0]):
            following = self._waiting[0]
            size += len(following.writes)
            if size > GROUP_WRITES_MAX or _alone(following):
                break
            group.append(self._waiting.popleft())
        try:
            self._run(group)
        except BaseException as error:
            for each in group:
                each.failure.append(error)
            if not isinstance(error, Exception):
                raise
        finally:
            for each in group:
                each.done.set()

    def _run(self, group: list[_Waiting]) -> None:
        writes = [write for each in group for write in each.writes]
        outcomes = self._store.transact_group(writes)
        settled = iter(outcomes)
        for each in group:
            each.outcomes.extend(next(settled) for _ in each.writes)


def _alone(waiting: _Waiting) -> bool:
    return any(write.alone for write in waiting.writes)
