"""What clients of the dialect are told when something goes wrong.

Clients branch on the code and some compare the text, so both are the service's own wherever a
public test or document shows them (semantics §18); where tests and documents differ in a dot or a
quote, the tests' form stands. What to do about an error is not told in the text but in a hint
beside it (`x-widerow-hint`).

`codes.py` has the codes, a module of each family one row for each rule, `table.py` all rows
together, and `answers.py` makes of an error what is sent. Start at `answers.py`.
"""
