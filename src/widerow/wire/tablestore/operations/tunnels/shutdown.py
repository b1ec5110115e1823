"""Shutdown: a client of a tunnel ends (change §C2.1)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.tunnels.service import TunnelCall
from widerow.wire.tablestore.operations.bodies import decoder
from widerow.wire.tablestore.operations.tunnels.parts import tunnel_call
from widerow.wire.tablestore.tunnel_messages import ShutdownRequest

__all__ = ["call", "decode", "encode"]

decode = decoder(ShutdownRequest)(tunnel_call)


def call(engine: TablestoreEngine, instance: str, request: TunnelCall) -> Plan[None]:
    """Ask the engine."""
    return engine.tunnels.shutdown(instance, request)


def encode(_result: None) -> bytes:
    """ShutdownResponse, which is empty."""
    return b""
