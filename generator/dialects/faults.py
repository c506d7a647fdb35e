"""What released launchers get wrong, each described once. Dialects list those that they have.

A regenerated launcher has them too, except that it raises the error at hand where the released one dies of a null
pointer. What the precompiled launcher mends is named by its entry in docs/divergences.md; what it has to keep, because
kernels may rely on it (`MASKED`), or cannot have, names none. Sources: generator/contract/origins.py.
"""

from __future__ import annotations

from relaunch.generator.facts import Fault

POINTER = ("pointer",)
DESCRIPTOR = ("descriptor",)

NEGATIVE_I8 = Fault(
    "negative-i8",
    "An i8, and from 3.5 on an i1, is accepted from 0 to 255: every negative value is an OverflowError.",
    about=("i1", "i8"),
    mended=("D03",),
    kept="i1: kept",
)
MASKED = Fault(
    "masked",
    "Unsigned values that do not fit, negative ones too, lose their upper bits without an error.",
    about=("u1", "u8", "u16", "u32", "u64"),
    kept="kept; `strict=True` raises",
)
TRUNCATED = Fault(
    "truncated",
    "i1, i8, i16, i32, u1, u8, u16 and u32 values that do not fit lose their upper bits without an error.",
    about=("i1", "i8", "i16", "i32", "u1", "u8", "u16", "u32"),
    mended_native=("D22",),
    kept="i1 and unsigned types: kept; `strict=True` raises",
)
HALF_OF_A_FLOAT = Fault(
    "half-of-a-float",
    "An fp16 or bf16 argument is passed as a C float: the kernel reads the float's lower half.",
    about=("fp16", "bf16"),
    mended=("D14", "D15"),
    upstream="#7439, in 3.4",
)
WRAPPED_GRID = Fault(
    "wrapped-grid",
    "Whether there is anything to launch is asked of a 32-bit product of the grid: a grid whose product wraps to 0 or "
    "below is skipped without an error, and two negative dimensions are launched.",
    mended=("D01", "D02"),
    mended_native=("D17", "D20"),
)
WRAPPED_GRID_ZERO = Fault(
    "wrapped-grid",
    "Whether there is anything to launch is asked of a 32-bit product of the grid: a grid whose product wraps to 0 is "
    "skipped without an error, and negative dimensions reach the driver.",
    mended=("D01", "D02"),
    mended_native=("D17", "D20"),
)
BAD_INT_POINTER = Fault(
    "bad-int-pointer",
    "A pointer given as an int that is negative or has more than 64 bits is launched as the address of all ones; the "
    "OverflowError is raised afterwards.",
    about=POINTER,
    mended=("D05",),
    mended_native=("D23",),
)
FP16_OVERFLOW = Fault(
    "fp16-overflow",
    "An fp16 argument of 65520 or more leaves its two bytes undefined and is launched; the OverflowError is raised "
    "afterwards.",
    about=("fp16",),
    mended=("D04",),
)
FP16_OVERFLOW_EARLY = Fault(
    "fp16-overflow",
    "An fp16 argument of 65520 or more leaves its two bytes undefined and an OverflowError pending while the hook and "
    "data_ptr() run: they may fail by it, or the kernel is launched and the error raised afterwards.",
    about=("fp16",),
    mended=("D16",),
)
PENDING_CONTEXT = Fault(
    "pending-context",
    "Without a usable context the call goes on, hooks included, and raises RuntimeError at the end.",
    mended=("D09",),
)
UNKNOWN_STATUS = Fault(
    "unknown-status",
    "Where the pointer query fails otherwise than by an invalid value, an undefined address is launched.",
    about=POINTER,
    mended=("D11",),
)
DATA_PTR_RAISES = Fault("data-ptr-raises", "The process dies where data_ptr() raises.", about=POINTER)
DATA_PTR_REPLACED = Fault(
    "data-ptr-replaced",
    "An exception raised inside data_ptr() is replaced by a TypeError.",
    about=POINTER,
    mended=("D06",),
    mended_native=("D24",),
)
NO_DATA_PTR_LAUNCHED = Fault(
    "no-data-ptr",
    "An object without data_ptr is launched as address 0; the TypeError is raised afterwards.",
    about=POINTER,
    mended=("D13",),
)
NO_DATA_PTR_DIES = Fault(
    "no-data-ptr",
    "The process dies of an object without data_ptr, or whose data_ptr() raises.",
    about=POINTER,
    mended=("D06",),
)
EXIT_HOOK_AFTER_FAILURE = Fault(
    "exit-hook-after-failure",
    "The exit hook is called after a launch that failed, with the error pending: what is raised depends on the hook.",
    mended=("D10",),
    mended_native=("D18",),
)
CLUSTER_ATTRIBUTE = Fault(
    "non-portable-cluster",
    "Where allowing a cluster of 16 fails, the kernel is launched anyway and the error raised.",
    mended=("D08",),
)
WRONG_DESCRIPTOR_DIES = Fault(
    "wrong-descriptor", "The process dies of a descriptor argument of another type.", about=DESCRIPTOR
)
ANY_DESCRIPTOR = Fault(
    "any-descriptor",
    "Descriptor bytes are copied from an object of any type.",
    about=DESCRIPTOR,
    mended_native=("D25",),
)
LAZY_SYMBOL = Fault("lazy-symbol", "The process dies at the first launch where the driver lacks cuLaunchKernelEx.")
CTAS_IGNORED = Fault(
    "ctas-ignored", "num_ctas has no effect: neither the grid nor an attribute knows of it.", kept="kept"
)
DOUBLED_SHAPE = Fault(
    "doubled-shape",
    "The last dimension of a packed fp4 descriptor's shape is passed doubled.",
    about=DESCRIPTOR,
    kept="kept",
    upstream="#9012, in 3.7",
)
UNCOUNTED_ARGUMENTS = Fault(
    "uncounted-arguments",
    "The arguments are not counted: surplus ones are ignored, missing ones read out of bounds, in tuples too.",
    mended_native=("D19", "D21"),
)
NO_INDEX = Fault(
    "no-index", "The error about a pointer that the device cannot access does not say which one.", about=POINTER
)
WRONG_INDEX = Fault(
    "wrong-index", "The error about a pointer that the device cannot access gives a random number.", about=POINTER
)
FIVE_ATTRIBUTES = Fault(
    "five-attributes", "The array of launch attributes has room for four: all five at once are written past its end."
)
DESCRIPTOR_COPY = Fault(
    "descriptor-alignment",
    "A tensor map is copied to the stack, where it must be 128-byte aligned but is aligned as CUDA's headers say: 64 "
    "bytes with those of CUDA 12, a ValueError at random.",
    about=DESCRIPTOR,
    upstream="#9499",
)
LEAKED_RESULTS = Fault("leaks", "Results of data_ptr() that are not an int or are 0, and those of hooks, are leaked.")
LEAKED_POINTERS = Fault("leaks", "Results of data_ptr() that are not an int or are 0 are leaked.", about=POINTER)
LEAKED_ZERO = Fault("leaks", "Results of data_ptr() that are 0 are leaked.", about=POINTER)
LEAKED_NOT_INT = Fault("leaks", "Results of data_ptr() that are not an int are leaked.", about=POINTER)
