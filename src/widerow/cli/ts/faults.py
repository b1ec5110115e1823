"""What is wrong with a line of the vendor's command line."""

from widerow.errors import WiderowError

__all__ = ["TsUsage"]


class TsUsage(WiderowError):
    """A command does not exist, or its words are not its flags; the message says what is wrong."""
