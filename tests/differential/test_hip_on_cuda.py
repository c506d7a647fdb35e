"""HIP carried to CUDA: what the recording CUDA driver is asked is what the recording HIP runtime was, call by call."""

from __future__ import annotations

import ctypes
import io
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import pool, recorder, tasks
from relaunch.differential.case import Case
from relaunch.differential.divergence import applicable
from relaunch.differential.on_device.device import hip_on_cuda
from relaunch.differential.sampler import sample

from relaunch import generator

HERE = Path(__file__).parent
CARRIED = {
    "hipModuleLaunchKernel": "cuLaunchKernel",
    "hipModuleLaunchCooperativeKernel": "cuLaunchCooperativeKernel",
    "hipDrvLaunchKernelEx": "cuLaunchKernelEx",
    "hipPointerGetAttribute": "cuPointerGetAttribute",
}
UNASKED_SHARED = 48 * 1024
LIMITS = re.compile(r"; \w+ \d+ is more than the device's \d+")
SIGNATURES: list[tuple[Any, ...]] = [
    ("*fp32", "i32", "u64", "i1", "fp32", "fp64"),
    ("*fp32", "i32", "fp16", "i1"),
    ("*i8", "u8", "*bf16", "i64", "bf16", "fp64", "u16"),
    ("*fp32", ("i32", ("*fp16", "i8")), "constexpr"),
    ("tensordesc", "*fp32"),
]
WARP_SIZE = 87  # hipDeviceAttributeWarpSize
HIP_DIALECTS = [name for name in generator.all_dialects() if name.endswith("hip")]


def carried(outcome: dict[str, Any]) -> dict[str, Any]:
    """What the CUDA driver must have been asked where HIP was asked this."""
    if "events" not in outcome:
        return outcome
    events: list[dict[str, Any]] = []
    for event in outcome["events"]:
        name = event.get("call")
        if name == "hipGetLastError":
            continue  # answered by the library itself
        if "params" in event and event["shared"] > UNASKED_SHARED:
            shared = ctypes.c_int(event["shared"]).value
            events.append({"call": "cuFuncSetAttribute", "args": [event["function"][2:], "8", str(shared)]})
        events.append(event if name is None else {**event, "call": CARRIED[name]})
    return {**outcome, "events": events}


def without_limits(outcome: dict[str, Any]) -> dict[str, Any]:
    """An error's text without what the device's limits are: the two recorded devices have other ones."""
    error = outcome.get("error")
    if error is None or "text" not in error:
        return outcome
    return {**outcome, "error": {**error, "text": LIMITS.sub("", error["text"])}}


