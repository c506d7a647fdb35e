"""librelaunch built and installed, a binding to it by ctypes, and the example built out of tree."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build" / "release"
HANDLE = 0xF00


def run(*command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """A command that must succeed; its output is in the failure."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where librelaunch is installed, from the build folder that `./run unit` uses."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    if not (BUILD / "CMakeCache.txt").exists():
        run("cmake", "--preset", "release", cwd=ROOT, env=environment)
    run("cmake", "--build", BUILD, "--target", "relaunch", "--parallel", "2", env=environment)
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--component", "capi", "--prefix", folder)
    return folder


@pytest.fixture(scope="session")
def library_file(prefix: Path) -> Path:
    (found,) = prefix.glob("lib*/**/librelaunch.so")
    return found


@pytest.fixture(scope="session")
def example(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the example's programs, built from a copy of its sources by find_package alone."""
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(ROOT / "capi" / "example", folder / "source")
    flags = "-Wall -Wextra -Wpedantic -Werror"
    options = (f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}")
    run("cmake", "-G", "Ninja", "-S", folder / "source", "-B", folder / "build", *options)
    run("cmake", "--build", folder / "build")
    return folder / "build"


class Options(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
        ("dialect", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("driver", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("num_warps", ctypes.c_int32),
        ("num_ctas", ctypes.c_int32),
        ("shared", ctypes.c_int32),
        ("warp_size", ctypes.c_int32),
        ("cluster", ctypes.c_uint32 * 3),
        ("preferred_cluster", ctypes.c_uint32 * 3),
        ("cooperative", ctypes.c_int32),
        ("pdl", ctypes.c_int32),
        ("non_portable_cluster", ctypes.c_int32),
        ("tensordesc_meta", ctypes.c_int32),
    )


class Config(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("grid", ctypes.c_uint32 * 3),
        ("stream", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("global_scratch", ctypes.c_uint64),
        ("profile_scratch", ctypes.c_uint64),
    )


class Parameter(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("hidden", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_char_p),
        ("position", ctypes.c_uint32),
        ("slot_offset", ctypes.c_uint32),
        ("slot_size", ctypes.c_uint32),
        ("kernel_offset", ctypes.c_uint32),
        ("kernel_size", ctypes.c_uint32),
        ("kernel_alignment", ctypes.c_uint32),
    )


SCHEDULING = {"default": 1, "spread": 2, "load_balancing": 3}


@dataclass
class Library:
    """The C interface by ctypes."""

    loaded: ctypes.CDLL

    def bind(self, text: str, dialect: str, driver: Path, **options: Any) -> ctypes.c_void_p:
        """A launcher with the options that relaunch.Launcher takes, never freed."""
        given = Options(size=ctypes.sizeof(Options), dialect=dialect.encode(), driver=str(driver).encode())
        given.function = HANDLE
        for name, value in options.items():
            if isinstance(value, tuple):
                value = (ctypes.c_uint32 * 3)(*value)
            setattr(given, name, SCHEDULING.get(value, value) if name == "scheduling" else value)
        tree, launcher = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.loaded.relaunch_parse(text.encode(), ctypes.c_size_t(len(text)), ctypes.byref(tree)) == 0
        assert self.loaded.relaunch_bind(tree, ctypes.byref(given), ctypes.byref(launcher)) == 0
        self.loaded.relaunch_tree_free(tree)
        return launcher

    def parameters(self, launcher: ctypes.c_void_p) -> list[Parameter]:
        found: list[Parameter] = []
        entry = Parameter(size=ctypes.sizeof(Parameter))
        describe = self.loaded.relaunch_describe_parameter
        while describe(launcher, ctypes.c_size_t(len(found)), ctypes.byref(entry)) == 0:
            found.append(entry)
            entry = Parameter(size=ctypes.sizeof(Parameter))
        return found

    def config(self, grid: Sequence[int], **fields: int) -> Config:
        return Config(size=ctypes.sizeof(Config), grid=(ctypes.c_uint32 * 3)(*grid), **fields)

    def launch(self, launcher: ctypes.c_void_p, config: Config, values: Sequence[bytes]) -> int:
        """The status of a launch by pointers to the bytes."""
        kept = [ctypes.create_string_buffer(value, len(value)) for value in values]
        pointers = (ctypes.c_void_p * len(kept))(*map(ctypes.addressof, kept))
        status: int = self.loaded.relaunch_launch(launcher, ctypes.byref(config), pointers, ctypes.c_size_t(len(kept)))
        return status

    def launch_packed(self, launcher: ctypes.c_void_p, config: Config, values: Sequence[bytes]) -> int:
        """The same in one block."""
        block = bytearray()
        for value, parameter in zip(values, self.parameters(launcher), strict=False):
            block.extend(bytes(parameter.slot_offset - len(block)) + value)
        packed = ctypes.create_string_buffer(bytes(block), len(block))
        status: int = self.loaded.relaunch_launch_packed(
            launcher, ctypes.byref(config), packed, ctypes.c_size_t(len(block))
        )
        return status


@pytest.fixture(scope="session")
def library(library_file: Path) -> Library:
    return Library(ctypes.CDLL(str(library_file)))
