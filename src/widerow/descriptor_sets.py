"""Makes message classes from compiled descriptor sets, each set in a pool of its own."""

from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

__all__ = ["load_messages"]


def load_messages(descriptors: Path) -> dict[str, type]:
    """Every message of a descriptor set, by its short name."""
    pool = DescriptorPool()
    classes: dict[str, type] = {}
    for file in FileDescriptorSet.FromString(descriptors.read_bytes()).file:
        pool.AddSerializedFile(file.SerializeToString())
        for name, descriptor in pool.FindFileByName(file.name).message_types_by_name.items():
            classes[name] = GetMessageClass(descriptor)
    return classes
