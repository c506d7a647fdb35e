"""Descriptors: tensor maps and TDM descriptors by value, and descriptors taken apart."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest
from relaunch.differential import _native

import relaunch

BYTES = bytes(range(128))


@pytest.fixture
def triton(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for Triton's driver modules, with descriptor classes of the released layout."""
    for vendor, name in (("nvidia", "PyCUtensorMap"), ("amd", "PyTDMDescriptor")):
        module = types.ModuleType(f"triton.backends.{vendor}.driver")
        setattr(module, name, getattr(_native, name))
        monkeypatch.setitem(sys.modules, module.__name__, module)


def test_tensor_maps() -> None:
    made = relaunch.TensorMap(BYTES)
    assert bytes(made) == BYTES
    assert made.address % 128 == 0
    memoryview(made)[0] = 7
    assert bytes(made)[:2] == b"\x07\x01"
    assert bytes(relaunch.TensorMap()) == bytes(128)
    assert bytes(relaunch.TensorMap(bytearray(BYTES))) == BYTES
    assert bytes(relaunch.TensorMap(source=made)) == bytes(made)


def test_what_is_no_tensor_map() -> None:
    make: Any = relaunch.TensorMap
    with pytest.raises(ValueError, match=r"^a tensor map has 128 bytes, got 127$"):
        make(BYTES[:127])
    for source in ("x" * 128, 5, [1] * 128):
        with pytest.raises(TypeError, match="a bytes-like object is required"):
            make(source)
    with pytest.raises(BufferError):
        make(memoryview(bytes(256))[::2])


def test_tensor_maps_are_passed_by_value(cuda: Any, triton: None) -> None:
    launcher = cuda.bind("i8", "nvTmaDesc", "nvTmaDesc")
    assert [one["offset"] for one in launcher.parameters] == [0, 64, 192, 320, 328]
    launcher(1, 1, 1, 0, 1, relaunch.TensorMap(BYTES), _native.PyCUtensorMap(BYTES[::-1]))
    assert cuda.parameters() == ["01", BYTES.hex(), BYTES[::-1].hex()]


def test_ctypes_can_fill_a_map(cuda: Any) -> None:
    import ctypes

    made = relaunch.TensorMap()
    ctypes.memmove(made.address, BYTES, 128)
    cuda.bind("nvTmaDesc")(1, 1, 1, 0, made)
    assert cuda.parameters() == [BYTES.hex()]


PLACE = "argument 1 'd' of add(nvTmaDesc): expected relaunch.TensorMap or Triton's PyCUtensorMap, got "


@pytest.mark.parametrize(("value", "got"), [(None, "NoneType"), (5, "int"), (BYTES, "bytes"), (object(), "object")])
def test_other_objects_are_no_maps(cuda: Any, refused: Any, triton: None, value: Any, got: str) -> None:
    launcher = cuda.bind("nvTmaDesc", names="d")
    refused(cuda, lambda: launcher(1, 1, 1, 0, value), TypeError, PLACE + got)


def test_tritons_map_needs_its_module(cuda: Any, refused: Any) -> None:
    launcher = cuda.bind("nvTmaDesc", names="d")
    text = PLACE + "triton.backends.nvidia.PyCUtensorMap (Triton's driver was not loaded when the launcher was built)"
    refused(cuda, lambda: launcher(1, 1, 1, 0, _native.PyCUtensorMap(BYTES)), TypeError, text)


@pytest.mark.parametrize("stand_in", [None, 5, object, int])
def test_odd_modules_are_ignored(cuda: Any, monkeypatch: pytest.MonkeyPatch, stand_in: Any) -> None:
    module = types.ModuleType("triton.backends.nvidia.driver")
    setattr(module, "PyCUtensorMap", stand_in)  # noqa: B010 - mypy knows no such attribute
    monkeypatch.setitem(sys.modules, module.__name__, module)
    launcher = cuda.bind("nvTmaDesc")
    with pytest.raises(TypeError):
        launcher(1, 1, 1, 0, object())
    assert cuda.events() == []


def test_maps_follow_all_pointers(cuda: Any, refused: Any, tensor: Any) -> None:
    launcher = cuda.bind("nvTmaDesc", "*i8", "fp16")
    with pytest.raises(TypeError, match=r"expected relaunch\.TensorMap"):
        launcher(1, 1, 1, 0, None, tensor(0x1000, cuda.recorder), 1e9)
    assert [event.get("call") for event in cuda.events()] == [None, "cuPointerGetAttribute"]


