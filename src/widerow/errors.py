"""The tree of exceptions, and the rules of the core that a request can break.

    WiderowError
    ├── InvalidRequest     the caller asked for something no state of the store would allow
    ├── NotPermitted       the caller is not who they say, or may not do this
    ├── NotFound           what was named does not exist
    ├── Conflict           the request met a state it said it did not want
    ├── Exhausted          a quota, a limit of rate, or our own capacity
    ├── Unsupported        the request is well formed and widerow does not offer it
    ├── Injected           a test asked for this error (dev mode only)
    └── StorageFailure     the disk or the store failed us; nothing more is promised
        ├── StorePoisoned      a sync or commit failed: no writes until the store is opened again
        ├── OutcomeUnknown     it is not known whether a write happened; the store goes on
        ├── StoreFull          no room: writes are refused, reads go on
        ├── StoreBusy          the store asks to be left alone for a moment
        ├── StoreLocked        another process holds the directory
        └── StoreDamaged       bytes on disk contradict their checksum or their format
            └── IndexDamaged   those of a search index, which can be built again from its table

Every error of the first six kinds names the rule that was broken and carries the facts a message is
made from. Nothing here knows a foreign error code: a wire dialect maps each rule to code and text
(`wire/tablestore/errors`). `Rule` has the rules that hold for every table model; each model
has rules of its own beside them (`model/tablestore/rules.py`, `model/typed/rules.py`).
"""

from collections.abc import Mapping
from enum import Enum

__all__ = [
    "AnyRule",
    "Conflict",
    "Detail",
    "Exhausted",
    "IndexDamaged",
    "Injected",
    "InvalidRequest",
    "NotFound",
    "NotPermitted",
    "NotYet",
    "OutcomeUnknown",
    "Replan",
    "Rule",
    "StorageFailure",
    "StoreAwaited",
    "StoreBusy",
    "StoreDamaged",
    "StoreFull",
    "StoreHangs",
    "StoreLocked",
    "StorePoisoned",
    "TooLong",
    "Unsupported",
    "ViewLost",
    "WiderowError",
]

Detail = str | int


class AnyRule(Enum):
    """A rule that a request can break. Each table model has an enumeration of its rules."""

    def told(self, details: Mapping[str, Detail]) -> str:
        """The text of the rule with these facts, for logs and command lines."""
        facts = ", ".join(f"{name}={value!r}" for name, value in details.items())
        return f"{self.name.lower()} ({facts}): {self.value}"


class Rule(AnyRule):
    """A rule of a request to any table model. The value says what to do, and is sent as a hint."""

    # Local transactions (semantics §7)
    KEY_LOCKED = (
        "A local transaction holds this partition key value: write with its id, or try again when "
        "it has ended, in 60 seconds at the latest."
    )

    # Bytes on the wire (wire §1.2, §1.7, §2)
    BODY_TOO_LARGE = "Split the request: a body holds at most 5 MB."
    BODY_TIMEOUT = "Send the body faster, or in smaller requests."
    HTTP_METHOD = "Send POST requests; GET serves /livez /readyz /metrics /version."
    HTTP_MALFORMED = "The request is not HTTP/1.1 as clients write it."
    HTTP_HEADERS_TOO_LARGE = "Send at most 64 headers and 32 KB of them."

    # Identity (wire §1.2–1.4)
    HEADER_DUPLICATE = "Send every x-ots-* header once."
    ACCESS_KEY_UNKNOWN = "Use a key pair the server was started with (--credentials)."
    SIGNATURE_MISMATCH = "Check the access key secret; a proxy must not change x-ots-* headers."
    INSTANCE_NAME = "Instance names are 1 to 255 of A-Z a-z 0-9 _ and hyphen."
    INSTANCE_UNKNOWN = "Add the instance to the server's list, or use one that is on it."
    INSTANCE_FORBIDDEN = "This access key is limited to other instances."
    PERMISSION_MISSING = "Use an access key whose permissions include what the action needs."
    API_KEY = (
        "Check the key and its expiry, the instance, and that the server takes API keys: over TLS "
        "only, and those of its credentials file."
    )
    HOST_FOREIGN = (
        "Use 127.0.0.1, [::1] or localhost: with the default access key a server on a loopback "
        "address answers to no other name, which a web page could have made. With --credentials "
        "it answers to all."
    )

    # State
    TABLE_NOT_FOUND = "Create the table, or check instance and table name (case matters)."
    NOT_ENOUGH_CAPACITY = (
        "The partition used its part of the table's reserved throughput: spread the keys, reserve "
        "more, or try again in a second. (The server was started with --enforce-throughput.)"
    )

    STORED_KEY_LENGTH = (
        "Shorten the values of the primary key, of indexed columns, or the names of columns: "
        "databases bound the length of a key (docs/operating/cluster.md)."
    )

    # Our own capacity
    SERVER_BUSY = "Try again in a moment; the server has as much in hand as it allows itself."
    CLIENT_GONE = (
        "Keep the connection open in both directions until the answer comes, and try again: the "
        "server was busy, and the client seemed to be gone."
    )
    SERVER_STOPPING = "The server is shutting down; try again when it is back."


