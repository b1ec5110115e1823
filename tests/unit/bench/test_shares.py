"""Samples are counted for the part of the process that they fell into."""

import pytest
from bench.shares import share_of, weigh


@pytest.mark.parametrize(
    ("library", "share"),
    [
        ("[kernel.kallsyms]", "kernel"),
        ("rocksdict.cpython-311-x86_64-linux-gnu.so", "RocksDB"),
        ("b84c0c20906008a3df5c__mypyc.cpython-311-x86_64-linux-gnu.so", "widerow, compiled"),
        ("loop.cpython-311-x86_64-linux-gnu.so", "loop, HTTP parser"),
        ("libpython3.11.so.1.0", "Python"),
        ("python3.12", "Python"),
        ("libc.so.6", "C library"),
        ("libcrypto.so.3", "OpenSSL: MD5, SHA-1"),
        ("libstdc++.so.6", "other"),
    ],
)
def test_libraries_have_their_share(library: str, share: str) -> None:
    assert share_of(library) == share


def test_a_report_is_added_up_by_share() -> None:
    said = (
        "# Samples: 3K of event 'cpu-clock:pppH'\n#\n# Overhead;Shared Object\n"
        " 37.50%;libpython3.11.so.1.0\n 25.00%;[kernel.kallsyms]\n"
        " 20.00%;libcrypto.so.3\n 17.50%;_hashlib.cpython-311-x86_64-linux-gnu.so\n"
    )
    assert weigh(said) == {"Python": 37.5, "OpenSSL: MD5, SHA-1": 37.5, "kernel": 25.0}
    assert weigh("") == {}
