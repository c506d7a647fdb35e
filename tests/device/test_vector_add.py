"""Real kernels, launched through the precompiled launcher with torch tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import relaunch

ROOT = Path(__file__).parents[2]
SIZES = [1, 127, 128, 4096, 1_000_003]


@pytest.mark.parametrize("size", SIZES)
def test_kernel_built_with_nvcc(device: Any, cubin: Any, size: int) -> None:
    import torch

    function = device.load(cubin("vector_add"), "vector_add")
    launcher = relaunch.Launcher(
        relaunch.parse("*fp32, *fp32, *fp32, i32"),
        dialect="triton-3.6-cuda",
        function=function,
        name="vector_add",
        num_warps=4,
    )
    x, y = (torch.randn(size, device="cuda") for _ in range(2))
    out = torch.full((size + 1,), -7.0, device="cuda")
    launcher(-(-size // 128), 1, 1, torch.cuda.current_stream().cuda_stream, x, y, out, size)
    torch.cuda.synchronize()
    assert torch.equal(out[:size], x + y)
    assert out[size].item() == -7.0


@pytest.mark.parametrize("size", SIZES)
def test_kernel_of_released_triton(device: Any, size: int) -> None:
    """The same through `.launch`, as Triton calls it: constexpr passed, hooks called, side stream."""
    import torch

    function = device.load(ROOT / "tests/device/binaries/add-3.6.0-sm90.cubin", "add")
    launcher = relaunch.Launcher(
        relaunch.parse("x: *fp32, y: *fp32, out: *fp32, n: i32, BLOCK: constexpr"),
        dialect="triton-3.6-cuda",
        function=function,
        name="add",
    )
    x, y = (torch.randn(size, device="cuda") for _ in range(2))
    out = torch.full((size + 1,), -7.0, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    calls: list[object] = []
    metadata = (4, 1, 0)
    grid = (-(-size // 128), 1, 1)
    launcher.launch(
        *grid, stream.cuda_stream, function, metadata, "metadata", calls.append, calls.append, x, y, out, size, 128
    )
    torch.cuda.synchronize()
    assert torch.equal(out[:size], x + y)
    assert out[size].item() == -7.0
    assert calls == ["metadata", "metadata"]


def test_cpu_tensor_is_refused(device: Any) -> None:
    """A host tensor reaches no kernel: the error names the argument, and the output stays as it was."""
    import torch

    function = device.load(ROOT / "tests/device/binaries/add-3.6.0-sm90.cubin", "add")
    launcher = relaunch.Launcher(
        relaunch.parse("x: *fp32, y: *fp32, out: *fp32, n: i32, BLOCK: constexpr"),
        dialect="triton-3.6-cuda",
        function=function,
        name="add",
    )
    x = torch.ones(16, device="cuda")
    out = torch.zeros(16, device="cuda")
    with pytest.raises(ValueError, match=r"argument 2 'y' of add"):
        launcher(1, 1, 1, 0, x, torch.ones(16), out, 16, 128)
    torch.cuda.synchronize()
    assert out.count_nonzero().item() == 0
