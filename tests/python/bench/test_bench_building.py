"""`relaunch bench building`: which signatures count, what is shown, and what is a finding."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from relaunch import cli, generator
from relaunch.commands.bench import building
from relaunch.commands.bench.building import Cost

FOUND: list[tuple[Any, ...]] = [("*fp32", "i32"), ("*i8", "i32"), ("constexpr", ("i32",)), ("fp8e4nv",)]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four signatures in place of all that were found."""
    monkeypatch.setattr(building, "real_signatures", lambda: FOUND)


def bench(*arguments: str) -> Any:
    return CliRunner().invoke(cli.app, ["bench", "building", *arguments])


@pytest.mark.usefixtures("few")
def test_counts_and_costs_of_two_dialects() -> None:
    result = bench("--json", "--dialect", "triton-3.0-cuda", "--dialect", "triton-3.6-hip")
    machine, *costs = (json.loads(line) for line in result.stdout.splitlines())
    assert "processor" in machine["machine"]
    assert [(one["dialect"], one["signatures"], one["launchers"]) for one in costs] == [
        ("triton-3.0-cuda", 2, 1),
        ("triton-3.6-hip", 3, 2),
    ]
    for one in costs:
        assert 0 < one["render_ms"] < one["build_ms"] < one["build_ms_of_launcher"]
    assert "bench: triton-3.0-cuda: 2 of 4 signatures\n" in result.stderr


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("triton-2.0-cuda", f"unknown dialect 'triton-2.0-cuda'; known: {', '.join(generator.all_dialects())}"),
        (
            "triton-3.7-hip",
            "triton-3.7-hip has nothing to generate: one native launcher serves every signature since Triton 3.7",
        ),
    ],
)
def test_dialect_without_generated_launchers_is_usage(dialect: str, text: str) -> None:
    result = bench("--dialect", dialect)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"relaunch bench: {text}\n")


def test_missing_checkout_is_usage(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(building, "SIGNATURES", tmp_path / "none.jsonl")
    result = bench()
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "relaunch bench: needs a checkout of the project (tests/signatures)\n"


def test_bounds_and_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    good = Cost("triton-3.0-cuda", 235, 80, 1.0, 10.0, 29.4)
    bad = Cost("triton-3.6-hip", 441, 233, 1.004, 10.006, 19.0)
    assert building.findings([good]) == []
    wrong = [
        "triton-3.6-hip: a source takes 1.00 ms, at most 1 wanted",
        "triton-3.6-hip: a build takes 10.01 ms, at most 10 wanted",
    ]
    monkeypatch.setattr(building, "measure", lambda _: iter([good, bad]))
    result = bench()
    assert result.exit_code == 1
    assert result.stderr == "".join(f"relaunch bench: {line}\n" for line in wrong)
    assert result.stdout.splitlines()[-2:] == [
        "| triton-3.0-cuda | 235 | 80 | 1.000 | 10.00 | 29.40 |",
        "| triton-3.6-hip | 441 | 233 | 1.004 | 10.01 | 19.00 |",
    ]


def test_real_signatures_are_those_of_the_repository() -> None:
    found = building.real_signatures()
    assert len(found) > 400
    for dialect in generator.dialects():
        assert len(list(building.accepted(dialect, found))) > 200
