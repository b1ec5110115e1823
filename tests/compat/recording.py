"""What servers answered to each SDK while the tests ran: the proof behind `page.py`.

    COMPAT_REQUESTS=FOLDER pytest -m "night or not night" tests/compat

Each `widerow serve` that a test starts then logs its requests, and leaves a file in the folder when
it ends: the store, the SDK, which is the name of the test's directory, and the codes of the answers
to each action. A driver of Oracle NoSQL is named by that directory and its language.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from widerow.testing.process import WiderowProcess

__all__ = ["FOLDER", "Codes", "merged", "record_requests", "sdk_of", "store_of"]

FOLDER: Final = "COMPAT_REQUESTS"
LOGGED: Final = ("--log-level", "debug")
ANSWERED: Final = re.compile(r"\banswered action=(?P<action>\S+) .*?\bcode=(?P<code>\S+)")

_LANGUAGE: Final = re.compile(r"\[\w+-(\w+)\]")

Codes = dict[str, dict[str, dict[str, set[str]]]]
"""From stores to SDKs to actions to codes; `OK` is one."""


def record_requests(folder: Path) -> None:
    """Let every process of this run, from now on, leave a file in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    begin, close = WiderowProcess.__init__, WiderowProcess._close

    def begin_logged(self: WiderowProcess, *flags: str, **more: Any) -> None:  # noqa: ANN401  # its own
        begin(self, *flags, *LOGGED, **more)
        vars(self)["store"] = store_of(flags)
        vars(self)["sdk"] = sdk_of(os.environ["PYTEST_CURRENT_TEST"])

    def close_and_note(self: WiderowProcess) -> None:
        answers = sorted(set(_answers(self.written())))
        note = {"store": vars(self)["store"], "sdk": vars(self)["sdk"], "answers": answers}
        (folder / f"{uuid4()}.json").write_text(json.dumps(note), encoding="utf-8")
        close(self)

    WiderowProcess.__init__ = begin_logged  # type: ignore[method-assign]  # for this run
    WiderowProcess._close = close_and_note  # type: ignore[method-assign]  # for this run


def sdk_of(test: str) -> str:
    """The SDK of a test of tests/compat, or the driver: `go`, `nosql-go`."""
    folder = test.split("/")[2]
    language = _LANGUAGE.search(test)
    return f"{folder}-{language[1]}" if folder == "nosql" and language else folder


def store_of(flags: Sequence[str]) -> str:
    """The kind of the store that a server of these flags has: the scheme of its URL."""
    given = dict(pairwise(flags))
    if "--store" in given:
        return given["--store"].partition(":")[0].replace("postgresql", "postgres")
    return "memory" if "--memory" in flags else "rocksdb"


def merged(folder: Path) -> Codes:
    """What all files in `folder` say together."""
    found: Codes = {}
    for file in folder.glob("*.json"):
        note = json.loads(file.read_text(encoding="utf-8"))
        actions = found.setdefault(note["store"], {}).setdefault(note["sdk"], {})
        for action, code in note["answers"]:
            actions.setdefault(action, set()).add(code)
    return found


def _answers(log: str) -> Iterator[tuple[str, str]]:
    for found in ANSWERED.finditer(log):
        yield found["action"], found["code"]
