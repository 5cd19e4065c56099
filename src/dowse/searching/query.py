"""What a person or an assistant asks: words, `+required`, `-excluded`, `"phrases"`, and its shape.

The parser takes anything. What makes no sense as syntax is words.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

Shape = Literal["symbol", "path", "prose"]

MAX_CHARACTERS = 10_000
"""Of a longer query only the beginning counts."""

_PIECE = re.compile(r'(?P<sign>[+-]?)"(?P<phrase>[^"]*)"|(?P<word>\S+)')
_IDENTIFIER = re.compile(r"[A-Za-z_$@#][\w$@#!?]*(?:(?:\.|::|->|#|\\|/)[A-Za-z_$][\w$!?]*)*(?:\(\))?")
_ENDINGS = (
    "bash c cc cfg clj conf cpp cs css csv dart ex exs go gradle h hpp hs html ini java jl js json jsx kt lua m md ml "
    "mjs mm php pl proto ps1 py pyi r rb rs rst sc scala scss sh sql svelte swift tf toml ts tsx txt vue xml yaml yml zig"
)
_PATH = re.compile(rf"[\w.@+-]*/[\w./@+-]*|[\w@+.-]+\.(?:{_ENDINGS.replace(' ', '|')})")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_MIXED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|\w_\w|^_+\w|\w\$|\$\w|[A-Za-z]\d|^[A-Z][a-z]+$")


@dataclass(frozen=True, slots=True)
class Query:
    """A query taken apart."""

    text: str
    terms: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    not_phrases: tuple[str, ...] = ()
    shape: Shape = "prose"

    @property
    def positive(self) -> tuple[str, ...]:
        """All words that score, in order; without those that say nothing, if others remain."""
        words = (*self.terms, *self.must, *(word for phrase in self.phrases for word in phrase.split()))
        telling = tuple(word for word in words if word.lower().strip("?!.,;:") not in stop_words())
        return telling or words

    @property
    def names(self) -> tuple[str, ...]:
        """Words that look like the name of something defined; of a symbol its last part counts too."""
        if self.shape == "symbol":
            parts = _NAME.findall(self.text)
            return tuple(dict.fromkeys(reversed(parts)))
        candidates = (name for word in self.positive for name in _NAME.findall(word))
        return tuple(dict.fromkeys(name for name in candidates if _is_mixed(name)))

    def as_json(self) -> dict[str, list[str]]:
        """The parsed query as users are shown it."""
        return {
            "terms": list(self.terms),
            "must": list(self.must),
            "must_not": [*self.must_not, *self.not_phrases],
            "phrases": list(self.phrases),
        }


def parse(text: str) -> Query:
    """Take a query apart."""
    text = text[:MAX_CHARACTERS].replace("\0", " ")
    found: dict[str, list[str]] = {"terms": [], "must": [], "must_not": [], "phrases": [], "not_phrases": []}
    for piece in _PIECE.finditer(text):
        if piece["phrase"] is not None:
            phrase = " ".join(piece["phrase"].split())
            if phrase:
                found["not_phrases" if piece["sign"] == "-" else "phrases"].append(phrase)
            continue
        sign, word = _signed(piece["word"].replace('"', " ").strip())
        if word:
            found[sign].extend(word.split())
    kept = {key: tuple(value) for key, value in found.items()}
    return Query(text=text.strip(), shape=_shape(text.strip()), **kept)


@cache
def stop_words() -> frozenset[str]:
    """Words that say nothing about what is looked for."""
    lines = (resources.files(__package__) / "stopwords.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _signed(word: str) -> tuple[str, str]:
    if word[:1] == "+":
        return "must", word.lstrip("+-") and word[1:]
    if word[:1] == "-":
        return "must_not", word.lstrip("+-") and word[1:]
    return "terms", word


def _shape(text: str) -> Shape:
    if _PATH.fullmatch(text):
        return "path"
    return "symbol" if _IDENTIFIER.fullmatch(text) else "prose"


def _is_mixed(name: str) -> bool:
    """Whether a name is written as nobody writes a word: `getUser`, `max_size`, `_private`, `Session`."""
    return _MIXED.search(name) is not None
