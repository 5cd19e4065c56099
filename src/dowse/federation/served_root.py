"""A root that is served, which is one source with one view or two."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dowse.federation.federation_types import SourceKind
from dowse.federation.result_ids import AS_DOCUMENT, id_of, source_name
from dowse.types import View

if TYPE_CHECKING:
    from dowse.keeping.served_index import ServedIndex
    from dowse.surfaces.documents.document_folders import DocumentFolder, DocumentFolders


@dataclass(frozen=True, slots=True)
class ServedRoot:
    """A root that is served: as a project, with its documents or without, or as documents alone."""

    served: "ServedIndex"
    views: View
    folders: "DocumentFolders | None" = None
    folder: "DocumentFolder | None" = None
    """Its documents, if they are served."""

    @property
    def kind(self) -> SourceKind:
        """The kind that its name begins with: a project, if its code is served."""
        return "project" if View.PROJECT in self.views else "documents"

    @property
    def kinds(self) -> tuple[SourceKind, ...]:
        """The kinds as which it can be asked for."""
        return (self.kind, "documents") if self.views is View.BOTH else (self.kind,)

    @property
    def name(self) -> str:
        """The name of the source that it is."""
        return source_name(self.kind, self.served.name)

    @property
    def main_view(self) -> View:
        """The view that shows all of its files: that of the project, if it is one."""
        return next(iter(self.views))

    def item_id(self, path: str, view: View) -> str:
        """Return the id of a file as a view shows it: a document that is converted has an id of its own."""
        from dowse.surfaces.documents.doc_uris import has_one_form  # a server starts without it

        is_converted = view is not self.main_view and not has_one_form(path)
        return id_of(self.name, path) + (AS_DOCUMENT if is_converted else "")
