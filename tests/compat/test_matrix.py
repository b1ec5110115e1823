"""Every served action is called through each SDK that has a call for it."""

import ast
import re
import shutil
import struct
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from tests.compat.go.conftest import fetch_modules, run
from tests.compat.java.conftest import fetched_libraries
from tests.compat.matrix import MATRIX, SDKS
from tests.compat.node.conftest import HERE as NODE_SOURCES
from tests.compat.node.conftest import install

from widerow.wire.tablestore.operations.table import OPERATIONS

pytestmark = pytest.mark.timeout(600)  # the first of them may install an SDK
HERE: Final = Path(__file__).parent


def test_every_served_action_has_its_place() -> None:
    assert {*MATRIX} == {*OPERATIONS}
    assert {sdk for calls in MATRIX.values() for sdk in calls} == {*SDKS}


@cache
def functions(path: str) -> frozenset[str]:
    tree = ast.parse((HERE / path).read_text())
    return frozenset(each.name for each in tree.body if isinstance(each, ast.FunctionDef))


def test_the_calls_and_the_tests_are_there() -> None:
    calls = [call for calls in MATRIX.values() for call in calls.values()]
    assert [call for call in calls if call.text not in (HERE / call.program).read_text()] == []
    assert [call for call in calls if call.test not in functions(call.judge)] == []


@pytest.mark.parametrize("sdk", SDKS)
def test_an_sdk_without_a_place_has_no_such_call(sdk: str) -> None:
    """As the installed SDK names the actions that it sends."""
    knows = KNOWS[sdk]()
    known = {action for action in MATRIX if knows(action)}
    called = {action for action, calls in MATRIX.items() if sdk in calls}
    assert known == called


def python_sdk() -> Callable[[str], bool]:
    sdk: Any = pytest.importorskip("tablestore.client")
    source = Path(sdk.__file__).read_text()
    return lambda action: f"'{action}'" in source


def node_sdk() -> Callable[[str], bool]:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed on this machine")
    reason = install(npm)
    if reason:
        pytest.skip(f"the Node SDK cannot be installed: {reason}")
    source = (NODE_SOURCES / "node_modules/tablestore/lib/client.js").read_text()
    asked = set(re.findall(r"makeRequest\('(\w+)'", source))
    return lambda action: bool({action, f"{action[0].lower()}{action[1:]}"} & asked)


def go_sdk() -> Callable[[str], bool]:
    program = shutil.which("go")
    if program is None:
        pytest.skip("go is not installed on this machine")
    fetch_modules(program)
    module = "github.com/aliyun/aliyun-tablestore-go-sdk"
    place = Path(run(program, "list", "-m", "-f", "{{.Dir}}", module).strip())
    source = "".join((place / part / "api.go").read_text() for part in ("tablestore", "tunnel"))
    return lambda action: f'= "/{action}"' in source


def java_sdk() -> Callable[[str], bool]:
    [library] = fetched_libraries().glob("tablestore-[0-9]*.jar")
    with zipfile.ZipFile(library) as archive:
        names = archive.read("com/alicloud/openservices/tablestore/model/OperationNames.class")
    # a constant of a class file: its tag 1, the length of the text, the text
    return lambda action: b"\1" + struct.pack(">H", len(action)) + action.encode() in names


KNOWS: Final = {"python": python_sdk, "node": node_sdk, "go": go_sdk, "java": java_sdk}
