"""The dialect's messages are those of the public clients, and the compiled form is fresh."""

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from google.protobuf.message import DecodeError
from tools import gen_messages

from widerow.model.tablestore.condition import RowExpectation
from widerow.model.tablestore.filter import Comparator, LogicalOperator
from widerow.model.tablestore.row import Modification, ReturnType
from widerow.model.tablestore.selection import RangeDirection
from widerow.wire.tablestore import messages

PACKAGE = Path(messages.__file__).parent
PROTOS = Path(__file__).parents[4] / "docs" / "spec" / "tablestore-protos.md"
TUNNEL_SECTION = PROTOS.read_text(encoding="utf-8").split("\n## ")[7]


def _checked_in(name: str = "messages") -> FileDescriptorSet:
    return FileDescriptorSet.FromString((PACKAGE / f"{name}.binpb").read_bytes())


def _set_of(place: str) -> FileDescriptorSet:
    return FileDescriptorSet.FromString((gen_messages.PACKAGES / f"{place}.binpb").read_bytes())


@pytest.mark.parametrize("name", gen_messages.SOURCES)
def test_the_descriptor_set_is_that_of_the_sources(name: str) -> None:
    assert gen_messages.compile_descriptors(name) == _set_of(name)


@pytest.mark.parametrize("name", gen_messages.SOURCES)
def test_the_type_information_is_that_of_the_sources(name: str) -> None:
    stub = (gen_messages.PACKAGES / f"{name}.pyi").read_text(encoding="utf-8")
    assert gen_messages.stub(_set_of(name)) == stub


def test_messages_of_tunnels_are_those_of_the_page() -> None:
    """protos §6: number, label and name of each field, as the two clients that have them."""
    listed: dict[str, set[tuple[int, str, str]]] = {}
    message = ""
    for line in TUNNEL_SECTION.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) < 6 or cells[2] not in ("required", "optional", "repeated"):
            continue
        message = cells[0].strip("*") or message
        name = cells[4].rpartition("/")[2].strip()
        snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
        listed.setdefault(message, set()).add((int(cells[1]), cells[2], snake))
    labels = {1: "optional", 2: "required", 3: "repeated"}
    ours = {
        message.name: {(f.number, labels[f.label], f.name) for f in message.field}
        for file in _checked_in("tunnel_messages").file
        for message in file.message_type
        if message.field
    }
    unserved = {"Error", "TokenContent"} | {n for n in listed if n.endswith("lockChannelRequest")}
    unserved |= {name for name in listed if "LockChannel" in name}
    assert ours == {name: fields for name, fields in listed.items() if name not in unserved}


