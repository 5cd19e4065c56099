"""Reader of Word documents, which become Markdown: headings, lists, tables, links and notes.

Macros are not run, and nothing outside the file is read.
"""

from dowse.reading.docx.body import Body
from dowse.reading.docx.paragraphs import ParagraphConverter, join_blocks
from dowse.reading.docx.styles import Lists, Styles
from dowse.reading.docx.zip_package import Package, Relation, open_package
from dowse.reading.front_matter import FrontMatter
from dowse.reading.markdown import read_converted
from dowse.reading.placeholder_titles import clean_title, split_keywords
from dowse.types import Reading


def read_docx(data: bytes, path: str) -> Reading:
    """Read a document; one that cannot be opened, for example because it is encrypted, has no text."""
    package = open_package(data)
    if package is None:
        return read_converted("", path)
    relations = package.relations("")
    main = _find_target(relations, "officeDocument") or "word/document.xml"
    text = _convert_parts(package, main)
    properties = _PropertyHandler()
    package.parse_part(_find_target(relations, "core-properties"), properties)
    metadata = FrontMatter(
        clean_title(properties.found.get("title", "")), tags=split_keywords(properties.found.get("keywords", ""))
    )
    return read_converted(text, path, metadata=metadata)


def _convert_parts(package: Package, main: str) -> str:
    relations = package.relations(main)
    styles, lists = Styles(), Lists()
    package.parse_part(_find_target(relations, "styles"), styles)
    package.parse_part(_find_target(relations, "numbering"), lists)
    converter = ParagraphConverter(styles, lists)
    blocks = []
    for part in (main, _find_target(relations, "footnotes"), _find_target(relations, "endnotes")):
        links = {relation.id: relation.target for relation in package.relations(part) if relation.kind == "hyperlink"}
        body = Body(converter, links)
        package.parse_part(part, body)
        blocks += body.blocks
    text = join_blocks(blocks)
    return text + "\n" if text else ""


def _find_target(relations: list[Relation], kind: str) -> str:
    return next((relation.target for relation in relations if relation.kind == kind), "")


class _PropertyHandler:
    """Handles the part with the title and the keywords."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._name = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - no attribute matters here
        """Handle the start of a property."""
        self._name = name

    def end(self, name: str) -> None:  # noqa: ARG002 - no property contains another
        """Handle the end of a property."""
        self._name = ""

    def text(self, text: str) -> None:
        """Handle a piece of the value of a property."""
        if self._name in ("title", "keywords"):
            self.found[self._name] = (self.found.get(self._name, "") + text)[:2000]
