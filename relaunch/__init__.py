"""One precompiled GPU kernel launcher in place of C code generated per signature."""

from __future__ import annotations

from relaunch._core import (
    ARG_CONSTEXPR,
    ARG_KERNEL,
    ARG_TUPLE,
    DIALECTS,
    BindError,
    Launcher,
    Plan,
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
    "DIALECTS",
    "Launcher",
    "Plan",
    "PyKernelArg",
    "SignatureError",
    "TensorMap",
    "Tree",
    "parse",
]
