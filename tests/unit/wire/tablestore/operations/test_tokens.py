"""Continuation tokens come back as they went, or are refused (semantics §5.4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import Resume
from widerow.rows.checksum import crc8
from widerow.wire.tablestore.operations.tokens import decode_token, encode_token

NAMES = st.text(min_size=1, max_size=63)  # of at most 252 bytes
RESUMES = st.builds(Resume, column=NAMES, seen=st.integers(0, 2**32 - 1))


def refused(token: bytes) -> None:
    with pytest.raises(InvalidRequest) as caught:
        decode_token(token)
    assert caught.value.rule is TablestoreRule.READ_TOKEN


def sealed(body: bytes) -> bytes:
    return body + bytes((crc8(body),))


def test_a_token_is_what_its_document_says() -> None:
    token = encode_token(Resume("col", 258))
    assert token == sealed(b"\x01\x00\x00\x01\x02col")


@given(RESUMES)
def test_tokens_come_back(resume: Resume) -> None:
    assert decode_token(encode_token(resume)) == resume


def test_no_bytes_are_no_token() -> None:
    assert decode_token(b"") is None


@given(RESUMES, st.data())
def test_cut_tokens_are_refused(resume: Resume, data: st.DataObject) -> None:
    token = encode_token(resume)
    cut = token[: data.draw(st.integers(1, len(token) - 1))]
    if crc8(cut[:-1]) != cut[-1]:  # one in 256 passes for whole
        refused(cut)


@pytest.mark.parametrize(
    "token",
    [
        b"\x00",
        b"\x01\x00\x00\x00\x00",
        sealed(b"\x01\x00\x00\x00"),
        sealed(b"\x01\x00\x00\x00\x00"),  # no column
        sealed(b"\x02\x00\x00\x00\x00c"),  # another version
        sealed(b"\x01\x00\x00\x00\x00\xff"),  # not UTF-8
        sealed(b"\x01\x00\x00\x00\x00" + b"c" * 256),  # longer than any name
    ],
)
def test_bytes_that_are_no_token(token: bytes) -> None:
    refused(token)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_token_or_refused(token: bytes) -> None:
    try:
        resume = decode_token(token)
    except InvalidRequest:
        return
    assert resume is None or encode_token(resume) == token
