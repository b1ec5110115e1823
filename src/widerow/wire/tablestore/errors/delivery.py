"""What clients of delivery tasks are told when something goes wrong (change §D3)."""

from typing import Final

from widerow.errors import AnyRule
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.errors.row import Foreign

__all__ = ["DELIVERY_ERRORS"]


DELIVERY_ERRORS: Final[dict[AnyRule, Foreign]] = {
    TablestoreRule.DELIVERY_OFF: c.UNSUPPORT_OPERATION.ours(
        "Delivery tasks are not enabled.",
        "CreateDeliveryTask at a server that has no directory for files",
    ),
    TablestoreRule.DELIVERY_LIBRARY: c.UNSUPPORT_OPERATION.ours(
        "Delivery tasks need pyarrow, which is not installed on the server.",
        "CreateDeliveryTask at a server that cannot write Parquet",
    ),
    TablestoreRule.DELIVERY_NAME: c.INVALID.ours(
        "Invalid delivery task name: '{name}'.", "a task name of other characters, or too long"
    ),
    TablestoreRule.DELIVERY_TYPE: c.INVALID.ours(
        "Invalid delivery task type: {value}.", "a task of no known type"
    ),
    TablestoreRule.DELIVERY_BUCKET: c.INVALID.ours(
        "Invalid OSS bucket: '{bucket}'.", "a bucket of other characters, or none"
    ),
    TablestoreRule.DELIVERY_PREFIX: c.INVALID.ours(
        "Invalid OSS prefix: '{prefix}'.", "a prefix that leads nowhere or out of its bucket"
    ),
    TablestoreRule.DELIVERY_COLUMN_COUNT: c.INVALID.ours(
        "Invalid number of schema columns: {count}, the limit is {limit}.",
        "a task without columns, or with too many",
    ),
    TablestoreRule.DELIVERY_COLUMN_NAME: c.INVALID.ours(
        "Invalid column name in schema: '{name}'.", "a column of a schema without a name"
    ),
    TablestoreRule.DELIVERY_COLUMN_TYPE: c.INVALID.ours(
        "Invalid data type of column {name}: {value}.", "a column of a type that no value has"
    ),
    TablestoreRule.DELIVERY_COLUMN_DUPLICATE: c.INVALID.ours(
        "Duplicated column in schema: '{name}'.", "two columns of one name in the files"
    ),
    TablestoreRule.DELIVERY_EVENT_TIME: c.INVALID.ours(
        "Invalid event time column.", "an event column without a name or a known format"
    ),
    TablestoreRule.DELIVERY_FORMAT: c.INVALID.ours(
        "Invalid {field}: {value}.", "a format that is not Parquet"
    ),
    TablestoreRule.DELIVERY_TEXT: c.INVALID.ours(
        "Invalid {field}: it is longer than {limit} bytes.", "a long endpoint or role"
    ),
    TablestoreRule.DELIVERY_COUNT: c.INVALID.ours(
        "The number of delivery tasks exceeds the limit: {limit}.",
        "one delivery task of a table too many",
    ),
    TablestoreRule.DELIVERY_EXISTS: c.OBJECT_ALREADY_EXIST.ours(
        "Requested delivery task already exists.", "a name that is taken"
    ),
    TablestoreRule.DELIVERY_NOT_FOUND: c.OBJECT_NOT_EXIST.ours(
        "Requested delivery task does not exist.",
        "any action on a delivery task that does not exist",
    ),
}
