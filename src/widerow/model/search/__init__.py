"""Search indexes as frozen values: definitions, requests, answers (search §1, §2, §4 to §7).

`schema.py`: fields of an index. `query.py`: conditions on documents, and orders. `aggregation.py`:
metrics and groups, asked for and answered. `requests.py`: the operations. Numbers of enumerations
are those of the wire. A request is checked against the schema of the index only when it is carried
out.
"""
