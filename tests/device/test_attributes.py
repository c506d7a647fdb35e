"""What launch attributes do on a device, as the kernels saw it, and what the driver refuses."""

from __future__ import annotations

from typing import Any

import pytest

import relaunch

DIALECT = "triton-3.6-cuda"


def launcher(device: Any, cubin: Any, kernel: str, signature: str, **options: Any) -> Any:
    function = device.load(cubin("launch_shape"), kernel)
    return relaunch.Launcher(signature, dialect=DIALECT, function=function, name=kernel, **options)


def seen(device: Any, cubin: Any, grid: tuple[int, int, int], blocks: int, **options: Any) -> list[tuple[int, ...]]:
    """The distinct rows that the blocks of one launch of `shape` wrote."""
    import torch

    out = torch.full((blocks, 8), -1, dtype=torch.int32, device="cuda")
    launcher(device, cubin, "shape", "*i32", **options)(*grid, torch.cuda.current_stream().cuda_stream, out)
    torch.cuda.synchronize()
    return sorted({tuple(row) for row in out.tolist()})


def test_plain(device: Any, cubin: Any) -> None:
    assert seen(device, cubin, (5, 3, 2), 30, num_warps=4) == [(5, 3, 2, 1, 1, 1, 128, 0)]


@pytest.mark.parametrize("num_ctas", [2, 4, 8, 16])
def test_clusters_of_ctas(device: Any, cubin: Any, num_ctas: int) -> None:
    rows = seen(device, cubin, (3, 2, 1), 6 * num_ctas, num_warps=2, num_ctas=num_ctas)
    assert rows == [(3 * num_ctas, 2, 1, num_ctas, 1, 1, 64, 0)]


def test_cluster_in_three_dimensions(device: Any, cubin: Any) -> None:
    assert seen(device, cubin, (4, 4, 2), 32, num_warps=1, cluster=(2, 2, 1)) == [(4, 4, 2, 2, 2, 1, 32, 0)]


@pytest.mark.parametrize("scheduling", ["default", "spread", "load_balancing"])
def test_scheduling_of_clusters(device: Any, cubin: Any, scheduling: str) -> None:
    rows = seen(device, cubin, (8, 2, 1), 16, num_warps=1, cluster=(2, 1, 1), scheduling=scheduling)
    assert rows == [(8, 2, 1, 2, 1, 1, 32, 0)]


def test_preferred_cluster(device: Any, cubin: Any) -> None:
    """A device without preferred clusters takes the other one."""
    rows = seen(device, cubin, (8, 2, 1), 16, num_warps=1, cluster=(2, 1, 1), preferred_cluster=(4, 1, 1))
    assert {row[:3] for row in rows} == {(8, 2, 1)}
    assert {row[3:6] for row in rows} <= {(2, 1, 1), (4, 1, 1)}


TOGETHER: dict[str, Any] = {
    "num_warps": 4,
    "cluster": (2, 1, 1),
    "cooperative": True,
    "pdl": True,
    "scheduling": "spread",
    "non_portable_cluster": True,
    "shared": 100 * 1024,
}


def test_everything_at_once(device: Any, cubin: Any) -> None:
    assert seen(device, cubin, (8, 2, 1), 16, **TOGETHER) == [(8, 2, 1, 2, 1, 1, 128, 100 * 1024)]


def test_what_the_driver_does_not_take_together(device: Any, cubin: Any) -> None:
    """Cooperative launches have no preferred cluster: the driver says so, and the error says what it was asked."""
    with pytest.raises(RuntimeError) as caught:
        seen(device, cubin, (8, 2, 1), 16, preferred_cluster=(4, 1, 1), **TOGETHER)
    assert str(caught.value) == (
        "Triton Error [CUDA]: operation not supported (801 from cuLaunchKernelEx): shape(*i32), grid (8, 2, 1), "
        "block 128, shared 102400, pdl, cluster (2, 1, 1), preferred cluster (4, 1, 1), cooperative"
    )


def test_cooperative_blocks_wait_for_each_other(device: Any, cubin: Any) -> None:
    import torch

    blocks = torch.cuda.get_device_properties(0).multi_processor_count
    counts = torch.zeros(1 + blocks, dtype=torch.int32, device="cuda")
    launch = launcher(device, cubin, "grid_sync", "*i32", num_warps=1, cooperative=True)
    launch(blocks, 1, 1, torch.cuda.current_stream().cuda_stream, counts)
    torch.cuda.synchronize()
    assert counts.tolist() == [blocks] * (1 + blocks)


