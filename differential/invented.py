"""Signatures that nobody wrote: any types of a dialect, tuples and descriptors among them, drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from relaunch.differential.case import Signature
from relaunch.differential.diff import PARSED_LEVELS, supported

from relaunch import generator

# How many entries a signature has: (weight, fewest, most). Most kernels have few, some have hundreds.
_LENGTHS = ((4, 0, 2), (60, 3, 12), (30, 13, 40), (5, 41, 120), (1, 121, 400))
_POINTEES = ("fp32", "fp16", "bf16", "i8", "i1", "i64", "u8", "fp8e4nv", "fp8e5", "fp64", "void", "kfp16", "*fp32")
_BLOCKS = ("16", "64, 64", "128, 32", "1, 16, 16", "2, 2, 2, 8", "1, 1, 4, 4, 8")


def invented(dialect: str, count: int, seed: int) -> list[Signature]:
    """`count` distinct signatures that the dialect has a launcher for. The same seed gives the same ones."""
    rng = Random(f"{seed} signatures of {dialect}")
    found: dict[Signature, None] = {}
    while len(found) < count:
        some = [_signature(rng, dialect) for _ in range(count - len(found))]
        found.update(dict.fromkeys(supported(dialect, some)[0]))
    return list(found)


def _signature(rng: Random, dialect: str) -> Signature:
    (_, fewest, most), *_ = rng.choices(_LENGTHS, [weight for weight, *_ in _LENGTHS])
    length = rng.randint(fewest, most)
    return tuple(_entries(rng, dialect, length, 0))


def _entries(rng: Random, dialect: str, length: int, level: int) -> Iterator[Any]:
    """Entries that are `length` types in all, those inside tuples included."""
    tuples = generator.facts(dialect).tuples
    left = length
    while left > 0:
        if tuples and level < PARSED_LEVELS - 1 and rng.random() < (0.08 if level == 0 else 0.25):
            inside = rng.randint(0, min(left, 8))
            yield tuple(_entries(rng, dialect, inside, level + 1))
            left -= max(inside, 1)
        else:
            yield _type(rng, dialect, level)
            left -= 1


def _type(rng: Random, dialect: str, level: int) -> str:
    found = generator.facts(dialect)
    scalars = sorted(kind for kind in found.types if kind != "constexpr")
    roll = rng.random()
    if roll < 0.35:
        return "*" + rng.choice(_POINTEES)
    if roll < 0.45 and found.takes_constexpr:
        return "constexpr"
    expands = found.descriptor.expanded and (level == 0 or found.descriptor.inside_tuples)
    if roll < 0.48 and expands:
        return f"tensordesc<{rng.choice(('fp16', 'fp32', 'i8', 'bf16'))}[{rng.choice(_BLOCKS)}]>"
    if roll < 0.51 and found.descriptor.name in found.types:
        return found.descriptor.name
    return rng.choice(scalars)
