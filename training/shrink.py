"""Train a smaller model on the tuned one's vectors, on a GPU: `python shrink.py TUNED TOKENS OUT [SECONDS]`.

The student has four of the six layers, and after the first each two neighbouring tokens become one, so that it computes
two and a half layers instead of six. It learns the teacher's vector of each text and the similarities within a batch,
with texts cut at several lengths. In the last part it learns with its numbers rounded to eight bits.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from distil import all_vectors
from network import DEVICE, Product, load_network, make_student, save_network
from tune import HELD_OUT, SEED, Ragged, evaluate, make_batches, read_arrays

LAYERS, HALVED_AFTER = [0, 1, 3, 5], 1
LEARNING_RATE = 5e-4
SECONDS = 600.0
WARM_UP_SHARE, ROUNDED_SHARE = 0.05, 0.28
"""The shares of the time at the beginning and at the end."""
TEMPERATURE = 0.05
VECTORS, NEIGHBOURS = 6.0, 0.5
"""The weights of the distance to the teacher's vectors and of the similarities between texts."""
QUERY_LENGTHS, QUERY_SHARES = [24, 32, 64], [0.45, 0.35, 0.2]
TEXT_LENGTHS, TEXT_SHARES = [64, 80, 96, 128, 160], [0.25, 0.2, 0.25, 0.15, 0.15]
"""The lengths at which texts are cut, and how often."""
LAST_TOKEN = 102


def cut(tokens: tuple[torch.Tensor, torch.Tensor], length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return texts and their mask with at most so many tokens, and the last token at the end of each."""
    ids, mask = (part[:, :length].clone() for part in tokens)
    ids[tokens[1].sum(1) > length, -1] = LAST_TOKEN
    return ids, mask


def difference(own: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Return how much the similarities of a student differ from those of its teacher."""
    own, wanted = own / TEMPERATURE, wanted / TEMPERATURE
    return F.kl_div(F.log_softmax(own, 1), F.softmax(wanted, 1), reduction="batchmean")


def without_diagonal(alike: torch.Tensor) -> torch.Tensor:
    """Return similarities without those of a text to itself."""
    return alike.masked_fill(torch.eye(len(alike), dtype=torch.bool, device=alike.device), -500.0)


def endless_batches(repositories: np.ndarray, rows: np.ndarray, random: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield batches for as long as they are wanted."""
    while True:
        yield from make_batches(repositories, rows, random)


def main(tuned: str, tokens: str, out: str, seconds: str = str(SECONDS)) -> None:
    """Train for so many seconds, print the progress, and write the weights in half precision."""
    torch.manual_seed(SEED)
    random = np.random.default_rng(SEED)
    packed = read_arrays(Path(tokens))
    queries, texts = (Ragged(packed[f"{name}_ids"], packed[f"{name}_lengths"]) for name in "qt")
    count = len(packed["repository"])
    teacher = load_network(Path(tuned)).eval().requires_grad_(False)
    wanted_queries, wanted_texts = all_vectors(teacher, queries, count), all_vectors(teacher, texts, count)
    student = make_student(teacher, LAYERS, HALVED_AFTER).train().requires_grad_(True)
    optimizer = torch.optim.AdamW(student.parameters(), lr=LEARNING_RATE, weight_decay=0.01)
    began, batches = time.time(), endless_batches(packed["repository"], np.arange(HELD_OUT, count), random)
    for step, batch in enumerate(batches):
        passed = (time.time() - began) / float(seconds)
        if passed >= 1:
            break
        Product.is_rounded = passed > 1 - ROUNDED_SHARE
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * min(1.0, passed / WARM_UP_SHARE + 0.01) * (1 - passed)
        at = torch.from_numpy(batch).to(DEVICE)
        q = student(*cut(queries.batch(batch), int(random.choice(QUERY_LENGTHS, p=QUERY_SHARES))))
        t = student(*cut(texts.batch(batch), int(random.choice(TEXT_LENGTHS, p=TEXT_SHARES))))
        q1, t1 = wanted_queries[at].float(), wanted_texts[at].float()
        far = 2 - (q * q1).sum(1).mean() - (t * t1).sum(1).mean()
        alike = difference(q @ t.T, q1 @ t1.T) + difference(t @ q.T, t1 @ q1.T)
        near = difference(without_diagonal(t @ t.T), without_diagonal(t1 @ t1.T))
        optimizer.zero_grad(set_to_none=True)
        (VECTORS * far + alike + NEIGHBOURS * near).backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            print(f"{step} {time.time() - began:.0f} s: {far.item():.4f} {alike.item():.4f}", flush=True)
    Product.is_rounded = True
    print("in eight bits: first %.4f, mrr %.4f" % evaluate(student, queries, texts, np.arange(HELD_OUT)), flush=True)
    save_network(student, Path(out) / "student.safetensors")


if __name__ == "__main__":
    main(*sys.argv[1:])
