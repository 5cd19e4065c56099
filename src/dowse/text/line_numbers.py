"""Line numbers as an editor shows them: a line ends at LF, CR LF or a lone CR only."""

from bisect import bisect_right
from itertools import accumulate


def line_starts(data: bytes) -> list[int]:
    """Return the byte offset at which each line begins; the first is 0.

    A line end at the end of the data does not begin another line. Empty data has one line. For
    bytes, unlike for text, `splitlines` splits at these three line ends only.
    """
    starts = list(accumulate(map(len, data.splitlines(keepends=True)), initial=0))
    if len(starts) > 1:
        starts.pop()
    return starts


def line_number_at(starts: list[int], offset: int) -> int:
    """Return the number, from 1, of the line that contains a byte offset."""
    return bisect_right(starts, offset)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, each with its line end."""
    return [
        line.decode(errors="surrogatepass") for line in text.encode(errors="surrogatepass").splitlines(keepends=True)
    ]
