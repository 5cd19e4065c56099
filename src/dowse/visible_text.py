"""Text without the characters that nobody sees."""

import re

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Zero-width, filling and direction characters: two names that differ only in them look the same."""


def visible(text: str) -> str:
    """Return a text without zero-width, filling and direction characters."""
    return text if text.isascii() else _UNSEEN.sub("", text)
