"""Write what the commands of docs/guide/key-design.md print below them, and draw its pictures.

    python -m tools.gen_key_guide

Blocks of `console` hold commands behind `$`; whatever follows them is replaced. Blocks of `csv`
behind a line that ends in a file's name in backquotes are the files they run on.
"""

import csv
import importlib.util
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Final

from typer.testing import CliRunner

from widerow.cli.main import app

__all__ = ["GUIDE", "PICTURES", "generate", "main", "prepare", "run_block"]

ROOT: Final = Path(__file__).resolve().parent.parent
GUIDE: Final = ROOT / "docs" / "guide" / "key-design.md"
PICTURES: Final = GUIDE.parent / "pictures"
CAMPUS_ROWS: Final = 40_000  # as the guide says

_BLOCK: Final = re.compile(r"^```console\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
_FILE: Final = re.compile(
    r"`(?P<name>\w+\.csv)`:\n\n```csv\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL
)


def _example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where its tuples look for their types
    spec.loader.exec_module(module)
    return module


def prepare(text: str, folder: Path) -> None:
    """Write the files that the guide's commands run on."""
    for found in _FILE.finditer(text):
        (folder / found["name"]).write_text(found["text"], encoding="utf-8")
    sample = _example("student_card_sample")
    with (folder / "campus.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(sample.Purchase._fields)
        writer.writerows(sample.purchases(CAMPUS_ROWS))


def commands(block: str) -> Iterator[str]:
    """The commands of a block as they are written, each with its continuation lines."""
    lines = iter(block.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            continue
        whole = line
        while whole.endswith("\\"):
            whole += "\n" + next(lines)
        yield whole


def run_block(block: str, folder: Path) -> str:
    """The block with what its commands print now."""
    parts = []
    with chdir(folder):
        for command in commands(block):
            words = shlex.split(command.removeprefix("$ ").replace("\\\n", " "))
            assert words[0] == "widerow"
            done = CliRunner().invoke(app, words[1:], env={"COLUMNS": "100"})
            if done.exit_code:
                raise RuntimeError(f"{command}\n{done.output}") from done.exception
            lines = (line.rstrip() for line in done.stdout.splitlines())
            parts += [command, *lines]
    return "\n".join(parts) + "\n"


def generate(text: str, folder: Path) -> str:
    """The guide with every block brought up to date; pictures lie in `folder` then."""
    return _BLOCK.sub(lambda found: f"```console\n{run_block(found['text'], folder)}```", text)


def main() -> None:
    """Bring the guide and its pictures up to date."""
    text = GUIDE.read_text(encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        prepare(text, folder)
        GUIDE.write_text(generate(text, folder), encoding="utf-8")
        for picture in sorted(folder.glob("*.svg")):
            (PICTURES / picture.name).write_bytes(picture.read_bytes())


if __name__ == "__main__":
    main()
