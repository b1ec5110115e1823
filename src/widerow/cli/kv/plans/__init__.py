"""`plan …`: the changes of the store that the shell makes (cli §4).

A plan runs in the shell's own process and has ended when its command returns; what is asked for
with -wait differs in what is said only.
"""
