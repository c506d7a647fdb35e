"""The two ways to launch: what the driver is asked for, in which order, and when nothing is launched."""

from __future__ import annotations

from typing import Any

import pytest

import relaunch

GRID = (2, 3, 4)
STREAM = 0x55D000001000
METADATA = (4, 1, 0)


def launch(launcher: relaunch.Launcher, *args: Any, grid: Any = GRID, **changes: Any) -> None:
    given = {
        "stream": STREAM,
        "function": 0xF01,
        "metadata": METADATA,
        "launch_metadata": "about",
        "enter": None,
        "exit": None,
        **changes,
    }
    launcher.launch(*grid, *given.values(), *args)


def test_hot_call_uses_what_was_bound(cuda: Any) -> None:
    launcher = cuda.bind("*fp32", "i32", "constexpr", num_warps=8, num_ctas=2, shared=1024, pdl=True)
    assert launcher(*GRID, STREAM, 0x1000, -3, "ignored") is None
    assert cuda.events() == [
        {
            "call": "cuLaunchKernelEx",
            "grid": [4, 3, 4],
            "block": [256, 1, 1],
            "shared": 1024,
            "stream": hex(STREAM),
            "function": "0xf00",
            "gil_held": 0,
            "attributes": [[6, "01000000"], [4, "020000000100000001000000"], [5, "01000000"]],
            "params": ["0010000000000000", "fdffffff", "0000000000000000", "0000000000000000"],
        }
    ]


def test_hip_hot_call(hip: Any) -> None:
    launcher = hip.bind("i8", num_warps=2, warp_size=32, cooperative=True)
    launcher(*GRID, STREAM, -128)
    assert hip.events() == [
        {
            "call": "hipModuleLaunchCooperativeKernel",
            "grid": [2, 3, 4],
            "block": [64, 1, 1],
            "shared": 0,
            "stream": hex(STREAM),
            "function": "0xf00",
            "gil_held": 1,
            "attributes": [],
            "params": ["80", "0000000000000000", "0000000000000000"],
        }
    ]


def test_launch_lets_its_own_function_and_metadata_win(cuda: Any) -> None:
    launcher = cuda.bind("u8", num_warps=8, shared=1024)
    launch(launcher, 300, metadata=(1, 16, 77))
    allowed, launched = cuda.events()
    assert allowed == {"call": "cuFuncSetAttribute", "args": ["f01", "14", "1"]}
    assert launched["function"] == "0xf01"
    assert launched["block"] == [32, 1, 1]
    assert launched["shared"] == 77
    assert launched["grid"] == [32, 3, 4]
    assert launched["attributes"] == [[4, "100000000100000001000000"], [5, "01000000"]]
    assert launched["params"][0] == "2c"


def test_hooks_and_intake_are_in_order(driver: Any, tensor: Any) -> None:
    seen: list[Any] = []

    def hook(name: str) -> Any:
        def call(metadata: Any) -> None:
            seen.append((name, metadata, len(driver.events())))

        return call

    scratch = tensor(0x7A0000000000, driver.recorder)
    launcher = driver.bind("*i8", "i32", profile_scratch=scratch)
    launch(launcher, tensor(0x1000, driver.recorder), 1, enter=hook("enter"), exit=hook("exit"))
    assert seen == [("enter", "about", 0), ("exit", "about", 5)]
    query = "cuPointerGetAttribute" if driver.backend == "cuda" else "hipPointerGetAttribute"
    assert driver.events()[:4] == [
        {"intake": "data_ptr"},
        {"call": query, "args": ["3", "7a0000000000"]},
        {"intake": "data_ptr"},
        {"call": query, "args": ["3", "1000"]},
    ]
    assert driver.launches()[0]["params"][-1] == "00000000007a0000"


@pytest.mark.parametrize("which", ["enter", "exit"])
def test_what_a_hook_raises_is_raised(driver: Any, which: str) -> None:
    def fail(_metadata: Any) -> None:
        raise KeyError("from the hook")

    launcher = driver.bind("i32")
    with pytest.raises(KeyError, match="from the hook"):
        launch(launcher, 1, **{which: fail})
    assert len(driver.launches()) == (0 if which == "enter" else 1)


def test_exit_hook_does_not_follow_a_failed_launch(driver: Any, refused: Any) -> None:
    calls: list[Any] = []
    name = "cuLaunchKernelEx" if driver.backend == "cuda" else "hipModuleLaunchKernel"
    launcher = driver.bind("i32")
    driver.recorder.fail(name, 0, 700)
    with pytest.raises(RuntimeError) as caught:
        launch(launcher, 1, exit=calls.append)
    assert str(caught.value) == (
        f"Triton Error [{driver.backend.upper()}]: error 700 (700 from {name}): add(i32), grid (2, 3, 4), "
        f"block {4 * (32 if driver.backend == 'cuda' else 64)}, shared 0"
    )
    assert calls == []


