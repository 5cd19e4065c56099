"""Publishing: the rows of a project at a place become those of a commit, in one commit of LanceDB.

Only files that differ from the rows of the place are parsed and encoded, and only rows that differ are sent. The merge
fails if another publisher has replaced the row of the project since the difference was computed, which is then computed
again: so the outcome depends on the commit alone, and on what the publisher's rules deny.
"""

import contextlib
import hashlib
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dowse.api.publishing.commit_files import Blob, list_blobs, write_blobs
from dowse.api.publishing.masked_reading import MaskedFiles
from dowse.encoding.selection import STATIC_VERSION, model_version
from dowse.errors import DowseError, Failed, NotFound, UsageError
from dowse.indexes.freshness.indexer import text_reader
from dowse.indexes.freshness.scan import RECIPE
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import close_log
from dowse.keeping.encoding_worker.background_encoder import encode_now
from dowse.places.place_indexes import tend
from dowse.places.place_rows import (
    PublishedProject,
    RowMaker,
    is_project_name,
    place_row,
    project_id,
    project_of,
    project_row,
    quote,
    removed_row,
    schema,
)
from dowse.places.place_table import ATTEMPTS, WRITE_SECONDS, SharedPlace, merge, within
from dowse.searching.history.git_objects import find_repository, open_objects
from dowse.sources.ignore_stack import DOWSEIGNORE_FILE, GITIGNORE_FILE
from dowse.sources.path_decision import PastPaths
from dowse.sources.policy import Policy
from dowse.store.storage_layout import index_folder
from dowse.system.platform import Lock, disk_errors, make_private_folder, storage_root
from dowse.types import Progress, View

LOCK_SECONDS = 60.0
"""How long to wait for another publisher that removes leftovers."""
_OWNER_LOCK = "publisher.lock"
"""In the folder of a publisher, which holds it for as long as it runs."""
_LISTED_DOCUMENTS = 1000
"""Documents that one condition names."""


@dataclass(frozen=True, slots=True)
class PublishReport:
    """A project as it was published, or was there already."""

    project: PublishedProject
    is_new: bool
    added: int = 0
    """Files that were parsed, because the place did not have them."""
    removed: int = 0
    """Files that the place has no more."""
    seconds: float = 0.0


def publish(
    root: Path,
    place: SharedPlace,
    progress: Progress,
    say: Callable[[str], None],
    *,
    with_model: bool = True,
    name: str = "",
) -> PublishReport:
    """Publish the commit that is checked out in a repository, from the tracked files of the commit alone."""
    started, root = time.monotonic(), root.resolve()
    name = name or root.name
    if not is_project_name(name):
        raise UsageError(f"{name[:100]!r} cannot be the name of a project. Give it another one: --name NAME")
    repository = find_repository(root)
    table = place.make_table()
    with open_objects(repository) as objects, _working_index(root) as (index, tree):
        allowed = PastPaths(Policy(root, index.settings))  # rules above the root count, too, and those of today
        tracked = [blob for blob in list_blobs(objects) if blob.size <= index.settings.max_file_bytes]
        rules = list(filter(_is_rule_file, tracked))
        blobs = {blob.path: blob for blob in tracked if allowed.allows(blob.path)}
        hidden = [blob.path for blob in tracked if blob.path not in blobs]
        model = (model_version(index.settings) or "") if with_model else ""
        wanted = PublishedProject(
            name,
            repository.head,
            _now(),
            rules=_hash_of_rules(rules, hidden, index),
            encoders=[STATIC_VERSION, *filter(None, [model])],
        )
        for _ in range(ATTEMPTS):
            with place.errors("read"):
                table.checkout_latest()
                facts = find_facts(table, name)
                before, known = project_of(facts), _known_files(table, name)
            kept = _kept_documents(known, before, wanted, blobs)
            changed = [blob for path, blob in blobs.items() if path not in kept]
            if before and before.commit == wanted.commit and len(kept) == before.files:
                return PublishReport(before, is_new=False)
            write_blobs(objects, [*changed, *rules], tree)
            if not index.update(progress).is_complete:
                raise KeyboardInterrupt
            if model:
                encode_now(index, progress, say)
            maker = RowMaker(name, index.whole.catalog, text_reader(index.kept_source), model)
            with place.errors("written"):
                made = _made_rows(maker, {blob.path: blob.name for blob in changed})
                gone = _rows_of(table, {row["id"] for row in known} - set(kept.values()))
                files = [row for row in known if row["path"] in kept] + _rows_with(made, "file")
                chunks = len(_rows_with(made, "chunk"))
                if before and kept:
                    chunks += before.chunks - len(_rows_with(gone, "chunk"))
                languages = dict(Counter(row["language"] for row in files if row["kind"] == "code"))
                project = replace(wanted, files=len(files), chunks=chunks, languages=languages)
                if replace_rows(table, facts, project, made, gone["id"].to_pylist()):
                    within(WRITE_SECONDS, lambda: tend(table))
                    break
        else:
            raise Failed(f"Others publish {name} to {place.name} all the time. Publish it again when they have ended.")
    old = before.files if before else 0
    added, removed = project.files - len(kept), old - len(kept)
    return PublishReport(project, is_new=True, added=added, removed=removed, seconds=time.monotonic() - started)


