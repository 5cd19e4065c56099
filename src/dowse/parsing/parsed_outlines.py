"""Outlines of texts, made by the parser processes."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserRequest
from dowse.reading.outlines import Heading, Section


@dataclass(frozen=True, slots=True)
class ParsedOutline:
    """The headings of a text, and the sections that their anchors and some others lead to."""

    headings: tuple[Heading, ...] = ()
    sections: dict[str, Section] = field(default_factory=dict)

    def section(self, anchor: str) -> Section | None:
        """Return the section of a heading's anchor, or of one that was asked for."""
        return self.sections.get(anchor)


def outline(text: str, anchors: Iterable[str] = (), language: str = "markdown") -> ParsedOutline:
    """Return the outline of a text. A text that the parser cannot cope with has no headings."""
    fields = {"job": "outline", "anchors": list(anchors), "language": language}
    reply = shared_pool().run(ParserRequest(fields, text.encode("utf-8", "surrogatepass")))
    if reply.problem:
        return ParsedOutline()
    sections = {
        anchor: Section(start, end, tuple(headings))
        for anchor, (start, end, headings) in reply.fields["sections"].items()
    }
    return ParsedOutline(tuple(Heading(*heading) for heading in reply.fields["headings"]), sections)
