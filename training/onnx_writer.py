"""A writer of ONNX files. It needs only a dozen fields of the format, and the onnx package is large."""

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TENSOR_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
"""The numbers of the tensor types in the format."""
MICROSOFT_DOMAIN = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""
IR_VERSION, OPSET_VERSION, MICROSOFT_OPSET_VERSION = 9, 17, 1
"""Versions that all current releases of ONNX Runtime read."""
_FLOAT, _INT, _INTS = 1, 2, 7


class Input(NamedTuple):
    """The type and the shape of an input."""

    kind: str
    shape: Sequence[str | int] = ("texts", "tokens")


class OnnxGraph:
    """A graph of nodes and weights. A name refers to the output of a node or to a weight."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._weights: list[bytes] = []
        self._count = 0

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: int | float | Sequence[int]) -> str:
        """Add a node and return the name of its output. An empty input name leaves that input out."""
        name = self._name(kind)
        self.add_named(name, kind, *inputs, domain=domain, **attributes)
        return name

    def add_named(
        self, name: str, kind: str, *inputs: str, domain: str = "", **attributes: int | float | Sequence[int]
    ) -> None:
        """Add a node whose output has a given name."""
        fields = [_bytes_field(1, value.encode()) for value in inputs] + [
            _bytes_field(2, name.encode()),
            _bytes_field(4, kind.encode()),
        ]
        fields += [_bytes_field(5, _attribute(key, value)) for key, value in attributes.items()]
        self._nodes.append(b"".join(fields) + _bytes_field(7, domain.encode()))

    def add_weight(self, value: "NDArray[np.generic] | np.generic") -> str:
        """Add weights that are stored in the graph and return their name."""
        import numpy as np

        name, array = self._name("w"), np.asarray(value)
        fields = (
            _shape(array.shape) + _integer_field(2, TENSOR_TYPES[str(array.dtype)]) + _bytes_field(8, name.encode())
        )
        self._weights.append(fields + _bytes_field(9, array.astype(array.dtype.newbyteorder("<")).tobytes()))
        return name

    def serialize(self, inputs: dict[str, Input], outputs: dict[str, Sequence[str | int]]) -> bytes:
        """Return the file, with its inputs by name and its float outputs by name and shape."""
        fields = [_bytes_field(1, node) for node in self._nodes] + [_bytes_field(2, b"encoder")]
        fields += [_bytes_field(5, weight) for weight in self._weights]
        fields += [_bytes_field(11, _value_info(name, *about)) for name, about in inputs.items()]
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


def _value_info(name: str, kind: str, shape: Sequence[str | int]) -> bytes:
    sizes = [_bytes_field(2, size.encode()) if isinstance(size, str) else _integer_field(1, size) for size in shape]
    tensor = _integer_field(1, TENSOR_TYPES[kind]) + _bytes_field(2, b"".join(_bytes_field(1, size) for size in sizes))
    return _bytes_field(1, name.encode()) + _bytes_field(2, _bytes_field(1, tensor))


def _attribute(name: str, value: int | float | Sequence[int]) -> bytes:
    head = _bytes_field(1, name.encode())
    if isinstance(value, float):
        return head + _field_tag(2, 5) + struct.pack("<f", value) + _integer_field(20, _FLOAT)
    if isinstance(value, int):
        return head + _integer_field(3, value) + _integer_field(20, _INT)
    return head + b"".join(_integer_field(8, number) for number in value) + _integer_field(20, _INTS)


def _shape(sizes: Sequence[int]) -> bytes:
    return b"".join(_integer_field(1, size) for size in sizes)


def _bytes_field(field: int, value: bytes) -> bytes:
    return _field_tag(field, 2) + _varint(len(value)) + value


def _integer_field(field: int, value: int) -> bytes:
    return _field_tag(field, 0) + _varint(value)


def _field_tag(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _varint(value: int) -> bytes:
    """Encode an integer with seven bits in each byte, lowest first; a negative number takes 64 bits."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
