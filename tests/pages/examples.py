"""The examples of the pages people read, and how each kind is run.

A page's blocks run in their order, in an empty folder, beside a server of the page's own: addresses
with port 8087 are its address. What stands in a comment above a block changes that:

    <!-- not run: REASON -->    it cannot run here; its commands must still be those that exist
    <!-- file: NAME -->         it is the text of a file, for what comes behind
    <!-- file: NAME, latin-1 -->

Commands of `widerow` run inside this process, everything else in a shell.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from click.testing import CliRunner
from tools.markdown_pages import ROOT

from widerow import nosql
from widerow.auth.keyring import Keyring
from widerow.cli.kv.dispatch import execute
from widerow.cli.kv.session import Session
from widerow.cli.kv.start import new_session
from widerow.cli.main import app
from widerow.server.settings import resolve

__all__ = ["RUNNERS", "Example", "Place", "check_unrun", "examples", "run_page"]

BLOCK: Final = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*) -->\n+)?^```(?P<kind>[\w-]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PROMPT: Final = re.compile(r"^[\w.]+-> ", re.MULTILINE)
SHELL_WORDS: Final = re.compile(r"[|<>;&$`]|^\w+=")
SHELL_SECONDS_MAX: Final = 50
RUNNER: Final = CliRunner()


class Example(NamedTuple):
    """A block of a page: its language, its text, where it begins, the comment above it."""

    page: str
    line: int
    kind: str
    text: str
    mark: str

    @property
    def why_not(self) -> str:
        """Why it is not run; nothing if it is."""
        return self.mark.removeprefix("not run: ") if self.mark.startswith("not run: ") else ""


def examples(page: Path) -> Iterator[Example]:
    """The blocks of a page that have a language, in their order."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        if found["kind"]:
            line = text.count("\n", 0, found.start("kind")) + 1
            name = str(page.relative_to(ROOT))
            yield Example(name, line, found["kind"], found["text"], found["mark"] or "")


