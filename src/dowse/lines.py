"""Line numbers as an editor shows them: a line ends at LF, CR LF or a lone CR, nothing else."""

import re
from bisect import bisect_right
from itertools import accumulate

_LINE_END = re.compile(rb"\r\n|\n|\r")


def line_starts(data: bytes) -> list[int]:
    """The byte offset at which each line begins; the first is 0.

    A line end at the very end does not begin another line, except that empty data has one.
    """
    if b"\r" not in data:
        starts = list(accumulate((len(line) + 1 for line in data.split(b"\n")[:-1]), initial=0))
    else:
        starts = [0, *(match.end() for match in _LINE_END.finditer(data))]
    if len(starts) > 1 and starts[-1] == len(data):
        starts.pop()
    return starts


def line_at(starts: list[int], offset: int) -> int:
    """The number, from 1, of the line that holds a byte offset."""
    return bisect_right(starts, offset)
