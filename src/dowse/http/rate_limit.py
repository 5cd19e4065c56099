"""The rate limit: a token bucket for each client."""

import ipaddress
import time
from collections import OrderedDict
from functools import lru_cache

LOOPBACK_RATE = 1000.0
REMOTE_RATE = 50.0
"""Requests a second of one client; a burst may have twice as many."""
MAX_KNOWN_CLIENTS = 10_000
"""Clients that are remembered; those that were silent longest are forgotten."""
NETWORK_BITS = 64
"""A client with one IPv6 address usually has the whole network of this size."""
MAX_CACHED_ADDRESSES = 1000
"""Parsed addresses that are cached."""


class RateLimit:
    """The number of requests that each client has left."""

    def __init__(self, rate: float | None) -> None:
        self._rate = rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def seconds_to_wait(self, address: str) -> float:
        """Count a request; return how long its client has to wait, 0 if the request is accepted."""
        rate = self._rate if self._rate is not None else LOOPBACK_RATE if is_loopback(address) else REMOTE_RATE
        if not rate:
            return 0.0
        burst, now, client = max(1.0, 2 * rate), time.monotonic(), client_key(address)
        left, seen = self._left.pop(client, (burst, now))
        left = min(burst, left + (now - seen) * rate)
        is_accepted = left >= 1
        # A refused request costs nothing, otherwise a client that keeps trying would never succeed.
        self._left[client] = left - is_accepted, now
        if len(self._left) > MAX_KNOWN_CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if is_accepted else (1 - left) / rate


@lru_cache(MAX_CACHED_ADDRESSES)
def is_loopback(address: str) -> bool:
    """Return whether an address is a loopback address."""
    if address == "localhost":
        return True
    found = _parse_address(address)
    return found is not None and found.is_loopback


@lru_cache(MAX_CACHED_ADDRESSES)
def client_key(address: str) -> str:
    """Return the key of the client that an address belongs to: the network for IPv6, else the address."""
    found = _parse_address(address)
    if isinstance(found, ipaddress.IPv6Address) and not found.is_loopback:
        return str(ipaddress.ip_network((int(found), NETWORK_BITS), strict=False))
    return str(found or address)


def _parse_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
