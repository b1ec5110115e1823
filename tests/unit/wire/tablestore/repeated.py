"""Requests that repeat one field: every action, every repeated field in it, as often as fits.

Both come from the descriptors of messages: a new field is among them by itself. Run as a program
it measures each of them in a process of its own, and prints one line of JSON for each.
"""

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from tests.support.buffers import cell, row_of_cells
from tests.support.engines import open_tablestore
from tests.support.requests import (
    BODIES,
    DELIVERY_BODIES,
    KEY,
    SEARCH_BODIES,
    SERIES_BODIES,
    SQL_BODIES,
    STREAM_BODIES,
    TUNNEL_BODIES,
    get_range_request,
)

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import WiderowError
from widerow.model.tablestore.row import CellOperation
from widerow.rows.fields import varint
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import (
    delivery_messages,
    messages,
    search_messages,
    sql_messages,
    timeseries_messages,
    tunnel_messages,
)
from widerow.wire.tablestore.bounds import FIELD_BOUNDS
from widerow.wire.tablestore.operations.search.breakdowns import (
    AGGREGATION_READERS,
    GROUP_BY_READERS,
)
from widerow.wire.tablestore.operations.search.queries import QUERY_READERS
from widerow.wire.tablestore.operations.table import OWN
from widerow.wire.tablestore.operations.table import operation as found_operation

__all__ = ["BYTES", "OPAQUE", "REQUESTS", "Case", "Measured", "cases", "message_of"]

BYTES: Final = 4_500_000
"""Of a body; one may have 5 MB."""

_TABLE: Final = "t"
_INSTANCE: Final = "i"
_KEY_CELLS: Final = tuple(cell(name, value) for name, value in KEY)
_ENOUGH: Final = 1_000_000  # of elements that are as many as a request may have


def _of_series(make: Callable[[str], bytes], _: str) -> bytes:
    """A request about a timeseries table, which has another name than the table."""
    return make("Series")


REQUESTS: Final[Mapping[str, Callable[[str], bytes]]] = {
    **BODIES,
    **STREAM_BODIES,
    **TUNNEL_BODIES,
    **DELIVERY_BODIES,
    **SEARCH_BODIES,
    **{name: partial(_of_series, make) for name, make in SERIES_BODIES.items()},
    **SQL_BODIES,
}
"""A right request of every action."""

OPAQUE: Final = frozenset(
    (
        *("begin", "end", "inclusive_start_primary_key", "exclusive_end_primary_key", "key"),
        *("primary_key", "row", "row_change", "token", "session_id", "key_id", "role_arn"),
        *("term", "terms", "range_from", "range_to", "missing", "missing_value", "interval"),
        *("offset", "min", "max", "column_value", "analyzer_parameter", "param", "detail"),
        *("routing_values", "split_info", "value_binary"),
    )
)
"""Fields of bytes that hold no message with a repeated field: keys, rows, values, tokens."""

_FILTERS: Final = {
    1: messages.SingleColumnValueFilter,
    2: messages.CompositeColumnValueFilter,
    3: messages.ColumnPaginationFilter,
}
_INSIDE: Final[Mapping[str, type[Message]]] = {
    "filter": messages.Filter,
    "column_condition": messages.Filter,
    "search_query": search_messages.SearchQuery,
    "rows_data": timeseries_messages.TimeseriesPBRows,
}
_TYPED: Final[Mapping[str, Mapping[int, type[Message]]]] = {
    "Filter.filter": _FILTERS,
    "Query.query": {number: kind for number, (kind, _) in QUERY_READERS.items()},
    "Aggregation.body": {number: kind for number, (kind, _) in AGGREGATION_READERS.items()},
    "GroupBy.body": {number: kind for number, (kind, _) in GROUP_BY_READERS.items()},
    "MetaQueryCondition.proto_data": {
        1: timeseries_messages.MetaQueryCompositeCondition,
        4: timeseries_messages.MetaQueryTagCondition,
    },
}
"""Fields of bytes whose message depends on the number in the field `type` beside them."""


Field = Any
"""A descriptor of a field, for which the runtimes have several types."""


class Case(NamedTuple):
    """A request that repeats `field` with elements of one form; `body(n)` has `n` of them.

    Forms: "whole" elements, "number"s, "cells" and "JSON" are what a request can have; "empty" ones
    and "bare" ones, which repeat nothing themselves, are smaller.
    """

    action: str
    field: str
    form: str
    element: bytes
    body: Callable[[int], bytes]

    @property
    def fit(self) -> int:
        """As many elements as fit in a body."""
        return BYTES // len(self.element)


class Measured(NamedTuple):
    """What a request cost: processor time, and memory above what there was before it.

    `said`: "OK", or the rule that refused it; `beyond`: it has more elements than are decoded.
    """

    action: str
    field: str
    form: str
    elements: int
    seconds: float
    megabytes: float
    said: str
    beyond: bool


