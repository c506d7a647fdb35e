"""The named conditions that entries of the divergence list are made of.

Each looks at the input alone: the signature, or the call. `SIGNATURE` and `CALL` are the whole vocabulary.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache

from relaunch.differential.situation import (
    INT32_MAX,
    Argument,
    Leaf,
    Situation,
    as_float,
    as_index,
    overflows_half,
)
from relaunch.differential.variadic import first_stop, grid_out_of_range, packed_float, parsed, tail

# Driver calls made to get a current context, with the number of recorded events up to and including each.
CONTEXT_CALLS = {"cuCtxGetCurrent": 0, "cuDeviceGet": 0, "cuDevicePrimaryCtxRetain": 1, "cuCtxSetCurrent": 2}

INVALID_VALUE = 1  # the status of a query for an address that the driver does not know, on both backends


def _any(_situation: Situation) -> bool:
    return True


def _has(*kinds: str) -> Callable[[Situation], bool]:
    def has(situation: Situation) -> bool:
        return not flat(situation.signature).isdisjoint(kinds)

    return has


def _points(signature: object) -> bool:
    return any(kind.startswith("*") for kind in flat(signature))


@lru_cache(maxsize=4096)
def flat(signature: object) -> frozenset[str]:
    """The types of a signature, those inside tuples too."""
    if isinstance(signature, tuple):
        return frozenset().union(*(flat(entry) if isinstance(entry, tuple) else {entry} for entry in signature))
    return frozenset({str(signature)})


def i8_moved(argument: Argument) -> bool:
    """A value on which legacy's 0..255 and our -128..127 disagree."""
    value = as_index(argument)
    return value is not None and (-128 <= value < 0 or 128 <= value <= 255)


def _i8_moved(situation: Situation) -> bool:
    return any(leaf.type == "i8" and i8_moved(leaf.argument) for leaf in situation.leaves())


def _fp16_overflows(situation: Situation) -> bool:
    return any(overflows(leaf) for leaf in situation.halves())


def overflows(leaf: Leaf) -> bool:
    """A finite value that is too large for the fp16 that the kernel gets."""
    value = as_float(leaf.argument) if leaf.type == "fp16" and not leaf.folded else None
    return value is not None and overflows_half(value)


def _half_is_given(situation: Situation) -> bool:
    """A value for fp16 or bf16 whose float has other bytes than ours."""
    return any(half_of(leaf) is not None for leaf in situation.halves())


def half_of(leaf: Leaf) -> float | None:
    """The float whose four bytes are those of ours for an fp16 or bf16: two of the value, then zeros.

    None for all other leaves, for what is refused, and for an fp16 that overflows.
    """
    value = as_float(leaf.argument) if leaf.type in ("fp16", "bf16") and not leaf.folded else None
    if value is None or overflows(leaf):
        return None
    return float(struct.unpack("<f", packed_float(leaf.type, value) + b"\0\0")[0])


def _grid_is_taken(situation: Situation) -> bool:
    """Every dimension passes for a C int, whatever it then means."""
    return situation.grid() is not None


def _grid_product_wraps(situation: Situation) -> bool:
    """Every dimension is positive, and yet the product as a C int stops legacy from launching."""
    grid = situation.grid()
    if grid is None or min(grid) <= 0:
        return False
    product = grid[0] * grid[1] * grid[2] % 2**32
    return product == 0 or (situation.facts().launch.skipped == "product <= 0" and product > INT32_MAX)


def refused(leaf: Leaf) -> str | None:
    """Why a pointer is refused for what it is, whatever the driver says of its address; None where it is not."""
    argument = leaf.argument
    if argument is None:
        return None
    if isinstance(argument, int):
        return None if 0 <= argument < 2**64 else "int out of range"
    if isinstance(argument, dict):
        if "tensor" in argument or "dlpack" in argument:
            return None
        if "tensor_raises" in argument:
            return "raises"
        if "tensor_returns" in argument:
            return None if isinstance(argument["tensor_returns"], int) else "returns no int"
    return "no data_ptr"


def first_refused(situation: Situation) -> Leaf | None:
    """The pointer at which a launch ends at the latest, once its arguments are parsed."""
    return next((leaf for leaf in situation.pointers() if refused(leaf) is not None), None)


def _first_refused_is(reason: str) -> Callable[[Situation], bool]:
    def first_refused_is(situation: Situation) -> bool:
        leaf = first_refused(situation)
        return leaf is not None and refused(leaf) == reason

    return first_refused_is


