"""From request to answer: order of checks, words of errors, nothing that raises (wire §1)."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.support.http import Sender, assert_refused
from tests.unit.server.desk import (
    BLOCKING,
    LOCAL,
    SENDER,
    Desk,
    bare,
    compressed,
    in_one_turn,
    later,
    read,
    signed,
)

from widerow.auth.keyring import AccessKey, Keyring, Permission
from widerow.auth.policy import AccessRules, InstancePolicy
from widerow.commit.places import Caller
from widerow.engine.budget import Budget
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Exhausted, InvalidRequest, Rule, StorePoisoned, WiderowError
from widerow.limits import (
    BUSY_TURNS,
    CALM_TURNS,
    LENGTHY_BODY_BYTES,
    LOOP_READ_BYTES_MAX,
    SHARED_TURN_REQUESTS,
    STAGE_REQUESTS_MAX,
    STAGED_ROW_BYTES_MAX,
)
from widerow.model.streams import StreamRule
from widerow.model.tablestore.answers import RowRead
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.tunnels import TunnelRule
from widerow.server.message import Request, Response
from widerow.server.request_ids import RequestIds
from widerow.server.schedule import Rules
from widerow.server.turn import LOOP_TURN
from widerow.storage.bulk import LONG_WORK
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeEntropy
from widerow.wire.dialect import Refusal, WireOperation
from widerow.wire.tablestore.dialect import TABLESTORE_DIALECT
from widerow.wire.tablestore.messages import ListTableResponse
from widerow.wire.tablestore.operations.table import OPERATIONS, UNSUPPORTED


@pytest.fixture
def desk() -> Iterator[Desk]:
    with open_store("memory:") as store:
        yield Desk(store)


# --- answers -----------------------------------------------------------------------------------


def test_a_read_is_answered_at_once_and_signed(desk: Desk) -> None:
    response = desk.handle(signed("ListTable"))
    assert response is not None
    answer = read(response)
    assert (answer.status, answer.body) == (200, b"")
    assert SENDER.signed("ListTable", answer)
    assert "x-widerow-hint" not in answer.headers


def test_a_write_is_answered_when_it_is_committed(desk: Desk, table_body: bytes) -> None:
    assert desk.handle(signed("CreateTable", table_body)) is None
    assert desk.replies == []
    assert read(desk.settle()).status == 200
    listed = ListTableResponse.FromString(desk.ask(signed("ListTable")).body)
    assert list(listed.table_names) == ["t"]


def test_an_endpoint_may_have_a_prefix_that_is_not_signed(desk: Desk) -> None:
    # wire §1.1: the Python SDK posts to /prefix/GetRow and signs /GetRow.
    answer = desk.ask(signed("ListTable", target="/some/prefix/ListTable"))
    assert answer.status == 200
    assert SENDER.signed("ListTable", answer)


def test_instances_do_not_see_each_other(desk: Desk, table_body: bytes) -> None:
    desk.ask(signed("CreateTable", table_body))
    assert desk.ask(signed("ListTable", sender=Sender(instance="other"))).body == b""


def test_request_ids_are_36_characters_and_never_repeat() -> None:
    ids = RequestIds(FakeEntropy())
    made = [ids.next() for _ in range(1000)]
    assert len(set(made)) == 1000
    assert {len(each) for each in made} == {36}
    assert {tuple(map(len, each.split("-"))) for each in made} == {(8, 4, 4, 4, 12)}
    assert [int(each[24:], 16) for each in made] == list(range(1, 1001))
    assert len({each[:24] for each in made}) == 1
    assert RequestIds(FakeEntropy(1)).next() != made[0]


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "GET", "HEAD", "PROPFIND"])
def test_actions_are_posted(desk: Desk, method: str) -> None:
    answer = desk.ask(bare(method, "/GetRow"))
    message = "Only POST method for requests is supported."
    assert_refused(SENDER, "GetRow", answer, (405, "OTSMethodNotAllowed", message), signed=False)
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("target", ["/NoSuchThing", "/", "//", "/GetRow/", "/getrow", "/livez"])
def test_unknown_actions_are_named(desk: Desk, target: str) -> None:
    name = target.rpartition("/")[2]
    error = (400, "OTSUnsupportOperation", f"Unsupported operation: '{name}'.")
    answer = desk.ask(signed(name, target=target))
    assert_refused(SENDER, name, answer, error, signed=False)


@pytest.mark.parametrize("action", UNSUPPORTED)
def test_actions_that_are_not_offered_say_so(desk: Desk, action: str) -> None:
    answer = desk.ask(signed(action, target=f"/prefix/{action}"))
    text = f"Unsupported operation: '{action}'."  # change §D3, §D4, §D7
    assert answer.error == (400, "OTSUnsupportOperation", text)


@pytest.mark.parametrize("target", ["/nothing", "/", "/favicon.ico", "/livez/x"])
def test_unknown_pages_are_not_found(desk: Desk, target: str) -> None:
    answer = desk.ask(bare("GET", target))
    assert answer.status == 404
    assert b"/livez /readyz /version /metrics" in answer.body


def test_a_repeated_signed_header_is_refused(desk: Desk) -> None:
    request = signed("ListTable")
    request.repeated = "x-ots-date"
    answer = desk.ask(request)
    assert answer.status == 400
    assert "x-ots-date" in answer.headers["x-widerow-hint"]


def test_a_wrong_signature_is_refused_without_one(desk: Desk) -> None:
    request = signed("ListTable", sender=replace(SENDER, access_key_secret="guess"))
    error = (403, "OTSAuthFailed", "Signature mismatch.")
    assert_refused(SENDER, "ListTable", desk.ask(request), error, signed=False)


def test_a_missing_permission_is_refused_with_a_signature(desk: Desk, table_body: bytes) -> None:
    key = AccessKey("widerow", "widerow", permissions=frozenset((Permission.READ,)))
    desk.dispatcher.identity = AccessRules(Keyring([key]), InstancePolicy())
    answer = desk.ask(signed("CreateTable", table_body))
    assert answer.status == 403
    assert SENDER.signed("CreateTable", answer)
    assert desk.ask(signed("ListTable")).status == 200


def test_identity_may_be_replaced_while_serving(desk: Desk) -> None:
    keys = Keyring([AccessKey("new", "secret")])
    desk.dispatcher.identity = AccessRules(keys, InstancePolicy(frozenset(("shop",))))
    assert desk.ask(signed("ListTable")).status == 403
    sender = Sender("new", "secret", "shop")
    assert desk.ask(signed("ListTable", sender=sender)).status == 200


def test_bytes_that_are_no_message_are_refused(desk: Desk) -> None:
    for action in OPERATIONS:
        answer = desk.ask(signed(action, b"\xff\xff\xff"))
        assert answer.error[:2] == (400, "OTSParameterInvalid"), action
        assert SENDER.signed(action, answer)


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
@pytest.mark.parametrize(
    ("action", "code"),
    [
        ("CreateKnowledgeBase", "OTSUnsupportOperation"),
        ("NoAction", "OTSUnsupportOperation"),
        ("GetRow", "OTSParameterInvalid"),
    ],
)
def test_who_asks_in_json_is_refused_in_json(desk: Desk, action: str, code: str, kind: str) -> None:
    # wire §1.6: clients of the JSON actions read every answer as JSON
    asked = signed(action, b'{"name":"x"}')
    asked.headers = {**asked.headers, "content-type": kind}
    answer = desk.ask(asked)
    assert answer.status == 400
    assert answer.headers["content-type"] == "application/json"
    told = json.loads(answer.body)
    assert told["code"] == code
    assert told["message"]
    assert told.keys() == {"code", "message"}


def test_a_refused_write_is_told_its_own_error(desk: Desk, table_body: bytes) -> None:
    desk.ask(signed("CreateTable", table_body))
    error = (409, "OTSObjectAlreadyExist", "Requested table already exists.")
    answer = desk.ask(signed("CreateTable", table_body))
    assert_refused(SENDER, "CreateTable", answer, error)


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (StorePoisoned("no"), (503, "OTSServerUnavailable", "Server is not available.")),
        (Exhausted(Rule.SERVER_BUSY), (503, "OTSServerBusy", "Server is busy.")),
    ],
)
def test_a_store_that_refuses_is_told_as_the_protocol_does(
    desk: Desk, table_body: bytes, failure: WiderowError, error: tuple[int, str, str]
) -> None:
    desk.committer.failure = failure
    assert_refused(SENDER, "CreateTable", desk.ask(signed("CreateTable", table_body)), error)


@pytest.mark.parametrize("part", ["decode", "call", "encode"])
@pytest.mark.parametrize("action", ["ListTable", "CreateTable"])
def test_what_nobody_foresaw_is_answered_and_logged_without_its_words(
    desk: Desk,
    table_body: bytes,
    caplog: pytest.LogCaptureFixture,
    part: str,
    action: str,
) -> None:
    stored = "swor derots"[::-1]  # no line of a frame says so

    def fall(*_: object) -> bytes:
        raise ValueError(stored)

    desk.serve(action, **{part: fall})
    answer = desk.ask(signed(action, table_body if action == "CreateTable" else b""))
    error = (500, "OTSInternalServerError", "Internal server error.")
    assert_refused(SENDER, action, answer, error)
    record = next(each for each in caplog.records if each.levelname == "ERROR")
    facts = record.__dict__["facts"]
    assert facts["request_id"] == answer.headers["x-ots-requestid"]
    assert "in fall" in facts["frames"]
    assert stored not in str(record.__dict__)


def test_an_error_whose_text_cannot_be_made_is_answered_and_logged(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    def fall(*_: object) -> bytes:
        raise InvalidRequest(Rule.BODY_TOO_LARGE)

    def refuse(error: Exception, name: str, kind: str) -> Refusal:
        if isinstance(error, InvalidRequest):
            raise KeyError("a fact that the text names")
        return TABLESTORE_DIALECT.refuse(error, name, kind)

    desk.dialect = replace(TABLESTORE_DIALECT, refuse=refuse)
    desk.serve("ListTable", call=fall)
    error = (500, "OTSInternalServerError", "Internal server error.")
    assert_refused(SENDER, "ListTable", desk.ask(signed("ListTable", b"")), error)
    assert "unforeseen KeyError" in caplog.text


def test_what_never_became_a_request_is_refused_in_the_same_form(desk: Desk) -> None:
    answer = read(desk.dispatcher.refuse(InvalidRequest(Rule.BODY_TOO_LARGE)))
    error = (413, "OTSRequestBodyTooLarge", "The size of POST data is too large.")
    assert_refused(SENDER, "", answer, error, signed=False)


def test_every_rule_can_be_refused(desk: Desk) -> None:
    for rule in (*Rule, *StreamRule, *TunnelRule, *TablestoreRule, *TimeseriesRule):
        answer = read(desk.dispatcher.refuse(InvalidRequest(rule)))
        assert 400 <= answer.status < 504, rule
        assert answer.headers["x-widerow-hint"], rule


# --- pages and counts --------------------------------------------------------------------------


def test_the_pages_answer_get(desk: Desk) -> None:
    assert desk.ask(bare("GET", "/livez")).body == b"alive\n"
    assert desk.ask(bare("GET", "/readyz?verbose")).body == b"ready\n"
    assert json.loads(desk.ask(bare("GET", "/version")).body)["name"] == "widerow"
    assert b"widerow_commits_total 0" in desk.ask(bare("GET", "/metrics")).body


def test_a_server_that_stops_is_not_ready(desk: Desk) -> None:
    desk.admission.stop()
    assert desk.ask(bare("GET", "/readyz")).status == 503
    assert desk.ask(bare("GET", "/livez")).status == 200


def test_a_store_that_takes_no_writes_is_not_ready() -> None:
    with open_store("memory:") as store:
        desk = Desk(store)
        store.close()
        assert desk.ask(bare("GET", "/readyz")).status == 503


def test_requests_are_counted_under_names_of_ours(desk: Desk) -> None:
    desk.ask(signed("ListTable"))
    desk.ask(signed("Made-up-1"))
    desk.ask(bare("GET", "/made-up-2"))
    desk.ask(bare("GET", "/livez"))
    counted = {name: each.codes for name, each in desk.metrics.actions.items() if each.codes}
    assert counted == {
        "ListTable": {"OK": 1},
        "other": {"OTSUnsupportOperation": 1, "-": 1},
        "livez": {"OK": 1},
    }


def test_requests_are_logged_when_asked_for(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "widerow.server"):
        Desk(desk.store).ask(signed("ListTable"))
    (record,) = caplog.records
    facts = record.__dict__["facts"]
    assert (facts["action"], facts["status"], facts["code"]) == ("ListTable", 200, "OK")


# --- stores that block -------------------------------------------------------------------------


def test_blocking_reads_and_writes_run_on_threads(desk: Desk, table_body: bytes) -> None:
    assert later(desk, signed("CreateTable", table_body), BLOCKING).status == 200
    answer = later(desk, signed("ListTable"), BLOCKING)
    assert list(ListTableResponse.FromString(answer.body).table_names) == ["t"]


@pytest.mark.parametrize("part", ["decode", "call", "encode"])
def test_errors_on_threads_are_answered(desk: Desk, part: str) -> None:
    def refuse(*_: object) -> bytes:
        raise InvalidRequest(TablestoreRule.RANGE_LIMIT)

    desk.serve("ListTable", **{part: refuse})
    assert later(desk, signed("ListTable"), BLOCKING).status == 400


@pytest.mark.parametrize("long", [True, False])
def test_lengthy_requests_leave_the_loop_alone(desk: Desk, *, long: bool) -> None:
    asked: list[int] = []

    def call(*_: object) -> tuple[str, ...]:
        asked.append(threading.get_ident())
        return ()

    desk.serve("ListTable", call=call, lengthy=lambda _: long)
    assert later(desk, signed("ListTable"), LOCAL).status == 200
    assert (asked == [threading.get_ident()]) is not long


@pytest.mark.parametrize("long", [True, False])
def test_a_read_that_turns_out_to_be_long_is_made_on_a_thread(desk: Desk, *, long: bool) -> None:
    """The loop stops at the end of its budget, and what was decoded is not decoded again."""
    asked: list[tuple[str, bool]] = []
    here = threading.get_ident()

    def decode(body: bytes) -> bytes:
        asked.append(("decode", threading.get_ident() == here))
        return body

    def call(*_: object) -> tuple[str, ...]:
        asked.append(("call", threading.get_ident() == here))
        return ("t",)

    def call_within(
        engine: TablestoreEngine, instance: str, request: object, budget: Budget
    ) -> object:
        asked.append(("call within", threading.get_ident() == here))
        budget.take(LOOP_READ_BYTES_MAX + 1 if long else LOOP_READ_BYTES_MAX, 0)
        return call(engine, instance, request)

    desk.serve("ListTable", decode=decode, call=call, call_within=call_within)
    answer = later(desk, signed("ListTable"), LOCAL)
    assert list(ListTableResponse.FromString(answer.body).table_names) == ["t"]
    assert SENDER.signed("ListTable", answer)
    assert asked == [("decode", True), ("call within", True), ("call", not long)]


def test_without_threads_no_read_is_too_long(desk: Desk) -> None:
    def call_within(*_: object) -> tuple[str, ...]:
        raise AssertionError("nobody else could make the answer")

    desk.serve("ListTable", call_within=call_within)
    assert desk.ask(signed("ListTable")).status == 200


@pytest.mark.parametrize("busy", [True, False])
def test_a_lengthy_write_is_committed_where_it_was_planned(
    desk: Desk, table_body: bytes, *, busy: bool
) -> None:
    """Unless another group is under way: then it stands in the line, to share the next sync."""
    desk.serve("CreateTable", lengthy=lambda _: True)
    waited: list[bool] = []

    def hold() -> None:
        desk.committer._turn.release()
        waited.append(True)

    if busy:
        desk.committer._turn.acquire()
    (answer,) = desk.run(LOCAL, [signed("CreateTable", table_body)], hold)
    assert answer.status == 200
    assert desk.committer.callers == [Caller.REQUEST]
    assert waited == [True] * busy
    answer = later(desk, signed("ListTable"), LOCAL)
    assert list(ListTableResponse.FromString(answer.body).table_names) == ["t"]


def test_a_write_of_a_store_that_blocks_is_never_committed_by_its_request(
    desk: Desk, table_body: bytes
) -> None:
    """Many threads wait for such a store: their plans share its answers."""
    assert later(desk, signed("CreateTable", table_body), BLOCKING).status == 200
    assert desk.committer.callers == [Caller.ELSEWHERE]


@pytest.mark.parametrize("crowded", [True, False])
@pytest.mark.parametrize("turns", [BUSY_TURNS, BUSY_TURNS + 1])
def test_where_others_are_served_a_long_answer_is_hashed_before_the_next_is_read(
    desk: Desk, *, crowded: bool, turns: int
) -> None:
    """Else two threads compute, and on two processors there is none left for the loop."""
    hashed_in_turn: list[bool] = []

    def call(*_: object) -> tuple[str, ...]:
        for _turn in range(turns):
            LOOP_TURN.begin()
            LOOP_TURN.end()
        return ()

    def consumed(_: object) -> tuple[int, int]:
        hashed_in_turn.append(LONG_WORK.locked())
        return 0, 0

    desk.serve("ListTable", call=call, lengthy=lambda _: True, consumed=consumed)
    rules = replace(LOCAL, crowded=crowded)
    assert later(desk, signed("ListTable"), rules).status == 200
    assert hashed_in_turn == [crowded and turns > BUSY_TURNS]


def test_beside_a_long_request_the_loop_looks_for_others_more_often(desk: Desk) -> None:
    """A search waits for the loop to be read and with its answer: for few others each time.

    Those that run on threads are started first, and later turns are whole again.
    """
    go_on, both_ended, started = threading.Event(), asyncio.Event(), list[bytes]()

    def call(*_: object) -> tuple[str, ...]:
        assert go_on.wait(30)
        return ()

    def reply(response: Response) -> None:
        answered.append(response)
        if len(answered) == 73:
            both_ended.set()

    def lengthy(body: bytes) -> bool:
        started.append(body)
        return True

    desk.serve("ListTable", call=call, lengthy=lengthy)
    answered: list[Response] = []

    def short(count: int) -> list[Request]:
        return [signed("DescribeTable") for _ in range(count)]

    async def ask() -> list[int]:
        dispatcher = desk.made(LOCAL, asyncio.get_running_loop())
        seen: list[int] = []

        async def turn(*requests: Request) -> None:
            for request in requests:
                assert dispatcher.handle(request, reply) is None
            await asyncio.sleep(0)
            seen.append(len(answered))

        try:
            await turn(signed("ListTable"))
            await turn(*short(70), signed("ListTable"))
            seen.append(len(started))
            await turn()
            await turn(*short(1))
            go_on.set()
            await asyncio.wait_for(both_ended.wait(), 30)
            for _ in range(CALM_TURNS):
                await turn(*short(1))
            await turn(*short(70))
        finally:
            dispatcher.close()
        return seen

    most = SHARED_TURN_REQUESTS
    calm = [73 + turn for turn in range(1, CALM_TURNS + 1)]
    both = 2 * 2  # each long request is asked about twice
    assert asyncio.run(ask()) == [0, most, both, 2 * most, 71, *calm, calm[-1] + 70]


def test_lengthy_writes_have_a_thread_of_their_own(desk: Desk, table_body: bytes) -> None:
    """A second one would only take the interpreter's lock from the first; reads have others."""
    names: list[str] = []

    def noted(call: Callable[..., Any]) -> Callable[..., Any]:
        def named(*arguments: object) -> Any:  # noqa: ANN401  # what the operation answers
            names.append(threading.current_thread().name)
            return call(*arguments)

        return named

    for action in ("CreateTable", "ListTable"):
        desk.serve(action, call=noted(OPERATIONS[action].call), lengthy=lambda _: True)
    assert later(desk, signed("CreateTable", table_body), LOCAL).status == 200
    assert later(desk, signed("ListTable"), LOCAL).status == 200
    assert later(desk, signed("CreateTable", table_body), BLOCKING).status == 409
    assert [name.rpartition("_")[0] for name in names] == [
        "widerow-batch",
        "widerow-request",
        "widerow-request",
    ]