def message_of(action: str) -> type[Message]:
    """The message of an action's requests."""
    for module in (
        messages,
        search_messages,
        delivery_messages,
        sql_messages,
        timeseries_messages,
    ):
        if hasattr(module, f"{action}Request"):
            found: type[Message] = getattr(module, f"{action}Request")
            return found
    name = action.removeprefix("tunnel/")
    names = {each.lower(): each for each in vars(tunnel_messages) if each.endswith("Request")}
    for spelled in (
        f"{name}request",
        f"{name}tunnelrequest",
        f"{name.removesuffix('byoffset')}request",
    ):
        if spelled in names:
            return getattr(tunnel_messages, names[spelled])  # type: ignore[no-any-return]  # a class
    raise LookupError(action)


def cases() -> Iterator[Case]:
    """A case of each form of element for each repeated field of each action."""
    for action, right in REQUESTS.items():
        sent = message_of(action).FromString(right(_TABLE))
        for name, forms, place in _places(sent, lambda body: body, set()):
            for form, element in forms.items():
                yield Case(action, name, form, element, _repeating(place, element))
    yield from _rows()
    for action in OWN:
        yield Case(action, "body", "JSON", b"[],", _document)


def _rows() -> Iterator[Case]:
    """Requests whose PlainBuffer has as many cells, or columns of a key, as fit."""
    put, key = cell("c", 1), cell("k", 1)
    removed = cell("c", operation=CellOperation.DELETE_ALL_VERSIONS)
    for action, field, form, element in (
        ("PutRow", "row", "cells", put),
        ("UpdateRow", "row_change", "cells", removed),
        ("DeleteRow", "primary_key", "key cells", key),
        ("GetRow", "primary_key", "key cells", key),
    ):
        sent = message_of(action).FromString(REQUESTS[action](_TABLE))
        yield Case(
            action,
            f"{action}Request.{field}",
            form,
            element,
            partial(_row, sent, field, form, element),
        )


def _document(count: int) -> bytes:
    return b'{"table":[%b[]]}' % (b"[]," * count)


def _row(sent: Message, field: str, form: str, element: bytes, count: int) -> bytes:
    of_key = form == "key cells"
    setattr(
        sent,
        field,
        row_of_cells([element] * count) if of_key else row_of_cells(_KEY_CELLS, [element] * count),
    )
    return sent.SerializeToString()


def _repeating(place: Callable[[bytes], bytes], element: bytes) -> Callable[[int], bytes]:
    return lambda count: place(element * count)


def _label(field: Field) -> int:
    """The label of a field, which runtimes of several years tell in one way only."""
    field.containing_type.CopyToProto(message := DescriptorProto())
    return next(each.label for each in message.field if each.number == field.number)


_REPEATED: Final = FieldDescriptorProto.LABEL_REPEATED
_REQUIRED: Final = FieldDescriptorProto.LABEL_REQUIRED
_Place = tuple[str, dict[str, bytes], Callable[[bytes], bytes]]


def _places(sent: Message, whole: Callable[[bytes], bytes], seen: set[str]) -> Iterator[_Place]:
    """The repeated fields in a message that stands in a request, which `whole` makes of its bytes.

    Each type of message is looked at in one place.
    """
    kind = sent.DESCRIPTOR
    if kind.full_name in seen:
        return
    seen.add(kind.full_name)
    for field in kind.fields:
        rest = _without(sent, field)
        repeated = _label(field) == _REPEATED
        if repeated:
            yield f"{kind.name}.{field.name}", _forms(sent, field), _placed(whole, rest, b"")
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            inner = _element(sent, field)
            yield from _places(inner, _placed(whole, rest, _tag(field)), seen)
        if field.type == FieldDescriptor.TYPE_BYTES:
            yield from _in_bytes(sent, field, whole, seen)


def _in_bytes(
    sent: Message, field: Field, whole: Callable[[bytes], bytes], seen: set[str]
) -> Iterator[_Place]:
    typed = _TYPED.get(f"{sent.DESCRIPTOR.name}.{field.name}")
    if typed is not None:
        for number, kind in typed.items():
            beside = type(sent)()
            beside.CopyFrom(sent)
            beside.type = number  # type: ignore[attr-defined]  # of each of these
            inside = _filled(kind())
            yield from _places(inside, _placed(whole, _without(beside, field), _tag(field)), seen)
    elif field.name in _INSIDE:
        value = getattr(sent, field.name)
        kind = _INSIDE[field.name]
        inside = kind.FromString(value) if value else _filled(kind())
        yield from _places(inside, _placed(whole, _without(sent, field), _tag(field)), seen)
    elif field.name not in OPAQUE:
        raise LookupError(f"{sent.DESCRIPTOR.name}.{field.name}: are messages in these bytes?")


def _placed(whole: Callable[[bytes], bytes], rest: bytes, tag: bytes) -> Callable[[bytes], bytes]:
    """Bytes, as the content of the field of this tag if there is one, behind the other fields."""
    if not tag:
        return lambda content: whole(rest + content)
    return lambda content: whole(b"".join((rest, tag, varint(len(content)), content)))


def _without(sent: Message, field: Field) -> bytes:
    copied = type(sent)()
    copied.CopyFrom(sent)
    copied.ClearField(field.name)
    return copied.SerializePartialToString()


