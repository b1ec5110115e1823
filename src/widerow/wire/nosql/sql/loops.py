"""The rows that FROM makes: tables in loops inside each other, nested tables, items of paths.

Each loop puts what it is at into the frame that expressions read, and the loops inside follow. The
outermost loop is over a table; a query goes on from any place of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from widerow.engine.between import Between
from widerow.engine.budget import Budget
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import StoredRow
from widerow.keys.encode import after_prefix
from widerow.wire.nosql.sql.access_path import AccessPath
from widerow.wire.nosql.sql.key_ranges import ByteRange
from widerow.wire.nosql.sql.resume import QueryResume
from widerow.wire.nosql.sql.scans import row_kilobytes, scan_keys

__all__ = [
    "STEPS_IN_TURN",
    "Ancestor",
    "Descendant",
    "Expr",
    "ItemLoop",
    "Loop",
    "Looping",
    "TableLoop",
]


STEPS_IN_TURN: Final = 100  # rows read, or made of others: some milliseconds


class Expr(Protocol):
    """A compiled expression."""

    def evaluate(self, frame: Any) -> Sequence[Any]:  # noqa: ANN401  # the frame of expressions
        """The items of the expression."""
        ...


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A parent table of the target of NESTED TABLES; `on`: None is always true."""

    slot: int
    form: TableForm
    on: Expr | None = None


@dataclass(frozen=True, slots=True)
class Descendant:
    """A child table of the target of NESTED TABLES, with those below it that are asked for."""

    slot: int
    form: TableForm
    on: Expr | None = None
    below: "tuple[Descendant, ...]" = ()


