"""Homes of a database that do not answer: writes to them are refused at once.

A server of a database dies, and its part of the data is away until another one has it. Groups run
one at a time, so whoever waits for that part keeps all others waiting. So a group waits for a place
once, a few seconds; then the place is noted, and probed beside the groups until it answers. A probe
waits for nothing, so one place keeps no other one from being found again.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic
from typing import Final, NamedTuple, final

from widerow.errors import StoreBusy

__all__ = ["AwayHomes"]

_PROBES_AT_ONCE: Final = 2  # the first probe of a server that hangs takes seconds
_PROBE_SECONDS: Final = 0.1  # from one probe of a place to the next one, at least


class _Away(NamedTuple):
    """A home that does not answer, the error of writes to it, and the probe that was sent to it.

    `since`: when the probe was asked for.
    """

    error: StoreBusy
    key: bytes
    probe: "Future[None]"
    since: float


@final
class AwayHomes:
    """The homes that do not answer. Any thread."""

    def __init__(self, probe: Callable[[bytes], None]) -> None:
        """No home is away yet. `probe`: `Driver.try_home`."""
        self._try = probe
        self._away: dict[bytes, _Away] = {}
        self._threads = ThreadPoolExecutor(_PROBES_AT_ONCE, "widerow-probe")

    def note(self, home: bytes, key: bytes, error: StoreBusy) -> None:
        """Refuse writes to `home` with `error` until the shard `key` in it takes changes again."""
        self._away[home] = _Away(error, key, self._probe(key), monotonic())

    def refusal(self, home: bytes) -> StoreBusy | None:
        """The error for a write to `home`; None: it is not known to be away."""
        away = self._away.get(home)
        if away is None:
            return None
        if away.probe.done():
            if away.probe.exception() is None:
                self._away.pop(home, None)
                return None
            if monotonic() - away.since >= _PROBE_SECONDS:
                self.note(home, away.key, away.error)
        return away.error

    def __len__(self) -> int:
        return len(self._away)

    def close(self) -> None:
        """End the probes."""
        self._threads.shutdown(cancel_futures=True)

    def _probe(self, key: bytes) -> "Future[None]":
        return self._threads.submit(self._try, key)
