"""Opening a store: what its URL says, and what is asked of HBase before it is used."""

import re
from time import sleep
from typing import Final

from widerow.errors import StorageFailure, StoreBusy
from widerow.storage.hbase.driver import HBaseDriver
from widerow.storage.hbase.messages import (
    BytesBytesPair,
    ColumnFamilySchema,
    CoprocessorServiceResponse,
    CreateTableRequest,
    CreateTableResponse,
    GetActiveMasterRequest,
    GetActiveMasterResponse,
    GetProcedureResultRequest,
    GetProcedureResultResponse,
    GetTableDescriptorsRequest,
    GetTableDescriptorsResponse,
    TableName,
    TableSchema,
)
from widerow.storage.hbase.regions import MovePauses, Regions, Servers, storage_failure
from widerow.storage.hbase.requests import mutate_rows
from widerow.storage.hbase.rows import DATA, FAMILY
from widerow.storage.hbase.rpc import Address, RemoteFailure, RpcConnection, ServerLost
from widerow.storage.remote.optimistic import OptimisticStore

__all__ = ["open_driver", "open_hbase"]

_URL: Final = re.compile(r"hbase://(?P<seeds>[^/@?#]+)/(?P<table>[A-Za-z0-9_][A-Za-z0-9_.-]*)")
_SEED: Final = re.compile(r"(?P<host>[^\s:]+):(?P<port>\d{1,5})")
_NAMESPACE: Final = b"default"
_MASTER: Final = "MasterService"
_RUNNING: Final = 1  # a state of a procedure
_PROCEDURE_PAUSE_SECONDS: Final = 0.05
_OPENING_SECONDS_MAX: Final = 15  # a new table's regions are opened in about two
_ENDPOINT: Final = b"|org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint|1001|"
_POLICY: Final = b"org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy"
_FAMILY_ATTRIBUTES: Final = {b"VERSIONS": b"1", b"BLOOMFILTER": b"ROW"}
# HBase splits no region by itself, because it does not know where a shard ends. A policy that
# forbids all splits would forbid those at a row that is named, too.
_ATTRIBUTES: Final = {
    b"DURABILITY": b"FSYNC_WAL",
    b"MAX_FILESIZE": b"%d" % 2**60,
    b"SPLIT_POLICY": _POLICY,
    b"coprocessor$1": _ENDPOINT,
}
# What a table must have that somebody else has made or changed, and what is wrong without it.
_DEMANDED: Final = {
    b"DURABILITY": "answers before it has synced its log, so a loss of power would take back what "
    "was acknowledged",
    b"MAX_FILESIZE": "splits its regions by itself, at rows where a partition key value does not "
    "end",
}


def open_hbase(url: str) -> OptimisticStore:
    """The store in the table that `url` names, which is made if it is not there.

    `hbase://host:port[,host:port]/table`: any masters or region servers of the cluster.

    Raises: `ValueError` for another URL, `StoreBusy` where the cluster cannot be reached,
    `StorageFailure` where the table is not safe or cannot be used for another reason.
    """
    return OptimisticStore(open_driver(url))


def open_driver(url: str) -> HBaseDriver:
    """The driver of the table that `url` names. Raises as `open_hbase` does."""
    seeds, table = _read(url)
    servers = Servers(seeds)
    regions = Regions(servers, table)
    try:
        _make_table(servers, table)
        _try_commit(regions)
    except (ServerLost, RemoteFailure) as error:
        servers.close()
        raise storage_failure(error) from error
    except BaseException:
        servers.close()
        raise
    return HBaseDriver(regions)


def _read(url: str) -> tuple[list[Address], str]:
    found = _URL.fullmatch(url)
    seeds = [_SEED.fullmatch(seed) for seed in found["seeds"].split(",")] if found else []
    if found is None or not all(seeds):
        raise ValueError(f"{url!r} is not hbase://HOST:PORT[,HOST:PORT]/TABLE")
    return [Address(seed["host"], int(seed["port"])) for seed in seeds if seed], found["table"]


def _make_table(servers: Servers, table: str) -> None:
    """Make the table, or see that it is safe."""
    found = servers.ask_any("GetActiveMaster", GetActiveMasterRequest(), GetActiveMasterResponse)
    if not found.HasField("server_name"):
        raise StoreBusy("no master of HBase is active: start one, and this server again")
    address = Address(str(found.server_name.host_name), found.server_name.port)
    master = servers.connection(address, _MASTER)
    name = TableName(namespace=_NAMESPACE, qualifier=table.encode())
    asked = GetTableDescriptorsRequest(table_names=[name])
    known = master.call("GetTableDescriptors", asked, GetTableDescriptorsResponse).table_schema
    if not known:
        _create(master, name)
        known = master.call("GetTableDescriptors", asked, GetTableDescriptorsResponse).table_schema
    attributes = {each.first: each.second for each in known[0].attributes}
    for attribute, wrong in _DEMANDED.items():
        if attributes.get(attribute) != _ATTRIBUTES[attribute]:
            told, demanded = attribute.decode(), _ATTRIBUTES[attribute].decode()
            raise StorageFailure(
                f"the table {table} {wrong}: set its {told} to {demanded}, or name a table that is "
                "not there yet"
            )


def _create(master: RpcConnection, name: TableName) -> None:
    family = ColumnFamilySchema(name=FAMILY, attributes=_pairs(_FAMILY_ATTRIBUTES))
    schema = TableSchema(table_name=name, attributes=_pairs(_ATTRIBUTES), column_families=[family])
    request = CreateTableRequest(table_schema=schema, split_keys=[DATA])
    try:
        made = master.call("CreateTable", request, CreateTableResponse)
    except RemoteFailure as error:
        if error.kind != "TableExistsException":  # another process makes it at this moment
            raise
        return
    asked = GetProcedureResultRequest(proc_id=made.proc_id)
    while True:
        result = master.call("getProcedureResult", asked, GetProcedureResultResponse)
        if result.state != _RUNNING:
            break
        sleep(_PROCEDURE_PAUSE_SECONDS)


def _pairs(attributes: dict[bytes, bytes]) -> list[BytesBytesPair]:
    return [BytesBytesPair(first=name, second=value) for name, value in attributes.items()]


def _try_commit(regions: Regions) -> None:
    """See that the table's regions are there, and make commits: ask for one that changes nothing.

    Raises `StorageFailure` where they make none, `StoreBusy` where they are not there.
    """
    pauses = MovePauses(_OPENING_SECONDS_MAX)
    while True:
        try:
            region = regions.of(DATA)
            request = mutate_rows(region, {b"\x06": b"never"}, (), (), 0)
            connection = regions.servers.connection(region.address)
            connection.call("ExecService", request, CoprocessorServiceResponse)
        except RemoteFailure as error:
            failure = storage_failure(error)
            if error.kind == "UnknownProtocolException":
                raise StorageFailure(
                    "the table has no MultiRowMutationEndpoint: set its coprocessor$1 to "
                    + _ENDPOINT.decode()
                ) from error
        except ServerLost as error:
            failure = storage_failure(error)
        except StoreBusy as error:
            failure = error
        else:
            return
        regions.forget()
        if not isinstance(failure, StoreBusy) or not pauses.rest():
            raise failure
