"""Record the hashes of the shipped files, and the vectors of some texts for the tests: `python -m training.ship`."""

import hashlib
import json
import sys
from pathlib import Path

from dowse.encoding.minilm import MiniLM
from dowse.encoding.packing import encoder_input
from dowse.encoding.selection import HASHES_FILE, MODELS_FOLDER, open_static

RECORDED_FILE = Path(__file__).parents[1] / "tests" / "encoding" / "recorded.json"
TEXTS = [
    "how do I read a file line by line",
    "retry a request with exponential backoff",
    "Wie liest man eine Datei?",
    "中文文档搜索",
    "(",
    "HTTPResponseParser",
    encoder_input(
        "src/json/parser.py", "def parse_value(text: str, at: int) -> tuple[Any, int]:\n    match text[at]:\n"
    ),
    encoder_input("README.md", "# Install\n\nWith pip: `pip install thing`. From source, clone it and run `make`."),
    encoder_input(
        "lib/cache.rs", "impl<K: Hash + Eq, V> Cache<K, V> {\n    pub fn evict(&mut self) -> Option<V> {\n" * 12
    ),
    encoder_input("web/App.tsx", "export const App = () => <Layout><Router routes={routes} /></Layout>;\n"),
]
"""Queries and chunks, short ones and ones that are cut off, in several scripts."""


def main() -> int:
    """Write both files. MiniLM's vectors are computed in floats; numbers are rounded to six decimals."""
    files = sorted(file for file in MODELS_FOLDER.glob("*/*") if file.is_file())
    hashes = {f"{file.parent.name}/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    HASHES_FILE.write_text(json.dumps(hashes, indent=1) + "\n", encoding="utf-8")
    rows = [
        {
            "text": text,
            "static": [round(float(number), 6) for number in table_vector],
            "minilm": [round(float(number), 6) for number in model_vector],
        }
        for text, table_vector, model_vector in zip(
            TEXTS,
            open_static(MODELS_FOLDER).encode(TEXTS),
            MiniLM.from_folder(MODELS_FOLDER / "minilm", "", in_eight_bits=False).encode(TEXTS, "code"),
            strict=True,
        )
    ]
    RECORDED_FILE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
