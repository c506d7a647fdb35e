"""What a case says about its launch, seen before anything runs.

A `Situation` pairs every argument with the type that will read it and orders the pointers as the dialect's launcher
takes them. Conditions and rewrites of divergences look at nothing else: they never see what a launcher did.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Union

from relaunch.differential.case import Case, Signature
from relaunch.generator.facts import Facts, Way

from relaunch import generator

Argument = Any  # JSON of one argument, as cases spell it
Place = tuple[Union[str, int], ...]  # ("args", 2, 0): item 0 of argument 2; ("global_scratch",): the scratch object

INT32_MAX = 2**31 - 1
INT32_MIN = -(2**31)

# The C conditions that facts use: a name, an operator, a number.
_CONDITION = re.compile(r"(\w+) (!=|==|>) (\d+)")


class Leaf(NamedTuple):
    """One argument that one type reads; `place` says where it lies in the call."""

    type: str
    place: Place
    argument: Argument
    folded: bool = False  # into the kernel: parsed, and asked for where it is a pointer, but no parameter


@dataclass(frozen=True)
class Situation:
    """A call with the signature, descriptors expanded, that its launcher was made for."""

    dialect: str
    backend: str
    signature: Signature
    call: dict[str, Any]
    constants: tuple[int, ...] = ()

    @cached_property
    def worked_out(self) -> dict[str, Any]:
        """What has been worked out of this situation, by name: a call is asked the same by many conditions."""
        return {}

    @staticmethod
    def of(case: Case) -> Situation:
        """Raise `generator.UnknownType` where the dialect has no such type, and what else `generator.expand` raises.

        Descriptor objects of a wrapped case are seen as the arguments that they stand for.
        """
        if not case.wrapped:
            types = expanded(case.dialect, case.signature)
            return Situation(case.dialect, case.backend, types, dict(case.call), case.constants)
        spec = generator.LauncherSpec(case.dialect, case.signature, tensordesc_meta=case.tensordesc_meta)
        call = {**case.call, "args": _taken_apart(case)}
        return Situation(case.dialect, case.backend, freeze(generator.expand(spec)), call)

    def leaves(self) -> list[Leaf]:
        """Arguments with their types, left to right.

        Empty where the number of arguments is wrong; without the items of a tuple whose length is wrong. In both
        places a launcher refuses the call before it looks any further.
        """
        return self._leaves

    @cached_property
    def _leaves(self) -> list[Leaf]:
        args = self.call["args"]
        if len(args) != len(self.signature):
            return []
        found: list[Leaf] = []
        for i, (kind, argument) in enumerate(zip(self.signature, args, strict=True)):
            folded = i in self.constants
            if isinstance(kind, str):
                found.append(Leaf(kind, ("args", i), argument, folded))
            else:
                found += _leaves(kind, argument, folded, ("args", i))
        return found

    def halves(self) -> list[Leaf]:
        """The fp16 and bf16 among the leaves."""
        return self._halves

    @cached_property
    def _halves(self) -> list[Leaf]:
        return [leaf for leaf in self.leaves() if leaf.type in ("fp16", "bf16")]

    def pointers(self) -> list[Leaf]:
        """Scratch objects, then pointer arguments, in the order in which the launcher takes them."""
        return self._pointers

    @cached_property
    def _pointers(self) -> list[Leaf]:
        scratch = [Leaf("*i8", (key,), self.call.get(key)) for key in self.scratch()]
        return scratch + [leaf for leaf in self.leaves() if leaf.type.startswith("*")]

    def grid(self) -> tuple[int, int, int] | None:
        """The grid as C ints; None where it is refused while arguments are parsed."""
        return self._grid

    @cached_property
    def _grid(self) -> tuple[int, int, int] | None:
        dims = [as_index(dim) for dim in self.call["grid"]]
        if len(dims) != 3 or any(dim is None or not INT32_MIN <= dim <= INT32_MAX for dim in dims):
            return None
        return (dims[0], dims[1], dims[2])  # type: ignore[return-value]

    def scratch(self) -> tuple[str, ...]:
        """The scratch objects that the launcher takes as pointers, in its order."""
        return self.facts().scratch

    def facts(self) -> Facts:
        """The frozen facts of the dialect."""
        return generator.facts(self.dialect)

    def handle(self, name: str) -> int:
        """The stream or function as the driver gets it; both must be taken."""
        given = self.call[name]
        return int(given, 16) if isinstance(given, str) else int(given) % 2**64

    def metadata(self) -> dict[str, int] | None:
        """The entries of kernel_metadata by name, as C ints; None where it is refused."""
        return self._metadata

    @cached_property
    def _metadata(self) -> dict[str, int] | None:
        wanted = self.facts().metadata
        given = self.call.get("metadata")
        items = given if isinstance(given, list) else items_of(given)
        if not isinstance(given, list) and not wanted.any_sequence:
            tuples = isinstance(given, dict) and ("tuple" in given or "namedtuple" in given)
            items = items if tuples else None
        if items is None or len(items) != len(wanted.elements):
            return None
        values = {element.name: as_index(item) for element, item in zip(wanted.elements, items, strict=True)}
        if any(value is None or not INT32_MIN <= value <= INT32_MAX for value in values.values()):
            return None
        return values  # type: ignore[return-value]

    def num_ctas(self) -> int | None:
        """num_ctas of the kernel's metadata; None where the metadata is refused."""
        metadata = self.metadata()
        return None if metadata is None else metadata["num_ctas"]

    def scaled_grid(self) -> tuple[int, int, int] | None:
        """The grid as the driver gets it, without C's wrapping; None where grid or metadata are refused."""
        grid, metadata, rule = self.grid(), self.metadata(), self.facts().launch
        if grid is None or metadata is None:
            return None
        if not condition_holds(rule.scaled, metadata):
            return grid
        x, y, z = (metadata[name] if name in metadata else int(name) for name in rule.factors)
        return grid[0] * x, grid[1] * y, grid[2] * z

    def named(self) -> dict[str, int] | None:
        """The ints that conditions of the facts name; None where the metadata is refused."""
        metadata = self.metadata()
        flags = {name: int(bool(self.call.get(name))) for name in ("cooperative", "pdl")}
        return None if metadata is None else {**metadata, **flags}

    def way(self) -> Way | None:
        """How the launcher calls the driver; None where the metadata is refused."""
        values = self.named()
        ways = self.facts().launch.ways
        return None if values is None else next(way for way in ways if condition_holds(way.when, values))

    def failing(self) -> tuple[str, int, int] | None:
        """(function, n, status) of the driver call that is told to fail; status 0 is no failure."""
        fail = self.call.get("fail")
        return None if not fail or fail[2] == 0 else (fail[0], fail[1], fail[2])

    def put(self, place: Place, argument: Argument) -> Situation:
        """A copy of the situation with one argument replaced; `place` must lead through tuples alone."""
        if place[0] != "args":
            return self.with_call({**self.call, str(place[0]): argument})
        return self.with_call({**self.call, "args": _put(self.call["args"], place[1:], argument)})

    def put_all(self, changes: Iterable[tuple[Place, Argument]]) -> Situation:
        """As `put`, with several arguments of the kernel replaced."""
        args = list(self.call["args"])
        for place, argument in changes:
            args = _put(args, place[1:], argument)
        return self.with_call({**self.call, "args": args})

    def with_call(self, call: dict[str, Any]) -> Situation:
        return Situation(self.dialect, self.backend, self.signature, call, self.constants)


