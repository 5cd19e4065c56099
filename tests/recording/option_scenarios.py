"""Scenarios of servers with other options: small budgets, questions to the user, revisions, settings, and wrong arguments."""

import json
from collections.abc import Iterator

from tests.recording.projects import Place
from tests.recording.starting import NEWER, OLDER, Commands, Message, Server, shortened
from tests.recording.tool_scenarios import as_json, index_everything, is_kept, is_served

YES: Message = {"action": "accept", "content": {"confirm": True}}
DECLINE: Message = {"action": "decline"}
CANCEL: Message = {"action": "cancel"}


def wrong_arguments(place: Place) -> str:
    """Record how every tool refuses missing and unknown arguments, wrong types and values out of range."""
    index_everything(place)
    lines = []
    with Server(place, "shop", "--site", "site.json", "--tools", "full") as server:
        server.wait_until(is_served, "get_index_status")
        for tool in server.request("tools/list")["result"]["tools"]:
            for arguments in _wrong_for(tool["inputSchema"]):
                reply = shortened(server.request("tools/call", name=tool["name"], arguments=arguments))
                lines.append(f"{tool['name']} {json.dumps(arguments)}\n  {json.dumps(reply, ensure_ascii=False)}\n")
        for method, parameters in (
            ("tools/call", {}), ("tools/call", {"name": "search_code", "arguments": "cart"}), ("tools/call", {"name": "search_code"}),
            ("tools/call", {"name": 5}), ("resources/read", {}), ("nothing", {}),
        ):  # fmt: skip
            reply = server.request(method, **parameters)
            lines.append(f"{method} {json.dumps(parameters)}\n  {json.dumps(reply, ensure_ascii=False)}\n")
    return "".join(lines)


def _wrong_for(schema: Message) -> Iterator[Message]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    right = {name: "x" if "string" in str(properties[name].get("type")) else ["x"] for name in required}
    yield {**right, "nonsense": 1}
    for name in required:
        yield {given: value for given, value in right.items() if given != name}
    for name, told in properties.items():
        kind = str(told.get("type"))
        yield {**right, name: "many" if "string" not in kind else 5}
        yield {**right, name: {"a": 1} if "object" not in kind else [1]}
        if "minimum" in told:
            yield {**right, name: told["minimum"] - 1}
        if "maximum" in told:
            yield {**right, name: told["maximum"] + 1}
        if "integer" in kind:
            yield {**right, name: 1.5}
        if "enum" in told:
            yield {**right, name: "nonsense"}


def small_budget(place: Place) -> str:
    """Record replies that a budget of 1,000 tokens truncates."""
    for number in range(20):
        lines = (f"def orchard_{number}_{line}() -> str:\n    return 'apple {line}'\n" for line in range(20))
        (place.folder / f"shop/src/orchard_{number:02}.py").write_text("\n\n".join(lines), encoding="utf-8")
    (place.folder / "shop/docs/long.md").write_text("# Long\n\n" + "An orchard has apples.\n\n" * 400, encoding="utf-8")
    index_everything(place)
    with Server(place, "shop", "--site", "site.json", "--tools", "full", "--budget", "1000") as server:
        server.wait_until(is_served, "get_index_status")
        server.call_all(
            ("search_code", {"query": "orchard", "top_k": 50}), ("search_docs", {"query": "orchard"}),
            ("search_by_path", {"pattern": "**", "limit": 500}), ("search_documents", {"query": "apples orchard", "limit": 100}),
            ("read_document", {"uri": "docs://docs/long.md"}), ("get_document_outline", {"uri": "docs://docs/long.md"}),
            ("get_article", {"url": "/posts/storing-pears"}), ("search_fruit", {"query": "", "limit": 25}),
            ("searchLocalArchives", {"query": "plums", "includeCitations": True, "citationDepth": 3}),
            ("search", {"query": "orchard apples", "limit": 50}), ("fetch", {"id": "site/fruit/posts/storing-pears"}),
            ("search_index", {"query": "token rate", "index_name": "ideas"}),
            ("fetch", {"id": "project/shop/docs/long.md", "offset": 3000}),
        )  # fmt: skip
        return as_json(server.said)


