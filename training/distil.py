"""Make the static table, on a GPU: `python distil.py BASE TUNED TOKENS FEATURES VOCABULARY OUT`.

A text's vector is the sum of its words' vectors, each weighted by the weight of the word and by the square root of its
count in the text. Word vectors start as the tuned model's vectors of single words. Training makes the similarities
within a batch equal to those of the model's own vectors of the texts.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from network import DEVICE, Network, load_network
from tune import HELD_OUT, SEED, Ragged, evaluate, read_arrays

WIDTH = 256
BATCH = 4096
STEPS = 900
LEARNING_RATE = 2e-3
TEACHER_TEMPERATURE = 0.05
STUDENT_TEMPERATURE = 0.05
CONTRAST = 0.3
"""The weight of the pairs' own loss, relative to the teacher's."""
SIF = 1e-3


class Features:
    """Rows of words with their counts."""

    def __init__(self, ids: np.ndarray, counts: np.ndarray, lengths: np.ndarray) -> None:
        self.ids, self.counts = ids, np.sqrt(counts.astype(np.float32))
        self.starts = np.concatenate([[0], np.cumsum(lengths.astype(np.int64))])

    def batch(self, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return some rows as embedding bags: words, offsets and weights."""
        pieces = [np.arange(self.starts[row], self.starts[row + 1]) for row in rows]
        offsets = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])])[:-1]
        at = np.concatenate(pieces)
        return (
            torch.from_numpy(self.ids[at].astype(np.int64)).to(DEVICE),
            torch.from_numpy(offsets).to(DEVICE),
            torch.from_numpy(self.counts[at]).to(DEVICE),
        )


