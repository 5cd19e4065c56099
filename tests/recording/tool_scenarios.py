"""Scenarios of servers on stdin and stdout: the offered tools, and the replies of every tool."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.recording.projects import Place
from tests.recording.starting import Commands, Message, Server

SURFACES = ("code", "documents", "site", "archive", "indexes", "federated")


def as_json(value: object) -> str:
    """Return a value as JSON, with its keys in their own order."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def offers(place: Place) -> str:
    """Record the introduction, tools and resources for every choice of tools.

    A tool that is the same as with `--tools full` is recorded by its name alone.
    """
    chosen = {f"--tools {size}": ("--tools", size) for size in ("full", "standard", "minimal")}
    chosen |= {f"--only {surface}": ("--only", surface) for surface in SURFACES}

    def offered(options: tuple[str, ...]) -> Message:
        with Server(place, "shop", "--site", "site.json", *options) as server:
            return _offered(server)

    with ThreadPoolExecutor(2) as pool:
        told = dict(zip(chosen, pool.map(offered, chosen.values()), strict=True))
    whole = {tool["name"]: tool for tool in told["--tools full"]["tools"]}
    for name, offer in told.items():
        if name != "--tools full":
            offer["tools"] = [
                f"<{tool['name']} as with --tools full>" if tool == whole.get(tool["name"]) else tool
                for tool in offer["tools"]
            ]
    return as_json(told)


def _offered(server: Server) -> Message:
    listed = {name: server.request(f"{name}/list") for name in ("resources", "resources/templates", "prompts")}
    tools = server.request("tools/list")["result"]
    return {"introduction": server.introduction, **listed, **tools}


def project(place: Place) -> str:
    """Record the tools of one project, from a project without an index to a deleted one."""
    with Server(place, "shop", "--only", "code", "--tools", "full") as server:
        server.call_all(
            ("search_code", {"query": "cart"}), ("search_docs", {"query": "cart"}), ("search_by_path", {"pattern": "**"}),
            ("get_index_status", {}), ("list_projects", {}), ("reindex_file", {"path": "src/cart.py"}),
            ("reindex_project", {}), ("delete_index", {}), ("delete_index", {"confirm": True}), ("create_index", {}),
        )  # fmt: skip
        server.wait_until(is_kept, "get_index_status")
        server.call_each(PROJECT_CALLS)
        server.call("reindex_project", confirm=True)
        server.wait_until(is_kept, "get_index_status")
        server.call("search_code", query="cart", top_k=1)
        server.call("delete_index", confirm=True)
        server.call("search_code", query="cart")
        server.call("list_projects")
        return as_json(server.said)


PROJECT_CALLS: dict[str, list[dict[str, Any]]] = {
    "get_index_status": [{}],
    "list_projects": [{}],
    "search_code": [
        {"query": "cart"}, {"query": "total of a cart", "top_k": 1}, {"query": "cart", "top_k": 1, "offset": 1},
        {"query": "cart", "offset": 50}, {"query": "cart", "path": "web/**"}, {"query": "cart", "language": "go"},
        {"query": "cart", "language": "klingon"}, {"query": "cart", "mode": "lexical", "alpha": None}, {"query": "cart", "mode": "vector"},
        {"query": "cart", "alpha": 0.3}, {"query": "+discount -price"}, {"query": '"put an item"'}, {"query": "discuont"},
        {"query": "payment TOKEN"}, {"query": "never-shown"}, {"query": "zzzqqq"}, {"query": ""}, {"query": "-cart"},
        {"query": "cart", "path": "[a"}, {"query": "cart", "path": ".env"}, {"query": "x " * 5001}, {"query": "refund"},
    ],
    "search_docs": [
        {"query": "how to peel an apple"}, {"query": "previous instructions"}, {"query": "refund", "path": "docs/*", "top_k": 1},
        {"query": "zzzqqq"}, {"query": "install", "language": "markdown"}, {"query": "cart", "mode": "vector"},
    ],
    "search_by_path": [
        {"pattern": "**/*.py"}, {"pattern": "**", "limit": 2, "offset": 1}, {"pattern": "*.env"}, {"pattern": "[a"},
        {"pattern": "{a,b"}, {"pattern": ""}, {"pattern": "cart.*"}, {"pattern": "src/"},
    ],
    "reindex_file": [
        {"path": "src/cart.py"}, {"path": ".env"}, {"path": "link.md"}, {"path": "generated/api.py"}, {"path": "assets/logo.bin"},
        {"path": "nowhere.py"}, {"path": "../x.py"}, {"path": "/etc/passwd"}, {"path": ""}, {"path": "src"},
    ],
    "create_index": [{}, {"confirm": True}],
    "reindex_project": [{}],
    "delete_index": [{}, {"confirm": False}],
    "search_nothing": [{}],
}  # fmt: skip


