"""Small tables, whole: every type with every kind of argument, every combination of attributes, every grid corner.

Few launchers serve a whole table of a dialect: a signature has many types, and each case changes one argument of a
launch that is otherwise plain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from relaunch.differential.arguments import DESCRIPTOR_BYTES
from relaunch.differential.case import Case, Signature
from relaunch.differential.situation import Argument

from relaunch import generator

_WIDTHS = (1, 7, 8, 15, 16, 31, 32, 47, 63, 64)
INTEGERS = sorted({sign * 2**width + step for width in _WIDTHS for sign in (1, -1) for step in (-1, 0, 1)} | {0, 2**70})
"""Both ends of every width, signed and unsigned, each with what lies one inside and one outside."""

REALS = (
    0.0, -0.0, 1.0, -1.5, 0.1, float("inf"), float("-inf"), float("nan"), 5e-324, 2.2250738585072014e-308, 2.0**-149,
    2.0**-150, 2.0**-126, 2.0**-24, 2.0**-25, 2.0**-25 + 2.0**-60, 2.0**-14, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 1.0078125,
    65504.0, -65504.0, 65519.99999999999, 65520.0, -65520.0, 3.4028234663852886e38, 3.4028235677973366e38, 1e39, -1e39,
    1.7976931348623157e308,
)  # fmt: skip
"""Every rounding and every end of fp16, bf16, fp32 and fp64."""

ADDRESSES = (
    "0x0",
    "0x1000",
    "0x700000001000",
    "0x910000001000",
    "0xba0000000010",
    "0x5e0000000010",
    "0xfffffffffffffff0",
)
"""A null pointer and one of each answer that the recording drivers give to a query."""

HALVES = ("fp16", "bf16")
GRID_CORNERS = (-(2**31) - 1, -(2**31), -1, 0, 1, 65535, 65536, 2**31 - 1, 2**31)
_CTAS = (-1, 0, 1, 2, 16, 2**31 - 1)
_SHARED = (-1, 0, 49152, 49153, 232448, 233472, 233473)  # bytes
_WARPS = (-1, 0, 1, 32, 2**31 - 1)
_WITH_CLUSTER = 6  # entries of kernel_metadata up to 3.5


def all_cases(dialect: str) -> Iterator[Case]:
    """Every table of a dialect."""
    yield from argument_cases(dialect)
    if generator.facts(dialect).folds_constants:
        yield from argument_cases(dialect, folded=True)
    if generator.facts(dialect).tuples:
        yield from argument_cases(dialect, nested=True)
        yield from tuple_cases(dialect)
    yield from grid_cases(dialect)
    yield from attribute_cases(dialect)


def arguments(dialect: str) -> list[Argument]:
    """Every kind of argument that a case can hold, with every value on which a type may decide."""
    found: list[Argument] = [None, True, False, *INTEGERS]
    found += [{"index": value} for value in (-(2**31) - 1, -129, -128, -1, 0, 127, 128, 255, 256, 2**31, 2**63, 2**64)]
    found += [{"float": _hex(value)} for value in REALS]
    found += [{"floatlike": _hex(value)} for value in (1.5, 65520.0, 1e39)]
    found += [{"str": text} for text in ("", "1", "fp16")]
    found += [{kind: items} for kind in ("tuple", "list", "namedtuple") for items in ([], [1], [1, 2])]
    found += [{"dict": 0}, {"dict": 1}, {"object": 1}, {"intlike": 3}]
    found += [{kind: address} for kind in ("tensor", "dlpack") for address in ADDRESSES]
    returned = (0, True, -1, 2**63, 2**64, None, {"float": _hex(16.0)}, {"str": "x"}, {"index": 64})
    found += [{"tensor_returns": value} for value in returned]
    raising = ("tensor_raises", "index_raises", "float_raises", "descriptor_raises")
    found += [{kind: name} for kind in raising for name in ("ValueError", "KeyboardInterrupt")]
    found += [{"descriptor_returns": value} for value in (0, -1, 2**64, None, {"float": _hex(64.0)})]
    return [*found, {"descriptor_unaligned": 1}, _descriptor(dialect)]


def _hex(value: float) -> str:
    return value.hex() if value - value == 0 else str(value)


def types_of(dialect: str) -> tuple[Signature, Signature]:
    """Every type of a dialect once, a pointer among them. Halves go apart: where legacy gets one wrong, it does so in
    every launch that has one."""
    kinds = generator.facts(dialect).types
    return (*(kind for kind in kinds if kind not in HALVES), "*fp32"), tuple(kind for kind in HALVES if kind in kinds)


def plain_argument(kind: str, dialect: str) -> Argument:
    """One that every launcher takes for the type."""
    if kind == generator.facts(dialect).descriptor.name:
        return _descriptor(dialect)
    return {"tensor": "0x700000002000"} if kind.startswith("*") else 1


def _descriptor(dialect: str) -> Argument:
    """An object that is passed by value where the dialect does so."""
    source = generator.facts(dialect).descriptor.source
    return {"tensormap": bytes(range(source.size if source else DESCRIPTOR_BYTES[0])).hex()}


def argument_cases(dialect: str, *, nested: bool = False, folded: bool = False) -> Iterator[Case]:
    """Every argument for every type; `nested` in a tuple of all types, `folded` with every second entry a constant."""
    for kinds in types_of(dialect):
        plain = [plain_argument(str(kind), dialect) for kind in kinds]
        signature: Signature = (kinds,) if nested else kinds
        constants = tuple(range(0, len(kinds), 2)) if folded else ()
        for place, argument in product(range(len(kinds)), arguments(dialect)):
            args = [*plain[:place], argument, *plain[place + 1 :]]
            case = _case(dialect, f"{kinds[place]}-{place}", signature, args=[{"tuple": args}] if nested else args)
            yield replace(case, constants=constants)


def tuple_cases(dialect: str) -> Iterator[Case]:
    """Every argument for an empty tuple, and for tuples of one and two."""
    signature: Signature = ((), ("i32",), ("i32", ("u1",)))
    plain: list[Argument] = [{"tuple": []}, {"tuple": [1]}, {"tuple": [1, {"tuple": [1]}]}]
    for place, argument in product(range(len(signature)), arguments(dialect)):
        yield _case(dialect, f"tuple-{place}", signature, args=[*plain[:place], argument, *plain[place + 1 :]])


def grid_cases(dialect: str) -> Iterator[Case]:
    """Every corner of the grid, for kernels without clusters and with two kinds of them."""
    for grid, ctas in product(product(GRID_CORNERS, repeat=3), (1, 2, 16)):
        yield _case(dialect, "grid", ("i32",), args=[7], grid=list(grid), metadata=_metadata(dialect, 4, ctas, 0))


def attribute_cases(dialect: str) -> Iterator[Case]:
    """Every combination of flags, clusters, shared memory and warps."""
    flags = [flag.name for flag in generator.facts(dialect).prefix if flag.name in ("cooperative", "pdl")]
    for warps, ctas, shared, *values in product(_WARPS, _CTAS, _SHARED, *[(False, True)] * len(flags)):
        given = dict(zip(flags, values, strict=True))
        yield _case(
            dialect, "attributes", ("i32",), args=[7], metadata=_metadata(dialect, warps, ctas, shared), **given
        )


def _metadata(dialect: str, warps: int, ctas: int, shared: int) -> list[int]:
    clusters = len(generator.facts(dialect).metadata.elements) == _WITH_CLUSTER
    return [warps, ctas, shared, *([ctas, 1, 1] if clusters else [])]


def _case(dialect: str, name: str, signature: Signature, **given: Any) -> Case:
    found = generator.facts(dialect)
    call: dict[str, Any] = {
        "grid": [2, 3, 4],
        "stream": "0x10",
        "function": "0xf00",
        "metadata": _metadata(dialect, 4, 1, 0),
        "enter": "ok",
        "exit": "ok",
        **given,
    }
    if found.backend == "hip":
        call["warp_size"] = 64
    return Case(f"{found.dialect}-{name}", dialect.split("-")[1] + ".0", found.backend, signature, call)
