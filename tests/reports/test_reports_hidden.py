"""Scratch pointers: asked for at each launch, passed as they are, alive until the driver has been called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

STREAM = 0x55D000002000


def given(driver: Any) -> Iterator[str]:
    """The scratch pointers that can be given: HIP passes a null global_scratch to 3.7."""
    if driver.at_least >= (3, 3) and (driver.backend == "cuda" or driver.at_least >= (3, 9)):
        yield "global_scratch"
    if driver.at_least >= (3, 5):
        yield "profile_scratch"


def hidden(driver: Any, launcher: Any) -> dict[str, str]:
    """The bytes of each hidden parameter of the one launch."""
    (launch,) = driver.launches()
    names = [parameter["name"] for parameter in launcher.parameters if parameter["hidden"]]
    return dict(zip(names, launch["params"][-len(names) :], strict=True)) if names else {}


def test_scratch_is_asked_for_with_the_grid_and_stream_of_each_launch(each: Any, launch: Any) -> None:
    """The callable is the allocator: nothing is kept from one launch to the next."""
    for name in given(each):
        asked: list[Any] = []

        def allocate(grid: Any, stream: Any, asked: list[Any] = asked) -> int:
            asked.append((grid, stream))
            return 0x7A0000000000 + 128 * len(asked)

        launcher = each.bind("*fp32", **{name: allocate})
        for turn in range(1, 4):
            each.forget(launcher)
            launch(each, launcher, 0x1000, grid=(turn, 2, 3), stream=STREAM + turn)
            assert asked[turn - 1 :] == [((turn, 2, 3), STREAM + turn)]
            shown = hidden(each, launcher)
            assert int.from_bytes(bytes.fromhex(shown.pop(name)), "little") == 0x7A0000000000 + 128 * turn
            assert set(shown.values()) <= {"00" * 8}


def test_without_scratch_its_pointers_are_null(each: Any, launch: Any) -> None:
    """And they are there, in every release that has them, whatever the signature."""
    for types in ((), ("*fp32",), ("i8", "fp64", "i8"), ("constexpr",) if each.at_least >= (3, 3) else ("i8",)):
        launcher = each.bind(*types)
        each.forget(launcher)
        launch(each, launcher, *[1] * len(types))
        (event,) = each.launches()
        expected = 0 if each.at_least < (3, 3) else 1 if each.at_least < (3, 5) else 2
        assert event["params"][len(event["params"]) - expected :] == ["00" * 8] * expected
        assert len(event["params"]) == len(types) - types.count("constexpr") + expected


def test_scratch_lives_until_the_driver_has_been_called(each: Any, launch: Any) -> None:
    """The allocator's object is held by the launch alone, and let go behind it."""
    for name in given(each):
        seen: list[int] = []

        class Block:
            def data_ptr(self) -> int:
                return 0x7A0000000000

            def __del__(self, seen: list[int] = seen) -> None:
                seen.append(len(each.launches()))

        launcher = each.bind("*fp32", **{name: lambda _grid, _stream, kind=Block: kind()})
        each.forget(launcher)
        launch(each, launcher, 0x1000)
        assert seen == [1]


def test_an_allocator_that_fails_stops_the_launch(each: Any, launch: Any) -> None:
    def fail(_grid: Any, _stream: Any) -> int:
        raise MemoryError("no scratch")

    for name in given(each):
        launcher = each.bind("*fp32", **{name: fail})
        with pytest.raises(MemoryError, match="no scratch"):
            launch(each, launcher, 0x1000)
        assert each.launches() == []
