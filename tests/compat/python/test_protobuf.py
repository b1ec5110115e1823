"""The range of protobuf that widerow says it supports, and the runtime that is here.

`tools/protobuf_range.py` runs the tests of the dialect under both ends of the range, which takes
environments of their own; here the end that the SDK's pin allows is the one that is installed.
"""

from importlib.metadata import requires, version

import pytest
from packaging.requirements import Requirement
from tablestore.protobuf import table_store_pb2 as theirs
from tools import protobuf_range

from widerow.wire.tablestore import messages as ours


def requirement(package: str) -> Requirement:
    found = [Requirement(each) for each in requires(package) or ()]
    return next(each for each in found if each.name == "protobuf")


def test_widerow_and_the_sdk_share_an_environment() -> None:
    installed = version("protobuf")
    assert installed in requirement("widerow").specifier
    assert installed in requirement("tablestore").specifier


def test_no_newer_protobuf_is_shut_out() -> None:
    assert all(each.operator == ">=" for each in requirement("widerow").specifier)


def test_messages_go_from_the_sdk_to_widerow_and_back() -> None:
    sent = theirs.GetRowRequest(table_name="t", primary_key=b"\x00\xff", max_versions=2)
    sent.columns_to_get.extend(["a", "b"])
    sent.time_range.start_time = 2**62
    received = ours.GetRowRequest.FromString(sent.SerializeToString())
    assert (received.table_name, received.primary_key) == ("t", b"\x00\xff")
    assert list(received.columns_to_get) == ["a", "b"]
    assert received.time_range.start_time == 2**62
    assert received.SerializeToString() == sent.SerializeToString()


def test_both_ends_of_the_range_are_tried() -> None:
    assert protobuf_range.ends("protobuf>=5.26") == ("protobuf==5.26.*", "protobuf>=5.26")
    assert protobuf_range.ends(protobuf_range.declared())[0].startswith("protobuf==5.")
    with pytest.raises(ValueError, match="no lower bound"):
        protobuf_range.ends("protobuf<6")
