"""A reference implementation of named indexes that scans every document for every query."""

import math
import re
from collections.abc import Mapping

from dowse.notes.notes_tokens import NotesTokenizer

PIECE = re.compile(r'(?<!\w)([+-]?)"([^"]*)"|([^\s"]+)')


def has(tokens: list[str], wanted: list[str]) -> bool:
    """Return whether the wanted tokens occur next to each other."""
    size = len(wanted)
    return any(tokens[start : start + size] == wanted for start in range(len(tokens) - size + 1))


def answer(documents: Mapping[str, str], query: str, tokenizer: NotesTokenizer) -> list[tuple[str, float]]:
    """Return the ids of the documents that match, with their scores, best first."""
    plain: set[str] = set()
    required: list[list[str]] = []
    excluded: list[list[str]] = []
    for sign, phrase, word in PIECE.findall(query):
        if not word:
            (excluded if sign == "-" else required).append(tokenizer.tokens(phrase))
        elif word[0] in "+-":
            (required if word[0] == "+" else excluded).append(tokenizer.tokens(word[1:]))
        else:
            plain |= set(tokenizer.tokens(word))
    required, excluded = [tokens for tokens in required if tokens], [tokens for tokens in excluded if tokens]
    positive = plain.union(*required)
    cut = {doc_id: tokenizer.tokens(text) for doc_id, text in documents.items()}
    found = []
    for doc_id, tokens in cut.items():
        is_match = all(has(tokens, sequence) for sequence in required) if required else bool(plain & set(tokens))
        if is_match and not any(has(tokens, sequence) for sequence in excluded):
            score = 0.0
            for token in sorted(positive):
                holders = sum(token in other for other in cut.values())
                score += tokens.count(token) * (math.log(len(cut) / (holders + 1)) + 1)
            found.append((doc_id, score))
    return sorted(found, key=lambda match: (-match[1], match[0]))
