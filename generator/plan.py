"""Plain values that the templates spell out: everything that depends on the signature is decided here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relaunch.generator.facts import Facts, Intake, declaration
from relaunch.generator.signature import LauncherSpec, Leaf, check, expand, leaves, type_facts


class NothingToGenerateError(ValueError):
    """The dialect's launcher was never generated."""

    def __init__(self, found: Facts) -> None:
        super().__init__(
            f"{found.dialect} has nothing to generate: one native launcher serves every signature since Triton 3.7"
        )


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
class LauncherPlan:
    """One launcher."""

    format: str
    arguments: tuple[Local, ...]
    pointers: tuple[Taken, ...]
    descriptors: tuple[Taken, ...]
    packed: tuple[Taken, ...]
    parameters: tuple[str, ...]  # C expressions: the address of every kernel parameter, hidden ones last
    warp_size: int


def plan(spec: LauncherSpec) -> LauncherPlan:
    """Plans the launcher of a spec. Raises as `expand`; NothingToGenerateError."""
    found = check(spec)
    if found.native:
        raise NothingToGenerateError(found)
    expanded = expand(spec)
    flat = leaves(found, expanded, spec.constants)
    prefix = "".join(positional.format for positional in found.prefix)
    return LauncherPlan(
        format=prefix + _format(found, expanded),
        arguments=tuple(Local(leaf.type.parsed, f"argument{leaf.index}") for leaf in flat),
        pointers=_taken(flat, Intake.POINTER, "pointer"),
        descriptors=_taken(flat, Intake.DESCRIPTOR, "descriptor"),
        packed=_taken(flat, Intake.PACKED, "packed"),
        parameters=tuple(_ADDRESSES[leaf.type.intake].format(leaf.index) for leaf in flat if leaf.size)
        + tuple(f"&{hidden.name}_pointer" for hidden in found.hidden),
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


_ADDRESSES = {
    Intake.VALUE: "&argument{}",
    Intake.PACKED: "&packed{}",
    Intake.POINTER: "&pointer{}",
    Intake.DESCRIPTOR: "descriptor{}",
}
