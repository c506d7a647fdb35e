"""`relaunch doctor` and the command line's own options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from relaunch.generator.toolchain import ToolchainError
from typer.testing import CliRunner

from relaunch.cli import app
from relaunch.commands import doctor


def test_json_lines_are_objects() -> None:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 0
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    items = {line["item"]: line for line in lines if "item" in line}
    assert items["core"]["found"] is True
    assert items["python"]["found"] is True
    assert {line["ability"] for line in lines if "ability" in line} == set(doctor.ABILITIES)


def test_every_ability_asks_for_known_items() -> None:
    known = {item.name for item in doctor.find_items()}
    assert {part for parts in doctor.ABILITIES.values() for part in parts} <= known


def test_abilities_name_what_they_lack() -> None:
    items = [doctor.Item(item.name, item.name != "c-compiler", "") for item in doctor.find_items()]
    lacks = {ability.name: ability.lacks for ability in doctor.abilities(items)}
    assert lacks["generate --build for CUDA"] == ("c-compiler",)
    assert lacks["migrate: signatures to trees"] == ()


def test_broken_core_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_items", lambda: [doctor.Item("core", False, "relaunch._core does not load: why")])
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "no   core            relaunch._core does not load: why" in result.stdout


def test_extension_that_does_not_load_says_why() -> None:
    found = doctor.find_extension("core", "relaunch.no_such_module")
    assert found == doctor.Item(
        "core", False, "relaunch.no_such_module does not load: No module named 'relaunch.no_such_module'"
    )


def test_header_not_found_names_the_folders(tmp_path: Path) -> None:
    assert doctor.find_header("h", "no.h", [tmp_path]) == doctor.Item("h", False, f"no no.h in {tmp_path}")


def test_driver_not_found_is_named() -> None:
    found = doctor.find_driver("d", ("libnone.so.1", "libnone.so"), "version", "init", "count")
    assert found == doctor.Item("d", False, "libnone.so.1 and libnone.so not found")


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.startswith("relaunch 0.")


@pytest.mark.parametrize("arguments", [["no-such-verb"], ["doctor", "--no-such-option"], ["doctor", "extra"]])
def test_usage_errors_exit_2(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_vendor_header_not_found_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(backend: str) -> list[Path]:
        raise ToolchainError(f"no headers of {backend}: install them")

    monkeypatch.setattr(doctor, "header_folders", fail)
    found = doctor.find_vendor_header("cuda-headers", "cuda.h", "cuda")
    assert found == doctor.Item("cuda-headers", False, "no headers of cuda: install them")