def confirming(place: Place, revision: str) -> str:
    """Record questions to the user, with every kind of answer."""
    with Server(place, "shop", "--only", "code,indexes", "--tools", "full", revision=revision, can_ask=True) as server:
        server.said.append({"introduction": server.introduction})
        for answer, tool, arguments in (
            (DECLINE, "create_index", {}), (CANCEL, "create_index", {"confirm": True}), (YES, "create_index", {}),
            (DECLINE, "reindex_project", {}), (CANCEL, "delete_index", {"confirm": True}), (YES, "reindex_project", {}),
            ({"action": "accept", "content": {"confirm": False}}, "delete_index", {}),
            ({"action": "accept", "content": {}}, "delete_index", {}), (YES, "delete_index", {}),
        ):  # fmt: skip
            server.answers = [answer]
            server.call(tool, **arguments)
        server.call("search_create_index", index_name="mine")
        for answer in (DECLINE, YES):
            server.answers = [answer]
            server.call("search_delete_index", index_name="mine")
        return as_json(server.said)


def confirming_older(place: Place) -> str:
    """Record the questions in the older revision, where the server asks in a request of its own."""
    return confirming(place, OLDER)


def confirming_newer(place: Place) -> str:
    """Record the questions in the newer revision, where the reply contains the question."""
    return confirming(place, NEWER)


def newer_revision(place: Place) -> str:
    """Record a call of each kind in the newer revision."""
    index_everything(place)
    with Server(place, "shop", "--site", "site.json", "--tools", "full", revision=NEWER) as server:
        server.wait_until(is_served, "get_index_status")
        server.said.append({"introduction": server.introduction})
        for name in ("resources", "resources/templates"):
            server.ask(f"{name}/list")
        listed = server.request("tools/list")["result"]
        server.said.append({**listed, "tools": [tool["name"] for tool in listed["tools"]]})
        server.call_all(
            ("search_code", {"query": "discount"}), ("search_code", {"query": ""}), ("search_documents", {"query": "refund"}),
            ("search_fruit", {"query": "pears", "limit": 1}), ("searchLocalArchives", {"query": "quince"}),
            ("search_index", {"query": "token", "index_name": "ideas"}), ("search", {"query": "refund"}), ("search_nothing", {}),
            ("delete_index", {}), ("reindex_file", {"path": ".env"}),
        )  # fmt: skip
        server.ask("resources/read", uri="docs://docs/guide.md#refunds")
        server.ask("resources/read", uri="docs://nothing.md")
        return as_json(server.said)


def other_settings(place: Place) -> str:
    """Record a server that finds no project, and one whose settings change descriptions, limits and documentation."""
    with Server(place, "--only", "code,documents", "--tools", "full", cwd="home") as server:
        server.call_all(
            ("search_code", {"query": "cart"}), ("get_index_status", {}), ("create_index", {}), ("list_projects", {}),
            ("search_documents", {"query": "cart"}), ("reindex_file", {"path": "x"}), ("delete_index", {"confirm": True}),
        )  # fmt: skip
        server.ask("resources/list")
        said = [{"server": "without a project"}, *server.said]
    settings = {"encoder": "none", "enhancedToolDescriptions": True, "maxFiles": 3, "indexDocs": False, "exclude": 5}
    (place.home / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with Server(place, "shop", "--only", "code") as server:
        listed = server.request("tools/list")["result"]["tools"]
        server.said.append({tool["name"]: tool["description"] for tool in listed})
        server.call("create_index")
        server.call("create_index", confirm=True)
        server.wait_until(is_kept, "get_index_status")
        server.call_all(
            ("search_docs", {"query": "refund"}), ("search_code", {"query": "discount"}), ("get_index_status", {}),
        )  # fmt: skip
        return as_json([*said, {"server": "with other settings"}, *server.said])


def default_encoder(place: Place) -> str:
    """Record which paths are found by meaning with the default encoder; its scores depend on the processor."""
    (place.home / "config.json").unlink()
    shell = Commands(place)
    shell.run_quietly("index", "shop")
    told = {}
    for query in ("purchase the basket", "money back", "greet the browser"):
        _, stdout, _ = shell.run_quietly("search", query, "shop", "--json")
        found = json.loads(stdout)
        told[query] = {"paths": sorted(one["path"] for one in found["results"]), "by": sorted(found["searchedBy"])}
    return as_json(told)
