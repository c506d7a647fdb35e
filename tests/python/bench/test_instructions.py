"""The gate: a launch costs no more instructions than was accepted on this build, and the ratios hold on all builds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from relaunch.differential.recorder import path
from typer.testing import CliRunner

from relaunch.cli import app
from relaunch.commands import bench
from relaunch.commands.bench import accepted, binding, callgrind, instructions
from relaunch.commands.bench.figures import FOLDER, SIZES, Figure
from relaunch.commands.bench.instructions import LAUNCH, TURN

pytestmark = [
    pytest.mark.xdist_group("bench"),
    pytest.mark.plain_build,  # counts instructions
]


@pytest.fixture(scope="module")
def counts() -> Sequence[Figure]:
    """What the gate looks at, counted in one process under callgrind (it is part of `./run setup`)."""
    if shutil.which("valgrind") is None:
        pytest.skip("no valgrind")
    ours, pointers = ("precompiled.launch", "precompiled.call"), ("dlpack", "object")
    FOLDER.mkdir(parents=True, exist_ok=True)
    todo = [*instructions.cases(FOLDER, list(SIZES), ours, pointers), *instructions.ramp()]
    todo += instructions.cases(FOLDER, sorted({size for size, _ in accepted.RATIOS}), ["generated"], pointers)
    return instructions.count_cases(todo, Path(path("cuda")), turns=20)


def test_a_launch_costs_what_was_accepted(counts: Sequence[Figure]) -> None:
    """Counts of this build against tests/bench/accepted.json, and the bounds that hold on every build."""
    assert accepted.is_complete(counts)
    assert accepted.findings(counts, accepted.load()) == []


def test_accepted_counts_are_of_the_launches_that_are_counted(counts: Sequence[Figure]) -> None:
    """Else a renamed case would compare with nothing."""
    for build, kept in accepted.load().items():
        assert set(accepted.counts_of(counts)) == {key for key in kept if "pointers int" not in key}, build


def test_counts_repeat_exactly(counts: Sequence[Figure]) -> None:
    """A count is no sample: another process gives the same number, so 2% is not noise."""
    todo = [*instructions.cases(FOLDER, [58], ["precompiled.call"], ["dlpack"])]
    again = instructions.count_cases(todo, Path(path("cuda")), turns=10)[0]
    assert again in counts


def test_a_rise_fails_and_says_how_to_accept_it(counts: Sequence[Figure]) -> None:
    """A broken expectation: were the accepted counts 3% lower, each of them would be a finding."""
    now = accepted.counts_of(counts)
    lower = {accepted.build_key(): {key: int(count / 1.03) for key, count in now.items()}}
    found = accepted.findings(counts, lower)
    assert len(found) == len(now)
    key = "precompiled.call, 58 arguments, pointers dlpack"
    (line,) = [line for line in found if line.startswith(key)]
    before = lower[accepted.build_key()][key]
    assert line == (
        f"{key}: {now[key]:,} instructions, accepted are {before:,} (+{now[key] / before - 1:.1%}); "
        "a rise that is wanted is accepted by ./run bench instructions --accept"
    )


def test_a_small_rise_and_another_build_pass(counts: Sequence[Figure]) -> None:
    now = accepted.counts_of(counts)
    assert accepted.findings(counts, {accepted.build_key(): {key: int(n / 1.015) for key, n in now.items()}}) == []
    assert accepted.findings(counts, {"another build": {key: n // 2 for key, n in now.items()}}) == []


def counted(*rows: tuple[str, int, str, float]) -> list[Figure]:
    return [Figure(what, size, pointers, value, LAUNCH) for what, size, pointers, value in rows]


def test_broken_bounds_are_named() -> None:
    """Every bound, broken by counts made up for it; the builds play no part."""
    figures = counted(
        ("generated", 0, "none", 149),
        ("precompiled.call", 0, "none", 100),
        ("generated", 58, "dlpack", 399),
        ("precompiled.launch", 58, "dlpack", 100),
        ("generated", 58, "object", 149),
        ("precompiled.call", 58, "object", 100),
        ("precompiled.call", 100, "none", 3000),
        ("precompiled.call", 500, "none", 3000 + 400 * 30),
        ("precompiled.call", 1000, "none", 15000 + 500 * 31),
        ("precompiled.call", 2000, "none", 30500 + 1000 * 36),
    )
    assert accepted.is_complete(figures)
    assert accepted.findings(figures, {}) == [
        "generated / precompiled.call, 0 arguments, pointers none: 1.49, at least 1.5 wanted",
        "generated / precompiled.launch, 58 arguments, pointers dlpack: 3.99, at least 4.0 wanted",
        "generated / precompiled.call, 58 arguments, pointers object: 1.49, at least 1.5 wanted",
        "one more int, 1000 to 2000 arguments: 36.0 instructions, at most 35 wanted",
        "one more int, 1000 to 2000 arguments: 36.0 instructions, not linear: 30.0 before",
    ]
    assert not accepted.is_complete(figures[2:])


def test_counts_that_do_not_fit_the_launches_are_no_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the launcher entered more or less often than launched, its count would mean nothing: an error."""
    todo = [*instructions.cases(FOLDER, [0], ["precompiled.call"], ["dlpack"])]
    monkeypatch.setattr(callgrind, "counted", lambda command: ["totals: 7\n"] * 3)
    with pytest.raises(RuntimeError, match=r"^precompiled\.call was entered 0 times in 15 launches$"):
        instructions.count_cases(todo, Path(path("cuda")), turns=5)
    monkeypatch.setattr(callgrind, "counted", lambda command: ["totals: 7\n"] * 2)
    with pytest.raises(RuntimeError, match=r"^2 marks of 1 cases$"):
        instructions.count_cases(todo, Path(path("cuda")), turns=5)


