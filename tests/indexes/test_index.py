"""The index of one project: updates, status, repair and removal."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dowse.errors import Failed, NotIndexed, StoreBusy, TooManyFiles, UsageError
from dowse.indexes import project_search
from dowse.indexes.index import ProjectIndex
from dowse.indexes.joined_search import ask_repaired, read_of
from dowse.indexes.project_lookup import find_project, forget_project, list_projects
from dowse.indexes.project_search import explain_file, search, search_now
from dowse.indexes.reference_lookup import read_missing_references, references_now
from dowse.searching.joined_store import JoinedStore
from dowse.searching.query_terms import parse_search_query
from dowse.searching.references.reference_search import ReferenceOptions
from dowse.searching.search import SearchOptions, search_store
from dowse.store import storage_layout
from dowse.system.platform import Lock
from dowse.types import Batch, Reason
from tests.mcp.stdio.stdio_client import wait_until
from tests.sample_data import another_writer, open_indexed, write_tree
from tests.surfaces.project.conftest import FRUIT, INDEXED
from tests.surfaces.project.project_client import Assistant, call_tool, run_conversation


@pytest.fixture
def project(tmp_path: Path) -> ProjectIndex:
    files = {"pyproject.toml": "", "src/apple.py": "def apple(): ...\n", "docs/a.md": "# Apples\n"}
    project = open_indexed(write_tree(tmp_path / "project", files))
    while project.drift().pending:  # the files were read in the same clock tick in which they were written
        time.sleep(0.01)
        project.update()
    return project


def reopened(project: ProjectIndex) -> ProjectIndex:
    project.close()
    return ProjectIndex(project.root)


def test_a_lost_lexical_index_is_noticed_and_rebuilt_by_the_next_run(project: ProjectIndex) -> None:
    shutil.rmtree(next(project.folder.glob("lexical-*")))
    again = reopened(project)
    assert again.status().state == "incomplete"
    assert "lexical index" in (again.status().problem or "")
    again.update()
    assert again.status().state == "ready"
    assert again.check() == []


def test_files_that_a_kill_left_stale_are_written_by_the_next_run(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> None:
        raise SystemExit("killed")

    write_tree(project.root, {"src/new.py": "x = 1\n"})
    with monkeypatch.context() as patch:
        patch.setattr("dowse.indexes.index.write_sidecar_files", die)
        with pytest.raises(SystemExit):
            project.update()
    again = reopened(project)
    report = again.update()
    assert report.changed_anything is False
    assert again.check() == []


def test_files_that_a_killed_watcher_left_stale_are_written_by_the_next_run(project: ProjectIndex) -> None:
    """A watcher writes them a while after its changes, which nothing recorded until then."""
    write_tree(project.root, {"src/new.py": "x = 1\n"})
    project.apply(project.drift())
    again = reopened(project)
    assert not again.update().changed_anything
    assert again.check() == []
    listed = storage_layout.read_project(again.folder)
    assert listed is not None
    assert listed.files == 4


def test_files_that_a_watcher_is_still_to_renew_are_no_problem(project: ProjectIndex) -> None:
    write_tree(project.root, {"src/new.py": "x = 1\n"})
    project.apply(project.drift())
    assert project.check() == []
    project.settle()
    write_tree(project.folder, {"fingerprints.json": "{}"})
    assert [finding.part for finding in project.check()] == ["fingerprints"]


def test_nothing_is_stored_by_settings_that_have_changed_since(project: ProjectIndex) -> None:
    """A process that had opened the index before put files back that the new settings exclude."""
    configure(project.root, {"exclude": ["docs/**"]})
    with contextlib.closing(ProjectIndex(project.root)) as other:
        other.update()
    write_tree(project.root, {"src/new.py": "x = 1\n"})
    drift = project.drift()
    assert {"docs/a.md", "src/new.py"} <= set(drift.paths)
    assert project.apply(drift) is None
    assert not project.reindex(["docs/a.md", "src/new.py"]).changed_anything
    assert set(project.whole.paths()) == {"pyproject.toml", "src/apple.py"}
    again = reopened(project)
    assert again.apply(again.drift())
    assert set(again.whole.paths()) == {"pyproject.toml", "src/apple.py", "src/new.py"}


def test_an_index_that_has_written_the_default_settings_goes_on_storing(tmp_path: Path) -> None:
    with contextlib.closing(ProjectIndex(write_tree(tmp_path / "fresh", {"a.py": "a = 1\n"}))) as fresh:
        assert not fresh.settings_files[1].exists()
        fresh.update()
        assert fresh.settings_files[1].exists()
        assert not fresh.has_new_settings()
        write_tree(fresh.root, {"b.py": "b = 1\n", "c.py": "c = 1\n"})
        assert fresh.apply(fresh.drift_at(["b.py"]))
        fresh.reindex(["c.py"])
        assert set(fresh.whole.paths()) == {"a.py", "b.py", "c.py"}


def overtake(
    project: ProjectIndex,
    change: Callable[[], object],
    monkeypatch: pytest.MonkeyPatch,
    and_then: Callable[[], object] = lambda: None,
) -> None:
    """Change files, and have another process index them, between the reading and the writing of the next batch."""
    really_apply = project.whole.apply

    def apply(batch: Batch) -> int:
        monkeypatch.setattr(project.whole, "apply", really_apply)
        time.sleep(0.01)
        change()
        with contextlib.closing(ProjectIndex(project.root)) as faster:
            faster.apply(faster.drift())
        and_then()
        return really_apply(batch)

    monkeypatch.setattr(project.whole, "apply", apply)


def test_a_process_that_is_overtaken_does_not_write_an_older_content(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(project.root, {"src/apple.py": "def old_apple(): ...\n"})
    drift = project.drift()
    overtake(project, lambda: write_tree(project.root, {"src/apple.py": "def new_apple(): ...\n"}), monkeypatch)
    project.apply(drift)
    document = project.store.document("src/apple.py")
    assert document is not None
    assert [symbol.name for chunk in project.store.chunks(document.id) for symbol in chunk.symbols] == ["new_apple"]


@pytest.mark.parametrize("is_gone", [True, False], ids=["came back", "is unchanged"])
def test_a_process_that_is_overtaken_does_not_remove_a_file_that_is_there(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch, is_gone: bool
) -> None:
    """It saw the file gone, which came back; or saw its content unchanged, and another one removed its document."""
    file = project.root / "src/apple.py"
    text = file.read_text(encoding="utf-8")

    def write() -> None:
        file.write_text(text, encoding="utf-8")

    file.unlink()
    if is_gone:
        drift = project.drift()
        overtake(project, write, monkeypatch)
    else:
        write()
        drift = project.drift()
        overtake(project, file.unlink, monkeypatch, and_then=write)
    project.apply(drift)
    assert project.store.document("src/apple.py")


def test_an_equal_document_is_not_replaced(project: ProjectIndex) -> None:
    """A search of another process would miss it between the removal of the old one and the addition of the new one."""
    write_tree(project.root, {"src/pear.py": "def pear(): ...\n"})
    drift = project.drift()
    with contextlib.closing(ProjectIndex(project.root)) as faster:
        faster.apply(faster.drift())
    before = project.store.document("src/pear.py")
    project.apply(drift)
    after = project.store.document("src/pear.py")
    assert before is not None
    assert after is not None
    assert after.id == before.id


def test_a_project_is_listed_from_its_first_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = ProjectIndex(write_tree(tmp_path / "p", {"a.py": "x = 1\n"}))
    monkeypatch.setattr("dowse.indexes.index.update_index", lambda *_, **__: sys.exit("killed"))
    with pytest.raises(SystemExit):
        project.update()
    assert [listed.root for listed in list_projects()] == [project.root]


def test_odd_metadata_does_not_end_the_list(project: ProjectIndex) -> None:
    file = project.folder / "metadata.json"
    for content in ('{"projectPath": "/x", "stats": null}', '{"projectPath": 3}', "[]", "{", ""):
        file.write_text(content, encoding="utf-8")
        assert all(isinstance(listed.files, int) for listed in list_projects())
        assert [finding.part for finding in project.check()] == ["metadata"]
    project.repair(project.check())
    assert project.check() == []


def test_a_project_that_is_away_keeps_its_index(project: ProjectIndex, tmp_path: Path) -> None:
    shutil.rmtree(next(project.folder.glob("lexical-*")))
    project.root.rename(tmp_path / "elsewhere")
    again = project
    again.close()
    with pytest.raises(Failed):
        again.update()
    (tmp_path / "elsewhere").rename(project.root)
    assert len(list(ProjectIndex(project.root).store.documents())) == 3


def test_a_project_that_outgrows_the_limit_needs_a_yes(project: ProjectIndex) -> None:
    (project.folder / "config.json").write_text('{"maxFiles": 4}', encoding="utf-8")
    write_tree(project.root, {f"many/{number}.py": "x = 1\n" for number in range(3)})
    again = reopened(project)
    with pytest.raises(TooManyFiles, match="6 files"):
        again.update(is_confirmed=False)
    assert again.status().files == 3
    assert again.update(is_confirmed=True).added == 3
    assert again.update(is_confirmed=False).unchanged == 6, "whoever said yes is not asked again"


def test_a_check_during_a_run_says_so(project: ProjectIndex) -> None:
    with Lock(project.folder / "index.lock").held(1.0):
        assert project.status().state == "indexing"
        with pytest.raises(StoreBusy, match=f"process {os.getpid()}"):
            project.check()
        with pytest.raises(StoreBusy):
            forget_project(project.root)


def test_forgetting_removes_everything_and_nothing_else(project: ProjectIndex) -> None:
    project.close()
    forget_project(project.root)
    assert list(project.folder.parent.iterdir()) == []
    assert (project.root / "src/apple.py").exists()
    with pytest.raises(NotIndexed):
        forget_project(project.root)


def test_a_path_belongs_to_the_nearest_indexed_project(project: ProjectIndex) -> None:
    inner = ProjectIndex(write_tree(project.root / "inner", {"package.json": "{}", "x/y.py": "z = 1\n"}))
    assert find_project(inner.root / "x" / "y.py").root == project.root
    inner.update()
    assert find_project(inner.root / "x" / "y.py").root == inner.root


def test_a_search_brings_a_stale_index_up_to_date(project: ProjectIndex) -> None:
    write_tree(project.root, {"src/banana.py": "def banana(): ...\n"})
    found, coverage = search(project, "banana", SearchOptions())
    assert [hit.path for hit in found.hits] == ["src/banana.py"]
    assert coverage.is_complete


def test_a_file_changed_behind_the_scan_is_indexed_again_for_the_answer(
    project: ProjectIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.store.refresh()
    monkeypatch.setattr(project_search, "update_if_quick", lambda *_, **__: 0)
    write_tree(project.root, {"src/apple.py": "def apple_tree(): ...\n"})
    found, _ = search(project, "apple", SearchOptions())
    assert any("apple_tree" in passage.text for hit in found.hits for passage in hit.passages)
    assert found.outdated == ()


def outdated_in_a_search(project: ProjectIndex) -> tuple[str, ...]:
    return tuple(search_now(project, parse_search_query("apple"), SearchOptions()).outdated)


def outdated_in_a_joined_search(project: ProjectIndex) -> tuple[str, ...]:
    indexes, query = {"one": project}, parse_search_query("apple")
    stores = JoinedStore({"one": project.store})
    answer = ask_repaired(indexes, lambda: search_store(stores, read_of(indexes), query, SearchOptions(), []))
    return tuple(path.removeprefix("one/") for path in answer.outdated)


def outdated_in_references(project: ProjectIndex) -> tuple[str, ...]:
    return tuple(references_now(project, "apple", ReferenceOptions()).found.outdated)


each_search = pytest.mark.parametrize(
    "ask", [outdated_in_a_search, outdated_in_a_joined_search, outdated_in_references]
)


@each_search
def test_a_changed_file_is_left_out_and_named_while_another_process_writes(
    project: ProjectIndex, ask: Callable[[ProjectIndex], tuple[str, ...]]
) -> None:
    """The answer waited for that process for a minute, and was an error after that."""
    read_missing_references(project)
    assert ask(project) == ()
    write_tree(project.root, {"src/apple.py": "def apple(): return 'changed'\n"})
    with another_writer(project) as waits:
        assert ask(project) == ("src/apple.py",)
        assert waits
        assert max(waits) <= 1.0
    assert ask(project) == ()


@each_search
def test_a_file_that_a_rule_has_just_denied_is_not_named_among_changed_ones(
    project: ProjectIndex, ask: Callable[[ProjectIndex], tuple[str, ...]]
) -> None:
    read_missing_references(project)
    assert ask(project) == ()
    write_tree(project.root, {".gitignore": "apple.py\n"})
    denying = ProjectIndex(project.root)
    denying.has_pending = True  # as the keeper says, which has seen the rule
    with another_writer(project):
        assert ask(denying) == (() if ask is outdated_in_references else (".",))  # which leave it out from the start


def test_no_code_of_the_project_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in the working directory must not be imported by the process that indexes."""
    trap = "from pathlib import Path\nPath(__file__).with_name('ran').write_text('x')\nraise SystemExit(9)\n"
    project = ProjectIndex(
        write_tree(tmp_path / "p", {"dowse.py": trap, "click.py": trap, "needle.py": "needle = 1\n"})
    )
    monkeypatch.chdir(project.root)
    found, _ = search(project, "needle", SearchOptions())
    wait_until(lambda: project.status().state == "ready")
    assert found.hits[0].path == "needle.py"
    assert not (project.root / "ran").exists()


