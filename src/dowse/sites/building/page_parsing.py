"""Pages of a site, read by the parser processes."""

from collections.abc import Callable

from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserRequest
from dowse.sites.building.source_page import SourcePage

_JOBS = "dowse.sites.building.page_jobs"


def start_page(path: str, data: bytes) -> Callable[[], SourcePage | str]:
    """Have a file read; return a function that waits for its page, or for the reason why it is none."""
    future = shared_pool().submit(ParserRequest({"module": _JOBS, "path": path}, data))

    def wait() -> SourcePage | str:
        reply = future.result()
        if reply.problem:  # its text alone cannot be shown: it may be a draft
            return f"it {reply.problem}"
        if "error" in reply.fields:
            return str(reply.fields["error"])
        return SourcePage(**reply.fields["page"], text=reply.data.decode("utf-8", "surrogatepass"))

    return wait
