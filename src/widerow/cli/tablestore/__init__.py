"""Tables and rows of Tablestore from the command line: `widerow table`, `widerow row`.

Over the protocol, so of any endpoint that speaks Tablestore. The modules by subject:

- the language, pure: `words` (`name:type=value`), `keys` (keys and ranges of them), `conditions`
  (`age >= 18 and city = 'x'`), `times`;
- what is printed, pure: `grid` (tables of text), `documents` (rows and tables as JSON and text);
  `output` writes it, in the format that is asked for;
- the commands: `table_commands` and `row_commands` (flags), `asking` (what they ask for), `tables`
  and `rows` (what they do), `counting`, `batches`.
"""
