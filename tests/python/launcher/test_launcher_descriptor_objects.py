"""Calls with one object for each descriptor: what it stands for, what is encoded, and in which order."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import relaunch

BASE = 0x7F0000001000
MAP = "da" * 128  # what the recording driver encodes
META = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [8, 16], "fp4_padded": False}
TYPE = "tensordesc<fp16[8, 16]>"


class Base:
    def __init__(self, address: Any = BASE) -> None:
        self.address = address

    def data_ptr(self) -> Any:
        return self.address


class Descriptor:
    """As Triton's TensorDescriptor."""

    def __init__(self, shape: Any = (40, 30), strides: Any = (32, 1), **others: Any) -> None:
        self.base = Base()
        self.shape, self.strides = shape, strides
        self.padding, self.round_f32_to_tf32 = "zero", False
        self.__dict__.update(others)


def le(number: int, size: int) -> str:
    return (number & 2 ** (8 * size) - 1).to_bytes(size, "little").hex()


def i32(*numbers: int) -> list[str]:
    return [le(number, 4) for number in numbers]


def i64(*numbers: int) -> list[str]:
    return [le(number, 8) for number in numbers]


@pytest.fixture
def bind(cuda: Any, hip: Any) -> Callable[..., relaunch.Launcher]:
    """A launcher of kernel `add` on the recording driver of the dialect's backend."""

    def made(dialect: str, *entries: Any, **options: Any) -> Any:
        driver = cuda if dialect.endswith("cuda") else hip
        driver.release = dialect.split("-")[1]
        return driver.bind(*entries, **options)

    return made


def encoded(driver: Any) -> list[dict[str, Any]]:
    return [event for event in driver.events() if event.get("call") == "cuTensorMapEncodeTiled"]


FLAGS = {
    "triton-3.4-cuda": [],
    "triton-3.5-cuda": ["01"],
    "triton-3.6-cuda": ["01"],
    "triton-3.7-cuda": ["01000000", "00000000"],
    "triton-3.9-cuda": ["01000000", "00000000"],
    "triton-3.4-hip": [],
    "triton-3.5-hip": ["01"],
    "triton-3.6-hip": ["01"],
    "triton-3.7-hip": ["01000000", "00000000"],
    "triton-3.9-hip": ["01000000", "00000000"],
}


@pytest.mark.parametrize("dialect", FLAGS)
def test_taken_apart(bind: Any, cuda: Any, hip: Any, dialect: str) -> None:
    driver = cuda if dialect.endswith("cuda") else hip
    launcher = bind(dialect, "i8", TYPE, "i32")
    launcher(1, 1, 1, 0, 7, Descriptor(padding="nan"), 9)
    (launch,) = driver.launches()
    apart = [le(BASE, 8), *i64(40, 30, 32, 1), *FLAGS[dialect], *i32(40, 30), *i64(32, 1)]
    assert launch["params"][: len(apart) + 2] == ["07", *apart, *i32(9)]
    assert encoded(driver) == []


def test_the_expanded_values_do_too(bind: Any, cuda: Any) -> None:
    launcher = bind("triton-3.7-cuda", TYPE)
    launcher(1, 1, 1, 0, Base(), 40, 30, 32, 1, False, True, 40, 30, 32, 1)
    launcher(1, 1, 1, 0, Descriptor(round_f32_to_tf32=True))
    first, second = cuda.launches()
    assert first == second


@pytest.mark.parametrize(
    "dialect", ["triton-3.4-cuda", "triton-3.5-cuda", "triton-3.6-cuda", "triton-3.7-cuda", "triton-3.9-cuda"]
)
def test_encoded(bind: Any, cuda: Any, dialect: str) -> None:
    launcher = bind(dialect, TYPE, "i8", tensordesc_meta=[META])
    launcher(1, 1, 1, 0, Descriptor(padding="nan"), 7)
    assert encoded(cuda) == [
        {
            "call": "cuTensorMapEncodeTiled",
            "data_type": 6,
            "rank": 2,
            "address": hex(BASE),
            "dims": [30, 40],
            "strides": [64],
            "box": [16, 8],
            "element_strides": [1, 1],
            "interleave": 0,
            "swizzle": 3,
            "l2_promotion": 2,
            "oob_fill": 0 if dialect == "triton-3.4-cuda" else 1,
        }
    ]
    assert cuda.launches()[0]["params"][:6] == [MAP, *i32(40, 30), *i64(32, 1), "07"]


