"""ComputeSplitPointsBySize: where to cut a table into parts of a size (semantics §6)."""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Final

from widerow.engine.partitions.partitioned_tables import KeyEnd, Partitioned
from widerow.engine.partitions.places import Places
from widerow.engine.partitions.sizes import Piece, SizeMap
from widerow.engine.partitions.walk import Walk
from widerow.storage.interface import Reader

__all__ = ["AnsweredPoints", "find_locations", "find_split_points", "server_location"]

WALKED_BYTES_MAX: Final = 32 * 1024 * 1024  # a table up to this size is read through
# a table up to so many rows is read through; about a tenth of a second
WALKED_ROWS_MAX: Final = 100_000
_PARTS: Final = 8  # pieces to a part: a part is too large by at most one of them
_LOCATION_CHARACTERS: Final = 32  # as the service's (semantics §6)
_ANSWERS_MAX: Final = 8  # kept of one table; each has up to two thousand keys


class AnsweredPoints:
    """The answers about a table's split points since its last write.

    The pieces known of a large table become finer over time; but a program that asks twice has to
    get equal answers as long as nothing is written (semantics §6).
    """

    __slots__ = ("_answers", "_written")

    def __init__(self) -> None:
        self._written = (-1, 0)
        self._answers: dict[tuple[int, int | None], tuple[bytes, ...]] = {}

    def of(
        self,
        written: tuple[int, int],
        asked: tuple[int, int | None],
        find: Callable[[], tuple[bytes, ...]],
    ) -> tuple[bytes, ...]:
        """The answer given before to `asked` (bytes of a part, most points), else that of `find`.

        `written`: a value that changes with every write of the table.
        """
        if written != self._written:
            self._written, self._answers = written, {}
        answers = self._answers
        found = answers.get(asked)
        if found is None:
            found = find()
            if len(answers) >= _ANSWERS_MAX:
                answers.clear()
            answers[asked] = found
        return found


def find_split_points(
    reader: Reader,
    table: tuple[int, KeyEnd],
    sizes: SizeMap,
    split_bytes: int,
    limit: int | None,
) -> tuple[bytes, ...]:
    """Partition key values, ascending, between which lie about `split_bytes` each.

    A small table is read through for it, within bounds; of a large one the pieces are known, each
    a five hundredth of it or 1 MiB, and parts are made of whole pieces. A partition key value is
    never divided. At most `limit` points: parts are larger then. `table`: its number, and where
    partition keys end in the keys of its rows.
    """
    pieces = _pieces(reader, table, sizes, split_bytes)
    if limit is not None:
        total = sum(piece.size for piece in pieces)
        split_bytes = max(split_bytes, -(-total // (limit + 1)))
    points = tuple(_cuts(pieces, split_bytes))
    return points if limit is None else points[:limit]


def _pieces(
    reader: Reader, table: tuple[int, KeyEnd], sizes: SizeMap, split_bytes: int
) -> Sequence[Piece]:
    known = list(sizes.pieces)
    if sizes.size > WALKED_BYTES_MAX:
        return known
    walk = Walk(*table, b"", None, split_bytes // _PARTS)
    return walk.found if walk.step(reader, WALKED_ROWS_MAX, WALKED_BYTES_MAX) else known


def _cuts(pieces: Iterable[Piece], split_bytes: int) -> Iterable[bytes]:
    held = 0
    for piece in pieces:
        if held and held + piece.size > split_bytes:
            yield piece.key
            held = 0
        held += piece.size


def find_locations(
    table: Partitioned, points: Iterable[bytes], places: Places
) -> tuple[tuple[str, int], ...]:
    """Where each part begins, as a name of 32 characters, run by run.

    That is the server that has it, where the store can tell; else the partition. Parts on one
    server have one name (`server_location`), whichever table they are of.
    """
    names = (_location(table, point, places) for point in (b"", *points))
    return tuple((name, len(list(run))) for name, run in groupby(names))


def server_location(server: str) -> str:
    """The name of a server (`host:port`) among locations, which tells clients no address."""
    return hashlib.sha256(server.encode()).hexdigest()[:_LOCATION_CHARACTERS]


def _location(table: Partitioned, point: bytes, places: Places) -> str:
    servers = places.servers(point, point + b"\x00")
    if servers:
        return server_location(servers[0])
    start = (b"", *table.splits)[bisect_right(table.splits, point)]
    name = hashlib.sha256(b"%d %b" % (table.id, start))
    return name.hexdigest()[:_LOCATION_CHARACTERS]
