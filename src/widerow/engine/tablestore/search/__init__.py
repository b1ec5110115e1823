"""Search indexes of tables: their life, and who answers requests for them (search §1, §5, §7).

`service.py` answers; `definitions.py` changes the catalogue; `live.py` is one index in memory,
which `journal.py` keeps up with its table. What an index is made of is the business of
`widerow/search`.
"""
