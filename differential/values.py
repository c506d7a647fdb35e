"""Arguments for one type, as rules to draw them by: `valid` ones that every launcher takes, and `odd` ones that most
refuse.

A rule is `(weight, name, ...)`: `("values", [...])` gives one of the arguments, in the JSON that cases are written in;
the other names (`int`, `tensor`, `uniform`, `single`, `half`, `bytes`) are explained in native/draw.hpp. Edges come up
often: limits and one past them, both zeros, nan, infinities, subnormals, the largest fp16 and its first neighbour that
overflows.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from relaunch.differential.situation import Argument

from relaunch import generator

Rule: TypeAlias = tuple[Any, ...]
Rules: TypeAlias = list[Rule]

INTEGERS = ("i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64")
MASKED = ("u1", "u8", "u16", "u32", "u64")  # an int of any size is taken modulo 2^width
FLOATS = ("fp16", "bf16", "fp32", "f32", "fp64")

_FLOAT_EDGES = [
    0.0, -0.0, 1.0, -1.5, 0.1, float("inf"), float("-inf"), float("nan"), 65504.0, -65504.0, 65519.99999999999,
    2.0**-14, 2.0**-24, 2.0**-25, 2.0**-25 + 2.0**-60, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 2.0**-126, 2.0**-149, 2.0**-150,
    3.4028234663852886e38, 1.0039062, 1.0078125, 5e-324, 2.2250738585072014e-308,
]  # fmt: skip
_WIDE_FLOATS = [65520.0, 3.4028235677973366e38, 1e39, 1.7976931348623157e308]  # too large for a narrower type
_FP16_OVERFLOWS = [65520.0, -65520.0, 1e5, -1e39, 1.7976931348623157e308]

_RAISES = ("ValueError", "ZeroDivisionError", "KeyboardInterrupt", "TypeError")
_OBJECTS: list[Argument] = [
    {"object": 1}, {"str": "fp16"}, {"str": "1"}, {"float": "0x1.0p+0"}, {"tuple": [1, 2]}, {"list": []}, {"dict": 2},
    {"intlike": 3}, {"floatlike": "0x1.8p+0"}, {"index": 16}, {"tensor": "0x1000"},
    {"float_raises": "ZeroDivisionError"}, {"index_raises": "ZeroDivisionError"},
]  # fmt: skip

TENSORS: Rules = [
    (10, "values", [{"tensor": "0x0"}]),
    (25, "tensor", [0x7F0000000000, 0x700000001000, 0x1000, 0x0], 16, 64),
    (15, "tensor", [0x910000001000], 16, 64),  # the driver answers with another address
    (10, "tensor", [0xFFFFFFFFFFFF0000, 0x7FFFFFFFFFFF0000], 16, 64),
    (40, "tensor", [0x10000000000], 1, 2**40),
]
_POINTERS: Rules = [
    *((7 * weight, *rule) for weight, *rule in TENSORS),
    # Its address is not asked for, so any will do.
    (2, "values", [{"dlpack": hex(at)} for at in (0xBA0000000010, 0x5E0000000010, 0x910000001000, 0x7F0000000000, 0)]),
    (110, "values", [None]),
    (147, "values", [0, 1, 2**63, 2**64 - 1, 139637976727552, True, False, 0xBA0000000010]),
    (40, "values", [{"tensor_returns": answer} for answer in (0, 4096, True, 2**47)]),
]
# Most launchers refuse these: for what they are, or for what the driver says of their address.
ODD_POINTERS: Rules = [
    (15, "values", [-1, 2**64, -(2**63), 2**70]),
    (15, "values", [{"tensor_returns": one} for one in (None, {"str": "x"}, {"float": "0x1.0p+4"})]),
    (15, "values", [{"tensor_returns": one} for one in (-1, 2**64, -(2**70))]),
    (30, "tensor", [0xBA0000000010], 16, 16),
    (10, "tensor", [0x5E0000000010], 16, 16),
    (10, "values", [{"tensor_raises": name} for name in _RAISES]),
    (15, "values", [entry for entry in _OBJECTS if "tensor" not in entry]),
    (4, "values", [{"dlpack": hex(at)} for at in (0xBA0000000010, 0x5E0000000010, 0x7F0000000000)]),
]
_CONSTANTS: Rules = [
    (70, "values", [1, 64, 128, True, None, {"str": "fp16"}, {"float": "0x1.0p+0"}]),
    (30, "values", _OBJECTS),
]
ODD_DESCRIPTORS: Rules = [
    # Never one whose `tma_desc_cpu_ptr()` gives an address that a launcher would read and that is no memory.
    (50, "values", [None, 0, *_OBJECTS]),
    (15, "values", [{"descriptor_raises": name} for name in _RAISES]),
    (15, "values", [{"descriptor_unaligned": 1}]),
    (20, "values", [
        {"descriptor_returns": one}
        for one in (0, None, {"str": "x"}, {"float": "0x1.0p+6"}, {"index": 64}, -1, 2**64, -(2**70))
    ]),
]  # fmt: skip


def real(value: float) -> Argument:
    """A float as cases write it."""
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


def valid(kind: str, dialect: str) -> Rules:
    """Arguments that launchers take for this type. KeyError for an unknown one."""
    if kind.startswith("*"):
        return _POINTERS
    if kind in INTEGERS:
        return _integers(kind, dialect)
    if kind in FLOATS:
        return _floats(kind)
    if kind == "constexpr":
        return _CONSTANTS
    return [(1, "bytes", descriptor_bytes(kind, dialect))]


def odd(kind: str, dialect: str) -> Rules:
    """Arguments that are likely to be refused for this type, or on which launchers are known to differ."""
    if kind.startswith("*"):
        return ODD_POINTERS
    if kind in INTEGERS:
        return _odd_integers(kind, dialect)
    if kind in FLOATS:
        return _odd_floats(kind)
    return _CONSTANTS if kind == "constexpr" else ODD_DESCRIPTORS


def descriptor_bytes(kind: str, dialect: str) -> int:
    """The size of a descriptor passed by value; KeyError where the type is none."""
    found = generator.facts(dialect)
    source = found.descriptor.source
    return source.size if source is not None and kind == found.descriptor.name else found.types[kind].size


def _integers(kind: str, dialect: str) -> Rules:
    low, high = value_range(kind, dialect)
    edges = sorted({low, low + 1, -1 if low < 0 else 0, 0, 1, 2, 16, 1024 % (high + 1), high - 1, high})
    masked: list[int] = [-1, high + 1, high + 6, -high - 1, 2**70, -(2**63)] if kind in MASKED else []
    if generator.facts(dialect).native:  # those mask no more than a C unsigned long
        masked = [value for value in masked if 0 <= value < 2**64]
    return [
        (55, "values", edges),
        (33, "int", low, high),
        (4, "values", [True, False]),
        (4, "values", masked or edges),
        (4, "values", edges if kind == "u64" else [{"index": value} for value in edges]),
    ]


def _odd_integers(kind: str, dialect: str) -> Rules:
    low, high = value_range(kind, dialect)
    outside = [low - 1, high + 1, 2**31, -(2**31) - 1, 2**63, -(2**63) - 1, 2**64, 2**70, -(2**70)]
    moved = [-128, -1, -5, 128, 200, 255, -129, 256] if kind == "i8" else outside
    return [
        *((20, "values", values) for values in (outside, moved)),
        *((5, "values", [{"index": value} for value in values]) for values in (outside, moved)),
        (50, "values", [None, *_OBJECTS]),
    ]


def _floats(kind: str) -> Rules:
    edges = _FLOAT_EDGES + ([] if kind == "fp16" else _WIDE_FLOATS)
    return [
        (45, "values", [real(value) for value in edges]),
        (25, "uniform", -1000.0, 1000.0),
        (12, "half" if kind == "fp16" else "single"),
        (12, "values", [0, 1, -3, 7, 2048, 2049, True, False]),
        (6, "values", [{"floatlike": "0x1.8p+0"}, {"index": 3}, {"index": -1}]),
    ]


def _odd_floats(kind: str) -> Rules:
    overflows = [*map(real, _FP16_OVERFLOWS), 65536]
    return [
        (25 if kind == "fp16" else 0, "values", overflows),
        (75, "values", [None, 10**309, -(10**309), *_OBJECTS]),
    ]
