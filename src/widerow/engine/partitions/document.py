"""The document of a table's partitions, as plain data for commands, pages and other programs."""

import hashlib
from dataclasses import asdict
from typing import Any

from widerow.engine.partitions.balance import Partitions
from widerow.engine.partitions.partitioned_tables import KeyText, Partitioned, PartitionKey
from widerow.engine.partitions.places import Places
from widerow.engine.partitions.rules import REMEDIES, PartitionFacts, Report
from widerow.engine.partitions.split_points import server_location

__all__ = ["key_hash", "key_text", "partitions_document"]

Json = dict[str, Any]


def key_hash(key: bytes) -> str:
    """The name of a key where data must not show: 16 digits of its SHA-256."""
    return hashlib.sha256(key).hexdigest()[:16]


def key_text(key: bytes | None, kind: PartitionKey) -> KeyText | None:
    """An encoded partition key value for JSON; None for either end of the table."""
    return kind.text(key) if key else None


def partitions_document(
    partitions: Partitions,
    table: Partitioned,
    places: Places | None = None,
    *,
    history: bool = False,
) -> Json:
    """Everything about one table (docs/operating/partitions.md names the fields).

    `places`: the servers of the table's rows, where the store knows them; `history`: with the load
    of the last hours. Raises `NotFound`, `StoreDamaged`.
    """
    places = places or Places(table, ())
    load = partitions.load_of(table)
    facts = load.facts()
    kind, consumed = partitions.partition_key(table), load.consumed
    read, write = table.reserved_units
    whole = sum(each.rate for each in facts)
    document: Json = {
        "instance": kind.owner,
        "table": kind.table,
        "name": table.qualified,
        "id": table.id,
        "key": {"name": kind.name, "type": kind.type},
        "thresholds": asdict(partitions.thresholds),
        "reserved": {"read": read, "write": write},
        "consumed": {"read": consumed.read, "write": consumed.write},
        "additional": {
            "read": round(consumed.additional_read, 3),
            "write": round(consumed.additional_write, 3),
        },
        "rows": load.sizes.rows,
        "bytes": load.sizes.size,
        "partitions": [_partition(each, kind, whole, places) for each in facts],
        "reports": [_report(each, kind) for each in partitions.reports(table)],
    }
    if history:
        document["history"] = [
            {
                "start_s": each.start_s,
                "seconds": each.seconds,
                "partitions": [[key.hex(), read, write] for key, read, write in each.partitions],
                "bins": [[key.hex(), round(units, 2)] for key, units in each.bins],
            }
            for each in partitions.history(table)
        ]
    return document


def _partition(facts: PartitionFacts, kind: PartitionKey, whole: float, places: Places) -> Json:
    servers = places.servers(facts.start, facts.stop)
    return {
        "start": key_text(facts.start, kind),
        "end": key_text(facts.stop, kind),
        "start_hex": facts.start.hex(),
        "servers": [{"address": each, "location": server_location(each)} for each in servers],
        "rows": facts.rows,
        "bytes": facts.size,
        "read_units_per_second": round(facts.read_rate, 2),
        "write_units_per_second": round(facts.write_rate, 2),
        "share": round(facts.rate / whole, 4) if whole else 0.0,
        "age_seconds": round(facts.age_seconds),
        "append_share": round(facts.append_share, 4),
        "top_keys": [
            {"key": key_text(key, kind), "hash": key_hash(key), "share": round(share, 4)}
            for key, share in facts.top
        ],
        "load": [[key.hex(), round(units, 2)] for key, units in facts.load],
    }


def _report(report: Report, kind: PartitionKey) -> Json:
    return {
        "reason": report.reason.value,
        "key": key_text(report.key, kind),
        "key_hash": key_hash(report.key),
        "words": report.words,
        "remedy": REMEDIES[report.reason],
    }
