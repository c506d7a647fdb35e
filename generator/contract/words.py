"""How facts are said: one short phrase for each value that a fact can have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from relaunch.generator.facts import (
    Attribute,
    DescriptorFacts,
    DescriptorSource,
    Facts,
    Fault,
    Hidden,
    HookFacts,
    Intake,
    LaunchFacts,
    Step,
    TypeFacts,
    Way,
)

STEPS: Mapping[Step, str] = {
    Step.CONTEXT: "context",
    Step.ARGUMENTS: "arguments",
    Step.METADATA: "kernel_metadata",
    Step.ENTER_HOOK: "enter hook",
    Step.SCRATCH: "scratch",
    Step.POINTERS: "pointers",
    Step.DESCRIPTORS: "descriptors",
    Step.PACKING: "packing of floats",
    Step.FLAT_ARGUMENTS: "kernel arguments",
    Step.LAUNCH: "launch",
    Step.PENDING_ERROR: "pending error",
    Step.EXIT_HOOK: "exit hook",
}
_PLACES = ("", "1st", "2nd", "3rd")
_PACKED = {
    "pack_fp16": "rounded half to even",
    "pack_bf16": "cut to the upper half of the float: not rounded",
    "pack_fp32": "cast to float",
    "pack_fp64": "copied",
}


def ordinal(number: int) -> str:
    """`1st`, `12th`; numbers up to 20."""
    return _PLACES[number] if number < len(_PLACES) else f"{number}th"


def power(value: int) -> str:
    """An end of a range: small numbers as they are, others by the power of two beside them."""
    if abs(value) < 2**16:
        return str(value)
    if value < 0:
        return f"-2^{(-value).bit_length() - 1}"
    return f"2^{(value + 1).bit_length() - 1} - 1"


def by_value(one: TypeFacts) -> bool:
    """Whether the type is a descriptor that is passed whole."""
    return one.intake is Intake.DESCRIPTOR


def taken(one: TypeFacts) -> str:
    """Which Python values a scalar type takes, and which ints."""
    takes = one.converter.takes
    return takes if "__float__" in takes else f"{takes}; {accepted(one)}"


def accepted(one: TypeFacts) -> str:
    """Which ints a type takes without an OverflowError."""
    ends = one.converter.accepted
    return "any size" if ends is None else f"{power(ends[0])} to {power(ends[1])}"


def stored(name: str, one: TypeFacts) -> str:
    """What a taken value becomes in the slot."""
    slot = f"{one.size} byte{'s' if one.size > 1 else ''}"
    if one.read is not None:
        slot += f", of which the kernel reads {one.read}"
    how = conversion(name, one)
    return f"{slot}; {how}" if how else slot


def conversion(name: str, one: TypeFacts) -> str:
    """What a taken value loses on its way into the slot; "" for nothing."""
    return _PACKED.get(one.pack) or _narrowed(name, one)


def _narrowed(name: str, one: TypeFacts) -> str:
    if one.parsed == "float":
        return "a C float, whose lower half is read" if one.read is not None else "a C float"
    if one.parsed == "double":
        return "copied"
    bits = one.size * 8
    accepted = one.converter.accepted
    if accepted is None:
        return f"modulo 2^{bits}"
    signed = name.startswith("i")
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    if low <= accepted[0] and accepted[1] <= high:
        return ""
    return f"modulo 2^{bits}" if (accepted[1] - accepted[0]) >= 2**bits else f"the byte's bits: {high + 1} is {low}"


def metadata(found: Facts) -> str:
    """The elements of kernel_metadata."""
    names = ", ".join(element.name for element in found.metadata.elements)
    return f"`({names})`, {'any sequence' if found.metadata.any_sequence else 'a tuple'} of ints"


def constexpr(found: Facts) -> str:
    """What becomes of constexpr parameters in the call."""
    if not found.takes_constexpr:
        return "no such entries: Triton takes them out of signature and call"
    return "taken and ignored; must be there"


def tuples(found: Facts) -> str:
    """What a tuple argument may be."""
    if not found.tuples:
        return "no such entries"
    return "any iterable; its length is not looked at" if found.native else "any sequence of the exact length"


def count(found: Facts) -> str:
    """Whether the kernel's arguments are counted."""
    if found.native:
        return "not looked at: surplus ones are ignored, missing ones read out of bounds"
    return "must be exact, else TypeError"


def hidden(one: Hidden) -> str:
    """Size, value and who allocates it."""
    value = "always null" if one.value == "NULL" else f"the pointer given as `{one.name}`"
    allocated = f"; Triton allocates `{one.allocated}` bytes" if one.allocated else ""
    return f"{one.size} bytes, {value}{allocated}"


def way(one: Way) -> str:
    """A driver function and when it is called."""
    return f"`{one.function}` if {condition(one.when)}" if one.when else f"`{one.function}`"


