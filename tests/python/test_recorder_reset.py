"""A reset leaves nothing of what a recorder was told before: each thing by itself."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest
from relaunch.differential.recorder import Recorder

PREFIX = {"cuda": "cu", "hip": "hip"}


@pytest.fixture(params=PREFIX)
def recorder(request: pytest.FixtureRequest) -> Iterator[Recorder]:
    made = Recorder(request.param)
    made.reset()
    yield made
    made.reset()


def call(recorder: Recorder, cuda: str, hip: str, *arguments: Any) -> int:
    """The status of the recorder's own form of a driver function."""
    name = cuda if "cuda" in recorder.path.name else hip
    status: int = recorder.library[name](*arguments)
    return status


def query(recorder: Recorder) -> int:
    out = ctypes.c_uint64()
    address = ctypes.c_uint64(0x1000)
    return call(recorder, "cuPointerGetAttribute", "hipPointerGetAttribute", ctypes.byref(out), 3, address)


def launch(recorder: Recorder, params: Any) -> int:
    ones = [ctypes.c_uint32(1)] * 6
    function, stream = ctypes.c_void_p(0xF00), ctypes.c_void_p(0)
    return call(
        recorder, "cuLaunchKernel", "hipModuleLaunchKernel", function, *ones, ctypes.c_uint32(0), stream, params, None
    )


def version(recorder: Recorder) -> int:
    out = ctypes.c_int()
    assert call(recorder, "cuDriverGetVersion", "hipDriverGetVersion", ctypes.byref(out)) == 0
    return out.value


def context(recorder: Recorder) -> int | None:
    out = ctypes.c_void_p()
    assert call(recorder, "cuCtxGetCurrent", "hipCtxGetCurrent", ctypes.byref(out)) == 0
    return out.value


def test_calls_told_to_fail(recorder: Recorder) -> None:
    for name in ("cuPointerGetAttribute", "hipPointerGetAttribute"):
        recorder.fail(name, 0, 719)
        recorder.fail(name, 1, 719)
    assert query(recorder) == 719
    recorder.reset()
    assert query(recorder) == 0
    recorder.fail("cuInit", 0, 1)  # failing is asked for again, of another function
    assert query(recorder) == 0


def test_slots(recorder: Recorder) -> None:
    recorder.set_slots([8])
    value = ctypes.c_uint64(5)
    params = (ctypes.c_void_p * 1)(ctypes.addressof(value))
    assert launch(recorder, params) == 0
    assert recorder.events()[0]["params"] == ["0500000000000000"]
    recorder.reset()
    assert launch(recorder, ctypes.c_void_p(8)) == 0  # would crash if it were read
    assert [event["params"] for event in recorder.events()] == [None]


def test_mode_and_events(recorder: Recorder) -> None:
    recorder.note(b'{"hook": "enter"}')
    recorder.record(False)
    recorder.reset()
    assert recorder.events() == []
    recorder.note(b'{"hook": "exit"}')
    assert recorder.events() == [{"hook": "exit"}]


def test_version(recorder: Recorder) -> None:
    own = version(recorder)
    recorder.driver_version(11080)
    assert version(recorder) == 11080
    recorder.reset()
    assert version(recorder) == own


def test_contexts_of_threads_that_had_none() -> None:
    cuda = Recorder("cuda")
    cuda.reset()
    cuda.no_context()
    assert context(cuda) is None
    cuda.reset()
    assert context(cuda) == 0xC1
