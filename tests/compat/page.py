"""The page of actions: which works with which SDK over which store, and the test that shows it.

    python -m tests.compat.page --record FOLDER    after a run that filled the folder (recording.py)

The command writes tests/compat/record.json; `python -m tools.generated_pages compat` prints the
page. A cell says yes where a test makes the call (tests/compat/matrix.py) and a server over each
store answered it in the recorded run; else it names the stores. A new record replaces what the
former says of the SDKs and stores that the run had.
"""

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, Final

from tests.compat.matrix import (
    DRIVER_OPERATIONS,
    DRIVERS,
    MATRIX,
    SDKS,
    STORES,
)
from tests.compat.recording import merged

from widerow.wire.tablestore.operations.table import OPERATIONS, UNSUPPORTED

__all__ = ["RECORD", "STORE_NAMES", "Record", "main", "page", "read_record"]

HERE: Final = Path(__file__).parent
RECORD: Final = HERE / "record.json"

Record = Mapping[str, Any]
"""`versions` of the SDKs, and `answers`: from stores to SDKs to actions to the codes answered."""

STORE_NAMES: Final = {"rocksdb": "RocksDB", "postgres": "PostgreSQL", "hbase": "HBase"}
NAMES: Final = {"python": "Python", "node": "Node.js", "go": "Go", "java": "Java"}
SUFFIX: Final = "../tests/compat"
LIFE: Final = "nosql/test_life.py"
EVERY_REFUSAL: Final = "../tests/unit/wire/tablestore/operations/test_table.py"

_HEAD: Final = """\
# What works, by action, SDK and store

For whoever wants to know whether a program will run here. Made of the tests and of a recorded run
of them.

**yes** leads to a test that makes the call with the vendor's unchanged SDK, and says that the call
was answered with success in the recorded run of those tests, by a server over each of the stores:
{stores}. Where it is not so over each of them, the link names those over which it is. **–** stands
where the SDK has no such call, **no answer** where none of those servers answered it with success.
How each action behaves is in [the protocol's page](protocol/tablestore.md), where it differs from
the service in [differences](protocol/differences.md), where stores differ in
[cluster](operating/cluster.md). `widerow compat` prints the list for the version at hand.
"""
_REFUSED: Final = """
## Refused actions

Each is answered with status 400 and `OTSUnsupportOperation`, and the response header
`x-widerow-hint` names the feature. Nothing of them is accepted and ignored.
[A test asks for each]({every}).
"""
_DRIVERS: Final = """
## Oracle NoSQL's drivers

Each of the vendor's unchanged drivers goes through [the whole life of tables]({life}), with a
killed server in the middle. A cell names the stores over which the operation was answered with
success in the recorded run; how each behaves is in [the protocol's page](protocol/nosql.md).
"""
_CODES: Final = """
## Errors that the tests met

What the service answers for mistakes is answered here too, with its code and text
([errors](protocol/errors.md)). In the recorded run, SDKs were answered with these codes:
"""


def read_record() -> Record:
    """The committed record."""
    record: Record = json.loads(RECORD.read_text(encoding="utf-8"))
    return record


def page(record: Record) -> str:
    """The text of the page."""
    versions = ", ".join(f"{NAMES[sdk]} {record['versions'][sdk]}" for sdk in SDKS)
    stores = ", ".join(STORE_NAMES[store] for store in STORES)
    refused = _REFUSED.format(every=EVERY_REFUSAL)
    return "\n".join(
        chain(
            (_HEAD.format(stores=stores), f"SDKs of the recorded run: {versions}."),
            ("", "## Served actions", ""),
            _table("action", (_served(action, record) for action in OPERATIONS)),
            (refused,),
            ("", "| feature | actions |", "|---|---|"),
            _features(),
            _drivers(record),
            (_CODES, "| action | codes |", "|---|---|"),
            _codes(record),
            ("",),
        )
    )


def _table(first: str, rows: Iterator[str]) -> Iterator[str]:
    yield f"| {first} | " + " | ".join(NAMES[sdk] for sdk in SDKS) + " |"
    yield "|---|" + "---|" * len(SDKS)
    yield from rows


