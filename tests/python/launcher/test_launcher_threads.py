"""Threads that bind, launch, drop launchers, parse and are refused at once. `./run tsan-python` looks for races."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any

import pytest

import relaunch

pytestmark = pytest.mark.threads

THREADS = 6
TURNS = 40


def test_each_thread_binds_launches_and_drops_its_own(era: Any, in_threads: Any) -> None:
    """With shared memory of different sizes for one function, which the driver is asked to allow."""
    sizes = (64 * 1024, 100 * 1024, 4)
    era.bind("i32")

    def work(number: int) -> None:
        for turn in range(TURNS):
            options: dict[str, Any] = {"function": 0xF00 + turn % 3, "shared": sizes[number % 3]}
            launcher = relaunch.Launcher("i32", dialect=era.dialect, driver=str(era.recorder.path), **options)
            launcher(1, 1, 1, number, 1000 * number + turn)

    in_threads(THREADS, work)
    seen = [(int(one["stream"], 16), *struct.unpack("<i", bytes.fromhex(one["params"][0]))) for one in era.launches()]
    wanted = [(number, 1000 * number + turn) for number in range(1, THREADS + 1) for turn in range(TURNS)]
    assert sorted(seen) == wanted


def test_one_launcher_is_dropped_by_whichever_thread_is_last(driver: Any, in_threads: Any) -> None:
    held = [driver.bind("i32", names=f"n{turn}") for turn in range(TURNS)]
    rows = [list(held) for _ in range(THREADS)]
    held.clear()

    def work(number: int) -> None:
        row = rows[number - 1]
        while row:
            row.pop()(number, 1, 1, 0, 1)

    in_threads(THREADS, work)
    assert Counter(one["grid"][0] for one in driver.launches()) == dict.fromkeys(range(1, THREADS + 1), TURNS)


@pytest.mark.parametrize("count", [500, 1500, 3000])
def test_frames_of_every_size(driver: Any, in_threads: Any, count: int) -> None:
    """On the stack, on the stack while few of its size are, and on the heap."""
    launcher = driver.bind(*["i32"] * count)

    def work(number: int) -> None:
        for turn in range(TURNS // 4):
            launcher(1, 1, 1, turn, *range(number, number + count))

    in_threads(THREADS, work)
    launches = driver.launches()
    assert len(launches) == THREADS * (TURNS // 4)
    for launched in launches:
        found = struct.unpack(f"<{count}i", bytes.fromhex("".join(launched["params"][:count])))
        assert found == tuple(range(found[0], found[0] + count))


def test_each_thread_gets_its_own_refusal(era: Any, in_threads: Any) -> None:
    """Errors of arguments, and of driver calls, whose texts are the driver's."""
    launcher = era.bind("i32", "*fp32", names="n p")

    def work(number: int) -> None:
        for turn in range(TURNS):
            value = 2**40 + 1000 * number + turn
            with pytest.raises(OverflowError, match=str(value)):
                launcher(1, 1, 1, 0, value, 0)
            with pytest.raises(TypeError, match=f"got Odd{number}"):
                launcher(1, 1, 1, 0, type(f"Odd{number}", (), {})(), 0)

    in_threads(THREADS, work)
    assert era.launches() == []


def test_driver_calls_that_fail_in_several_threads(driver: Any, in_threads: Any) -> None:
    launcher = driver.bind("i32")
    for n in range(THREADS * TURNS):
        driver.recorder.fail({"cuda": "cuLaunchKernelEx", "hip": "hipModuleLaunchKernel"}[driver.backend], n, 719)

    def work(number: int) -> None:
        for _ in range(TURNS):
            with pytest.raises(RuntimeError, match="719"):
                launcher(1, 1, 1, number, 1)

    in_threads(THREADS, work)


def test_hooks_see_their_own_launch(era: Any, in_threads: Any) -> None:
    launcher = era.bind("i32")
    seen: list[tuple[int, str]] = []

    def work(number: int) -> None:
        for _ in range(TURNS):
            launcher.launch(
                1, 1, 1, number, 1, era.metadata(), number,
                lambda given: seen.append((given, "enter")), lambda given: seen.append((given, "exit")), number,
            )  # fmt: skip

    in_threads(THREADS, work)
    wanted = {(number, name): TURNS for number in range(1, THREADS + 1) for name in ("enter", "exit")}
    assert Counter(seen) == wanted
    assert len(era.launches()) == THREADS * TURNS


def test_signatures_are_parsed_and_refused(in_threads: Any) -> None:
    def work(number: int) -> None:
        for turn in range(TURNS):
            tree = relaunch.parse(", ".join(["*fp32", "i32", "(i32, *fp16)"] * (1 + (number + turn) % 4)))
            assert len(tree) == 3 * (1 + (number + turn) % 4)
            with pytest.raises(relaunch.SignatureError):
                relaunch.parse(f"i{number}{turn}x")

    in_threads(THREADS, work)


def test_the_recorder_is_told_things_while_others_launch(driver: Any, in_threads: Any) -> None:
    launcher = driver.bind("i32")

    def work(number: int) -> None:
        for turn in range(TURNS):
            if number == 1:
                driver.recorder.record(turn % 2 == 1)
                driver.recorder.static_shared(turn)
                driver.recorder.events()
            elif number == 2:
                driver.recorder.no_context()
                driver.recorder.fail("cuCtxGetDevice", turn, 1)
                driver.recorder.set_slots(launcher.slots)
            else:
                launcher(1, 1, 1, number, turn)

    in_threads(THREADS, work)
    driver.forget(launcher)
    launcher(1, 1, 1, 0, 5)
    assert driver.parameters() == ["05000000"]
