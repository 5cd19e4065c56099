"""The addresses of pages, as an index writes them and as people and assistants do."""

import re
import unicodedata
from urllib.parse import quote, unquote

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]{0,30}://", re.IGNORECASE)
_MAX_HOST_CHARACTERS = 260
"""Names have at most 253 characters, and a port."""
_INDEX_FILE = re.compile(r"(?:^|(?<=/))index\.html?$")
_SAFE_CHARACTERS = "/:@!$&'()*+,;=~%?#[]"
"""What may stand in an address as it is."""


def normalize_host(domain: str) -> str:
    """A site's domain without what does not belong there."""
    bare = _SCHEME.sub("", domain.strip()).partition("/")[0][:_MAX_HOST_CHARACTERS]
    return re.sub(r"[^\w.:-]", "", bare).lower() or "example.com"


def full_url(domain: str, url: str) -> str:
    """Where a page can be opened."""
    path = url if url.startswith("/") else f"/{url}"
    if _SCHEME.match(url):
        return quote(url, safe=_SAFE_CHARACTERS, errors="replace")
    return f"https://{normalize_host(domain)}{quote(path, safe=_SAFE_CHARACTERS, errors='replace')}"


def split_url(address: str) -> tuple[str | None, str]:
    """The host that an address names, if it does, and the path in it."""
    address = address.strip()
    if _SCHEME.match(address) or address.startswith("//"):
        host, slash, path = address.partition("//")[2].partition("/")
        return host.lower(), slash + path
    return None, address


def path_key(path: str) -> str:
    """A path as it is compared: without fragment, slash at the end, percent signs, `index.html`."""
    plain = unquote(path.partition("#")[0], errors="replace").strip()
    plain = _INDEX_FILE.sub("", unicodedata.normalize("NFC", plain))
    return "/" + plain.strip("/")


def strip_query(path: str) -> str:
    """A path without what follows a question mark."""
    return path.partition("#")[0].partition("?")[0]


def is_same_host(host: str, domain: str) -> bool:
    """Whether a host is that of a site; `www.` does not count."""
    return host.removeprefix("www.") == normalize_host(domain).removeprefix("www.")
