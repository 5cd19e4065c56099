"""Grammars of programming languages, and parsing with them.

They are compiled grammars of the package `semble_grammars`: native libraries, unpacked below the storage root. Its bundle
is one compressed archive, so unpacking one library takes as long as unpacking all (0.25 s). Therefore the libraries of all
languages of a project are unpacked in one pass. Its own loader would do so one by one, does not notice a damaged library,
and takes 60 ms to import.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.errors import DowseError
from dowse.system.platform import Lock, make_private_folder, storage_root, write_atomically

if TYPE_CHECKING:
    from tree_sitter import Language, Query, Tree

UNPACK_WAIT_SECONDS = 10.0
"""How long a process waits for another one that unpacks."""


class GrammarBundle(NamedTuple):
    """The bundle of this platform."""

    archive: Path
    folder: Path
    """Where its libraries are unpacked; private because native code is loaded from there."""
    libraries: dict[str, Any]
    """The file, its checksum and the symbol of each grammar."""


def grammar_folder() -> Path:
    """Return the folder that the grammars are unpacked below."""
    return Path(os.environ.get("SEMBLE_GRAMMARS_CACHE_DIR") or storage_root() / "grammars")


@cache
def find_bundle() -> GrammarBundle | None:
    """Return the bundle, or None if there is none for this platform."""
    spec = find_spec("semble_grammars")
    for folder in spec.submodule_search_locations or () if spec else ():
        for file in Path(folder).glob("grammars/*/manifest.json"):
            manifest = json.loads(file.read_text(encoding="utf-8"))
            version = hashlib.sha256(json.dumps(manifest["languages"], sort_keys=True).encode()).hexdigest()[:12]
            place = grammar_folder() / ("" if "SEMBLE_GRAMMARS_CACHE_DIR" in os.environ else version)
            return GrammarBundle(file.parent / manifest["archive"], place / manifest["platform"], manifest["languages"])
    return None


def load_language(name: str) -> "Language | None":
    """Return a grammar, unpacked if it must be; None if the bundle has none of this name or it cannot be loaded."""
    bundle = find_bundle()
    if bundle is None or name not in bundle.libraries:
        return None
    from tree_sitter import Language

    entry = bundle.libraries[name]
    try:
        unpack_libraries([name])
        entry_point = getattr(ctypes.CDLL(str(bundle.folder / entry["file"])), entry["symbol"])
    except (OSError, AttributeError, DowseError):
        return None
    entry_point.restype = ctypes.c_void_p
    make_capsule = ctypes.pythonapi.PyCapsule_New
    make_capsule.restype, make_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return Language(make_capsule(entry_point(), b"tree_sitter.Language", None))


def unpack_libraries(names: Iterable[str]) -> None:
    """Unpack the libraries of these grammars that are missing, and those that are damaged."""
    bundle = find_bundle()
    if bundle is None:
        return
    known = [bundle.libraries[name] for name in names if name in bundle.libraries]
    wanted = {entry["file"]: entry["sha256"] for entry in known}
    if all(_is_whole(bundle.folder / file, digest) for file, digest in wanted.items()):
        return
    make_private_folder(bundle.folder)
    with Lock(bundle.folder / "unpack.lock").held(UNPACK_WAIT_SECONDS):
        missing = {file: digest for file, digest in wanted.items() if not _is_whole(bundle.folder / file, digest)}
        _unpack(bundle, missing)


def _unpack(bundle: GrammarBundle, missing: dict[str, str]) -> None:
    import tarfile  # here because it takes 15 ms, and unpacking is rare

    with tarfile.open(bundle.archive, "r|gz") as tar:
        for member in tar:
            if not missing:
                return
            digest = missing.pop(member.name, None)
            content = tar.extractfile(member) if digest else None
            if content is not None and hashlib.sha256(data := content.read()).hexdigest() == digest:
                write_atomically(bundle.folder / member.name, data, is_durable=False)


def _is_whole(file: Path, digest: str) -> bool:
    """Return whether a library is there and undamaged; comparing takes 1 ms for each megabyte."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() == digest
    except OSError:
        return False


