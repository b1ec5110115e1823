"""The settings of an engine: one value, given when the engine is opened, never changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from widerow.engine.partitions.rules import Thresholds

__all__ = ["ENGINE_DEFAULTS", "EngineSettings"]

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The settings of the core, and those of table models.

    `thresholds`: what partitions may be; None: those that are usual. `enforce_throughput`: refuse
    what is above the reserve of a partition. `models`: settings of table models, at most one value
    of each class.
    """

    thresholds: Thresholds | None = None
    enforce_throughput: bool = False
    models: Sequence[object] = ()

    def of(self, default: S) -> S:
        """The settings of a model that are of the class of `default`; `default` without any."""
        for each in self.models:
            if type(each) is type(default):
                return each
        return default


ENGINE_DEFAULTS = EngineSettings()
