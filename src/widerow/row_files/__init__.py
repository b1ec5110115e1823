"""Reading of files with rows: CSV, JSON lines, Parquet.

`source.py` reads rows one by one, `values.py` says what a value is. For the advisor of keys and for
imports.
"""
