"""Any bytes as a part of a backup are records whose keys have their shard's name, or refused."""

import zlib
from io import BytesIO
from typing import Final

from widerow.backups.parts import PartWriter, read_part
from widerow.engine.shard_ranges import ShardRecord
from widerow.storage.backup import BackupFailed

__all__ = ["SEEDS", "check"]


def _seeds() -> tuple[bytes, ...]:
    file = BytesIO()
    writer = PartWriter(file)
    for shard, rest in ((b"a", b""), (b"a", b"1"), (b"bc", b"22"), (b"", b"name")):
        writer.add(ShardRecord(shard, b"\x10" + shard + rest, b"value"))
    writer.finish("part")
    whole = file.getvalue()
    return (whole, zlib.decompress(whole[4:]), b"\x00\x00\x00\x00", b"\xff\xff\xff\xffx", whole * 2)


SEEDS: Final = _seeds()


def check(data: bytes) -> None:
    """As a file, and as the records of a frame."""
    packed = zlib.compress(data)
    for file in (data, len(packed).to_bytes(4, "big") + packed):
        try:
            for shard, records in read_part(BytesIO(file), "part"):
                assert all(key.startswith(shard, 1) and value is not None for key, value in records)
        except BackupFailed:
            continue
