"""The list of table models, and the catalogue over all of them."""

from typing import TYPE_CHECKING, Final

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.catalog.model import TableModelEntry
from widerow.engine.tablestore.model import TABLESTORE_MODEL, TablestoreModel
from widerow.keys.layout import SPACE_CATALOG, SPACE_TYPED_CATALOG
from widerow.storage.interface import Store

if TYPE_CHECKING:
    from widerow.engine.typed.model import TypedModel

__all__ = ["TABLE_MODELS", "open_catalog"]


def _tablestore() -> TablestoreModel:
    return TABLESTORE_MODEL


def _typed() -> "TypedModel":
    """Imported where a store has a typed table: a server without any starts a tenth sooner."""
    from widerow.engine.typed.model import TYPED_MODEL  # noqa: PLC0415  # see above

    return TYPED_MODEL


TABLE_MODELS: Final = (
    TableModelEntry(SPACE_CATALOG, _tablestore),
    TableModelEntry(SPACE_TYPED_CATALOG, _typed),
)


def open_catalog(store: Store) -> Catalog:
    """The catalogue of a store; a new store becomes ours. Raises `StoreDamaged`."""
    return Catalog(store, TABLE_MODELS)
