"""`relaunch verify`: its words, its objects, and its exit statuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from relaunch.cli import app

BINARIES = Path(__file__).resolve().parents[1] / "binaries"
CUBIN = str(BINARIES / "add-3.6.0-sm90.cubin")
SEVERAL = str(BINARIES / "others" / "several-sm70.cubin")
ADD = "{'x': '*fp32', 'y': '*fp32', 'out': '*fp32', 'n': 'i32', 'BLOCK': 'constexpr'}"


def verify(*arguments: str, standard_input: bytes | None = None) -> Any:
    return CliRunner().invoke(app, ["verify", *arguments], input=standard_input)


def test_a_fit() -> None:
    result = verify(CUBIN, "--signature", ADD, "--dialect", "triton-3.6.0-cuda")
    assert (result.exit_code, result.stderr) == (0, "")
    call = "add(*fp32, *fp32, *fp32, i32, constexpr)"
    assert result.stdout == f"{CUBIN}: {call} fits triton-3.6-cuda: 6 parameters, 48 bytes\n"


def test_a_misfit_shows_both_layouts() -> None:
    result = verify(CUBIN, "--signature", ADD.replace("i32", "i64"), "--dialect", "triton-3.4-cuda")
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout == (
        f"{CUBIN}: add(*fp32, *fp32, *fp32, i64, constexpr) does not fit triton-3.4-cuda: parameter 3 'n' (i64) has "
        "8 bytes at offset 24 by the signature, 4 bytes at offset 24 in the kernel\n"
        "       offset  size  signature                |  offset  size  kernel\n"
        "     0      0     8  x: *fp32                 |       0     8\n"
        "     1      8     8  y: *fp32                 |       8     8\n"
        "     2     16     8  out: *fp32               |      16     8\n"
        ">    3     24     8  n: i64                   |      24     4\n"
        "     4     32     8  global_scratch (hidden)  |      32     8\n"
        "     5      -     -                           |      40     8\n"
        "           40        bytes                    |      48        bytes\n"
    )


def test_a_missing_hidden_parameter() -> None:
    result = verify(CUBIN, "--signature", ADD, "--dialect", "triton-3.4-cuda")
    assert result.exit_code == 1
    assert "parameter 5 of the kernel, 8 bytes at offset 40, is none of the signature's\n" in result.stdout


def test_which_dialects_fit() -> None:
    result = verify(CUBIN, "--signature", ADD, "--which")
    assert result.exit_code == 0
    assert result.stdout == f"{CUBIN}: add fits triton-3.5-cuda, triton-3.6-cuda, triton-3.7-cuda, triton-3.9-cuda\n"


def test_no_dialect_fits() -> None:
    result = verify(CUBIN, "--signature", "(*fp32, i32)", "--which")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == f"{CUBIN}: add fits no dialect"
    assert len(lines) == 17
    assert lines[1].startswith("  triton-3.0-cuda: ")
    assert lines[1].endswith("triton-3.0-cuda has no tuples: give each item by itself")
    assert "  triton-3.6-hip: it is compiled for CUDA, and triton-3.6-hip launches on HIP" in lines


def test_kernels_are_listed_without_a_signature() -> None:
    result = verify(SEVERAL)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        f"{SEVERAL}: mix: 5 parameters, 163 bytes\n"
        "       offset  size\n"
        "     0      0     1\n"
        "     1      8     8\n"
        "     2     32   128\n"
        "     3    160     2\n"
        "     4    162     1\n"
        f"{SEVERAL}: bare: 0 parameters, 0 bytes\n"
        f"{SEVERAL}: none: 0 parameters, 0 bytes\n"
    )
    one = verify(str(BINARIES / "others" / "several-gfx90a-v4.hsaco"), "--kernel", "mix")
    assert one.stdout.splitlines()[2:7:4] == [
        "     0      0     1  by_value",
        "     4     68     4  dynamic_shared_pointer",
    ]
    assert one.stdout.splitlines()[7] == "     5     72     8  hidden_global_offset_x (filled by the runtime)"


def test_several_kernels_want_a_name() -> None:
    result = verify(SEVERAL, "--signature", "{}", "--dialect", "triton-3.0-cuda")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"relaunch verify: {SEVERAL}: expected the name of one kernel, found none, and there are 'mix', 'bare', "
        "'none'; name one of them\n"
    )
    named = verify(SEVERAL, "--signature", "{}", "--dialect", "triton-3.0-cuda", "--kernel", "bare")
    assert (named.exit_code, named.stdout) == (0, f"{SEVERAL}: bare() fits triton-3.0-cuda: 0 parameters, 0 bytes\n")
    unknown = verify(SEVERAL, "--kernel", "nine")
    assert (unknown.exit_code, unknown.stderr) == (
        2,
        f"relaunch verify: {SEVERAL}: expected a kernel 'nine', found 'mix', 'bare', 'none'; name one that is there\n",
    )


def test_objects() -> None:
    fit, misfit, listed = (
        json.loads(verify(CUBIN, *rest, "--json").stdout)
        for rest in (
            ("--signature", ADD, "--dialect", "triton-3.6-cuda"),
            ("--signature", ADD, "--dialect", "triton-3.4-cuda"),
            (),
        )
    )
    head = {"file": CUBIN, "format": "cubin", "kernel": "add"}
    assert {key: fit[key] for key in head} == head
    assert (fit["dialect"], fit["fits"], fit["message"], fit["difference"]) == ("triton-3.6-cuda", True, None, None)
    assert fit["planned"][3] == {"name": "n", "type": "i32", "offset": 24, "size": 4, "hidden": False}
    assert fit["planned"][5] == {"name": "profile_scratch", "type": "*i8", "offset": 40, "size": 8, "hidden": True}
    assert (misfit["fits"], misfit["difference"], len(misfit["planned"]), len(misfit["parameters"])) == (False, 5, 5, 6)
    assert {key: listed[key] for key in head} == head
    assert listed["bytes"] == 48
    assert listed["parameters"][3] == {
        "name": None,
        "kind": None,
        "offset": 24,
        "size": 4,
        "alignment": None,
        "hidden": False,
    }
    which = json.loads(verify(CUBIN, "--signature", ADD, "--which", "--json").stdout)
    assert which["fitting"] == [f"triton-{release}-cuda" for release in ("3.5", "3.6", "3.7", "3.9")]
    assert [each["fits"] for each in which["dialects"]].count(True) == 4


def test_unreadable_files_do_not_hide_the_others(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.cubin"
    damaged.write_bytes(Path(CUBIN).read_bytes()[:3000])
    missing = tmp_path / "missing"
    files = (str(missing), str(damaged), CUBIN)
    rest = ("--signature", ADD, "--dialect", "triton-3.6-cuda")
    result = verify(*files, *rest)
    assert result.exit_code == 2
    assert result.stdout.startswith(f"{CUBIN}: add(")
    assert result.stderr == (
        f"relaunch verify: {missing}: No such file or directory\n"
        f"relaunch verify: {damaged}: byte 2240: expected a table of 12 sections, found room for 11; the file is cut "
        "off or damaged: compile the kernel again\n"
    )
    gone, broken, good = map(json.loads, verify(*files, *rest, "--json").stdout.splitlines())
    assert gone == {"file": str(missing), "error": {"fault": "file", "message": "No such file or directory"}}
    assert broken["error"]["fault"] == "truncated"
    assert (broken["error"]["offset"], broken["error"]["found"]) == (2240, "room for 11")
    assert good["fits"]


def test_a_fault_names_kernel_and_line() -> None:
    text = b".version 8.0\n.entry k(\n  .param .u64 a\n  .param .u32 b)\n{ }\n"
    result = verify("-", standard_input=text)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "relaunch verify: <stdin>: kernel 'k': line 4, byte 41: expected ',' or ')', found '.param'; the file is "
        "damaged: compile the kernel again\n"
    )


def test_descriptors() -> None:
    file = str(BINARIES / "desc_copy-3.6.0-sm90.cubin")
    rest = ("--signature", "tensordesc<fp16[64, 64]>, tensordesc<fp16[64, 64]>", "--dialect", "triton-3.6-cuda")
    assert verify(file, *rest).exit_code == 0
    assert json.loads(verify(file, *rest, "--json").stdout)["descriptors_by_value"] == [True, True]
    meta = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [64, 64], "fp4_padded": False}
    assert verify(file, *rest, "--tensordesc-meta", json.dumps([meta, meta])).exit_code == 0
    assert verify(file, *rest, "--tensordesc-meta", "[]").exit_code == 1
    one = verify(file, *rest, "--tensordesc-meta", json.dumps([meta]))
    assert one.exit_code == 1
    assert "tensordesc_meta has 1 entries for the 2 descriptors" in one.stdout


DESCRIBED = (
    "#loc = loc(unknown)\n"
    "module {\n"
    "  tt.func public @desc_copy(%a: !tt.tensordesc<tensor<64x64xf16>> loc(#loc), %a.shape.0: i32, %a.shape.1: i32, "
    "%a.stride.0: i64, %a.stride.1: i64, %b: !tt.tensordesc<64x64xf16, #shared>, %b_1: i32, %b_2: i32, %b_3: i64, "
    "%b_4: i64) attributes {noinline = false} {\n    tt.return\n  }\n"
    "  tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, "
    "%n: i32) {\n    tt.return\n  }\n}\n"
)


def test_signatures_of_ir(tmp_path: Path) -> None:
    """Shape and strides that follow a descriptor are its own; of several functions the kernel's counts."""
    file = tmp_path / "both.ttir"
    file.write_text(DESCRIBED)
    descriptors = str(BINARIES / "desc_copy-3.6.0-sm90.cubin")
    apart = str(BINARIES / "desc_copy-3.6.0-gfx942.hsaco")
    for signature in (f"@{file}", DESCRIBED):
        result = verify(descriptors, CUBIN, "--signature", signature, "--dialect", "triton-3.6-cuda")
        assert (result.exit_code, result.stderr) == (0, "")
        assert "desc_copy(tensordesc<fp16[64, 64]>, tensordesc<fp16[64, 64]>) fits" in result.stdout
        assert f"{CUBIN}: add(*fp32, *fp32, *fp32, i32) fits" in result.stdout
        assert verify(apart, "--signature", signature, "--dialect", "triton-3.6-hip").exit_code == 0
    header = DESCRIBED.splitlines()[2].partition("(")[2].partition(") attributes")[0]
    assert verify(descriptors, "--signature", header, "--dialect", "triton-3.6-cuda").exit_code == 0
    # The same types, not from IR, are what they say.
    line = "tensordesc<fp16[64, 64]>, i32, i32, i64, i64, tensordesc<fp16[64, 64]>, i32, i32, i64, i64"
    assert verify(descriptors, "--signature", line, "--dialect", "triton-3.6-cuda").exit_code == 1
    other = verify(SEVERAL, "--kernel", "mix", "--signature", f"@{file}", "--which")
    assert (other.exit_code, other.stdout) == (2, "")
    assert other.stderr == (
        f"relaunch verify: {SEVERAL}: {file} has no signature for mix, but those of desc_copy, add\n"
    )


