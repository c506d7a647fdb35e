"""A CUDA device, or the reason why there is none."""

from __future__ import annotations

import ctypes
import functools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


FIND_DEVICE = """
import ctypes
try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    print(f"no CUDA driver: {error}")
else:
    count = ctypes.c_int()
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if status:
        print("the CUDA driver finds no device" if status == 100 else f"the CUDA driver answers status {status}")
    elif count.value == 0:
        print("the CUDA driver lists no device")
"""


@functools.cache
def missing_device() -> str:
    """What keeps device tests from running here; empty where nothing does.

    Asked in a process of its own, because this one may have a recording driver loaded.
    """
    found = subprocess.run([sys.executable, "-c", FIND_DEVICE], capture_output=True, text=True, check=True)
    return found.stdout.strip()


@pytest.fixture(scope="session")
def need_device() -> None:
    """Skips where there is no device, and only then."""
    reason = missing_device()
    if reason:
        pytest.skip(reason)


@pytest.fixture
def device(need_device: None) -> Any:
    """The device, driven from this process."""
    if hasattr(ctypes.CDLL("libcuda.so.1"), "relaunch_recorder_reset"):
        pytest.fail("this process has the recording driver loaded: run `pytest tests/device` by itself")
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
