"""Names of delivered files: form, variables, and that none leaves its bucket (change §D3)."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.tablestore.delivery.names import (
    check_bucket,
    check_prefix,
    check_task_name,
    dirty_file,
    expanded,
    parquet_file,
)
from widerow.errors import InvalidRequest
from widerow.limits import DELIVERY_PREFIX_BYTES_MAX
from widerow.model.tablestore.rules import TablestoreRule

NOON_US = 1_468_972_800_000_000 + (12 * 3600 + 5 * 60) * 1_000_000  # 2016-07-20 12:05:00 UTC


def test_a_name_is_prefix_task_concurrent_id_flat_prefix_and_sequence() -> None:
    found = parquet_file("year=2016/07", "my-task", "7-0", 3)
    assert found == (("year=2016", "07"), "my-task_7-0_year=2016_07__3.parquet")


def test_without_a_prefix_files_are_in_the_bucket() -> None:
    assert parquet_file("", "task", "7-0", 1) == ((), "task_7-0___1.parquet")


def test_rows_that_do_not_fit_go_to_lines_of_json() -> None:
    assert dirty_file("bad", "task", "7-0", 1) == (("bad",), "task_7-0_bad__1.jsonl")


@pytest.mark.parametrize(
    ("prefix", "filled"),
    [
        ("a/$yyyy/$MM/$dd", "a/2016/07/20"),
        ("$HH$mm", "1205"),
        ("$yyyy$yyyy", "20162016"),
        ("$y/$MMM/$", "$y/07M/$"),
        ("plain", "plain"),
    ],
)
def test_variables_of_a_prefix_are_filled_with_the_time_in_utc(prefix: str, filled: str) -> None:
    assert expanded(prefix, NOON_US) == filled


def test_the_year_has_four_digits() -> None:
    assert expanded("$yyyy", -62_135_596_800_000_000) == "0001"


@pytest.mark.parametrize("name", ["abc", "0-9", "a" * 16, "sampletask"])
def test_task_names_of_the_documented_form(name: str) -> None:
    check_task_name(name)


@pytest.mark.parametrize(
    "name", ["", "ab", "a" * 17, "-ab", "ab-", "Abc", "a_b", "a/b", "a.b", "abc\n", "äbc", "٣٣٣"]
)
def test_other_task_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        check_task_name(name)
    assert caught.value.rule is TablestoreRule.DELIVERY_NAME


@pytest.mark.parametrize("bucket", ["abc", "my-bucket-1", "a" * 63])
def test_buckets_of_the_documented_form(bucket: str) -> None:
    check_bucket(bucket)


@pytest.mark.parametrize(
    "bucket", ["", "ab", "a" * 64, "..", "...", "a/b", "../abc", "/abc", "Abc", "a.b.c", "abc\n"]
)
def test_other_buckets_are_refused(bucket: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        check_bucket(bucket)
    assert caught.value.rule is TablestoreRule.DELIVERY_BUCKET


@pytest.mark.parametrize("prefix", ["", "a", "a/b", "year=$yyyy/month=$MM", "a b/ü", "a~/..b/.c"])
def test_prefixes_below_the_bucket(prefix: str) -> None:
    check_prefix(prefix)


@pytest.mark.parametrize(
    "prefix",
    [
        *("/", "/a", "a/", "a//b", ".", "./a", "a/.", "..", "a/..", "a/../b", "../../etc"),
        *("~", "~root/a", "a/~", "a\0b", "\0", "a\nb", "a\x7f", "x" * 129, "ü" * 65),
    ],
)
def test_hostile_prefixes_are_refused(prefix: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        check_prefix(prefix)
    assert caught.value.rule is TablestoreRule.DELIVERY_PREFIX


@given(
    prefix=st.text(alphabet="a.~/$yMdHm\0\\ ü_", max_size=24),
    time_us=st.integers(-(10**16), 10**17),
)
def test_what_passes_the_check_stays_below_the_bucket(prefix: str, time_us: int) -> None:
    try:
        check_prefix(prefix)
    except InvalidRequest:
        return
    directories, name = parquet_file(expanded(prefix, time_us), "t" * 16, "4294967295-9", 10**9)
    for part in (*directories, name):
        assert part not in ("", ".", "..")
        assert not {"/", "\0"} & set(part)
    path = PurePosixPath("/files/bucket", *directories, name)
    assert path.parts[:3] == ("/", "files", "bucket")
    assert len(path.parts) == 3 + len(directories) + 1


def test_the_longest_prefix_leaves_a_name_that_file_systems_take() -> None:
    prefix = "x" * DELIVERY_PREFIX_BYTES_MAX
    name = parquet_file(prefix, "t" * 16, "4294967295-4294967295", 2**62).name
    assert len(f"{name}.tmp".encode()) <= 255
