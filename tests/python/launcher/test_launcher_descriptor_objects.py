"""Calls with one object for each descriptor: what it stands for, what is encoded, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

import relaunch

BASE = 0x7F0000001000
MAP = "da" * 128  # what the recording driver encodes
META = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [8, 16], "fp4_padded": False}
TYPE = "tensordesc<fp16[8, 16]>"


class Base:
    """A tensor on the device."""

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
    return (number & (1 << 8 * size) - 1).to_bytes(size, "little").hex()


def i32(*numbers: int) -> list[str]:
    return [le(number, 4) for number in numbers]


def i64(*numbers: int) -> list[str]:
    return [le(number, 8) for number in numbers]


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


@pytest.mark.parametrize("dialect", ["triton-3.0-cuda", "triton-3.3-cuda", "triton-3.3-hip", "triton-3.5-hip"])
def test_dialects_without_metadata(bind: Any, dialect: str) -> None:
    with pytest.raises(relaunch.BindError) as caught:
        bind(dialect, "i32", tensordesc_meta=[META])
    assert str(caught.value) == f"{dialect} takes no tensordesc_meta"
    bind(dialect, "i32", tensordesc_meta=[])


@pytest.mark.threads
def test_objects_from_several_threads(bind: Any, cuda: Any, in_threads: Any) -> None:
    launcher = bind("triton-3.7-cuda", TYPE, ("i8",), tensordesc_meta=[META])

    def work(number: int) -> None:
        for turn in range(200):
            launcher(1, 1, 1, number, Descriptor((number, turn)), (number,))

    in_threads(6, work)
    seen = [(int(launch["stream"], 16), *launch["params"][1:3], launch["params"][5]) for launch in cuda.launches()]
    expected = [(number, *i32(number, turn), le(number, 1)) for number in range(1, 7) for turn in range(200)]
    assert sorted(seen) == sorted(expected)
