"""The CUDA driver's own table of a kernel's parameters: as the cubin has it, and compared when a handle is bound."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import pytest

import relaunch
from relaunch import BindError, find_kernel, read_kernels

BINARIES = Path(__file__).parents[1] / "binaries"
CASES: list[dict[str, Any]] = [
    case
    for case in map(json.loads, (BINARIES / "index.jsonl").read_text().splitlines())
    if case["file"].endswith("-sm90.cubin")
]
INVALID_VALUE = 1  # CUDA's answer to an index behind the last parameter


def text_of(entry: Any) -> str:
    if isinstance(entry, str):
        return entry
    return "(" + ", ".join(map(text_of, entry)) + ("," if len(entry) == 1 else "") + ")"


def entries_of(case: dict[str, Any]) -> list[str]:
    """The types of a case, without constexpr where the release's signatures have none."""
    types = [text_of(entry) for _, entry in case["signature"]]
    return [each for each in types if each != "constexpr"] if case["release"] == "3.0.0" else types


def launcher(case: dict[str, Any], entries: list[str], function: int) -> relaunch.Launcher:
    return relaunch.Launcher(
        ", ".join(entries),
        dialect=f"triton-{case['release']}-cuda",
        function=function,
        name=case["kernel"],
        tensordesc_meta=case["tensordesc_meta"],
    )


def driver_table(driver: ctypes.CDLL, function: int) -> list[tuple[int, int]]:
    """Offset and bytes of each parameter, by cuFuncGetParamInfo."""
    out: list[tuple[int, int]] = []
    while True:
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        status = driver.cuFuncGetParamInfo(
            ctypes.c_void_p(function), ctypes.c_size_t(len(out)), ctypes.byref(offset), ctypes.byref(size)
        )
        if status == INVALID_VALUE:
            return out
        assert status == 0
        out.append((offset.value, size.value))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["file"]))
def test_the_driver_says_what_the_cubin_says(device: Any, case: dict[str, Any]) -> None:
    function = device.load(BINARIES / case["file"], case["kernel"])
    kernel = find_kernel(read_kernels((BINARIES / case["file"]).read_bytes()), case["kernel"])
    assert driver_table(device.driver, function) == [(each["offset"], each["size"]) for each in kernel.parameters]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["file"]))
def test_a_handle_is_bound_where_its_table_agrees_alone(device: Any, case: dict[str, Any]) -> None:
    """No binary is given: what refuses is the driver's table, or there would be no refusal."""
    function = device.load(BINARIES / case["file"], case["kernel"])
    entries = entries_of(case)
    launcher(case, entries, function)
    wrongs = [["i8", *entries], [*entries, "i32"]]
    if not entries[0].startswith("tensordesc"):  # whose metadata has one for each
        wrongs.append(entries[1:])
    for wrong in wrongs:
        with pytest.raises(BindError, match="does not fit its function: parameter"):
            launcher(case, wrong, function)


def test_what_was_refused_was_not_launched(device: Any) -> None:
    """A widened scalar: bound by the right signature the same handle writes, by the wrong one it is never reached."""
    import torch

    (case,) = [each for each in CASES if each["file"] == "add-3.6.0-sm90.cubin"]
    function = device.load(BINARIES / case["file"], "add")
    x = torch.ones(64, device="cuda")
    out = torch.zeros(64, device="cuda")
    with pytest.raises(BindError) as caught:
        launcher(case, ["*fp32", "*fp32", "*fp32", "i64", "constexpr"], function)
    assert str(caught.value).splitlines()[0] == (
        "add(*fp32, *fp32, *fp32, i64, constexpr) does not fit its function: parameter 3 (i64) has 8 bytes at offset "
        "24 by the signature, 4 bytes at offset 24 in the kernel"
    )
    torch.cuda.synchronize()
    assert out.count_nonzero().item() == 0
    bound = launcher(case, entries_of(case), function)
    bound(1, 1, 1, torch.cuda.current_stream().cuda_stream, x, x, out, 64, 128)
    torch.cuda.synchronize()
    assert torch.equal(out, x + x)
