"""The rules for alerts in Debian's Prometheus: they are read, fire when they are to, and scrape."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from tests.postgres import fresh_url
from tools.debian import INSTALL_SECONDS, PROMETHEUS, install

from widerow.system import SystemClock
from widerow.testing.server import WiderowServer

yaml = pytest.importorskip("yaml", reason="it writes configurations: pip install pyyaml")

pytestmark = pytest.mark.timeout(INSTALL_SECONDS + 120)

FOLDER: Final = Path(__file__).parents[2] / "deploy" / "prometheus"
ADDRESS: Final = "127.0.0.1:21490"
SECONDS: Final = 60
SERVER: Final = 'instance="a:1", job="widerow"'

FIRES: Final[Mapping[str, Mapping[str, str]]] = {
    "WiderowDown": {f"up{{{SERVER}}}": "0x20"},
    "WiderowWritesRefused": {f"widerow_commit_failures_total{{{SERVER}}}": "0x15 1x5"},
    "WiderowDiskAlmostFull": {f"widerow_store_free_bytes{{{SERVER}}}": "1000x20"},
    "WiderowRequestsFail": {
        f'widerow_requests_total{{{SERVER}, code="OTSServerBusy"}}': "0+60x20",
        f'widerow_requests_total{{{SERVER}, code="OK"}}': "0+600x20",
    },
    "WiderowSlow": {
        f'widerow_request_seconds_bucket{{{SERVER}, action="GetRow", le="0.5"}}': "0x20",
        f'widerow_request_seconds_bucket{{{SERVER}, action="GetRow", le="1.0"}}': "0+60x20",
        f'widerow_request_seconds_bucket{{{SERVER}, action="GetRow", le="+Inf"}}': "0+60x20",
    },
    "WiderowRefusesForLackOfRoom": {f"widerow_refused_total{{{SERVER}}}": "0+60x20"},
    "WiderowCompactionBehind": {
        f"widerow_store_compaction_pending_bytes{{{SERVER}}}": "40000000000x20"
    },
    "WiderowLag": {f"widerow_stream_lag_seconds_max{{{SERVER}}}": "16x20"},
    "WiderowHotPartition": {f'widerow_partition_reports{{{SERVER}, reason="hot_key"}}': "1x20"},
    "WiderowKeysNotRead": {f"widerow_credentials_failures_total{{{SERVER}}}": "0x15 1x5"},
    "WiderowWorkersDie": {f'widerow_worker_ends_total{{{SERVER}, end="killed"}}': "0x15 1x5"},
    "WiderowServerSilent": {f'widerow_nodes{{{SERVER}, state="silent"}}': "0x17 1 0"},
    "WiderowNobodyHasTheLease": {f"widerow_lease_held{{{SERVER}}}": "0x20"},
    "WiderowClockWrong": {f"widerow_clock_fault{{{SERVER}}}": "1x20"},
}
"""What makes each alert fire by the nineteenth minute, a sample a minute."""
QUIET: Final = {
    f"up{{{SERVER}}}": "1x20",
    f"widerow_commit_failures_total{{{SERVER}}}": "5x20",
    f"widerow_store_free_bytes{{{SERVER}}}": "90000000000x20",
    f'widerow_requests_total{{{SERVER}, code="OTSServerBusy"}}': "0+1x20",
    f'widerow_requests_total{{{SERVER}, code="OK"}}': "0+6000x20",
    f'widerow_request_seconds_bucket{{{SERVER}, action="GetRow", le="0.01"}}': "0+60x20",
    f'widerow_request_seconds_bucket{{{SERVER}, action="GetRow", le="+Inf"}}': "0+60x20",
    f"widerow_refused_total{{{SERVER}}}": "7x20",
    f"widerow_store_compaction_pending_bytes{{{SERVER}}}": "1000x20",
    f"widerow_index_lag_seconds_max{{{SERVER}}}": "1x20",
    f"widerow_credentials_failures_total{{{SERVER}}}": "1x20",
    f'widerow_worker_ends_total{{{SERVER}, end="drained"}}': "0+1x20",
    f'widerow_nodes{{{SERVER}, state="serves"}}': "2x20",
    f'widerow_nodes{{{SERVER}, state="silent"}}': "0x20",
    f"widerow_lease_held{{{SERVER}}}": "1x20",
    'widerow_lease_held{instance="b:1", job="widerow"}': "0x20",
    f"widerow_clock_fault{{{SERVER}}}": "0x20",
}
"""A server of two, with nothing to worry about."""


OF_SERVER: Final = {"instance": "a:1", "job": "widerow"}
BY_INSTANCE: Final = {"instance": "a:1"}
BY_JOB: Final = {"job": "widerow"}
LABELS: Final = {
    "WiderowRequestsFail": BY_INSTANCE,
    "WiderowSlow": BY_INSTANCE,
    "WiderowWorkersDie": BY_INSTANCE,
    "WiderowServerSilent": BY_JOB,
    "WiderowNobodyHasTheLease": BY_JOB,
    "WiderowHotPartition": OF_SERVER | {"reason": "hot_key"},
}
"""The labels of alerts that have not those of one server's metric."""


def program(name: str) -> str:
    """A program of Debian's package, or a skip that says what is missing."""
    if shutil.which(name) is None:
        install(*PROMETHEUS)
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} here; as root: apt-get install {' '.join(PROMETHEUS)}")
    return found


