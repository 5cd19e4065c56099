"""Where items, links and pictures are on the page, in the editor of the user, and the names of sources as people see them."""

import posixpath
import re
from pathlib import Path
from urllib.parse import quote, unquote

from dowse.errors import ItemNotFound
from dowse.federation.federated_search import find_source
from dowse.federation.federation_types import AS_DOCUMENT, ROOT_KINDS, SearchSource, id_of
from dowse.federation.source_list import SourceList
from dowse.mcp.tools import Call
from dowse.page.markup import Html, link, tag
from dowse.settings import EDITORS
from dowse.sources.project_files import picture_type
from dowse.types import Verdict


def root_name(source: str) -> str:
    """Return the name of a source as people see it: a root's own name, `archive`, `site/docs`."""
    kind, _, name = source.partition("/")
    return unquote(name) if kind in ROOT_KINDS and name else unquote(source)


async def find_item(sources: SourceList, item_id: str) -> tuple[SearchSource, str]:
    """Return the source of an id and the place in it, which is the path of a file; ItemNotFound if there is no source."""
    source, locator = await find_source(sources, Call(), item_id)
    return source, locator.removesuffix(AS_DOCUMENT)


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_WEB = re.compile(r"https?://[^\s]+|mailto:[^\s]+", re.IGNORECASE)


def read_address(item_id: str) -> str:
    """Return the address at which an item is read."""
    return f"/read?id={quote(item_id, safe='/')}"


def quoted_name(name: str) -> str:
    """Return a name as an address has it."""
    return quote(name, safe="", errors="replace")


def ways_from(item_id: str) -> list[Html]:
    """Return what leads on from an item that is not shown."""
    kind, name, path = (*item_id.split("/", 2), "", "")[:3]
    file = posixpath.basename(unquote(item_id).removesuffix(AS_DOCUMENT))
    found = [link(f"/find?q={quoted_name(file)}", "Find files of this name")] if file else []
    if kind not in ROOT_KINDS or not path:
        return found
    rule = tag("span", "dowse why PATH says which rule leaves a file out.")
    return [rule, *found, link(read_address(f"{kind}/{name}/"), f"See what {root_name(f'{kind}/{name}')} has")]


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


async def read_picture(sources: SourceList, item_id: str) -> tuple[bytes, str]:
    """Return a picture of a folder and its type; ItemNotFound if there is none that may be read."""
    source, path = await find_item(sources, item_id)
    root = sources.root(source.name)
    if root is None:
        raise ItemNotFound("only folders have pictures")
    found = await root.served.ask(lambda index: index.source.read_picture(path), root.main_view)
    if isinstance(found, Verdict):
        raise ItemNotFound("there is no such picture that may be read")
    return found


async def editor_address(sources: SourceList, source: str, path: str) -> str:
    """Return the address for a file, with `{line}` in the place of the line; empty if the user has no editor."""
    root = sources.root(source)
    if root is None:
        return ""
    editor = await root.served.ask(lambda index: index.settings.editor, root.main_view)
    return fill_in(EDITORS.get(editor, editor), root.served.root / path)


def fill_in(template: str, file: Path) -> str:
    """Return an address with the path of a file."""
    written = quote(file.as_posix(), safe="/:", errors="surrogateescape")
    return template.replace("{path}", written if written.startswith("/") else f"/{written}")
