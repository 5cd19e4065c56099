"""Sort the dimensions of our MiniLM, the most informative first: `python -m training.order PAIRS`.

A rotation of the space changes no angle, so no search result. After it, a quarter of the dimensions is enough to select
the few thousand chunks that are worth an exact comparison, and `dowse.store.matrices` searches that way.
"""

import random
import sys
from itertools import islice

import numpy as np

from dowse.encoding.minilm import ROTATION_FILE, MiniLM
from dowse.encoding.selection import MINILM_VERSION, MODELS_FOLDER
from training.mine import read_all_pairs

SAMPLE_TEXTS = 4000
SEED = 20261115


def main(pairs: str) -> int:
    """Encode a sample of texts and write the rotation to their principal directions, largest first."""
    rows = list(islice(read_all_pairs(pairs), 0, None, 80))
    chosen = random.Random(SEED).sample(rows, SAMPLE_TEXTS)  # noqa: S311 - a sample, not a secret
    texts = [f"{row['p']}\n{row['t']}" if row["p"] else row["t"] for row in chosen]
    folder = MODELS_FOLDER / "minilm"
    (folder / ROTATION_FILE).unlink(missing_ok=True)
    vectors = MiniLM.from_folder(folder, MINILM_VERSION, threads=2).encode(texts, "code").astype(np.float64)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    rotation = directions[:, ::-1] * np.sign(directions[0, ::-1])  # fixes the sign, which is arbitrary
    rotation.astype("<f4").tofile(folder / ROTATION_FILE)
    rotated = vectors @ rotation
    print(f"the first 96 dimensions hold {(rotated[:, :96] ** 2).sum() / (rotated**2).sum():.3f} of all")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