MAX_PARSE_BYTES = 512_000
"""Most larger files are data or generated and are not parsed; parsing a file of this size takes about 80 ms."""
MAX_WRITTEN_BYTES = 1_048_576
"""A larger file that people wrote, as by the length of its lines, is parsed up to here: some keep all models in one file."""
_WRITTEN_LINE_BYTES = 100
"""Lines that people write are shorter on average."""

_MIN_REPETITIVE_LINES = 300
"""Files with more lines than this are checked for repetition."""

_MAX_UNCLOSED_ANGLES = 1000
"""More unclosed `<` than this are not type parameters; the Java parser needs gigabytes for 30,000 of them."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The grammar of a language, with its settings from `languages.toml`."""

    name: str
    language: "Language"
    definitions: "Query | None"
    depth: int
    """The maximum depth in the tree at which a definition may begin."""
    leads: frozenset[str]
    """Node types that, like comments, belong to the node that follows."""
    rival: str = ""
    """The grammar to try instead when this one finds errors and the text contains `rival_sign`."""
    rival_sign: bytes = b""


def load_grammar(name: str) -> Grammar | None:
    """Return the grammar of a language, or None if there is none or it cannot be loaded: another process may unpack it later."""
    with contextlib.suppress(LookupError):  # which is not cached
        return _loaded_grammar(name)
    return None


@cache
def _loaded_grammar(name: str) -> Grammar:
    language, settings = load_language(name), language_settings(name)
    if language is None:
        raise LookupError(name)
    # Imported here because it takes 16 ms, and searching never needs it.
    from tree_sitter import Query

    patterns = read_patterns("queries", settings.get("queries", [name]))
    return Grammar(
        name,
        language,
        Query(language, patterns) if patterns else None,
        settings["depth"],
        frozenset(settings["leads"]),
        settings["rival"],
        settings["rival_sign"].encode(),
    )


def parse(grammar: Grammar, data: bytes) -> "Tree | None":
    """Return the syntax tree, or None if the text looks impossible to parse.

    A text in another language than its name says can take minutes and gigabytes: only a process with limits may
    call this.
    """
    if is_too_long(data) or _is_unparsable(data):
        return None
    from tree_sitter import Parser

    return Parser(grammar.language).parse(data)


def is_too_long(data: bytes) -> bool:
    """Return whether a text is too long to be parsed."""
    return len(data) > (MAX_WRITTEN_BYTES if is_written(data) else MAX_PARSE_BYTES)


def is_written(data: bytes) -> bool:
    """Return whether people wrote a text, as by the length of its lines."""
    return len(data) < _WRITTEN_LINE_BYTES * (data.count(b"\n") + 1)


def _is_unparsable(data: bytes) -> bool:
    """Return whether parsing would be useless or far too slow: minified, unclosed or repetitive text."""
    lines = data.count(b"\n") + 1
    if len(data) > 200 * lines + 1000:  # minified: people do not write lines this long
        return True
    if data.count(b"<") - data.count(b">") - 2 * data.count(b"<<") - data.count(b"<=") > _MAX_UNCLOSED_ANGLES:
        return True
    return lines > _MIN_REPETITIVE_LINES and len(set(data.split(b"\n"))) < lines // 20


@cache
def _language_table() -> dict[str, dict[str, Any]]:
    """Return the contents of `languages.toml`."""
    return tomllib.loads((resources.files(__package__) / "languages.toml").read_text(encoding="utf-8"))


def language_settings(name: str) -> dict[str, Any]:
    """Return the settings of a language in `languages.toml`."""
    table = _language_table()
    return {**table["default"], **table.get(name, {})}


def read_patterns(folder: str, names: Iterable[str]) -> str:
    """Return the patterns in some files of a folder; empty if there are none."""
    files = [resources.files(__package__) / folder / f"{name}.scm" for name in names]
    return "\n".join(file.read_text(encoding="utf-8") for file in files if file.is_file())


def unpack_grammars(names: Iterable[str]) -> None:
    """Unpack the grammars that texts in these languages may need, in one pass."""
    unpack_libraries([one for name in names for one in (name, language_settings(name)["rival"])])