def test_a_lengthy_write_that_is_refused_is_answered(desk: Desk, table_body: bytes) -> None:
    desk.serve("CreateTable", lengthy=lambda _: True)
    assert later(desk, signed("CreateTable", table_body), LOCAL).status == 200
    again = later(desk, signed("CreateTable", table_body), LOCAL)
    assert again.error[:2] == (409, "OTSObjectAlreadyExist")
    assert not desk.committer.held


@pytest.mark.parametrize("blocking", [True, False])
def test_lengthy_requests_take_turns_unless_the_store_may_block(
    desk: Desk, *, blocking: bool
) -> None:
    held: list[bool] = []

    def call(*_: object) -> tuple[str, ...]:
        held.append(LONG_WORK.locked())
        return ()

    desk.serve("ListTable", call=call, lengthy=lambda _: True)
    assert later(desk, signed("ListTable"), BLOCKING if blocking else LOCAL).status == 200
    assert held == [not blocking]
    assert not LONG_WORK.locked()


@pytest.mark.parametrize("rules", [LOCAL, BLOCKING])
@pytest.mark.parametrize("lengthy", [True, False])
def test_work_for_a_client_that_is_gone_does_not_begin(
    desk: Desk, rules: Rules, *, lengthy: bool
) -> None:
    asked: list[bytes] = []
    desk.serve("ListTable", decode=asked.append, lengthy=lambda _: lengthy)
    request = signed("ListTable")
    request.gone = True
    assert later(desk, request, rules).error == (503, "OTSServerBusy", "Server is busy.")
    assert not asked


