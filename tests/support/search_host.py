"""A `SearchHost` whose files are in memory, outlive their engine, and can fail at any write."""

from collections.abc import Iterable, Mapping

from widerow.engine.tablestore.search.host import NO_LOCK, IndexLock
from widerow.errors import StorageFailure

__all__ = ["KeptFiles", "RememberingHost"]


class KeptFiles:
    """The files of one index. `writes_left`: writes that succeed before one fails; None: all.

    A failed write leaves no file, as if the machine stopped before the rename.
    """

    def __init__(self) -> None:
        """No file."""
        self.files: dict[str, bytes] = {}
        self.writes_left: int | None = None

    def names(self) -> list[str]:
        """The names of the files, sorted."""
        return sorted(self.files)

    def write(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        """Write a new file."""
        content = b"".join(bytes(each) for each in parts)
        if self.writes_left is not None:
            if self.writes_left == 0:
                raise StorageFailure(f"{name}: the machine stopped here")
            self.writes_left -= 1
        self.files[name] = content

    def replace(self, name: str, data: bytes) -> None:
        """Replace the content of a file."""
        self.write(name, (data,))

    def map(self, name: str) -> memoryview:
        """The bytes of a file. Raises `KeyError`."""
        return memoryview(self.files[name])

    def remove(self, name: str) -> None:
        """Remove a file if it exists and writes do not fail."""
        if self.writes_left == 0:
            raise StorageFailure(f"{name}: the machine stopped here")
        self.files.pop(name, None)


class RememberingHost:
    """A host for one thread that keeps its files. `told`: the events that it was told."""

    def __init__(self, *, keeps_files: bool = True, lag_us: int = 0) -> None:
        """No index has files yet."""
        self.lag_us = lag_us
        self.directories: dict[int, KeptFiles] = {}
        self.told: list[tuple[str, dict[str, object]]] = []
        self._keeps_files = keeps_files

    def lock(self) -> IndexLock:
        """A lock that does nothing: the host has one thread."""
        return NO_LOCK

    def files(self, index_id: int) -> KeptFiles | None:
        """The files of an index."""
        return self.directories.setdefault(index_id, KeptFiles()) if self._keeps_files else None

    def kept(self) -> list[int]:
        """The numbers of indexes that have files."""
        return sorted(number for number, each in self.directories.items() if each.files)

    def forget(self, index_id: int) -> None:
        """Remove the files of an index."""
        self.directories.pop(index_id, None)

    def tell(self, event: str, facts: Mapping[str, object]) -> None:
        """Append the event to `told`."""
        self.told.append((event, dict(facts)))
