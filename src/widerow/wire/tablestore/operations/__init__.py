"""The actions of the protocol: `table.py` lists them, a module of each family has what they do.

An action decodes the bytes of a request into a value of `model/tablestore/requests.py`, asks the
engine, and encodes its answer (`action.py`). `bodies.py`, `definitions.py`, `reading.py`,
`writing.py`, `tokens.py` and `answers.py` are what several families share. Imports the codecs
beside this package, `engine` and everything below.
"""
