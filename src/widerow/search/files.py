"""The files of an index: arrays with checksums (`docs/formats/search.md`).

A file of arrays is written once and never changed. A mapped array is checked when it is first used,
so that opening an index of any size takes milliseconds, and no damaged byte gets into an answer.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, final

import msgpack
import numpy as np
from numpy.typing import NDArray

from widerow.errors import IndexDamaged
from widerow.model.search.schema import AnalyzerName
from widerow.search.analyzers.dictionary import dictionary_name
from widerow.search.columns import Arrays
from widerow.search.fields import SearchFields
from widerow.search.interface import IndexFiles

__all__ = [
    "MANIFEST",
    "FileArrays",
    "Manifest",
    "fingerprint",
    "open_arrays",
    "read_manifest",
    "write_arrays",
    "write_manifest",
]

MANIFEST: Final = "manifest"
"""The file that lists the other files of the index."""

_FORMAT: Final = 6  # changes with every change of arrays, values or tokens
_HEAD: Final = b"WRSEARCH".ljust(64, b"\0")
_TAIL: Final = struct.Struct("<QII8s")  # the directory's offset, length and checksum; a mark
_TAIL_MARK: Final = b"WRSEAEND"
_ALIGNMENT: Final = 64
_PACKED: Final = {"use_bin_type": True}
_CHECK: Final = struct.Struct("<I")


class _Entry(NamedTuple):
    """One array of a file. `extent`: bytes up to the next one, which the checksum covers."""

    kind: str
    shape: list[int]
    offset: int
    extent: int
    checksum: int


@final
class FileArrays(Mapping[str, NDArray[Any]]):
    """The arrays of a mapped file. Reading one raises `IndexDamaged` where its bytes changed."""

    def __init__(self, name: str, content: memoryview, entries: dict[str, _Entry]) -> None:
        """`name` is that of the file, for messages."""
        self._name = name
        self._content = content
        self._entries = entries
        self._read: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        """One array, which cannot be written to. Cost of the first time: a pass over its bytes."""
        known = self._read.get(name)
        if known is not None:
            return known
        entry = self._entries[name]
        covered = self._content[entry.offset : entry.offset + entry.extent]
        if zlib.crc32(covered) != entry.checksum:
            raise IndexDamaged(f"{self._name}: the bytes of {name} are not those that were written")
        kind = np.dtype(entry.kind)
        count = int(np.prod(entry.shape, dtype=np.int64))
        array = np.frombuffer(covered, dtype=kind, count=count) if count else np.zeros(0, kind)
        self._read[name] = array = array.reshape(entry.shape)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, without reading them."""
        return sum(each.extent for each in self._entries.values())


def write_arrays(files: IndexFiles, name: str, arrays: Arrays, facts: Mapping[str, Any]) -> None:
    """Write a new file of arrays, and facts that msgpack can say. Synced on return."""
    files.write(name, _parts(arrays, facts))


def _parts(arrays: Arrays, facts: Mapping[str, Any]) -> Iterable[bytes | memoryview]:
    yield _HEAD
    offset = len(_HEAD)
    entries: dict[str, _Entry] = {}
    for name, given in arrays.items():
        array = np.ascontiguousarray(given)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        content = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
        padding = bytes(-array.nbytes % _ALIGNMENT)
        checksum = zlib.crc32(padding, zlib.crc32(content))
        extent = array.nbytes + len(padding)
        entries[name] = _Entry(array.dtype.str, list(array.shape), offset, extent, checksum)
        yield content
        yield padding
        offset += extent
    directory = msgpack.packb({"arrays": entries, "facts": dict(facts)}, **_PACKED)
    yield directory
    yield _TAIL.pack(offset, len(directory), zlib.crc32(directory), _TAIL_MARK)


def open_arrays(files: IndexFiles, name: str) -> tuple[FileArrays, Mapping[str, Any]]:
    """The arrays of a file, and its facts. Raises `IndexDamaged` for any other file."""
    content = files.map(name)
    if len(content) < len(_HEAD) + _TAIL.size or bytes(content[: len(_HEAD)]) != _HEAD:
        raise IndexDamaged(f"{name}: not a file of arrays")
    end = len(content) - _TAIL.size
    offset, length, checksum, mark = _TAIL.unpack(content[end:])
    directory = content[offset:end] if offset <= end else content[:0]
    if mark != _TAIL_MARK or len(directory) != length or zlib.crc32(directory) != checksum:
        raise IndexDamaged(f"{name}: its directory is not the one that was written")
    read = msgpack.unpackb(directory)
    entries = {each: _Entry(*entry) for each, entry in read["arrays"].items()}
    return FileArrays(name, content, entries), read["facts"]


# --- the manifest ------------------------------------------------------------------------------


class Manifest(NamedTuple):
    """The list of an index's files: segments in their order, and the living rows of each.

    `state`: bytes of the caller.
    """

    fingerprint: bytes
    segments: Sequence[str]
    order: str
    state: bytes


def fingerprint(fields: SearchFields) -> bytes:
    """What must be equal for files to be usable: the format, the schema, and the dictionary."""
    analyzers = {each.definition.analyzer for level in fields.levels for each in level.fields}
    names = {each.name for each in analyzers if each is not None}
    words = names & {AnalyzerName.MAX_WORD, AnalyzerName.MIN_WORD}
    facts = (_FORMAT, repr(fields.schema), dictionary_name() if words else "")
    return hashlib.sha256(repr(facts).encode(errors="surrogatepass")).digest()


def write_manifest(files: IndexFiles, manifest: Manifest) -> None:
    """Make these files the index, in one step. Synced on return."""
    content = msgpack.packb(list(manifest), **_PACKED)
    files.replace(MANIFEST, _CHECK.pack(zlib.crc32(content)) + content)


def read_manifest(files: IndexFiles) -> Manifest | None:
    """The manifest; None where there is none. Raises `IndexDamaged` where its bytes changed."""
    if MANIFEST not in files.names():
        return None
    content = bytes(files.map(MANIFEST))
    if len(content) < _CHECK.size or _CHECK.unpack_from(content)[0] != zlib.crc32(
        content[_CHECK.size :]
    ):
        raise IndexDamaged(f"{MANIFEST}: its bytes are not those that were written")
    return Manifest(*msgpack.unpackb(content[_CHECK.size :]))
