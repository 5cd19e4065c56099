"""The library: one index, asked from a program, from threads and from an event loop."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dowse
from dowse.errors import NoSuchDocument, ProjectNotDetected
from dowse.indexes import project_search
from dowse.store.storage_layout import index_folder
from tests import lance_extra
from tests.end_to_end.security.fake_secrets import AWS, GITHUB
from tests.indexes.dependencies import environments
from tests.sample_data import write_tree
from tests.searching.history.repositories import Change, make_repository


def test_an_import_loads_nothing_else_of_dowse() -> None:
    program = "import sys, dowse; print([name for name in sys.modules if name.startswith('dowse.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_index_is_searched_and_read(shop: Path) -> None:
    with dowse.open(shop) as index:
        first = index.search("when is delivery free", limit=2)[0]
        assert (first.path, first.lines, first.symbol) == ("src/shipping.py", (4, 6), "shipping_cost")
        assert first.text.startswith("def shipping_cost(")
        assert index.read(first.id) == first.text
        assert index.read("src/shipping.py#shipping_cost") == first.text
        assert index.read("docs/guide.md#returns") == "## Returns\n\nSend a parcel back within 30 days."
        found = index.find("FREE_FROM_CENTS")
        assert [(one.path, one.line) for one in found] == [("src/shipping.py", 1), ("src/shipping.py", 6)]
        assert (found.total, found.is_complete) == (2, True)
        uses = [(one.path, one.line, one.is_definition) for one in index.uses("shipping_cost")]
        assert uses[0] == ("src/shipping.py", 4, True)
        assert ("src/checkout.py", 5, False) in uses
        assert index.files() == ["docs/guide.md", "pyproject.toml", "src/checkout.py", "src/shipping.py"]
        assert [(one.name, one.state, one.files) for one in index.status()] == [("shop", "ready", 4)]


def test_a_file_is_explained_outlined_and_set_among_others(shop: Path) -> None:
    (shop / ".gitignore").write_text("draft.py\n", encoding="utf-8")
    (shop / "draft.py").write_text("delivery = 1\n", encoding="utf-8")
    with dowse.open(shop) as index:
        related = index.related("src/checkout.py")
        assert [one.path for one in related.imports] == ["src/shipping.py"]
        assert [one.path for one in index.related("src/shipping.py").imported_by] == ["src/checkout.py"]
        assert index.explain("draft.py").rule == "draft.py (.gitignore, line 1)"
        assert not index.explain("draft.py", "delivery").rank
        ranked = index.explain("src/shipping.py", "when is delivery free")
        assert (ranked.is_indexed, ranked.rank) == (True, 1)
        assert sum(ranked.signals.values()) == pytest.approx(ranked.score)
        assert [(one.symbol, one.lines[0]) for one in index.outline("src/checkout.py")] == [("pay", 4)]
        assert index.outline("docs/guide.md")[-1].symbol == "Guide > Returns"
        assert index.files("src/**") == ["src/checkout.py", "src/shipping.py"]
        assert [hit.path for hit in index.search("shipping cost", exclude=["src/shipping.py"])] == ["src/checkout.py"]


def test_the_history_of_several_folders_is_searched_and_a_commit_is_read(tmp_path: Path) -> None:
    orchard = make_repository(
        tmp_path / "orchard",
        [Change("Plant a tree", {"a.py": "def tree(): ...\n"}), Change("Prune it", {"a.py": "def tree(): pass\n"})],
    )
    garden = make_repository(tmp_path / "garden", [Change("Sow grass", {"b.py": "def grass(): ...\n"})])
    with dowse.open(orchard) as index:
        found = index.history("plant")
        assert [(hit.subject, hit.files) for hit in found] == [("Plant a tree", ("a.py",))]
        assert found.is_complete
        assert [hit.subject for hit in index.history(limit=1)] == ["Prune it"]
    with dowse.open(orchard, garden) as index:
        assert [hit.files for hit in index.history("grass")] == [("garden/b.py",)]
        changes = index.commit(index.history("prune")[0].name)
        assert [(one.path, one.added, one.removed) for one in changes.files] == [("orchard/a.py", 1, 1)]
        with pytest.raises(dowse.DowseError, match="no commit"):
            index.commit("0123456789")
    with dowse.open(tmp_path) as index, pytest.raises(dowse.DowseError):
        index.history("anything")


def test_documents_are_listed_with_their_titles_and_links(tmp_path: Path) -> None:
    guide = write_tree(
        tmp_path / "guide", {"a.md": "# Apples\n\nSee [pears](b.md) and [plums](c.md).\n", "b.md": "# Pears\n"}
    )
    with dowse.open(guide, documents=True) as index:
        assert [(one.path, one.title) for one in index.documents()] == [("a.md", "Apples"), ("b.md", "Pears")]
        assert [(one.target, one.kind) for one in index.links("a.md")] == [("b.md", "document"), ("c.md", "broken")]
        assert [one.path for one in index.links("b.md", "in")] == ["a.md"]
        assert [one.target for one in index.links(direction="broken")] == ["c.md"]
        with pytest.raises(dowse.DowseError, match="Name the document"):
            index.links()


def test_a_document_that_was_just_denied_is_not_listed(tmp_path: Path) -> None:
    guide = write_tree(tmp_path / "guide", {"a.md": "# Apples\n", "b.md": "# Pears\n", "c.md": "# Plums\n"})
    with dowse.open(guide, documents=True) as index:
        assert len(index.documents()) == 3
        write_tree(guide, {".gitignore": "b.md\n", "c.md": "# Sloes\n"})
        assert [(one.path, one.title) for one in index.documents()] == [("a.md", "Apples"), ("c.md", "Sloes")]


def test_links_show_no_secret(tmp_path: Path) -> None:
    text = f"# Robots\n\nCall [{AWS}](b.md), [it](https://example.com/?key={GITHUB}) and [that]({GITHUB}.md).\n"
    guide = write_tree(tmp_path / "guide", {"a.md": text, "b.md": "# Pears\n"})
    with dowse.open(guide, documents=True) as index:
        links = index.links("a.md")
        assert [one.text for one in links] == ["[masked: aws-access-token]", "it", "that"]
        assert [one.to for one in links] == ["b.md", "https://example.com/?key=[masked: github-pat]", ""]
        for one in (*links, *index.links("b.md", "in"), *index.links(direction="broken")):
            assert not [secret for secret in (AWS, GITHUB) if secret in str(one)]


def test_an_index_is_made_again_and_forgotten(shop: Path) -> None:
    with dowse.open(shop) as index:
        index.wait()
        assert index.reindex("src/shipping.py") >= 1
        index.wait(rebuild=True)
        assert index.search("when is delivery free")[0].symbol == "shipping_cost"
    assert [one.root for one in dowse.projects()] == [shop]
    assert dowse.forget(shop) == shop
    assert dowse.projects() == []


def test_a_text_is_found_while_a_folder_is_indexed_for_the_first_time(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_search, "AT_ONCE_SECONDS", 0.0)  # as for a large folder, in a process of its own
    with dowse.open(shop) as index:
        assert index.find("FREE_FROM_CENTS").total == 2
        assert {one.path for one in index.uses("shipping_cost")} == {"src/shipping.py", "src/checkout.py"}
        index.wait()
        assert index.find("FREE_FROM_CENTS").total == 2


def test_filters_and_details_are_those_of_the_command(shop: Path) -> None:
    with dowse.open(shop) as index:
        assert {hit.path for hit in index.search("delivery", kind="docs")} <= {"docs/guide.md"}
        assert [hit.path for hit in index.search("shipping cost", path="src/checkout.py")] == ["src/checkout.py"]
        assert index.search("shipping cost", detail="outline", limit=1)[0].lines[0] == 4
        corrected = index.search("deliverry")
        assert corrected.notes == ("Corrected: delivery instead of deliverry",)
        assert not index.search("zzzqqq")


def test_several_folders_are_ranked_together(shop: Path, billing: Path) -> None:
    with dowse.open(shop, billing) as index:
        assert index.search("when is delivery free")[0].path == "shop/src/shipping.py"
        assert index.search("add up an invoice")[0].path == "billing/invoices.py"
        assert index.find("def ").total == 3
        assert index.read("billing/invoices.py:1") == "def invoice_total(items):"
        assert {one.path for one in index.uses("invoice_total")} == {"billing/invoices.py"}
        assert [one.name for one in index.status()] == ["shop", "billing"]
        with pytest.raises(dowse.DowseError, match="shop, billing"):
            index.read("nowhere/a.py")


def test_a_changed_file_is_found_as_it_is_now_however_often_was_asked_before(shop: Path) -> None:
    with dowse.open(shop) as index:
        for number in range(6):
            (shop / "src" / "fresh.py").write_text(
                f"def gift_wrap_{number}():\n    return {number}\n", encoding="utf-8"
            )
            assert index.search(f"gift_wrap_{number}")[0].symbol == f"gift_wrap_{number}"


def configure(root: Path, **settings: object) -> None:
    (index_folder(root) / "config.json").write_text(json.dumps({"encoder": "none", **settings}), encoding="utf-8")


@pytest.mark.parametrize("questions", [1, 4])  # a thread watches the files from the third question on
def test_changed_settings_count_with_the_next_question(shop: Path, questions: int) -> None:
    """They counted only in a process that was started later."""
    with dowse.open(shop) as index:
        for _ in range(questions):
            assert "docs/guide.md" in [hit.path for hit in index.search("send a parcel back", mode="lexical")]
        configure(shop, exclude=["docs/**"])
        assert index.search("send a parcel back", mode="lexical").items == ()
        assert index.find("parcel").items == ()
        assert "docs/guide.md" not in index.files()
        configure(shop)
        assert [hit.path for hit in index.search("send a parcel back", mode="lexical")] == ["docs/guide.md"]


def test_a_warning_goes_once_the_setting_is_mended(shop: Path) -> None:
    with dowse.open(shop) as index:
        index.search("delivery", mode="lexical")
        for _ in range(2):
            configure(shop, maxFiles=-5)
            (warning,) = index.search("delivery", mode="lexical").notes
            assert "maxFiles" in warning
            configure(shop, maxFiles=500)
            assert list(index.search("delivery", mode="lexical").notes) == []


def test_an_index_is_safe_in_threads(shop: Path) -> None:
    with dowse.open(shop) as index, ThreadPoolExecutor(8) as pool:
        queries = ["when is delivery free", "send a parcel back"] * 20
        paths = list(pool.map(lambda query: index.search(query)[0].path, queries))
    assert paths == ["src/shipping.py", "docs/guide.md"] * 20


def test_an_index_works_inside_of_a_running_event_loop(shop: Path) -> None:
    async def ask() -> tuple[str, str, list[str]]:
        with dowse.open(shop) as index:  # as a notebook does
            direct = index.search("when is delivery free")[0].path
        async with dowse.open_async(shop) as waiting:
            found, files = await asyncio.gather(waiting.search("when is delivery free"), waiting.files())
            await waiting.wait()
        return direct, found[0].path, files

    direct, found, files = asyncio.run(ask())
    assert direct == found == "src/shipping.py"
    assert len(files) == 4


def test_an_index_that_is_not_open_says_so(shop: Path) -> None:
    index = dowse.open(shop)
    index.close()
    index.close()
    with pytest.raises(dowse.DowseError, match="closed"):
        index.search("delivery")
    with pytest.raises(dowse.DowseError, match="async with"):
        asyncio.run(dowse.open_async(shop).files())


def test_errors_are_those_of_dowse(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(dowse.DowseError, match="is not a folder"):
        dowse.open(shop / "nowhere")
    with dowse.open(shop) as index:
        with pytest.raises(NoSuchDocument, match="no definition or section 'nothing'"):
            index.read("src/shipping.py#nothing")
        with pytest.raises(dowse.DowseError, match=r"There is no file src/none\.py"):
            index.read("src/none.py")
        with pytest.raises(dowse.DowseError, match="empty"):
            index.search(" ")
    monkeypatch.chdir("/")
    with pytest.raises(ProjectNotDetected):
        dowse.open()


def big_project(folder: Path, count: int, lines: int = 1) -> Path:
    files = {f"src/m{number}.py": f"def apple_{number}(): ...\n" * lines for number in range(count)}
    return write_tree(folder / "big", {"package.json": "{}\n", **files})


def test_waiting_reports_progress_and_leaves_no_process_behind(tmp_path: Path) -> None:
    big = big_project(tmp_path, 400)
    seen, before = list[tuple[int, int]](), children()
    with dowse.open(big, progress=lambda done, total: seen.append((done, total))) as index:
        assert index.search("apple_7")[0].symbol == "apple_7"
        index.wait()
        assert index.status()[0].files == 401
        assert index.search("apple_7").is_complete
    assert seen
    assert seen[-1][1] >= 400
    assert left_behind(before) == set()


def test_closing_stops_indexing_that_has_begun(tmp_path: Path) -> None:
    big = big_project(tmp_path, 2000, 50)
    before, threads = children(), set(threading.enumerate())
    with dowse.open(big) as index:
        found = index.search("apple_7")
        assert found
        assert not found.is_complete
        assert "Indexing continues" in found.notes[0]
        assert index.status()[0].state == "indexing"
    assert left_behind(before) == set()
    left = [thread.name for thread in threading.enumerate() if thread not in threads]
    assert not [name for name in left if name.startswith(("dowse", "keeps"))]


def test_an_interrupt_ends_waiting_and_leaves_no_process_behind(tmp_path: Path) -> None:
    big = big_project(tmp_path, 2000, 50)
    program = f"import dowse\nwith dowse.open({str(big)!r}, progress=print) as index:\n    index.wait()\n"
    command = [sys.executable, "-u", "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout
        process.stdout.readline()  # of the first progress
        process.send_signal(signal.SIGINT)
        _, problem = process.communicate(timeout=60)
        assert problem.endswith(b"KeyboardInterrupt\n")
    left = subprocess.run(["ps", "-s", str(process.pid), "-o", "args="], capture_output=True, text=True, check=False)
    assert [line for line in left.stdout.splitlines() if "<defunct>" not in line] == []


def test_work_that_nobody_waits_for_stops_at_its_next_step(shop: Path) -> None:
    steps = list[int]()
    with dowse.open(shop) as index:

        def work() -> None:
            for step in range(1000):
                index._report(step, 1000)
                steps.append(step)
                time.sleep(0.01)

        def interrupt() -> None:
            while len(steps) < 10:  # by then, the main thread waits
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        with pytest.raises(KeyboardInterrupt):
            index._do(work)
        interrupting.join()
        assert index.search("when is delivery free")
    assert len(steps) < 1000


def children() -> set[str]:
    """Return the processes of dowse that this one has started, other tests too."""
    listed = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "pid=,args="], capture_output=True, text=True, check=False
    ).stdout.splitlines()
    return {line for line in listed if "dowse." in line and "forker" not in line}


def left_behind(before: set[str]) -> set[str]:
    """Return the processes that were started since and have not ended after a moment."""
    deadline = time.monotonic() + 10
    while (found := children() - before) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def test_a_place_of_an_organisation_is_searched_and_read(shop: Path, tmp_path: Path) -> None:
    lance_extra.import_or_skip()
    subprocess.run(
        "git init -q && git add . && git -c user.name=A -c user.email=a@b.c commit -qm x",
        shell=True, cwd=shop, check=True,
    )  # fmt: skip
    with dowse.open(shop) as folder:
        [report] = folder.publish(str(tmp_path / "place"), model=False)
        assert (report.project.name, report.is_new) == ("shop", True)
    with dowse.open(store=str(tmp_path / "place"), projects=["shop"]) as index:
        hit = index.search("when is delivery free")[0]
        assert (hit.path.removeprefix("shop/"), hit.symbol) == ("src/shipping.py", "shipping_cost")
        assert index.read(f"{hit.path}#shipping_cost") == hit.text
        assert index.find("FREE_FROM_CENTS").total == 2
        assert [(one.name, one.files) for one in index.status()] == [("shop", 4)]
        index.wait()
        assert index.files("**/*.md") == ["docs/guide.md"]
        with pytest.raises(dowse.DowseError, match="Open a folder"):
            index.uses("shipping_cost")
    with pytest.raises(dowse.DowseError, match="searched alone"):
        dowse.open(shop, store=str(tmp_path / "place"))
    with pytest.raises(dowse.DowseError, match="searched alone"):
        dowse.open(shop, "s3://bucket/index")


def test_hits_are_shown_in_a_notebook_with_their_words_marked(shop: Path) -> None:
    with dowse.open(shop) as index:
        shown = index.search("when is delivery free")._repr_html_()
        lines = index.find("FREE_FROM")._repr_html_()
    assert "<b>src/shipping.py:4-6</b> shipping_cost" in shown
    assert "<mark>delivery</mark>" in shown
    assert "<script" not in shown
    assert "&gt;=" in shown
    assert "src/shipping.py:1 FREE_FROM_CENTS = 5000" in lines


def test_a_repository_is_opened_by_its_address(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "orchard", [Change("Begin", {"a.py": "def apple_tree(): ...\n"})])
    with dowse.open(f"file://{origin}") as index:
        assert index.search("apple tree")[0].symbol == "apple_tree"
    origin.rename(tmp_path / "gone")
    with dowse.open(f"file://{origin}") as index:
        found = index.search("apple tree")
        assert found[0].symbol == "apple_tree"
        assert "cannot be fetched" in found.notes[0]


def test_the_packages_of_a_folder_are_searched_and_read(tmp_path: Path) -> None:
    shop = environments.python_project(tmp_path / "shop")
    with dowse.open(shop, dependencies=True) as index, pytest.raises(dowse.DowseError, match="--enable"):
        index.search("send a request again")
    environments.enable_dependencies()
    with dowse.open(shop, package="tinyhttp") as index:
        lead = "tinyhttp 1.2.0 · tinyhttp/__init__.py"
        first = index.search("send a request again")[0]
        assert (first.path, first.symbol) == (lead, "send_request")
        assert index.read(first.id) == index.read("tinyhttp/__init__.py#send_request") == first.text
        assert {one.path for one in index.find("RetryPolicy", path="tinyhttp/__init__.py")} == {lead}
        assert lead in {one.path for one in index.uses("send_request") if one.is_definition}
        assert lead in index.files()
        assert [(one.name, one.state) for one in index.status()] == [("tinyhttp 1.2.0", "ready")]
        with pytest.raises(dowse.DowseError, match="No package has"):
            index.read("nowhere.py")
    with pytest.raises(dowse.DowseError, match="searched alone"):
        dowse.open(shop, tmp_path, dependencies=True)
