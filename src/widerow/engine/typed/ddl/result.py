"""The answer of a statement, and the context that all statements run in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from widerow.engine.typed.ddl.faults import failed_at
from widerow.engine.typed.ddl.statements import Position
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.schema_changes import SchemaChanges
from widerow.engine.typed.tables import TypedTables
from widerow.errors import NotFound
from widerow.model.typed.names import in_namespace, split_name
from widerow.model.typed.rules import TypedRule

__all__ = ["DONE", "NOT_REQUIRED", "Context", "StatementResult"]


@dataclass(frozen=True, slots=True)
class StatementResult:
    """`text` is what the vendor's tools print; `executed`: whether the statement had an effect.

    A statement that shows something has its output as the text and is executed.
    """

    text: str
    executed: bool = True


DONE: Final = StatementResult("Statement completed successfully")
NOT_REQUIRED: Final = StatementResult("Statement did not require execution", executed=False)


class Context(NamedTuple):
    """What a statement runs with.

    `namespace`: for names that have none. `progress` is told how many rows are indexed.
    """

    schema: SchemaChanges
    namespace: str = ""
    progress: Callable[[int], None] = lambda _: None

    def qualified(self, name: str) -> str:
        """A table's name with its namespace."""
        return in_namespace(name, self.namespace)

    @property
    def tables(self) -> TypedTables:
        """The tables of the store."""
        return self.schema.tables

    def form(self, name: str, rule: TypedRule = TypedRule.TABLE_MISSING) -> TableForm:
        """The table of that name. Raises `NotFound` with the text of `rule`."""
        found = self.tables.get_qualified(self.qualified(name))
        if found is None:
            shown = split_name(name)[1]
            raise failed_at(Position(), NotFound(rule, table=shown[:300]))
        return found
