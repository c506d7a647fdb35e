"""Every form of signature as a user meets it: whole files through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from relaunch.cli import app

SAMPLES = Path(__file__).parent / "samples"


def migrate(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and the lines of --json."""
    done = CliRunner().invoke(app, ["migrate", "--json", *arguments])
    return done.exit_code, [json.loads(line) for line in done.stdout.splitlines()]


def shown(parameters: list[dict[str, Any]]) -> str:
    """`x: *fp32:16, (i32), N=64`, from JSON alone."""
    out = []
    for one in parameters:
        text = one.get("type") or (f"({shown(one['items'])})" if "items" in one else "constexpr")
        text = f"{one['name']}: {text}" if one["name"] else text
        text += f":{one['hint']}" if "hint" in one else ""
        out.append(text + (f"={json.dumps(one['value'])}" if "value" in one else ""))
    return ", ".join(out)


@pytest.mark.parametrize("file", sorted(SAMPLES.glob("*.expected")), ids=lambda file: file.stem)
def test_sample(file: Path) -> None:
    """A sample's signatures: `line:column form canonical line`, or the code of the first error."""
    source = file.with_suffix("")
    code, lines = migrate(str(source))
    found = []
    for line in lines:
        error = next((one["code"] for one in line["diagnostics"] if one["severity"] == "error"), None)
        place = line["source"].removeprefix(f"{source}:")
        found.append(f"{place} {line['form']} {error or shown(line['parameters'])}")
    assert found == file.read_text().splitlines()
    assert code == int(any("RL0" in one for one in found))


@pytest.mark.parametrize("form", ["ast", "inductor", "ttir", "cache"])
def test_forms_by_name_find_the_same(form: str) -> None:
    checked = 0
    for file in SAMPLES.glob("*.expected"):
        expected = [line for line in file.read_text().splitlines() if line.split()[1] == form]
        if len(expected) == len(file.read_text().splitlines()):
            _, lines = migrate("--form", form, str(file.with_suffix("")))
            assert len(lines) == len(expected)
            checked += 1
    assert checked