def made_up(value: float) -> list[Figure]:
    pairs = ((LAUNCH, value), (TURN, value + 500))
    return [Figure("precompiled.call", 58, "dlpack", number, unit) for unit, number in pairs]


def test_command_fails_then_accepts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 1 with the finding; --accept writes this build's counts and keeps the others; then exit 0."""
    file = tmp_path / "accepted.json"
    key = "precompiled.call, 58 arguments, pointers dlpack"
    file.write_text(json.dumps({accepted.build_key(): {key: 1000}, "another build": {key: 1}}))
    monkeypatch.setattr(bench, "count", lambda turns: made_up(1100))
    for function in (accepted.load, accepted.accept):
        monkeypatch.setattr(function, "__defaults__", (file,))
    refused = CliRunner().invoke(app, ["bench", "instructions", "--json"])
    assert refused.exit_code == 1
    assert refused.stderr.startswith(f"relaunch bench: {key}: 1,100 instructions, accepted are 1,000 (+10.0%); ")
    lines = [json.loads(line) for line in refused.stdout.splitlines()]
    assert set(lines[0]) == {"machine"}
    assert lines[1] == {"what": "precompiled.call", "size": 58, "pointers": "dlpack", "value": 1100, "unit": LAUNCH}
    assert lines[-1] == {"finding": refused.stderr.strip().removeprefix("relaunch bench: ")}
    taken = CliRunner().invoke(app, ["bench", "instructions", "--accept"])
    assert (taken.exit_code, taken.stderr) == (0, f"bench: accepted for {accepted.build_key()}\n")
    assert json.loads(file.read_text()) == {accepted.build_key(): {key: 1100}, "another build": {key: 1}}
    assert CliRunner().invoke(app, ["bench", "instructions"]).exit_code == 0


def test_bind_is_held_to_its_ratio() -> None:
    dear = [Figure(binding.CHEAPER, size, "-", 9999.0, "times") for size in (0, 19)]
    assert binding.bind_findings(dear) == [
        "bind at 19 arguments: 9,999 times cheaper than gcc -O3, at least 10,000 wanted"
    ]
    assert binding.bind_findings([Figure(binding.CHEAPER, 19, "-", 10000.0, "times")]) == []


def test_bind_is_timed(tmp_path: Path) -> None:
    """Both launchers, really bound and built; how much they differ is the machine's business."""
    figures = binding.bind_figures(tmp_path, Path(path("cuda")), repeats=1, sizes=(5,))
    whats = ["precompiled, from its tree", "precompiled, from its text", "generated, gcc -O3"]
    expected = [f"bind {what}, {statistic}" for what in whats for statistic in ("median", "minimum")]
    assert [figure.what for figure in figures] == [*expected, binding.CHEAPER]
    assert all(figure.value > 0 for figure in figures)
