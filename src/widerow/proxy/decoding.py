"""Messages taken apart: trees of plain values in the vendor's names, with rows as rows.

A tree is a dictionary of fields, a list, a row, or a plain value. Bytes that hold rows or keys are
decoded by the name of their field, and those that hold other messages by `nested.py`; any others
stay bytes. What aggregations and group-bys came to stands by their names, and the numbers in it are
`Computed`. Whatever the input: what cannot be read stays bytes, and nothing is raised.
"""

import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple

from google.protobuf.message import DecodeError, Message

from widerow.client.http import OK, HttpAnswer
from widerow.errors import StoreDamaged, WiderowError
from widerow.limits import PROXY_ANSWER_BYTES_MAX
from widerow.model.tablestore.row import CellChange, CellOperation, Modification, SentCells
from widerow.model.values import KeyMarker
from widerow.proxy.nested import NESTED_DEPTH_MAX, nested_message, result_kind
from widerow.rows.cells import body_value, decode_variant
from widerow.rows.plain_values import (
    CellDeletion,
    PlainRecord,
    Row,
    VersionedValue,
    decode_plain_record,
    decode_plain_rows,
)
from widerow.wire.tablestore.messages import Error
from widerow.wire.tablestore.plainbuffer import decode_primary_key, decode_row_change

__all__ = [
    "Computed",
    "KeyTree",
    "MessageTypes",
    "Tree",
    "answer_tree",
    "inflated",
    "jsonable",
    "made_keys",
    "message_types",
    "parse_message",
    "request_tree",
    "told_error",
]

Tree = Any
"""A dictionary by names of fields, a list, a `Row`, `PlainRecord`, `KeyTree`, or a plain value."""

_PACKAGE: Final = "widerow.wire.tablestore."
_MODULES: Final = ("messages", "search_messages", "delivery_messages")
_TUNNELS: Final = {
    **{f"tunnel/{verb.lower()}": f"{verb}Tunnel" for verb in "Create Delete List Describe".split()},  # noqa: SIM905  # as the names stand in the texts
    **{
        f"tunnel/{verb.lower()}": verb
        for verb in "Connect Heartbeat Shutdown GetCheckpoint ReadRecords Checkpoint "  # noqa: SIM905  # as the names stand in the texts
        "GetRpo Schedule".split()
    },
}


class KeyTree(NamedTuple):
    """A primary key: names and values; values of bounds may be markers."""

    columns: tuple[tuple[str, Any], ...]


class Computed(NamedTuple):
    """A number that a server computed of many others, in an order of its own."""

    value: float


class MessageTypes(NamedTuple):
    """The classes of an action's two messages."""

    request: type[Message]
    answer: type[Message]


@cache
def message_types(action: str) -> MessageTypes | None:
    """The messages of an action; None for one whose messages are not known here.

    Remembered: call it with names of actions, of which there are few, and not with other texts.
    """
    name = _TUNNELS.get(action, action)
    modules = ("tunnel_messages",) if action in _TUNNELS else _MODULES
    for module in modules:
        found = vars(import_module(_PACKAGE + module))
        if f"{name}Request" in found and f"{name}Response" in found:
            return MessageTypes(found[f"{name}Request"], found[f"{name}Response"])
    return None


def parse_message(kind: type[Message] | None, body: bytes) -> Message | None:
    """The message that a body is; None where it is none, or where its type is not known."""
    if kind is None:
        return None
    try:
        found = kind.FromString(body)
    except DecodeError:
        return None
    return found if found.IsInitialized() else None


def inflated(headers: Mapping[str, str], body: bytes, kind: str) -> bytes:
    """The body as it was before it was compressed (wire §1.8); itself where it is not, or broken.

    `kind`: `request` or `response`. At most `PROXY_ANSWER_BYTES_MAX` come out.
    """
    if headers.get(f"x-ots-{kind}-compress-type") != "deflate":
        return body
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(body, PROXY_ANSWER_BYTES_MAX)
    except zlib.error:
        return body
    return found if stream.eof else body


def told_error(answer: HttpAnswer) -> tuple[str, str]:
    """Code and message of an answer that is an error; two empty texts where it is none."""
    if answer.status == OK:
        return "", ""
    try:
        told = Error.FromString(inflated(answer.headers, answer.body, "response"))
    except DecodeError:
        return "", ""
    if isinstance(told.code, str) and isinstance(told.message, str):
        return told.code, told.message
    return "", ""


def answer_tree(action: str, answer: HttpAnswer) -> Tree:
    """What an answer says: the fields of its message, or bytes where that is not known."""
    if answer.status != OK:
        code, message = told_error(answer)
        return {"code": code, "message": message} if code else answer.body
    types = message_types(action)
    body = inflated(answer.headers, answer.body, "response")
    found = parse_message(types.answer if types else None, body)
    return body if found is None else _tree(found, _ANSWER_FIELDS)


def request_tree(action: str, headers: Mapping[str, str], body: bytes) -> Tree:
    """What a request asks: the fields of its message, or bytes where that is not known."""
    types = message_types(action)
    body = inflated(headers, body, "request")
    message = parse_message(types.request if types else None, body)
    return body if message is None else _tree(message, _REQUEST_FIELDS)


_Fields = Mapping[str, Callable[[bytes], Tree]]