@pytest.mark.parametrize("number", range(5))
def test_a_run_that_ends_at_once_is_not_missed(tmp_path: Path, number: int) -> None:
    """The index was finished between the search and the check of its state."""
    project = ProjectIndex(
        write_tree(tmp_path / "p", {"login.py": f"def login(): return {number}\n", "b.py": "x = 1\n"})
    )
    found, _ = search(project, "login", SearchOptions())
    assert [hit.path for hit in found.hits] == ["login.py"]
    wait_until(lambda: project.status().state == "ready")


def test_a_question_without_words_or_about_a_denied_file_is_refused(project: ProjectIndex) -> None:
    with pytest.raises(UsageError, match="empty"):
        search(project, "  ", SearchOptions())
    write_tree(project.root, {".env": "SECRET=1\n"})
    found, ranked = explain_file(project, ".env", "secret")
    assert (found.verdict.reason, ranked) == (Reason.DENIED, None)
    _, ranked = explain_file(project, "src/apple.py", "apple")
    assert ranked
    assert ranked.rank == 1


def test_threads_may_ask_at_once(project: ProjectIndex) -> None:
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(10):
                assert search(project, "apple", SearchOptions())[0].hits
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_the_index_survives_a_root_reached_through_a_symlink(project: ProjectIndex, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project.root)
    assert ProjectIndex(tmp_path / "link").folder == project.folder


