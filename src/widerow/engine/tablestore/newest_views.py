"""Last-point indexes of a table: the newest row of each beginning of its key (timeseries §10).

Nothing is stored of them: the rows of one beginning lie together, and the newest is the last that
has columns.
"""

from collections.abc import Callable
from dataclasses import replace

from widerow.engine.catalog.draft import Draft
from widerow.engine.tablestore.indexes.index_definitions import table_named
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.errors import Conflict, InvalidRequest, NotFound
from widerow.limits import INDEXES_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import NewestView, Table
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.values import KeyType

__all__ = ["adding_view", "dropping_view"]


def adding_view(
    instance: str, table: str, view: tuple[str, tuple[str, ...]], since_ms: int
) -> Callable[[Draft], None]:
    """Give a table a last-point index. `view`: its name, and the columns of its key.

    The change raises `NotFound`, `InvalidRequest`, and `Conflict` for a name that is taken.
    """
    name, key = view

    def make(draft: Draft) -> None:
        base = table_named(draft, instance, table)
        columns = base.key_columns
        own = tuple([column.name for column in columns[: len(key)]])
        # What tells the newest row is the column behind its key: a time.
        if key != own or not 0 < len(key) < len(columns):
            raise InvalidRequest(TimeseriesRule.LASTPOINT_KEY, columns=", ".join(key))
        if columns[len(key)].type is not KeyType.INTEGER:
            raise InvalidRequest(TimeseriesRule.LASTPOINT_KEY, columns=", ".join(key))
        if name in TABLESTORE_MODEL.names_taken(base):
            raise Conflict(TimeseriesRule.LASTPOINT_EXISTS, instance=instance, table=name)
        if len(base.newest) >= INDEXES_MAX:
            count = len(base.newest) + 1
            raise InvalidRequest(TablestoreRule.INDEX_COUNT, limit=INDEXES_MAX, count=count)
        newest = (*base.newest, NewestView(name, len(key), since_ms))
        draft.put(TABLESTORE_MODEL, replace(base, newest=newest))

    return make


def dropping_view(instance: str, table: str, name: str) -> Callable[[Draft], None]:
    """Take a last-point index from a table. The change raises `NotFound`."""

    def make(draft: Draft) -> None:
        base: Table = table_named(draft, instance, table)
        left = tuple([each for each in base.newest if each.name != name])
        if left == base.newest:
            raise NotFound(TimeseriesRule.LASTPOINT_NOT_FOUND, instance=instance, table=name)
        draft.put(TABLESTORE_MODEL, replace(base, newest=left))

    return make
