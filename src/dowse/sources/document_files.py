"""The documents below a root, which the readers convert, alone or together with the files of its project."""

from collections.abc import Collection
from dataclasses import replace

from dowse.reading.file_reading import DOCUMENT_EXTENSIONS, is_document, shared_language
from dowse.reading.languages import is_binary_document
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

    def _make_folder(self, above: Folder, path: str, name: str, names: Collection[str], *, is_top: bool) -> Folder:
        folder = super()._make_folder(above, path, name, names, is_top=is_top)
        return replace(folder, is_hidden=_is_hidden(above, name, is_folder=True))

    def entry(self, folder: Folder, name: str, stat: Stat) -> Entry | Verdict:
        """Return the entry of a file with the views that show it, or the verdict against it."""
        path = folder.path + name
        kind = Policy.kind_of(self, path, stat.size)
        is_document = not _is_hidden(folder, name) and not isinstance(self.kind_of(path, stat.size), Verdict)
        if isinstance(kind, Verdict):
            return Entry(path, "docs", stat, View.DOCUMENTS) if is_document else kind
        if not is_document:
            return Entry(path, kind, stat, View.PROJECT)
        is_shared = is_binary_document(path) or (kind == "docs" and shared_language(path) is not None)
        return Entry(path, kind, stat, View.BOTH, is_shared)


def _is_hidden(folder: Folder, name: str, *, is_folder: bool = False) -> bool:
    """Return whether readers of documents do not see something in a folder, because it or a folder is hidden."""
    if not folder.is_hidden and not name.startswith("."):
        return False
    encoded = name.encode()
    return not folder.ignores.is_decided_by_dowse(folder.encoded + encoded, encoded, is_folder=is_folder)


class DocumentFiles(ProjectFiles):
    """The documents below one root."""

    policy_type: type[Policy] = DocumentPolicy
    views = View.DOCUMENTS


class RootFiles(DocumentFiles):
    """The files below a root that is shown as a project and as documents."""

    policy_type = RootPolicy
    views = View.BOTH
