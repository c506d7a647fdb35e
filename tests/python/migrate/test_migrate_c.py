"""What `relaunch generate` renders for every dialect, read back by `relaunch migrate --form c`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relaunch import generator
from relaunch._core import read_signatures

ROWS = Path(__file__).parents[2] / "signatures" / "signatures.jsonl"


def signatures() -> list[tuple[Any, ...]]:
    """The distinct signatures of the repository, as the generator takes them."""

    def plain(nodes: Any) -> tuple[Any, ...]:
        return tuple(
            plain(node.nested_tuple) if node.nested_tuple is not None else node.dtype or "constexpr" for node in nodes
        )

    return sorted({plain(one.tree) for one in read_signatures(ROWS.read_bytes(), "f") if one.ok}, key=repr)


SIGNATURES = signatures()
SCALARS = ("i1", "u1", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "fp16", "bf16", "fp32", "fp64")


def kept(dialect: str, entry: Any) -> Any:
    """What C keeps of an entry."""
    old = dialect.split("-")[1] in ("3.0", "3.2", "3.3")
    if isinstance(entry, tuple):
        return tuple(kept(dialect, one) for one in entry)
    if entry.startswith("*"):
        return "*void"
    wide = old or dialect.startswith("triton-3.4")
    bits = {"i1": "i32" if wide else "i8", "u1": "u32" if wide else "u8"}
    floats = {"fp16": "fp32", "bf16": "fp32"} if old else {}
    return (bits | floats).get(entry, entry)


def read_back(text: str) -> Any:
    """The tree of one launcher, in the generator's form."""
    (found,) = read_signatures(text.encode(), "launcher.c")
    assert found.form == "c"
    line = json.loads(found.to_json())
    assert {one["code"] for one in line["diagnostics"]} <= {"RL104", "RL108", "RL109"}  # warnings about types

    def plain(nodes: Any) -> Any:
        return tuple(plain(one["items"]) if "items" in one else one.get("type", "constexpr") for one in nodes)

    return plain(line["parameters"])


@pytest.mark.parametrize("dialect", generator.dialects())
def test_every_signature_comes_back(dialect: str) -> None:
    rendered = 0
    for signature in [*SIGNATURES, SCALARS, (), ("*fp32", ("i32", ("*fp16", "constexpr"), ()), "fp64")]:
        spec = generator.LauncherSpec(dialect, signature)
        try:
            text = generator.render(spec)
        except generator.UnknownType:
            continue
        rendered += 1
        assert read_back(text) == kept(dialect, generator.expand(spec)), signature
    assert rendered > 100


@pytest.mark.parametrize("dialect", ["triton-3.0-cuda", "triton-3.2-hip"])
def test_folded_arguments_are_no_parameters(dialect: str) -> None:
    spec = generator.LauncherSpec(dialect, ("*fp32", "i32", "*i8", "i64"), constants=(1, 2))
    assert read_back(generator.render(spec)) == ("*void", "constexpr", "constexpr", "i64")


@pytest.mark.parametrize(("dialect", "by_value"), [("triton-3.6-cuda", "nvTmaDesc"), ("triton-3.6-hip", "tensordesc")])
def test_descriptors_by_value(dialect: str, by_value: str) -> None:
    meta = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [64, 64], "fp4_padded": False}
    spec = generator.LauncherSpec(dialect, ("tensordesc<fp16[64, 64]>", "i32"), tensordesc_meta=(meta,))
    assert read_back(generator.render(spec)) == (by_value, "i32", "i32", "i64", "i64", "i32")
