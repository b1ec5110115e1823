"""The build: plain Python, and the hot modules compiled with mypyc where a C compiler is at hand.

Everything else about the package stands in pyproject.toml. Compiled is what runs for every request
and every row: the connection, the envelope, dispatch, the codecs, the engine's row paths (measured:
a GetRow costs 0.6 of what it does with the codecs alone compiled). The modules are ordinary typed
Python and run uncompiled with the same tests.

Nothing that reads fields of protobuf messages is compiled: the runtime hands out bytes for a text
that is not UTF-8, which our code refuses, while compiled code already fails on the type.

WIDEROW_COMPILE=0 leaves everything plain. A failing compiler does too, with a warning. An editable
installation is never compiled: an edited module would go on running as it was.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HOT_MODULES = (
    "auth/keyring",
    "auth/policy",
    "auth/signing",
    "engine/batch",
    "engine/bodies",
    "engine/capacity",
    "engine/catalog/catalog",
    "engine/catalog/state",
    "engine/engine",
    "engine/expiry",
    "engine/partitions/histogram",
    "engine/partitions/hot_keys",
    "engine/partitions/notes",
    "engine/partitions/sizes",
    "engine/partitions/table_load",
    "engine/plan",
    "engine/ranges",
    "engine/reads",
    "engine/schema",
    "engine/select",
    "engine/static",
    "engine/stored",
    "engine/wide",
    "engine/writes",
    "keys/decode",
    "keys/encode",
    "keys/layout",
    "model/answers",
    "model/requests",
    "model/row",
    "model/schema",
    "rows/cells",
    "rows/checksum",
    "rows/plain",
    "rows/record",
    "rows/words",
    "server/admission",
    "server/connection",
    "server/dispatch",
    "server/gathering",
    "server/message",
    "server/metrics",
    "server/shared",
    "server/system",
    "server/turn",
    "server/waiting",
    "storage/bulk",
    "storage/group",
    "storage/pending",
    "storage/rocksdb_batch",
    "storage/rocksdb_view",
    "storage/witness",
    "wire/tablestore/envelope",
    "wire/tablestore/operations/answers",
    "wire/tablestore/operations/batch_write_row",
    "wire/tablestore/operations/batches",
    "wire/tablestore/operations/bodies",
    "wire/tablestore/operations/get_row",
    "wire/tablestore/operations/put_row",
    "wire/tablestore/operations/reading",
    "wire/tablestore/operations/short_form",
    "wire/tablestore/operations/tokens",
    "wire/tablestore/operations/units",
    "wire/tablestore/operations/update_row",
    "wire/tablestore/operations/writing",
    "wire/tablestore/plain_row",
    "wire/tablestore/plainbuffer",
    "wire/tablestore/row_matrix",
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
        # What a debugger wants takes a third of the compiler's time; nobody debugs generated C.
        extension.extra_compile_args.append("-g0")
    return found


class BuildAllOrNone(build_ext):
    """The modules share one library: without it none of them may be left behind."""

    def run(self) -> None:
        """Build, and take everything back if one of the parts is missing."""
        super().run()
        built = [Path(self.get_ext_fullpath(each.name)) for each in self.extensions]
        if all(path.exists() for path in built):
            return
        sys.stderr.write("widerow: compiling failed; the modules stay plain Python\n")
        for path in built:
            path.unlink(missing_ok=True)


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildAllOrNone})
