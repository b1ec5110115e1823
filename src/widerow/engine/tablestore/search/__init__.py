"""Search indexes of tables: definitions, building, following writes, answers (search §1, §5, §7).

`service.py` answers; `search_definitions.py` changes the catalogue; `live.py` is one index in
memory, which `journal.py` keeps up with its table. `widerow/search` has the indexes themselves.
"""
