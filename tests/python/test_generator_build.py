"""Building launchers: cached, in batches, whole or not at all, and honest about a compiler that refuses."""

from __future__ import annotations

import multiprocessing
import os
import stat
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from relaunch import generator

CUDA = "triton-3.6-cuda"
HIP = "triton-3.6-hip"
SCALARS = ("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "fp32", "fp64")


def spec(*signature: object, dialect: str = CUDA) -> generator.LauncherSpec:
    return generator.LauncherSpec(dialect, signature)


def compiler(folder: Path, body: str, name: str = "cc") -> tuple[Path, Path]:
    """A compiler that writes one line to a log for each compilation, runs `body`, then gcc."""
    log = folder / f"{name}.log"
    script = folder / name
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*) exec gcc "$@" ;; esac\necho "$*" >>"{log}"\n{body}\nexec gcc "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    log.touch()
    return script, log


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of the compiler that `CC` names."""
    script, log = compiler(tmp_path, "")
    monkeypatch.setenv("CC", str(script))
    return log


def compilations(log: Path) -> int:
    """Launcher compilations in a log: the stub of the driver library is not one."""
    return sum("-soname" not in line for line in log.read_text().splitlines())


def leftovers(cache: Path) -> list[str]:
    return [path.name for path in cache.rglob(".*")]


def test_second_build_compiles_nothing(tmp_path: Path, counted: Path) -> None:
    specs = [spec(*SCALARS), spec("*fp32", "i32"), spec("i32", dialect=HIP)]
    first = generator.build(specs, tmp_path / "cache")
    before = counted.read_text()
    assert compilations(counted) == 2  # one job has the two of one dialect, the other the third
    assert generator.build(specs, tmp_path / "cache") == first
    assert counted.read_text() == before
    assert [built.spec for built in first] == specs
    assert all(built.path.is_file() for built in first)
    assert leftovers(tmp_path / "cache") == []


def test_changed_flag_or_compiler_builds_again(tmp_path: Path, counted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = generator.build([spec("i32")], tmp_path / "cache")[0]
    other = generator.build([spec("i32")], tmp_path / "cache", optimize="-O3")[0]
    assert compilations(counted) == 2
    script, log = compiler(tmp_path, "", name="other-cc")
    monkeypatch.setenv("CC", f"{script} -DSOMETHING=1")
    third = generator.build([spec("i32")], tmp_path / "cache")[0]
    assert compilations(log) == 1
    assert "-DSOMETHING=1 -O1 " in log.read_text()
    assert len({built.path, other.path, third.path}) == 3
    assert built.module_name == other.module_name == third.module_name


def test_equal_launchers_are_built_once(tmp_path: Path, counted: Path) -> None:
    built = generator.build([spec("*fp32", "i32"), spec("*i8", "i32"), spec("*fp32", "i32")], tmp_path / "cache")
    assert compilations(counted) == 1
    assert len({one.path for one in built}) == 1
    assert [one.spec.signature[0] for one in built] == ["*fp32", "*i8", "*fp32"]


def test_descriptor_metadata_builds(tmp_path: Path) -> None:
    described = [
        generator.LauncherSpec(dialect, ("tensordesc<fp16[8]>",), tensordesc_meta=({"swizzle": 1},))
        for dialect in (CUDA, HIP)
    ]
    assert [built.path.is_file() for built in generator.build(described, tmp_path / "cache")] == [True, True]


def test_many_launchers_take_few_compilations(tmp_path: Path, counted: Path) -> None:
    specs = [spec(one, other) for one in SCALARS for other in SCALARS]
    seen: list[tuple[int, int]] = []
    built = generator.build(
        specs, tmp_path / "cache", jobs=2, optimize="-O0", progress=lambda done, total: seen.append((done, total))
    )
    assert len({one.path for one in built}) == 121  # i1 and i8 give the same C
    assert compilations(counted) == 2
    assert seen[0] == (0, 121)
    assert seen[-1] == (121, 121)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    seen.clear()
    generator.build(specs, tmp_path / "cache", optimize="-O0", progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 0)]


def test_jobs_share_few_units_of_limited_size(tmp_path: Path, counted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("relaunch.generator.build"), "_UNIT", 5)
    specs = [spec(*["i32"] * length) for length in range(12)] + [
        spec(*["i32"] * length, dialect=HIP) for length in (1, 2)
    ]
    built = generator.build(specs, tmp_path / "cache", jobs=2, optimize="-O0")
    assert compilations(counted) == 4  # of 4, 4 and 4 launchers; of 2
    assert len({one.path.stat().st_ino for one in built}) == 4


def test_refusing_compiler_is_shown_with_every_signature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, _ = compiler(tmp_path, 'case "$*" in *-soname*) ;; *) echo "no more today"; exit 3 ;; esac')
    monkeypatch.setenv("CC", str(script))
    with pytest.raises(generator.BuildError) as caught:
        generator.build([spec("*fp32", ("i32", ("u8",))), spec("i64")], tmp_path / "cache")
    assert [failure.spec.signature for failure in caught.value.failures] == [("*fp32", ("i32", ("u8",))), ("i64",)]
    lines = str(caught.value).splitlines()
    assert lines[0] == "triton-3.6-cuda (*fp32, (i32, (u8,))): no more today"
    assert lines[1].startswith(str(script))
    assert lines[1].endswith(": exit status 3")
    assert lines[2] == "triton-3.6-cuda (i64): no more today"
    assert leftovers(tmp_path / "cache") == []


def test_compiler_that_cannot_link_the_stub_is_shown_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, _ = compiler(tmp_path, "echo never; exit 1")
    monkeypatch.setenv("CC", str(script))
    with pytest.raises(generator.BuildError, match=r"^triton-3\.6-cuda \(i64\): never\n"):
        generator.build([spec("i64")], tmp_path / "cache")


def test_culprit_is_found_and_the_others_are_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse = (
        'for a; do case "$a" in *.c) if grep -q "OOOOOOhhh" "$a"; then echo "hhh is ugly"; exit 1; fi ;; esac; done'
    )
    script, log = compiler(tmp_path, refuse)
    monkeypatch.setenv("CC", str(script))
    good = [spec(one) for one in SCALARS]
    with pytest.raises(generator.BuildError) as caught:
        generator.build([*good[:3], spec("i16", "i16", "i16"), *good[3:]], tmp_path / "cache")
    assert [failure.spec.signature for failure in caught.value.failures] == [("i16", "i16", "i16")]
    assert str(caught.value).startswith("triton-3.6-cuda (i16, i16, i16): hhh is ugly\n")
    before = log.read_text()
    generator.build(good, tmp_path / "cache")
    assert log.read_text() == before


def test_compiler_is_not_a_shell_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", f"gcc; touch {tmp_path / 'touched'}")
    with pytest.raises(generator.ToolchainError, match=r"^no C compiler: 'gcc;' touch \S+ not found$"):
        generator.build([spec("i32")], tmp_path / "cache")
    assert list(tmp_path.iterdir()) == []


def test_missing_compiler_and_bad_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"^optimize must be a flag like -O1, not '-O1 -fplugin=x'$"):
        generator.build([spec("i32")], tmp_path / "cache", optimize="-O1 -fplugin=x")
    with pytest.raises(ValueError, match=r"^jobs must be at least 1, not 0$"):
        generator.build([spec("i32")], tmp_path / "cache", jobs=0)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(generator.ToolchainError, match=r"^no C compiler: install gcc$"):
        generator.build([spec("i32")], tmp_path / "cache")


def test_unknown_type_compiles_nothing(tmp_path: Path, counted: Path) -> None:
    with pytest.raises(generator.UnknownType):
        generator.build([spec("i32"), spec("fp8e5")], tmp_path / "cache")
    assert counted.read_text() == ""


def build_some(cache: Path) -> list[str]:
    return [str(built.path) for built in generator.build([spec(one, "i32") for one in SCALARS], cache)]


def test_processes_that_build_the_same_do_not_harm_each_other(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        results = pool.map(build_some, [cache] * 4)
    assert len({tuple(result) for result in results}) == 1
    assert leftovers(cache) == []
    for path in results[0]:
        symbols = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True).stdout
        assert f"PyInit_{Path(path).name.partition('.')[0]}\n" in symbols


def test_cuda_launchers_need_the_driver_by_name(tmp_path: Path) -> None:
    cuda, hip = generator.build([spec("i32"), spec("i32", dialect=HIP)], tmp_path / "cache")
    dynamic = [
        subprocess.run(["readelf", "-d", str(built.path)], capture_output=True, text=True, check=True).stdout
        for built in (cuda, hip)
    ]
    assert "(NEEDED)             Shared library: [libcuda.so.1]" in dynamic[0]
    assert "amdhip" not in dynamic[1]
    assert "cuda" not in dynamic[1]
    assert "PATH)" not in dynamic[0]


LAUNCH = """
import json, sys, types
from pathlib import Path
from relaunch import generator
from relaunch.differential.recorder import Recorder
backend, cache = sys.argv[1:]
vendor, name = {"cuda": ("nvidia", "PyCUtensorMap"), "hip": ("amd", "PyTDMDescriptor")}[backend]
for module in ("triton", "triton.backends", f"triton.backends.{vendor}", f"triton.backends.{vendor}.driver"):
    sys.modules[module] = types.ModuleType(module)
