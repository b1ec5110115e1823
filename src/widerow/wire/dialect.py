"""A dialect: what a server has to know of a protocol to speak it, as a value.

The server knows HTTP, threads, permissions and counts; how requests of one protocol are told from
another's, opened, decoded, answered and refused stands in its dialect. `dialects.py` lists those
that are served. A dialect is pure: bytes in, bytes out, and the engine in between.

Compiled, because an operation and what is known of a sender are read for every request.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, final

from widerow.auth.keyring import AccessKey, ApiKey, Keyring, Permission
from widerow.auth.policy import InstancePolicy
from widerow.engine.between import Between
from widerow.engine.budget import Budget
from widerow.engine.engine import Engine

__all__ = [
    "Dialect",
    "FaultParts",
    "HeaderNames",
    "Opened",
    "Opener",
    "Refusal",
    "WireOperation",
]


class WireOperation(NamedTuple):
    """One operation. `writes`: `call` answers a `Plan` that has to be committed; others may do so.

    What `decode` returns is what `call` takes, and what `call` (or its plan) returns is what
    `encode` takes; the types differ from operation to operation. `consumed` tells the read and
    write units of the same result; None for operations that consume none. `lengthy` tells by its
    body whether a request takes a millisecond or more, so that it should not hold up others.
    `call_within` is `call` with a budget, for reads that only turn out to be long while they are
    made: it raises `TooLong` then. None where `call` is short, or `lengthy` knows. Both may raise
    `NotYet`, and are called again in a moment.
    `foreseen`: what `call` reads is known from the request, or nothing, in nearly every case.
    `is_large` tells of what `call` returned whether its answer is so large that no turn of the loop
    should hold many such; None where it never is, or `lengthy` knows.
    `call_between` is `call` for what runs long and may end early: it calls what it is given between
    its steps. Such requests stand in a line of their own. None for all others.
    `permission_of` tells of a request's body which permission it needs; None where `permission`
    says it for all.
    `path` is handed to the dialect's `open_request` and `envelope`, for which a target may have
    several spellings; nobody else reads it.
    """

    name: str
    permission: Permission
    writes: bool
    decode: Callable[[bytes], Any]
    call: Callable[[Any, str, Any], Any]
    encode: Callable[[Any], bytes]
    consumed: Callable[[Any], tuple[int, int]] | None = None
    lengthy: Callable[[bytes], bool] | None = None
    path: str = "/"
    call_within: Callable[[Any, str, Any, Budget], Any] | None = None
    foreseen: bool = False
    is_large: Callable[[Any], bool] | None = None
    permission_of: Callable[[bytes], Permission] | None = None
    call_between: Callable[[Any, str, Any, Between], Any] | None = None

    def permission_for(self, body: bytes) -> Permission:
        """What a request with this body needs. Raises as `permission_of`."""
        return self.permission if self.permission_of is None else self.permission_of(body)


@final
class Opened:
    """What is known of a request that is what it says: whose it is, and of which instance.

    `reply`: what the dialect needs again for the envelope of the answer; nobody else reads it.
    """

    __slots__ = ("instance", "key", "reply")

    def __init__(self, key: AccessKey | ApiKey, instance: str, reply: object = None) -> None:
        """A request of these parts, all of them checked."""
        self.key = key
        self.instance = instance
        self.reply = reply


class Opener(Protocol):
    """How a dialect opens a request."""

    def __call__(
        self,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        keyring: Keyring,
        instances: InstancePolicy,
        now_us: int,
        names: tuple[str, ...] | None = None,
        /,
    ) -> tuple[Opened, bytes]:
        """Check the sender; whose the request is, and its body as `decode` takes it.

        `path` is the operation's. `headers` has lower-case names, those of the dialect's `headers`
        and perhaps more; `names` are theirs in the order sent, if the caller has them. `now_us`:
        microseconds since 1970. Raises errors of `widerow.errors`. On any thread.
        """
        ...


class Refusal(NamedTuple):
    """How a dialect says no: `code` for the metrics, `lines` are complete header lines."""

    status: int
    code: str
    body: bytes
    lines: bytes


class HeaderNames(NamedTuple):
    """Names of headers in lower case: some, and all that begin in a certain way."""

    names: frozenset[str]
    prefixes: tuple[str, ...]

    def has(self, name: str) -> bool:
        """Whether a name is among them."""
        return name in self.names or name.startswith(self.prefixes)


class FaultParts(NamedTuple):
    """What injecting faults has to know of a dialect (`server/dev`); no other request needs it.

    `codes`: the documented error codes, each with its HTTP status and its text. `batches`: the
    operations whose rows have errors of their own. `tables(operations, instance, asked)` are the
    names of the tables that what `decode` made of a request names, or that a transaction, a tunnel
    or a stream in it is of. For the batches `rows` is the table of each row, `without(asked,
    marked)` is the request without the marked rows, None where none is left, and `filled(asked,
    marked, result, error)` is the result of the whole request, made of that of the rest or of all,
    with `error` for each marked row.
    """

    codes: Mapping[str, tuple[int, str]]
    batches: frozenset[str]
    tables: Callable[[Any, str, Any], frozenset[str]]
    rows: Callable[[Any], tuple[str, ...]]
    without: Callable[[Any, Sequence[bool]], Any]
    filled: Callable[[Any, Sequence[bool], Any, Exception], Any]


@final
@dataclass(frozen=True)
class Dialect:
    """A protocol. Functions raise only where that is said.

    `open` gives the operations of the table model that the dialect is about, which its calls are
    made on. `name` is for people, `label` begins the names of its operations in the metrics ("" for
    one dialect at most). `operations` are those of the protocol that are served, `own` further ones
    for our commands, `refused` names the protocol's others and what they belong to.

    A request is taken for the operation that `paths` has for its whole target if it is POSTed; else
    for what `select` makes of method, target and body, in the first dialect that `claims` the
    target, or else whose `mark` is among its headers: one that clients of this dialect alone send,
    "" for none; else in the dialect that `answers_unclaimed`, which also answers bytes that are not
    HTTP. At most one of the dialects of a port does; without it such requests are answered in plain
    text. `select` is asked before the sender is known, so it looks at no more of a body than it
    must. It raises errors of `widerow.errors`.

    `headers` are those that the listener keeps of a request; one of them that comes twice is
    refused. `open_request` checks the sender. `envelope(path, body, request_id, date, opened)` are
    the header lines of an answer, without those of HTTP itself; `opened` is None where the request
    was refused before its sender was known, and `date` is what `answer_date` made of a time in
    microseconds since 1970, one for answers that are written together. `refuse(error, name, kind)`
    is the answer to any exception; `name` is the operation's, "" where none was found, and `kind`
    the content type of the request, "" where it has none or is not HTTP. `fault_parts` loads what
    injecting faults needs; None where a dialect cannot have any.
    """

    name: str
    label: str
    open: Callable[[Engine], Any]
    operations: Mapping[str, WireOperation]
    own: Mapping[str, WireOperation]
    refused: Mapping[str, str]
    paths: Mapping[bytes, WireOperation]
    claims: Callable[[str], bool]
    select: Callable[[str, str, bytes], WireOperation]
    headers: HeaderNames
    open_request: Opener
    answer_date: Callable[[int], Any]
    envelope: Callable[[str, bytes, str, Any, Opened | None], bytes]
    refuse: Callable[[Exception, str, str], Refusal]
    fault_parts: Callable[[], FaultParts] | None = None
    answers_unclaimed: bool = False
    mark: str = ""
