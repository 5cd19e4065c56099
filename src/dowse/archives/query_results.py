"""What JSON says: the metadata of a capture or query, and a query's result as Markdown."""

import json
from typing import Any

_MAX_DEPTH = 20
_PROSE = (
    "title",
    "result",
    "answer",
    "report",
    "response",
    "output",
    "content",
    "text",
    "markdown",
    "message",
    "summary",
)
"""Where programs put what people read, in the order it is shown."""
_INNER = ("description", "snippet", "abstract", "excerpt")
_LINKS = ("url", "link", "href")
_LISTS = ("choices", "results", "findings", "sections", "items", "citations", "sources", "references", "links", "data")


def json_of(data: bytes) -> Any:
    """What JSON holds; None for what is no JSON."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None


def metadata_of(data: bytes) -> dict[str, Any]:
    """The keys of a metadata file, also those one level down in an object called `metadata`."""
    value = json_of(data)
    if not isinstance(value, dict):
        return {}
    inner = value.get("metadata")
    return {**inner, **value} if isinstance(inner, dict) else value


def result_text(data: bytes) -> str:
    """A result as Markdown: its prose, and its sources as links. What is no JSON is shown as it is."""
    value = json_of(data)
    if value is None:
        return data.decode("utf-8", "replace")
    return "\n\n".join(_pieces(value, _MAX_DEPTH)).encode("utf-8", "replace").decode() + "\n"


def _pieces(value: Any, depth: int) -> list[str]:
    if not depth:
        return []
    if isinstance(value, str):
        return [f"<{value.strip()}>" if _is_address(value) else value.strip()] if value.strip() else []
    if isinstance(value, list):
        return [piece for item in value for piece in _pieces(item, depth - 1)]
    if not isinstance(value, dict):
        return []
    found = list[str]()
    address = next((value[key] for key in _LINKS if _is_address(value.get(key))), "")
    if address:
        title = next((value[key] for key in ("title", "name") if isinstance(value.get(key), str)), "") or address
        found.append(f"- [{_label(title)}](<{address.strip()}>)")
    for key in (*_PROSE, *_INNER, *_LISTS):
        if not (address and key == "title"):
            found += _pieces(value.get(key), depth - 1)
    return found


def _is_address(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    address = value.strip()
    return address.startswith(("http://", "https://")) and not any(sign.isspace() or sign in "<>" for sign in address)


def _label(title: str) -> str:
    return " ".join(title.replace("[", "(").replace("]", ")").split())
