"""The programs of docs/guide/agents.md and docs/guide/data-tools.md, as they stand.

What pip or Maven give is fetched; a tool that is installed by hand is found by a variable that
names its directory. Where there is none a test skips and says what is missing.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from click.testing import CliRunner
from tests.compat.libraries.test_libraries import installed
from tests.support.forked import ForkedServer

from widerow.cli.main import app

EXAMPLES: Final = Path(__file__).resolve().parents[3] / "examples"
BUILD: Final = EXAMPLES.parent / "build"
LOCAL: Final = "http://127.0.0.1:8087"
LINES_MAX: Final = 40
SECONDS_MAX: Final = 400

PYTHON: Final = {
    "agent_memory": "ann: do you have green tea\n",
    "langchain_store": "nearest: tomato soup; among cakes: apple cake\n",
    "llama_index_store": "default: a\ntext_search: b\n",
    "mem0_store": "likes green tea; 2 memories of ann\n",
}
"""Programs of examples/agents, and what they print."""


class Java(NamedTuple):
    """A program in a folder of examples, and what its output ends with."""

    folder: str
    name: str
    prints: str


JAVA: Final = (
    Java("agents/langchain4j", "Store", "tomato soup\n"),
    Java("agents/spring-ai", "Store", "tomato soup\n"),
    Java("data-tools/hbase", "HbaseRows", "r1 v\n"),
    Java("data-tools/mapreduce", "CountRows", "1\n"),
)


class Tool(NamedTuple):
    """A tool whose directory `variable` names, what runs `file` there, and the rows in `table`."""

    variable: str
    command: tuple[str, ...]
    file: str
    table: str
    rows: int


_YCSB: Final = ("bin/ycsb.sh", "load", "tablestore", "-P", "workloads/workloada", "-P")
TOOLS: Final = (
    Tool("DATAX_HOME", ("bin/datax.py",), "datax.json", "cards", 1),
    Tool("YCSB_HOME", _YCSB, "ycsb.properties", "usertable", 1000),
)

SEATUNNEL: Final = "org.apache.seatunnel.core.starter.seatunnel.SeaTunnelClient"
CONNECTORS: Final = """\
seatunnel.source.FakeSource = connector-fake
seatunnel.sink.Tablestore = connector-tablestore
"""
OPENED: Final = ("java.lang", "java.util", "java.nio", "sun.nio.ch")  # as its own script does

night = pytest.mark.night
pytestmark = pytest.mark.timeout(2 * SECONDS_MAX)


@pytest.fixture
def endpoint() -> Iterator[str]:
    """A server with the tables that tools write into."""
    with ForkedServer("--memory") as server:
        for key in ("cards CardID:string OrderNumber:integer", "usertable id:string"):
            words = ("table", "create", *key.split(), "--endpoint", server.endpoint)
            assert CliRunner().invoke(app, words).exit_code == 0
        yield server.endpoint


def said(*command: str, **more: str) -> str:
    """What a program prints on stdout; it ends well."""
    done = subprocess.run(  # noqa: S603  # our own programs
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        env={**os.environ, **more},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_program_is_short_and_on_its_page() -> None:
    pages = {
        "agents": EXAMPLES.parent / "docs" / "guide" / "agents.md",
        "data-tools": EXAMPLES.parent / "docs" / "guide" / "data-tools.md",
    }
    for folder, page in pages.items():
        text = page.read_text()
        programs = [
            each for each in (EXAMPLES / folder).rglob("*.*") if each.suffix not in (".xml", ".pyc")
        ]
        assert len(programs) > 4
        for each in programs:
            assert f"examples/{each.relative_to(EXAMPLES)}" in text
            assert len(each.read_text().splitlines()) < LINES_MAX, each


@night
@pytest.mark.parametrize("name", PYTHON)
def test_a_program_in_python(name: str, endpoint: str) -> None:
    wanted = EXAMPLES / "agents" / "requirements.txt"
    python = installed(wanted, BUILD / "example-agents")
    assert said(str(python), str(EXAMPLES / "agents" / f"{name}.py"), endpoint) == PYTHON[name]


def fetched(pom: Path, libraries: Path) -> Path:
    """The directory with the libraries that a file of Maven names. Skips without them."""
    what = pom.relative_to(EXAMPLES)
    missing = [each for each in ("mvn", "javac", "java") if shutil.which(each) is None]
    if missing:
        pytest.skip(f"{what} is not run: {' and '.join(missing)} not installed")
    fetch = ["mvn", "-B", "-q", "-f", str(pom), "dependency:copy-dependencies"]
    try:
        said(*fetch, f"-DoutputDirectory={libraries}", "-DincludeScope=runtime")
    except (AssertionError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"{what} is not run: its libraries cannot be had: {error!s:.300}")
    return libraries


@night
@pytest.mark.parametrize("program", JAVA, ids=lambda each: each.folder)
def test_a_program_in_java(program: Java, endpoint: str, tmp_path: Path) -> None:
    folder = EXAMPLES / program.folder
    libraries = fetched(folder / "pom.xml", tmp_path / "libraries")
    row = ("row", "put", "usertable", "id=a", "v=1", "--endpoint", endpoint)
    assert CliRunner().invoke(app, row).exit_code == 0
    path = f"{tmp_path}{os.pathsep}{libraries}/*"
    said("javac", "-cp", path, "-d", str(tmp_path), str(folder / f"{program.name}.java"))
    counted = str(tmp_path / "counted")
    assert said("java", "-cp", path, program.name, endpoint, counted).endswith(program.prints)


@night
@pytest.mark.parametrize("tool", TOOLS, ids=lambda each: each.variable)
def test_a_configuration_of_a_tool(tool: Tool, endpoint: str, tmp_path: Path) -> None:
    if tool.variable not in os.environ:
        pytest.skip(f"{tool.file} is not run: {tool.variable} names no directory of the tool")
    home = Path(os.environ[tool.variable])
    file = tmp_path / tool.file
    file.write_text((EXAMPLES / "data-tools" / tool.file).read_text().replace(LOCAL, endpoint))
    program, *words = tool.command
    words = [str(home / each) if "/" in each else each for each in words]
    said(str(home / program), *words, str(file))
    counted = CliRunner().invoke(app, ["row", "count", tool.table, "--endpoint", endpoint])
    assert counted.stdout == f"{tool.rows}\n"


@night
def test_seatunnel_writes_a_row(endpoint: str, tmp_path: Path) -> None:
    """Put together of its published parts, as its own distribution has them."""
    connectors = fetched(EXAMPLES / "data-tools" / "seatunnel.xml", tmp_path / "connectors")
    (connectors / "plugin-mapping.properties").write_text(CONNECTORS)
    job = tmp_path / "seatunnel.conf"
    job.write_text((EXAMPLES / "data-tools" / job.name).read_text().replace(LOCAL, endpoint))
    opened = [f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in OPENED]
    words = ("-cp", f"{connectors}/*", SEATUNNEL, "-m", "local", "--config", str(job))
    said("java", *opened, *words, SEATUNNEL_HOME=str(tmp_path))
    counted = CliRunner().invoke(app, ["row", "count", "cards", "--endpoint", endpoint])
    assert counted.stdout == "1\n"
