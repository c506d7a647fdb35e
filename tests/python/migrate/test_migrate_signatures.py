"""Every signature of tests/signatures: read to the tree that is written down for it, or refused as is written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import relaunch
from relaunch._core import Signature, read_signatures

FOLDER = Path(__file__).parents[2] / "signatures"
FILE = FOLDER / "signatures.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
EXPECTED: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "expected.jsonl").read_text(encoding="utf-8").splitlines()
]
SIGNATURES = read_signatures(FILE.read_bytes(), "signatures.jsonl")
ALL = list(zip(ROWS, EXPECTED, SIGNATURES, strict=True))
READ = [(row, one) for row, expected, one in ALL if "refused" not in expected]


def name(value: Any) -> str:
    return str(value["id"]) if isinstance(value, dict) and "id" in value else ""


def test_the_files_belong_together() -> None:
    assert len(ROWS) == 548
    assert [row["id"] for row in ROWS] == [one["id"] for one in EXPECTED]
    refused = [one for one in EXPECTED if "refused" in one]
    assert len(refused) == 28
    assert all(one["reason"] for one in refused)


def test_every_row_has_its_place() -> None:
    assert [one.source for one in SIGNATURES] == [f"signatures.jsonl:{n}:1" for n in range(1, len(ROWS) + 1)]
    assert [one.text for one in SIGNATURES] == [row["text"] for row in ROWS]


def found(one: Signature) -> dict[str, Any]:
    """What `relaunch migrate --json` says of a signature, as expected.jsonl has it."""
    line = json.loads(one.to_json())
    errors = [each["code"] for each in line["diagnostics"] if each["severity"] == "error"]
    if errors:
        return {"refused": errors[0]}
    warnings = sorted({each["code"] for each in line["diagnostics"]})
    return {"parameters": line["parameters"], "constants": line["constants"], "warnings": warnings}


@pytest.mark.parametrize(("row", "expected", "one"), ALL, ids=name)
def test_as_written_down(row: dict[str, Any], expected: dict[str, Any], one: Signature) -> None:
    wanted = {key: value for key, value in expected.items() if key not in ("id", "reason")}
    assert found(one) == wanted


def test_what_is_refused_is_listed() -> None:
    """With its code and reason, in the README beside it."""
    listed = [
        tuple(cell.strip(" `") for cell in line.split("|")[1:4])
        for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `sig-")
    ]
    wanted = [(one["id"][4:], one["refused"], one["reason"]) for one in EXPECTED if "refused" in one]
    shown = [
        (identity, code, reason.replace("`", ""))
        for identities, code, reason in listed
        for identity in identities.replace("`", "").replace("sig-", "").split()
    ]
    assert sorted(shown) == sorted((identity, code, reason.replace("`", "")) for identity, code, reason in wanted)


@pytest.mark.parametrize(("row", "one"), READ, ids=name)
def test_written_and_read_again(row: dict[str, Any], one: Signature) -> None:
    line = one.to_csv()
    tree = relaunch.parse(line)
    assert tree == one.tree
    assert tree.dump() == line
    (again,) = read_signatures(one.to_json().encode(), "again")
    assert again.form == "tree"
    assert again.tree == one.tree
    changed = {"source": "", "form": ""}
    assert json.loads(again.to_json()) | changed == json.loads(one.to_json()) | changed


def test_spans_are_the_types_in_the_text() -> None:
    for row, one in READ:
        text = row["text"].encode()
        for node in one.tree:
            assert node.span is not None
            piece = text[slice(*node.span)].decode()
            if node.type == relaunch.ARG_KERNEL and row["syntax"] != "params":
                assert piece == node.dtype, row["id"]
