"""What a request touches, as claims (`turns.py`): rows, tables, the catalogue of an instance.

A request that cannot be read here claims all of its instance, for nothing is known of what it
does. What went by tells more: which tables are indexes of which, which columns count by
themselves, which partition key value a transaction holds.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final

from google.protobuf.message import Message

from widerow.errors import WiderowError
from widerow.limits import PROXY_FACTS_MAX
from widerow.model.tablestore.row import Modification
from widerow.model.values import KeyMarker
from widerow.proxy.decoding import Tree
from widerow.proxy.turns import Claim
from widerow.wire.tablestore.plainbuffer import decode_primary_key, decode_row_change

__all__ = ["TrafficFacts", "claims_of", "tables_of"]

_ROWS: Final = "rows"
_CATALOGUE: Final = "catalogue"
_TUNNELS: Final = "tunnels"
_AUTO_INCREMENT: Final = 1  # of PrimaryKeyOption
_KEY_BYTES_SHOWN: Final = 64  # of a claim: a longer key is known by its hash


class TrafficFacts:
    """What requests and answers that went by say of tables. For one thread; bounded."""

    def __init__(self) -> None:
        self._mains: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._auto: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._transactions: OrderedDict[str, tuple[Claim, ...]] = OrderedDict()

    def learn(self, action: str, instance: str, request: Tree, answer: Tree) -> None:
        """Take in a request that was granted, and its answer, as trees."""
        told = request if action in {"CreateTable", "CreateIndex"} else answer
        if not isinstance(told, dict) or not isinstance(request, dict):
            return
        if action in {"CreateTable", "DescribeTable"}:
            meta = told.get("table_meta", {})
            name = str(meta.get("table_name", ""))
            for column in meta.get("primary_key", ()):
                if column.get("option") == _AUTO_INCREMENT:
                    _keep(self._auto, (instance, name), str(column.get("name", "")))
            for index in told.get("index_metas", ()):
                _keep(self._mains, (instance, str(index.get("name", ""))), name)
        elif action == "CreateIndex":
            index = str(told.get("index_meta", {}).get("name", ""))
            _keep(self._mains, (instance, index), str(told.get("main_table_name", "")))

    def learn_auto_column(self, instance: str, table: str, column: str) -> None:
        """A writer let the server choose the value of this column."""
        _keep(self._auto, (instance, table), column)

    def learn_transaction(self, transaction: str, claims: tuple[Claim, ...]) -> None:
        """A transaction was begun by a request with these claims."""
        _keep(self._transactions, transaction, claims)

    def transaction(self, name: str) -> tuple[Claim, ...] | None:
        """The claims that a transaction began with; None where that is not known."""
        return self._transactions.get(name)

    def main_table(self, instance: str, table: str) -> str | None:
        """The table that this one is an index of; None where it is none, as far as is known."""
        return self._mains.get((instance, table))

    def auto_columns(self, instance: str, tables: Iterable[str]) -> frozenset[str]:
        """The auto-increment columns of these tables, and of those that they are indexes of."""
        found = set()
        for table in tables:
            for name in (table, self.main_table(instance, table) or table):
                column = self._auto.get((instance, name))
                if column is not None:
                    found.add(column)
        return frozenset(found)


def _keep(facts: "OrderedDict[Any, Any]", key: Hashable, value: object) -> None:
    facts[key] = value
    facts.move_to_end(key)
    if len(facts) > PROXY_FACTS_MAX:
        facts.popitem(last=False)


def claims_of(
    action: str, instance: str, message: Message | None, facts: TrafficFacts
) -> tuple[Claim, ...]:
    """The claims of a request. `message`: None where it could not be read. Linear in its keys."""
    find = _FINDERS.get(action)
    if action.startswith("tunnel/"):
        find = _tunnel
    if find is None or message is None:
        return _everything(instance)
    try:
        return tuple(find(instance, message, facts))
    except WiderowError:
        return _everything(instance)


def tables_of(message: Any) -> tuple[str, ...]:  # noqa: ANN401  # messages have no common type
    """The names of the tables in a request, as far as it names any."""
    if message is None:
        return ()
    names = message.DESCRIPTOR.fields_by_name
    if "tables" in names:
        return tuple(str(each.table_name) for each in message.tables)
    if "table_name" in names:
        return (str(message.table_name),)
    if "table_meta" in names:
        return (str(message.table_meta.table_name),)
    return (str(message.main_table_name),) if "main_table_name" in names else ()


def _everything(instance: str) -> tuple[Claim, ...]:
    return tuple(Claim((place, instance), True) for place in (_ROWS, _CATALOGUE, _TUNNELS))  # noqa: FBT003  # a field of two


_Finder = Callable[[str, Any, TrafficFacts], Iterable[Claim]]


def _row_path(
    instance: str, table: str, columns: Iterable[tuple[str, Any]]
) -> tuple[Hashable, ...]:
    """Where the row of a key lies: of one whose key is still to be made, its partition key."""
    values = [value for _, value in columns]
    path: list[Hashable] = [_ROWS, instance, table, _short(values[0])]
    if len(values) > 1 and not any(isinstance(each, KeyMarker) for each in values):
        path.append(tuple(map(_short, values[1:])))
    return tuple(path)


def _short(value: Hashable) -> Hashable:
    long = isinstance(value, str | bytes) and len(value) > _KEY_BYTES_SHOWN
    return (type(value), hash(value) if long else value)


def _read_rows(
    instance: str, table: str, keys: Iterable[bytes], facts: TrafficFacts
) -> Iterable[Claim]:
    main = facts.main_table(instance, table)
    if main is not None:
        yield Claim((_ROWS, instance, main), changes=False)
    for key in keys:
        yield Claim(_row_path(instance, table, decode_primary_key(key).columns), changes=False)


_Changes = Iterable[tuple[bytes, Modification]]


def _write_rows(
    place: tuple[str, str], changes: _Changes, transaction: str, facts: TrafficFacts
) -> Iterable[Claim]:
    """`place`: instance and table. A transaction has all of a partition key value."""
    for change, modification in changes:
        columns = decode_row_change(change, modification)[0].columns
        for name, value in columns:
            if value is KeyMarker.AUTO_INCREMENT:
                facts.learn_auto_column(*place, name)
        path = _row_path(*place, columns)
        yield Claim(path[:4] if transaction else path, changes=True)


def _get_row(instance: str, message: Any, facts: TrafficFacts) -> Iterable[Claim]:  # noqa: ANN401  # the action's own
    if message.transaction_id:
        known = facts.transaction(message.transaction_id)
        return _everything(instance) if known is None else known
    return _read_rows(instance, message.table_name, (message.primary_key,), facts)


def _batch_get(instance: str, message: Any, facts: TrafficFacts) -> Iterable[Claim]:  # noqa: ANN401  # the action's own
    for table in message.tables:
        yield from _read_rows(instance, table.table_name, table.primary_key, facts)


def _put(instance: str, message: Any, facts: TrafficFacts) -> Iterable[Claim]:  # noqa: ANN401  # the action's own
    changes = ((message.row, Modification.PUT),)
    return _write_rows((instance, message.table_name), changes, message.transaction_id, facts)


def _update(instance: str, message: Any, facts: TrafficFacts) -> Iterable[Claim]:  # noqa: ANN401  # the action's own
    changes = ((message.row_change, Modification.UPDATE),)
    return _write_rows((instance, message.table_name), changes, message.transaction_id, facts)


def _delete(instance: str, message: Any, facts: TrafficFacts) -> Iterable[Claim]:  # noqa: ANN401  # the action's own
    changes = ((message.primary_key, Modification.DELETE),)
    return _write_rows((instance, message.table_name), changes, message.transaction_id, facts)


def _batch_write(instance: str, message: Any, facts: TrafficFacts) -> Iterable[Claim]:  # noqa: ANN401  # the action's own
    for table in message.tables:
        changes = [(each.row_change, _modification(each.type)) for each in table.rows]
        yield from _write_rows((instance, table.table_name), changes, message.transaction_id, facts)


def _bulk_import(instance: str, message: Any, facts: TrafficFacts) -> Iterable[Claim]:  # noqa: ANN401  # the action's own
    changes = [(each.row_change, _modification(each.type)) for each in message.rows]
    return _write_rows((instance, message.table_name), changes, "", facts)


def _modification(number: int) -> Modification:
    known = number in Modification.__members__.values()
    return Modification(number) if known else Modification.UPDATE


def _range(instance: str, message: Any, facts: TrafficFacts) -> Iterable[Claim]:  # noqa: ANN401  # the action's own
    table = message.table_name
    yield Claim((_ROWS, instance, table), changes=False)
    main = facts.main_table(instance, table)
    if main is not None:
        yield Claim((_ROWS, instance, main), changes=False)


def _begin(instance: str, message: Any, _: TrafficFacts) -> Iterable[Claim]:  # noqa: ANN401  # the action's own
    columns = decode_primary_key(message.key).columns
    return (Claim(_row_path(instance, message.table_name, columns)[:4], changes=True),)


def _end(instance: str, message: Any, facts: TrafficFacts) -> Iterable[Claim]:  # noqa: ANN401  # the action's own
    known = facts.transaction(message.transaction_id)
    return _everything(instance) if known is None else known


def _define(instance: str, message: Any, facts: TrafficFacts) -> Iterable[Claim]:  # noqa: ANN401  # the action's own
    for table in tables_of(message):
        yield Claim((_ROWS, instance, table), changes=True)
        main = facts.main_table(instance, table)
        if main is not None:
            yield Claim((_ROWS, instance, main), changes=True)
    yield Claim((_CATALOGUE, instance), changes=True)


def _look(instance: str, _message: object, _: TrafficFacts) -> Iterable[Claim]:
    return (Claim((_CATALOGUE, instance), changes=False),)


def _streams(instance: str, _message: object, _: TrafficFacts) -> Iterable[Claim]:
    return (
        Claim((_CATALOGUE, instance), changes=False),
        Claim((_ROWS, instance), changes=False),
    )


def _tunnel(instance: str, _message: object, _: TrafficFacts) -> Iterable[Claim]:
    return (Claim((_TUNNELS, instance), changes=True), Claim((_ROWS, instance), changes=False))


_FINDERS: Final[dict[str, _Finder]] = {
    "GetRow": _get_row,
    "BatchGetRow": _batch_get,
    "PutRow": _put,
    "UpdateRow": _update,
    "DeleteRow": _delete,
    "BatchWriteRow": _batch_write,
    "BulkImport": _bulk_import,
    "StartLocalTransaction": _begin,
    "CommitTransaction": _end,
    "AbortTransaction": _end,
    **dict.fromkeys(
        (
            *("GetRange", "BulkExport", "ComputeSplitPointsBySize"),
            *("Search", "ParallelScan", "ComputeSplits"),
        ),
        _range,
    ),
    **dict.fromkeys(
        (
            *("CreateTable", "UpdateTable", "DeleteTable", "AddDefinedColumn"),
            *("DeleteDefinedColumn", "CreateIndex", "DropIndex"),
            *("CreateSearchIndex", "UpdateSearchIndex", "DeleteSearchIndex"),
        ),
        _define,
    ),
    **dict.fromkeys(
        ("ListTable", "DescribeTable", "ListSearchIndex", "DescribeSearchIndex"), _look
    ),
    **dict.fromkeys(
        ("ListStream", "DescribeStream", "GetShardIterator", "GetStreamRecord"), _streams
    ),
}
