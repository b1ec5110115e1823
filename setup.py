"""The build: plain Python, and the hot modules compiled with mypyc where a C compiler is at hand.

Everything else about the package stands in pyproject.toml. Compiled is what runs for every request
and every row: the connection, the envelope, dispatch, the codecs, the engine's row paths (measured:
a GetRow costs 0.6 of what it does with the codecs alone compiled). The modules are ordinary typed
Python and run uncompiled with the same tests.

Nothing that reads fields of protobuf messages is compiled: the runtime hands out bytes for a text
that is not UTF-8, which our code refuses, while compiled code already fails on the type.

Nor is a subclass of `Mapping` (`engine/typed/stored.py`): compiled, it shares the register of its
base, and every dict is an instance of it. A module with a subclass of a class that is not compiled
and has slots stays plain, too (`wire/nosql/sql/update_run.py`).

mypyc reads types: of the modules, and of what they import. It has rules of its own for that, not
those of `make check`, because an installation has other packages at hand than a developer has.
Where nothing can be compiled (no C compiler, no headers of Python, types that do not fit), the
modules stay plain: one warning says why, and `widerow version` says it again, because pip shows
warnings of a successful build with -v only. The installation never fails for it.

A compiled wheel for Linux is tagged with the oldest C library that it runs on (PEP 600), so that an
index takes it and pip offers it elsewhere; the tag follows from what the libraries ask the linker
for. They hold no path of the machine that built them.

The description of the package is the README without links into the repository.

WIDEROW_COMPILE=0 leaves everything plain. WIDEROW_OPTIMIZE is the level of the C compiler, 0 to 3,
and 2 if not set: at 0 it needs a quarter of the time, for tests. An editable installation is never
compiled: an edited module would go on running as it was.
"""

import os
import platform
import re
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

