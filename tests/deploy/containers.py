"""The steps of a Containerfile, run without a container engine: overlays, namespaces, chroot.

The base image of a stage is this machine's file system under an overlay, so that nothing of it is
changed, with the Python of the tests at /usr/local, where the official images have theirs. Each RUN
runs in it, each COPY copies, and the final stage is started as process 1 of its own, as an engine
would: with its ENV, WORKDIR, ENTRYPOINT and CMD, its volume, and any user id. It takes root.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

_CONTINUED: Final = re.compile(r"\\\n")
_VARIABLE: Final = re.compile(r"\$\{?(\w+)\}?")
_PATH: Final = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"
# What an engine does before it becomes process 1: the file system of the image, then chroot.
_ENTER: Final = """
set -e
mount -t overlay overlay -o "lowerdir=/,upperdir=$LAYER/upper,workdir=$LAYER/work" "$LAYER/root"
mkdir -p "$LAYER/root/usr/local"
mount --bind "$PYTHON" "$LAYER/root/usr/local"
mount -t proc proc "$LAYER/root/proc"
mount --rbind /dev "$LAYER/root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$LAYER/root/tmp"
[ -z "$VOLUME" ] || mount --bind "$VOLUME" "$LAYER/root$TARGET"
chroot "$LAYER/root" ldconfig
exec chroot --userspec="$WHO" --groups= "$LAYER/root" /usr/bin/env -i "$@"
"""


@dataclass
class Stage:
    """A stage as far as it has run: the layer above the base, and what it has been told."""

    layer: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": _PATH})
    user: str = "0"
    folder: str = "/"
    volume: str = ""
    stop_signal: str = "SIGTERM"
    health: list[str] = field(default_factory=list)
    entry: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the layer: empty, above the base."""
        for name in ("upper", "work", "root"):
            (self.layer / name).mkdir(parents=True)

    def words(
        self,
        command: Sequence[str],
        *,
        who: str,
        volume: Path | None = None,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[list[str], dict[str, str]]:
        """The command line and environment that run a command in it, as process 1 of its own."""
        variables = [f"{name}={value}" for name, value in {**self.environment, **more}.items()]
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation=private"]
        inside = [*variables, "/usr/bin/env", "-C", self.folder, *command]
        given = {
            "PATH": os.environ["PATH"],
            "LAYER": str(self.layer),
            "PYTHON": sys.base_prefix,
            "VOLUME": "" if volume is None else str(volume),
            "TARGET": self.volume,
            "WHO": who,
        }
        return [*unshare, "sh", "-c", _ENTER, "sh", *inside], given


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Containerfile: name and the rest of the line."""
    kept = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    lines = _CONTINUED.sub("", "\n".join(kept)).splitlines()
    return [(name.upper(), rest.strip()) for name, _, rest in (e.partition(" ") for e in lines)]


def build(
    text: str, context: Path, work: Path, given: Mapping[str, str], taken: Mapping[str, Stage]
) -> Stage:
    """Run the stages and return the last one.

    `given`: build arguments. `taken`: stages that are not run because their result is at hand.
    Raises: `AssertionError` for a step that fails, `KeyError` for an instruction unknown here.
    """
    stages: dict[str, Stage] = dict(taken)
    arguments: dict[str, str] = {}
    current: Stage | None = None
    skipping = False
    for name, rest in instructions(text):
        if name == "ARG":
            key, _, default = rest.partition("=")
            arguments[key] = given.get(key, default)
        elif name == "FROM":
            label = rest.rpartition(" ")[2] if " AS " in rest else "final"
            skipping = label in taken
            if not skipping:
                current = stages[label] = Stage(work / label)
        elif not skipping:
            assert current is not None, "an instruction before FROM"
            _RUNNERS[name](current, rest, _Build(context, stages, arguments))
    assert current is not None, "no FROM"
    return current


@dataclass(frozen=True)
class _Build:
    context: Path
    stages: Mapping[str, Stage]
    arguments: Mapping[str, str]


_Runner = Callable[[Stage, str, _Build], None]


def _run(stage: Stage, rest: str, building: _Build) -> None:
    shell = ["/bin/sh", "-c", rest]
    words, given = stage.words(shell, who=f"{stage.user}:0", more=building.arguments)
    done = subprocess.run(  # noqa: S603  # the steps of our own file
        words, env=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"RUN {rest}\n{done.stdout}{done.stderr}"


def _copy(stage: Stage, rest: str, building: _Build) -> None:
    *sources, target = shlex.split(rest)
    base = building.context
    if sources[0].startswith("--from="):
        base = building.stages[sources.pop(0).removeprefix("--from=")].layer / "upper"
    place = stage.layer / "upper" / target.strip("/")
    for source in sources:
        found = base / source.strip("/")
        if found.is_dir():
            shutil.copytree(found, place, symlinks=True, dirs_exist_ok=True)
        else:
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found, place)


def _env(stage: Stage, rest: str, _building: _Build) -> None:
    known = stage.environment
    for each in shlex.split(rest):
        name, _, value = each.partition("=")
        stage.environment[name] = _VARIABLE.sub(lambda found: known.get(found[1], ""), value)


def _health(stage: Stage, rest: str, _: _Build) -> None:
    stage.health = json.loads(rest.partition("CMD ")[2])


def _setting(name: str) -> _Runner:
    def keep(stage: Stage, rest: str, _: _Build) -> None:
        setattr(stage, name, json.loads(rest) if rest.startswith("[") else rest)

    return keep


def _nothing(_stage: Stage, _rest: str, _building: _Build) -> None:
    """EXPOSE tells people and engines something, and does nothing."""


_RUNNERS: Final[Mapping[str, _Runner]] = {
    "RUN": _run,
    "COPY": _copy,
    "ENV": _env,
    "USER": _setting("user"),
    "WORKDIR": _setting("folder"),
    "VOLUME": _setting("volume"),
    "EXPOSE": _nothing,
    "STOPSIGNAL": _setting("stop_signal"),
    "HEALTHCHECK": _health,
    "ENTRYPOINT": _setting("entry"),
    "CMD": _setting("command"),
}
