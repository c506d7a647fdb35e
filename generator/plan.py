"""Plain values that the templates spell out: everything that depends on the signature is decided here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relaunch.generator.facts import Facts, Intake, declaration
from relaunch.generator.signature import LauncherSpec, Leaf, check, expand, leaves, type_facts


@dataclass(frozen=True)
class Local:
    """A local of `launch` that the argument parser fills."""

    c_type: str
    name: str

    @property
    def declaration(self) -> str:
        """Its C declaration."""
        return declaration(self.c_type, self.name)


@dataclass(frozen=True)
class Taken:
    """A parsed object or number (`source`) that a later step turns into `name`; `index` is its flattened place."""

    name: str
    source: str
    index: int
    c_type: str
    function: str


@dataclass(frozen=True)
class Parameter:
    """A by-value argument of the function that launches; `value` is what `launch` passes for it."""

    c_type: str
    name: str
    value: str

    @property
    def declaration(self) -> str:
        """Its C declaration."""
        return declaration(self.c_type, self.name)


@dataclass(frozen=True)
class LauncherPlan:
    """One launcher."""

    name: str  # of the module; every C name of this launcher starts with it
    format: str
    arguments: tuple[Local, ...]
    pointers: tuple[Taken, ...]
    descriptors: tuple[Taken, ...]
    packed: tuple[Taken, ...]
    parameters: tuple[Parameter, ...]
    warp_size: int


def plan(spec: LauncherSpec, name: str) -> LauncherPlan:
    """Plans the launcher of a spec as module `name`. Raises as `expand`."""
    found = check(spec)
    expanded = expand(spec)
    flat = leaves(found, expanded)
    prefix = "".join(positional.format for positional in found.prefix)
    return LauncherPlan(
        name=name,
        format=prefix + _format(found, expanded),
        arguments=tuple(Local(leaf.type.parsed, f"argument{leaf.index}") for leaf in flat),
        pointers=_taken(flat, Intake.POINTER, "pointer"),
        descriptors=_taken(flat, Intake.DESCRIPTOR, "descriptor"),
        packed=_taken(flat, Intake.PACKED, "packed"),
        parameters=tuple(_parameter(leaf) for leaf in flat if leaf.type.size)
        + tuple(Parameter(hidden.c_type, hidden.name, hidden.value) for hidden in found.hidden),
        warp_size=int(spec.warp_size),
    )


def _format(found: Facts, entry: Any) -> str:
    if isinstance(entry, str):
        return type_facts(found, entry).format
    return "".join(f"({_format(found, item)})" if isinstance(item, tuple) else _format(found, item) for item in entry)


def _taken(flat: list[Leaf], intake: Intake, prefix: str) -> tuple[Taken, ...]:
    return tuple(
        Taken(f"{prefix}{leaf.index}", f"argument{leaf.index}", leaf.index, leaf.type.parameter, leaf.type.pack)
        for leaf in flat
        if leaf.type.intake is intake
    )


_VALUES = {
    Intake.VALUE: "argument{}",
    Intake.PACKED: "packed{}",
    Intake.POINTER: "pointer{}.address",
    Intake.DESCRIPTOR: "*descriptor{}",
}


def _parameter(leaf: Leaf) -> Parameter:
    value = _VALUES[leaf.type.intake].format(leaf.index)
    return Parameter(leaf.type.parameter, f"parameter{leaf.index}", value)
