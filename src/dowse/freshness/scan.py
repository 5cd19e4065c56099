"""Compares the files with the store: what is new, changed or gone, without reading what is the same."""

from dataclasses import dataclass, field

from dowse.types import Entry, Source, Store, StoredDocument, Verdict

_FINE_NS = 20_000_000
_COARSE_NS = 2_000_000_000


@dataclass(slots=True)
class Drift:
    """How the files differ from the store."""

    new: list[Entry] = field(default_factory=list)
    changed: list[Entry] = field(default_factory=list)
    """Files whose stat differs; their content may turn out to be the same."""
    gone: list[str] = field(default_factory=list)
    unchanged: int = 0
    skipped: list[Verdict] = field(default_factory=list)

    @property
    def pending(self) -> int:
        """How many files the store has to be told of."""
        return len(self.new) + len(self.changed) + len(self.gone)

    @property
    def files(self) -> int:
        """How many files there are to be indexed."""
        return len(self.new) + len(self.changed) + self.unchanged


def scan(source: Source, store: Store, recipe: str, *, is_distrustful: bool = False) -> Drift:
    """Compare every file by its stat; what another recipe made counts as changed, distrustful everything does."""
    known = {document.path: document for document in store.documents()}
    refused = {} if is_distrustful else store.refusals()
    drift = Drift()
    for found in source.entries():
        if isinstance(found, Verdict):
            drift.skipped.append(found)
            continue
        document = known.pop(found.path, None)
        if document is None:
            stat, verdict = refused.get(found.path, (None, None))
            if verdict is not None and stat == found.stat:
                drift.skipped.append(verdict)
            else:
                drift.new.append(found)
        elif is_distrustful or document.recipe != recipe or not _is_unchanged(document, found):
            drift.changed.append(found)
        else:
            drift.unchanged += 1
    drift.gone = sorted(known)
    return drift


def _is_unchanged(document: StoredDocument, entry: Entry) -> bool:
    return document.stat == entry.stat and document.kind == entry.kind and not _is_racy(document)


def _is_racy(document: StoredDocument) -> bool:
    """Whether the file could have changed after it was read without its time showing it.

    A file system's clock ticks every few milliseconds, some only every two seconds; those show
    times without a fraction.
    """
    tick_ns = _FINE_NS if document.stat.mtime_ns % 1_000_000_000 else _COARSE_NS
    return document.stat.mtime_ns >= document.checked_ns - tick_ns
