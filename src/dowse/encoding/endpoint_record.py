"""A small file of the storage root that identifies the model behind an endpoint."""

import base64
import contextlib
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import NotWritable, SettingsError
from dowse.platform import make_private_folder, storage_root, write_atomically
from dowse.settings import read_json

if TYPE_CHECKING:
    from dowse.encoder_endpoint import EncoderEndpoint
    from dowse.types import Vectors

_PREFIX = "endpoint-"
_NAME_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class EndpointRecord:
    """The model that answered at an endpoint last."""

    probe: "Vectors"
    """The vector of one text, which names the model: another one may answer under the same name."""
    common: "Vectors | None" = None
    """The direction that all vectors of the model have in common; None if there is hardly any."""

    @property
    def dimensions(self) -> int:
        """The number of dimensions of all vectors."""
        return len(self.probe)


def is_endpoint_version(version: str) -> bool:
    """Return whether an endpoint made the vectors of this version."""
    return version.startswith(_PREFIX)


def version_of(endpoint: "EncoderEndpoint", record: EndpointRecord | None = None) -> str:
    """Return the version of the vectors of an endpoint, without asking it."""
    known = record or read_record(endpoint)
    model = hashlib.sha256(known.probe.astype("<f4").tobytes()).hexdigest()[:6] if known else "unknown"
    return f"{_name(endpoint)}-{model}"


def read_record(endpoint: "EncoderEndpoint") -> EndpointRecord | None:
    """Return what is known of the model behind an endpoint; None if it was never asked."""
    import numpy as np

    file = _file(endpoint)
    if not file.exists():
        return None
    try:
        content = read_json(file)
        vectors = {
            key: np.frombuffer(base64.b64decode(content[key], validate=True), "<f4")
            for key in ("probe", "common")
            if content.get(key)
        }
        return EndpointRecord(vectors["probe"], vectors.get("common"))
    except (SettingsError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write_record(endpoint: "EncoderEndpoint", record: EndpointRecord) -> None:
    """Remember the model behind an endpoint. Where nothing can be written, it is asked again next time."""
    texts = {
        key: base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii") if vector is not None else None
        for key, vector in (("probe", record.probe), ("common", record.common))
    }
    with contextlib.suppress(NotWritable):
        make_private_folder(storage_root())
        write_atomically(_file(endpoint), json.dumps({"endpoint": str(endpoint), **texts}).encode())


def _file(endpoint: "EncoderEndpoint") -> Path:
    return storage_root() / f"{_name(endpoint)}.json"


def _name(endpoint: "EncoderEndpoint") -> str:
    """Return the first part of the version: everything that changes the vectors counts."""
    parts = (endpoint.url, endpoint.model, endpoint.query_prefix, endpoint.document_prefix)
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8]
    return f"{_PREFIX}{re.sub(r'[^A-Za-z0-9.]+', '-', endpoint.model).strip('-')[:_NAME_CHARACTERS]}-{digest}"
