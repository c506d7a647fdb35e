"""A cache as Triton writes it, made from tests/binaries: folders named by a hash, files that share a stem."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from relaunch.cli import app

Records = Callable[..., tuple[list[dict[str, Any]], dict[str, Any], int]]

BINARIES = Path(__file__).resolve().parents[2] / "binaries"
IR = {"fp16": "f16", "fp32": "f32", "fp64": "f64", "u8": "i8", "u16": "i16", "u32": "i32", "u64": "i64", "u1": "i1"}


def kernels() -> list[dict[str, Any]]:
    """The lines of the index, one for each binary."""
    return [json.loads(line) for line in (BINARIES / "index.jsonl").read_text().splitlines()]


def flat(name: str, entry: Any) -> Iterator[tuple[str, str]]:
    """Name and type of what a function of IR has for one entry."""
    if isinstance(entry, list):
        for item in entry:
            yield from flat(name, item)
    elif entry != "constexpr":
        yield name, entry


def ttir(kernel: dict[str, Any]) -> str:
    """The module that Triton's front end makes of a kernel, without its body. Descriptors that are passed by value
    are followed by shape and strides; the others are taken apart, to a pointer, shape, strides, flags, shape, strides.
    """
    parameters: list[str] = []
    for name, entry in kernel["signature"]:
        for _, type_ in flat(name, entry):
            if type_.startswith("tensordesc"):
                by_value = bool(kernel["tensordesc_meta"])
                first = "!tt.tensordesc<tensor<16x16xf16>>" if by_value else "!tt.ptr<f16>"
                apart = ["i64"] * 4 + ["i1"] * (2 if kernel["release"] >= "3.7" else 1)
                rest = [*([] if by_value else apart), "i32", "i32", "i64", "i64"]
            else:
                pointee = IR.get(type_[1:], type_[1:])
                first = f"!tt.ptr<{pointee}>" if type_.startswith("*") else IR.get(type_, type_)
                rest = []
            parameters += [
                f'%{name}_{len(parameters) + n}: {one} loc("{name}"(#loc))' for n, one in enumerate([first, *rest])
            ]
    return (
        f'#loc = loc("/src/kernels.py":3:0)\nmodule {{\n  tt.func public @{kernel["kernel"]}({", ".join(parameters)}) '
        "attributes {noinline = false} {\n    tt.return loc(#loc)\n  } loc(#loc)\n} loc(#loc)\n"
    )


def metadata(kernel: dict[str, Any], key: str) -> dict[str, Any]:
    """Triton's own has more entries. Releases to 3.2 do not name themselves."""
    cuda = kernel["backend"] == "cuda"
    arch = int(kernel["arch"]) if cuda else kernel["arch"]
    found = {
        "hash": key,
        "target": {"backend": kernel["backend"], "arch": arch, "warp_size": 32 if cuda else 64},
        "num_warps": kernel["num_warps"],
        "num_ctas": kernel["num_ctas"],
        "shared": kernel["shared"],
        "name": kernel["kernel"],
    }
    if kernel["release"] >= "3.3":
        found["triton_version"] = kernel["release"]
    if kernel["tensordesc_meta"] is not None:
        found["tensordesc_meta"] = kernel["tensordesc_meta"]
    return found


def folder(kernel: dict[str, Any]) -> str:
    """Where in a cache a kernel lies."""
    return sha256(f"{kernel['kernel']} {kernel['release']} {kernel['arch']}".encode()).hexdigest()


def write(root: Path) -> Path:
    """All kernels of tests/binaries; 34 with two binaries each."""
    for kernel in kernels():
        place = root / folder(kernel)
        place.mkdir(parents=True, exist_ok=True)
        name = kernel["kernel"]
        (place / f"{name}.json").write_text(json.dumps(metadata(kernel, place.name)))
        (place / f"__grp__{name}.json").write_text(json.dumps({"child_paths": {f"{name}.ttir": f"/gone/{name}.ttir"}}))
        (place / f"{name}.ttir").write_text(ttir(kernel))
        (place / f"{name}.llir").write_text("; not looked at\n")
        (place / f"{name}{Path(kernel['file']).suffix}").write_bytes((BINARIES / kernel["file"]).read_bytes())
    return root


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kernels of tests/binaries. Not to be written to."""
    return write(tmp_path_factory.mktemp("audit") / "cache")


@pytest.fixture(scope="session")
def multiplied(cache: Path) -> Callable[[Path, int], Path]:
    """Makes a cache of as many copies of that one."""

    def copy(place: Path, times: int) -> Path:
        for number in range(times):
            shutil.copytree(cache, place / f"copy{number:03}", copy_function=os.link)
        return place

    return copy


@pytest.fixture(scope="session")
def large(multiplied: Callable[[Path, int], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough copies for a run to be alive when it is seen to have begun. Not to be written to."""
    return multiplied(tmp_path_factory.mktemp("large"), 100)


@pytest.fixture
def kernel(cache: Path, tmp_path: Path) -> Path:
    """The folder of the one kernel in a cache: `add` of Triton 3.6 on CUDA."""
    one = next(one for one in kernels() if one["file"] == "add-3.6.0-sm90.cubin")
    return Path(shutil.copytree(cache / folder(one), tmp_path / "cache" / "k"))


@pytest.fixture
def audit() -> Callable[..., Any]:
    """The verb with one process, in this one."""
    return lambda *arguments: CliRunner().invoke(app, ["audit", "--jobs", "1", *map(str, arguments)])


@pytest.fixture
def records(audit: Callable[..., Any]) -> Records:
    """Kernels, summary and exit status of `--json`."""

    def found(*arguments: str | Path) -> tuple[list[dict[str, Any]], dict[str, Any], int]:
        result = audit(*arguments, "--json")
        assert result.exit_code in (0, 1), result.output
        *kernels, summary = map(json.loads, result.stdout.splitlines())
        return kernels, summary, result.exit_code

    return found
