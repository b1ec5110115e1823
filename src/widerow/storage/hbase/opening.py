"""Opening a store: what its URL says, and what is asked of HBase before it is used."""

import re
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import parse_qsl

from widerow.errors import StorageFailure, StoreBusy
from widerow.storage.hbase.driver import HBaseDriver
from widerow.storage.hbase.greeting import Address, Security, ServerLost
from widerow.storage.hbase.messages import CoprocessorServiceResponse
from widerow.storage.hbase.regions import (
    TABLE_NAMESPACE,
    MovePauses,
    Regions,
    Servers,
    storage_failure,
)
from widerow.storage.hbase.requests import mutate_rows
from widerow.storage.hbase.rows import DATA
from widerow.storage.hbase.rpc import RemoteFailure
from widerow.storage.hbase.sasl import GssContext
from widerow.storage.hbase.table import ENDPOINT, HBaseTable
from widerow.storage.hbase.tls import PeerFiles
from widerow.storage.remote.optimistic import OptimisticStore

__all__ = ["open_driver", "open_hbase"]

_URL: Final = re.compile(
    r"hbase://(?P<seeds>[^/@?#]+)/((?P<namespace>[A-Za-z0-9_]+):)?"
    r"(?P<table>[A-Za-z0-9_][A-Za-z0-9_.-]*)(\?(?P<options>[^#]*))?"
)
_SEED: Final = re.compile(r"(?P<host>[^\s:]+):(?P<port>[0-9]{1,5})")
_OPENING_SECONDS_MAX: Final = 15  # a new table's regions are opened in about two
_OPTIONS: Final = ("tls", "ca", "cert", "key", "kerberos", "principal", "keytab")
# Options that say something of another one, without which they would be ignored.
_BESIDE: Final = {
    "ca": "tls",
    "cert": "tls",
    "key": "cert",
    "principal": "kerberos",
    "keytab": "kerberos",
}
_NO_GSSAPI: Final = (
    "Kerberos takes the package gssapi, which is not installed, or not with its library: "
    "pip install gssapi"
)


class _Asked(NamedTuple):
    """What a URL says. `table`: without its namespace."""

    seeds: list[Address]
    namespace: str
    table: str
    security: Security


def open_hbase(url: str) -> OptimisticStore:
    """The store in the table that `url` names, which is made if it is not there.

    `hbase://host:port[,host:port]/[namespace:]table`: any masters or region servers of the cluster.
    The namespace must be there. Behind a `?`: `tls=on`, with `ca`, `cert` and `key`, paths of PEM
    files; `kerberos=` what the names of the servers' principals begin with, with `principal` and
    `keytab`, who asks and the path of his keys.

    Raises: `ValueError` for another URL, `StoreBusy` where the cluster cannot be reached, or has no
    master and not the table either; `StorageFailure` where the table is not safe or cannot be used
    for another reason. Without a master that is looked up later (`table.py`, `Store.put_off`).
    """
    driver = open_driver(url)
    store = OptimisticStore(driver)
    store.put_off = driver.put_off
    return store


def open_driver(url: str) -> HBaseDriver:
    """The driver of the table that `url` names. Raises as `open_hbase` does."""
    asked = _read(url)
    servers = Servers(asked.seeds, asked.security)
    regions = Regions(servers, asked.table, asked.namespace)
    made = HBaseTable(regions)
    try:
        put_off = made.check()
        _try_commit(regions)
    except (ServerLost, RemoteFailure) as error:
        servers.close()
        raise storage_failure(error) from error
    except BaseException:
        servers.close()
        raise
    return HBaseDriver(regions, made, put_off)


def _read(url: str) -> _Asked:
    """What a URL says. Raises `ValueError`."""
    found = _URL.fullmatch(url)
    seeds = [_SEED.fullmatch(seed) for seed in found["seeds"].split(",")] if found else []
    if found is None or not all(seeds):
        raise ValueError(
            f"{url!r} is not hbase://HOST:PORT[,HOST:PORT]/[NAMESPACE:]TABLE[?OPTION=VALUE]"
        )
    named = [Address(seed["host"], int(seed["port"])) for seed in seeds if seed]
    namespace = found["namespace"] or TABLE_NAMESPACE
    return _Asked(named, namespace, found["table"], _security(found["options"] or ""))


def _security(options: str) -> Security:
    """What protects connections, as a URL's options say. Raises `ValueError`."""
    pairs = parse_qsl(options, keep_blank_values=True, strict_parsing=True) if options else []
    given = dict(pairs)
    if len(given) < len(pairs) or not given.keys() <= set(_OPTIONS) or not all(given.values()):
        known = ", ".join(_OPTIONS)
        raise ValueError(f"{options!r}: each of {known} may be given once, with a value")
    for option, other in _BESIDE.items():
        if option in given and other not in given:
            raise ValueError(f"{option} means nothing without {other}")
    if given.get("tls", "on") != "on":
        raise ValueError("tls is on, or left out")
    return Security(
        _tls(given) if "tls" in given else None,
        _kerberos(given) if "kerberos" in given else None,
    )


def _tls(given: dict[str, str]) -> PeerFiles:
    """The files of TLS. Raises `ValueError` where they cannot be used."""
    files = PeerFiles(given.get("ca", ""), given.get("cert", ""), given.get("key", ""))
    try:
        files.context()
    except OSError as error:
        named = ", ".join(filter(None, files))
        raise ValueError(f"TLS cannot be had with {named}: {error}") from error
    return files


def _kerberos(given: dict[str, str]) -> Callable[[str], GssContext]:
    """Who asks. Raises `ValueError` where the library is not installed."""
    try:
        from widerow.storage.hbase.kerberos import Kerberos  # noqa: PLC0415  # an extra
    except (ImportError, OSError) as error:  # the binding, or the library that it binds
        raise ValueError(f"{_NO_GSSAPI} ({error})") from error
    return Kerberos(given["kerberos"], given.get("principal", ""), given.get("keytab", ""))


def _try_commit(regions: Regions) -> None:
    """Raise unless the table's regions are online and take a commit that changes nothing.

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
                    + ENDPOINT.decode()
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
