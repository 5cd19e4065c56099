"""`python -m bench.inside.encode NAME FILE`: encode the texts of a JSON file, and print the times and the memory."""

import json
import os
import sys
import time
from pathlib import Path

from bench.meter import memory

QUESTION = "how is a file read line by line without holding all of it"
QUESTIONS = 20


def main(name: str, file: str) -> None:
    """Measure processor time, which does not depend on other load."""
    texts = json.loads(Path(file).read_text(encoding="utf-8"))
    before = time.process_time()
    from dowse.encoding.selection import open_minilm, static_encoder

    encoder = static_encoder() if name == "static" else open_minilm()
    opened = time.process_time()
    encoder.encode(texts)
    done = time.process_time()
    for _ in range(QUESTIONS):
        encoder.encode([QUESTION])
    asked = time.process_time()
    figures = {
        "opened": opened - before,
        "encoded": len(texts) / (done - opened),
        "question": (asked - done) / QUESTIONS,
    }
    print(json.dumps(figures | {"bytes": memory(os.getpid())[0]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
