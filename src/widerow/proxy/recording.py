"""Recordings: what was asked and answered, in files that are only ever appended to.

A recording is a directory of parts, `part-00000001.jsonl` and so on. A part is lines of JSON: the
first says what it is, each other one is an exchange with a checksum (docs/formats/recording.md). An
exchange is one write of one line, so a kill costs at most the line that was being written, which
has no end and is left out when it is read. Parts have a bounded size and a bounded number; the
oldest goes when there are more.

No secret is written: no signature, no key id, no token of a key, no header of HTTP. What rows hold
is written as it was sent, so only the owner may read the files.
"""

import errno
import fcntl
import json
import os
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Self
from zlib import crc32

from widerow.client.http import HttpAnswer
from widerow.client.signing import PERSONAL_HEADERS
from widerow.errors import WiderowError
from widerow.limits import RECORDING_LINE_BYTES_MAX, RECORDING_PART_BYTES, RECORDING_PARTS
from widerow.proxy.exchange import Exchange, ProxiedRequest
from widerow.storage.directory import sync_directory

__all__ = [
    "RecordedExchange",
    "RecordingInvalid",
    "RecordingWriter",
    "decode_exchange",
    "encode_exchange",
    "read_exchanges",
    "recording_bytes",
]

_FORMAT: Final = 1
_GLOB: Final = "part-????????.jsonl"
_OWNER_ONLY: Final = 0o600
_ANSWER_HEADERS: Final = frozenset(
    ("x-ots-requestid", "x-ots-response-compress-type", "x-ots-response-compress-size")
)


class RecordingInvalid(WiderowError):
    """A recording cannot be read or written; the message says where and why."""


class RecordedExchange(NamedTuple):
    """One exchange of a recording; `behind`: bytes of the recording up to its end."""

    exchange: Exchange
    behind: int


