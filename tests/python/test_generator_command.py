"""`relaunch generate`: what it prints and writes, and that it writes nothing where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from relaunch import generator
from relaunch.cli import app

CUDA = "triton-3.6-cuda"
HIP = "triton-3.6-hip"
ADD = "*fp32, *fp32, i32, constexpr"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAUNCH_CACHE", str(tmp_path / "cache"))


def generate(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["generate", *arguments])


def module(dialect: str, *signature: object) -> str:
    return generator.module_name(generator.LauncherSpec(dialect, signature))


def test_source_goes_to_standard_output() -> None:
    result = generate("--dialect", CUDA, ADD)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == generator.render(generator.LauncherSpec(CUDA, ("*fp32", "*fp32", "i32", "constexpr")))


def test_sources_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "sources"
    result = generate("--dialect", "triton-3.6.0-hip", "--warp-size", "32", "-o", str(folder), ADD, "(i32, (u8,))")
    specs = [
        generator.LauncherSpec(HIP, ("*fp32", "*fp32", "i32", "constexpr"), warp_size=32),
        generator.LauncherSpec(HIP, (("i32", ("u8",)),), warp_size=32),
    ]
    names = [f"{generator.module_name(spec)}.c" for spec in specs]
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{folder / names[0]}  {ADD}\n{folder / names[1]}  (i32, (u8,))\n"
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        name: generator.render(spec) for name, spec in zip(names, specs, strict=True)
    }


def test_shared_objects_are_written_again_and_again(tmp_path: Path) -> None:
    name = module(CUDA, "*fp32", "*fp32", "i32", "constexpr")
    for _ in range(2):
        result = generate("--dialect", CUDA, "--build", "--json", "-o", str(tmp_path / "out"), ADD)
        assert result.exit_code == 0
        assert [json.loads(line) for line in result.stdout.splitlines()] == [
            {
                "signature": ADD,
                "dialect": CUDA,
                "module": name,
                "source": str(tmp_path / "out" / f"{name}.c"),
                "object": str(tmp_path / "out" / f"{name}.so"),
            }
        ]
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"{name}.c", f"{name}.so"]
    assert result.stderr == ""  # the second time nothing was compiled


def test_build_without_folder_tells_where_the_object_is() -> None:
    result = generate("--dialect", HIP, "--build", "i32")
    assert result.exit_code == 0
    assert result.stderr == "built 0 of 1 launchers\nbuilt 1 of 1 launchers\n"
    path, text = result.stdout.rstrip("\n").split("  ")
    assert Path(path).is_file()
    assert text == "i32"


def test_json_holds_the_source() -> None:
    result = generate("--dialect", CUDA, "--json", "i32", "u8")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["signature"], line["module"]) for line in lines] == [
        ("i32", module(CUDA, "i32")),
        ("u8", module(CUDA, "u8")),
    ]
    assert lines[1]["text"] == generator.render(generator.LauncherSpec(CUDA, ("u8",)))


def test_bad_signatures_are_all_told_and_nothing_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    result = generate(
        "--dialect", HIP, "-o", str(folder), "--build", "--json", "i32, (i33", "i32", "i8, (u8, nvTmaDesc)"
    )
    assert result.exit_code == 1
    assert not folder.exists()
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert first["signature"] == "i32, (i33"
    assert first["error"]["code"].startswith("RL")
    assert second == {
        "signature": "i8, (u8, nvTmaDesc)",
        "error": {
            "code": "RG001",
            "message": f"{HIP} has no type 'nvTmaDesc' (argument 1, item 1)",
            "span": [9, 18],
        },
    }
    assert "  i32, (i33\n" in result.stderr
    assert result.stderr.endswith(
        f"1:10: RG001 {HIP} has no type 'nvTmaDesc' (argument 1, item 1)\n"
        "  i8, (u8, nvTmaDesc)\n"
        "           ^^^^^^^^^\n"
        "2 of 3 signatures have no launcher; nothing was written\n"
    )


def test_place_of_an_unknown_type_counts_lines() -> None:
    result = generate("--dialect", CUDA, "i32,\n  fp8e4nv")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[1:3] == ["    fp8e4nv", "    ^^^^^^^"]
    assert result.stderr.startswith("2:3: RG001 ")


def test_unknown_dialect_is_usage(tmp_path: Path) -> None:
    result = generate("--dialect", "triton-2.0-cuda", "-o", str(tmp_path / "out"), "i32")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"unknown dialect 'triton-2.0-cuda'; known: {', '.join(generator.all_dialects())}\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("dialect", generator.all_dialects())
def test_every_dialect_is_generated_or_says_why_not(dialect: str) -> None:
    result = generate("--dialect", dialect, "*fp32, i32")
    if dialect in generator.dialects():
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == generator.render(generator.LauncherSpec(dialect, ("*fp32", "i32")))
    else:
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == (
            f"{dialect} has nothing to generate: one native launcher serves every signature since Triton 3.7\n"
        )


def test_compiler_that_refuses_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "cc"
    script.write_text("#!/bin/sh\necho not on my watch\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    result = generate("--dialect", HIP, "--build", "--json", "-o", str(tmp_path / "out"), "i32, i64")
    assert result.exit_code == 1
    assert not (tmp_path / "out").exists()
    assert "triton-3.6-hip (i32, i64): not on my watch\n" in result.stderr
    (line,) = (json.loads(line) for line in result.stdout.splitlines())
    assert line["signature"] == "i32, i64"
    assert line["error"]["code"] == "RG002"
    assert line["error"]["message"].startswith("not on my watch\n")


def test_missing_compiler_and_folder_are_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    result = generate("--dialect", CUDA, "-o", str(tmp_path / "file"), "i32")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"{tmp_path / 'file'}: File exists\n"
    monkeypatch.setenv("CC", "no-such-compiler")
    result = generate("--dialect", CUDA, "--build", "i32")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "no C compiler: no-such-compiler not found\n"


@pytest.mark.parametrize("arguments", [["i32"], ["--dialect", CUDA], ["--dialect", HIP, "--warp-size", "0", "i32"]])
def test_usage_errors_exit_2(arguments: list[str]) -> None:
    result = generate(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")


def test_text_that_is_not_utf8_is_a_bad_signature() -> None:
    result = generate("--dialect", CUDA, b"i32, \xff".decode(errors="surrogateescape"))
    assert result.exit_code == 1
    assert result.stderr.endswith("1 of 1 signatures have no launcher; nothing was written\n")
    assert result.exception is None or isinstance(result.exception, SystemExit)