def promtool(*words: str | Path) -> None:
    done = subprocess.run(  # noqa: S603  # Debian's program
        [program("promtool"), *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def alerts() -> list[dict[str, Any]]:
    document = yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))
    return [rule for group in document["groups"] for rule in group["rules"]]


def test_prometheus_reads_the_rules_and_the_example() -> None:
    promtool("check", "rules", FOLDER / "alerts.yaml")
    promtool("check", "config", "--syntax-only", FOLDER / "prometheus.yaml")


def _expected(rule: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    """An alert with its labels, and the address of its section; its summary is not compared."""
    url = f"https://git/docs/operating/alerts.md#{rule['alert'].lower()}"
    return {"exp_labels": labels | rule["labels"], "exp_annotations": {"runbook_url": url}}


def test_each_alert_fires_when_it_is_to_and_none_where_all_is_well(tmp_path: Path) -> None:
    rules = {rule["alert"]: rule for rule in alerts()}
    assert FIRES.keys() == rules.keys()
    for rule in rules.values():
        del rule["annotations"]["summary"]
    named = [{"name": "widerow", "rules": list(rules.values())}]
    (tmp_path / "alerts.yaml").write_text(yaml.safe_dump({"groups": named}), encoding="utf-8")
    tests = [
        _test(FIRES[name], {name: [_expected(rule, LABELS.get(name, OF_SERVER))]})
        for name, rule in rules.items()
    ]
    tests.append(_test(QUIET, {name: [] for name in rules}))
    document = {"rule_files": ["alerts.yaml"], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    promtool("test", "rules", tmp_path / "tests.yaml")


def _test(series: Mapping[str, str], expected: dict[str, list[Any]]) -> dict[str, Any]:
    return {
        "interval": "1m",
        "external_labels": {"runbooks": "https://git/"},
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [
            {"eval_time": "19m", "alertname": name, "exp_alerts": alerts}
            for name, alerts in expected.items()
        ],
    }


# --- a whole Prometheus ---------------------------------------------------------------------------


def asked(path: str) -> Any:  # noqa: ANN401  # as JSON has it
    with urlopen(f"http://{ADDRESS}/api/v1/{path}", timeout=10) as answer:  # our own
        return json.load(answer)["data"]


def soon(look: Callable[[], Any]) -> Any:  # noqa: ANN401  # what `look` finds
    ends = time.monotonic() + SECONDS
    while True:
        try:
            if found := look():
                return found
        except OSError:
            pass  # it has not begun
        assert time.monotonic() < ends
        time.sleep(0.1)


@contextmanager
def scraping(folder: Path, targets: list[str]) -> Iterator[None]:
    """A Prometheus with the example's configuration, for these servers of this machine."""
    document = yaml.safe_load((FOLDER / "prometheus.yaml").read_text(encoding="utf-8"))
    document["global"] |= {"scrape_interval": "1s", "evaluation_interval": "1s"}
    document["rule_files"] = [str(FOLDER / "alerts.yaml")]
    (job,) = document["scrape_configs"]
    del job["authorization"]
    job |= {"scheme": "http", "basic_auth": {"username": "widerow", "password": "widerow"}}
    job["static_configs"] = [{"targets": targets}]
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    words = [
        f"--config.file={folder}/prometheus.yaml",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={ADDRESS}",
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603  # Debian's program
            [program("prometheus"), *words], stdout=log, stderr=log
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(SECONDS)


@pytest.mark.night
def test_prometheus_scrapes_two_servers_and_evaluates_each_rule(tmp_path: Path) -> None:
    program("prometheus")
    url = fresh_url()
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                WiderowServer(
                    clock=SystemClock(),
                    settings={"store": url, "node_name": name, "dev": False},
                )
            )
            for name in ("left", "right")
        ]
        targets = [server.endpoint.removeprefix("http://") for server in servers]
        stack.enter_context(scraping(tmp_path, targets))
        soon(lambda: [each["health"] for each in asked("targets")["activeTargets"]] == ["up"] * 2)

        def evaluated() -> list[dict[str, Any]]:
            (group,) = asked("rules")["groups"]
            rules: list[dict[str, Any]] = group["rules"]
            return rules if all(each["health"] != "unknown" for each in rules) else []

        rules = soon(evaluated)
        assert [each["name"] for each in rules] == [each["alert"] for each in alerts()]
        assert [each.get("lastError", "") for each in rules] == [""] * len(rules)
        lease = soon(lambda: asked("query?query=sum(widerow_lease_held)")["result"])
        assert lease[0]["value"][1] in ("0", "1")  # 0 for the moment before one takes it
        soon(lambda: asked("query?query=max(widerow_nodes)")["result"][0]["value"][1] == "2")
        for expression in dashboard():
            assert asked(f"query?query={expression}") is not None


def dashboard() -> Iterator[str]:
    """The expressions of the dashboard for all servers, as a query of HTTP has them."""
    text = (FOLDER.parent / "grafana" / "widerow.json").read_text(encoding="utf-8")
    for panel in json.loads(text)["panels"]:
        for target in panel.get("targets", ()):
            yield quote(target["expr"].replace("$instance", ".*").replace("$__rate_interval", "1m"))
