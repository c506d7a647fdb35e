"""The front door: jobs, exit codes, and what set-up says where something is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def bash(script: str, folder: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """A script in a folder, the repository's root where none is given."""
    environment = {**os.environ, **variables}
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with what set-up reads, and nothing built."""
    for part in ("run", "tools", "requirements", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, tmp_path / part)
    return tmp_path


def path_without(folder: Path, *hidden: str) -> str:
    """A PATH on which some commands do not exist."""
    folder.mkdir()
    for place in ("/usr/bin", "/bin", "/usr/local/bin"):
        for command in Path(place).iterdir():
            if command.name not in hidden and not (folder / command.name).is_symlink():
                (folder / command.name).symlink_to(command)
    return str(folder)


def test_help_and_unknown_job() -> None:
    shown = bash("./run help")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("usage: ./run JOB [ARGS...]\n")
    refused = bash("./run no-such-job")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("run: no job 'no-such-job'\nusage: ./run JOB")


def test_missing_packages_are_named(sources: Path, tmp_path: Path) -> None:
    path = path_without(tmp_path / "bin", "apt-get", "ninja", "valgrind")
    asked = bash("./run bench", sources, PATH=path)
    assert (asked.returncode, asked.stdout) == (2, "")
    first, *missing, advice = asked.stderr.splitlines()
    assert first == "relaunch: missing on this system:"
    assert {"  Ninja (Debian: ninja-build)", "  valgrind (Debian: valgrind)"} <= set(missing)
    packages = [line.rpartition("(Debian: ")[2].rstrip(")") for line in missing]
    assert advice == f"relaunch: as root on Debian 12: apt-get install {' '.join(packages)}"
    assert not (sources / ".venv").exists()


def test_dead_python_stand_ins_are_passed_over(tmp_path: Path) -> None:
    path = path_without(tmp_path / "bin")
    dead = tmp_path / "bin" / "python3.19"
    dead.write_text("#!/bin/sh\nexit 127\n")
    dead.chmod(0o755)
    found = bash(". tools/setup.sh; find_python", PATH=path)
    assert found.returncode == 0
    assert Path(found.stdout.strip()).name != "python3.19"


def test_failing_step_hides_no_later_one(sources: Path) -> None:
    script = ". tools/setup.sh; . tools/steps.sh; step_a() { return 3; }; step_b() { echo ran; }; run_steps a b"
    done = bash(script, sources)
    assert done.returncode == 1
    assert [re.sub(r" +\d+ s$", "", line) for line in done.stdout.splitlines()] == [
        "",
        "== a",
        "-- a        FAILED",
        "",
        "== b",
        "ran",
        "-- b        ok",
        "",
        "== summary",
        "a        FAILED",
        "b        ok",
        "all      FAILED",
    ]


def test_unknown_step_runs_none(sources: Path) -> None:
    script = "root=$PWD; . tools/setup.sh; . tools/steps.sh; run_steps mypy no-such-step"
    done = bash(script, sources)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("relaunch: no step 'no-such-step'; there are: format ruff mypy")


def test_failed_work_shows_the_end_of_its_log(sources: Path) -> None:
    done = bash(". tools/setup.sh; work() { echo why; return 7; }; with_progress 'some work' work", sources)
    assert (done.returncode, done.stdout) == (7, "")
    assert done.stderr.splitlines() == [
        "relaunch: some work ...",
        "relaunch: some work failed (status 7); the end of build/logs/some-work.log:",
        "why",
    ]


def test_build_key_follows_sources(sources: Path) -> None:
    for folder in ("cmake", "precompiled", "migrate", "differential", "generator", "relaunch"):
        (sources / folder).mkdir()
    (sources / "CMakeLists.txt").touch()
    source = sources / "migrate" / "a.cpp"

    def key() -> str:
        return bash(". tools/setup.sh; build_inputs | digest", sources).stdout

    first = key()
    (sources / "migrate" / "notes.md").write_text("no part of the build")
    assert key() == first
    source.write_text("int a;")
    second = key()
    assert second != first
    source.write_text("int b;")
    assert key() not in (first, second)
