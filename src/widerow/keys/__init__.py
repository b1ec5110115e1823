"""Encodes primary keys into bytes whose order is the order of the model.

`encode.py` and `decode.py` mirror each other; `layout.py` says which prefix means what. The format
and its test vectors are in `docs/formats/keys.md`. Imports `model`, `limits` and `errors` only.
"""