@pytest.mark.parametrize(("waited", "status"), [(0.5, 200), (1.5, 503)])
def test_who_sends_no_more_is_believed_to_wait_for_a_second(
    desk: Desk, waited: float, status: int
) -> None:
    """A program that gave up closes its connection, and that is all that a server sees of it."""
    request = signed("ListTable")
    request.half_closed = True
    request.received_ns = desk.clock.monotonic_ns() - int(waited * 1e9)
    assert desk.ask(request).status == status
    request = signed("ListTable")
    request.received_ns = desk.clock.monotonic_ns() - int(waited * 1e9)
    assert desk.ask(request).status == 200


def test_work_that_waits_for_its_turn_does_not_begin_once_its_client_is_gone(desk: Desk) -> None:
    """Five requests are admitted; the first is carried out, and meanwhile all clients leave."""
    requests = [signed("ListTable", bytes((number,))) for number in range(5)]
    admitted: set[bytes] = set()
    everyone = threading.Event()
    asked: list[bool] = []

    def lengthy(body: bytes) -> bool:
        admitted.add(body)
        if len(admitted) == len(requests):
            everyone.set()
        return True

    def call(*_: object) -> tuple[str, ...]:
        asked.append(everyone.wait(10))
        for request in requests:  # one waits for the turn of this one's thread, others for a thread
            request.gone = True
        return ()

    desk.serve("ListTable", decode=bytes, call=call, lengthy=lengthy)
    answers = desk.run(LOCAL, requests)
    assert sorted(answer.status for answer in answers) == [200, 503, 503, 503, 503]
    assert asked == [True]


