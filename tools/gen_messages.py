"""Compile the .proto files of protocols: descriptor sets and type information, all checked in.

    python -m tools.gen_messages

Run it after a change of a .proto file. `tests/unit/wire/tablestore/test_messages.py` fails while
the checked-in results are not those of the sources.
"""

import builtins
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorSet,
)
from grpc_tools import protoc  # type: ignore[import-untyped]  # ships no type information

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ROOT / "src" / "widerow"
SOURCES: Final = {
    "wire/tablestore/messages": ("ots_filter.proto", "table_store.proto"),
    "wire/tablestore/delivery_messages": ("delivery.proto",),
    "wire/tablestore/search_messages": ("search.proto",),
    "wire/tablestore/sql_messages": ("sql.proto",),
    "wire/tablestore/timeseries_messages": ("timeseries.proto",),
    "wire/tablestore/tunnel_messages": ("tunnel.proto",),
    "storage/hbase/messages": ("hbase.proto",),
}
"""The sets by the places of their modules, and the files beside these that each is made of."""

_SCALARS: Final = {
    FieldDescriptorProto.TYPE_BOOL: "bool",
    FieldDescriptorProto.TYPE_BYTES: "bytes",
    FieldDescriptorProto.TYPE_DOUBLE: "float",
    FieldDescriptorProto.TYPE_ENUM: "int",
    FieldDescriptorProto.TYPE_FLOAT: "float",
    FieldDescriptorProto.TYPE_INT32: "int",
    FieldDescriptorProto.TYPE_INT64: "int",
    FieldDescriptorProto.TYPE_SINT64: "int",
    FieldDescriptorProto.TYPE_STRING: "str",
    FieldDescriptorProto.TYPE_UINT32: "int",
    FieldDescriptorProto.TYPE_UINT64: "int",
}
_STUB_HEAD: Final = """\
# Made by tools/gen_messages.py from the .proto files beside it; do not edit.
# ruff: noqa: A002  # arguments are named as the fields are

from collections.abc import Iterable

from google.protobuf.internal.containers import (
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
)
from google.protobuf.message import Message
"""

_LINE_MAX: Final = 100  # as the formatter has it (pyproject.toml)
_MIXED_CASE: Final = "# ruff: noqa: N802, N803, N815  # fields have the protocol's names\n"


def compile_descriptors(name: str) -> FileDescriptorSet:
    """The set of that name, of the .proto files as they are now. Raises `RuntimeError`."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "messages.binpb"
        package = (PACKAGES / name).parent
        arguments = ["protoc", f"-I{package}", f"--descriptor_set_out={out}", *SOURCES[name]]
        if protoc.main(arguments) != 0:
            raise RuntimeError("protoc refused the .proto files; it says why above")
        return FileDescriptorSet.FromString(out.read_bytes())


def stub(descriptors: FileDescriptorSet) -> str:
    """The text of the type information of a set."""
    messages = [message for file in descriptors.file for message in file.message_type]
    return "\n".join([_head(messages), *("\n".join(_message_lines(m)) for m in messages)])


def _head(messages: list[DescriptorProto]) -> str:
    """Without what linters find unused: an import, and leave to name arguments as built-ins."""
    fields = [field for message in messages for field in message.field]
    lines = _STUB_HEAD.splitlines(keepends=True)
    if not any(hasattr(builtins, field.name) for field in fields):
        lines = [line for line in lines if "noqa" not in line]
    if any(field.name not in (field.name.lower(), field.name.upper()) for field in fields):
        lines.insert(1, _MIXED_CASE)
    repeated = [f for f in fields if f.label == FieldDescriptorProto.LABEL_REPEATED]
    if all(field.type == FieldDescriptorProto.TYPE_MESSAGE for field in repeated):
        lines = [line for line in lines if "RepeatedScalar" not in line]
    return "".join(lines)


def _message_lines(message: DescriptorProto) -> Iterator[str]:
    yield f"class {message.name}(Message):"
    for nested in message.nested_type:
        yield from (f"    {line}" if line else line for line in _message_lines(nested))
    if not message.field:
        yield "    def __init__(self) -> None: ..."
        yield ""
        return
    for field in message.field:
        yield from _field_lines(field)
    yield "    def __init__("
    yield "        self,"
    yield "        *,"
    for field in message.field:
        yield f"        {field.name}: {_argument_type(field)} | None = ...,"
    yield "    ) -> None: ..."
    yield ""


def _field_lines(field: FieldDescriptorProto) -> Iterator[str]:
    kind = _element_type(field)
    is_message = field.type == FieldDescriptorProto.TYPE_MESSAGE
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        container = "Composite" if is_message else "Scalar"
        kind = f"Repeated{container}FieldContainer[{kind}]"
    elif not is_message:
        # The runtime hands out the bare bytes of a proto2 string that is not UTF-8 (`bodies.text`).
        yield f"    {field.name}: {'str | bytes' if kind == 'str' else kind}"
        return
    yield "    @property"
    line = f"    def {field.name}(self) -> {kind}: ..."
    if len(line) <= _LINE_MAX:
        yield line
        return
    yield f"    def {field.name}("
    yield "        self,"
    yield f"    ) -> {kind}: ..."


def _argument_type(field: FieldDescriptorProto) -> str:
    kind = _element_type(field)
    repeated = field.label == FieldDescriptorProto.LABEL_REPEATED
    return f"Iterable[{kind}]" if repeated else kind


def _element_type(field: FieldDescriptorProto) -> str:
    if field.type == FieldDescriptorProto.TYPE_MESSAGE:
        return field.type_name.rpartition(".")[2]
    return _SCALARS[field.type]


def main() -> None:
    """Write the .binpb and the .pyi of each set."""
    for name in SOURCES:
        descriptors = compile_descriptors(name)
        data = descriptors.SerializeToString(deterministic=True)
        (PACKAGES / f"{name}.binpb").write_bytes(data)
        (PACKAGES / f"{name}.pyi").write_text(stub(descriptors), encoding="utf-8")


if __name__ == "__main__":
    main()
