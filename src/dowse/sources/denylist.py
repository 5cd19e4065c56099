"""The deny list: files and folders that are never read, whatever the settings say, by their names and as private keys.

A file is a private key when unquoted keys make up most of it, whatever its name and its encoding. A key is unquoted when
real base64 follows its `-----BEGIN … PRIVATE KEY-----`, and the text around it has no quote mark, fence, bracket or
here-document. Source code, tests and guides show keys in strings or fences, so they are not denied. Certificates count as
part of the key that they come with. Comments, blank lines, indentation and the marks of a quoted mail do not count.
"""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from dowse.system.platform import IS_WINDOWS, NAMES_FOLD_CASE
from dowse.types import Rule
from dowse.visible_text import strip_invisible


def normalize_path(path: str) -> str:
    """Return the form of a path that the deny list matches."""
    if not path.isascii():
        path = unicodedata.normalize("NFC", strip_invisible(path))
    return strip_windows_suffixes(path)


def strip_windows_suffixes(path: str) -> str:
    """Remove the endings that Windows ignores when it opens a file: it finds `.env` under `.env. ` and `.env::$DATA`."""
    return "/".join(name.partition(":")[0].rstrip(". ") or name for name in path.split("/")) if IS_WINDOWS else path


_STAR = "[^/]*"
_STORAGE_ORIGIN = "built-in deny list (dowse's own storage)"
_MAX_BACKUPS = 4
"""The number of backup affixes that are removed from a name, for backups of backups."""


@dataclass(frozen=True, slots=True)
class Category:
    """A group of patterns that are denied for one reason."""

    name: str
    is_always_on: bool
    patterns: tuple[str, ...]
    files: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        """The origin of the rules of this category, as users read it."""
        return f"built-in deny list ({self.name})"

    def rule_for(self, path: str, *, folds_case: bool) -> Rule | None:
        """Return the rule that the last parts of a path match. The path of a folder ends in a slash."""
        flags = re.DOTALL | (re.IGNORECASE if folds_case else re.NOFLAG)
        lowered = path.lower()
        for pattern in (*self.patterns, *self.files):
            # Most patterns are ruled out by their letters: compiling all of them takes longer than all else here.
            if path.isascii() and not all(part in lowered for part in pattern.lower().split("*")):
                continue
            if re.fullmatch(f"(?:.*/)?{self.expression(pattern)}", path, flags):
                return Rule(pattern, self.origin)
        return None

    def expression(self, pattern: str, part: str | None = None) -> str:
        """Return the regular expression for a pattern, or for a part of it."""
        ends_alike = pattern.endswith("/") or pattern in self.files
        return _STAR.join(map(re.escape, (part or pattern).split("*"))) + ("" if ends_alike else "/?")


@cache
def categories() -> tuple[Category, ...]:
    """Return the categories of `deny.toml`."""
    return tuple(
        Category(name, entry.get("always", False), tuple(entry["patterns"]), tuple(entry.get("files", ())))
        for name, entry in _load_table().items()
        if isinstance(entry, dict)
    )


@cache
def _load_table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("deny.toml").read_text(encoding="utf-8"))


class DenyList:
    """The categories that apply to a source: those that are always on, and those that it names.

    One expression first tests whether the last part of a path matches any pattern in any letter case.
    Nearly all paths match none. Patterns that begin with a star share it in that expression. Only when
    it matches, the patterns are tested one by one.
    """

    def __init__(
        self,
        names: Collection[str] | None = None,
        *,
        folds_case: bool = NAMES_FOLD_CASE,
        root: Path | None = None,
        storage: Path | None = None,
    ) -> None:
        chosen = [c for c in categories() if c.is_always_on or names is None or c.name in names]
        self._chosen, self._folds_case = chosen, folds_case
        self._allowed_folders: set[str] = set()
        """Folders that no rule is against, nor against any above them; files of a folder are mostly asked about together."""
        self._above = _normalize_root(root) + "/" if root else ""
        self._storage = _storage_below_root(root, storage, folds_case=folds_case)
        last_parts = [
            c.expression(pattern, _last_part(pattern.casefold())) for c in chosen for pattern in (*c.patterns, *c.files)
        ]
        plain = [part for part in last_parts if not part.startswith(_STAR)] or ["(?!)"]
        starred = [part.removeprefix(_STAR) for part in last_parts if part.startswith(_STAR)] or ["(?!)"]
        self._any = re.compile(f"(?:{'|'.join(plain)}|{_STAR}(?:{'|'.join(starred)}))\\Z", re.DOTALL)

    def rule_against(self, path: str, *, is_folder: bool = False) -> Rule | None:
        """Return the rule that denies a path below the root, or a folder above it."""
        parent = path.rpartition("/")[0]
        if parent not in self._allowed_folders:
            for folder in accumulate(path.split("/")[:-1], "{}/{}".format):
                if rule := self.rule_against_last_part(folder, is_folder=True):
                    return rule
            self._allowed_folders.add(parent)
        return self.rule_against_last_part(path, is_folder=is_folder)

    def rule_against_last_part(self, path: str, *, is_folder: bool) -> Rule | None:
        """Return the rule that denies a path, without a check of the folders above it."""
        spelled = normalize_path(path)
        if self._storage and (spelled.casefold() if self._folds_case else spelled) == self._storage:
            return Rule(f"{path}/", _STORAGE_ORIGIN)
        end = "/" if is_folder else ""
        return self._find_rule(spelled + end) or next(
            filter(None, (self._find_rule(original + end, is_copy=True) for original in _backup_originals(spelled))),
            None,
        )

    def rule_against_content(self, data: bytes) -> Rule | None:
        """Return the rule that denies a file with this content: it is a private key, whatever its name."""
        marker = find_private_key(data)
        return Rule(marker, "built-in deny list (secrets)") if marker else None

    def _find_rule(self, spelled: str, *, is_copy: bool = False) -> Rule | None:
        if not self._any.match(_last_part(spelled).casefold()):
            return None
        chosen = (category for category in self._chosen if category.is_always_on or not is_copy)
        return next(filter(None, (self._category_rule(category, spelled) for category in chosen)), None)

    def _category_rule(self, category: Category, spelled: str) -> Rule | None:
        if category.is_always_on:  # the folders above the root count, too: `credentials` in the root `.aws`
            return category.rule_for(self._above + spelled, folds_case=True)
        return category.rule_for(spelled, folds_case=self._folds_case)


