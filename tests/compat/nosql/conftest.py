"""Programs with Oracle's NoSQL drivers, one for each language, which make the same calls.

Each takes the endpoint, the phase and the file of statements and rows, and prints one JSON object.
A function here gives the command of one, or skips and says what is missing.
"""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest
from tests.compat.go.conftest import fetch_modules, run
from tests.compat.java.conftest import JVM, fetched_libraries
from tests.compat.java.conftest import run as compile_java
from tests.compat.node.conftest import install

HERE: Final = Path(__file__).parent

Command = list[str]


def found(name: str) -> str:
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"the NoSQL driver is not tested: {name} is not installed")
    return program


def python(_: Path) -> Command:
    pytest.importorskip("borneo")
    return [sys.executable, str(HERE / "life.py")]


def node(_: Path) -> Command:
    program = found("node")
    if reason := install(found("npm"), HERE / "node"):
        pytest.skip(f"the NoSQL driver for Node.js cannot be installed: {reason}")
    return [program, str(HERE / "node" / "life.js")]


def go(work: Path) -> Command:
    program, place = found("go"), HERE / "go"
    fetch_modules(program, place)
    run(program, "build", "-buildvcs=false", "-o", str(work / "life"), ".", place=place)
    return [str(work / "life")]


def java(work: Path) -> Command:
    program, compiler, place = found("java"), found("javac"), HERE / "java"
    libraries = f"{fetched_libraries(place / 'pom.xml', 'compat-nosql')}/*"
    options = ("--release", "11", "-encoding", "UTF-8", "-Xlint:all,-path", "-Werror")
    compile_java(compiler, *options, "-cp", libraries, "-d", str(work), str(place / "Life.java"))
    return [program, *JVM, "-cp", f"{work}{os.pathsep}{libraries}", "Life"]


DRIVERS: Final[Mapping[str, Callable[[Path], Command]]] = MappingProxyType(
    {"python": python, "node": node, "go": go, "java": java}
)
"""From each language to what makes its command, given an empty directory."""
