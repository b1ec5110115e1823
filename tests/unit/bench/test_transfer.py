"""`bench.transfer` in short: an import that is killed three times loads exactly its file."""

import json
from pathlib import Path

from bench.transfer import Loading, checksum, loaded, make_table, measure, rows, write

from widerow.testing.process import WiderowProcess


def test_an_import_that_is_killed_three_times_is_exact(tmp_path: Path) -> None:
    found = measure(20_000, 3, tmp_path)
    assert found["exact"], found
    assert found["kills"] == 3
    assert found["stored_at_kills"] == sorted(found["stored_at_kills"])
    assert found["last_run"]["resumed_rows"] >= found["stored_at_kills"][-1] >= 15_000
    assert found["last_run"]["rows"] + found["last_run"]["resumed_rows"] == 20_000
    assert found["loader_cpu_seconds"] > 0 < found["server_cpu_seconds"]


def test_a_row_more_or_less_shows_in_the_checksum() -> None:
    assert checksum(rows(100)) != checksum(rows(99))
    assert checksum(rows(100)) != checksum(reversed(list(rows(100))))


def test_an_import_outlives_a_server_that_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "purchases.csv"
    write(file, 6000)
    with WiderowProcess("--path", str(tmp_path / "store")) as server:
        endpoint = server.endpoint
        make_table(endpoint)
        loading = Loading(endpoint, file)
        with loading.start() as process:
            loading.wait_for(process, 1)
            server.kill()
            port = endpoint.rpartition(":")[2]
            with WiderowProcess("--path", str(tmp_path / "store"), "--port", port):
                said, _ = process.communicate()
                assert process.returncode == 0
                assert json.loads(said)["rows"] == 6000
                versions: set[int] = set()
                assert checksum(loaded(endpoint, versions)) == checksum(rows(6000))
                assert len(versions) == 1
