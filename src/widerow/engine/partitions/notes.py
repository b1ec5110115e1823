"""The queue of loads that partitions have to count: one note a request, and one reader.

Compiled, because every row adds a note; the reader (`balance.py`) takes notes later.
"""

from collections import deque
from collections.abc import Iterator
from typing import final

__all__ = ["Notes"]


@final
class Notes:
    """A bounded queue of notes; when it is full, the oldest are dropped.

    `lost`: the numbers of tables of which a note was dropped; whoever counts them again removes
    them.
    """

    __slots__ = ("_bound", "_queue", "lost")

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self.lost: set[int] = set()
        self._queue: deque[tuple[int, bytes, int, int, int, int]] = deque(maxlen=bound)

    def __len__(self) -> int:
        return len(self._queue)

    def add(
        self, table_id: int, key: bytes, reads: int, writes: int, rows: int = 0, size: int = 0
    ) -> None:
        """Note capacity units under an encoded partition key value. Any thread; 0.1 µs.

        `rows` and `size`: by how much the table grew; negative where it shrank.
        """
        queue = self._queue
        if len(queue) >= self._bound:
            self._drop()
        queue.append((table_id, key, reads, writes, rows, size))

    def _drop(self) -> None:
        try:
            self.lost.add(self._queue.popleft()[0])
        except IndexError:
            return  # another thread has taken them all

    def write_units(self, table_id: int) -> int:
        """Write units of a table that wait to be taken. Any thread; copies the queue."""
        return sum([note[3] for note in self._queue.copy() if note[0] == table_id])

    def taken(self, count: int) -> Iterator[tuple[int, bytes, int, int, int, int]]:
        """The next `count` notes, at most as many as wait; each as the arguments of `add`.

        Successive notes of one key are joined, which most notes of a batch are. One caller at a
        time.
        """
        queue = self._queue
        if not count:
            return
        table_id, key, reads, writes, rows, size = queue.popleft()
        for _ in range(count - 1):
            note = queue.popleft()
            if note[1] == key and note[0] == table_id:
                reads += note[2]
                writes += note[3]
                rows += note[4]
                size += note[5]
            else:
                yield table_id, key, reads, writes, rows, size
                table_id, key, reads, writes, rows, size = note
        yield table_id, key, reads, writes, rows, size
