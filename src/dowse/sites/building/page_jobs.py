"""The jobs of a site build in a parser process: read a page, or the settings of a generator."""

from dataclasses import asdict
from typing import Any

from dowse.errors import NotAPage, UsageError
from dowse.sites.building.html_pages import HtmlPage, read_html_page
from dowse.sites.building.markdown_pages import MarkdownPage, json_value, read_markdown_page
from dowse.sites.building.settings_files import parse_settings

Fields = dict[str, Any]


def prepare(_fields: Fields) -> None:
    """Load nothing: the modules that are imported here are all that a job needs."""


def run_job(fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    """Do one job; return the settings, or the fields of the page and its text."""
    try:
        match fields["job"]:
            case "markdown":
                return _page_to_json(read_markdown_page(fields["path"], data, is_mdx=fields["is_mdx"]))
            case "html":
                return _page_to_json(read_html_page(fields["path"], data))
            case "settings":
                return {"settings": json_value(parse_settings(fields["path"], data.decode()))}, b""
    except (NotAPage, UsageError) as error:
        return {"error": str(error)}, b""
    raise ValueError(f"no job is called {fields['job']}")


def _page_to_json(page: MarkdownPage | HtmlPage) -> tuple[Fields, bytes]:
    fields = asdict(page)
    text: str = fields.pop("text")
    return {"page": fields}, text.encode("utf-8", "surrogatepass")
