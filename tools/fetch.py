"""Fetch what the tests of the sessions need, so that none of them waits for it.

    python -m tools.fetch

HBase, the SDKs of Java, Node and Go, and Oracle's NoSQL drivers, from their registries. Says in a
line how long each took, or why there is none: then its tests skip and say so too.
"""

import shutil
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest
from tests.compat.go.conftest import fetch_modules
from tests.compat.java.conftest import fetched_libraries
from tests.compat.node.conftest import HERE as NODE_SDK
from tests.compat.node.conftest import install
from tests.compat.nosql.conftest import HERE as NOSQL_DRIVERS
from tools.cluster.hbase import fetched, missing_programs

__all__ = ["main"]


def _found(name: str) -> str:
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    return program


def _node(place: Path) -> None:
    if reason := install(_found("npm"), place):
        pytest.skip(reason)


def _hbase() -> None:
    if missing := missing_programs():
        pytest.skip(f"not installed: {', '.join(missing)}")
    fetched()


_FETCHED: Final[Mapping[str, Callable[[], object]]] = MappingProxyType(
    {
        "HBase": _hbase,
        "Java SDK": fetched_libraries,
        "NoSQL driver for Java": lambda: fetched_libraries(
            NOSQL_DRIVERS / "java" / "pom.xml", "compat-nosql"
        ),
        "Node SDK": lambda: _node(NODE_SDK),
        "NoSQL driver for Node": lambda: _node(NOSQL_DRIVERS / "node"),
        "Go SDK": lambda: fetch_modules(_found("go")),
        "NoSQL driver for Go": lambda: fetch_modules(_found("go"), NOSQL_DRIVERS / "go"),
    }
)


def _told(name: str) -> str:
    begun = time.monotonic()
    try:
        _FETCHED[name]()
    except pytest.skip.Exception as why:
        return f"{name}: none, {why}"
    except Exception as error:  # noqa: BLE001  # its tests fail, and say more
        return f"{name}: failed, {error}"
    return f"{name}: {time.monotonic() - begun:.0f} s"


def main() -> int:
    """The command. Returns the exit code."""
    with ThreadPoolExecutor(len(_FETCHED)) as threads:
        for told in threads.map(_told, _FETCHED):
            print(told, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
