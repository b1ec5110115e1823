"""Who may command a server in dev mode: programs of its own machine, unless more is allowed."""

import ipaddress

__all__ = ["is_here", "is_loopback"]


def is_loopback(host: str) -> bool:
    """Whether a name or an address is the machine's own, which no other machine reaches."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_here(host: str) -> bool:
    """Whether a `host` header, with or without a port, names this machine by a loopback name."""
    name = host if host.endswith("]") or ":" not in host else host.rpartition(":")[0]
    return is_loopback(name.strip("[]"))
