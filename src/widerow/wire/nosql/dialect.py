"""The dialect of Oracle NoSQL's drivers as values: what the server needs of this package.

There is one for each way of the vendor's proxy (`modes.py`); a port has one of them.

All operations have one target; which one a request asks for stands in its header. Errors are
answers like any other, with the status 200 (nosql-wire §1).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from librt.strings import BytesWriter

from widerow.auth.keyring import Permission
from widerow.engine.engine import Engine
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.plug import TYPED
from widerow.errors import InvalidRequest, Unsupported
from widerow.wire.dialect import Dialect, HeaderNames, Opener, Refusal, WireOperation
from widerow.wire.nosql.envelope import (
    DATA_PATHS,
    HEALTH_PATH,
    frame_headers,
    no_date,
    open_frame,
    open_frame_onprem,
    operation_code,
)
from widerow.wire.nosql.faults import OLDER_FORM, fault_of
from widerow.wire.nosql.nson import encode, put_text
from widerow.wire.nosql.operations.names import NAMES
from widerow.wire.nosql.operations.table import BY_CODE, ONPREM_BY_CODE
from widerow.wire.nosql.rules import NosqlRule

__all__ = ["NOSQL_DIALECT", "NOSQL_ONPREM_DIALECT"]

_BAD_REQUEST: Final = 400
_OK: Final = 200


def _claims(target: str) -> bool:
    return target.startswith(("/V2/", "/V0/"))


_REPLICAS: Final = {33: NosqlRule.REPLICA_ADD, 34: NosqlRule.REPLICA_DROP}
_CLOUD_RULES: Final[Mapping[int, NosqlRule]] = MappingProxyType(
    {23: NosqlRule.SYSTEM_CLOUD, 24: NosqlRule.SYSTEM_CLOUD, **_REPLICAS}
)
"""What operations are answered that the cloud does not have, or one place does not."""


def _selecting(
    by_code: Mapping[int, WireOperation], rules: Mapping[int, NosqlRule]
) -> Callable[[str, str, bytes], WireOperation]:
    def select(method: str, target: str, body: bytes) -> WireOperation:
        found = None if method == "POST" else _PAGES.get((method, target))
        if found is not None:
            return found
        if target not in DATA_PATHS:
            raise InvalidRequest(NosqlRule.PATH, path=target[:100])
        code = operation_code(body)
        if not isinstance(code, int) or isinstance(code, bool) or not 0 <= code < len(NAMES):
            raise InvalidRequest(NosqlRule.OPCODE_UNKNOWN, code=str(code)[:20])
        rule = rules.get(code)
        if rule is not None:
            raise Unsupported(rule)
        operation = by_code.get(code)
        if operation is None:
            raise Unsupported(NosqlRule.OPCODE_UNSERVED, name=NAMES[code])
        return operation

    return select


def _page(name: str, body: bytes, path: str) -> WireOperation:
    return WireOperation(
        name,
        Permission.READ,
        writes=False,
        decode=lambda _: None,
        call=lambda _engine, _instance, _asked: body,
        encode=lambda answer: answer,
        path=path,
    )


_HEALTH: Final = _page("health", b'{"beacon":"GREEN","info":"ALL OK"}', HEALTH_PATH)
_VERSIONS: Final = _page("versions", b"", "")  # what drivers ask before the first request
_PAGES: Final[Mapping[tuple[str, str], WireOperation]] = MappingProxyType(
    {
        ("GET", HEALTH_PATH): _HEALTH,
        **{("HEAD", path): _VERSIONS for path in DATA_PATHS},
        **{("OPTIONS", path): _VERSIONS for path in DATA_PATHS},
    }
)


def _refuse(error: Exception, name: str, kind: str) -> Refusal:
    """An error as an answer; in the older form where the protocol's version is not known yet."""
    del kind
    rule = getattr(error, "rule", None)
    if rule is NosqlRule.PATH:
        return Refusal(_BAD_REQUEST, "PATH", b"", b"")
    fault = fault_of(error, name)
    if rule in OLDER_FORM:
        older = BytesWriter()
        older.append(fault.code)
        put_text(older, fault.text)
        body = older.getvalue()
    else:
        body = encode({"e": fault.code, "x": fault.text})
    return Refusal(_OK, str(fault.code), body, b"")


def _open(engine: Engine) -> TypedEngine:
    return engine.operations(TYPED)


_WITH_ONPREM: Final = "--nosql-mode onprem"


def _dialect(
    by_code: Mapping[int, WireOperation], rules: Mapping[int, NosqlRule], open_request: Opener
) -> Dialect:
    return Dialect(
        name="Oracle NoSQL",
        label="nosql/",
        open=_open,
        operations=MappingProxyType({each.name: each for each in by_code.values()}),
        own=MappingProxyType({"health": _HEALTH, "versions": _VERSIONS}),
        refused={
            name: _WITH_ONPREM if code in ONPREM_BY_CODE else "operations of the vendor's cloud"
            for code, name in enumerate(NAMES)
            if code not in by_code
        },
        paths=MappingProxyType({}),
        claims=_claims,
        select=_selecting(by_code, rules),
        headers=HeaderNames(frozenset(("authorization",)), ("x-nosql-",)),
        open_request=open_request,
        answer_date=no_date,
        envelope=frame_headers,
        refuse=_refuse,
        mark="x-nosql-request-id",
    )


NOSQL_DIALECT: Final = _dialect(BY_CODE, _CLOUD_RULES, open_frame)
"""As the vendor's cloud simulator."""
NOSQL_ONPREM_DIALECT: Final = _dialect(
    ONPREM_BY_CODE, MappingProxyType(_REPLICAS), open_frame_onprem
)
"""As the vendor's proxy of a store of one's own."""
