"""Every error has its foreign form, in the service's words (semantics §3, §4, §5, §18)."""

import ast
import re
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    StoreDamaged,
    StoreFull,
    StoreLocked,
    StorePoisoned,
    Unsupported,
    WiderowError,
)
from widerow.limits import HINT_BYTES_MAX
from widerow.model.streams import StreamRule
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.tunnels import TunnelRule
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.errors.answers import encode_error, foreign, hint
from widerow.wire.tablestore.errors.table import FAILURES, FOREIGN, UNEXPECTED

ROOT = Path(__file__).parents[4]
ERRORS = ROOT / "src" / "widerow" / "wire" / "tablestore" / "errors"
NAMED: dict[str, type[AnyRule]] = {
    "Rule": Rule,
    "StreamRule": StreamRule,
    "TunnelRule": TunnelRule,
    "TablestoreRule": TablestoreRule,
    "TimeseriesRule": TimeseriesRule,
}
RULES: tuple[AnyRule, ...] = (*Rule, *StreamRule, *TunnelRule, *TablestoreRule, *TimeseriesRule)
KINDS = {"InvalidRequest", "NotPermitted", "NotFound", "Conflict", "Exhausted", "Unsupported"}


def test_every_rule_has_a_foreign_form() -> None:
    assert list(FOREIGN) == list(RULES)


def test_every_kind_of_storage_failure_has_a_foreign_form() -> None:
    assert set(FAILURES) == {StorageFailure, *StorageFailure.__subclasses__()}


def test_no_rule_is_listed_twice() -> None:
    # A dictionary would keep the last of two rows in silence.
    source = "".join(path.read_text(encoding="utf-8") for path in ERRORS.glob("*.py"))
    listed = re.findall(r"^ {4}(\w*Rule\.\w+): ", source, re.MULTILINE)
    assert len(listed) == len(set(listed)) == len(RULES)


def test_statuses_and_codes_belong_together() -> None:
    # semantics §18: "Status for codes"
    allowed = {
        "OTSParameterInvalid": {400, 431},
        "OTSInvalidPK": {400},
        "OTSDataOutOfRange": {400},
        "OTSOutOfRowSizeLimit": {400},
        "OTSOutOfTransactionDataSizeLimit": {400},
        "OTSMissingHeader": {400},
        "OTSUnsupportOperation": {400},
        "OTSMetaNotMatch": {400},
        "OTSAuthFailed": {403},
        "OTSNoPermissionAccess": {403},
        "OTSConditionCheckFail": {403},
        "OTSNotEnoughCapacityUnit": {403},
        "OTSQuotaExhausted": {403},
        "OTSTunnelExist": {409},
        "OTSTunnelExpired": {400},
        "OTSSequenceNumberNotMatch": {400},
        "OTSResourceGone": {410},
        "OTSTunnelServerUnavailable": {503},
        "OTSTooFrequentReservedThroughputAdjustment": {403},
        "OTSObjectNotExist": {404},
        "OTSTableNotReady": {404},
        "OTSTrimmedDataAccess": {404},
        "OTSMethodNotAllowed": {405},
        "OTSRequestTimeout": {408},
        "OTSSessionNotExist": {404},
        "OTSObjectAlreadyExist": {409},
        "OTSRowOperationConflict": {409},
        "OTSSessionBusy": {409},
        "OTSRequestBodyTooLarge": {413},
        "OTSServerBusy": {503},
        "OTSTimeout": {503},
        "OTSSessionExpired": {400},
        "OTSServerUnavailable": {503},
    }
    rows = {rule: FOREIGN[rule] for rule in RULES}
    assert [rule for rule, row in rows.items() if row.status not in allowed[row.code]] == []
    assert [rule for rule, row in rows.items() if not row.when] == []


# --- facts of templates ----------------------------------------------------------------------


def _placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


