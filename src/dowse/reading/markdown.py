"""What a Markdown file says of itself: title, description, tags and links."""

from dowse.reading.decoding import Decoded
from dowse.reading.frontmatter import FrontMatter, front_matter
from dowse.reading.links import find_links
from dowse.reading.opening import Opening
from dowse.reading.parsing import parse
from dowse.reading.trimming import TITLE_CHARS, file_stem, shorten
from dowse.types import Reading


def read_markdown(decoded: Decoded, path: str) -> Reading:
    """Title, description, tags and links by the rules for Markdown; the text stays as it is."""
    matter = front_matter(decoded.text)
    opening = _opening(decoded.text[matter.end :], matter)
    return decoded.reading(
        shorten(matter.title or opening.heading, TITLE_CHARS) or file_stem(path),
        shorten(matter.description or opening.paragraph or opening.item),
        matter.tags,
        find_links(decoded.text, matter.end),
    )


def _opening(body: str, matter: FrontMatter) -> Opening:
    """Read on until everything that the front matter does not say is found."""
    opening = Opening()
    for event, _ in parse(body):
        opening.see(event)
        if (matter.title or opening.heading) and (matter.description or opening.paragraph):
            break
    return opening
