"""The answer of a search: its rows, read from the table by their keys (search §5.4).

An index says which rows and in what order; what stands in them is read from the table, as a GetRow
reads it. A row that is gone by then is left out.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, final

from widerow.clock import Clock
from widerow.engine.capacity import units
from widerow.engine.tablestore.expiry import live_from
from widerow.engine.tablestore.newest import newest_row
from widerow.engine.tablestore.reads import read_record
from widerow.engine.tablestore.select import ReadRule
from widerow.engine.tablestore.stored import key_section_of
from widerow.errors import Exhausted, InvalidRequest
from widerow.keys.decode import decode_key, key_value_end
from widerow.keys.layout import row_prefix
from widerow.limits import (
    READ_SLICE_ROWS,
    SEARCH_ANSWER_BYTES_MAX,
    SEARCH_TIMEOUT_MS,
    SEARCH_TIMEOUT_MS_MAX,
)
from widerow.model.search.aggregation import BreakdownAnswer
from widerow.model.search.requests import (
    ColumnReturn,
    ColumnReturnType,
    Hit,
    Search,
    SearchAnswer,
)
from widerow.model.search.schema import SearchFieldType, SearchIndex
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import Selection
from widerow.model.values import Value
from widerow.rows.cells import PLAIN_HEADER
from widerow.rows.record import header_of, join_row
from widerow.safepoint import safepoint
from widerow.storage.interface import Reader, Store

if TYPE_CHECKING:
    from widerow.search.interface import IndexView

__all__ = ["AnswerRows", "Deadline", "FoundRow", "answered"]

_MS_NS: Final = 1_000_000


@final
class Deadline:
    """The end of a request's time."""

    __slots__ = ("_clock", "_until_ns")

    def __init__(self, clock: Clock, milliseconds: int) -> None:
        self._clock = clock
        self._until_ns = clock.monotonic_ns() + milliseconds * _MS_NS

    @classmethod
    def of(cls, clock: Clock, milliseconds: int | None) -> "Deadline":
        """The deadline of a request, or the server's where the request names none (search §5.7)."""
        asked = SEARCH_TIMEOUT_MS if milliseconds is None or milliseconds <= 0 else milliseconds
        return cls(clock, min(asked, SEARCH_TIMEOUT_MS_MAX))

    def check(self) -> None:
        """Let other threads run. Raises `Exhausted` (SEARCH_TIMEOUT) after the deadline."""
        safepoint()
        if self._clock.monotonic_ns() >= self._until_ns:
            raise Exhausted(TablestoreRule.SEARCH_TIMEOUT)


class FoundRow(NamedTuple):
    """A row of an answer: a complete PlainBuffer, and the stored record."""

    row: bytes
    key: bytes
    record: bytes


