"""Make a static model of the real shape with random vectors and the vocabulary of the listed files."""

import sys
from pathlib import Path

import numpy as np
from model2vec import StaticModel  # type: ignore[import-not-found]
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

WORDS, DIMENSIONS = 62_500, 256
"""16 million numbers, as the name of semble's default model says (potion-code-16M)."""
_UNKNOWN = {"unk_token": "[UNK]"}


def main(folder: str, names: str) -> None:
    """Train a vocabulary, fill it up to its size, and save it with a random vector for each word."""
    files = [Path(name) for name in Path(names).read_text(encoding="utf-8").split("\n")]
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    tokenizer = Tokenizer(models.WordPiece({}, **_UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", *_UNKNOWN.values()]
    trainer = trainers.WordPieceTrainer(vocab_size=WORDS, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    vocabulary = tokenizer.get_vocab()
    for number in range(WORDS - len(vocabulary)):
        vocabulary[f"[unused{number}]"] = len(vocabulary)
    tokenizer.model = models.WordPiece(vocabulary, **_UNKNOWN)
    vectors = np.random.default_rng(0).standard_normal((len(vocabulary), DIMENSIONS)).astype(np.float32)
    StaticModel(vectors, tokenizer, normalize=True).save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
