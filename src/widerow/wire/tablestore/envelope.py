"""Around every message: who sent it, whether it arrived whole, and the same said of the answer.

Requests are checked in this order; the first failure is the answer (wire §1.2, last line).

    mandatory headers, date format, access key, instance, clock skew, signature, security token,
    body digest, body size, inflating

What the texts leave open is decided so:

* An `x-ots-*` header that the client did not sign refuses the request (auth/signing.py, rule 1).
* `x-ots-apiversion` must be there and is signed; its value selects nothing: one server answers
  the table clients (2015-12-31) and the tunnel clients (2018-04-01). Clients of the protocols
  before are told so, where their form of a date shows them.
* A V4 signature is good for the UTC day of its `x-ots-signdate`, one day of slack on either side
  of `x-ots-date` (clients keep the derived key for a day).
* `x-ots-ststoken` must be the access key's security token, and be absent if it has none. Whoever
  has both the secret and the token is told when a temporary key has ended (change §D6).
* `x-ots-apikey` without a signature opens a request by an API key (change §D5): instance and key
  must be there, a digest of the body is checked if there is one, and the answer is not signed.
  Beside a signature it is a header like others: signed, and read by nobody.
* Compressed requests are inflated, to the announced size and never beyond the bound of a body.
  Answers are never compressed: `x-ots-response-compress-type` is a wish (wire §1.8).
"""

import hmac
import zlib
from binascii import b2a_base64
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import md5
from typing import Final, cast, final

from mypy_extensions import i64

from widerow.auth.keyring import AccessKey, Keyring, secret_digest
from widerow.auth.policy import InstancePolicy
from widerow.auth.signing import (
    SIGN_DATE,
    SIGN_REGION,
    SIGNATURE_V2,
    SIGNATURE_V4,
    Mac,
    SignedHeaders,
    signed_headers,
)
from widerow.errors import InvalidRequest, NotPermitted, Rule, Unsupported
from widerow.limits import BODY_BYTES_MAX, DATE_SKEW_SECONDS_MAX, DIGEST_SLICE_BYTES
from widerow.model.tablestore.rules import TablestoreRule
from widerow.safepoint import safepoint
from widerow.wire.dialect import Opened

__all__ = ["AnswerDate", "answer_date", "open_request", "response_headers"]

_DATE: Final = "x-ots-date"
_API_VERSION: Final = "x-ots-apiversion"
_ACCESS_KEY_ID: Final = "x-ots-accesskeyid"
_INSTANCE: Final = "x-ots-instancename"
_CONTENT_MD5: Final = "x-ots-contentmd5"
_TOKEN: Final = "x-ots-ststoken"  # noqa: S105  # the name of a header
_API_KEY: Final = "x-ots-apikey"
_COMPRESS_TYPE: Final = "x-ots-request-compress-type"
_COMPRESS_SIZE: Final = "x-ots-request-compress-size"
_MANDATORY: Final = (_DATE, _API_VERSION, _ACCESS_KEY_ID, _INSTANCE, _CONTENT_MD5)

_FIRST_VERSION: Final = "2015-12-31"  # of the protocol that is served; 2014-08-08 came before
_SECOND_CHARS: Final = 19  # of YYYY-MM-DDTHH:MM:SS
_DIGITS: Final = tuple([b"%03d" % number for number in range(1000)])
_FEW_BYTES: Final = 32  # of an answer without a row
_SHOWN_CHARS_MAX: Final = 64  # of a header value, in the error about it
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

# Compiled, a name of the module's own is found without looking it up.
_base64: Final = b2a_base64
_md5: Final = md5
_md5_digest: Final = type(md5(usedforsecurity=False)).digest


