"""Scalar types as launchers parse and pass them, by era; the same on both backends."""

from __future__ import annotations

from collections.abc import Mapping

from relaunch.generator.facts import Intake, TypeFacts

_INTEGERS: Mapping[str, TypeFacts] = {
    "i8": TypeFacts("int8_t", "b", "int8_t", 1),
    "u8": TypeFacts("uint8_t", "B", "uint8_t", 1),
    "i16": TypeFacts("int16_t", "h", "int16_t", 2),
    "u16": TypeFacts("uint16_t", "H", "uint16_t", 2),
    "i32": TypeFacts("int32_t", "i", "int32_t", 4),
    "u32": TypeFacts("uint32_t", "I", "uint32_t", 4),
    "i64": TypeFacts("int64_t", "L", "int64_t", 8),
    "u64": TypeFacts("uint64_t", "K", "uint64_t", 8),
}
_WIDE_BOOLEANS: Mapping[str, TypeFacts] = {
    "i1": TypeFacts("int32_t", "i", "int32_t", 4, read=1),
    "u1": TypeFacts("uint32_t", "I", "uint32_t", 4, read=1),
}
_NARROW_BOOLEANS: Mapping[str, TypeFacts] = {
    "i1": TypeFacts("int8_t", "b", "int8_t", 1),
    "u1": TypeFacts("uint8_t", "B", "uint8_t", 1),
}
# A kernel takes the low two bytes of the C float for its fp16 or bf16: never the value that was meant.
_C_FLOATS: Mapping[str, TypeFacts] = {
    "fp16": TypeFacts("float", "f", "float", 4, read=2),
    "bf16": TypeFacts("float", "f", "float", 4, read=2),
    "fp32": TypeFacts("float", "f", "float", 4),
    "f32": TypeFacts("float", "f", "float", 4),
    "fp64": TypeFacts("double", "d", "double", 8),
}
_PACKED_FLOATS: Mapping[str, TypeFacts] = {
    "fp16": TypeFacts("double", "d", "uint16_t", 2, Intake.PACKED, "pack_fp16"),
    "bf16": TypeFacts("double", "d", "uint16_t", 2, Intake.PACKED, "pack_bf16"),
    "fp32": TypeFacts("double", "d", "uint32_t", 4, Intake.PACKED, "pack_fp32"),
    "f32": TypeFacts("double", "d", "uint32_t", 4, Intake.PACKED, "pack_fp32"),
    "fp64": TypeFacts("double", "d", "uint64_t", 8, Intake.PACKED, "pack_fp64"),
}
CONSTEXPR = TypeFacts("PyObject *", "O", "", 0, Intake.NOTHING)

# 3.0 to 3.2: `long` for i64, and entries that are constants never reach the launcher as `constexpr`.
WITHOUT_CONSTEXPR: Mapping[str, TypeFacts] = {
    **_WIDE_BOOLEANS,
    **_INTEGERS,
    "i64": TypeFacts("int64_t", "l", "int64_t", 8),
    **_C_FLOATS,
}
# 3.3
C_FLOATS: Mapping[str, TypeFacts] = {**_WIDE_BOOLEANS, **_INTEGERS, **_C_FLOATS, "constexpr": CONSTEXPR}
# 3.4
WIDE_BOOLEANS: Mapping[str, TypeFacts] = {**_WIDE_BOOLEANS, **_INTEGERS, **_PACKED_FLOATS, "constexpr": CONSTEXPR}
# 3.5, 3.6
SCALARS: Mapping[str, TypeFacts] = {**_NARROW_BOOLEANS, **_INTEGERS, **_PACKED_FLOATS, "constexpr": CONSTEXPR}


def _native(function: str, parameter: str, size: int, *, read: int | None = None) -> TypeFacts:
    return TypeFacts("PyObject *", function, parameter, size, read=read)


# 3.7 on: slots of the native launcher, filled from the objects themselves.
NATIVE: Mapping[str, TypeFacts] = {
    "i1": _native("PyLong_AsLong", "int32_t", 4, read=1),
    "u1": _native("PyLong_AsUnsignedLong", "uint32_t", 4, read=1),
    "i8": _native("PyLong_AsLong", "int8_t", 1),
    "u8": _native("PyLong_AsUnsignedLong", "uint8_t", 1),
    "i16": _native("PyLong_AsLong", "int16_t", 2),
    "u16": _native("PyLong_AsUnsignedLong", "uint16_t", 2),
    "i32": _native("PyLong_AsLong", "int32_t", 4),
    "u32": _native("PyLong_AsUnsignedLong", "uint32_t", 4),
    "i64": _native("PyLong_AsLongLong", "int64_t", 8),
    "u64": _native("PyLong_AsUnsignedLongLong", "uint64_t", 8),
    **{
        name: TypeFacts("PyObject *", "PyFloat_AsDouble", found.parameter, found.size, Intake.PACKED, found.pack)
        for name, found in _PACKED_FLOATS.items()
    },
    "constexpr": CONSTEXPR,
}
