"""The value of the fixture `widerow_instance`: one instance of a server (docs/guide/testing.md)."""

from typing import Any

from widerow.testing.kit import FaultList, InstanceClients
from widerow.testing.server import WiderowServer

__all__ = ["WiderowInstance"]


class WiderowInstance:
    """An instance of a running server, for one test alone.

    `name`, `endpoint`, `access_key_id` and `access_key_secret` are what SDKs need.
    """

    def __init__(self, server: WiderowServer, name: str) -> None:
        """`name`: of the instance, which exists as soon as it has a table."""
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
        """The faults of the instance, which strike no other instance."""
        return self.server.faults.of(self.name)

    def keep(self, name: str) -> None:
        """Keep a snapshot of the instance, for `reset`."""
        self.server.keep(name, self.name)

    def reset(self, name: str | None = None) -> None:
        """Replace the instance's content by a snapshot; without a name, remove it."""
        self.server.reset(name, self.name)

    def close(self) -> None:
        """Close its clients, remove its content and its snapshots."""
        self._clients.close()
        if self.server.endpoint:  # false if a test has stopped the server
            self.reset()
            self.server.forget(self.name)
