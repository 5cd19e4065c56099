"""The query syntax: words, `+must`, `-not`, `"a phrase"`, `-"not this phrase"`.

Every text is a valid query. A lone sign, an empty phrase, a quote that does not close and a quote directly after a
word (5" pipe) are ignored. A sign inside a word is part of the word.
"""

import re
from dataclasses import dataclass

_PIECE = re.compile(r'(?<!\w)(?P<sign>[+-]?)"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+)')


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query; all parts are as the user wrote them."""

    terms: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    not_phrases: tuple[str, ...] = ()

    def as_json(self) -> dict[str, list[str]]:
        """Return the query in the form that replies show."""
        return {
            "terms": list(self.terms),
            "must": list(self.must),
            "must_not": [*self.must_not, *self.not_phrases],
            "phrases": list(self.phrases),
        }


def parse_query(text: str) -> Query:
    """Parse a query."""
    found: dict[str, list[str]] = {"terms": [], "must": [], "must_not": [], "phrases": [], "not_phrases": []}
    for piece in _PIECE.finditer(text):
        if piece["phrase"] is not None:
            phrase = " ".join(piece["phrase"].split())
            if phrase:
                found["not_phrases" if piece["sign"] == "-" else "phrases"].append(phrase)
            continue
        kind, word = _split_sign(piece["word"])
        if word:
            found[kind].append(word)
    return Query(**{kind: tuple(words) for kind, words in found.items()})


def _split_sign(word: str) -> tuple[str, str]:
    kind = {"+": "must", "-": "must_not"}.get(word[0], "terms")
    rest = word if kind == "terms" else word[1:]
    return kind, rest if rest.strip("+-") else ""
