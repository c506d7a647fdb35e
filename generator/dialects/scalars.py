"""Scalar types as the launchers of 3.5 and 3.6 parse and pass them, on both backends."""

from __future__ import annotations

from collections.abc import Mapping

from relaunch.generator.facts import Intake, Positional, TypeFacts

SCALARS: Mapping[str, TypeFacts] = {
    "i1": TypeFacts("int8_t", "b", "int8_t", 1),
    "u1": TypeFacts("uint8_t", "B", "uint8_t", 1),
    "i8": TypeFacts("int8_t", "b", "int8_t", 1),
    "u8": TypeFacts("uint8_t", "B", "uint8_t", 1),
    "i16": TypeFacts("int16_t", "h", "int16_t", 2),
    "u16": TypeFacts("uint16_t", "H", "uint16_t", 2),
    "i32": TypeFacts("int32_t", "i", "int32_t", 4),
    "u32": TypeFacts("uint32_t", "I", "uint32_t", 4),
    "i64": TypeFacts("int64_t", "L", "int64_t", 8),
    "u64": TypeFacts("uint64_t", "K", "uint64_t", 8),
    "fp16": TypeFacts("double", "d", "uint16_t", 2, Intake.PACKED, "pack_fp16"),
    "bf16": TypeFacts("double", "d", "uint16_t", 2, Intake.PACKED, "pack_bf16"),
    "fp32": TypeFacts("double", "d", "uint32_t", 4, Intake.PACKED, "pack_fp32"),
    "f32": TypeFacts("double", "d", "uint32_t", 4, Intake.PACKED, "pack_fp32"),
    "fp64": TypeFacts("double", "d", "uint64_t", 8, Intake.PACKED, "pack_fp64"),
    "constexpr": TypeFacts("PyObject *", "O", "", 0, Intake.NOTHING),
}

GRID = (Positional("int", "i", "grid_x"), Positional("int", "i", "grid_y"), Positional("int", "i", "grid_z"))
TARGET = (Positional("uint64_t", "K", "stream"), Positional("uint64_t", "K", "function"))
HOOKS = (
    Positional("PyObject *", "O", "kernel_metadata"),
    Positional("PyObject *", "O", "launch_metadata"),
    Positional("PyObject *", "O", "enter_hook"),
    Positional("PyObject *", "O", "exit_hook"),
)
METADATA = (
    Positional("int", "i", "num_warps"),
    Positional("int", "i", "num_ctas"),
    Positional("int", "i", "shared"),
)
