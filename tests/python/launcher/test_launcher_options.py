"""What a Launcher is built from, and what it refuses to be built from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import relaunch

RELEASES = ("3.0", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.9")


def bind_error(bound: Any, /, *types: Any, **options: Any) -> str:
    before = bound.events()
    with pytest.raises(relaunch.BindError) as caught:
        bound.bind(*types, **options)
    assert isinstance(caught.value, ValueError)
    assert bound.events() == before
    return str(caught.value)


def type_error(bound: Any, /, **options: Any) -> str:
    with pytest.raises(TypeError) as caught:
        bound.bind("i32", **options)
    return str(caught.value)


def test_properties(driver: Any, tree: Any) -> None:
    launcher = driver.bind("*fp32", "i8", "constexpr", ("u64", "fp16"), names="x n B t")
    assert launcher.name == "add"
    assert launcher.dialect == f"triton-3.6-{driver.backend}"
    assert launcher.signature == "*fp32, i8, constexpr, (u64, fp16)"
    assert launcher.tree == tree("*fp32", "i8", "constexpr", ("u64", "fp16"), names="x n B t")
    assert launcher.slots == (8, 1, 8, 2, 8, 8)
    assert repr(launcher) == f"<Launcher add(*fp32, i8, constexpr, (u64, fp16)) for triton-3.6-{driver.backend}>"
    assert launcher.parameters[1] == {
        "name": "n",
        "type": "i8",
        "hidden": False,
        "slot_offset": 8,
        "slot_size": 1,
        "size": 1,
        "alignment": 1,
        "offset": 8,
    }
    hidden = [parameter["name"] for parameter in launcher.parameters if parameter["hidden"]]
    assert hidden == ["global_scratch", "profile_scratch"]
    assert [parameter["offset"] for parameter in launcher.parameters] == [0, 8, 16, 24, 32, 40]


def test_shared_memory_above_48_kib_is_asked_for_once(driver: Any) -> None:
    driver.bind("i32", shared=48 * 1024)
    assert driver.events() == []
    launcher = driver.bind("i32", shared=48 * 1024 + 1)
    asked = [{"call": "cuFuncSetAttribute", "args": ["f00", "8", "49153"]}] if driver.backend == "cuda" else []
    assert driver.events() == asked
    driver.forget(launcher)
    for _ in range(2):
        launcher(1, 1, 1, 0, 7)
    assert [launch["shared"] for launch in driver.events()] == [48 * 1024 + 1] * 2


def test_shared_memory_that_the_driver_refuses(cuda: Any) -> None:
    cuda.recorder.fail("cuFuncSetAttribute", 0, 1)
    with pytest.raises(relaunch.BindError) as caught:
        cuda.bind("i32", shared=300_000)
    refused = "shared=300000 of add is refused by the driver: invalid argument"
    assert str(caught.value) == f"{refused} (1 from cuFuncSetAttribute)"
    assert cuda.launches() == []


def test_nothing_can_be_changed(driver: Any) -> None:
    launcher: Any = driver.bind("i32")
    for name in ("name", "slots", "anything"):
        with pytest.raises(AttributeError):
            setattr(launcher, name, 1)
    launcher_type: Any = relaunch.Launcher
    with pytest.raises(TypeError):
        launcher_type.launch = None
    with pytest.raises(TypeError):
        type("Derived", (relaunch.Launcher,), {})


def test_signatures(driver: Any) -> None:
    assert bind_error(driver, "i32", "fp7", names="a b") == "parameter 2 'b' of (i32, fp7): unknown type 'fp7'"
    assert bind_error(driver, "fp8e5") == "parameter 1 of (fp8e5): 'fp8e5' can only be pointed to: '*fp8e5'"
    text = "triton-3.6-{} expands no descriptors inside tuples; Triton does from 3.8 on"
    text = "parameter 1 of ((tensordesc<i8[4]>,)): " + text.format(driver.backend)
    assert bind_error(driver, ("tensordesc<i8[4]>",)) == text
    foreign = "tensordesc" if driver.backend == "cuda" else "nvTmaDesc"
    text = f"parameter 1 of ({foreign}): triton-3.6-{driver.backend} has no type '{foreign}'"
    assert bind_error(driver, foreign) == text


def test_nodes_without_a_type(driver: Any) -> None:
    tree = relaunch.Tree([relaunch.PyKernelArg()])
    with pytest.raises(relaunch.BindError) as caught:
        relaunch.Launcher(tree, dialect=f"triton-3.6-{driver.backend}", driver=str(driver.recorder.path))
    assert str(caught.value) == "parameter 1 of (): it has no type"


def test_a_launch_of_very_many_parameters(driver: Any) -> None:
    launcher = driver.bind(*["i32"] * 5000)
    launcher(1, 1, 1, 0, *range(5000))
    parameters = driver.parameters()
    assert len(parameters) == 5000
    assert parameters[4999] == (4999).to_bytes(4, "little").hex()
    text = bind_error(driver, *["*i8"] * 5000)
    assert text.startswith("parameter 4096 of (*i8, *i8, ")
    assert text.endswith("it ends at byte 32768 of the kernel's parameters; the driver takes 32764")


def test_parameters_up_to_the_limit(driver: Any) -> None:
    """Two hidden pointers come behind the ints: 8186 of them make 32,760 bytes, one more makes 32,768."""
    launcher = driver.bind(*["i32"] * 8186)
    assert launcher.parameters[-1]["offset"] + 8 == 32760
    launcher(1, 1, 1, 0, *range(8186))
    assert driver.parameters() == [number.to_bytes(4, "little").hex() for number in range(8186)]
    text = bind_error(driver, *["i32"] * 8187)
    assert text.endswith("it ends at byte 32768 of the kernel's parameters; the driver takes 32764")


@pytest.mark.parametrize(("scheduling", "number"), [("spread", 1), ("load_balancing", 2)])
def test_scheduling_needs_no_cluster(cuda: Any, scheduling: str, number: int) -> None:
    cuda.bind(scheduling=scheduling)(1, 1, 1, 0)
    (launch,) = cuda.launches()
    assert launch["attributes"] == [[5, f"0{number}000000"]]


@pytest.mark.parametrize("dialect", ["3.0-cuda", "3.2-hip"])
def test_the_last_byte_of_the_limit(of: Any, dialect: str) -> None:
    """Without hidden pointers: 8191 ints end where the limit is."""
    driver = of(dialect)
    launcher = driver.bind(*["i32"] * 8191)
    assert launcher.parameters[-1]["offset"] + 4 == 32764
    text = bind_error(driver, *["i32"] * 8192)
    assert text.endswith("it ends at byte 32768 of the kernel's parameters; the driver takes 32764")


@pytest.mark.parametrize(("version", "release"), [(11080, "11.8"), (12000, "12.0")])
def test_an_old_driver_takes_fewer_parameters(cuda: Any, version: int, release: str) -> None:
    cuda.recorder.driver_version(version)
    launcher = cuda.bind(*["i32"] * 1020)
    assert launcher.parameters[-1]["offset"] + 8 == 4096
    launcher(1, 1, 1, 0, *range(1020))
    assert len(cuda.parameters()) == 1020
    for count, size in ((1021, 4104), (8186, 32760)):
        text = bind_error(cuda, *["i32"] * count)
        assert text.startswith("add(i32, i32, ")
        assert text.endswith(
            f"...) has {size} bytes of parameters; the driver, of CUDA {release}, takes 4096 (32764 since CUDA 12.1)"
        )
    cuda.recorder.driver_version(12010)
    cuda.bind(*["i32"] * 8186)


def test_no_old_limit_on_hip(hip: Any) -> None:
    hip.recorder.driver_version(5000)
    hip.bind(*["i32"] * 8186)


def test_dialects(driver: Any, tree: Any) -> None:
    path = str(driver.recorder.path)
    launcher = relaunch.Launcher(tree("i32"), dialect=f"triton-3.6.0-{driver.backend}", driver=path)
    assert launcher.dialect == f"triton-3.6-{driver.backend}"
    assert launcher.name == "kernel"
    with pytest.raises(relaunch.BindError) as caught:
        relaunch.Launcher(tree("i32"), dialect="triton-2.0-cuda")
    known = ", ".join(f"triton-{release}-{backend}" for release in RELEASES for backend in ("cuda", "hip"))
    assert str(caught.value) == f"unknown dialect 'triton-2.0-cuda'; there are {known}"
    incomplete: Any = relaunch.Launcher
    with pytest.raises(TypeError) as missing:
        incomplete(tree("i32"))
    assert str(missing.value) == "Launcher() needs dialect=, such as 'triton-3.6-cuda'"


def test_numbers(driver: Any) -> None:
    value: Any
    for name, value, text in (
        ("num_warps", 0, "num_warps must be positive, got 0"),
        ("num_ctas", -1, "num_ctas must be positive, got -1"),
        ("shared", -5, "shared must not be negative, got -5"),
        ("num_warps", 2**31, "num_warps: expected an int of 32 bits, got an int out of range"),
        ("function", -1, "function: expected a handle, an int from 0 to 2**64 - 1, got an int out of range"),
        ("cluster", (1, 2), "cluster: expected three ints (x, y, z), got 2 items"),
        ("cluster", (1, 2, 0), "cluster: every dimension must be positive, got 0"),
    ):
        assert bind_error(driver, "i32", **{name: value}) == text
    for name, value, text in (
        ("num_warps", 1.5, "num_warps: expected an int of 32 bits, got float"),
        ("name", 5, "name: expected a str, got int"),
        ("function", "0x1", "function: expected a handle, an int from 0 to 2**64 - 1, got str"),
        ("cluster", 3, "cluster: expected three ints (x, y, z), got int"),
        ("cluster", (1, 2, "3"), "cluster: expected an int of 32 bits, got str"),
        ("scheduling", 1, "scheduling: expected a str, got int"),
        ("tensordesc_meta", 3, "tensordesc_meta: expected a sequence or None, got int"),
    ):
        assert type_error(driver, **{name: value}) == text


def test_options_of_one_backend(cuda: Any, hip: Any) -> None:
    text = "scheduling: expected 'default', 'spread' or 'load_balancing', got 'fair'"
    assert bind_error(cuda, scheduling="fair") == text
    assert bind_error(cuda, warp_size=64) == "triton-3.6-cuda has warps of 32 lanes, got warp_size=64"
    cuda.bind(warp_size=32)
    for lanes in (0, -1, -(2**31)):
        assert bind_error(cuda, warp_size=lanes) == f"warp_size: expected at least 1 lane, got {lanes}"
    text = "cluster=(2, 1, 1) and num_ctas=2: only one of them can be given"
    assert bind_error(cuda, cluster=(2, 1, 1), num_ctas=2) == text
    text = "preferred_cluster needs a cluster: give cluster=(x, y, z) or num_ctas"
    assert bind_error(cuda, preferred_cluster=(2, 1, 1)) == text
    assert bind_error(hip, pdl=True) == "triton-3.6-hip has no pdl"
    assert bind_error(hip, scheduling="spread") == "triton-3.6-hip has no scheduling"
    assert bind_error(hip, preferred_cluster=(2, 1, 1), num_ctas=2) == "triton-3.6-hip has no preferred_cluster"
    assert bind_error(hip, non_portable_cluster=True) == "triton-3.6-hip has no non_portable_cluster"
    text = "triton-3.6-hip passes a null global_scratch; none can be given"
    assert bind_error(hip, global_scratch=1) == text


def test_trees(driver: Any) -> None:
    dialect = f"triton-3.6-{driver.backend}"
    build: Any = relaunch.Launcher
    for tree in (None, 3, ("i32",), relaunch.PyKernelArg(dtype="i32")):
        with pytest.raises(TypeError) as caught:
            build(tree, dialect=dialect)
        assert str(caught.value) == f"tree: expected a Tree or a str, got {type(tree).__name__}".replace(
            "PyKernelArg", "relaunch._core.PyKernelArg"
        )


def test_driver_libraries(driver: Any, tmp_path: Path) -> None:
    missing = tmp_path / "libmissing.so"
    text = (
        f"the driver library cannot be opened: {missing}: cannot open shared object file: No such file or directory"
        "; install the GPU's driver, or give the path of its library"
    )
    assert bind_error(driver, driver=str(missing)) == text
    assert bind_error(driver, driver=missing) == text
    assert bind_error(driver, driver=os.fsencode(missing)) == text
    (tmp_path / "libtext.so").write_text("not a library")
    assert bind_error(driver, driver=tmp_path / "libtext.so").startswith("the driver library cannot be opened: ")
    what, probe = ("CUDA driver", "cuCtxGetCurrent")
    if driver.backend == "hip":
        what, probe = ("HIP runtime", "hipModuleLaunchKernel")
    text = f"libm.so.6 is not the {what}: it has no {probe}; give the path of its own library"
    assert bind_error(driver, driver="libm.so.6") == text
    assert bind_error(driver, driver="") == "driver is empty: expected a path or a name"
    assert type_error(driver, driver=5).startswith("expected str, bytes or os.PathLike object")
    with pytest.raises(ValueError, match="embedded null byte"):
        driver.bind(driver="a\0b")


OLD_HIP = """
int hipModuleLaunchKernel(void) { return 0; }
"""


def test_an_old_runtime_says_what_it_lacks(hip: Any, tmp_path: Path) -> None:
    (tmp_path / "old.c").write_text(OLD_HIP)
    library = tmp_path / "libold.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "old.c"], check=True)
    hip.bind(driver=library)(1, 1, 1, 0)
    with pytest.raises(RuntimeError) as caught:
        hip.bind(driver=library, num_ctas=2)(1, 1, 1, 0)
    assert str(caught.value) == (
        f"Triton Error [HIP]: {library} has no hipDrvLaunchKernelEx, which came with ROCm 7.0: "
        "install that release or a later one (801 from hipDrvLaunchKernelEx): add(), grid (2, 1, 1), block 256, "
        "shared 0, cluster (2, 1, 1)"
    )


def test_default_library_by_name(tree: Any) -> None:
    """Without driver= the dialect's own library is opened by its name, here the recorder, loaded before."""
    script = (
        "from relaunch.differential.recorder import Recorder; import relaunch\n"
        "recorder = Recorder('cuda')\n"
        "tree = relaunch.Tree([relaunch.PyKernelArg(dtype='i8')])\n"
        "launcher = relaunch.Launcher(tree, dialect='triton-3.6-cuda', function=1)\n"
        "recorder.set_slots(launcher.slots); launcher(1, 1, 1, 0, 5)\n"
        "assert [event['params'][0] for event in recorder.events()] == ['05']\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
