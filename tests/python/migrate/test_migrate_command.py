"""`relaunch migrate` as it is run: what it writes where, and how it exits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import relaunch
from relaunch import ARG_CONSTEXPR, ARG_KERNEL, ARG_TUPLE, PyKernelArg
from relaunch._core import EMITTED, FORMS
from relaunch.cli import app

UNKNOWN = "expected one like i32, fp32, *fp16, constexpr or tensordesc<fp16[64, 64]>"


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    done = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, ["migrate", *arguments], input=stdin)
    return done.exit_code, done.stdout, done.stderr


def lines(stdin: bytes, *arguments: str) -> list[dict[str, Any]]:
    """What --json writes about standard input."""
    code, out, _ = run("--json", *arguments, "-", stdin=stdin)
    written = [json.loads(line) for line in out.splitlines()]
    failed = any(found["severity"] == "error" for line in written for found in line["diagnostics"])
    assert code == int(failed)
    return written


def test_report(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"*fp32, n: i32:16\n\n(i32, *fp33\r\n{'a': 'i32',\n 'b': ('i64',)}\n")
    code, out, err = run(str(file))
    assert (code, err) == (1, "")
    assert out == (
        f"{file}:1:1: *fp32, n: i32:16\n"
        f"{file}:3:7: RL010 unknown type '*fp33': {UNKNOWN}\n"
        "  (i32, *fp33\n"
        "        ^^^^^\n"
        f"{file}:3:1: RL005 '(' is never closed\n"
        "  (i32, *fp33\n"
        "  ^\n"
        f"{file}:4:1: a: i32, b: (i64,)\n"
        "3 signatures: 2 read, 1 failed\nread as: 1 csv, 1 dict\n"
    )


def test_warnings_do_not_fail() -> None:
    row = {"text": "x: i32, N: constexpr", "constants": "{'N': N, 'M': 1}"}
    code, out, err = run("-", stdin=json.dumps(row).encode())
    assert (code, err) == (0, "")
    assert out == (
        "<stdin>:1:1: x: i32, N: constexpr\n"
        "<stdin>:1:22: RL101 warning: the constant 'N' is not a literal: 'N'\n"
        "  x: i32, N: constexpr\n"
        "             ^^^^^^^^^\n"
        "1 signature: 1 read, 0 failed, 1 warning\nread as: 1 csv\n"
    )


def test_json_lines() -> None:
    text = "x: *float32:16, (i32, constexpr), 1.5"
    row = {"text": text, "constants": "{'K': 10, 1: float('nan')}"}
    code, out, err = run("--json", "-", stdin=json.dumps(row).encode() + b"\ni33\n")
    assert (code, err) == (1, "2 signatures: 1 read, 1 failed, 1 warning\nread as: 1 csv\n")
    assert [json.loads(line) for line in out.splitlines()] == [
        {
            "source": "<stdin>:1:1",
            "form": "csv",
            "text": text,
            "parameters": [
                {"name": "x", "kind": "ARG_KERNEL", "type": "*fp32", "hint": "16"},
                {
                    "name": None,
                    "kind": "ARG_TUPLE",
                    "items": [
                        {"name": None, "kind": "ARG_KERNEL", "type": "i32"},
                        {"name": None, "kind": "ARG_CONSTEXPR"},
                    ],
                    "value": {"float": "nan"},
                },
                {"name": None, "kind": "ARG_CONSTEXPR", "value": 1.5},
            ],
            "constants": {"K": 10},
            "diagnostics": [
                {
                    "code": "RL113",
                    "severity": "warning",
                    "message": "'*float32' is read as '*fp32', the only spelling that Triton's compiler knows",
                    "span": [3, 11],
                }
            ],
        },
        {
            "source": "<stdin>:2:1",
            "form": "csv",
            "text": "i33",
            "parameters": [],
            "constants": {},
            "diagnostics": [
                {"code": "RL010", "severity": "error", "message": f"unknown type 'i33': {UNKNOWN}", "span": [0, 3]}
            ],
        },
    ]


def test_writing_twice_changes_nothing() -> None:
    stdin = b"x: *fp32:16, (i32,), 3\n{'a': 'constexpr'}\ni33\n{}\n"
    _, first, _ = run("--json", "-", stdin=stdin)
    _, second, _ = run("--json", "--form", "tree", "-", stdin=first.encode())
    _, third, _ = run("--json", "-", stdin=second.encode())
    assert third == second
    assert [line["form"] for line in map(json.loads, second.splitlines())] == ["tree"] * 4
    _, once, _ = run("--emit", "csv", "-", stdin=stdin)
    assert once == "x: *fp32:16, (i32,), constexpr=3\na: constexpr\n{}\n"
    assert run("--emit", "csv", "-", stdin=once.encode())[1] == once


def test_python_runs_and_builds_the_tree() -> None:
    text = "x: *fp32, constexpr, (i32, (*fp16, constexpr), ()), fp64"
    code, out, err = run("--emit", "python", "-", stdin=text.encode())
    assert (code, err) == (0, "1 signature: 1 read, 0 failed\nread as: 1 csv\n")
    names: dict[str, Any] = {}
    kinds = {"ARG_CONSTEXPR": ARG_CONSTEXPR, "ARG_KERNEL": ARG_KERNEL, "ARG_TUPLE": ARG_TUPLE}
    exec(out, {"PyKernelArg": PyKernelArg, **kinds}, names)

    def shape(nodes: Any) -> Any:
        return [(node.type, shape(node.nested_tuple or ())) for node in nodes]

    assert shape(names["arg_annotations"]) == shape(relaunch.parse(text))
    assert names["flat_signature"] == ["*fp32", "i32", "*fp16", "fp64"]


def test_findings_go_to_standard_error_where_output_is_code() -> None:
    code, out, err = run("--emit", "csv", "-", stdin=b"i32\ni33\n")
    assert (code, out) == (1, "i32\n")
    assert err == (
        f"<stdin>:2:1: RL010 unknown type 'i33': {UNKNOWN}\n  i33\n  ^^^\n"
        "2 signatures: 1 read, 1 failed\nread as: 1 csv\n"
    )


@pytest.mark.parametrize("form", ["TTIR", "nonsense", ""])
def test_forms_without_a_reader(form: str) -> None:
    code, out, err = run("--form", form, "-")
    assert (code, out) == (2, "")
    shown = " ".join(err.replace("│", " ").split())  # out of the box that it may stand in
    assert f"no reader for {form!r}: the forms read are {', '.join(FORMS)}" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing argument 'FILE'"),
        (("--emit", "html", "-"), f"no writer for 'html': written are {', '.join(EMITTED)}"),
        (("--json", "--emit", "csv", "-"), "--json and --emit csv exclude each other"),
        (("--nonsense", "-"), "No such option: --nonsense"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_text("i32\n")
    code, out, err = run(str(tmp_path / "none"), str(tmp_path), str(good))
    assert (code, out) == (
        2,
        f"{good}:1:1: i32\n1 signature: 1 read, 0 failed, 2 files could not be read\nread as: 1 csv\n",
    )
    assert err == (
        f"relaunch migrate: {tmp_path / 'none'}: No such file or directory\n"
        f"relaunch migrate: {tmp_path}: Is a directory\n"
    )


@pytest.mark.parametrize(
    ("stdin", "code", "span", "source"),
    [
        (b"", "RL001", [0, 0], "<stdin>:1:1"),
        (b"\n\n", "RL001", [0, 0], "<stdin>:1:1"),
        (b"\n i32, \xff", "RL002", [5, 8], "<stdin>:2:2"),
        (b"i32, \0", "RL003", [5, 6], "<stdin>:1:1"),
        (b"\xff\xfei\x003\x002\x00", "RL002", [0, 3], "<stdin>:1:1"),
        (b"(i32", "RL005", [0, 1], "<stdin>:1:1"),
        (b"i32)", "RL005", [3, 4], "<stdin>:1:1"),
        (b"(" * 100_000, "RL006", [256, 257], "<stdin>:1:1"),
        (b"[" * 100_000, "RL006", [257, 258], "<stdin>:1:1"),
        (b"x" * 1_000_000, "RL010", [0, 1_000_000], "<stdin>:1:1"),
    ],
)
def test_bad_input(stdin: bytes, code: str, span: list[int], source: str) -> None:
    (line,) = lines(stdin)
    assert line["source"] == source
    assert [(found["code"], found["span"]) for found in line["diagnostics"]] == [(code, span)]
    assert line["parameters"] == []


def test_columns_are_code_points() -> None:
    code, out, _ = run("-", stdin="\ufeffé😀: i32, i33\n".encode())
    assert code == 1
    assert out.startswith("<stdin>:1:10: RL010 unknown type 'i33'")
    assert lines("é: i32, i33".encode())[0]["diagnostics"][0]["span"] == [9, 12]


def test_output_survives_a_narrow_encoding() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from relaunch.cli import main; main()", "migrate", "-"],
        input="é: i32\n".encode(),
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert done.stdout == b"<stdin>:1:1: \\xe9: i32\n1 signature: 1 read, 0 failed\nread as: 1 csv\n"


def test_five_thousand_arguments() -> None:
    (line,) = lines(b", ".join([b"*fp32"] * 5000))
    assert line["parameters"] == [{"name": None, "kind": "ARG_KERNEL", "type": "*fp32"}] * 5000


@pytest.mark.plain_build  # measures time
@pytest.mark.parametrize(
    "stdin",
    [
        b"*fp32, " * 142_857 + b"i32",
        b"{" + b", ".join(b"'a%d': 'i32'" % n for n in range(60_000)) + b"}",
        b"'i32' " * 166_000,
        b"i33, " * 200_000,
        b"* " * 500_000,
        b"({[" * 333_333,
        b"\\'''\n" * 200_000,
        b"a<" * 500_000,
        b'"' * 1_000_000,
        b'{"text": "i32", "constants": {' + b", ".join(b'"a%d": b' % n for n in range(80_000)) + b"}}",
    ],
    ids=["types", "dict", "strings", "unknown", "stars", "brackets", "triples", "angles", "quotes", "constants"],
)
def test_a_megabyte_is_read_in_linear_time(stdin: bytes) -> None:
    from relaunch._core import read_signatures

    begin = time.process_time()
    read_signatures(stdin, "f")
    # A tenth of this on an idle machine, one line of it alone; quadratic ways took minutes.
    assert time.process_time() - begin < 5
