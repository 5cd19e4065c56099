"""Replace what differs from run to run: paths, hashes of paths, times, sizes of indexes, ports."""

import re
from pathlib import Path

_RULES: list[tuple[re.Pattern[str], str]] = [
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        (r"\b((?:indexes|archives)/)[0-9a-f]{32}\b", r"\1<HASH>"),
        (r"\blexical-[0-9a-f]{8}\b", "lexical-<HEX>"),
        (r"(/assets/[a-z.]+\?)[0-9a-f]{12}\b", r"\1<HASH>"),
        (r"\b20(?:2[6-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)", "<TIME>"),
        (r"\b20(?:2[6-9]|[3-9]\d)-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\b", "<TIME>"),
        (r'(\\?"(?:searchTimeMs|duration|seconds)\\?": ?)"?[0-9.]+(?: ?m?s)?"?', r"\1<MS>"),
        (r"\bin \d+\.\d+ s\b", "in <MS> s"),
        (r'("(?:storageSizeBytes|docsStorageSizeBytes|size_bytes|sizeBytes)": )\d+', r"\1<SIZE>"),
        (r'("(?:storageSize|size)": )"[0-9.]+ ?[KMG]?B"', r'\1"<SIZE>"'),
        (r"\b[0-9.]+[KMG]?B in <TMP>", "<SIZE> in <TMP>"),
        (r"(\bsize_bytes: )\d+", r"\1<SIZE>"),
        (r"((?:files?|documents?|tokens), )[0-9.]+[KMG]?B$", r"\1<SIZE>"),
    )
]


def normalized(text: str, folder: Path) -> str:
    """Return the text as it is on every machine and in every run."""
    text = text.replace(str(folder), "<TMP>")
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text
