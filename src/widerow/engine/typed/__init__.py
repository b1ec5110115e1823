"""Typed tables, the model of Oracle NoSQL: what may be asked of them, and what keeps them.

Start at `engine`, which has the operations. `plug` tells the engine's core of the model; `model`
and `tables` are its part of the catalogue; `form` is what is worked out once for a definition of a
table; `prepare` and `write` put and delete a row, `stored` is a row as it is read; `ddl` runs
statements.
"""