def test_only_a_cooperative_grid_must_fit(device: Any, cubin: Any) -> None:
    """More blocks than the device holds at once: they take turns, unless they are promised to run together."""
    import torch

    counted = torch.zeros(1, dtype=torch.int32, device="cuda")
    stream, blocks = torch.cuda.current_stream().cuda_stream, 1_000_000
    with pytest.raises(RuntimeError, match="too many blocks in cooperative launch"):
        launcher(device, cubin, "count_blocks", "*i32", num_warps=1, cooperative=True)(blocks, 1, 1, stream, counted)
    torch.cuda.synchronize()
    assert counted.item() == 0
    launcher(device, cubin, "count_blocks", "*i32", num_warps=1)(blocks, 1, 1, stream, counted)
    torch.cuda.synchronize()
    assert counted.item() == blocks


def test_cooperative_grid_that_does_not_fit(device: Any, cubin: Any) -> None:
    import torch

    counts = torch.zeros(4, dtype=torch.int32, device="cuda")
    launch = launcher(device, cubin, "grid_sync", "*i32", num_warps=1, cooperative=True)
    with pytest.raises(
        RuntimeError, match=r"(?s)too many blocks in cooperative launch.*grid_sync|grid_sync.*cooperative"
    ):
        launch(10_000_000, 1, 1, torch.cuda.current_stream().cuda_stream, counts)
    torch.cuda.synchronize()
    assert counts.count_nonzero().item() == 0


def test_cluster_that_does_not_fit(device: Any, cubin: Any) -> None:
    import torch

    out = torch.zeros(8, dtype=torch.int32, device="cuda")
    launch = launcher(device, cubin, "shape", "*i32", num_warps=1, cluster=(32, 1, 1))
    with pytest.raises(RuntimeError, match=r"shape.*cluster|cluster.*shape"):
        launch(32, 1, 1, torch.cuda.current_stream().cuda_stream, out)
    torch.cuda.synchronize()
    assert out.count_nonzero().item() == 0


@pytest.mark.parametrize("shared", [48 * 1024, 100 * 1024, 227 * 1024])
def test_shared_memory(device: Any, cubin: Any, shared: int) -> None:
    """Above 48 KiB a function must be told; a launcher built with `shared` tells it once."""
    import torch

    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    launch = launcher(device, cubin, "fill_shared", "*i32, i32, i32", num_warps=4, shared=shared)
    launch(1, 1, 1, torch.cuda.current_stream().cuda_stream, out, shared // 4, 3)
    torch.cuda.synchronize()
    assert out.item() == shared // 4 * 3


def test_programmatic_launches_keep_their_order(device: Any, cubin: Any) -> None:
    import torch

    n = 4096
    out = torch.zeros(n, dtype=torch.int32, device="cuda")
    launch = launcher(device, cubin, "after_previous", "*i32, i32, i32", num_warps=4, pdl=True)
    for first in range(50):
        launch(n // 128, 1, 1, torch.cuda.current_stream().cuda_stream, out, n, first)
    torch.cuda.synchronize()
    expected = 50 * torch.arange(n, dtype=torch.int32, device="cuda") + sum(range(50))
    assert torch.equal(out, expected.to(torch.int32))


@pytest.mark.parametrize(("pdl", "patience"), [(True, 2_000_000_000), (False, 20_000_000)])
def test_a_pair_overlaps_only_where_it_was_asked_for(device: Any, cubin: Any, pdl: bool, patience: int) -> None:
    """The second begins while the first still runs, which sees it, and yet reads what the first wrote last."""
    import torch

    flags = torch.zeros(4, dtype=torch.int32, device="cuda")
    first = launcher(device, cubin, "lead", "*i32, i64", num_warps=1)
    second = launcher(device, cubin, "follow", "*i32", num_warps=1, pdl=pdl)
    stream = torch.cuda.current_stream().cuda_stream
    first(1, 1, 1, stream, flags, patience)
    second(1, 1, 1, stream, flags)
    torch.cuda.synchronize()
    assert flags.tolist() == [1, int(pdl), 5, 5]
