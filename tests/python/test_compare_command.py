"""`relaunch compare`: what it prints and writes, and how it leaves."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential.divergence import divergences
from relaunch.generator import contract
from typer.testing import CliRunner

from relaunch import generator
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


def test_every_signature_is_a_line() -> None:
    texts = ["i32", "*fp32, (i8, constexpr)"]
    reports = lines(OLD, HIP, *texts)
    assert [report["signature"] for report in reports] == texts
    assert ("argument types", "i8 takes") not in differences(reports[1])  # 0 to 255 in both
    assert differences(reports[0])["call", "grid_x"] == ("1st, i", "2nd, i")


def test_a_signature_that_one_does_not_take_is_a_difference_with_the_reason() -> None:
    (report,) = lines("triton-3.2-cuda", NEW, "i8, (i32, i32)")
    assert report["differences"] == [
        {
            "topic": "signature",
            "item": "accepted",
            "left": "triton-3.2-cuda has no type '(i32, i32)' (argument 1)",
            "right": "taken",
        }
    ]
    assert "parameters" not in report
    result = compare("triton-3.2-cuda", NEW, "i8, (i32, i32)", "--source")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "triton-3.2-cuda has no type '(i32, i32)' (argument 1)" in result.stdout


def test_constexpr_is_taken_out_where_triton_does() -> None:
    (report,) = lines("triton-3.2-hip", "triton-3.3-hip", "i32, constexpr")
    found = differences(report)
    assert found["call", "kernel arguments, descriptors expanded"] == ("i32", "i32, constexpr")
    assert found["call", "constexpr entries"] == (
        "no such entries: Triton takes them out of signature and call",
        "taken and ignored; must be there",
    )
    assert [[one and one["type"] for one in pair] for pair in report["parameters"]] == [
        ["i32", "i32"],
        [None, "global_scratch"],
    ]


def test_descriptors_by_value() -> None:
    text = "tensordesc<fp16[64, 64]>"
    (pointers,) = lines("triton-3.5-cuda", "triton-3.7-cuda", text)
    (described,) = lines("triton-3.5-cuda", "triton-3.7-cuda", text, "--described")
    kinds = [[pair[1]["type"] for pair in report["parameters"]] for report in (pointers, described)]
    hidden = ["global_scratch", "profile_scratch"]
    assert kinds == [
        ["*fp16", *["i64"] * 4, "i1", "i1", *["i32"] * 2, *["i64"] * 2, *hidden],
        ["nvTmaDesc", *["i32"] * 2, *["i64"] * 2, *hidden],
    ]
    (refused,) = lines("triton-3.5-hip", "triton-3.6-hip", text, "--described")
    assert differences(refused) == {("signature", "accepted"): ("triton-3.5-hip takes no descriptor metadata", "taken")}


def test_a_text_that_is_no_signature() -> None:
    result = compare(OLD, NEW, "i32", "nonsense", "--json")
    assert result.exit_code == 1
    message = "unknown type 'nonsense': expected one like i32, fp32, *fp16, constexpr or tensordesc<fp16[64, 64]>"
    assert result.stderr == f"1:1: RL010 {message}\n  nonsense\n  ^^^^^^^^\n"
    assert json.loads(result.stdout.splitlines()[1]) == {
        "signature": "nonsense",
        "error": {"code": "RL010", "message": message, "span": [0, 8]},
    }


def test_source_is_a_unified_diff() -> None:
    (report,) = lines(OLD, NEW, "i32", "--source")
    source = report["source"]
    assert source[:2] == [f"--- {OLD}.c", f"+++ {NEW}.c"]
    added = [line[1:] for line in source[2:] if line.startswith("+")]
    removed = [line[1:] for line in source[2:] if line.startswith("-")]
    whole = generator.render(generator.LauncherSpec(NEW, ("i32",)))
    assert any("cuFuncSetAttribute" in line for line in added)
    assert not any("cuFuncSetAttribute" in line for line in removed)
    assert not any(re.search("launcher_[0-9a-f]{24}", line) for line in source)  # names say nothing
    assert [line for line in added if "launcher" not in line and line not in whole.splitlines()] == []
    shown = compare(OLD, NEW, "i32", "--source").stdout
    assert f"--- {OLD}.c\n+++ {NEW}.c\n@@" in shown


def test_source_of_equal_launchers_is_no_difference() -> None:
    result = compare("triton-3.0-hip", "triton-3.2-hip", "i32", "--source")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "\ni32\nnothing differs\n" in result.stdout
    assert result.stdout.endswith("\nThe generated C is the same.\n")


@pytest.mark.parametrize("native", ["triton-3.7-cuda", "triton-3.8-hip"])
def test_a_native_dialect_has_no_source(native: str) -> None:
    name = generator.facts(native).dialect
    text = f"{name} has nothing to generate: one native launcher serves every signature since Triton 3.7"
    result = compare(NEW, native, "i32", "--source")
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout.endswith(f"\n{text}\n")
    (report,) = lines(NEW, native, "i32", "--source")
    assert (report["source"], report["no_source"]) == (None, text)


def test_wanted_differences_of_a_dialect() -> None:
    (report,) = lines("legacy", "precompiled", "--dialect", "triton-3.1-cuda")
    name = "triton-3.0-cuda"
    assert (report["signature"], report["dialect"], report["equal"]) == (None, name, False)
    assert [one["id"] for one in report["divergences"]] == [one.id for one in divergences() if name in one.dialects]


@pytest.mark.parametrize(
    ("dialect", "text", "met"),
    [
        (NEW, "i32", {"D01", "D02", "D05", "D06", "D08", "D09", "D12"}),  # scratch objects are pointers
        (NEW, "i8, (fp16,)", {"D01", "D02", "D03", "D04", "D05", "D06", "D08", "D09", "D12"}),
        ("triton-3.0-cuda", "i32", {"D01", "D02"}),
        ("triton-3.0-cuda", "*i32, bf16", {"D01", "D02", "D05", "D11", "D12", "D14"}),
    ],
)
def test_wanted_differences_of_a_signature(dialect: str, text: str, met: set[str]) -> None:
    (report,) = lines("legacy", "precompiled", text, "--dialect", dialect)
    assert {one["id"] for one in report["divergences"]} == met
    (first,) = (one for one in divergences() if one.id == "D01")
    assert report["divergences"][0] == {
        "id": "D01",
        "title": first.title,
        "when": list(first.call),
        "summary": first.summary,
        "reason": first.reason,
    }
    shown = compare("legacy", "precompiled", text, "--dialect", dialect)
    assert shown.exit_code == 1
    assert f"\n{text}\n{len(met)} can be met\n" in shown.stdout


def test_wanted_differences_of_what_the_dialect_does_not_take() -> None:
    result = compare("legacy", "precompiled", "(i32, i8)", "--dialect", "triton-3.2-hip", "--json")
    assert result.exit_code == 1
    message = "triton-3.2-hip has no type '(i32, i8)' (argument 0)"
    assert json.loads(result.stdout) == {
        "signature": "(i32, i8)",
        "dialect": "triton-3.2-hip",
        "error": {"code": "RC001", "message": message, "span": None},
    }


def test_the_page_stands_alone(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = compare(OLD, NEW, "*fp32, i1", "tensordesc<i8[4]>", "--source", "--html", str(page), "--json")
    assert (result.exit_code, result.stderr, len(result.stdout.splitlines())) == (1, "", 2)
    text = page.read_text("utf-8")
    assert not re.search(r"https?:|src=|href=|@import|url\(|<script|<link", text)
    assert "<h2>tensordesc&lt;i8[4]&gt;</h2>" in text
    assert "<i8" not in text
    assert (
        '<tr class="differs"><td>1</td><td>i1</td><td>4</td><td>1</td><td>1</td><td>8</td><td>i1</td><td>1</td>' in text
    )
    assert '<span class="added">+' in text
    assert '<span class="removed">-' in text
    assert text.count("<section>") == 2


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    result = compare(OLD, NEW, "--html", str(tmp_path / "nowhere" / "report.html"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"relaunch compare: {tmp_path / 'nowhere' / 'report.html'}: No such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["triton-2.0-cuda", NEW], "unknown dialect 'triton-2.0-cuda'; known: " + ", ".join(generator.all_dialects())),
        ([NEW, "precompiled"], "unknown dialect 'precompiled'; known: " + ", ".join(generator.all_dialects())),
        (["legacy", "precompiled"], "legacy precompiled needs --dialect D"),
        ([OLD, NEW, "--dialect", NEW], "--dialect goes with `legacy precompiled`"),
        ([OLD, NEW, "--source"], "--source needs a SIGNATURE"),
        (
            ["legacy", "precompiled", "i32", "--dialect", NEW, "--source"],
            "--source compares two dialects: the precompiled launcher has no generated C",
        ),
    ],
)
def test_what_does_not_fit_is_a_usage_error(arguments: list[str], message: str) -> None:
    result = compare(*arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"relaunch compare: {message}\n")


@pytest.mark.parametrize("left", generator.all_dialects())
def test_any_two_dialects_can_be_compared(left: str) -> None:
    """Each with each, with and without a signature; the other way round gives the same items."""
    for right in generator.all_dialects():
        for signature in (None, ("*fp32", "i1", "constexpr"), ("tensordesc<i8[4, 4]>", ("i32", "bf16"))):
            one, other = contract.compare(left, right, signature), contract.compare(right, left, signature)
            same = {left, right} <= {"triton-3.0-hip", "triton-3.2-hip"} or left == right
            assert one.equal == (same and one.taken)
            assert {(d.topic, d.item, d.left, d.right) for d in one.differences if d.topic != "parameters"} == {
                (d.topic, d.item, d.right, d.left) for d in other.differences if d.topic != "parameters"
            }
            assert [parameter for parameter, _ in one.parameters] == [parameter for _, parameter in other.parameters]
