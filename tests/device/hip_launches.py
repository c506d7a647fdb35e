"""HIP calls that end on the GPU, by ctypes: a process of its own, so that a fault stays there. Prints what it saw."""

from __future__ import annotations

import ctypes
import json
import struct
from typing import Any

from relaunch.differential.on_device import judge
from relaunch.differential.on_device.device import Device, EchoJournal, hip_on_cuda
from relaunch.kernels import echo

LAYOUT = (echo.Parameter(8, 8), echo.Parameter(1, 1), echo.Parameter(4, 4), echo.Parameter(2, 2))
VALUES = (2**63 + 5, 0xA5, 0x12345678, 0xBEEF)
PACKED = struct.pack("<QBxxxIH", *VALUES)  # as the kernel has them


def main() -> None:
    journal = EchoJournal(Device(), echo.ptx([LAYOUT]).encode(), str(hip_on_cuda()))
    journal.written = echo.written_bytes(LAYOUT)
    hip = ctypes.CDLL(journal.path)
    hip.hipGetErrorString.restype = ctypes.c_char_p
    launch = hip.hipModuleLaunchKernel
    launch.argtypes = (ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3)
    function = journal.function(echo.kernel_name(LAYOUT))

    def shown(status: int) -> dict[str, Any]:
        if status != 0:
            return {"status": status, "text": hip.hipGetErrorString(status).decode()}
        (event,) = json.loads(journal.events_text())
        words, parameters = judge.seen(event["echo"], LAYOUT)
        return {**words, "parameters": [int.from_bytes(bytes.fromhex(one), "little") for one in parameters]}

    buffer, size = ctypes.create_string_buffer(PACKED, len(PACKED)), ctypes.c_size_t(len(PACKED))
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 3)
    journal.reset()
    print(json.dumps({"what": "one buffer", **shown(launch(function, 2, 3, 1, 128, 1, 1, 65536, None, None, extra))}))
    slots = [ctypes.c_uint64(value) for value in VALUES]
    params = (ctypes.c_void_p * 4)(*map(ctypes.addressof, slots))
    journal.reset()
    print(
        json.dumps({"what": "each by its address", **shown(launch(function, 1, 1, 2, 64, 1, 1, 0, None, params, None))})
    )
    print(
        json.dumps({"what": "block too large", **shown(launch(function, 1, 1, 1, 4096, 1, 1, 0, None, params, None))})
    )
    module = ctypes.c_void_p()
    status = hip.hipModuleLoadData(ctypes.byref(module), b"\x7fELF" + bytes(2000))
    print(json.dumps({"what": "no image of CUDA", "status": status, "loaded": module.value is not None}))
    name, properties = ctypes.create_string_buffer(64), ctypes.create_string_buffer(1472)
    status = hip.hipDeviceGetName(name, 64, 0) or hip.hipGetDevicePropertiesR0600(properties, 0)
    architecture = properties.raw[1160:1192].partition(b"\0")[0].decode()
    print(json.dumps({"what": "device", "status": status, "name": name.value.decode(), "for": architecture}))


if __name__ == "__main__":
    main()
