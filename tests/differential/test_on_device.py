"""Echoes without a device: how one is held against a record, and what a job on a device gives when a process ends."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import pool, recorder
from relaunch.differential.on_device import cases, judge, run, worker
from relaunch.kernels import echo

SIGNATURE = ("*fp32", "i1", ("fp16", "nvTmaDesc"), "u16", "fp64")
DIALECT = "triton-3.6-cuda"


def faithful(record: dict[str, Any], layout: echo.Layout) -> bytes:
    """What a kernel of the layout writes that was launched as recorded."""
    (launch,) = [event for event in record["events"] if "params" in event]
    words = judge.words_of(launch)
    head = struct.pack(f"<{len(words)}I", *(words[name] for name in echo.WORDS)).ljust(echo.HEAD_BYTES, b"\0")
    body = b"".join(
        bytes.fromhex(slot)[: one.size].ljust(-(-one.size // 8) * 8, b"\xcd")
        for slot, one in zip(launch["params"], layout, strict=True)
    )
    return head + body


def echoed(written: bytes) -> dict[str, Any]:
    return {"events": [{"echo": written.hex()}], "error": None}


@pytest.fixture(scope="module")
def recorded() -> list[tuple[dict[str, Any], echo.Layout]]:
    """Records of a few calls with the layout of their kernel."""
    drawn = list(cases.draw(DIALECT, [SIGNATURE], 12, 3))
    placed = [replace(case, call=cases.placed(dict(case.call), 0x7F0000000000)) for case in drawn]
    records = pool.run_cases(placed, "precompiled")
    return [(record, echo.layout(pool.spec_of(case))) for case, record in zip(placed, records, strict=True)]


def test_what_was_recorded_is_no_difference(recorded: list[tuple[dict[str, Any], echo.Layout]]) -> None:
    for record, layout in recorded:
        assert judge.difference(echoed(faithful(record, layout)), record, layout) is None


def test_every_word_and_byte_counts(recorded: list[tuple[dict[str, Any], echo.Layout]]) -> None:
    """One bit at a time: those of the words and of the parameters show, those between parameters do not."""
    record, layout = recorded[0]
    written = faithful(record, layout)
    counted = set(range(4 * len(echo.WORDS)))
    for place, one in zip(echo.places(layout), layout, strict=True):
        counted |= set(range(place, place + one.size))
    for i in range(len(written)):
        changed = bytearray(written)
        changed[i] ^= 0x10
        found = judge.difference(echoed(bytes(changed)), record, layout)
        assert (found is not None) == (i in counted), i


def test_a_call_that_fails_on_the_device_is_a_difference(recorded: list[tuple[dict[str, Any], echo.Layout]]) -> None:
    record, layout = recorded[0]
    failed = {"events": [], "error": {"type": "RuntimeError", "text": "invalid argument"}}
    assert judge.difference(failed, record, layout) == f"on the device: {failed['error']}"
    assert judge.difference({"bind_error": {"type": "BindError"}}, record, layout) is not None
    good = echoed(faithful(record, layout))
    assert judge.difference(good, {**record, "events": []}, layout) == "the record has 0 launches and the error None"


def test_names_of_what_differs(recorded: list[tuple[dict[str, Any], echo.Layout]]) -> None:
    record, layout = recorded[0]
    written = bytearray(faithful(record, layout))
    written[echo.places(layout)[4]] ^= 0xFF  # the u16
    found = judge.difference(echoed(bytes(written)), record, layout)
    assert found is not None
    assert found.startswith("parameter 4: recorded ")
    written = bytearray(faithful(record, layout))
    written[0] = 2
    assert judge.difference(echoed(bytes(written)), record, layout) == "launches: recorded 1, the device saw 2"


@pytest.mark.parametrize("dialect", ["triton-3.2-cuda", "triton-3.6-hip", "triton-3.9-hip"])
def test_a_kernel_that_did_not_run_is_found(dialect: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The whole way over the recording driver, which loads modules and has memory but runs no kernel: each call of
    each launcher is a fault, and nothing else is."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(recorder.path("cuda").parent))
    seen = run.run(dialect, [("*fp32", "i32", "fp32"), ("*i8", "u8", "i64")], 3, 7, tmp_path)
    assert (seen.signatures, seen.kernels, seen.launches) == (2, 2, 0)
    launchers = 1 if dialect == "triton-3.9-hip" else 2
    assert len(seen.faults) == 6 * launchers
    assert all(fault.endswith("launches: recorded 1, the device saw 0") for fault in seen.faults)


def test_a_process_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(recorder.path("cuda").parent))
    job = run.prepared(DIALECT, [("*fp32", "i32")], 3, 7, tmp_path)
    entries = (job.entries[0], replace(job.entries[1], layout="no layout"), job.entries[2])  # type: ignore[arg-type]
    with pytest.raises(
        worker.JobError, match=rf"^a device process ended with status 1 at {entries[1].case.id}: "
    ) as caught:
        worker.run(replace(job, entries=entries))
    assert "Traceback" in str(caught.value)


def test_tensors_lie_in_the_arena_and_null_stays_null() -> None:
    base = 0x7F1234560000
    call = {"args": [{"tensor": "0x10000000017"}, {"tensor": "0x0"}, {"tuple": [{"dlpack": "0xfff1"}, 3]}, None]}
    moved = cases.placed(call, base)
    assert moved["args"][1:2] == [{"tensor": "0x0"}]
    assert moved["args"][2:] == [{"tuple": [{"dlpack": hex(base + 0xFFF0)}, 3]}, None]
    assert moved["args"][0] == {"tensor": hex(base + 0x10)}
    assert json.dumps(call).count("0x10000000017") == 1
