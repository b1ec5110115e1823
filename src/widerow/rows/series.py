"""The record of a series, and its meta, as they are stored (docs/formats/timeseries.md).

    01 epoch refreshed length key layouts   the record of a series, beside its points
    05 updated attributes                   its meta

`epoch`, `refreshed`, `updated` are microseconds since 1970 in eight bytes. Each layout of points
has its length before it, as the key has, in four bytes. Compiled: a put reads the record.
"""

import json
from struct import Struct
from struct import error as StructError  # noqa: N812  # the name of a class
from typing import Final, final

from widerow.errors import StoreDamaged
from widerow.limits import SERIES_LAYOUT_BYTES_MAX, SERIES_LAYOUTS_MAX
from widerow.model.timeseries.series import Tags, tags_text

__all__ = ["SeriesRecord", "decode_meta", "decode_series", "encode_meta", "pairs_of"]

_KIND: Final = 1
_META_KIND: Final = 5  # 1 to 4 are rows of other models, in the same space
_HEADER: Final = Struct(">BQQI")
_LENGTH: Final = Struct(">I")
_META: Final = Struct(">BQ")


@final
class SeriesRecord:
    """The record of a series.

    `epoch_us`: when its meta was last deleted; 0: never. `refreshed_us`: the update time of its
    meta as the last put knew it; 0: the meta is not known to be there. `layouts`: those of its
    points that have a number, from 1 on.
    """

    __slots__ = ("canonical", "epoch_us", "layouts", "refreshed_us")

    def __init__(
        self, canonical: bytes, epoch_us: int, refreshed_us: int, layouts: list[bytes]
    ) -> None:
        self.canonical = canonical
        self.epoch_us = epoch_us
        self.refreshed_us = refreshed_us
        self.layouts = layouts

    def encode(self) -> bytes:
        """The bytes of the record."""
        size = len(self.canonical)
        parts = [_HEADER.pack(_KIND, self.epoch_us, self.refreshed_us, size), self.canonical]
        for layout in self.layouts:
            parts.append(_LENGTH.pack(len(layout)))
            parts.append(layout)
        return b"".join(parts)

    def number(self, layout: bytes) -> int:
        """The number of a layout, which is given one if there is room; 0: it has none."""
        for at, known in enumerate(self.layouts):
            if known == layout:
                return at + 1
        size = sum([len(known) for known in self.layouts]) + len(layout)
        if len(self.layouts) >= SERIES_LAYOUTS_MAX or size > SERIES_LAYOUT_BYTES_MAX:
            return 0
        self.layouts.append(layout)
        return len(self.layouts)


def decode_series(record: bytes) -> SeriesRecord:
    """The record of a series of its bytes. Raises `StoreDamaged`."""
    layouts: list[bytes] = []
    try:
        kind, epoch_us, refreshed_us, size = _HEADER.unpack_from(record)
        at = _HEADER.size + size
        canonical = record[_HEADER.size : at]
        while at < len(record):
            begin = at + _LENGTH.size
            at = begin + _LENGTH.unpack_from(record, at)[0]
            layouts.append(record[begin:at])
    except StructError as problem:
        raise StoreDamaged(f"the record of a series is malformed: {record[:99]!r}") from problem
    if kind != _KIND or at != len(record):
        raise StoreDamaged(f"the record of a series is malformed: {record[:99]!r}")
    return SeriesRecord(canonical, epoch_us, refreshed_us, layouts)


def encode_meta(updated_us: int, attributes: Tags) -> bytes:
    """The bytes of a meta."""
    return _META.pack(_META_KIND, updated_us) + tags_text(attributes).encode()


def decode_meta(record: bytes) -> tuple[int, Tags]:
    """Update time and attributes of a meta. Raises `StoreDamaged`."""
    try:
        kind, updated_us = _META.unpack_from(record)
        attributes = pairs_of(record[_META.size :])
    except (StructError, ValueError, TypeError, AttributeError, RecursionError) as problem:
        raise StoreDamaged(f"a meta is malformed: {record[:99]!r}") from problem
    if kind != _META_KIND:
        raise StoreDamaged(f"a meta is malformed: {record[:99]!r}")
    return updated_us, attributes


def pairs_of(text: bytes | str) -> Tags:
    """Names and values of `tags_text`. Raises `ValueError`, `TypeError`, `AttributeError`."""
    pairs = [each.split("=", 1) for each in json.loads(text)]
    return tuple([(name, value) for name, value in pairs])
