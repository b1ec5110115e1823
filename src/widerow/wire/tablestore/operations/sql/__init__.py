"""The SQL of Tablestore: MySQL's dialect over mapping tables (docs/spec/tablestore-sql.md).

`parse.py` reads a statement, `select.py` makes a plan of it for `widerow/query`, `statements.py`
has what a statement can be, `actions.py` answers it. Loaded with the first SQLQuery.
"""
