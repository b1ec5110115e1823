"""The task by which a server of a shared store beats and looks at the other servers.

A task looks a few times a second and beats once a second (`engine/nodes/nodes.py`). Where a look or
a beat fails, the read lease ends by itself, and requests read the epoch again.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from functools import partial
from typing import Final

from widerow.commit.committer import Committer
from widerow.engine.engine import Engine
from widerow.engine.nodes.work import NodeWork
from widerow.errors import StorageFailure
from widerow.limits import NODE_BEAT_SECONDS, NODE_LOOK_SECONDS
from widerow.server.housekeeper import commit
from widerow.server.settings import SettingsInvalid
from widerow.server.unforeseen import log_unforeseen

__all__ = ["Membership", "node_name"]

_log = logging.getLogger("widerow.nodes")

_JOIN_SECONDS: Final = 2 * NODE_BEAT_SECONDS  # until each other server has beaten once or twice
_ANYWHERE: Final = ("", "0.0.0.0", "::")  # noqa: S104  # addresses that do not name this machine


def node_name(given: str | None, endpoint: str) -> str:
    """The name of a server: the given one, or the host and port that it listens on."""
    if given is not None:
        return given
    host, _, port = endpoint.partition("://")[2].rpartition(":")
    if host.strip("[]") in _ANYWHERE:
        host = socket.gethostname()
    return f"{host}:{port}"


class Membership:
    """Keeps a server's node alive, on the loop's thread."""

    def __init__(
        self,
        engine: Engine,
        committer: Committer,
        requests: Callable[[], int],
        measure: Callable[[], NodeWork],
    ) -> None:
        """Does nothing before `join`.

        `requests`: gives the number of answered requests. `measure`: how busy the server is.
        """
        self._nodes = engine.nodes
        self._nodes.measure = partial(self._measured, measure)
        self._committer = committer
        self._requests = requests
        self._blind = False  # whether the last look failed
        self._unmeasured = False  # whether it was told that the server cannot be measured

    async def join(self) -> None:
        """Beat for the first time, and compare clocks with other servers. Takes up to two seconds.

        Raises: `SettingsInvalid` where this machine's clock is wrong, `StorageFailure`.
        """
        await self._beat()
        looks = round(_JOIN_SECONDS / NODE_LOOK_SECONDS)
        for _ in range(looks):
            await asyncio.to_thread(self._nodes.look)
            if self._nodes.joined() and self._nodes.clock_fault is None:
                break
            await asyncio.sleep(NODE_LOOK_SECONDS)
        await self._beat()
        if self._nodes.clock_fault is not None:
            await self.leave()
            raise SettingsInvalid(self._nodes.clock_fault)

    async def run(self) -> None:
        """Look and beat until cancelled."""
        while True:
            await asyncio.sleep(NODE_LOOK_SECONDS)
            before = self._nodes.clock_fault
            try:
                await asyncio.to_thread(self._nodes.look)
                await self._beat()
            except Exception as error:  # noqa: BLE001  # goes on without a lease, looks again
                self._missed(error)
                continue
            if self._blind:
                self._blind = False
                _log.warning("the other servers are seen again")
            if self._nodes.clock_fault != before:
                self._tell(self._nodes.clock_fault)

    async def leave(self) -> None:
        """Remove the node.

        A failure delays the other servers' next change of the catalogue by seconds.
        """
        plan = self._nodes.leave()
        if plan is None:
            return
        try:
            await commit(self._committer, plan)
        except StorageFailure as error:
            _log.info("this server stays listed", extra={"facts": {"reason": str(error)}})

    async def _beat(self) -> None:
        self._nodes.requests = self._requests()
        plan = self._nodes.beat()
        if plan is not None:
            await commit(self._committer, plan)

    def _measured(self, measure: Callable[[], NodeWork]) -> NodeWork | None:
        """How busy the server is; None where that fails: others rely on beats, not on figures."""
        try:
            return measure()
        except Exception as error:  # noqa: BLE001  # a beat is made all the same
            if not self._unmeasured:
                self._unmeasured = True
                log_unforeseen(_log, error, beat="without figures")
            return None

    def _missed(self, error: Exception) -> None:
        if not self._blind:
            self._blind = True
            facts = {"kind": type(error).__name__, "reason": str(error)}
            _log.warning("the other servers cannot be seen", extra={"facts": facts})

    def _tell(self, fault: str | None) -> None:
        if fault is None:
            _log.warning("the clock is right again; writes are taken")
        else:
            _log.critical("no writes until the clock is right", extra={"facts": {"reason": fault}})
