"""ONNX files, written field by field: a dozen fields of the format are enough, and the onnx package is large."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TENSOR_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
"""The format's numbers for what a tensor holds."""
MICROSOFT_DOMAIN = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""
IR_VERSION, OPSET_VERSION, MICROSOFT_OPSET_VERSION = 9, 17, 1
"""Versions that every ONNX Runtime of these years reads."""
_EXTERNAL_LOCATION = 1
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
        fields = [_bytes_field(1, one.encode()) for one in inputs] + [
            _bytes_field(2, name.encode()),
            _bytes_field(4, kind.encode()),
        ]
        fields += [_bytes_field(5, _attribute(key, value)) for key, value in attributes.items()]
        self._nodes.append(b"".join(fields) + _bytes_field(7, domain.encode()))

    def add_weight(self, value: "NDArray[np.generic] | np.generic") -> str:
        """Numbers inside the file."""
        import numpy as np

        name, array = self._name("w"), np.asarray(value)
        fields = (
            _shape(array.shape) + _integer_field(2, TENSOR_TYPES[str(array.dtype)]) + _bytes_field(8, name.encode())
        )
        self._weights.append(fields + _bytes_field(9, array.astype(array.dtype.newbyteorder("<")).tobytes()))
        return name

    def add_stored_weights(self, value: StoredWeights) -> str:
        """Numbers that stay in the file they lie in."""
        name = self._name("w")
        place = {"location": value.file, "offset": str(value.offset), "length": str(value.size)}
        told = [
            _bytes_field(13, _bytes_field(1, key.encode()) + _bytes_field(2, one.encode()))
            for key, one in place.items()
        ]
        fields = _shape(value.shape) + _integer_field(2, TENSOR_TYPES[value.kind]) + _bytes_field(8, name.encode())
        self._weights.append(fields + b"".join(told) + _integer_field(14, _EXTERNAL_LOCATION))
        return name

    def serialize(self, inputs: dict[str, str], outputs: dict[str, Sequence[str | int]]) -> bytes:
        """The file: inputs of integers by name and kind, outputs of numbers by name and shape."""
        rows = ("texts", "tokens")
        fields = [_bytes_field(1, node) for node in self._nodes] + [_bytes_field(2, b"encoder")]
        fields += [_bytes_field(5, weight) for weight in self._weights]
        fields += [_bytes_field(11, _value_info(name, kind, rows)) for name, kind in inputs.items()]
        fields += [_bytes_field(12, _value_info(name, "float32", shape)) for name, shape in outputs.items()]
        versions = [
            _integer_field(2, OPSET_VERSION),
            _bytes_field(1, MICROSOFT_DOMAIN.encode()) + _integer_field(2, MICROSOFT_OPSET_VERSION),
        ]
        head = _integer_field(1, IR_VERSION) + _bytes_field(2, b"dowse") + _bytes_field(7, b"".join(fields))
        return head + b"".join(_bytes_field(8, version) for version in versions)

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"


def replace_attribute(model: bytes, name: str, old: int, new: int) -> bytes:
    """Return a model in which every node's attribute of this name and value has another value."""
    return model.replace(_bytes_field(5, _attribute(name, old)), _bytes_field(5, _attribute(name, new)))


def _value_info(name: str, kind: str, shape: Sequence[str | int]) -> bytes:
    sizes = [_bytes_field(2, one.encode()) if isinstance(one, str) else _integer_field(1, one) for one in shape]
    tensor = _integer_field(1, TENSOR_TYPES[kind]) + _bytes_field(2, b"".join(_bytes_field(1, size) for size in sizes))
    return _bytes_field(1, name.encode()) + _bytes_field(2, _bytes_field(1, tensor))


def _attribute(name: str, value: int | float | Sequence[int]) -> bytes:
    head = _bytes_field(1, name.encode())
    if isinstance(value, float):
        return head + _field_tag(2, 5) + struct.pack("<f", value) + _integer_field(20, _FLOAT)
    if isinstance(value, int):
        return head + _integer_field(3, value) + _integer_field(20, _INT)
    return head + b"".join(_integer_field(8, one) for one in value) + _integer_field(20, _INTS)


def _shape(sizes: Sequence[int]) -> bytes:
    return b"".join(_integer_field(1, size) for size in sizes)


def _bytes_field(field: int, value: bytes) -> bytes:
    return _field_tag(field, 2) + _varint(len(value)) + value


def _integer_field(field: int, value: int) -> bytes:
    return _field_tag(field, 0) + _varint(value)


def _field_tag(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; a negative number as the format has it, in 64 bits."""
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
