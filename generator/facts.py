"""What a dialect's facts consist of. One frozen instance per dialect lies in `dialects/`.

Every string here that reaches C is written in this package: nothing of a signature is ever put into a `Facts`.
C expressions are over the names of `Facts.prefix` and `Facts.metadata`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from relaunch.generator.converters import CONVERTERS, Converter


class Intake(Enum):
    """How a parsed argument becomes a kernel parameter."""

    VALUE = "value"  # as parsed
    PACKED = "packed"  # a double narrowed by the function `TypeFacts.pack`
    POINTER = "pointer"  # None, an int or an object with data_ptr()
    DESCRIPTOR = "descriptor"  # the bytes that `DescriptorFacts.source` tells where to find
    NOTHING = "nothing"  # taken and ignored


@dataclass(frozen=True)
class TypeFacts:
    """One type of a signature."""

    parsed: str  # C type that the argument parser writes
    format: str  # a name of `CONVERTERS`; for generated launchers a format character of PyArg_ParseTuple
    parameter: str  # C type that the kernel parameter points at; "" for none
    size: int  # bytes of the host slot that the kernel parameter points at; 0 for none
    intake: Intake = Intake.VALUE
    pack: str = ""  # C function, Intake.PACKED only
    read: int | None = None  # bytes that the kernel reads from the slot, where they are not all of it

    @property
    def converter(self) -> Converter:
        """What is accepted, and what becomes of a value that does not fit."""
        return CONVERTERS[self.format]

    @property
    def kernel_size(self) -> int:
        """Bytes of the parameter as the kernel declares it."""
        return self.size if self.read is None else self.read


def declaration(c_type: str, name: str) -> str:
    """`int32_t name`, `PyObject *name`."""
    return f"{c_type}{name}" if c_type.endswith("*") else f"{c_type} {name}"


@dataclass(frozen=True)
class Positional:
    """One argument in front of the kernel's own, or one element of kernel_metadata."""

    c_type: str
    format: str
    name: str  # C name of the local it is parsed into

    @property
    def declaration(self) -> str:
        """The local's C declaration."""
        return declaration(self.c_type, self.name)


@dataclass(frozen=True)
class MetadataFacts:
    """kernel_metadata and how it is read."""

    elements: tuple[Positional, ...]
    error: str = ""  # text of the TypeError that replaces whatever was wrong; "": CPython's own error stays
    any_sequence: bool = False  # False: a tuple alone is read


@dataclass(frozen=True)
class Hidden:
    """A parameter behind the kernel's own."""

    name: str
    c_type: str
    size: int  # bytes
    value: str  # C expression in the scope of `launch`; "NULL": always a null pointer
    allocated: str = ""  # bytes that Triton's Python side allocates for it; "": it never does


@dataclass(frozen=True)
class DescriptorSource:
    """Where the bytes of a by-value descriptor come from.

    "method": `member`() of any object gives a host address that is a multiple of `alignment`. "type": the object's
    type is exactly `module`.`member` and the bytes lie `offset` bytes behind its start. "unchecked": as "type", but
    the type is not looked at.
    """

    how: Literal["method", "type", "unchecked"]
    member: str
    c_type: str
    size: int  # bytes
    alignment: int  # of the bytes; 1: not looked at
    module: str = ""
    offset: int = 0


@dataclass(frozen=True)
class DescriptorFacts:
    """Descriptors: how one is passed by value, and how a `tensordesc<...>` entry of rank n is expanded.

    With metadata an entry becomes `name`, n i32 of shape, n i64 of strides. Without: a pointer, 2n i64 of shape and
    strides, `padding`, then n i32 and n i64 as before.
    """

    name: str  # the type of a descriptor passed by value in an expanded signature
    source: DescriptorSource | None  # None: there is no such type
    expanded: bool  # whether the dialect has `tensordesc<...>` entries
    metadata: bool  # whether it takes metadata about them
    padding: tuple[str, ...] = ()  # flags of a descriptor without metadata: padding is NaN; rounded to tf32
    inside_tuples: bool = False
    im2col: bool = False  # whether there are `tensordesc_im2col<..., input_rank=N>` entries: N is their rank
    found_by: Literal["", "class", "signature"] = ""  # what tells Triton's Python side that an argument is one
    doubles_packed_shape: bool = False  # fp4_padded: the last i32 of the shape is doubled in what is passed too
    last_stride_is_one: bool = False  # AssertionError where metadata is given and the last stride is not 1
    encode_error: Literal["", "short", "full"] = ""  # the text where the driver refuses to encode a tensor map
    one_flag: bool = False  # one flag says for all descriptors of a kernel whether there is metadata


@dataclass(frozen=True)
class Attribute:
    """A launch attribute: `words` are C ints that fill the start of its value, the rest is zero."""

    name: str  # the vendor's enumerator
    id: int
    words: tuple[str, ...]  # C expressions
    when: str = ""  # C condition; "": always


@dataclass(frozen=True)
class Way:
    """One way to call the driver, taken when `when` holds and no way before it was."""

    function: str
    when: str = ""  # C condition; "": always
    attributes: tuple[Attribute, ...] = ()  # in the order in which they are set


@dataclass(frozen=True)
class LaunchFacts:
    """What the driver is asked for. The grid's product is a 32-bit one that wraps."""

    skipped: Literal["product <= 0", "product == 0"]  # the grids that are not launched, without an error
    ways: tuple[Way, ...]  # the last one is always taken
    factors: tuple[str, str, str]  # C expressions that multiply the grid's dimensions
    scaled: str  # C condition under which they do; "": always
    warp_size: Literal["32", "baked", "argument"]  # threads; baked into the source, or an argument of the call
    non_portable: str = ""  # C condition under which non-portable cluster sizes are allowed on the function first
    stops_at_failure: bool = False  # a failed call before the launch prevents it; otherwise it is launched anyway
    gil_released: bool = False


