"""From the bytes of a request to its protobuf message, refusing what is none (wire §1.7)."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from widerow.errors import InvalidRequest, Rule

__all__ = ["check_complete", "decoder", "least_bytes", "sized_decoder", "text", "texts"]

M = TypeVar("M", bound=Message)
R = TypeVar("R")


def decoder(message: type[M]) -> Callable[[Callable[[M], R]], Callable[[bytes], R]]:
    """Make a function of a message one of a request's body.

    The result raises `InvalidRequest(BODY_UNREADABLE)` where the body is not such a message, lacks
    a required field or goes on behind its end. Fields that nobody knows are skipped.
    """
    parse = message.FromString

    def wrap(read: Callable[[M], R]) -> Callable[[bytes], R]:
        def decode(body: bytes) -> R:
            return read(_parsed(parse, body))

        return decode

    return wrap


def sized_decoder(
    message: type[M], *, complete: bool = True
) -> Callable[[Callable[[M, int], R]], Callable[[bytes], R]]:
    """As `decoder`, of a function that is also told how many bytes the message takes.

    Not `complete`: required fields may be missing. The function sees to it, by `check_complete`
    where it cannot tell from what it reads.
    """
    parse = message.FromString

    def wrap(read: Callable[[M, int], R]) -> Callable[[bytes], R]:
        def decode(body: bytes) -> R:
            sent = _parsed(parse, body) if complete else _read(parse, body)
            return read(sent, len(body))

        return decode

    return wrap


def _read(parse: Callable[[bytes], M], body: bytes) -> M:
    try:
        return parse(body)
    except DecodeError as error:
        raise InvalidRequest(Rule.BODY_UNREADABLE) from error


def _parsed(parse: Callable[[bytes], M], body: bytes) -> M:
    sent = _read(parse, body)
    check_complete(sent)
    return sent


def check_complete(sent: Message) -> None:
    """Raises `InvalidRequest(BODY_UNREADABLE)` where a required field is missing."""
    if not sent.IsInitialized():
        raise InvalidRequest(Rule.BODY_UNREADABLE)


def least_bytes(name: str, data: bytes) -> int:
    """What a message's first two fields take where they are a name and `data`; or less.

    A message no longer than its fields in their shortest form has no other, known or unknown.
    """
    size = len(data)
    lengths = 2 if size < 0x80 else 3 if size < 0x4000 else 4
    return 2 + lengths + len(name) + size


def text(value: object) -> str:
    """The text of a string field; `value` is typed as it comes.

    The protobuf runtime hands out the bare bytes of a proto2 string that is not UTF-8. Raises
    `InvalidRequest(BODY_UNREADABLE)` for these.
    """
    if isinstance(value, str):
        return value
    raise InvalidRequest(Rule.BODY_UNREADABLE)


def texts(values: Iterable[object]) -> tuple[str, ...]:
    """The texts of a repeated string field, as `text`."""
    return tuple([text(value) for value in values])
