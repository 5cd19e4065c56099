"""Pairs as numbers, to travel to the machine that trains: `python -m training.pack PAIRS MODEL OUT`."""

import gzip
import json
import lzma
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from dowse.encoding.inputs import encoder_input
from dowse.encoding.static import MAX_WORD_COUNT
from dowse.encoding.static_tokens import WORD, StaticTokens, fold_word
from training.mine import chance, order

QUERY_TOKENS = 48
TEXT_TOKENS = 192
WITH_PATH = 0.75
"""So many texts have their path before them, as search gives it to the encoder."""
WHOLE_WORDS = 22_000
LEAST = 12
"""A whole word of the table stands in at least so many texts."""
STATIC_PAIRS = 170_000


def main(pairs_file: str, model: str, out_folder: str) -> int:
    """Write `tokens.xz`, `features.xz` and `vocabulary.txt`."""
    from tokenizers import Tokenizer

    out = Path(out_folder)
    out.mkdir(parents=True, exist_ok=True)
    with gzip.open(pairs_file, "rt", encoding="utf-8") as file:
        rows: list[dict[str, Any]] = [json.loads(line) for line in file]
    rows.sort(key=lambda row: order(row["r"], row["q"], row["t"][:100], "pack"))
    texts = [
        encoder_input(row["p"], row["t"]) if row["p"] and chance(WITH_PATH, row["q"], row["p"]) else row["t"]
        for row in rows
    ]
    queries = [row["q"] for row in rows]
    tokenizer = Tokenizer.from_file(str(Path(model) / "tokenizer.json"))
    tokenizer.no_padding()
    _write(
        out / "tokens.xz",
        repository=np.array([row["r"] for row in rows], np.uint16),
        **_ragged("q", _tokens(tokenizer, queries, QUERY_TOKENS)),
        **_ragged("t", _tokens(tokenizer, texts, TEXT_TOKENS)),
    )
    vocabulary = _vocabulary(tokenizer, texts)
    (out / "vocabulary.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    words = StaticTokens({word: number for number, word in enumerate(vocabulary)})
    few = slice(0, STATIC_PAIRS)
    _write(
        out / "features.xz",
        **_counted("q", [list(words.token_ids(text)) for text in queries[few]]),
        **_counted("t", [list(words.token_ids(text)) for text in texts[few]]),
        single=np.array([0], np.uint8),
    )
    print(len(rows), "pairs", len(vocabulary), "words")
    return 0


def _tokens(tokenizer: Any, texts: list[str], most: int) -> list[list[int]]:
    tokenizer.enable_truncation(most)
    found: list[list[int]] = []
    for start in range(0, len(texts), 2000):
        found += [one.ids for one in tokenizer.encode_batch(texts[start : start + 2000])]
    return found


def _vocabulary(tokenizer: Any, texts: list[str]) -> list[str]:
    """WordPiece's own, and the whole words that it would cut and that many texts have."""
    known = [word for word, _ in sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])]
    pieces = set(known)
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({fold_word(word) for word in WORD.findall(text)})
    whole = [word for word, count in counts.most_common() if count >= LEAST and word not in pieces and len(word) > 2]
    return known + [word for word in whole if not re.fullmatch(r"\d+", word)][:WHOLE_WORDS]


def _ragged(name: str, rows: list[list[int]]) -> dict[str, Any]:
    return {
        f"{name}_ids": np.array([number for row in rows for number in row], np.uint16),
        f"{name}_lengths": np.array([len(row) for row in rows], np.uint8),
    }


def _counted(name: str, rows: list[list[int]]) -> dict[str, Any]:
    """Each word of a row once, with how often it stands there."""
    counted = [sorted(Counter(row).items()) for row in rows]
    return {
        f"{name}_ids": np.array([number for row in counted for number, _ in row], np.uint16),
        f"{name}_counts": np.array([min(count, MAX_WORD_COUNT) for row in counted for _, count in row], np.uint8),
        f"{name}_lengths": np.array([len(row) for row in counted], np.uint16),
    }


def _write(file: Path, **arrays: Any) -> None:
    with lzma.open(file, "wb", preset=3) as stream:
        for name, array in arrays.items():
            head = json.dumps({"name": name, "dtype": str(array.dtype), "size": int(array.size)})
            stream.write(head.encode() + b"\n" + array.tobytes())
    print(file, file.stat().st_size / 1e6, "MB")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
