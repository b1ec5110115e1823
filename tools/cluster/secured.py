"""What a cluster of tests takes to be secured: certificates, and a Kerberos server of Hadoop's.

Everything stands in one folder. The Kerberos server is `MiniKdc`, which Maven fetches beside the
programs of the cluster; certificates are made by openssl, and given to Java by its keytool.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from tools.cluster.hbase import BUILD, HOST, JAVA, ClusterError, Settings, fetched

__all__ = ["REALM", "kerberos_server", "kerberos_settings", "tls_settings"]

REALM: Final = "WIDEROW.TEST"
_MINIKDC: Final = "org.apache.hadoop:hadoop-minikdc:3.3.6"
_COPY: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
_SECONDS_MAX: Final = 120
_SECRET: Final = "of tests"  # noqa: S105  # of files that stand in a folder of a test
_KDC: Final = f"""\
org.name=WIDEROW
org.domain=TEST
kdc.port=0
kdc.bind.address={HOST}
instance=DefaultKrbServer
max.ticket.lifetime=86400000
max.renewable.lifetime=604800000
transport=TCP
debug=false
"""
# Servers are called as HBase calls them, and not as the system's names of addresses have it.
_NAMES: Final = "[libdefaults]\n    dns_canonicalize_hostname = false\n    rdns = false\n"
_SERVER: Final = f"hbase/{HOST}"


def _run(*command: str) -> None:
    done = subprocess.run(  # noqa: S603  # openssl, keytool and Maven of the path
        command, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX
    )
    if done.returncode != 0:
        raise ClusterError(f"{command[0]} failed: {(done.stdout + done.stderr)[-1000:]}")


def tls_settings(folder: Path) -> Settings:
    """A cluster that speaks TLS alone, and wants the certificates of clients.

    `cert.pem` and `key.pem` in the folder are for both sides. Raises `ClusterError`.
    """
    if shutil.which("openssl") is None:
        raise ClusterError("not installed: openssl")
    certificate, key = str(folder / "cert.pem"), str(folder / "key.pem")
    _run(
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-days", "2", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=IP:{HOST}"),
        *("-keyout", key, "-out", certificate),
    )
    stores = {name: str(folder / f"{name}.p12") for name in ("keystore", "truststore")}
    _run(
        *("openssl", "pkcs12", "-export", "-in", certificate, "-inkey", key, "-name", "server"),
        *("-passout", f"pass:{_SECRET}", "-out", stores["keystore"]),
    )
    _run(
        *("keytool", "-importcert", "-noprompt", "-file", certificate, "-alias", "server"),
        *("-keystore", stores["truststore"], "-storetype", "pkcs12", "-storepass", _SECRET),
    )
    hbase: dict[str, str | int] = {
        "hbase.server.netty.tls.enabled": "true",
        "hbase.server.netty.tls.supportplaintext": "false",
        "hbase.client.netty.tls.enabled": "true",
    }
    for name, file in stores.items():
        hbase[f"hbase.rpc.tls.{name}.location"] = file
        hbase[f"hbase.rpc.tls.{name}.type"] = "pkcs12"
        hbase[f"hbase.rpc.tls.{name}.password"] = _SECRET
    return Settings(hbase=hbase, on_hdfs=False)


def _minikdc() -> Path:
    """The jar of the Kerberos server, which is fetched if it is not there."""
    jar = BUILD / "hadoop-minikdc-3.3.6.jar"
    if not jar.exists():
        with tempfile.TemporaryDirectory(dir=BUILD) as fresh:
            _run("mvn", "-q", "-B", _COPY, f"-Dartifact={_MINIKDC}", f"-DoutputDirectory={fresh}")
            (Path(fresh) / jar.name).rename(jar)
    return jar


@contextmanager
def kerberos_server(folder: Path) -> Iterator[Path]:
    """A Kerberos server; the path of `krb5.conf`. Raises `ClusterError`.

    `keytab` in the folder has the keys of the servers of HBase and of the principal `widerow`.
    """
    library = fetched()
    jar = _minikdc()
    (folder / "kdc.properties").write_text(_KDC, encoding="utf-8")
    log = folder / "kdc.log"
    command = [*JAVA, "-Xmx96m", "-cp", f"{jar}:{library}/*", "org.apache.hadoop.minikdc.MiniKdc"]
    command += [str(folder), str(folder / "kdc.properties"), str(folder / "keytab")]
    with log.open("wb") as told:
        process = subprocess.Popen(  # noqa: S603  # Java, with our own configuration
            [*command, _SERVER, "widerow"], stdin=subprocess.DEVNULL, stdout=told, stderr=told
        )
    try:
        deadline = monotonic() + _SECONDS_MAX
        while b"with principals" not in log.read_bytes():
            if process.poll() is not None or monotonic() > deadline:
                raise ClusterError(f"no Kerberos server: {log.read_text()[-1000:]}")
            sleep(0.1)
        conf = folder / "krb5.conf"
        conf.write_text(conf.read_text().replace("[libdefaults]\n", _NAMES, 1))
        yield conf
    finally:
        process.kill()
        process.wait()


def kerberos_settings(folder: Path, conf: Path, protection: str) -> Settings:
    """A cluster that believes nobody; `protection`: as `hbase.rpc.protection` has it."""
    hbase: dict[str, str | int] = {
        "hbase.security.authentication": "kerberos",
        "hbase.rpc.protection": protection,
    }
    for kind in ("master", "regionserver"):
        hbase[f"hbase.{kind}.keytab.file"] = str(folder / "keytab")
        hbase[f"hbase.{kind}.kerberos.principal"] = f"{_SERVER}@{REALM}"
    core: Mapping[str, str | int] = {"hadoop.security.authentication": "kerberos"}
    return Settings(hbase, core, (f"-Djava.security.krb5.conf={conf}",), on_hdfs=False)