@pytest.mark.parametrize("grid", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 0, 0)])
def test_an_empty_grid_launches_nothing_but_does_the_rest(driver: Any, tensor: Any, grid: Any) -> None:
    calls: list[Any] = []
    launcher = driver.bind("*i8", num_ctas=1)
    launch(launcher, tensor(0x1000, driver.recorder), grid=grid, enter=calls.append, exit=calls.append)
    assert len(calls) == 2
    assert [event.get("intake", event.get("call", ""))[-13:] for event in driver.events()] == [
        "data_ptr",
        "terGetAttribute"[-13:],
    ]


def test_the_grid_is_tested_by_dimension(driver: Any) -> None:
    launcher = driver.bind("i32")
    launcher(1 << 16, 1 << 16, 1, 0, 1)  # the product is 2**32
    assert driver.launches()[0]["grid"] == [1 << 16, 1 << 16, 1]


@pytest.mark.parametrize(
    ("grid", "ctas", "text"),
    [
        ((-1, -1, 1), 1, "grid_x of add(i32): expected 0 or more blocks, got -1"),
        ((1, -5, 1), 1, "grid_y of add(i32): expected 0 or more blocks, got -5"),
        ((0, 0, -(2**31)), 1, "grid_z of add(i32): expected 0 or more blocks, got -2147483648"),
        ((2**30, 1, 1), 2, "grid_x of add(i32): expected at most 2147483647 blocks, got 1073741824 times 2 CTAs"),
    ],
)
def test_grids_out_of_range(driver: Any, refused: Any, grid: Any, ctas: int, text: str) -> None:
    calls: list[Any] = []
    launcher = driver.bind("i32", num_ctas=ctas)
    refused(driver, lambda: launcher(*grid, 0, 1), ValueError, text)
    metadata = (4, ctas, 0)
    refused(driver, lambda: launch(launcher, 1, grid=grid, metadata=metadata, enter=calls.append), ValueError, text)
    assert calls == []
    assert driver.events() == []


def test_numbers_beside_the_arguments(driver: Any, refused: Any) -> None:
    launcher = driver.bind("i32")
    cases: list[tuple[Any, type[Exception], str]] = [
        ((1.0, 1, 1, 0), TypeError, "grid_x of add(i32): expected an int, got float"),
        ((1, None, 1, 0), TypeError, "grid_y of add(i32): expected an int, got NoneType"),
        ((1, 1, 2**31, 0), OverflowError, "grid_z of add(i32): expected an int that fits i32, got 2147483648"),
        ((1, 1, 1, None), TypeError, "stream of add(i32): expected an int, got NoneType"),
        ((1, 1, 1, "0"), TypeError, "stream of add(i32): expected an int, got str"),
    ]
    for front, kind, text in cases:
        refused(driver, lambda front=front: launcher(*front, 1), kind, text)
        refused(driver, lambda front=front: launch(launcher, 1, grid=front[:3], stream=front[3]), kind, text)
    text = "function of add(i32): expected an int, got float"
    refused(driver, lambda: launch(launcher, 1, function=1.5), TypeError, text)


def test_streams_and_functions_are_masked(cuda: Any) -> None:
    launcher = cuda.bind("i32")
    launch(launcher, 1, stream=-1, function=2**64 + 5)
    assert cuda.launches()[0]["stream"] == "0xffffffffffffffff"
    assert cuda.launches()[0]["function"] == "0x5"


def test_counts_of_arguments(driver: Any, refused: Any) -> None:
    launcher = driver.bind("i32", "constexpr")
    call = "add(i32, constexpr) takes 2 arguments behind"
    refused(driver, lambda: launcher(), TypeError, f"{call} the grid and the stream, got only 0 of the 4 in front")
    refused(driver, lambda: launcher(*GRID, 0, 1), TypeError, f"{call} the grid and the stream, got 1")
    refused(driver, lambda: launcher(*GRID, 0, 1, 2, 3), TypeError, f"{call} the grid and the stream, got 3")
    refused(driver, lambda: launcher.launch(1, 2), TypeError, f"{call} the exit hook, got only 2 of the 9 in front")
    refused(driver, lambda: launch(launcher, 1), TypeError, f"{call} the exit hook, got 1")
    # The count is looked at before anything in it, as PyArg_ParseTuple does.
    refused(driver, lambda: launcher("x", 1, 1, 0, 1), TypeError, f"{call} the grid and the stream, got 1")


