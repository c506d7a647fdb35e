"""A CUDA device, or the reason why there is none."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CUDA_ERROR_NO_DEVICE = 100
KERNELS = Path(__file__).parents[2] / "kernels"


class Device:
    """The first CUDA device with its primary context current, driven through libcuda by ctypes."""

    def __init__(self, driver: ctypes.CDLL) -> None:
        self.driver = driver
        self.modules: list[ctypes.c_void_p] = []

    def check(self, status: int) -> None:
        if status != 0:
            text = ctypes.c_char_p()
            self.driver.cuGetErrorString(status, ctypes.byref(text))
            raise RuntimeError(f"CUDA status {status}: {(text.value or b'unknown').decode()}")

    def load(self, image: Path, kernel: str) -> int:
        """Load a cubin and return the handle of one of its kernels."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.driver.cuModuleLoadData(ctypes.byref(module), image.read_bytes()))
        self.modules.append(module)
        self.check(self.driver.cuModuleGetFunction(ctypes.byref(function), module, kernel.encode()))
        assert function.value is not None
        return function.value

    def close(self) -> None:
        for module in self.modules:
            self.check(self.driver.cuModuleUnload(module))


def missing_device() -> str | None:
    """What keeps device tests from running here, or None."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"no CUDA driver: {error}"
    count = ctypes.c_int()
    status = driver.cuInit(0)
    if status == CUDA_ERROR_NO_DEVICE:
        return "the CUDA driver finds no device"
    if status != 0:
        return f"cuInit answers status {status}"
    if driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return "the CUDA driver lists no device"
    return None


@pytest.fixture
def device() -> Any:
    """The device; skips where there is none, and only then."""
    reason = missing_device()
    if reason is not None:
        pytest.skip(reason)
    import torch

    torch.cuda.init()
    torch.zeros(1, device="cuda")  # makes the primary context current
    found = Device(ctypes.CDLL("libcuda.so.1"))
    yield found
    torch.cuda.synchronize()
    found.close()


@pytest.fixture(scope="session")
def cubin(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Builds kernels/NAME.cu for sm_90 with nvcc, once a session."""
    folder = tmp_path_factory.mktemp("cubins")

    def build(name: str) -> Path:
        target = folder / f"{name}.cubin"
        if not target.exists():
            source = KERNELS / f"{name}.cu"
            subprocess.run(["nvcc", "-arch=sm_90", "-cubin", "-o", str(target), str(source)], check=True)
        return target

    return build