def condition_holds(condition: str, values: Mapping[str, int]) -> bool:
    """A C condition of the facts over named ints; "" holds always. ValueError for a form that facts do not use."""
    return all(_part_holds(part, values) for part in condition.split(" && ") if part)


def _part_holds(part: str, values: Mapping[str, int]) -> bool:
    match = _CONDITION.fullmatch(part)
    if match is None:
        raise ValueError(f"not a condition of the facts: {part!r}")
    value, number = values[match[1]], int(match[3])
    return {"!=": value != number, "==": value == number, ">": value > number}[match[2]]


def freeze(signature: Any) -> Signature:
    """Nested lists or tuples of types as nested tuples."""
    return tuple(entry if isinstance(entry, str) else freeze(entry) for entry in signature)


@lru_cache(maxsize=4096)
def expanded(dialect: str, signature: Signature) -> Signature:
    """Nested tuples of types, descriptors expanded. Raise `generator.UnknownType`, ValueError."""
    return freeze(generator.expand(generator.LauncherSpec(dialect, signature)))


def items_of(argument: Argument) -> list[Argument] | None:
    """The items of an argument that is a sequence to Python (the list itself where it has one), or None."""
    if isinstance(argument, dict):
        for kind in ("tuple", "list", "namedtuple"):
            if kind in argument:
                items: list[Argument] = argument[kind]
                return items
        if "str" in argument:
            return [{"str": letter} for letter in argument["str"]]
    return None


