"""`relaunch replay`: the form of its answer, and what it does with files that are not right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import golden
from relaunch.differential.case import Case, CaseError

from relaunch import generator

HERE = Path(__file__).parent
HIP = HERE / "triton-3.6.0-hip.jsonl"


def replay(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from relaunch.cli import main; main()", "replay", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def lines_of(path: Path, some: slice = slice(None)) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()[some]]


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Three cases, the second of which killed the released launcher; the third has a grid of -1."""
    cases = lines_of(HIP)
    deadly = next(case for case in cases if case["expect"].get("crash"))
    path = tmp_path / "few.jsonl"
    path.write_text("\n".join(json.dumps(case) for case in (cases[0], deadly, cases[2])) + "\n\n")
    return path


def test_answers_in_order_with_what_happened(few: Path) -> None:
    done = replay(few, "--launcher", "generated")
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    cases = lines_of(few, slice(3))
    assert [answer["id"] for answer in answers] == [case["id"] for case in cases]
    assert answers[0] == {"id": cases[0]["id"], "expect": cases[0]["expect"]}
    assert answers[1]["expect"]["error"]["type"] == "TypeError"
    assert answers[2] == {"id": cases[2]["id"], "expect": cases[2]["expect"]}


def test_precompiled_answers_name_the_divergences(few: Path) -> None:
    done = replay(few, "--launcher", "precompiled")
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("divergence") for answer in answers] == [None, None, ["D02"]]
    assert answers[0]["expect"] == lines_of(few, slice(1))[0]["expect"]
    assert [(answer["expect"].get("error") or {}).get("type") for answer in answers] == [
        None,
        "TypeError",
        "ValueError",
    ]


