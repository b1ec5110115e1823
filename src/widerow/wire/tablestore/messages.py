"""The dialect's protobuf messages, as classes by their names (`messages.pyi` lists them).

`table_store.proto` and `ots_filter.proto` are the source; `tools/gen_messages.py` compiles them to
`messages.binpb` and to the type information. A compiled descriptor set, and no generated module,
because a module made by a new compiler refuses an older protobuf runtime, and the clients that
share an environment with widerow pin old ones. The pool is private: another package in the process
may register messages of the same names.
"""

from pathlib import Path
from typing import Final

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_DESCRIPTORS: Final = Path(__file__).with_name("messages.binpb")


def _load() -> dict[str, type]:
    """Every message of the descriptor set, by its short name."""
    pool = DescriptorPool()
    classes: dict[str, type] = {}
    for file in FileDescriptorSet.FromString(_DESCRIPTORS.read_bytes()).file:
        pool.AddSerializedFile(file.SerializeToString())
        for name, descriptor in pool.FindFileByName(file.name).message_types_by_name.items():
            classes[name] = GetMessageClass(descriptor)
    return classes


globals().update(_load())
