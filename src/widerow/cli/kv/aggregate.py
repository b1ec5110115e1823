"""`aggregate table`: count rows, and add up or average the values of columns (cli §6)."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from widerow.cli.kv.command import Command, missing_argument
from widerow.cli.kv.faults import CommandFault
from widerow.cli.kv.selection import FIELD_FLAGS, INDEX_FLAGS, check_fields, select_by_flags
from widerow.cli.kv.session import Session, counting
from widerow.cli.kv.values import NUMERIC_KINDS, counted, table_of
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.typed.json_rows import dumps
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import Field, Kind
from widerow.nosql import Row

__all__ = ["AGGREGATE_TABLE"]

_COUNTER_STEP: Final = 1000  # the rows between two updates of the counter on the terminal


def _check(_: Session, given: Arguments) -> None:
    check_fields("table", given)
    if not any(given.has(flag) for flag in ("-count", "-sum", "-avg")):
        raise missing_argument("-count | -sum | -avg", "table")


class _Column:
    """A column whose values are added up; a NULL is left out of the sum and of the count."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.count = 0
        self.sum: Any = Decimal(0) if field.type.kind is Kind.NUMBER else 0

    @property
    def numeric(self) -> bool:
        """Whether the type of the column is a number."""
        return self.field.type.kind in NUMERIC_KINDS

    def add(self, row: Row) -> None:
        """Add the value of one more row."""
        if not self.numeric:
            return
        value = row[self.field.name]
        if value is not None:
            self.count += 1
            self.sum += value

    @property
    def overflowed(self) -> bool:
        """Whether the sum is beyond 64 bits, or infinite."""
        if isinstance(self.sum, int):
            return not INT64_MIN <= self.sum <= INT64_MAX
        return isinstance(self.sum, float) and self.sum in (float("inf"), float("-inf"))

    def sum_text(self) -> str:
        """The line under `Sum:`."""
        return self._line(lambda: dumps(self.sum))

    def average_text(self) -> str:
        """The line under `Average:`."""
        return self._line(lambda: f"{self.sum / self.count:.2f}".removesuffix(".00"))

    def _line(self, number: Callable[[], str]) -> str:
        name = self.field.name
        if self.overflowed:
            return f"\t{name}: numeric overflow"
        if not self.numeric or not self.count:
            return f"\t{name}: No numerical value"
        return f"\t{name}({counted(self.count, 'value')}): {number()}"


def _aggregate(session: Session, given: Arguments) -> str:
    table = table_of(session, given.need("-name"))
    selection = select_by_flags(session, table, given)
    sums = _columns(table.definition, given.get("-sum"))
    averages = _columns(table.definition, given.get("-avg"))
    with counting(session, "rows read") as report:
        count = _read(selection.rows(), (*sums, *averages), report)
    parts: list[str] = []
    if given.has("-count"):
        parts.append(f"Row count: {count}")
    if sums:
        parts += ["Sum:", *(column.sum_text() for column in sums)]
    if averages:
        parts += ["Average:", *(column.average_text() for column in averages)]
    session.value = parts
    return "\n".join(parts)


def _read(rows: Iterable[Row], columns: Sequence[_Column], report: Callable[[int], None]) -> int:
    """Add the rows to the columns; returns the number of rows."""
    count = 0
    for row in rows:
        count += 1
        for column in columns:
            column.add(row)
        if count % _COUNTER_STEP == 0:
            report(count)
    return count


def _columns(definition: TypedTable, names: str | None) -> list[_Column]:
    """The columns whose names stand between commas. Raises `CommandFault` for an unknown one."""
    if names is None:
        return []
    columns: list[_Column] = []
    for name in names.split(","):
        field = definition.field(name.strip())
        if field is None:
            raise CommandFault(TypedRule.NO_FIELD.value.format(field=name.strip()))
        columns.append(_Column(field))
    return columns


AGGREGATE_TABLE: Final = Command(
    name="table",
    shortest=3,
    description=(
        "Counts rows (-count), adds columns up (-sum) or takes their average (-avg), of all rows\n"
        "or of those whose keys begin with the given columns."
    ),
    run=_aggregate,
    flags=(
        ShellFlag("-name", "table-name", required=True),
        ShellFlag("-count"),
        ShellFlag("-sum", "column[,column…]"),
        ShellFlag("-avg", "column[,column…]"),
        *INDEX_FLAGS,
        *FIELD_FLAGS,
        ShellFlag("-json", "key"),
    ),
    check=_check,
)
