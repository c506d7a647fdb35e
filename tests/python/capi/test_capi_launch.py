"""The C interface against relaunch.Launcher: equal plans, and equal records for equal values."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from relaunch.differential.recorder import Recorder

import relaunch

pytestmark = pytest.mark.xdist_group("capi")

HANDLE = 0xF00
STREAM = 0x55D000001000
DIALECTS = {"cuda": "triton-3.6-cuda", "hip": "triton-3.6-hip"}
# Type -> a value as Python passes it, and its bytes.
VALUES: dict[str, tuple[Any, bytes]] = {
    "*fp32": (0x7F0000001000, struct.pack("<Q", 0x7F0000001000)),
    "*i8": (None, bytes(8)),
    "i1": (True, b"\1"),
    "i8": (-7, struct.pack("<b", -7)),
    "u8": (250, b"\xfa"),
    "i16": (-300, struct.pack("<h", -300)),
    "u16": (65535, b"\xff\xff"),
    "i32": (-(2**31), struct.pack("<i", -(2**31))),
    "u32": (2**32 - 1, b"\xff" * 4),
    "i64": (-1, b"\xff" * 8),
    "u64": (2**64 - 1, b"\xff" * 8),
    "fp16": (1.5, struct.pack("<e", 1.5)),
    "bf16": (1.5, struct.pack("<f", 1.5)[2:]),
    "fp32": (0.1, struct.pack("<f", 0.1)),
    "fp64": (0.1, struct.pack("<d", 0.1)),
    "constexpr": (None, b""),
}
EVERY = tuple(VALUES)
SIGNATURES: dict[str, tuple[Any, ...]] = {
    **{kind: (kind,) for kind in EVERY},
    "none": (),
    "every": EVERY,
    "backwards": EVERY[::-1],
    "tuples": ("i8", ("fp64", (), ("i1", "constexpr")), ("*fp32",), "i8"),
    "sixty-four": ("i32",) * 64,
    "sixty-five": ("i32", "i8", "fp64", "i1", "*fp32") * 13,
    "three hundred": EVERY * 20,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "warps": {"num_warps": 8, "shared": 4096},
    "pdl": {"pdl": True, "cooperative": True},
    "clusters": {"num_ctas": 2, "preferred_cluster": (4, 1, 1)},
    "widest": {"num_ctas": 16},
    "cluster": {"cluster": (2, 2, 1), "scheduling": "load_balancing", "non_portable_cluster": True},
}


def text_of(entries: tuple[Any, ...]) -> str:
    if not entries:
        return "{}"
    return ", ".join(entry if isinstance(entry, str) else nested(entry) for entry in entries)


def nested(entries: tuple[Any, ...]) -> str:
    return f"({text_of(entries) if entries else ''}{',' if len(entries) == 1 else ''})"


def arguments(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """What Python passes."""
    return tuple(VALUES[entry][0] if isinstance(entry, str) else arguments(entry) for entry in entries)


def flat(entries: tuple[Any, ...]) -> list[bytes]:
    """What C passes: the bytes of every parameter, constexpr left out."""
    found: list[bytes] = []
    for entry in entries:
        found += flat(entry) if not isinstance(entry, str) else [VALUES[entry][1]] * (entry != "constexpr")
    return found


def cases() -> list[Any]:
    chosen = [("cuda", name, "plain") for name in SIGNATURES]
    chosen += [("cuda", "every", options) for options in OPTIONS if options != "plain"]
    chosen += [("hip", name, "plain") for name in ("none", "every", "tuples", "three hundred")]
    chosen += [("hip", "every", "warps")]
    return [pytest.param(*case, id="-".join(case)) for case in chosen]


@pytest.mark.parametrize(("backend", "signature", "options"), cases())
def test_records_are_equal(library: Any, backend: str, signature: str, options: str) -> None:
    """Pointers, one packed block and Python's launcher: everything the driver was asked is the same."""
    recorder = Recorder(backend)
    entries, given = SIGNATURES[signature], OPTIONS[options]
    text = text_of(entries)
    launcher = relaunch.Launcher(
        text, dialect=DIALECTS[backend], function=HANDLE, driver=str(recorder.path), profile_scratch=0x99, **given
    )
    bound = library.bind(text, DIALECTS[backend], recorder.path, **given)

    def record(launch: Any, *words: Any) -> list[dict[str, Any]]:
        recorder.reset()
        recorder.set_slots(launcher.slots)
        assert launch(*words) in (None, 0)
        events = recorder.events()
        for event in events:
            event.pop("gil_held", None)  # ctypes never holds it
        return [event for event in events if "PointerGetAttribute" not in event["call"]]

    expected = record(launcher, 3, 2, 1, STREAM, *arguments(entries))
    assert expected
    config = library.config((3, 2, 1), stream=STREAM, profile_scratch=0x99)
    assert record(library.launch, bound, config, flat(entries)) == expected
    assert record(library.launch_packed, bound, config, flat(entries)) == expected


@pytest.mark.parametrize("signature", SIGNATURES)
def test_plans_are_equal(library: Any, signature: str) -> None:
    """Names, types, slots and kernel offsets are those of Launcher.parameters."""
    text = text_of(SIGNATURES[signature])
    driver = Recorder("cuda").path
    launcher = relaunch.Launcher(text, dialect="triton-3.6-cuda", driver=str(driver))
    described = [
        {
            "name": parameter.name.decode(),
            "type": parameter.type.decode(),
            "hidden": bool(parameter.hidden),
            "slot_offset": parameter.slot_offset,
            "slot_size": parameter.slot_size,
            "size": parameter.kernel_size,
            "alignment": parameter.kernel_alignment,
            "offset": parameter.kernel_offset,
        }
        for parameter in library.parameters(library.bind(text, "triton-3.6-cuda", driver))
    ]
    assert described == list(launcher.parameters)