HOT_MODULES = (
    "auth/keyring",
    "auth/policy",
    "auth/signing",
    "commit/places",
    "commit/waiting",
    "engine/tablestore/batch",
    "engine/tablestore/bodies",
    "engine/tablestore/columns",
    "engine/tablestore/engine",
    "engine/budget",
    "engine/capacity",
    "engine/catalog/catalog",
    "engine/catalog/state",
    "engine/ends",
    "engine/engine",
    "engine/tablestore/expiry",
    "engine/in_order",
    "engine/index_entries",
    "engine/tablestore/indexes/form",
    "engine/tablestore/indexes/keeper",
    "engine/tablestore/indexes/local",
    "engine/tablestore/newest",
    "engine/catalog/read_lease",
    "engine/tablestore/observed",
    "engine/observer",
    "engine/partitions/histogram",
    "engine/partitions/hot_keys",
    "engine/partitions/notes",
    "engine/partitions/sizes",
    "engine/partitions/table_load",
    "engine/partitions/walk",
    "engine/plan",
    "engine/tablestore/ranges",
    "engine/tablestore/reads",
    "engine/tablestore/row_operations",
    "engine/tablestore/schema",
    "engine/tablestore/search/journal",
    "engine/tablestore/select",
    "engine/tablestore/static",
    "engine/tablestore/stored",
    "engine/streams/appender",
    "engine/streams/change_rows",
    "engine/streams/log",
    "engine/tablestore/streams/plain",
    "engine/streams/stream_reads",
    "engine/tablestore/streams/recorder",
    "engine/tablestore/wide",
    "engine/tablestore/writes",
    "engine/timeseries/context",
    "engine/timeseries/lastpoints",
    "engine/timeseries/point_records",
    "engine/timeseries/puts",
    "engine/timeseries/reads",
    "engine/timeseries/scan",
    "engine/timeseries/splits",
    "engine/timeseries/stored",
    "engine/timeseries/walk",
    "engine/typed/change_rows",
    "engine/typed/form",
    "engine/typed/identity",
    "engine/typed/index_form",
    "engine/typed/index_keeper",
    "engine/typed/index_selection",
    "engine/typed/multi_delete",
    "engine/typed/prepare",
    "engine/typed/row_pages",
    "engine/typed/row_units",
    "engine/typed/scan",
    "engine/typed/single_rows",
    "engine/typed/tables",
    "engine/typed/write",
    "keys/decode",
    "keys/encode",
    "keys/layout",
    "keys/series",
    "keys/typed",
    "model/streams",
    "model/tablestore/answers",
    "model/tablestore/requests",
    "model/tablestore/row",
    "model/tablestore/schema",
    "model/typed/coerce",
    "model/typed/names",
    "model/typed/requests",
    "rows/cells",
    "rows/checksum",
    "rows/fields",
    "rows/plain",
    "rows/point_entries",
    "rows/points",
    "rows/record",
    "rows/series",
    "rows/typed",
    "rows/words",
    "search/conversion",
    "search/documents",
    "server/admission",
    "server/answering",
    "server/connection",
    "server/dev/connection",
    "server/dispatch",
    "server/foreseen_runs",
    "server/gathering",
    "server/headers",
    "server/http1",
    "server/message",
    "server/metrics",
    "server/outcomes",
    "server/request_ids",
    "server/routes",
    "server/schedule",
    "server/shared",
    "server/staged_runs",
    "server/thread_runs",
    "server/turn",
    "server/verifying",
    "storage/bulk",
    "storage/foresight",
    "storage/group",
    "storage/hbase/encoded",
    "storage/hbase/loop",
    "storage/hbase/rows",
    "storage/page",
    "storage/pending",
    "storage/rocksdb_batch",
    "storage/rocksdb_view",
    "storage/witness",
    "system",
    "wire/dialect",
    "wire/nosql/answers",
    "wire/nosql/convert",
    "wire/nosql/dialect",
    "wire/nosql/envelope",
    "wire/nosql/members",
    "wire/nosql/nson",
    "wire/nosql/row_copy",
    "wire/nosql/typed_values",
    "wire/nosql/operations/query",
    "wire/nosql/operations/rows",
    "wire/nosql/operations/several",
    "wire/nosql/operations/tables_found",
    "wire/nosql/sql/access_path",
    "wire/nosql/sql/compare",
    "wire/nosql/sql/covered",
    "wire/nosql/sql/delete_run",
    "wire/nosql/sql/expressions",
    "wire/nosql/sql/insert_run",
    "wire/nosql/sql/key_ranges",
    "wire/nosql/sql/loops",
    "wire/nosql/sql/names",
    "wire/nosql/sql/order_keys",
    "wire/nosql/sql/ordered_page",
    "wire/nosql/sql/outputs",
    "wire/nosql/sql/places",
    "wire/nosql/sql/results",
    "wire/nosql/sql/resume",
    "wire/nosql/sql/run",
    "wire/nosql/sql/scans",
    "wire/nosql/sql/scope",
    "wire/nosql/sql/select_run",
    "wire/nosql/sql/stored_items",
    "wire/tablestore/bounds",
    "wire/tablestore/envelope",
    "wire/tablestore/flat_points",
    "wire/tablestore/operations/answers",
    "wire/tablestore/operations/batches",
    "wire/tablestore/operations/bodies",
    "wire/tablestore/operations/reading",
    "wire/tablestore/operations/rows",
    "wire/tablestore/operations/short_form",
    "wire/tablestore/operations/sql/answers",
    "wire/tablestore/operations/streams",
    "wire/tablestore/operations/timeseries/made_row",
    "wire/tablestore/operations/tokens",
    "wire/tablestore/operations/writing",
    "wire/tablestore/plain_row",
    "wire/tablestore/plainbuffer",
    "wire/tablestore/point_rows",
    "wire/tablestore/row_matrix",
)
COMPILING_COMMANDS = {"bdist_wheel", "build", "build_ext", "install"}
# Errors count in the compiled modules only, and not by the project's strict rules; what a package
# without types hands over may be anything.
MYPY_FLAGS = ("--config-file=", "--follow-imports=silent", "--ignore-missing-imports")
# mypyc's checks of its own C, which it asks for at level 0, would name the files of this machine.
QUIET = ("-g0", "-DNDEBUG", "-Wno-all", "-Wno-error")
PROBE = "#include <Python.h>\nPyObject *widerow_probe(void) { return PyLong_FromLong(1); }\n"
NEEDED = "a C compiler and Python's headers are needed, in Debian the packages gcc and python3-dev"
PLACES = ("-L", "-Wl,-rpath")
# What a C library for everybody has, by PEP 600; anything else stays where it was built.
GLIBC_PARTS = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
GLIBC_MINOR_MIN = 17  # the oldest of which anybody still asks for wheels, and CPython's own
RELATIVE_PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n*")
REFERENCE = re.compile(r": \[[^\]]*\]\((?!https?:)[^)]*\)(?= *\|)")  # at the end of a table's cell
RELATIVE_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")
WHY_PLAIN = "not_compiled.txt"  # beside the modules in a plain wheel; `widerow version` reads it


class NotCompiled(Exception):
    """Nothing can be compiled here; the text is the reason."""


class Outcome:
    """What became of the compilation in this run."""

    reason: str | None = None

    def stay_plain(self, reason: object) -> None:
        """Note why the modules stay plain Python, and say so."""
        self.reason = " ".join(str(reason).split())
        sys.stderr.write(f"widerow: WARNING: not compiled, about half as fast: {self.reason}\n")


outcome = Outcome()


def extensions() -> list[Extension]:
    """The modules to compile in this run; none where it compiles nothing."""
    if not COMPILING_COMMANDS.intersection(sys.argv):
        return []
    if os.environ.get("WIDEROW_COMPILE", "1") == "0":
        outcome.reason = "built with WIDEROW_COMPILE=0"
        return []
    try:
        check_compiler()
        return translated()
    except NotCompiled as reason:
        outcome.stay_plain(reason)
        return []