def test_messages_of_tunnels_are_loaded_when_they_are_asked_for() -> None:
    """A server that nobody asks for tunnels starts without them."""
    program = (
        "import sys; import widerow.wire.dialects; "
        "print('widerow.wire.tablestore.tunnel_messages' in sys.modules, "
        "'widerow.engine.tunnels.service' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)  # noqa: S603  # our own program
    assert said.stdout.split() == [b"False", b"False"]


def test_messages_stay_apart_from_those_of_other_packages() -> None:
    # The client registers messages of the same short names in the process's default pool.
    from tablestore.protobuf import (  # noqa: PLC0415  # only here, to have both in one process
        table_store_pb2,
    )

    theirs = table_store_pb2.GetRowRequest.DESCRIPTOR
    assert messages.GetRowRequest.DESCRIPTOR is not theirs
    assert messages.GetRowRequest.DESCRIPTOR.file.pool is not theirs.file.pool


# --- agreement with a public client ----------------------------------------------------------


def _ours() -> dict[str, DescriptorProto]:
    return {message.name: message for file in _checked_in().file for message in file.message_type}


def _client() -> dict[str, DescriptorProto]:
    from tablestore.protobuf import (  # noqa: PLC0415  # a client, wanted by these tests alone
        search_pb2,
        table_store_filter_pb2,
        table_store_pb2,
        timeseries_pb2,
    )

    found = {}
    for module in (search_pb2, timeseries_pb2, table_store_filter_pb2, table_store_pb2):
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        found.update({message.name: message for message in file.message_type})
    return found


REQUIRED = FieldDescriptorProto.LABEL_REQUIRED
UNLIKE_THE_CLIENT = {
    "RowInBatchWriteRowRequest.condition",  # another client leaves it out (protos §9)
}
REQUIRED_ELSEWHERE = {
    "DescribeTableResponse.table_status",  # two other clients cannot do without (protos §0)
}
UNKNOWN_TO_THE_CLIENT = {  # two other clients have them (protos §1)
    "AddDefinedColumnRequest",
    "AddDefinedColumnResponse",
    "BulkExportRequest",
    "BulkExportResponse",
    "BulkImportRequest",
    "BulkImportResponse",
    "CapacityDataSize",
    "DeleteDefinedColumnRequest",
    "DeleteDefinedColumnResponse",
    "RowInBulkImportRequest",
    "RowInBulkImportResponse",
}
RENAMED = {"StreamDetails": {"column_to_get": "columns_to_get"}}


def _shape(field: FieldDescriptorProto) -> tuple[int, int, str]:
    """Number, type and type of message; an enum and an int32 are the same bytes."""
    kind, name = field.type, field.type_name.rpartition(".")[2]
    if kind == FieldDescriptorProto.TYPE_ENUM:
        kind, name = FieldDescriptorProto.TYPE_INT32, ""
    return field.number, kind, name


def test_fields_have_the_numbers_types_and_labels_of_the_client() -> None:
    # protos §2, §3: no client contradicts another, so one of them stands for all
    for name in _ours().keys() - UNKNOWN_TO_THE_CLIENT:
        mine = {field.name: field for field in _ours()[name].field}
        for field in _client()[name].field:
            whole = f"{name}.{field.name}"
            own = mine.pop(RENAMED.get(name, {}).get(field.name, field.name))
            assert _shape(own) == _shape(field), whole
            assert own.label == field.label or whole in UNLIKE_THE_CLIENT, whole
        required = {f"{name}.{each.name}" for each in mine.values() if each.label == REQUIRED}
        assert required - REQUIRED_ELSEWHERE == set()


@pytest.mark.parametrize(
    ("enum", "numbers"),
    [
        ("RowExistenceExpectation", {e.name: e.value for e in RowExpectation}),
        ("OperationType", {m.name: m.value for m in Modification}),
        ("Direction", {d.name: d.value for d in RangeDirection}),
        ("LogicalOperator", {f"LO_{o.name}": o.value for o in LogicalOperator}),
        ("ComparatorType", {f"CT_{c.name}": c.value for c in Comparator}),
        ("ReturnType", {"RT_NONE": 0, "RT_PK": 1, "RT_AFTER_MODIFY": 2}),
    ],
)
def test_the_model_uses_the_numbers_of_the_wire(enum: str, numbers: dict[str, int]) -> None:
    declared = {
        found.name: {value.name: value.number for value in found.value}
        for file in _checked_in().file
        for found in file.enum_type
    }
    assert declared[enum] == numbers
    assert {t.value for t in ReturnType} == {0, 1, 2}


# --- what parsing does -----------------------------------------------------------------------


def test_numbers_outside_an_enum_arrive() -> None:
    # As an enum the field would be dropped by a proto2 parser and the request answered without it.
    sent = messages.Condition.FromString(b"\x08\x07")
    assert sent.row_existence == 7


def test_unknown_fields_are_skipped() -> None:
    # protos §0 rule 2
    sent = messages.DescribeTableRequest.FromString(b"\x0a\x01T\xfa\x7f\x03abc")
    assert sent.table_name == "T"


@pytest.mark.parametrize("tail", [b"\x0a", b"\x00", b"\xff", b"\x0a\x05ab", b"\x0f\x01"])
def test_garbage_is_refused(tail: bytes) -> None:
    with pytest.raises(DecodeError):
        messages.DescribeTableRequest.FromString(b"\x0a\x01T" + tail)


def test_the_module_imports_no_generated_code() -> None:
    assert not [name for name in sys.modules if name.startswith("widerow") and "_pb2" in name]
