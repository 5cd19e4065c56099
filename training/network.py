"""MiniLM in PyTorch, and smaller students of it. The names of the weights are those of the original's files."""

from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

WIDTH, WIDE, HEADS = 384, 1536, 12
VOCABULARY, PLACES = 30522, 512
EPSILON = 1e-12
BLOCK = 128
"""The block of numbers that has a scale of its own in eight bits, as in `export.py`."""
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def round_blocks(value: torch.Tensor) -> torch.Tensor:
    """Return a value as eight bits represent it. Its gradient is that of the value itself."""
    blocks = value.float().unflatten(-1, (-1, BLOCK))
    scales = blocks.detach().abs().amax(-1, keepdim=True).clamp_min(1e-8) / 127
    rounded = (torch.round(blocks / scales) * scales).flatten(-2).to(value.dtype)
    return value + (rounded - value).detach()


class Product(nn.Linear):
    """The product with a matrix, with rounding of both sides while a model learns to live with it."""

    is_rounded = False

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        """Return the product and its bias."""
        if not Product.is_rounded:
            return super().forward(value)
        return F.linear(round_blocks(value), round_blocks(self.weight), self.bias)


class _Part(nn.Module):
    """A matrix after which the layer's input is added and the sum is normalized."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.dense, self.LayerNorm = Product(size, WIDTH), nn.LayerNorm(WIDTH, EPSILON)

    def forward(self, value: torch.Tensor, to: torch.Tensor) -> torch.Tensor:
        return self.LayerNorm(to + self.dense(value))


class Layer(nn.Module):
    """A layer: attention, and a wide product."""

    def __init__(self) -> None:
        super().__init__()
        self.attention, self.intermediate = nn.Module(), nn.Module()
        self.attention.self = nn.ModuleDict({name: Product(WIDTH, WIDTH) for name in ("query", "key", "value")})
        self.attention.output, self.output = _Part(WIDTH), _Part(WIDE)
        self.intermediate.dense = Product(WIDTH, WIDE)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the layer's output for each token."""
        three = [product(hidden).unflatten(-1, (HEADS, -1)).transpose(1, 2) for product in self.attention.self.values()]
        mixed = F.scaled_dot_product_attention(*three, attn_mask=mask[:, None, None, :])
        hidden = self.attention.output(mixed.transpose(1, 2).flatten(2), hidden)
        return self.output(F.gelu(self.intermediate.dense(hidden)), hidden)


class Network(nn.Module):
    """A network from token ids to one vector of length 1 for each text."""

    def __init__(self, layers: int = 6, halved_after: int = 0) -> None:
        super().__init__()
        self.embeddings, self.encoder = nn.Module(), nn.Module()
        self.embeddings.word_embeddings = nn.Embedding(VOCABULARY, WIDTH)
        self.embeddings.position_embeddings = nn.Embedding(PLACES, WIDTH)
        self.embeddings.token_type_embeddings = nn.Embedding(2, WIDTH)
        self.embeddings.LayerNorm = nn.LayerNorm(WIDTH, EPSILON)
        self.encoder.layer = nn.ModuleList(Layer() for _ in range(layers))
        self.halved_after = halved_after

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the mean of the tokens' vectors, scaled to length 1."""
        odd = ids.shape[1] % 2 if self.halved_after else 0
        ids, mask = F.pad(ids, (0, odd)), F.pad(mask.int(), (0, odd)).bool()
        with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
            own = self.embeddings
            places = own.position_embeddings.weight[: ids.shape[1]] + own.token_type_embeddings.weight[0]
            hidden = own.LayerNorm(own.word_embeddings(ids) + places)
            for number, layer in enumerate(self.encoder.layer):
                hidden = layer(hidden, mask)
                if number + 1 == self.halved_after:
                    hidden, mask = _halve(hidden, mask)
        counted = mask.unsqueeze(-1).float()
        return F.normalize((hidden.float() * counted).sum(1) / counted.sum(1), dim=-1)


def _halve(hidden: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Replace each two neighbouring tokens by the mean of those that count."""
    pairs, kept = hidden.unflatten(1, (-1, 2)), mask.unflatten(1, (-1, 2))
    counted = kept.unsqueeze(-1).float()
    return (pairs * counted).sum(2) / counted.sum(2).clamp_min(1), kept.any(2)


def load_network(weights: Path) -> Network:
    """Load a network of six layers."""
    found = {name.removeprefix("bert."): value.float() for name, value in load_file(weights).items()}
    network = Network()
    network.load_state_dict({name: found[name] for name in network.state_dict()})
    return network.to(DEVICE)


def make_student(teacher: Network, kept: list[int], halved_after: int) -> Network:
    """Return a network with some of the teacher's layers."""
    student, weights = Network(len(kept), halved_after), teacher.state_dict()
    own = {name: value for name, value in weights.items() if name.startswith("embeddings.")}
    for number, source in enumerate(kept):
        start = f"encoder.layer.{source}."
        own |= {
            f"encoder.layer.{number}.{name.removeprefix(start)}": value
            for name, value in weights.items()
            if name.startswith(start)
        }
    student.load_state_dict(own)
    return student.to(DEVICE)


def save_network(network: Network, file: Path) -> None:
    """Write the weights in half precision."""
    save_file({name: value.half().contiguous().cpu() for name, value in network.state_dict().items()}, file)
