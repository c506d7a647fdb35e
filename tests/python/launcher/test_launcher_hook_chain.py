"""Hooks of the class that set_hook_chain names: with nothing in their list they are not called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from relaunch import _core


class Chain:
    """As Triton's HookChain, and keeps that it was called."""

    asked: int

    def __init__(self, *calls: Callable[[Any], None]) -> None:
        self.calls: Any = list(calls)
        self.asked = 0

    def __call__(self, metadata: Any) -> None:
        self.asked += 1
        for call in self.calls:
            call(metadata)


class Derived(Chain):
    pass


@pytest.fixture(autouse=True)
def named() -> Iterator[None]:
    _core.set_hook_chain(Chain)
    yield
    _core.set_hook_chain(None)


def launch(driver: Any, enter: Any, leave: Any) -> None:
    driver.bind("i32").launch(1, 1, 1, 0, 0xF01, (4, 1, 0), "about", enter, leave, 5)
    assert len(driver.launches()) == 1


def test_an_empty_chain_is_not_called(driver: Any) -> None:
    enter, leave = Chain(), Chain()
    launch(driver, enter, leave)
    assert (enter.asked, leave.asked) == (0, 0)


def test_a_chain_that_calls_something_is_called(driver: Any) -> None:
    given: list[Any] = []
    enter, leave = Chain(given.append), Chain(given.append, given.append)
    launch(driver, enter, leave)
    assert (enter.asked, leave.asked, given) == (1, 1, ["about"] * 3)


def test_a_hook_may_fill_the_chain_that_follows(driver: Any) -> None:
    given: list[Any] = []
    leave = Chain()
    launch(driver, Chain(lambda _: leave.calls.append(given.append)), leave)
    assert given == ["about"]


@pytest.mark.parametrize("calls", [(), {}, "", type("Calls", (list,), {})(), None])
def test_other_lists_are_called(driver: Any, calls: Any) -> None:
    leave = Chain()
    leave.calls = calls
    if calls is None:
        with pytest.raises(TypeError, match="'NoneType' object is not iterable"):
            launch(driver, None, leave)
    else:
        launch(driver, None, leave)
    assert leave.asked == 1


def test_without_a_list_the_call_says_what_is_wrong(driver: Any) -> None:
    enter = Chain()
    del enter.calls
    with pytest.raises(AttributeError, match="has no attribute 'calls'"):
        launch(driver, enter, None)
    assert enter.asked == 1
    assert driver.launches() == []


def test_other_classes_are_called(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    derived, plain = Derived(), Chain()
    launch(driver, derived, plain)
    assert (derived.asked, plain.asked) == (1, 0)
    asked: list[Any] = []
    monkeypatch.setattr(Chain, "__call__", lambda _, metadata: asked.append(metadata))
    driver.recorder.reset()
    launch(driver, Chain(), Chain())
    assert asked == ["about", "about"]


def test_no_class_is_named_any_more(driver: Any) -> None:
    _core.set_hook_chain(None)
    enter = Chain()
    launch(driver, enter, None)
    assert enter.asked == 1


@pytest.mark.parametrize("given", [5, int, Derived, "Chain", Chain()])
def test_only_a_class_with_its_own_call_is_taken(driver: Any, given: Any) -> None:
    with pytest.raises(TypeError, match=r"^type: expected a class with a __call__ of its own, got "):
        _core.set_hook_chain(given)
    enter = Chain()
    launch(driver, enter, None)  # what was named before still is
    assert enter.asked == 0