def check_compiler() -> None:
    """Compile two lines against Python's headers, before minutes are spent on more.

    Raises:
        NotCompiled: The compiler is missing, or fails on them.
    """
    # setuptools brings this package, for every version of Python.
    from distutils.ccompiler import new_compiler  # noqa: PLC0415  # only where something is compiled
    from distutils.sysconfig import customize_compiler  # noqa: PLC0415  # only where something is compiled

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text(PROBE, encoding="ascii")
        compiler = new_compiler()
        customize_compiler(compiler)
        try:
            places = {sysconfig.get_path(name) for name in ("include", "platinclude")}
            compiler.compile([str(source)], output_dir=folder, include_dirs=sorted(places))
        except Exception as error:  # setuptools has its own for each kind of compiler
            sys.stderr.write(f"{error}\n")
            name = getattr(compiler, "compiler_so", [compiler.compiler_type])[0]
            raise NotCompiled(f"the C compiler '{name}' fails; {NEEDED}") from error


def translated() -> list[Extension]:
    """The hot modules as C.

    Raises:
        NotCompiled: mypyc is missing, finds a fault in the types, or fails.
    """
    try:
        from mypyc.build import mypycify  # noqa: PLC0415  # absent where nothing is compiled
    except ImportError as error:
        raise NotCompiled(f"mypyc is not installed ({error})") from error
    paths = [f"src/widerow/{module}.py" for module in HOT_MODULES]
    try:
        level = os.environ.get("WIDEROW_OPTIMIZE", "2")
        found: list[Extension] = mypycify([*paths, *MYPY_FLAGS], opt_level=level)
    except SystemExit as error:  # how mypyc reports faults, after it has printed them
        raise NotCompiled("mypyc finds the faults above in the types of the modules") from error
    except Exception as error:  # a fault of mypyc's own
        raise NotCompiled(f"mypyc fails: {type(error).__name__}: {error}") from error
    for extension in found:
        # Nobody debugs generated C, and nobody reads what a compiler warns of in it: symbols take a
        # third of the compiler's time, and -Wall, which Python's own flags ask for, two thirds.
        extension.extra_compile_args = [*extension.extra_compile_args, *QUIET]
    return found


class FreshModules(build_py):
    """The modules as they are now, and nothing that an earlier build left behind."""

    def run(self) -> None:
        """Build into an empty folder."""
        if not self.editable_mode:
            shutil.rmtree(Path(self.build_lib) / "widerow", ignore_errors=True)
            for library in Path(self.build_lib).glob("*__mypyc.*"):
                library.unlink()
        super().run()


class AllOrNone(build_ext):
    """The modules share one library: without it none of them may be left behind."""

    def run(self) -> None:
        """Build, and take everything back if one of the parts fails."""
        built = self.built()
        try:
            super().run()
        except Exception as error:  # noqa: BLE001  # setuptools has its own for each kind of compiler
            outcome.stay_plain(f"the C compiler fails ({error})")
            for path in built:
                path.unlink(missing_ok=True)
            self.extensions = self.distribution.ext_modules = []

    def built(self) -> list[Path]:
        """The libraries that are made."""
        return [Path(self.get_ext_fullpath(each.name)) for each in self.extensions]

    def build_extensions(self) -> None:
        """Build, without the folders that this Python was linked with: no path of this machine."""
        words = self.compiler.linker_so
        self.compiler.linker_so = [each for each in words if not each.startswith(PLACES)]
        super().build_extensions()


class HonestWheel(bdist_wheel):
    """A wheel whose name says for which machines it is: for all, if nothing was compiled."""

    def run(self) -> None:
        """Build the modules first, because only then is known what the wheel holds."""
        self.run_command("build")
        if outcome.reason is not None:
            self.root_is_pure = True
            folder = Path(self.get_finalized_command("build").build_lib) / "widerow"
            (folder / WHY_PLAIN).write_text(outcome.reason + "\n", encoding="utf-8")
        elif tag := portable_tag(self.get_finalized_command("build_ext").built()):
            self.plat_name, self.plat_name_supplied = tag, True
        super().run()


def portable_tag(libraries: list[Path]) -> str | None:
    """The manylinux tag for these; None where they are for this system alone, or not for Linux.

    The linker's table of names is plain text in a library. Texts of the program that look like one
    of its names can make the tag narrower, never wider.
    """
    if not libraries or platform.libc_ver()[0] != "glibc" or not sys.platform.startswith("linux"):
        return None
    content = b"".join(path.read_bytes() for path in libraries)
    needed = {name.decode() for name in re.findall(rb"\blib[\w.+-]+\.so(?:\.\d+)+\b", content)}
    if not needed <= GLIBC_PARTS:
        return None
    minors = [int(minor) for minor in re.findall(rb"\bGLIBC_2\.(\d+)\b", content)]
    machine = sysconfig.get_platform().partition("-")[2].replace("-", "_")
    return f"manylinux_2_{max([GLIBC_MINOR_MIN, *minors])}_{machine}"


def description() -> str:
    """The README, readable where the repository's other files are not beside it."""
    text = Path("README.md").read_text(encoding="utf-8")
    return RELATIVE_LINK.sub(r"\1", REFERENCE.sub("", RELATIVE_PICTURE.sub("", text)))


setup(
    long_description=description(),
    long_description_content_type="text/markdown",
    ext_modules=extensions(),
    cmdclass={"bdist_wheel": HonestWheel, "build_ext": AllOrNone, "build_py": FreshModules},
)
