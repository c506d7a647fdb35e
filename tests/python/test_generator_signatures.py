"""Signatures of launchers: what is taken, what it becomes, and what a signature may not do to a source."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaunch import generator

CUDA = "triton-3.6-cuda"
HIP = "triton-3.6-hip"
EVERY_SCALAR = ["i1", "u1", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "fp16", "bf16", "fp32", "f32", "fp64"]


@pytest.mark.parametrize("dialect", [CUDA, HIP])
def test_slots_of_every_type(dialect: str) -> None:
    spec = generator.LauncherSpec(dialect, (*EVERY_SCALAR, "constexpr", "*fp8e4nv", ("i8", ("**fp32",), ())))
    assert generator.slots(spec) == [1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 4, 8, 8, 1, 8, 8, 8]


def test_descriptor_expansion() -> None:
    signature = ("i32", "tensordesc<fp16[64, 64]>", ("constexpr",), "tensordesc<i8[1, 32, 64],Layout(a=[1, 2])>")
    lowered = ("i32", "*fp16", *["i64"] * 4, "i1", "i32", "i32", "i64", "i64")
    rest = (("constexpr",), "*i8", *["i64"] * 6, "i1", *["i32"] * 3, *["i64"] * 3)
    for dialect, name in ((CUDA, "nvTmaDesc"), (HIP, "tensordesc")):
        for meta in (None, (), (None, None)):
            spec = generator.LauncherSpec(dialect, signature, tensordesc_meta=meta)
            assert generator.expand(spec) == lowered + rest
        spec = generator.LauncherSpec(dialect, signature, tensordesc_meta=({"swizzle": 3}, None))
        assert generator.expand(spec) == ("i32", name, "i32", "i32", "i64", "i64", *rest)
        assert generator.slots(spec)[:6] == [4, 128 if dialect == CUDA else 48, 4, 4, 8, 8]
        with pytest.raises(AssertionError, match=r"^$"):
            generator.expand(generator.LauncherSpec(dialect, signature, tensordesc_meta=({},)))


UNKNOWN = {
    CUDA: ["fp8e4nv", "void", "i128", "", "int32", "tdmDesc", "tensordesc", "tensordesc<fp16>", "tensordesc<fp16[]>"],
    HIP: ["fp8e4nv", "void", "i128", "", "int32", "tdmDesc", "tensordesc", "nvTmaDesc", "tensordesc<fp16[a]>"],
}


@pytest.mark.parametrize(("dialect", "type"), [(dialect, one) for dialect, types in UNKNOWN.items() for one in types])
def test_unknown_type(dialect: str, type: str) -> None:
    with pytest.raises(generator.UnknownType) as caught:
        generator.render(generator.LauncherSpec(dialect, ("i32", ("i8", type))))
    assert str(caught.value) == f"{dialect} has no type {type!r} (argument 1, item 1)"
    assert (caught.value.type, caught.value.path, caught.value.dialect) == (type, (1, 1), dialect)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_descriptor_inside_a_tuple_is_unknown() -> None:
    with pytest.raises(generator.UnknownType) as caught:
        generator.expand(generator.LauncherSpec(HIP, (("tensordesc<fp16[64]>",),)))
    assert str(caught.value) == f"{HIP} has no type 'tensordesc<fp16[64]>' (argument 0, item 0)"


HOSTILE = [
    '"; system("id"); "',
    '*fp32"); abort(); ("',
    "*fp32\n#include </etc/passwd>",
    "*fp32\n",
    "*fp32*/",
    "*",
    "*$<launcher.name>$",
    "$% include 'x' %$",
    "i32\\",
    "i32 ",
    "I32",
    "*é",
    "*１",
    "i３2",
    "tensordesc<fp16[64]>; int x",
    'tensordesc<fp16"[64]>',
    "tensordesc<fp16[64]\n>",
    "tensordesc<fp16[６４]>",
    "i32\0",
    "x" * 1_000_000,
]


@pytest.mark.parametrize("dialect", [CUDA, HIP])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_no_type(dialect: str, text: str) -> None:
    with pytest.raises(generator.UnknownType) as caught:
        generator.render(generator.LauncherSpec(dialect, (text,)))
    assert len(str(caught.value)) < 500


@given(st.text() | st.text("*ki8fptensordc<>[], 64").map(lambda text: f"*{text}"), st.sampled_from([CUDA, HIP]))
def test_text_of_a_signature_never_reaches_the_source(text: str, dialect: str) -> None:
    """Whatever is accepted renders as one of the shapes that the facts have."""
    try:
        source = generator.render(generator.LauncherSpec(dialect, (text,)))
    except generator.UnknownType:
        return
    shapes = ["*x", *generator.facts(dialect).types, "tensordesc<x[1]>"]
    assert source in {generator.render(generator.LauncherSpec(dialect, (shape,))) for shape in shapes}


KNOWN = "; known: " + ", ".join(generator.all_dialects())
WARP_SIZE = "warp_size must be an int from 1 to 1024, not "
BAD: list[tuple[str, Any, dict[str, Any], str]] = [
    (CUDA, (3,), {}, "argument 0 must be a type or a tuple of types, not int"),
    (CUDA, ("i32", (None,)), {}, "argument 1, item 0 must be a type or a tuple of types, not NoneType"),
    (CUDA, "i32", {}, "a signature is a tuple of types, not str"),
    (HIP, (), {"warp_size": "64); abort("}, WARP_SIZE + "64); abort("),
    (HIP, (), {"warp_size": True}, WARP_SIZE + "True"),
    (HIP, (), {"warp_size": -64}, WARP_SIZE + "-64"),
    (CUDA, ("i32",), {"constants": (0,)}, "triton-3.6-cuda folds no constants"),
    ("triton-9.9-cuda", (), {}, "unknown dialect 'triton-9.9-cuda'" + KNOWN),
    ("../triton-3.6-cuda", (), {}, "unknown dialect '../triton-3.6-cuda'" + KNOWN),
]


@pytest.mark.parametrize(("dialect", "signature", "options", "text"), BAD, ids=range(len(BAD)))
def test_bad_spec_is_a_clear_error(dialect: str, signature: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(text)}$"):
        generator.render(generator.LauncherSpec(dialect, signature, **options))


def nested(depth: int) -> tuple[object, ...]:
    entry: tuple[object, ...] = ("i32",)
    for _ in range(depth - 1):
        entry = (entry,)
    return entry


def test_nesting_has_a_limit() -> None:
    assert generator.slots(generator.LauncherSpec(CUDA, (nested(256),))) == [4, 8, 8]
    with pytest.raises(ValueError, match=r"^tuples are nested deeper than 256$"):
        generator.LauncherSpec(CUDA, (nested(257),))


def test_long_signature_renders() -> None:
    source = generator.render(generator.LauncherSpec(CUDA, ("*fp32", "i64") * 2500))
    assert "&argument4999, &global_scratch_pointer, &profile_scratch_pointer};" in source