def test_tdm_descriptors(hip: Any, refused: Any, triton: None) -> None:
    launcher = hip.bind("tensordesc<fp16[8, 8]>", "i8", tensordesc_meta=[{}], names="d n")
    assert launcher.slots == (48, 4, 4, 8, 8, 1, 8, 8)
    launcher(1, 1, 1, 0, _native.PyTDMDescriptor(BYTES[:48]), 1, 2, 3, 4, 5)
    assert hip.parameters() == [
        BYTES[:48].hex(),
        "01000000",
        "02000000",
        "0300000000000000",
        "0400000000000000",
        "05",
    ]
    hip.forget(launcher)
    text = "argument 1 'd' of add(tensordesc<fp16[8, 8]>, i8): expected Triton's PyTDMDescriptor, got NoneType"
    refused(hip, lambda: launcher(1, 1, 1, 0, None, 1, 2, 3, 4, 5), TypeError, text)


@pytest.mark.parametrize(("release", "size"), [("3.6", 48), ("3.7", 80), ("3.9", 80)])
def test_tdm_descriptors_of_each_release(hip: Any, refused: Any, triton: None, release: str, size: int) -> None:
    hip.release = release
    launcher = hip.bind("tensordesc", "i8", names="d n")
    assert launcher.slots == (size, 1, 8, 8)
    launcher(1, 1, 1, 0, _native.PyTDMDescriptor(BYTES[:size]), 7)
    assert hip.parameters() == [BYTES[:size].hex(), "07"]
    for value in (None, 5, object(), _native.PyCUtensorMap(BYTES), relaunch.TensorMap(BYTES)):
        text = "argument 1 'd' of add(tensordesc, i8): expected Triton's PyTDMDescriptor, got "
        refused(hip, lambda value=value: launcher(1, 1, 1, 0, value, 7), TypeError, text + name_of(value))


def name_of(value: Any) -> str:
    kind = type(value)
    known = {_native.PyCUtensorMap: "triton.backends.nvidia.PyCUtensorMap", relaunch.TensorMap: "relaunch.TensorMap"}
    return known.get(kind, kind.__name__)


def test_hip_takes_in_descriptors_before_pointers(hip: Any, tensor: Any, triton: None) -> None:
    launcher = hip.bind("*i8", "tensordesc<fp16[8]>", tensordesc_meta=[{}])
    with pytest.raises(TypeError, match="PyTDMDescriptor"):
        launcher(1, 1, 1, 0, tensor(0x1000, hip.recorder), object(), 1, 2)
    assert hip.events() == []


def test_descriptors_taken_apart(driver: Any, tensor: Any) -> None:
    launcher = driver.bind("tensordesc<fp32[128]>", "i8")
    assert launcher.slots == (8, 8, 8, 1, 4, 8, 1, 8, 8)
    launcher(1, 1, 1, 0, tensor(0x1000), 1, 2, True, 3, 4, 5)
    assert driver.parameters() == [
        "0010000000000000",
        "0100000000000000",
        "0200000000000000",
        "01",
        "03000000",
        "0400000000000000",
        "05",
    ]


def test_an_empty_meta_is_no_meta(cuda: Any) -> None:
    assert cuda.bind("tensordesc<fp32[128]>", tensordesc_meta=[]).slots == (8, 8, 8, 1, 4, 8, 8, 8)
    assert cuda.bind("tensordesc<fp32[128]>", tensordesc_meta=({},)).slots == (128, 4, 8, 8, 8)


def test_metadata_of_another_number(driver: Any, tree: Any) -> None:
    """AssertionError, as released launchers have it."""
    for entries, metas, text in (
        (["i32"], [{}], "1 entries for the 0 descriptors of (i32)"),
        (["tensordesc<i8[4]>"], [{}, None], "2 entries for the 1 descriptors of (tensordesc<i8[4]>)"),
    ):
        with pytest.raises(AssertionError) as caught:
            relaunch.Launcher(tree(*entries), dialect=f"triton-3.6-{driver.backend}", tensordesc_meta=metas)
        assert str(caught.value) == f"tensordesc_meta has {text}"
