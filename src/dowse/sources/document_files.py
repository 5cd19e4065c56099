"""The documents below a root, which the readers convert, alone or together with the files of its project."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from dowse.reading.file_reading import DOCUMENT_EXTENSIONS
from dowse.reading.languages import is_binary_document
from dowse.settings import Settings
from dowse.sources.document_types import is_document, shared_language
from dowse.sources.policy import Folder, Policy
from dowse.sources.project_files import ProjectFiles
from dowse.types import Entry, Kind, Reason, Rule, Stat, Verdict, View


class DocumentPolicy(Policy):
    """The policy of a folder of documents: it allows documents only.

    It leaves out hidden files and folders: those of a vault hold deleted notes, templates and settings.
    """

    views = View.DOCUMENTS
    skips_hidden = True

    def kind_of(self, path: str, size: int) -> Kind | Verdict:
        """Return the kind of a document, which is always `docs`, or the verdict against the file."""
        if not is_document(path):
            rule = Rule(" ".join(sorted(DOCUMENT_EXTENSIONS)), "built-in list of document types")
            return Verdict(path, Reason.NOT_INCLUDED, rule)
        return self._size_or_include_refusal(path, size) or "docs"


class RootPolicy(DocumentPolicy):
    """The policy of a root that is shown as a project and as documents: a file is read if one of the two allows it."""

    skips_hidden = False

    def open_root(self, names: Collection[str]) -> Folder:
        """Return the root as a folder."""
        folder = super().open_root(names)
        return replace(folder, visible=replace(folder.ignores, skips_hidden=True))

    def _make_folder(self, above: Folder, path: str, name: str, names: Collection[str], *, is_top: bool) -> Folder:
        folder = super()._make_folder(above, path, name, names, is_top=is_top)
        hidden = above.visible.enter_folder(folder.encoded[:-1], name.encode(), path).folder if above.visible else None
        return replace(folder, visible=replace(folder.ignores, skips_hidden=True, folder=hidden))

    def _hides(self, folder: Folder, name: str) -> bool:
        """Return whether readers of documents do not see a file of a folder, because it or a folder is hidden."""
        if folder.visible is None or not (name.startswith(".") or folder.visible.folder):
            return False
        encoded = name.encode()
        return folder.visible.find_ignored(folder.encoded + encoded, encoded, is_folder=False) is not None

    def entry(self, folder: Folder, name: str, stat: Stat) -> Entry | Verdict:
        """Return the entry of a file with the views that show it, or the verdict against it."""
        path = folder.path + name
        kind = Policy.kind_of(self, path, stat.size)
        is_document = not self._hides(folder, name) and not isinstance(self.kind_of(path, stat.size), Verdict)
        if isinstance(kind, Verdict):
            return Entry(path, "docs", stat, View.DOCUMENTS) if is_document else kind
        if not is_document:
            return Entry(path, kind, stat, View.PROJECT)
        is_shared = is_binary_document(path) or (kind == "docs" and shared_language(path) is not None)
        return Entry(path, kind, stat, View.BOTH, is_shared)


class DocumentFiles(ProjectFiles):
    """The documents below one root."""

    policy_type: type[Policy] = DocumentPolicy
    views = View.DOCUMENTS

    def __init__(self, root: Path, settings: Settings) -> None:
        super().__init__(root, settings)


class RootFiles(DocumentFiles):
    """The files below a root that is shown as a project and as documents."""

    policy_type = RootPolicy
    views = View.BOTH
