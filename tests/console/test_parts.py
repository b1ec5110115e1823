"""Laws of the console's pure parts, and what its vendored files are."""

import json
from hashlib import sha256
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.console.forms import kind_name, typed_text, typed_value, value_from_kept, value_to_keep
from widerow.console.live import actions_since
from widerow.console.parts import ConsoleRefused
from widerow.console.statics import STATIC, find_static
from widerow.model.values import Value
from widerow.server.metrics import BUCKET_BOUNDS, latency_ms
from widerow.server.recent import ActionSample, RequestSample

VALUES = (
    st.integers(-(2**63), 2**63 - 1)
    | st.booleans()
    | st.text()
    | st.binary()
    | st.floats(allow_nan=False)
)


@given(VALUES)
def test_a_value_survives_a_form(value: Value) -> None:
    kept = value_from_kept(value_to_keep(value))
    assert (type(kept), kept) == (type(value), value)
    if not isinstance(value, str | float) or (isinstance(value, float) and isfinite(value)):
        typed = typed_value("c", kind_name(value), typed_text(value))
        assert (type(typed), typed) == (type(value), value)


@pytest.mark.parametrize("text", ["inf", "Infinity", "-Infinity", "NaN", "1e999"])
def test_no_double_of_a_form_is_infinite_or_nan(text: str) -> None:
    with pytest.raises(ConsoleRefused, match="not a double"):
        typed_value("c", "double", text)


@given(st.lists(st.integers(0, 50), min_size=16, max_size=16), st.floats(0.01, 1))
def test_a_latency_lies_within_its_bucket(buckets: list[int], part: float) -> None:
    found = latency_ms(buckets, part) / 1000
    below = sum(n for n, bound in zip(buckets, BUCKET_BOUNDS, strict=False) if bound <= found)
    assert below <= sum(buckets) * part + 50
    assert latency_ms(buckets, part) <= latency_ms(buckets, 1)


def test_rates_are_of_the_time_between_samples_and_leave_the_console_out() -> None:
    def sample(second: int, count: int) -> RequestSample:
        counts = ActionSample(count, count // 10, count * 1000, (count,) + (0,) * 15)
        return RequestSample(second * 10**6, second * 10**9, {"GetRow": counts, "console": counts})

    whole, actions = actions_since([sample(0, 0), sample(10, 100), sample(20, 400)], 10)
    assert whole["per_second"] == 30
    assert whole["errors"] == 30
    assert [each["action"] for each in actions] == ["GetRow"]


def test_files_of_others_are_what_was_published_and_have_their_licences() -> None:
    listed = json.loads((STATIC / "vendored.json").read_text(encoding="utf-8"))["files"]
    assert {each["file"] for each in listed} == {
        *("htmx.min.js", "uPlot.iife.min.js", "uPlot.min.css")
    }
    for each in listed:
        assert sha256((STATIC / each["file"]).read_bytes()).hexdigest() == each["sha256"]
        assert each["license"] in {"0BSD", "MIT"}
        assert (STATIC / each["license_file"]).read_text(encoding="utf-8")


def test_only_what_pages_load_is_handed_out() -> None:
    names = {each.name for each in STATIC.iterdir()}
    given_out = {name for name in names if find_static(name) is not None}
    assert names - given_out == {"htmx.LICENSE", "uPlot.LICENSE", "vendored.json"}
    for outside in ("", ".", "..", "../console.py", "/etc/passwd", "console.css/"):
        assert find_static(outside) is None