def as_index(argument: Argument) -> int | None:
    """The int that `__index__` gives, for ints, bools and objects with the method; None for all others."""
    if isinstance(argument, int):
        return int(argument)
    if isinstance(argument, dict) and "index" in argument:
        return int(argument["index"])
    return None


def as_float(argument: Argument) -> float | None:
    """The C double that a floating type reads; None where it is refused."""
    try:
        index = as_index(argument)
        if index is not None:
            return float(index)
    except OverflowError:
        return None
    if isinstance(argument, dict):
        for kind in ("float", "floatlike"):
            if kind in argument:
                return _c99(argument[kind])
    return None


def _c99(text: str) -> float:
    return float(text) if text in ("nan", "inf", "-inf") else float.fromhex(text)


def overflows_half(value: float) -> bool:
    """Finite, and rounded to nearest even it is past the largest fp16 (65504)."""
    return math.isfinite(value) and abs(value) >= 65520.0


def _taken_apart(case: Case) -> list[Argument]:
    """The arguments with each descriptor object as the values of its entries: its base or itself, sizes, flags."""
    described = iter(case.tensordesc_meta or ())
    flags = len(generator.facts(case.dialect).descriptor.padding)
    args: list[Argument] = []
    for argument in case.call["args"]:
        members = argument.get("descriptor") if isinstance(argument, dict) else None
        if members is None:
            args.append(argument)
            continue
        sizes = [*members["shape"], *members["strides"]]
        if next(described, None) is None:
            args += [{"tensor": members["base"]}, *sizes, *[False] * flags, *sizes]
        else:
            args += [{"tensormap": ""}, *sizes]
    return args


def _leaves(kind: Any, argument: Argument, folded: bool, place: Place) -> Iterator[Leaf]:
    if isinstance(kind, str):
        yield Leaf(kind, place, argument, folded)
        return
    items = items_of(argument)
    if items is not None and len(items) == len(kind):
        for i, (inner, item) in enumerate(zip(kind, items, strict=True)):
            yield from _leaves(inner, item, folded, (*place, i))


def _put(items: list[Argument], steps: Place, argument: Argument) -> list[Argument]:
    """The items with the one at the end of these steps replaced; nothing that is kept is copied.

    A string that stands for a tuple becomes a tuple of its letters, so that one can be replaced.
    """
    changed = list(items)
    step = int(steps[0])
    if len(steps) == 1:
        changed[step] = argument
        return changed
    holder = changed[step]
    kind = "tuple" if "str" in holder else next(iter(holder))
    changed[step] = {kind: _put(items_of(holder) or [], steps[1:], argument)}
    return changed
