"""How one Python value becomes one C value, by the name of what does it. All take booleans as the ints they are.

Refused kinds of values are a TypeError, refused ints an OverflowError, and an error raised by `__index__` or
`__float__` stays. An accepted int that the C type cannot hold is reduced modulo 2 to the number of its bits.
Sources: CPython's documentation of PyArg_ParseTuple and of the integer API; recorded calls in tests/golden.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Converter:
    """One conversion. `accepted` are the ints that do not raise OverflowError, both ends included; None: every int."""

    takes: str  # kinds of values
    accepted: tuple[int, int] | None = None


def _signed(bits: int) -> tuple[int, int]:
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


_INDEX = "int, __index__"
_FLOAT = "float, int, __float__, __index__"

CONVERTERS: Mapping[str, Converter] = {
    # Format characters of PyArg_ParseTuple.
    "b": Converter(_INDEX, (0, 255)),  # the name says signed, the test is for unsigned
    "B": Converter(_INDEX),
    "h": Converter(_INDEX, _signed(16)),
    "H": Converter(_INDEX),
    "i": Converter(_INDEX, _signed(32)),
    "I": Converter(_INDEX),
    "l": Converter(_INDEX, _signed(64)),
    "L": Converter(_INDEX, _signed(64)),
    "K": Converter("int"),
    "f": Converter(_FLOAT),
    "d": Converter(_FLOAT),
    "p": Converter("anything that has a truth value"),
    "O": Converter("any object"),
    "y*": Converter("bytes-like object"),
    # Functions of the C API.
    "PyLong_AsLong": Converter(_INDEX, _signed(64)),
    "PyLong_AsLongLong": Converter(_INDEX, _signed(64)),
    "PyLong_AsUnsignedLong": Converter("int", (0, 2**64 - 1)),
    "PyLong_AsUnsignedLongLong": Converter("int", (0, 2**64 - 1)),
    "PyFloat_AsDouble": Converter(_FLOAT),
}