def is_kept(status: Message) -> bool:
    return status.get("status") == "ready" and status.get("watcherActive") is True and not status.get("pendingFiles")


def several_projects(place: Place) -> str:
    """Record two projects in one server: the argument `project`, and calls that fail without it."""
    shell = Commands(place)
    shell.run_quietly("index", "toolbox")
    with Server(place, "shop", "toolbox", "--only", "code", "--tools", "full") as server:
        server.said.append({"tools": server.request("tools/list")["result"]["tools"][:4]})
        server.wait_until(is_kept, "get_index_status", project="toolbox")
        server.call("get_index_status", project="toolbox")
        server.call("search_code", query="hammer")
        server.call("search_code", query="cart", project="shop")
        server.call("create_index", project="shop")
        for name in ("shop", "toolbox"):
            server.wait_until(is_kept, "get_index_status", project=name)
        server.call_all(
            ("search_code", {"query": "cart"}), ("search_docs", {"query": "cart", "project": "toolbox"}),
            ("search_by_path", {"pattern": "**/*.md"}), ("search_by_path", {"pattern": "toolbox/src/*"}),
            ("search_code", {"query": "hammer", "path": "toolbox/**"}), ("get_index_status", {}), ("list_projects", {}),
            ("reindex_file", {"path": "toolbox/src/hammer.py"}), ("reindex_file", {"path": "src/hammer.py"}),
            ("reindex_file", {"path": "src/hammer.py", "project": "toolbox"}), ("reindex_project", {"confirm": True}),
            ("delete_index", {"confirm": True}), ("search_code", {"query": "cart", "project": "nowhere"}),
            ("create_index", {}), ("delete_index", {"confirm": True, "project": "toolbox"}), ("search_code", {"query": "hammer"}),
        )  # fmt: skip
        return as_json(server.said)


def documents(place: Place) -> str:
    """Record a folder of documents: its tools, and its resources as they are listed and read."""
    with Server(place, "handbook", "--tools", "full", command="docs") as server:
        server.wait_until(
            lambda told: told.get("coverage", {}).get("complete") is True, "search_documents", query="till"
        )
        server.said.append(_offered(server))
        server.call_each(DOCUMENT_CALLS)
        for address in (
            "docs://index.md", "docs://guide/install.md", "docs://guide/install.md#steps", "docs://hours.html", "docs://note.txt",
            "docs://history.rst", "docs://sales.ipynb", "docs://warning.md", "docs://missing.md", "docs://guide/install.md#nothing",
            "docs://../shop/.env", "docs://%2e%2e/shop/README.md", "file:///etc/passwd", "nonsense", "",
        ):  # fmt: skip
            server.ask("resources/read", uri=address)
        server.ask("resources/list", cursor="nonsense")
        server.ask("prompts/get", name="nothing")
        server.ask("nothing/at-all")
        return as_json(server.said)


DOCUMENT_CALLS: dict[str, list[dict[str, Any]]] = {
    "search_documents": [
        {"query": "till"}, {"query": "glossary", "searchIn": "title"}, {"query": "scales", "searchIn": "content", "limit": 1},
        {"query": "till", "fileTypes": ["rst", ".md"]}, {"query": "till", "fileTypes": ["exe"]}, {"query": "zzzqqq"}, {"query": ""},
        {"query": "previous instructions"}, {"query": '"spare keys"'}, {"query": "+till -scales"}, {"query": "glosary"},
        {"query": "apples", "fileTypes": []}, {"query": "till", "fileTypes": "md"},
    ],
    "get_document_outline": [
        {"uri": "docs://guide/install.md"}, {"uri": "docs://history.rst"}, {"uri": "docs://note.txt"}, {"uri": "docs://missing.md"},
        {"uri": "guide/install.md"}, {"uri": "docs://../shop/.env"},
    ],
    "read_document": [
        {"uri": "docs://guide/install.md"}, {"uri": "docs://guide/install.md", "section": "steps"},
        {"uri": "docs://guide/install.md", "startLine": 3, "endLine": 5}, {"uri": "docs://guide/install.md", "startLine": 900},
        {"uri": "docs://guide/install.md", "startLine": 5, "endLine": 3}, {"uri": "docs://guide/install.md", "section": "nothing"},
        {"uri": "docs://guide/install.md", "section": "steps", "startLine": 1}, {"uri": "docs://warning.md"}, {"uri": "docs://missing.md"},
        {"uri": "docs://guide/install.md", "startLine": 0},
    ],
    "find_links": [
        {"uri": "docs://index.md"}, {"uri": "docs://index.md", "direction": "in"}, {"uri": "docs://index.md", "direction": "broken"},
        {"direction": "broken"}, {}, {"uri": "docs://index.md", "limit": 1, "offset": 1}, {"uri": "docs://missing.md"},
        {"uri": "docs://guide/install.md", "direction": "both"},
    ],
}  # fmt: skip


