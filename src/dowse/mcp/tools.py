"""The definition of a tool: its arguments, its output schema, its annotations and its function."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

from dowse.errors import DowseError

Schema = dict[str, Any]
Surface = Literal["code", "documents", "site", "archive", "indexes", "federated"]
SURFACES: tuple[Surface, ...] = ("code", "documents", "site", "archive", "indexes", "federated")
Level = Literal["minimal", "assistant", "standard", "full"]
"""The tools that a server offers: one search over everything, four tools whose replies are text for an assistant, the
usual tools, or all tools."""


class ProseReply(NamedTuple):
    """A reply whose text is prose, with the same facts as structured content."""

    content: dict[str, Any]
    text: str


class Call:
    """One call of a tool: its arguments, and the client behind it. This one has no client."""

    arguments: Mapping[str, Any] = MappingProxyType({})
    """The checked arguments with defaults filled in; None for absent ones."""
    budget_characters = sys.maxsize
    """The budget of the reply, as `wire_characters` counts."""

    @property
    def can_ask(self) -> bool:
        """Whether the user can be asked."""
        return False

    async def ask(
        self, _key: str, _question: str, _fields: Mapping[str, Schema] | None = None
    ) -> dict[str, Any] | None:
        """Ask the user; return None for anything but an accepted answer."""
        return None

    async def roots(self) -> list[str]:
        """Return the folders that a client of the older protocol works in, as URIs."""
        return []

    async def progress(self, _done: float, _total: float | None, _message: str) -> None:
        """Report progress to a client that asked for it."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a server offers."""

    name: str
    title: str
    description: str
    run: Callable[[Call], Awaitable[dict[str, Any] | ProseReply | str]]
    """Answers a call; a reply that is a text has no structured content."""
    output: Schema | None
    """The schema of the structured content; None for a tool whose replies are text."""
    arguments: Mapping[str, Schema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    is_read_only: bool = True
    is_destructive: bool = False
    is_idempotent: bool = True
    is_extra: bool = False
    """Offered only with `--tools full`."""
    failure: Callable[[DowseError], dict[str, Any] | ProseReply | str] | None = None
    """Renders an error, for tools whose specification has its own error texts."""

    @property
    def input_schema(self) -> Schema:
        """The JSON Schema of the arguments."""
        schema: Schema = {"type": "object", "properties": dict(self.arguments), "additionalProperties": False}
        return {**schema, "required": list(self.required)} if self.required else schema


CHANGES = MappingProxyType({"is_read_only": False})
DESTROYS = MappingProxyType({"is_read_only": False, "is_destructive": True})
"""The facts of a tool that changes something, and of one that may remove something as well."""

Method = TypeVar("Method", bound=Callable[..., Any])


def tool(
    title: str,
    output: Schema,
    arguments: Mapping[str, Schema] | None = None,
    required: tuple[str, ...] = (),
    /,
    **facts: Any,
) -> Callable[[Method], Method]:
    """Make a method of a surface the handler of a tool.

    The method's docstring is the description that clients are shown. Its name is that of the tool, unless `facts`,
    which are further fields of the tool, have another.
    """

    def mark(method: Method) -> Method:
        named = {"name": method.__name__, "description": method.__doc__, **facts}
        made = Tool(title=title, run=method, output=output, arguments=arguments or {}, required=required, **named)
        vars(method)["tool"] = made
        return method

    return mark


def tools_of(surface: object, **facts: Any) -> tuple[Tool, ...]:
    """Return the tools whose handlers are methods of a surface, in the order of the methods."""
    marked = [(name, getattr(method, "tool", None)) for name, method in vars(type(surface)).items()]
    return tuple(replace(tool, run=getattr(surface, name), **facts) for name, tool in marked if isinstance(tool, Tool))


ToolProvider = Callable[[Call], Awaitable[Mapping[str, Tool]]]
"""Returns the tools that a client is offered now, by name."""
