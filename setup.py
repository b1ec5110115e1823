"""The build: plain Python, and the hot modules compiled with mypyc where a C compiler is at hand.

Everything else about the package stands in pyproject.toml. Compiled are the codecs and the part of
the engine that runs for every row (measured: half the time of the plain modules); glue gains
nothing. The modules are ordinary typed Python and run uncompiled with the same tests.

Nothing that reads fields of protobuf messages is compiled: the runtime hands out bytes for a text
that is not UTF-8, which our code refuses, while compiled code already fails on the type.

WIDEROW_COMPILE=0 leaves everything plain. A failing compiler does too, with a warning. An editable
installation is never compiled: an edited module would go on running as it was.
"""

import os
import sys

from setuptools import Extension, setup

HOT_MODULES = (
    "engine/capacity",
    "engine/expiry",
    "engine/ranges",
    "engine/reads",
    "engine/schema",
    "engine/select",
    "engine/static",
    "engine/stored",
    "engine/writes",
    "keys/decode",
    "keys/encode",
    "rows/cells",
    "rows/checksum",
    "rows/record",
    "storage/pending",
    "wire/tablestore/operations/answers",
    "wire/tablestore/operations/batches",
    "wire/tablestore/plainbuffer",
)
COMPILING_COMMANDS = {"bdist_wheel", "build", "build_ext", "install"}


def extensions() -> list[Extension]:
    """The modules to compile in this run; none where it compiles nothing."""
    wanted = os.environ.get("WIDEROW_COMPILE", "1") != "0"
    if not wanted or not COMPILING_COMMANDS.intersection(sys.argv):
        return []
    try:
        from mypyc.build import mypycify  # noqa: PLC0415  # absent where nothing is compiled
    except ImportError:
        sys.stderr.write("widerow: mypyc is not installed; the modules stay plain Python\n")
        return []
    paths = [f"src/widerow/{module}.py" for module in HOT_MODULES]
    found: list[Extension] = mypycify([*paths, "--ignore-missing-imports"], opt_level="2")
    for extension in found:
        extension.optional = True
    return found


setup(ext_modules=extensions())
