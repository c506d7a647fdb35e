"""One precompiled GPU kernel launcher in place of C code generated per signature."""

from __future__ import annotations

from relaunch._core import (
    ARG_CONSTEXPR,
    ARG_KERNEL,
    ARG_TUPLE,
    DIALECTS,
    BinaryError,
    BindError,
    KernelParameters,
    Launcher,
    Plan,
    PyKernelArg,
    SignatureError,
    TensorMap,
    Tree,
    Verification,
    find_kernel,
    parse,
    read_kernels,
    verify_kernel,
)

__all__ = [
    "ARG_CONSTEXPR",
    "ARG_KERNEL",
    "ARG_TUPLE",
    "DIALECTS",
    "BinaryError",
    "BindError",
    "KernelParameters",
    "Launcher",
    "Plan",
    "PyKernelArg",
    "SignatureError",
    "TensorMap",
    "Tree",
    "Verification",
    "find_kernel",
    "parse",
    "read_kernels",
    "verify_kernel",
]
