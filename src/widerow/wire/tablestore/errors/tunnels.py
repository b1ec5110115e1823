"""What clients of tunnels are told when something goes wrong (change §C2.1).

One code is tried again by the vendor's clients, OTSTunnelServerUnavailable, so every failure that
passes is told by it. A tunnel's table that is not there is a parameter that is wrong.
"""

from typing import Final

from widerow.errors import AnyRule, Exhausted, NotFound, Rule
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tunnels import TunnelRule
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.errors.row import Foreign

__all__ = ["TUNNEL_ERRORS", "tunnel_foreign"]

_FROM_US: Final = 500  # from this status on, the failure is the server's and passes

TUNNEL_ERRORS: Final[dict[AnyRule, Foreign]] = {
    TunnelRule.TUNNEL_NAME: c.INVALID.ours(
        "Invalid tunnel name: '{name}'.", "a tunnel name of other characters, or too long"
    ),
    TunnelRule.TUNNEL_KIND: c.INVALID.ours(
        "Invalid tunnel type: {value}.", "a tunnel of no known type"
    ),
    TunnelRule.TUNNEL_START_FLAG: c.INVALID.ours(
        "Invalid start offset flag: {value}.", "a stream tunnel that begins at no known place"
    ),
    TunnelRule.TUNNEL_RANGE: c.INVALID.ours(
        "The end offset must not be less than the start offset.",
        "a tunnel that ends before it begins",
    ),
    TunnelRule.TUNNEL_START: c.INVALID.ours(
        "Invalid start offset: it must lie within the expiration time of the stream.",
        "a tunnel that begins in the future, or where changes are gone",
    ),
    TunnelRule.TUNNEL_COUNT: c.INVALID.ours(
        "The number of tunnels exceeds the limit: {limit}.", "one tunnel of a table too many"
    ),
    TunnelRule.TUNNEL_EXISTS: c.TUNNEL_EXIST.ours(
        "Requested tunnel already exists.", "a name that is taken"
    ),
    TunnelRule.TUNNEL_NOT_FOUND: c.INVALID(
        "tunnel id not exist", "any action on a tunnel that does not exist"
    ),
    TunnelRule.TUNNEL_EXPIRED: c.TUNNEL_EXPIRED.ours(
        "The tunnel is expired.", "the rows took longer to consume than changes are kept"
    ),
    TunnelRule.TUNNEL_TIMEOUT: c.INVALID.ours(
        "Invalid client timeout: {value}.", "a client that may be silent for too long or too short"
    ),
    TunnelRule.TUNNEL_CLIENT_TAG: c.INVALID.ours(
        "Invalid client tag: it is longer than {limit} bytes.", "a long client tag"
    ),
    TunnelRule.TUNNEL_CLIENTS: c.TUNNEL_SERVER_UNAVAILABLE.ours(
        "Too many clients: {limit}.", "one client of a tunnel too many"
    ),
    TunnelRule.TUNNEL_CLIENT_GONE: c.RESOURCE_GONE.ours(
        "Requested client does not exist.", "a heartbeat of a client that fell silent before"
    ),
    TunnelRule.TUNNEL_CHANNEL_NOT_FOUND: c.INVALID.ours(
        "channel id not exist", "an action on a channel that does not exist"
    ),
    TunnelRule.TUNNEL_CHANNEL_TAKEN: c.RESOURCE_GONE.ours(
        "The channel is consumed by another client.", "an action on another client's channel"
    ),
    TunnelRule.TUNNEL_CHANNEL_STATUS: c.INVALID.ours(
        "Invalid channel status: {value}.", "a channel with a status of no known number"
    ),
    TunnelRule.TUNNEL_TOKEN: c.INVALID.ours(
        "Invalid token.", "a token that no answer for the channel returned"
    ),
    TunnelRule.TUNNEL_SEQUENCE: c.SEQUENCE_NUMBER_NOT_MATCH.ours(
        "The sequence number does not match.", "a checkpoint that does not follow the last one"
    ),
    TablestoreRule.STREAM_HAS_TUNNELS: c.INVALID.ours(
        "The stream of table {table} is used by tunnels.",
        "switching a stream off that a tunnel hands out",
    ),
}


def tunnel_foreign(error: Exception, told: tuple[int, str, str]) -> tuple[int, str, str]:
    """Status, code and message of an error on a tunnel's path; `told`: what they are elsewhere."""
    status, _, message = told
    if isinstance(error, NotFound) and error.rule is Rule.TABLE_NOT_FOUND:
        return c.INVALID.status, str(c.INVALID), message
    if status >= _FROM_US or isinstance(error, Exhausted):
        return c.TUNNEL_SERVER_UNAVAILABLE.status, str(c.TUNNEL_SERVER_UNAVAILABLE), message
    return told
