"""Kerberos by way of the system's library, which the package `gssapi` binds.

Imported where the store's URL asks for it. Tickets are got and renewed by the library: of a key
table that the URL names, or of what the process finds (a cache of tickets, `KRB5_CLIENT_KTNAME`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

import gssapi

from widerow.storage.hbase.sasl import GssContext

__all__ = ["Kerberos"]


@contextmanager
def _failing() -> Iterator[None]:
    """Turn a failure of the library into a `PermissionError`."""
    try:
        yield
    except gssapi.exceptions.GSSError as error:
        raise PermissionError(f"Kerberos: {error}") from error


@dataclass(frozen=True, slots=True)
class Kerberos:
    """Who asks: `principal` with the keys of `keytab`; both empty: what the process finds.

    `service`: what the names of the servers' principals begin with, as in `hbase/HOST@REALM`.
    """

    service: str
    principal: str = ""
    keytab: str = ""

    def __call__(self, host: str) -> GssContext:
        """Begin to prove it to the server on `host`. Raises `PermissionError`."""
        with _failing():
            name = gssapi.Name(f"{self.service}@{host}", gssapi.NameType.hostbased_service)
            return _Context(
                gssapi.SecurityContext(
                    name=name,
                    creds=self._credentials(),
                    mech=gssapi.MechType.kerberos,
                    flags=_FLAGS,
                    usage="initiate",
                )
            )

    def _credentials(self) -> "gssapi.Credentials | None":
        if not self.keytab and not self.principal:
            return None
        name = None
        if self.principal:
            name = gssapi.Name(self.principal, gssapi.NameType.kerberos_principal)
        # tickets are kept in memory, for all connections of this process
        tickets = f"MEMORY:widerow:{self.principal}:{self.keytab}"
        store = {"client_keytab": self.keytab, "ccache": tickets} if self.keytab else None
        return gssapi.Credentials(name=name, usage="initiate", store=store)


_FLAGS = [
    gssapi.RequirementFlag.mutual_authentication,
    gssapi.RequirementFlag.integrity,
    gssapi.RequirementFlag.confidentiality,
    gssapi.RequirementFlag.replay_detection,
    gssapi.RequirementFlag.out_of_sequence_detection,
]


@final
class _Context:
    """A context of the library as `GssContext`."""

    def __init__(self, context: gssapi.SecurityContext) -> None:
        self._context = context

    @property
    def complete(self) -> bool:
        """Whether both sides know each other."""
        return bool(self._context.complete)

    def step(self, token: bytes | None) -> bytes | None:
        """Take the server's token; the next one."""
        with _failing():
            following = self._context.step(token)
        return None if following is None else bytes(following)

    def wrap(self, plain: bytes, *, private: bool) -> bytes:
        """Wrapped for the server."""
        with _failing():
            return bytes(self._context.wrap(plain, private).message)

    def unwrap(self, sealed: bytes) -> bytes:
        """What the server has wrapped."""
        with _failing():
            return bytes(self._context.unwrap(sealed).message)
