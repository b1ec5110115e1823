"""The state of dev mode: clock, faults, and snapshots of instances."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from widerow.auth.keyring import is_instance_name
from widerow.commit.committer import Committer
from widerow.engine.copying import CopyNotYet
from widerow.engine.engine import Engine
from widerow.engine.instance_copy import EMPTY_COPY, InstanceCopy, copy_instance, reset_instance
from widerow.limits import COPIES_BYTES_MAX, COPIES_MAX
from widerow.server.dev.clock import MovableClock
from widerow.server.dev.faults import FaultBook, fault_fields, read_fault
from widerow.server.dev.fields import CLOCK_MS_MAX, FieldRefused
from widerow.server.housekeeper import commit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from widerow.wire.dialect import Dialect

__all__ = ["DevMode"]

_LOOKS_MAX: Final = 100  # for changes that are moved behind their rows: five seconds
_LOOK_SECONDS: Final = 0.05


class _Kept(NamedTuple):
    instance: str
    name: str
    copy: InstanceCopy

    def document(self) -> dict[str, Any]:
        return {
            "instance": self.instance,
            "name": self.name,
            "tables": list(self.copy.names),
            "rows": self.copy.rows,
            "bytes": self.copy.size,
        }


class DevMode:
    """The dev mode of one server. Coroutines run on the loop's thread."""

    def __init__(self, clock: MovableClock, dialects: "Iterable[Dialect]") -> None:
        """Without faults and snapshots. `clock`: the engine's.

        Exactly one of the `dialects` has faults, whose codes and actions these are.
        """
        (dialect,) = (each for each in dialects if each.fault_parts is not None)
        assert dialect.fault_parts is not None, "it was looked for"
        self.clock = clock
        self._parts = dialect.fault_parts()
        self._fields = fault_fields(self._parts.codes, (*dialect.operations, *dialect.own))
        self.faults = FaultBook()
        self._kept: dict[tuple[str, str], _Kept] = {}
        self._engine: Engine | None = None
        self._committer: Committer | None = None

    def serve(self, engine: Engine, committer: Committer) -> None:
        """Use this engine from now on."""
        self._engine = engine
        self._committer = committer

    # --- the clock ---------------------------------------------------------------------------

    def clock_document(self) -> dict[str, Any]:
        """The document of the engine's clock."""
        now_ms = self.clock.now_us() // 1000
        shown = datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(timespec="milliseconds")
        return {"now_ms": now_ms, "now": shown, "running": self.clock.running}

    def advance(self, seconds: float) -> None:
        """Let time pass. Raises `FieldRefused` where the clock would leave its range."""
        if not 0 <= self.clock.now_us() // 1000 + seconds * 1000 <= CLOCK_MS_MAX:
            raise FieldRefused("advance", f"must leave the clock from 0 to {CLOCK_MS_MAX} ms")
        self.clock.advance(seconds)

    # --- faults ------------------------------------------------------------------------------

    def add_fault(self, document: "Mapping[str, Any]") -> dict[str, Any]:
        """Add the fault of a document, and answer its document. Raises `FieldRefused`."""
        fault = read_fault(document, self._fields, self._parts)
        return self.faults.add(fault, self._parts)

    # --- instances ---------------------------------------------------------------------------

    def instances(self) -> frozenset[str]:
        """The instances that have tables."""
        return frozenset(
            each.owner
            for model in self._open()[0].open_models()
            if model.copies
            for each in model.listed()
        )

    async def keep(self, instance: str, name: str) -> dict[str, Any]:
        """Keep a snapshot of an instance under a name, replacing a former one of that name.

        Raises: `FieldRefused` where there are too many, `CopyRefused` for what it cannot hold.
        """
        _check_instance(instance)
        engine, _ = self._open()
        self._others(instance, name)
        copy = await _copied(engine, instance)
        others = self._others(instance, name)
        if copy.size + sum(each.copy.size for each in others) > COPIES_BYTES_MAX:
            raise FieldRefused(
                "name", f"would make more than {COPIES_BYTES_MAX} bytes of snapshots"
            )
        kept = self._kept[instance, name] = _Kept(instance, name, copy)
        return kept.document()

    def _others(self, instance: str, name: str) -> list[_Kept]:
        """The other snapshots of an instance. Raises `FieldRefused` if there are too many."""
        others = [each for place, each in self._kept.items() if place != (instance, name)]
        if len(others) >= COPIES_MAX:
            raise FieldRefused("name", f"is one snapshot too many: {COPIES_MAX} may be there")
        return others

    def forget_all(self, instance: str) -> None:
        """Drop every snapshot of an instance."""
        for name in self._names(instance):
            self.forget(instance, name)

    def forget(self, instance: str, name: str) -> bool:
        """Drop a snapshot; whether it was there."""
        return self._kept.pop((instance, name), None) is not None

    def snapshots(self) -> list[dict[str, Any]]:
        """Every snapshot, by instance and name."""
        return [self._kept[place].document() for place in sorted(self._kept)]

    async def reset(self, instance: str, name: str | None = None) -> dict[str, Any]:
        """Replace an instance's content by a snapshot, or remove it. Durable on return.

        Raises: `FieldRefused` for an unknown snapshot.
        """
        _check_instance(instance)
        copy = EMPTY_COPY
        if name is not None:
            kept = self._kept.get((instance, name))
            if kept is None:
                known = ", ".join(self._names(instance)) or "none"
                raise FieldRefused("snapshot", f"must be one of this instance's: {known}")
            copy = kept.copy
        engine, committer = self._open()
        now_us = self.clock.now_us()
        await commit(committer, reset_instance(engine, instance, copy, now_us))
        return {"instance": instance, "snapshot": name, "tables": list(copy.names)}

    def _names(self, instance: str) -> list[str]:
        return sorted(name for of, name in self._kept if of == instance)

    def _open(self) -> tuple[Engine, Committer]:
        assert self._engine is not None, "dev mode serves an engine"
        assert self._committer is not None, "as before"
        return self._engine, self._committer

    # --- what is told ------------------------------------------------------------------------

    def metric_lines(self) -> "Iterable[str]":
        """The lines of dev mode on the page of metrics."""
        yield "# HELP widerow_dev_mode Whether tests may command this server: 1."
        yield "# TYPE widerow_dev_mode gauge"
        yield "widerow_dev_mode 1"
        yield "# HELP widerow_faults_struck_total Requests that faults of dev mode struck."
        yield "# TYPE widerow_faults_struck_total counter"
        yield f"widerow_faults_struck_total {self.faults.struck()}"


async def _copied(engine: Engine, instance: str) -> InstanceCopy:
    """A copy of the instance, once what waits to be moved behind its rows is moved.

    Raises `CopyRefused`, also where that takes too long.
    """
    for _ in range(_LOOKS_MAX):
        with suppress(CopyNotYet):
            return await asyncio.to_thread(copy_instance, engine, instance)
        await asyncio.sleep(_LOOK_SECONDS)
    return await asyncio.to_thread(copy_instance, engine, instance)


def _check_instance(instance: str) -> None:
    if not is_instance_name(instance):
        raise FieldRefused("instance", "must be a name that an instance may have")
