"""What operators are given in deploy: alert rules, a dashboard, manifests. Each fits the server."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES

from widerow.limits import DRAIN_SECONDS_MAX, FLUSH_SECONDS_MAX
from widerow.server.probes import PAGES
from widerow.server.settings import DESCRIPTIONS, PREFIX, Settings
from widerow.server.workers.supervisor import own_lines
from widerow.testing.server import WiderowServer

yaml = pytest.importorskip("yaml", reason="it reads the manifests: pip install pyyaml")

DEPLOY = Path(__file__).parents[2] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yaml"
GUIDE = DEPLOY.parent / "docs" / "operating" / "alerts.md"
NAME = re.compile(r"\bwiderow_\w+")
TOLD = re.compile(r"`(widerow_\w+)`")
STOPPING_SECONDS = DRAIN_SECONDS_MAX + FLUSH_SECONDS_MAX


def loaded(*place: str) -> list[Any]:
    return list(yaml.safe_load_all(DEPLOY.joinpath(*place).read_text(encoding="utf-8")))


def rules() -> list[dict[str, Any]]:
    (document,) = loaded("prometheus", "alerts.yaml")
    return [rule for group in document["groups"] for rule in group["rules"]]


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The metrics of a server with a table on disk, and of workers, by name, with their types."""
    path = tmp_path_factory.mktemp("store") / "data"
    with WiderowServer(path, settings={"metrics_open": True}) as server:
        with Wire(server.endpoint) as wire:
            for action in ("CreateTable", "PutRow"):
                request = Sender().request(action, BODIES[action]("T"))
                assert wire.ask(request).status == 200
            page = wire.ask(b"GET /metrics HTTP/1.1\r\n\r\n").body.decode()
        page += "\n".join(own_lines({1: 0}, {}))
        yield dict(re.findall(r"^# TYPE (\w+) (\w+)$", page, re.MULTILINE))


def known(families: dict[str, str]) -> set[str]:
    """The names that an expression may have."""
    histograms = [name for name, kind in families.items() if kind == "histogram"]
    parts = {f"{name}_{part}" for name in histograms for part in ("bucket", "sum", "count")}
    return set(families) | parts


def test_alerts_are_about_metrics_that_the_server_has(families: dict[str, str]) -> None:
    for rule in rules():
        used = set(NAME.findall(rule["expr"]))
        assert used <= known(families), rule["alert"]
        assert used or "up{" in rule["expr"]
        assert rule["labels"]["severity"] in ("critical", "warning", "info")


def test_each_alert_has_its_section_of_the_guide_and_each_section_its_alert() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    sections = re.findall(r"^## (\w+)$", guide, re.MULTILINE)
    assert sections == [rule["alert"] for rule in rules()]
    for rule in rules():
        page = GUIDE.relative_to(DEPLOY.parent)
        assert rule["annotations"]["runbook"] == f"{page}#{rule['alert'].lower()}"


def test_the_guide_names_metrics_that_the_server_has(families: dict[str, str]) -> None:
    told = set(TOLD.findall(GUIDE.read_text(encoding="utf-8")))
    assert len(told) > 8
    assert told <= known(families)


def test_the_dashboard_shows_metrics_that_the_server_has(families: dict[str, str]) -> None:
    text = (DEPLOY / "grafana" / "widerow.json").read_text(encoding="utf-8")
    panels = json.loads(text)["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) > 10
    for panel in panels:
        for target in panel["targets"]:
            used = set(NAME.findall(target["expr"]))
            assert used, panel["title"]
            assert used <= known(families), panel["title"]
            counted = {name for name in used if families.get(name) == "counter"}
            assert not counted or "rate(" in target["expr"], panel["title"]


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