@final
class AnswerDate:
    """The time of answers in the lines around it, as they are sent and as they are signed.

    What is answered together has one, which `answer_date` makes.
    """

    __slots__ = ("lines", "signed")

    def __init__(self, text: bytes) -> None:
        """`text`: the time as `x-ots-date` has it."""
        self.lines = (
            b"\r\nx-ots-contenttype: protocol buffer\r\nx-ots-date: %b\r\nx-ots-requestid: " % text
        )
        self.signed = b"\nx-ots-contenttype:protocol buffer\nx-ots-date:%b\nx-ots-requestid:" % text


def open_request(
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    keyring: Keyring,
    instances: InstancePolicy,
    now_us: int,
    names: tuple[str, ...] | None = None,
) -> tuple[Opened, bytes]:
    """Check a request in the order of the module's text; whose it is, and its body, inflated.

    `path` is the signed path, `/` and the action: where an endpoint has a prefix, without it.
    `headers` has lower-case names and stripped values (UTF-8, or Latin-1 where they are not: that
    is what clients sign); a request with an `x-ots-*` header twice never comes here, as one of the
    two would go unsigned. `now_us` is the time in microseconds since 1970. `names`: those of
    `headers` in their order, from a caller who has them at hand.

    Raises: `InvalidRequest` (HEADER_MISSING, DATE_FORMAT, INSTANCE_NAME, BODY_TOO_LARGE,
    BODY_COMPRESSION); `NotPermitted` (ACCESS_KEY_UNKNOWN, INSTANCE_UNKNOWN, INSTANCE_FORBIDDEN,
    DATE_SKEW, SIGNATURE_MISMATCH, SECURITY_TOKEN, SECURITY_TOKEN_EXPIRED, API_KEY, BODY_DIGEST);
    `Unsupported` (API_VERSION_OLD).
    Cost: about 8 µs for a small body, then what MD5 takes.
    """
    signed = _signed_headers(tuple(headers) if names is None else names)
    if signed is None:
        return _open_by_api_key(headers, body, keyring, instances, now_us)
    seconds = _seconds_of(headers[_DATE], headers[_API_VERSION])
    key = keyring.find(headers[_ACCESS_KEY_ID])
    instance = headers[_INSTANCE]
    instances.admit(instance, key)
    if abs(now_us // 1_000_000 - seconds) > DATE_SKEW_SECONDS_MAX:
        raise NotPermitted(TablestoreRule.DATE_SKEW, date=_shown(headers[_DATE]))
    if SIGNATURE_V4 in headers and headers[SIGN_DATE] not in _sign_dates(seconds // 86_400):
        raise NotPermitted(Rule.SIGNATURE_MISMATCH)
    reply = key.signing.verify(path, headers, signed)
    if key.token_sha256 is not None or _TOKEN in headers:
        _check_token(key, headers.get(_TOKEN), now_us)
    if not hmac.compare_digest(_digest(body), _bytes(headers[_CONTENT_MD5])):
        raise NotPermitted(TablestoreRule.BODY_DIGEST)
    return Opened(key, instance, reply), _unpacked(headers, body)


def _open_by_api_key(
    headers: Mapping[str, str],
    body: bytes,
    keyring: Keyring,
    instances: InstancePolicy,
    now_us: int,
) -> tuple[Opened, bytes]:
    """Open a request that carries an API key in place of a signature (change §D5).

    Whatever is wrong with key or instance, the sender is told the same (API_KEY).
    """
    key = keyring.find_api_key(headers[_API_KEY], now_us)
    if _TOKEN in headers:  # it belongs to an access key
        raise NotPermitted(Rule.API_KEY)
    instance = headers[_INSTANCE]
    try:
        instances.admit(instance, key)
    except NotPermitted as error:
        raise NotPermitted(Rule.API_KEY) from error
    given = headers.get(_CONTENT_MD5)
    if given is not None and not hmac.compare_digest(_digest(body), _bytes(given)):
        raise NotPermitted(TablestoreRule.BODY_DIGEST)
    return Opened(key, instance), _unpacked(headers, body)


def _unpacked(headers: Mapping[str, str], body: bytes) -> bytes:
    """The body as it was before it was compressed, within its bound."""
    if len(body) > BODY_BYTES_MAX:
        raise InvalidRequest(Rule.BODY_TOO_LARGE)
    if _COMPRESS_TYPE in headers or _COMPRESS_SIZE in headers:
        return _inflate(body, headers.get(_COMPRESS_TYPE, ""), headers.get(_COMPRESS_SIZE, ""))
    return body


def response_headers(
    path: str, body: bytes, request_id: str, date: AnswerDate, opened: Opened | None
) -> bytes:
    """The header lines that clients ask of an answer, each ended by CR LF (wire §1.5).

    `path` and `opened` are those of the request, and `opened.reply` signs; without `opened` (the
    request was refused before its sender was known) or `reply` (it came with an API key) there is
    no `Authorization`. `request_id` is
    the server's own text, `body` is what is sent, and `date` what `answer_date` made of the time.
    No other header of the answer may begin with `x-ots-`: it would not be signed. Cost: about 4 µs,
    then what MD5 takes.
    """
    digest = _digest_of_few(body) if len(body) <= _FEW_BYTES else _digest(body)
    number = request_id.encode()
    if opened is None or opened.reply is None:
        return b"".join((b"x-ots-contentmd5: ", digest, date.lines, number, b"\r\n"))
    # The canonical string (wire §1.5): the same four, sorted as they stand, then the path.
    signed = (b"x-ots-contentmd5:", digest, date.signed, number, b"\n", path.encode())
    head = (
        b"x-ots-contentmd5: ",
        digest,
        date.lines,
        number,
        b"\r\nAuthorization: OTS ",
        cast("AccessKey", opened.key).id.encode(),
        b":",
        cast("Mac", opened.reply).sign(b"".join(signed)),
        b"\r\n",
    )
    return b"".join(head)


@final
class _Asked:
    """Names of headers, and what they sign. Replaced as a whole: threads ask as well."""

    __slots__ = ("names", "signed")

    def __init__(self, names: tuple[str, ...], signed: SignedHeaders | None) -> None:
        self.names = names
        self.signed = signed


class _Last:
    """What was asked last: the listener hands out one tuple for the same names."""

    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked: _Asked | None = None


_LAST: Final = _Last()


def _signed_headers(names: tuple[str, ...]) -> SignedHeaders | None:
    asked = _LAST.asked
    if asked is None or asked.names is not names:
        asked = _LAST.asked = _Asked(names, _signed(names))
    return asked.signed


def _signed_by(names: tuple[str, ...]) -> SignedHeaders | None:
    """What a request with these headers signs, if it has those that it must have.

    None for one that has an API key in place of a signature.
    """
    if _API_KEY in names and SIGNATURE_V2 not in names and SIGNATURE_V4 not in names:
        if _INSTANCE not in names:
            raise InvalidRequest(TablestoreRule.HEADER_MISSING, name=_INSTANCE)
        return None
    signature = (SIGNATURE_V4, SIGN_DATE, SIGN_REGION) if SIGNATURE_V4 in names else (SIGNATURE_V2,)
    for name in (*_MANDATORY, *signature):
        if name not in names:
            raise InvalidRequest(TablestoreRule.HEADER_MISSING, name=name)
    return signed_headers(names)


# A client sends the same headers every time; errors are not remembered.
_signed: Final = lru_cache(maxsize=64)(_signed_by)


def _seconds_of(date: str, version: str) -> int:
    """Seconds since 1970. What stands between `.` and `Z` is ignored: Go writes no fraction.

    `version`: of the protocol. Those before `_FIRST_VERSION` write another form of dates.
    """
    seconds = _epoch_seconds(date[:_SECOND_CHARS])
    size = len(date) - _SECOND_CHARS
    ended = date.endswith("Z") and (size == 1 or (size > 1 and date[_SECOND_CHARS] == "."))
    if seconds is None or not ended:
        if "2" < version < _FIRST_VERSION:
            raise Unsupported(TablestoreRule.API_VERSION_OLD, version=_shown(version))
        raise InvalidRequest(TablestoreRule.DATE_FORMAT, date=_shown(date))
    return seconds


def _parsed_seconds(text: str) -> int | None:
    # fromisoformat also takes other shapes of a date (weeks, spaces, fewer digits): hold it to one.
    digits = text[:4] + text[5::3] + text[6::3]
    if text[4::3] != "--T::" or not (digits.isascii() and digits.isdigit()):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment.replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)


_epoch_seconds: Final = lru_cache(maxsize=64)(_parsed_seconds)  # clients send the same few seconds


def answer_date(now_us: i64) -> AnswerDate:
    """What says that an answer was made at this time, in microseconds since 1970 (wire §1.5)."""
    seconds: i64 = now_us // 1_000_000
    fraction: i64 = now_us - seconds * 1_000_000
    thousands: i64 = fraction // 1000
    parts = (_second_text(seconds), _DIGITS[thousands], _DIGITS[fraction - thousands * 1000], b"Z")
    return AnswerDate(b"".join(parts))


@lru_cache(maxsize=4)
def _second_text(seconds: int) -> bytes:
    text = (_EPOCH + timedelta(seconds=seconds)).isoformat()[:_SECOND_CHARS]
    return f"{text}.".encode()


@lru_cache(maxsize=4)
def _sign_dates(day: int) -> frozenset[str]:
    """`YYYYMMDD` of the day before, the day itself (counted from 1970) and the day after."""
    days = [_EPOCH + timedelta(days=each) for each in range(max(day - 1, 0), day + 2)]
    return frozenset(f"{each:%Y%m%d}" for each in days)


def _digest(body: bytes) -> bytes:
    if len(body) <= DIGEST_SLICE_BYTES:
        return _base64(_md5_digest(_md5(body, usedforsecurity=False)), newline=False)
    # Other threads may run meanwhile, but not on this processor: megabytes take milliseconds.
    state, view = _md5(usedforsecurity=False), memoryview(body)
    for start in range(0, len(body), DIGEST_SLICE_BYTES):
        state.update(view[start : start + DIGEST_SLICE_BYTES])
        safepoint()
    return _base64(state.digest(), newline=False)


# Writes are answered with no more than their units: the same few bytes.
_digest_of_few: Final = lru_cache(maxsize=256)(_digest)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _check_token(key: AccessKey, given: str | None, now_us: int) -> None:
    if key.token_sha256 is None or given is None:
        raise NotPermitted(TablestoreRule.SECURITY_TOKEN)
    if not hmac.compare_digest(key.token_sha256, secret_digest(given)):
        raise NotPermitted(TablestoreRule.SECURITY_TOKEN)
    if key.expires_us is not None and now_us >= key.expires_us:
        raise NotPermitted(TablestoreRule.SECURITY_TOKEN_EXPIRED)


def _inflate(body: bytes, kind: str, size_text: str) -> bytes:
    """The inflated body. Memory stays within the announced size, which stays within the bound."""
    if kind != "deflate" or not (size_text.isascii() and size_text.isdigit()):
        raise InvalidRequest(TablestoreRule.BODY_COMPRESSION)
    if len(size_text) > len(str(BODY_BYTES_MAX)) or int(size_text) > BODY_BYTES_MAX:
        raise InvalidRequest(Rule.BODY_TOO_LARGE)
    size = int(size_text)
    stream = zlib.decompressobj()
    inflated: bytes | None = None
    with suppress(zlib.error):  # whatever is wrong with it, the client is told the same
        # One byte more than announced, so that a longer stream shows and a right one ends.
        inflated = stream.decompress(body, size + 1)
    if inflated is None or len(inflated) != size or not stream.eof or stream.unused_data:
        raise InvalidRequest(TablestoreRule.BODY_COMPRESSION)
    return inflated


def _shown(value: str) -> str:
    return value[:_SHOWN_CHARS_MAX]
