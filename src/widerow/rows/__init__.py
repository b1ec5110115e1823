"""The stored form of rows, which is also their form on the wire.

`cells.py` is one cell and its checksum, `record.py` the record under a row's key. The format and
its test vectors are in `docs/formats/rows.md`. Imports `model`, `limits` and `errors` only; used by
`engine` and by the dialect whose encoding it is.
"""
