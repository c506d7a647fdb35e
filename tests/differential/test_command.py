"""`relaunch diff` and `relaunch demo` as people run them: exit codes, what is said, what is stored."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import report
from relaunch.differential.case import Case
from relaunch.differential.diff import Fault, Tally
from relaunch.differential.divergence import divergences
from relaunch.differential.golden import read
from relaunch.differential.report import WORKED_OUT
from typer.testing import CliRunner, Result

from relaunch import generator
from relaunch.cli import app

HIP = "triton-3.6-hip"
ALL = list(generator.all_dialects())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_equal_launchers_exit_0_with_a_table() -> None:
    done = run("diff", "--dialect", "triton-3.6.0-hip", "--cases", "40", "--seed", "5", "*fp32, i32, (i8, *fp16)")
    assert done.exit_code == 0, done.output
    assert "40 cases for each signature, seed 5" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    row = next(row for row in rows if row[:1] == ["triton-3.6-hip"])
    assert (row[1], row[2], row[-1]) == ("1", "40", "0")
    assert sum(map(int, row[3:])) == 40
    assert ["unexplained", "0:", "nothing", "else", "differs"] in rows


def test_json_is_one_object_a_line_and_adds_up() -> None:
    done = run("diff", "--json", "--cases", "60", "i32", "{'x': '*fp32'}", "i32")
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["dialect"] for line in lines] == ALL
    for line in lines:
        assert (line["signatures"], line["cases"], line["seed"], line["faults"]) == (2, 120, 0, 0)
        parts = ("launches", "rejections", "empty_grids", "legacy_deaths", "wanted", "faults")
        assert sum(line[part] for part in parts) == line["cases"]
        assert sorted(line["divergences"]) == [entry.id for entry in divergences()]


def test_same_seed_says_the_same_twice() -> None:
    options = ("diff", "--json", "--dialect", HIP, "--dialect", "triton-3.0-cuda", "--cases", "50", "*i8, i8, fp16")
    first, second = (run(*options, "--seed", "9").stdout for _ in range(2))
    assert first == second
    assert first != run(*options, "--seed", "8").stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "argument 1: "),
        ("*fp32, float33", "float33"),
        ("*fp32, (i32", "("),
        ("(" * 257 + "i32" + ")" * 257, "256"),
        ("i32\0", "argument 1: "),
        ("fp8e5", "no launcher: triton-3.6-hip has no type 'fp8e5' (argument 0)"),
        ("nvTmaDesc", "no launcher: triton-3.6-hip has no type 'nvTmaDesc' (argument 0)"),
        ("(tensordesc<fp16[16]>,)", "has no type 'tensordesc<fp16[16]>' (argument 0, item 0)"),
        ("(" * 30 + "i32" + ")" * 30, "tuples nested deeper than 29, at which every legacy launcher dies"),
        ("(" * 256 + "i32" + ")" * 256, "tuples nested deeper than 29, at which every legacy launcher dies"),
        (", ".join(["*fp32"] * 5000), "40016 bytes of kernel parameters, drivers take at most 32764"),
        ("x" * 1_000_000, "argument 1: "),
    ],
    ids=[
        *("empty", "unknown type", "unbalanced", "too deep", "NUL", "pointee only", "another dialect's"),
        *("nested descriptor", "too deep for legacy", "deepest that is read", "too many bytes", "1 MB"),
    ],
)
def test_bad_signature_exits_2_and_says_where(text: str, said: str) -> None:
    done = run("diff", "--dialect", HIP, text)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr) < 4000
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["i32", "--dialect", "triton-9.9-hip"],
            f"no dialect 'triton-9.9-hip': there are {', '.join(generator.all_dialects())}",
        ),
        (["i32", "--dialect", ""], "no dialect ''"),
        (["i32", "--cases", "0"], "--cases"),
        (["i32", "--seed", "x"], "--seed"),
        ([], "give a SIGNATURE, a FILE of them, or --random N"),
        (["--random", "-1"], "--random"),
    ],
)
def test_bad_usage_exits_2(arguments: list[str], said: str) -> None:
    done = run("diff", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_five_thousand_arguments_are_compared() -> None:
    done = run("diff", "--json", "--dialect", HIP, "--cases", "10", ", ".join(["constexpr"] * 5000))
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["cases"] == 10


def test_random_signatures_besides_those_given() -> None:
    options = ("--json", "--dialect", HIP, "--dialect", "triton-3.9-cuda", "--cases", "10", "--seed", "3")
    done = run("diff", *options, "--random", "3", "i32")
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["dialect"], line["signatures"], line["cases"]) for line in lines] == [
        (HIP, 4, 40),
        ("triton-3.9-cuda", 4, 40),
    ]
    assert run("diff", *options, "--random", "3").stdout != run("diff", *options, "--random", "2").stdout


def test_dialect_without_a_legacy_launcher_is_marked() -> None:
    done = run("diff", "--dialect", "triton-3.8-hip", "--dialect", HIP, "--cases", "30", "*fp32")
    assert done.exit_code == 0, done.output
    assert "triton-3.9-hip *  " in done.stdout
    assert WORKED_OUT in done.stdout
    assert WORKED_OUT not in run("diff", "--dialect", HIP, "--cases", "30", "*fp32").stdout


def test_bad_lines_of_a_file_do_not_stop_the_others(tmp_path: Path) -> None:
    file = tmp_path / "signatures.txt"
    file.write_bytes(b"*fp32, i32\nfloat33\n\xff\xfe\ni64\n")
    done = run("diff", "--json", "--dialect", HIP, "--cases", "20", str(file))
    assert done.exit_code == 1
    assert json.loads(done.stdout)["signatures"] == 2
    assert f"{file}:2:1: " in done.stderr
    assert f"{file}:3:1: " in done.stderr
    assert "float33" in done.stderr


def test_many_bad_lines_are_counted_not_listed(tmp_path: Path) -> None:
    file = tmp_path / "signatures.txt"
    file.write_text("float33\n" * 8 + "i32\n")
    done = run("diff", "--json", "--dialect", HIP, "--cases", "1", str(file))
    assert done.exit_code == 1
    assert f"{file}:5:1: " in done.stderr
    assert f"{file}:6:1: " not in done.stderr
    assert done.stderr.endswith("3 more cannot be read: relaunch migrate shows them\n")


def test_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "none.jsonl"
    done = run("diff", str(missing), "--dialect", "triton-3.6-cuda")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("argument 1: 1:1: RL010 unknown type ")
    assert done.stderr.endswith(f"\nand there is no file {missing}\n")


def test_file_without_signatures_exits_2(tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.write_text("\n\n")
    done = run("diff", str(file))
    assert done.exit_code == 2
    assert f"{file}:1:1: RL001 the text is empty" in done.stderr


def fault(number: int = 0) -> Fault:
    call: dict[str, Any] = {"grid": [1, 1, 1], "stream": "0x0", "function": "0xf00", "metadata": [4, 1, 0], "args": [7]}
    case = Case(f"case-{number}", "3.6.0", "hip", ("i32",), call)
    expected = {
        "slots": [4, 8, 8],
        "events": [{"call": "hipModuleLaunchKernel", "params": ["07000000"]}],
        "error": None,
    }
    actual = {"slots": [4, 8, 8], "events": [], "error": {"type": "TypeError", "text": "[bold]no[/]"}}
    return Fault(case, expected, actual, "event 0 (hipModuleLaunchKernel): missing", ("D03",))


def test_fault_is_shown_with_its_difference_and_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally(HIP, (("i32",),), faults=[fault(i) for i in range(12)])
    stored = report.store(tally.faults, tmp_path / "faults")
    small = [replace(fault(), case=replace(fault().case, id="case-0-smallest"))]
    report.show([tally], title="title", smallest=small, folder=tmp_path / "faults")
    shown = capsys.readouterr().out
    assert (
        "case-0-smallest: event 0 (hipModuleLaunchKernel): missing\n"
        "  expected a launch, got no launch and TypeError\n" in shown
    )
    path = tmp_path / "faults" / "smallest" / "case-0-smallest.jsonl"
    assert f"  relaunch replay {path} --launcher precompiled\n" in shown
    assert shown.count("relaunch replay") == 1
    assert f"as they were found, 12: {tmp_path / 'faults'}" in shown
    case = next(read(stored[0]))
    assert case == fault().case
    assert case.expect == {**fault().expected, "error": None}


def test_stored_case_replays(tmp_path: Path) -> None:
    stored = report.store([fault()], tmp_path / "faults")[0]
    done = run("replay", str(stored), "--launcher", "precompiled")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["expect"]["events"][0]["params"][0] == "07000000"


def test_demo_compares_a_file_and_says_what_is_next(tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    file.write_text('{"text": "*fp32, i32", "constants": "{}"}\n{"text": "{\'x\': \'fp16\'}"}\n{"text": "nvTmaDesc"}\n')
    done = run("demo", str(file), "--comparisons", "200", "--seed", "2", "--signatures", "2")
    assert done.exit_code == 0, done.output
    assert f"3 of 3 signatures in {file} migrated: " in done.stdout
    assert f"3 distinct ones, at most 2 for each of {len(generator.dialects())} dialects" in done.stdout
    assert re.search(r"2\d\d calls made by a legacy launcher and by the precompiled one", done.stdout)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows if row and row[0].startswith("triton-")] == list(generator.dialects())
    assert "Go deeper:" in done.stdout


def test_demo_outside_a_checkout_says_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("demo")
    assert done.exit_code == 2
    assert done.stderr == (
        "no file tests/signatures/signatures.jsonl: run this in a checkout, or name a file of signatures\n"
    )