def test_no_process_is_left_behind_by_a_refused_search(tmp_path: Path, storage: Path) -> None:
    write_tree(storage, {"config.json": '{"maxFiles": 1}'})
    project = ProjectIndex(write_tree(tmp_path / "p", {"a.py": "x\n", "b.py": "y\n"}))
    with pytest.raises(TooManyFiles):
        search(project, "x", SearchOptions())
    assert not project.exists
    listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False).stdout
    assert str(project.root) not in listing


STANDARD = {
    "search_docs": "Search documentation files (.md, .txt)",
    "search_code": "Search your codebase for relevant code",
}
ENHANCED = {
    "search_docs": (
        "Search documentation files (.md, .txt). **TIP:** For follow-up questions about a doc already in context, use "
        "this tool instead of re-reading the entire file - more precise results, less context usage."
    ),
    "search_code": (
        "Search your codebase for relevant code using natural language. **TIP:** Prefer this over reading full files "
        "when looking for specific functions, patterns, or implementations."
    ),
}
INVALID: dict[str, Any] = {
    "include": "src",
    "exclude": [1],
    "respectGitignore": "yes",
    "maxFileSize": "1GB",
    "maxFiles": 0,
    "docPatterns": ["["],
    "indexDocs": 1,
    "enhancedToolDescriptions": None,
    "indexingStrategy": "sometimes",
    "lazyIdleThreshold": -1,
    "integrityHours": 1.5,
    "encoder": "best",
    "encoderFolder": "models",
    "vectorCacheMB": -1,
    "maskSecrets": "no",
    "store": "postgres",
    "sharedIndex": "https://example.org",
}


