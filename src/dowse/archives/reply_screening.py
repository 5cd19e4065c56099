"""Screening of replies about archives: masks secrets in titles, contexts and URLs, and adds content warnings."""

from typing import Any

from dowse.screening.masking import screen_text, warning_fields

_TEXT_KEYS = ("title", "question", "context", "label", "sourceTitle", "targetTitle", "url", "targetUrl")
"""Keys whose values are text of archived files. Snippets are masked where they are made."""


def screen_reply(reply: dict[str, Any], *, masks: bool = True) -> dict[str, Any]:
    """Return a reply with secrets masked; every object in it lists what is masked, and its content warnings."""
    result: dict[str, Any] = {}
    found = []
    for key, value in reply.items():
        if key in _TEXT_KEYS and isinstance(value, str):
            safe = screen_text(value, masks=masks)
            found.append((safe, 1))
            result[key] = safe.text
        else:
            result[key] = _screen_value(value, masks=masks)
    warnings = warning_fields(found)
    warnings.pop("flaggedLines", None)  # titles and contexts are shown on one line
    return result | {key: sorted({*result.get(key, ()), *value}) for key, value in warnings.items()}


def _screen_value(value: Any, *, masks: bool) -> Any:
    if isinstance(value, dict):
        return screen_reply(value, masks=masks)
    if isinstance(value, list):
        return [_screen_value(item, masks=masks) for item in value]
    return value
