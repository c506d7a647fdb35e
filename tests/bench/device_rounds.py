"""Measures launches on a device, in a process of its own: what `relaunch bench device` runs.

    python device_rounds.py PLAN.json

PLAN.json holds {"driver": a library's name or path, "floor": the shared object of device_floor.c, "tensor": that of
tensor.c, "cubin": path, "groups": [[size, pointers], ...], "sizes": {size: {"signature", "kernel", "path", "module"}},
"rounds": n, "burst": n, "cold": n, "left_out": {launcher: reason}}.

A group's launchers take turns: in each round every one has a burst of launches, fewer than the queue holds, and the
device is drained outside the clock. Answers on standard output, an object a line: {"about"}, {"trying"} in front of
what might end the process, {"left_out", "reason"}, {"figure"}, {"done": group}.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spelling
from device_twins import MAKERS, NotHere, Situation

FLOOR = "floor"


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


class Device:
    """The driver, by ctypes: its first device, with the primary context current. Raises RuntimeError."""

    def __init__(self, driver: str) -> None:
        self.library = ctypes.CDLL(driver, mode=ctypes.RTLD_GLOBAL)
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.device = device

    def call(self, function: str, *arguments: Any) -> None:
        status = getattr(self.library, function)(*arguments)
        if status != 0:
            raise RuntimeError(f"{function}: CUDA status {status}")

    def drain(self) -> None:
        self.call("cuCtxSynchronize")

    def load(self, cubin: bytes) -> ctypes.c_void_p:
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        return module

    def function(self, module: ctypes.c_void_p, kernel: str) -> int:
        found = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(found), module, kernel.encode())
        assert found.value is not None
        return found.value

    def allocate(self, size: int) -> int:
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def about(self) -> dict[str, str]:
        name, version = ctypes.create_string_buffer(100), ctypes.c_int()
        self.call("cuDeviceGetName", name, len(name), self.device)
        self.call("cuDriverGetVersion", ctypes.byref(version))
        return {"device": name.value.decode(), "driver": f"CUDA {version.value // 1000}.{version.value % 1000 // 10}"}


class Floor:
    """device_floor.c, with the interpreter's lock held throughout."""

    def __init__(self, path: str, driver: str) -> None:
        self.library = ctypes.PyDLL(path)
        for function in ("burst", "cold"):
            getattr(self.library, f"floor_{function}").restype = ctypes.c_int64
        if self.library.floor_open(driver.encode()) != 0:
            raise RuntimeError(f"{driver} lacks what the floor calls")
        self.walk: Callable[[], None] = self.library.floor_walk
        self.walk.restype = None

    def burst(self, function: int, turns: int) -> int:
        taken: int = self.library.floor_burst(ctypes.c_void_p(function), ctypes.c_long(turns))
        if taken < 0:
            raise RuntimeError(f"cuLaunchKernelEx: CUDA status {-taken}")
        return taken

    def cold(self, function: int, turns: int) -> list[int]:
        times = (ctypes.c_int64 * turns)()
        status = self.library.floor_cold(ctypes.c_void_p(function), ctypes.c_long(turns), times)
        if status < 0:
            raise RuntimeError(f"cuLaunchKernelEx: CUDA status {-status}")
        return list(times)

    def piece(self, name: str, turns: int, *arguments: Any) -> int:
        function = getattr(self.library, f"piece_{name}")
        function.restype = ctypes.c_int64
        taken: int = function(*arguments, ctypes.c_long(turns))
        return taken


def torch_handle(tensor: Any) -> ctypes.c_void_p | None:
    """The tensor as torch's stable C interface takes it, for good; nothing where it is not torch's."""
    try:
        from torch._C import _aoti

        capsule = _aoti.unsafe_alloc_void_ptr_from_tensor(tensor)
    except (ImportError, AttributeError, TypeError):
        return None
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return ctypes.c_void_p(pointer(capsule, None))


Loops = dict[str, Callable[[int], Any]]