class Table(torch.nn.Module):
    """The vectors and the weights of the words."""

    def __init__(self, vectors: torch.Tensor, weights: torch.Tensor) -> None:
        super().__init__()
        self.vectors = torch.nn.Parameter(vectors)
        self.weights = torch.nn.Parameter(weights)

    def forward(self, ids: torch.Tensor, offsets: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """Return the vectors of texts, scaled to length 1."""
        weight = torch.exp(self.weights[ids]) * counts
        return F.normalize(F.embedding_bag(ids, self.vectors, offsets, mode="sum", per_sample_weights=weight), dim=-1)


def all_vectors(model: Network, rows: Ragged, count: int) -> torch.Tensor:
    """Return the model's vectors of all rows."""
    model.eval()
    with torch.no_grad():
        return torch.cat(
            [model(*rows.batch(np.arange(start, min(start + 4096, count)))).half() for start in range(0, count, 4096)]
        )


def word_vectors(model: Network, base: Path, words: list[str]) -> torch.Tensor:
    """Return the model's vectors of single words."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_padding()
    plain = [word.removeprefix("##") for word in words]
    ids = [encoding.ids[:16] for encoding in tokenizer.encode_batch(plain)]
    flat = np.array([number for row in ids for number in row], np.uint16)
    return all_vectors(model, Ragged(flat, np.array([len(row) for row in ids], np.uint8)), len(words)).float()


def evaluate_table(
    table: Table, query_features: Features, text_features: Features, rows: np.ndarray
) -> tuple[float, float]:
    """Return the share of held-out queries whose text ranks first, and the mean reciprocal rank."""
    with torch.no_grad():
        alike = table(*query_features.batch(rows)) @ table(*text_features.batch(rows)).T
        ranks = (alike > alike.diagonal().unsqueeze(1)).sum(1) + 1
    return (ranks == 1).float().mean().item(), (1 / ranks.float()).mean().item()


def train(
    table: Table, query_features: Features, text_features: Features, teacher: Any, steps: int, rate: float, random: Any
) -> None:
    """Train the table to reproduce the similarities of the teacher's vectors, and to find the text of each query."""
    count = len(teacher[0])
    optimizer = torch.optim.Adam(
        [{"params": [table.vectors], "lr": rate}, {"params": [table.weights], "lr": 5 * rate}], betas=(0.9, 0.99)
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    began = time.time()
    for step in range(steps):
        rows = random.choice(np.arange(HELD_OUT, count), BATCH, replace=False)
        at = torch.from_numpy(rows).to(DEVICE)
        q, t = table(*query_features.batch(rows)), table(*text_features.batch(rows))
        alike = q @ t.T / STUDENT_TEMPERATURE
        wanted = teacher[0][at].float() @ teacher[1][at].float().T / TEACHER_TEMPERATURE
        near = t @ t.T / STUDENT_TEMPERATURE
        wanted_near = teacher[1][at].float() @ teacher[1][at].float().T / TEACHER_TEMPERATURE
        diagonal = torch.eye(BATCH, dtype=torch.bool, device=DEVICE)
        near, wanted_near = near.masked_fill(diagonal, -1e4), wanted_near.masked_fill(diagonal, -1e4)
        target = torch.arange(BATCH, device=DEVICE)
        loss = (
            F.kl_div(F.log_softmax(alike, 1), F.softmax(wanted, 1), reduction="batchmean")
            + F.kl_div(F.log_softmax(alike.T, 1), F.softmax(wanted.T, 1), reduction="batchmean")
            + F.kl_div(F.log_softmax(near, 1), F.softmax(wanted_near, 1), reduction="batchmean")
            + CONTRAST * (F.cross_entropy(alike, target) + F.cross_entropy(alike.T, target))
        )
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            print(f"{step}/{steps} {time.time() - began:.0f} s: {loss.item():.4f}", flush=True)


def main(base: str, tuned: str, tokens: str, features: str, vocabulary: str, out: str) -> None:
    """Train, reduce the dimensions, train again, and write the table with eight bits for each number."""
    torch.manual_seed(SEED)
    random = np.random.default_rng(SEED)
    packed, packed_features = read_arrays(Path(tokens)), read_arrays(Path(features))
    query_features, text_features = (
        Features(*(packed_features[f"{name}_{part}"] for part in ("ids", "counts", "lengths"))) for name in "qt"
    )
    count = len(packed_features["q_lengths"])
    model = load_network(Path(tuned))
    queries, texts = (Ragged(packed[f"{name}_ids"], packed[f"{name}_lengths"]) for name in "qt")
    print("teacher: first %.4f, mrr %.4f" % evaluate(model, queries, texts, np.arange(HELD_OUT)), flush=True)
    teacher = all_vectors(model, queries, count), all_vectors(model, texts, count)
    words = Path(vocabulary).read_text(encoding="utf-8").splitlines()
    frequency = np.bincount(packed_features["t_ids"], minlength=len(words)).astype(np.float64)
    frequency /= frequency.sum()
    sif = torch.from_numpy(np.log(SIF / (SIF + frequency))).float().to(DEVICE)
    held = np.arange(HELD_OUT)
    table = Table(word_vectors(model, Path(base), words), sif).to(DEVICE)
    print("untrained: first %.4f, mrr %.4f" % evaluate_table(table, query_features, text_features, held), flush=True)
    train(table, query_features, text_features, teacher, STEPS, LEARNING_RATE, random)
    print("384 wide: first %.4f, mrr %.4f" % evaluate_table(table, query_features, text_features, held), flush=True)
    with torch.no_grad():
        rows = (
            table.vectors
            * torch.exp(table.weights)[:, None]
            * torch.from_numpy(np.sqrt(frequency)).float().to(DEVICE)[:, None]
        )
        _, _, basis = torch.linalg.svd(rows, full_matrices=False)
        table = Table(table.vectors @ basis[:WIDTH].T, table.weights.detach().clone()).to(DEVICE)
    print(
        f"{WIDTH} wide: first %.4f, mrr %.4f" % evaluate_table(table, query_features, text_features, held), flush=True
    )
    train(table, query_features, text_features, teacher, STEPS // 2, LEARNING_RATE / 4, random)
    print(
        f"{WIDTH} wide, trained again: first %.4f, mrr %.4f"
        % evaluate_table(table, query_features, text_features, held),
        flush=True,
    )
    with torch.no_grad():
        rows = table.vectors * torch.exp(table.weights)[:, None]
        scales = rows.abs().amax(1).clamp_min(1e-8) / 127
        numbers = torch.round(rows / scales[:, None]).clamp(-127, 127).to(torch.int8)
        eight = Table(numbers.float() * scales[:, None], torch.zeros_like(table.weights)).to(DEVICE)
        print(
            "in eight bits: first %.4f, mrr %.4f" % evaluate_table(eight, query_features, text_features, held),
            flush=True,
        )
    folder = Path(out)
    numbers.cpu().numpy().tofile(folder / "table.int8")
    scales.cpu().numpy().astype(np.float32).tofile(folder / "scales.float32")


if __name__ == "__main__":
    main(*sys.argv[1:])
