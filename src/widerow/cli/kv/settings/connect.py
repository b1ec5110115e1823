"""`connect`: use another store (cli §6)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag, missing
from widerow.cli.kv.faults import ArgumentFault, CommandFault
from widerow.cli.kv.session import Session
from widerow.cli.kv.target import NO_SERVER

__all__ = ["CONNECT"]

_SERVER_FLAGS: Final = ("-host", "-port", "-name")


def _check(_: Session, given: Arguments) -> None:
    if given.words and given.words[0].lower() != "store":
        raise ArgumentFault(given.words[0])
    if not given.pairs:
        raise missing("-path", "connect")


def _connect(session: Session, given: Arguments) -> str:
    if any(given.has(flag) for flag in _SERVER_FLAGS):
        raise CommandFault(NO_SERVER)
    path = given.need("-path")
    store = session.reopen(path)
    session.store.close()
    session.store = store
    session.namespace = ""
    return f"Connected to the store in {path}."


CONNECT: Final = Command(
    name="connect",
    shortest=4,
    description=(
        "Uses the store in another directory. Tables that were built here are kept.\n"
        "Stores behind a server (-host, -port, -name) cannot be reached yet; the answer says so."
    ),
    run=_connect,
    flags=(Flag("-path", "directory"), *(Flag(name, "value") for name in _SERVER_FLAGS)),
    takes=(0, 1),
    words="[store]",
    check=_check,
)
