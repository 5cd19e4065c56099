"""Sites for tests: a small one written by hand, and generated ones whose word frequencies are like those of prose."""

import json
import random
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

SITE = {"name": "Fruit Blog", "domain": "fruit.example", "description": "All about fruit", "toolPrefix": "fruit"}
PAGES: list[dict[str, Any]] = [
    {
        "url": "/",
        "title": "Home",
        "abstract": "Everything about fruit.",
        "body": "Welcome to the orchard. Start with apples.",
    },
    {
        "url": "/posts/peeling-apples",
        "title": "Peeling apples",
        "abstract": "How to peel an apple in one go.",
        "date": "2025-01-31",
        "topics": ["apples", "Kitchen"],
        "body": "Hold the apple firmly.\n\nTurn it slowly against the knife, and the peel comes off in one ribbon.",
    },
    {
        "url": "/posts/storing-pears",
        "title": "Storing pears",
        "date": "2024-06-01",
        "topics": ["pears"],
        "body": "Pears ripen from the inside out. Keep them cool, and away from bananas.",
    },
    {
        "url": "/about",
        "title": "About us",
        "abstract": "Who writes here.",
        "body": "Two gardeners and a café owner. We also write C++ and C# when it rains.",
    },
]


def index(*pages: dict[str, Any], site: dict[str, Any] | None = None, **root: Any) -> dict[str, Any]:
    """Return an index of these pages, or of the fruit blog; keyword arguments replace values of the root."""
    listed = list(pages) or PAGES
    return {
        "version": "3.0",
        "generated": "2025-01-15T12:00:00.000Z",
        "site": SITE if site is None else site,
        "pageCount": len(listed),
        "pages": listed,
        **root,
    }


def encoded(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False)
    return text.encode() if text.isprintable() else json.dumps(value).encode()  # lone surrogates need ASCII JSON


def write_index(path: Path, *pages: dict[str, Any], **root: Any) -> Path:
    """Write an index to a file, atomically."""
    part = path.with_suffix(".part")
    part.write_bytes(encoded(index(*pages, **root)))
    return part.replace(path)


class Query(NamedTuple):
    """A query, its kind, and the URL of the expected page."""

    kind: str
    text: str
    url: str


SYLLABLES = [
    "ba", "be", "bo", "cal", "cor", "da", "del", "do", "el", "fa", "fen", "gar", "gi", "hal", "in", "ka", "kel",
    "la", "len", "lo", "ma", "mer", "mi", "na", "nor", "o", "pa", "per", "qua", "ra", "ren", "sa", "sel", "ta",
    "ter", "ti", "u", "va", "ver", "wa", "xen", "ya", "zu",
]  # fmt: skip
COMMON = [
    "the", "of", "and", "to", "in", "is", "for", "that", "with", "as", "are", "on", "this", "be", "it", "can", "you",
    "from", "by", "an", "or", "when", "which", "has", "not", "will", "if", "use", "used",
]  # fmt: skip


@cache
def large_site(count: int, seed: int = 7) -> list[dict[str, Any]]:
    """Return pages whose word frequencies are like those of prose: a few words are very common, most are rare."""
    chance = random.Random(seed)
    words = list(dict.fromkeys(_word(chance) for _ in range(9000)))
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(words))))

    def pick(number: int) -> list[str]:
        return chance.choices(words, cum_weights=weights, k=number)

    def sentence() -> str:
        chosen = [word if chance.random() > 0.4 else chance.choice(COMMON) for word in pick(chance.randint(8, 18))]
        return " ".join(chosen).capitalize() + "."

    pages = []
    for number in range(count):
        subject = pick(chance.randint(1, 3)) + chance.choices(words, k=1)
        body = "\n\n".join(
            " ".join(sentence() for _ in range(chance.randint(2, 6))) for _ in range(chance.randint(2, 7))
        )
        pages.append(
            {
                "url": f"/pages/{number}",
                "title": " ".join(word.capitalize() for word in subject),
                "abstract": sentence(),
                "date": f"20{chance.randint(10, 25)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
                "topics": pick(2),
                "body": f"{body}\n\n{' '.join(subject).capitalize()} {sentence()}",
            }
        )
    return pages


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(SYLLABLES, k=chance.choice((2, 2, 3, 3, 4))))


def queries(pages: list[dict[str, Any]], count: int, seed: int = 11) -> list[Query]:
    """Return queries for some pages: the title, the title with a typo and reversed, and five words of the body."""
    chance = random.Random(seed)
    titles = [page["title"].lower() for page in pages]
    chosen = []
    for page in chance.sample(pages, count):
        title = page["title"].split()
        if titles.count(page["title"].lower()) == 1:
            chosen.append(Query("title", page["title"], page["url"]))
            chosen.append(Query("typo", _add_typo(chance, page["title"]), page["url"]))
            if len(title) > 1:
                chosen.append(Query("swapped", " ".join(reversed(title)), page["url"]))
        body = [word.strip(".") for word in page["body"].split() if word.lower().strip(".") not in COMMON]
        at = chance.randrange(len(body) - 5)
        chosen.append(Query("body", " ".join(body[at : at + 5]), page["url"]))
    return chosen


def _add_typo(chance: random.Random, text: str) -> str:
    """Put a typo into the longest word: a letter missing, doubled or wrong, or two letters swapped."""
    word = max(text.split(), key=len)
    at = chance.randrange(1, len(word) - 1)
    typos = [
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + chance.choice("aeiou") + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    ]
    return text.replace(word, chance.choice(typos))
