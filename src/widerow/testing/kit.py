"""What tests get of a server besides its endpoint: clients of the vendor's SDK, and faults."""

from typing import TYPE_CHECKING, Any, Protocol

from widerow.errors import WiderowError

if TYPE_CHECKING:
    from widerow.server.dev.mode import DevMode

__all__ = ["FaultList", "InstanceClients", "SdkMissing", "Serving"]


class SdkMissing(WiderowError):
    """A client was asked for, but the vendor's SDK is not installed."""


class Serving(Protocol):
    """The endpoint of a server, and one key pair that it knows."""

    endpoint: str
    access_key_id: str
    access_key_secret: str


class InstanceClients:
    """Clients of one instance of a server, closed together."""

    def __init__(self, server: Serving, instance: str) -> None:
        self._server = server
        self._instance = instance
        self._clients: list[Any] = []

    def client(self, **options: Any) -> Any:  # noqa: ANN401  # the SDK has no types
        """A `tablestore.OTSClient`, without retries unless `options` say otherwise.

        Raises: `SdkMissing`.
        """
        try:
            import tablestore  # noqa: PLC0415  # not a dependency of widerow
            from tablestore.retry import NoRetryPolicy  # noqa: PLC0415  # not a dependency
        except ImportError as error:
            raise SdkMissing(
                "the vendor's SDK is not installed here: pip install tablestore"
            ) from error
        options.setdefault("retry_policy", NoRetryPolicy())
        server = self._server
        client = tablestore.OTSClient(
            server.endpoint,
            server.access_key_id,
            server.access_key_secret,
            self._instance,
            **options,
        )
        self._clients.append(client)
        return client

    def close(self) -> None:
        """Close the connections of all clients."""
        for client in self._clients:
            client.connection.pool.clear()  # the SDK has no way to close a client
        self._clients.clear()


class FaultList:
    """The faults of a server, or those of one instance of it."""

    def __init__(self, mode: "DevMode", instance: str | None = None) -> None:
        """`instance`: whose faults these are; without one, the faults of all instances."""
        self._mode = mode
        self._instance = instance

    def add(self, error: str | None = None, **fields: Any) -> int:  # noqa: ANN401  # as documented
        """Let requests fail with an error code, or as `fields` say; the number of the fault.

        The fields are those of `/_widerow/faults` (docs/guide/testing.md). Raises: `FieldRefused`.
        """
        given = {"error": error, **fields}
        if self._instance is not None:
            given.setdefault("instance", self._instance)
        return int(self._mode.add_fault(given)["id"])

    def of(self, instance: str) -> "FaultList":
        """The faults of one instance of the server."""
        return FaultList(self._mode, instance)

    def remove(self, number: int) -> None:
        """Remove a fault. Raises: `KeyError` for an unknown number."""
        if not self._mode.faults.remove(number):
            raise KeyError(number)

    def clear(self) -> None:
        """Remove the faults of this list."""
        for fault in self.all():
            self._mode.faults.remove(fault["id"])

    def all(self) -> list[dict[str, Any]]:
        """The document of each fault, with `id`, `seen` and `struck`."""
        return [
            fault
            for fault in self._mode.faults.documents()
            if self._instance is None or fault["instance"] == self._instance
        ]

    def struck(self, number: int) -> int:
        """How many requests a fault has struck. Raises: `KeyError` for an unknown number."""
        return {fault["id"]: int(fault["struck"]) for fault in self.all()}[number]
