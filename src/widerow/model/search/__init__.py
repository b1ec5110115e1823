"""What search indexes are made of and asked for, as frozen values (search §1, §2, §4 to §7).

`schema.py`: fields of an index. `query.py`: conditions on documents, and orders.
`aggregation.py`: metrics and groups, asked for and answered. `requests.py`: the operations.
Numbers of enumerations are those of the wire. A value says what was asked; whether it may be asked
is decided by whoever carries it out, against the schema of the index.
"""
