"""deploy/Containerfile: its steps run truly, and the result as a container would run it.

As any user id, with a row that is there after a stop and a start (deploy/README.md).
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tablestore
from tests.deploy.containers import Stage, build, instructions
from tests.wheel import built_wheel, skip_offline
from tools.cluster.ports import free_ports

DEPLOY = Path(__file__).parents[2] / "deploy"
TEXT = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
SOMEBODY = "12345:0"  # an id without a name and the group root, as OpenShift does
NOBODY_ELSE = "23456:23456"

# Compiling takes two minutes on a machine of one's own, if nobody has done it yet.
pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="namespaces and overlays are Linux's"),
    pytest.mark.skipif(os.geteuid() != 0, reason="not root: mounting and chroot need it"),
]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The last stage. What compiles is taken from `make wheel`, which is the same step."""
    programs = Path(sys.base_prefix) / "bin"
    if not all((programs / each).exists() for each in ("python", "pip")):
        pytest.skip(f"{programs} has no python and pip, as images have: name another BASE_PYTHON")
    work = tmp_path_factory.mktemp("image")
    work.chmod(0o755)
    for folder in work.parents[:2]:
        folder.chmod(0o755)  # of pytest's own, so that another user id finds its way
    probe = Stage(work / "probe")
    words, given = probe.words(["true"], who="0:0")
    tried = subprocess.run(words, env=given, capture_output=True, text=True, check=False)  # noqa: S603  # our own
    if tried.returncode != 0:
        pytest.skip(f"no overlays or namespaces here: {tried.stderr.strip()}")
    wheel = Stage(work / "wheel")
    (wheel.layer / "upper" / "wheels").mkdir()
    made = built_wheel()
    (wheel.layer / "upper" / "wheels" / made.name).write_bytes(made.read_bytes())
    try:
        return build(TEXT, DEPLOY.parent, work, {"EXTRAS": "postgres"}, {"wheel": wheel})
    except AssertionError as failed:
        said = str(failed)
        skip_offline(subprocess.CompletedProcess([], 1, said, ""))
        raise


class Container:
    """A running one: process 1 of its own, at a free port that a variable names."""

    def __init__(self, image: Stage, volume: Path, who: str, **variables: str) -> None:
        self.port = str(free_ports(1)[0])
        self.settings = {"WIDEROW_PORT": self.port, "WIDEROW_HOST": "127.0.0.1", **variables}
        self._image, self._volume, self._who = image, volume, who
        self._process = self._started([*image.entry, *image.command])
        assert self._process.stdout is not None
        self.ready = self._process.stdout.readline()
        if "widerow ready" not in self.ready:
            _, told = self._process.communicate(timeout=30)
            pytest.fail(f"not ready: {self.ready}{told}")
        self.endpoint = f"http://127.0.0.1:{self.port}"

    def _started(self, command: list[str]) -> subprocess.Popen[str]:
        words, given = self._image.words(
            command, who=self._who, volume=self._volume, more=self.settings
        )
        return subprocess.Popen(  # noqa: S603  # our own
            words,
            env=given,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def first(self) -> int:
        """Process 1 of the container, by its id outside."""
        own = self._process.pid
        (found,) = Path(f"/proc/{own}/task/{own}/children").read_text().split()
        return int(found)

    def health(self, **variables: str) -> int:
        """What the health check exits with, run in the container as an engine runs it."""
        user, _, group = self._who.partition(":")
        inside = ["-t", str(self.first), "-m", "-p", "-r", "-S", user, "-G", group]
        known = self._image.environment | self.settings | variables
        words = [f"{name}={value}" for name, value in known.items()]
        check = ["/usr/bin/env", "-i", *words, *self._image.health]
        return subprocess.run(["nsenter", *inside, *check], check=False).returncode  # noqa: S603, S607  # our own

    def stop(self) -> tuple[int, str]:
        """Send the image's stop signal to process 1; its exit code and stderr."""
        os.kill(self.first, signal.Signals[self._image.stop_signal])
        _, told = self._process.communicate(timeout=60)
        return self._process.returncode, told

    def kill(self) -> None:
        """End it, if it has not ended."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def running(image: Stage, volume: Path, who: str, **variables: str) -> Iterator[Container]:
    container = Container(image, volume, who, **variables)
    try:
        yield container
    finally:
        container.kill()


@pytest.fixture
def volume(image: Stage, tmp_path: Path) -> Path:
    """A new volume: what an engine makes of the image's folder, with its mode."""
    folder = tmp_path / "volume"
    folder.mkdir()
    mode = (image.layer / "upper" / image.volume.strip("/")).stat().st_mode
    folder.chmod(mode & 0o7777)
    return folder


def client(endpoint: str) -> tablestore.OTSClient:
    return tablestore.OTSClient(endpoint, "widerow", "widerow", "inst")


@pytest.mark.night
@pytest.mark.parametrize("who", [SOMEBODY, NOBODY_ELSE])
def test_a_row_is_there_after_a_stop_and_a_start_as_any_user(
    image: Stage, volume: Path, who: str
) -> None:
    none = tablestore.ReservedThroughput(tablestore.CapacityUnit(0, 0))
    with running(image, volume, who) as container:
        assert " pid=1\n" in container.ready
        assert container.health() == 0
        assert container.health(WIDEROW_PORT="1") == 1
        asked = client(container.endpoint)
        asked.create_table(
            tablestore.TableMeta("t", [("k", "STRING")]), tablestore.TableOptions(), none
        )
        asked.put_row("t", tablestore.Row([("k", "a")], [("v", 7)]))
        code, told = container.stop()
        assert code == 0, told
        assert "Traceback" not in told
    owner = {each.stat().st_uid for each in volume.rglob("*")}
    assert owner == {int(who.partition(":")[0])}
    with running(image, volume, who) as container:
        _, row, _ = client(container.endpoint).get_row("t", [("k", "a")], max_version=1)
        assert row is not None
        assert [each[:2] for each in row.attribute_columns] == [("v", 7)]
        assert container.stop()[0] == 0


@pytest.mark.night
def test_the_image_is_compiled_and_runs_other_commands(image: Stage) -> None:
    words, given = image.words([*image.entry, "version", "--json"], who=SOMEBODY)
    done = subprocess.run(words, env=given, capture_output=True, text=True, check=False)  # noqa: S603  # our own
    assert '"compiled": "yes"' in done.stdout, done.stdout + done.stderr


def test_what_the_image_promises_without_being_run() -> None:
    """Nobody runs as root, and the settings that people give are not contradicted by its own."""
    found = instructions(TEXT)
    last = max(place for place, (name, _) in enumerate(found) if name == "FROM")
    final = dict(found[last:])
    assert final["USER"].isdigit()
    assert int(final["USER"]) > 0  # a number, so that an engine can tell that it is not root
    assert final["VOLUME"] == final["WORKDIR"] == "/data"
    assert "WIDEROW_STORE" not in final["ENV"]
    assert "WIDEROW_PATH" not in final["ENV"]
    assert final["HEALTHCHECK"].endswith('CMD ["widerow", "ping"]')
    assert len([rest for name, rest in found if name == "FROM"]) == 3