def remove(name: str, place: SharedPlace) -> None:
    """Remove a project from a place; raise NotFound if it has none of this name.

    A row without a name stays: a publisher that computed its difference before meets it and computes it again.
    """
    table = place.open_table()
    with place.errors("written"):
        if not table.count_rows(f"project = {quote(name)}"):
            raise NotFound(f"{place.name} has no project {name[:100]!r}. See: dowse projects --store {place.name}")
        nameless = project_row(PublishedProject(name)) | {"project": None}
        within(WRITE_SECONDS, lambda: merge(table, [nameless], "target.row = 'project'", f"project = {quote(name)}"))
        within(WRITE_SECONDS, lambda: tend(table, now=True))


def find_facts(table: Any, name: str) -> str | None:
    """Return what the row of a project says of it, as it is stored; None without a row."""
    found = table.search().where(f"id = {project_id(name)}").select(["facts"]).limit(1).to_list()
    if found and found[0]["facts"] is None:  # no publisher writes that, and no condition can compare it
        raise Failed(
            f"The row of {name} is damaged. Remove the project, then publish it: dowse publish --remove {name}"
        )
    return found[0]["facts"] if found else None


def replace_rows(table: Any, facts: str | None, project: PublishedProject, made: Any, gone: Sequence[int]) -> bool:
    """Add rows to a project and remove others by their ids, in one commit. Change nothing and return False if its row
    is not the one that is given: the rows were chosen for that one.

    Rows that go are emptied in this commit and removed by a later one, because LanceDB has no condition for them that
    an index answers. The row of a new project is made first, together with that of the place, so that of two publishers
    one meets the row of the other.
    """
    import pyarrow as pa

    if facts is None:
        empty = project_row(PublishedProject(project.name))
        within(WRITE_SECONDS, lambda: merge(table, [place_row(), empty], "target.row = 'place'"))
        facts = str(empty["facts"])
    own = [project_row(project), *map(removed_row, set(gone).difference(made["id"].to_pylist()))]
    rows = pa.concat_tables([pa.Table.from_pylist(own, schema()), made])
    try:
        within(WRITE_SECONDS, lambda: merge(table, rows, _changeable(facts)))
    except RuntimeError:
        table.checkout_latest()
        if find_facts(table, project.name) == facts:
            raise
        return False
    return True


def _changeable(facts: str) -> str:
    """Return the condition of the rows that may change: rows that go or come again, chunks that get a vector of the model,
    and the row of the project: if it is not this one, the condition divides by zero, so that the merge fails."""
    return (
        "source.row = 'removed' OR target.row = 'removed' "
        "OR (target.model_vector IS NULL AND source.model_vector IS NOT NULL) "
        f"OR 1 / CAST(target.facts = {quote(facts)} AS INT) = 1"
    )


def _known_files(table: Any, name: str) -> list[dict[str, Any]]:
    """Return what is known of the files of a project at the place; the id of a file is that of its document."""
    condition = f"project = {quote(name)} AND row = 'file'"
    query = table.search().where(condition).select(["id", "path", "blob", "recipe", "kind", "language"])
    found: list[dict[str, Any]] = query.limit(table.count_rows(condition)).to_list()
    return found


