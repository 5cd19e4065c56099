"""The jobs of the parser processes for building an index: read a page of Markdown or HTML."""

from dataclasses import asdict
from typing import Any

from dowse.errors import NotAPage
from dowse.sites.building.html_pages import HTML_ENDINGS, read_html_page
from dowse.sites.building.markdown_pages import read_markdown_page

Fields = dict[str, Any]


def prepare(_fields: Fields) -> None:
    """Load nothing: the modules that are imported here are all that a job needs."""


def run_job(fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    """Read a page; return its fields and its text, or why the file is no page."""
    path: str = fields["path"]
    read = read_html_page if path.lower().endswith(HTML_ENDINGS) else read_markdown_page
    try:
        page = asdict(read(path, data))
    except NotAPage as error:
        return {"error": str(error)}, b""
    text: str = page.pop("text")
    return {"page": page}, text.encode("utf-8", "surrogatepass")
