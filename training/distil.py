"""Make the static table, on a GPU: `python distil.py BASE TUNED TOKENS FEATURES VOCABULARY OUT`.

A text's vector is the sum of its words' vectors, each weighted by how much the word says and by the root of how
often it stands there. Word vectors begin as the tuned model's vectors of single words and learn to be as alike,
within a batch, as the model's own vectors of the texts are.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from transformers import BertModel
from tune import SEED, Ragged, encoded, found_first, model_of, read

WIDTH = 256
BATCH = 4096
STEPS = 900
RATE = 2e-3
TEACHER_TEMPERATURE = 0.05
STUDENT_TEMPERATURE = 0.05
CONTRAST = 0.3
"""How much the pairs themselves count beside the teacher."""
SIF = 1e-3


class Features:
    """Rows of words with their counts."""

    def __init__(self, ids: np.ndarray, counts: np.ndarray, lengths: np.ndarray) -> None:
        self.ids, self.counts = ids, np.sqrt(counts.astype(np.float32))
        self.starts = np.concatenate([[0], np.cumsum(lengths.astype(np.int64))])

    def batch(self, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Some rows as embedding bags: words, offsets, weights."""
        pieces = [np.arange(self.starts[row], self.starts[row + 1]) for row in rows]
        offsets = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])])[:-1]
        at = np.concatenate(pieces)
        return (
            torch.from_numpy(self.ids[at].astype(np.int64)).cuda(),
            torch.from_numpy(offsets).cuda(),
            torch.from_numpy(self.counts[at]).cuda(),
        )


class Table(torch.nn.Module):
    """The words' vectors and weights."""

    def __init__(self, vectors: torch.Tensor, weights: torch.Tensor) -> None:
        super().__init__()
        self.vectors = torch.nn.Parameter(vectors)
        self.weights = torch.nn.Parameter(weights)

    def forward(self, ids: torch.Tensor, offsets: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """Vectors of texts, of length 1."""
        weight = torch.exp(self.weights[ids]) * counts
        return F.normalize(F.embedding_bag(ids, self.vectors, offsets, mode="sum", per_sample_weights=weight), dim=-1)


def all_vectors(model: BertModel, rows: Ragged, count: int) -> torch.Tensor:
    """The model's vectors of all rows."""
    model.eval()
    with torch.no_grad():
        return torch.cat(
            [
                encoded(model, *rows.batch(np.arange(start, min(start + 4096, count)))).half()
                for start in range(0, count, 4096)
            ]
        )


def word_vectors(model: BertModel, base: Path, words: list[str]) -> torch.Tensor:
    """The model's vectors of single words."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_padding()
    plain = [word.removeprefix("##") for word in words]
    ids = [one.ids[:16] for one in tokenizer.encode_batch(plain)]
    flat = np.array([number for row in ids for number in row], np.uint16)
    return all_vectors(model, Ragged(flat, np.array([len(row) for row in ids], np.uint8)), len(words)).float()


def first(table: Table, asked: Features, told: Features, rows: np.ndarray) -> tuple[float, float]:
    """How often a held-out query's own text is first, and the mean reciprocal rank."""
    with torch.no_grad():
        alike = table(*asked.batch(rows)) @ table(*told.batch(rows)).T
        ranks = (alike > alike.diagonal().unsqueeze(1)).sum(1) + 1
    return (ranks == 1).float().mean().item(), (1 / ranks.float()).mean().item()


def train(table: Table, asked: Features, told: Features, teacher: Any, steps: int, rate: float, random: Any) -> None:
    """Learn to be as alike as the teacher's vectors are, and to find each pair."""
    count = len(teacher[0])
    optimizer = torch.optim.Adam(
        [{"params": [table.vectors], "lr": rate}, {"params": [table.weights], "lr": 5 * rate}], betas=(0.9, 0.99)
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    began = time.time()
    for step in range(steps):
        rows = random.choice(np.arange(4096, count), BATCH, replace=False)
        at = torch.from_numpy(rows).cuda()
        q, t = table(*asked.batch(rows)), table(*told.batch(rows))
        alike = q @ t.T / STUDENT_TEMPERATURE
        wanted = teacher[0][at].float() @ teacher[1][at].float().T / TEACHER_TEMPERATURE
        near = t @ t.T / STUDENT_TEMPERATURE
        wanted_near = teacher[1][at].float() @ teacher[1][at].float().T / TEACHER_TEMPERATURE
        diagonal = torch.eye(BATCH, dtype=torch.bool, device="cuda")
        near, wanted_near = near.masked_fill(diagonal, -1e4), wanted_near.masked_fill(diagonal, -1e4)
        target = torch.arange(BATCH, device="cuda")
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
    """Train, reduce, train again, and write the table in eight bits a number."""
    torch.manual_seed(SEED)
    random = np.random.default_rng(SEED)
    packed, packed_features = read(Path(tokens)), read(Path(features))
    asked, told = (
        Features(*(packed_features[f"{name}_{part}"] for part in ("ids", "counts", "lengths"))) for name in "qt"
    )
    count = len(packed_features["q_lengths"])
    model = model_of(Path(base))
    model.load_state_dict({k: v.float() for k, v in load_file(tuned).items()}, strict=False)
    model = model.cuda()
    queries, texts = (Ragged(packed[f"{name}_ids"], packed[f"{name}_lengths"]) for name in "qt")
    print("teacher: first %.4f, mrr %.4f" % found_first(model, queries, texts, np.arange(4096)), flush=True)
    teacher = all_vectors(model, queries, count), all_vectors(model, texts, count)
    words = Path(vocabulary).read_text(encoding="utf-8").splitlines()
    frequency = np.bincount(packed_features["t_ids"], minlength=len(words)).astype(np.float64)
    frequency /= frequency.sum()
    sif = torch.from_numpy(np.log(SIF / (SIF + frequency))).float().cuda()
    held = np.arange(4096)
    table = Table(word_vectors(model, Path(base), words), sif).cuda()
    print("untrained: first %.4f, mrr %.4f" % first(table, asked, told, held), flush=True)
    train(table, asked, told, teacher, STEPS, RATE, random)
    print("384 wide: first %.4f, mrr %.4f" % first(table, asked, told, held), flush=True)
    with torch.no_grad():
        rows = (
            table.vectors
            * torch.exp(table.weights)[:, None]
            * torch.from_numpy(np.sqrt(frequency)).float().cuda()[:, None]
        )
        _, _, basis = torch.linalg.svd(rows, full_matrices=False)
        table = Table(table.vectors @ basis[:WIDTH].T, table.weights.detach().clone()).cuda()
    print(f"{WIDTH} wide: first %.4f, mrr %.4f" % first(table, asked, told, held), flush=True)
    train(table, asked, told, teacher, STEPS // 2, RATE / 4, random)
    print(f"{WIDTH} wide, trained again: first %.4f, mrr %.4f" % first(table, asked, told, held), flush=True)
    with torch.no_grad():
        rows = table.vectors * torch.exp(table.weights)[:, None]
        scales = rows.abs().amax(1).clamp_min(1e-8) / 127
        numbers = torch.round(rows / scales[:, None]).clamp(-127, 127).to(torch.int8)
        eight = Table(numbers.float() * scales[:, None], torch.zeros_like(table.weights)).cuda()
        print("in eight bits: first %.4f, mrr %.4f" % first(eight, asked, told, held), flush=True)
    folder = Path(out)
    numbers.cpu().numpy().tofile(folder / "table.int8")
    scales.cpu().numpy().astype(np.float32).tofile(folder / "scales.float32")


if __name__ == "__main__":
    main(*sys.argv[1:])
