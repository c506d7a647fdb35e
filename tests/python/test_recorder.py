"""The recording drivers, called as a launcher calls them: through their symbols."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from relaunch.differential import recorder
from relaunch.differential.recorder import Recorder

INVALID_VALUE, ILLEGAL_ADDRESS = 1, 700
DEVICE_POINTER = 3


class LaunchAttribute(ctypes.Structure):
    _fields_ = (("id", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("value", ctypes.c_uint32 * 16))


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig and HIP_LAUNCH_CONFIG: 56 bytes on x86-64."""

    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("count", ctypes.c_uint32),
    )


class Driver:
    """One backend's recorder and its driver functions."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.recorder = Recorder(backend)
        self.functions = ctypes.CDLL(str(self.recorder.path))
        self.recorder.reset()

    def pointer(self, address: int) -> tuple[int, int]:
        """(status, device pointer) of one pointer query; the pointer is 7 where nothing was written."""
        out = ctypes.c_uint64(7)
        query = self.functions[f"{'cu' if self.backend == 'cuda' else 'hip'}PointerGetAttribute"]
        return query(ctypes.byref(out), DEVICE_POINTER, ctypes.c_uint64(address)), out.value

    def launch(self, name: str, params: Any, function: int = 0xF00, stream: int = 1) -> int:
        """cuLaunchKernel and its like: grid (1, 2, 3), block (4, 5, 6), 7 shared bytes."""
        numbers = [ctypes.c_uint32(n) for n in (1, 2, 3, 4, 5, 6, 7)]
        ends = () if name.endswith("CooperativeKernel") else (None,)
        status: int = self.functions[name](ctypes.c_void_p(function), *numbers, ctypes.c_void_p(stream), params, *ends)
        return status

    def launch_config(self, name: str, attributes: list[LaunchAttribute], params: Any) -> int:
        """cuLaunchKernelEx or hipDrvLaunchKernelEx."""
        listed = (LaunchAttribute * len(attributes))(*attributes)
        config = LaunchConfig((1, 2, 3), (4, 5, 6), 7, 0x20, listed, len(attributes))
        status: int = self.functions[name](ctypes.byref(config), ctypes.c_void_p(0xF00), params, None)
        return status


def addresses(*values: Any) -> Any:
    """A params array of the addresses of ctypes values, which it keeps alive."""
    array: Any = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    array.kept = values
    return array


@pytest.fixture(params=["cuda", "hip"])
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    made = Driver(request.param)
    yield made
    made.recorder.reset()


@pytest.fixture
def cuda() -> Iterator[Driver]:
    made = Driver("cuda")
    yield made
    made.recorder.reset()


@pytest.fixture
def hip() -> Iterator[Driver]:
    made = Driver("hip")
    yield made
    made.recorder.reset()


def test_config_layout() -> None:
    assert ctypes.sizeof(LaunchConfig) == 56
    assert ctypes.sizeof(LaunchAttribute) == 72


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_the_name_of_the_driver_leads_to_the_recorder(backend: str) -> None:
    """Launchers open the driver by its name; a process that has loaded the recorder gets that."""
    program = """
        import ctypes, os, sys
        from relaunch.differential.recorder import FILE_NAMES, Recorder
        name = FILE_NAMES[sys.argv[1]]
        recorder = Recorder(sys.argv[1])
        ctypes.CDLL(name, mode=os.RTLD_NOLOAD).relaunch_recorder_note(b"1")
        ctypes.CDLL(None).relaunch_recorder_note(b"2")  # its symbols are global too
        print(recorder.events())
    """
    command = [sys.executable, "-c", textwrap.dedent(program), backend]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[1, 2]\n", "")


def test_unknown_backend_is_refused() -> None:
    with pytest.raises(ValueError, match="no recorder for backend 'metal': expected one of cuda, hip"):
        recorder.path("metal")


@pytest.mark.parametrize(
    ("address", "answer"),
    [
        (0x1000, (0, 0x1000)),
        (0xBA0000000010, (INVALID_VALUE, 7)),
        (0x5E0000000010, (ILLEGAL_ADDRESS, 7)),
        (0x910000000010, (0, 0x910010000010)),
        (0xFFFFFFFFFFFF0140, (0, 0xFFFFFFFFFFFF0140)),
        (0xFFFFFFFFFFFFFFFF, (INVALID_VALUE, 7)),
    ],
)
def test_pointer_answers_by_address(driver: Driver, address: int, answer: tuple[int, int]) -> None:
    assert driver.pointer(address) == answer
    name = "cuPointerGetAttribute" if driver.backend == "cuda" else "hipPointerGetAttribute"
    assert driver.recorder.events() == [{"call": name, "args": ["3", f"{address:x}"]}]


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        ("cuda", "cuLaunchKernel"),
        ("cuda", "cuLaunchCooperativeKernel"),
        ("hip", "hipModuleLaunchKernel"),
        ("hip", "hipModuleLaunchCooperativeKernel"),
    ],
)
def test_plain_launch(backend: str, name: str) -> None:
    driver = Driver(backend)
    driver.recorder.set_slots([1, 8, 4, 2])
    value = ctypes.c_uint64(0x1122334455667788)
    assert driver.launch(name, addresses(value, value, value, value)) == 0
    assert driver.recorder.events() == [
        {
            "call": name,
            "grid": [1, 2, 3],
            "block": [4, 5, 6],
            "shared": 7,
            "stream": "0x1",
            "function": "0xf00",
            "gil_held": 0,  # ctypes.CDLL gives the lock away
            "attributes": [],
            "params": ["88", "8877665544332211", "88776655", "8877"],
        }
    ]


@pytest.mark.parametrize(("backend", "name"), [("cuda", "cuLaunchKernelEx"), ("hip", "hipDrvLaunchKernelEx")])
def test_launch_with_attributes_in_order(backend: str, name: str) -> None:
    """Twelve bytes of a cluster dimension, four of every other value, however many there are."""
    driver = Driver(backend)
    driver.recorder.set_slots([])
    cluster = LaunchAttribute(4, 0, (2, 3, 4))
    others = [LaunchAttribute(i, 0xFFFFFFFF, (i, 9)) for i in range(20, 40)]
    assert driver.launch_config(name, [LaunchAttribute(6, 0, (1,)), cluster, *others], None) == 0
    (event,) = driver.recorder.events()
    assert event["attributes"][:2] == [[6, "01000000"], [4, "020000000300000004000000"]]
    assert event["attributes"][2:] == [[i, f"{i:02x}000000"] for i in range(20, 40)]
    assert (event["grid"], event["block"], event["shared"]) == ([1, 2, 3], [4, 5, 6], 7)
    assert (event["stream"], event["function"], event["params"]) == ("0x20", "0xf00", [])


def test_without_slots_no_parameter_is_read(cuda: Driver) -> None:
    cuda.launch("cuLaunchKernel", ctypes.c_void_p(8))  # would crash if it were read
    assert cuda.recorder.events()[0]["params"] is None


def test_the_lock_is_seen_where_it_is_held(driver: Driver) -> None:
    name = "cuLaunchKernel" if driver.backend == "cuda" else "hipModuleLaunchKernel"
    driver.functions = ctypes.PyDLL(str(driver.recorder.path))
    driver.launch(name, None)
    assert driver.recorder.events()[0]["gil_held"] == 1


def test_nth_call_fails_and_is_still_recorded(driver: Driver) -> None:
    prefix = "cu" if driver.backend == "cuda" else "hip"
    driver.recorder.fail(f"{prefix}PointerGetAttribute", 1, 719)
    driver.recorder.fail(f"{prefix}MemGetInfo", 0, 2)
    assert [driver.pointer(address)[0] for address in (0x10, 0x20, 0x30)] == [0, 719, 0]
    assert [event["args"][1] for event in driver.recorder.events()] == ["10", "20", "30"]
    launch = "cuLaunchKernel" if driver.backend == "cuda" else "hipModuleLaunchKernel"
    driver.recorder.fail(launch, 0, 700)  # counted from now
    assert [driver.launch(launch, None), driver.launch(launch, None)] == [700, 0]
    assert [event["call"] for event in driver.recorder.events()[3:]] == [launch, launch]


def test_version_suffix_is_no_part_of_a_name(cuda: Driver) -> None:
    cuda.recorder.fail("cuMemAlloc", 0, 2)
    assert cuda.functions.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(16)) == 2


def test_contexts_are_per_thread(cuda: Driver) -> None:
    def current() -> int | None:
        context = ctypes.c_void_p()
        assert cuda.functions.cuCtxGetCurrent(ctypes.byref(context)) == 0
        return context.value

    assert current() == 0xC1
    cuda.recorder.no_context()
    assert current() is None
    context = ctypes.c_void_p()
    assert cuda.functions.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.functions.cuCtxSetCurrent(context) == 0
    assert current() == 0xC1
    seen: list[int | None] = []
    other = threading.Thread(target=lambda: seen.append(current()))
    other.start()
    other.join()
    assert seen == [None]
    assert cuda.recorder.events() == [
        {"call": "cuDevicePrimaryCtxRetain", "args": ["0"]},
        {"call": "cuCtxSetCurrent", "args": ["c1"]},
    ]
    cuda.recorder.reset()
    assert current() == 0xC1


def test_function_attribute_and_last_error(cuda: Driver, hip: Driver) -> None:
    assert cuda.functions.cuFuncSetAttribute(ctypes.c_void_p(0xF00), 14, 1) == 0
    assert cuda.recorder.events() == [{"call": "cuFuncSetAttribute", "args": ["f00", "14", "1"]}]
    hip.pointer(0xBA0000000000)
    assert [hip.functions.hipGetLastError(), hip.functions.hipGetLastError()] == [INVALID_VALUE, 0]
    assert hip.recorder.events()[1:] == [{"call": "hipGetLastError", "args": []}] * 2


@pytest.mark.parametrize(("status", "text"), [(0, b"no error"), (1, b"invalid argument"), (2, b"error 2")])
def test_error_texts(cuda: Driver, hip: Driver, status: int, text: bytes) -> None:
    shown = ctypes.c_char_p()
    assert cuda.functions.cuGetErrorString(status, ctypes.byref(shown)) == 0
    assert shown.value == text
    hip.functions.hipGetErrorString.restype = ctypes.c_char_p
    assert hip.functions.hipGetErrorString(status) == text


def test_null_mode_answers_and_records_nothing(driver: Driver) -> None:
    driver.recorder.record(False)
    driver.recorder.note(b'{"hook": "enter"}')
    assert driver.pointer(0x910000000000) == (0, 0x910010000000)
    driver.launch("cuLaunchKernel" if driver.backend == "cuda" else "hipModuleLaunchKernel", ctypes.c_void_p(8))
    assert driver.recorder.events() == []
    driver.recorder.record()
    driver.recorder.note(b'{"hook": "exit"}')
    assert driver.recorder.events() == [{"hook": "exit"}]


def test_notes_lie_between_the_calls(driver: Driver) -> None:
    driver.recorder.note(b'{"hook": "enter"}')
    driver.pointer(0x10)
    driver.recorder.note(b'{"hook": "exit"}')
    assert [next(iter(event)) for event in driver.recorder.events()] == ["hook", "call", "hook"]


def test_events_text_stays_valid_until_reset(driver: Driver) -> None:
    events = driver.recorder.library.relaunch_recorder_events
    events.restype = ctypes.c_void_p
    first = events()
    for address in range(1, 200):
        driver.pointer(address)
    assert ctypes.string_at(first) == b"[]"
    assert len(json.loads(ctypes.string_at(events()))) == 199


CUDA_SYMBOLS = """
    cuInit cuDriverGetVersion cuGetProcAddress cuGetProcAddress_v2 cuDeviceGet cuDeviceGetCount cuDeviceGetAttribute
    cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease_v2 cuCtxGetCurrent cuCtxSetCurrent cuCtxGetDevice cuCtxGetLimit
    cuCtxSetLimit cuModuleLoadData cuModuleGetFunction cuModuleUnload cuFuncGetAttribute cuFuncSetAttribute
    cuFuncSetCacheConfig cuOccupancyMaxActiveClusters cuPointerGetAttribute cuPointerGetAttributes
    cuTensorMapEncodeTiled cuTensorMapEncodeIm2col cuGetErrorString cuGetErrorName cuMemAlloc_v2 cuMemFree_v2
    cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuLaunchKernel cuLaunchKernelEx
