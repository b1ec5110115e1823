"""The health of the store and the server: what is good, what needs a look, and what to do."""

from dataclasses import asdict
from typing import Final

from widerow.console.parts import PageDocument, Visit
from widerow.errors import StorageFailure
from widerow.limits import LAG_TOLD_SECONDS
from widerow.server.loopback import is_loopback
from widerow.server.metrics import resident_bytes

__all__ = ["checks", "show_health"]

_GOOD: Final = "good"
_LOOK: Final = "look"
_BAD: Final = "bad"
_FREE_BYTES_MIN: Final = 1024**3  # below it a compaction may not find room
_BEHIND_BYTES_MAX: Final = 4 * 1024**3  # of data that compactions still have to rewrite


def show_health(visit: Visit) -> PageDocument:
    """All checks, and the numbers behind them."""
    parts = visit.parts
    return {
        "checks": checks(visit),
        "store": _statistics(visit),
        "server": {
            "connections": parts.admission.connections,
            "requests_in_flight": parts.admission.requests_in_flight,
            "bytes_in_flight": parts.admission.bytes_in_flight,
            "unsent_bytes": parts.admission.unsent_bytes,
            "refused_for_lack_of_room": parts.admission.refused,
            "writes_waiting": parts.committer.waiting,
            "group_commits": parts.metrics.commits,
            "writes_committed": parts.metrics.writes,
            "commit_failures": parts.metrics.commit_failures,
            "resident_bytes": resident_bytes(),
        },
        "reclaimed": asdict(parts.engine.sweep.reclaimed),
        "partition_changes": {
            reason.value: count for reason, count in parts.engine.partitions.changes.items()
        },
    }


def _statistics(visit: Visit) -> PageDocument:
    try:
        return dict(visit.parts.engine.store.statistics())
    except StorageFailure:
        return {}


def checks(visit: Visit) -> list[PageDocument]:
    """The checks: name, state (good, look or bad), a text, and what to do about it."""
    return [
        _writes(visit),
        _clock(visit),
        _room(visit),
        _behind(visit),
        _lags(visit),
        _credentials(visit),
        _keys(visit),
    ]


def _check(name: str, state: str, words: str, advice: str = "") -> PageDocument:
    return {"name": name, "state": state, "words": words, "hint": advice}


def _writes(visit: Visit) -> PageDocument:
    if visit.parts.engine.store.writable:
        return _check("Store", _GOOD, "It takes writes; every acknowledged one is synced.")
    return _check(
        "Store",
        _BAD,
        "It takes no writes; reads go on.",
        "The server's log says why. Stop the server, run widerow doctor, and start it again.",
    )


def _clock(visit: Visit) -> PageDocument:
    fault = visit.parts.engine.nodes.clock_fault
    if fault is None:
        return _check("Clock", _GOOD, "No other server of this store disagrees with it.")
    return _check("Clock", _BAD, str(fault), "Set the clocks of all servers by one source (NTP).")


def _room(visit: Visit) -> PageDocument:
    free = _statistics(visit).get("free_bytes")
    if free is None:
        return _check("Disk", _GOOD, "This store does not say how much room is left.")
    if free < _FREE_BYTES_MIN:
        return _check(
            "Disk",
            _LOOK,
            f"{free // 1024**2} MiB are free.",
            "Make room: writes are refused while the disk is full, and go on by themselves after.",
        )
    return _check("Disk", _GOOD, f"{free / 1024**3:,.1f} GiB are free.")


def _behind(visit: Visit) -> PageDocument:
    behind = _statistics(visit).get("compaction_pending_bytes", 0)
    if behind > _BEHIND_BYTES_MAX:
        return _check(
            "Compaction",
            _LOOK,
            f"{behind / 1024**3:,.1f} GiB wait to be rewritten.",
            "Writes outrun the disk; they are slowed down until it catches up.",
        )
    return _check("Compaction", _GOOD, "The store keeps up with its writers.")


def _lags(visit: Visit) -> PageDocument:
    engine = visit.parts.engine
    if not engine.lease.held():
        return _check("Indexes", _GOOD, "Another server of this store keeps them up.")
    lags = [*engine.index_lags(), *engine.log_lags()]
    furthest = max(lags, key=lambda each: each.seconds, default=None)
    if furthest is None or furthest.seconds < LAG_TOLD_SECONDS + visit.parts.settings.index_lag:
        return _check("Indexes", _GOOD, "Indexes and streams follow their tables.")
    return _check(
        "Indexes",
        _LOOK,
        f"{furthest.name} of {furthest.table} is {furthest.seconds:,.0f} s behind its table.",
        "Writers are faster than it, or a part of the store is away; the server's log says which.",
    )


def _credentials(visit: Visit) -> PageDocument:
    failures = visit.parts.metrics.credentials_failures
    if failures:
        return _check(
            "Access keys",
            _LOOK,
            f"{failures} changes of the credentials file could not be used; the old keys count.",
            "The server's log says what is wrong with the file.",
        )
    return _check("Access keys", _GOOD, "They are read and in use.")


def _keys(visit: Visit) -> PageDocument:
    settings = visit.parts.settings
    if settings.credentials is not None:
        return _check("Default key", _GOOD, "It is not in use.")
    if is_loopback(settings.host):
        return _check("Default key", _GOOD, "It is in use; only this machine reaches the port.")
    return _check(
        "Default key",
        _BAD,
        "Anyone who reaches this port may use the access key widerow/widerow.",
        "Name your own keys: widerow serve --credentials FILE.",
    )