PASSED = {"3.4": 30, "3.5": 60, "3.6": 60, "3.7": 30, "3.9": 30}


@pytest.mark.parametrize("release", PASSED)
def test_padded_fp4(bind: Any, cuda: Any, release: str) -> None:
    meta = {**META, "elem_size": 1, "elem_type": 0, "fp4_padded": True}
    bind(f"triton-{release}-cuda", "tensordesc<u8[8, 16]>", tensordesc_meta=[meta])(1, 1, 1, 0, Descriptor())
    (call,) = encoded(cuda)
    assert (call["dims"], call["strides"]) == ([60, 40], [32])
    assert cuda.launches()[0]["params"][1:3] == i32(40, PASSED[release])


@pytest.mark.parametrize(
    ("elem_type", "rounds", "data_type"), [(7, True, 11), (7, False, 7), (6, True, 6), (10, True, 9)]
)
def test_rounding_to_tf32(bind: Any, cuda: Any, elem_type: int, rounds: bool, data_type: int) -> None:
    meta = {**META, "elem_type": elem_type}
    for release in ("3.7", "3.9"):
        launcher = bind(f"triton-{release}-cuda", TYPE, tensordesc_meta=[meta])
        launcher(1, 1, 1, 0, Descriptor(round_f32_to_tf32=rounds))
    bind("triton-3.6-cuda", TYPE, tensordesc_meta=[meta])(1, 1, 1, 0, Descriptor(round_f32_to_tf32=rounds))
    before = {7: 7, 6: 6, 10: 9}[elem_type]
    assert [call["data_type"] for call in encoded(cuda)] == [data_type, data_type, before]


def test_members_that_a_release_does_not_know_are_not_read(bind: Any, cuda: Any) -> None:
    plain = Descriptor()
    del plain.padding, plain.round_f32_to_tf32
    bind("triton-3.4-cuda", TYPE, tensordesc_meta=[META])(1, 1, 1, 0, plain)
    bind("triton-3.4-cuda", TYPE)(1, 1, 1, 0, plain)
    plain.padding = "zero"
    bind("triton-3.6-cuda", TYPE, tensordesc_meta=[META])(1, 1, 1, 0, plain)
    assert len(cuda.launches()) == 3
    launcher = bind("triton-3.7-cuda", TYPE, tensordesc_meta=[META])
    with pytest.raises(AttributeError, match="'round_f32_to_tf32'"):
        launcher(1, 1, 1, 0, plain)


def test_metadata_for_some(bind: Any, cuda: Any) -> None:
    """To 3.7 each descriptor has metadata of its own or none."""
    launcher = bind("triton-3.6-cuda", "tensordesc<fp16[4]>", TYPE, tensordesc_meta=[None, META])
    launcher(1, 1, 1, 0, Descriptor([9], [1]), Descriptor())
    flat = [le(BASE, 8), *i64(9, 1), "00", *i32(9), *i64(1)]
    assert cuda.parameters() == [*flat, MAP, *i32(40, 30), *i64(32, 1)]
    # From 3.8 on all or none; what has none cannot be encoded.
    launcher = bind("triton-3.9-cuda", "tensordesc<fp16[4]>", TYPE, tensordesc_meta=[None, META])
    assert launcher.slots[:3] == (128, 4, 8)
    with pytest.raises(KeyError, match="its metadata has no 'swizzle'"):
        launcher(1, 1, 1, 0, Descriptor([9], [1]), Descriptor())


def test_any_iterable_of_sizes(bind: Any, cuda: Any) -> None:
    launcher = bind("triton-3.6-cuda", TYPE, tensordesc_meta=[META])

    class Size(tuple[int, ...]):
        """As torch.Size."""

    for shape in ([40, 30], Size((40, 30)), iter((40, 30)), {40: 0, 30: 0}, range(40, 29, -10)):
        launcher(1, 1, 1, 0, Descriptor(shape, [32, 1]))
    assert [launch["params"] for launch in cuda.launches()] == [cuda.launches()[0]["params"]] * 5


def test_descriptors_inside_tuples(bind: Any, cuda: Any) -> None:
    launcher = bind(
        "triton-3.9-cuda", "i8", ("i16", ["tensordesc<fp16[4]>", "i16"]), tensordesc_meta=[{**META, "block_size": [4]}]
    )
    d = Descriptor([9], [1])
    for value in ((3, (d, 4)), [3, [d, 4]]):
        launcher(1, 1, 1, 0, 7, value)
    launcher(1, 1, 1, 0, 7, (3, (relaunch.TensorMap(bytes.fromhex(MAP)), 9, 1, 4)))
    launches = cuda.launches()
    assert launches[0]["params"][:6] == ["07", "0300", MAP, *i32(9), *i64(1), "0400"]
    assert launches[1:] == launches[:1] * 2
    assert len(encoded(cuda)) == 2


