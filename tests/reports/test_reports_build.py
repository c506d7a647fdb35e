"""The build cache: whole entries, keys that tell builds apart, names that do not meet, and sources for any compiler."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import recorder
from relaunch.generator.toolchain import Toolchain, find_toolchain

from relaunch import generator

pytestmark = pytest.mark.xdist_group("reports build")

CUDA, HIP = "triton-3.6-cuda", "triton-3.6-hip"
WORDS = ("*fp32", "fp16", "bf16", "i32", "i64", "fp64", "u8")


def spec(*signature: Any, dialect: str = CUDA) -> generator.LauncherSpec:
    return generator.LauncherSpec(dialect, signature)


def output(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return done.stdout


# Launches of two signatures in turn, every library with its symbols global.
INTERLEAVED = """
import json, os, sys
from pathlib import Path
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
from relaunch import generator
from relaunch.differential.launching import provide_driver_module
from relaunch.differential.recorder import Recorder
backend, cache = sys.argv[1:]
provide_driver_module(backend)
recorder = Recorder(backend)
dialects = [name for name in generator.dialects() if name.endswith(backend)][1::3][:2]
signatures = (("i64", "fp64"), ("i32", "*fp32", "i8"))
specs = [generator.LauncherSpec(name, types) for name in dialects for types in signatures]
given = {"grid_x": 1, "grid_y": 1, "grid_z": 1, "stream": 0, "function": 1, "cooperative": False, "pdl": False}
launchers = []
for built in generator.build(specs, Path(cache), optimize='-O0'):
    facts = generator.facts(built.spec.dialect)
    six = built.spec.dialect < "triton-3.6"
    front = [((4, 1, 0, 1, 1, 1) if six else (4, 1, 0)) if one.name == "kernel_metadata" else given.get(one.name)
             for one in facts.prefix]
    launchers.append((built.spec, generator.load(built).launch, front))
for turn in range(3):
    for spec, launch, front in launchers:
        recorder.reset()
        recorder.set_slots(generator.slots(spec))
        launch(*front, *((turn, 0.5) if len(spec.signature) == 2 else (turn, 4096, turn + 1)))
        print(json.dumps([turn, len(spec.signature), recorder.events()[-1]["params"][:len(spec.signature)]]))
for built in generator.build(specs, Path(cache), optimize='-O0'):
    print(json.dumps(str(built.path)))
"""


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_launchers_in_one_process_do_not_call_each_other(backend: str, tmp_path: Path) -> None:
    """Their functions are their own: with global symbols, interleaved, of two releases; only PyInit_ is exported."""
    lines = [json.loads(line) for line in output(sys.executable, "-c", INTERLEAVED, backend, tmp_path).splitlines()]
    launches = [line for line in lines if isinstance(line, list)]
    assert len(launches) >= 12
    for turn, count, found in launches:
        if count == 2:
            assert found == [turn.to_bytes(8, "little").hex(), "000000000000e03f"]
        else:
            assert found == [turn.to_bytes(4, "little").hex(), "0010000000000000", f"{turn + 1:02x}"]
    for path in {line for line in lines if isinstance(line, str)}:
        names = [line.split()[-1] for line in output("nm", "-D", "--defined-only", path).splitlines()]
        assert names
        assert [name for name in names if not name.startswith("PyInit_launcher_")] == []


def build_few(cache: Path) -> None:
    generator.build([spec("i32"), spec("i64", "fp16")], cache, optimize="-O0")


def is_elf(path: Path) -> bool:
    """Whether readelf finds nothing wrong: sections, dynamic symbols and all."""
    done = subprocess.run(["readelf", "-S", "--dyn-syms", path], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stderr == ""


def test_who_lists_the_cache_sees_whole_entries_alone(tmp_path: Path) -> None:
    """While two processes fill it: every name without a dot is a finished file, at any moment."""
    cache = tmp_path / "cache"
    cache.mkdir()
    seen: dict[str, int] = {}
    wrong: list[str] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for path in cache.glob("[!.]*.so"):
                size = path.stat().st_size
                if seen.setdefault(path.name, size) != size or path.read_bytes()[:4] != b"\x7fELF":
                    wrong.append(path.name)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            pool.map(build_few, [cache] * 2)
    finally:
        done.set()
        thread.join()
    assert wrong == []
    entries = sorted(cache.glob("[!.]*.so"))
    assert len(entries) == 2
    assert all(map(is_elf, entries))
    assert list(cache.rglob(".*")) == []


def test_cleaning_up_may_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy network file system: what was built is there, and is not built again."""
    refuse = os.rmdir

    def rmdir(path: Any, **named: Any) -> None:
        if ".build-" in os.fspath(path):
            raise OSError(errno.EBUSY, "Device or resource busy", os.fspath(path))
        refuse(path, **named)

    unlinked = Path.unlink

    def unlink(self: Path, missing_ok: bool = False) -> None:
        if not self.exists():
            raise OSError(errno.ESTALE, "Stale file handle", str(self))
        unlinked(self, missing_ok)

    monkeypatch.setattr(os, "rmdir", rmdir)
    monkeypatch.setattr(Path, "unlink", unlink)
    (built,) = generator.build([spec("i32")], tmp_path, optimize="-O0")
    assert is_elf(built.path)


