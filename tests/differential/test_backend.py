"""A backend that is not built in is compared like any other: own facts, own templates, own driver, own recorder."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from relaunch import generator

TOY = Path(__file__).parent / "toy"
ROOT = TOY.parents[2]
DIALECT = "toy-1.0-npu"
SIGNATURE = "*fp32, i32, (u64, *i8, (fp16, constexpr)), i8, fp32, u16"


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy's recording driver, built as its authors would build it."""
    built = tmp_path_factory.mktemp("npu") / "libnpu.so"
    sources = [
        TOY / "recorder.cpp",
        *(ROOT / "differential/recorder" / name for name in ("journal.cpp", "answers.cpp")),
    ]
    flags = ["-std=c++20", "-O0", "-shared", "-fPIC", "-Wl,-soname,libnpu.so", f"-I{ROOT}", f"-I{TOY / 'include'}"]
    subprocess.run(["g++", *flags, *map(str, sources), "-o", str(built), "-ldl"], check=True)
    return built


@pytest.fixture
def toy(tmp_path: Path, recorder: Path) -> Path:
    copied = tmp_path / "toy"
    shutil.copytree(TOY, copied, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(recorder, copied)
    return copied


def relaunch(toy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "relaunch", *arguments],
        env={**os.environ, "RELAUNCH_CACHE": str(toy / "cache")},
        cwd=toy,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def diff(toy: Path, *more: str) -> tuple[int, list[dict[str, Any]], str]:
    options = ("--backend", "npu.py", "--cases", "300", "--seed", "3", "--faults", "found")
    done = relaunch(toy, "diff", "--json", *options, *more, SIGNATURE)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_launchers_of_a_plugged_in_backend_agree(toy: Path) -> None:
    code, lines, errors = diff(toy)
    assert (code, errors) == (0, "")
    (tally,) = lines
    assert (tally["dialect"], tally["cases"], tally["faults"]) == (DIALECT, 300, 0)
    assert tally["launches"] > 100
    assert tally["rejections"] > 25
    assert tally["divergences"]["D03"] > 0  # those of the dialect that it follows


@pytest.mark.parametrize(
    ("file", "old", "new", "found", "shrink"),
    [
        (
            "npu/run.c.j2",
            "(unsigned)num_ctas, ",
            "1, ",
            r'\(npuLaunchClusters\): attributes\[0\]\[1\]: byte 0: expected "01',
            "0",
        ),
        (
            "npu/run.c.j2",
            "threads, (unsigned)",
            "threads / 2, (unsigned)",
            r"\(npuLaunch\w*\): block\[0\]: expected",
            "0",
        ),
        ("npu/query.c.j2", "*address = mapped;", "", r"\(npuLaunch\w*\): params\[\d+\]: byte \d: expected", "30"),
    ],
)
def test_a_wrong_template_is_found_and_replays(
    toy: Path, file: str, old: str, new: str, found: str, shrink: str
) -> None:
    change(toy / "templates" / file, old, new)
    code, lines, errors = diff(toy, "--shrink", shrink)
    assert code == 1, errors
    faults = [line for line in lines if "fault" in line]
    shown = [line for line in faults if shrink == "0" or "smallest" in line]
    first = next((line for line in shown if re.search(found, line["fault"])), None)
    assert first is not None, [line["fault"] for line in faults[:5]]
    path = toy / "found" / f"{first['case']['id']}.jsonl"
    if shrink != "0":
        path = toy / "found" / "smallest" / f"{first['smallest']['id']}.jsonl"
        assert len(first["smallest"]["signature"]) <= 1
    expect = json.loads(path.read_text())["expect"]["events"]
    again = relaunch(toy, "replay", "--backend", "npu.py", "--launcher", "precompiled", str(path))
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["expect"]["events"] != expect


def test_the_command_that_replays_names_the_backend(toy: Path) -> None:
    change(toy / "templates/npu/query.c.j2", "*address = mapped;", "")
    done = relaunch(toy, "diff", "--backend", "npu.py", "--faults", "found", "--cases", "50", "--shrink", "0", "*fp32")
    commands = [line.split() for line in done.stdout.splitlines() if line.startswith("  relaunch replay")]
    assert done.returncode == 1
    assert commands
    again = relaunch(toy, *commands[0][1:])
    assert (again.returncode, again.stderr) == (0, "")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "cuda"}, "backend 'cuda' is built in: expected another name"),
        ({"name": "apu"}, "no template apu/headers.c.j2 in {templates}"),
        ({"flags": ("-g",)}, "there is another backend 'npu'"),
        (
            {"follows": {DIALECT: "triton-3.7-hip"}},
            "toy-1.0-npu follows 'triton-3.7-hip': expected one whose launcher was generated, such as triton-3.6-hip",
        ),
        (
            {"dialect": "toy-1.0-hip"},
            "toy-1.0-hip: expected facts of a generated launcher named ANY-MAJOR.MINOR-npu",
        ),
        ({"releases": ("2.0",)}, "toy-1.0-npu: expected '1.0' among its releases, got ('2.0',)"),
        (
            {"more": ("2.0", "triton-3.6-cuda")},
            "backend 'npu' follows dialects of 2 backends: expected those of one",
        ),
    ],
)
def test_a_backend_that_cannot_be_registered(
    changes: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relaunch.generator.backend._registered", {})
    own = toy_backend(monkeypatch)
    generator.register(own)
    generator.register(replace(own))  # an equal one
    if not {"flags", "name"} & set(changes):
        monkeypatch.setattr("relaunch.generator.backend._registered", {})
    (facts,) = own.facts
    if {"dialect", "releases"} & set(changes):
        own, changes = replace(own, facts=(replace(facts, **changes),)), {}
    if "more" in changes:
        release, followed = changes.pop("more")
        other = replace(facts, dialect=f"toy-{release}-npu", releases=(release,))
        own = replace(own, facts=(facts, other), follows={**own.follows, other.dialect: followed})
    with pytest.raises(generator.BackendError) as caught:
        generator.register(replace(own, **changes))
    assert str(caught.value) == said.format(templates=own.templates)


def toy_backend(monkeypatch: pytest.MonkeyPatch) -> generator.Backend:
    """What the toy's file registers, registered nowhere."""
    seen: list[generator.Backend] = []
    with monkeypatch.context() as patched:
        patched.setattr("relaunch.generator.register", seen.append)
        runpy.run_path(str(TOY / "npu.py"))
    (backend,) = seen
    return backend


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "npu.py",
            "facts=(FACTS,)",
            "facts=(FACTS",
            "--backend npu.py: SyntaxError: '(' was never closed (npu.py, line",
        ),
        ("templates/npu/run.c.j2", "$% include", "$% included", "templates of npu: npu/run.c.j2:3: "),
        ("templates/npu/run.c.j2", "way.function", "way.functions", "templates of npu: common.c.j2: "),
        ("templates/npu/run.c.j2", "npu_kernel kernel", "npu_kernel", "toy-1.0-npu (*fp32): "),
    ],
)
def test_a_backend_that_is_wrong_is_told_so(toy: Path, file: str, old: str, new: str, said: str) -> None:
    change(toy / file, old, new)
    done = relaunch(toy, "diff", "--backend", "npu.py", "*fp32")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip().startswith(said), done.stderr


def test_a_backend_whose_file_or_recorder_is_missing_is_told_so(toy: Path) -> None:
    done = relaunch(toy, "diff", "--backend", "none.py", "i32")
    assert done.returncode == 2
    assert done.stderr.startswith("--backend none.py: FileNotFoundError: ")
    (toy / "libnpu.so").unlink()
    done = relaunch(toy, "diff", "--backend", "npu.py", "i32")
    assert done.returncode == 2
    assert f"{toy}/libnpu.so: cannot open shared object file" in done.stderr


def test_an_unknown_dialect_is_told_the_known_ones(toy: Path) -> None:
    done = relaunch(toy, "diff", "--backend", "npu.py", "--dialect", "toy-2.0-npu", "i32")
    assert done.returncode == 2
    assert done.stderr.startswith("no dialect 'toy-2.0-npu': there are triton-3.0-cuda, ")
    assert done.stderr.endswith(f", {DIALECT}\n")
