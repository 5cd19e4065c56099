"""Sites for tests: small ones written by hand, and one of a thousand pages that looks like people's writing."""

import json
import random
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

SITE = {
    "name": "Fruit Blog",
    "domain": "fruit.example",
    "description": "All about fruit",
    "toolPrefix": "fruit",
}
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
    """An index of these pages, or of the fruit blog; what is given replaces what is usual."""
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
    return text.encode() if text.isprintable() else json.dumps(value).encode()  # half a character has no other way


def write_index(path: Path, *pages: dict[str, Any], **root: Any) -> Path:
    """The same as a file, put in place as careful writers do."""
    part = path.with_suffix(".part")
    part.write_bytes(encoded(index(*pages, **root)))
    return part.replace(path)


class Query:
    """A question, its kind, and the page that is meant."""

    def __init__(self, kind: str, text: str, url: str) -> None:
        self.kind, self.text, self.url = kind, text, url


SYLLABLES = [
    "ba",
    "be",
    "bo",
    "cal",
    "cor",
    "da",
    "del",
    "do",
    "el",
    "fa",
    "fen",
    "gar",
    "gi",
    "hal",
    "in",
    "ka",
    "kel",
    "la",
    "len",
    "lo",
    "ma",
    "mer",
    "mi",
    "na",
    "nor",
    "o",
    "pa",
    "per",
    "qua",
    "ra",
    "ren",
    "sa",
    "sel",
    "ta",
    "ter",
    "ti",
    "u",
    "va",
    "ver",
    "wa",
    "xen",
    "ya",
    "zu",
]
COMMON = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "for",
    "that",
    "with",
    "as",
    "are",
    "on",
    "this",
    "be",
    "it",
    "can",
    "you",
    "from",
    "by",
    "an",
    "or",
    "when",
    "which",
    "has",
    "not",
    "will",
    "if",
    "use",
    "used",
]


@cache
def large_site(count: int, seed: int = 7) -> list[dict[str, Any]]:
    """Pages whose words are as common as those of people's texts: a few very, most hardly."""
    chance = random.Random(seed)
    words = list(dict.fromkeys(_word(chance) for _ in range(9000)))
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(words))))

    def some(number: int) -> list[str]:
        return chance.choices(words, cum_weights=weights, k=number)

    def sentence() -> str:
        told = [word if chance.random() > 0.4 else chance.choice(COMMON) for word in some(chance.randint(8, 18))]
        return " ".join(told).capitalize() + "."

    pages = []
    for number in range(count):
        subject = some(chance.randint(1, 3)) + chance.choices(words, k=1)
        body = "\n\n".join(
            " ".join(sentence() for _ in range(chance.randint(2, 6))) for _ in range(chance.randint(2, 7))
        )
        pages.append(
            {
                "url": f"/pages/{number}",
                "title": " ".join(word.capitalize() for word in subject),
                "abstract": sentence(),
                "date": f"20{chance.randint(10, 25)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
                "topics": some(2),
                "body": f"{body}\n\n{' '.join(subject).capitalize()} {sentence()}",
            }
        )
    return pages


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(SYLLABLES, k=chance.choice((2, 2, 3, 3, 4))))


def queries(pages: list[dict[str, Any]], count: int, seed: int = 11) -> list[Query]:
    """For some pages: their title, with a slip, in another order, and five words of the body."""
    chance = random.Random(seed)
    titles = [page["title"].lower() for page in pages]
    asked = []
    for page in chance.sample(pages, count):
        title = page["title"].split()
        if titles.count(page["title"].lower()) == 1:
            asked.append(Query("title", page["title"], page["url"]))
            asked.append(Query("typo", _slip(chance, page["title"]), page["url"]))
            if len(title) > 1:
                asked.append(Query("swapped", " ".join(reversed(title)), page["url"]))
        body = [word.strip(".") for word in page["body"].split() if word.lower().strip(".") not in COMMON]
        at = chance.randrange(len(body) - 5)
        asked.append(Query("body", " ".join(body[at : at + 5]), page["url"]))
    return asked


def _slip(chance: random.Random, text: str) -> str:
    """A letter missing, doubled, wrong, or two swapped, in the longest word."""
    word = max(text.split(), key=len)
    at = chance.randrange(1, len(word) - 1)
    slips = [
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + chance.choice("aeiou") + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    ]
    return text.replace(word, chance.choice(slips))