def test_a_death_is_written_as_a_crash(few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launchers are built so that calling a hook kills the process."""
    (tmp_path / "deadly.h").write_text(
        "#include <Python.h>\n#define PyObject_CallOneArg(hook, argument) (abort(), hook)\n"
    )
    monkeypatch.setenv("CC", f"{os.environ.get('CC', 'gcc')} -include {tmp_path / 'deadly.h'}")
    case = lines_of(few, slice(1))[0]
    hooked = tmp_path / "hooked.jsonl"
    hooked.write_text(json.dumps({**case, "call": {**case["call"], "enter": "ok"}}) + "\n")
    done = replay(hooked, "--launcher", "generated")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"id": case["id"], "expect": {"crash": True}}


def test_file_appears_whole(few: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("old\n")
    assert replay(few, "--launcher", "generated", "-o", output).returncode == 0
    assert len(lines_of(output)) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.jsonl", "out.jsonl"]


SOUND = lines_of(HIP, slice(1))[0]


DIALECTS = f"there are {', '.join(generator.all_dialects())}"


def nested(levels: int, kind: str) -> Any:
    argument: Any = 1
    for _ in range(levels):
        argument = {kind: [argument] if kind == "list" else argument}
    return argument


def with_call(**members: Any) -> dict[str, Any]:
    return {**SOUND, "call": {**SOUND["call"], **members}}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ([1], "the case: expected an object, got [1]"),
        (7, "the case: expected an object, got 7"),
        ({**SOUND, "id": 3}, "id: expected a string, got 3"),
        ({**SOUND, "signature": "i32"}, "signature: expected a list, got 'i32'"),
        ({**SOUND, "signature": [["i32", 4]]}, "signature[0][1]: expected a type or a list of types, got 4"),
        ({**SOUND, "call": None}, "call: expected an object, got None"),
        (with_call(grid=[1, 2]), "call.grid: expected three entries, got [1, 2]"),
        (with_call(args={}), "call.args: expected a list, got {}"),
        (with_call(args=[{"tensr": "0x1"}]), "call.args[0]: unknown kind of argument 'tensr'"),
        (with_call(args=[{"tensor": 16}]), "call.args[0]: tensor: 16 is wrong"),
        (with_call(args=[{"tensormap": "00ff"}]), "call.args[0]: tensormap: '00ff' is wrong"),
        (with_call(args=[{"tuple": [{"float": "x"}]}]), "call.args[0]: float: 'x' is wrong"),
        (with_call(args=[{"tensor_raises": "NoError"}]), "call.args[0]: 'NoError' is no built-in exception"),
        (with_call(args=[{"index": 1, "str": "x"}]), "call.args[0]: expected an object with one member, got"),
        (with_call(args=[0, 1.5]), "call.args[1]: expected null, true, false, an integer or an object, got 1.5"),
        (with_call(args=[nested(101, "list")]), "call.args[0]: nested deeper than 100"),
        (with_call(args=[nested(101, "tensor_returns")]), "call.args[0]: nested deeper than 100"),
        ({**SOUND, "signature": json.loads("[" * 102 + "]" * 102)}, "signature: nested deeper than 100"),
        (with_call(enter="no"), "call.enter: expected one of none, ok, raise, got 'no'"),
        (with_call(fail=["cuInit", 1]), "call.fail: expected [function, n, status], got ['cuInit', 1]"),
        (with_call(fail=["cuInit", -1, 1]), "call.fail: expected [function, n, status], got ['cuInit', -1, 1]"),
        (with_call(stream="zz"), "call.stream: expected a hexadecimal number, got 'zz'"),
        (with_call(warp_size="64"), "call.warp_size: expected an integer, got '64'"),
        ({**SOUND, "expect": {"slots": ["8"]}}, "expect.slots: expected a list of sizes, got ['8']"),
        ({**SOUND, "expect": {"slots": [-8]}}, "expect.slots: expected a list of sizes, got [-8]"),
        ({**SOUND, "release": "3.10.1"}, f"no dialect for release 3.10.1 on hip: {DIALECTS}"),
        ({**SOUND, "release": "3.60.0"}, f"no dialect for release 3.60.0 on hip: {DIALECTS}"),
        ({**SOUND, "release": "3"}, f"no dialect for release 3 on hip: {DIALECTS}"),
        ({**SOUND, "backend": "metal"}, f"no dialect for release 3.6.0 on metal: {DIALECTS}"),
    ],
)
def test_malformed_case_is_refused_with_its_place(source: Any, text: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(SOUND) + "\n" + json.dumps(source) + "\n")
    with pytest.raises(golden.LineError) as caught:
        list(golden.read(path))
    assert str(caught.value).startswith(f"{path}:2: {text}")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{", "not a JSON object: Expecting property name enclosed in double quotes: line 2 column 1 (char 2)"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_malformed_line_ends_the_run_before_it_begins(line: str, text: str, tmp_path: Path) -> None:
    path, output = tmp_path / "cases.jsonl", tmp_path / "out.jsonl"
    path.write_text(json.dumps(SOUND) + "\n" + line + "\n")
    done = replay(path, "--launcher", "generated", "-o", output)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"relaunch replay: {path}:2: {text}\n"
    assert not output.exists()


def test_the_deepest_case_is_run(tmp_path: Path) -> None:
    """By ours: in the 30th level of tuples the parser of legacy launchers ends the process."""
    path = tmp_path / "deep.jsonl"
    signature = json.loads("[" * 101 + '"i32"' + "]" * 101)
    case = {**with_call(args=[nested(100, "list")]), "signature": signature, "expect": None}
    path.write_text(json.dumps(case) + "\n")
    expect = {}
    for launcher in ("generated", "precompiled"):
        done = replay(path, "--launcher", launcher)
        assert (done.returncode, done.stderr) == (0, "")
        expect[launcher] = json.loads(done.stdout)["expect"]
    assert expect["generated"].get("crash") is True
    assert expect["precompiled"]["error"] is None
    assert [event["params"][0] for event in expect["precompiled"]["events"] if "params" in event] == ["01000000"]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b'{"id": "\xff"}\n')
    done = replay(path, "--launcher", "generated")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"relaunch replay: {path}:1: not a JSON object: 'utf-8' codec can't decode byte 0xff")


def test_missing_file_and_unknown_launcher(tmp_path: Path) -> None:
    missing = tmp_path / "none.jsonl"
    done = replay(missing, "--launcher", "generated")
    assert (done.returncode, done.stderr) == (2, f"relaunch replay: {missing}: No such file or directory\n")
    done = replay(HIP, "--launcher", "magic")
    assert done.returncode == 2
    assert "generated" in done.stderr
    done = replay(HIP, "--launcher", "generated", "-o", tmp_path / "no" / "out.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such file or directory" in done.stderr


def test_native_launcher_has_nothing_to_generate(tmp_path: Path) -> None:
    done = replay(HERE / "triton-3.9.0-cuda.jsonl", "--launcher", "generated", "-o", tmp_path / "out.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("relaunch replay: triton-3.9-cuda has nothing to generate: ")
    assert list(tmp_path.iterdir()) == []


def test_launcher_object_that_refuses_its_metadata(tmp_path: Path) -> None:
    cases = lines_of(HERE / "descriptors-triton-3.6.0-cuda.jsonl")
    refused = next(case for case in cases if "bind_error" in case["expect"])
    path = tmp_path / "refused.jsonl"
    path.write_text(json.dumps({**refused, "expect": None}) + "\n")
    for launcher in ("generated", "precompiled"):
        done = replay(path, "--launcher", launcher)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["expect"]["bind_error"]["type"] == "AssertionError"


def test_wrong_number_of_arguments_beside_descriptor_objects(tmp_path: Path) -> None:
    """Released launcher objects encode the descriptors first, ours counts first."""
    cases = lines_of(HERE / "descriptors-triton-3.6.0-cuda.jsonl")
    encoding = next(case for case in cases if case["tensordesc_meta"] and "events" in case["expect"])
    encoding["call"]["args"].append(1)
    path = tmp_path / "one-more.jsonl"
    path.write_text(json.dumps(encoding) + "\n")
    seen = {}
    for launcher in ("generated", "precompiled"):
        expect = json.loads(replay(path, "--launcher", launcher).stdout)["expect"]
        seen[launcher] = ({event["call"] for event in expect["events"]}, expect["error"]["type"])
    assert seen == {"generated": ({"cuTensorMapEncodeTiled"}, "TypeError"), "precompiled": (set(), "TypeError")}


@pytest.mark.parametrize(
    ("member", "value", "text"),
    [
        ("base", 16, "descriptor: {"),
        ("shape", [1.5], "descriptor: {"),
        ("round", 0, "descriptor: {"),
        ("more", 0, "a descriptor has base, shape, strides, block, padding, round, got base, "),
    ],
)
def test_malformed_descriptor_is_refused(member: str, value: Any, text: str, tmp_path: Path) -> None:
    case = lines_of(HERE / "descriptors-triton-3.6.0-cuda.jsonl")[0]
    descriptor = case["call"]["args"][0]["descriptor"]
    case["call"]["args"][0]["descriptor"] = {**descriptor, member: value}
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(case) + "\n")
    with pytest.raises(golden.LineError) as caught:
        list(golden.read(path))
    assert str(caught.value).startswith(f"{path}:1: call.args[0]: {text}")


def test_malformed_descriptor_metadata_is_refused(tmp_path: Path) -> None:
    case = lines_of(HERE / "descriptors-triton-3.6.0-cuda.jsonl")[0]
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({**case, "tensordesc_meta": [3]}) + "\n")
    with pytest.raises(golden.LineError, match="tensordesc_meta: expected null, or a list of objects and nulls"):
        list(golden.read(path))


def test_wrapped_case_survives_a_round_trip() -> None:
    for line in lines_of(HERE / "descriptors-triton-3.5.1-cuda.jsonl"):
        case = Case.from_json(line)
        assert case.wrapped
        assert case.to_json() == line


def test_case_survives_a_round_trip() -> None:
    for line in lines_of(HIP, slice(50)):
        case = Case.from_json(line)
        assert case.to_json() == line
        assert (case.dialect, hash(case.signature)) == ("triton-3.6-hip", hash(Case.from_json(line).signature))


def test_patch_numbers_share_a_dialect() -> None:
    assert Case.from_json({**SOUND, "release": "3.6"}).dialect == "triton-3.6-hip"
    assert Case.from_json({**SOUND, "release": "3.6.7"}).dialect == "triton-3.6-hip"
    with pytest.raises(CaseError, match=r"no dialect for release 4\.0 on hip"):
        Case.from_json({**SOUND, "release": "4.0"})
