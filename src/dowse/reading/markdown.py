"""What a Markdown file says of itself: title, description, tags and links."""

from dowse.reading.decoding import Decoded
from dowse.reading.front_matter import FrontMatter, read_front_matter
from dowse.reading.lead import LeadFinder
from dowse.reading.links import find_links
from dowse.reading.markdown_events import parse_markdown
from dowse.reading.shorten import MAX_TITLE_CHARS, file_stem, shorten
from dowse.types import Reading

_HEAD_CHARS = 100_000
"""Where a document that became Markdown has no heading up to here, it has no title."""


def read_markdown(decoded: Decoded, path: str) -> Reading:
    """Title, description, tags and links by the rules for Markdown; the text stays as it is."""
    return _build_reading(decoded, path, read_front_matter(decoded.text))


def read_converted(text: str, path: str, encoding: str = "utf-8", stated: FrontMatter | None = None) -> Reading:
    """The same for a document that became Markdown; what it states of itself precedes what it shows.

    Its headings may begin at any level, so without a main one the first of them is the title.
    """
    storable = text.encode("utf-8", "replace").decode("utf-8")  # JSON, for one, can hold half a character
    return _build_reading(Decoded(storable, encoding), path, stated or FrontMatter(), is_converted=True)


def _build_reading(decoded: Decoded, path: str, matter: FrontMatter, *, is_converted: bool = False) -> Reading:
    body = decoded.text[matter.end : matter.end + _HEAD_CHARS if is_converted else None]
    opening = _find_lead(body, matter)
    title = matter.title or opening.heading or (_find_first_heading(body) if is_converted else "")
    return decoded.reading(
        shorten(title, MAX_TITLE_CHARS) or file_stem(path),
        shorten(matter.description or opening.paragraph or opening.item),
        matter.tags,
        find_links(decoded.text, matter.end),
    )


def _find_lead(body: str, matter: FrontMatter) -> LeadFinder:
    """Read on until everything that the front matter does not say is found."""
    opening = LeadFinder()
    for event, _ in parse_markdown(body):
        opening.see(event)
        if (matter.title or opening.heading) and (matter.description or opening.paragraph):
            break
    return opening


def _find_first_heading(markdown: str) -> str:
    """The words of the first heading of any level; empty when there is none."""
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
