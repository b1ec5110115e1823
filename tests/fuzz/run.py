"""Fuzzing: every target for a while, from its corpus on (needs atheris).

    python -m tests.fuzz.run                         # or: make fuzz
    python -m tests.fuzz.run --seconds 75 http keys
    python -m tests.fuzz.run --keep                  # add what reached new code to the corpus
    python -m tests.fuzz.run --replay http FILE      # one input again, with its traceback

A target is a module of this folder with an invariant in its first line, `SEEDS`, and `check`, which
raises where the invariant does not hold. Its corpus is `corpus/NAME.txt`, an input a line, in
base64; tests run over it without a fuzzer. An input that breaks an invariant, takes longer than
five seconds or more than half a gigabyte is written to `build/fuzz`. Prints a line of JSON for each
target.
"""

import argparse
import base64
import importlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
ROOT: Final = FOLDER.parents[1]
sys.path.insert(0, str(ROOT))

from tools.evidence import record  # noqa: E402  # tools are not a package

__all__ = ["TARGETS", "corpus", "fuzz", "load", "main"]

TARGETS: Final = (
    *("http", "envelope", "protobuf", "plainbuffer", "filters", "keys", "rows", "catalog"),
    *("credentials", "manifest", "parts", "texts", "changes", "searches", "nson"),
)
FOUND: Final = ROOT / "build" / "fuzz"
INPUT_SECONDS_MAX: Final = 5  # an input takes a millisecond, on a machine that others use more
MEMORY_MB_MAX: Final = 512
INPUT_BYTES_MAX: Final = 2048
CORPUS_INPUTS_MAX: Final = 200  # for each target, the shortest ones: they run in every test run
_EXECUTED: Final = re.compile(r"stat::number_of_executed_units:\s+(\d+)")

Check = Callable[[bytes], None]


def load(name: str) -> tuple[Check, Sequence[bytes]]:
    """A target's check and its seeds."""
    module: Any = importlib.import_module(f"tests.fuzz.{name}")
    return module.check, module.SEEDS


def corpus(name: str) -> list[bytes]:
    """What earlier runs found worth keeping."""
    file = FOLDER / "corpus" / f"{name}.txt"
    if not file.exists():
        return []
    return [base64.b64decode(line) for line in file.read_text(encoding="ascii").split()]


def _write_corpus(name: str, inputs: Iterable[bytes]) -> None:
    lines = sorted({base64.b64encode(each).decode() for each in inputs if each}, key=_by_size)
    lines = lines[:CORPUS_INPUTS_MAX]
    file = FOLDER / "corpus" / f"{name}.txt"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


def _by_size(line: str) -> tuple[int, str]:
    return len(line), line


def fuzz(name: str, seconds: int, *, keep: bool = False) -> int:
    """Fuzz one target in a process of its own; how many inputs broke it."""
    begun = time.monotonic()
    place = FOUND / name
    place.mkdir(parents=True, exist_ok=True)
    before = set(place.iterdir())
    with tempfile.TemporaryDirectory(prefix="widerow-fuzz-") as folder:
        inputs = Path(folder, "inputs")
        inputs.mkdir()
        _, seeds = load(name)
        for number, each in enumerate((*seeds, *corpus(name))):
            (inputs / f"{number:05}").write_bytes(each)
        done = _atheris(name, [f"-max_total_time={seconds}", "-print_final_stats=1", str(inputs)])
        if keep and done.returncode == 0:
            # Each reaches code that no shorter one does: libFuzzer puts the shorter in its place.
            kept = (each.read_bytes() for each in inputs.iterdir())
            _write_corpus(name, set(kept) - set(seeds))
    found = set(place.iterdir()) - before
    executed = _EXECUTED.search(done.stderr)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
    record(
        f"fuzz: {name}",
        volume=int(executed[1]) if executed else 0,
        unit="inputs",
        violations=max(len(found), int(done.returncode != 0)),
        seconds=time.monotonic() - begun,
        facts={"corpus": len(corpus(name))},
    )
    return max(len(found), int(done.returncode != 0))


def _atheris(name: str, flags: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [
        *(sys.executable, "-m", "tests.fuzz.run", "--one", name),
        f"-artifact_prefix={FOUND / name}{os.sep}",
        f"-timeout={INPUT_SECONDS_MAX}",
        f"-rss_limit_mb={MEMORY_MB_MAX}",
        f"-max_len={INPUT_BYTES_MAX}",
        *flags,
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603  # ourselves


def _one(name: str, flags: Sequence[str]) -> None:
    """Fuzz in this process, for ever or as the flags say."""
    import atheris  # noqa: PLC0415  # where there is one

    with atheris.instrument_imports(include=["widerow"]):
        check, _ = load(name)
    atheris.Setup([name, *flags], check)
    atheris.Fuzz()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["--one"]:
        _one(given[1], given[2:])
        return 0
    parser = argparse.ArgumentParser(description="Look for inputs that break an invariant.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=30, help="for each (%(default)s)")
    parser.add_argument("--keep", action="store_true", help="add to the corpus")
    parser.add_argument("--replay", nargs=2, metavar=("TARGET", "FILE"), help="one input again")
    options = parser.parse_args(given)
    if options.replay is not None:
        load(options.replay[0])[0](Path(options.replay[1]).read_bytes())
        return 0
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"no such target: {min(unknown)}; there are {', '.join(TARGETS)}")
    names = options.targets or TARGETS
    return int(sum(fuzz(name, options.seconds, keep=options.keep) for name in names) > 0)


if __name__ == "__main__":
    sys.exit(main())
