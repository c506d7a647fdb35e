"""What a taken launcher object is: a callable whose target is exchanged, also while it is called. Needs no Triton."""

from __future__ import annotations

import functools
import gc
import weakref
from typing import Any

import pytest

from relaunch._core import LaunchEntry


class Target:
    """Says what it was called with."""

    entry: LaunchEntry | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args, kwargs


def test_calls_go_to_the_target() -> None:
    entry = LaunchEntry(Target())
    assert entry(1, "two") == ((1, "two"), {})
    assert entry() == ((), {})
    assert entry(1, stream=2) == ((1,), {"stream": 2})
    assert entry(*range(300))[0] == tuple(range(300))
    entry.retarget(max)
    assert entry.target is max
    assert entry(3, 5) == 5


def test_a_target_is_held_while_it_is_called() -> None:
    def change() -> bool:
        entry.retarget(len)
        return target() is not None

    called = functools.partial(change)
    target = weakref.ref(called)
    entry = LaunchEntry(called)
    del called
    assert entry() is True
    assert target() is None
    assert entry.target is len


def test_a_target_is_let_go() -> None:
    entry = LaunchEntry(Target())
    replaced = weakref.ref(entry.target)
    entry.retarget(Target())
    assert replaced() is None
    last = weakref.ref(entry.target)
    del entry
    assert last() is None


def test_a_target_that_knows_its_entry_is_collected() -> None:
    target = Target()
    target.entry = LaunchEntry(target)
    reference = weakref.ref(target)
    del target
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("number", [1, 7])
def test_no_reference_is_kept_to_what_a_target_was_given(number: int) -> None:
    given = [Target() for _ in range(number)]
    references = [weakref.ref(one) for one in given]
    entry = LaunchEntry(lambda *args, **kwargs: None)
    entry(*given)
    entry(*given, last=given[0])
    del given
    assert [one() for one in references] == [None] * number


def test_what_cannot_be_called_is_no_target() -> None:
    entry = LaunchEntry(len)
    for call in (LaunchEntry, entry.retarget):
        with pytest.raises(TypeError, match="target: expected a Launcher or a callable, got int"):
            call(5)  # type: ignore[arg-type]
    assert entry.target is len
    with pytest.raises(TypeError, match="needs a target"):
        LaunchEntry.__new__(LaunchEntry)  # type: ignore[call-arg]
