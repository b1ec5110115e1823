"""Check and test what changed since `main`, and what depends on it, in a minute.

    python -m tools.near                # or: make near
    python -m tools.near FILE ...       # as if those had changed
    python -m tools.near --list         # only say what would run
    python -m tools.near --seconds 120  # tests begin no later than that

Changed is what differs from where this branch left `main` (or `origin/main`), and what is not
committed. Tests run in the order of how near they are to it: those that changed, those that import
what changed, then the unit tests of the same package, then all others by how many imports lie
between. A file that is not a module is near to tests that name it, a page to its own examples.
Sessions (`SESSIONS` of the Makefile) run where they changed themselves. `make check` runs beside.
After `--seconds` no further test begins, and of many files only the nearest are collected; what
was left out is told: `make test` runs all of it.
"""

import argparse
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
from tools.markdown_pages import pages
from tools.tidy import read_tree

__all__ = ["Deadline", "changed_files", "distances", "main", "ordered"]

ROOT: Final = Path(__file__).resolve().parents[1]
_MAINS: Final = ("main", "origin/main")
_SECONDS: Final = 40.0
_FILES_MAX: Final = 120  # more than run in that time; collecting takes time, too
_IMPORTED: Final = re.compile(
    r"^[ \t]*(?:from ([\w.]+) import (\([^)]*\)|[^\n]*)|import ([\w., ]+))", re.MULTILINE
)
_NAMED: Final = re.compile(r'"((?:widerow|tools|tests|bench)\.[\w.]+)"')  # as tables name modules
_EXAMPLES: Final = "tests/pages/test_examples.py"
_OF_A_PAGE: Final = f"{_EXAMPLES}::test_the_examples_of_a_page_run[{{}}]"
_BLOCK: Final = re.compile(r"^```[\w-]+$", re.MULTILINE)
_SESSIONS: Final = re.compile(r"^SESSIONS := (.*)$", re.MULTILINE)

Texts = Mapping[str, str]
"""From the paths of all files of the repository to what they hold."""


def changed_files(root: Path = ROOT) -> list[str]:
    """What differs from where this branch left `main`, without what was deleted."""

    def lines(*words: str) -> list[str]:
        command = ("git", *words)
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603  # of the repository
        return done.stdout.split("\n")[:-1] if done.returncode == 0 else []

    bases = (base for name in _MAINS for base in lines("merge-base", "HEAD", name))
    base = next(bases, "HEAD")
    found = {*lines("diff", "--name-only", "--no-renames", base)}
    found |= {*lines("ls-files", "--others", "--exclude-standard")}
    return sorted(path for path in found if (root / path).is_file())


# --- what is near ---------------------------------------------------------------------------------


def _module(path: str) -> str:
    """The dotted name of a Python file."""
    parts = Path(path.removeprefix("src/")).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(text: str) -> Iterator[str]:
    """Names of modules, and of what stands in them, that a text imports or names."""
    for module, names, modules in _IMPORTED.findall(text):
        yield from re.findall(r"[\w.]+", modules)
        if module:
            yield module
            yield from (f"{module}.{name}" for name in re.findall(r"\w+", names))
    yield from _NAMED.findall(text)


def _importers(texts: Texts) -> dict[str, set[str]]:
    """From each file to those that import it; a test imports every conftest.py above it."""
    paths = {_module(path): path for path in texts if path.endswith(".py")}
    found = defaultdict[str, set[str]](set)
    for path in paths.values():
        for name in _imported(texts[path]):
            if name in paths and paths[name] != path:
                found[paths[name]].add(path)
        for folder in Path(path).parents:
            conftest = (folder / "conftest.py").as_posix()
            if conftest in texts and conftest != path:
                found[conftest].add(path)
    return found


def _namers(path: str, texts: Texts) -> set[str]:
    """Tests that name a file which is not a module, whole or by its own name."""
    name = re.compile(rf"(?<![\w-]){re.escape(Path(path).name)}\b")
    tests = (each for each in texts if _is_test(each))
    return {each for each in tests if name.search(texts[each])}