def test_entries_are_replaced_only_where_they_are_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that another process has published meanwhile may be in use; one that was torn is built again."""
    (built,) = generator.build([spec("i32")], tmp_path / "one", optimize="-O0")
    content = built.path.read_bytes()
    other = tmp_path / "other"
    compiled: list[int] = []
    compile_now = Toolchain.compile

    def compile_late(self: Toolchain, source: str, path: Path, extra: tuple[str, ...] = ()) -> None:
        compile_now(self, source, path, extra)
        if "-soname" not in " ".join(extra):
            compiled.append(1)
            if not (other / built.path.name).exists():
                shutil.copyfile(built.path, other / built.path.name)
                compiled.append((other / built.path.name).stat().st_ino)

    monkeypatch.setattr(Toolchain, "compile", compile_late)
    (again,) = generator.build([spec("i32")], other, optimize="-O0")
    assert compiled == [1, again.path.stat().st_ino]
    for size in (0, 10, 63, len(content) // 2, len(content) - 1):
        again.path.write_bytes(content[:size])
        compiled.clear()
        generator.build([spec("i32")], other, optimize="-O0")
        assert (compiled, is_elf(again.path)) == ([1], True)
    inode = again.path.stat().st_ino
    compiled.clear()
    generator.build([spec("i32")], other, optimize="-O0")
    assert (compiled, again.path.stat().st_ino) == ([], inode)


SEARCHED = ["CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "LD_RUN_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"]


def test_what_changes_the_library_is_in_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that gcc and ld take from the environment too: LD_RUN_PATH ends up in the library."""
    for name in SEARCHED:
        monkeypatch.delenv(name, raising=False)
    (plain,) = generator.build([spec("i32")], tmp_path, optimize="-O0")
    monkeypatch.setenv("LD_RUN_PATH", "/one/runtime")
    (pathed,) = generator.build([spec("i32")], tmp_path, optimize="-O0")
    assert "/one/runtime" in output("readelf", "-d", pathed.path)
    assert "/one/runtime" not in output("readelf", "-d", plain.path)
    identities = {plain.path.name.split(".")[1], pathed.path.name.split(".")[1]}
    for name in SEARCHED:
        monkeypatch.delenv("LD_RUN_PATH", raising=False)
        for value in ("/usr/lib/gcc/", "/usr/lib/"):
            monkeypatch.setenv(name, value)
            identities.add(find_toolchain("cuda", "-O0").identity)
        monkeypatch.delenv(name)
    assert len(identities) == 2 + 2 * len(SEARCHED)


def test_the_precompiled_launcher_is_linked_to_no_driver() -> None:
    """So it loads on a machine without one, and no older driver lacks a symbol of it."""
    from relaunch import _core

    dynamic = output("readelf", "-d", _core.__file__)
    assert not re.search(r"NEEDED.*(cuda|hip|nvidia|amd)", dynamic)
    undefined = output("nm", "-D", "--undefined-only", _core.__file__)
    assert not re.search(r" (cu|hip)[A-Z]\w+", undefined)


def fresh(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


BIND = """
import relaunch
launcher = relaunch.Launcher("*fp32, i32", dialect="triton-3.6-cuda", function=1)
launcher(1, 1, 1, 0, 4096, 5)
"""


def test_the_driver_is_found_as_the_loader_finds_it(tmp_path: Path) -> None:
    """By LD_LIBRARY_PATH, without a compiler on the machine; a file of the name that is no library is named."""
    done = fresh(BIND, LD_LIBRARY_PATH=str(recorder.path("cuda").parent), PATH="/nowhere", CC="/nowhere/cc")
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "libcuda.so.1").write_text(".TH libcuda 7 the manual page, which is no library")
    done = fresh(BIND, LD_LIBRARY_PATH=str(tmp_path))
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("relaunch.BindError: the driver library cannot be opened: ")
    assert str(tmp_path / "libcuda.so.1") in last


def test_without_a_compiler_the_generator_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(generator.ToolchainError, match=r"^no C compiler: install gcc$"):
        generator.build([spec("i32")], tmp_path)
    monkeypatch.setenv("CC", "no-such-cc -O2")
    with pytest.raises(generator.ToolchainError, match=r"^no C compiler: no-such-cc -O2 not found$"):
        generator.build([spec("i32")], tmp_path)


@pytest.mark.parametrize("dialect", generator.dialects())
def test_sources_are_clean_for_clang_and_as_cxx(dialect: str, tmp_path: Path) -> None:
    """No jump over an initialization, no pointer of another type, no empty braces: with every kind of value or none."""
    tuples = (("i32", ("*fp32",)),) if generator.facts(dialect).tuples else ()
    flags = find_toolchain(generator.facts(dialect).backend, "-O1").flags
    searched = [flag for flag in flags if flag not in ("-std=gnu17", "-shared")]
    source = tmp_path / "launcher.c"
    for entries in ((*WORDS, *tuples), ()):
        text = generator.render(generator.LauncherSpec(dialect, entries))
        source.write_text(text)
        assert not re.search(r"=\s*\{\s*\}|\[\s*0?\s*\]\s*;", text), "MSVC takes no empty array"
        for command in (["clang-19", "-std=gnu17"], ["g++", "-x", "c++", "-std=gnu++20"]):
            strict = [*command, *searched, "-Wall", "-Werror", "-fsyntax-only", str(source)]
            if not entries and command[0] == "clang-19":
                continue
            done = subprocess.run(strict, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, "")
