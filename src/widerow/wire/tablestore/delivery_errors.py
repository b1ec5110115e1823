"""What clients of delivery tasks are told when something goes wrong (change §D3)."""

from typing import Final

from widerow.errors import Rule
from widerow.wire.tablestore.error_rows import ErrorRow, invalid_row

__all__ = ["DELIVERY_ERRORS"]


def _unsupported(template: str, when: str) -> ErrorRow:
    return "OTSUnsupportOperation", 400, template, when, False


DELIVERY_ERRORS: Final[dict[Rule, ErrorRow]] = {
    Rule.DELIVERY_OFF: _unsupported(
        "Delivery tasks are not enabled.",
        "CreateDeliveryTask at a server that has no directory for files",
    ),
    Rule.DELIVERY_LIBRARY: _unsupported(
        "Delivery tasks need pyarrow, which is not installed on the server.",
        "CreateDeliveryTask at a server that cannot write Parquet",
    ),
    Rule.DELIVERY_NAME: invalid_row(
        "Invalid delivery task name: '{name}'.", "a task name of other characters, or too long"
    ),
    Rule.DELIVERY_TYPE: invalid_row(
        "Invalid delivery task type: {value}.", "a task of no known type"
    ),
    Rule.DELIVERY_BUCKET: invalid_row(
        "Invalid OSS bucket: '{bucket}'.", "a bucket of other characters, or none"
    ),
    Rule.DELIVERY_PREFIX: invalid_row(
        "Invalid OSS prefix: '{prefix}'.", "a prefix that leads nowhere or out of its bucket"
    ),
    Rule.DELIVERY_COLUMN_COUNT: invalid_row(
        "Invalid number of schema columns: {count}, the limit is {limit}.",
        "a task without columns, or with too many",
    ),
    Rule.DELIVERY_COLUMN_NAME: invalid_row(
        "Invalid column name in schema: '{name}'.", "a column of a schema without a name"
    ),
    Rule.DELIVERY_COLUMN_TYPE: invalid_row(
        "Invalid data type of column {name}: {value}.", "a column of a type that no value has"
    ),
    Rule.DELIVERY_COLUMN_DUPLICATE: invalid_row(
        "Duplicated column in schema: '{name}'.", "two columns of one name in the files"
    ),
    Rule.DELIVERY_EVENT_TIME: invalid_row(
        "Invalid event time column.", "an event column without a name or a known format"
    ),
    Rule.DELIVERY_FORMAT: invalid_row("Invalid {field}: {value}.", "a format that is not Parquet"),
    Rule.DELIVERY_TEXT: invalid_row(
        "Invalid {field}: it is longer than {limit} bytes.", "a long endpoint or role"
    ),
    Rule.DELIVERY_COUNT: invalid_row(
        "The number of delivery tasks exceeds the limit: {limit}.",
        "one delivery task of a table too many",
    ),
    Rule.DELIVERY_EXISTS: (
        "OTSObjectAlreadyExist",
        409,
        "Requested delivery task already exists.",
        "a name that is taken",
        False,
    ),
    Rule.DELIVERY_NOT_FOUND: (
        "OTSObjectNotExist",
        404,
        "Requested delivery task does not exist.",
        "any action on a delivery task that does not exist",
        False,
    ),
}
"""The rules of delivery tasks, in the order of `Rule`."""
