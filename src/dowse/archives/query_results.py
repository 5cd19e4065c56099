"""Reading of JSON files: the metadata of a capture or query, and the result of a query as Markdown."""

import json
from typing import Any

_MAX_DEPTH = 20
_PROSE_KEYS = (
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
"""Keys of text for people, in the order in which it is shown."""
_INNER_KEYS = ("description", "snippet", "abstract", "excerpt")
_LINK_KEYS = ("url", "link", "href")
_LIST_KEYS = (
    "choices",
    "results",
    "findings",
    "sections",
    "items",
    "citations",
    "sources",
    "references",
    "links",
    "data",
)


def parse_json(data: bytes) -> Any:
    """Return the value of a JSON file; None where it is not JSON."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None


def parse_metadata(data: bytes) -> dict[str, Any]:
    """Return the keys of a metadata file, including those of an inner object called `metadata`."""
    value = parse_json(data)
    if not isinstance(value, dict):
        return {}
    inner = value.get("metadata")
    return {**inner, **value} if isinstance(inner, dict) else value


def result_to_markdown(data: bytes) -> str:
    """Return a result as Markdown: its prose, and its sources as links. A file that is not JSON is returned as it is."""
    value = parse_json(data)
    if value is None:
        return data.decode("utf-8", "replace")
    return "\n\n".join(_markdown_pieces(value, _MAX_DEPTH)).encode("utf-8", "replace").decode() + "\n"


def _markdown_pieces(value: Any, depth: int) -> list[str]:
    if not depth:
        return []
    if isinstance(value, str):
        return [f"<{value.strip()}>" if _is_url(value) else value.strip()] if value.strip() else []
    if isinstance(value, list):
        return [piece for item in value for piece in _markdown_pieces(item, depth - 1)]
    if not isinstance(value, dict):
        return []
    found = list[str]()
    url = next((value[key] for key in _LINK_KEYS if _is_url(value.get(key))), "")
    if url:
        title = next((value[key] for key in ("title", "name") if isinstance(value.get(key), str)), "") or url
        found.append(f"- [{_link_label(title)}](<{url.strip()}>)")
    for key in (*_PROSE_KEYS, *_INNER_KEYS, *_LIST_KEYS):
        if not (url and key == "title"):
            found += _markdown_pieces(value.get(key), depth - 1)
    return found


def _is_url(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    url = value.strip()
    return url.startswith(("http://", "https://")) and not any(
        character.isspace() or character in "<>" for character in url
    )


def _link_label(title: str) -> str:
    return " ".join(title.replace("[", "(").replace("]", ")").split())