def test_every_operation_has_a_permission() -> None:
    for name, operation in OPERATIONS.items():
        assert isinstance(operation, WireOperation)
        assert operation.path == f"/{name}"
        assert operation.permission in Permission


# --- turns of the loop -------------------------------------------------------------------------


def test_a_turn_runs_each_stage_for_all_requests(desk: Desk) -> None:
    seen: list[str] = []

    def decode(body: bytes) -> bytes:
        seen.append("decode")
        return body

    def call(*_: object) -> tuple[str, ...]:
        seen.append("call")
        return ()

    desk.serve("ListTable", decode=decode, call=call, lengthy=None)
    answers = in_one_turn(desk, [signed("ListTable") for _ in range(3)])
    assert [answer.status for answer in answers] == [200, 200, 200]
    assert seen == ["decode"] * 3 + ["call"] * 3


def test_whoever_fails_in_a_stage_fails_alone(desk: Desk, table_body: bytes) -> None:
    stranger = signed("ListTable", sender=Sender(access_key_secret="wrong"))  # not the key's
    requests = [stranger, signed("ListTable"), signed("CreateTable", b"\xff")]
    requests += [signed("CreateTable", table_body), signed("ListTable")]
    assert [answer.status for answer in in_one_turn(desk, requests)] == [403, 200, 400, 200, 200]
    (answer,) = in_one_turn(desk, [signed("ListTable")])
    assert list(ListTableResponse.FromString(answer.body).table_names) == ["t"]


