"""Word documents as Markdown: headings, lists, tables, links and notes; no macros, nothing from outside."""

from dowse.reading.docx.body import Body
from dowse.reading.docx.paragraphs import ParagraphConverter, join_blocks
from dowse.reading.docx.styles import Lists, Styles
from dowse.reading.docx.zip_package import Package, Relation, open_package
from dowse.reading.front_matter import FrontMatter
from dowse.reading.markdown import read_converted
from dowse.reading.placeholder_titles import clean_title, split_keywords
from dowse.types import Reading


def read_docx(data: bytes, path: str) -> Reading:
    """What a document says; one that cannot be opened, as when it is encrypted, says nothing."""
    package = open_package(data)
    if package is None:
        return read_converted("", path)
    start = package.relations("")
    main = _find_target(start, "officeDocument") or "word/document.xml"
    text = _convert_parts(package, main)
    properties = _PropertyHandler()
    package.watch(_find_target(start, "core-properties"), properties)
    stated = FrontMatter(
        clean_title(properties.found.get("title", "")), tags=split_keywords(properties.found.get("keywords", ""))
    )
    return read_converted(text, path, stated=stated)


def _convert_parts(package: Package, main: str) -> str:
    relations = package.relations(main)
    styles, lists = Styles(), Lists()
    package.watch(_find_target(relations, "styles"), styles)
    package.watch(_find_target(relations, "numbering"), lists)
    setting = ParagraphConverter(styles, lists)
    blocks = []
    for part in (main, _find_target(relations, "footnotes"), _find_target(relations, "endnotes")):
        links = {relation.id: relation.target for relation in package.relations(part) if relation.kind == "hyperlink"}
        body = Body(setting, links)
        package.watch(part, body)
        blocks += body.blocks
    text = join_blocks(blocks)
    return text + "\n" if text else ""


def _find_target(relations: list[Relation], kind: str) -> str:
    return next((relation.target for relation in relations if relation.kind == kind), "")


class _PropertyHandler:
    """Watches the part that holds title and keywords."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._name = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - they have none that matter
        """Take in the beginning of a property."""
        self._name = name

    def end(self, name: str) -> None:  # noqa: ARG002 - no property holds another
        """Take in the end of a property."""
        self._name = ""

    def text(self, text: str) -> None:
        """Take in a part of its value."""
        if self._name in ("title", "keywords"):
            self.found[self._name] = (self.found.get(self._name, "") + text)[:2000]
