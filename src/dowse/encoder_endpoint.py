"""The setting of an encoder behind an OpenAI-compatible endpoint, such as Ollama, llama.cpp or vLLM."""

import re
from dataclasses import dataclass
from typing import Any

_KEYS = {"url", "model", "keyVariable", "allowRemote", "queryPrefix", "documentPrefix"}


@dataclass(frozen=True, slots=True)
class EncoderEndpoint:
    """A server with an OpenAI-compatible endpoint that encodes texts. Only the user's own file may name one."""

    url: str
    """The full address of the endpoint."""
    model: str
    key_variable: str | None = None
    """The environment variable that has the key of the server."""
    query_prefix: str = ""
    document_prefix: str = ""
    is_local: bool = True
    """Whether the address is on this machine."""

    def __str__(self) -> str:
        return f"{self.model} at {self.url}"


def parse_endpoint(value: dict[str, Any]) -> EncoderEndpoint:
    """Return the endpoint that the setting `encoder` describes; raise ValueError with what is wrong."""
    if unknown := sorted(set(value) - _KEYS):
        raise ValueError(f"has an unknown key {unknown[0]!r}; it may have {', '.join(sorted(_KEYS))}")
    for key in ("url", "model"):
        if not isinstance(value.get(key), str) or not value[key].strip():
            raise ValueError(f"has no text as {key!r}")
    for key in ("keyVariable", "queryPrefix", "documentPrefix"):
        if not isinstance(value.get(key, ""), str):
            raise ValueError(f"has a {key!r} that is not text")
    if not isinstance(value.get("allowRemote", False), bool):
        raise ValueError("has an 'allowRemote' that is not true or false")
    url, is_local = _parse_url(value["url"])
    if not is_local and not value.get("allowRemote"):
        raise ValueError(
            "names a server on another machine, to which the text of your files would be sent; "
            'add "allowRemote": true to allow it'
        )
    return EncoderEndpoint(
        url,
        value["model"],
        value.get("keyVariable") or None,
        value.get("queryPrefix", ""),
        value.get("documentPrefix", ""),
        is_local,
    )


def _parse_url(url: str) -> tuple[str, bool]:
    """Return the address of the endpoint at a server's address, and whether it is on this machine."""
    from urllib.parse import urlsplit, urlunsplit  # here because few settings have an address

    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ValueError(f"has a 'url' that is not an address ({error})") from error
    if parts.scheme not in ("http", "https") or not host or not url.isascii() or re.search(r"[\s\x00-\x1f]", url):
        raise ValueError("has a 'url' that is not an address such as 'http://127.0.0.1:11434'")
    if "@" in parts.netloc:
        raise ValueError("has a name or password in its 'url'; name an environment variable as 'keyVariable'")
    is_local = is_loopback(host)
    if parts.scheme == "http" and not is_local:
        raise ValueError("has a 'url' that is not encrypted; http:// is allowed only to this machine, use https://")
    path = parts.path.rstrip("/") or "/v1"
    path = path if path.endswith("/embeddings") else f"{path}/embeddings"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")), is_local


def is_loopback(host: str) -> bool:
    """Return whether the name or IP address of a host means this machine."""
    import ipaddress

    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
