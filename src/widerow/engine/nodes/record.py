"""What a node tells the others of itself (docs/formats/catalog.md, "Nodes")."""

import json
from typing import Any, Final, NamedTuple

from widerow.engine.lease import LeaseTerm
from widerow.engine.nodes.work import NodeWork, decode_work, encode_work
from widerow.engine.partitions.throttle import Taken
from widerow.engine.stored_json import decode_json

__all__ = ["NodeRecord", "decode_node", "encode_node"]

_FORMAT: Final = 1


class NodeRecord(NamedTuple):
    """A node at one of its beats.

    `id`: of the process, never used twice. `name`: for people. `beat`: counts up from 1. `now_us`:
    what its clock said. `epoch`: that of the catalogue that it goes by, or a later one. `keeper`:
    whether it looks after the store. `taken`: of reserved throughput, at most `NODE_TAKEN_MAX`.

    What servers of earlier versions do not tell: `worker`, the number of a worker among those of
    its server, 0: it is none; `term`, since when it looks after the store; `work`, how busy it is;
    `behind`, of a keeper the tables whose indexes are far behind, at most `NODE_BEHIND_MAX`.
    """

    id: bytes
    name: str
    version: str
    started_us: int
    beat: int
    now_us: int
    epoch: int
    keeper: bool = False
    requests: int = 0
    taken: tuple[Taken, ...] = ()
    worker: int = 0
    term: LeaseTerm | None = None
    work: NodeWork | None = None
    behind: tuple[int, ...] = ()

    @property
    def server(self) -> str:
        """The name of the server: without the number of a worker."""
        return self.name.removesuffix(f"/{self.worker}") if self.worker else self.name


def encode_node(node: NodeRecord) -> bytes:
    """The record of a node; its `id` stands in the key."""
    fields: dict[str, Any] = {"format": _FORMAT, **node._asdict()}
    del fields["id"]
    fields["taken"] = [
        [each.table_id, each.start.hex(), each.writes, round(each.units, 3)] for each in node.taken
    ]
    fields["work"] = None if node.work is None else encode_work(node.work)
    return json.dumps(fields).encode()


def decode_node(node_id: bytes, record: bytes) -> NodeRecord:
    """The node of a record. Raises `StoreDamaged`."""

    def read(fields: dict[str, Any]) -> NodeRecord:
        taken = tuple(
            Taken(int(table_id), bytes.fromhex(start), bool(writes), float(units))
            for table_id, start, writes, units in fields.pop("taken")
        )
        return NodeRecord(
            node_id,
            str(fields.pop("name")),
            str(fields.pop("version")),
            int(fields.pop("started_us")),
            int(fields.pop("beat")),
            int(fields.pop("now_us")),
            int(fields.pop("epoch")),
            bool(fields.pop("keeper")),
            int(fields.pop("requests")),
            taken,
            int(fields.pop("worker", 0)),
            None if (term := fields.pop("term", None)) is None else LeaseTerm(*map(int, term)),
            None if (work := fields.pop("work", None)) is None else decode_work(work),
            tuple(map(int, fields.pop("behind", ()))),
        )

    return decode_json(record, "the record of a node", read, form=_FORMAT)
