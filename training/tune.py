"""Fine-tune MiniLM on the pairs, on a GPU: `python tune.py BASE TOKENS OUT`. It needs torch and safetensors only.

The loss is InfoNCE in both directions within a batch. A batch consists of blocks of one repository each, so that the
wrong answers are similar to the right one; texts that are almost the same are not wrong answers. An anchor keeps every
vector near that of the original model, which reads the text with its punctuation; without it the model forgets prose.
"""

import json
import lzma
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from network import DEVICE, Network, load_network, save_network

SEED = 20261116
BATCH = 2048
BLOCK = 64
EPOCHS = 2
LEARNING_RATE = 2e-4
WARM_UP_SHARE = 0.08
TEMPERATURE = 0.05
ANCHOR = 4.0
HELD_OUT = 4096
SAME_TEXT, SAME_QUERY = 0.96, 0.985
"""Texts or queries with a higher cosine in the original model are the same."""


def read_arrays(file: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a packed file."""
    found = {}
    with lzma.open(file) as stream:
        while head := stream.readline():
            about = json.loads(head)
            dtype = np.dtype(about["dtype"])
            found[about["name"]] = np.frombuffer(stream.read(about["size"] * dtype.itemsize), dtype)
    return found


class Ragged:
    """Rows of tokens of different lengths."""

    def __init__(self, ids: np.ndarray, lengths: np.ndarray) -> None:
        self.ids, self.lengths = ids, lengths
        self.starts = np.concatenate([[0], np.cumsum(lengths.astype(np.int64))])

    def batch(self, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Return some rows, padded to the longest one, and their mask."""
        lengths = self.lengths[rows].astype(np.int64)
        padded = np.zeros((len(rows), lengths.max()), np.int64)
        for number, row in enumerate(rows):
            padded[number, : lengths[number]] = self.ids[self.starts[row] : self.starts[row + 1]]
        mask = np.arange(lengths.max())[None] < lengths[:, None]
        return torch.from_numpy(padded).to(DEVICE, non_blocking=True), torch.from_numpy(mask).to(
            DEVICE, non_blocking=True
        )


def make_batches(repositories: np.ndarray, rows: np.ndarray, random: np.random.Generator) -> list[np.ndarray]:
    """Return all rows in batches, which consist of blocks of one repository each."""
    blocks = []
    for repository in np.unique(repositories[rows]):
        own = random.permutation(rows[repositories[rows] == repository])
        blocks += [own[start : start + BLOCK] for start in range(0, len(own) - BLOCK + 1, BLOCK)]
    blocks = [blocks[number] for number in random.permutation(len(blocks))]
    count = BATCH // BLOCK
    return [np.concatenate(blocks[start : start + count]) for start in range(0, len(blocks) - count + 1, count)]


def evaluate(model: Network, queries: Ragged, texts: Ragged, rows: np.ndarray) -> tuple[float, float]:
    """Return the share of held-out queries whose text ranks first of all held-out texts, and the mean reciprocal rank."""
    model.eval()
    with torch.no_grad():
        both = [
            torch.cat([model(*side.batch(rows[start : start + 1024])) for start in range(0, len(rows), 1024)])
            for side in (queries, texts)
        ]
        alike = both[0] @ both[1].T
        ranks = (alike > alike.diagonal().unsqueeze(1)).sum(1) + 1
    model.train()
    return (ranks == 1).float().mean().item(), (1 / ranks.float()).mean().item()


def main(base: str, tokens: str, out: str) -> None:
    """Train, print the progress, and write the weights in half precision."""
    torch.manual_seed(SEED)
    random = np.random.default_rng(SEED)
    packed = read_arrays(Path(tokens))
    queries, texts, all_queries, all_texts = (
        Ragged(packed[f"{name}_ids"], packed[f"{name}_lengths"]) for name in ("q", "t", "q0", "t0")
    )
    count = len(packed["repository"])
    held, rows = np.arange(HELD_OUT), np.arange(HELD_OUT, count)
    weights = Path(base) / "model.safetensors"
    model, original = load_network(weights), load_network(weights).eval().requires_grad_(False)
    print(f"{count} pairs; before: first %.4f, mrr %.4f" % evaluate(model, queries, texts, held), flush=True)
    plan = [batch for _ in range(EPOCHS) for batch in make_batches(packed["repository"], rows, random)]
    decayed = [p for name, p in model.named_parameters() if p.ndim > 1]
    plain = [p for name, p in model.named_parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=LEARNING_RATE)
    warm = int(WARM_UP_SHARE * len(plan))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: (
            min(1.0, (step + 1) / warm) * max(0.0, (len(plan) - step) / (len(plan) - warm) if step > warm else 1.0)
        ),
    )
    began, target = time.time(), torch.arange(BATCH, device=DEVICE)
    own = torch.eye(BATCH, dtype=torch.bool, device=DEVICE)
    model.train()
    for step, batch in enumerate(plan):
        q, t = model(*queries.batch(batch)), model(*texts.batch(batch))
        with torch.no_grad():
            q0, t0 = original(*all_queries.batch(batch)), original(*all_texts.batch(batch))
            same = ((t0 @ t0.T > SAME_TEXT) | (q0 @ q0.T > SAME_QUERY)) & ~own
        alike = (q @ t.T / TEMPERATURE).masked_fill(same, -1e4)
        learned = (F.cross_entropy(alike, target) + F.cross_entropy(alike.T, target)) / 2
        kept = 2 - (q * q0).sum(1).mean() - (t * t0).sum(1).mean()
        loss = learned + ANCHOR * kept
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 0 or step == len(plan) - 1:
            print(f"{step}/{len(plan)} {time.time() - began:.0f} s: {learned.item():.4f} {kept.item():.4f}", flush=True)
    print("after: first %.4f, mrr %.4f" % evaluate(model, queries, texts, held), flush=True)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    save_network(model, folder / "tuned.safetensors")


if __name__ == "__main__":
    main(*sys.argv[1:])
