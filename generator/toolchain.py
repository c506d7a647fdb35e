"""The compiler, headers and flags that launchers are built with, and what identifies them in the cache."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from relaunch.generator.backend import registered

_OPTIMIZE = re.compile(r"-O(?:[0-3sgz]|fast)?", re.ASCII)
_SHOWN = 16_000  # characters of compiler text that are kept

# What else decides what gcc and ld make of a source.
_SEARCHED = ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "LD_RUN_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX")

# As the released launchers are compiled, optimization level apart.
_FLAGS = ("-std=gnu17", "-shared", "-fPIC", "-Wno-psabi")


class ToolchainError(RuntimeError):
    """There is no compiler, or no header that launchers need."""


class CompileError(Exception):
    """The compiler refused; str() is what it wrote."""


@dataclass(frozen=True)
class Toolchain:
    """How one backend's launchers are compiled. Two equal identities give interchangeable shared objects."""

    command: tuple[str, ...]
    flags: tuple[str, ...]
    identity: str

    def compile(self, source: str, output: Path, extra: tuple[str, ...] = ()) -> None:
        """Compiles C text into the shared object `output`, in the directory of `output`.

        `extra` follows the source on the command line. Raises CompileError, ToolchainError.
        """
        unit = output.with_suffix(".c")
        unit.write_text(source, encoding="ascii")
        command = [*self.command, *self.flags, "-o", output.name, unit.name, *extra]
        finished = _run(command, output.parent)
        if finished.returncode != 0 or not output.exists():
            shown = finished.stdout.strip()[:_SHOWN]
            raise CompileError(f"{shown}\n{shlex.join(command)}: exit status {finished.returncode}".strip())


def find_toolchain(backend: str, optimize: str) -> Toolchain:
    """The toolchain for "cuda", "hip" or a registered backend; `CC` is honoured.

    Raises ToolchainError, ValueError for a bad `optimize`.
    """
    if not _OPTIMIZE.fullmatch(optimize):
        raise ValueError(f"optimize must be a flag like -O1, not {optimize[:80]!r}")
    command = _compiler()
    python = Path(sysconfig.get_path("include"))
    if not (python / "Python.h").is_file():
        raise ToolchainError(f"Python.h not found in {python}: install the headers of this Python (python3-dev)")
    flags = [optimize, *_FLAGS, *_include(python)]
    headers = _vendor_headers(backend, flags)
    digest = hashlib.sha256()
    version = _run([*command, "--version"], Path.cwd()).stdout
    for part in (*command, version, *flags, sys.version, str(sysconfig.get_config_var("SOABI"))):
        digest.update(part.encode() + b"\0")
    for name in _SEARCHED:
        if os.environ.get(name):
            digest.update(f"{name}={os.environ[name]}".encode(errors="surrogateescape") + b"\0")
    for header in headers:
        digest.update(header.read_bytes())
    return Toolchain(command, tuple(flags), digest.hexdigest()[:24])


def _vendor_headers(backend: str, flags: list[str]) -> list[Path]:
    """Adds what the driver's headers need to the flags; the headers that launchers depend on."""
    own = registered(backend)
    if own is not None:
        flags += [*(_include(own.headers) if own.headers else []), *own.flags]
        return sorted(own.headers.rglob("*.h")) if own.headers else []
    vendor, header = _cuda_headers() if backend == "cuda" else _hip_headers()
    flags += _include(vendor)
    if backend == "hip":
        flags.append("-D__HIP_PLATFORM_AMD__")
    return [header]


def _compiler() -> tuple[str, ...]:
    named = shlex.split(os.environ.get("CC", ""))
    candidates = [named] if named else [["gcc"], ["cc"], ["clang"]]
    for program, *arguments in candidates:
        found = shutil.which(program)
        if found:
            return (str(Path(found).absolute()), *arguments)
    raise ToolchainError(f"no C compiler: {shlex.join(named)} not found" if named else "no C compiler: install gcc")


def _run(command: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise ToolchainError(f"cannot run {command[0]}: {error.strerror}") from error


def _include(directory: Path) -> list[str]:
    # gcc looks in /usr/include anyway, and naming it would change the order of its own directories.
    return [] if directory == Path("/usr/include") else ["-isystem", str(directory)]


def _cuda_headers() -> tuple[Path, Path]:
    def candidates() -> Iterator[Path]:
        for variable in ("CUDA_HOME", "CUDA_PATH"):
            if os.environ.get(variable):
                yield Path(os.environ[variable]) / "include"
        for entry in sys.path:
            yield from sorted(Path(entry or ".").glob("nvidia/*/include"))
        nvcc = shutil.which("nvcc")
        if nvcc:
            yield Path(nvcc).resolve().parent.parent / "include"
        yield Path("/usr/local/cuda/include")
        yield Path("/usr/include")

    for directory in candidates():
        if (directory / "cuda.h").is_file():
            return directory, directory / "cuda.h"
    raise ToolchainError("cuda.h not found: install the nvidia-cuda-runtime wheel or a CUDA toolkit (CUDA_HOME)")


def _hip_headers() -> tuple[Path, Path]:
    roots = [Path(os.environ[name]) for name in ("ROCM_PATH", "HIP_PATH") if os.environ.get(name)]
    packages = sorted({Path(sysconfig.get_path(key)) for key in ("purelib", "platlib")})
    places = [root / "include" for root in (*roots, Path("/opt/rocm"), Path("/usr"))]
    for place in (*places, *(package / "triton" / "backends" / "amd" / "include" for package in packages)):
        header = place / "hip" / "hip_runtime_api.h"
        if header.is_file():
            return place, header
    raise ToolchainError("hip/hip_runtime_api.h not found: install libamdhip64-dev, ROCm (ROCM_PATH) or Triton")
