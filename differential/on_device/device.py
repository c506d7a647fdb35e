"""A device through its driver, and the journal that an echo kernel writes in place of a recorder's."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from relaunch.differential.on_device.cases import ARENA_BYTES
from relaunch.kernels import echo

from relaunch import _core

CUDA_DRIVER = "libcuda.so.1"
UNWRITTEN = 0xCD
"""What lies where a kernel has not written."""

_SHARED_OPTIN = 97  # CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_ERROR_LOG, _ERROR_LOG_BYTES = 5, 6  # CU_JIT_ERROR_LOG_BUFFER and its size
_LOG_ROOM = 8192


class DeviceError(RuntimeError):
    """The driver refused something that an echo needs; after a fault of a kernel it refuses everything."""


def hip_on_cuda() -> Path:
    """The HIP runtime of ours that carries its calls to the CUDA driver."""
    return Path(_core.__file__).parent / "differential" / "hip_on_cuda" / "libamdhip64.so"


class Device:
    """The first device with its primary context current in this thread. Raises OSError, DeviceError."""

    def __init__(self) -> None:
        self.driver = ctypes.CDLL(CUDA_DRIVER, mode=os.RTLD_GLOBAL | os.RTLD_NOW)
        context = ctypes.c_void_p()
        self.ask("cuInit", 0)
        self.ask("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.ask("cuCtxSetCurrent", context)

    def ask(self, function: str, *arguments: Any) -> None:
        """Calls a function of the driver. Raises DeviceError with the driver's own text."""
        status = getattr(self.driver, function)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self.driver.cuGetErrorString(status, ctypes.byref(text))
            raise DeviceError(f"{function}: {(text.value or b'unknown error').decode()} ({status})")

    def load(self, image: bytes) -> ctypes.c_void_p:
        """A module from PTX or a cubin; what the compiler says of a bad one is in the error."""
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(_LOG_ROOM)
        options = (ctypes.c_int * 2)(_ERROR_LOG, _ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), _LOG_ROOM)
        try:
            self.ask("cuModuleLoadDataEx", ctypes.byref(module), image, 2, options, values)
        except DeviceError as error:
            raise DeviceError(f"{error}\n{log.value.decode(errors='replace')}") from None
        return module

    def function(self, module: ctypes.c_void_p, name: str) -> int:
        """The handle of a kernel, with all of the device's shared memory allowed, as Triton's driver does."""
        function, most = ctypes.c_void_p(), ctypes.c_int()
        self.ask("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        self.ask("cuDeviceGetAttribute", ctypes.byref(most), _SHARED_OPTIN, 0)
        self.ask("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, most)
        assert function.value is not None
        return function.value

    def variable(self, module: ctypes.c_void_p, name: str) -> int:
        """The address of a module's variable."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.ask("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, name.encode())
        return address.value

    def allocate(self, size: int) -> int:
        """The address of new device memory."""
        address = ctypes.c_uint64()
        self.ask("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value


class EchoJournal:
    """Has the face of `relaunch.differential.recorder.Recorder`: an event is what a kernel wrote.

    `library` is the driver that launchers find, a path or name; notes of hooks and intakes are forgotten.
    """

    def __init__(self, device: Device, image: bytes, library: str) -> None:
        self.path = library
        self.library = ctypes.PyDLL(library, mode=os.RTLD_GLOBAL | os.RTLD_NOW)
        self.arena = device.allocate(ARENA_BYTES)
        self.written = echo.HEAD_BYTES  # bytes that the next kernel writes
        self._device = device
        self._module = device.load(image)
        self._variable = device.variable(self._module, echo.SYMBOL)
        self._functions: dict[str, int] = {}

    def function(self, name: str) -> int:
        """The handle of one of the image's kernels."""
        if name not in self._functions:
            self._functions[name] = self._device.function(self._module, name)
        return self._functions[name]

    def note(self, _event: bytes) -> None:
        pass

    def set_slots(self, _sizes: Sequence[int]) -> None:
        pass

    def reset(self) -> None:
        """Clears what was written."""
        head, rest = ctypes.c_size_t(echo.HEAD_BYTES), self.written - echo.HEAD_BYTES
        place = ctypes.c_uint64(self._variable)
        self._device.ask("cuMemsetD8_v2", place, ctypes.c_ubyte(0), head)
        if rest:
            place = ctypes.c_uint64(self._variable + echo.HEAD_BYTES)
            self._device.ask("cuMemsetD8_v2", place, ctypes.c_ubyte(UNWRITTEN), ctypes.c_size_t(rest))

    def events_text(self) -> bytes:
        """What the kernel wrote, as one event. Raises DeviceError where the kernel failed."""
        self._device.ask("cuCtxSynchronize")
        out = ctypes.create_string_buffer(self.written)
        place = ctypes.c_uint64(self._variable)
        self._device.ask("cuMemcpyDtoH_v2", out, place, ctypes.c_size_t(self.written))
        return json.dumps([{"echo": out.raw.hex()}]).encode()
