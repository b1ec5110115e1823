"""The two ways of the vendor's proxy: in front of its cloud, and in front of a store of one's own.

What the cloud bounds (nosql-wire §7), and what only one of the two has (nosql-wire §5).
"""

from typing import Final, NamedTuple

from widerow.limits import (
    BODY_BYTES_MAX,
    NOSQL_BATCH_OPERATIONS_MAX,
    NOSQL_KB_MAX,
    NOSQL_KEY_BYTES_MAX,
    NOSQL_REQUEST_BYTES_MAX,
    NOSQL_ROW_BYTES_MAX,
    TYPED_KEY_BYTES_MAX,
    TYPED_ROW_BYTES_MAX,
)

__all__ = ["CLOUD", "ONPREM", "NosqlMode"]


class NosqlMode(NamedTuple):
    """A way of the proxy.

    `onprem`: there are namespaces and system requests, no limits of tables and no units in answers.
    The others bound a primary key, a row, a request but a sequence, the operations of a sequence,
    and the kilobytes that a request may ask for.
    """

    onprem: bool
    key_bytes: int
    row_bytes: int
    request_bytes: int
    operations: int
    kilobytes: int


CLOUD: Final = NosqlMode(
    onprem=False,
    key_bytes=NOSQL_KEY_BYTES_MAX,
    row_bytes=NOSQL_ROW_BYTES_MAX,
    request_bytes=NOSQL_REQUEST_BYTES_MAX,
    operations=NOSQL_BATCH_OPERATIONS_MAX,
    kilobytes=NOSQL_KB_MAX,
)
"""As the vendor's cloud and its simulator."""

ONPREM: Final = NosqlMode(
    onprem=True,
    key_bytes=TYPED_KEY_BYTES_MAX,
    row_bytes=TYPED_ROW_BYTES_MAX,
    request_bytes=BODY_BYTES_MAX,
    operations=BODY_BYTES_MAX,
    kilobytes=2**31 - 1,
)
"""As the vendor's proxy of a store of one's own: the bounds are those of the store and the port."""
