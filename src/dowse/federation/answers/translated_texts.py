"""Texts of translation and resource files that a question quotes, and the code that uses their keys."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import ExactQuery, find_all_now
from dowse.searching.path_kinds import kinds_of
from dowse.searching.search import SearchHit, SearchOptions
from dowse.searching.term_positions import terms_by_line
from dowse.text.analysis import terms_of

MIN_QUOTED, MIN_SHARE = 3, 0.6
"""A text is quoted if the question has so many of its terms, and this share of them."""
MAX_TEXTS, MAX_USES = 3, 4
MAX_LINES, USES_SECONDS = 60, 0.3
"""Lines with a key that are looked at, and how long the files that have its words are searched for it."""
MAX_LINES_ABOVE = 400
"""Lines above a text in which the keys around it are looked for."""
MIN_LONE_KEY = 6
"""A key without those around it is looked for if it has so many letters."""
_RESOURCE = re.compile(
    r"(?:^|/)(?:strings|messages|labels|errors|resources?)[\w.-]*\.(?:xml|json|ya?ml|properties|strings)$"
)
_KEYED = re.compile(r"""^(?P<indent>\s*)["']?(?P<key>[A-Za-z_][\w.\-]*)["']?\s*(?::|=>|=)\s*(?P<text>.*)$""")
_NAMED = re.compile(r"""\bname\s*=\s*"(?P<key>[^"]+)\"""")
_MESSAGE_ID = re.compile(r'\s*msgid\s+"(?P<key>.+)"\s*')
_LOCALE = re.compile(r"[a-z]{2}(?:[-_][A-Za-z]{2,4})?")


class TranslatedText(NamedTuple):
    """A text of a translation or resource file: where it is, its key, and the places that use the key."""

    path: str
    line: int
    key: str
    uses: tuple[tuple[str, int], ...]


def find_translated_texts(
    index: ProjectIndex, hits: Sequence[SearchHit], terms: frozenset[str]
) -> list[TranslatedText]:
    """Return the texts that a question of some terms quotes and whose keys some code uses, best first."""
    found = list[TranslatedText]()
    for hit in hits:
        if not _has_texts(hit.path):
            continue
        lines = hit.data.decode("utf-8", "replace").split("\n")
        for number in _quoted_lines(hit, lines, terms):
            for key in keys_of(lines, number):
                if uses := _uses_of(index, key):
                    found.append(TranslatedText(hit.path, number + 1, key, uses))
                    break
            if len(found) == MAX_TEXTS:
                return found
    return found


def _quoted_lines(hit: SearchHit, lines: Sequence[str], terms: frozenset[str]) -> list[int]:
    """Return the lines of a file whose text a question quotes, counted from 0, those with most of its terms first."""
    [found] = terms_by_line([hit.data], terms)
    scored = []
    for number, some in found.items():
        if len(set(some)) < MIN_QUOTED:
            continue
        own = set(terms_of(_text_of(lines[number])))
        quoted = own & terms
        if len(quoted) >= MIN_QUOTED and len(quoted) >= MIN_SHARE * len(own):
            scored.append((-len(quoted), number))
    return [number for _, number in sorted(scored)[: 2 * MAX_TEXTS]]


def _text_of(line: str) -> str:
    """Return the text of a line without its key."""
    if "<" in line:
        return re.sub(r"<[^<>]*>", " ", line)
    match = _KEYED.match(line)
    return match["text"] if match else line


def keys_of(lines: Sequence[str], number: int) -> Iterator[str]:
    """Yield the keys by which code may use the text of a line, the most precise first: `errors.login.failed`."""
    line = lines[number]
    if line.lstrip().startswith("msgstr"):  # the code has the text that it translates
        above = (lines[at] for at in range(number - 1, max(number - 4, -1), -1))
        found = (match["key"] for text in above if (match := _MESSAGE_ID.fullmatch(text)))
        yield from (key for key in found if len(key) >= MIN_LONE_KEY)
    elif "<" in line and "=" not in line.partition("<")[0]:
        above = (lines[at] for at in range(number, max(number - 3, -1), -1))
        yield from (match["key"] for text in above if (match := _NAMED.search(text)))
    elif match := _KEYED.match(line):
        around = list(_keys_around(lines, number, len(match["indent"])))
        path = [*reversed(around), match["key"]]
        if len(path) > 1 and _LOCALE.fullmatch(path[0]):
            path = path[1:]
        for start in range(len(path)):
            key = ".".join(path[start:])
            if "." in key or len(key) >= MIN_LONE_KEY:
                yield key


def _keys_around(lines: Sequence[str], number: int, indentation: int) -> Iterator[str]:
    """Yield the keys of the groups that a line is in, the innermost first."""
    for at in range(number - 1, max(number - MAX_LINES_ABOVE, -1), -1):
        match = _KEYED.match(lines[at])
        if match and len(match["indent"]) < indentation:
            if match["text"].strip() in ("", "{", "[", "array(", "("):
                yield match["key"]
            indentation = len(match["indent"])


def _uses_of(index: ProjectIndex, key: str) -> tuple[tuple[str, int], ...]:
    """Return the places of code that have a key as a word, apart from tests and other translations."""
    having = [index.store.documents_with_word(word) for word in dict.fromkeys(re.findall(r"\w+", key))]
    among = frozenset[int].intersection(*having) if having else frozenset[int]()
    options = SearchOptions(MAX_LINES, "code", among=among, tests="none")
    written = ExactQuery(rf"(?<![\w.-]){re.escape(key)}(?![\w-])", options, USES_SECONDS, is_pattern=True)
    found = find_all_now(index, written)[0].found
    return tuple((one.path, one.line) for one in found if not _has_texts(one.path))[:MAX_USES]


def _has_texts(path: str) -> bool:
    return "translation" in kinds_of(path) or _RESOURCE.search(path) is not None
