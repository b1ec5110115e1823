"""Errors as drivers are told them: a code, that of an exception, and a text (nosql-wire §7).

A rule has a row here, or the code of its kind of error. What an operation finds wrong with its
arguments begins with the operation's name, as the vendor's proxy has it.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from widerow.errors import (
    AnyRule,
    Conflict,
    Exhausted,
    InvalidRequest,
    NotFound,
    NotPermitted,
    OutcomeUnknown,
    Rule,
    StorageFailure,
    StoreBusy,
    StoreFull,
    Unsupported,
    WiderowError,
)
from widerow.model.typed.rules import TypedRule
from widerow.wire.nosql.rules import NosqlRule as R
from widerow.wire.nosql.sql.statement_rules import StatementRule

__all__ = [
    "BAD_PROTOCOL",
    "BATCH_COUNT",
    "ETAG_MISMATCH",
    "ILLEGAL_ARGUMENT",
    "INDEX_EXISTS",
    "INDEX_NOT_FOUND",
    "INSUFFICIENT_PERMISSION",
    "INVALID_AUTHORIZATION",
    "KEY_SIZE",
    "NOT_SUPPORTED",
    "OLDER_FORM",
    "OPERATION_LIMIT",
    "REQUEST_SIZE",
    "RESOURCE_EXISTS",
    "RESOURCE_NOT_FOUND",
    "ROW_SIZE",
    "SERVER_ERROR",
    "SIZE_LIMIT",
    "TABLE_EXISTS",
    "TABLE_NOT_FOUND",
    "UNAVAILABLE",
    "UNKNOWN_ERROR",
    "UNKNOWN_OPERATION",
    "UNSUPPORTED_PROTOCOL",
    "UNSUPPORTED_QUERY_VERSION",
    "NosqlFault",
    "definition_code",
    "fault_of",
]

UNKNOWN_OPERATION: Final = 1
TABLE_NOT_FOUND: Final = 2
INDEX_NOT_FOUND: Final = 3
ILLEGAL_ARGUMENT: Final = 4
ROW_SIZE: Final = 5
KEY_SIZE: Final = 6
BATCH_COUNT: Final = 7
REQUEST_SIZE: Final = 8
TABLE_EXISTS: Final = 9
INDEX_EXISTS: Final = 10
INVALID_AUTHORIZATION: Final = 11
INSUFFICIENT_PERMISSION: Final = 12
RESOURCE_EXISTS: Final = 13
RESOURCE_NOT_FOUND: Final = 14
BAD_PROTOCOL: Final = 17
NOT_SUPPORTED: Final = 21
ETAG_MISMATCH: Final = 22
UNSUPPORTED_PROTOCOL: Final = 24
UNSUPPORTED_QUERY_VERSION: Final = 27
SIZE_LIMIT: Final = 52
OPERATION_LIMIT: Final = 53
SERVER_ERROR: Final = 101
UNAVAILABLE: Final = 102
UNKNOWN_ERROR: Final = 125

OLDER_FORM: Final = frozenset((R.REQUEST_ID, R.BODY_EMPTY, R.SERIAL_VERSION))
"""The rules that are told in the form of the older protocol: the version is not known yet."""


class NosqlFault(NamedTuple):
    """A code and a text."""

    code: int
    text: str


_CODES: Final[Mapping[AnyRule, int]] = {
    R.REQUEST_ID: BAD_PROTOCOL,
    R.BODY_EMPTY: BAD_PROTOCOL,
    R.SERIAL_VERSION: UNSUPPORTED_PROTOCOL,
    R.HEADER: UNSUPPORTED_PROTOCOL,
    R.METHOD: BAD_PROTOCOL,
    R.OPCODE_UNKNOWN: BAD_PROTOCOL,
    R.OPCODE_UNSERVED: UNKNOWN_OPERATION,
    R.NSON: BAD_PROTOCOL,
    R.MEMBER_MISSING: BAD_PROTOCOL,
    R.MEMBER_TYPE: BAD_PROTOCOL,
    R.KEY_TYPE: BAD_PROTOCOL,
    R.AUTHORIZATION_MISSING: INVALID_AUTHORIZATION,
    R.AUTHORIZATION_INVALID: INVALID_AUTHORIZATION,
    R.TABLE_NOT_FOUND: TABLE_NOT_FOUND,
    R.NOT_NULL: UNKNOWN_ERROR,
    R.ROW_SIZE: ROW_SIZE,
    R.KEY_SIZE: KEY_SIZE,
    R.REQUEST_SIZE: REQUEST_SIZE,
    R.BATCH_COUNT: BATCH_COUNT,
    R.BATCH_EMPTY: UNKNOWN_ERROR,
    R.BATCH_KIND: BAD_PROTOCOL,
    R.MAX_WRITE_KB: BAD_PROTOCOL,
    R.MAX_READ_KB: BAD_PROTOCOL,
    R.LIMITS_TABLE: TABLE_NOT_FOUND,
    R.LIMITS_ONPREM: NOT_SUPPORTED,
    R.ETAG: ETAG_MISMATCH,
    R.TAGS: NOT_SUPPORTED,
    R.INDEX_NOT_FOUND: INDEX_NOT_FOUND,
    R.LIST_START: BAD_PROTOCOL,
    R.LIST_LIMIT: BAD_PROTOCOL,
    R.USAGE_LIMIT: BAD_PROTOCOL,
    R.USAGE_ONPREM: NOT_SUPPORTED,
    R.REPLICA_ADD: NOT_SUPPORTED,
    R.REPLICA_DROP: NOT_SUPPORTED,
    R.REPLICA_STATS: NOT_SUPPORTED,
    R.SYSTEM_CLOUD: BAD_PROTOCOL,
    R.SYSTEM_PLAN: SERVER_ERROR,
    R.QUERY_VERSION: UNSUPPORTED_QUERY_VERSION,
    R.QUERY_MISSING: UNKNOWN_ERROR,
    R.QUERY_CONTEXT: BAD_PROTOCOL,
    R.QUERY_PREPARED: BAD_PROTOCOL,
    StatementRule.TABLE_NOT_FOUND: TABLE_NOT_FOUND,
    StatementRule.AGGREGATE_INSIDE: UNKNOWN_ERROR,
    TypedRule.ROW_LENGTH: ROW_SIZE,
    TypedRule.TABLE_MISSING: TABLE_NOT_FOUND,
    TypedRule.TABLE_EXISTS: TABLE_EXISTS,
    TypedRule.PARENT_MISSING: TABLE_NOT_FOUND,
    TypedRule.DDL_TABLE_NOT_FOUND: TABLE_NOT_FOUND,
    TypedRule.INDEX_MISSING: INDEX_NOT_FOUND,
    TypedRule.INDEX_EXISTS: INDEX_EXISTS,
    TypedRule.DDL_UNSUPPORTED: NOT_SUPPORTED,
    TypedRule.IDENTITY_EXHAUSTED: ILLEGAL_ARGUMENT,
    TypedRule.INDEX_BEHIND: UNAVAILABLE,
    Rule.PERMISSION_MISSING: INSUFFICIENT_PERMISSION,
    Rule.INSTANCE_FORBIDDEN: INSUFFICIENT_PERMISSION,
    Rule.INSTANCE_UNKNOWN: INSUFFICIENT_PERMISSION,
    Rule.BODY_TOO_LARGE: REQUEST_SIZE,
    Rule.HEADER_DUPLICATE: BAD_PROTOCOL,
    Rule.SERVER_BUSY: UNAVAILABLE,
    Rule.SERVER_STOPPING: UNAVAILABLE,
    Rule.CLIENT_GONE: UNAVAILABLE,
    Rule.NOT_ENOUGH_CAPACITY: OPERATION_LIMIT,
}
_KINDS: Final[tuple[tuple[type[WiderowError], int], ...]] = (
    (InvalidRequest, ILLEGAL_ARGUMENT),
    (NotPermitted, INVALID_AUTHORIZATION),
    (NotFound, RESOURCE_NOT_FOUND),
    (Conflict, RESOURCE_EXISTS),
    (Unsupported, NOT_SUPPORTED),
    (Exhausted, UNAVAILABLE),
    (StoreFull, SIZE_LIMIT),
    (StoreBusy, UNAVAILABLE),
    (OutcomeUnknown, SERVER_ERROR),
    (StorageFailure, SERVER_ERROR),
)
_FRAMES: Final = frozenset((TypedRule.DDL_FAULT, TypedRule.DDL_CREATING, TypedRule.DDL_FAILED))
_BARE: Final = frozenset(
    (
        *(R.TABLE_NAME, R.TABLE_REQUEST, R.CREATE_LIMITS, R.ALTER_LIMITS, R.LIMITS_AND_TAGS),
        *(
            R.LIMITS_CHILD,
            R.NAMESPACE,
            R.NAMESPACE_REQUEST,
            R.QUERY_STATEMENT,
            R.OPERATION_ID,
            R.INDEX_FAILED,
            R.USAGE_TIMES,
        ),
        *(R.NUMBER_CHARACTER, R.NUMBER_TEXT),
        *(StatementRule.VARIABLE_UNKNOWN, StatementRule.VARIABLE_VALUE),
    )
)
_BARE_OPERATIONS: Final = frozenset(("TABLE_REQUEST", ""))
_PREFIXED_IN_TABLE_REQUESTS: Final = frozenset(
    (R.LIMITS_READ, R.LIMITS_WRITE, R.LIMITS_STORAGE, R.LIMITS_MODE)
)
_FAMILIES: Final = {
    "PUT_IF_ABSENT": "PUT",
    "PUT_IF_PRESENT": "PUT",
    "PUT_IF_VERSION": "PUT",
    "DELETE_IF_VERSION": "DELETE",
}


def fault_of(error: Exception, operation: str) -> NosqlFault:
    """What a driver is told of an error of an operation ("" for none)."""
    if not isinstance(error, WiderowError):
        return NosqlFault(UNKNOWN_ERROR, f"{operation}: Unexpected exception: internal error")
    rule = getattr(error, "rule", None)
    if not isinstance(rule, AnyRule):
        return NosqlFault(_code_of_kind(error), str(error))
    text = _text(error, rule)
    told = _told_bare(error)
    if told is not None:
        return NosqlFault(definition_code(told), told)
    if rule in _FRAMES:
        return _definition_fault(error, operation, text)
    code = _CODES.get(rule)
    if code is None:
        code = _code_of_kind(error)
    name = _FAMILIES.get(operation, operation)
    if code == UNKNOWN_ERROR:
        return NosqlFault(code, f"{name}: Unexpected exception: {text}")
    if code != ILLEGAL_ARGUMENT or rule in _BARE:
        return NosqlFault(code, text)
    if operation in _BARE_OPERATIONS and rule not in _PREFIXED_IN_TABLE_REQUESTS:
        return NosqlFault(definition_code(text), text)
    return NosqlFault(code, f"{name}: Illegal Argument: {text}")


def _definition_fault(error: WiderowError, operation: str, text: str) -> NosqlFault:
    """An error of a definition statement; a system request tells whose a wrong argument is."""
    if operation != "SYSTEM_REQUEST":
        return NosqlFault(definition_code(text), text)
    if isinstance(error, Unsupported):
        return NosqlFault(NOT_SUPPORTED, text)
    code = definition_code(text)
    prefix = f"{operation}: Illegal Argument: " if code == ILLEGAL_ARGUMENT else ""
    return NosqlFault(code, prefix + text)


def _told_bare(error: BaseException | None) -> str | None:
    """The text of an error inside one of a statement that has no place there; None for most."""
    for _ in range(_FRAMES_MAX):
        beginning = _PLACELESS.get(getattr(error, "rule", None))
        if beginning is not None:
            return f"{beginning}{error}"
        if error is None or error.__cause__ is error:
            break
        error = error.__cause__
    return None


_FRAMES_MAX: Final = 8  # errors inside each other: a statement frames one or two
_PLACELESS: Final[Mapping[AnyRule | None, str]] = {
    TypedRule.CHILD_FIELD_IN_PARENT_KEY: "",
    TypedRule.FIELD_DUPLICATE: "",
    TypedRule.NAME_LENGTH: "",
    TypedRule.TIMESTAMP_PRECISION: "Error: ",
    TypedRule.IDENTITY_TYPE: "Error: ",
}


def _code_of_kind(error: WiderowError) -> int:
    return next((code for kind, code in _KINDS if isinstance(error, kind)), SERVER_ERROR)


def _text(error: WiderowError, rule: AnyRule) -> str:
    if rule is TypedRule.ROW_LENGTH:
        return str(R.ROW_SIZE.told(getattr(error, "details", {})))
    if rule is TypedRule.TABLE_MISSING:
        details = getattr(error, "details", {})
        return f"Table not found: {details.get('table', '')}"
    if isinstance(rule, Rule):  # its value is a hint for people
        return str(rule.value)
    return str(error)


def definition_code(text: str) -> int:
    """The code of a definition statement's error, which drivers go by (nosql-wire §5.1).

    The vendor's proxy reads it off the text; so the code of each text is as surprising as there.
    """
    low = text.lower()
    if "exists" in low and "not" not in low:
        if "table failed" in low:
            return TABLE_EXISTS
        return INDEX_EXISTS if "index failed" in low else RESOURCE_EXISTS
    if "not exist" in low or "not found" in low:
        if "table does not exist" in low:
            return TABLE_NOT_FOUND
        return INDEX_NOT_FOUND if "does not exists in table" in low else RESOURCE_NOT_FOUND
    return ILLEGAL_ARGUMENT
