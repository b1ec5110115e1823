"""What operators are given in deploy: alert rules, a dashboard, manifests. Each fits the server."""

import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES, SEARCH_BODIES

from widerow.limits import DRAIN_SECONDS_MAX, FLUSH_SECONDS_MAX
from widerow.server.probes import PAGES, server_lines
from widerow.server.settings import DESCRIPTIONS, PREFIX, Settings
from widerow.server.workers.supervisor import own_lines
from widerow.storage.server_state import ServerState
from widerow.testing.server import WiderowServer

yaml = pytest.importorskip("yaml", reason="it reads the manifests: pip install pyyaml")

DEPLOY = Path(__file__).parents[2] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yaml"
GUIDE = DEPLOY.parent / "docs" / "operating" / "alerts.md"
NAME = re.compile(r"\bwiderow_\w+")
MATCHED = re.compile(r"\b(widerow_\w+)\{([^}]*)\}")
GROUPED = re.compile(r"\bby \(([\w, ]*)\)")
LEGEND = re.compile(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}")
OF_SCRAPES = {"instance", "job", "le"}
"""Labels that Prometheus adds, and that of buckets."""
TOLD = re.compile(r"`(widerow_\w+)`")
STOPPING_SECONDS = DRAIN_SECONDS_MAX + FLUSH_SECONDS_MAX


def loaded(*place: str) -> list[Any]:
    return list(yaml.safe_load_all(DEPLOY.joinpath(*place).read_text(encoding="utf-8")))


def rules() -> list[dict[str, Any]]:
    (document,) = loaded("prometheus", "alerts.yaml")
    return [rule for group in document["groups"] for rule in group["rules"]]


class Metrics(NamedTuple):
    """The metrics of a server: types by name, and labels by name."""

    kinds: dict[str, str]
    labels: dict[str, set[str]]


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> Metrics:
    """Of a server with a table, indexes and a stream, scraped with a key; of workers, of HBase."""
    path = tmp_path_factory.mktemp("store") / "data"
    key = b64encode(b"widerow:widerow").decode()
    with WiderowServer(path) as server, Wire(server.endpoint) as wire:
        for action in ("CreateTable", "CreateIndex", "CreateSearchIndex", "PutRow"):
            body = {**BODIES, **SEARCH_BODIES}[action]("T")
            assert wire.ask(Sender().request(action, body)).status == 200, action
        authorization = f"authorization: Basic {key}\r\n"
        scrape = f"GET /metrics HTTP/1.1\r\n{authorization}\r\n".encode()
        page = ""
        while not all(f"widerow_{name}{{" in page for name in ("search_waiting", "table_bytes")):
            page = wire.ask(scrape).body.decode()
    report = 'widerow_partition_reports{reason="hot_key"} 1'  # of a key that is under load
    page = "\n".join([page, report, *own_lines({1: 0}, {}), *server_lines([ServerState("db")])])
    labels: dict[str, set[str]] = {}
    for name, written in re.findall(r"^(\w+)(?:\{(.*)\})? ", page, re.MULTILINE):
        labels.setdefault(name, set()).update(re.findall(r'(\w+)="', written))
    return Metrics(dict(re.findall(r"^# TYPE (\w+) (\w+)$", page, re.MULTILINE)), labels)


def known(metrics: Metrics) -> set[str]:
    """The names that an expression may have."""
    histograms = [name for name, kind in metrics.kinds.items() if kind == "histogram"]
    parts = {f"{name}_{part}" for name in histograms for part in ("bucket", "sum", "count")}
    return set(metrics.kinds) | parts


def check_expression(expression: str, legends: str, metrics: Metrics) -> set[str]:
    """The metrics that an expression names, after a look at these and at all labels."""
    names = set(NAME.findall(expression))
    assert names <= known(metrics), expression
    has = OF_SCRAPES.union(*[metrics.labels[name] for name in names])
    for name, matchers in MATCHED.findall(expression):
        matched = set(re.findall(r"(\w+) *[=!]~?", matchers))
        assert matched <= metrics.labels[name] | OF_SCRAPES, expression
    for group in GROUPED.findall(expression):
        assert set(re.findall(r"\w+", group)) <= has, expression
    assert set(LEGEND.findall(legends)) <= has, legends
    return names


def test_alerts_are_about_metrics_that_the_server_has(metrics: Metrics) -> None:
    for rule in rules():
        used = check_expression(rule["expr"], rule["annotations"]["summary"], metrics)
        assert used or "up{" in rule["expr"]
        assert rule["labels"]["severity"] in ("critical", "warning", "info")


