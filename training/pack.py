"""Turn the pairs into numbers for the machine that trains: `python -m training.pack PAIRS MODEL OUT`."""

import json
import lzma
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from dowse.encoding.packing import encoder_input
from dowse.encoding.static import MAX_WORD_COUNT, WORD, StaticTokens, fold_word
from training.mine import is_drawn, read_all_pairs, sort_key

QUERY_TOKENS, ALL_QUERY_TOKENS = 64, 96
TEXT_TOKENS, ALL_TEXT_TOKENS = 160, 192
"""The tokens that the model reads, and those that the original model reads, with punctuation."""
RAW_TOKENS = 400
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
"""The model does not read these characters, a third of the tokens of code."""
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a part of a camel-case name begins: names are split there."""
PATH_SHARE = 0.85
"""The share of texts that have their path before them, as in search."""
MAX_WHOLE_WORDS = 22_000
MIN_WORD_TEXTS = 12
"""The minimum number of texts that contain a whole word of the table."""
STATIC_PAIRS = 600_000


def main(pairs: str, model: str, out_folder: str) -> int:
    """Write `tokens.xz`, `features.xz` and `vocabulary.txt`."""
    from tokenizers import Tokenizer

    out = Path(out_folder)
    out.mkdir(parents=True, exist_ok=True)
    rows = list(read_all_pairs(pairs))
    rows.sort(key=lambda row: sort_key(row["r"], row["q"], row["t"][:100], "pack"))
    texts = [
        encoder_input(row["p"], row["t"]) if row["p"] and is_drawn(PATH_SHARE, row["q"], row["p"]) else row["t"]
        for row in rows
    ]
    queries = [row["q"] for row in rows]
    tokenizer = Tokenizer.from_file(str(Path(model) / "tokenizer.json"))
    tokenizer.no_padding()
    _write(
        out / "tokens.xz",
        repository=np.array([row["r"] for row in rows], np.uint16),
        **_tokenize("q", tokenizer, queries, QUERY_TOKENS, ALL_QUERY_TOKENS),
        **_tokenize("t", tokenizer, texts, TEXT_TOKENS, ALL_TEXT_TOKENS),
    )
    vocabulary = _vocabulary(tokenizer, texts)
    (out / "vocabulary.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    words = StaticTokens({word: number for number, word in enumerate(vocabulary)})
    few = slice(0, STATIC_PAIRS)
    _write(
        out / "features.xz",
        **_count_words("q", [list(words.token_ids(text)) for text in queries[few]]),
        **_count_words("t", [list(words.token_ids(text)) for text in texts[few]]),
        single=np.array([0], np.uint8),
    )
    print(len(rows), "pairs", len(vocabulary), "words")
    return 0


def _tokenize(name: str, tokenizer: Any, texts: list[str], max_tokens: int, max_all: int) -> dict[str, Any]:
    """Return the tokens that the model reads, and as `NAME0` those that the original model reads."""
    tokenizer.enable_truncation(RAW_TOKENS)
    skipped = {tokenizer.token_to_id(character) for character in PUNCTUATION}
    read: list[list[int]] = []
    everything: list[list[int]] = []
    for start in range(0, len(texts), 2000):
        for encoding in tokenizer.encode_batch([HUMP.sub(" ", text) for text in texts[start : start + 2000]]):
            first, *inner, last = encoding.ids
            words = [number for number in inner if number not in skipped] or inner
            read.append([first, *words[: max_tokens - 2], last])
            everything.append([first, *inner[: max_all - 2], last])
    return _ragged(name, read) | _ragged(f"{name}0", everything)


def _vocabulary(tokenizer: Any, texts: list[str]) -> list[str]:
    """Return WordPiece's vocabulary, and the frequent whole words that WordPiece would split."""
    known = [word for word, _ in sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])]
    pieces = set(known)
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({fold_word(word) for word in WORD.findall(text)})
    whole = [
        word for word, count in counts.most_common() if count >= MIN_WORD_TEXTS and word not in pieces and len(word) > 2
    ]
    return known + [word for word in whole if not re.fullmatch(r"\d+", word)][:MAX_WHOLE_WORDS]


def _ragged(name: str, rows: list[list[int]]) -> dict[str, Any]:
    return {
        f"{name}_ids": np.array([number for row in rows for number in row], np.uint16),
        f"{name}_lengths": np.array([len(row) for row in rows], np.uint8),
    }


def _count_words(name: str, rows: list[list[int]]) -> dict[str, Any]:
    """Return each word of a row once, with its count."""
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