def _kept_documents(
    known: Sequence[Mapping[str, Any]],
    before: PublishedProject | None,
    wanted: PublishedProject,
    blobs: Mapping[str, Blob],
) -> dict[str, int]:
    """Return the documents of the place that the commit has, too, by path: with the same content and the same rules."""
    if before is None or before.rules != wanted.rules or not set(wanted.encoders) <= set(before.encoders):
        return {}
    return {
        row["path"]: row["id"]
        for row in known
        if row["path"] in blobs and (blobs[row["path"]].name, RECIPE) == (row["blob"], row["recipe"])
    }


def _made_rows(maker: RowMaker, blobs: Mapping[str, str]) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches(maker.batches(blobs), schema())


def _rows_of(table: Any, documents: Collection[int]) -> Any:
    """Return the rows of some documents."""
    import pyarrow as pa

    columns, listed = ["id", "row"], sorted(documents)
    found = [pa.schema([schema().field(name) for name in columns]).empty_table()]
    for start in range(0, len(listed), _LISTED_DOCUMENTS):
        condition = f"document IN ({', '.join(map(str, listed[start : start + _LISTED_DOCUMENTS]))})"
        query = table.search().where(condition).select(columns).limit(table.count_rows(condition))
        found.append(query.to_arrow().select(columns).cast(found[0].schema))
    return pa.concat_tables(found)


def _rows_with(rows: Any, kind: str) -> list[dict[str, Any]]:
    """Return the rows of files or those of chunks, with the columns that are counted."""
    columns = [name for name in ("row", "kind", "language") if name in rows.column_names]
    found: list[dict[str, Any]] = rows.select(columns).to_pylist()
    return [row for row in found if row["row"] == kind]


def _is_rule_file(blob: Blob) -> bool:
    return blob.path.rpartition("/")[2] in (GITIGNORE_FILE, DOWSEIGNORE_FILE)


def _hash_of_rules(rules: Sequence[Blob], hidden: Sequence[str], index: ProjectIndex) -> str:
    """Return a hash of all that decides which files are published: settings, rules of the commit, what is denied today."""
    written = sorted((blob.path, blob.name) for blob in rules)
    return hashlib.sha256(repr((written, sorted(hidden), index.settings, RECIPE)).encode()).hexdigest()[:32]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class _WorkingIndex(ProjectIndex):
    """The index of the files that a publisher has written, in a folder beside theirs."""

    @classmethod
    def folder_of(cls, root: Path) -> Path:
        return root.parent.with_name("index")

    def _make_source(self, views: View) -> MaskedFiles:  # noqa: ARG002 - a project is published as such
        return MaskedFiles(self.root, self.settings)


@contextlib.contextmanager
def _working_index(root: Path) -> Iterator[tuple[ProjectIndex, Path]]:
    """Give a block an index of an empty folder with the settings of a root; both are removed at the end."""
    storage = storage_root()  # which is never a project: the files lie beside it
    base = storage.with_name(f"{storage.name}-publishing")
    make_private_folder(base)
    with Lock(base / "folders.lock").held(LOCK_SECONDS), disk_errors(base):  # a folder without its lock looks left over
        _remove_leftovers(base)
        folder = Path(tempfile.mkdtemp(dir=base)).resolve()
        owner = Lock(folder / _OWNER_LOCK)
        owner.acquire(0)
    try:
        tree = folder / "files" / (root.name or "project")
        kept, settings = _WorkingIndex.folder_of(tree), index_folder(root) / "config.json"
        for made in (tree, kept):
            make_private_folder(made)
        if settings.exists():
            shutil.copyfile(settings, kept / "config.json")
        index = _WorkingIndex(tree)
        index.settings = replace(index.settings, store="local", shared_index=None)
        try:
            yield index, tree
        finally:
            index.close()
            close_log(kept)
    finally:
        owner.release()
        shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers(base: Path) -> None:
    """Remove the folders of publishers that were killed: the system has released their locks."""
    for folder in filter(Path.is_dir, list(base.iterdir())):
        with contextlib.suppress(DowseError, OSError):  # what cannot be removed now is removed next time
            if not Lock(folder / _OWNER_LOCK).is_taken():
                shutil.rmtree(folder, ignore_errors=True)
