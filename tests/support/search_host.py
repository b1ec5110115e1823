"""A `SearchHost` whose files are in memory, outlive their engine, and can fail at any write."""

from collections.abc import Iterable, Mapping

from widerow.engine.tablestore.search.host import NO_LOCK, IndexLock
from widerow.errors import StorageFailure

__all__ = ["KeptFiles", "RememberingHost"]


class KeptFiles:
    """The files of one index. `writes_left`: how many may be written before one fails; None: all.

    The one that fails leaves nothing, as one does whose machine stops before the name is given.
    """

    def __init__(self) -> None:
        """No file."""
        self.files: dict[str, bytes] = {}
        self.writes_left: int | None = None

    def names(self) -> list[str]:
        """The files that are there, sorted."""
        return sorted(self.files)

    def write(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        """A new file."""
        content = b"".join(bytes(each) for each in parts)
        if self.writes_left is not None:
            if self.writes_left == 0:
                raise StorageFailure(f"{name}: the machine stopped here")
            self.writes_left -= 1
        self.files[name] = content

    def replace(self, name: str, data: bytes) -> None:
        """The same with these bytes."""
        self.write(name, (data,))

    def map(self, name: str) -> memoryview:
        """The bytes of a file. Raises `KeyError`."""
        return memoryview(self.files[name])

    def remove(self, name: str) -> None:
        """Remove a file, if it is there and the machine still runs."""
        if self.writes_left == 0:
            raise StorageFailure(f"{name}: the machine stopped here")
        self.files.pop(name, None)


class RememberingHost:
    """For one thread. `told`: the events that it heard of."""

    def __init__(self, *, keeps_files: bool = True, lag_us: int = 0) -> None:
        """No index has files yet."""
        self.lag_us = lag_us
        self.directories: dict[int, KeptFiles] = {}
        self.told: list[tuple[str, dict[str, object]]] = []
        self._keeps_files = keeps_files

    def lock(self) -> IndexLock:
        """Nothing."""
        return NO_LOCK

    def files(self, index_id: int) -> KeptFiles | None:
        """Where the files of an index are."""
        return self.directories.setdefault(index_id, KeptFiles()) if self._keeps_files else None

    def kept(self) -> list[int]:
        """The numbers of indexes that have files."""
        return sorted(number for number, each in self.directories.items() if each.files)

    def forget(self, index_id: int) -> None:
        """Remove the files of an index."""
        self.directories.pop(index_id, None)

    def tell(self, event: str, facts: Mapping[str, object]) -> None:
        """Remember it."""
        self.told.append((event, dict(facts)))
