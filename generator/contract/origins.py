"""Where the facts of each release were read, how sure that is, and what Triton itself does around the launcher.

Everything here is about releases, not about C: pages show it, templates of launchers never see it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from relaunch.generator.facts import Facts


@dataclass(frozen=True)
class Origin:
    """The state of Triton's repository that was read for a release, and what ties the two together."""

    read_at: str
    how_sure: str


ORIGINS: Mapping[str, Origin] = {
    "3.0": Origin(
        "commit 2f773a72d (June 2024)",
        "Not the exact branch point: line numbers in public tracebacks of 3.0.0 fit this state, and no commit near it "
        "touches the launcher.",
    ),
    "3.1": Origin(
        "commit 2f773a72d (June 2024)",
        "Line numbers in public tracebacks of 3.1.0 are those of 3.0.0: the launcher is the same.",
    ),
    "3.2": Origin(
        "commit 152ef2deb with #3731 and #5276",
        "The version was set on that commit; line numbers in public tracebacks of 3.2.0 ask for exactly these two "
        "changes on top.",
    ),
    "3.3": Origin("commit 96316ce50 (March 2025)", "A commit of the release branch."),
    "3.4": Origin("commit c817b9b63 (July 2025)", "The tip of the release branch."),
    "3.5": Origin("commit cfc0a9d14 (August 2025)", "The launcher files of a vendored 3.5 wheel have this text."),
    "3.6": Origin(
        "the released 3.6.0 wheel; commit a9641d762", "All launcher files of the wheel are those of the commit."
    ),
    "3.7": Origin(
        "commit d2b392541 (#6788, January 2026) and its backport",
        "Read in the commit that made the launcher native; the 3.7.0 wheel is what was recorded.",
    ),
    "3.8": Origin("the released 3.8.0 wheel", "The launcher's text is that of 3.9.0."),
    "3.9": Origin("the released 3.9.0 wheel", "Read in the wheel."),
}


@dataclass(frozen=True)
class Specialised:
    """What Triton's JIT writes into the signature for one kind of value; `since` has (first release, type)."""

    value: str
    since: tuple[tuple[float, str], ...]


# What a caller of the launcher meets from Triton's own JIT, by the release from which on it holds.
SPECIALISED: tuple[Specialised, ...] = (
    Specialised("None", ((3.0, "`*i8`, folded: passed and asked for, no parameter"), (3.3, "`constexpr`"))),
    Specialised("bool", ((3.0, "`i1`"), (3.4, "`u1`"))),
    Specialised(
        "int 1, unless told not to specialise",
        ((3.0, "`i32`, folded: passed, no parameter"), (3.3, "`constexpr`")),
    ),
    Specialised("other ints", ((3.0, "`i32` if it fits, `u64` from 2^63 to 2^64 - 1, else `i64`"),)),
    Specialised("float", ((3.0, "`fp32`"),)),
    Specialised("has `data_ptr`", ((3.0, "`*dtype`; `*kdtype` for a const pointer"),)),
    Specialised(
        "has `tma_desc_cpu_ptr`",
        ((3.0, "as `data_ptr`: not known"), (3.2, "`nvTmaDesc`"), (3.5, "not known any more")),
    ),
    Specialised("tuple, namedtuple", ((3.0, "not supported"), (3.3, "a tuple of types"))),
    Specialised("tensor descriptor", ((3.0, "not supported"), (3.4, "`tensordesc<dtype[b0, b1]>`"))),
    Specialised(
        "parameter annotated `tl.constexpr`",
        ((3.0, "not in the signature and not passed"), (3.3, "`constexpr`")),
    ),
    Specialised(
        "annotated with a type",
        ((3.0, "that type, if an int, uint or bool width (bool: `u1`)"), (3.4, "that type, floats and pointers too")),
    ),
)


def specialised(found: Facts) -> list[tuple[str, str]]:
    """(kind of value, what it is in a signature) for the releases of a dialect."""
    release = float(found.releases[0])
    return [(one.value, [text for since, text in one.since if since <= release][-1]) for one in SPECIALISED]