@dataclass(frozen=True)
class PointerFacts:
    """How an object becomes a device address. None gives 0; an int is taken as it is and never checked."""

    query: str  # driver function asked for the device pointer of what data_ptr() gives, unless that is 0
    lookup: Literal["attribute", "method"]  # data_ptr: looked up then called, or called by its interned name
    missing: Literal["refused", "launched as 0", "dies"]  # an object without data_ptr
    raising: Literal["dies", "replaced"]  # data_ptr() raises: its error is replaced by the one of `missing`
    other_status: Literal["raised", "undefined", "address kept"]  # the query fails otherwise than by invalid value
    clears_error: bool  # asks the runtime for its last error after an invalid value
    index: Literal["original", "flattened", "none", "undefined"]  # the number in the text of the invalid value
    leaks: tuple[Literal["zero", "not an int"], ...]  # results of data_ptr() whose reference is lost


@dataclass(frozen=True)
class HookFacts:
    """Hooks are called with launch_metadata unless they are None."""

    call: Literal["tuple", "one argument"]
    leaks: bool  # the reference to what a hook returned is lost
    default: Literal["None", "HookChain"]  # what Triton passes where no hook is set


@dataclass(frozen=True)
class ModuleFacts:
    """The launcher's module: what its init does and what it needs of the driver."""

    imports: tuple[tuple[str, str], ...] = ()  # (module, attribute) kept for good
    interned: tuple[str, ...] = ()  # method names
    symbols: Literal["linked", "dlsym", "hipGetProcAddress"] = "linked"
    functions: tuple[str, ...] = ()  # driver symbols, in the order in which they are looked up
    optional: tuple[str, ...] = ()  # of those, the ones that may be missing
    library: str = ""  # SONAME of the driver
    lazy: tuple[str, ...] = ()  # driver symbols looked up at the first launch that needs one

    @property
    def linked(self) -> tuple[str, ...]:
        """The driver symbols that the launcher is linked against."""
        return self.functions if self.symbols == "linked" else ()


class Step(Enum):
    """A step of `launch`; `Facts.steps` has the order."""

    CONTEXT = "context"  # makes device 0's primary context current where the thread has none; a failure stays pending
    ARGUMENTS = "arguments"  # parses all positional arguments; scalars are converted here, tuples' lengths checked
    METADATA = "metadata"
    ENTER_HOOK = "enter_hook"
    SCRATCH = "scratch"  # pointers of `Facts.scratch`, in order
    POINTERS = "pointers"  # all pointer arguments, in flattened order
    DESCRIPTORS = "descriptors"  # all by-value descriptors, in flattened order
    PACKING = "packing"  # floats narrowed; a failure stays pending
    FLAT_ARGUMENTS = "flat_arguments"  # every argument converted in flattened order; the first failure ends it
    LAUNCH = "launch"
    PENDING_ERROR = "pending_error"  # raises what any step before it left pending
    EXIT_HOOK = "exit_hook"


@dataclass(frozen=True)
class Fault:
    """Something that a released launcher gets wrong. `text` is one sentence.

    `about` are the kinds of argument that it needs, any of them (types, "pointer", "tuple", "descriptor"); empty: every
    call can meet it. `mended` are the ids of docs/divergences.md by which the precompiled launcher does without it, in
    dialects whose launchers were generated and in native ones.
    """

    name: str
    text: str
    about: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    mended_native: tuple[str, ...] = ()
    kept: str = ""  # what the precompiled launcher keeps of it
    upstream: str = ""  # what mended it in Triton


@dataclass(frozen=True)
class Facts:
    """The released behaviour of one dialect."""

    dialect: str
    backend: str  # "cuda", "hip" or one of `backend.Backend`
    releases: tuple[str, ...]  # whose launcher this is
    recorded: str  # the release that the files in tests/golden were recorded from
    native: bool  # one compiled launcher serves every signature: there is nothing to generate
    types: Mapping[str, TypeFacts]
    pointer: TypeFacts  # every type whose first character is '*'
    prefix: tuple[Positional, ...]  # positional arguments before the kernel's, in order
    metadata: MetadataFacts
    scratch: tuple[str, ...]  # objects of the prefix that become addresses, in order
    hidden: tuple[Hidden, ...]  # kernel parameters behind the kernel's own
    descriptor: DescriptorFacts
    folds_constants: bool  # entries folded into the kernel are listed by index: parsed, asked for, no parameter
    tuples: bool
    launch: LaunchFacts
    pointers: PointerFacts
    hooks: HookFacts
    steps: tuple[Step, ...]
    module: ModuleFacts
    driver_error: str  # printf format of a driver's refusal, a RuntimeError: its text, on HIP its code before
    faults: tuple[Fault, ...]

    @property
    def ensures_context(self) -> bool:
        """Whether a thread without a context gets one."""
        return Step.CONTEXT in self.steps

    @property
    def exit_hook_after_failure(self) -> bool:
        """Whether the exit hook is called after a launch that failed."""
        return self.steps.index(Step.EXIT_HOOK) < self.steps.index(Step.PENDING_ERROR)

    @property
    def takes_constexpr(self) -> bool:
        """Whether `constexpr` entries are arguments (ignored ones)."""
        return "constexpr" in self.types
