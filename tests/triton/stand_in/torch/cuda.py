"""One device, streams that are numbers."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Any


class Stream:
    def __init__(self, handle: Any = 0x57000, device: Any = None) -> None:
        self.cuda_stream = handle


ExternalStream = Stream
_current = [Stream(0)]


def is_available() -> bool:
    return True


def device_count() -> int:
    return 1


def current_device() -> int:
    return 0


def set_device(_device: Any) -> None: ...


def get_device_capability(_device: Any = None) -> tuple[int, int]:
    major, _, minor = os.environ.get("STAND_IN_CAPABILITY", "9.0").partition(".")
    return (int(major), int(minor))


def current_stream(_device: Any = None) -> Stream:
    return _current[-1]


def default_stream(_device: Any = None) -> Stream:
    return _current[0]


@contextmanager
def stream(chosen: Stream) -> Any:
    _current.append(chosen)
    try:
        yield
    finally:
        _current.pop()


def synchronize(_device: Any = None) -> None: ...