CLONES = "repositories"
"""The folder in dowse's own storage that has the clones of repositories, each in a folder of its own."""


def rule_against_root(root: Path, storage: Path) -> Rule | None:
    """Return the rule that denies an absolute path as a root, because it is or lies in a folder that is never read.

    Only patterns for folders count: a project may lie below a folder named `prod.env`. Of dowse's own storage, the clones of
    repositories may be roots, and nothing else.
    """
    is_clone = storage / CLONES in root.parents[1:]
    if not is_clone and _storage_below_root(root, storage, folds_case=NAMES_FOLD_CASE) == "":
        return Rule(f"{storage.as_posix()}/", _STORAGE_ORIGIN)
    folders = [f"{folder}/" for folder in accumulate(_normalize_root(root).split("/"), "{}/{}".format)]
    denied_folders = [_keep_folder_patterns(category) for category in categories() if category.is_always_on]
    rules = (category.rule_for(folder, folds_case=True) for folder in folders for category in denied_folders)
    return next(filter(None, rules), None)


def _keep_folder_patterns(category: Category) -> Category:
    is_whole = category.name == "version control"
    patterns = tuple(pattern for pattern in category.patterns if is_whole or pattern.endswith("/"))
    return Category(category.name, category.is_always_on, patterns)


@cache
def _load_backup_affixes() -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the suffixes of backup names, and the prefix and suffix that each backup pattern adds to a name."""
    around = tuple((before, after) for before, _, after in (p.partition("*") for p in _load_table()["backups"]))
    return tuple(after for _, after in around), around


def _backup_originals(path: str) -> Iterator[str]:
    """Yield the paths that a path may be a backup of: `.env` for `.env~`, `#.env#` and vim's `..env.swp`."""
    endings, around = _load_backup_affixes()
    for _ in range(_MAX_BACKUPS):
        if not path.lower().endswith(endings):
            return
        folder, slash, name = path.rpartition("/")
        kept = next((name[len(b) : -len(a)] for b, a in around if name.startswith(b) and name.lower().endswith(a)), "")
        if not kept:
            return
        path = folder + slash + kept
        yield path
        if kept.startswith("."):
            yield folder + slash + kept[1:]


def _storage_below_root(root: Path | None, storage: Path | None, *, folds_case: bool) -> str | None:
    """Return the path from the root to the storage; empty when the root is or lies in the storage, None when unrelated."""
    if root is None or storage is None:
        return None
    top, kept = _normalize_root(root) + "/", _normalize_root(storage) + "/"
    if folds_case:
        top, kept = top.casefold(), kept.casefold()
    if top.startswith(kept):
        return ""
    return kept[len(top) : -1] if kept.startswith(top) else None


def _normalize_root(path: Path) -> str:
    return normalize_path(path.as_posix()).rstrip("/")


def _last_part(path: str) -> str:
    """Return `c/` for the folder `a/b/c/`, `c` for the file `a/b/c`."""
    return path[path.rfind("/", 0, -1) + 1 :]


_KEY_MARKERS = (b"PRIVATE KEY", b"AGE-SECRET-KEY-1", b"PuTTY-User-Key-File-", b"BEGIN PKCS12", b"OpenVPN Static key")
"""Every key contains one of these. Searching for each takes a twentieth of the time of one expression for all."""

_WIDE_ENCODINGS = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
"""The encodings that put NUL bytes between the letters, and the bytes of a letter in each."""

