"""Recognition of blobs: certificates, minified code and tables of numbers, which are text and say nothing to a reader."""

import re

SAMPLE_BYTES = 16_000
MIN_BYTES = 500
"""A shorter file is shown, whatever it is."""
MAX_MEAN_LINE = 300
"""Mean length of the lines of code that somebody wrote; longer lines of prose have spaces."""
MIN_SPACE_SHARE = 0.08
MIN_LETTER_SHARE = 0.15
"""Share of letters in code and prose; tables of numbers have fewer."""
MAX_ENCODED_SHARE = 0.5

_ENCODED_LINE = re.compile(rb"^[ \t\"']*[A-Za-z0-9+/=_-]{40,}[\"',;\\ \t\r]*$", re.MULTILINE)
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")


def is_blob(data: bytes) -> bool:
    """Return whether a text is data rather than code or prose; its beginning and its end decide."""
    return len(data) >= MIN_BYTES and _is_data(data[:SAMPLE_BYTES]) and _is_data(data[-SAMPLE_BYTES:])


def _is_data(sample: bytes) -> bool:
    spaces, lines = sample.count(b" ") + sample.count(b"\t"), sample.count(b"\n") + 1
    if len(sample) / lines > MAX_MEAN_LINE and spaces < MIN_SPACE_SHARE * len(sample):
        return True
    if len(_ENCODED_LINE.findall(sample)) > MAX_ENCODED_SHARE * lines:
        return True
    visible = len(sample) - spaces - lines
    return len(_LETTER.findall(sample)) < MIN_LETTER_SHARE * visible
