"""The tunnel actions by their paths; imported when one of them is first asked for."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from widerow.wire.tablestore.operations.tunnels import (
    checkpoint,
    connect,
    create_tunnel,
    delete_tunnel,
    describe_tunnel,
    get_checkpoint,
    get_rpo,
    heartbeat,
    list_tunnel,
    read_records,
    schedule,
    shutdown,
)

__all__ = ["TUNNEL_ACTIONS"]

TUNNEL_ACTIONS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "tunnel/create": create_tunnel,
        "tunnel/delete": delete_tunnel,
        "tunnel/list": list_tunnel,
        "tunnel/describe": describe_tunnel,
        "tunnel/connect": connect,
        "tunnel/heartbeat": heartbeat,
        "tunnel/shutdown": shutdown,
        "tunnel/getcheckpoint": get_checkpoint,
        "tunnel/readrecords": read_records,
        "tunnel/checkpoint": checkpoint,
        "tunnel/getrpo": get_rpo,
        "tunnel/getrpobyoffset": get_rpo,
        "tunnel/schedule": schedule,
    }
)
"""Each has `decode`, `call` and `encode`, as every action."""