def test_descriptors_at_both_places(bind: Any, cuda: Any) -> None:
    launcher = bind("triton-3.9-hip", ("tensordesc<fp16[4]>",), "tensordesc<fp16[4]>")
    d = Descriptor([9], [1])
    with pytest.raises(TypeError, match=r"takes 8 arguments .* \(2 with descriptor objects\), got 1"):
        launcher(1, 1, 1, 0, d)
    launcher = bind("triton-3.9-cuda", ("tensordesc<fp16[4]>",), "tensordesc<fp16[4]>")
    launcher(1, 1, 1, 0, iter([d]), d)
    (launch,) = cuda.launches()
    assert launch["params"][:7] == launch["params"][7:14]


def test_tuples_of_another_length(bind: Any, cuda: Any, refused: Any) -> None:
    launcher = bind("triton-3.9-cuda", ("tensordesc<fp16[4]>", "i8"), "tensordesc<fp16[4]>")
    d = Descriptor([9], [1])
    text = (
        "descriptor 1 of add((tensordesc<fp16[4]>, i8), tensordesc<fp16[4]>): expected a "
        "sequence of 2 items for its tuple, got one of 3"
    )
    refused(cuda, lambda: launcher(1, 1, 1, 0, (d, 1, 2), d), TypeError, text)
    # All descriptors inside tuples: what is neither form is a call of expanded values.
    launcher = bind("triton-3.9-cuda", ("tensordesc<fp16[4]>", "i8"))
    for value in ((d, 1, 2), 5, ()):
        with pytest.raises(TypeError):
            launcher(1, 1, 1, 0, value)
    assert cuda.launches() == []


