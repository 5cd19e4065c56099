"""URLs in running text without markup."""

import re
from collections.abc import Iterator

_BARE = re.compile(
    r"(?<![\w@/.:-])(?:(?:https?|ftp)://|www\.(?=\w))[^\s<>\"`\\\[\]|^{}、。，；：！？）】」』》”’]{1,2000}",
    re.IGNORECASE,
)
_TRAILING = "?!.,:;*_~'…"


def find_bare_urls(text: str) -> Iterator[re.Match[str]]:
    """Return matches of the URLs in a text; pass each to `trim_url` to remove trailing punctuation."""
    return _BARE.finditer(text) if "://" in text or "www." in text else iter(())


def trim_url(url: str) -> str:
    """Return a URL without the punctuation of the sentence around it; empty if nothing is left."""
    while url and (url[-1] in _TRAILING or (url[-1] == ")" and url.count(")") > url.count("("))):
        url = url[:-1]
    host = url.partition("://")[2] if "://" in url else url.partition(".")[2]
    return url if any(letter.isalnum() for letter in host) else ""