class Rounds:
    """All measuring of one plan."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.device = Device(plan["driver"])
        self.floor = Floor(plan["floor"], plan["driver"])
        self.module = self.device.load(Path(plan["cubin"]).read_bytes())
        self.bench_tensor = spelling.import_extension(plan["tensor"], "bench_tensor")
        self.tensor, tensors = self.tensor_type()
        say(about={**self.device.about(), "tensors": tensors})

    def tensor_type(self) -> tuple[Callable[[int], Any], str]:
        """Makes a tensor for a place: torch's where there is torch with CUDA, else those of tensor.c."""
        try:
            import torch

            torch.zeros(1, device="cuda")
        except Exception as error:  # noqa: BLE001 - no torch, no CUDA in it, or one that does not load
            kind = self.bench_tensor.Tensor
            start = self.device.allocate(1 << 20)
            return lambda place: kind(
                start + 1024 * place
            ), f"bench_tensor ({type(error).__name__}: no torch with CUDA)"
        return lambda place: torch.zeros(4, device="cuda"), f"torch {torch.__version__}"

    def situation(self, size: int, pointers: str) -> Situation:
        of_size = self.plan["sizes"][str(size)]
        values: list[Any] = []
        for place, entry in enumerate(spelling.entries(of_size["signature"])):
            tensor = self.tensor(place) if entry.startswith("*") else None
            if tensor is None:
                values.append(1000 + place)
            else:
                values.append(tensor if pointers == "dlpack" else spelling.Tensor(tensor.data_ptr()))
                self.kept = [*getattr(self, "kept", []), tensor]  # whose address a plain object has
        return Situation(
            signature=of_size["signature"],
            pointers=pointers,
            values=values,
            function=self.device.function(self.module, of_size["kernel"]),
            kernel=of_size["kernel"],
            cubin=self.plan["cubin"],
            driver=self.plan["driver"],
            generated=(of_size["path"], of_size["module"]),
        )

    def loops_of(self, name: str, situation: Situation) -> Loops:
        """burst(turns) and cold(turns) of a launcher, tried with a few launches. Raises why it cannot launch."""
        if name == FLOOR:
            loops: Loops = {
                "burst": lambda turns: self.floor.burst(situation.function, turns),
                "cold": lambda turns: self.floor.cold(situation.function, turns),
            }
        else:
            twin = MAKERS[name](situation)
            made = spelling.loops(twin.form, twin.spelled, twin.names, twin.values)
            clock = time.perf_counter_ns
            loops = {
                "burst": lambda turns: made["burst"](turns, clock),
                "cold": lambda turns: made["cold"](turns, clock, self.floor.walk),
            }
        loops["burst"](3)
        self.device.drain()
        loops["cold"](1)
        self.device.drain()
        return loops

    def contestants(self, size: int, pointers: str) -> dict[str, Loops]:
        """Those that launch in this situation; why others do not is said."""
        situation = self.situation(size, pointers)
        found = {}
        for name in (FLOOR, *MAKERS):
            reason = self.plan["left_out"].get(name)
            if reason is None:
                say(trying=name, size=size, pointers=pointers)
                try:
                    found[name] = self.loops_of(name, situation)
                    continue
                except Exception as error:  # noqa: BLE001 - one launcher's failure must not stop the others
                    reason = str(error) if isinstance(error, NotHere) else f"{type(error).__name__}: {error}"
            say(left_out=name, size=size, pointers=pointers, reason=reason.strip().splitlines()[0][:200])
        say(trying=None, size=size, pointers=pointers)
        return found

    def measure(self, size: int, pointers: str) -> None:
        """One group: warm rounds, then cold ones."""
        contestants = self.contestants(size, pointers)
        burst, cold = self.plan["burst"], self.plan["cold"]
        warm: dict[str, list[float]] = {name: [] for name in contestants}
        behind_walk: dict[str, list[float]] = {name: [] for name in contestants}
        names = list(contestants)
        gc.collect()
        gc.disable()
        for turn in range(self.plan["rounds"]):
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                contestants[name]["burst"](3)  # the device's clocks and this launcher's code are awake
                self.device.drain()
                warm[name].append(contestants[name]["burst"](burst) / burst)
                self.device.drain()
        for turn in range(self.plan["rounds"]):
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                behind_walk[name] += contestants[name]["cold"](cold)
                self.device.drain()
        gc.enable()
        for cache, times in (("warm", warm), ("cold", behind_walk)):
            for name, taken in times.items():
                above = [own - floor for own, floor in zip(taken, times.get(FLOOR, ()), strict=False)]
                more = {"above_floor": statistics.median(above)} if above else {}
                say(figure={**self.figure(name, size, pointers, cache, taken), **more})
        say(done=[size, pointers])

    @staticmethod
    def figure(what: str, size: int, pointers: str, cache: str, taken: list[float]) -> dict[str, Any]:
        middle, least = statistics.median(taken), min(taken)
        return {"what": what, "size": size, "pointers": pointers, "cache": cache, "median": middle, "minimum": least}

    def pieces(self) -> None:
        """What a launch is made of, each by itself: nanoseconds a call."""
        tensor = self.tensor(0)
        address = tensor.data_ptr()
        turns = 1000
        empty = spelling.loops("None # {}", [], {}, [])
        clock, walk = time.perf_counter_ns, self.floor.walk
        handle = torch_handle(tensor)
        calls = {
            count: spelling.loops(
                "call({})", [f"a{place}" for place in range(count)], {"call": self.bench_tensor.nothing}, range(count)
            )["burst"]
            for count in (4, 23, 62)
        }
        measured: dict[str, Callable[[], float]] = {
            "data_ptr() of a tensor": lambda: self.floor.piece("data_ptr", turns, ctypes.py_object(tensor)),
            "address of a tensor by DLPack's C exchange": lambda: self.floor.piece(
                "dlpack", turns, ctypes.py_object(tensor)
            ),
            "address of a tensor by torch's C functions": lambda: (
                -1 if handle is None else self.floor.piece("torch", turns, handle)
            ),
            "cuPointerGetAttribute": lambda: self.floor.piece("pointer_query", turns, ctypes.c_uint64(address)),
            "release and acquire of the interpreter's lock": lambda: self.floor.piece("lock", turns),
            "cuCtxGetCurrent": lambda: self.floor.piece("context", turns),
            "the clock in C": lambda: self.floor.piece("clock", turns),
            "an empty turn of the loop in Python": lambda: empty["burst"](turns, clock),
            **{
                f"a call of nothing with {count} arguments written out": functools.partial(call, turns, clock)
                for count, call in calls.items()
            },
        }
        times: dict[str, list[float]] = {name: [] for name in measured}
        for _ in range(self.plan["rounds"]):
            for name, measure in measured.items():
                times[name].append(measure() / turns)
        for name, taken in times.items():
            if min(taken) >= 0:
                say(figure=self.figure(name, 0, "-", "piece", taken))
            else:
                say(left_out=name, size=0, pointers="-", reason="not there")
        behind_walk = [time for _ in range(self.plan["rounds"]) for time in empty["cold"](10, clock, walk)]
        say(figure=self.figure("the clock in Python, code cold", 0, "-", "piece", behind_walk))


def main(path: Path) -> None:
    """Measures the groups of a plan, in order, and the pieces first."""
    rounds = Rounds(json.loads(path.read_text()))
    if rounds.plan["pieces"]:
        rounds.pieces()
        say(done="pieces")
    for size, pointers in rounds.plan["groups"]:
        rounds.measure(size, pointers)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
