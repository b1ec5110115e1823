"""docs/guide/key-design.md: its commands print what it shows, and its pictures are theirs."""

import re
from pathlib import Path

import pytest
from tools.gen_key_guide import GUIDE, PICTURES, prepare, run_block

TEXT = GUIDE.read_text(encoding="utf-8")
CONSOLE = re.findall(r"^```console\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("guide")
    prepare(TEXT, made)
    return made


@pytest.mark.parametrize("number", range(len(CONSOLE)))
def test_commands_print_what_the_guide_shows(folder: Path, number: int) -> None:
    assert run_block(CONSOLE[number], folder) == CONSOLE[number]
    for name in re.findall(r"--svg (\S+)", CONSOLE[number]):
        drawn = (folder / name).read_bytes()
        assert drawn == (PICTURES / name).read_bytes(), "python -m tools.gen_key_guide"


def test_every_picture_is_shown_and_drawn() -> None:
    shown = set(re.findall(r"\]\(pictures/(\S+)\)", TEXT))
    drawn = set(re.findall(r"--svg (\S+)", TEXT))
    assert shown == drawn == {path.name for path in PICTURES.iterdir()}


def test_programs_of_the_guide_run() -> None:
    programs = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert len(programs) == 1
    for program in programs:
        exec(compile(program, str(GUIDE), "exec"), {})  # noqa: S102  # what the guide asks to be typed
