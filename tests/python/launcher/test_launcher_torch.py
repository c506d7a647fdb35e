"""Torch tensors, read by torch's own C functions where these agree with the exchange.

Each test has a process of its own: the stand-in for torch is a loaded library with libtorch's name.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).with_name("torch_stand_in.c")

# Launches tensors with addresses `given`, one after the other, and says what the driver got or what was raised.
PROGRAM = """
import importlib.machinery, importlib.util, json, sys, types
from relaunch.differential.recorder import Recorder
import relaunch

path, backend, pretended, made, given = json.loads(sys.argv[1])
loader = importlib.machinery.ExtensionFileLoader("torch_stand_in", path)
spec = importlib.util.spec_from_file_location("torch_stand_in", path, loader=loader)
stand_in = importlib.util.module_from_spec(spec)
loader.exec_module(stand_in)
sys.modules["torch"] = types.ModuleType("torch")
sys.modules["torch._C"] = types.SimpleNamespace(TensorBase=stand_in.TensorBase, _aoti=stand_in)

class Tensor(stand_in.TensorBase):
    pass

class Overriding(Tensor):
    def data_ptr(self):
        return 0x9990

class Raising(Tensor):
    def data_ptr(self):
        raise LookupError("no address")

recorder = Recorder(backend)
launcher = relaunch.Launcher("*fp32", dialect=f"triton-3.6-{backend}", function=1, driver=str(recorder.path))
recorder.set_slots(launcher.slots)
stand_in.pretend(pretended)
tensors = [{"Tensor": Tensor, "Overriding": Overriding, "Raising": Raising}[made](*one) for one in given]
references = [sys.getrefcount(one) for one in tensors]
answers = []
for tensor in tensors:
    recorder.reset()
    recorder.set_slots(launcher.slots)
    try:
        launcher(1, 1, 1, 0, tensor)
        events = recorder.events()
        answers.append([int.from_bytes(bytes.fromhex(events[-1]["params"][0]), "little"), len(events)])
    except Exception as error:
        answers.append([type(error).__name__, len(recorder.events())])
del tensor
assert references == [sys.getrefcount(one) for one in tensors]
print(json.dumps([answers, *stand_in.counts()]))
"""


@functools.cache
def stand_in(folder: Path) -> str:
    built = folder / "torch_stand_in.so"
    headers = f"-I{sysconfig.get_paths()['include']}"
    flags = ("-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-Wl,-soname,libtorch_cpu.so")
    subprocess.run(["cc", *flags, headers, str(SOURCE), "-o", str(built)], check=True)
    return str(built)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return stand_in(tmp_path_factory.mktemp("torch"))


def run(library: str, *given: Any, backend: str = "cuda", pretended: str = "", made: str = "Tensor") -> Any:
    """[[address, events] of each launch], exchanges made, addresses read by torch's function, handles left."""
    request = json.dumps([library, backend, pretended, made, given])
    done = subprocess.run([sys.executable, "-c", PROGRAM, request], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_only_the_first_tensor_of_a_type_is_exchanged(library: str) -> None:
    answers, exchanges, addresses, handles = run(library, [0x1000], [0x2000], [0], [0x3000])
    assert answers == [[0x1000, 1], [0x2000, 1], [0, 1], [0x3000, 1]]
    assert (exchanges, addresses, handles) == (1, 4, 0)  # the first was read too, to compare


@pytest.mark.parametrize("pretended", ["elsewhere", "twice", "other address", "failing", "raising"])
def test_what_torch_does_not_confirm_is_not_believed(library: str, pretended: str) -> None:
    answers, exchanges, addresses, handles = run(library, [0x1000], [0x2000], [0x3000], pretended=pretended)
    assert answers == [[0x1000, 1], [0x2000, 1], [0x3000, 1]]
    assert exchanges == 3
    assert addresses == (1 if pretended in ("other address", "failing") else 0)
    assert handles == 0


def test_tensors_on_another_device_go_the_old_way(library: str) -> None:
    """The CPU's address, a bad one, is asked for by data_ptr() and the driver's query."""
    answers, exchanges, _, _ = run(library, [0x1000], [0xBA0000000000, 0], [0x2000], [0x4000, 0])
    assert answers == [[0x1000, 1], ["ValueError", 1], [0x2000, 1], [0x4000, 2]]
    assert exchanges == 3


def test_a_type_is_learned_from_the_first_tensor_that_the_device_reaches(library: str) -> None:
    answers, exchanges, addresses, handles = run(library, [0x4000, 0], [0x1000], [0x2000])
    assert answers == [[0x4000, 2], [0x1000, 1], [0x2000, 1]]
    assert (exchanges, addresses, handles) == (2, 2, 0)


def test_cuda_tensors_are_not_hips(library: str) -> None:
    answers, exchanges, addresses, _ = run(library, [0x1000], [0x2000], backend="hip")
    assert answers == [[0x1000, 2], [0x2000, 2]]
    assert (exchanges, addresses) == (2, 0)


def test_an_overridden_data_ptr_is_asked(library: str) -> None:
    answers, exchanges, addresses, _ = run(library, [0x1000], [0x2000], made="Overriding")
    assert answers == [[0x9990, 2], [0x9990, 2]]
    assert (exchanges, addresses) == (0, 0)
    answers, _, _, _ = run(library, [0x1000], made="Raising")
    assert answers == [["LookupError", 0]]