# The byte that stands for a type in `kernel_signature`, native launchers only; every pointer is 1.
TYPE_BYTES: Mapping[str, int] = {
    "*...": 1,
    "i8": 2,
    "i16": 3,
    "i1": 4,
    "i32": 4,
    "i64": 5,
    "u8": 6,
    "u16": 7,
    "u1": 8,
    "u32": 8,
    "u64": 9,
    "fp16": 10,
    "bf16": 11,
    "fp32": 12,
    "f32": 12,
    "fp64": 13,
    "nvTmaDesc": 14,
    "tensordesc": 14,
}


def type_bytes(found: Facts) -> list[tuple[str, int]]:
    """(type, byte) of a native dialect, by byte; none of a generated one."""
    return [(name, byte) for name, byte in TYPE_BYTES.items() if name in found.types or name == "*..."] * found.native


# What the positional arguments mean; formats and C types are facts.
MEANINGS: Mapping[str, str] = {
    "grid_x": "blocks along x",
    "grid_y": "blocks along y",
    "grid_z": "blocks along z",
    "stream": "the driver's stream handle",
    "function": "the driver's function handle",
    "cooperative": "a cooperative launch",
    "pdl": "programmatic dependent launch",
    "global_scratch": "None, an int or an object with `data_ptr()`",
    "profile_scratch": "None, an int or an object with `data_ptr()`",
    "kernel_metadata": "see below",
    "launch_metadata": "what hooks are called with",
    "enter_hook": "None or a callable",
    "exit_hook": "None or a callable",
    "warp_size": "threads of a warp",
    "argument_annotations": "one `PyKernelArg(nested_tuple, type)` an argument: 0 skips it, 1 takes it, 2 opens it",
    "kernel_signature": "one byte a parameter, from `build_signature_metadata(list of types)`",
    "kernel_arguments": "the kernel's arguments, one sequence",
}

ELEMENTS: Mapping[str, str] = {
    "num_warps": "warps of a block, all groups of a warp-specialised kernel together",
    "num_ctas": "blocks of a cluster",
    "shared": "bytes of dynamic shared memory",
    "cluster_x": "blocks of a cluster along x",
    "cluster_y": "blocks of a cluster along y",
    "cluster_z": "blocks of a cluster along z",
}


def python_side(found: Facts) -> list[str]:
    """What Triton's Python launcher object does before the C function is called, a sentence each."""
    inserted = [f"`{one.name}`" for one in found.prefix if one.name in _INSERTED]
    said = [f"Triton calls its launcher object with `({_FIXED}, *arguments)`."]
    if inserted:
        said.append(f"The object adds {', '.join(inserted)}: from the kernel's metadata, or allocated.")
    else:
        said.append("The object hands everything on as it is.")
    if found.folds_constants:
        said.append("`*arguments` are all but the `tl.constexpr` ones; None and folded 1s are passed.")
    else:
        said.append("`*arguments` are all bound arguments in declaration order, constexpr ones included.")
    if found.descriptor.expanded:
        said.append("Descriptor objects are replaced by their expansion first, so before any hook.")
    if found.backend == "hip" and "3.5" in found.releases:
        said.append("More than one CTA is a ValueError while options are read.")
    if found.backend == "hip" and float(found.releases[0]) >= 3.6:
        said.append("More than one CTA is a ValueError while options are read, unless the architecture has clusters.")
    if found.backend == "hip" and found.native:
        said.append("A cooperative kernel on a device without cooperative launches is an AssertionError.")
    if found.descriptor.im2col:
        said.append("A sanitizer's buffers come behind `*arguments`: `*i8` in 3.8, `*i8, *i8, i64` in 3.9.")
    if any(hidden.allocated for hidden in found.hidden):
        said.append(
            "Scratch of more than 0 bytes is allocated first, by the allocator the user has set. Without one: "
            "RuntimeError `Kernel requires a runtime memory allocation, but no allocator was set. Use "
            "triton.set_allocator to specify an allocator.`"
        )
        if "3.9" in found.releases:
            said.append("Profile scratch is then allocated by Triton itself, as zeroed bytes on the launch's stream.")
    return said


_FIXED = "grid_x, grid_y, grid_z, stream, function, kernel_metadata, launch_metadata, enter_hook, exit_hook"
_INSERTED = {
    "cooperative",
    "pdl",
    "global_scratch",
    "profile_scratch",
    "warp_size",
    "argument_annotations",
    "kernel_signature",
}