def test_more_requests_than_a_stage_takes_are_all_answered(desk: Desk) -> None:
    count = 2 * STAGE_REQUESTS_MAX + 1
    answers = in_one_turn(desk, [signed("ListTable") for _ in range(count)])
    assert [answer.status for answer in answers] == [200] * count


def test_beside_a_lengthy_request_the_loop_has_its_turn(desk: Desk) -> None:
    """docs/internals/performance.md: what computes pauses until all that was read is answered."""
    go_on = threading.Event()
    desk.serve("ListTable", call=lambda *_: go_on.wait(30) and (), lengthy=lambda _: True)
    other = signed("DescribeTable")  # of no table: refused, but answered

    async def ask() -> tuple[list[bool], Response, Response]:
        loop = asyncio.get_running_loop()
        dispatcher = desk.made(LOCAL, loop)
        later: asyncio.Future[Response] = loop.create_future()
        dispatcher.handle(signed("ListTable"), later.set_result)
        await asyncio.sleep(0)  # its turn: it is on a thread now
        turns = [is_the_loops_turn()]
        answered: asyncio.Future[Response] = loop.create_future()
        assert dispatcher.handle(other, answered.set_result) is None
        turns.append(is_the_loops_turn())
        beside = await answered
        turns.append(is_the_loops_turn())
        go_on.set()
        lengthy = await later
        dispatcher.close()
        return turns, beside, lengthy

    turns, beside, lengthy = asyncio.run(ask())
    assert turns == [False, True, False]
    assert (beside.status, lengthy.status) == (400, 200)


