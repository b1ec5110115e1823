"""The table of a store: made where it is not there, and looked at whether it is safe.

Only a master tells how a table is set up, and makes one. A server that is started while none is
active uses a table that is there all the same, as those do that run already: every change asks for
`FSYNC_WAL` itself. Whether the table is safe is then looked up as soon as a master answers.
"""

import threading
from time import sleep
from typing import Final, final

from widerow.errors import StorageFailure, StoreAwaited, StoreBusy
from widerow.storage.hbase.greeting import ServerLost
from widerow.storage.hbase.messages import (
    BytesBytesPair,
    ColumnFamilySchema,
    CreateTableRequest,
    CreateTableResponse,
    GetProcedureResultRequest,
    GetProcedureResultResponse,
    GetTableDescriptorsRequest,
    GetTableDescriptorsResponse,
    TableName,
    TableSchema,
)
from widerow.storage.hbase.placement import RUNNING
from widerow.storage.hbase.regions import Regions, storage_failure
from widerow.storage.hbase.rows import DATA, FAMILY
from widerow.storage.hbase.rpc import RemoteFailure, RpcConnection

__all__ = ["ENDPOINT", "SAFE_ATTRIBUTES", "HBaseTable"]

_PROCEDURE_PAUSE_SECONDS: Final = 0.05
_LATE_SECONDS: Final = 1.0  # between two questions to a master that is not there
ENDPOINT: Final = b"|org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint|1001|"
_POLICY: Final = b"org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy"
_FAMILY_ATTRIBUTES: Final = {b"VERSIONS": b"1", b"BLOOMFILTER": b"ROW"}
# HBase splits no region by itself, because it does not know where a shard ends. A policy that
# forbids all splits would forbid those at a row that is named, too.
SAFE_ATTRIBUTES: Final = {
    b"DURABILITY": b"FSYNC_WAL",
    b"MAX_FILESIZE": b"%d" % 2**60,
    b"SPLIT_POLICY": _POLICY,
    b"coprocessor$1": ENDPOINT,
}
# What a table must have that somebody else has made or changed, and what is wrong without it.
_DEMANDED: Final = {
    b"DURABILITY": "answers before it has synced its log, so a loss of power would take back what "
    "was acknowledged",
    b"MAX_FILESIZE": "splits its regions by itself, at rows where a partition key value does not "
    "end",
}


@final
class HBaseTable:
    """How a table is set up, as far as its master has told. Any thread.

    `refusal`: why nothing may be written; empty: nothing is wrong, as far as is known.
    """

    def __init__(self, regions: Regions) -> None:
        self.refusal = ""
        self._regions = regions

    def check(self) -> str:
        """Make the table if it is missing, and see that it is safe.

        Answers what is not known yet.

        It is made where it is not there. Raises: `StorageFailure` where it is not safe, `StoreBusy`
        where there is no master, and no table either; `ServerLost`, `RemoteFailure`.
        """
        try:
            self._ask()
        except (ServerLost, RemoteFailure, StoreBusy) as error:
            failure = error if isinstance(error, StoreBusy) else storage_failure(error)
            if not isinstance(failure, StoreBusy):
                raise
            if not self._is_there():
                raise self._unmade(failure) from error
            name = "hbase-table-check"
            threading.Thread(target=self._ask_later, name=name, daemon=True).start()
            return (
                "whether the table is safe is not known before HBase has a master: "
                f"regions are neither split, merged nor moved until then ({failure})"
            )
        return ""

    def _unmade(self, failure: StoreBusy) -> StoreBusy:
        """What a table is refused with that region servers do not show, while no master answers.

        Where servers of the cluster answer, a master may follow, also where they still name one
        that has ended; where none does, the URL may be wrong.
        """
        try:
            self._regions.servers.master_address()
        except ServerLost:
            return failure
        except (RemoteFailure, StoreBusy):
            pass
        return StoreAwaited(
            f"HBase has no master that could make the table {self._regions.table.decode()}, and no "
            f"region server shows it: start a master ({failure})"
        )

    def _is_there(self) -> bool:
        """Whether region servers have the table. Asks no master, and makes no table."""
        try:
            self._regions.of(DATA)
        except (ServerLost, RemoteFailure, StoreBusy):
            return False
        return True

    def _ask_later(self) -> None:
        """Ask once a second until a master answers, or the store is closed."""
        while self._regions.servers.wait(_LATE_SECONDS):
            try:
                self._ask()
            except (ServerLost, RemoteFailure, StoreBusy):
                continue
            except StorageFailure as error:
                self.refusal = str(error)
            return

    def _ask(self) -> None:
        """Make the table if it is missing. Raises `StorageFailure` where it is not safe."""
        table = self._regions.table
        master = self._regions.servers.master()
        name = self._regions.table_name
        asked = GetTableDescriptorsRequest(table_names=[name])
        known = master.call("GetTableDescriptors", asked, GetTableDescriptorsResponse).table_schema
        if not known:
            _create(master, name)
            known = master.call(
                "GetTableDescriptors", asked, GetTableDescriptorsResponse
            ).table_schema
        attributes = {each.first: each.second for each in known[0].attributes}
        for attribute, wrong in _DEMANDED.items():
            if attributes.get(attribute) != SAFE_ATTRIBUTES[attribute]:
                told, demanded = attribute.decode(), SAFE_ATTRIBUTES[attribute].decode()
                raise StorageFailure(
                    f"the table {table.decode()} {wrong}: set its {told} to {demanded}, or name a "
                    "table that is not there yet"
                )


def _create(master: RpcConnection, name: TableName) -> None:
    family = ColumnFamilySchema(name=FAMILY, attributes=_pairs(_FAMILY_ATTRIBUTES))
    schema = TableSchema(
        table_name=name, attributes=_pairs(SAFE_ATTRIBUTES), column_families=[family]
    )
    request = CreateTableRequest(table_schema=schema, split_keys=[DATA])
    try:
        made = master.call("CreateTable", request, CreateTableResponse)
    except RemoteFailure as error:
        if error.kind == "NamespaceNotFoundException":
            namespace = name.namespace.decode()
            raise StorageFailure(
                f"HBase has no namespace {namespace}: make it (create_namespace '{namespace}' in "
                "the HBase shell), or name a table without one"
            ) from error
        if error.kind != "TableExistsException":  # another process makes it at this moment
            raise
        return
    asked = GetProcedureResultRequest(proc_id=made.proc_id)
    while True:
        result = master.call("getProcedureResult", asked, GetProcedureResultResponse)
        if result.state != RUNNING:
            break
        sleep(_PROCEDURE_PAUSE_SECONDS)


def _pairs(attributes: dict[bytes, bytes]) -> list[BytesBytesPair]:
    return [BytesBytesPair(first=name, second=value) for name, value in attributes.items()]
