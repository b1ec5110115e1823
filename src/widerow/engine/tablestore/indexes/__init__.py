"""Secondary indexes of Tablestore's tables (change §A).

An index is a table of its own in the catalogue, which clients read and do not write. Its entries
are ordinary row records that follow from the rows of its table (`form.py`). Entries of a local
index are in the shard of their row (`local.py`); entries of a global index are rows of the index.
The observer of row changes (`keeper.py`) writes them in the transaction of the row; where a
transaction cannot reach them, or `--index-lag` asks for it, it leaves an intent beside the row
instead (`intents.py`).
"""
