"""Libraries for agents and retrieval, each in a session of use against a server (search §10).

They wait for nothing: a row that was written is found by the next search.
"""

import fcntl
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

# The first of them may install the libraries.
pytestmark = [pytest.mark.night, pytest.mark.timeout(600)]

HERE: Final = Path(__file__).parent
PLACE: Final = HERE.parents[2] / "build" / "compat-libraries"
INSTALL_SECONDS_MAX: Final = 400
Facts = dict[str, Any]


def installed(wanted: Path = HERE / "requirements.txt", place: Path = PLACE) -> Path:
    """The Python of an environment at `place` with what `wanted` names; skips without it."""
    program = place / "bin" / "python"
    marker = place / "installed.txt"
    place.parent.mkdir(exist_ok=True)
    with wanted.open() as mine:  # test runs side by side install once
        fcntl.flock(mine, fcntl.LOCK_EX)
        if marker.exists() and marker.read_text() == wanted.read_text():
            return program
        venv.create(place, clear=True, with_pip=True)
        command = [str(program), "-m", "pip", "install", "--quiet", "-r", str(wanted)]
        try:
            subprocess.run(  # noqa: S603  # pip, with our own list of packages
                command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX
            )
        except subprocess.CalledProcessError as error:
            pytest.skip(f"the libraries cannot be installed: {str(error.stderr).strip()[-300:]}")
        except subprocess.TimeoutExpired:
            pytest.skip(f"pip install took longer than {INSTALL_SECONDS_MAX} s")
        marker.write_text(wanted.read_text())
    return program


@pytest.fixture(scope="session")
def sessions(run_program: Callable[[str, Any], dict[str, Facts]]) -> Callable[[str], Facts]:
    """What a session saw, by its name; the test fails if it did not come to its end."""
    seen = run_program("libraries", lambda _: [str(installed()), str(HERE / "sessions.py")])

    def session(name: str) -> Facts:
        if "panic" in seen[name]:
            pytest.fail(seen[name]["panic"], pytrace=False)
        return seen[name]

    return session


def test_knowledge_of_agents(sessions: Callable[[str], Facts]) -> None:
    """Vectors, words and filters of a tenant, and what is left when it goes."""
    assert sessions("knowledge") == {
        "near": [["a", True], ["b", True]],
        "words": ["a", "b"],
        "some": ["a", "b"],
        "left": [["two", "a"]],
    }


def test_memory_of_agents(sessions: Callable[[str], Facts]) -> None:
    """Pages of sessions by tokens, and words of messages."""
    assert sessions("memory") == {"good": ["s1", "s2"], "said": [["s2", "hello 2"]]}


def test_the_vector_store_of_llama_index(sessions: Callable[[str], Facts]) -> None:
    """Vectors with a filter, words, both at once; deletion pages with a limit of one."""
    assert sessions("llama") == {
        "near": ["a", "b"],
        "filtered": ["a", "b"],
        "words": ["c"],
        "both": ["a", "c"],
        "left": [],
    }


def test_the_vector_store_of_langchain(sessions: Callable[[str], Facts]) -> None:
    """Vectors with their scores (search §4.8: half of one and the cosine), with a filter too."""
    seen = sessions("langchain")
    cosine = 0.9 / 0.82**0.5
    assert seen["near"] == [["a", 1.0], ["b", pytest.approx((1 + cosine) / 2)]]
    assert seen["cakes"] == ["apple cake"]
    assert seen["left"] == ["b", "c"]
