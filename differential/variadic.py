"""What the released native launchers of 3.7 and later take, refuse and pass, as far as the divergence list must know.

There is no legacy launcher to run for these dialects, so what one would have done with another input is worked out
here, from the input alone: the order in which arguments have their turn, what each turn shows to the driver, where
the released launcher and ours stop, and the launch that a call without refusals ends in. Facts: recorded calls in
tests/golden. Nothing is shared with the precompiled launcher.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from relaunch.differential.situation import (
    INT32_MAX,
    Argument,
    Leaf,
    Place,
    Situation,
    as_float,
    as_index,
    condition_holds,
    items_of,
    overflows_half,
)
from relaunch.generator.facts import Attribute

INT_BITS = {"i1": 32, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "u1": 32, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
FLOAT_TYPES = ("fp16", "bf16", "fp32", "f32", "fp64")
RANGE_CHECKED = ("i8", "i16", "i32")  # by ours; the released launchers keep the low bits of any C long
ALL_ONES = 2**64 - 1

Event = dict[str, Any]


class Turn(NamedTuple):
    """One argument's turn: the events it shows, and how each launcher ends at it (the exception's type) if it does.

    `why` names what ours does otherwise, "" where both do the same.
    """

    place: Place
    events: tuple[Event, ...] = ()
    released: str | None = None
    ours: str | None = None
    why: str = ""
    bytes: bytes | None = None  # of the parameter; None: there is none, or it is refused
    opened: bool = True  # False: a tuple that cannot be, at which ours stops before any argument is looked at


def both(place: Place, error: str, *events: Event) -> Turn:
    return Turn(place, events, error, error)


class Queries:
    """Answers the pointer queries of one call in order, as the recording driver does."""

    def __init__(self, situation: Situation) -> None:
        self._name = situation.facts().pointers.query
        self._failing = situation.failing()
        self._asked = 0

    def ask(self, address: int) -> tuple[Event, int, int]:
        """The event, the status and the device address."""
        status, found = _known(address)
        if self._failing is not None and self._failing[:2] == (self._name, self._asked):
            status = self._failing[2]
        self._asked += 1
        return {"call": self._name, "args": ["3", f"{address:x}"]}, status, found


def _known(address: int) -> tuple[int, int]:
    """Status and device address that the recording driver answers with for an address."""
    upper = address >> 40 & 0xFF
    if address == ALL_ONES or upper == 0xBA:
        return 1, 0
    if upper == 0x5E:
        return 700, 0
    return 0, address + 0x10000000 if upper == 0x91 else address


def turns(situation: Situation) -> list[Turn]:
    """Every argument's turn in the launchers' order: kernel arguments left to right, tuples opened, scratch last.

    All tuples are opened first. Arguments behind a place where both launchers stop are among them. The count of
    arguments must be right.
    """
    known: list[Turn] | None = situation.worked_out.get("turns")
    if known is not None:
        return known
    queries = Queries(situation)
    found = [item if isinstance(item, Turn) else _turn(situation, item, queries) for item in _flat(situation)]
    situation.worked_out["turns"] = found
    return found


def _flat(situation: Situation) -> Iterator[Leaf | Turn]:
    """The leaves in order; a tuple that cannot be opened as a turn of its own."""
    for i, (kind, argument) in enumerate(zip(situation.signature, situation.call["args"], strict=True)):
        yield from _opened(kind, argument, ("args", i))
    for name in situation.scratch():
        yield Leaf("*i8", (name,), situation.call.get(name))


def _opened(kind: Any, argument: Argument, place: Place) -> Iterator[Leaf | Turn]:
    if isinstance(kind, str):
        yield Leaf(kind, place, argument)
        return
    items = iterated(argument)
    if items is None:
        yield Turn(place, (), "TypeError", "TypeError", opened=False)
    elif len(items) != len(kind):
        yield Turn(place, ours="TypeError", why="tuple length", opened=False)
    else:
        for i, (inner, item) in enumerate(zip(kind, items, strict=True)):
            yield from _opened(inner, item, (*place, i))


def iterated(argument: Argument) -> list[Argument] | None:
    """The items of an argument that is iterable to Python, or None."""
    if isinstance(argument, dict) and "dict" in argument:
        return list(range(argument["dict"]))
    return items_of(argument)


def _turn(situation: Situation, leaf: Leaf, queries: Queries) -> Turn:
    if leaf.type == "constexpr":
        return Turn(leaf.place)
    if leaf.type.startswith("*"):
        return _pointer_turn(situation, leaf, queries)
    if leaf.type in INT_BITS:
        return _int_turn(leaf)
    if leaf.type in FLOAT_TYPES:
        return _float_turn(leaf)
    return _descriptor_turn(situation, leaf)


def _int_turn(leaf: Leaf) -> Turn:
    argument, kind, bits = leaf.argument, leaf.type, INT_BITS[leaf.type]
    if isinstance(argument, dict) and "index_raises" in argument and kind.startswith("i"):
        return both(leaf.place, argument["index_raises"])
    value = as_index(argument)
    if value is None or (kind.startswith("u") and not isinstance(argument, int)):
        return both(leaf.place, "TypeError")
    low, high = (-(2**63), 2**63) if kind.startswith("i") else (0, 2**64)
    if not low <= value < high:
        return both(leaf.place, "OverflowError")
    packed = (value % 2**bits).to_bytes(bits // 8, "little")
    if kind in RANGE_CHECKED and not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        return Turn(leaf.place, ours="OverflowError", why="int range", bytes=packed)
    return Turn(leaf.place, bytes=packed)


def _float_turn(leaf: Leaf) -> Turn:
    argument = leaf.argument
    for raising in ("float_raises", "index_raises"):
        if isinstance(argument, dict) and raising in argument:
            return both(leaf.place, argument[raising])
    value = as_float(argument)
    if value is None:
        return both(leaf.place, "TypeError" if as_index(argument) is None else "OverflowError")
    if leaf.type == "fp16" and overflows_half(value):
        return both(leaf.place, "OverflowError")
    return Turn(leaf.place, bytes=packed_float(leaf.type, value))


def packed_float(kind: str, value: float) -> bytes:
    """The bytes of a float parameter: fp16 rounded to nearest even, bf16 the upper half of the fp32."""
    if kind == "fp64":
        return struct.pack("<d", value)
    if kind == "fp16":
        return struct.pack("<e", value)
    single = struct.pack("<f", ctypes.c_float(value).value)
    return single[2:] if kind == "bf16" else single


def _descriptor_turn(situation: Situation, leaf: Leaf) -> Turn:
    if isinstance(leaf.argument, dict) and "tensormap" in leaf.argument:
        return Turn(leaf.place, bytes=bytes.fromhex(leaf.argument["tensormap"]))
    if situation.backend == "cuda":
        return both(leaf.place, "TypeError")
    return Turn(leaf.place, ours="TypeError", why="descriptor type")


def _pointer_turn(situation: Situation, leaf: Leaf, queries: Queries) -> Turn:
    argument, place = leaf.argument, leaf.place
    if argument is None:
        return Turn(place, bytes=bytes(8))
    if isinstance(argument, int):
        if 0 <= argument < 2**64:
            return Turn(place, bytes=int(argument).to_bytes(8, "little"))
        return Turn(place, ours="OverflowError", why="int pointer")
    if isinstance(argument, dict) and "dlpack" in argument:
        address = int(argument["dlpack"], 16)
        return Turn(place, bytes=address.to_bytes(8, "little"))
    if isinstance(argument, dict) and "tensor_raises" in argument:
        return Turn(place, (), "TypeError", argument["tensor_raises"], "data_ptr raises")
    if not isinstance(argument, dict) or not {"tensor", "tensor_returns"} & set(argument):
        return both(place, "TypeError")
    intake: Event = {"intake": "data_ptr"}
    returned = int(argument["tensor"], 16) if "tensor" in argument else argument["tensor_returns"]
    if not isinstance(returned, int):
        return both(place, "TypeError", intake)
    if returned == 0:
        return Turn(place, (intake,), bytes=bytes(8))
    if 0 <= returned < 2**64:
        return _queried_turn(situation, place, int(returned), queries)
    turn = _queried_turn(situation, place, ALL_ONES, queries)
    # The failed conversion is pending; a query that fails with an error of its own replaces it.
    return turn if turn.ours else Turn(place, turn.events, ours="OverflowError", why="int pointer")


def _queried_turn(situation: Situation, place: Place, address: int, queries: Queries) -> Turn:
    query, status, found = queries.ask(address)
    events: tuple[Event, ...] = ({"intake": "data_ptr"}, query)
    if status == 0:
        return Turn(place, events, bytes=(found % 2**64).to_bytes(8, "little"))
    if situation.backend == "cuda":
        return both(place, "ValueError" if status == 1 else "RuntimeError", *events)
    if status == 1:
        return both(place, "ValueError", *events, {"call": "hipGetLastError", "args": []})
    return Turn(place, events, bytes=address.to_bytes(8, "little"))


@dataclass(frozen=True)
class Stop:
    """Where ours is the first to do something else: the events until there, the exception's type, and the reason."""

    events: list[Event]
    error: str
    why: str


