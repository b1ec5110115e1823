"""The Tablestore dialect: protobuf messages whose rows are PlainBuffers.

`plainbuffer.py` decodes rows and keys, `filters.py` filters and conditions, `operations/` has one
file for each action. May import `engine` and everything below it. Start reading at
`operations/table.py`.
"""
