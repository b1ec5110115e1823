"""Run a small HBase cluster on this machine, for tests and trials.

    python -m tools.cluster.hbase start --directory D [--servers 3]
    python -m tools.cluster.hbase status --directory D
    python -m tools.cluster.hbase kill --directory D --name server2
    python -m tools.cluster.hbase restart --directory D --name server2
    python -m tools.cluster.hbase pause --directory D --name data1
    python -m tools.cluster.hbase resume --directory D --name data1
    python -m tools.cluster.hbase stop --directory D

`kill` ends one process as a crash would (SIGKILL), `restart` starts one that has ended, `pause` and
`resume` stop one and let it go on; `status` lists the names.

One name node, a data node for each region server, one ZooKeeper and one master, all on 127.0.0.1
with everything under one directory. The programs come from Maven Central (`pom.xml`) and are kept
in `build/cluster`. A cluster that was stopped can be started again with its data.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from time import monotonic, sleep
from types import MappingProxyType
from typing import Final, NamedTuple

from tools.cluster.ports import free_ports

__all__ = ["Cluster", "ClusterError", "Settings", "missing_programs", "private_cluster"]

POM: Final = Path(__file__).with_name("pom.xml")
BUILD: Final = Path(__file__).resolve().parent.parent.parent / "build" / "cluster"
HOST: Final = "127.0.0.1"
COPY: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
FETCH_SECONDS_MAX: Final = 500
START_SECONDS_MAX: Final = 180
STOP_SECONDS_MAX: Final = 20
# What Java 17 keeps from programs that reach into it unless it is told not to.
OPENED: Final = (
    "jdk.internal.misc",
    "jdk.internal.ref",
    "java.io",
    "java.lang",
    "java.lang.reflect",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "sun.nio.ch",
)
# One processor's worth of each: small heaps, a quick compiler, no garbage collector with threads.
JAVA: Final = (
    "java",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.net.preferIPv4Stack=true",
    "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
    "-Dzookeeper.admin.enableServer=false",
    "--add-modules=jdk.unsupported",
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
)
# By default a region server gives 0.4 of its heap to rows that are not in files yet and 0.4 to
# blocks of files. Of 384 MB that leaves 74 for everything else, much of which does not shrink with
# the heap: requests in hand, their copies in the log, and for each region a chunk of memory that
# its rows do not fill, 2 MB. With thirty regions the heap was full, and a flush that got no memory
# ended the server.
_SHARES_OF_HEAP: Final[Mapping[str, str | int]] = MappingProxyType(
    {
        "hbase.regionserver.global.memstore.size": "0.25",
        "hfile.block.cache.size": "0.2",
        "hbase.hregion.memstore.mslab.chunksize": 512 * 1024,
    }
)
LOG4J: Final = """\
log4j.rootLogger=INFO,err
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.target=System.err
log4j.appender.err.layout=org.apache.log4j.PatternLayout
log4j.appender.err.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{2}: %m%n
log4j.logger.org.apache.zookeeper=WARN
"""
WEB_XML: Final = '<web-app xmlns="http://java.sun.com/xml/ns/javaee" version="2.5"/>\n'


class ClusterError(Exception):
    """The cluster cannot be had, and why."""


class Program(NamedTuple):
    """A process of the cluster: its name, heap, main class, arguments, properties of its own."""

    name: str
    heap: str
    main: str
    arguments: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()


def missing_programs() -> list[str]:
    """Which of the programs that it takes are not installed."""
    return [name for name in ("java", "mvn") if shutil.which(name) is None]


def fetched() -> Path:
    """The directory of the jars, which are fetched if they are not there. Raises `ClusterError`."""
    digest = hashlib.sha256(POM.read_bytes()).hexdigest()[:16]
    library = BUILD / digest
    if library.is_dir():
        return library
    if missing := missing_programs():
        raise ClusterError(f"not installed: {', '.join(missing)}")
    BUILD.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=BUILD))
    command = ["mvn", "-q", "-B", "-f", str(POM), COPY, "-DincludeScope=runtime"]
    command.append(f"-DoutputDirectory={fresh}")
    try:
        done = subprocess.run(  # noqa: S603  # Maven, with our own project file
            command, capture_output=True, text=True, check=False, timeout=FETCH_SECONDS_MAX
        )
        if done.returncode != 0:
            raise ClusterError(f"Maven cannot fetch the programs: {done.stdout[-2000:]}")
        with suppress(OSError):  # somebody else has fetched them meanwhile
            fresh.rename(library)
    except subprocess.TimeoutExpired as error:
        raise ClusterError(f"Maven needs more than {FETCH_SECONDS_MAX} s") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return library


def _xml(properties: Mapping[str, str | int]) -> str:
    lines = [
        f"<property><name>{name}</name><value>{escape(str(value))}</value></property>\n"
        for name, value in properties.items()
    ]
    return f"<configuration>\n{''.join(lines)}</configuration>\n"


class Settings(NamedTuple):
    """What a cluster has beside the usual: properties of its files, and options for Java.

    `on_hdfs`: whether it is on HDFS; else on the file system, with one region server.
    """

    hbase: Mapping[str, str | int] = MappingProxyType({})
    core: Mapping[str, str | int] = MappingProxyType({})
    java: tuple[str, ...] = ()
    on_hdfs: bool = True


USUAL: Final = Settings()


class Cluster:
    """A cluster in a directory, whether it runs or not."""

    def __init__(self, directory: Path, settings: Settings = USUAL) -> None:
        self.settings = settings
        self.directory = directory.resolve()
        self._conf = self.directory / "conf"
        self._logs = self.directory / "logs"
        self._pids = self.directory / "pids"

    # --- what it is made of ------------------------------------------------------------------

    def _ports(self, servers: int) -> dict[str, int]:
        """Ports by names: free ones at first, the same ones at every later start."""
        file = self.directory / "ports.json"
        if file.exists():
            kept: dict[str, int] = json.loads(file.read_text(encoding="utf-8"))
            return kept
        names = ["namenode", "zookeeper", "master"]
        names += [f"server{number}" for number in range(1, servers + 1)]
        ports = dict(zip(names, free_ports(len(names)), strict=True))
        file.write_text(json.dumps(ports), encoding="utf-8")
        return ports

    @property
    def master(self) -> tuple[str, int]:
        """Where the master listens."""
        return HOST, self._ports(0)["master"]

    @property
    def servers(self) -> list[str]:
        """The names of the region servers."""
        return [name for name in self._ports(0) if name.startswith("server")]

    @property
    def region_servers(self) -> list[str]:
        """Where the region servers listen, as a URL has it."""
        ports = self._ports(0)
        return [f"{HOST}:{ports[name]}" for name in self.servers]

    def url(self, table: str) -> str:
        """The store of a table: its servers may be asked by the master or any region server."""
        host, port = self.master
        return f"hbase://{','.join([f'{host}:{port}', *self.region_servers])}/{table}"

    def _configure(self, ports: Mapping[str, int], servers: int) -> None:
        data = self.directory / "data"
        on_hdfs = self.settings.on_hdfs
        filesystem = f"hdfs://{HOST}:{ports['namenode']}" if on_hdfs else f"file://{data}"
        files: dict[str, Mapping[str, str | int]] = {
            "core-site.xml": {
                "fs.defaultFS": filesystem,
                "hadoop.tmp.dir": f"{data}/hadoop",
                **self.settings.core,
            },
            "hdfs-site.xml": {
                "dfs.replication": min(servers, 3),
                "dfs.namenode.name.dir": f"{data}/names",
                "dfs.namenode.rpc-address": f"{HOST}:{ports['namenode']}",
                "dfs.namenode.http-address": f"{HOST}:0",
                "dfs.namenode.datanode.registration.ip-hostname-check": "false",
                "dfs.namenode.safemode.extension": 0,
                "dfs.namenode.stale.datanode.interval": 5000,
                "dfs.namenode.avoid.read.stale.datanode": "true",
                "dfs.namenode.avoid.write.stale.datanode": "true",
                "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
                "dfs.datanode.address": f"{HOST}:0",
                "dfs.datanode.ipc.address": f"{HOST}:0",
                "dfs.datanode.http.address": f"{HOST}:0",
                "dfs.datanode.hostname": HOST,
                "dfs.datanode.synconclose": "true",
                "dfs.permissions.enabled": "false",
            },
            "hbase-site.xml": {
                "hbase.cluster.distributed": "true",
                "hbase.rootdir": f"{filesystem}/hbase",
                "hbase.tmp.dir": f"{data}/hbase",
                "hbase.zookeeper.quorum": HOST,
                "hbase.zookeeper.property.clientPort": ports["zookeeper"],
                "hbase.zookeeper.property.clientPortAddress": HOST,
                "hbase.zookeeper.property.dataDir": f"{data}/zookeeper",
                "hbase.zookeeper.property.tickTime": 1000,
                "zookeeper.session.timeout": 6000,
                "hbase.master.hostname": HOST,
                "hbase.master.ipc.address": HOST,
                "hbase.master.port": ports["master"],
                "hbase.master.info.port": -1,
                "hbase.regionserver.hostname": HOST,
                "hbase.regionserver.ipc.address": HOST,
                "hbase.unsafe.regionserver.hostname": HOST,
                "hbase.regionserver.info.port": -1,
                "hbase.regionserver.handler.count": 30,
                "hbase.client.keyvalue.maxsize": 64 * 1024 * 1024,
                "hbase.server.keyvalue.maxsize": 64 * 1024 * 1024,
                "hbase.wal.hsync": "true",
                **_SHARES_OF_HEAP,
                # The master waits so long for a server that hangs, also one that had hbase:meta
                # before, and moves no region meanwhile: 60 s otherwise.
                "hbase.rpc.timeout": 5000,
                # Halves of a region can be split, and a merged one merged, when the files of what
                # they were made of are gone: two and five minutes otherwise.
                "hbase.hfile.compaction.discharger.interval": 1000,
                "hbase.catalogjanitor.interval": 2000,
                "hbase.balancer.period": 20000,
                "hbase.unsafe.stream.capability.enforce": str(on_hdfs).lower(),
                **self.settings.hbase,
            },
        }
        self._conf.mkdir(exist_ok=True)
        for name, properties in files.items():
            (self._conf / name).write_text(_xml(properties), encoding="utf-8")
        (self._conf / "log4j.properties").write_text(LOG4J, encoding="utf-8")
        for name in ("hdfs", "datanode", "secondary", "static"):  # pages that the jar does not have
            page = self._conf / "webapps" / name / "WEB-INF" / "web.xml"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(WEB_XML, encoding="utf-8")

    def _programs(self, ports: Mapping[str, int], servers: int) -> Iterator[Program]:
        hdfs, hbase = "org.apache.hadoop.hdfs.server", "org.apache.hadoop.hbase"
        if self.settings.on_hdfs:
            yield Program("namenode", "128m", f"{hdfs}.namenode.NameNode")
        yield Program("zookeeper", "64m", f"{hbase}.zookeeper.HQuorumPeer")
        for number in range(1, servers + 1) if self.settings.on_hdfs else ():
            data = f"-Ddfs.datanode.data.dir={self.directory}/data/blocks{number}"
            yield Program(f"data{number}", "96m", f"{hdfs}.datanode.DataNode", (data,))
        yield Program("master", "192m", f"{hbase}.master.HMaster", ("start",))
        for number in range(1, servers + 1):
            name = f"server{number}"
            port = f"hbase.regionserver.port={ports[name]}"
            main = f"{hbase}.regionserver.HRegionServer"
            yield Program(name, "384m", main, ("-D", port, "start"), (f"-D{port}",))

    # --- start, stop, status -----------------------------------------------------------------

    def start(self, servers: int = 1) -> None:
        """Start it and wait until tables can be made. Raises `ClusterError`."""
        library = fetched()
        for folder in (self.directory, self._logs, self._pids):
            folder.mkdir(parents=True, exist_ok=True)
        if self.running():
            raise ClusterError(f"the cluster in {self.directory} runs already")
        ports = self._ports(servers)
        servers = len(self.servers)
        self._configure(ports, servers)
        deadline = monotonic() + START_SECONDS_MAX
        log = self._logs / "master"
        said = log.stat().st_size if log.exists() else 0  # by those before it
        programs = {each.name: each for each in self._programs(ports, servers)}
        try:
            formatted = (self.directory / "data" / "names" / "current").is_dir()
            if self.settings.on_hdfs and not formatted:
                self._format(library, programs["namenode"])
            for program in programs.values():
                self._launch(library, program)
                if program.name in ports and program.name in ("namenode", "zookeeper"):
                    self._await_port(ports[program.name], program.name, deadline)
            self._await_master(said, deadline)
        except BaseException:
            self.stop()
            raise

    def start_one(self, name: str) -> None:
        """Start one process again that has ended. Raises `ClusterError`."""
        ports = self._ports(0)
        every = {each.name: each for each in self._programs(ports, len(self.servers))}
        if name not in every:
            raise ClusterError(f"there is no {name}: there are {', '.join(every)}")
        self._launch(fetched(), every[name])

    def _command(self, library: Path, program: Program) -> list[str]:
        path = f"{self._conf}:{library}/*"
        options = [*JAVA, *self.settings.java, f"-Xmx{program.heap}", *program.properties]
        return [*options, "-cp", path, program.main]

    def _format(self, library: Path, namenode: Program) -> None:
        command = [*self._command(library, namenode), "-format", "-nonInteractive"]
        with (self._logs / "format").open("wb") as log:
            done = subprocess.run(  # noqa: S603  # Java, with our own configuration
                command, stdout=log, stderr=log, check=False, timeout=START_SECONDS_MAX
            )
        if done.returncode != 0:
            raise ClusterError(f"the name node cannot be formatted: see {self._logs}/format")

    def _launch(self, library: Path, program: Program) -> None:
        command = [*self._command(library, program), *program.arguments]
        with (self._logs / program.name).open("ab") as log:
            process = subprocess.Popen(  # noqa: S603  # Java, with our own configuration
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                start_new_session=True,
                env={**os.environ, "HADOOP_HOME": str(self.directory)},
            )
        process.returncode = 0  # it is to outlive this object, and nobody waits for it
        (self._pids / program.name).write_text(str(process.pid), encoding="utf-8")

    def _await_port(self, port: int, name: str, deadline: float) -> None:
        while True:
            with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
                return
            self._check(name, deadline)

    def _await_master(self, said: int, deadline: float) -> None:
        log = self._logs / "master"
        while b"Master has completed initialization" not in log.read_bytes()[said:]:
            for name in ("master", *self.servers):
                self._check(name, deadline)

    def _check(self, name: str, deadline: float) -> None:
        """Wait a little. Raises `ClusterError` where a process ended or the time is over."""
        if name not in self.running():
            log = (self._logs / name).read_text(encoding="utf-8", errors="replace")
            last = [line for line in log.splitlines() if "Exception" in line or "ERROR" in line]
            raise ClusterError(
                "; ".join([f"{name} has ended: see {self._logs / name}", *last[-3:]])
            )
        if monotonic() > deadline:
            raise ClusterError(f"{name} is not ready in {START_SECONDS_MAX} s: see {self._logs}")
        sleep(0.1)

    def running(self) -> dict[str, int]:
        """The processes that run, by name."""
        if not self._pids.is_dir():
            return {}
        found = {}
        for file in sorted(self._pids.iterdir()):
            pid = int(file.read_text(encoding="utf-8"))
            if _is_ours(pid, self._conf):
                found[file.name] = pid
        return found

    def stop_one(self, name: str, how: signal.Signals = signal.SIGKILL) -> None:
        """End one process, as a crash would."""
        os.kill(self.running()[name], how)
        self._await_end([name])

    def pause_one(self, name: str) -> None:
        """Stop one process without ending it, as a machine that hangs would (SIGSTOP)."""
        os.kill(self.running()[name], signal.SIGSTOP)

    def resume_one(self, name: str) -> None:
        """Let a paused process go on. Nothing happens to one that has ended."""
        with suppress(KeyError, ProcessLookupError):
            os.kill(self.running()[name], signal.SIGCONT)

    def heal(self) -> list[str]:
        """Start every process again that has ended; their names. Raises `ClusterError`.

        Region servers end by themselves when they were away for longer than their session.
        """
        names = [program.name for program in self._programs(self._ports(0), len(self.servers))]
        ended = [name for name in names if name not in self.running()]
        for name in ended:
            self.start_one(name)
        return ended

    def stop(self) -> None:
        """End every process. The data stays; what was synced is there at the next start."""
        running = self.running()
        for pid in running.values():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._await_end(list(running))

    def _await_end(self, names: list[str]) -> None:
        deadline = monotonic() + STOP_SECONDS_MAX
        while left := self.running().keys() & set(names):
            if monotonic() > deadline:
                raise ClusterError(f"these do not end: {', '.join(sorted(left))}")
            sleep(0.05)
        for name in names:
            (self._pids / name).unlink(missing_ok=True)


def _is_ours(pid: int, conf: Path) -> bool:
    """Whether that process is one of this cluster: numbers of processes are used again."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    process = Path(f"/proc/{pid}")
    try:
        line = (process / "cmdline").read_bytes()
        dead = (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False
    return str(conf).encode() in line or not (line or dead)  # Java begins by starting itself anew


@contextmanager
def private_cluster(servers: int, settings: Settings = USUAL) -> Iterator[Cluster]:
    """A new cluster of its own, which is stopped and forgotten at the end.

    Raises: `ClusterError` where there can be none.
    """
    with tempfile.TemporaryDirectory(prefix="widerow-hbase-") as directory:
        cluster = Cluster(Path(directory) / "cluster", settings)
        cluster.start(servers)
        try:
            yield cluster
        finally:
            cluster.stop()


_OF_ONE: Final[Mapping[str, Callable[[Cluster, str], None]]] = MappingProxyType(
    {
        "kill": Cluster.stop_one,
        "restart": Cluster.start_one,
        "pause": Cluster.pause_one,
        "resume": Cluster.resume_one,
    }
)


def _do(cluster: Cluster, action: str, servers: int, name: str | None) -> None:
    """Do one action. Raises `ClusterError`."""
    if action == "start":
        cluster.start(servers)
    elif action == "stop":
        cluster.stop()
    elif action in _OF_ONE:
        running = cluster.running()
        if name is None or (name in running) is (action == "restart"):
            which = "does not run" if action == "restart" else "runs"
            known = ", ".join(running)
            raise ClusterError(f"{action}: name a process that {which}; these run: {known}")
        _OF_ONE[action](cluster, name)


def main() -> int:
    """Do what the command line says; 1 where the cluster does not run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=("start", "status", *_OF_ONE, "stop"))
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--servers", type=int, choices=(1, 3), default=1)
    parser.add_argument("--name", help="of the process that is killed, restarted, paused, resumed")
    asked = parser.parse_args()
    cluster = Cluster(asked.directory)
    try:
        _do(cluster, asked.action, asked.servers, asked.name)
    except ClusterError as error:
        print(error, file=sys.stderr)
        return 1
    running = cluster.running()
    for name, pid in running.items():
        print(f"{name} {pid}")
    if running:
        print(cluster.url("NAME"))
    return int(not running and asked.action != "stop")


if __name__ == "__main__":
    sys.exit(main())
