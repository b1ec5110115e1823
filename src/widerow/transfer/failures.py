"""How a transfer ends that cannot go on."""

from widerow.errors import WiderowError

__all__ = ["TransferFailed"]


class TransferFailed(WiderowError):
    """Nothing more can be transferred; the message says why and what to do."""
