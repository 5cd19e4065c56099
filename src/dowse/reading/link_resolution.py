"""Where a link of one document leads: to another document, out into the web, or nowhere."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from urllib.parse import unquote

from dowse.reading.link_targets import LinkTargets

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_WEB_SCHEMES = frozenset({"http", "https", "ftp"})
_URL_SYNTAX = re.compile(r"[#?%\\:]")
_HTML_EXTENSION = re.compile(r"\.html?$", re.IGNORECASE)
_EXTENSION = re.compile(r"\.\w+$")
_SITE_ENDINGS = (".html", ".htm", "index")
_MAX_PATH_CHARS = 4096
"""Longer than any path."""


class Fault(StrEnum):
    """Why a link is broken; the value is what users read."""

    MISSING = "no such document"
    AMBIGUOUS = "more than one document is spelled like this"
    FOLDER = "a folder without a page of its own"
    OUTSIDE = "outside the folder"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Internal:
    """To a document of the lookup, and there to an anchor if it has one."""

    path: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class External:
    """Out into the web."""

    url: str


@dataclass(frozen=True, slots=True)
class Broken:
    """To a document that is not there; `path` is where it would be, empty where there can be none."""

    fault: Fault
    path: str = ""


@dataclass(frozen=True, slots=True)
class Foreign:
    """Nothing that can be read or visited: the scheme of a mail address or script, or `template`."""

    kind: str


Resolved = Internal | External | Broken | Foreign


def resolve_link(target: str, source_path: str, paths: LinkTargets) -> Resolved:
    """Where a link in the document at `source_path` leads; as `find_links` gives it, so `[[…]]` is a wiki link."""
    target = target.strip()
    if target.startswith("[[") and target.endswith("]]"):
        return _resolve_wiki(target[2:-2], source_path, paths)
    if (scheme := _read_scheme(target)) in _WEB_SCHEMES or target.startswith("//"):
        return External(target)
    if "{{" in target or "{%" in target:
        return Foreign("template")
    if scheme:
        return _find_literal(target, source_path, paths) or _resolve_scheme(scheme)
    address, _, anchor = target.partition("#")
    address = address.partition("?")[0]
    if address:
        found = _find_document(unquote(address).replace("\\", "/"), source_path, paths)
    elif target and source_path in paths:
        found = source_path
    else:
        found = Broken(Fault.MISSING if target else Fault.EMPTY)
    if isinstance(found, str):
        return Internal(found, unquote(anchor))
    return _find_literal(target, source_path, paths) or found


def _read_scheme(target: str) -> str:
    match = _SCHEME.match(target)
    return match[1].lower() if match else ""


def _resolve_scheme(scheme: str) -> Resolved:
    return Broken(Fault.OUTSIDE) if len(scheme) == 1 else Foreign(scheme)  # one letter is a drive


def _find_literal(target: str, source_path: str, paths: LinkTargets) -> Internal | None:
    """The document whose very name this is, with signs that mean something else in an address."""
    if _URL_SYNTAX.search(target) and len(target) <= _MAX_PATH_CHARS:
        path = _join_path(source_path.rpartition("/")[0], target)
        if path is not None and path in paths:
            return Internal(path)
    return None


def _find_document(path: str, source_path: str, paths: LinkTargets) -> "str | Broken":
    if len(path) > _MAX_PATH_CHARS:
        return Broken(Fault.MISSING)
    is_folder = path.endswith(("/", "/.", "/..")) or path in {".", ".."}
    for place in _candidate_paths(path, source_path, paths.bases):
        if place is not None and (found := _find_at(place, is_folder, paths)):
            return found
    return _explain_broken(next(_candidate_paths(path, source_path, paths.bases)), paths)


def _find_at(place: str, is_folder: bool, paths: LinkTargets) -> str | None:
    """What lies at a place, also by the name it has on a site: `guide/index.html` for `guide/README.md`."""
    found = paths.find(place, is_folder)
    if found or not place.lower().endswith(_SITE_ENDINGS):
        return found
    stem = _HTML_EXTENSION.sub("", place)
    folder, _, name = stem.rpartition("/")
    return paths.find(stem) or (paths.find(folder, is_folder=True) if name.lower() == "index" else None)


def _explain_broken(place: str | None, paths: LinkTargets) -> Broken:
    """What is wrong with a place at which nothing was found."""
    if place is None:
        return Broken(Fault.OUTSIDE)
    if paths.is_ambiguous(place):
        return Broken(Fault.AMBIGUOUS, place)
    return Broken(Fault.FOLDER if paths.is_folder(place) else Fault.MISSING, place)


def _candidate_paths(path: str, source_path: str, bases: tuple[str, ...]) -> Iterator[str | None]:
    """Where a path may lie, the likeliest first; None stands for a place outside the root."""
    if path.startswith("/"):
        yield from _candidate_root_paths(path, source_path, bases)
        return
    yield _join_path(source_path.rpartition("/")[0], path)
    if not _EXTENSION.search(path) or _HTML_EXTENSION.search(path):
        # `guide/install.md` may be shown as `/guide/install/`, and its links be relative to that.
        yield _join_path(_EXTENSION.sub("", source_path), path)


def _candidate_root_paths(path: str, source_path: str, bases: tuple[str, ...]) -> Iterator[str | None]:
    """The root of a site is the folder itself, or one around the document, in which the site has its sources."""
    place = None if path.startswith("//") else _join_path("", path)  # `\\\\host` is another machine
    if place is None:
        yield None
        return
    places = [place, *(place[len(base) :] for base in bases if f"{place}/".startswith(base))]
    yield from places
    for folder in accumulate(source_path.split("/")[:-1], "{}/{}".format):
        yield from (f"{folder}/{place}" if place else folder for place in places)


def _join_path(folder: str, path: str) -> str | None:
    """A path seen from a folder; None where it leads out of the root on its way."""
    parts = list[str]()
    for part in f"{folder}/{path}".split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/".join(parts)


def _resolve_wiki(inner: str, source_path: str, paths: LinkTargets) -> Resolved:
    """A wiki link: a page by its path, else by its file name or title wherever it lies."""
    inner = inner.partition("|")[0].strip()
    if _read_scheme(inner) in _WEB_SCHEMES:
        return External(inner)
    name, mark, anchor = inner.partition("#")
    if not name.strip():
        is_anchor = inner and source_path in paths
        return Internal(source_path, anchor.strip()) if is_anchor else Broken(Fault.MISSING if inner else Fault.EMPTY)
    if len(inner) > _MAX_PATH_CHARS:
        return Broken(Fault.MISSING)
    if mark and (found := _find_page(inner, source_path, paths)):  # such as `C#`
        return Internal(found)
    found = _find_page(name.strip(), source_path, paths)
    return Internal(found, anchor.strip()) if found else _missing_page(name.strip())


def _missing_page(name: str) -> Broken:
    return Broken(Fault.MISSING, _join_path("", name.replace("\\", "/")) or "")


def _find_page(name: str, source_path: str, paths: LinkTargets) -> str | None:
    folder, name = source_path.rpartition("/")[0], name.replace("\\", "/")
    places = [] if name.startswith("/") else [_join_path(folder, name)]
    if "/" in name:
        places.append(_join_path("", name))
    found = (paths.find(place) for place in places if place)
    return next(filter(None, found), None) or paths.nearest(name.strip("/"), folder)
