"""A request and its answer, as values."""

from collections.abc import Mapping
from typing import NamedTuple

from widerow.client.http import HttpAnswer
from widerow.errors import WiderowError

__all__ = ["Exchange", "ProxiedRequest", "ProxyFailed"]


class ProxyFailed(WiderowError):
    """The proxy or a replay cannot work as asked; the message says why and what to do."""


class ProxiedRequest(NamedTuple):
    """What a client asks: `headers` by lower-case names, without those of HTTP itself."""

    action: str
    instance: str
    headers: Mapping[str, str]
    body: bytes


class Exchange(NamedTuple):
    """A request and its answer.

    `at_us`: when the request came, in microseconds since 1970; `took_us`: until it was answered.
    """

    request: ProxiedRequest
    answer: HttpAnswer
    at_us: int
    took_us: int
