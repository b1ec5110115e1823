"""Rows as they are stored: ready for the wire.

`cells.py` is one cell and its checksum, `record.py` what stands under a key. The format and its
test vectors are in `docs/formats/rows.md`. Imports `model`, `limits` and `errors` only; used by
`engine` and by the dialect whose encoding it is.
"""
