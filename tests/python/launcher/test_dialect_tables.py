"""The precompiled launcher's dialects against the frozen facts of the released launchers: neither reads the other."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential.signatures import of_tree
from relaunch.generator.contract import layout

import relaunch
from relaunch import _core, generator

SIGNATURES = Path(__file__).parents[2] / "signatures" / "signatures.jsonl"
EVERY_TYPE = ("i1", "u1", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "fp16", "bf16", "fp32", "f32", "fp64")


@cache
def trees() -> list[relaunch.Tree]:
    """Every real signature that can be read, and some that meet every type."""
    read = _core.read_signatures(SIGNATURES.read_bytes(), "signatures.jsonl")
    made = [
        ", ".join(EVERY_TYPE),
        "*fp32, (i1, (fp16, constexpr), ()), u1",
        "tensordesc<fp16[64, 64]>, i32",
        "(tensordesc<fp16[8]>, i8)",
        "nvTmaDesc, i8",
        "constexpr",
        "{}",
    ]
    return [one.tree for one in read if one.ok] + [relaunch.parse(text) for text in made]


Places = list[tuple[int, int, int, int]]  # of every parameter: slot, size, alignment and offset, in bytes


def planned(tree: relaunch.Tree, dialect: str, constants: tuple[int, ...] = ()) -> Places | None:
    try:
        plan = relaunch.Plan(tree, dialect=dialect, constants=constants)
    except relaunch.BindError:
        return None
    found = [(one["slot_size"], one["size"], one["alignment"], one["offset"]) for one in plan.parameters]
    assert [one[0] for one in found] == list(plan.slots)
    return found


def recorded(types: Any, dialect: str, constants: tuple[int, ...] = ()) -> Places | None:
    spec = generator.LauncherSpec(dialect, types, constants)
    try:
        found = [(one.slot, one.size, one.alignment, one.offset) for one in layout(spec)]
    except generator.UnknownType:
        return None
    assert [one[0] for one in found] == generator.slots(spec)
    return found


@pytest.mark.parametrize("dialect", relaunch.DIALECTS)
def test_layout_of_every_signature(dialect: str) -> None:
    different = {}
    taken = 0
    for tree in trees():
        ours, theirs = planned(tree, dialect), recorded(of_tree(tree), dialect)
        taken += ours is not None
        if ours != theirs:
            different[tree.dump()] = (ours, theirs)
    assert different == {}
    assert taken > 200


@pytest.mark.parametrize(
    "dialect", [f"triton-{release}-{backend}" for release in ("3.0", "3.2") for backend in ("cuda", "hip")]
)
def test_layout_with_constants(dialect: str) -> None:
    for tree in trees():
        some = tuple(range(0, len(tree), 3))
        assert planned(tree, dialect, some) == recorded(of_tree(tree), dialect, some), tree.dump()


def test_the_same_dialects() -> None:
    assert sorted(relaunch.DIALECTS) == sorted(generator.all_dialects())