@cache
def _raise_sites() -> list[tuple[str, AnyRule, set[str]]]:
    """Every `Kind(Rule.X, fact=…)` of the product: where, which rule, which facts."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Rule." in text else ():
            if not isinstance(node, ast.Call) or not node.args:
                continue
            rule, kind = node.args[0], node.func
            is_kind = isinstance(kind, ast.Name) and kind.id in KINDS
            if is_kind and isinstance(rule, ast.Attribute) and ast.unparse(rule.value) in NAMED:
                facts = {keyword.arg for keyword in node.keywords if keyword.arg}
                named = NAMED[ast.unparse(rule.value)][rule.attr]
                found.append((f"{path.name}:{node.lineno}", named, facts))
    return found


RAISED_BY_VARIABLE = {  # modules choose the rule first and give the same facts to each
    TablestoreRule.COLUMN_NAME: {"name"},
    TimeseriesRule.TABLE_NAME: {"name"},
    TimeseriesRule.STORE_NAME: {"name"},
    TablestoreRule.SQL_ROWS_READ: {"limit"},
    TablestoreRule.SQL_DOCUMENTS_READ: {"limit"},
    TablestoreRule.SQL_BYTES_READ: {"limit"},
    TablestoreRule.SQL_VALUES_HELD: {"limit"},
    TablestoreRule.SQL_TIME: {"limit"},
    TablestoreRule.ATTRIBUTE_NAME: {"name"},
    TablestoreRule.KEY_VALUE_MISSING: {"name"},
    TablestoreRule.KEY_VERSION: {"name"},
    TablestoreRule.SEARCH_MESSAGE: {"kind"},
    TablestoreRule.SORT_FIELD: {"field", "reason"},
    TablestoreRule.COLLAPSE_FIELD: {"field", "reason"},
}


def test_raise_sites_give_the_facts_that_texts_need() -> None:
    missing = {
        (where, rule.name, fact)
        for where, rule, facts in _raise_sites()
        for fact in _placeholders(FOREIGN[rule].template) - facts
    }
    assert not missing


def test_texts_need_facts_of_rules_that_are_raised_only() -> None:
    given_by_code = {*RAISED_BY_VARIABLE, *(rule for _, rule, _ in _raise_sites())}
    needing = {rule for rule in RULES if _placeholders(FOREIGN[rule].template)}
    assert needing <= given_by_code
    for rule, facts in RAISED_BY_VARIABLE.items():
        assert _placeholders(FOREIGN[rule].template) <= facts


def test_a_forgotten_fact_costs_its_place_only() -> None:
    assert foreign(InvalidRequest(TablestoreRule.TABLE_NAME))[2] == "Invalid table name: '?'."


# --- texts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (  # semantics §3, asserted by two clients' tests
            InvalidRequest(TablestoreRule.KEY_SIZE, count=1, expected=2),
            (400, "OTSInvalidPK", "Validate PK size fail. Input: 1, Meta: 2."),
        ),
        (
            InvalidRequest(TablestoreRule.KEY_NAME, name="PK2", expected="PK1"),
            (400, "OTSInvalidPK", "Validate PK name fail. Input: PK2, Meta: PK1."),
        ),
        (
            InvalidRequest(
                TablestoreRule.KEY_TYPE, column="PK1", type="BINARY", expected="INTEGER"
            ),
            (400, "OTSInvalidPK", "Validate PK type fail. Input: VT_BLOB, Meta: VT_INTEGER."),
        ),
        (
            InvalidRequest(TablestoreRule.KEY_MARKER, marker="INF_MIN"),
            (400, "OTSParameterInvalid", "VT_INF_MIN is an invalid type for the primary key."),
        ),
        (
            InvalidRequest(TablestoreRule.KEY_LENGTH, column="PK", limit=1024, length=1025),
            (
                400,
                "OTSParameterInvalid",
                (
                    "The length of primary key column: 'PK' exceeds the MaxLength:1024 "
                    "with CurrentLength:1025."
                ),
            ),
        ),
        (  # semantics §4.2
            InvalidRequest(TablestoreRule.VALUE_LENGTH, column="a", limit=2097152, length=2097153),
            (
                400,
                "OTSParameterInvalid",
                (
                    "The length of attribute column: 'a' exceeds the MaxLength:2097152 "
                    "with CurrentLength:2097153."
                ),
            ),
        ),
        (
            InvalidRequest(TablestoreRule.COLUMN_COUNT, limit=1024, count=1025),
            (
                400,
                "OTSParameterInvalid",
                (
                    "The number of attribute columns exceeds the limit, limit count: 1024, "
                    "column count: 1025."
                ),
            ),
        ),
        (  # semantics §4.8
            InvalidRequest(TablestoreRule.BATCH_WRITE_COUNT, limit=200, count=201),
            (400, "OTSParameterInvalid", "Rows count exceeds the upper limit: 200."),
        ),
        (
            InvalidRequest(TablestoreRule.BATCH_WRITE_SIZE, limit=4194304, size=4194305),
            (
                400,
                "OTSParameterInvalid",
                (
                    "The total data size of BatchWriteRow request exceeds the limit, "
                    "limit size: 4194304, data size: 4194305."
                ),
            ),
        ),
        (  # semantics §5.1, §5.3
            InvalidRequest(TablestoreRule.READ_MAX_VERSIONS, value=-1),
            (
                400,
                "OTSParameterInvalid",
                "Invalid max versions: -1 . Reason: Max versions must be positive.",
            ),
        ),
        (
            InvalidRequest(TablestoreRule.FILTER_COUNT, limit=32),
            (400, "OTSParameterInvalid", "The count of filter exceeds the max: 32."),
        ),
        (
            Conflict(TablestoreRule.CONDITION_FAILED),
            (403, "OTSConditionCheckFail", "Condition check failed."),
        ),
        (
            Conflict(TablestoreRule.ROW_EXISTS),
            (403, "OTSConditionCheckFail", "Row exists which is expected nonexistent"),
        ),
        (
            Conflict(TablestoreRule.ROW_ABSENT),
            (403, "OTSConditionCheckFail", "Row does not exist which is expected existent"),
        ),
        (
            InvalidRequest(TablestoreRule.UPDATE_NOT_ALLOWED, table="t"),
            (400, "OTSParameterInvalid", "Update operation is not allowed in this table"),
        ),
        (
            InvalidRequest(TablestoreRule.UPDATE_WITHOUT_CELLS),
            (400, "OTSParameterInvalid", "Attribute column is missing."),
        ),
        (
            Conflict(TablestoreRule.TABLE_EXISTS, instance="i", table="t"),
            (409, "OTSObjectAlreadyExist", "Requested table already exists."),
        ),
        (
            NotFound(Rule.TABLE_NOT_FOUND, instance="i", table="t"),
            (404, "OTSObjectNotExist", "Requested table does not exist."),
        ),
        (
            Exhausted(TablestoreRule.TABLE_QUOTA, limit=64),
            (403, "OTSQuotaExhausted", "Number of tables exceeds the quota:64."),
        ),
        (
            NotPermitted(Rule.ACCESS_KEY_UNKNOWN),
            (403, "OTSAuthFailed", "The AccessKeyID does not exist."),
        ),
        (  # wire §1.1
            Unsupported(TablestoreRule.ACTION_UNKNOWN, action="HelloWorld"),
            (400, "OTSUnsupportOperation", "Unsupported operation: 'HelloWorld'."),
        ),
        (
            InvalidRequest(
                TablestoreRule.ROW_ENCODING, message="Invalid row: {checksum} is missing."
            ),
            (400, "OTSParameterInvalid", "Invalid row: {checksum} is missing."),
        ),
    ],
    ids=lambda value: value.rule.name if hasattr(value, "rule") else "",
)
def test_texts_are_those_that_clients_compare(
    error: WiderowError, expected: tuple[int, str, str]
) -> None:
    assert foreign(error) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (StorePoisoned("EIO"), (503, "OTSServerUnavailable", "Server is not available.")),
        (OutcomeUnknown("ENOSPC"), (503, "OTSServerUnavailable", "Server is not available.")),
        (StoreDamaged("crc"), (503, "OTSServerUnavailable", "Server is not available.")),
        (StoreLocked("pid"), (503, "OTSServerUnavailable", "Server is not available.")),
        (StorageFailure("?"), (503, "OTSServerUnavailable", "Server is not available.")),
        (StoreFull("0 left"), (503, "OTSServerBusy", "Server is busy.")),
        (StoreBusy("stall"), (503, "OTSServerBusy", "Server is busy.")),
        (Exhausted(Rule.SERVER_BUSY), (503, "OTSServerBusy", "Server is busy.")),
        (ValueError("secret"), (500, "OTSInternalServerError", "Internal server error.")),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_failures_of_ours_say_nothing_of_their_cause(
    error: Exception, expected: tuple[int, str, str]
) -> None:
    assert foreign(error) == expected


def test_a_kind_of_failure_that_is_not_listed_counts_as_the_one_above_it() -> None:
    class DiskOnFire(StoreFull):
        pass

    assert foreign(DiskOnFire()) == (503, "OTSServerBusy", "Server is busy.")
    assert hint(DiskOnFire()) == FAILURES[StoreFull].hint


def test_long_names_are_cut_from_messages() -> None:
    error = InvalidRequest(TablestoreRule.COLUMN_NAME, name="n" * 5_000_000)
    assert len(foreign(error)[2]) == 4096


@given(code=st.text(), message=st.text())
def test_error_bodies_are_read_back(code: str, message: str) -> None:
    # wire §1.6
    read = messages.Error.FromString(encode_error(code, message))
    assert (read.code, read.message) == (code, message)


# --- hints -----------------------------------------------------------------------------------


def _is_header(text: str) -> bool:
    return text.isascii() and text.isprintable() and 0 < len(text) <= HINT_BYTES_MAX


def test_a_refused_column_name_names_the_setting_that_refused_it() -> None:
    # docs/operating/configure.md
    told = hint(InvalidRequest(TablestoreRule.COLUMN_NAME, name="postal code"))
    assert told.startswith("name='postal code': ")
    assert "--column-names strict" in told


def test_every_rule_has_a_hint_that_fits_a_header() -> None:
    assert [rule for rule in RULES if not _is_header(hint(InvalidRequest(rule)))] == []


@pytest.mark.parametrize("failure", [*FAILURES.values(), UNEXPECTED])
def test_every_failure_has_a_hint_that_fits_a_header(failure: object) -> None:
    assert isinstance(failure, type(UNEXPECTED))
    assert _is_header(failure.hint)


@given(rule=st.sampled_from(RULES), name=st.text(), count=st.integers())
def test_hints_are_one_line_of_ascii_whatever_the_facts(
    rule: AnyRule, name: str, count: int
) -> None:
    text = hint(InvalidRequest(rule, name=name, column=name * 100, count=count))
    assert _is_header(text)
    assert text.endswith(rule.value)


def test_hints_tell_names_and_numbers() -> None:
    told = hint(InvalidRequest(TablestoreRule.KEY_LENGTH, column="é", limit=1024, length=1025))
    assert told == f"column='\\xe9', limit=1024, length=1025: {TablestoreRule.KEY_LENGTH.value}"


def test_hints_never_tell_values_of_cells() -> None:
    scope = InvalidRequest(
        TablestoreRule.BATCH_ATOMIC_SCOPE, atomic="customer-1", data="customer-2"
    )
    assert hint(scope) == TablestoreRule.BATCH_ATOMIC_SCOPE.value
    gone = NotFound(Rule.TABLE_NOT_FOUND, instance="shop", table="t" * 255)
    assert foreign(gone) == (404, "OTSObjectNotExist", "Requested table does not exist.")
    assert hint(gone).startswith(f"instance='shop', table='{'t' * 255}': Create the table")
    assert "4711" not in hint(
        InvalidRequest(TablestoreRule.FILTER_RELATION_DECODE, column="c", value=4711)
    )
    assert hint(ValueError("4711")) == UNEXPECTED.hint
