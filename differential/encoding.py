"""Tensor maps for released launcher objects: encoded by the driver that is loaded, here the recorder."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from relaunch.generator.legacy_descriptors import EncodingRefusedError, TensorMap

TENSOR_MAP_BYTES = 128
_ALIGNMENT = 64  # bytes; a driver refuses to write a map elsewhere


def encoder(driver: ctypes.CDLL, make: Callable[[bytes], Any]) -> Callable[[TensorMap], Any]:
    """`encode` for `legacy_descriptors.expand_arguments`; `make` turns 128 bytes into what a launcher takes."""

    def encode(wanted: TensorMap) -> Any:
        room = ctypes.create_string_buffer(TENSOR_MAP_BYTES + _ALIGNMENT)
        skipped = -ctypes.addressof(room) % _ALIGNMENT
        encoded = (ctypes.c_ubyte * TENSOR_MAP_BYTES).from_buffer(room, skipped)
        status = driver.cuTensorMapEncodeTiled(
            encoded,
            wanted.data_type,
            wanted.rank,
            ctypes.c_void_p(wanted.address),
            _array(ctypes.c_uint64, wanted.dims),
            _array(ctypes.c_uint64, wanted.strides),
            _array(ctypes.c_uint32, wanted.box),
            _array(ctypes.c_uint32, wanted.element_strides),
            wanted.interleave,
            wanted.swizzle,
            wanted.l2_promotion,
            wanted.oob_fill,
        )
        if status != 0:
            text = ctypes.c_char_p()
            driver.cuGetErrorString(status, ctypes.byref(text))
            raise EncodingRefusedError((text.value or b"").decode())
        return make(bytes(encoded))

    return encode


def _array(kind: Any, values: Sequence[int]) -> Any:
    return (kind * max(len(values), 1))(*values)
