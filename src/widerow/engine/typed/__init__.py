"""The typed table model: operations, rows, indexes and their builds, over the engine's core.

`engine` is the facade, `model` and `tables` are the tables, `form` is what is worked out once for a
table, `stored` a row as it is read. Reads take a reader, writes are bodies that run in a
transaction of one shard.
"""