setattr(sys.modules[f"triton.backends.{vendor}.driver"], name, type(name, (), {}))
recorder = Recorder(backend)
specs = [generator.LauncherSpec(f"triton-3.6-{backend}", (one, "fp32")) for one in ("i16", "i32")]
for built in generator.build(specs, Path(cache), jobs=1):
    recorder.reset()
    recorder.set_slots(generator.slots(built.spec))
    prefix = (2, 3, 4, 5, 6, False, False, None, None) if backend == "cuda" else (False, 2, 3, 4, 5, 6, None)
    generator.load(built).launch(*prefix, (4, 1, 0), None, None, None, -2, 1.5)
    print(json.dumps(recorder.events()[-1]["params"]))
"""


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_modules_of_one_unit_are_loaded_and_launch(backend: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LAUNCH, backend, str(tmp_path)], capture_output=True, text=True, check=False
    )
    zero = '"0000000000000000", "0000000000000000"'
    assert done.stdout.splitlines() == [f'["feff", "0000c03f", {zero}]', f'["feffffff", "0000c03f", {zero}]'], (
        done.stderr
    )


def test_default_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAUNCH_CACHE", f"{os.sep}somewhere")
    assert generator.default_cache() == Path("/somewhere")
    monkeypatch.delenv("RELAUNCH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cached")
    assert generator.default_cache() == Path("/cached/relaunch/launchers")
