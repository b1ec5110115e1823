"""Writing an index into files, and opening it again (search §11.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from widerow.errors import IndexDamaged
from widerow.search.fields import SearchFields
from widerow.search.files import (
    MANIFEST,
    Manifest,
    fingerprint,
    open_arrays,
    read_manifest,
    write_arrays,
    write_manifest,
)
from widerow.search.interface import IndexFiles
from widerow.search.segments import IndexSegment, SegmentView

__all__ = ["Checkpoint", "opened"]

_SEGMENT: Final = "segment-"
_ORDER: Final = "order-"


@dataclass
class Checkpoint:
    """An index at one moment, to be written, and the `state` that its owner stores with it.

    `mapped`: once written, the segments read from files, by the identity of those in memory.
    """

    fields: SearchFields
    segments: Sequence[SegmentView]
    state: bytes
    mapped: dict[object, IndexSegment] = field(default_factory=dict)

    def write(self, files: IndexFiles) -> None:
        """Write new segments, then the manifest; then remove files that are not used any more.

        Any thread, one checkpoint of an index at a time. After a failure, the former checkpoint is
        the one that `opened` finds.
        """
        known = set(files.names())
        number = 1 + max((_number(name) for name in known), default=0)
        names: list[str] = []
        for each in self.segments:
            segment = each.segment
            if segment.file is None or segment.file not in known:
                name = f"{_SEGMENT}{number}"
                number += 1
                write_arrays(files, name, segment.arrays, {"counts": list(segment.counts)})
                self.mapped[segment.identity] = _mapped(self.fields, files, name, segment.identity)
            else:
                name = segment.file
            names.append(name)
        order = f"{_ORDER}{number}"
        write_arrays(files, order, _order_arrays(self.segments), {})
        manifest = Manifest(fingerprint(self.fields), names, order, self.state)
        write_manifest(files, manifest)
        for name in set(files.names()) - {MANIFEST, order, *names}:
            files.remove(name)


def _number(name: str) -> int:
    _, _, number = name.rpartition("-")
    return int(number) if number.isascii() and number.isdigit() else 0


def _mapped(
    fields: SearchFields, files: IndexFiles, name: str, identity: object | None = None
) -> IndexSegment:
    arrays, facts = open_arrays(files, name)
    segment = IndexSegment(fields, arrays, facts["counts"], identity)
    segment.file = name
    return segment


def _order_arrays(segments: Sequence[SegmentView]) -> dict[str, NDArray[Any]]:
    """Arrays of each segment's living rows, and of their ranks."""
    arrays: dict[str, NDArray[Any]] = {}
    for at, each in enumerate(segments):
        assert each.ranks is not None
        arrays[f"{at}/ranks"] = each.ranks
        if each.live is not None:
            arrays[f"{at}/live"] = each.live
    return arrays


def opened(fields: SearchFields, files: IndexFiles) -> tuple[list[SegmentView], bytes] | None:
    """The mapped segments of the last checkpoint, and its state; None without a usable one.

    It is not usable if it is of another schema, or if files are missing or damaged as far as can be
    told without reading all of them. Other damage raises `IndexDamaged` when it is met.
    """
    try:
        manifest = read_manifest(files)
        if manifest is None or manifest.fingerprint != fingerprint(fields):
            return None
        present = set(files.names())
        if not present.issuperset((manifest.order, *manifest.segments)):
            return None
        order, _ = open_arrays(files, manifest.order)
        return [
            _view(_mapped(fields, files, name), order, at)
            for at, name in enumerate(manifest.segments)
        ], manifest.state
    except IndexDamaged:
        return None


def _view(segment: IndexSegment, order: Mapping[str, NDArray[Any]], at: int) -> SegmentView:
    ranks = order[f"{at}/ranks"]
    live = order.get(f"{at}/live")
    if len(ranks) != segment.count or (live is not None and len(live) != segment.count):
        raise IndexDamaged(f"{segment.file}: not the segment that the manifest means")
    return SegmentView(segment, live, np.asarray(ranks))
