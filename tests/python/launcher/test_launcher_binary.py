"""Launcher(..., binary=...): a kernel with other parameters is refused when it is bound, and nothing is asked of
the driver."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import recorder

from relaunch import BindError, Launcher

BINARIES = Path(__file__).resolve().parents[2] / "binaries"
INDEX: list[dict[str, Any]] = [json.loads(line) for line in (BINARIES / "index.jsonl").read_text().splitlines()]
ADD = "*fp32, *fp32, *fp32, i32, constexpr"
CUBIN = BINARIES / "add-3.6.0-sm90.cubin"


def bind(signature: str, binary: Any, dialect: str = "triton-3.6-cuda", **options: Any) -> Launcher:
    backend = dialect.rpartition("-")[2]
    return Launcher(signature, dialect=dialect, binary=binary, driver=recorder.path(backend), **options)


@pytest.mark.parametrize("binary", [CUBIN, str(CUBIN), CUBIN.read_bytes(), bytearray(CUBIN.read_bytes())])
def test_what_fits_is_bound(binary: Any) -> None:
    assert bind(ADD, binary, name="add").slots == (8, 8, 8, 4, 8, 8)


def test_a_misfit_shows_both_layouts() -> None:
    with pytest.raises(BindError) as caught:
        bind(ADD.replace("i32", "i64"), CUBIN, name="add")
    assert str(caught.value) == (
        "add(*fp32, *fp32, *fp32, i64, constexpr) does not fit its binary: parameter 3 (i64) has 8 bytes at offset 24 "
        "by the signature, 4 bytes at offset 24 in the kernel\n"
        "       offset  size  signature                 |  offset  size  kernel\n"
        "     0      0     8  *fp32                     |       0     8\n"
        "     1      8     8  *fp32                     |       8     8\n"
        "     2     16     8  *fp32                     |      16     8\n"
        ">    3     24     8  i64                       |      24     4\n"
        "     4     32     8  global_scratch (hidden)   |      32     8\n"
        "     5     40     8  profile_scratch (hidden)  |      40     8\n"
        "           48        bytes                     |      48        bytes\n"
    )


def test_every_binary_is_bound_with_its_own_dialect_alone() -> None:
    for case in INDEX:
        if case["kernel"] != "add":
            continue
        signature = ADD if case["release"] != "3.0.0" else ADD.replace(", constexpr", "")
        dialect = f"triton-{case['release']}-{case['backend']}"
        bind(signature, BINARIES / case["file"], dialect)
        other = dialect.replace(case["release"], "3.3" if case["release"] != "3.3.1" else "3.6")
        with pytest.raises(BindError, match="does not fit its binary"):
            bind(ADD, BINARIES / case["file"], other)


def test_descriptors_are_compared_as_they_are_bound() -> None:
    file = BINARIES / "desc_copy-3.6.0-sm90.cubin"
    (meta, *_) = [case["tensordesc_meta"] for case in INDEX if case["file"] == file.name]
    signature = "tensordesc<fp16[64, 64]>, tensordesc<fp16[64, 64]>"
    bind(signature, file, tensordesc_meta=meta)
    with pytest.raises(BindError, match=r"parameter 0 .* has 8 bytes at offset 0 by the signature, 128 bytes"):
        bind(signature, file)


def test_another_backend() -> None:
    with pytest.raises(BindError) as caught:
        bind(ADD, CUBIN, "triton-3.6-hip")
    assert str(caught.value) == "binary: it is compiled for CUDA, and triton-3.6-hip launches on HIP"


def test_of_several_kernels_the_named_one() -> None:
    several = BINARIES / "others" / "several-sm70.cubin"
    bind("{}", several, "triton-3.0-cuda", name="bare")
    with pytest.raises(BindError, match="expected a kernel 'kernel', found 'mix', 'bare', 'none'"):
        bind("{}", several, "triton-3.0-cuda")


def test_binaries_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BindError) as caught:
        bind(ADD, CUBIN.read_bytes()[:1000])
    assert str(caught.value) == (
        "binary: byte 2240: expected a section table of 64 bytes, found the end at byte 1000; "
        "the file is cut off or damaged: compile the kernel again"
    )
    with pytest.raises(FileNotFoundError):
        bind(ADD, tmp_path / "missing")
    with pytest.raises(TypeError):
        bind(ADD, 3)


def test_nothing_is_asked_of_the_driver() -> None:
    driver = recorder.Recorder("cuda")
    driver.reset()
    with pytest.raises(BindError):
        bind("i32", CUBIN, function=0xF00)
    assert driver.events() == []


# --- The driver's own table -----------------------------------------------------------------------


class Loaded:
    """Cubins loaded into the recording driver, which then has their parameters."""

    def __init__(self) -> None:
        self.recorder = recorder.Recorder("cuda")
        self.recorder.reset()

    def function(self, file: Path, name: str) -> int:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.recorder.library.cuModuleLoadData(ctypes.byref(module), file.read_bytes()) == 0
        assert self.recorder.library.cuModuleGetFunction(ctypes.byref(function), module, name.encode()) == 0
        assert function.value is not None
        return function.value


@pytest.fixture
def loaded() -> Iterator[Loaded]:
    driver = Loaded()
    yield driver
    driver.recorder.library.cuModuleUnload(None)


@pytest.mark.parametrize(
    "case", [c for c in INDEX if c["file"].endswith("cubin") and c["kernel"] != "pair"], ids=lambda c: str(c["file"])
)
def test_a_loaded_function_is_compared(case: dict[str, Any], loaded: Loaded) -> None:
    function = loaded.function(BINARIES / case["file"], case["kernel"])
    types = [entry for _, entry in case["signature"] if entry != "constexpr" or case["release"] != "3.0.0"]
    dialect, path = f"triton-{case['release']}-cuda", recorder.path("cuda")
    options: dict[str, Any] = {"tensordesc_meta": case["tensordesc_meta"], "driver": path, "name": case["kernel"]}
    Launcher(", ".join(types), dialect=dialect, function=function, **options)
    with pytest.raises(BindError, match="does not fit its function: parameter"):
        Launcher(", ".join(["i8", *types]), dialect=dialect, function=function, **options)
    assert loaded.recorder.events() == []


def test_a_misfit_of_a_function_is_told(loaded: Loaded) -> None:
    function = loaded.function(CUBIN, "add")
    with pytest.raises(BindError) as caught:
        Launcher("*fp32", dialect="triton-3.0-cuda", function=function, name="add", driver=recorder.path("cuda"))
    what = "parameter 1 of the kernel, 8 bytes at offset 8, is none of the signature's"
    assert str(caught.value).splitlines()[:3] == [
        f"add(*fp32) does not fit its function: {what}",
        "       offset  size  signature  |  offset  size  kernel",
        "     0      0     8  *fp32      |       0     8",
    ]


def test_a_function_without_parameters(loaded: Loaded) -> None:
    several = BINARIES / "others" / "several-sm70.cubin"
    function = loaded.function(several, "none")
    path = recorder.path("cuda")
    Launcher("{}", dialect="triton-3.0-cuda", function=function, driver=path)
    with pytest.raises(BindError, match="and the kernel has no such parameter"):
        Launcher("i32", dialect="triton-3.0-cuda", function=function, driver=path)


def test_where_the_driver_does_not_say_nothing_is_compared(loaded: Loaded) -> None:
    path = recorder.path("cuda")
    Launcher("i8", dialect="triton-3.0-cuda", function=0xF00, driver=path)
    function = loaded.function(CUBIN, "add")
    loaded.recorder.fail("cuFuncGetParamInfo", 0, 400)  # the handle of a kernel that is no function
    Launcher("i8", dialect="triton-3.0-cuda", function=function, driver=path)
    loaded.recorder.fail("cuFuncGetParamInfo", 2, 801)
    Launcher("i8", dialect="triton-3.0-cuda", function=function, driver=path)
