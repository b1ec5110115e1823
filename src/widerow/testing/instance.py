"""What the fixture `widerow_instance` gives: one instance of a server (docs/guide/testing.md)."""

from typing import Any

from widerow.testing.kit import FaultList, InstanceClients
from widerow.testing.server import WiderowServer

__all__ = ["WiderowInstance"]


class WiderowInstance:
    """An instance of a server that runs: what one test has for itself.

    `name`, `endpoint`, `access_key_id` and `access_key_secret` are what any SDK asks for.
    """

    def __init__(self, server: WiderowServer, name: str) -> None:
        """The instance of that name, which is there as soon as it has a table."""
        self.server = server
        self.name = name
        self.endpoint = server.endpoint
        self.access_key_id = server.access_key_id
        self.access_key_secret = server.access_key_secret
        self._clients = InstanceClients(server, name)

    def client(self, **options: Any) -> Any:  # noqa: ANN401  # the SDK has no types
        """A `tablestore.OTSClient` of the instance, as `WiderowServer.client`."""
        return self._clients.client(**options)

    @property
    def faults(self) -> FaultList:
        """What goes wrong in the instance on demand, and in no other."""
        return self.server.faults.of(self.name)

    def keep(self, name: str) -> None:
        """Keep what the instance holds now, for `reset`."""
        self.server.keep(name, self.name)

    def reset(self, name: str | None = None) -> None:
        """Let the instance hold nothing, or what was kept under a name."""
        self.server.reset(name, self.name)

    def close(self) -> None:
        """Close its clients, empty it and forget its snapshots."""
        self._clients.close()
        if self.server.endpoint:  # a test may have stopped it
            self.reset()
            self.server.forget(self.name)
