"""Names and numbers that running text cites by: DOIs, arXiv ids, keys of a bibliography, members of a series.

What stands in code, in links, in HTML or in front matter is not running text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from dowse.archives.archive_types import CitationInText, CitationKind
from dowse.archives.citation_context import Contexts
from dowse.archives.url_identities import ARXIV, DOI, arxiv_identity, doi_identity, mentions, trim_doi
from dowse.reading.markdown_events import parse

MENTION_CONFIDENCE = 0.6
"""“PEP 8” names one document and no other, but says nothing of it: half of the mentions in the PEPs are asides."""

_KEY = re.compile(r"@(?<![\w@./:]@)(?:\{(?P<braced>[^{}\s]{1,100})\}|(?P<key>[A-Za-z0-9_][\w:.#$%&+?<>~/-]{0,99}))")
_OPEN = ("CodeBlock", "Link", "Image", "HtmlBlock", "MetadataBlock")
_ALONE = ("Code", "Html", "InlineHtml")


def cited_in_prose(text: str, start: int, contexts: Contexts, *, is_markdown: bool) -> Iterator[CitationInText]:
    """What the running text cites from a character on, in the order of the kinds."""
    found = list(_candidates(text, start))
    if not found:
        return
    excluded = _Excluded(text, start) if is_markdown else None
    for at, end, cited in sorted(found, key=lambda one: one[0]):
        if excluded is None or not excluded.has(at):
            yield CitationInText(
                cited.url, cited.kind, cited.key, contexts.around(at, end), contexts.line_of(at), cited.confidence
            )


def _candidates(text: str, start: int) -> Iterator[tuple[int, int, CitationInText]]:
    if "10." in text:
        for match in DOI.finditer(text, start):
            doi = trim_doi(match[0])
            yield (
                match.start(),
                match.start() + len(doi),
                CitationInText(f"https://doi.org/{doi}", CitationKind.DOI, doi_identity(doi)),
            )
    if any(name in text for name in ("rXiv", "rxiv", "RXIV")):
        for match in ARXIV.finditer(text, start):
            cited = CitationInText(f"https://arxiv.org/abs/{match[1]}", CitationKind.ARXIV, arxiv_identity(match[1]))
            yield match.start(), match.end(), cited
    if "@" in text:
        for match in _KEY.finditer(text, start):
            key = match["braced"] or match["key"].rstrip(":.#$%&+?<>~/-")
            yield match.start(), match.end(), CitationInText(f"@{key}", CitationKind.KEY)
    for series, number, match in mentions(text):
        if match.start() >= start:
            url = series.address.format(number=number)
            cited = CitationInText(url, CitationKind.MENTION, series.key(number), confidence=MENTION_CONFIDENCE)
            yield match.start(), match.end(), cited


class _Excluded:
    """The parts of a Markdown text that are not running text, asked for from the first to the last."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._at = start
        self._bytes = 0
        for event, span in parse(text[start:]):
            if isinstance(event, dict):
                ((kind, value),) = event.items()
                tag = value if isinstance(value, str) else next(iter(value))
                if kind in _ALONE or (kind == "Start" and tag in _OPEN):
                    self._add(span["start"], span["end"])

    def _add(self, start: int, end: int) -> None:
        if self._ends and start < self._ends[-1]:
            self._ends[-1] = max(self._ends[-1], end)
        else:
            self._starts.append(start)
            self._ends.append(end)

    def has(self, at: int) -> bool:
        """Whether a character is in one of them; the next one that is asked for comes later."""
        self._bytes += len(self._text[self._at : at].encode("utf-8"))
        self._at = at
        place = bisect_right(self._starts, self._bytes) - 1
        return place >= 0 and self._bytes < self._ends[place]
