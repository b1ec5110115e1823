"""Delivery tasks of a server: switched on by a directory, worked at beside requests, ended well."""

import threading
from pathlib import Path

import pytest
from tests.support.http import Sender, Wire
from tests.support.requests import DELIVERY_BODIES, create_table_request, put_row_request
from tests.unit.server.delivery.world import parquet

from widerow.model.tablestore.rules import TablestoreRule
from widerow.server.delivery import thread as thread_module
from widerow.server.delivery.worker import DeliveryWorker
from widerow.server.settings import SettingsInvalid
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import delivery_messages as d

SENDER = Sender(instance="test")


def ask(server: WiderowServer, action: str, body: bytes) -> tuple[int, bytes]:
    with Wire(server.endpoint) as wire:
        answer = wire.ask(SENDER.request(action, body))
        return answer.status, answer.body


def create_task(server: WiderowServer) -> tuple[int, bytes]:
    column = d.ParquetSchema(columnName="k", ossColumnName="key", type=2)
    other = d.ParquetSchema(columnName="c", ossColumnName="c", type=2)
    config = d.OSSTaskConfig(ossPrefix="files", ossBucket="bucket", schema=[column, other])
    sent = d.CreateDeliveryTaskRequest(
        tableName="T", taskName="task", taskConfig=config, taskType=1
    )
    return ask(server, "CreateDeliveryTask", sent.SerializeToString())


def create_table(server: WiderowServer) -> None:
    assert ask(server, "CreateTable", create_table_request("T").SerializeToString())[0] == 200


def put_row(server: WiderowServer) -> None:
    assert ask(server, "PutRow", put_row_request("T").SerializeToString())[0] == 200


def threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == "widerow-delivery"]


def test_an_orderly_stop_leaves_a_file_for_what_was_written(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    settings = {"delivery_root": str(files)}
    with WiderowServer(tmp_path / "data", settings=settings) as server:
        create_table(server)
        assert create_task(server) == (200, b"")
        put_row(server)
        assert threads()
    assert not threads()
    found = [path for path in files.rglob("*") if path.is_file()]
    assert [path.parent for path in found] == [files / "bucket" / "files"]
    assert parquet.read_table(found[0]).num_rows == 1
    with WiderowServer(tmp_path / "data", settings=settings) as server:
        put_row(server)
    found = [path for path in files.rglob("*") if path.is_file()]
    assert sorted(path.name.rpartition("__")[2] for path in found) == ["1.parquet", "2.parquet"]


def test_without_a_directory_no_task_is_created_and_no_thread_runs() -> None:
    with WiderowServer() as server:
        create_table(server)
        status, body = create_task(server)
        assert status == 400
        assert b"OTSUnsupportOperation" in body
        assert b"--delivery-root" not in body
        assert not threads()


def test_without_the_library_no_task_is_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread_module, "find_spec", lambda _: None)
    assert thread_module.refusal_of_deliveries() is TablestoreRule.DELIVERY_LIBRARY
    with WiderowServer(settings={"delivery_root": str(tmp_path)}) as server:
        create_table(server)
        status, body = create_task(server)
        assert status == 400
        assert b"OTSUnsupportOperation" in body
        assert b"pyarrow" in body


@pytest.mark.parametrize("place", ["missing", "file"])
def test_a_directory_that_is_none_is_refused_at_the_start(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    server = WiderowServer(settings={"delivery_root": str(tmp_path / place)})
    with pytest.raises(SettingsInvalid, match="delivery_root"):
        server.start()
    assert not threads()


def test_a_task_outlives_a_server_that_does_not_deliver(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    with WiderowServer(tmp_path / "data", settings={"delivery_root": str(files)}) as server:
        create_table(server)
        create_task(server)
    with WiderowServer(tmp_path / "data") as server:
        put_row(server)
        assert ask(server, "DescribeDeliveryTask", DELIVERY_BODIES["DescribeDeliveryTask"]("T"))[
            0
        ] == (200)
    assert not [path for path in files.rglob("*") if path.is_file()]
    with WiderowServer(tmp_path / "data", settings={"delivery_root": str(files)}):
        pass
    assert len([path for path in files.rglob("*") if path.is_file()]) == 1


def test_a_failure_of_another_kind_ends_neither_the_thread_nor_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stepped = threading.Event()

    def failing(_: object) -> bool:
        stepped.set()
        raise ZeroDivisionError

    monkeypatch.setattr(thread_module, "DELIVERY_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(DeliveryWorker, "step", failing)
    with WiderowServer(settings={"delivery_root": str(tmp_path)}) as server:
        assert stepped.wait(30)
        stepped.clear()
        assert stepped.wait(30)
        create_table(server)
