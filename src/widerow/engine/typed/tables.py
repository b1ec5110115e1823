"""Typed tables and namespaces in the catalogue: found and changed by qualified names."""

from collections.abc import Callable
from dataclasses import replace

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.catalog.state import CatalogState
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.model import TYPED_MODEL
from widerow.errors import Conflict, InvalidRequest, NotFound
from widerow.keys.layout import namespace_key, sequence_prefix
from widerow.model.typed.names import (
    DEFAULT_NAMESPACE,
    check_namespace,
    folded,
    same_name,
    split_name,
)
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TypedTable
from widerow.storage.interface import Write

__all__ = ["TypedTables"]


class TypedTables(Tables[TableForm]):
    """Every typed table with its form, and every namespace."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog, TYPED_MODEL)

    # --- looking up --------------------------------------------------------------------------

    def find_qualified(self, name: str) -> TableForm:
        """The table of a qualified name, in any case. Raises `NotFound`."""
        form = self.get_qualified(name)
        if form is None:
            raise NotFound(TypedRule.TABLE_MISSING, table=name)
        return form

    def get_qualified(self, name: str) -> TableForm | None:
        """The table of a qualified name, in any case, or None."""
        namespace, table = split_name(name)
        return self.get(folded(namespace), folded(table))

    def in_namespace(self, name: str) -> list[TableForm]:
        """The tables of a namespace in any case, sorted, parents before their children.

        The default namespace is `""` or `sysdefault`.
        """
        return self.owned(folded(split_name(f"{name}:")[0]))

    def children(self, table_id: int) -> list[TableForm]:
        """The child tables of a table, without their own children."""
        return _children(self.all(), table_id)

    def namespaces(self) -> list[str]:
        """Names of all namespaces but the default one, sorted."""
        shown = self.catalog.seen().namespaces
        return sorted(name for (space, _), name in shown.items() if space == TYPED_MODEL.space)

    # --- changing ----------------------------------------------------------------------------

    def create_typed(self, table: TypedTable, now_us: int) -> Write[TableForm]:
        """The write that creates a table. Its body raises `Conflict` or `NotFound`."""

        def make(draft: Draft) -> TableForm:
            ancestors = _ancestors(draft.state, table)
            number = draft.number()
            path = (*ancestors, number)
            return TableForm(replace(table, id=number, path=path, created_us=now_us, splits=()))

        return self.create(make)

    def change_typed(
        self,
        form: TableForm,
        make: Callable[[TypedTable], TypedTable],
        *,
        due_us: int = 0,
        restart_sequence: bool = False,
    ) -> Write[TableForm]:
        """The write that replaces the newest definition by what `make` makes of it in the body.

        Indexes without a number get one; a drop note is left for each index that is removed. An
        error of `make` refuses the change.
        """
        sequence = sequence_prefix(form.table.id)

        def body(draft: Draft) -> TableForm:
            before = draft.current(TYPED_MODEL, form).table
            # The partitions may have been split since the definition was made that `make` changes.
            after = replace(make(before), revision=before.revision + 1, splits=before.splits)
            numbered = [
                index if index.id else replace(index, id=draft.number()) for index in after.indexes
            ]
            after = replace(after, indexes=tuple(numbered))
            if restart_sequence:
                draft.txn.delete(sequence)
            return draft.put(TYPED_MODEL, TableForm(after))

        shards = (sequence,) if restart_sequence else ()
        return self.catalog.change(body, due_us=due_us, shards=shards)

    def drop_typed(self, form: TableForm, *, due_us: int = 0) -> Write[None]:
        """The write that removes a table and leaves a drop note for what it has at that moment.

        Its body raises `NotFound`, or `InvalidRequest` while there are child tables.
        """

        def body(draft: Draft) -> None:
            current = draft.current(TYPED_MODEL, form)
            forms = [each for each in draft.state.by_id.values() if isinstance(each, TableForm)]
            if _children(forms, form.table.id):
                raise InvalidRequest(TypedRule.PARENT_HAS_CHILDREN, table=form.table.name)
            draft.drop(TYPED_MODEL, current)

        return self.catalog.change(body, due_us=due_us)

    def create_namespace(self, name: str) -> Write[None]:
        """The write that creates a namespace. Its body raises `Conflict`."""
        check_namespace(name)
        key = TYPED_MODEL.space, folded(name)

        def body(draft: Draft) -> None:
            if key in draft.state.namespaces or same_name(name, DEFAULT_NAMESPACE):
                raise Conflict(TypedRule.NAMESPACE_EXISTS, namespace=name)
            draft.txn.put(namespace_key(folded(name)), name.encode())
            draft.state.namespaces[key] = name

        return self.catalog.change(body)

    def drop_namespace(self, name: str) -> Write[None]:
        """The write that removes an empty namespace. Its body raises `NotFound` or `Conflict`."""
        key = TYPED_MODEL.space, folded(name)

        def body(draft: Draft) -> None:
            if key not in draft.state.namespaces:
                raise NotFound(TypedRule.NAMESPACE_MISSING, namespace=name)
            if any(found[:2] == key for found in draft.state.by_name):
                raise Conflict(TypedRule.NAMESPACE_NOT_EMPTY, namespace=name)
            draft.txn.delete(namespace_key(folded(name)))
            del draft.state.namespaces[key]

        return self.catalog.change(body)


def _children(forms: list[TableForm], table_id: int) -> list[TableForm]:
    return [form for form in forms if form.table.path[-2:-1] == (table_id,)]


def _ancestors(state: CatalogState, table: TypedTable) -> tuple[int, ...]:
    """The numbers of a new table's ancestors. Raises `Conflict` or `NotFound`."""
    namespace = folded(table.namespace)
    if (TYPED_MODEL.space, namespace, folded(table.name)) in state.by_name:
        raise Conflict(TypedRule.TABLE_EXISTS, table=table.name)
    if table.namespace and (TYPED_MODEL.space, namespace) not in state.namespaces:
        raise NotFound(TypedRule.NAMESPACE_MISSING, namespace=table.namespace)
    if table.parent is None:
        return ()
    parent: TableForm | None = state.by_name.get(
        (TYPED_MODEL.space, namespace, folded(table.parent))
    )
    if parent is None:
        raise NotFound(TypedRule.PARENT_MISSING, parent=table.parent, table=table.name)
    if parent.table.primary_key != table.primary_key[: table.parent_key_length]:
        raise Conflict(TypedRule.EVOLVE_STALE, table=parent.table.qualified)
    return parent.table.path
