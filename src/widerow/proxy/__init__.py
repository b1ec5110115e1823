"""Between a client and a server: what is asked and answered, recorded, compared, asked again.

`handling.py` is the proxy itself, a handler behind the server's own listener; it asks other servers
through `widerow.client`. `recording.py` keeps what went by, `replaying.py` asks it again. Pure, and
shared by both: `decoding.py` takes messages apart, `comparing.py` finds the differences of two
answers, `report.py` collects them; `claims.py` and `turns.py` say which requests must not overtake
each other, `identifiers.py` what one server calls what another has made.
"""