def test_each_alert_has_its_section_of_the_guide_and_each_section_its_alert() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    sections = re.findall(r"^## (\w+)$", guide, re.MULTILINE)
    assert sections == [rule["alert"] for rule in rules()]
    place = "{{ $externalLabels.runbooks }}" + str(GUIDE.relative_to(DEPLOY.parent))
    for rule in rules():
        assert rule["annotations"]["runbook_url"] == f"{place}#{rule['alert'].lower()}"


def test_the_guide_names_metrics_that_the_server_has(metrics: Metrics) -> None:
    told = set(TOLD.findall(GUIDE.read_text(encoding="utf-8")))
    assert len(told) > 8
    assert told <= known(metrics)


def test_the_dashboard_shows_metrics_that_the_server_has(metrics: Metrics) -> None:
    text = (DEPLOY / "grafana" / "widerow.json").read_text(encoding="utf-8")
    board = json.loads(text)
    assert board["schemaVersion"] >= 39
    assert [each["type"] for each in board["templating"]["list"]] == ["datasource", "query"]
    panels = [each for each in board["panels"] if each["type"] != "row"]
    assert len({each["id"] for each in board["panels"]}) == len(board["panels"]) > len(panels) > 20
    for panel in panels:
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        for target in panel["targets"]:
            used = check_expression(target["expr"], target["legendFormat"], metrics)
            assert used, panel["title"]
            counted = {name for name in used if metrics.kinds.get(name) == "counter"}
            assert not counted or re.search("rate\\(|increase\\(", target["expr"]), panel["title"]


def test_panels_of_the_dashboard_do_not_lie_on_each_other() -> None:
    text = (DEPLOY / "grafana" / "widerow.json").read_text(encoding="utf-8")
    taken = set[tuple[int, int]]()
    for panel in json.loads(text)["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells


def test_the_example_of_prometheus_loads_the_rules_and_scrapes_with_a_key() -> None:
    (document,) = loaded("prometheus", "prometheus.yaml")
    assert document["rule_files"] == [ALERTS.name]
    (job,) = document["scrape_configs"]
    assert re.match(r"widerow.*", job["job_name"])  # as the rule of WiderowDown has it
    assert job["authorization"]["credentials_file"]
    assert "runbooks" in document["global"]["external_labels"]


def test_the_manifest_probes_pages_that_are_served() -> None:
    service, stateful = loaded("kubernetes", "widerow.yaml")
    pod = stateful["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    paths = {
        kind: container[f"{kind}Probe"]["httpGet"]["path"]
        for kind in ("startup", "liveness", "readiness")
    }
    assert paths == {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}
    assert set(paths.values()) <= set(PAGES)
    (port,) = container["ports"]
    assert port["containerPort"] == service["spec"]["ports"][0]["port"] == Settings().port
    assert container["startupProbe"]["httpGet"]["port"] == port["name"]
    assert pod["terminationGracePeriodSeconds"] > STOPPING_SECONDS
    assert stateful["spec"]["replicas"] == 1
    assert pod["securityContext"]["runAsNonRoot"]


def test_the_manifest_mounts_what_the_server_is_told_of() -> None:
    _, stateful = loaded("kubernetes", "widerow.yaml")
    pod = stateful["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    claimed = [each["metadata"]["name"] for each in stateful["spec"]["volumeClaimTemplates"]]
    assert set(mounts) == {each["name"] for each in pod["volumes"]} | set(claimed)
    given = {each["name"]: each["value"] for each in container["env"]}
    assert Path(given["WIDEROW_CREDENTIALS"]).parent == Path(mounts["keys"])
    assert "VOLUME /data\n" in (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    assert mounts["data"] == "/data"
    assert settings_of(given) <= set(DESCRIPTIONS)


def settings_of(variables: dict[str, str]) -> set[str]:
    return {name.removeprefix(PREFIX).lower() for name in variables}


def test_one_server_is_composed_for_this_machine_alone() -> None:
    (document,) = loaded("one-server.yaml")
    (service,) = document["services"].values()
    assert service["ports"] == [f"127.0.0.1:{Settings().port}:{Settings().port}"]
    assert int(service["stop_grace_period"].removesuffix("s")) > STOPPING_SECONDS
    assert service["volumes"] == ["data:/data"]
    assert set(document["volumes"]) == {"data"}
    assert settings_of(service["environment"]) <= set(DESCRIPTIONS)
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