_ARMOR = re.compile(r"(-{4,5} ?(?:BEGIN|END) [A-Za-z0-9 ]{1,60}-{4,5})")
_BEGIN = re.compile(r"-{4,5} ?BEGIN ([A-Za-z0-9 ]{1,60}?) ?-{4,5}")
_END = re.compile(r"-{4,5} ?END [A-Za-z0-9 ]{1,60}-{4,5}")
_KEY_LABEL = re.compile(r"PRIVATE KEY|PKCS12|OpenVPN Static key")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*: .*")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}|=[A-Za-z0-9+/]{4}")
_MIN_KEY_LINE_CHARACTERS = 32
"""The length that at least one line of a key has; a whole Ed25519 key has 64 characters."""

_AGE = re.compile(r"AGE-SECRET-KEY-1[0-9A-Z]{50,}")
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d+:.*")
_START = re.compile(f"{_BEGIN.pattern}|{_AGE.pattern}|{_PUTTY.pattern}")

_LINE_PREFIXES = " \t>|*\ufffd"
"""Characters that may stand before a line of a key: indentation, the mark of a quoted mail, an unreadable byte."""
_COMMENT_MARKS = ("#", "//", ";")
_OPENS_QUOTE = re.compile(r"""["'`(\[{]\\?$|^(?:```|~~~|-{4,}$|<pre|<code)|<<""")
_CLOSES_QUOTE = re.compile(r"""["'`)\]}~]|-{4,}$|</(?:pre|code)""")


def find_private_key(data: bytes) -> str | None:
    """Return the line that identifies a file as a private key, or None. It is never a part of the key itself."""
    encoding = _find_encoding(data)
    if encoding is None:
        return None
    lines = _split_lines(data.decode(encoding, "replace"))
    marker, key_characters = None, 0
    for start, end in _find_blocks(lines):
        marker = marker or _key_marker(lines[start])
        key_characters += _count_characters(lines[start:end])
    return marker if key_characters * 2 > _count_characters(lines) else None


def _find_encoding(data: bytes) -> str | None:
    """Return the encoding in which a key may be in a file, with or without a byte order mark; None without a key."""
    if any(marker in data for marker in _KEY_MARKERS):
        return "utf-8"
    if b"\0" not in data:
        return None
    for encoding, width in _WIDE_ENCODINGS.items():
        found = (data.find(marker.decode().encode(encoding)) for marker in _KEY_MARKERS)
        # The bytes of one encoding are in the other, too, but not where a letter begins.
        if any(at >= 0 and at % width == 0 for at in found):
            return encoding
    return None


def _split_lines(text: str) -> list[str]:
    """Return the lines of a text without what may stand around them; each armor becomes a line of its own."""
    found: list[str] = []
    for line in strip_invisible(text).splitlines():
        if "----" in line:
            found += filter(None, map(_strip, _ARMOR.split(line)))
        else:
            found.append(line and _strip(line))
    return found


def _strip(line: str) -> str:
    line = line.strip().lstrip(_LINE_PREFIXES)
    return "" if line == "-" else line.removeprefix("- ").lstrip()  # the mark of a list


def _key_marker(line: str) -> str | None:
    """Return the marker of the key that begins with a line; None for a certificate."""
    if begin := _BEGIN.fullmatch(line):
        return line if _KEY_LABEL.search(begin[1]) else None
    return "AGE-SECRET-KEY-1…" if _AGE.fullmatch(line) else "PuTTY-User-Key-File-…"


def _find_blocks(lines: list[str]) -> list[tuple[int, int]]:
    """Return the first line of each unquoted key and certificate, and the line after its last."""
    starts = [at for at, line in enumerate(lines) if line and _START.fullmatch(line)]
    found = []
    for start, following in pairwise([*starts, len(lines)]):
        end = start + 1 if _AGE.fullmatch(lines[start]) else _find_block_end(lines, start, following)
        if end and not _is_quoted(lines, start, end):
            found.append((start, end))
    return found


def _find_block_end(lines: list[str], start: int, limit: int) -> int | None:
    """Return the line after a block, which the end of the file may cut short; None where no key follows."""
    longest, end = 0, limit
    for at in range(start + 1, limit):
        if _END.fullmatch(lines[at]):
            end = at + 1
            break
        if _BASE64.fullmatch(lines[at]):
            longest = max(longest, len(lines[at]))
        elif lines[at] and not _HEADER.fullmatch(lines[at]):
            if not _PUTTY.fullmatch(lines[start]):  # it has no last line
                return None
            end = at
            break
    return end if longest >= _MIN_KEY_LINE_CHARACTERS else None


def _is_quoted(lines: list[str], start: int, end: int) -> bool:
    before = lines[start - 1] if start else ""
    after = lines[end] if end < len(lines) else ""
    return bool(_OPENS_QUOTE.search(before) or _CLOSES_QUOTE.match(after))


def _count_characters(lines: list[str]) -> int:
    return sum(len(line) for line in lines if not line.startswith(_COMMENT_MARKS))
