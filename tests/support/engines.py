"""Engines of tests: Tablestore's tables over an open store."""

from typing import Any

from widerow.clock import Clock, Entropy
from widerow.engine.engine import Engine
from widerow.engine.partitions.rules import Thresholds
from widerow.engine.settings import EngineSettings
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.tablestore.engine import TablestoreEngine, TablestoreSettings
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.storage.interface import Store

__all__ = ["open_tablestore"]


def open_tablestore(
    store: Store,
    clock: Clock,
    entropy: Entropy,
    *,
    thresholds: Thresholds | None = None,
    enforce_throughput: bool = False,
    **settings: Any,  # noqa: ANN401  # of TablestoreSettings
) -> TablestoreEngine:
    """Tablestore's tables of a store; the core of the engine is their `core`."""
    own = (TablestoreSettings(**settings),)
    engine = Engine(
        store, clock, entropy, TABLE_MODELS, EngineSettings(thresholds, enforce_throughput, own)
    )
    tables = engine.operations(TABLESTORE)
    engine.sweep.add(tables.sweep)  # as the first step of housekeeping does
    return tables