def test_encoding_comes_before_everything(bind: Any, cuda: Any) -> None:
    launcher = bind("triton-3.6-cuda", TYPE, "i8", tensordesc_meta=[META])
    cuda.recorder.no_context()
    with pytest.raises(OverflowError):
        launcher(1, 1, 1, 0, Descriptor(), 1000)
    calls = [event["call"] for event in cuda.events()]
    assert calls == ["cuTensorMapEncodeTiled", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"]
    hooks: list[str] = []

    def hook(_: Any) -> None:
        hooks.append(f"hook after {len(encoded(cuda))}")

    launcher.launch(1, 1, 1, 0, 0xF00, (4, 1, 0), None, hook, hook, Descriptor(), 1)
    assert hooks == ["hook after 2"] * 2
    with pytest.raises(TypeError):
        launcher.launch("x", 1, 1, 0, 0xF00, (4, 1, 0), None, hook, hook, Descriptor(), 1)
    assert len(encoded(cuda)) == 3


def test_a_wrong_number_names_both_forms(bind: Any, cuda: Any, refused: Any) -> None:
    launcher = bind("triton-3.6-cuda", TYPE, "i8")
    text = f"add({TYPE}, i8) takes 11 arguments behind the grid and the stream (2 with descriptor objects), got 3"
    refused(cuda, lambda: launcher(1, 1, 1, 0, Descriptor(), 1, 2), TypeError, text)
    text = f"add({TYPE}, i8) takes no keyword arguments"
    call: Any = launcher
    refused(cuda, lambda: call(1, 1, 1, 0, Descriptor(), n=1), TypeError, text)


def test_a_launcher_without_a_function(bind: Any, cuda: Any) -> None:
    for entries in ((TYPE,), ((TYPE,),)):
        launcher = bind("triton-3.9-cuda", *entries, function=None)
        with pytest.raises(TypeError, match="was bound without a function"):
            launcher(1, 1, 1, 0, Descriptor())
    assert cuda.events() == []


def test_the_driver_refuses(bind: Any, cuda: Any, refused: Any) -> None:
    launcher = bind("triton-3.6-cuda", TYPE, TYPE, tensordesc_meta=[META, META], names="a b")
    cuda.recorder.fail("cuTensorMapEncodeTiled", 1, 1)
    text = (
        "Triton Error [CUDA]: invalid argument (1 from cuTensorMapEncodeTiled): descriptor 2 'b' of "
        f"add({TYPE}, {TYPE}): data type 6, address 0x7f0000001000, dims (30, 40), strides (64), box (16, 8), "
        "swizzle 3, fill 0"
    )
    refused(cuda, lambda: launcher(1, 1, 1, 0, Descriptor(), Descriptor()), RuntimeError, text)
    assert len(cuda.events()) == 2


def raises(kind: type[BaseException]) -> Any:
    class Raises:
        def fail(self, *_: Any) -> Any:
            raise kind("mine")

        __iter__ = __eq__ = data_ptr = fail  # type: ignore[assignment]

    return Raises()


class Endless:
    def __iter__(self) -> Iterator[int]:
        while True:
            yield 1


class ByProperty(Descriptor):
    @property
    def strides(self) -> Any:
        raise LookupError("mine")

    @strides.setter
    def strides(self, _: Any) -> None: ...


HERE = f"descriptor 1 'd' of add({TYPE}): "
FAULTS: list[tuple[Any, type[BaseException], str]] = [
    (object(), AttributeError, "'object' object has no attribute 'shape'"),
    (None, AttributeError, "'NoneType' object has no attribute 'shape'"),
    (ByProperty(), LookupError, "mine"),
    (Descriptor(strides=(32, 2)), AssertionError, HERE + "expected a last stride of 1, got 2"),
    (Descriptor(strides=(32, "1")), AssertionError, HERE + "expected a last stride of 1, got str"),
    (Descriptor((40,)), TypeError, HERE + "expected 2 entries in its shape, got 1"),
    (Descriptor((40, 30, 20)), TypeError, HERE + "expected 2 entries in its shape, got more"),
    (Descriptor(Endless()), TypeError, HERE + "expected 2 entries in its shape, got more"),
    (Descriptor(strides=()), TypeError, HERE + "expected 2 entries in its strides, got 0"),
    (Descriptor(5), TypeError, "'int' object is not iterable"),
    (Descriptor(None), TypeError, "'NoneType' object is not iterable"),
    (Descriptor(raises(LookupError)), LookupError, "mine"),
    (Descriptor(strides=(1, raises(LookupError))), LookupError, "mine"),
    (Descriptor((40, 30.0)), TypeError, HERE + "expected ints in its shape, got 30.0"),
    (Descriptor(strides=(32, 1.0)), TypeError, HERE + "expected ints in its strides, got 1.0"),
    (Descriptor(strides=(2**63, 1)), OverflowError, HERE + f"expected ints of 64 bits in its strides, got {2**63}"),
    (Descriptor((-(2**70), 1)), OverflowError, HERE + f"expected ints of 64 bits in its shape, got {-(2**70)}"),
    (Descriptor(padding=raises(LookupError)), LookupError, "mine"),
    (Descriptor(base=None), AttributeError, "'NoneType' object has no attribute 'data_ptr'"),
    (Descriptor(base=raises(LookupError)), LookupError, "mine"),
    (Descriptor(base=Base("x")), TypeError, HERE + "expected data_ptr() of its base to return an int"),
]


@pytest.mark.parametrize(("value", "kind", "text"), FAULTS, ids=range(len(FAULTS)))
def test_objects_that_cannot_be_encoded(
    bind: Any, cuda: Any, refused: Any, value: Any, kind: type[BaseException], text: str
) -> None:
    launcher = bind("triton-3.6-cuda", TYPE, tensordesc_meta=[META], names="d")
    refused(cuda, lambda: launcher(1, 1, 1, 0, value), kind, text)
    assert cuda.events() == []


def test_objects_that_cannot_be_taken_apart(bind: Any, cuda: Any, refused: Any) -> None:
    launcher = bind("triton-3.6-cuda", TYPE, names="d")
    for value, kind, text in (
        (object(), AttributeError, "'object' object has no attribute 'base'"),
        (Descriptor((1,)), TypeError, HERE + "expected 2 entries in its shape, got 1"),
        (Descriptor(strides=(1,) * 3), TypeError, HERE + "expected 2 entries in its strides, got more"),
        (Descriptor(padding=raises(LookupError)), LookupError, "mine"),
        (ByProperty(), LookupError, "mine"),
    ):
        refused(cuda, lambda value=value: launcher(1, 1, 1, 0, value), kind, text)
    assert cuda.events() == []
    # Sizes are scalars of the launch like any others.
    text = f"argument 2 'd' of add({TYPE}): expected an int for i64, got str"
    refused(cuda, lambda: launcher(1, 1, 1, 0, Descriptor(("x", 1))), TypeError, text)
    text = f"argument 7 'd' of add({TYPE}): expected an int that fits i32, got 4294967296"
    refused(cuda, lambda: launcher(1, 1, 1, 0, Descriptor((2**32, 1))), OverflowError, text)
    launcher(1, 1, 1, 0, Descriptor(strides=(5, 3)))  # any last stride


def test_a_size_that_changes_between_reads(bind: Any, cuda: Any) -> None:
    """It is read once: what is encoded and what is passed agree."""

    class Changing(Descriptor):
        reads = 0

        @property
        def shape(self) -> Any:
            self.reads += 1
            return [10 * self.reads, 30]

        @shape.setter
        def shape(self, _: Any) -> None: ...

    value = Changing()
    bind("triton-3.6-cuda", TYPE, tensordesc_meta=[META])(1, 1, 1, 0, value)
    assert encoded(cuda)[0]["dims"] == [30, 10]
    assert cuda.parameters()[1:3] == i32(10, 30)
    bind("triton-3.6-cuda", TYPE)(1, 1, 1, 0, value)
    assert cuda.launches()[1]["params"][1] == cuda.launches()[1]["params"][6] + "00000000" == le(20, 8)
    assert value.reads == 2


def test_lists_that_are_emptied_while_they_are_read(bind: Any, cuda: Any) -> None:
    strides: list[Any] = [32, 1]
    values: list[Any] = []

    class Emptying(int):
        def __eq__(self, other: object) -> bool:
            strides.clear()
            values.clear()
            return True

        __hash__ = int.__hash__

    strides[1] = Emptying(1)
    bind("triton-3.6-cuda", TYPE, tensordesc_meta=[META])(1, 1, 1, 0, Descriptor(strides=strides))
    assert cuda.parameters() == [MAP, *i32(40, 30), *i64(32, 1)]
    strides[:] = [Emptying(1)]
    values[:] = [Descriptor([9], strides), 5]
    meta = {**META, "block_size": [4]}
    bind("triton-3.9-cuda", ("tensordesc<fp16[4]>", "i8"), tensordesc_meta=[meta])(1, 1, 1, 0, values)
    assert cuda.launches()[1]["params"][:4] == [MAP, *i32(9), *i64(1), "05"]


def test_huge_and_negative_numbers(bind: Any, cuda: Any) -> None:
    """What the released code hands to the driver, the driver judges."""
    launcher = bind("triton-3.6-cuda", TYPE, tensordesc_meta=[META])
    launcher(1, 1, 1, 0, Descriptor((-1, 2**31 - 1), (-(2**63), True), base=Base(-1)))
    (call,) = encoded(cuda)
    assert call["dims"] == [2**31 - 1, 2**64 - 1]
    assert call["strides"] == [0]  # -2**63 * 2, modulo 2**64
    assert call["address"] == "0xffffffffffffffff"


def test_hip_makes_no_tdm_descriptors(bind: Any, hip: Any, refused: Any) -> None:
    for release in ("3.6", "3.7", "3.9"):
        launcher = bind(f"triton-{release}-hip", TYPE, tensordesc_meta=[{"block_size": [8, 16]}], names="d")
        text = (
            HERE + "TDM descriptors are made by Triton's create_tdm_descriptor alone; pass the descriptor itself, its "
            "shape and its strides"
        )
        refused(hip, lambda launcher=launcher: launcher(1, 1, 1, 0, Descriptor()), NotImplementedError, text)


def test_im2col(bind: Any, cuda: Any, refused: Any) -> None:
    signature = "tensordesc_im2col<fp16[8, 16],input_rank=3>"
    launcher = bind("triton-3.9-cuda", signature, tensordesc_meta=[{**META, "is_im2col": True}], names="d")
    launcher(1, 1, 1, 0, relaunch.TensorMap(bytes(128)), 1, 2, 3, 4, 5, 6)
    assert cuda.parameters() == ["00" * 128, *i32(1, 2, 3), *i64(4, 5, 6)]
    cuda.forget(launcher)
    text = (
        f"descriptor 1 'd' of add({signature}): im2col tensor maps are not encoded here; pass the descriptor itself, "
        "its shape and its strides"
    )
    refused(cuda, lambda: launcher(1, 1, 1, 0, Descriptor()), NotImplementedError, text)
    bind("triton-3.9-cuda", signature)(1, 1, 1, 0, Descriptor((1, 2, 3), (4, 5, 6)))
    assert cuda.parameters()[1:7] == i64(1, 2, 3, 4, 5, 6)


def test_metadata_that_says_too_little(bind: Any, cuda: Any) -> None:
    for key in META:
        launcher = bind(
            "triton-3.6-cuda", TYPE, tensordesc_meta=[{k: v for k, v in META.items() if k != key}], names="d"
        )
        with pytest.raises(KeyError) as caught:
            launcher(1, 1, 1, 0, Descriptor())
        text = (
            f"its metadata has no '{key}', so no tensor map can be encoded; pass the descriptor itself, its shape and "
        )
        text += "its strides"
        assert caught.value.args == (HERE + text,)
        launcher(1, 1, 1, 0, relaunch.TensorMap(), 40, 30, 32, 1)


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"swizzle": "3"}, TypeError, "['swizzle']: expected an int from 0 to 2**32 - 1, got str"),
        (
            {"swizzle": -1},
            relaunch.BindError,
            "['swizzle']: expected an int from 0 to 2**32 - 1, got an int out of range",
        ),
        (
            {"elem_size": 2**32},
            relaunch.BindError,
            "['elem_size']: expected an int from 0 to 2**32 - 1, got 4294967296",
        ),
        ({"elem_type": 16}, relaunch.BindError, "['elem_type']: expected 0 to 15, got 16"),
        ({"block_size": []}, relaunch.BindError, "['block_size']: expected 1 to 5 sizes, got 0"),
        ({"block_size": [1] * 6}, relaunch.BindError, "['block_size']: expected 1 to 5 sizes, got 6"),
        ({"block_size": [8]}, relaunch.BindError, "['block_size']: expected 2 sizes as the descriptor has, got 1"),
        ({"block_size": [8, "16"]}, TypeError, "['block_size']: expected a sequence of ints, got str"),
        (
            {"block_size": [8, 2**32]},
            relaunch.BindError,
            "['block_size']: expected ints from 0 to 4294967295, got 4294967296",
        ),
        ({"block_size": 8}, TypeError, "['block_size']: expected a sequence of ints, got int"),
        ({"block_size": None}, TypeError, "['block_size']: expected a sequence of ints, got NoneType"),
    ],
)
def test_metadata_of_another_kind(bind: Any, change: Any, kind: type[BaseException], text: str) -> None:
    with pytest.raises(kind) as caught:
        bind("triton-3.6-cuda", TYPE, tensordesc_meta=[{**META, **change}])
    assert type(caught.value) is kind
    assert str(caught.value) == "tensordesc_meta[0]" + text
    bind("triton-3.6-hip", TYPE, tensordesc_meta=[{**META, **change}])


