"""Short forms of words that code abbreviates, such as `cfg`, and their long forms."""

from functools import cache
from importlib import resources

from dowse.text.analysis import terms_of


def other_forms(term: str) -> tuple[str, ...]:
    """Return the terms of the short forms of a long word, or of the long forms of a short one."""
    return _forms().get(term, ())


@cache
def _forms() -> dict[str, tuple[str, ...]]:
    lines = (resources.files(__package__) / "abbreviations.txt").read_text(encoding="utf-8").splitlines()
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if not line.startswith("#"):
            short, long = (tuple(dict.fromkeys(terms_of(part))) for part in line.split(":"))
            for terms, others in ((short, long), (long, short)):
                for term in terms:
                    found[term] = tuple(dict.fromkeys((*found.get(term, ()), *others)))
    return found
