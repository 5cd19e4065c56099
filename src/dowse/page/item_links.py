"""Where the links and pictures of a document lead on the page."""

import posixpath
import re
from urllib.parse import quote, unquote

from dowse.federation.federation_types import ROOT_KINDS
from dowse.federation.result_ids import id_of
from dowse.page.page_search import read_address
from dowse.sources.pictures import picture_type

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_WEB = re.compile(r"https?://[^\s]+|mailto:[^\s]+", re.IGNORECASE)


def item_address(source: str, locator: str, target: str) -> str | None:
    """Return the address that a link of a document leads to: the web, a heading, or another file of its source."""
    if target.startswith("#"):
        return f"#md-{target[1:]}"
    if _SCHEME.match(target):
        return target if _WEB.fullmatch(target) else None
    path, _, anchor = target.partition("#")
    joined = _joined(source, locator, path)
    if joined is None:
        return None
    folder = "/" if path.endswith("/") or not joined else ""
    is_lines = re.fullmatch(r"L\d+(-L?\d+)?", anchor)
    return read_address(id_of(source, joined) + folder) + (f"#{'' if is_lines else 'md-'}{anchor}" if anchor else "")


def picture_address(source: str, locator: str, target: str) -> str | None:
    """Return the address of a picture of a document, if it is a file of its source."""
    joined = None if _SCHEME.match(target) else _joined(source, locator, target.partition("#")[0])
    return f"/picture?id={quote(id_of(source, joined), safe='/')}" if joined and picture_type(joined) else None


def _joined(source: str, locator: str, path: str) -> str | None:
    """Return the path in its source that a relative path means; None for one that leads elsewhere."""
    if source.partition("/")[0] not in ROOT_KINDS or not path or path.startswith("//"):
        return None
    base = "" if path.startswith("/") else posixpath.dirname(locator)
    joined = posixpath.normpath(posixpath.join(base, unquote(path.partition("?")[0]).lstrip("/")))
    return None if joined.startswith("..") else "" if joined == "." else joined
