"""A typed table: its declaration, and what the catalogue adds to it (model §3, §8, §10)."""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final, NamedTuple, Self

from widerow.errors import InvalidRequest
from widerow.limits import TTL_HOURS_MAX
from widerow.model.typed.names import DEFAULT_NAMESPACE, folded
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.types import Field, FieldType, Kind

__all__ = [
    "DOCUMENT_COLUMN",
    "Index",
    "IndexField",
    "TableLimits",
    "TimeToLive",
    "TtlUnit",
    "TypedTable",
]

DOCUMENT_COLUMN: Final = ""
"""The name of the column that has a collection's documents; no declared column has it."""

_HOUR_US: Final = 3_600_000_000


class TtlUnit(Enum):
    """Units of a time to live; the value is hours."""

    HOURS = 1
    DAYS = 24


class TimeToLive(NamedTuple):
    """The time after which a row expires (model §8); 0 of either unit: never."""

    value: int
    unit: TtlUnit

    @classmethod
    def hours(cls, value: int) -> Self:
        """A number of hours. Raises `InvalidRequest` below 0."""
        return cls(_checked(value, TtlUnit.HOURS), TtlUnit.HOURS)

    @classmethod
    def days(cls, value: int) -> Self:
        """A number of days. Raises `InvalidRequest` below 0."""
        return cls(_checked(value, TtlUnit.DAYS), TtlUnit.DAYS)

    @classmethod
    def parse(cls, text: str) -> Self:
        """`3 HOURS`, `1 day`, `5 d`. Raises `InvalidRequest` for another unit or number."""
        number, _, unit = text.strip().partition(" ")
        found = _UNITS.get(unit.strip().upper())
        if found is None or not number.isascii() or not number.lstrip("-").isdigit():
            raise InvalidRequest(TypedRule.TTL_UNIT, unit=unit.strip(), text=text)
        return cls(_checked(int(number), found), found)

    def text(self) -> str:
        """The text in definitions: `3 HOURS`."""
        return f"{self.value} {self.unit.name}"

    def expiry_hour(self, now_us: int) -> int:
        """The hour since 1970 at whose start a row written now expires; 0: never.

        Rounded up to the next full hour, or UTC day where the unit is days.
        """
        if self.value == 0:
            return 0
        unit_us = self.unit.value * _HOUR_US
        return (-(-now_us // unit_us) + self.value) * self.unit.value


def _checked(value: int, unit: TtlUnit) -> int:
    if value < 0:
        raise InvalidRequest(TypedRule.TTL_NEGATIVE)
    if value * unit.value > TTL_HOURS_MAX // 2:
        text = f"{value} {unit.name}"
        raise InvalidRequest(TypedRule.TTL_TOO_LONG, text=text, limit=TTL_HOURS_MAX // 2)
    return value


_UNITS: Final = {
    "HOURS": TtlUnit.HOURS,
    "HOUR": TtlUnit.HOURS,
    "H": TtlUnit.HOURS,
    "DAYS": TtlUnit.DAYS,
    "DAY": TtlUnit.DAYS,
    "D": TtlUnit.DAYS,
}


class TableLimits(NamedTuple):
    """The throughput that a table was asked to have; kept and told, not enforced (nosql-wire §5.1).

    `read_units`, `write_units`: a second; `storage_gb`: gigabytes. `on_demand`: the two
    throughputs are those of the vendor's cloud for tables without an own one.
    """

    read_units: int
    write_units: int
    storage_gb: int
    on_demand: bool = False


class IndexField(NamedTuple):
    """One path of an index, and the type that it has inside JSON (model §11).

    `path`: of an index that was created, in the case of its columns. `written`: as the statement
    had it, where that is another text; else empty.
    """

    path: str
    type: Kind | None = None
    written: str = ""


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index. `ready`: every row is in it, so that it answers (model §11).

    `id` is unique among indexes and tables and never used again, so that entries of two indexes
    never mix.
    """

    name: str
    fields: tuple[IndexField, ...]
    id: int = 0
    with_nulls: bool = True
    unique_keys_per_row: bool = False
    comment: str | None = None
    ready: bool = False


@dataclass(frozen=True)
class TypedTable:
    """A typed table's definition. `TableBuilder` makes new ones, `TableEvolver` changed ones.

    `fields` are all columns of a row in their order; those of a child table begin with its parent's
    primary key. `primary_key` and `shard_key` name columns by their declared case; a child's begin
    with its parent's. `key_sizes` has a size in bytes for each INTEGER key column that is
    constrained, else 0.

    Given by the catalogue: `id` (0: not created yet), `path` (the numbers of the table's ancestors
    from the top one down, and its own), `schema` (raised by each evolution), `layouts` (for each
    schema so far, the numbers of the fields in the order that rows store them), `revision` (raised
    by every change of the definition, of indexes too), `splits` (of a table without a parent: the
    encoded shard keys where the partitions of its hierarchy meet, ascending, without the ends),
    `limits` (of a table without a parent, where they were given).

    `collection`: rows are documents of any fields beside the key (model §12). They are in the last
    column, which has the name `DOCUMENT_COLUMN` and no other use.

    `frozen`: columns are neither added nor dropped nor modified. `before_image`: how long the
    vendor would keep what rows were before each change; kept and told, as limits are. `dropped`: of
    each column that was dropped and is not there again its name, its type and its number.
    """

    name: str
    fields: tuple[Field, ...]
    primary_key: tuple[str, ...]
    shard_key: tuple[str, ...]
    namespace: str = ""
    parent: str | None = None
    parent_key_length: int = 0
    key_sizes: tuple[int, ...] = ()
    ttl: TimeToLive | None = None
    comment: str | None = None
    indexes: tuple[Index, ...] = ()
    next_number: int = 1
    id: int = 0
    path: tuple[int, ...] = ()
    parent_lengths: tuple[int, ...] = ()
    schema: int = 1
    layouts: tuple[tuple[int, ...], ...] = ()
    revision: int = 0
    created_us: int = 0
    splits: tuple[bytes, ...] = ()
    collection: bool = False
    limits: TableLimits | None = None
    frozen: bool = False
    before_image: TimeToLive | None = None
    dropped: tuple[Field, ...] = ()

    @property
    def asked(self) -> tuple[bytes, ...]:
        """Partition bounds that never go away: none, because a typed table cannot ask for them."""
        return ()

    @property
    def global_indexes(self) -> tuple[int, ...]:
        """No index: entries of typed indexes are not rows of a table of their own."""
        return ()

    @property
    def reserved_units(self) -> tuple[int, int]:
        """Reserved capacity units a second, read and write: typed tables have no reserve."""
        return 0, 0

    @property
    def qualified(self) -> str:
        """The name as messages and lists show it: `[namespace:]table[.child]*`."""
        return f"{self.namespace}:{self.name}" if self.namespace else self.name

    @property
    def shown_namespace(self) -> str:
        """The namespace as it is displayed."""
        return self.namespace or DEFAULT_NAMESPACE

    @property
    def short_name(self) -> str:
        """The last component of the name."""
        return self.name.rpartition(".")[2]

    @property
    def shown_fields(self) -> tuple[Field, ...]:
        """The declared columns: all but the one of a collection's documents."""
        return self.fields[:-1] if self.collection else self.fields

    @property
    def top(self) -> int:
        """The number of the top ancestor, under which all rows of the hierarchy lie."""
        return self.path[0]

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each column stands in a row, by its folded name."""
        return {folded(field.name): index for index, field in enumerate(self.fields)}

    @cached_property
    def text_names(self) -> dict[str, str]:
        """The declared names of the columns that take any text, by themselves and folded."""
        found: dict[str, str] = {}
        for field in self.fields:
            if field.type.kind is Kind.STRING and not field.type.uuid:
                found[field.name] = found[folded(field.name)] = field.name
        return found

    @cached_property
    def key_positions(self) -> tuple[int, ...]:
        """Where the primary key's columns stand in a row, in the key's order."""
        return tuple(self.positions[folded(name)] for name in self.primary_key)

    @cached_property
    def key_types(self) -> tuple[FieldType, ...]:
        """The types of the primary key's columns, in the key's order."""
        return tuple(self.fields[index].type for index in self.key_positions)

    @cached_property
    def value_positions(self) -> tuple[int, ...]:
        """Where the columns outside the primary key stand in a row, in the row's order."""
        keys = frozenset(self.key_positions)
        return tuple(index for index in range(len(self.fields)) if index not in keys)

    @cached_property
    def generated(self) -> Field | None:
        """The column whose value the store can make, if there is one (model §9)."""
        return next((field for field in self.fields if field.generated), None)

    def field(self, name: str) -> Field | None:
        """The column of that name, whatever its case, or None."""
        position = self.positions.get(folded(name))
        return None if position is None else self.fields[position]

    def index(self, name: str) -> Index | None:
        """The index of that name, whatever its case, or None."""
        return next((each for each in self.indexes if folded(each.name) == folded(name)), None)
