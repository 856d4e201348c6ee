"""Names and addresses in the header ``Host``: whether they are this machine's own, or could be an attacker's.

A page of another site reaches a port of this machine, or of an inner network, by pointing a name of its own there (DNS
rebinding). The header Host then contains that name.
"""

from __future__ import annotations

import ipaddress
import re

__all__ = ["host_in", "is_inner", "is_loopback"]

_LOCAL_NAMES = ("localhost",)
# An IPv6 address in brackets or a name, and a port.
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:/@\s]+))(?::\d{0,5})?")


def host_in(header: str) -> str:
    """The host without its port, in lower case; empty if the header is not valid."""
    found = _HOST.fullmatch(header)
    return "" if found is None else (found[1] or found[2]).lower()


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    if host.lower() in _LOCAL_NAMES:
        return True
    address = _address(host)
    if address is None:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def is_inner(host: str) -> bool:
    """Whether no other site can point this name elsewhere: an address, or a name without a dot, as Compose has them."""
    return bool(host) and ("." not in host or _address(host) is not None)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