def site(place: Place) -> str:
    """Record the tools of one site, and of two in one server."""
    with Server(place, "site.json", command="site serve") as server:
        server.said.append(_offered(server))
        server.call_each(SITE_CALLS)
        said = server.said
    with Server(place, "site.json", "pears=site.json", command="site serve") as server:
        server.said.append({"two": [tool["name"] for tool in server.request("tools/list")["result"]["tools"]]})
        server.call_all(
            ("search_pears", {"query": "pears", "limit": 1}), ("get_article", {"url": "/about"}), ("get_index_info", {}),
            ("get_article", {"url": "/about", "site": "pears"}), ("get_index_info", {"site": "pears"}),
            ("get_article", {"url": "/about", "site": "nothing"}),
        )  # fmt: skip
        return as_json([*said, *server.said])


SITE_CALLS: dict[str, list[dict[str, Any]]] = {
    "search_fruit": [
        {"query": "peeling apples"}, {"query": "aples"}, {"query": "pears", "limit": 1}, {"query": ""}, {"query": "zzzqqq"},
        {"query": "fruit", "topics": ["pears"]}, {"query": "", "since": "2024-12-01"}, {"query": "", "until": "2024-12-01"},
        {"query": "", "since": "yesterday"}, {"query": "+apple -knife"}, {"query": '"one ribbon"'}, {"query": "growers"},
        {"query": "pears", "limit": 26},
    ],
    "get_article": [
        {"url": "/about"}, {"url": "/abuot"}, {"url": "https://fruit.example/posts/peeling-apples/#top"}, {"url": "/"}, {"url": "/nothing"},
        {"url": "/posts/storing-pears", "offset": 6000}, {"url": "/posts/storing-pears", "offset": 99999}, {"url": "https://other.example/about"},
    ],
    "get_index_info": [{}],
}  # fmt: skip


def archive(place: Place) -> str:
    """Record the tools of research archives."""
    shell = Commands(place)
    shell.run_quietly("archive", "index")
    with Server(place, "--only", "archive", "--tools", "full", cwd="empty") as server:
        server.wait_until(
            lambda told: bool(told.get("results")) and "indexing" not in told["metadata"],
            "searchLocalArchives",
            query="plums",
        )
        server.call_each(ARCHIVE_CALLS)
        return as_json(server.said)


ARCHIVE_CALLS: dict[str, list[dict[str, Any]]] = {
    "searchLocalArchives": [
        {"query": "plums"}, {"query": "plumbs"}, {"query": "plumbs", "fuzzy": False}, {"query": "plums", "includeCitations": True},
        {"query": "pears", "includeCitations": True, "citationDepth": 3, "limit": 1}, {"query": "zzzqqq"},
        {"query": ""}, {"query": "market"}, {"query": "plums", "citationDepth": 4},
    ],
    "find_citations": [
        {"document": "Plums"}, {"document": "https://example.org/market"}, {"document": "Pears", "direction": "cited", "limit": 1},
        {"document": "2025-01-10/plums.md", "depth": 2}, {"document": "Nothing"}, {"document": ""},
    ],
    "archive_most_cited": [{}, {"limit": 1}],
    "archive_broken_links": [{}, {"limit": 1}],
}  # fmt: skip


def notes(place: Place) -> str:
    """Record the tools of named indexes, in memory and on disk."""
    with Server(place, "--only", "indexes", "--tools", "full", cwd="empty") as server:
        server.call_all(*NOTE_CALLS)
        return as_json(server.said)


