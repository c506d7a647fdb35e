"""As much of torch as Triton and the programs ask for, on a machine with neither: tensors have an address, a type, a
shape and strides, and no values. Device addresses count up from a fixed one, so that two runs give the same."""

from __future__ import annotations

import ctypes
from typing import Any

from torch import cuda, version

__all__ = ["Size", "Tensor", "cuda", "device", "dtype", "empty", "full", "ones", "rand", "randn", "version", "zeros"]
__version__ = "0.0-stand-in"

Size = tuple
strided = "torch.strided"


class dtype:
    def __init__(self, name: str, itemsize: int, is_floating_point: bool = False) -> None:
        self.name = name
        self.itemsize = itemsize
        self.is_floating_point = is_floating_point

    def __repr__(self) -> str:
        return f"torch.{self.name}"


float16 = half = dtype("float16", 2, True)
bfloat16 = dtype("bfloat16", 2, True)
float32 = float = dtype("float32", 4, True)
float64 = double = dtype("float64", 8, True)
float8_e5m2 = dtype("float8_e5m2", 1, True)
float8_e4m3fn = dtype("float8_e4m3fn", 1, True)
int8 = dtype("int8", 1)
uint8 = dtype("uint8", 1)
int16 = dtype("int16", 2)
int32 = int = dtype("int32", 4)
int64 = long = dtype("int64", 8)
bool = dtype("bool", 1)


class device:
    def __init__(self, kind: str, index: Any = None) -> None:
        self.type, _, number = str(kind).partition(":")
        self.index = index if index is not None else number or None

    def __eq__(self, other: object) -> Any:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> Any:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        return f"device(type={self.type!r})"


_FIRST_ADDRESS = 0x7F00_0000_0000
_INACCESSIBLE = 0xBA00_0000_0000  # to the recorder; host memory is real for bytes alone: Triton fills some
_next_address = [_FIRST_ADDRESS]


def _restart() -> None:
    """Addresses count up from the first one again."""
    _next_address[0] = _FIRST_ADDRESS


class Tensor:
    """`storage`: host memory, for tensors on the CPU."""

    def __init__(self, shape: Any, type_: dtype, where: device, address: Any = None, strides: Any = None) -> None:
        self.shape = Size(shape)
        self.dtype = type_
        self.device = where
        steps: list[Any] = [1] if self.shape else []
        for size in reversed(self.shape[1:]):
            steps.insert(0, steps[0] * size)
        self._strides = tuple(strides if strides is not None else steps)
        self._storage = None
        if address is not None:
            self._address = address
        elif where.type == "cpu" and type_ is not uint8:
            self._address = _INACCESSIBLE
        elif where.type == "cpu":
            self._storage = (ctypes.c_byte * (self.nbytes + 256))()
            self._address = (ctypes.addressof(self._storage) + 255) // 256 * 256
        else:
            self._address = _next_address[0]
            _next_address[0] += (self.nbytes + 511) // 256 * 256

    @property
    def data(self) -> Tensor:
        return self

    def data_ptr(self) -> Any:
        return self._address

    def numel(self) -> Any:
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def nbytes(self) -> Any:
        return self.numel() * self.dtype.itemsize

    @property
    def is_cuda(self) -> Any:
        return self.device.type == "cuda"

    @property
    def T(self) -> Tensor:
        return Tensor(self.shape[::-1], self.dtype, self.device, self._address, self._strides[::-1])

    def element_size(self) -> Any:
        return self.dtype.itemsize

    def stride(self, dim: Any = None) -> Any:
        return self._strides if dim is None else self._strides[dim]

    def size(self, dim: Any = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> Any:
        return len(self.shape)

    def is_contiguous(self) -> Any:
        return Tensor(self.shape, self.dtype, self.device, self._address)._strides == self._strides

    def view(self, *shape: Any) -> Tensor:
        return Tensor(shape, self.dtype, self.device, self._address)

    def to(self, type_: dtype) -> Tensor:
        return self if type_ is self.dtype else Tensor(self.shape, type_, self.device)

    def __getitem__(self, part: slice) -> Tensor:
        """Of the first dimension, from a start on."""
        start = part.start or 0
        moved = self._address + start * self._strides[0] * self.dtype.itemsize
        return Tensor((self.shape[0] - start, *self.shape[1:]), self.dtype, self.device, moved, self._strides)

    def record_stream(self, _stream: Any) -> None: ...


def empty(*shape: Any, dtype: dtype = float32, device: Any = "cpu", **_: Any) -> Tensor:
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return Tensor(sizes, dtype, device if isinstance(device, globals()["device"]) else globals()["device"](device))


zeros = ones = rand = randn = empty


def manual_seed(_seed: Any) -> None: ...


def arange(end: Any, **options: Any) -> Tensor:
    return empty(end, **options)


def randint(_low: Any, _high: Any, shape: Any, **options: Any) -> Tensor:
    return empty(shape, **options)


def tensor(values: Any, **options: Any) -> Tensor:
    return empty(len(values), **options)


def full(shape: Any, _value: Any, **options: Any) -> Tensor:
    return empty(shape, **options)


def empty_like(other: Tensor, dtype: Any = None, device: Any = None) -> Tensor:
    return Tensor(other.shape, dtype or other.dtype, other.device)


zeros_like = ones_like = randn_like = empty_like


def empty_strided(shape: Any, strides: Any, dtype: dtype = float32, device: Any = "cpu") -> Tensor:
    return Tensor(shape, dtype, globals()["device"](device), None, strides)