def condition(text: str) -> str:
    """A C condition as it reads in a sentence."""
    return " and ".join(f"`{part}`" for part in text.split(" && "))


def attribute_name(one: Attribute) -> str:
    """The vendor's enumerator without its family name."""
    return one.name.removeprefix("CU_LAUNCH_ATTRIBUTE_").removeprefix("hipLaunchAttribute")


def attribute(one: Attribute) -> str:
    """Number, value and condition."""
    value = f"`{', '.join(one.words)}`"
    when = f"; if {condition(one.when)}" if one.when else "; always"
    return f"id {one.id}, {4 * len(one.words)} bytes: {value}{when}"


def grid(rules: LaunchFacts) -> str:
    """What the driver gets for the grid."""
    dims = [
        dim if factor == "1" else f"{dim} * {factor}"
        for dim, factor in zip(("grid_x", "grid_y", "grid_z"), rules.factors, strict=True)
    ]
    if all(factor == "1" for factor in rules.factors):
        return "as given"
    shown = f"`({', '.join(dims)})`"
    return f"{shown} if {condition(rules.scaled)}, else as given" if rules.scaled else shown


def block(rules: LaunchFacts) -> str:
    """What the driver gets for the block."""
    threads = "32" if rules.warp_size == "32" else "warp_size"
    where = {"32": "", "baked": "; warp_size is part of the generated source", "argument": ""}[rules.warp_size]
    return f"`({threads} * num_warps, 1, 1)`{where}"


def skipped(rules: LaunchFacts) -> str:
    """Which grids launch nothing."""
    sign = rules.skipped.removeprefix("product ")
    return f"grids whose 32-bit product is `{sign}`, without an error; the hooks run"


def non_portable(rules: LaunchFacts) -> str:
    """What is done for clusters of 16."""
    if not rules.non_portable:
        return "as any other"
    after = "a failure prevents the launch" if rules.stops_at_failure else "launched even where that fails"
    return (
        f"`cuFuncSetAttribute(NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)` first if {condition(rules.non_portable)}; {after}"
    )


def context(found: Facts) -> str:
    """What is done where the thread has no context."""
    if found.ensures_context:
        return "the primary context of device 0 is made current where there is none"
    return "none is made" if found.backend == "cuda" else "no such thing"


def hook_call(rules: HookFacts) -> str:
    """How hooks are called."""
    how = "an argument tuple" if rules.call == "tuple" else "PyObject_CallOneArg"
    leak = "; what it returns is leaked" if rules.leaks else ""
    return f"with launch_metadata, by {how}, unless None{leak}"


def launch_metadata(rules: HookFacts) -> str:
    """What Triton passes as launch_metadata."""
    if rules.default == "None":
        return "None unless an enter hook is set: an exit hook alone gets None"
    return "a lazy dict of name, function, stream, and what the kernel's own `launch_metadata` function adds"


def hook_default(rules: HookFacts) -> str:
    """What Triton passes where the user set no hook."""
    return "None where no hook is set" if rules.default == "None" else "a HookChain, never None"


def pointers(found: Facts) -> Iterator[tuple[str, str]]:
    """How an object becomes an address: (aspect, phrase)."""
    rules = found.pointers
    yield "None", "address 0"
    yield "int", "taken as it is; out of range launches the address of all ones and raises afterwards"
    by = "PyObject_GetAttrString, then a call" if rules.lookup == "attribute" else "PyObject_CallMethodNoArgs"
    yield "object", f"data_ptr() by {by}; 0 is not asked about"
    yield "query", f"`{rules.query}(DEVICE_POINTER)`: the address that it gives is launched"
    missing = {
        "refused": "TypeError, nothing launched",
        "launched as 0": "launched as address 0, TypeError afterwards",
        "dies": "the process dies",
    }
    yield "object without data_ptr", missing[rules.missing]
    yield "data_ptr() raises", "the process dies" if rules.raising == "dies" else "replaced by a TypeError"
    other = {
        "raised": "RuntimeError, nothing launched",
        "undefined": "ignored: an undefined address is launched",
        "address kept": "ignored: the address of data_ptr() is launched",
    }
    yield "query fails otherwise", other[rules.other_status]
    yield "after an invalid value", "hipGetLastError is called" if rules.clears_error else "no further call"
    index = {
        "original": "place in the kernel's parameter list, constexpr ones counted",
        "flattened": "place among all leaves, constexpr ones counted; -1 for scratch",
        "none": "none",
        "undefined": "none is passed: any number",
    }
    yield "number in the error", index[rules.index]
    yield "leaked results of data_ptr()", ", ".join(rules.leaks) or "none"


