"""Schedule: pause, resume or end channels of a tunnel (change §C2.5)."""

from typing import NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.tunnels.state import ChannelReport
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.tunnels.parts import reports_of
from widerow.wire.tablestore.tunnel_messages import ScheduleRequest

__all__ = ["ScheduleCall", "call", "decode", "encode"]


class ScheduleCall(NamedTuple):
    """The tunnel, and how its channels shall stand."""

    tunnel: str
    wanted: tuple[ChannelReport, ...]


@decoder(ScheduleRequest)
def decode(sent: ScheduleRequest) -> ScheduleCall:
    """The tunnel and its channels. Raises `InvalidRequest`."""
    return ScheduleCall(text(sent.tunnel_id), reports_of(sent.channels))


def call(engine: TablestoreEngine, instance: str, request: ScheduleCall) -> Plan[None]:
    """Ask the engine."""
    return engine.tunnels.schedule(instance, *request)


def encode(_result: None) -> bytes:
    """ScheduleResponse, which is empty."""
    return b""
