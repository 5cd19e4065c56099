"""Pages and settings of a site, read by the parser processes."""

from collections.abc import Callable
from typing import Any, TypeVar

from dowse.errors import UsageError
from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserRequest
from dowse.sites.building.html_pages import HtmlPage
from dowse.sites.building.markdown_pages import MarkdownPage

_JOBS = "dowse.sites.building.page_jobs"

ReadPage = TypeVar("ReadPage", MarkdownPage, HtmlPage)


def start_markdown_page(path: str, data: bytes, *, is_mdx: bool) -> Callable[[], MarkdownPage | str]:
    """Have a Markdown file read; return a function that waits for its page, or for the reason why it is none."""
    return _start({"job": "markdown", "path": path, "is_mdx": is_mdx}, data, MarkdownPage)


def start_html_page(path: str, data: bytes) -> Callable[[], HtmlPage | str]:
    """Have an HTML file read; return a function that waits for its page, or for the reason why it is none."""
    return _start({"job": "html", "path": path}, data, HtmlPage)


def read_settings(file: str, text: str) -> dict[str, Any]:
    """Have the settings of a generator read. Raise UsageError where the file is malformed."""
    reply = shared_pool().run(ParserRequest({"module": _JOBS, "job": "settings", "path": file}, text.encode()))
    if reply.problem:
        raise UsageError(f"{file} {reply.problem}. Correct it, or name another generator with --generator.")
    if "error" in reply.fields:
        raise UsageError(reply.fields["error"])
    settings: dict[str, Any] = reply.fields["settings"]
    return settings


def _start(fields: dict[str, Any], data: bytes, page_type: type[ReadPage]) -> Callable[[], ReadPage | str]:
    future = shared_pool().submit(ParserRequest({"module": _JOBS, **fields}, data))

    def wait() -> ReadPage | str:
        reply = future.result()
        if reply.problem:  # its text alone cannot be shown: it may be a draft
            return f"it {reply.problem}"
        if "error" in reply.fields:
            return str(reply.fields["error"])
        return page_type(**reply.fields["page"], text=reply.data.decode("utf-8", "surrogatepass"))

    return wait
