"""`migrate --fix` and `--diff`: what is written where, that it is what was promised, and what is left alone."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relaunch
import relaunch._core
from relaunch._core import MigrateSession, Signature, read_signatures

PROGRAM = str(Path(relaunch._core.__file__).parent / "relaunch-migrate")
COMMANDS = {"native": [PROGRAM], "python": [sys.executable, "-m", "relaunch", "migrate"]}
BEFORE = b"# caf\xe9\r\nx: FP32*, n: Int32,\r\n\r\n*float32, i8\r\n\0\xff\r\ni33, i32\r\n"
AFTER = b"# caf\xe9\r\nx: *fp32, n: i32\r\n\r\n*fp32, i8\r\n\0\xff\r\ni33, i32\r\n"


def run(program: str, *arguments: str, cwd: Path, stdin: bytes) -> tuple[int, bytes, bytes]:
    """Exit status, standard output and standard error."""
    command = [*COMMANDS[program], *arguments]
    done = subprocess.run(
        command, capture_output=True, check=False, cwd=cwd, env=os.environ | {"PYTHONUTF8": "1"}, input=stdin
    )
    return done.returncode, done.stdout, done.stderr


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}


Both = Callable[..., tuple[int, str, str, dict[str, bytes]]]


@pytest.fixture
def both(tmp_path: Path) -> Both:
    """Runs both programs in folders of the same files: what they write, and what is in the files then."""

    def run_both(
        files: dict[str, bytes], *arguments: str, stdin: bytes = b""
    ) -> tuple[int, str, str, dict[str, bytes]]:
        results = []
        for program in COMMANDS:
            folder = tmp_path / program
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for name, before in files.items():
                (folder / name).write_bytes(before)
            code, out, err = run(program, *arguments, cwd=folder, stdin=stdin)
            results.append((code, out.decode("latin-1"), err.decode("latin-1"), content(folder)))
        assert results[0] == results[1]
        return results[0]

    return run_both


DIFF = (
    "--- a\n+++ a\n@@ -1,6 +1,6 @@\n # caf\xe9\r\n-x: FP32*, n: Int32,\r\n+x: *fp32, n: i32\r\n \r\n"
    "-*float32, i8\r\n+*fp32, i8\r\n \0\xff\r\n i33, i32\r\n"
)
LEFT = (
    "a:4:8: RL108 warning: 'i8' takes no negative value in launchers of 3.0 to 3.6\n"
    "  *fp32, i8\n         ^^\n  not fixed: another type is another kernel\n"
    "a:5:2: RL002 this byte is not UTF-8\n  \xef\xbf\xbd\xef\xbf\xbd\n   ^\n  not fixed: its encoding is not known\n"
    "a:6:1: RL010 unknown type 'i33': expected one like i32, fp32, *fp16, constexpr or tensordesc<fp16[64, 64]>\n"
    "  i33, i32\n  ^^^\n  not fixed: what was meant is not known\n"
)


def test_fix(both: Both) -> None:
    code, out, err, files = both({"a": BEFORE}, "--fix", "a")
    assert (code, err, files) == (1, "", {"a": AFTER})
    canonical = LEFT.splitlines(keepends=True)
    assert out == DIFF + "a:2:1: x: *fp32, n: i32\na:4:1: *fp32, i8\n" + "".join(canonical) + (
        "4 signatures: 2 read, 2 failed, 1 warning, 4 findings fixed in 1 file\nread as: 2 csv\n"
    )


def test_diff_changes_nothing(both: Both) -> None:
    for arguments in (["--diff"], ["--diff", "--fix"]):
        code, out, err, files = both({"a": BEFORE}, *arguments, "a")
        assert (code, out, files) == (1, DIFF, {"a": BEFORE})
        assert err == LEFT + (
            "4 signatures: 2 read, 2 failed, 1 warning, 4 findings would be fixed in 1 file\nread as: 2 csv\n"
        )


def test_all_fixed_is_fine_and_to_be_fixed_is_not(both: Both) -> None:
    assert both({"a": b"FP32\n"}, "--fix", "a")[0] == 0
    assert both({"a": b"FP32\n"}, "--diff", "a")[0] == 1
    assert both({"a": b"float32\n"}, "--diff", "a")[0] == 1
    assert both({"a": b"fp32\n"}, "--diff", "a")[:3] == (0, "", "1 signature: 1 read, 0 failed\nread as: 1 csv\n")
    assert both({"a": b"fp32\n"}, "--fix", "a", "none")[0] == 2


def test_standard_input_becomes_the_mended_text(both: Both) -> None:
    code, out, err, _ = both({}, "--fix", "-", stdin=BEFORE)
    assert (code, out) == (1, AFTER.decode("latin-1"))
    assert err.startswith(DIFF.replace(" a\n", " <stdin>\n"))
    assert both({}, "--fix", "-", stdin=AFTER)[1] == AFTER.decode("latin-1")
    assert both({}, "--diff", "-", stdin=BEFORE)[1] == DIFF.replace(" a\n", " <stdin>\n")
    assert both({}, "--fix", "-", stdin=b"")[:2] == (1, "")


def test_json_has_the_fix_and_what_it_gives(both: Both) -> None:
    code, out, err, files = both({"a": BEFORE}, "--fix", "--json", "a")
    assert (code, files["a"]) == (1, AFTER)
    assert err.startswith(DIFF)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["text"] for line in lines] == [
        "x: FP32*, n: Int32,",
        "*float32, i8",
        "\0\xff".replace("\xff", "\ufffd"),
        "i33, i32",
    ]
    remedies = [[found.get("fix", found.get("not_fixed")) for found in line["diagnostics"]] for line in lines]
    assert remedies == [
        [{"span": [3, 8], "text": "*fp32"}, {"span": [13, 18], "text": "i32"}, {"span": [18, 19], "text": ""}],
        ["another type is another kernel", {"span": [0, 8], "text": "*fp32"}],
        ["its encoding is not known"],
        ["what was meant is not known"],
    ]
    assert [sorted(line.get("fixed", {})) for line in lines] == [
        ["constants", "diagnostics", "parameters", "text"],
        ["constants", "diagnostics", "parameters", "text"],
        [],
        [],
    ]
    assert [one["type"] for one in lines[0]["fixed"]["parameters"]] == ["*fp32", "i32"]
    for line in lines[:2]:  # the fixes, made by hand
        text = line["text"]
        for found in reversed([one["fix"] for one in line["diagnostics"] if "fix" in one]):
            text = text[: found["span"][0]] + found["text"] + text[found["span"][1] :]
        assert text == line["fixed"]["text"]
    assert both({"a": BEFORE}, "--diff", "--json", "a")[1] == out
    plain = [json.loads(line) for line in both({"a": BEFORE}, "--json", "a")[1].splitlines()]
    for line in lines:
        line.pop("fixed", None)
        line["diagnostics"] = [
            {key: value for key, value in found.items() if key not in ("fix", "not_fixed")}
            for found in line["diagnostics"]
        ]
    assert plain == lines


@pytest.mark.parametrize("emit", ["csv", "python", "cpp", "aot"])
def test_what_is_written_is_of_the_mended_signatures(both: Both, emit: str) -> None:
    code, out, err, files = both({"a": b"FP32*, Int32,\n"}, "--fix", "--emit", emit, "a")
    assert (code, files) == (0, {"a": b"*fp32, i32\n"})
    assert out == both({"a": b"*fp32, i32\n"}, "--emit", emit, "a")[1]
    assert err.startswith("--- a\n+++ a\n")


def test_every_sample_and_signature(both: Both) -> None:
    here = Path(__file__).parent
    rows = here.parents[1] / "signatures" / "signatures.jsonl"
    files = {file.name: file.read_bytes() for file in [rows, *sorted((here / "samples").glob("*.txt"))]}
    del files["kernel.json.txt"]  # a compiler's
    code, out, _, after = both(files, "--fix", *files)
    assert code == 1
    assert " fixed in " not in out  # what people wrote has no slips of these kinds
    assert after == files
    shouted = {name: text.replace(b"'*fp32'", b"'*FP32'").replace(b"'i32'", b"'Int32'") for name, text in files.items()}
    _, out, _, after = both(shouted, "--fix", *files)
    assert " findings fixed in 3 files" in out
    assert [name for name in files if trees(after[name]) != trees(files[name])] == []


def trees(text: bytes) -> list[str]:
    return [one.to_csv() if one.ok else one.diagnostics[0]["code"] for one in read_signatures(text, "f")]


def test_the_diff_is_one_that_git_applies(both: Both, tmp_path: Path) -> None:
    text = b"".join(b"a%d: %s, b: i32\n" % (n, b"float" if n % 9 == 0 else b"fp32") for n in range(60)) + b"FP32"
    out, files = (both({"a": text}, mode, "a") for mode in ("--diff", "--fix"))
    (tmp_path / "a").write_bytes(text)
    subprocess.run(["git", "apply", "-p0", "-"], input=out[1].encode("latin-1"), cwd=tmp_path, check=True)
    assert (tmp_path / "a").read_bytes() == files[3]["a"] != text


# What mending does to any text.

TYPES = {
    "i32": ["i32", "I32", "int32", "Int32", "int32_t"],
    "fp16": ["fp16", "FP16", "half", "float16", "F16"],
    "*fp32": ["*fp32", "* fp32", "*FP32", "float*", "*float32", "fp32*", "\u00a0*fp32", "*fp32\u200b"],
    "**i8": ["**i8", "* *i8", "**int8", "i8**"],
    "constexpr": ["constexpr", "tl.constexpr", "Constexpr"],
}


@st.composite
def distorted(draw: st.DrawFn) -> tuple[str, str]:
    """A line as it is meant, and one that can mean nothing else."""
    chosen = draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=6))
    named = draw(st.booleans())
    meant = [f"n{i}: {one}" if named else one for i, one in enumerate(chosen)]
    written = [draw(st.sampled_from(TYPES[one])) for one in chosen]
    if draw(st.booleans()):
        line = ", ".join(f"n{i}: {one}" if named else one for i, one in enumerate(written))
        line += draw(st.sampled_from(["", ",", " ,", "\f", " \x1a", ",\0"]))
    else:
        line = "{" + ", ".join(f"'n{i}': {one!r}" for i, one in enumerate(written)) + ",}"
        line = line.replace("\\u200b", "\u200b").replace("\\xa0", "\u00a0")
        meant = [f"n{i}: {one}" for i, one in enumerate(chosen)]
    return ", ".join(meant), line


def fixed(text: bytes) -> bytes:
    out, error = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    session = MigrateSession("auto", "", out, error, "apply")
    session.fix_input(text)
    error.flush()
    assert b"not fixed: the signature" not in error.buffer.getvalue()
    return out.buffer.getvalue()


@settings(max_examples=300)
@given(st.lists(distorted(), min_size=1, max_size=5))
def test_a_line_becomes_what_was_meant(lines: list[tuple[str, str]]) -> None:
    text = "\n\n".join(line for _, line in lines).encode()
    read = read_signatures(fixed(text), "f")
    assert [one.to_csv() for one in read] == [
        relaunch._core.read_signatures(meant.encode(), "f")[0].to_csv() for meant, _ in lines
    ]


PIECES = [
    "i32",
    "FP32",
    "*float32",
    "tl.constexpr",
    ",",
    ",",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    "=",
    "#",
    "'",
    '"',
    ":16",
    ":1",
    "1.5",
    "None",
    "\x00",
    "\x0c",
    "\xa0",
    "\r\n",
    "\n",
    "\n",
    "x",
    "y",
    "{'a':'Half'}",
    '{"text":"FP16,","constants":"x=1"}',
    "ASTSource(fn=k,signature={0:'*F32'})",
    "import",
    "torch.half",
    "triton_meta={'signature':{'a':'Int8'}}",
    "%a:!tt.ptr<f32>",
    "tensordesc<FP16[4]>",
]


def of_lists(read: Sequence[Signature]) -> list[tuple[str, str | None]]:
    return [(one.form, one.to_csv() if one.ok else None) for one in read]


@settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=3).map(lambda b: b.decode("latin-1")), max_size=30))
def test_any_text_keeps_its_trees_and_is_mended_once(pieces: list[str]) -> None:
    text = " ".join(pieces).encode()
    once = fixed(text)
    assert fixed(once) == once
    assert once.count(b"\n") == text.count(b"\n")
    before, after = of_lists(read_signatures(text, "f")), of_lists(read_signatures(once, "f"))
    assert len(after) == len(before)
    assert [now for was, now in zip(before, after, strict=True) if was[1] is not None and now != was] == []
    changed = [(a, b) for a, b in zip(text.split(b"\n"), once.split(b"\n"), strict=True) if a != b]
    assert not changed or sum(tree is None for _, tree in after) <= sum(tree is None for _, tree in before)
