"""Data is told from code and prose."""

import base64
import random

from dowse.searching.found_files import is_blob

NOISE = random.Random(1).randbytes(6000)
PEM = b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(NOISE) + b"-----END CERTIFICATE-----\n"
MINIFIED = b"!function(e,t){return e.a(t)||e.b[t]}(this,function(){var n=1;" * 100
NUMBERS = b"\n".join(b"%d,%d,0.%d" % (one, one * 7, one * 13) for one in range(900))
PYTHON = (
    b'def send(request):\n    """Send it."""\n    return request.session.post(request.url, data=request.data)\n' * 20
)
PROSE = ("A paragraph of a text that was written without line ends, as many people do. " * 30 + "\n\n").encode() * 3
CHINESE = "这是一个没有空格的段落。\n".encode() * 60
TABLE = b"| name | meaning |\n|---|---|\n" + b"| `limit` | how many hits |\n" * 40


def test_data_is_a_blob() -> None:
    for data in (PEM, MINIFIED, NUMBERS):
        assert is_blob(data)


def test_code_and_prose_are_not() -> None:
    for data in (PYTHON, PROSE, CHINESE, TABLE, b"", b"1,2,3\n"):
        assert not is_blob(data)