def is_the_loops_turn() -> bool:
    """Whether another thread would wait for the turn to end."""
    return LOOP_TURN._lock.locked()


def test_a_large_body_is_verified_on_a_thread(desk: Desk) -> None:
    threads: list[str] = []
    where = threading.current_thread

    def call(*_: object) -> tuple[str, ...]:
        threads.append(where().name)
        return ()

    desk.serve("ListTable", decode=bytes, call=call, lengthy=None)
    wrong = signed("ListTable", bytes(LENGTHY_BODY_BYTES + 1), sender=Sender(access_key_id="other"))
    requests = [signed("ListTable", bytes(size)) for size in (LENGTHY_BODY_BYTES, 40_000)]
    answers = in_one_turn(desk, [*requests, wrong])
    assert [answer.status for answer in answers] == [200, 200, 403]
    beside, here = sorted(threads, key=lambda name: not name.startswith("widerow-request"))
    assert here == where().name
    assert beside.startswith("widerow-request")


def test_a_body_that_unfolds_to_a_large_one_is_decoded_on_a_thread(desk: Desk) -> None:
    """wire §1.6: it came as a few hundred bytes."""
    threads: list[str] = []

    def decode(body: bytes) -> int:
        threads.append(threading.current_thread().name)
        return len(body)

    desk.serve("ListTable", decode=decode, call=lambda *_: (), lengthy=None)
    sizes = (LENGTHY_BODY_BYTES, LENGTHY_BODY_BYTES + 1)
    answers = in_one_turn(desk, [compressed("ListTable", bytes(size)) for size in sizes])
    assert [answer.status for answer in answers] == [200, 200]
    here, beside = sorted(threads, key=lambda name: name.startswith("widerow-request"))
    assert here == threading.current_thread().name
    assert beside.startswith("widerow-request")