def configure(root: Path, settings: dict[str, Any]) -> None:
    """Change some of a project's settings, as a user would with an editor."""
    file = storage_layout.index_folder(root) / "config.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    write_tree(file.parent, {"config.json": json.dumps(known | settings)})


def test_an_invalid_setting_is_named_in_every_reply_and_its_default_holds(indexed: Path) -> None:
    configure(indexed, INVALID)

    async def conversation(assistant: Assistant) -> None:
        for tool, arguments in (("search_code", {"query": "peel"}), ("get_index_status", {}), ("create_index", {})):
            reply = await assistant.call_tool(tool, **arguments)
            for key in INVALID:
                assert sum(f"{key} " in warning for warning in reply["warnings"]) == 1, (tool, key)
        assert (await assistant.call_tool("search_by_path", pattern="**"))["matches"] == INDEXED

    run_conversation("auto", conversation, indexed)


def test_the_warning_goes_when_the_settings_are_mended(indexed: Path) -> None:
    async def conversation(assistant: Assistant) -> None:
        configure(indexed, {"maxFiles": -5})
        assert "maxFiles" in (await assistant.call_tool("get_index_status"))["warnings"][0]
        configure(indexed, {"maxFiles": 500})
        assert "warnings" not in await assistant.call_tool("get_index_status")

    run_conversation("auto", conversation, indexed)