def test_signatures_of_other_files(tmp_path: Path) -> None:
    source = tmp_path / "k.py"
    source.write_text(
        "import triton\nsrc = ASTSource(fn=add, signature={'x': '*fp32', 'y': '*fp32', 'o': '*fp32', 'n': 'i32', "
        "'BLOCK': 'constexpr'}, constexprs={'BLOCK': 64})\n"
    )
    assert verify(CUBIN, "--signature", f"@{source}", "--dialect", "triton-3.6-cuda").exit_code == 0


def test_constants(tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(".version 8.0\n.visible .entry k(.param .u64 a, .param .u32 b) { ret; }\n")
    rest = ("--signature", "*fp32, i64, i32", "--dialect", "triton-3.2-cuda")
    assert verify(str(file), *rest).exit_code == 1
    assert verify(str(file), *rest, "--constants", "1").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Missing argument"),
        ((CUBIN, "--dialect", "triton-3.6-cuda"), "needed to compare with"),
        ((CUBIN, "--which"), "needed to compare with"),
        ((CUBIN, "--signature", "i32"), "needed, or --which to try them all"),
        ((CUBIN, "--signature", "i32", "--which", "--dialect", "triton-3.6-cuda"), "leave --dialect out"),
        ((CUBIN, "--signature", "i32", "--dialect", "triton-9-cuda"), "unknown dialect 'triton-9-cuda'"),
        ((CUBIN, "--signature", "i33", "--which"), "i33"),
        ((CUBIN, "--signature", "i32\ni33", "--which"), "--signature:2:1: RL010 unknown type 'i33'"),
        ((CUBIN, "--signature", "@/nowhere/k.ttir", "--which"), "/nowhere/k.ttir: No such file or directory"),
        ((CUBIN, "--signature", "@", "--which"), "Is a directory"),
        ((CUBIN, "--signature", "i32", "--which", "--constants", "x"), "expected indices with commas between"),
        ((CUBIN, "--signature", "i32", "--which", "--tensordesc-meta", "{"), "no JSON"),
        ((CUBIN, "--signature", "i32", "--which", "--tensordesc-meta", "{}"), "expected a list"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    result = verify(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