def address(argument: Argument) -> int | None:
    """The address that a tensor's `data_ptr()` gives; None for all other arguments."""
    if isinstance(argument, dict):
        if "tensor" in argument:
            return int(argument["tensor"], 16)
        if isinstance(argument.get("tensor_returns"), int):
            return int(argument["tensor_returns"])
    return None


def answers_700(argument: Argument) -> bool:
    """An address for which the recording driver's pointer query fails with status 700."""
    where = address(argument)
    return where is not None and 0 <= where < 2**64 and where >> 40 & 0xFF == 0x5E


def _is_taken_by_dlpack(situation: Situation) -> bool:
    return any(by_dlpack(leaf.argument) for leaf in situation.pointers())


def by_dlpack(argument: Argument) -> bool:
    """A tensor whose type has DLPack's C exchange table."""
    return isinstance(argument, dict) and "dlpack" in argument


def _query_fails_otherwise(situation: Situation) -> bool:
    failing = situation.failing()
    if failing is not None and failing[0] == situation.facts().pointers.query and failing[2] != INVALID_VALUE:
        return True
    return any(answers_700(leaf.argument) for leaf in situation.pointers())


def _attribute_call_fails(situation: Situation) -> bool:
    failing = situation.failing()
    return failing is not None and failing[:2] == ("cuFuncSetAttribute", 0) and situation.num_ctas() == 16


def _context_call_fails(situation: Situation) -> bool:
    failing = situation.failing()
    if failing is None or failing[1] != 0 or failing[0] not in CONTEXT_CALLS:
        return False
    return failing[0] == "cuCtxGetCurrent" or bool(situation.call.get("no_context"))


def _launch_fails(situation: Situation) -> bool:
    failing, grid, way = situation.failing(), situation.grid(), situation.way()
    if failing is None or grid is None or way is None or 0 in grid:
        return False
    return failing[:2] == (way.function, 0)


def _exit_hook_set(situation: Situation) -> bool:
    return bool(situation.call.get("exit", "none") != "none")


def _stops_first(why: str) -> Callable[[Situation], bool]:
    """Nothing before it stops either launcher, and what stops ours there does not stop the native one alike."""

    def stops_first(situation: Situation) -> bool:
        stop = first_stop(situation)
        return stop is not None and stop.why == why

    return stops_first


def _is_launched(situation: Situation) -> bool:
    """Nothing is refused by ours, so that the driver is called unless a dimension of the grid is 0."""
    return first_stop(situation) is None and tail(situation) is not None


SIGNATURE: dict[str, Callable[[Situation], bool]] = {
    "any": _any,
    "has i8": _has("i8"),
    "has fp16": _has("fp16"),
    "has fp16 or bf16": _has("fp16", "bf16"),
    "has i8, i16 or i32": _has("i8", "i16", "i32"),
    "has a tuple": lambda situation: any(isinstance(entry, tuple) for entry in situation.signature),
    "has a descriptor by value": lambda situation: _has(situation.facts().descriptor.name)(situation),
    "or the call has a pointer": lambda situation: bool(situation.scratch()) or _points(situation.signature),
}

CALL: dict[str, Callable[[Situation], bool]] = {
    "an i8 is negative or above 127": _i8_moved,
    "an fp16 value overflows": _fp16_overflows,
    "the grid is taken": _grid_is_taken,
    "a value for fp16 or bf16 is taken": _half_is_given,
    "a grid dimension is out of range": grid_out_of_range,
    "the product of the grid wraps": _grid_product_wraps,
    "the first refused pointer is an int out of range": _first_refused_is("int out of range"),
    "the first refused pointer raises": _first_refused_is("raises"),
    "the first refused pointer has no data_ptr": _first_refused_is("no data_ptr"),
    "a pointer is taken by DLPack": _is_taken_by_dlpack,
    "a pointer query fails with another status": _query_fails_otherwise,
    "setting the attribute for 16 CTAs fails": _attribute_call_fails,
    "a context call fails": _context_call_fails,
    "the launch call fails": _launch_fails,
    "an exit hook is set": _exit_hook_set,
    "the driver is called": _is_launched,
    "grid, stream, function and metadata are taken": parsed,
    "there are too few or too many arguments": _stops_first("count"),
    "the grid is the first to be refused": _stops_first("grid"),
    "a tuple has another length": _stops_first("tuple length"),
    "the first refused argument is an int out of its type's range": _stops_first("int range"),
    "the first refused argument is an int pointer out of range": _stops_first("int pointer"),
    "the first refused argument is a pointer that raises": _stops_first("data_ptr raises"),
    "the first refused argument is no descriptor": _stops_first("descriptor type"),
}
