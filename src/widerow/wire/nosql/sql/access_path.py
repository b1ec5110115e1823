"""How a statement reaches the rows of one table: by ranges of its primary key or of an index."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from widerow.engine.budget import Budget
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.stored import StoredRow
from widerow.errors import TooLong
from widerow.model.typed.index_paths import EMPTY
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import JSON_NULL, JsonNull
from widerow.wire.nosql.sql.key_ranges import (
    ANYTHING,
    ByteRange,
    IndexSpace,
    KeyPiece,
    KeyPoint,
    KeySpace,
    PrimarySpace,
    has_plain_values,
    is_value_of,
    met,
    pieces_of,
    ranges_of,
)
from widerow.wire.nosql.sql.scans import Scanned, ranges_left, scan_entries, scan_keys

__all__ = ["AccessPath", "KeyCondition", "Operand", "equal_columns"]


class Operand(Protocol):
    """An expression that needs no row of the table: it gives what a key is compared with."""

    def evaluate(self, frame: Any) -> Sequence[Any]:  # noqa: ANN401  # the frame of expressions
        """The items of the expression."""
        ...


class KeyCondition(NamedTuple):
    """A condition of WHERE on one column of a key.

    `operator`: `=`, `<`, `<=`, `>`, `>=`, of which one operand is compared; `in`, of which any
    operand is equal; `null`, `empty`, `exists` without an operand.
    """

    operator: str
    operands: tuple[Operand, ...] = ()


_NULL: Final[list[KeyPiece]] = [KeyPoint(None)]
_NOT_EMPTY: Final[list[KeyPiece]] = [ANYTHING, KeyPoint(JSON_NULL), KeyPoint(None)]
_WITHOUT_OPERAND: Final[dict[str, list[KeyPiece]]] = {
    "null": _NULL,
    "empty": [KeyPoint(EMPTY)],
    "exists": _NOT_EMPTY,
}


@dataclass(frozen=True, slots=True)
class AccessPath:
    """A way to the rows of a table.

    `index`: None is the primary key. `conditions`: of each leading column of its key; a column
    without any ends what the ranges are made of. `nothing`: WHERE can never be true. `equal`: what
    each column of the whole primary key is equal to, as `equal_columns` tells.
    """

    form: TableForm
    index: IndexForm | None = None
    conditions: tuple[tuple[KeyCondition, ...], ...] = ()
    reverse: bool = False
    nothing: bool = False
    equal: tuple[tuple[Operand, Kind], ...] = ()

    @property
    def name(self) -> str:
        """The name of the index, as plans have it."""
        return "primary index" if self.index is None else self.index.index.name

    @property
    def one_shard(self) -> bool:
        """Whether all rows have one shard key, and the primary key is read."""
        length = self.form.key.shard_length
        leading = self.conditions[:length]
        return (
            self.index is None
            and len(leading) == length
            and all(any(_is_single(each) for each in column) for column in leading)
        )

    @property
    def one_row(self) -> bool:
        """Whether the whole primary key is given, by equality."""
        whole = self.index is None and len(self.conditions) == self.form.key.length
        return whole and all(any(_is_single(each) for each in col) for col in self.conditions)

    @property
    def may_repeat(self) -> bool:
        """Whether a row may come several times: not where one value of the members is asked for."""
        assert self.index is not None
        fixed = [any(_is_single(each) for each in column) for column in self.conditions]
        keys = [path.text.endswith(".keys()") for path in self.index.paths]
        if any(each and key for each, key in zip(fixed, keys, strict=False)):
            return False  # a map has a key once
        return not (len(fixed) == len(self.index.paths) and all(fixed))

    @property
    def multikey(self) -> bool:
        """Whether a row may have several entries."""
        return self.index is not None and any(path.split >= 0 for path in self.index.paths)

    def ranges(self, frame: Any) -> list[ByteRange]:  # noqa: ANN401  # the frame of expressions
        """The ranges for the variables and the outer rows of a frame, ascending."""
        if self.nothing:
            return []
        key = self._row_key(frame)
        if key is not None:
            return [ByteRange(key, key + b"\x00")]
        space: KeySpace = PrimarySpace(self.form) if self.index is None else IndexSpace(self.index)
        columns: list[list[KeyPiece]] = []
        for position, conditions in enumerate(self.conditions):
            pieces: list[KeyPiece] | None = None
            for condition in conditions:
                found = self._pieces(condition, frame, position, space.type_of(position))
                if found is not None:
                    pieces = found if pieces is None else met(pieces, found)
            if pieces is None:
                break
            columns.append(pieces)
            if not all(isinstance(piece, KeyPoint) for piece in pieces):
                break
        return ranges_of(space, columns)

    def _row_key(self, frame: Any) -> bytes | None:  # noqa: ANN401  # the frame of expressions
        """The key of the only row, if every column has one value of its type; else None."""
        values: list[Any] = []
        for operand, kind in self.equal:
            items = operand.evaluate(frame)
            if not is_value_of(items, kind):
                return None
            values.append(items[0])
        return self.form.key.encode(values) if values else None

    def _pieces(
        self,
        condition: KeyCondition,
        frame: Any,  # noqa: ANN401  # the frame of expressions
        position: int,
        kind: FieldType,
    ) -> list[KeyPiece] | None:
        fixed = _WITHOUT_OPERAND.get(condition.operator)
        if fixed is not None:
            if self.index is None:  # columns of the primary key have values
                return None if condition.operator == "exists" else []
            return fixed
        in_json = self.index is not None and self.index.paths[position].json_from >= 0
        operator = "=" if condition.operator == "in" else condition.operator
        pieces: list[KeyPiece] = []
        for operand in condition.operands:
            for item in operand.evaluate(frame):
                found = _pieces_of_item(operator, item, kind, in_json=in_json)
                if found is None:
                    return None
                pieces += found
        return pieces

    def scan(
        self,
        engine: TypedEngine,
        ranges: Sequence[ByteRange],
        position: bytes = b"",
        *,
        inclusive: bool = False,
        budget: Budget | None = None,
    ) -> Iterator[Scanned]:
        """The rows of the ranges, behind a position (b"": all) or from it on.

        A row comes for each of its entries in the ranges. Raises `TooLong` where the records are
        more than `budget`, and for an index, whose reads are not counted.
        """
        left = ranges_left(ranges, position, inclusive=inclusive, reverse=self.reverse)
        if self.index is None:
            for row in scan_keys(engine, self.form, left, reverse=self.reverse, budget=budget):
                yield Scanned(row, row.encoded_key, True)  # noqa: FBT003  # one for each row
            return
        if budget is not None:
            raise TooLong("reads of an index are not counted")
        entries = scan_entries(engine, self.form, self.index, left, reverse=self.reverse)
        multikey = self.multikey
        for entry, row in entries:
            yield Scanned(row, entry, not multikey or self._is_first(entry, row, ranges))

    def _is_first(self, entry: bytes, row: StoredRow, ranges: Sequence[ByteRange]) -> bool:
        """Whether no other entry of the row stands in front of this one in the ranges."""
        assert self.index is not None
        inside = [
            each
            for each in self.index.entries(row)
            if any(start <= each < stop for start, stop in ranges)
        ]
        return entry == (max(inside) if self.reverse else min(inside))


def equal_columns(
    form: TableForm, conditions: Sequence[Sequence[KeyCondition]]
) -> tuple[tuple[Operand, Kind], ...]:
    """What each column of the whole primary key is equal to, and the kind of the column.

    Empty unless each has one condition, which is equality, and plain values.
    """
    kinds = form.table.key_types
    if len(conditions) != len(kinds) or not all(map(has_plain_values, kinds)):
        return ()
    if not all(len(column) == 1 and _is_single(column[0]) for column in conditions):
        return ()
    return tuple(
        [(column[0].operands[0], kind.kind) for column, kind in zip(conditions, kinds, strict=True)]
    )


def _is_single(condition: KeyCondition) -> bool:
    return condition.operator == "=" and len(condition.operands) == 1


def _pieces_of_item(
    operator: str,
    item: Any,  # noqa: ANN401  # any value of a query
    kind: FieldType,
    *,
    in_json: bool,
) -> list[KeyPiece] | None:
    if isinstance(item, JsonNull):
        return [KeyPoint(JSON_NULL)] if in_json and "=" in operator else []
    return pieces_of(operator, item, kind)
