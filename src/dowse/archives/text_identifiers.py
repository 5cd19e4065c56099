"""Citations in running text: DOIs and arXiv ids.

Code, links, HTML and front matter are not running text.
"""

from bisect import bisect_right
from collections.abc import Iterator

from dowse.archives.archive_types import CitationInText, CitationKind
from dowse.archives.citation_context import CitationContexts
from dowse.archives.url_identities import ARXIV, DOI, arxiv_identity, doi_identity, trim_doi
from dowse.reading.markdown_events import parse_markdown
from dowse.reading.markup_text import blank_markup
from dowse.text.markup_lines import MARKUP_LANGUAGES

_NON_PROSE_TAGS = ("CodeBlock", "Link", "Image", "HtmlBlock", "MetadataBlock")
_NON_PROSE_EVENTS = ("Code", "Html", "InlineHtml")


def find_text_citations(text: str, start: int, contexts: CitationContexts, language: str) -> Iterator[CitationInText]:
    """Yield the citations in the running text from a character on, in order."""
    found = list(_find_candidates(blank_markup(text, language) if language in MARKUP_LANGUAGES else text, start))
    if not found:
        return
    non_prose = _NonProse(text, start) if language == "markdown" else None
    for at, end, cited in sorted(found, key=lambda candidate: candidate[0]):
        if non_prose is None or not non_prose.contains(at):
            yield CitationInText(cited.url, cited.kind, cited.key, contexts.around(at, end), contexts.line_of(at))


def _find_candidates(text: str, start: int) -> Iterator[tuple[int, int, CitationInText]]:
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


class _NonProse:
    """The parts of a Markdown text that are not running text."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._at = start
        self._bytes = 0
        for event, span in parse_markdown(text[start:]):
            if isinstance(event, dict):
                ((kind, value),) = event.items()
                if kind in _NON_PROSE_EVENTS or (kind == "Start" and _tag_name(value) in _NON_PROSE_TAGS):
                    self._add(span["start"], span["end"])

    def _add(self, start: int, end: int) -> None:
        if self._ends and start < self._ends[-1]:
            self._ends[-1] = max(self._ends[-1], end)
        else:
            self._starts.append(start)
            self._ends.append(end)

    def contains(self, at: int) -> bool:
        """Return whether a character is in one of the parts. Calls have to come in the order of the characters."""
        self._bytes += len(self._text[self._at : at].encode("utf-8"))
        self._at = at
        place = bisect_right(self._starts, self._bytes) - 1
        return place >= 0 and self._bytes < self._ends[place]


def _tag_name(value: "str | dict[str, object]") -> str:
    return value if isinstance(value, str) else next(iter(value))