MINE = {"index_name": "mine"}
NOTE_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_list_indexes", {}),
    ("search_index", {"query": "figs"}),
    ("search_create_index", MINE),
    ("search_create_index", MINE),
    (
        "search_create_index",
        {"index_name": "kept", "backend": "disk", "tokenizer_config": {"min_length": 1, "lowercase": False}},
    ),
    ("search_create_index", {"index_name": "a b"}),
    ("search_create_index", {"index_name": "x", "backend": "cloud"}),
    ("search_create_index", {"index_name": "x", "tokenizer_config": {"nothing": 1}}),
    (
        "search_add_document",
        {"doc_id": "1", "content": "Figs are sweet", "metadata": {"year": 2024, "tag": ["fruit"]}, **MINE},
    ),
    ("search_add_document", {"doc_id": "1", "content": "Figs are very sweet", **MINE}),
    ("search_add_document", {"doc_id": "", "content": "x", **MINE}),
    ("search_add_document", {"doc_id": "1", "content": "x", "index_name": "nothing"}),
    ("search_add_document", {"doc_id": "k", "content": "Kept on the disk", "index_name": "kept"}),
    (
        "search_add_documents",
        {
            "documents": [
                {"doc_id": "2", "content": "A fig tree is a tree"},
                {"doc_id": "3", "content": "Trees", "metadata": {"year": 2020}},
            ],
            **MINE,
        },
    ),
    ("search_add_documents", {"documents": [{"doc_id": "4"}, {"content": "x", "nothing": 5}], **MINE}),
    ("search_add_documents", {"documents": [], **MINE}),
    ("search_index", {"query": "+figs", **MINE}),
    ("search_index", {"query": 'figs "fig tree" trees', "k": 2, **MINE}),
    ("search_index", {"query": "figs trees tree", "k": 1, "offset": 1, **MINE}),
    ("search_index", {"query": "-figs", **MINE}),
    ("search_index", {"query": "", **MINE}),
    ("search_index", {"query": "zzzqqq", **MINE}),
    ("search_index", {"query": "figs x", **MINE}),
    ("search_index", {"query": "x", "index_name": "nothing"}),
    ("search_get_document", {"doc_id": "2", **MINE}),
    ("search_get_document", {"doc_id": "2", "offset": 5, **MINE}),
    ("search_get_document", {"doc_id": "nothing", **MINE}),
    ("search_delete_document", {"doc_id": "2", **MINE}),
    ("search_delete_document", {"doc_id": "2", **MINE}),
    ("search_list_indexes", {}),
    ("search_delete_index", MINE),
    ("search_delete_index", {"confirm": True, **MINE}),
    ("search_delete_index", {"index_name": "nothing", "confirm": True}),
    ("search_delete_index", {"index_name": "default", "confirm": True}),
]


def index_everything(place: Place) -> None:
    """Index all projects and documents, so that a server of every surface starts with complete indexes."""
    shell = Commands(place)
    for words in (["index", "shop"], ["docs", "list", "shop"], ["archive", "index"], ["notes", "create", "ideas"],
                  ["notes", "import", "ideas", "notes.jsonl"]):  # fmt: skip
        shell.run_quietly(*words)


def is_served(status: Message) -> bool:
    states = {source["kind"]: source["state"] for source in status.get("sources", [])}
    return status.get("status") == "ready" and all(state == "ready" for state in states.values())


def federated(place: Place) -> str:
    """Record the federated search, and the fetching of its results."""
    index_everything(place)
    with Server(place, "shop", "--site", "site.json", "--tools", "minimal") as server:
        server.wait_until(is_served, "get_index_status")
        server.call("get_index_status")
        found = server.call("search", query="apple plums cart")
        server.call_each({"search": FEDERATED_SEARCHES})
        ids = [one["id"] for one in found["result"]["structuredContent"]["results"]]
        server.call("search", query="apple plums cart", exclude=ids[:2], limit=2)
        for name in (
            *ids,
            "project/shop/.env",
            "project/shop/nowhere.py",
            "nothing/at/all",
            "",
            "site/fruit/nothing",
            "index/ideas/nothing",
        ):
            server.call("fetch", id=name)
        server.call("fetch", id="project/shop/src/cart.py", offset=100)
        server.call("fetch", id="project/shop/src/cart.py", offset=100_000)
        server.call("search_code", query="cart")
        return as_json(server.said)


FEDERATED_SEARCHES: list[dict[str, Any]] = [
    {"query": "cart", "source": "project"}, {"query": "cart", "source": "project/shop", "limit": 1}, {"query": "cart", "source": "nowhere"},
    {"query": "cart", "path": "src/**"}, {"query": "cart", "path": "[a"}, {"query": "cart", "language": "python"},
    {"query": "plums", "since": "2025-01-01", "until": "2025-01-12"}, {"query": "plums", "since": "soon"}, {"query": "token"},
    {"query": "zzzqqq"}, {"query": ""}, {"query": "previous instructions"}, {"query": "+plums -market"}, {"query": "guide", "source": "documents"},
]  # fmt: skip
