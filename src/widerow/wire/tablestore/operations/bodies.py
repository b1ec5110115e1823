"""From the bytes of a request to its protobuf message, refusing what is none (wire §1.7)."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.bounds import Crowded, Unreadable, check_repeats

__all__ = ["decoder", "initialized", "parsed", "text", "texts"]

M = TypeVar("M", bound=Message)
R = TypeVar("R")


def decoder(message: type[M]) -> Callable[[Callable[[M], R]], Callable[[bytes], R]]:
    """Make a function of a message one of a request's body.

    The result raises `InvalidRequest(BODY_UNREADABLE)` where the body is not such a message, lacks
    a required field or goes on behind its end. Fields that nobody knows are skipped.
    """

    def wrap(read: Callable[[M], R]) -> Callable[[bytes], R]:
        def decode(body: bytes) -> R:
            return read(parsed(message, body))

        return decode

    return wrap


def parsed(message: type[M], body: bytes) -> M:
    """The message of this type that `body` is.

    Raises `InvalidRequest`: REQUEST_ELEMENTS where it repeats a field too often; BODY_UNREADABLE
    where it is no such message, or lacks a required field.
    """
    try:
        check_repeats(message.DESCRIPTOR, body)
        return initialized(message.FromString(body))
    except Crowded as error:
        field = error.name or "any kind"
        raise InvalidRequest(
            TablestoreRule.REQUEST_ELEMENTS, field=field, limit=error.limit
        ) from error
    except (DecodeError, Unreadable) as unreadable:
        raise InvalidRequest(TablestoreRule.BODY_UNREADABLE) from unreadable


def initialized(sent: M) -> M:
    """The message. Raises `InvalidRequest(BODY_UNREADABLE)` where it lacks a required field."""
    if not sent.IsInitialized():
        raise InvalidRequest(TablestoreRule.BODY_UNREADABLE)
    return sent


def text(value: object) -> str:
    """The text of a string field; `value` is typed as it comes.

    The protobuf runtime hands out the bare bytes of a proto2 string that is not UTF-8. Raises
    `InvalidRequest(BODY_UNREADABLE)` for these.
    """
    if isinstance(value, str):
        return value
    raise InvalidRequest(TablestoreRule.BODY_UNREADABLE)


def texts(values: Iterable[object]) -> tuple[str, ...]:
    """The texts of a repeated string field, as `text`."""
    return tuple([text(value) for value in values])
