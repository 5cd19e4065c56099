"""Make a static model for semble from the word vectors that dowse ships."""

import sys
from pathlib import Path

import numpy as np
from model2vec import StaticModel  # type: ignore[import-not-found]
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

_UNKNOWN = "[UNK]"
_HUMP = Regex("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def main(folder: str, table: str) -> None:
    """Save the table with a tokenizer that splits identifiers as dowse does."""
    words = (Path(table) / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
    scales = np.fromfile(Path(table) / "scales.float32", np.float32)
    vectors = np.fromfile(Path(table) / "table.int8", np.int8).reshape(len(words), -1) * scales[:, None]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=_UNKNOWN))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Replace(_HUMP, " "), normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]
    )
    separators = pre_tokenizers.Split(Regex(r"[\W_]+"), "removed")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([separators, pre_tokenizers.Digits()])
    StaticModel(vectors, tokenizer, normalize=True).save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