def descriptors(found: Facts) -> Iterator[tuple[str, str]]:
    """How descriptors are passed: (aspect, phrase)."""
    rules = found.descriptor
    yield "by value", "no such type" if rules.source is None else f"type `{rules.name}`, {source(rules.source)}"
    if not rules.expanded:
        yield "tensordesc entries", "no such entries"
        return
    yield from expansion(rules)
    yield "inside tuples", "expanded too" if rules.inside_tuples else "refused"
    im2col = "`tensordesc_im2col<dtype[...],input_rank=n>`: n counts for shape and strides" if rules.im2col else "none"
    yield "im2col entries", im2col
    found_by = "the argument's class" if rules.found_by == "class" else "the signature"
    yield "Triton finds them by", found_by
    if rules.metadata:
        assertion = "must be 1, else AssertionError" if rules.last_stride_is_one else "not looked at"
        yield "last stride, with metadata", assertion
        doubled = "doubled in what is passed" if rules.doubles_packed_shape else "passed as it is"
        yield "last dimension of packed fp4", doubled


def expansion(rules: DescriptorFacts) -> Iterator[tuple[str, str]]:
    """What a `tensordesc<dtype[...]>` entry of rank n becomes: (with or without metadata, phrase)."""
    flags = "".join(f", `i1` ({what})" for what in ("padding is NaN", "rounded to tf32")[: len(rules.padding)])
    tail = "n `i32` (shape), n `i64` (strides)"
    yield "without metadata", f"`*dtype`, n `i64` (shape), n `i64` (strides){flags}, {tail}"
    if not rules.metadata:
        yield "with metadata", "not taken"
        return
    one = "; one flag for all descriptors of a kernel" if rules.one_flag else ""
    yield "with metadata", f"`{rules.name}`, {tail}{one}"


def encoding(found: Facts) -> Iterator[tuple[str, str]]:
    """How Triton's Python side makes a tensor map from a descriptor object and its metadata: (argument, phrase)."""
    rules = found.descriptor
    if not rules.metadata or found.backend != "cuda":
        return
    rounded = "; 7 is 11 where `round_f32_to_tf32`" if len(rules.padding) > 1 else ""
    yield "data type", f"`elem_type`, renumbered for the driver: 8 is 10, 9 is 8, 10 is 9{rounded}"
    yield "address", "`base.data_ptr()`"
    yield "dims", "the shape, innermost first; the innermost doubled where `fp4_padded`"
    yield "strides", "in bytes (`elem_size` each), innermost first, the innermost itself left out"
    yield "box", "`block_size`, innermost first"
    yield "element strides, interleave, L2 promotion", "1 each, 0, 2 (128 bytes)"
    yield "swizzle", "`swizzle`"
    yield "out-of-bounds fill", "1 where `padding` is `nan`, else 0" if rules.padding else "0"
    reason = "`Triton Error [CUDA]: {reason}`"
    if rules.encode_error == "full":
        reason = (
            "`Triton Error [CUDA]: Failed to create tensor map descriptor: {reason}`, then all of the above in lines"
        )
    yield "refused by the driver", f"RuntimeError {reason}"


def source(one: DescriptorSource) -> str:
    """Where the bytes of a descriptor come from."""
    if one.how == "method":
        return f"{one.size} bytes at what `{one.member}()` gives, a multiple of {one.alignment}"
    check = "exactly of that type" if one.how == "type" else "of any type: not looked at"
    aligned = f", a multiple of {one.alignment}" if one.alignment > 1 else ""
    return f"{one.size} bytes, {one.offset} behind the start{aligned}, of a `{one.member}`: an object {check}"


def module(found: Facts) -> Iterator[tuple[str, str]]:
    """What the launcher's module needs: (aspect, phrase)."""
    rules = found.module
    kind = (
        "generated for each signature: module `__triton_launcher`, built with `-O3 -shared -fPIC`, kept by its content"
    )
    yield "launcher", "one for every signature, part of Triton" if found.native else kind
    yield "function", "`launch`, METH_VARARGS"
    yield "imported at init", ", ".join(f"`{name}.{one}`" for name, one in rules.imports) or "nothing"
    yield "driver library", _library(found)
    yield "driver functions by", "linking" if rules.symbols == "linked" else rules.symbols
    yield "driver functions", ", ".join(rules.functions)
    yield "may be missing", ", ".join(rules.optional) or "none"
    yield "looked up at the first launch", ", ".join(rules.lazy) or "none"


def _library(found: Facts) -> str:
    if found.backend == "cuda":
        return f"`{found.module.library}`"
    return (
        f"`{found.module.library}`: the one that is loaded already, else opened at init; RuntimeError where there is "
        "none, or where it lacks a function"
    )


def mended(found: Facts, fault: Fault) -> tuple[str, ...]:
    """Ids of the divergences by which the precompiled launcher does without the fault."""
    return fault.mended_native if found.native else fault.mended
