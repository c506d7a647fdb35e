"""install(), uninstall(), falling back and strict (behaviour.py and falling_back.py say what is checked)."""

from __future__ import annotations

import ast
import json
from functools import cache
from typing import Any

import pytest

from tests.triton.beds import asked_for, each_bed, made, once
from tests.triton.releases import HERE, Bed


def checks_of(module: str) -> list[str]:
    body = ast.parse((HERE / f"{module}.py").read_text()).body
    return [node.name for node in body if isinstance(node, ast.FunctionDef)]


CHECKS = [(module, name) for module in ("behaviour", "falling_back") for name in checks_of(module)]


@pytest.fixture(scope="session")
def asked(request: pytest.FixtureRequest) -> frozenset[str]:
    """Checks that the tests of this run ask for."""
    return asked_for(request.session, "check")


@cache
def failures(bed: Bed, module: str, names: frozenset[str]) -> Any:
    return once(f"{module}-{bed.release}", lambda: run_checks(bed, module, names))


def run_checks(bed: Bed, module: str, names: frozenset[str]) -> dict[str, str | None]:
    chosen = [name for name in checks_of(module) if name in names]
    done = bed.run("-m", "tests.triton.checking", bed.backend, module, *chosen)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["check"]: line["failure"] for line in lines}


@pytest.mark.parametrize(("module", "check"), CHECKS)
@pytest.mark.parametrize("bed", each_bed("cuda"))
def test_behaviour(bed: Bed, module: str, check: str, asked: frozenset[str]) -> None:
    found = failures(made(bed), module, asked)
    assert check in found, "died"
    assert found[check] is None, found[check]


def test_number_of_checks() -> None:
    assert len(CHECKS) >= 14
