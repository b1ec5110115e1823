"""Damaged files: whatever is done to one, the server refuses to start, or answers errors, or right.

A store is written through the server, once by one that was killed (its last writes are in the log)
and once by one that was stopped. Then, copy by copy, one file is damaged, a server is started on
the copy, and everything is read. An answer that lacks a row, or has another one, is wrong.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random  # noqa: TID251  # seeded, so that a damage can be repeated
from typing import Final, NamedTuple

from tests.support.http import Wire
from tools.crash.clients import TABLE, Crew, Mark, ServerWrong, Table, read_everything, read_one
from tools.crash.rounds import PLANTED_PATH, copy_store
from tools.evidence import Fact

from widerow.errors import WiderowError
from widerow.testing.process import WiderowProcess
from widerow.testing.server import WiderowServer

__all__ = ["Damage", "Report", "Template", "damages", "make_template", "try_damage"]

_PAGE_BYTES: Final = 4096
_REQUESTS: Final = 120  # of each client, and again after the old copy was taken
_MEMTABLE_KB: Final = 64  # so that there are several tables
_LOCKS: Final = frozenset(("LOCK", "LOG"))  # hold nothing: nobody reads them


@dataclass(frozen=True, slots=True)
class Template:
    """A store to damage: where, how it was at an earlier time, and what is right."""

    name: str
    place: Path
    earlier: Path
    rows: Table

    @property
    def files(self) -> list[Path]:
        """What can be damaged."""
        return sorted(
            file for file in self.place.iterdir() if file.is_file() and file.name not in _LOCKS
        )


class Damage(NamedTuple):
    """What is done to which file, and by what function of the copy."""

    kind: str
    file: str
    told: str
    do: Callable[[Path], None]


@dataclass
class Report:
    """What became of the damages: refused at the start, answered with errors, answered right."""

    refused: int = 0
    errors: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def facts(self) -> Mapping[str, Fact]:
        """For a line of evidence."""
        return {"refused": self.refused, "errors": self.errors, "right": self.right}

    @property
    def tried(self) -> int:
        """All of them."""
        return self.refused + self.errors + self.right + len(self.wrong)


def make_template(directory: Path, *, killed: bool, seed: int) -> Template:
    """Write a store, through a server that is then `killed`, or stopped."""
    place, earlier = directory / "store", directory / "earlier"
    crew = Crew(directory, seed, size=2)
    environment = {"PYTHONPATH": PLANTED_PATH, "CRASH_MEMTABLE_KB": str(_MEMTABLE_KB)}
    process = WiderowProcess("--path", str(place), environment=environment)
    for cycle in range(2):
        process.start()
        crew.verify(process.endpoint)
        crew.work(process.endpoint, Mark(strict=False), cycle, _REQUESTS)()
        if cycle == 0:
            process.stop()
            copy_store(place, earlier)
    if killed:
        process.kill()
    else:
        process.stop()
    crew.close()
    intact = directory / "intact"
    copy_store(place, intact)
    with WiderowServer(intact) as server:
        rows, _ = read_everything(server.endpoint)
        crew.verify(server.endpoint)
    if crew.violations:
        raise ServerWrong(f"the undamaged store is wrong: {crew.violations[0]}")
    return Template("killed" if killed else "stopped", place, earlier, rows)


# --- damages -------------------------------------------------------------------------------------


def damages(template: Template, *, each: int, seed: int) -> Iterator[Damage]:
    """Every kind of damage for every file: about `each` flipped bits, half as many cuts, ..."""
    chance = Random(seed)  # noqa: S311  # no secret
    for file in template.files:
        size = file.stat().st_size
        for offset in _places(size, each, chance):
            yield Damage("flip", file.name, f"byte {offset}", _flip(file.name, offset, chance))
        for length in _places(size, each // 2, chance):
            yield Damage("truncate", file.name, f"to {length}", _truncate(file.name, length))
        for offset in _places(size, each // 4, chance):
            start = offset // _PAGE_BYTES * _PAGE_BYTES
            yield Damage("zero", file.name, f"page at {start}", _zero(file.name, start))
        yield Damage("remove", file.name, "", _remove(file.name))
        yield Damage("empty", file.name, "", _truncate(file.name, 0))
        old = template.earlier / file.name
        if old.exists() and old.read_bytes() != file.read_bytes():
            yield Damage("restore", file.name, "as it was earlier", _replace(file.name, old))
    yield from _swaps(template)


def _swaps(template: Template) -> Iterator[Damage]:
    kinds: dict[str, list[str]] = {}
    for file in template.files:
        kinds.setdefault(file.suffix or file.name.partition("-")[0], []).append(file.name)
    for names in kinds.values():
        for one, other in pairwise(names):
            yield Damage("swap", one, f"with {other}", _swap(one, other))


def _places(size: int, count: int, chance: Random) -> list[int]:
    """Up to `count` places in a file: evenly spread, each moved a little, and both ends."""
    if not size:
        return []
    step = max(1, size // max(1, count))
    spread = {min(size - 1, start + chance.randrange(step)) for start in range(0, size, step)}
    return sorted(spread | {0, size - 1})


def _flip(name: str, offset: int, chance: Random) -> Callable[[Path], None]:
    bit = 1 << chance.randrange(8)

    def do(place: Path) -> None:
        content = bytearray((place / name).read_bytes())
        content[offset] ^= bit
        (place / name).write_bytes(content)

    return do


def _truncate(name: str, length: int) -> Callable[[Path], None]:
    return lambda place: os.truncate(place / name, length)


def _zero(name: str, start: int) -> Callable[[Path], None]:
    def do(place: Path) -> None:
        content = bytearray((place / name).read_bytes())
        end = min(len(content), start + _PAGE_BYTES)
        content[start:end] = bytes(end - start)
        (place / name).write_bytes(content)

    return do


def _remove(name: str) -> Callable[[Path], None]:
    return lambda place: (place / name).unlink()


def _replace(name: str, source: Path) -> Callable[[Path], None]:
    def do(place: Path) -> None:
        shutil.copyfile(source, place / name)

    return do


def _swap(one: str, other: str) -> Callable[[Path], None]:
    def do(place: Path) -> None:
        held = (place / one).read_bytes()
        (place / one).write_bytes((place / other).read_bytes())
        (place / other).write_bytes(held)

    return do


# --- looking -------------------------------------------------------------------------------------


def try_damage(template: Template, damage: Damage, directory: Path, report: Report) -> None:
    """Damage a copy, start a server on it, read everything, and note what became of it."""
    copy = directory / "copy"
    copy_store(template.place, copy)
    try:
        damage.do(copy)
        _look(template, damage, copy, report)
    finally:
        shutil.rmtree(copy)


def _look(template: Template, damage: Damage, copy: Path, report: Report) -> None:
    told = f"{template.name}: {damage.kind} {damage.file} {damage.told}"
    try:
        with WiderowServer(copy) as server:
            try:
                rows, _ = read_everything(server.endpoint)
            except ServerWrong:
                wrong = _wrong_rows(server.endpoint, template.rows)
                report.errors += not wrong
            else:
                wrong = _difference(template.rows, rows)
                report.right += not wrong
    except WiderowError:
        report.refused += 1
        return
    if wrong:
        report.wrong.append(f"{told}: {wrong}")


def _difference(right: Table, found: Table) -> str:
    if right == found:
        return ""
    missing, more = len(right.keys() - found.keys()), len(found.keys() - right.keys())
    other = sum(right[key] != found[key] for key in right.keys() & found.keys())
    return f"{missing} rows are missing, {more} too many, {other} different"


def _wrong_rows(endpoint: str, right: Table) -> str:
    """Where a range cannot be read, its rows one by one: right or an error each."""
    with Wire(endpoint) as wire:
        for key, columns in right.items():
            status, found = read_one(wire, key)
            if status == 200 and found != columns:
                return f"{key} of {TABLE} reads {str(found)[:60]}"
    return ""
