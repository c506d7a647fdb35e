"""Arguments for one type: `valid` ones that every launcher takes, and `odd` ones that most refuse.

Both are drawn from a seeded `random.Random`, as the JSON that cases are written in. Edges come up often: limits and one
past them, both zeros, nan, infinities, subnormals, the largest fp16 and its first neighbour that overflows.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random
from typing import Any

from relaunch.differential.case import Signature
from relaunch.differential.situation import Argument

from relaunch import generator

Draw = Callable[[Random], Argument]

INTEGERS = ("i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64")
MASKED = ("u1", "u8", "u16", "u32", "u64")  # an int of any size is taken modulo 2^width
FLOATS = ("fp16", "bf16", "fp32", "f32", "fp64")

_FLOAT_EDGES = [
    0.0, -0.0, 1.0, -1.5, 0.1, float("inf"), float("-inf"), float("nan"), 65504.0, -65504.0, 65519.99999999999,
    2.0**-14, 2.0**-24, 2.0**-25, 2.0**-25 + 2.0**-60, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 2.0**-126, 2.0**-149, 2.0**-150,
    3.4028234663852886e38, 1.0039062, 1.0078125, 5e-324, 2.2250738585072014e-308,
]  # fmt: skip
_WIDE_FLOATS = [65520.0, 3.4028235677973366e38, 1e39, 1.7976931348623157e308]  # too large for a narrower type
_FP16_OVERFLOWS = [65520.0, -65520.0, 1e5, -1e39, 1.7976931348623157e308, 65536]

_RAISES = ("ValueError", "ZeroDivisionError", "KeyboardInterrupt", "TypeError")
_OBJECTS: list[Argument] = [
    {"object": 1}, {"str": "fp16"}, {"str": "1"}, {"float": "0x1.0p+0"}, {"tuple": [1, 2]}, {"list": []}, {"dict": 2},
    {"intlike": 3}, {"floatlike": "0x1.8p+0"}, {"index": 16}, {"tensor": "0x1000"},
    {"float_raises": "ZeroDivisionError"}, {"index_raises": "ZeroDivisionError"},
]  # fmt: skip


def real(value: float) -> Argument:
    if value != value:
        return {"float": "nan"}
    if value in (float("inf"), float("-inf")):
        return {"float": "inf" if value > 0 else "-inf"}
    return {"float": value.hex()}


def value_range(kind: str, dialect: str) -> tuple[int, int]:
    """The lowest and the highest int that a legacy launcher takes for the type without changing it."""
    bits = 8 * generator.facts(dialect).types[kind].size
    if kind == "i8":
        return 0, 127
    if kind.startswith("u") or (kind == "i1" and bits == 8):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def _integer(kind: str, dialect: str) -> Draw:
    low, high = value_range(kind, dialect)
    edges = sorted({low, low + 1, -1 if low < 0 else 0, 0, 1, 2, 16, 1024 % (high + 1), high - 1, high})
    masked: list[int] = [-1, high + 1, high + 6, -high - 1, 2**70, -(2**63)] if kind in MASKED else []

    def draw(rng: Random) -> Argument:
        roll = rng.random()
        if roll < 0.55:
            return rng.choice(edges)
        if roll < 0.88:
            return rng.randint(low, high)
        if roll < 0.92:
            return rng.random() < 0.5
        if roll < 0.96 and masked:
            return rng.choice(masked)
        value = rng.choice(edges)
        return value if kind == "u64" else {"index": value}

    return draw


def _floating(kind: str) -> Draw:
    edges = _FLOAT_EDGES + ([] if kind == "fp16" else _WIDE_FLOATS)

    def draw(rng: Random) -> Argument:
        roll = rng.random()
        if roll < 0.45:
            return real(rng.choice(edges))
        if roll < 0.70:
            return real(rng.uniform(-1000.0, 1000.0))
        if roll < 0.82:
            bits = rng.getrandbits(32)
            value = struct.unpack("<f", struct.pack("<I", bits))[0]
            return real(value if kind != "fp16" or abs(value) < 65504 else value % 1)
        if roll < 0.94:
            return rng.choice([0, 1, -3, 7, 2048, 2049, True, False])
        return rng.choice([{"floatlike": "0x1.8p+0"}, {"index": 3}, {"index": -1}])

    return draw


def tensor(rng: Random) -> Argument:
    roll = rng.random()
    if roll < 0.1:
        return {"tensor": "0x0"}
    if roll < 0.35:
        return {"tensor": hex(rng.choice([0x7F0000000000, 0x700000001000, 0x1000, 0x0]) + 16 * rng.randrange(64))}
    if roll < 0.5:  # the driver answers with another address
        return {"tensor": hex(0x910000001000 + 16 * rng.randrange(64))}
    if roll < 0.6:
        return {"tensor": hex(rng.choice([0xFFFFFFFFFFFF0000, 0x7FFFFFFFFFFF0000]) + 16 * rng.randrange(64))}
    return {"tensor": hex(0x10000000000 + rng.getrandbits(40))}


def _pointer(rng: Random) -> Argument:
    roll = rng.random()
    if roll < 0.7:
        return tensor(rng)
    if roll < 0.72:  # its address is not asked for, so any will do
        return {"dlpack": hex(rng.choice([0xBA0000000010, 0x5E0000000010, 0x910000001000, 0x7F0000000000, 0]))}
    if roll < 0.82:
        return None
    if roll < 0.96:
        return rng.choice([0, 1, 2**63, 2**64 - 1, 139637976727552, True, False, 0xBA0000000010])
    return {"tensor_returns": rng.choice([0, 4096, True, 2**47])}


def _descriptor(kind: str, dialect: str) -> Draw:
    size = generator.facts(dialect).types[kind].size
    return lambda rng: {"tensormap": rng.randbytes(size).hex()}


def _constant(rng: Random) -> Argument:
    if rng.random() < 0.7:
        return rng.choice([1, 64, 128, True, None, {"str": "fp16"}, {"float": "0x1.0p+0"}])
    return rng.choice(_OBJECTS)


def valid(kind: Any, dialect: str) -> Draw:
    """A drawer of arguments that launchers take for this type or tuple of types. KeyError for an unknown type."""
    if isinstance(kind, tuple):
        return _tuple(kind, dialect)
    if kind.startswith("*"):
        return _pointer
    if kind in INTEGERS:
        return _integer(kind, dialect)
    if kind in FLOATS:
        return _floating(kind)
    return _constant if kind == "constexpr" else _descriptor(kind, dialect)


def _tuple(kinds: Signature, dialect: str) -> Draw:
    items = [valid(kind, dialect) for kind in kinds]

    def draw(rng: Random) -> Argument:
        return {rng.choice(("tuple", "tuple", "list", "namedtuple")): [item(rng) for item in items]}

    return draw


def _odd_integer(kind: str, dialect: str, rng: Random) -> Argument:
    low, high = value_range(kind, dialect)
    if kind == "i8" and rng.random() < 0.6:
        value = rng.choice([-128, -1, -5, 128, 200, 255, -129, 256])
        return value if rng.random() < 0.8 else {"index": value}
    if rng.random() < 0.5:
        value = rng.choice([low - 1, high + 1, 2**31, -(2**31) - 1, 2**63, -(2**63) - 1, 2**64, 2**70, -(2**70)])
        return value if rng.random() < 0.8 else {"index": value}
    return rng.choice([None, *_OBJECTS])


def _odd_float(kind: str, rng: Random) -> Argument:
    if kind == "fp16" and rng.random() < 0.6:
        value = rng.choice(_FP16_OVERFLOWS)
        return value if isinstance(value, int) else real(value)
    return rng.choice([None, 10**309, -(10**309), *_OBJECTS])


def odd_pointer(rng: Random) -> Argument:
    """One that most launchers refuse: for what it is, or for what the driver says of its address."""
    roll = rng.random()
    if roll < 0.25:
        return rng.choice([-1, 2**64, -(2**63), 2**70])
    if roll < 0.5:
        return {"tensor_returns": rng.choice([None, {"str": "x"}, {"float": "0x1.0p+4"}, -1, 2**64, -(2**70)])}
    if roll < 0.75:
        return {"tensor": hex(rng.choice([0xBA0000000010, 0x5E0000000010]) + 16 * rng.randrange(16))}
    if roll < 0.87:
        return {"tensor_raises": rng.choice(_RAISES)}
    return rng.choice([entry for entry in _OBJECTS if "tensor" not in entry])


def _odd_tuple(kinds: Signature, dialect: str, rng: Random) -> Argument:
    items = [valid(kind, dialect)(rng) for kind in kinds]
    roll = rng.random()
    if roll < 0.35:
        return {rng.choice(("tuple", "list")): [*items, 1]}
    if roll < 0.6 and items:
        return {"tuple": items[:-1]}
    return rng.choice([None, 1, {"object": 1}, {"dict": len(items)}, {"str": "ab"}, {"float": "0x1.0p+0"}])


def odd(kind: Any, dialect: str, rng: Random) -> Argument:
    """One argument that is likely to be refused for this type, or on which launchers are known to differ."""
    if isinstance(kind, tuple):
        return _odd_tuple(kind, dialect, rng)
    if kind.startswith("*"):
        return odd_pointer(rng)
    if kind in INTEGERS:
        return _odd_integer(kind, dialect, rng)
    if kind in FLOATS:
        return _odd_float(kind, rng)
    if kind == "constexpr":
        return _constant(rng)
    return _odd_descriptor(rng)


def _odd_descriptor(rng: Random) -> Argument:
    """Never one whose `tma_desc_cpu_ptr()` gives an address that a launcher would read and that is no memory."""
    if rng.random() < 0.5:
        return rng.choice([None, 0, *_OBJECTS])
    if rng.random() < 0.3:
        return {"descriptor_raises": rng.choice(_RAISES)}
    returned = rng.choice([0, None, {"str": "x"}, {"float": "0x1.0p+6"}, {"index": 64}, -1, 2**64, -(2**70)])
    return rng.choice([{"descriptor_unaligned": 1}, {"descriptor_returns": returned}])
