"""The typed data model: tables of declared fields, shard keys and child tables (Oracle NoSQL).

`types` and `values` are what a field may hold, `table` what a table is, `builder` and `evolve` how
one is made and changed, `coerce`, `json_rows` and `texts` how values enter and leave. Errors carry
the vendor's texts (`rules`), because its users match on them.
"""
