"""The definition of a log as a part of its table's record, in JSON (docs/formats/catalog.md)."""

from typing import Any

from widerow.model.streams import LogShard, Stream

__all__ = ["decode_log", "encode_log"]

_LOG: tuple[type[Any], ...] = (str, int, int, list, int, list)
_SHARD: tuple[type[Any], ...] = (int, str, list, bool, int)


def encode_log(log: Stream) -> list[Any]:
    """What stands for a log in the record."""
    shards = [
        [each.number, each.start.hex(), list(each.parents), each.is_open, each.closed_us]
        for each in log.shards
    ]
    return [
        *(log.id, log.expiration_hours, log.enabled_at_us, list(log.columns), log.number, shards)
    ]


def decode_log(values: Any) -> Stream:  # noqa: ANN401  # what JSON holds
    """The log of what stands for it. Raises `TypeError`, `ValueError`."""
    log_id, hours, begun_us, columns, number, shards = _checked(values, _LOG)
    names = tuple(_checked(columns, (str,) * len(columns)))
    return Stream(log_id, hours, begun_us, names, number, tuple(map(_shard, shards)))


def _shard(values: Any) -> LogShard:  # noqa: ANN401  # what JSON holds
    number, start, parents, is_open, closed_us = _checked(values, _SHARD)
    known = tuple(_checked(parents, (int,) * len(parents)))
    return LogShard(number, bytes.fromhex(start), known, is_open, closed_us)


def _checked(values: Any, kinds: tuple[type[Any], ...]) -> list[Any]:  # noqa: ANN401  # what JSON holds
    """The values, each of its type."""
    if type(values) is not list:
        raise TypeError(f"{values!r} is not a list")
    for value, kind in zip(values, kinds, strict=True):
        if type(value) is not kind:
            raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return values