def _mirrors(path: str, texts: Texts) -> set[str]:
    """Unit tests that stand where a module of the package does."""
    folder, _, name = path.removeprefix("src/widerow/").rpartition("/")
    mirrored = f"tests/unit/{folder}/test_{name}"
    return {mirrored} & texts.keys() if path.startswith("src/widerow/") else set()


def _is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).match("test_*.py")


def distances(changed: Iterable[str], texts: Texts) -> dict[str, int]:
    """From each test file that depends on what changed to how many imports lie between."""
    importers = _importers(texts)
    at = dict.fromkeys(changed, 0)
    border = list(at)
    for path in tuple(at):
        near = _mirrors(path, texts) if path.endswith(".py") else _namers(path, texts)
        border += [each for each in near if at.setdefault(each, 1) == 1]
    while border:
        path, *border = border
        for other in sorted(importers[path] - at.keys()):
            at[other] = at[path] + 1
            border.append(other)
    return {path: distance for path, distance in at.items() if _is_test(path)}


def ordered(changed: Sequence[str], texts: Texts) -> list[str]:
    """What pytest is to run, the nearest first."""
    sessions = _SESSIONS.findall(texts["Makefile"])[0].split()
    rooms = {_room(path.removeprefix("src/widerow/")) for path in changed}
    found = distances(changed, texts)

    def is_wanted(path: str) -> bool:
        return path in changed or not path.startswith(tuple(f"{each}/" for each in sessions))

    def place(path: str) -> tuple[bool, bool, int, str]:
        room = _room(path.removeprefix("tests/unit/"))
        return found[path] > 1, room not in rooms, found[path], path

    tests = sorted(filter(is_wanted, found), key=place)
    return [*(_OF_A_PAGE.format(each) for each in changed if _has_examples(each, texts)), *tests]


def _has_examples(path: str, texts: Texts) -> bool:
    """Whether it is a page whose examples `_EXAMPLES` runs; its constants name the others."""
    elsewhere = f'"{path}": "tests/' in texts[_EXAMPLES] or path.startswith("docs/spec/")
    return ROOT / path in pages() and not elsewhere and bool(_BLOCK.search(texts[path]))


def _room(path: str) -> str:
    """The first folder of a path."""
    return path.partition("/")[0]


# --- the run --------------------------------------------------------------------------------------


class Deadline:
    """A plugin of pytest: ends the run when its time is over, and says how much was left out."""

    def __init__(self, seconds: float) -> None:
        """End so many seconds from now."""
        self._until = time.monotonic() + seconds
        self._collected: set[str] = set()
        self._done: set[str] = set()
        self._failed = False

    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Note what was found."""
        self._collected.update(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test failed."""
        self._failed |= report.failed

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """End the run as it ends otherwise, if the time is over."""
        self._done.add(nodeid)
        if time.monotonic() > self._until and len(self._done) < len(self._collected):
            left = len(self._collected) - len(self._done)
            said = f"time is over: {left} tests were not run"
            pytest.exit(said, returncode=int(self._failed))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(description="What changed, and what depends on it.")
    parser.add_argument("files", nargs="*", help="in the place of what git says")
    parser.add_argument("--list", action="store_true", help="only say what would run")
    parser.add_argument("--seconds", type=float, default=_SECONDS, help="for tests (%(default)s)")
    options = parser.parse_args(arguments)
    texts = {path: source.text for path, source in read_tree(ROOT).items()}
    changed = options.files or changed_files()
    tests = ordered([path for path in changed if path in texts], texts)
    if options.list:
        print(*tests, sep="\n")
        return 0
    print(f"{len(changed)} files changed; {len(tests)} files of tests depend on them")
    with subprocess.Popen(
        ["make", "check"],  # noqa: S607  # make of the path
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as check:
        deadline = Deadline(options.seconds)
        words = ("-q", "-n", "2", "--dist", "loadfile", "--maxfail", "10", *tests[:_FILES_MAX])
        tested = pytest.main([*words], plugins=[deadline]) if tests else 0
        said, _ = check.communicate()
    if check.returncode:
        print(said)
    if left := tests[_FILES_MAX:]:
        print(f"{len(left)} files of tests that are further away were not run")
    print(f"make check: {'failed' if check.returncode else 'well'}")
    return int(bool(tested or check.returncode))


if __name__ == "__main__":
    sys.exit(main())
