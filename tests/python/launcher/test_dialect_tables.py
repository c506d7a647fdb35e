"""The precompiled launcher's dialects against the frozen facts of the released launchers: neither reads the other."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential.signatures import of_tree

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


def planned(tree: relaunch.Tree, dialect: str, constants: tuple[int, ...] = ()) -> list[int] | None:
    try:
        plan = relaunch.Plan(tree, dialect=dialect, constants=constants)
    except relaunch.BindError:
        return None
    return list(plan.slots)


def recorded(types: Any, dialect: str, constants: tuple[int, ...] = ()) -> list[int] | None:
    try:
        return generator.slots(generator.LauncherSpec(dialect, types, constants))
    except generator.UnknownType:
        return None


@pytest.mark.parametrize("dialect", relaunch.DIALECTS)
def test_slots_of_every_signature(dialect: str) -> None:
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
def test_slots_with_constants(dialect: str) -> None:
    for tree in trees():
        some = tuple(range(0, len(tree), 3))
        assert planned(tree, dialect, some) == recorded(of_tree(tree), dialect, some), tree.dump()


def test_the_same_dialects() -> None:
    assert sorted(relaunch.DIALECTS) == sorted(generator.all_dialects())
