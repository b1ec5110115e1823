"""Product tables through Spring Data for Oracle NoSQL, which makes its tables and queries itself.

`spring/Shop.java` prints what it saw; here is what is right. The server is killed in the middle.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from tests.compat.java.conftest import JVM, fetched_libraries
from tests.compat.java.conftest import run as compile_java
from tests.compat.nosql.conftest import HERE, found
from tests.support.forked import ForkedServer

pytestmark = [pytest.mark.night, pytest.mark.timeout(900)]  # Maven may fetch the library first

PLACE: Final = HERE / "spring"
BLUE: Final = "bowler/felt BLUE 3 [old, round]"
GREEN: Final = "bowler/wool GREEN 0 [new]"
BOW: Final = "bow/silk null null [old]"

BEGIN: Final[Mapping[str, Any]] = {
    "one": BLUE,
    "none": False,
    "all": 4,
    "least": [BLUE, "brim/felt RED 7 []"],
    "counts": [GREEN, "brim/felt RED 7 []"],
    "start": [BLUE, GREEN, BOW],
    "few": 2,
    "silk": True,
    "tagged": [BOW, BLUE],
    "pages": [[BLUE, GREEN], ["brim/felt RED 7 []"]],
    "ids": True,
}
END: Final[Mapping[str, Any]] = {
    "changed": "brim/felt RED 8 [] {net=0.25}",
    "sorted": ["brim/felt RED 8 []", GREEN, BLUE, BOW],
    "indexed": [BLUE, "brim/felt RED 8 []"],
    "native": 4,
    "deleted": 3,
    "left": [BOW],
    "orders": 0,
    "dropped": True,
}


@pytest.fixture
def shop(tmp_path: Path) -> list[str]:
    """The command of the program."""
    program, compiler, work = found("java"), found("javac"), tmp_path / "work"
    libraries = f"{fetched_libraries(PLACE / 'pom.xml', 'compat-spring')}/*"
    options = ("--release", "17", "-encoding", "UTF-8", "-parameters")
    strict = ("-Xlint:all,-path,-serial", "-Werror")
    source = str(PLACE / "Shop.java")
    compile_java(compiler, *options, *strict, "-cp", libraries, "-d", str(work), source)
    return [program, *JVM, "-cp", f"{work}{os.pathsep}{libraries}", "Shop"]


def seen(command: list[str], endpoint: str, phase: str) -> dict[str, Any]:
    done = subprocess.run(  # noqa: S603  # our own program
        [*command, endpoint, phase], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def test_repositories_find_page_change_and_delete(shop: list[str], tmp_path: Path) -> None:
    with ForkedServer("--path", str(tmp_path / "data")) as server:
        assert seen(shop, server.endpoint, "begin") == BEGIN
        server.kill()
        server.start_again()
        assert seen(shop, server.endpoint, "end") == END
        assert server.stop() == 0
