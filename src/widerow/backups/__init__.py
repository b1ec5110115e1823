"""Copies of any store as records in files, and stores made of them (docs/operating/backup.md).

Unlike the files of a checkpoint (`storage/backup.py`), records are the same whatever store they
come from and go to: embedded, PostgreSQL, HBase.
"""
