"""Grids, clusters and launch attributes: what reaches the driver, and what the driver's refusals are called."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import pytest

import relaunch

MOST = 2**31 - 1
# Products of 0, negative, or small numbers to who multiplies in 32 bits.
WRAPPING = [
    (16384, 16384, 16), (65536, 65536, 1), (65536, 32769, 1), (46341, 46341, 1), (MOST, 1, 1), (MOST, 2, 3),
    (1, MOST, MOST), (2**20, 2**20, 2**20), (2**16, 2**16, 2**31 - 1), (2**30, 4, 1),
]  # fmt: skip


def cluster(*dims: int) -> list[Any]:
    return [4, b"".join(size.to_bytes(4, "little") for size in dims).hex()]


def test_no_grid_is_lost_to_its_product(each: Any, launch: Any) -> None:
    launcher = each.bind("*i32")
    for grid in WRAPPING:
        each.forget(launcher)
        launch(each, launcher, 0x1000, grid=grid)
        assert [event["grid"] for event in each.launches()] == [list(grid)]


def test_a_zero_in_any_dimension_launches_nothing(each: Any, launch: Any) -> None:
    launcher = each.bind("*i32")
    for grid in itertools.product((0, 1, MOST), repeat=3):
        each.forget(launcher)
        launch(each, launcher, 0x1000, grid=grid)
        assert len(each.launches()) == (0 not in grid)


def test_negative_grids_are_refused_alike(each: Any, launch: Any, refused: Any) -> None:
    """Whatever the sign of the product; the first negative dimension is named."""
    launcher = each.bind("*fp32")
    for grid in itertools.product((-1, 0, 1, -(2**31)), repeat=3):
        if min(grid) >= 0:
            continue
        axis = next(at for at, size in enumerate(grid) if size < 0)
        text = f"grid_{'xyz'[axis]} of add(*fp32): expected 0 or more blocks, got {grid[axis]}"
        refused(each, lambda grid=grid: launch(each, launcher, 0x1000, grid=grid), ValueError, text)
    assert each.events() == []


def test_grids_beyond_32_bits_are_refused_and_never_wrapped(each: Any, launch: Any, refused: Any) -> None:
    launcher = each.bind("*i8", "i64")
    sizes = (2**31, 7516192768 // 2, 2**32, 2**32 + 1, 2**63, 2**64 + 1, -(2**31) - 1, -(2**32))
    for axis, size in itertools.product(range(3), sizes):
        grid = [1, 1, 1]
        grid[axis] = size
        text = f"grid_{'xyz'[axis]} of add(*i8, i64): expected an int that fits i32, got {size}"
        refused(each, lambda grid=grid: launch(each, launcher, 0x1000, 1, grid=grid), OverflowError, text)
    assert each.events() == []


def launch_function(driver: Any, cooperative: bool = False) -> str:
    if driver.backend == "hip":
        return "hipModuleLaunchCooperativeKernel" if cooperative else "hipModuleLaunchKernel"
    return "cuLaunchKernelEx" if driver.at_least >= (3, 4) or cooperative else "cuLaunchKernel"


def test_what_the_device_does_not_take_is_named_with_its_limit(each: Any, launch: Any, refused: Any) -> None:
    """A refusal that says 'invalid argument' alone: grid, block and shared memory, and the next launch is made."""
    launcher = each.bind("*fp32", "*fp16", shared=0)
    warp = 32 if each.backend == "cuda" else 64
    name = launch_function(each)
    # The recording runtime of HIP states no limit of the grid.
    limits = "" if each.backend == "hip" else "; grid_{axis} 65536 is more than the device's 65535"
    for axis in range(1, 3):
        grid = [1, 1, 1]
        grid[axis] = 65536
        text = (
            f"Triton Error [{each.backend.upper()}]: invalid argument (1 from {name}): add(*fp32, *fp16), grid "
            f"({', '.join(map(str, grid))}), block {4 * warp}, shared 0{limits.format(axis='xyz'[axis])}"
        )
        each.forget(launcher)
        each.recorder.fail(name, 0, 1)
        with pytest.raises(RuntimeError) as caught:
            launch(each, launcher, 1, 2, grid=grid)
        assert str(caught.value) == text
        each.forget(launcher)
        launch(each, launcher, 1, 2, grid=(1, 65535, 1))
        assert each.launches()[0]["grid"] == [1, 65535, 1]


def test_threads_in_a_block_are_named_with_their_limit(each: Any, launch: Any) -> None:
    """32 warps of 64 lanes are more than a block of AMD's takes, 33 of 32 more than one of NVIDIA's."""
    warps, threads = (33, 1056) if each.backend == "cuda" else (32, 2048)
    launcher = each.bind("*fp32", num_warps=warps)
    each.recorder.fail(launch_function(each), 0, 1)
    given = {} if launch.__name__ == "by_call" else {"metadata": each.metadata(warps)}
    with pytest.raises(RuntimeError) as caught:
        launch(each, launcher, 1, **given)
    assert str(caught.value).endswith(f", block {threads}, shared 0; block {threads} is more than the device's 1024")


def outcome(call: Any) -> str:
    """The text of the RuntimeError that is raised, or nothing."""
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return ""


def test_the_launch_that_failed_raises_and_no_other(each: Any, launch: Any) -> None:
    """With the driver's status and words, whichever launch of several it is, large ones of HIP included."""
    launcher = each.bind("*fp32", num_warps=2)
    given = {} if launch.__name__ == "by_call" else {"metadata": each.metadata(2)}
    name, block = launch_function(each), 64 if each.backend == "cuda" else 128
    grid = (16777216, 1, 1)  # with two warps of 64 lanes, 2**31 threads
    for status in (1, 9, 201, 700, 719, 720, 801, 999):
        text = (
            f"Triton Error [{each.backend.upper()}]: {'invalid argument' if status == 1 else f'error {status}'} "
            f"({status} from {name}): add(*fp32), grid {grid}, block {block}, shared 0"
        )
        for nth in range(3):
            each.forget(launcher)
            each.recorder.fail(name, nth, status)
            found = [outcome(lambda: launch(each, launcher, 1, grid=grid, **given)) for _ in range(4)]
            assert found == [text if turn == nth else "" for turn in range(4)]


