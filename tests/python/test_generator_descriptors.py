"""The frozen Python side of released launchers, against what those did with descriptor objects (tests/golden)."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from relaunch.generator import legacy_descriptors

from relaunch import generator

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
RELEASES = ["3.4.0", "3.5.1", "3.6.0"]


class Base:
    """A tensor on a device."""

    def __init__(self, address: str) -> None:
        self.address = int(address, 16)

    def data_ptr(self) -> int:
        return self.address


def descriptor(**members: Any) -> SimpleNamespace:
    given: dict[str, Any] = {
        "base": "0x7f0000000100",
        "shape": [3, 40],
        "strides": [40, 1],
        "block": [2, 16],
        "padding": "zero",
    }
    given |= members
    return SimpleNamespace(**{**given, "base": Base(given["base"]), "block_shape": given["block"]})


def argument(source: Any) -> Any:
    if isinstance(source, dict) and "descriptor" in source:
        return descriptor(**source["descriptor"])
    return json.dumps(source)


def as_recorded(wanted: legacy_descriptors.TensorMap) -> dict[str, Any]:
    return {
        "call": "cuTensorMapEncodeTiled",
        "data_type": wanted.data_type,
        "rank": wanted.rank,
        "address": f"{wanted.address:#x}",
        "dims": list(wanted.dims),
        "strides": list(wanted.strides),
        "box": list(wanted.box),
        "element_strides": list(wanted.element_strides),
        "interleave": wanted.interleave,
        "swizzle": wanted.swizzle,
        "l2_promotion": wanted.l2_promotion,
        "oob_fill": wanted.oob_fill,
    }


def expand(case: dict[str, Any]) -> dict[str, Any]:
    """What a recorded case's launcher object does before it calls the C launcher."""
    events: list[dict[str, Any]] = []
    fail = case["call"].get("fail")
    texts = {1: "invalid argument", 700: "error 700"}

    def encode(wanted: legacy_descriptors.TensorMap) -> str:
        if fail == ["cuTensorMapEncodeTiled", len(events), fail and fail[2]]:
            events.append({"call": "cuTensorMapEncodeTiled", "args": ["failed"]})
            raise legacy_descriptors.EncodingRefusedError(texts[fail[2]])
        events.append(as_recorded(wanted))
        return "map"

    spec = generator.LauncherSpec(
        f"triton-{case['release']}-cuda", case["signature"], tensordesc_meta=case["tensordesc_meta"]
    )
    try:
        slots = generator.slots(spec)
    except AssertionError as refusal:
        return {"bind_error": {"type": "AssertionError", "text": str(refusal)}}
    try:
        values = legacy_descriptors.expand_arguments(spec, [argument(one) for one in case["call"]["args"]], encode)
    except (AssertionError, RuntimeError) as error:
        return {"slots": slots, "events": events, "error": {"type": type(error).__name__, "text": str(error)}}
    assert len(values) == sum(1 for _ in generator.expand(spec))
    passed = [value for value, entry in zip(values, generator.expand(spec), strict=True) if entry in ("i32", "i64")]
    return {"slots": slots, "events": events, "error": None, "passed": passed}


@pytest.mark.parametrize("release", RELEASES)
def test_descriptors_become_what_was_recorded(release: str) -> None:
    """The encode calls, the errors with their texts, and every size and stride that the kernel got."""
    with (GOLDEN / f"descriptors-triton-{release}-cuda.jsonl").open() as lines:
        cases = [json.loads(line) for line in lines]
    assert len(cases) == 100
    seen = set()
    for case in cases:
        got, expect = expand(case), case["expect"]
        launch = next((event for event in expect.get("events", ()) if "params" in event), None)
        seen.add(str((expect.get("error") or {}).get("type")))
        passed = got.pop("passed", None)
        if launch is not None:
            entries = generator.expand(
                generator.LauncherSpec(
                    f"triton-{release}-cuda", case["signature"], tensordesc_meta=case["tensordesc_meta"]
                )
            )
            kept = [entry for entry in entries if entry != "constexpr"]
            params = [int.from_bytes(bytes.fromhex(text or ""), "little") for text in launch["params"]]
            recorded = [value for value, entry in zip(params, kept, strict=False) if entry in ("i32", "i64")]
            assert [int(value) for value in passed] == recorded, case["id"]
            encoded = [event for event in expect["events"] if event["call"] == "cuTensorMapEncodeTiled"]
            expect = {**expect, "events": encoded}
        assert got == expect, case["id"]
    assert seen == {"None", "AssertionError", "RuntimeError"}


# CUtensorMapDataType of the CUDA driver, by the element type of metadata.
@pytest.mark.parametrize(
    ("elem_type", "data_type"),
    [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 10), (9, 8), (10, 9)],
)
def test_element_types_are_numbered_as_the_driver_does(elem_type: int, data_type: int) -> None:
    meta = {"swizzle": 3, "elem_size": 4, "elem_type": elem_type, "block_size": [2, 16], "fp4_padded": False}
    asked = []

    def encode(wanted: legacy_descriptors.TensorMap) -> None:
        asked.append(wanted.data_type)

    for release in ("3.4", "3.5", "3.6"):
        spec = generator.LauncherSpec(f"triton-{release}-cuda", ("tensordesc<fp32[2, 16]>",), tensordesc_meta=(meta,))
        legacy_descriptors.expand_arguments(spec, [descriptor()], encode)
    assert asked == [data_type] * 3


def nothing(_: legacy_descriptors.TensorMap) -> Any:
    raise AssertionError("nothing is to be encoded")


def test_pointer_and_flags_where_there_is_no_metadata() -> None:
    one = descriptor(padding="nan")
    sizes = [*one.shape, *one.strides]
    for release, flags in (("3.4", []), ("3.5", [True]), ("3.6", [True])):
        for backend in ("cuda", "hip"):
            spec = generator.LauncherSpec(f"triton-{release}-{backend}", ("i32", "tensordesc<fp16[2, 16]>"))
            values = legacy_descriptors.expand_arguments(spec, [7, one], nothing)
            assert values == [7, one.base, *sizes, *flags, *sizes]
            assert len(values) == len(generator.expand(spec))


def test_descriptors_are_found_by_their_class_to_3_4_and_by_the_signature_later() -> None:
    one = descriptor()
    for release, found in (("3.4", True), ("3.6", False)):
        spec = generator.LauncherSpec(f"triton-{release}-cuda", ("*fp32",))
        values = legacy_descriptors.expand_arguments(spec, [one], nothing)
        assert (values == [one]) is not found
    spec = generator.LauncherSpec("triton-3.4-cuda", ("tensordesc<fp16[2, 16]>",))
    assert legacy_descriptors.expand_arguments(spec, [5], nothing) == [5]
    spec = generator.LauncherSpec("triton-3.6-cuda", ("tensordesc<fp16[2, 16]>",))
    with pytest.raises(AttributeError):
        legacy_descriptors.expand_arguments(spec, [5], nothing)


def test_metadata_of_hip_is_not_recorded() -> None:
    spec = generator.LauncherSpec("triton-3.6-hip", ("tensordesc<fp16[2, 16]>",), tensordesc_meta=({},))
    with pytest.raises(
        NotImplementedError, match=r"^triton-3\.6-hip: how descriptors with metadata are made is not recorded$"
    ):
        legacy_descriptors.expand_arguments(spec, [descriptor()], nothing)
