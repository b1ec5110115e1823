"""The error codes of the service, with the HTTP status of each (semantics §18).

Here is every name that is used in widerow; whoever reads answers compares their codes with these.
"""

from typing import Final

from widerow.wire.tablestore.errors.row import Code

AUTH_FAILED: Final = Code("OTSAuthFailed", 403)
CAPACITY_UNIT_EXHAUSTED: Final = Code("OTSCapacityUnitExhausted", 403)
CONDITION_CHECK_FAIL: Final = Code("OTSConditionCheckFail", 403)
DATA_OUT_OF_RANGE: Final = Code("OTSDataOutOfRange", 400)
FLOW_CONTROL: Final = Code("OTSFlowControl", 429)
FORBIDDEN_UPDATE_CAPACITY_UNIT: Final = Code("OTSForbiddenUpdateCapacityUnit", 400)
HEADERS_TOO_LARGE: Final = Code("OTSParameterInvalid", 431)
INTERNAL_SERVER_ERROR: Final = Code("OTSInternalServerError", 500)
INVALID: Final = Code("OTSParameterInvalid", 400)
INVALID_PK: Final = Code("OTSInvalidPK", 400)
META_NOT_MATCH: Final = Code("OTSMetaNotMatch", 400)
METHOD_NOT_ALLOWED: Final = Code("OTSMethodNotAllowed", 405)
MISSING_HEADER: Final = Code("OTSMissingHeader", 400)
NOT_ENOUGH_CAPACITY_UNIT: Final = Code("OTSNotEnoughCapacityUnit", 403)
NO_PERMISSION_ACCESS: Final = Code("OTSNoPermissionAccess", 403)
OBJECT_ALREADY_EXIST: Final = Code("OTSObjectAlreadyExist", 409)
OBJECT_NOT_EXIST: Final = Code("OTSObjectNotExist", 404)
OUT_OF_COLUMN_COUNT_LIMIT: Final = Code("OTSOutOfColumnCountLimit", 400)
OUT_OF_ROW_SIZE_LIMIT: Final = Code("OTSOutOfRowSizeLimit", 400)
OUT_OF_TRANSACTION_DATA_SIZE_LIMIT: Final = Code("OTSOutOfTransactionDataSizeLimit", 400)
PARTITION_UNAVAILABLE: Final = Code("OTSPartitionUnavailable", 503)
QUOTA_EXHAUSTED: Final = Code("OTSQuotaExhausted", 403)
REQUEST_BODY_TOO_LARGE: Final = Code("OTSRequestBodyTooLarge", 413)
REQUEST_TIMEOUT: Final = Code("OTSRequestTimeout", 408)
RESOURCE_GONE: Final = Code("OTSResourceGone", 410)
ROW_OPERATION_CONFLICT: Final = Code("OTSRowOperationConflict", 409)
SEQUENCE_NUMBER_NOT_MATCH: Final = Code("OTSSequenceNumberNotMatch", 400)
SERVER_BUSY: Final = Code("OTSServerBusy", 503)
SERVER_UNAVAILABLE: Final = Code("OTSServerUnavailable", 503)
SESSION_BUSY: Final = Code("OTSSessionBusy", 409)
SESSION_EXPIRED: Final = Code("OTSSessionExpired", 400)
SESSION_NOT_EXIST: Final = Code("OTSSessionNotExist", 404)
TABLE_NOT_READY: Final = Code("OTSTableNotReady", 404)
TIMEOUT: Final = Code("OTSTimeout", 503)
TOO_FREQUENT_ADJUSTMENT: Final = Code("OTSTooFrequentReservedThroughputAdjustment", 403)
TRIMMED_DATA_ACCESS: Final = Code("OTSTrimmedDataAccess", 404)
TUNNEL_EXIST: Final = Code("OTSTunnelExist", 409)
TUNNEL_EXPIRED: Final = Code("OTSTunnelExpired", 400)
TUNNEL_SERVER_UNAVAILABLE: Final = Code("OTSTunnelServerUnavailable", 503)
UNSUPPORT_OPERATION: Final = Code("OTSUnsupportOperation", 400)
