"""What clients of tunnels are told when something goes wrong (change §C2.1).

One code is tried again by the vendor's clients, OTSTunnelServerUnavailable, so every failure that
passes is told by it. A tunnel's table that is not there is a parameter that is wrong.
"""

from typing import Final

from widerow.errors import Exhausted, NotFound, Rule
from widerow.wire.tablestore.error_rows import ErrorRow, invalid_row

__all__ = ["TUNNEL_ERRORS", "tunnel_foreign"]

_UNAVAILABLE: Final = "OTSTunnelServerUnavailable"

_OURS: Final = 500  # from this status on, the failure is the server's and passes


def _gone(template: str, when: str) -> ErrorRow:
    return "OTSResourceGone", 410, template, when, False


TUNNEL_ERRORS: Final[dict[Rule, ErrorRow]] = {
    Rule.TUNNEL_NAME: invalid_row(
        "Invalid tunnel name: '{name}'.", "a tunnel name of other characters, or too long"
    ),
    Rule.TUNNEL_KIND: invalid_row("Invalid tunnel type: {value}.", "a tunnel of no known type"),
    Rule.TUNNEL_START_FLAG: invalid_row(
        "Invalid start offset flag: {value}.", "a stream tunnel that begins at no known place"
    ),
    Rule.TUNNEL_RANGE: invalid_row(
        "The end offset must not be less than the start offset.",
        "a tunnel that ends before it begins",
    ),
    Rule.TUNNEL_START: invalid_row(
        "Invalid start offset: it must lie within the expiration time of the stream.",
        "a tunnel that begins in the future, or where changes are gone",
    ),
    Rule.TUNNEL_COUNT: invalid_row(
        "The number of tunnels exceeds the limit: {limit}.", "one tunnel of a table too many"
    ),
    Rule.TUNNEL_EXISTS: (
        "OTSTunnelExist",
        409,
        "Requested tunnel already exists.",
        "a name that is taken",
        False,
    ),
    Rule.TUNNEL_NOT_FOUND: invalid_row(
        "tunnel id not exist", "any action on a tunnel that does not exist", published=True
    ),
    Rule.TUNNEL_EXPIRED: (
        "OTSTunnelExpired",
        400,
        "The tunnel is expired.",
        "the rows took longer to consume than changes are kept",
        False,
    ),
    Rule.TUNNEL_TIMEOUT: invalid_row(
        "Invalid client timeout: {value}.", "a client that may be silent for too long or too short"
    ),
    Rule.TUNNEL_CLIENT_TAG: invalid_row(
        "Invalid client tag: it is longer than {limit} bytes.", "a long client tag"
    ),
    Rule.TUNNEL_CLIENTS: (
        _UNAVAILABLE,
        503,
        "Too many clients: {limit}.",
        "one client of a tunnel too many",
        False,
    ),
    Rule.TUNNEL_CLIENT_GONE: _gone(
        "Requested client does not exist.", "a heartbeat of a client that fell silent before"
    ),
    Rule.TUNNEL_CHANNEL_NOT_FOUND: invalid_row(
        "channel id not exist", "an action on a channel that does not exist"
    ),
    Rule.TUNNEL_CHANNEL_TAKEN: _gone(
        "The channel is consumed by another client.", "an action on another client's channel"
    ),
    Rule.TUNNEL_CHANNEL_STATUS: invalid_row(
        "Invalid channel status: {value}.", "a channel with a status of no known number"
    ),
    Rule.TUNNEL_TOKEN: invalid_row(
        "Invalid token.", "a token that no answer for the channel returned"
    ),
    Rule.TUNNEL_SEQUENCE: (
        "OTSSequenceNumberNotMatch",
        400,
        "The sequence number does not match.",
        "a checkpoint that does not follow the last one",
        False,
    ),
    Rule.STREAM_HAS_TUNNELS: invalid_row(
        "The stream of table {table} is used by tunnels.",
        "switching a stream off that a tunnel hands out",
    ),
}
"""The rules of tunnels, in the order of `Rule`."""


def tunnel_foreign(error: Exception, told: tuple[int, str, str]) -> tuple[int, str, str]:
    """Status, code and message of an error on a tunnel's path; `told`: what they are elsewhere."""
    status, _, message = told
    if isinstance(error, NotFound) and error.rule is Rule.TABLE_NOT_FOUND:
        return 400, "OTSParameterInvalid", message
    if status >= _OURS or isinstance(error, Exhausted):
        return 503, _UNAVAILABLE, message
    return told
