"""One file for each action, one shape for all: `decode`, `call`, `encode`.

`decode(body)` turns the bytes of a request into a value of `model/tablestore/requests.py`,
`call(engine, instance, request)` asks the engine, `encode(result)` gives the bytes of the answer.
`table.py` lists the actions: start there. What several share is in `bodies.py`, `definitions.py`,
`reading.py`, `tokens.py`, `writing.py`, `batches.py` and `answers.py`. Imports the codecs beside
this package, `engine` and everything below.
"""
