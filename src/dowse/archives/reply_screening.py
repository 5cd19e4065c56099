"""Replies about archives as they may be told: secrets in titles, contexts and addresses masked, and what is flagged."""

from typing import Any

from dowse.screening.masking import notes, shown

_TEXTS = ("title", "question", "context", "label", "sourceTitle", "targetTitle", "url", "targetUrl")
"""The keys whose values are text of archived files; snippets were masked where they were cut."""


def screened(reply: dict[str, Any], *, masks: bool = True) -> dict[str, Any]:
    """A reply in which every part says what was masked in it, and what it is to be read with care for."""
    result: dict[str, Any] = {}
    found = []
    for key, value in reply.items():
        if key in _TEXTS and isinstance(value, str):
            safe = shown(value, masks=masks)
            found.append((safe, 1))
            result[key] = safe.text
        else:
            result[key] = _inside(value, masks=masks)
    said = notes(found)
    said.pop("flaggedLines", None)  # titles and contexts are shown on one line
    return result | {key: sorted({*result.get(key, ()), *value}) for key, value in said.items()}


def _inside(value: Any, *, masks: bool) -> Any:
    if isinstance(value, dict):
        return screened(value, masks=masks)
    if isinstance(value, list):
        return [_inside(one, masks=masks) for one in value]
    return value
