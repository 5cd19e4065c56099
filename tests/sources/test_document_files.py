"""Documents leave out hidden files and folders, which a project keeps, unless `.dowseignore` re-includes them."""

from pathlib import Path

from dowse.settings import Settings
from dowse.sources import ProjectFiles
from dowse.sources.document_files import DocumentFiles
from dowse.types import Reason, Rule
from tests.sample_data import write_tree
from tests.sources.repositories import make_repository, refusal, source, visible_files

HIDDEN = Rule(".*", "built-in rule for documents")


def documents(root: Path) -> DocumentFiles:
    return DocumentFiles(root, Settings())


def vault(root: Path) -> Path:
    return write_tree(
        root,
        {
            "a.md": "# A",
            "folder/b.md": "# B",
            "folder/.drafts/c.md": "# C",
            ".obsidian/plugins/readme.md": "# Plugin",
            ".trash/deleted.md": "# Deleted",
            ".hidden.md": "# Hidden",
            ".github/CONTRIBUTING.md": "# Contribute",
        },
    )


def test_deleted_notes_and_settings_of_a_vault_are_no_documents(tmp_path: Path) -> None:
    assert visible_files(documents(vault(tmp_path))) == ["a.md", "folder/b.md"]
    verdict = refusal(documents(tmp_path), ".trash/")
    assert (verdict.reason, verdict.rule) == (Reason.HIDDEN, HIDDEN)
    verdict = documents(tmp_path).verdict(".obsidian/plugins/readme.md")
    assert (verdict.reason, verdict.detail) == (Reason.HIDDEN, "because of its folder .obsidian/")


def test_a_project_keeps_its_hidden_folders(tmp_path: Path) -> None:
    assert ".github/CONTRIBUTING.md" in visible_files(source(vault(tmp_path)))


def test_dowseignore_brings_back_a_hidden_folder_or_one_file_of_it(tmp_path: Path) -> None:
    write_tree(vault(tmp_path), {".dowseignore": "!.github/\n!.trash/deleted.md\n", ".trash/other.md": "# Other"})
    assert visible_files(documents(tmp_path)) == [
        ".github/CONTRIBUTING.md", ".trash/deleted.md", "a.md", "folder/b.md",
    ]  # fmt: skip
    verdict = documents(tmp_path).verdict(".trash/deleted.md")
    assert verdict.rule == Rule("!.trash/deleted.md", ".dowseignore", 2)
    assert verdict.detail == "re-included; ignored by .* (built-in rule for documents)"


def test_git_does_not_bring_back_a_hidden_folder(tmp_path: Path) -> None:
    vault(make_repository(tmp_path))
    write_tree(tmp_path, {".gitignore": ".*\n!.gitignore\n!.github/\n"})
    assert visible_files(documents(tmp_path)) == ["a.md", "folder/b.md"]
    assert ".github/CONTRIBUTING.md" in visible_files(ProjectFiles(tmp_path, Settings()))


def test_a_hidden_root_is_served(tmp_path: Path) -> None:
    assert visible_files(documents(vault(tmp_path / ".notes"))) == ["a.md", "folder/b.md"]