class RecordingWriter:
    """Appends to a recording. `written` exchanges so far; `dropped` files that made room."""

    def __init__(
        self,
        directory: Path,
        upstream: str,
        *,
        part_bytes: int = RECORDING_PART_BYTES,
        parts: int = RECORDING_PARTS,
    ) -> None:
        """Begin a new part in `directory`, which is made if it is not there.

        Raises: `RecordingInvalid` where another process records into it, or nothing can be written.
        """
        self.written = 0
        self.dropped = 0
        self._directory = directory
        self._about = {"widerow_recording": _FORMAT, "upstream": upstream}
        self._part_bytes = part_bytes
        self._parts = parts
        self._bytes = 0
        self._file = -1
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(directory, os.O_RDONLY)
        except OSError as error:
            raise RecordingInvalid(f"cannot record into {directory}: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._begin_part()
        except OSError as error:
            os.close(self._lock)
            why = "another process records into it"
            why = why if isinstance(error, BlockingIOError) else error.strerror or str(error)
            raise RecordingInvalid(f"cannot record into {directory}: {why}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, exchange: Exchange) -> None:
        """Append an exchange: one write to the system. Raises: `RecordingInvalid`."""
        line = encode_exchange(exchange)
        try:
            if self._bytes + len(line) > self._part_bytes and self._bytes:
                self._begin_part()
            self._write(line)
        except OSError as error:
            raise RecordingInvalid(
                f"cannot record into {self._directory}: {error.strerror}"
            ) from error
        self._bytes += len(line)
        self.written += 1

    def close(self) -> None:
        """Sync the last part and let go of the directory. Idempotent."""
        if self._file >= 0:
            os.fsync(self._file)
            os.close(self._file)
            os.close(self._lock)
            self._file = -1

    def _write(self, line: bytes) -> None:
        """Write a line whole; of one that the disk has no room for, nothing stays."""
        end = os.lseek(self._file, 0, os.SEEK_CUR)
        try:
            whole = os.write(self._file, line) == len(line)
        except OSError:
            self._forget_from(end)
            raise
        if not whole:
            self._forget_from(end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _forget_from(self, end: int) -> None:
        os.ftruncate(self._file, end)
        os.lseek(self._file, end, os.SEEK_SET)

    def _begin_part(self) -> None:
        there = sorted(self._directory.glob(_GLOB))
        number = int(there[-1].name[5:13]) + 1 if there else 1
        file = os.open(
            self._directory / f"part-{number:08}.jsonl",
            os.O_WRONLY | os.O_CREAT | os.O_EXCL,
            _OWNER_ONLY,
        )
        if self._file >= 0:
            os.fsync(self._file)
            os.close(self._file)
        self._file = file
        self._write(json.dumps(self._about).encode() + b"\n")
        self._bytes = 0
        for old in there[: max(0, len(there) + 1 - self._parts)]:
            old.unlink(missing_ok=True)
            self.dropped += 1
        sync_directory(self._directory)


def encode_exchange(exchange: Exchange) -> bytes:
    """The line of an exchange, with its line feed."""
    request, answer = exchange.request, exchange.answer
    document = {
        "at_us": exchange.at_us,
        "took_us": exchange.took_us,
        "action": request.action,
        "instance": request.instance,
        "headers": {
            name: value
            for name, value in request.headers.items()
            if name.startswith("x-ots-")
            and name not in PERSONAL_HEADERS
            and name != "x-ots-instancename"
            and (name + value).isprintable()
        },
        "request": b64encode(request.body).decode(),
        "status": answer.status,
        "answer_headers": {
            name: value for name, value in answer.headers.items() if name in _ANSWER_HEADERS
        },
        "answer": b64encode(answer.body).decode(),
    }
    text = json.dumps(document, separators=(",", ":"))
    return f'{text[:-1]},"crc":{crc32(text.encode())}}}\n'.encode()


def decode_exchange(line: bytes) -> Exchange:
    """The exchange of a line without its line feed.

    Raises: `ValueError` where it is not what `encode_exchange` has written.
    """
    text, mark, crc = line.rpartition(b',"crc":')
    if not mark or not crc.endswith(b"}") or not crc[:-1].isdigit():
        raise ValueError("it has no checksum")
    text += b"}"
    if crc32(text) != int(crc[:-1]):
        raise ValueError("its checksum is wrong")
    try:
        return _exchange(json.loads(text))
    except (KeyError, TypeError, AttributeError, Base64Error, RecursionError) as error:
        raise ValueError(f"a part of it is missing: {error}") from error


def _exchange(document: Mapping[str, Any]) -> Exchange:
    action, instance = document["action"], document["instance"]
    headers, answer_headers = dict(document["headers"]), dict(document["answer_headers"])
    texts = (action, instance, *headers, *headers.values(), *answer_headers.values())
    if not all(isinstance(each, str) and each.isprintable() for each in texts):
        raise ValueError("a text of it cannot be sent")
    if "/" in action.removeprefix("tunnel/") or " " in action:
        raise ValueError("its action is none")
    times = document["at_us"], document["took_us"], document["status"]
    if not all(type(each) is int for each in times):
        raise ValueError("a number of it is none")
    return Exchange(
        ProxiedRequest(
            action,
            instance,
            {**headers, "x-ots-instancename": instance},
            b64decode(document["request"], validate=True),
        ),
        HttpAnswer(times[2], answer_headers, b64decode(document["answer"], validate=True)),
        times[0],
        times[1],
    )


def recording_bytes(place: Path) -> int:
    """How large a recording is, as `RecordedExchange.behind` counts."""
    return sum(each.stat().st_size for each in _files(place))


def read_exchanges(place: Path) -> Iterator[RecordedExchange]:
    """The exchanges of a recording, or of one of its parts, in the order they were answered.

    A last line without an end is left out. Raises: `RecordingInvalid` for a recording that is none,
    and for a damaged line, which it names. One line at a time is in memory.
    """
    behind = 0
    for file in _files(place):
        with file.open("rb") as opened:
            for number, line in enumerate(_lines(file, opened), 1):
                behind += len(line)
                if not line.endswith(b"\n"):
                    break  # it was being written
                if number == 1:
                    _check_first(file, line)
                    continue
                try:
                    exchange = decode_exchange(line[:-1])
                except ValueError as error:
                    raise RecordingInvalid(f"{file} line {number} is damaged: {error}") from error
                yield RecordedExchange(exchange, behind)


def _lines(file: Path, opened: Any) -> Iterator[bytes]:  # noqa: ANN401  # a binary file
    while line := opened.readline(RECORDING_LINE_BYTES_MAX + 1):
        if len(line) > RECORDING_LINE_BYTES_MAX:
            raise RecordingInvalid(
                f"{file} has a line of more than {RECORDING_LINE_BYTES_MAX} bytes"
            )
        yield line


def _files(place: Path) -> list[Path]:
    files = sorted(place.glob(_GLOB)) if place.is_dir() else [place]
    if not files or not files[0].is_file():
        raise RecordingInvalid(f"{place} is not a recording; widerow proxy --mode record makes one")
    return files


def _check_first(file: Path, line: bytes) -> None:
    try:
        about = json.loads(line)
        known = about["widerow_recording"]
    except (ValueError, KeyError, TypeError) as error:
        raise RecordingInvalid(f"{file} is not a part of a recording") from error
    if known != _FORMAT:
        raise RecordingInvalid(f"{file} has format {known}; this version reads {_FORMAT}")
