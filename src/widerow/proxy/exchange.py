"""A request and its answer, as values."""

from collections.abc import Mapping
from typing import Final, NamedTuple

__all__ = ["AUTH_FAILED", "OK", "Exchange", "ProxiedAnswer", "ProxiedRequest"]

OK: Final = 200
AUTH_FAILED: Final = "OTSAuthFailed"
"""The code of an error that says: it is not known who sends this (wire §1.3)."""


class ProxiedRequest(NamedTuple):
    """What a client asks: `headers` by lower-case names, without those of HTTP itself."""

    action: str
    instance: str
    headers: Mapping[str, str]
    body: bytes


class ProxiedAnswer(NamedTuple):
    """What a server answers; `body` as it was sent, perhaps compressed (wire §1.8)."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Exchange(NamedTuple):
    """A request and its answer.

    `at_us`: when the request came, in microseconds since 1970; `took_us`: until it was answered.
    """

    request: ProxiedRequest
    answer: ProxiedAnswer
    at_us: int
    took_us: int
