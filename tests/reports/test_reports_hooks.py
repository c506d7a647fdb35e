"""Hooks: called as often as there are launches, with the one argument, and what they raise is raised."""

from __future__ import annotations

import functools
from typing import Any

import pytest

ABOUT = {"name": "add", "grid": (2, 3, 4)}


class Chain:
    """Several hooks as one, as Triton's HookChain."""

    def __init__(self, *calls: Any) -> None:
        self.calls = [*calls]

    def __call__(self, metadata: Any) -> None:
        for call in self.calls:
            call(metadata)


def test_what_an_enter_hook_raises_stops_everything(each: Any, full_launch: Any, tensor: Any) -> None:
    error = KeyError("from the hook")

    def fail(_: Any) -> None:
        raise error

    left: list[Any] = []
    launcher = each.bind("*fp32", "i32")
    for enter in (fail, Chain(left.append, fail)):
        with pytest.raises(KeyError) as caught:
            full_launch(each, launcher, tensor(0x1000, each.recorder), 1, enter=enter, exit=left.append)
        assert caught.value is error
        assert each.events() == []
    assert len(left) == 1
    full_launch(each, launcher, tensor(0x1000), 1, enter=None)
    assert len(each.launches()) == 1


def test_what_an_exit_hook_raises_comes_behind_the_launch(each: Any, full_launch: Any) -> None:
    error = KeyboardInterrupt()

    def fail(_: Any) -> None:
        raise error

    with pytest.raises(KeyboardInterrupt) as caught:
        full_launch(each, each.bind("i32"), 1, exit=fail)
    assert caught.value is error
    assert len(each.launches()) == 1


def test_a_hook_is_given_the_metadata_and_nothing_else(each: Any, full_launch: Any) -> None:
    """Functions, bound, class and static methods, objects, partial ones, and those that are kept in an instance."""
    seen: list[Any] = []

    def note(*args: Any, **named: Any) -> None:
        seen.append((args, named))

    class Holder:
        hook = staticmethod(note)

        def __init__(self) -> None:
            self.kept = note

        def method(self, *args: Any, **named: Any) -> None:
            note(*args, **named)

        @classmethod
        def of_class(cls, *args: Any, **named: Any) -> None:
            note(*args, **named)

        __call__ = method

    holder = Holder()
    hooks = [
        note,
        holder,
        holder.hook,
        holder.kept,
        holder.method,
        Holder.of_class,
        functools.partial(note),
        Chain(note),
    ]
    launcher = each.bind("*fp32")
    for hook in hooks:
        seen.clear()
        full_launch(each, launcher, 0x1000, about=ABOUT, enter=hook, exit=hook)
        assert seen == [((ABOUT,), {})] * 2
        assert seen[0][0][0] is ABOUT
    seen.clear()
    full_launch(each, launcher, 0x1000, about=ABOUT, enter=seen.append, exit=lambda given: seen.append(given))
    assert seen == [ABOUT, ABOUT]


def test_a_chain_may_change_between_launches(each: Any, full_launch: Any) -> None:
    """Hooks added behind many launches are called, removed ones are not, in their order."""
    order: list[str] = []

    def named(name: str) -> Any:
        return lambda metadata: order.append(f"{name} {metadata['name']}")

    first, second, third = named("first"), named("second"), named("third")
    enter, leave = Chain(), Chain()
    launcher = each.bind("i32")

    def run() -> list[str]:
        order.clear()
        full_launch(each, launcher, 6, grid=(1, 3, 2), about=ABOUT, enter=enter, exit=leave)
        return list(order)

    assert [run() for _ in range(20)] == [[]] * 20
    enter.calls += [first, second]
    leave.calls += [second, third]
    assert run() == ["first add", "second add", "second add", "third add"]
    enter.calls.remove(first)
    leave.calls.remove(third)
    assert run() == ["second add", "second add"]
    enter.calls.insert(0, third)
    assert run() == ["third add", "second add", "second add"]


def test_a_hook_set_after_many_launches_without_one(each: Any, full_launch: Any) -> None:
    launcher = each.bind("*fp32")
    seen: list[Any] = []
    for _ in range(50):
        full_launch(each, launcher, 0x1000, about=ABOUT)
        launcher(1, 1, 1, 0, 0x1000)
    full_launch(each, launcher, 0x1000, about=ABOUT, enter=seen.append)
    full_launch(each, launcher, 0x1000, about=None, exit=seen.append)
    full_launch(each, launcher, 0x1000, about=ABOUT)
    assert seen == [ABOUT, None]


def test_hooks_are_called_as_often_as_there_are_launches(each: Any, full_launch: Any) -> None:
    """10,000 times, some of which fail in between: an exit follows exactly the launches that were made."""
    each.recorder.record(False)
    counts = {"enter": 0, "exit": 0}

    def count(name: str, _: Any) -> None:
        counts[name] += 1

    enter, leave = functools.partial(count, "enter"), functools.partial(count, "exit")
    launcher = each.bind("*fp32")
    launch = functools.partial(launcher.launch, 1, 1, 1, 0, 1, each.metadata(), None, enter, leave)
    failed = 0
    for turn in range(10_000):
        if turn % 1000 == 500:
            with pytest.raises(TypeError):
                launch(object())
            failed += 1
        else:
            launch(0x1000)
    assert counts == {"enter": 10_000, "exit": 10_000 - failed}
