"""Settings: flag before variable before file before default; unknown ones refused by name.

Variables of the environment are others' too: an unknown one is passed over, a misspelling told.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from widerow.server.settings import (
    CLIENT_VARIABLES,
    DESCRIPTIONS,
    Settings,
    SettingsInvalid,
    passed_over,
    resolve,
)

ROOT = Path(__file__).resolve().parents[3]


def settled(
    tmp_path: Path,
    flags: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    toml: str = "",
) -> Settings:
    file = tmp_path / "settings.toml"
    file.write_text(toml)
    return resolve(flags or {}, environment or {}, file)


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    assert settled(tmp_path) == Settings()
    assert (Settings().host, Settings().port) == ("127.0.0.1", 8087)  # docs/operating/configure.md
    assert Settings().column_names == "lenient"  # semantics §1.4: what the service takes


def test_the_nearest_source_wins(tmp_path: Path) -> None:
    toml = 'port = 1\nhost = "file"\nlog_level = "error"\n'
    environment = {"WIDEROW_PORT": "2", "WIDEROW_HOST": "variable", "PATH": "/bin"}
    found = settled(tmp_path, {"port": "3", "host": None}, environment, toml)
    assert (found.port, found.host, found.log_level) == (3, "variable", "error")


def test_settings_in_force_are_those_that_differ_and_the_store_without_its_password() -> None:
    """docs/operating/configure.md, Log."""
    assert Settings().in_force == {"store": "rocksdb:widerow-data"}
    store = "postgresql://w:canary@db/w?password=canary&sslpassword=canary&sslmode=require"
    found = Settings(store=store, instances=("shop",), console=False).in_force
    assert found == {
        "store": "postgresql://w@db/w?sslmode=require",
        "instances": ("shop",),
        "console": False,
    }


@pytest.mark.parametrize(
    ("flags", "store"),
    [
        ({"path": "/srv/data"}, "rocksdb:/srv/data"),
        ({"memory": True}, "memory:"),
        ({"memory": False}, "rocksdb:widerow-data"),
        ({"store": "rocksdb:elsewhere"}, "rocksdb:elsewhere"),
    ],
)
def test_path_and_memory_are_short_for_a_store(
    tmp_path: Path, flags: Mapping[str, object], store: str
) -> None:
    assert settled(tmp_path, flags).store == store


def test_a_flag_for_the_store_beats_another_word_for_it_elsewhere(tmp_path: Path) -> None:
    environment = {"WIDEROW_PATH": "/variable"}
    assert (
        settled(tmp_path, {"memory": True}, environment, 'store = "rocksdb:f"').store == "memory:"
    )
    assert settled(tmp_path, {}, environment, "memory = true").store == "rocksdb:/variable"


@pytest.mark.parametrize("value", ["a,b", " a , b,"])
def test_instances_are_separated_by_commas(tmp_path: Path, value: str) -> None:
    assert settled(tmp_path, {"instances": value}).instances == ("a", "b")
    assert settled(tmp_path, toml='instances = ["a", "b"]').instances == ("a", "b")


TIMES = (
    *("index_lag", "search_lag", "delivery_seconds"),
    *("partition_hot_seconds", "partition_cold_seconds"),
)


@pytest.mark.parametrize("name", TIMES)
def test_a_time_may_be_a_fraction_of_a_second(tmp_path: Path, name: str) -> None:
    for found in (
        settled(tmp_path, {name: "1.3"}),
        settled(tmp_path, environment={f"WIDEROW_{name.upper()}": "1.3"}),
        settled(tmp_path, toml=f"{name} = 1.3"),
    ):
        assert getattr(found, name) == 1.3


def test_an_empty_variable_is_no_variable(tmp_path: Path) -> None:
    assert settled(tmp_path, environment={"WIDEROW_PORT": ""}).port == 8087


def test_the_cache_is_set_in_mebibytes(tmp_path: Path) -> None:
    assert settled(tmp_path, {"cache_mb": "2"}).cache_bytes == 2 * 1024 * 1024


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("prot = 1", "did you mean port?"),
        ("Port = 1", "unknown setting 'Port'"),
        ("zzz = 1", "known are host, port"),
        ('port = "x"', "port must be a number from 0 to 65535, not 'x'"),
        ("port = 65536", "port must be a number"),
        ("port = -1", "port must be a number"),
        ("port = true", "port must be a number"),
        ("port = 1.5", "port must be a number"),
        ("index_lag = 3600.5", "index_lag must be seconds from 0 to 3600, not 3600.5"),
        ("index_lag = -0.1", "index_lag must be seconds"),
        ("index_lag = nan", "index_lag must be seconds"),
        ("index_lag = true", "index_lag must be seconds"),
        ('index_lag = "soon"', "index_lag must be seconds from 0 to 3600, not 'soon'"),
        ("host = 1", "host must be a text"),
        ('host = ""', "host must be a text"),
        ('memory = "maybe"', "memory must be true or false"),
        ('log_format = "xml"', "log_format must be one of text, json"),
        ('log_level = "loud"', "log_level must be one of debug"),
        ("instances = 1", "instances must be a list of names"),
        ("instances = [1]", "instances must be a list of names"),
        ('instances = ","', "instances is empty"),
        ('store = "memory:"\npath = "x"', "give one of store, path and memory"),
        ("not toml", "is not TOML"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name_and_place(
    tmp_path: Path, toml: str, words: str
) -> None:
    with pytest.raises(SettingsInvalid) as raised:
        settled(tmp_path, toml=toml)
    assert words in str(raised.value)
    assert "settings.toml" in str(raised.value)


KUBERNETES = {
    "WIDEROW_PORT": "tcp://10.0.0.7:8087",
    "WIDEROW_PORT_8087_TCP": "tcp://10.0.0.7:8087",
    "WIDEROW_PORT_8087_TCP_ADDR": "10.0.0.7",
    "WIDEROW_PORT_8087_TCP_PORT": "8087",
    "WIDEROW_PORT_8087_TCP_PROTO": "tcp",
    "WIDEROW_SERVICE_HOST": "10.0.0.7",
    "WIDEROW_SERVICE_PORT": "8087",
    "WIDEROW_SERVICE_PORT_HTTP": "8087",
}
"""What Kubernetes tells every pod of a namespace that has a service named widerow."""


@pytest.mark.parametrize("names", [{"WIDEROW_COMPILE": "0", "WIDEROW_TEAM": "blue"}, KUBERNETES])
def test_variables_that_are_none_of_ours_change_nothing(
    tmp_path: Path, names: Mapping[str, str]
) -> None:
    assert settled(tmp_path, environment=names) == Settings()


def test_a_port_that_is_a_link_to_a_service_is_passed_over_and_told(tmp_path: Path) -> None:
    assert settled(tmp_path, environment=KUBERNETES, toml="port = 9").port == 9
    told = passed_over(KUBERNETES)
    assert [each.variable for each in told] == ["WIDEROW_PORT"]
    assert "--port" in told[0].why


@pytest.mark.parametrize("value", ["tcp", "10.0.0.7:8087", "http://10.0.0.7:8087"])
def test_any_other_port_that_is_no_number_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsInvalid, match="environment: port must be a number"):
        settled(tmp_path, environment={"WIDEROW_PORT": value})


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("WIDEROW_PRT", "WIDEROW_PORT"),
        ("WIDEROW_CREDENTIAL", "WIDEROW_CREDENTIALS"),
        ("WIDEROW_LOGLEVEL", "WIDEROW_LOG_LEVEL"),
        ("WIDEROW_CONFG", "WIDEROW_CONFIG"),
        ("WIDEROW_ENDPIONT", "WIDEROW_ENDPOINT"),
        ("WIDEROW_NODENAME", "WIDEROW_NODE_NAME"),
    ],
)
def test_a_misspelled_variable_is_told_with_the_name_it_is_near(
    tmp_path: Path, variable: str, meant: str
) -> None:
    environment = {variable: "1", "PATH": "/bin", "WIDEROW_HOST": "x"}
    assert settled(tmp_path, environment=environment) == Settings(host="x")
    assert passed_over(environment) == [(variable, f"did you mean {meant}?")]
    assert passed_over({variable: ""}) == []


def test_names_of_ours_and_names_of_others_are_not_told() -> None:
    ours = [f"WIDEROW_{name.upper()}" for name in (*DESCRIPTIONS, "config")]
    others = ("WIDEROW_COMPILE", "WIDEROW_TEAM", "WIDEROWS_PORT", "MY_WIDEROW_PORT", "WIDEROW_")
    assert passed_over(dict.fromkeys((*ours, *CLIENT_VARIABLES, *others), "1")) == []


def test_the_file_may_be_named_by_a_variable(tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text("port = 7")
    assert resolve({}, {"WIDEROW_CONFIG": str(file)}).port == 7


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match=r"cannot read .*absent.toml: No such file"):
        resolve({}, {}, tmp_path / "absent.toml")


def test_widerow_toml_is_read_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert resolve({}, {}) == Settings()
    (tmp_path / "widerow.toml").write_text("port = 9")
    assert resolve({}, {}).port == 9


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_the_page_about_settings_names_each_as_flag_variable_and_key(name: str) -> None:
    page = (ROOT / "docs/operating/configure.md").read_text()
    assert f"| `--{name.replace('_', '-')}` | `WIDEROW_{name.upper()}` | `{name}` |" in page


def test_variables_of_clients_are_passed_over(tmp_path: Path) -> None:
    # One shell may start a server and load it (docs/operating/transfer.md).
    assert set(CLIENT_VARIABLES.values()).isdisjoint(DESCRIPTIONS)
    assert settled(tmp_path, environment=dict.fromkeys(CLIENT_VARIABLES, "x")) == Settings()
