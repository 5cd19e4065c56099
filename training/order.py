"""Put the dimensions of our MiniLM in the order of what they tell: `python -m training.order PAIRS`.

A turn of the space changes no angle, so no answer. But after it a quarter of the dimensions is enough to tell which
few thousand of all chunks are worth a closer look, and that is how `dowse.store.vector_search` looks.
"""

import gzip
import json
import random
import sys
from itertools import islice

import numpy as np

from dowse.encoding.minilm import ROTATION_FILE, MiniLM
from dowse.encoding.shipped import MINILM_VERSION, MODELS_FOLDER

TEXTS = 4000
SEED = 20261115


def main(pairs_file: str) -> int:
    """Encode some texts and write the directions in which they differ, most first."""
    with gzip.open(pairs_file, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, 0, None, 80)]
    chosen = random.Random(SEED).sample(rows, TEXTS)  # noqa: S311 - a sample, not a secret
    texts = [f"{row['p']}\n{row['t']}" if row["p"] else row["t"] for row in chosen]
    folder = MODELS_FOLDER / "minilm"
    (folder / ROTATION_FILE).unlink(missing_ok=True)
    vectors = MiniLM.from_folder(folder, MINILM_VERSION, threads=2).encode(texts, "code").astype(np.float64)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    turn = directions[:, ::-1] * np.sign(directions[0, ::-1])  # a direction has no sign; this one is the same each time
    turn.astype("<f4").tofile(folder / ROTATION_FILE)
    turned = vectors @ turn
    print(f"the first 96 dimensions hold {(turned[:, :96] ** 2).sum() / (turned**2).sum():.3f} of all")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
