"""Launchers bound to the recording drivers, and what was recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from relaunch.differential.recorder import Recorder

import relaunch

HANDLE = 0xF00
STREAM = 0x55D000001000
DIALECTS = {"cuda": "triton-3.6-cuda", "hip": "triton-3.6-hip"}
DEFAULT_GRID = (2, 3, 4)


def tree_of(*types: Any, names: str = "") -> relaunch.Tree:
    """A tree of type strings and tuples of them; names for the top level, separated by blanks."""

    def node(entry: Any, name: str | None = None) -> relaunch.PyKernelArg:
        if not isinstance(entry, str):
            return relaunch.PyKernelArg(tuple(map(node, entry)), relaunch.ARG_TUPLE, name=name)
        if entry == "constexpr":
            return relaunch.PyKernelArg(type=relaunch.ARG_CONSTEXPR, name=name)
        return relaunch.PyKernelArg(dtype=entry, name=name)

    named: list[str | None] = [*names.split()] or [None] * len(types)
    return relaunch.Tree([node(entry, name) for entry, name in zip(types, named, strict=True)])


@dataclass
class Driver:
    """One recording driver, emptied before each test."""

    backend: str
    recorder: Recorder
    options: dict[str, Any] = field(default_factory=dict)

    def bind(self, *types: Any, names: str = "", **options: Any) -> relaunch.Launcher:
        """A launcher of kernel `add` for those types. Sets the sizes of the parameters to come."""
        given: dict[str, Any] = {"function": HANDLE, "name": "add", "driver": str(self.recorder.path), **options}
        launcher = relaunch.Launcher(tree_of(*types, names=names), dialect=DIALECTS[self.backend], **given)
        self.recorder.set_slots(launcher.slots)
        return launcher

    def events(self) -> list[dict[str, Any]]:
        return self.recorder.events()

    def launches(self) -> list[dict[str, Any]]:
        return [event for event in self.events() if "params" in event]

    def parameters(self) -> list[str]:
        """The bytes of the one launch there was, hidden parameters apart."""
        (launch,) = self.launches()
        return list(launch["params"][:-2])

    def forget(self, launcher: relaunch.Launcher) -> None:
        """Empties the journal and expects launches of `launcher`."""
        self.recorder.reset()
        self.recorder.set_slots(launcher.slots)


@dataclass
class Tensor:
    """Something with data_ptr() that notes its calls."""

    answer: Any
    recorder: Recorder | None = None

    def data_ptr(self) -> Any:
        if self.recorder is not None:
            self.recorder.note(json.dumps({"intake": "data_ptr"}).encode())
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@contextmanager
def emptied_driver(backend: str) -> Iterator[Driver]:
    made = Driver(backend, Recorder(backend))
    made.recorder.reset()
    yield made
    made.recorder.reset()


@pytest.fixture(params=["cuda", "hip"])
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    with emptied_driver(request.param) as made:
        yield made


@pytest.fixture
def cuda() -> Iterator[Driver]:
    with emptied_driver("cuda") as made:
        yield made


@pytest.fixture
def hip() -> Iterator[Driver]:
    with emptied_driver("hip") as made:
        yield made


@pytest.fixture
def tensor() -> type[Tensor]:
    return Tensor


@pytest.fixture
def tree() -> Callable[..., relaunch.Tree]:
    return tree_of


@pytest.fixture
def refused() -> Callable[..., None]:
    """Asserts the type and whole text of what a launch raises, and that nothing was launched."""

    def check(driver: Driver, call: Callable[[], Any], kind: type[BaseException], text: str) -> None:
        before = driver.launches()
        with pytest.raises(kind) as caught:
            call()
        assert type(caught.value) is kind
        assert str(caught.value) == text
        assert driver.launches() == before

    return check