class WiderowError(Exception):
    """Base of everything widerow raises on purpose."""


class _RuleBroken(WiderowError):
    """A rule was broken; `details` are the facts a message is made from."""

    __slots__ = ("details", "rule")

    def __init__(self, rule: AnyRule, **details: Detail) -> None:
        self.rule = rule
        self.details = details
        super().__init__(rule, details)

    def __str__(self) -> str:
        return self.rule.told(self.details)


class InvalidRequest(_RuleBroken):
    """The caller asked for something no state of the store would allow."""


class NotPermitted(_RuleBroken):
    """The caller is not who they say, or may not do this."""


class NotFound(_RuleBroken):
    """What was named does not exist."""


class Conflict(_RuleBroken):
    """The request met a state it said it did not want."""


class Exhausted(_RuleBroken):
    """A quota, a limit of rate, or our own capacity."""


class Unsupported(_RuleBroken):
    """The request is well formed and widerow does not offer it."""


class Injected(WiderowError):
    """An error that a test asked for (dev mode), with the answer for the client.

    `status`, `code` and `message` are those of the dialect that the request was sent in; `fault` is
    the number of the fault that asked for it.
    """

    def __init__(self, status: int, code: str, message: str, fault: int) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.fault = fault


class TooLong(WiderowError):
    """A read that was given a budget needs more: it is run again elsewhere. No client sees it."""


class NotYet(WiderowError):
    """What a request asks for is on its way: it is asked again in a moment. No client sees it.

    `answer`: what is answered once nobody waits any more: a result, an exception, or a plan that is
    committed. `seconds`: how long the client is ready to wait.
    """

    def __init__(self, answer: object, seconds: float) -> None:
        super().__init__("what is asked for is on its way")
        self.answer = answer
        self.seconds = seconds


class Replan(WiderowError):
    """The catalogue has changed since a write was planned: plan it again. Caught in the engine."""

    def __init__(self) -> None:
        super().__init__("the catalogue changed after the write was planned; plan it again")


class StorageFailure(WiderowError):
    """The disk or the store failed us; the message says how."""


class StorePoisoned(StorageFailure):
    """A sync or commit failed. No writes are taken until the store is opened again."""


class OutcomeUnknown(StorageFailure):
    """It is not known whether the write was made. The store goes on taking writes.

    Read the data before repeating the write (DURABILITY.md).
    """


class StoreFull(StorageFailure):
    """No room on the disk. Writes are refused, reads go on, writes resume when room returns."""


class StoreBusy(StorageFailure):
    """The engine underneath asks for a pause (write stall). Nothing was changed."""


class StoreAwaited(StoreBusy):
    """What it takes to open the store is not there yet, and may come: whoever can wait tries again.

    Other failures to open a store are those of its URL, or of a machine that is not reached.
    """


class StoreHangs(StoreBusy):
    """A part of the store keeps its connections and does not answer: requests fail at once."""


class ViewLost(StoreBusy):
    """The view cannot show more of its moment: read again on a new view."""


class StoreLocked(StorageFailure):
    """Another process holds the directory."""


class StoreDamaged(StorageFailure):
    """Bytes on disk contradict their checksum or their format."""


class IndexDamaged(StoreDamaged):
    """Bytes of a search index's files have changed: the index has to be built again.

    Every read of an index that was opened from files may raise it.
    """
