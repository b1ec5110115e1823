"""Time rules of versions: when a cell has expired, which versions may be written (semantics §1.6).

Versions are milliseconds and are divided by 1000 before they meet a number of seconds, as the
founding document demands; so every bound here is a whole second, returned in milliseconds.
"""

from widerow.errors import InvalidRequest
from widerow.limits import INT64_MIN
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import TableOptions

__all__ = ["check_versions", "live_from", "version_window"]


def live_from(options: TableOptions, now_ms: int) -> int:
    """The smallest version that has not expired at `now_ms`; INT64_MIN when nothing ever does.

    Expired: now ≥ version + time_to_live, in seconds.
    """
    if options.time_to_live < 0:
        return INT64_MIN
    return (now_ms // 1000 - options.time_to_live + 1) * 1000


def version_window(options: TableOptions, now_ms: int) -> tuple[int, int]:
    """The versions a client may write at `now_ms`: at least the first, below the second.

    Seconds in [max(now - offset, now - time_to_live), now + offset).
    """
    now = now_ms // 1000
    reach = options.max_version_offset
    if 0 <= options.time_to_live < reach:
        return (now - options.time_to_live) * 1000, (now + reach) * 1000
    return (now - reach) * 1000, (now + reach) * 1000


def check_versions(change: RowChange, options: TableOptions, now_ms: int) -> None:
    """Raise `InvalidRequest` for a cell whose version lies outside the window."""
    if not change.is_dated:
        return
    start, stop = version_window(options, now_ms)
    for cell in change.cells:
        version = cell.version
        if version is None or not cell.body:
            continue
        if not start <= version < stop:
            raise InvalidRequest(
                TablestoreRule.VERSION_WINDOW,
                column=cell.name,
                version=version,
                minimum=start,
                maximum=stop,
            )
