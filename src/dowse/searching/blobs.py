"""Recognition of blobs: certificates, minified code and tables of numbers, which are text and say nothing to a reader."""

import re
import string

SAMPLE_BYTES = 16_000
MIN_BYTES = 500
"""A shorter file is shown, whatever it is."""
MAX_MEAN_LINE = 300
"""Mean length of the lines of code that somebody wrote; longer lines of prose have spaces."""
MIN_SPACE_SHARE = 0.08
MIN_LETTER_SHARE = 0.15
"""Share of letters in code and prose; tables of numbers have fewer."""
MAX_ENCODED_SHARE = 0.5
MIN_MEAN_WORD = 6
"""Characters for each space and line: code has 3 to 5, certificates that are indented by eight spaces have 8."""

_ENCODED_LINE = re.compile(rb"^[ \t\"']*[A-Za-z0-9+/=_-]{40,}[\"',;\\ \t\r]*$", re.MULTILINE)
_LETTERS = string.ascii_letters.encode() + bytes(range(128, 256))


def is_blob(data: bytes) -> bool:
    """Return whether a text is data rather than code or prose; its beginning and its end decide."""
    return len(data) >= MIN_BYTES and _is_data(data[:SAMPLE_BYTES]) and _is_data(data[-SAMPLE_BYTES:])


def _is_data(sample: bytes) -> bool:
    spaces, lines = sample.count(b" ") + sample.count(b"\t"), sample.count(b"\n") + 1
    if len(sample) / lines > MAX_MEAN_LINE and spaces < MIN_SPACE_SHARE * len(sample):
        return True
    has_long_words = len(sample) > MIN_MEAN_WORD * (
        spaces + lines
    )  # the pattern takes ten times as long as all the rest
    if has_long_words and len(_ENCODED_LINE.findall(sample)) > MAX_ENCODED_SHARE * lines:
        return True
    visible = len(sample) - spaces - lines
    letters = len(sample) - len(sample.translate(None, _LETTERS))
    return letters < MIN_LETTER_SHARE * visible
