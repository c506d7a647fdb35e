"""Rendered launchers: sources kept in generator_sources/, what a compiler says of them, and their names.

Kept are the whole launcher of 3.0 on each backend, what every later release changed in it as a diff, and for each
backend of 3.6 the `launch` functions of some signatures. After a wanted change of the templates:
RELAUNCH_ACCEPT=1 ./run pytest tests/python/test_generator_sources.py
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from relaunch.generator.render import shared_source
from relaunch.generator.toolchain import find_toolchain

from relaunch import generator

CUDA = "triton-3.6-cuda"
HIP = "triton-3.6-hip"
GENERATED = generator.dialects()
SOURCES = Path(__file__).parent / "generator_sources"
EVERY_SCALAR = ["i1", "u1", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "fp16", "bf16", "fp32", "f32", "fp64"]

SIGNATURES = {
    "empty": generator.LauncherSpec(CUDA, ()),
    "scalars": generator.LauncherSpec(CUDA, tuple(EVERY_SCALAR), warp_size=32),
    "tuples": generator.LauncherSpec(CUDA, ("*fp32", ("constexpr", ("i32", "*kfp16"), ()), "constexpr")),
    "lowered descriptor": generator.LauncherSpec(CUDA, ("tensordesc<fp16[64, 64]>", "i32")),
    "descriptor": generator.LauncherSpec(CUDA, ("tensordesc<fp16[64, 64]>", "i32"), tensordesc_meta=({},)),
}


def known(dialect: str, *entries: Any) -> tuple[Any, ...]:
    """The entries that the dialect's launcher takes."""

    def is_known(entry: Any) -> bool:
        try:
            generator.expand(generator.LauncherSpec(dialect, (entry,)))
        except generator.UnknownType:
            return False
        return True

    return tuple(entry for entry in entries if is_known(entry))


def anonymous(source: str) -> str:
    """A source without the launcher's name, which is a digest of the whole."""
    return re.sub(r"launcher_[0-9a-f]{24}", "launcher", source)


def of_release(dialect: str) -> str:
    """The source of a signature with one entry of every kind that the dialect has."""
    entries = known(dialect, "*fp32", "i1", "i64", "fp16", "nvTmaDesc", "constexpr", ("*kfp16",))
    constants = (2,) if generator.facts(dialect).folds_constants else ()
    return anonymous(generator.render(generator.LauncherSpec(dialect, entries, constants=constants)))


def own(spec: generator.LauncherSpec) -> str:
    """What is the launcher's own of a source."""
    source = generator.render(spec)
    shared = shared_source(spec.dialect)
    assert source.startswith(shared)
    return anonymous(source.removeprefix(shared))


def kept() -> Iterator[tuple[str, str]]:
    """Name and text of every file in generator_sources."""
    for backend in ("cuda", "hip"):
        before = ""
        for dialect in (one for one in GENERATED if one.endswith(backend)):
            source = of_release(dialect)
            changed = difflib.unified_diff(before.splitlines(), source.splitlines(), "before", dialect, lineterm="")
            yield (f"{dialect}.diff.txt", "\n".join(changed) + "\n") if before else (f"{dialect}.c.txt", source)
            before = source
        texts = []
        for title, spec in SIGNATURES.items():
            one = generator.LauncherSpec(
                f"triton-3.6-{backend}", spec.signature, tensordesc_meta=spec.tensordesc_meta, warp_size=spec.warp_size
            )
            texts.append(f"/* {title} */\n{own(one)}")
        yield f"signatures-triton-3.6-{backend}.c.txt", "".join(texts)


@pytest.mark.parametrize(("name", "text"), [pytest.param(*entry, id=entry[0]) for entry in kept()])
def test_source_is_the_kept_one(name: str, text: str) -> None:
    path = SOURCES / name
    if os.environ.get("RELAUNCH_ACCEPT") == "1":
        path.write_text(text)
    assert text == path.read_text(), (
        f"{name} is no longer what is rendered; if that is wanted: "
        "RELAUNCH_ACCEPT=1 ./run pytest tests/python/test_generator_sources.py"
    )


def test_nothing_else_is_kept() -> None:
    assert {path.name for path in SOURCES.iterdir()} == {name for name, _ in kept()}


def compile_strictly(source: str, dialect: str, optimize: str, folder: Path) -> None:
    """gcc finds nothing in a source that it warns about."""
    toolchain = find_toolchain(generator.facts(dialect).backend, optimize)
    (folder / "launcher.c").write_text(source)
    command = [
        *toolchain.command,
        *toolchain.flags,
        "-Wall",
        "-Wextra",
        "-Wshadow",
        "-Werror",
        "-c",
        "-o",
        "launcher.o",
    ]
    done = subprocess.run([*command, "launcher.c"], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("dialect", GENERATED)
@pytest.mark.parametrize("optimize", ["-O0", "-O3"])
def test_source_compiles_without_a_warning(dialect: str, optimize: str, tmp_path: Path) -> None:
    """With every kind of entry, and with none: no function is there that only some signatures use."""
    descriptors = ("tensordesc<fp16[8]>", "tensordesc<i8[8]>")
    entries = (*EVERY_SCALAR, "constexpr", "*fp32", ("i32", ("*u1",), ()), "nvTmaDesc", *descriptors)
    taken = known(dialect, *entries)
    meta: Any = ({}, None) if descriptors[0] in taken and generator.facts(dialect).descriptor.metadata else None
    for signature, described in ((taken, meta), ((), None)):
        spec = generator.LauncherSpec(dialect, signature, tensordesc_meta=described)
        compile_strictly(generator.render(spec), dialect, optimize, tmp_path)


def test_no_delimiter_survives() -> None:
    for _, text in kept():
        assert "$" not in text
        assert "LAUNCHER" not in text


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
