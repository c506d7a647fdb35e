"""Rendered launchers: whole sources kept in generator_sources/, and what a signature may not do to them.

After a wanted change of the templates: RELAUNCH_ACCEPT=1 ./run pytest tests/python/test_generator_render.py
"""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from relaunch.generator.toolchain import find_toolchain

from relaunch import generator

CUDA = "triton-3.6-cuda"
HIP = "triton-3.6-hip"
SOURCES = Path(__file__).parent / "generator_sources"
EVERY_SCALAR = ["i1", "u1", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "fp16", "bf16", "fp32", "f32", "fp64"]

KEPT = {
    "empty-cuda": generator.LauncherSpec(CUDA, ()),
    "empty-hip": generator.LauncherSpec(HIP, ()),
    "scalars-cuda": generator.LauncherSpec(CUDA, tuple(EVERY_SCALAR)),
    "scalars-hip": generator.LauncherSpec(HIP, tuple(EVERY_SCALAR), warp_size=32),
    "tuples-cuda": generator.LauncherSpec(CUDA, ("*fp32", ("constexpr", ("i32", "*kfp16"), ()), "constexpr")),
    "tuples-hip": generator.LauncherSpec(HIP, ("*fp32", ("constexpr", ("i32", "*kfp16"), ()), "constexpr")),
    "lowered-descriptor-cuda": generator.LauncherSpec(CUDA, ("tensordesc<fp16[64, 64]>", "i32")),
    "descriptor-cuda": generator.LauncherSpec(CUDA, ("tensordesc<fp16[64, 64]>", "i32"), tensordesc_meta=({},)),
    "descriptor-hip": generator.LauncherSpec(HIP, ("tensordesc<fp16[64, 64]>", "i32"), tensordesc_meta=({},)),
}


@pytest.mark.parametrize("kept", KEPT)
def test_source_is_the_kept_one(kept: str) -> None:
    path = SOURCES / f"{kept}.c.txt"
    source = generator.render(KEPT[kept])
    if os.environ.get("RELAUNCH_ACCEPT") == "1":
        path.write_text(source)
    assert source == path.read_text(), (
        f"{path.name} is no longer what is rendered; if that is wanted: "
        "RELAUNCH_ACCEPT=1 ./run pytest tests/python/test_generator_render.py"
    )


def test_every_kept_source_has_its_signature() -> None:
    assert {path.name for path in SOURCES.iterdir()} == {f"{kept}.c.txt" for kept in KEPT}


@pytest.mark.parametrize("dialect", [CUDA, HIP])
@pytest.mark.parametrize("optimize", ["-O0", "-O3"])
def test_source_compiles_without_a_warning(dialect: str, optimize: str, tmp_path: Path) -> None:
    signature = (*EVERY_SCALAR, "constexpr", "*fp32", ("i32", ("*u1",), ()), "tensordesc<fp16[8]>", "tensordesc<i8[8]>")
    source = generator.render(generator.LauncherSpec(dialect, signature, tensordesc_meta=({}, None)))
    toolchain = find_toolchain(generator.facts(dialect).backend, optimize)
    (tmp_path / "launcher.c").write_text(source)
    command = [*toolchain.command, *toolchain.flags, "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only"]
    done = subprocess.run([*command, str(tmp_path / "launcher.c")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_delimiter_survives() -> None:
    for spec in KEPT.values():
        assert "$" not in generator.render(spec)


def test_module_is_named_after_its_content() -> None:
    one = generator.LauncherSpec(CUDA, ("*fp32", "i32"))
    assert generator.module_name(one) == generator.module_name(
        generator.LauncherSpec("triton-3.6.0-cuda", ("*i8", "i32"))
    )
    assert generator.module_name(one) != generator.module_name(generator.LauncherSpec(CUDA, ("*fp32", "u32")))
    assert generator.module_name(one) != generator.module_name(generator.LauncherSpec(HIP, ("*fp32", "i32")))
    assert f"PyInit_{generator.module_name(one)}(void)" in generator.render(one)


def test_warp_size_is_in_hip_sources_alone() -> None:
    narrow, wide = (generator.LauncherSpec(HIP, ("i32",), warp_size=size) for size in (32, 64))
    assert ", shared, 32, (hipStream_t)stream" in generator.render(narrow)
    assert ", shared, 64, (hipStream_t)stream" in generator.render(wide)
    narrow, wide = (generator.LauncherSpec(CUDA, ("i32",), warp_size=size) for size in (32, 64))
    assert generator.render(narrow) == generator.render(wide)


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
    assert "&argument4999, &hidden_global_scratch, &hidden_profile_scratch};" in source


GOLDEN = Path(__file__).resolve().parents[1] / "golden"


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_slots_of_recorded_launchers(backend: str) -> None:
    """Every slot size that was recorded from the released launchers follows from the frozen facts."""
    with (GOLDEN / f"triton-3.6.0-{backend}.jsonl").open() as lines:
        cases = [json.loads(line) for line in lines]
    recorded = {json.dumps(case["signature"]): case["expect"]["slots"] for case in cases}
    assert len(recorded) > 50
    for text, slots in recorded.items():
        assert generator.slots(generator.LauncherSpec(f"triton-3.6-{backend}", json.loads(text))) == slots, text
