"""The URLs of pages, as an index states them and as people and assistants write them."""

import re
import unicodedata
from urllib.parse import quote, unquote

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]{0,30}://", re.IGNORECASE)
_MAX_HOST_CHARACTERS = 260
"""A host name has at most 253 characters, and a port may follow."""
_INDEX_FILE = re.compile(r"(?:^|(?<=/))index\.html?$")
_SAFE_CHARACTERS = "/:@!$&'()*+,;=~%?#[]"
"""Characters that need no percent encoding in a URL."""


def normalize_host(domain: str) -> str:
    """Return the host of a site's domain, without scheme, path and invalid characters."""
    host = _SCHEME.sub("", domain.strip()).partition("/")[0][:_MAX_HOST_CHARACTERS]
    return re.sub(r"[^\w.:-]", "", host).lower() or "example.com"


def full_url(domain: str, url: str) -> str:
    """Return the full URL of a page."""
    path = url if url.startswith("/") else f"/{url}"
    if _SCHEME.match(url):
        return quote(url, safe=_SAFE_CHARACTERS, errors="replace")
    return f"https://{normalize_host(domain)}{quote(path, safe=_SAFE_CHARACTERS, errors='replace')}"


def split_url(url: str) -> tuple[str | None, str]:
    """Split a URL into its host, None if it has none, and its path."""
    url = url.strip()
    if _SCHEME.match(url) or url.startswith("//"):
        host, slash, path = url.partition("//")[2].partition("/")
        return host.lower(), slash + path
    return None, url


def path_key(path: str) -> str:
    """Return a path in the form used for comparison.

    The fragment, slashes at the end, percent encoding and `index.html` are removed.
    """
    plain = unquote(path.partition("#")[0], errors="replace").strip()
    plain = _INDEX_FILE.sub("", unicodedata.normalize("NFC", plain))
    return "/" + plain.strip("/")


def is_same_host(host: str, domain: str) -> bool:
    """Return whether a host is that of a site's domain; `www.` does not count."""
    return host.removeprefix("www.") == normalize_host(domain).removeprefix("www.")
