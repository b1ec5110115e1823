"""Names and addresses that reach only the own machine."""

import ipaddress
from functools import lru_cache

__all__ = ["is_loopback", "names_loopback"]


def is_loopback(host: str) -> bool:
    """Whether a name or an address, without a port, can be reached only from this machine."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=64)  # looked at for each request, and most repeat one
def names_loopback(header: str) -> bool:
    """Whether a `host` header, with or without a port, has such a name or address."""
    has_port = ":" in header and not header.endswith("]")
    return is_loopback(header.rpartition(":")[0] if has_port else header)