def test_keywords_are_refused(driver: Any, refused: Any) -> None:
    launcher = driver.bind("i32")
    untyped: Any = launcher
    refused(driver, lambda: untyped(*GRID, 0, x=1), TypeError, "add(i32) takes no keyword arguments")
    nothing: dict[str, Any] = {}
    untyped(*GRID, 0, 1, **nothing)
    assert len(driver.launches()) == 1
    driver.forget(launcher)
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        untyped.launch(*GRID, 0, 0, METADATA, None, None, None, x=1)
    assert driver.events() == []


METADATA_TEXT = "kernel_metadata of add(i32): expected a tuple of three ints (num_warps, num_ctas, shared), got "


@pytest.mark.parametrize(
    ("metadata", "got", "hip_kind", "hip_text"),
    [
        (None, "NoneType", SystemError, METADATA_TEXT + "NoneType"),
        ([4, 1, 0], "list", SystemError, METADATA_TEXT + "list"),
        ((4, 1), "2 items", TypeError, METADATA_TEXT + "2 items"),
        ((4, 1, 0, 0), "4 items", TypeError, METADATA_TEXT + "4 items"),
        (("x", 1, 0), "str, 1, 0", TypeError, "num_warps in kernel_metadata of add(i32): expected an int, got str"),
        (
            (4, 1, 2**31),
            "4, 1, 2147483648",
            OverflowError,
            "shared in kernel_metadata of add(i32): expected an int that fits i32, got 2147483648",
        ),
    ],
)
def test_wrong_metadata(
    driver: Any, refused: Any, metadata: Any, got: str, hip_kind: type[Exception], hip_text: str
) -> None:
    launcher = driver.bind("i32")
    kind, text = (TypeError, METADATA_TEXT + got) if driver.backend == "cuda" else (hip_kind, hip_text)
    calls: list[Any] = []
    refused(driver, lambda: launch(launcher, 1, metadata=metadata, enter=calls.append), kind, text)
    assert calls == []
    # An argument's error comes first.
    text = "argument 1 of add(i32): expected an int for i32, got str"
    refused(driver, lambda: launch(launcher, "x", metadata=metadata), TypeError, text)


def test_a_context_is_made_current(cuda: Any) -> None:
    launcher = cuda.bind("i32")
    cuda.recorder.no_context()
    launcher(*GRID, 0, 1)
    launcher(*GRID, 0, 1)
    assert [event["call"] for event in cuda.events()] == [
        "cuDevicePrimaryCtxRetain",
        "cuCtxSetCurrent",
        "cuLaunchKernelEx",
        "cuLaunchKernelEx",
    ]


@pytest.mark.parametrize("name", ["cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"])
def test_without_a_context_nothing_happens(cuda: Any, refused: Any, name: str) -> None:
    calls: list[Any] = []
    launcher = cuda.bind("i32")
    text = f"Triton Error [CUDA]: error 2 (2 from {name}): add(i32) has no context to launch in"
    for call in (lambda: launcher(*GRID, 0), lambda: launch(launcher, "x", enter=calls.append)):
        cuda.forget(launcher)
        cuda.recorder.no_context()
        cuda.recorder.fail(name, 0, 2)
        refused(cuda, call, RuntimeError, text)
    assert calls == []


def test_sixteen_ctas_need_permission(cuda: Any, refused: Any) -> None:
    launcher = cuda.bind("i32", num_ctas=16)
    launcher(*GRID, 0, 1)
    assert [event["call"] for event in cuda.events()] == ["cuFuncSetAttribute", "cuLaunchKernelEx"]
    cuda.forget(launcher)
    cuda.recorder.fail("cuFuncSetAttribute", 0, 1)
    text = (
        "Triton Error [CUDA]: invalid argument (1 from cuFuncSetAttribute): add(i32), "
        "grid (32, 3, 4), block 128, shared 0, cluster (16, 1, 1)"
    )
    refused(cuda, lambda: launcher(*GRID, 0, 1), RuntimeError, text)


def test_a_launcher_without_a_function(driver: Any, refused: Any) -> None:
    launcher = driver.bind("i32", function=None)
    text = "add(i32) was bound without a function: give function=, or call launch()"
    refused(driver, lambda: launcher(*GRID, 0, 1), TypeError, text)
    launch(launcher, 1)
    assert driver.launches()[0]["function"] == "0xf01"


