"""Names and addresses by which a machine calls itself: for what only its own programs may do."""

import ipaddress

__all__ = ["is_loopback", "names_loopback"]


def is_loopback(host: str) -> bool:
    """Whether a name or an address, without a port, is one that no other machine reaches."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def names_loopback(header: str) -> bool:
    """Whether a `host` header, with or without a port, names this machine by such a name."""
    has_port = ":" in header and not header.endswith("]")
    return is_loopback(header.rpartition(":")[0] if has_port else header)
