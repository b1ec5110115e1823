"""The pytest plugin: a server for all tests of a process, and an instance for each test.

pytest finds it by itself where widerow is installed (entry point `pytest11`). Nothing of widerow is
loaded before a test asks for a fixture. Each worker of pytest-xdist is a process of its own, and so
has a server of its own. The server runs on a thread of its own, so fixtures and clients work in
plain tests, in `unittest` classes and in coroutines alike.
"""

import itertools
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from widerow.testing.clock import FakeClock
    from widerow.testing.instance import WiderowInstance
    from widerow.testing.kit import FaultList
    from widerow.testing.server import WiderowServer

__all__ = [
    "tablestore_client",
    "widerow_clock",
    "widerow_faults",
    "widerow_instance",
    "widerow_server",
    "widerow_session",
]

_numbers: Final = itertools.count(1)


@pytest.fixture(scope="session")
def widerow_session() -> "Iterator[WiderowServer]":
    """A Tablestore server for all tests of this process: in memory, on a free port.

    For fixtures of a wider scope than one test. Tables made in other instances are not removed.
    """
    from widerow.testing.server import WiderowServer  # noqa: PLC0415  # only where it is asked for

    with WiderowServer() as server:
        yield server


@pytest.fixture
def widerow_server() -> "Iterator[WiderowServer]":
    """A Tablestore server of this test alone: in memory, empty, on a free port of this machine.

    Its clock stands still until `widerow_server.clock.advance(seconds)`. For tests that stop and
    start it, or inspect all of it; the other fixtures share one server and are faster.
    """
    from widerow.testing.server import WiderowServer  # noqa: PLC0415  # only where it is asked for

    with WiderowServer() as server:
        yield server


@pytest.fixture
def widerow_instance(
    request: pytest.FixtureRequest,
) -> "Iterator[WiderowInstance]":
    """An instance of this test alone, empty, on the server that the tests share.

    If the test uses `widerow_server`, the instance is on that server.
    """
    from widerow.testing.instance import WiderowInstance  # noqa: PLC0415  # only where it is asked for

    instance = WiderowInstance(_server_of(request), f"test-{next(_numbers)}")
    try:
        yield instance
    finally:
        instance.close()


@pytest.fixture
def tablestore_client(widerow_instance: "WiderowInstance") -> Any:  # noqa: ANN401  # no types
    """A `tablestore.OTSClient` of this test's instance, which does not retry.

    The test is skipped where the vendor's SDK is not installed.
    """
    from widerow.testing.kit import SdkMissing  # noqa: PLC0415  # only where it is asked for

    try:
        return widerow_instance.client()
    except SdkMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def widerow_clock(request: pytest.FixtureRequest) -> "Iterator[FakeClock]":
    """The clock that dates stored data. It stands still: `advance`, `set`, `run`, `freeze`.

    It is the server's, so it moves for all instances; after the test it is reset to the machine's
    time.
    """
    from widerow.system import SystemClock  # noqa: PLC0415  # only where it is asked for

    clock = _server_of(request).clock
    clock.freeze()
    clock.set(SystemClock().now_us() // 1000)
    try:
        yield clock
    finally:
        clock.freeze()
        clock.set(SystemClock().now_us() // 1000)


@pytest.fixture
def widerow_faults(widerow_instance: "WiderowInstance") -> "Iterator[FaultList]":
    """Faults for this test's instance: `widerow_faults.add("OTSServerBusy", count=2)`."""
    faults = widerow_instance.faults
    try:
        yield faults
    finally:
        faults.clear()


def _server_of(request: pytest.FixtureRequest) -> "WiderowServer":
    """The test's own server if it has one, else the shared one."""
    own = "widerow_server" in request.fixturenames
    server: WiderowServer = request.getfixturevalue("widerow_server" if own else "widerow_session")
    return server