def _served(action: str, record: Record) -> str:
    cells = []
    for sdk in SDKS:
        call = MATRIX[action].get(sdk)
        stores = _answering(record, sdk, action)
        if call is not None and stores:
            said = "yes" if stores == STORES else ", ".join(map(STORE_NAMES.__getitem__, stores))
            cells.append(f'[{said}]({SUFFIX}/{call.judge} "{call.test}")')
        else:
            cells.append("–" if call is None else "no answer")
    return f"| {action} | " + " | ".join(cells) + " |"


def _answering(record: Record, sdk: str, action: str) -> tuple[str, ...]:
    """The stores over which an action was answered with success."""
    answers = record["answers"]
    return tuple(
        [each for each in STORES if "OK" in answers.get(each, {}).get(sdk, {}).get(action, ())]
    )


def _features() -> Iterator[str]:
    for feature in dict.fromkeys(UNSUPPORTED.values()):
        actions = ", ".join(each for each, name in UNSUPPORTED.items() if name == feature)
        yield f"| {feature} | {actions} |"


def _drivers(record: Record) -> Iterator[str]:
    """What the drivers of Oracle NoSQL were seen with."""
    versions = record["versions"]
    said = ", ".join(f"{NAMES[language]} {versions[f'nosql-{language}']}" for language in SDKS)
    yield _DRIVERS.format(life=f"{SUFFIX}/{LIFE}")
    yield from (f"Drivers of the recorded run: {said}.", "")
    yield from _table("operation", (_driven(each, record) for each in DRIVER_OPERATIONS))


def _driven(operation: str, record: Record) -> str:
    answering = [_answering(record, driver, f"nosql/{operation}") for driver in DRIVERS]
    cells = [", ".join(STORE_NAMES[store] for store in stores) or "–" for stores in answering]
    return f"| {operation} | " + " | ".join(cells) + " |"


def _codes(record: Record) -> Iterator[str]:
    for action in OPERATIONS:
        answers = [of_sdks[sdk] for of_sdks in record["answers"].values() for sdk in of_sdks]
        met = {code for each in answers for code in each.get(action, ())} - {"OK"}
        if met:
            yield f"| {action} | {', '.join(sorted(met))} |"


def _versions() -> dict[str, str]:
    """Those that the tests pin, and the installed ones of Python."""
    node = json.loads((HERE / "node/package.json").read_text(encoding="utf-8"))
    go = re.search(r"tablestore-go-sdk v(\S+)", (HERE / "go/go.mod").read_text(encoding="utf-8"))
    pom = (HERE / "java/pom.xml").read_text(encoding="utf-8")
    java = re.search(r"<artifactId>tablestore</artifactId>\s*<version>([^<]+)", pom)
    assert go
    assert java
    return {
        "python": version("tablestore"),
        "node": node["dependencies"]["tablestore"],
        "go": go[1],
        "java": java[1],
        **_driver_versions(),
    }


def _driver_versions() -> dict[str, str]:
    place = HERE / "nosql"
    node = json.loads((place / "node/package.json").read_text(encoding="utf-8"))
    go = re.search(r"nosql-go-sdk v(\S+)", (place / "go/go.mod").read_text(encoding="utf-8"))
    pom = (place / "java/pom.xml").read_text(encoding="utf-8")
    java = re.search(r"<artifactId>nosqldriver</artifactId>\s*<version>([^<]+)", pom)
    assert go
    assert java
    told = (version("borneo"), node["dependencies"]["oracle-nosqldb"], go[1], java[1])
    return dict(zip(DRIVERS, told, strict=True))


def main() -> None:
    """Write the record of a run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--record", type=Path, required=True, help="what a run of the tests filled")
    found = {
        store: {
            sdk: {action: sorted(codes) for action, codes in sorted(actions.items())}
            for sdk, actions in sorted(of_sdks.items())
            if sdk in {*SDKS, *DRIVERS}
        }
        for store, of_sdks in merged(parser.parse_args().record).items()
        if store in STORES
    }
    known = read_record()["answers"] if RECORD.exists() else {}
    answers = {store: known.get(store, {}) | found.get(store, {}) for store in STORES}
    record = {"versions": _versions(), "answers": answers}
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
