"""The package as a stranger gets it: a wheel in an empty environment, compiled, serving the README.

It takes its wheel from `make wheel`, which the tests of the compiled modules need as well, so that
one run of `make test` compiles once.
"""

import json
import platform
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.wheel import (
    ROOT,
    build_python,
    built_wheel,
    install,
    run_outside,
    without_this_environment,
)

from widerow import __version__

# Compiling takes two minutes on a machine of one's own; others may load it, and pip may download.
pytestmark = pytest.mark.timeout(900)

SNIPPET = re.compile(r"## Sixty seconds\n.*?```python\n(?P<code>.*?)```", re.DOTALL)
WHERE = """
import importlib, importlib.util, json, pkgutil, sys, widerow
names = [each.name for each in pkgutil.walk_packages(widerow.__path__, "widerow.")]
# The vendor's client, and a program that is not a module.
needs = ("widerow.testing", "widerow.__main__")
lacking, found = set(), {}
for name in names:
    if not name.startswith(needs):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            lacking.add(error.name)  # what an extra brings
            found[name] = importlib.util.find_spec(name).origin
assert lacking == {"psycopg", "gssapi"}, lacking
found |= {name: getattr(each, "__file__", None) for name, each in sys.modules.items()}
print(json.dumps(found))
"""
LARGE = {"pyarrow", "PIL", "psycopg", "tablestore", "pytest"}


@pytest.fixture(scope="module")
def wheel() -> Path:
    return built_wheel()


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that was empty, with the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("stranger") / "environment"
    venv.create(folder, with_pip=True, symlinks=True)
    install(folder / "bin" / "python", wheel)
    return folder


