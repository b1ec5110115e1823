"""Typed tables as a plug of the engine."""

from collections.abc import Iterator
from typing import Any, ClassVar

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.catalog.model import CatalogModel
from widerow.engine.check_part import CheckPart
from widerow.engine.engine import Engine, TableModel
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.model import TYPED_MODEL
from widerow.storage.interface import Snapshot

__all__ = ["TYPED", "Typed"]


class Typed(TableModel[TableForm, TypedEngine]):
    """Tables of namespaces, whose rows have typed fields."""

    records: ClassVar[CatalogModel[Any]] = TYPED_MODEL

    def open(self, engine: Engine) -> TypedEngine:
        """The operations of typed tables."""
        return TypedEngine(engine)

    def check_parts(self, catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:
        """Plans of the admin shell, rows by hierarchies, entries of indexes, sequences."""
        from widerow.engine.typed.check_tables import typed_parts  # noqa: PLC0415  # few check

        return typed_parts(catalog, snapshot)


TYPED = Typed()