def test_a_refused_cooperative_launch_is_an_error(each: Any, launch: Any) -> None:
    """Too large for the device, or more than it can do: its words stay, no other launch is made instead."""
    if each.at_least < (3, 3):
        return
    launcher = each.bind("*fp32", cooperative=True)
    name = launch_function(each, cooperative=True)
    for status in (720, 801, 71):
        each.forget(launcher)
        each.recorder.fail(name, 0, status)
        with pytest.raises(RuntimeError) as caught:
            launch(each, launcher, 1, grid=(100000, 1, 1))
        assert str(caught.value).startswith(
            f"Triton Error [{each.backend.upper()}]: error {status} ({status} from {name})"
        )
        assert str(caught.value).endswith(", cooperative")
        assert [event["call"] for event in each.events()] == [name]


def scaled_by_clusters(driver: Any) -> bool:
    return bool(driver.backend == "cuda" or driver.at_least >= (3, 6))


def test_num_ctas_multiplies_the_grid_and_a_cluster_shape_does_not(each: Any, launch: Any) -> None:
    """One unit each: with num_ctas the grid counts clusters, with cluster= (from 3.6 on) it counts CTAs."""
    for ctas in (1, 2, 4):
        launcher = each.bind(num_ctas=ctas)
        each.forget(launcher)
        given = {}
        if launch.__name__ == "by_launch":
            metadata = each.metadata(4, ctas)
            given = {"metadata": metadata if len(metadata) == 3 else (*metadata[:3], ctas, 1, 1)}
        launch(each, launcher, grid=(4, 1, 1), **given)
        (event,) = each.launches()
        scales = ctas > 1 and scaled_by_clusters(each)
        assert event["grid"] == [4 * ctas if scales else 4, 1, 1]
        assert (cluster(ctas, 1, 1) in event["attributes"]) == scales
    if each.at_least >= (3, 6):
        launcher = each.bind(cluster=(2, 1, 1))
        each.forget(launcher)
        launch(each, launcher, grid=(4, 1, 1))
        (event,) = each.launches()
        assert (event["grid"], cluster(2, 1, 1) in event["attributes"]) == ([4, 1, 1], True)


