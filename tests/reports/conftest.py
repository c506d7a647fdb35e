"""Both ways to launch, behind one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import relaunch

HANDLE = 0xF00
STREAM = 0x55D000001000

Launch = Callable[..., None]


def by_call(driver: Any, launcher: relaunch.Launcher, *args: Any, grid: Any = (2, 3, 4), stream: Any = STREAM) -> None:
    """`launcher(...)`: function and metadata are those that were bound."""
    launcher(*grid, stream, *args)


def by_launch(
    driver: Any,
    launcher: relaunch.Launcher,
    *args: Any,
    grid: Any = (2, 3, 4),
    stream: Any = STREAM,
    function: Any = HANDLE,
    metadata: Any = None,
    about: Any = None,
    enter: Any = None,
    exit: Any = None,
) -> None:
    """`launcher.launch(...)`, what Triton's own launchers take."""
    given = driver.metadata() if metadata is None else metadata
    launcher.launch(*grid, stream, function, given, about, enter, exit, *args)


@pytest.fixture(params=["call", "launch"])
def launch(request: pytest.FixtureRequest) -> Launch:
    """Launches `launch(driver, launcher, *args, grid=..., stream=...)` by each way in turn."""
    return by_call if request.param == "call" else by_launch


@pytest.fixture
def full_launch() -> Launch:
    """As `launch`, by `launcher.launch` alone; takes function, metadata, about, enter and exit too."""
    return by_launch
