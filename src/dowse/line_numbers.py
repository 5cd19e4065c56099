"""Line numbers as an editor shows them: a line ends at LF, CR LF or a lone CR, nothing else."""

from bisect import bisect_right
from itertools import accumulate


def line_starts(data: bytes) -> list[int]:
    """The byte offset at which each line begins; the first is 0.

    A line end at the very end does not begin another line, except that empty data has one. Of
    bytes, unlike of text, `splitlines` cuts at these three ends alone.
    """
    starts = list(accumulate(map(len, data.splitlines(keepends=True)), initial=0))
    if len(starts) > 1:
        starts.pop()
    return starts


def line_number_at(starts: list[int], offset: int) -> int:
    """The number, from 1, of the line that holds a byte offset."""
    return bisect_right(starts, offset)


def split_lines(text: str) -> list[str]:
    """The lines of a text, each with its end."""
    return [
        line.decode(errors="surrogatepass") for line in text.encode(errors="surrogatepass").splitlines(keepends=True)
    ]
