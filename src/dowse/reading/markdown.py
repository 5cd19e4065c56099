"""Reader of Markdown: title, description, tags and links."""

from dowse.reading.decoding import Decoded
from dowse.reading.front_matter import FrontMatter, read_front_matter
from dowse.reading.lead import LeadFinder
from dowse.reading.links import find_links
from dowse.reading.markdown_events import parse_markdown
from dowse.reading.shorten import MAX_TITLE_CHARS, file_stem, shorten
from dowse.types import Reading

_HEAD_CHARS = 100_000
"""The part of a converted document that is searched for a title and a description."""


def read_markdown(decoded: Decoded, path: str) -> Reading:
    """Read title, description, tags and links of Markdown; the text stays as it is."""
    return _build_reading(decoded, path, read_front_matter(decoded.text))


def read_converted(text: str, path: str, encoding: str = "utf-8", metadata: FrontMatter | None = None) -> Reading:
    """Read a document that was converted to Markdown; `metadata` is its metadata and takes precedence over its text.

    Its headings may begin at any level, so without an H1 the first heading is the title.
    """
    storable = text.encode("utf-8", "replace").decode("utf-8")  # JSON, for example, can contain lone surrogates
    return _build_reading(Decoded(storable, encoding), path, metadata or FrontMatter(), is_converted=True)


def _build_reading(decoded: Decoded, path: str, matter: FrontMatter, *, is_converted: bool = False) -> Reading:
    body = decoded.text[matter.end : matter.end + _HEAD_CHARS if is_converted else None]
    lead = _find_lead(body, matter)
    title = matter.title or lead.heading or (_find_first_heading(body) if is_converted else "")
    return decoded.to_reading(
        shorten(title, MAX_TITLE_CHARS) or file_stem(path),
        shorten(matter.description or lead.paragraph or lead.item),
        matter.tags,
        find_links(decoded.text, matter.end),
    )


def _find_lead(body: str, matter: FrontMatter) -> LeadFinder:
    """Read until every field that the front matter does not give is found."""
    lead = LeadFinder()
    for event, _ in parse_markdown(body):
        lead.handle(event)
        if (matter.title or lead.heading) and (matter.description or lead.paragraph):
            break
    return lead


def _find_first_heading(markdown: str) -> str:
    """Return the text of the first heading of any level; empty if there is none."""
    words: list[str] = []
    is_inside = False
    for event, _ in parse_markdown(markdown):
        match event:
            case {"Start": {"Heading": _}}:
                is_inside = True
            case {"End": {"Heading": _}} if "".join(words).strip():
                break
            case {"Text": str(text)} | {"Code": str(text)} if is_inside:
                words.append(text)
            case {"End": {"Heading": _}}:
                is_inside = False
    return "".join(words)
