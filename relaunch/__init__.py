"""One precompiled GPU kernel launcher in place of C code generated per signature."""

from __future__ import annotations

from relaunch._core import (
    ARG_CONSTEXPR,
    ARG_KERNEL,
    ARG_TUPLE,
    BindError,
    Launcher,
    PyKernelArg,
    SignatureError,
    TensorMap,
    Tree,
    parse,
)

__all__ = [
    "ARG_CONSTEXPR",
    "ARG_KERNEL",
    "ARG_TUPLE",
    "BindError",
    "Launcher",
    "PyKernelArg",
    "SignatureError",
    "TensorMap",
    "Tree",
    "parse",
]
