"""How often one client may ask: a bucket for each that fills again."""

import ipaddress
import time
from collections import OrderedDict
from functools import lru_cache

LOOPBACK_RATE = 1000.0
REMOTE_RATE = 50.0
"""Requests a second of one client; twice as many at once."""
KNOWN_CLIENTS = 10_000
"""Clients whose rate is remembered."""
NETWORK_BITS = 64
"""Who has one IPv6 address has this whole network of them."""
REMEMBERED = 1000
"""Addresses that need not be taken apart again."""


class RateLimit:
    """How many requests each client has left."""

    def __init__(self, rate: float | None) -> None:
        self._rate = rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_of(self, address: str) -> float:
        """How many seconds a client has to wait; 0 when it may go on."""
        rate = self._rate if self._rate is not None else LOOPBACK_RATE if is_loopback(address) else REMOTE_RATE
        if not rate:
            return 0.0
        most, now, client = max(1.0, 2 * rate), time.monotonic(), one_client(address)
        left, seen = self._left.pop(client, (most, now))
        left = min(most, left + (now - seen) * rate)
        is_free = left >= 1
        self._left[client] = left - is_free, now  # what is refused costs nothing, or who insists would never get in
        if len(self._left) > KNOWN_CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if is_free else (1 - left) / rate


@lru_cache(REMEMBERED)
def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own."""
    if address == "localhost":
        return True
    found = _parsed(address)
    return found is not None and found.is_loopback


@lru_cache(REMEMBERED)
def one_client(address: str) -> str:
    """What addresses have in common that belong to one client."""
    found = _parsed(address)
    if isinstance(found, ipaddress.IPv6Address) and not found.is_loopback:
        return str(ipaddress.ip_network((int(found), NETWORK_BITS), strict=False))
    return str(found or address)


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
