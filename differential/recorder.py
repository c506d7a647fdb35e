"""The recording drivers, loaded into this process: real `libcuda.so.1` and `libamdhip64.so` that
answer like a driver and write down what they were asked."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from relaunch import _core, generator

FILE_NAMES: Mapping[str, str] = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so"}


def path(backend: str) -> Path:
    """The recording driver of "cuda", "hip" or a registered backend. ValueError for another one."""
    own = generator.registered(backend)
    if own is not None:
        return own.recorder
    if backend not in FILE_NAMES:
        raise ValueError(f"no recorder for backend {backend!r}: expected one of {', '.join(FILE_NAMES)}")
    return Path(_core.__file__).parent / "differential" / "recorder_drivers" / FILE_NAMES[backend]


class Recorder:
    """Loads one recording driver with its symbols global, so that launchers linked to the driver's
    name find it, and controls its journal. A process has one journal per backend.

    `note(event)` appends one JSON object among the driver's events. It is no method: unsafe launchers call Python with
    an exception pending, which CPython keeps or clears in an attribute lookup, depending on what its caches hold. With
    none on the way here, such launchers do the same every time.
    """

    def __init__(self, backend: str, copy: Path | None = None) -> None:
        """`copy`: another file with this driver, which gets a journal of its own and whose symbols stay local."""
        self.path = copy or path(backend)
        # PyDLL: these calls are shorter than giving the lock away.
        scope = os.RTLD_GLOBAL if copy is None else os.RTLD_LOCAL
        library = ctypes.PyDLL(str(self.path), mode=scope | os.RTLD_NOW)
        self.library = library
        self._reset = library.relaunch_recorder_reset
        self._set_slots = library.relaunch_recorder_set_slots
        self._fail = library.relaunch_recorder_fail
        self._driver_version = library.relaunch_recorder_driver_version
        self._static_shared = library.relaunch_recorder_static_shared
        self._no_context = library.relaunch_recorder_no_context
        self._mode = library.relaunch_recorder_mode
        self.note: Callable[[bytes], None] = library.relaunch_recorder_note
        self._events = library.relaunch_recorder_events
        self._list_calls = library.relaunch_recorder_list_calls
        self._calls = library.relaunch_recorder_calls
        self._set_slots.argtypes = (ctypes.POINTER(ctypes.c_uint32), ctypes.c_size_t)
        self._fail.argtypes = (ctypes.c_char_p, ctypes.c_uint32, ctypes.c_int)
        self._driver_version.argtypes = (ctypes.c_int,)
        self._static_shared.argtypes = (ctypes.c_int,)
        self._mode.argtypes = (ctypes.c_int,)
        self._own_handles = library.relaunch_recorder_own_handles
        self._set_function_slots = library.relaunch_recorder_set_function_slots
        self._set_function_slots.argtypes = (ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint32), ctypes.c_size_t)
        library.relaunch_recorder_note.argtypes = (ctypes.c_char_p,)
        self._events.restype = self._calls.restype = ctypes.c_char_p
        self._list_calls.restype = None
        for call in (self._reset, self._set_slots, self._fail, self._driver_version):
            call.restype = None
        for call in (self._static_shared, self._no_context, self._mode, library.relaunch_recorder_note):
            call.restype = None
        for call in (self._own_handles, self._set_function_slots):
            call.restype = None

    def addresses(self) -> dict[str, int]:
        """Where the entry points lie that native code calls (native/duel.hpp, RecorderCalls)."""
        names = ("reset", "set_slots", "fail", "no_context", "note", "events")
        found = {name: getattr(self.library, f"relaunch_recorder_{name}") for name in names}
        return {name: ctypes.cast(one, ctypes.c_void_p).value or 0 for name, one in found.items()}

    def reset(self) -> None:
        """Forget every event, slot, failure, version and context; record again."""
        self._reset()

    def set_slots(self, sizes: Sequence[int]) -> None:
        """Bytes of each parameter of the launches to come, hidden ones last."""
        self._set_slots((ctypes.c_uint32 * len(sizes))(*sizes), len(sizes))

    def own_handles(self) -> None:
        """For good: every function that a module gives has a handle of its own, and a cubin's its table's sizes."""
        self._own_handles()

    def set_function_slots(self, function: int, sizes: Sequence[int]) -> None:
        """Bytes of each parameter of one function's launches, where none are set for all."""
        self._set_function_slots(function, (ctypes.c_uint32 * len(sizes))(*sizes), len(sizes))

    def fail(self, function: str, nth: int, status: int) -> None:
        """The nth call (from 0, counted from now) of a driver function returns `status`."""
        self._fail(function.encode(), nth, status)

    def driver_version(self, version: int) -> None:
        """What the driver says its version is, 12010 for CUDA 12.1; 0 for the recorder's own again."""
        self._driver_version(version)

    def static_shared(self, size: int) -> None:
        """Bytes of shared memory that every CUDA function has of its own."""
        self._static_shared(size)

    def no_context(self) -> None:
        """No thread has a current context until it sets one."""
        self._no_context()

    def record(self, recording: bool = True) -> None:
        """Record, or answer without recording anything."""
        self._mode(0 if recording else 1)

    def events_text(self) -> bytes:
        """All events since the last reset, as the JSON text of a list."""
        text: bytes = self._events()
        return text

    def events(self) -> list[dict[str, Any]]:
        """All events since the last reset."""
        events: list[dict[str, Any]] = json.loads(self.events_text())
        return events

    def list_calls(self) -> None:
        """From now on every call of a driver function is listed, recorded or not; a reset ends it."""
        self._list_calls()

    def calls_text(self) -> bytes:
        """The names of the listed calls in order, as the JSON text of a list."""
        text: bytes = self._calls()
        return text

    def calls(self) -> list[str]:
        """The names of the listed calls in order."""
        calls: list[str] = json.loads(self.calls_text())
        return calls