def _tag(field: Field) -> bytes:
    return varint(field.number << 3 | 2)


def _forms(sent: Message, field: Field) -> dict[str, bytes]:
    """Elements: of no bytes, with what one needs, and with nothing that is repeated in it."""
    if field.cpp_type in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        size, wire_type = (8, 1) if field.cpp_type == FieldDescriptor.CPPTYPE_DOUBLE else (4, 5)
        return {"number": varint(field.number << 3 | wire_type) + bytes(size)}
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        content = _element(sent, field).SerializePartialToString()
    else:
        values = getattr(sent, field.name)
        content = values[0] if values else b"c"
        content = content.encode() if isinstance(content, str) else content
    forms = {"empty": b"", "whole": content}
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        forms["bare"] = _bare(_element(sent, field)).SerializePartialToString()
    return {form: _tag(field) + varint(len(each)) + each for form, each in forms.items()}


def _bare(sent: Message) -> Message:
    """A message without what it repeats."""
    copied = type(sent)()
    copied.CopyFrom(sent)
    for field in sent.DESCRIPTOR.fields:
        if _label(field) == _REPEATED:
            copied.ClearField(field.name)
    return copied


def _element(sent: Message, field: Field) -> Message:
    """A message of a field: what is there, or one with what it needs."""
    if _label(field) == _REPEATED:
        values = getattr(sent, field.name)
        if values:
            return values[0]  # type: ignore[no-any-return]  # a message
    elif sent.HasField(field.name):
        return getattr(sent, field.name)  # type: ignore[no-any-return]  # a message
    return _filled(GetMessageClass(field.message_type)())


def _filled(sent: Message) -> Message:
    """A message with its required fields, and a type and names where there are such fields."""
    for field in sent.DESCRIPTOR.fields:
        required = _label(field) == _REQUIRED
        if field.type == FieldDescriptor.TYPE_MESSAGE and required:
            _filled(getattr(sent, field.name))
            getattr(sent, field.name).SetInParent()
        elif _label(field) == _REPEATED:
            continue
        elif field.name in ("type", "field_type", "order", "combinator") or (
            required and field.cpp_type in (1, 2)
        ):
            setattr(sent, field.name, _NUMBERS.get(sent.DESCRIPTOR.name, 1))
        elif field.type == FieldDescriptor.TYPE_STRING and (required or "name" in field.name):
            setattr(sent, field.name, "c")
        elif required and field.type == FieldDescriptor.TYPE_BYTES:
            key = get_range_request(_TABLE).inclusive_start_primary_key
            setattr(sent, field.name, key if "key" in field.name else b"")
    return sent


_NUMBERS: Final = {"Query": 11, "PartitionRange": 1}  # MATCH_ALL_QUERY needs no content


# --- measuring -------------------------------------------------------------------------------


def _engine() -> TablestoreEngine:
    engine = open_tablestore(open_store("memory:"), FakeClock(), FakeEntropy())
    for action in ("CreateTable", "CreateSearchIndex", "CreateTimeseriesTable"):
        _ask(engine, action, REQUESTS[action](_TABLE))
    return engine


def _ask(engine: TablestoreEngine, action: str, body: bytes) -> str:
    """What a server does with a body; "OK", or the rule that refuses it."""
    operation = found_operation(action)
    try:
        if operation.lengthy is not None:
            operation.lengthy(body)
        result: Any = operation.call(engine, _INSTANCE, operation.decode(body))
        if operation.writes:
            result = engine.core.run(result)
        operation.encode(result)
    except WiderowError as error:
        return error.rule.name if hasattr(error, "rule") else type(error).__name__
    return "OK"


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = [line for line in lines if line.startswith(name)]
    return int(line.split()[1])


def _measure(engine: TablestoreEngine, case: Case, count: int) -> Measured:
    body = case.body(count)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    before, began = _status("VmRSS:"), time.process_time()
    said = _ask(engine, case.action, body)
    seconds = time.process_time() - began
    megabytes = (_status("VmHWM:") - before) / 1000
    beyond = count > FIELD_BOUNDS.get(case.field, 0)
    return Measured(case.action, case.field, case.form, count, seconds, megabytes, said, beyond)


def _apart(measure: Callable[[], Measured]) -> None:
    """Measure in a process of its own: it has no memory that an earlier case gave back."""
    child = os.fork()
    if child == 0:
        sys.stdout.write(f"{json.dumps(measure())}\n")
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)


def _main(forms: frozenset[str]) -> None:
    """Measure requests of these forms; without any those of all, also with what is decoded."""
    engine = _engine()
    for action in ("GetRow", "PutRow", "Search", "tunnel/list", "ListDeliveryTask"):
        _ask(engine, action, REQUESTS[action](_TABLE))
    gc.freeze()  # or each process would copy what is only looked at
    for case in cases():
        counts = {case.fit} if case.form in forms else set()
        if not forms:
            counts = {case.fit, min(case.fit, FIELD_BOUNDS.get(case.field, case.fit))}
        for count in sorted(counts):
            _apart(partial(_measure, engine, case, count))


if __name__ == "__main__":
    _main(frozenset(sys.argv[1:]))
