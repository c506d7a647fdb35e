"""Graph capture, many threads and streams, and a thread that has no context yet."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import relaunch

ROOT = Path(__file__).parents[2]
CUBIN = ROOT / "tests/device/binaries/add-3.6.0-sm90.cubin"
SIGNATURE = "x: *fp32, y: *fp32, out: *fp32, n: i32, BLOCK: constexpr"
N = 1 << 16


@pytest.fixture
def function(device: Any) -> int:
    return int(device.load(CUBIN, "add"))


@pytest.fixture
def add(function: int) -> relaunch.Launcher:
    return relaunch.Launcher(SIGNATURE, dialect="triton-3.6-cuda", function=function, name="add", num_warps=4)


def test_warm_launch_is_captured_and_replayed(add: relaunch.Launcher, function: int) -> None:
    import torch

    x, y, out = (torch.zeros(N, device="cuda") for _ in range(3))
    stream = torch.cuda.Stream()
    grid = (N // 128, 1, 1)
    add(*grid, stream.cuda_stream, x, y, out, N, 128)  # warm
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(3):
            add(*grid, torch.cuda.current_stream().cuda_stream, x, y, out, N, 128)
            add.launch(
                *grid, torch.cuda.current_stream().cuda_stream, function, (4, 1, 0), None, None, None,
                out, y, out, N, 128,
            )  # fmt: skip
    torch.cuda.synchronize()
    assert out.count_nonzero().item() == 0, "a captured launch does not run"
    for round_ in range(1, 4):
        x.fill_(round_)
        y.fill_(10 * round_)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(out, torch.full_like(out, 21.0 * round_))


def test_eight_threads_share_one_launcher(add: relaunch.Launcher) -> None:
    import torch

    failures: list[str] = []

    def work(index: int) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            x = torch.full((N,), float(index), device="cuda")
            out = torch.empty(N, device="cuda")
            for turn in range(200):
                y = torch.full((N,), float(turn), device="cuda")
                add(N // 128, 1, 1, stream.cuda_stream, x, y, out, N, 128)
                if turn % 50 == 49:
                    stream.synchronize()
                    if not torch.equal(out, torch.full_like(out, float(index + turn))):
                        failures.append(f"thread {index}, turn {turn}")

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_fresh_thread_without_a_context(add: relaunch.Launcher) -> None:
    """The launcher makes the primary context current itself, as the dialect does."""
    import torch

    x, y, out = (torch.full((N,), value, device="cuda") for value in (1.0, 2.0, 0.0))
    addresses = [tensor.data_ptr() for tensor in (x, y, out)]
    torch.cuda.synchronize()
    errors: list[Exception] = []

    def work() -> None:
        try:
            add(N // 128, 1, 1, 0, *addresses, N, 128)
        except Exception as error:  # noqa: BLE001 - told to the thread that judges
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    torch.cuda.synchronize()
    assert errors == []
    assert torch.equal(out, torch.full_like(out, 3.0))
