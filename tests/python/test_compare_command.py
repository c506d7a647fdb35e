"""`relaunch compare`: what it prints and writes, and how it leaves."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner

from relaunch.cli import app

OLD = "triton-3.4-cuda"
NEW = "triton-3.6-cuda"
HIP = "triton-3.6-hip"
ADD = "*fp32, i1, constexpr"


def compare(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["compare", *arguments])


def lines(*arguments: str) -> list[dict[str, Any]]:
    result = compare(*arguments, "--json")
    assert result.stderr == ""
    return [json.loads(line) for line in result.stdout.splitlines()]


def differences(report: dict[str, Any]) -> dict[tuple[str, str], tuple[str, str]]:
    return {(one["topic"], one["item"]): (one["left"], one["right"]) for one in report["differences"]}


def test_equal_dialects_have_no_difference() -> None:
    result = compare("triton-3.1-cuda", "triton-3.0.0-cuda")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "triton-3.0-cuda and triton-3.0-cuda\n\nin general\nnothing differs\n"
    assert compare("triton-3.8-hip", "triton-3.9-hip", "*fp32, (i32,)").exit_code == 0


def test_what_differs_in_general() -> None:
    assert compare(OLD, NEW).exit_code == 1
    (report,) = lines(OLD, NEW)
    assert (report["signature"], report["dialects"], report["equal"]) == (None, [OLD, NEW], False)
    assert "parameters" not in report
    found = differences(report)
    assert found["call", "profile_scratch"] == ("-", "9th, O")
    assert found["call", "kernel_metadata"] == ("9th, O", "10th, O")
    assert found["launch", "grid"] == (
        "(grid_x * cluster_x, grid_y * cluster_y, grid_z * cluster_z) if num_ctas != 1, else as given",
        "(grid_x * num_ctas, grid_y, grid_z)",
    )
    assert found["argument types", "u1 becomes"] == (
        "4 bytes, of which the kernel reads 1; modulo 2^32",
        "1 byte; modulo 2^8",
    )
    assert found["hooks", "Triton passes"] == ("None where no hook is set", "a HookChain, never None")


def test_a_signature_is_told_what_it_can_meet() -> None:
    (report,) = lines(OLD, NEW, ADD)
    found = differences(report)
    assert ("argument types", "i1 becomes") in found
    assert ("argument types", "u1 becomes") not in found
    assert not any(topic == "descriptors" for topic, _ in found)
    assert found["parameters", "1 i1"] == (
        "i1: slot 4, kernel 1 aligned to 1 at 8",
        "i1: slot 1, kernel 1 aligned to 1 at 8",
    )
    assert report["parameters"][1] == [
        {"index": 1, "type": "i1", "slot": slot, "size": 1, "alignment": 1, "offset": 8, "hidden": False}
        for slot in (4, 1)
    ]
    assert report["parameters"][3][0] is None
    assert report["parameters"][3][1]["type"] == "profile_scratch"
