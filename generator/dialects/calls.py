"""Pieces of call prefixes, metadata tuples and steps that several dialects share."""

from __future__ import annotations

from relaunch.generator.facts import Hidden, Positional, Step

GRID = (Positional("int", "i", "grid_x"), Positional("int", "i", "grid_y"), Positional("int", "i", "grid_z"))
TARGET = (Positional("uint64_t", "K", "stream"), Positional("uint64_t", "K", "function"))
COOPERATIVE = Positional("int", "p", "cooperative")
PDL = Positional("int", "p", "pdl")
GLOBAL_SCRATCH = Positional("PyObject *", "O", "global_scratch")
PROFILE_SCRATCH = Positional("PyObject *", "O", "profile_scratch")
KERNEL_METADATA = Positional("PyObject *", "O", "kernel_metadata")
HOOKS = (
    Positional("PyObject *", "O", "launch_metadata"),
    Positional("PyObject *", "O", "enter_hook"),
    Positional("PyObject *", "O", "exit_hook"),
)

# What a native launcher takes where a generated one takes the kernel's own arguments.
NATIVE_ARGUMENTS = (
    Positional("PyObject *", "O", "argument_annotations"),
    Positional("Py_buffer", "y*", "kernel_signature"),
    Positional("PyObject *", "O", "kernel_arguments"),
)

COUNTS = (
    Positional("int", "i", "num_warps"),
    Positional("int", "i", "num_ctas"),
    Positional("int", "i", "shared"),
)
CLUSTER = (
    Positional("int", "i", "cluster_x"),
    Positional("int", "i", "cluster_y"),
    Positional("int", "i", "cluster_z"),
)

PARSED = (Step.ARGUMENTS, Step.METADATA, Step.ENTER_HOOK)
CHECKED_FIRST = (Step.LAUNCH, Step.PENDING_ERROR, Step.EXIT_HOOK)
HOOK_FIRST = (Step.LAUNCH, Step.EXIT_HOOK, Step.PENDING_ERROR)

PER_BLOCK = "grid_x * grid_y * grid_z * size"


def scratch(name: str, c_type: str, allocated: str) -> Hidden:
    """A hidden pointer to what the call passes as `name`."""
    return Hidden(name, c_type, 8, f"{name}_pointer", allocated)