def first_stop(situation: Situation) -> Stop | None:
    """The first place at which ours stops and the released launcher goes on or stops otherwise, or None."""
    events = opening(situation)
    if len(situation.call["args"]) != len(situation.signature):
        return Stop(events, "TypeError", "count")
    if not parsed(situation):
        return None
    if grid_out_of_range(situation):
        return Stop(events, "ValueError", "grid")
    enter = situation.call.get("enter", "none")
    events = events + ([{"hook": "enter"}] if enter != "none" else [])
    if enter == "raise":
        return None
    found = turns(situation)
    closed = [turn for turn in found if not turn.opened]
    if closed:
        return next((Stop(events, "TypeError", turn.why) for turn in closed if turn.why), None)
    for turn in found:
        events += turn.events
        if turn.why:
            assert turn.ours is not None
            return Stop(events, turn.ours, turn.why)
        if turn.ours is not None:
            return None
    return None


def before_launch(situation: Situation) -> list[Event]:
    """The events of a call that nothing refuses, up to its launch."""
    enter: list[Event] = [{"hook": "enter"}] if situation.call.get("enter", "none") != "none" else []
    return [*opening(situation), *enter, *(event for turn in turns(situation) for event in turn.events)]


def opening(situation: Situation) -> list[Event]:
    """The events of getting a context."""
    if situation.backend != "cuda" or not situation.call.get("no_context"):
        return []
    return [{"call": "cuDevicePrimaryCtxRetain", "args": ["0"]}, {"call": "cuCtxSetCurrent", "args": ["c1"]}]