def run_carried(cases: list[Case], launcher: str) -> list[dict[str, Any]]:
    """The outcomes of cases in a process in which HIP is carried to the recording CUDA driver."""
    stream = io.BytesIO()
    specs = {pool.spec_key(case): pool.spec_of(case) for case in cases}
    built: dict[str, Any] = {}
    if launcher == "generated":
        built = dict(zip(specs, generator.build(list(specs.values()), generator.default_cache()), strict=True))
    given = tuple(
        tasks.Task(
            launcher, case.dialect, case.signature, case.call, generator.slots(specs[key]), case.constants,
            built=built.get(key),
        )
        for case in cases for key in (pool.spec_key(case),)
    )  # fmt: skip
    tasks.send(stream, tasks.Batch(given, 30.0))
    done = subprocess.run(
        [sys.executable, str(HERE / "carried_worker.py"), json.dumps(CARRIED)],
        input=stream.getvalue(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def sampled(dialect: str) -> list[Case]:
    """Launches, refusals and failing drivers of every signature that the dialect takes."""
    cases: list[Case] = []
    for signature in SIGNATURES:
        try:
            cases += sample(dialect, signature, 60, 5)
        except generator.UnknownType:
            continue
    return cases


def launchers(dialect: str) -> list[str]:
    return ["precompiled"] if generator.facts(dialect).native else list(pool.LAUNCHERS)


@pytest.mark.parametrize(("dialect", "launcher"), [(name, one) for name in HIP_DIALECTS for one in launchers(name)])
def test_every_call_reaches_cuda(dialect: str, launcher: str) -> None:
    """Launches, refusals, failing queries and launches. What legacy does with a wanted difference may be undefined."""
    cases = [case for case in sampled(dialect) if launcher == "precompiled" or not applicable(case)]
    wanted = [without_limits(carried(outcome)) for outcome in pool.run_cases(cases, launcher)]
    got = [without_limits(outcome) for outcome in run_carried(cases, launcher)]
    wrong = [(case.id, *pair) for case, *pair in zip(cases, wanted, got, strict=True) if pair[0] != pair[1]]
    assert wrong == []
    launched = Counter(event["call"] for outcome in got for event in outcome["events"] if "params" in event)
    ways = {CARRIED[way.function] for way in generator.facts(dialect).launch.ways}
    assert set(launched) == ways
    assert launched["cuLaunchKernel"] > len(cases) // 4


class Hip:
    """The library over the recording CUDA driver, in this process, called by ctypes."""

    def __init__(self) -> None:
        self.recorder = recorder.Recorder("cuda")
        self.recorder.reset()
        self.library = ctypes.CDLL(str(hip_on_cuda()))
        self.library.hipGetErrorString.restype = ctypes.c_char_p
        self.library.hipGetLastError()

    def text(self, status: int) -> str:
        return str(self.library.hipGetErrorString(status).decode())


@pytest.fixture
def hip() -> Hip:
    return Hip()


def test_it_exports_what_the_recording_hip_runtime_does() -> None:
    """Whatever a launcher, or Triton's own AMD driver, looks up by name."""
    assert exported(hip_on_cuda()) == exported(recorder.path("hip"))
    for dialect in HIP_DIALECTS:
        assert set(generator.facts(dialect).module.functions) <= exported(hip_on_cuda())


def exported(library: Path) -> set[str]:
    listed = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    return {name for line in listed.stdout.splitlines() if (name := line.split()[-1]).startswith("hip")}


class Attribute(ctypes.Structure):
    _fields_ = (("id", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("value", ctypes.c_ubyte * 64))


class Config(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("count", ctypes.c_uint32),
    )


@pytest.mark.parametrize("identity", [0, 1, 3, 5, 6, 8, 11, 2**32 - 1])
def test_attributes_that_cuda_is_not_asked_for_are_refused(hip: Hip, identity: int) -> None:
    attribute = Attribute(identity)
    config = Config((1, 1, 1), (64, 1, 1), 0, None, ctypes.pointer(attribute), 1)
    status = hip.library.hipDrvLaunchKernelEx(ctypes.byref(config), ctypes.c_void_p(0xF00), None, None)
    assert status == 801
    assert hip.text(status) == (
        f"launch attribute {identity} is not carried to CUDA: cooperative (2) and cluster dimension (4) are"
    )
    assert hip.recorder.events() == []
    assert hip.library.hipGetLastError() == 801
    assert hip.library.hipGetLastError() == 0


def test_parameters_as_one_buffer(hip: Hip) -> None:
    """What CUDA makes of the list shows on a device (tests/device); here, what is taken for one."""
    buffer, size = ctypes.create_string_buffer(16), ctypes.c_size_t(16)
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 3)
    launch = hip.library.hipModuleLaunchKernel
    launch.argtypes = (ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3)
    assert launch(0xF00, 1, 2, 3, 64, 1, 1, 0, None, None, extra) == 0
    (event,) = hip.recorder.events()
    assert (event["call"], event["grid"], event["params"]) == ("cuLaunchKernel", [1, 2, 3], None)
    wrong = (ctypes.c_void_p * 3)(7, ctypes.addressof(buffer), 3)
    assert launch(0xF00, 1, 2, 3, 64, 1, 1, 0, None, None, wrong) == 1
    assert hip.text(1) == (
        "extra: expected HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE and HIP_LAUNCH_PARAM_END"
    )


@pytest.mark.parametrize("identity", [10, 1])
def test_pointer_attributes_that_are_not_carried_are_refused(hip: Hip, identity: int) -> None:
    out = ctypes.create_string_buffer(64)
    assert hip.library.hipPointerGetAttribute(out, identity, ctypes.c_void_p(0x7F0000000000)) == 801
    assert hip.text(801) == f"pointer attribute {identity} is not carried to CUDA"


def test_devices_modules_streams_and_memory(hip: Hip) -> None:
    """What Triton's own AMD driver does around a launch, answered by the driver below."""
    library = hip.library
    count, warp, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(64)
    assert library.hipGetDeviceCount(ctypes.byref(count)) == 0
    assert library.hipDeviceGetAttribute(ctypes.byref(warp), WARP_SIZE, 0) == 0
    assert library.hipDeviceGetName(name, 64, 0) == 0
    assert (count.value, warp.value, name.value) == (1, 32, b"relaunch recorder")
    properties = ctypes.create_string_buffer(1472)
    assert library.hipGetDevicePropertiesR0600(properties, 0) == 0
    assert properties.raw[1160:].startswith(b"sm_90\0")
    module, function, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert library.hipModuleLoadData(ctypes.byref(module), b".version 8.1") == 0
    assert library.hipModuleGetFunction(ctypes.byref(function), module, b"any") == 0
    assert library.hipStreamCreateWithFlags(ctypes.byref(stream), 1) == 0
    address = ctypes.c_void_p()
    assert library.hipMalloc(ctypes.byref(address), ctypes.c_size_t(8)) == 0
    back = ctypes.create_string_buffer(8)
    assert library.hipMemcpyHtoD(address, b"relaunch", ctypes.c_size_t(8)) == 0
    assert library.hipMemcpyDtoH(back, address, ctypes.c_size_t(8)) == 0
    assert back.raw == b"relaunch"
    assert library.hipFree(address) == 0
    assert library.hipMemcpy(back, back, ctypes.c_size_t(8), 77) != 0


def test_without_a_cuda_driver() -> None:
    """Every call says what is missing; nothing crashes."""
    code = f"""
import ctypes
hip = ctypes.CDLL({str(hip_on_cuda())!r})
hip.hipGetErrorString.restype = ctypes.c_char_p
count = ctypes.c_int()
status = hip.hipGetDeviceCount(ctypes.byref(count))
print(status, hip.hipGetErrorString(status).decode())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    if "no CUDA driver" not in done.stdout:  # there is one here, or it has no device
        assert done.stdout.startswith(("0 ", "100 cuInit"))
    else:
        assert done.stdout.startswith("100 no CUDA driver: libcuda.so.1: cannot open shared object file")
