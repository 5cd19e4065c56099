"""Named indexes on disk: after kills, between processes, and with damaged files."""

import contextlib
import sqlite3

import anyio
import pytest

from dowse.errors import NotFound, StoreDamaged, StoreTooNew, UsageError
from dowse.notes.notes_documents import make_note
from dowse.notes.registry import NotesRegistry, index_file, names_on_disk
from dowse.store import storage_layout
from mcp import Client
from tests.notes.notes_server import Assistant, program


def found(library: NotesRegistry, name: str, query: str) -> int:
    return library.use(name, lambda index: index.search(query, 1).total)


@pytest.mark.anyio
async def test_eight_clients_add_while_four_search_and_none_is_lost_or_refused() -> None:
    adders, searchers, servers, each = 8, 4, 3, 12
    async with contextlib.AsyncExitStack() as stack:
        started = [Assistant(await stack.enter_async_context(Client(program()))) for _ in range(servers)]
        await started[0].call_tool("search_create_index", index_name="shared", backend="disk")

        async def find(who: int, query: str, k: int) -> tuple[int, list[str]]:
            reply = await started[who % servers].call_tool("search_index", index_name="shared", query=query, k=k)
            return reply["total_matches"], [one["doc_id"] for one in reply["results"]]

        async def add(who: int) -> None:
            for number in range(each):
                document = {"doc_id": f"{who}-{number}", "content": f"shared text of{who} number{number}"}
                reply = await started[who % servers].call_tool("search_add_document", index_name="shared", **document)
                assert reply["status"] == "indexed"
                if number % 4 == 3:
                    assert await find(who + 1, f"+of{who} +number{number}", 10) == (1, [document["doc_id"]])

        async def search(who: int) -> None:
            last = 0
            while last < adders * each:
                total, found = await find(who, "shared", 100)
                assert total >= last
                assert len(found) == min(100, total)
                last = total

        async with anyio.create_task_group() as clients:
            for who in range(searchers):
                clients.start_soon(search, who)
            for who in range(adders):
                clients.start_soon(add, who)
        total, found = await find(0, "shared", 200)
        assert total == len(set(found)) == adders * each


def test_an_index_survives_its_server_and_its_configuration_too(library: NotesRegistry) -> None:
    library.create("kept", "disk", {"lowercase": False, "min_length": 3})
    library.use("kept", lambda index: index.add([make_note("a", "Word of mouth", {"x": [1, {"y": None}]})]))
    library.close()
    again = NotesRegistry()
    assert found(again, "kept", "Word") == 1
    assert found(again, "kept", "word") == 0
    assert again.use("kept", lambda index: index.document("a")).metadata == {"x": [1, {"y": None}]}
    again.close()


def test_two_libraries_see_each_others_indexes_documents_and_deletions_at_once(library: NotesRegistry) -> None:
    other = NotesRegistry()
    library.create("shared", "disk")
    other.use("shared", lambda index: index.add([make_note("a", "first words")]))
    assert found(library, "shared", "words") == 1
    with pytest.raises(UsageError, match="already exists"):
        other.create("shared")
    library.delete("shared")
    with pytest.raises(NotFound, match="Index not found: shared"):
        other.use("shared", lambda index: index.add([make_note("b", "lost words")]))
    library.create("shared", "disk")
    other.use("shared", lambda index: index.add([make_note("c", "new words")]))
    assert found(library, "shared", "words") == 1
    other.close()


def test_a_deletion_that_was_killed_half_way_is_finished(library: NotesRegistry) -> None:
    library.create("half", "disk")
    library.close()
    index_file("half").unlink()
    index_file("half").with_name("index-half.db-wal").write_bytes(b"what was written last")
    with pytest.raises(NotFound):
        found(library, "half", "x")
    library.create("half", "disk")
    assert found(library, "half", "x") == 0


def test_names_that_differ_in_case_have_different_files(library: NotesRegistry) -> None:
    for name in ("notes", "Notes", "NOTES", "con", "a-b_C9"):
        library.create(name, "disk")
        library.use(name, lambda index, name=name: index.add([make_note(name, "words")]))  # type: ignore[misc]
    assert names_on_disk() == sorted(["notes", "Notes", "NOTES", "con", "a-b_C9"])
    assert len({index_file(name).name.lower() for name in names_on_disk()}) == 5
    assert library.use("Notes", lambda index: index.document("Notes")).content == "words"


def test_only_the_user_can_enter_the_folder(library: NotesRegistry) -> None:
    library.create("mine", "disk")
    assert storage_layout.notes_folder().stat().st_mode & 0o777 == 0o700


def test_a_file_that_is_no_index_is_told_and_left_alone(library: NotesRegistry) -> None:
    library.create("bad", "disk")
    library.close()
    file = index_file("bad")
    file.write_bytes(b"not a database at all, not even nearly" * 100)
    library = NotesRegistry()
    with pytest.raises(StoreDamaged):
        found(library, "bad", "x")
    with pytest.raises(UsageError, match="already exists"):
        library.create("bad", "disk")
    assert len(library.list()[1]) == 1
    assert file.read_bytes().startswith(b"not a database")
    library.close()


@pytest.mark.parametrize(
    "change", ["DELETE FROM facts WHERE key = 'tokenizer'", "UPDATE facts SET value = '{' WHERE key = 'tokenizer'"]
)
def test_an_index_without_its_settings_is_refused(library: NotesRegistry, change: str) -> None:
    library.create("bare", "disk")
    library.close()
    with sqlite3.connect(index_file("bare")) as connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(StoreDamaged, match="Restore the file from a backup, or delete the index"):
        found(NotesRegistry(), "bare", "x")


def test_an_index_of_a_later_version_is_refused_with_both_versions(library: NotesRegistry) -> None:
    library.create("late", "disk")
    library.close()
    with sqlite3.connect(index_file("late")) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreTooNew, match=r"format 99.*format 1"):
        found(NotesRegistry(), "late", "x")


def test_many_open_indexes_rest_and_wake(library: NotesRegistry) -> None:
    for number in range(20):
        library.create(f"n{number}", "disk")
        library.use(f"n{number}", lambda index, number=number: index.add([make_note("a", f"word{number}")]))  # type: ignore[misc]
    assert [found(library, f"n{number}", f"word{number}") for number in range(20)] == [1] * 20
    assert len(library.list()[0]) == 21


@pytest.mark.parametrize("column", ["contents SET text = 'some other words'", "documents SET metadata = '{\"a\": 1}'"])
def test_a_note_that_is_not_what_was_written_is_not_shown(library: NotesRegistry, column: str) -> None:
    library.create("kept", "disk")
    library.use("kept", lambda index: index.add([make_note("one", "some words")]))
    library.close()
    with sqlite3.connect(index_file("kept")) as connection:
        connection.execute(f"UPDATE {column}")
    connection.close()
    with pytest.raises(StoreDamaged, match="The note one is damaged"):
        NotesRegistry().use("kept", lambda index: index.document("one"))
    with pytest.raises(StoreDamaged, match="The note one is damaged"):
        NotesRegistry().use("kept", lambda index: index.search("some", 1))
