"""Definitions of a server's typed tables, made of what GET_TABLE tells (nosql-wire §5.2)."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from widerow.engine.typed.ddl.parse import parse
from widerow.engine.typed.ddl.result import Context, StatementResult
from widerow.engine.typed.ddl.run import run
from widerow.engine.typed.ddl.statements import CreateTableStatement
from widerow.engine.typed.ddl.tables import declared_table
from widerow.engine.typed.form import TableForm
from widerow.errors import InvalidRequest
from widerow.model.typed.index_paths import checked_index
from widerow.model.typed.names import folded, split_name
from widerow.model.typed.table import Index, IndexField, TypedTable
from widerow.model.typed.types import Kind

__all__ = ["KnownTables"]

_KINDS: Final = {kind.value.replace("_", ""): kind for kind in Kind}


class KnownTables:
    """The tables that a server has told of, found as those of a store are (`TypedTables`)."""

    def __init__(self) -> None:
        """No table yet."""
        self._forms: dict[tuple[str, str], TableForm] = {}
        self._told: dict[tuple[str, str], tuple[str, str]] = {}
        self._changes = 0

    def learn(self, name: str, answer: Mapping[str, Any]) -> TableForm:
        """A table as the server tells of it now. Its parent must be known. Raises as `parse`."""
        place = _place(name)
        told = str(answer["td"]), str(answer["ac"])
        known = self._forms.get(place)
        if known is not None and self._told[place] == told:
            return known
        read = parse(told[0])
        assert isinstance(read, CreateTableStatement), "a table is told as its CREATE TABLE"
        table = declared_table(self.context(), read)
        parent = self.get(place[0], place[1].rpartition(".")[0])
        number = int(answer["to"])
        self._changes += 1
        table = replace(
            table,
            id=number,
            path=(number,) if parent is None else (*parent.table.path, number),
            revision=self._changes,
        )
        indexes = json.loads(told[1]).get("indexes", ())
        table = replace(table, indexes=tuple(_index(table, each) for each in indexes))
        self._told[place] = told
        self._forms[place] = TableForm(table)
        return self._forms[place]

    def forget(self, name: str) -> None:
        """A table that the server does not have, with those below it."""
        namespace, path = _place(name)
        for place in list(self._forms):
            if place[0] == namespace and f"{place[1]}.".startswith(f"{path}."):
                del self._forms[place], self._told[place]

    def shown(self, statement: str, namespace: str) -> StatementResult:
        """The answer of a SHOW or DESCRIBE. Raises `NotFound`, `InvalidRequest`."""
        holder: Any = _Schema(self)
        return run(holder, statement, namespace=namespace)

    def context(self) -> Context:
        """What a statement is read with."""
        holder: Any = _Schema(self)
        return Context(holder)

    # --- looking up, as `TypedTables` does ---------------------------------------------------

    def get(self, namespace: str, path: str) -> TableForm | None:
        """The table of folded names, or None."""
        return self._forms.get((namespace, path))

    def get_qualified(self, name: str) -> TableForm | None:
        """The table of a qualified name, in any case, or None."""
        return self._forms.get(_place(name))

    def all(self) -> list[TableForm]:
        """Every table, sorted, parents before their children."""
        return [self._forms[place] for place in sorted(self._forms)]

    def in_namespace(self, name: str) -> list[TableForm]:
        """The tables of a namespace, sorted."""
        wanted = _place(f"{name}:")[0]
        return [form for place, form in sorted(self._forms.items()) if place[0] == wanted]

    def namespaces(self) -> list[str]:
        """The namespaces that have tables, without the default one, sorted."""
        return sorted({form.table.namespace for form in self._forms.values()} - {""})


class _Schema:
    """What statements that show something need of a store's schema."""

    def __init__(self, tables: KnownTables) -> None:
        self.tables = tables


def _place(name: str) -> tuple[str, str]:
    namespace, path = split_name(name)
    return folded(namespace), folded(path)


def _index(table: TypedTable, told: Mapping[str, Any]) -> Index:
    """An index of the table's schema text."""
    try:
        return checked_index(table, _index_of(told, None))
    except InvalidRequest:  # a function of a path inside JSON, whose type is not told
        return checked_index(table, _index_of(told, Kind.STRING))


def _index_of(told: Mapping[str, Any], source: Kind | None) -> Index:
    return Index(
        told["name"],
        tuple(_index_field(each, source) for each in told["fields"]),
        with_nulls=not told.get("withNoNulls", False),
        unique_keys_per_row=told.get("withUniqueKeysPerRow", False),
        ready=True,
    )


def _index_field(told: Mapping[str, Any], source: Kind | None) -> IndexField:
    if "function" in told:
        return IndexField(f"{told['function']}#{told.get('arguments', '')}", source)
    return IndexField(told["path"], _KINDS.get(str(told.get("type", "")).upper()))