def test_all_attributes_at_once(cuda: Any) -> None:
    launcher = cuda.bind(
        pdl=True,
        cooperative=True,
        cluster=(2, 3, 1),
        preferred_cluster=[4, 3, 1],
        scheduling="load_balancing",
        non_portable_cluster=True,
    )
    launcher(4, 6, 2, 0)
    allowed, launched = cuda.events()
    assert allowed == {"call": "cuFuncSetAttribute", "args": ["f00", "14", "1"]}
    assert launched["grid"] == [4, 6, 2]
    assert launched["attributes"] == [
        [6, "01000000"],
        [2, "01000000"],
        [4, "020000000300000001000000"],
        [5, "02000000"],
        [11, "040000000300000001000000"],
    ]


def test_a_refusal_says_what_was_asked_for(cuda: Any) -> None:
    launcher = cuda.bind(cooperative=True, pdl=True, cluster=(2, 3, 1), preferred_cluster=(4, 3, 1), shared=99)
    cuda.recorder.fail("cuLaunchKernelEx", 0, 912)
    text = (
        "Triton Error [CUDA]: error 912 (912 from cuLaunchKernelEx): add(), grid (4, 6, 2), block 128, shared 99, "
        "pdl, cluster (2, 3, 1), preferred cluster (4, 3, 1), cooperative"
    )
    with pytest.raises(RuntimeError) as caught:
        launcher(4, 6, 2, 0)
    assert str(caught.value) == text
    assert len(cuda.launches()) == 1  # a refused launch is recorded too


def test_hip_clusters(hip: Any) -> None:
    launcher = hip.bind(num_ctas=4)
    launcher(4, 6, 2, 0)
    launcher = hip.bind(cluster=(1, 2, 1), cooperative=True)
    launcher(4, 6, 2, 0)
    first, second = hip.launches()
    assert (first["call"], second["call"]) == ("hipDrvLaunchKernelEx", "hipDrvLaunchKernelEx")
    assert first["grid"] == [16, 6, 2]
    assert first["attributes"] == [[4, "040000000100000001000000"], [2, "00000000"]]
    assert second["grid"] == [4, 6, 2]
    assert second["attributes"] == [[4, "010000000200000001000000"], [2, "01000000"]]


def test_scratch_in_all_its_forms(cuda: Any, tensor: Any) -> None:
    asked: list[Any] = []

    def allocate(grid: Any, stream: Any) -> Any:
        asked.append((grid, stream))
        return tensor(0x2000, cuda.recorder)

    for scratch, shown in (
        (None, "0000000000000000"),
        (0x1230, "3012000000000000"),
        (tensor(0x910000000000), "0000001000910000"),
        (allocate, "0020000000000000"),
    ):
        launcher = cuda.bind("i32", global_scratch=scratch)
        cuda.forget(launcher)
        launcher(*GRID, STREAM, 7)
        assert cuda.launches()[0]["params"] == ["07000000", shown, "0000000000000000"]
    assert asked == [((2, 3, 4), STREAM)]
    order: list[str] = []  # as Triton's Python side allocates, before its launcher is called
    launcher = cuda.bind("i32", global_scratch=lambda *_: order.append("scratch"))
    launch(launcher, 7, enter=lambda _: order.append("enter"))
    assert order == ["scratch", "enter"]


def test_what_scratch_may_not_be(driver: Any, refused: Any, tensor: Any) -> None:
    def fail(*_args: Any) -> Any:
        raise LookupError("no memory")

    place = "profile_scratch of add(): "
    for scratch, kind, text in (
        ("x", TypeError, place + "expected None, an int or an object with data_ptr(), got str"),
        (-1, OverflowError, place + "expected an address of 64 bits, got -1"),
        (lambda *_: 1.5, TypeError, place + "expected None, an int or an object with data_ptr(), got float"),
        (fail, LookupError, "no memory"),
        (
            tensor(0xBA0000000000),
            ValueError,
            place + "address 0xba0000000000 of Tensor cannot be accessed from the device (is it in CPU memory?)",
        ),
    ):
        launcher = driver.bind(profile_scratch=scratch)
        refused(driver, lambda launcher=launcher: launcher(*GRID, 0), kind, text)


def test_scratch_is_held_while_the_driver_runs(cuda: Any) -> None:
    alive: list[bool] = []

    class Scratch:
        def data_ptr(self) -> int:
            return 0x1000

        def __del__(self) -> None:
            alive.append(bool(cuda.launches()))

    launcher = cuda.bind(global_scratch=lambda *_: Scratch())
    launcher(*GRID, 0)
    assert alive == [True]
