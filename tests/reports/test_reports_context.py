"""Contexts, threads, streams and processes: each launch goes where it says, and nothing else is asked of the driver."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import recorder

STREAM = 0x55D000001000
MADE = ["cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"]


def in_thread(call: Callable[[], None]) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - raised again below
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


@pytest.mark.threads
def test_a_new_thread_launches_what_another_bound(each: Any, launch: Any) -> None:
    """Each thread gets the primary context once, where the release makes one (3.0 and HIP do not)."""
    launcher = each.bind("fp32")
    makes = each.backend == "cuda" and each.at_least >= (3, 2)
    each.recorder.no_context()
    launch(each, launcher, 1.0)
    each.forget(launcher)
    each.recorder.no_context()

    def work() -> None:
        launch(each, launcher, 2.0)
        launch(each, launcher, 3.0)

    for _ in range(2):
        in_thread(work)
    calls = [event["call"] for event in each.events()]
    launches = [event["params"][0] for event in each.launches()]
    assert launches == ["00000040", "00004040"] * 2
    assert [call for call in calls if "aunch" not in call] == (MADE * 2 if makes else [])
    if makes:
        assert calls[:2] == MADE, "before the launch"


def test_each_launch_goes_to_its_own_function_and_stream(each: Any, full_launch: Any) -> None:
    """Contexts A, B and A again, a stream per launch: nothing is kept from one to the next."""
    launcher = each.bind("*fp32")
    for clusters in (1, 2):
        each.forget(launcher)
        asked = [(0xA0, STREAM), (0xB0, 0), (0xA0, STREAM + 8), (0xC0, 2), (0xB0, STREAM), (0xA0, 1)]
        for function, stream in asked:
            full_launch(each, launcher, 1, function=function, stream=stream, metadata=each.metadata(4, clusters))
        found = [(int(event["function"], 16), int(event["stream"], 16)) for event in each.launches()]
        assert found == asked
    other = each.bind("*fp32", function=0xD0)
    each.forget(launcher)
    for stream in (STREAM, 0, 7):
        launcher(1, 1, 1, stream, 1)
        other(1, 1, 1, stream, 1)
    found = [(int(event["function"], 16), int(event["stream"], 16)) for event in each.launches()]
    assert found == [(function, stream) for stream in (STREAM, 0, 7) for function in (0xF00, 0xD0)]


@pytest.mark.threads
def test_threads_keep_their_own_launches(each: Any, full_launch: Any, in_threads: Any) -> None:
    """Arguments, function, stream and grid of each launch belong together."""
    launcher = each.bind("i64", "fp64", "*fp32")

    def work(number: int) -> None:
        for turn in range(60):
            values = (number * 1000 + turn, float(number), 4096 * number)
            where = {"function": 0xF00 + number, "stream": number, "grid": (turn + 1, number, 1)}
            full_launch(each, launcher, *values, **where)

    in_threads(6, work)
    launches = each.launches()
    assert len(launches) == 6 * 60
    for event in launches:
        number = int(event["stream"], 16)
        count, double, address = (bytes.fromhex(slot) for slot in event["params"][:3])
        assert int.from_bytes(count, "little") == number * 1000 + event["grid"][0] - 1
        assert ctypes.c_double.from_buffer_copy(double).value == number
        assert int.from_bytes(address, "little") == 4096 * number
        assert (int(event["function"], 16), event["grid"][1]) == (0xF00 + number, number)


# Every function that the launcher may call, those of a plain launch apart.
OTHERS = {
    "cuda": [
        "cuCtxGetDevice", "cuCtxSetCurrent", "cuDeviceGet", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
        "cuDriverGetVersion", "cuFuncGetAttribute", "cuFuncGetParamInfo", "cuFuncSetAttribute", "cuInit",
        "cuGetErrorString", "cuTensorMapEncodeTiled", "cuModuleLoadData", "cuModuleGetFunction", "cuStreamIsCapturing",
    ],
    "hip": [
        "hipGetLastError", "hipDeviceGetAttribute", "hipGetDevice", "hipInit", "hipModuleLoadData", "hipSetDevice",
        "hipModuleGetFunction", "hipDeviceSynchronize", "hipGetErrorString", "hipDrvLaunchKernelEx",
        "hipStreamIsCapturing",
    ],
}  # fmt: skip


def test_a_launch_asks_the_driver_for_nothing_else(each: Any, launch: Any, tensor: Any) -> None:
    """The first one of a launcher and later ones: only calls that a stream being captured allows, no module load.

    Unrecorded calls show too: the first call of each function is told to fail, and must come from this test.
    """
    launcher = each.bind("*fp32", "*fp32", "i32", shared=64 * 1024)
    for _ in range(2):
        each.forget(launcher)
        for name in OTHERS[each.backend]:
            each.recorder.fail(name, 0, 999)
        launch(each, launcher, tensor(0x1000), 0x2000, 3)
        query = "cuPointerGetAttribute" if each.backend == "cuda" else "hipPointerGetAttribute"
        assert [event["call"] for event in each.events()][:-1] == [query]
        out = (ctypes.c_uint64 * 8)()
        for name in OTHERS[each.backend]:
            function = getattr(each.recorder.library, name)
            if not name.endswith("ErrorString"):
                assert function(out, out, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) == 999, f"{name} was called"


def test_a_forked_child_binds_and_says_what_its_driver_cannot(each: Any) -> None:
    """A driver that answers 'not initialized' (3) in a child: binding asks it nothing, launching raises."""
    parent = each.bind("i32")
    name = "cuLaunchKernel" if each.at_least < (3, 4) else "cuLaunchKernelEx"
    failing = (
        "hipModuleLaunchKernel" if each.backend == "hip" else name if each.at_least < (3, 2) else "cuCtxGetCurrent"
    )
    child = os.fork()
    if child == 0:
        try:
            for turn in range(4):
                each.recorder.fail(failing, turn, 3)
            failed = 0
            for launcher in (parent, each.bind("i32", "i8")):
                each.recorder.set_slots(launcher.slots)
                try:
                    launcher(1, 1, 1, 0, *[1] * len(launcher.tree))
                except RuntimeError as error:
                    failed += f"(3 from {failing})" in str(error)
            os._exit(0 if failed == 2 else 10 + failed)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def run_script(script: str, **environment: str) -> str:
    """Standard output of a fresh interpreter."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_reading_and_planning_touch_no_driver(tmp_path: Path) -> None:
    """Nor does rendering: in a process without a driver to find, none is looked for, and no process is started."""
    run_script(
        "import sys\n"
        "seen = []\n"
        "watched = ('subprocess.Popen', 'os.fork', 'os.posix_spawn', 'os.system', 'os.exec', 'ctypes.dlopen')\n"
        "sys.addaudithook(lambda event, _: seen.append(event) if event in watched else None)\n"
        "import relaunch\n"
        "from relaunch import generator\n"
        "text = '*fp32, i32, constexpr'\n"
        "for dialect in relaunch.DIALECTS[4:]:\n"
        "    relaunch.Plan(relaunch.parse(text), dialect=dialect)\n"
        "for dialect in generator.dialects()[-2:]:\n"
        "    generator.render(generator.LauncherSpec(dialect, ('*fp32', 'i32')))\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert 'libcuda' not in maps and 'libamdhip' not in maps\n"
        "assert seen == [], seen\n"
    )


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_binding_initializes_no_driver_and_starts_no_process(backend: str) -> None:
    """Found by its name through LD_LIBRARY_PATH; a child that is forked afterwards launches."""
    run_script(
        "import ctypes, os\n"
        "import relaunch\n"
        "library = ctypes.PyDLL(os.environ['DRIVER'])\n"
        "cuda = os.environ['BACKEND'] == 'cuda'\n"
        "names = ('cuInit', 'cuDeviceGetCount') if cuda else ('hipInit', 'hipGetDeviceCount')\n"
        "for name in names:\n"
        "    library.relaunch_recorder_fail(name.encode(), 0, 999)\n"
        "dialect = f\"triton-3.6-{os.environ['BACKEND']}\"\n"
        "launcher = relaunch.Launcher('i32', dialect=dialect, function=1)\n"
        "out = (ctypes.c_uint64 * 4)()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    launcher(1, 1, 1, 0, 5)\n"
        "    library.relaunch_recorder_events.restype = ctypes.c_char_p\n"
        "    os._exit(0 if library.relaunch_recorder_events().count(b'aunchKernel') == 1 else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert [getattr(library, name)(out, 0) for name in names] == [999, 999]\n",
        LD_LIBRARY_PATH=str(recorder.path(backend).parent),
        DRIVER=recorder.FILE_NAMES[backend],
        BACKEND=backend,
    )


def test_finding_the_driver_starts_no_process() -> None:
    """Nor where there is none: a process that was started would have left its peak of memory behind."""
    run_script(
        "import resource, relaunch\n"
        "for dialect in ('triton-3.6-cuda', 'triton-3.6-hip'):\n"
        "    try:\n"
        "        relaunch.Launcher('i32', dialect=dialect, function=None)\n"
        "    except relaunch.BindError as error:\n"
        "        assert 'cannot be opened' in str(error)\n"
        "assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss == 0\n",
        PATH="/nowhere",
    )