def test_descriptions_become_hints_and_plain_again_without_a_restart(indexed: Path, mode: str) -> None:
    async def conversation(assistant: Assistant) -> None:
        plain = await assistant.tools()
        for is_enhanced, expected in ((False, STANDARD), (True, ENHANCED), (False, STANDARD)):
            configure(indexed, {"enhancedToolDescriptions": is_enhanced})
            tools = await assistant.tools()
            assert {name: tools[name].description for name in STANDARD} == expected
            assert all(tools[name] == plain[name] for name in plain if name not in STANDARD)

    run_conversation(mode, conversation, indexed)


def test_settings_and_unknown_keys_survive_a_rebuild(indexed: Path) -> None:
    configure(indexed, {"exclude": ["**/pear.py"], "mine": {"kept": True}, "_note": "of a user"})
    before = (storage_layout.index_folder(indexed) / "config.json").read_bytes()
    assert call_tool("auto", "reindex_project", indexed, confirm=True)["filesIndexed"] == len(INDEXED) - 1
    assert call_tool("auto", "create_index", indexed)["filesIndexed"] == len(INDEXED) - 1
    assert (storage_layout.index_folder(indexed) / "config.json").read_bytes() == before


# The files


@pytest.fixture
def index_folder(root: Path, storage: Path) -> Path:
    """Return the folder of an index that a client created."""
    call_tool("auto", "create_index", root)
    return storage_layout.index_folder(root)


def read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def test_the_index_is_where_the_hash_of_its_path_says(root: Path, index_folder: Path, storage: Path) -> None:
    assert index_folder == storage / "indexes" / hashlib.sha256(str(root).encode()).hexdigest()[:32]


def test_the_settings_are_written_with_their_explanations(index_folder: Path) -> None:
    config = read(index_folder / "config.json")
    assert config["_availableOptions"].keys() < INVALID.keys()
    assert config.keys() == config["_availableOptions"].keys() | {"_comment", "_hardcodedExcludes", "_availableOptions"}
    assert (config["maxFiles"], config["maxFileSize"], config["docPatterns"]) == (50000, "1MB", ["**/*.md", "**/*.txt"])


def test_the_metadata_has_its_keys(root: Path, index_folder: Path) -> None:
    metadata = read(index_folder / "metadata.json")
    assert metadata.keys() >= {
        "version", "projectPath", "createdAt", "lastFullIndex", "lastIncrementalUpdate", "stats", "docsStats", "lastDocsIndex",
    }  # fmt: skip
    assert metadata["projectPath"] == str(root)
    assert metadata["stats"].keys() == {"totalFiles", "totalChunks", "storageSizeBytes"}
    assert metadata["docsStats"].keys() == {"totalDocs", "totalDocChunks", "docsStorageSizeBytes"}
    assert (metadata["stats"]["totalFiles"], metadata["docsStats"]["totalDocs"]) == (len(INDEXED) - 2, 2)
    assert all(metadata[key].endswith("Z") for key in ("createdAt", "lastFullIndex", "lastDocsIndex"))


def test_the_fingerprints_are_flat_maps_of_hashes(index_folder: Path) -> None:
    docs = {"docs/guide.md", "notes.txt"}
    hashes = {path: hashlib.sha256(FRUIT[path].encode()).hexdigest() for path in INDEXED}
    assert read(index_folder / "fingerprints.json") == {
        path: value for path, value in hashes.items() if path not in docs
    }
    assert read(index_folder / "docs-fingerprints.json") == {
        path: value for path, value in hashes.items() if path in docs
    }


def test_a_folder_with_the_short_name_of_older_indexes_is_used(root: Path, storage: Path) -> None:
    short = storage / "indexes" / hashlib.sha256(str(root).encode()).hexdigest()[:16]
    short.mkdir(parents=True)
    assert call_tool("auto", "create_index", root)["status"] == "success"
    assert {folder.name for folder in short.parent.iterdir()} == {short.name}
    assert (short / "metadata.json").exists()
    assert call_tool("auto", "search_code", root, query="peel")["results"]


def test_what_happened_is_in_the_log(index_folder: Path) -> None:
    assert "added" in "".join(file.read_text(encoding="utf-8") for file in (index_folder / "logs").iterdir())
