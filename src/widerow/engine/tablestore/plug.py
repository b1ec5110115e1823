"""Tablestore's tables as a plug of the engine."""

from collections.abc import Iterator
from typing import Any, ClassVar

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.catalog.model import CatalogModel
from widerow.engine.check_part import CheckPart
from widerow.engine.engine import Engine, TableModel
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.model.tablestore.schema import Table
from widerow.storage.interface import Snapshot

__all__ = ["TABLESTORE", "Tablestore"]


class Tablestore(TableModel[Table, TablestoreEngine]):
    """Tables of instances, whose rows have versioned cells."""

    records: ClassVar[CatalogModel[Any]] = TABLESTORE_MODEL

    def open(self, engine: Engine) -> TablestoreEngine:
        """The operations of Tablestore's tables."""
        return TablestoreEngine(engine)

    def check_parts(self, catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:
        """Rows, sequences, indexes, logs, tunnels and intents."""
        from widerow.engine.tablestore.check_parts import all_parts  # noqa: PLC0415  # few check

        return all_parts(catalog, snapshot)


TABLESTORE = Tablestore()
