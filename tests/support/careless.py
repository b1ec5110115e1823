"""Stores and disks that break one rule each, as controls of tests that must catch them."""

from collections.abc import Sequence
from typing import Any

from tests.support.lossy import LossyDisk, LossyStore

from widerow.storage.interface import Outcome, Write

__all__ = ["NoSync", "ShowsEarly", "SyncsAgain"]


class NoSync(LossyDisk):
    """A disk below a store that never syncs its log."""

    def sync(self, name: str) -> None:
        assert name in self.names()


class SyncsAgain(LossyDisk):
    """A disk below a store that repeats a failed sync."""

    def sync(self, name: str) -> None:
        try:
            super().sync(name)
        except OSError:
            super().sync(name)


class ShowsEarly(LossyStore):
    """Shows a group, and then makes it safe."""

    def _run_group(self, writes: Sequence[Write[Any]]) -> list[Outcome[Any]]:
        if self.writable:
            self._shown.transact_group([Write(each.shards, each.run) for each in writes])
        return super()._run_group(writes)
