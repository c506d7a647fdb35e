"""What a dialect's facts consist of. One frozen instance per dialect lies in `dialects/`.

Every string here that reaches C is written in this package: nothing of a signature is ever put into a `Facts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Intake(Enum):
    """How a parsed argument becomes a kernel parameter."""

    VALUE = "value"  # as parsed
    PACKED = "packed"  # a double narrowed by the function `TypeFacts.pack`
    POINTER = "pointer"  # None, an int or an object with data_ptr()
    DESCRIPTOR = "descriptor"  # the bytes inside an object of the driver's own descriptor type
    NOTHING = "nothing"  # parsed and ignored


@dataclass(frozen=True)
class TypeFacts:
    """One type of a signature."""

    parsed: str  # C type that the argument parser writes
    format: str  # its format character (PyArg_ParseTuple)
    parameter: str  # C type that the kernel parameter points at; "" for none
    size: int  # bytes of the parameter; 0 for none
    intake: Intake = Intake.VALUE
    pack: str = ""  # C function, Intake.PACKED only


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
class Hidden:
    """A parameter behind the kernel's own."""

    name: str
    c_type: str
    size: int  # bytes
    value: str  # C expression in the scope of `launch`


@dataclass(frozen=True)
class DescriptorFacts:
    """How a `tensordesc<...>` entry of rank n is expanded.

    With metadata: the descriptor itself, n i32 of shape, n i64 of strides. Without: a pointer, 2n i64 of shape and
    strides, `padding`, then n i32 and n i64 as before.
    """

    name: str  # what the expanded signature calls the descriptor itself
    type: TypeFacts | None  # None: the dialect takes no metadata about descriptors
    padding: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """The released behaviour of one dialect, as far as it is not text in a template."""

    dialect: str
    backend: str  # "cuda" or "hip"
    types: Mapping[str, TypeFacts]
    pointer: TypeFacts  # every type whose first character is '*'
    prefix: tuple[Positional, ...]  # positional arguments before the kernel's, in order
    metadata: tuple[Positional, ...]  # elements of kernel_metadata
    scratch: tuple[str, ...]  # objects of the prefix that are taken as pointers before the kernel's own
    hidden: tuple[Hidden, ...]  # kernel parameters behind the kernel's own
    descriptor: DescriptorFacts
    fragments: tuple[str, ...]  # templates shared by all launchers of one translation unit, in order
    launch: str  # template of the function that makes the driver call
    steps: tuple[str, ...]  # templates of the statements of `launch`, in order
    init: tuple[str, ...]  # templates of the statements of the module's init function, in order
    constants: Mapping[str, str] = field(default_factory=dict)  # further values that templates name
    linked: tuple[str, ...] = ()  # driver symbols that the launcher is linked against
    library: str = ""  # SONAME of the library that has them
