"""Any bytes as a record of the catalogue are a table that encodes to the same table, or damage."""

from typing import Final

from tests.support.engines import open_tablestore
from tools.recorded import NOW_MS, recorded

from widerow.engine.tablestore.table_record import decode_table, encode_table
from widerow.errors import StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_CATALOG
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore.operations.table import OPERATIONS

__all__ = ["SEEDS", "check"]


def _seeds() -> tuple[bytes, ...]:
    """The records of tables that clients made."""
    found = []
    for name, _, body in recorded("T"):
        if name == "CreateTable":
            with open_store("memory:") as store:
                engine = open_tablestore(store, FakeClock(NOW_MS), FakeEntropy())
                action = OPERATIONS[name]
                engine.core.run(action.call(engine, "i", action.decode(body)))
                pairs = store.snapshot().scan(SPACE_CATALOG, after_prefix(SPACE_CATALOG))
                found += [value for _, value in pairs if value.startswith(b"{")]
    return tuple(found)


SEEDS: Final = _seeds()


def check(data: bytes) -> None:
    """Decode, encode, decode."""
    try:
        table = decode_table(data)
    except StoreDamaged:
        return
    again = decode_table(encode_table(table))
    assert again == table, "it decodes to another table"