@pytest.mark.parametrize("how", ["a page or a batch", "a large row", "many bytes"])
def test_large_answers_are_not_held_until_others_are_ready(desk: Desk, how: str) -> None:
    seen: list[str] = []
    size = STAGED_ROW_BYTES_MAX + (how == "a large row")

    def call(*_: object) -> RowRead:
        seen.append("call")
        return RowRead(bytes(size), 1)

    def encode(read: RowRead) -> bytes:
        seen.append("encode")
        return read.row * (17 if how == "many bytes" else 1)

    lengthy = (lambda _: False) if how == "a page or a batch" else None
    is_large = OPERATIONS["GetRow"].is_large
    desk.serve("ListTable", call=call, encode=encode, lengthy=lengthy, is_large=is_large)

    for _ in range(3):
        desk.dispatcher.handle(signed("ListTable"), lambda _: seen.append("reply"))
    desk.loop.end_turn()
    if how == "many bytes":
        assert seen == ["call"] * 3 + ["encode", "reply"] * 3
    else:
        assert seen == ["call", "encode"] * 3 + ["reply"] * 3


def test_a_connection_that_takes_no_answer_keeps_nobody_from_theirs(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    answered: list[Response] = []

    def refuse(_: Response) -> None:
        raise OSError("gone")

    desk.dispatcher.handle(signed("ListTable"), refuse)
    desk.dispatcher.handle(signed("ListTable"), answered.append)
    desk.loop.end_turn()
    assert [response.status for response in answered] == [200]
    assert "unforeseen OSError" in caplog.text