@contextmanager
def served(environment: Path, folder: Path, *flags: str) -> Iterator[str]:
    """The endpoint of `python -m widerow serve` on a free port."""
    python = str(environment / "bin" / "python")
    command = [python, "-m", "widerow", "serve", "--port", "0", *flags]
    with subprocess.Popen(  # noqa: S603  # our own command
        command,
        cwd=folder,
        env=without_this_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            ready = server.stdout.readline()
            assert "widerow ready" in ready
            yield ready.partition("endpoint=")[2].split()[0]
        finally:
            server.terminate()


def widerow(environment: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of the installed package, which may fail."""
    return run_outside(environment / "bin" / "widerow", *words, cwd=folder, check=False)


def client_of(code: str, folder: Path) -> str:
    """What a program with the vendor's client prints; the client is installed where tests run."""
    return run_outside(sys.executable, "-W", "ignore", "-c", code, cwd=folder).stdout


def test_the_wheel_runs_compiled(environment: Path, tmp_path: Path) -> None:
    shown = widerow(environment, tmp_path, "version").stdout
    assert re.search(r"^compiled +yes *$", shown, re.MULTILINE), shown
    assert re.search(rf"^widerow +{re.escape(__version__)} *$", shown, re.MULTILINE), shown
    files = json.loads(run_outside(environment / "bin/python", "-c", WHERE, cwd=tmp_path).stdout)
    assert not LARGE & set(files), "what an extra brings is here without it"
    ours = {name: path for name, path in files.items() if name.split(".")[0] == "widerow"}
    assert not [path for path in files.values() if path and Path(path).is_relative_to(ROOT)]
    assert all(Path(path).is_relative_to(environment) for path in ours.values())
    compiled = {name for name, path in ours.items() if not path.endswith(".py")}
    assert compiled == hot_modules()


def test_the_wheel_serves_the_sixty_seconds_of_the_readme(
    environment: Path, tmp_path: Path
) -> None:
    code = SNIPPET.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert code is not None
    assert "http://127.0.0.1:8087" in code["code"]
    with served(environment, tmp_path, "--path", "data") as endpoint:
        waited = widerow(environment, tmp_path, "ping", "--endpoint", endpoint, "--wait", "10")
        assert (waited.returncode, waited.stdout) == (0, f"{endpoint} is ready\n")
        printed = client_of(code["code"].replace("http://127.0.0.1:8087", endpoint), tmp_path)
        assert printed == "('amount', 250)\n"
        words = ("row", "get", "cards", "c-1", "1", "--endpoint", endpoint, "--instance", "demo")
        assert json.loads(widerow(environment, tmp_path, *words).stdout)["amount"] == 250
    assert widerow(environment, tmp_path, "ping", "--endpoint", endpoint).returncode == 1
    for shell in ("bash", "zsh", "fish"):
        script = widerow(environment, tmp_path, "completion", shell)
        assert script.returncode == 0, script.stderr
        assert f"_WIDEROW_COMPLETE={shell}_complete" in script.stdout


def test_without_an_extra_each_feature_names_it(environment: Path, tmp_path: Path) -> None:
    """Nothing of what is large is there: one line with the command that installs the library."""
    (tmp_path / "p.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "p.parquet").write_bytes(b"PAR1")
    key = ("--columns", "a,b")
    told: dict[tuple[str, ...], str] = {
        ("serve", "--store", "postgresql://localhost/x", "--port", "0"): "'psycopg[binary]'",
        ("advise", "keys", "--input", "p.parquet", *key): "pyarrow",
        ("keys", "splice", "--input", "p.parquet", *key): "pyarrow",
        ("keys", "splice", "--input", "p.csv", "--output", "o.parquet", *key): "pyarrow",
        ("simulate", "--nodes", "2", "--input", "p.csv", "--column", "a", "--png", "o.png"): (
            "pillow"
        ),
    }
    with served(environment, tmp_path, "--memory") as endpoint:
        at = ("--endpoint", endpoint, "--instance", "demo")
        assert (
            widerow(environment, tmp_path, "table", "create", "t", "k:string", *at).returncode == 0
        )
        told |= {
            ("export", "t", "--output", "o.parquet", *at): "pyarrow",
            ("import", "t", "--input", "p.parquet", *at): "pyarrow",
            ("archive", "t", "--before", "2025-01-01", *at): "pyarrow",
        }
        for words, library in told.items():
            done = widerow(environment, tmp_path, *words)
            assert done.returncode == 2, (words, done.stdout)
            assert f"pip install {library}" in done.stderr, (words, done.stderr)
            assert done.stderr.startswith("widerow: "), words
            assert done.stderr.count("\n") == 1, (words, done.stderr)


@pytest.mark.night
def test_all_extras_install_and_bring_what_they_are_for(wheel: Path, environment: Path) -> None:
    folder = environment.parent / "all"
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    install(python, f"{wheel}[all]")
    modules = ("pyarrow", "PIL", "psycopg")
    code = "import importlib\n" + "".join(
        f"importlib.import_module({each!r})\n" for each in modules
    )
    run_outside(python, "-W", "ignore", "-c", code, cwd=folder)


def test_the_extra_all_is_all_that_users_have() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(everything.removeprefix("widerow[").removesuffix("]").split(","))
    assert named == set(extras) - {"all", "dev", "docs", "hbase-kerberos"}


def test_the_wheel_holds_the_package_and_nothing_of_this_machine(wheel: Path) -> None:
    if platform.libc_ver()[0] == "glibc":
        assert re.search(r"-manylinux_2_\d+_\w+\.whl$", wheel.name), wheel.name
    places = [str(each).encode() for each in (ROOT, Path.home(), sys.base_prefix)]
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for name in names:
            content = archive.read(name)
            assert not [each for each in places if len(each) > 6 and each in content], name
    package = {each.relative_to(ROOT / "src").as_posix() for each in package_files()}
    libraries = {each for each in names if each.endswith(".so")}
    assert len(libraries) == len(hot_modules()) + 1
    data = {each for each in names if each.startswith("widerow/")} - libraries
    assert data == package
    rest = {each.partition("/")[0] for each in names - package - libraries}
    assert rest == {f"widerow-{__version__}.dist-info"}


@pytest.mark.night
def test_a_source_distribution_gives_a_package_that_works_without_a_compiler(
    environment: Path, tmp_path: Path
) -> None:
    """By the hooks that `python -m build` and `pip wheel` call (PEP 517)."""
    source = tmp_path / "source"
    held = [
        *package_files(),
        *(ROOT / name for name in ("LICENSE", "MANIFEST.in", "README.md", "setup.py")),
    ]
    for path in [*held, ROOT / "pyproject.toml"]:
        target = source / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    for foreign in ("tests/test_x.py", "bench/x.py", "tools/x.py", "widerow-data/CURRENT"):
        (source / foreign).parent.mkdir(exist_ok=True)
        (source / foreign).touch()
    hook = "from setuptools.build_meta import build_sdist; print(build_sdist('..'))"
    made = run_outside(build_python(), "-c", hook, cwd=source).stdout.splitlines()[-1]
    with tarfile.open(tmp_path / made) as archive:
        names = {each.name.partition("/")[2] for each in archive if each.isfile()}
    expected = {each.relative_to(ROOT).as_posix() for each in held} | {"pyproject.toml"}
    assert {each for each in names if "egg-info" not in each} == {
        *expected,
        "PKG-INFO",
        "setup.cfg",
    }

    pip = ("-m", "pip", "wheel", "-v", "--no-build-isolation", "--no-deps")
    said = run_outside(build_python(), *pip, made, cwd=tmp_path, CC="/bin/false")
    assert "WARNING: not compiled, about half as fast" in said.stdout + said.stderr
    (plain,) = tmp_path.glob("widerow-*-py3-none-any.whl")
    folder = tmp_path / "environment"
    venv.create(folder, with_pip=True, symlinks=True)
    # What it needs is in the other environment already; nothing is downloaded twice.
    install(folder / "bin" / "python", "--no-deps", plain)
    (packages,) = environment.glob("lib/python*/site-packages")
    (own,) = folder.glob("lib/python*/site-packages")
    for each in packages.iterdir():
        if not (own / each.name).exists() and "mypyc" not in each.name:
            (own / each.name).symlink_to(each)
    shown = widerow(folder, tmp_path, "version", "--json").stdout
    assert json.loads(shown)["compiled"].startswith("no: the C compiler '/bin/false' fails")
    with served(folder, tmp_path, "--memory") as endpoint:
        assert widerow(folder, tmp_path, "ping", "--endpoint", endpoint).returncode == 0


def package_files() -> list[Path]:
    """The files of the package as they stand in src."""
    found = (ROOT / "src" / "widerow").rglob("*")
    return [each for each in found if each.is_file() and "__pycache__" not in each.parts]


def hot_modules() -> set[str]:
    """The modules that setup.py names."""
    text = (ROOT / "setup.py").read_text(encoding="utf-8")
    listed = re.search(r"^HOT_MODULES = \((.*?)^\)", text, re.MULTILINE | re.DOTALL)
    assert listed is not None
    return {f"widerow.{name.replace('/', '.')}" for name in re.findall(r'"(.+?)"', listed[1])}