@dataclass(frozen=True, slots=True)
class TableLoop:
    """A loop over rows of a table. `outer`: one time without a row where there is none (LEFT)."""

    slot: int
    path: AccessPath
    on: Expr | None = None
    outer: bool = False
    ancestors: tuple[Ancestor, ...] = ()
    descendants: tuple[Descendant, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemLoop:
    """A loop over the items of an expression; one time without an item where there is none."""

    slot: int
    expression: Expr


Loop = TableLoop | ItemLoop


class Looping:
    """One run through the loops of a statement.

    `kb`: kilobytes read so far; `reads`: of one shard. `between` is called every so many steps.
    `budget`: of the outermost loop's reads, which raise `TooLong` where they are more.
    `position`, `within`: the place it is at: the outermost row's position, and the number of its
    inner steps, -1 where there are none.
    """

    def __init__(
        self,
        engine: TypedEngine,
        frame: Any,  # noqa: ANN401  # the frame of expressions
        loops: Sequence[Loop],
        between: Between,
        budget: Budget | None = None,
    ) -> None:
        self._engine = engine
        self._budget = budget
        self._between = between
        self._steps = 0
        self._frame = frame
        self._loops = loops
        self._simple = len(loops) == 1 and not self._outermost.descendants
        self._ancestors: dict[int, tuple[bytes, StoredRow | None]] = {}
        self._known: dict[int, tuple[list[ByteRange], list[StoredRow]]] = {}
        self.kb = 0
        self.reads = False
        self.position = b""
        self.within = -1

    @property
    def _outermost(self) -> TableLoop:
        first = self._loops[0]
        assert isinstance(first, TableLoop)
        return first

    def places(self, resume: QueryResume) -> Iterator[bool]:
        """Every place behind one, each as the frame stands at it; False: a row that gave none."""
        first, frame = self._outermost, self._frame
        ranges = first.path.ranges(frame)
        self.reads = bool(ranges) and first.path.one_shard
        inclusive = resume.within >= 0
        alone = self._simple and not first.ancestors
        is_whole = first.slot in frame.whole
        scan = first.path.scan(
            self._engine, ranges, resume.position, inclusive=inclusive, budget=self._budget
        )
        for scanned in scan:
            row = scanned.row
            self.kb += row_kilobytes(row) if is_whole else 1
            self._step()
            if not scanned.is_first:
                yield False
                continue
            frame.rows[first.slot] = row
            self.position, self.within = scanned.position, -1
            if alone:
                yield True
                continue
            done = resume.within if inclusive and scanned.position == resume.position else 0
            for within, _ in enumerate(self._inside(first, row), start=1):
                if within > done:
                    self.within = -1 if self._simple else within
                    yield True
            yield False

    def _count(self, row: StoredRow, slot: int) -> None:
        """Count a row that was read: its kilobytes, or one where its key is enough."""
        self.kb += row_kilobytes(row) if slot in self._frame.whole else 1
        self._step()

    def _step(self) -> None:
        """Let others have their turn now and then. Raises where nobody waits for the answer."""
        self._steps += 1
        if self._steps % STEPS_IN_TURN == 0:
            self._between()

    def _inside(self, first: TableLoop, row: StoredRow) -> Iterator[None]:
        self._climb(first, row)
        for _ in self._descend(first.descendants, row):
            yield from self._loop(1)

    def _loop(self, at: int) -> Iterator[None]:
        self._step()
        if at == len(self._loops):
            yield
            return
        loop = self._loops[at]
        if isinstance(loop, ItemLoop):
            items = loop.expression.evaluate(self._frame)
            one_each: list[tuple[Any, ...]] = [(item,) for item in items]
            for each in one_each or [()]:
                self._frame.items[loop.slot] = each
                yield from self._loop(at + 1)
            return
        for _ in self._rows(loop):
            yield from self._loop(at + 1)

    def _rows(self, loop: TableLoop) -> Iterator[None]:
        """The rows of an inner table."""
        frame, found = self._frame, False
        for row in self._inner(loop):
            frame.rows[loop.slot] = row
            if loop.on is None or _true(loop.on, frame):
                found = True
                yield
        if loop.outer and not found:
            frame.rows[loop.slot] = None
            yield

    def _inner(self, loop: TableLoop) -> Iterator[StoredRow]:
        """The rows of the ranges of an inner table; one row is read once for outer rows in turn."""
        ranges = loop.path.ranges(self._frame)
        single = loop.path.one_row
        known = self._known.get(loop.slot)
        if single and known is not None and known[0] == ranges:
            yield from known[1]
            return
        kept: list[StoredRow] = []
        for scanned in loop.path.scan(self._engine, ranges):
            self._count(scanned.row, loop.slot)
            if scanned.is_first:
                kept += [scanned.row] if single else []
                yield scanned.row
        if single:
            self._known[loop.slot] = (ranges, kept)

    # --- nested tables -----------------------------------------------------------------------

    def _climb(self, loop: TableLoop, row: StoredRow) -> None:
        """Put the ancestors of a row into the frame, each read once for rows that follow."""
        frame = self._frame
        for ancestor in loop.ancestors:
            length = ancestor.form.key.length
            key = row.encoded_key[: loop.path.form.key.end(row.encoded_key, length)]
            known = self._ancestors.get(ancestor.slot)
            if known is None or known[0] != key:
                known = self._ancestors[ancestor.slot] = (
                    key,
                    self._get(ancestor.form, key, ancestor.slot),
                )
            frame.rows[ancestor.slot] = known[1]
        for ancestor in loop.ancestors:
            if ancestor.on is not None and not _true(ancestor.on, frame):
                frame.rows[ancestor.slot] = None

    @property
    def counted_kb(self) -> int:
        """The kilobytes that a page counts: a look at an empty shard is one (nosql-wire §4.1)."""
        return max(self.kb, 1 if self.reads else 0)

    def _get(self, form: TableForm, key: bytes, slot: int) -> StoredRow | None:
        row = self._engine.stored_row(form, key)
        if row is not None:
            self._count(row, slot)
        return row

    def _descend(self, tables: tuple[Descendant, ...], row: StoredRow) -> Iterator[None]:
        """Each row of each child table with what is below it; once without any if there is none."""
        frame, found = self._frame, False
        self._clear(tables)
        for table in tables:
            for child in self._children(table, row):
                frame.rows[table.slot] = child
                if table.on is not None and not _true(table.on, frame):
                    continue
                found = True
                yield from self._descend(table.below, child)
            self._clear((table,))
        if not found:
            yield

    def _clear(self, tables: tuple[Descendant, ...]) -> None:
        for table in tables:
            self._frame.rows[table.slot] = None
            self._clear(table.below)

    def _children(self, table: Descendant, row: StoredRow) -> Iterator[StoredRow]:
        values = row.key.values_in_order()
        start = table.form.key.encode(values)
        part = [ByteRange(start, after_prefix(start))]
        for child in scan_keys(self._engine, table.form, part, reverse=False):
            self._count(child, table.slot)
            yield child


def _true(condition: Expr, frame: Any) -> bool:  # noqa: ANN401  # the frame of expressions
    items = condition.evaluate(frame)
    return len(items) == 1 and items[0] is True
