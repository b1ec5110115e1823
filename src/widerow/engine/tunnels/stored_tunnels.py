"""The definition of a tunnel as a part of its table's record, in JSON (docs/formats/catalog.md)."""

from typing import Any

from widerow.model.tunnels import StreamStart, Tunnel, TunnelConfig, TunnelKind

__all__ = ["decode_tunnel", "encode_tunnel"]

_KINDS: tuple[type[Any], ...] = (str, int, str, str, str, int, int, int)


def encode_tunnel(tunnel: Tunnel) -> list[Any]:
    """What stands for a tunnel in the record."""
    start, start_ns, end_ns = tunnel.config
    return [
        *(tunnel.id, tunnel.number, tunnel.name, tunnel.kind.value),
        *(start.name, start_ns, end_ns, tunnel.created_us),
    ]


def decode_tunnel(values: Any) -> Tunnel:  # noqa: ANN401  # what JSON holds
    """The tunnel of what stands for it. Raises `TypeError`, `ValueError`, `KeyError`."""
    for value, kind in zip(values, _KINDS, strict=True):
        if type(value) is not kind:
            raise TypeError(f"{value!r} is not of type {kind.__name__}")
    tunnel_id, number, name, kind, start, start_ns, end_ns, created_us = values
    config = TunnelConfig(StreamStart[start], start_ns, end_ns)
    return Tunnel(tunnel_id, number, name, TunnelKind(kind), config, created_us)