@final
class AnswerRows:
    """Reads rows by their encoded keys. Any thread may ask."""

    def __init__(
        self, store: Store, clock: Clock, note: Callable[[Table, bytes, int], None]
    ) -> None:
        """`note` hears of read units and their partition."""
        self._store = store
        self._clock = clock
        self._note = note

    def read(
        self,
        table: Table,
        index: SearchIndex,
        keys: Sequence[bytes],
        columns: ColumnReturn,
        deadline: Deadline,
    ) -> list[FoundRow | None]:
        """The rows of some encoded keys, in their order; None where one is gone.

        All rows are of one moment, if the store's snapshots are. Raises `InvalidRequest`
        (SEARCH_ANSWER_SIZE) where they are too large together, `Exhausted` (SEARCH_TIMEOUT).
        """
        reader = self._store.snapshot()
        alive = live_from(table.options, self._clock.now_us() // 1000)
        rule = _rule(table, index, columns, alive)
        together = len(keys) if self._store.capabilities.reads_may_block else READ_SLICE_ROWS
        prefix = row_prefix(table.id)
        found: list[FoundRow | None] = []
        size = 0
        for start in range(0, len(keys), max(1, together)):
            deadline.check()
            part = [prefix + each for each in keys[start : start + together]]
            for key, record in zip(part, reader.get_many(part), strict=True):
                safepoint()
                room = SEARCH_ANSWER_BYTES_MAX - size
                row = None if record is None else self._read(reader, (key, record), rule, room)
                found.append(row)
                size += 0 if row is None else len(row.row)
                if size > SEARCH_ANSWER_BYTES_MAX:
                    raise InvalidRequest(
                        TablestoreRule.SEARCH_ANSWER_SIZE, limit=SEARCH_ANSWER_BYTES_MAX
                    )
        return found

    def _read(
        self, reader: Reader, stored: tuple[bytes, bytes], rule: ReadRule, room: int
    ) -> FoundRow | None:
        """A whole row, however wide: a search answer has no token that goes on within a row."""
        key, record = stored
        table = rule.table
        types = [column.type for column in table.key_columns]
        encoded = key[len(row_prefix(table.id)) :]
        values, _ = decode_key(encoded, 0, types)
        read = read_record((reader, None), stored, values, rule, room=room)
        if read is None:
            return None
        if read.resume is not None:
            raise InvalidRequest(TablestoreRule.SEARCH_ANSWER_SIZE, limit=SEARCH_ANSWER_BYTES_MAX)
        row = read.row
        if not row:  # the row has none of the columns
            section = key_section_of(record, header_of(record))
            row = join_row(section.encoded, section.crc, [])
        self._note(table, encoded[: key_value_end(encoded, 0, types[0])], max(1, units(read.size)))
        return FoundRow(PLAIN_HEADER + row, key, record)

    def shown(self, table: Table, found: FoundRow) -> dict[str, Value]:
        """The newest values of a row's columns, for marking what matched in them."""
        reader = self._store.snapshot()
        alive = live_from(table.options, self._clock.now_us() // 1000)
        row = newest_row(reader, table, (found.key, found.record), alive)
        return {} if row is None else {**row.columns, **dict(row.key)}

    @staticmethod
    def units_of(rows: Sequence[bytes]) -> int:
        """Capacity units of an answer: by the bytes of its rows, one at least (search §5.7)."""
        return max(1, units(sum([len(each) for each in rows])))


def _rule(table: Table, index: SearchIndex, columns: ColumnReturn, alive: int) -> ReadRule:
    """The selection of each row's columns (search §5.4)."""
    if columns.type is ColumnReturnType.ALL:
        return ReadRule(table, Selection(max_versions=1), alive)
    names = columns.names
    if columns.type is ColumnReturnType.ALL_FROM_INDEX:
        names = tuple(_stored_names(index))
    elif columns.type is ColumnReturnType.NONE:
        names = ()
    # No column has an empty name, so this asks for the key alone.
    return ReadRule(table, Selection(columns=frozenset(names) or _NO_COLUMN, max_versions=1), alive)


_NO_COLUMN: Final = frozenset(("",))


def _stored_names(index: SearchIndex) -> list[str]:
    """The columns that an index stores: of all types but TEXT, unless the field says otherwise.

    A field is read from the column of its name without the blanks around it (search §1.1).
    """
    return [
        field.name.strip()
        for field in index.schema.fields
        if field.source is None
        and (field.type is not SearchFieldType.TEXT if field.store is None else field.store)
    ]


def answered(
    moment: "tuple[IndexView, Deadline, int]",
    rows: AnswerRows,
    table: Table,
    index: SearchIndex,
    request: Search,
) -> SearchAnswer:
    """The answer of a search; `moment`: a view of the index, the deadline, and a random seed."""
    from widerow.search.results.highlight import (  # noqa: PLC0415  # numpy is imported with the first search index
        Highlighter,
        highlight_columns,
    )
    from widerow.search.results.page import find_page  # noqa: PLC0415  # numpy is imported with the first search index

    view, deadline, seed = moment
    page = find_page(view, index.schema, request, seed)
    deadline.check()
    keys = [hit.key for hit in page.hits]
    found = rows.read(table, index, keys, request.columns, deadline)
    marks = Highlighter(view, index.schema, request)
    looks = bool(highlight_columns(index.schema, request))
    hits: list[Hit] = []
    for hit, row in zip(page.hits, found, strict=True):
        if row is None:
            continue
        columns = rows.shown(table, row) if looks else {}
        inner = marks.inner(hit.inner, columns)
        hits.append(Hit(hit.score, row.row, marks.row(columns), inner))
    top = _top_rows(page.breakdown)
    named = rows.read(table, index, top, request.columns, deadline) if top else []
    behind = {key: row.row for key, row in zip(top, named, strict=True) if row is not None}
    sent = [*[hit.row for hit in hits], *behind.values()]
    return SearchAnswer(
        page.total, tuple(hits), page.token, page.breakdown, behind, rows.units_of(sent)
    )


def _top_rows(breakdown: BreakdownAnswer) -> list[bytes]:
    """The keys that top rows name on any level, each once."""
    keys: dict[bytes, None] = {}

    def collect(level: BreakdownAnswer) -> None:
        for metric in level.aggregations:
            if isinstance(metric.value, tuple):
                keys.update(dict.fromkeys([k for k in metric.value if isinstance(k, bytes)]))
        for groups in level.group_bys:
            for group in groups.groups:
                collect(group.below)

    collect(breakdown)
    return list(keys)