def test_metadata_that_is_no_mapping(bind: Any) -> None:
    for value in (1, [1], "x", object()):
        with pytest.raises(TypeError) as caught:
            bind("triton-3.6-cuda", TYPE, tensordesc_meta=[value])
        got = type(value).__name__
        assert str(caught.value) == f"tensordesc_meta[0]: expected a dict or None, got {got}"

    bind("triton-3.6-cuda", TYPE, tensordesc_meta=(types.MappingProxyType(META),))

    class Raises(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        bind("triton-3.6-cuda", TYPE, tensordesc_meta=[Raises()])


@pytest.mark.parametrize("dialect", ["triton-3.0-cuda", "triton-3.3-cuda", "triton-3.3-hip", "triton-3.5-hip"])
def test_dialects_without_metadata(bind: Any, dialect: str) -> None:
    with pytest.raises(relaunch.BindError) as caught:
        bind(dialect, "i32", tensordesc_meta=[META])
    assert str(caught.value) == f"{dialect} takes no tensordesc_meta"
    bind(dialect, "i32", tensordesc_meta=[])


def test_objects_from_several_threads(bind: Any, cuda: Any) -> None:
    launcher = bind("triton-3.7-cuda", TYPE, ("i8",), tensordesc_meta=[META])
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(200):
                launcher(1, 1, 1, number, Descriptor((number, turn)), (number,))
        except BaseException as error:  # noqa: BLE001 - shown by the assertion
            failures.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert failures == []
    seen = [(int(launch["stream"], 16), *launch["params"][1:3], launch["params"][5]) for launch in cuda.launches()]
    expected = [(number, *i32(number, turn), le(number, 1)) for number in range(1, 7) for turn in range(200)]
    assert sorted(seen) == sorted(expected)