@dataclass
class Place:
    """Where the blocks of one page run, and what they leave to those behind them."""

    folder: Path
    endpoint: str
    names: dict[str, Any] = field(default_factory=dict)
    printed: str = ""
    store: str = ""  # the directory that `widerow kv --path` named
    shell: Session | None = None
    said: list[str] = field(default_factory=list)

    def here(self, text: str) -> str:
        """The text with this server's address."""
        address = self.endpoint.removeprefix("http://")
        return text.replace("127.0.0.1:8087", address).replace("localhost:8087", address)

    def environment(self) -> dict[str, str]:
        """What commands run with: nothing of the machine's own settings of widerow."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("WIDEROW_", "TABLESTORE_", "OTS_"))
        }
        return kept | {
            "HOME": str(self.folder),
            "PATH": str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"],
            "WIDEROW_ENDPOINT": self.endpoint,
            "XDG_CONFIG_HOME": str(self.folder / ".config"),
            "XDG_STATE_HOME": str(self.folder / ".state"),
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "PYTHONPATH": str(ROOT),  # for `python -m tools…`
        }

    def close(self) -> None:
        """Close the store of the `kv` shell."""
        if self.shell is not None:
            self.shell.store.close()
            self.shell = None


def run_page(found: list[Example], place: Place) -> None:
    """Run the blocks of one page in their order.

    Raises: what goes wrong, with the place of the block.
    """
    with contextlib.chdir(place.folder), contextlib.closing(place):
        for example in found:
            try:
                if example.why_not:
                    check_unrun(example)
                elif example.mark.startswith("file: "):
                    _write(example, place)
                elif runner := RUNNERS.get(example.kind):
                    runner(example.text, place)
            except BaseException as error:
                error.add_note(f"{example.page}:{example.line}")
                raise


def check_unrun(example: Example) -> None:
    """The commands of a block that is not run are such as exist, with the flags that they have.

    Raises: `AssertionError` otherwise.
    """
    if example.kind not in ("sh", "console"):
        return
    for words in _commands(example.text):
        if words[0].endswith("widerow"):
            _parse(words[1:2] if words[1:2] == ["kv"] else words[1:])  # its words are the shell's
        elif words[0] == "make":
            targets = (ROOT / "Makefile").read_text(encoding="utf-8")
            for target in [word for word in words[1:] if "=" not in word]:
                assert re.search(rf"^{target}:", targets, re.MULTILINE), f"make {target}"
        elif words[0].endswith("python") and words[1].endswith(".py"):
            assert (ROOT / words[1]).is_file(), words[1]
        elif words[0].endswith("python") and words[1] == "-m":
            module = words[2].replace(".", "/")
            inside = [ROOT / folder / f"{module}.py" for folder in ("", "src")]
            assert any(each.is_file() for each in inside), words[2]


def _parse(words: list[str]) -> None:
    """Read a command line as the program would, and go no further."""
    done = RUNNER.invoke(app, [*words, "--help"], env={"NO_COLOR": "1", "COLUMNS": "100"})
    assert done.exit_code == 0, done.output


def _commands(text: str) -> Iterator[list[str]]:
    """The commands of a block, split into words, comments left out."""
    for line in text.replace("\\\n", " ").splitlines():
        shown = line.startswith("$ ")
        for part in re.split(r"&&|\||;", line.removeprefix("$ ")):
            with contextlib.suppress(ValueError):  # a quotation over several lines
                words = shlex.split(part, comments=True)
                while words and re.match(r"[A-Z_]+=", words[0]):
                    words = words[1:]
                if words and (shown or not text.startswith("$ ")):
                    yield words


def _write(example: Example, place: Place) -> None:
    name, _, encoding = example.mark.removeprefix("file: ").partition(", ")
    file = place.folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(place.here(example.text), encoding=encoding or "utf-8")


def run_python(text: str, place: Place) -> None:
    """In one namespace for the whole page. A program that defines tests is given to pytest."""
    place.close()  # one process has a store at a time, and the shell was left
    if "def test_" in text:
        (place.folder / "test_page.py").write_text(text, encoding="utf-8")
        run_shell("python -m pytest -q -p no:cacheprovider -p no:xdist test_page.py", place)
        return
    with contextlib.redirect_stdout(io.StringIO()) as output, _settings(place):
        exec(compile(place.here(text), "<page>", "exec"), place.names)  # noqa: S102  # what a page asks to be typed
    place.printed = output.getvalue()


@contextlib.contextmanager
def _settings(place: Place) -> Iterator[None]:
    before, meant = dict(os.environ), place.environment()
    os.environ.clear()
    os.environ.update(meant)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run_text(text: str, place: Place) -> None:
    """What the program above prints."""
    if place.printed:
        assert place.printed == text
        place.printed = ""


def run_shell(text: str, place: Place) -> None:
    """In bash, which ends at the first command that fails."""
    if found := re.search(r"widerow kv --path (\S+)", text):
        place.store = found[1]
    done = subprocess.run(  # noqa: S603  # what a page asks to be typed
        ["bash", "-euo", "pipefail", "-c", place.here(text)],  # noqa: S607  # as people have it
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SHELL_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"


def run_console(text: str, place: Place) -> None:
    """A conversation: what stands below each command is what it prints."""
    again = ""
    for part in text.split("$ ")[1:] if text.startswith("$ ") else ():
        lines = part.splitlines(keepends=True)
        count = next(n for n, line in enumerate(lines, 1) if not line.endswith("\\\n"))
        command = "".join(lines[:count])
        again += f"$ {command}{_said(place.here(command.strip()), place)}"
    assert _settled(again, place) == _settled(text, place)


def _said(command: str, place: Place) -> str:
    words = shlex.split(command.replace("\\\n", " "))
    if words[0] != "widerow" or SHELL_WORDS.search(command.replace("'", "")):
        done = subprocess.run(  # noqa: S603  # what a page asks to be typed
            ["bash", "-c", command],  # noqa: S607  # as people have it
            env=place.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SHELL_SECONDS_MAX,
            check=False,
        )
        said = done.stdout
    else:
        said = RUNNER.invoke(app, words[1:], env=place.environment()).output
    return "".join(f"{line.rstrip()}\n" for line in said.splitlines())


def _settled(text: str, place: Place) -> str:
    """Without what differs from run to run; equal checksums stay equal."""
    names: dict[str, str] = {}
    text = place.here(text)
    text = re.sub(r"[0-9.]+ s, [0-9,]+ rows/s", "TIME", text)
    text = re.sub(r"\b[0-9]{13,16}\b", "MOMENT", text)
    text = re.sub(r"pid=\d+", "pid=", text)
    return re.sub(
        r"\b[0-9a-f]{64}\b", lambda found: names.setdefault(found[0], f"SUM {len(names)}"), text
    )


def run_kv(text: str, place: Place) -> None:
    """A conversation with the shell of typed tables."""
    if place.shell is None:
        place.shell = new_session(nosql.open(place.store, housekeeping=False))
        place.shell.write = place.said.append
    again: list[str] = []
    for line in text.splitlines():
        if PROMPT.match(line):
            typed = PROMPT.sub("", line, count=1)
            again.append(f"{place.shell.prompt}{typed}\n")
            place.said.clear()
            execute(place.shell, typed)
            again += [f"{said}\n" for said in place.said]
    assert "".join(again) == text


def run_ts(text: str, place: Place) -> None:
    """A script of the vendor's commands."""
    done = RUNNER.invoke(app, ["ts"], input=text, env=place.environment())
    assert done.exit_code == 0, done.output


def run_toml(text: str, place: Place) -> None:
    """A file of keys, or a server's settings."""
    if "[[" in text:
        Keyring.load(text)
        return
    file = place.folder / "settings.toml"
    file.write_text(text, encoding="utf-8")
    resolve({}, {}, file)


RUNNERS: Final[Mapping[str, Callable[[str, Place], None]]] = MappingProxyType(
    {
        "console": run_console,
        "kv": run_kv,
        "python": run_python,
        "sh": run_shell,
        "text": run_text,
        "toml": run_toml,
        "ts": run_ts,
    }
)
"""From languages to what is done with a block."""
