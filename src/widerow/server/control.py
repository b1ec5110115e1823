"""A socket in the data directory, through which a running server makes backups.

A Unix socket in the store's directory, for the owner of the process alone. Who may connect may read
the data anyway: it lies in the same directory. Nothing comes in over a network, and no path does:

    client                      server
    backup LF                   makes a checkpoint in the store's directory (hard links: no room)
                                {"checkpoint": "backup-0123456789abcdef"} LF, or {"error": "..."} LF
    copies its files
    closes the connection       removes the checkpoint

However the client ends, its checkpoint ends with its connection; what a server leaves behind that
was killed, the next one removes. One backup at a time.
"""

import asyncio
import json
import logging
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from widerow.clock import Entropy
from widerow.errors import WiderowError

__all__ = ["ASK", "Control", "connect", "new_checkpoint", "remove_checkpoints"]

_log = logging.getLogger("widerow.server")

ASK: Final = b"backup\n"
_SOCKET: Final = "control.sock"
_CHECKPOINT: Final = re.compile(r"backup-[0-9a-f]{16}")
_ASK_SECONDS_MAX: Final = 10.0  # from connecting to asking
_PATH_BYTES_MAX: Final = 100  # of a socket's address; systems allow 104 to 108


class Control:
    """The socket of one store. Everything happens on the loop that `start` ran on."""

    def __init__(
        self, directory: Path, checkpoint: Callable[[Path], None], entropy: Entropy
    ) -> None:
        """Does not listen yet. `checkpoint` copies the store; it is called on a thread."""
        self._directory = directory
        self._checkpoint = checkpoint
        self._entropy = entropy
        self._server: asyncio.Server | None = None
        self._busy = False
        self._clients: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen. Where that is impossible, log it and go on without."""
        remove_checkpoints(self._directory)
        try:
            listening = _listen(self._directory)
        except OSError as error:
            facts = {"reason": error.strerror or str(error)}
            _log.warning("backups only while stopped: no control socket", extra={"facts": facts})
            return
        self._server = await asyncio.start_unix_server(self._serve, sock=listening)

    async def stop(self) -> None:
        """End every connection and remove the socket. Idempotent."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        for client in list(self._clients):
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        with suppress(OSError):
            (self._directory / _SOCKET).unlink(missing_ok=True)
        remove_checkpoints(self._directory)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            asked = await asyncio.wait_for(reader.readexactly(len(ASK)), _ASK_SECONDS_MAX)
            if asked != ASK:
                await _say(writer, error="unknown request")
            elif self._busy:
                await _say(writer, error="another backup is being made; wait for its end")
            else:
                await self._lend(reader, writer)
        except (OSError, EOFError, TimeoutError, asyncio.CancelledError):
            pass  # the client left, or the server stops
        finally:
            self._clients.discard(task)
            writer.close()

    async def _lend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Make a checkpoint and keep it for as long as the client stays."""
        self._busy = True
        directory = new_checkpoint(self._directory, self._entropy)
        try:
            await asyncio.to_thread(self._checkpoint, directory)
        except (WiderowError, OSError) as error:
            await _say(writer, error=str(error))
        else:
            _log.info("backup begins", extra={"facts": {"checkpoint": directory.name}})
            await _say(writer, checkpoint=directory.name)
            await reader.read(1)
            _log.info("backup ends", extra={"facts": {"checkpoint": directory.name}})
        finally:
            self._busy = False
            shutil.rmtree(directory, ignore_errors=True)


def new_checkpoint(store: Path, entropy: Entropy) -> Path:
    """A path for a new checkpoint, in the directory and on the file system of the store."""
    return store / f"backup-{entropy.token_bytes(8).hex()}"


def remove_checkpoints(store: Path) -> None:
    """Remove the checkpoints of unfinished backups. Only for the holder of the store's lock.

    What cannot be read or removed stays for the next time.
    """
    with suppress(OSError):
        for entry in store.iterdir():
            if _CHECKPOINT.fullmatch(entry.name) and entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)


def connect(store: Path) -> socket.socket | None:
    """A connection to the server that has this store open; None if none has.

    Raises: `OSError` where there is one that this user may not talk to.
    """
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _address(store) as address:
            client.connect(address)
    except (FileNotFoundError, ConnectionRefusedError):
        client.close()
        return None
    except BaseException:
        client.close()
        raise
    return client


def _listen(store: Path) -> socket.socket:
    """A listening socket. An existing file is that of a killed server: this one has the lock."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        (store / _SOCKET).unlink(missing_ok=True)
        with _address(store) as address:
            listening.bind(address)
        (store / _SOCKET).chmod(0o600)  # before it listens, so that no other user gets in
        listening.settimeout(0)
    except BaseException:
        listening.close()
        raise
    return listening


@contextmanager
def _address(store: Path) -> Iterator[str]:
    """The socket's address, shortened where the system allows."""
    path = str(store / _SOCKET)
    if len(os.fsencode(path)) <= _PATH_BYTES_MAX:
        yield path
        return
    descriptor = os.open(store, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{_SOCKET}"
    finally:
        os.close(descriptor)


async def _say(writer: asyncio.StreamWriter, **words: str) -> None:
    writer.write(json.dumps(words).encode() + b"\n")
    await writer.drain()
