"""ONNX files, written field by field: a dozen fields of the format are enough, and the onnx package is large."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
"""The format's numbers for what a tensor holds."""
OWN = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""
FORMAT, OPERATORS, OWN_OPERATORS = 9, 17, 1
"""Versions that every ONNX Runtime of these years reads."""
_EXTERNAL = 1
_FLOAT, _INT, _INTS = 1, 2, 7


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """Numbers that lie in another file."""

    file: str
    offset: int
    size: int
    shape: tuple[int, ...]
    kind: str = "float32"


class OnnxGraph:
    """Nodes and weights as they are added; a name stands for what it computes."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._weights: list[bytes] = []
        self._count = 0

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: int | float | Sequence[int]) -> str:
        """A node; the name of its output. An empty name is an input that is left out."""
        name = self._name(kind)
        self.add_named(name, kind, *inputs, domain=domain, **attributes)
        return name

    def add_named(
        self, name: str, kind: str, *inputs: str, domain: str = "", **attributes: int | float | Sequence[int]
    ) -> None:
        """A node whose output has a name that others know."""
        fields = [_bytes(1, one.encode()) for one in inputs] + [_bytes(2, name.encode()), _bytes(4, kind.encode())]
        fields += [_bytes(5, _attribute(key, value)) for key, value in attributes.items()]
        self._nodes.append(b"".join(fields) + _bytes(7, domain.encode()))

    def weight(self, value: "NDArray[np.generic] | np.generic") -> str:
        """Numbers inside the file."""
        import numpy as np

        name, array = self._name("w"), np.asarray(value)
        fields = _shape(array.shape) + _number(2, TYPES[str(array.dtype)]) + _bytes(8, name.encode())
        self._weights.append(fields + _bytes(9, array.astype(array.dtype.newbyteorder("<")).tobytes()))
        return name

    def stored(self, value: StoredWeights) -> str:
        """Numbers that stay in the file they lie in."""
        name = self._name("w")
        place = {"location": value.file, "offset": str(value.offset), "length": str(value.size)}
        told = [_bytes(13, _bytes(1, key.encode()) + _bytes(2, one.encode())) for key, one in place.items()]
        fields = _shape(value.shape) + _number(2, TYPES[value.kind]) + _bytes(8, name.encode())
        self._weights.append(fields + b"".join(told) + _number(14, _EXTERNAL))
        return name

    def model(self, inputs: dict[str, str], outputs: dict[str, Sequence[str | int]]) -> bytes:
        """The file: inputs of integers by name and kind, outputs of numbers by name and shape."""
        rows = ("texts", "tokens")
        fields = [_bytes(1, node) for node in self._nodes] + [_bytes(2, b"encoder")]
        fields += [_bytes(5, weight) for weight in self._weights]
        fields += [_bytes(11, _value(name, kind, rows)) for name, kind in inputs.items()]
        fields += [_bytes(12, _value(name, "float32", shape)) for name, shape in outputs.items()]
        versions = [_number(2, OPERATORS), _bytes(1, OWN.encode()) + _number(2, OWN_OPERATORS)]
        head = _number(1, FORMAT) + _bytes(2, b"dowse") + _bytes(7, b"".join(fields))
        return head + b"".join(_bytes(8, version) for version in versions)

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"


def replace_attribute(model: bytes, name: str, old: int, new: int) -> bytes:
    """Return a model in which every node's attribute of this name and value has another value."""
    return model.replace(_bytes(5, _attribute(name, old)), _bytes(5, _attribute(name, new)))


def _value(name: str, kind: str, shape: Sequence[str | int]) -> bytes:
    sizes = [_bytes(2, one.encode()) if isinstance(one, str) else _number(1, one) for one in shape]
    tensor = _number(1, TYPES[kind]) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, tensor))


def _attribute(name: str, value: int | float | Sequence[int]) -> bytes:
    head = _bytes(1, name.encode())
    if isinstance(value, float):
        return head + _key(2, 5) + struct.pack("<f", value) + _number(20, _FLOAT)
    if isinstance(value, int):
        return head + _number(3, value) + _number(20, _INT)
    return head + b"".join(_number(8, one) for one in value) + _number(20, _INTS)


def _shape(sizes: Sequence[int]) -> bytes:
    return b"".join(_number(1, size) for size in sizes)


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, 2) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value)


def _key(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; a negative number as the format has it, in 64 bits."""
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
