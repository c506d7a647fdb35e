"""`relaunch doctor`: what this machine has, and what works with it."""

from __future__ import annotations

import ctypes
import dataclasses
import importlib
import importlib.metadata
import json
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Annotated

import typer


@dataclasses.dataclass(frozen=True)
class Item:
    """One thing looked for. `detail` is its version and place, or what was asked and not found."""

    name: str
    found: bool
    detail: str


@dataclasses.dataclass(frozen=True)
class Ability:
    """One thing that can be done here, or the names of the items it lacks."""

    name: str
    lacks: tuple[str, ...]


def find_extension(name: str, module: str) -> Item:
    """An extension counts as found when it loads."""
    try:
        loaded = importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - whatever a broken build raises is the answer
        return Item(name, False, f"{module} does not load: {error}")
    return Item(name, True, str(loaded.__file__))


def find_recorder(backend: str) -> Item:
    """The recording driver of one backend, built with the package."""
    name = f"{backend}-recorder"
    try:
        path = Path(importlib.import_module("relaunch.differential.recorder").path(backend))
    except Exception as error:  # noqa: BLE001 - as above
        return Item(name, False, str(error))
    return Item(name, path.exists(), str(path))


def find_tool(name: str, *commands: str) -> Item:
    """The first of some commands that runs, with the first line of its --version."""
    for command in commands:
        path = shutil.which(command)
        if path is None:
            continue
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        lines = (done.stdout or done.stderr).splitlines()
        if done.returncode == 0 and lines:
            version = next((line for line in lines if "release" in line), lines[0])
            return Item(name, True, f"{version.strip()} ({path})")
    return Item(name, False, " or ".join(commands) + " not found")


def header_folders(backend: str) -> list[Path]:
    """Where a backend's generated launchers find their headers. Raises ToolchainError where there are none."""
    from relaunch.generator.toolchain import find_toolchain

    folders = [Path(flag) for flag in find_toolchain(backend, "-O1").flags if Path(flag).is_dir()]
    return [*folders, Path("/usr/include")]


def find_header(name: str, header: str, folders: list[Path]) -> Item:
    """The first folder that has a header."""
    for folder in folders:
        if (folder / header).exists():
            return Item(name, True, str(folder / header))
    return Item(name, False, f"no {header} in " + ", ".join(map(str, folders)))


def find_vendor_header(name: str, header: str, backend: str) -> Item:
    """The header that generated launchers are compiled with, or what to install."""
    from relaunch.generator.toolchain import ToolchainError

    try:
        return find_header(name, header, header_folders(backend))
    except ToolchainError as error:
        return Item(name, False, str(error))


def find_driver(name: str, libraries: tuple[str, ...], version: str, init: str, count: str) -> Item:
    """A vendor's driver: its version as it states it, and the number of its devices.

    Found means that it has a device: a library alone launches nothing.
    """
    for library in libraries:
        try:
            driver = ctypes.CDLL(library)
        except OSError:
            continue
        number, devices = ctypes.c_int(0), ctypes.c_int(0)
        getattr(driver, init)(0)
        getattr(driver, version)(ctypes.byref(number))
        status = getattr(driver, count)(ctypes.byref(devices))
        text = f"{library}, version {number.value}, {devices.value if status == 0 else 0} devices"
        return Item(name, status == 0 and devices.value > 0, text + (f" (status {status})" if status else ""))
    return Item(name, False, " and ".join(libraries) + " not found")


def find_distribution(name: str) -> Item:
    """A Python distribution, without importing it."""
    try:
        return Item(name, True, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Item(name, False, "not installed")


def find_python() -> Item:
    """The running Python; its C headers are `python-headers`."""
    return Item("python", sys.version_info >= (3, 10), f"{platform.python_version()} ({sys.executable})")


def find_items() -> list[Item]:
    """Everything that anything here can use."""
    return [
        find_python(),
        find_extension("core", "relaunch._core"),
        find_extension("engine", "relaunch.differential._native"),
        find_recorder("cuda"),
        find_recorder("hip"),
        find_tool("c-compiler", "gcc", "cc"),
        find_header("python-headers", "Python.h", [Path(sysconfig.get_path("include"))]),
        find_vendor_header("cuda-headers", "cuda.h", "cuda"),
        find_vendor_header("hip-headers", "hip/hip_runtime_api.h", "hip"),
        find_driver("cuda-driver", ("libcuda.so.1",), "cuDriverGetVersion", "cuInit", "cuDeviceGetCount"),
        find_driver(
            "hip-driver",
            ("libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.7"),
            "hipRuntimeGetVersion",
            "hipInit",
            "hipGetDeviceCount",
        ),
        find_tool("nvcc", "nvcc"),
        find_tool("clang", "clang++-19", "clang++"),
        find_tool("valgrind", "valgrind"),
        find_distribution("torch"),
        find_distribution("triton"),
    ]


# What can be done, and the items it takes.
ABILITIES = {
    "migrate: signatures to trees": ("core",),
    "generate: legacy C sources": ("python",),
    "generate --build for CUDA": ("c-compiler", "python-headers", "cuda-headers"),
    "generate --build for HIP": ("c-compiler", "python-headers", "hip-headers"),
    "replay, diff for CUDA": ("core", "engine", "cuda-recorder", "c-compiler", "python-headers", "cuda-headers"),
    "replay, diff for HIP": ("core", "engine", "hip-recorder", "c-compiler", "python-headers", "hip-headers"),
    "launch on a CUDA device": ("core", "cuda-driver"),
    "launch on a HIP device": ("core", "hip-driver"),
    "device tests": ("core", "cuda-driver", "nvcc", "torch"),
    "bench: instructions per launch": (
        "core",
        "engine",
        "cuda-recorder",
        "c-compiler",
        "python-headers",
        "cuda-headers",
        "valgrind",
    ),
    "bench device": ("core", "c-compiler", "python-headers", "cuda-headers", "cuda-driver", "nvcc"),
}


def abilities(items: list[Item]) -> list[Ability]:
    """What the items found allow."""
    missing = {item.name for item in items if not item.found}
    return [Ability(name, tuple(part for part in parts if part in missing)) for name, parts in ABILITIES.items()]


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")] = False,
) -> None:
    """Say what was found (drivers, headers, compiler, Python) and what works with it.

    Exit 1 when what every installation has (core, Python) does not work.
    """
    items = find_items()
    able = abilities(items)
    if as_json:
        for item in items:
            typer.echo(json.dumps({"item": item.name, "found": item.found, "detail": item.detail}))
        for ability in able:
            typer.echo(json.dumps({"ability": ability.name, "works": not ability.lacks, "lacks": list(ability.lacks)}))
    else:
        typer.echo("found")
        for item in items:
            typer.echo(f"  {'yes' if item.found else 'no':3}  {item.name:15} {item.detail}")
        typer.echo("works")
        for ability in able:
            lacks = f" (lacks {', '.join(ability.lacks)})" if ability.lacks else ""
            typer.echo(f"  {'no' if ability.lacks else 'yes':3}  {ability.name}{lacks}")
    if any(not item.found for item in items if item.name in ("python", "core")):
        raise typer.Exit(1)