"""
HIP_SYMBOLS = """
    hipInit hipGetProcAddress hipGetErrorString hipGetLastError hipGetDeviceCount hipGetDeviceProperties
    hipGetDevicePropertiesR0600 hipModuleLoadDataEx hipModuleGetFunction hipModuleUnload hipFuncGetAttribute
    hipFuncSetAttribute hipPointerGetAttribute hipModuleLaunchKernel hipModuleLaunchCooperativeKernel
    hipDrvLaunchKernelEx hipMalloc hipFree hipMemcpy hipMemcpyHtoD hipMemcpyDtoH
"""


@pytest.mark.parametrize(("backend", "names"), [("cuda", CUDA_SYMBOLS), ("hip", HIP_SYMBOLS)])
def test_symbols_that_the_drivers_of_triton_ask_for(backend: str, names: str) -> None:
    functions = Driver(backend).functions
    assert [name for name in names.split() if not hasattr(functions, name)] == []


def test_procedure_addresses(cuda: Driver, hip: Driver) -> None:
    found, plain = ctypes.c_void_p(), ctypes.c_void_p()
    ask = hip.functions.hipGetProcAddress
    assert ask(b"hipDrvLaunchKernelEx", ctypes.byref(found), 70100000, ctypes.c_uint64(0)) == 0
    assert found.value == ctypes.cast(hip.functions.hipDrvLaunchKernelEx, ctypes.c_void_p).value
    assert ask(b"hipNoSuch", ctypes.byref(found), 70100000, ctypes.c_uint64(0)) == 500
    ask = cuda.functions.cuGetProcAddress_v2
    assert ask(b"cuMemAlloc", ctypes.byref(plain), 12080, ctypes.c_uint64(0), None) == 0
    assert plain.value == ctypes.cast(cuda.functions.cuMemAlloc_v2, ctypes.c_void_p).value
    assert ask(b"cuNoSuch", ctypes.byref(plain), 12080, ctypes.c_uint64(0), None) == 500


def test_memory_is_real_and_checked(cuda: Driver) -> None:
    address, calls = ctypes.c_uint64(), cuda.functions
    assert calls.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(8)) == 0
    there, back = ctypes.create_string_buffer(b"12345678", 8), ctypes.create_string_buffer(8)
    assert calls.cuMemcpyHtoD_v2(address, there, ctypes.c_size_t(8)) == 0
    assert calls.cuMemcpyDtoH_v2(back, address, ctypes.c_size_t(8)) == 0
    assert back.raw == b"12345678"
    assert calls.cuMemcpyDtoH_v2(back, address, ctypes.c_size_t(9)) == INVALID_VALUE
    assert [calls.cuMemFree_v2(address), calls.cuMemFree_v2(address)] == [0, INVALID_VALUE]
    assert cuda.recorder.events() == []


def test_encode_calls_are_recorded(cuda: Driver) -> None:
    def list_of(kind: Any, *values: int) -> Any:
        return (kind * len(values))(*values)

    tensor_map = ctypes.create_string_buffer(128)
    status = cuda.functions.cuTensorMapEncodeTiled(
        *(tensor_map, 7, 2, ctypes.c_void_p(0x7F00)),
        *(list_of(ctypes.c_uint64, 170, 179), list_of(ctypes.c_uint64, 176)),
        *(list_of(ctypes.c_uint32, 32, 1), list_of(ctypes.c_uint32, 1, 1)),
        *(0, 1, 2, 0),
    )
    assert status == 0
    assert cuda.recorder.events() == [
        {
            "call": "cuTensorMapEncodeTiled",
            "data_type": 7,
            "rank": 2,
            "address": "0x7f00",
            "dims": [170, 179],
            "strides": [176],
            "box": [32, 1],
            "element_strides": [1, 1],
            "interleave": 0,
            "swizzle": 1,
            "l2_promotion": 2,
            "oob_fill": 0,
        }
    ]


def test_a_refused_encode_call_is_recorded_as_that(cuda: Driver) -> None:
    """In the form of tests/golden: what was asked for is left out."""
    for name in ("cuTensorMapEncodeTiled", "cuTensorMapEncodeIm2col"):
        cuda.recorder.reset()
        cuda.recorder.fail(name, 0, 700)
        assert getattr(cuda.functions, name)(*[None] * 15) == 700
        assert cuda.recorder.events() == [{"call": name, "args": ["failed"]}]


@pytest.mark.threads
def test_many_threads_record_whole_events(driver: Driver) -> None:
    """Calls give the lock away, so they do run at once."""
    threads, calls = 8, 300
    driver.recorder.set_slots([8])
    name = "cuLaunchKernel" if driver.backend == "cuda" else "hipModuleLaunchKernel"

    def work(number: int) -> None:
        value = ctypes.c_uint64(number)
        for _ in range(calls):
            driver.pointer(number + 1)
            driver.launch(name, addresses(value), stream=number + 1)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    events = driver.recorder.events()
    assert len(events) == 2 * threads * calls
    launches = [(event["stream"], event["params"]) for event in events if event["call"] == name]
    for i in range(threads):
        mine = [params for stream, params in launches if stream == f"0x{i + 1:x}"]
        assert mine == [[f"{i:02x}" + "00" * 7]] * calls


def test_recorders_need_no_python(driver: Driver) -> None:
    """Native programs and tests load them too; Python's lock is looked up at run time."""
    command = ["nm", "-D", "--undefined-only", str(driver.recorder.path)]
    undefined = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Py" not in undefined