def parsed(situation: Situation) -> bool:
    """Whether grid, stream, function and kernel_metadata are taken."""
    handles = all(isinstance(situation.call.get(name), (str, int)) for name in ("stream", "function"))
    return handles and situation.grid() is not None and situation.metadata() is not None


def grid_out_of_range(situation: Situation) -> bool:
    """A dimension is negative, or past what the driver takes once multiplied by the cluster's."""
    grid, scaled = situation.grid(), situation.scaled_grid()
    return grid is not None and scaled is not None and not all(0 <= size <= INT32_MAX for size in (*grid, *scaled))


def worked_out(situation: Situation) -> tuple[list[Event], str | None]:
    """Events and the type of the error of a call in ours. Grid, stream, function and metadata must be taken."""
    stop = first_stop(situation)
    if stop is not None:
        return stop.events, stop.error
    launch = tail(situation)
    if launch is not None and 0 not in (situation.grid() or ()):
        return [*before_launch(situation), *launch[0]], launch[1]
    enter, exit_hook = (situation.call.get(name, "none") for name in ("enter", "exit"))
    events = opening(situation) + ([{"hook": "enter"}] if enter != "none" else [])
    if enter == "raise":
        return events, "RuntimeError"
    found = turns(situation)
    if not all(turn.opened for turn in found):
        return events, "TypeError"
    for turn in found:
        events += turn.events
        if turn.ours is not None:
            return events, turn.ours
    events += [{"hook": "exit"}] if exit_hook != "none" else []
    return events, "RuntimeError" if exit_hook == "raise" else None


def tail(situation: Situation) -> tuple[list[Event], str | None] | None:
    """The events of a launch in ours, from the launch on, and the exception's type; None where it stops before."""
    right_count = len(situation.call["args"]) == len(situation.signature)
    if not right_count or not parsed(situation) or situation.call.get("enter") == "raise":
        return None
    found = turns(situation)
    if any(turn.ours is not None for turn in found):
        return None
    events, failed = _driver_calls(situation, found)
    exit_hook = situation.call.get("exit", "none")
    if failed or exit_hook == "none":
        return events, "RuntimeError" if failed else None
    return [*events, {"hook": "exit"}], "RuntimeError" if exit_hook == "raise" else None


def _driver_calls(situation: Situation, found: list[Turn]) -> tuple[list[Event], bool]:
    names, grid, way = situation.named(), situation.scaled_grid(), situation.way()
    assert names is not None
    assert grid is not None
    assert way is not None
    function = situation.handle("function")
    event: Event = {
        "call": way.function,
        "grid": list(grid),
        "block": [names["num_warps"] * int(situation.call.get("warp_size", 32)) % 2**32, 1, 1],
        "shared": names["shared"] % 2**32,
        "stream": hex(situation.handle("stream")),
        "function": hex(function),
        "gil_held": 1 if situation.backend == "hip" else 0,
        "attributes": _attributes(situation, names),
        "params": _params(situation, found),
    }
    failing = situation.failing()
    first = failing is not None and failing[1] == 0
    name = None if failing is None else failing[0]
    rule = situation.facts().launch.non_portable
    if rule and condition_holds(rule, names):
        allow: Event = {"call": "cuFuncSetAttribute", "args": [f"{function:x}", "14", "1"]}
        if first and name == "cuFuncSetAttribute":
            return [allow], True
        return [allow, event], first and name == event["call"]
    return [event], first and name == event["call"]


def _params(situation: Situation, found: list[Turn]) -> list[str]:
    """The kernel's own parameters, then the hidden ones; one that no object of the call is for is null."""
    own = [turn.bytes.hex() for turn in found if turn.bytes is not None and turn.place[0] == "args"]
    scratch = {turn.place[0]: turn.bytes for turn in found if turn.bytes is not None}
    return own + [scratch.get(hidden.name, bytes(hidden.size)).hex() for hidden in situation.facts().hidden]


def _attributes(situation: Situation, values: dict[str, int]) -> list[list[Any]]:
    way = situation.way()
    assert way is not None

    def packed(attribute: Attribute) -> str:
        words = [values[word] if word in values else int(word) for word in attribute.words]
        return b"".join((word % 2**32).to_bytes(4, "little") for word in words).hex()

    return [[one.id, packed(one)] for one in way.attributes if condition_holds(one.when, values)]
