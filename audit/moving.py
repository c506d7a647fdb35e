"""What a kernel's calls can meet under the launcher asked for, by what its signature is made of.

That is a matter of the kinds of its types alone, so it is found once for all signatures of the same kinds. What every
call can meet (a grid out of range, a refused pointer) is told once for a pair of launchers, not for each kernel: a
kernel meets only what `everywhere` does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from relaunch.audit.question import PRECOMPILED
from relaunch.differential.divergence import possible
from relaunch.generator import contract

from relaunch import generator

Types = tuple[Any, ...]  # nested tuples of type strings

POINTER = "*fp32"  # stands for all pointers, whatever they point to
_DESCRIPTORS = {
    "tensordesc<": "tensordesc<fp16[16, 16]>",
    "tensordesc_im2col<": "tensordesc_im2col<fp16[16, 16], input_rank=4>",
}
_PARAMETERS = ("parameters", "call: kernel arguments, descriptors expanded")  # those of the example, not the kernel's


@dataclass(frozen=True)
class Difference:
    """One that calls can meet. `id`: of a divergence (D03), or `topic: item` of two dialects."""

    id: str
    title: str
    legacy: str
    asked: str


def example(types: Types) -> Types:
    """The shortest signature of the same kinds: each type once, sorted, tuples flat, behind the rest."""
    own = sorted({_kind(entry) for entry in types if isinstance(entry, str)})
    inner = [entry for entry in types if not isinstance(entry, str)]
    if not inner:
        return tuple(own)
    return (*own, tuple(sorted({_kind(entry) for entry in _flat(inner)})))


def _flat(entries: Any) -> list[str]:
    return [leaf for entry in entries for leaf in ([entry] if isinstance(entry, str) else _flat(entry))]


def _kind(entry: str) -> str:
    if entry.startswith("*"):
        return POINTER
    return next((kind for start, kind in _DESCRIPTORS.items() if entry.startswith(start)), entry)


def meets(dialect: str, to: str, types: Types, described: bool) -> tuple[str, ...]:
    """Ids of what the calls of one signature can meet and not every call can. Raises as `generator.expand`."""
    return _meets(dialect, to, example(types), described)


@lru_cache(maxsize=65536)
def _meets(dialect: str, to: str, types: Types, described: bool) -> tuple[str, ...]:
    known = _everywhere(dialect, to)
    return tuple(one.id for one in _found(dialect, to, types, described) if one.id not in known)


@lru_cache(maxsize=64)
def _everywhere(dialect: str, to: str) -> frozenset[str]:
    return frozenset(one.id for one in everywhere(dialect, to))


def everywhere(dialect: str, to: str) -> tuple[Difference, ...]:
    """What every call can meet that has a pointer."""
    return _found(dialect, to, (POINTER,), False)


def all_differences(dialect: str, to: str) -> tuple[Difference, ...]:
    """What any call of the dialect can meet."""
    if to == PRECOMPILED:
        return _divergences(dialect, None)
    return _statements(contract.compare(dialect, to))


def _found(dialect: str, to: str, types: Types, described: bool) -> tuple[Difference, ...]:
    if to == PRECOMPILED:
        return _divergences(dialect, contract.expanded(dialect, types, described=described))
    described = described and generator.facts(dialect).descriptor.metadata and generator.facts(to).descriptor.metadata
    return _statements(contract.compare(dialect, to, types, described=described))


def _divergences(dialect: str, types: Types | None) -> tuple[Difference, ...]:
    return tuple(Difference(one.id, one.title, "; ".join(one.call), one.summary) for one in possible(dialect, types))


def _statements(found: contract.Comparison) -> tuple[Difference, ...]:
    told = [
        Difference(f"{one.topic}: {one.item}", one.item, one.left, one.right)
        for one in found.differences
        if one.topic != _PARAMETERS[0]
    ]
    return tuple(one for one in told if one.id != _PARAMETERS[1])
