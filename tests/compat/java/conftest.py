"""The Java SDK: what the program in this directory saw, through clients set up in several ways.

Maven fetches the libraries that `pom.xml` names into `build/` of the repository, which git ignores;
after that javac and java are all that is needed.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.compat.conftest import SPLITTING

Facts = dict[str, Any]

SOURCES: Final = Path(__file__).parent
CACHE: Final = SOURCES.parents[2] / "build"
DOWNLOAD_SECONDS_MAX: Final = 240
BUILD_SECONDS_MAX: Final = 120
NEEDED: Final = ("java", "javac")
# What runs for three seconds gains nothing from the optimising compiler and a parallel collector.
JVM: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


@pytest.fixture(scope="session")
def seen(run_program: Callable[[str, Any], dict[str, dict[str, Facts]]]) -> Any:  # noqa: ANN401  # what JSON holds
    """Everything that the program printed."""
    return run_program("java", lambda _: build("Actions"))


@pytest.fixture(scope="session", params=["default", "careful", "v4"])
def java(
    request: pytest.FixtureRequest, seen: dict[str, dict[str, Facts]]
) -> Callable[[str], Facts]:
    """What a scenario saw, by its name; the test fails if it did not come to its end.

    Through each of the clients: as it comes, with response validation; with checked digests,
    compressed requests and the wish for compressed answers; with V4 signatures.
    """
    return by_name(seen[request.param])


@pytest.fixture(scope="session")
def java_streams(run_program: Callable[..., dict[str, Facts]]) -> Callable[[str], Facts]:
    """What a scenario of streams saw, on a server whose partitions split."""
    seen = run_program("java-streams", lambda _: build("Streams"), *SPLITTING)
    return by_name(seen)


@pytest.fixture(scope="session")
def asynchronous(seen: dict[str, dict[str, Facts]]) -> Callable[[str], Facts]:
    """The same of the asynchronous client."""
    return by_name(seen["async"])


def by_name(scenarios: dict[str, Facts]) -> Callable[[str], Facts]:
    def scenario(name: str) -> Facts:
        facts = scenarios[name]
        if "panic" in facts:
            pytest.fail(facts["panic"], pytrace=False)
        return facts

    return scenario


def build(program: str) -> list[str]:
    """The command of a program. Skips without a JDK or the libraries; fails if javac does."""
    missing = [each for each in NEEDED if shutil.which(each) is None]
    if missing:
        pytest.skip(f"the Java SDK is not tested: {' and '.join(missing)} not installed")
    libraries = f"{fetched_libraries()}/*"
    return ["java", *JVM, "-cp", f"{_compiled(libraries)}{os.pathsep}{libraries}", program]


def _compiled(libraries: str) -> Path:
    """The directory with the classes of the programs here, compiled once for all of them."""
    sources = sorted(SOURCES.glob("*.java"))
    digest = hashlib.sha256(libraries.encode() + b"".join(each.read_bytes() for each in sources))
    classes = CACHE / f"compat-java-classes-{digest.hexdigest()[:16]}"
    if classes.exists():
        return classes
    options = ["--release", "11", "-encoding", "UTF-8", "-Xlint:all", "-Werror"]
    options += [f"-J{each}" for each in JVM]
    with tempfile.TemporaryDirectory(dir=CACHE) as place:
        made = Path(place) / "classes"
        run("javac", *options, "-cp", libraries, "-d", str(made), *map(str, sources))
        _keep(made, classes)
    return classes


def fetched_libraries(pom: Path = SOURCES / "pom.xml", name: str = "compat-java") -> Path:
    """The directory, which is called so, of the libraries that a pom.xml asks for."""
    libraries = CACHE / f"{name}-{hashlib.sha256(pom.read_bytes()).hexdigest()[:16]}"
    if libraries.exists():
        return libraries
    if shutil.which("mvn") is None:
        pytest.skip("the Java SDK is not tested: mvn is not installed")
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as place:
        fetch(pom, Path(place) / "libraries")
        _keep(Path(place) / "libraries", libraries)
    return libraries


def _keep(made: Path, kept: Path) -> None:
    """Give a directory its name: it is whole or not there. Another process may have been first."""
    try:
        made.rename(kept)
    except OSError:
        if not kept.exists():
            raise


def fetch(pom: Path, place: Path) -> None:
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={place}", "-DincludeScope=runtime"]
    try:
        run("mvn", "-B", "-q", "-C", "-f", str(pom), *goal, seconds=DOWNLOAD_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        pytest.skip("the Java SDK is not tested: its libraries took too long to download")
    except subprocess.CalledProcessError as error:
        said = (str(error.stdout) + str(error.stderr)).strip()
        if "hecksum validation failed" in said:  # other bytes are not a missing network
            raise
        pytest.skip(
            f"the Java SDK is not tested: its libraries cannot be had: {said.splitlines()[0]}"
        )


def run(*command: str, seconds: int = BUILD_SECONDS_MAX) -> None:
    subprocess.run(  # noqa: S603  # the compiler, and our own files
        command, capture_output=True, text=True, timeout=seconds, check=True
    )