def test_without_clusters_no_attribute_speaks_of_them(each: Any, launch: Any) -> None:
    """A kernel that has its cluster shape in its binary is launched as it is."""
    launcher = each.bind("*fp16")
    launch(each, launcher, 1, grid=(3, 1, 1))
    assert each.launches()[0]["attributes"] == []


def test_a_grid_that_is_no_multiple_of_the_cluster_is_named(each: Any, launch: Any) -> None:
    if each.at_least < (3, 6):
        return
    launcher = each.bind("*fp16", cluster=(2, 1, 4))
    name = "cuLaunchKernelEx" if each.backend == "cuda" else "hipDrvLaunchKernelEx"
    each.recorder.fail(name, 0, 1)
    with pytest.raises(RuntimeError) as caught:
        launch(each, launcher, 1, grid=(3, 2, 6))
    assert str(caught.value).endswith(
        ", cluster (2, 1, 4); grid_x 3 is no multiple of the cluster's 2; grid_z 6 is no multiple of the cluster's 4"
    )


@pytest.mark.parametrize("pdl", [False, True])
def test_dependent_launch_is_an_attribute_where_it_is_asked_for(each: Any, launch: Any, pdl: bool) -> None:
    if pdl and not (each.backend == "cuda" and each.at_least >= (3, 4)):
        with pytest.raises(relaunch.BindError, match="has no pdl"):
            each.bind(pdl=True)
        return
    launcher = each.bind("*fp32", pdl=pdl)
    launch(each, launcher, 1)
    assert each.launches()[0]["attributes"] == ([[6, "01000000"]] if pdl else [])


KIB = 1024


def allowed(driver: Any) -> list[int]:
    """The limits of dynamic shared memory that were set, in order."""
    return [int(event["args"][2]) for event in driver.events() if event["call"] == "cuFuncSetAttribute"]


@pytest.mark.parametrize("static", [0, 1, 1024])
def test_shared_memory_is_allowed_from_where_it_must_be(each: Any, static: int) -> None:
    """48 KiB of dynamic and static memory together need no permission, a byte more does."""
    each.recorder.static_shared(static)
    for shared in (1, 48 * KIB - static, 48 * KIB - static + 1, 48 * KIB, 48 * KIB + 1, 200 * KIB):
        each.bind(function=0xA000 + shared, shared=shared)
        needed = each.backend == "cuda" and shared + static > 48 * KIB
        assert allowed(each) == ([max(shared, 48 * KIB)] if needed else [])
        each.recorder.reset()
        each.recorder.static_shared(static)


@pytest.mark.threads
def test_the_limit_of_shared_memory_only_grows(each: Any, launch: Any) -> None:
    """Launchers of one function, bound in any order and from several threads; launches set nothing."""
    if each.backend == "hip":
        return
    bound = [each.bind("i32", shared=shared) for shared in (64 * KIB, 4, 50 * KIB, 100 * KIB, 64 * KIB, 99 * KIB)]
    assert allowed(each) == [64 * KIB, 100 * KIB]
    threads = [
        threading.Thread(
            target=each.bind, args=("i32",), kwargs={"shared": 64 * KIB + 1024 * number, "function": 0xF77}
        )
        for number in (9, 3, 7, 1, 8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert allowed(each)[2:] == sorted(allowed(each)[2:])
    assert max(allowed(each)[2:]) == 73 * KIB
    each.forget(bound[0])
    for launcher in bound:
        launch(each, launcher, 1)
    assert allowed(each) == []