def _tree(message: Message, fields: _Fields, depth: int = 0) -> Tree:
    if message.DESCRIPTOR.name in _RESULTS:
        return _results(message, fields, depth)
    found: dict[str, Tree] = {}
    for field, value in message.ListFields():
        if isinstance(value, Message):
            found[field.name] = _tree(value, fields, depth + 1)
        elif isinstance(value, bytes | str | bool | int | float):
            found[field.name] = _leaf(message, field.name, value, fields, depth)
        else:
            trees = [
                _tree(each, fields, depth + 1)
                if isinstance(each, Message)
                else _leaf(message, field.name, each, fields, depth)
                for each in value
            ]
            found[field.name] = _joined(trees) if field.name == _ROWS else trees
    return found


def _joined(trees: list[Tree]) -> list[Tree]:
    """Rows that stand in a buffer each, as a search answers them, in one list."""
    if not all(isinstance(each, list) for each in trees):
        return trees
    return [row for each in trees for row in each]


_ROWS: Final = "rows"
_RESULTS: Final = {"AggregationsResult": "agg_results", "GroupBysResult": "group_by_results"}
_COMPUTED: Final = frozenset(f"{name}AggregationResult" for name in ("Avg", "Sum", "Max", "Min"))
_VARIANTS: Final = frozenset(
    (("PercentilesAggregationItem", "value"), ("GroupByHistogramItem", "key"))
)


def _results(message: Message, fields: _Fields, depth: int) -> Tree:
    """What aggregations or group-bys came to, by their names: their order says nothing."""
    results = getattr(message, _RESULTS[message.DESCRIPTOR.name])
    names = [each.name for each in results]
    trees = [_tree(each, fields, depth + 1) for each in results]
    if len(set(names)) != len(names):
        return trees
    return {
        name: {result_kind(each): tree.get("agg_result", tree.get("group_by_result"))}
        for name, each, tree in zip(names, results, trees, strict=True)
    }


def _leaf(message: Message, name: str, value: Any, fields: _Fields, depth: int) -> Tree:  # noqa: ANN401  # as protobuf has it
    kind = message.DESCRIPTOR.name
    if kind in _COMPUTED:
        return Computed(value)
    if not isinstance(value, bytes):
        return value
    nested = nested_message(message, name, value) if depth < NESTED_DEPTH_MAX else None
    if nested is not None:
        return _tree(nested, fields, depth + 1)
    read = _variant if (kind, name) in _VARIANTS else fields.get(name)
    if read is None:
        return value
    try:
        return read(value)
    except WiderowError:
        return value


def _variant(data: bytes) -> Tree:
    """A value by itself; a number among percentiles is a computed one."""
    try:
        value = decode_variant(data, 0, len(data))
    except (IndexError, ValueError, struct.error) as error:
        raise StoreDamaged("no value") from error
    return Computed(value) if isinstance(value, float) else value


def _key(data: bytes) -> Tree:
    return KeyTree(decode_primary_key(data).columns)


def _deleted_key(data: bytes) -> Tree:
    return KeyTree(decode_row_change(data, Modification.DELETE)[0].columns)


def _rows(data: bytes) -> Tree:
    return decode_plain_rows(data)


def _record(data: bytes) -> Tree:
    return decode_plain_record(data)


def _change(data: bytes) -> Tree:
    """A row as a write sends it; a batch does not say in the row which write it is."""
    for modification in (Modification.UPDATE, Modification.PUT, Modification.DELETE):
        try:
            key, cells = decode_row_change(data, modification)
        except WiderowError:
            continue
        split = cells.split() if isinstance(cells, SentCells) else cells
        return {
            "primary_key": KeyTree(key.columns),
            "columns": [_changed_cell(cell) for cell in split],
        }
    raise StoreDamaged("no row of a write")


def _changed_cell(cell: CellChange) -> list[Tree]:
    value = body_value(cell.body) if cell.body else None
    told = [cell.name, value, cell.version]
    return told if cell.operation is CellOperation.PUT else [*told, cell.operation.name]


_ANSWER_FIELDS: Final = {
    "row": _rows,
    "rows": _rows,
    "record": _record,
    "origin_record": _record,
    "next_start_primary_key": _key,
    "shard_splits": _key,
    "split_points": _key,
}
_REQUEST_FIELDS: Final = {
    "row": _change,
    "row_change": _change,
    "primary_key": _deleted_key,
    "inclusive_start_primary_key": _key,
    "exclusive_end_primary_key": _key,
    "key": _key,
}


def jsonable(tree: Tree) -> Tree:
    """The tree as JSON has it: keys and cells as lists, bytes as `{"base64": …}`."""
    if isinstance(tree, Row | PlainRecord):
        return {
            "primary_key": jsonable(KeyTree(tree.key)),
            "columns": [_cell(each) for each in tree.cells],
        }
    if isinstance(tree, VersionedValue):
        return _cell(tree)
    if isinstance(tree, Computed):
        return tree.value
    if isinstance(tree, KeyTree):
        return [[name, jsonable(value)] for name, value in tree.columns]
    if isinstance(tree, dict):
        return {name: jsonable(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [jsonable(each) for each in tree]
    if isinstance(tree, bytes):
        return {"base64": b64encode(tree).decode()}
    return tree.name if isinstance(tree, KeyMarker) else tree


def _cell(cell: Any) -> list[Tree]:  # noqa: ANN401  # a value with its version, or a deletion
    if isinstance(cell, CellDeletion):
        return [cell.column, None, cell.version, "DELETE"]
    return [cell.column, jsonable(cell.value), cell.version]


def made_keys(tree: Tree) -> list[KeyTree]:
    """The keys of all rows in a tree, in its order."""
    if isinstance(tree, Row):
        return [KeyTree(tree.key)]
    if isinstance(tree, KeyTree):
        return [tree]
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [key for each in inner for key in made_keys(each)]
